"""A parser for tests in which the graphs do not matter. A graph lists the words of the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from graphneg.english.tokens import tokenize
from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.base import Parsed

NOT_A_WORD = re.compile(r"[^a-z]")


class ToyParser:
    """Returns ``(s / speak-01 :op1 (w0 / first-word) ...)``, and no graph for a text with the word "nothing".

    Attributes:
        seen: The texts that were passed to the parser.
    """

    name = "toy"
    parallel = True

    def __init__(self, version: str = "1", model: str | None = None) -> None:
        if model is not None and not Path(model).is_dir():
            from graphneg.errors import ParserError

            raise ParserError(f"{model}: there is no such directory")
        self.version = version
        self.seen: list[str] = []

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        self.seen += texts
        return [self._parsed(text) for text in texts]

    def _parsed(self, text: str) -> Parsed:
        if "nothing" in text:
            return Parsed(None, ("no-graph: there is nothing",))
        words = [NOT_A_WORD.sub("", token.text.lower()) or "mark" for token in tokenize(text)]
        nodes = [AmrNode(0, len(words), "s", "speak-01", None, None, None, 0)]
        nodes += [AmrNode(k, k, f"w{k}", word, None, 0, f"op{k}", k - 1) for k, word in enumerate(words, 1)]
        spans = {k: (k - 1, k) for k in range(1, len(words) + 1)}
        graph = AmrGraph("", tuple(nodes), spans=spans)
        return Parsed(graph, ("long: more than 9 words",) if len(words) > 9 else ())


def install(folder: Path) -> None:
    """Register the parser as a plugin: write the metadata of an installed package to a folder."""
    info = folder / "toy_parser-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-parser\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[graphneg.parsers]\ntoy = tests.toy_parser:ToyParser\n")
