"""Kinds of rankers by name: new ones to train, and trained ones read from their folders."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

from graphneg.errors import ModelError
from graphneg.language_models.finding import locate
from graphneg.rankers.base import Ranker
from graphneg.rankers.kinds import CROSS_ENCODER, POLY_ENCODER, SA_BERT, kind_of, read_config

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
