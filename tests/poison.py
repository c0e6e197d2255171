"""A parser and a decoder for tests that fail, or crash their process, at texts with a certain word."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from graphneg.decoders.surface import SurfaceDecoder
from graphneg.model import Decoded, EditedUtterance
from graphneg.parsers.base import Parsed, get_parser

UNPARSED, UNDECODED = "arsenic", "cyanide"
"""The words at which the parser and the decoder fail."""
SLOW = {"GRAPHNEG_POISON_SECONDS": "1"}
"""Environment variables that make the parser wait for a second in each batch."""


def end(how: str) -> None:
    """Crash the process if ``how`` is ``exit``; otherwise raise an error."""
    if how == "exit":
        os._exit(3)
    raise LookupError("it is nowhere")


class PoisonParser:
    """The parser ``dependency``, except that a text with the word `UNPARSED` gets no graph.

    If ``how`` is given, such a text makes the parser crash or fail instead (see `end`).
    """

    name, version = "poison", "1"

    def __init__(self, how: str = "") -> None:
        self._how, self._parser = how, get_parser("dependency")

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed | None]:
        if self._how and any(UNPARSED in text for text in texts):
            end(self._how)
        time.sleep(float(os.environ.get("GRAPHNEG_POISON_SECONDS", "0")))
        parsed = self._parser.parse_batch(texts)
        return [None if UNPARSED in text else one for text, one in zip(texts, parsed, strict=True)]


class PoisonDecoder(SurfaceDecoder):
    """The decoder ``surface``, except that it fails at `UNDECODED` until the file ``cure`` exists."""

    name = "poison"

    def __init__(self, how: str, cure: str) -> None:
        super().__init__()
        self._how, self._cure = how, Path(cure)

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        if any(UNDECODED in item.text for item in batch) and not self._cure.exists():
            end(self._how)
        return super().decode(batch)


def install(folder: Path) -> None:
    """Register both as plugins: write the metadata of an installed package to a folder."""
    info = folder / "poison-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poison\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[graphneg.parsers]\npoison = tests.poison:PoisonParser\n"
        "[graphneg.decoders]\npoison = tests.poison:PoisonDecoder\n"
    )
