"""`lexicon`: words of a domain for the store's lexicon: classes, moves along scales, pairs of opposites.

Reads tables apart by tabs, as `graphneg.english.lexicon` describes them. What graphneg has computed of the
words, and of graphs that say them, is computed anew at the end of the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from graphneg.english.lexicon import entry_of
from graphneg.ingest.formats import checked
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import input_paths, text_lines
from graphneg.model import Record, Rejected


class Loader:
    """Tables of a lexicon."""

    name = "lexicon"
    summary = "Words for the store's lexicon: their classes, moves along scales, opposites; TSV files"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The entries of these files, and what is none."""
        for path in input_paths(paths, self.name):
            yield from checked(path, self.name, _entries(path, options))


def _entries(path: Path, options: LoadOptions) -> Iterator[Record]:
    for line in text_lines(path, options.progress):
        if isinstance(line, Rejected):
            yield line
        elif line.text.strip() and not line.text.startswith("#"):
            place = f"{path}:{line.number}"
            try:
                yield replace(entry_of(line.text), place=place)
            except ValueError as fault:
                yield Rejected(place, str(fault))
