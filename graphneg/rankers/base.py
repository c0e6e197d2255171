"""Kinds of rankers by name: new ones to train, and trained ones read from their folders."""

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
_KINDS = {
    CROSS_ENCODER: "graphneg.rankers.cross_encoder:CrossEncoder",
    SA_BERT: "graphneg.rankers.sa_bert:SpeakerAwareBert",
    POLY_ENCODER: "graphneg.rankers.poly_encoder:PolyEncoder",
}


class Ranker(Protocol):
    """Says how well responses fit contexts; a context is the texts of its turns, oldest first."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """One number for each pair, in order, from 0 (does not fit) to 1 (fits)."""
        ...

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """The numbers of the candidates, best first; of equals, the earlier."""
        ...


class Trainable(Protocol):
    """What ``graphneg.training.rankers.train_ranker`` trains.

    ``model`` is a torch module; called with what ``encode`` gives, by name, its answer has ``logits`` of
    shape (pairs, 1): above 0 where the response fits.
    """

    model: Any

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """The model's input for pairs of a context (the texts of its turns, oldest first) and a response."""
        ...

    def save(self, folder: str | Path) -> None:
        """Write all that is needed to read the ranker again."""
        ...


class EncoderRanker(ABC):
    """What rankers made of a transformers encoder share; ``kind`` is what their folders say they are."""

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
        """A trained ranker by path or hub id; it reads as many tokens as in training where none are given.

        Raises:
            ModelError: torch or transformers is missing, there is no such model, or it is of another kind.
        """
        check_packages()
        folder = locate(model, offline=offline)
        ranker = cls._read(folder, read_config(folder), max_tokens, batch)
        ranker.model.to(choose_device(device)).eval()
        return ranker

    @classmethod
    @abstractmethod
    def _read(cls, folder: Path, config: Mapping[str, Any], max_tokens: int | None, batch: int) -> Self:
        """A folder's ranker, on the CPU."""

    @abstractmethod
    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """See `Ranker.score`."""

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """See `Ranker.rank`."""
        return by_score(self.score([context] * len(candidates), candidates))


def by_score(scores: Sequence[float]) -> list[int]:
    """Numbers of items from the highest score to the lowest.

    >>> by_score([0.1, 0.9, 0.9])
    [1, 2, 0]
    """
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def kind_of(config: Mapping[str, Any]) -> str:
    """The kind that a ``config.json`` names under ``graphneg``; a cross-encoder where it names none.

    >>> kind_of({"graphneg": {"kind": "sa-bert"}}), kind_of({"model_type": "bert"})
    ('sa-bert', 'cross-encoder')
    """
    noted: Any = config.get("graphneg")
    return str(noted.get("kind", CROSS_ENCODER)) if isinstance(noted, Mapping) else CROSS_ENCODER


def ranker_kinds() -> list[str]:
    """The names of all kinds."""
    return list(_KINDS)


def load_ranker(model: str | Path, *, offline: bool = False, **options: Any) -> Ranker:
    """A trained ranker by path or hub id, of the kind that its ``config.json`` names.

    ``options`` (``max_tokens``, ``batch``, ``device``) go to the kind's ``from_pretrained``. Where the
    folder names no kind it is a cross-encoder, as sentence-transformers trains them.

    Raises `ModelError`: there is no such model, it is one for another task, or of a kind that is not known.
    """
    folder = locate(model, offline=offline)
    kind = kind_of(read_config(folder))
    if kind not in _KINDS:
        raise ModelError(f"{folder}: a model for {kind}, and no ranker ({', '.join(_KINDS)})")
    return resolve_name(_KINDS[kind]).from_pretrained(folder, offline=offline, **options)


def new_ranker(kind: str, model: str | Path, **options: Any) -> Any:
    """A ranker of that kind to train, made of an encoder by path or hub id; what is new in it by ``seed``.

    ``options`` are those of `graphneg.rankers.cross_encoder.CrossEncoder.new`, and the kind's own, such as
    ``codes`` of a poly-encoder. What comes back is a `Ranker` and a `Trainable`.

    Raises:
        ModelError: no kind has the name, or there is no such encoder or none of which the kind can be made.
        InputError: no parameter's name begins with one of ``frozen``.
    """
    if kind not in _KINDS:
        raise ModelError(f"no kind of ranker is called {kind!r}; there are: {', '.join(_KINDS)}")
    return resolve_name(_KINDS[kind]).new(model, **options)
