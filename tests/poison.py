"""A parser and a decoder that one text ends, for tests: by an error, or by the end of their process."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from graphneg.decoders.surface import SurfaceDecoder
from graphneg.model import Decoded, EditedUtterance
from graphneg.parsers.base import Parsed, get_parser

UNPARSED, UNDECODED = "arsenic", "cyanide"
"""The words of the texts at which they end."""
SLOW = {"GRAPHNEG_POISON_SECONDS": "1"}
"""The environment of a node where each batch of texts takes so long."""


def end(how: str) -> None:
    """``exit`` ends the process as a crash does, ``raise`` raises."""
    if how == "exit":
        os._exit(3)
    raise LookupError("it is nowhere")


class PoisonParser:
    """As ``dependency``, which gives no graph to texts with the word; ``how`` it ends, if it does."""

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
    """As ``surface``, but ends at texts with the word for as long as there is no file ``cure``."""

    def __init__(self, how: str, cure: str) -> None:
        super().__init__()
        self._how, self._cure = how, Path(cure)

    def decode(self, batch: Sequence[EditedUtterance]) -> list[Decoded]:
        if any(UNDECODED in item.text for item in batch) and not self._cure.exists():
            end(self._how)
        return super().decode(batch)


def install(folder: Path) -> None:
    """Make a folder in which Python finds both as those of an installed package."""
    info = folder / "poison-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poison\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[graphneg.parsers]\npoison = tests.poison:PoisonParser\n"
        "[graphneg.decoders]\npoison = tests.poison:PoisonDecoder\n"
    )
