"""Define the interfaces of rankers, and create or load rankers by kind.

A ranker scores pairs of a context and a response. There are three kinds: ``cross-encoder``, ``sa-bert``
(speaker-aware BERT) and ``poly-encoder``. The folder of a trained ranker names its kind in ``config.json``.

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
from graphneg.nn.models import check_packages, choose_device, locate, read_config

if TYPE_CHECKING:
    from torch import Tensor

CROSS_ENCODER = "cross-encoder"
SA_BERT = "sa-bert"
POLY_ENCODER = "poly-encoder"
# Import paths: a kind is imported when it is used, because its module needs torch.
_KINDS = {
    CROSS_ENCODER: "graphneg.rankers.cross_encoder:CrossEncoder",
    SA_BERT: "graphneg.rankers.sa_bert:SpeakerAwareBert",
    POLY_ENCODER: "graphneg.rankers.poly_encoder:PolyEncoder",
}


class Ranker(Protocol):
    """A model that scores how well responses fit contexts.

    A context is the texts of its turns, oldest first.
    """

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score pairs of a context and a response.

        Args:
            contexts: The contexts.
            responses: One response per context.

        Returns:
            One score per pair, from 0 (does not fit) to 1 (fits).
        """
        ...

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """Rank candidates by their scores.

        Args:
            context: The context.
            candidates: The candidates.

        Returns:
            The indices of the candidates, best first. Equal scores keep their order.
        """
        ...


class Trainable(Protocol):
    """A model that `graphneg.training.rankers.train_ranker` can train.

    Attributes:
        model: A torch module. It is called with the output of `encode` as keyword arguments and returns an
            object with ``logits`` of shape (pairs, 1), which are positive for responses that fit.
    """

    model: Any

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """Convert pairs to the input of the model.

        Args:
            contexts: The contexts, each a list of turns, oldest first.
            responses: One response per context.

        Returns:
            The tensors by name.
        """
        ...

    def save(self, folder: str | Path) -> None:
        """Save everything that is needed to load the ranker.

        Args:
            folder: The folder to write.
        """
        ...


class EncoderRanker(ABC):
    """Base class of rankers with a transformers encoder.

    Attributes:
        kind: The kind that ``config.json`` names.
        model: The torch module.
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

        A missing package or model, or a model of another kind, raises `ModelError`.

        Args:
            model: Path or hub id of the ranker.
            max_tokens: Maximum length of the input in tokens. Defaults to the length in training.
            batch: Number of pairs per forward pass.
            device: The torch device, or None to choose one.
            offline: Do not download the model.

        Returns:
            The ranker.
        """
        check_packages()
        folder = locate(model, offline=offline)
        ranker = cls._read(folder, read_config(folder), max_tokens, batch)
        ranker.model.to(choose_device(device)).eval()
        return ranker

    @classmethod
    @abstractmethod
    def _read(cls, folder: Path, config: Mapping[str, Any], max_tokens: int | None, batch: int) -> Self:
        """Load the ranker of a folder on the CPU."""

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
        """Rank candidates by their scores; see `Ranker.rank`.

        Args:
            context: The context.
            candidates: The candidates.

        Returns:
            The indices of the candidates, best first. Equal scores keep their order.
        """
        return by_score(self.score([context] * len(candidates), candidates))


def by_score(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores from highest to lowest.

    Args:
        scores: The scores.

    Returns:
        The indices. Equal scores keep their order.

    Example:
        >>> by_score([0.1, 0.9, 0.9])
        [1, 2, 0]
    """
    # sorted() is stable, so equal scores keep their order.
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def kind_of(config: Mapping[str, Any]) -> str:
    """Return the kind of ranker that a ``config.json`` names.

    Args:
        config: The content of ``config.json``.

    Returns:
        The kind under ``graphneg``, or ``cross-encoder`` if there is none.

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

    A folder that names no kind is loaded as a cross-encoder, as sentence-transformers trains them.

    Args:
        model: Path or hub id of the ranker.
        offline: Do not download the model.
        **options: Options of the kind's ``from_pretrained``: ``max_tokens``, ``batch``, ``device``.

    Returns:
        The ranker.

    Raises:
        ModelError: The model is for another task.
    """
    folder = locate(model, offline=offline)
    kind = kind_of(read_config(folder))
    if kind not in _KINDS:
        raise ModelError(f"{folder}: a model for {kind}, not a ranker ({', '.join(_KINDS)})")
    return resolve_name(_KINDS[kind]).from_pretrained(folder, offline=offline, **options)


def new_ranker(kind: str, model: str | Path, **options: Any) -> Any:
    """Create a ranker to train from an encoder.

    A missing or unsuitable encoder raises `ModelError`. A name in ``frozen`` that fits no parameter raises
    `InputError`.

    Args:
        kind: The kind of ranker.
        model: Path or hub id of the encoder.
        **options: Options of `graphneg.rankers.cross_encoder.CrossEncoder.new`, such as the seed of new
            parameters, and those of the kind, such as ``codes`` of a poly-encoder.

    Returns:
        An object that is both a `Ranker` and a `Trainable`.

    Raises:
        ModelError: The kind is unknown.
    """
    if kind not in _KINDS:
        raise ModelError(f"no kind of ranker named {kind!r}; choose one of {', '.join(_KINDS)}")
    return resolve_name(_KINDS[kind]).new(model, **options)
