"""Make hard negatives for dialogue systems: edit AMR graphs with Cypher queries and decode them into text.

>>> import graphneg
>>> with graphneg.open("my-store") as graph:                              # doctest: +SKIP
...     graph.load("dialogues", "mine.jsonl")
...     graph.negatives("deam", per_dialogue=4).to_jsonl("negatives.jsonl")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from graphneg.dialogue_graph import DialogueGraph, Info, open
    from graphneg.errors import GraphnegError
    from graphneg.model import Negative

__all__ = ["DialogueGraph", "GraphnegError", "Info", "Negative", "__version__", "open"]

_HOMES = {
    "DialogueGraph": "graphneg.dialogue_graph",
    "Info": "graphneg.dialogue_graph",
    "open": "graphneg.dialogue_graph",
    "GraphnegError": "graphneg.errors",
    "Negative": "graphneg.model",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, which keeps ``import graphneg`` fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'graphneg' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names for ``dir`` and ``help``."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
