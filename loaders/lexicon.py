"""`lexicon`: words of a domain for the store's lexicon: classes, moves along scales, pairs of opposites.

Reads tables apart by tabs, as `graphneg.english.lexicon` describes them. What graphneg has computed of the
words, and of graphs that say them, is computed anew at the end of the load.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from graphneg.english.lexicon import entry_of
from graphneg.ingest.content import Refused
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, each_line
from graphneg.ingest.validation import FileLoader
from graphneg.model import LexiconEntry, Rejected


class Loader(FileLoader):
    """Tables of a lexicon."""

    name = "lexicon"
    summary = "Words for the store's lexicon: their classes, moves along scales, opposites; TSV files"

    def records(self, path: Path, options: LoadOptions) -> Iterator[LexiconEntry | Rejected]:
        """The entries of a file, and the lines that are none."""
        return each_line(path, options.progress, _entries)


def _entries(line: Line) -> Iterator[LexiconEntry]:
    if not line.text.startswith("#"):
        try:
            yield replace(entry_of(line.text), place=line.place)
        except ValueError as fault:
            raise Refused(str(fault)) from fault
