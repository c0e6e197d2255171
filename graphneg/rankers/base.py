"""Define the interfaces of rankers, and create or load a ranker by the name of its kind.

A ranker scores pairs of a context and a response. There are three kinds: ``cross-encoder``, ``sa-bert``
(speaker-aware BERT) and ``poly-encoder``. A trained ranker is stored in a folder, whose ``config.json``
contains the kind.

Example:
    For the context ["Do you like tea?"] and the candidates "It rains." and "Yes, green tea.",
    ``ranker.score`` may return 0.1 and 0.9. Then ``ranker.rank`` returns [1, 0].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from graphneg.errors import ModelError
from graphneg.nn.models import check_packages, locate, on_device, read_config

if TYPE_CHECKING:
    from torch import Tensor

CROSS_ENCODER = "cross-encoder"
SA_BERT = "sa-bert"
POLY_ENCODER = "poly-encoder"
# Importing torch is slow, so the classes are given as import paths and imported only when they are used.
_KINDS = {
    CROSS_ENCODER: "graphneg.rankers.cross_encoder:CrossEncoder",
    SA_BERT: "graphneg.rankers.sa_bert:SpeakerAwareBert",
    POLY_ENCODER: "graphneg.rankers.poly_encoder:PolyEncoder",
}


class Ranker(Protocol):
    """The interface of models that score how well responses fit contexts.

    A context is a list of the texts of its turns, oldest first.
    """

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score pairs of a context and a response.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            One score per pair, from 0 (does not fit) to 1 (fits).
        """
        ...

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """Rank candidate responses by their scores.

        Args:
            context: The turns of the context, oldest first.
            candidates: The candidate responses.

        Returns:
            The indices of the candidates, sorted by score, highest first. Candidates with equal scores keep
            their order.
        """
        ...


class Trainable(Protocol):
    """The interface of models that `graphneg.training.rankers.train_ranker` can train.

    Attributes:
        model: A torch module that takes the result of `encode` as keyword arguments. It returns an object
            whose ``logits`` have the shape (pairs, 1) and are positive for responses that fit their context.
    """

    model: Any

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """Convert pairs of a context and a response into input tensors for the model.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            The tensors, keyed by the names of the parameters of the model's ``forward`` method.
        """
        ...

    def save(self, folder: str | Path) -> None:
        """Save everything that is necessary to load the model again.

        Args:
            folder: The output folder.
        """
        ...


class EncoderRanker(ABC):
    """Base class of rankers whose network contains an encoder of transformers.

    Attributes:
        kind: The name of the kind of ranker, which is stored in ``config.json``.
        model: The torch module that computes the scores.
    """

    kind: ClassVar[str]
    model: Any

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        max_tokens: int | None = None,
        batch: int = 64,
        device: str | None = None,
        offline: bool = False,
    ) -> Self:
        """Load a trained ranker.

        Raises `ModelError` if a package or the model is missing, or if the model is not a ranker.

        Args:
            model: Path or Hugging Face hub id of the ranker.
            max_tokens: Maximum length of the input in tokens; None for the value that was used in training.
            batch: Number of pairs per forward pass.
            device: The torch device; None to choose one automatically.
            offline: Whether to use only local files, without downloading the model.

        Returns:
            The ranker.
        """
        check_packages()
        folder = locate(model, offline=offline)
        ranker = cls._read(folder, read_config(folder), max_tokens, batch)
        on_device(ranker.model, device)
        return ranker

    @classmethod
    @abstractmethod
    def _read(cls, folder: Path, config: Mapping[str, Any], max_tokens: int | None, batch: int) -> Self:
        """Load the ranker in a folder, with its parameters on the CPU."""

    @abstractmethod
    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score pairs of a context and a response; see `Ranker.score`.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            One score per pair, from 0 (does not fit) to 1 (fits).
        """

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """Rank candidate responses by their scores; see `Ranker.rank`.

        Args:
            context: The turns of the context, oldest first.
            candidates: The candidate responses.

        Returns:
            The indices of the candidates, sorted by score, highest first. Candidates with equal scores keep
            their order.
        """
        return argsort_descending(self.score([context] * len(candidates), candidates))


def argsort_descending(scores: Sequence[float]) -> list[int]:
    """Return the indices that sort scores in descending order.

    Args:
        scores: Any numbers.

    Returns:
        The indices of the scores, highest score first. Indices of equal scores keep their order.

    Example:
        >>> argsort_descending([0.1, 0.9, 0.9])
        [1, 2, 0]
    """
    # sorted() is stable: of two equal scores, the one with the lower index comes first.
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def kind_of(config: Mapping[str, Any]) -> str:
    """Return the kind of ranker that a ``config.json`` states.

    Args:
        config: The parsed content of ``config.json``.

    Returns:
        The value of ``kind`` in the section ``graphneg``; ``cross-encoder`` if the section or the value is
        missing.

    Example:
        >>> kind_of({"graphneg": {"kind": "sa-bert"}}), kind_of({"model_type": "bert"})
        ('sa-bert', 'cross-encoder')
    """
    noted: Any = config.get("graphneg")
    return str(noted.get("kind", CROSS_ENCODER)) if isinstance(noted, Mapping) else CROSS_ENCODER


def ranker_kinds() -> list[str]:
    """Return the names of all kinds of rankers."""
    return list(_KINDS)


def load_ranker(model: str | Path, *, offline: bool = False, **options: Any) -> Ranker:
    """Load a trained ranker of any kind.

    If ``config.json`` contains no kind, the model is loaded as a cross-encoder, because cross-encoders that
    were trained by sentence-transformers have no kind in their configuration.

    Args:
        model: Path or Hugging Face hub id of the ranker.
        offline: Whether to use only local files, without downloading the model.
        **options: Further arguments of `EncoderRanker.from_pretrained`: ``max_tokens``, ``batch`` or
            ``device``.

    Returns:
        The ranker.

    Raises:
        ModelError: The model is not a ranker but a model for another task.
    """
    folder = locate(model, offline=offline)
    kind = kind_of(read_config(folder))
    if kind not in _KINDS:
        raise ModelError(f"{folder}: a model for {kind}, not a ranker ({', '.join(_KINDS)})")
    return resolve_name(_KINDS[kind]).from_pretrained(folder, offline=offline, **options)


def new_ranker(kind: str, model: str | Path, **options: Any) -> Any:
    """Create an untrained ranker from a pretrained encoder.

    Raises `ModelError` if the encoder is missing or unsuitable, and `InputError` if a prefix in ``frozen``
    matches no parameter.

    Args:
        kind: The kind of ranker, one of `ranker_kinds`.
        model: Path or Hugging Face hub id of the encoder.
        **options: Further arguments: for a poly-encoder, arguments of
            `graphneg.rankers.poly_encoder.PolyEncoder.new`, such as ``codes``; for the other kinds, arguments
            of `graphneg.rankers.cross_encoder.CrossEncoder.new`, such as ``seed``.

    Returns:
        An object that is both a `Ranker` and a `Trainable`.

    Raises:
        ModelError: The kind is unknown.
    """
    if kind not in _KINDS:
        raise ModelError(f"no kind of ranker named {kind!r}; choose one of {', '.join(_KINDS)}")
    return resolve_name(_KINDS[kind]).new(model, **options)
