"""What a ranker is, and its kinds by name: new ones to train, and trained ones read from their folders."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from graphneg.errors import ModelError
from graphneg.nn.models import locate

if TYPE_CHECKING:
    from torch import Tensor


# What a ranker is.


class Ranker(Protocol):
    """Says how well responses fit contexts; a context is the texts of its turns, oldest first."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """One number for each pair, in order, from 0 (does not fit) to 1 (fits)."""
        ...

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """The places of the candidates, best first; of equals, the earlier."""
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


def by_score(scores: Sequence[float]) -> list[int]:
    """Places from the highest score to the lowest.

    >>> by_score([0.1, 0.9, 0.9])
    [1, 2, 0]
    """
    return sorted(range(len(scores)), key=lambda place: -scores[place])


# What kind of ranker a folder holds: its ``config.json`` says so under ``graphneg``.


CROSS_ENCODER = "cross-encoder"
SA_BERT = "sa-bert"
POLY_ENCODER = "poly-encoder"
_KEY = "graphneg"


def of_kind(kind: str) -> dict[str, Any]:
    """What ``config.graphneg`` says of a ranker of that kind."""
    return {"kind": kind}


def kind_of(config: Mapping[str, Any]) -> str:
    """The kind that a ``config.json`` names; a cross-encoder where it names none.

    >>> kind_of({"graphneg": {"kind": "sa-bert"}}), kind_of({"model_type": "bert"})
    ('sa-bert', 'cross-encoder')
    """
    noted: Any = config.get(_KEY)
    return str(noted.get("kind", CROSS_ENCODER)) if isinstance(noted, Mapping) else CROSS_ENCODER


def read_config(folder: Path) -> dict[str, Any]:
    """The folder's ``config.json``.

    Raises:
        ModelError: there is none, or it can't be read.
    """
    try:
        found: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder}: no config.json can be read in it, so it is no ranker") from error
    if not isinstance(found, dict):
        raise ModelError(f"{folder}: its config.json is no object, so it is no ranker")
    return found


# Kinds of rankers by name: new ones to train, and trained ones read from their folders.


# Of each kind the module, its class (which has ``from_pretrained``), and its function for a new one.
_KINDS = {
    CROSS_ENCODER: ("graphneg.rankers.cross_encoder", "CrossEncoder", "new_cross_encoder"),
    SA_BERT: ("graphneg.rankers.sa_bert", "SpeakerAwareBert", "new_sa_bert"),
    POLY_ENCODER: ("graphneg.rankers.poly_encoder", "PolyEncoder", "new_poly_encoder"),
}


def ranker_kinds() -> list[str]:
    """The names of all kinds."""
    return list(_KINDS)


def load_ranker(model: str | Path, *, offline: bool = False, **options: Any) -> Ranker:
    """A trained ranker by path or hub id, of the kind that its ``config.json`` names.

    ``options`` (``max_tokens``, ``batch``, ``device``) go to the kind's ``from_pretrained``. Where the
    folder names no kind it is a cross-encoder, as sentence-transformers trains them.

    Raises:
        ModelError: there is no such model, it is one for another task, or of a kind that is not known.
    """
    folder = locate(model, offline=offline)
    noted = kind_of(read_config(folder))
    if noted not in _KINDS:
        raise ModelError(f"{folder}: a model for {noted}, and no ranker ({', '.join(_KINDS)})")
    module, kind, _ = _KINDS[noted]
    return getattr(import_module(module), kind).from_pretrained(folder, offline=offline, **options)


def new_ranker(
    kind: str,
    model: str | Path,
    *,
    seed: int = 0,
    max_tokens: int = 256,
    frozen: Collection[str] = (),
    dropout: float | None = None,
    device: str | None = None,
    offline: bool = False,
    **options: Any,
) -> Any:
    """A ranker of that kind to train, made of an encoder by path or hub id; what is new in it by ``seed``.

    ``options`` are the kind's own, such as ``codes`` of a poly-encoder. What comes back is a
    `Ranker` and a `Trainable`.

    Raises:
        ModelError: no kind has the name, or there is no such encoder or none of which the kind can be made.
        InputError: no parameter's name begins with one of ``frozen``.
    """
    if kind not in _KINDS:
        raise ModelError(f"no kind of ranker is called {kind!r}; there are: {', '.join(_KINDS)}")
    module, _, make = _KINDS[kind]
    return getattr(import_module(module), make)(
        model,
        seed=seed,
        max_tokens=max_tokens,
        frozen=frozen,
        dropout=dropout,
        device=device,
        offline=offline,
        **options,
    )
