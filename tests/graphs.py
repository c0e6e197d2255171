"""AMR graphs for tests: The Little Prince if its file exists on this machine, else the bundled graphs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from graphneg.amr.penman import iter_blocks, parse_graph
from graphneg.model import AmrGraph

SHARED = Path(__file__).parent.parent.parent / "shared" / "data"
LITTLE_PRINCE = SHARED / "amr_little_prince"
BUNDLED = Path(__file__).parent.parent / "graphneg" / "data" / "everyday" / "graphs.amr"


def texts(file: Path) -> list[str]:
    return [block for _, block in iter_blocks(file.read_text(encoding="utf-8"))]


@cache
def bundled() -> tuple[AmrGraph, ...]:
    return tuple(parse_graph(text, f"everyday/train/{n}#0@penman") for n, text in enumerate(texts(BUNDLED)))


@cache
def natural() -> tuple[AmrGraph, ...]:
    """Return graphs that people annotated: those of The Little Prince if its file exists."""
    if not LITTLE_PRINCE.exists():
        return bundled()
    files = sorted(LITTLE_PRINCE.glob("lpp-*.txt"))
    every = [text for file in files for text in texts(file)]
    return tuple(parse_graph(text, f"prince/train/{n}#0@penman") for n, text in enumerate(every))
