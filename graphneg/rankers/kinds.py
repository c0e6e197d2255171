"""What kind of ranker a folder holds: its ``config.json`` says so under ``graphneg``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphneg.errors import ModelError

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
