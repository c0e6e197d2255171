"""Load domain words into the lexicon of a store (``lexicon``): word classes, scales, pairs of opposites.

The files are tab-separated tables in the format that `graphneg.english.lexicon` describes:

    class	medicine	aspirin cough-syrup
    opposite	mild	spicy	food drink

At the end of the load, everything that depends on these words is recomputed: the properties of the words'
``Term`` nodes, and the node properties of each graph that contains one of the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from graphneg.english.lexicon import entry_of
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, each_line
from graphneg.ingest.validation import FileLoader
from graphneg.model import LexiconEntry, Rejected


class Loader(FileLoader):
    """Loader for tab-separated lexicon tables."""

    name = "lexicon"
    summary = "Words for the store's lexicon: their classes, moves along scales, opposites; TSV files"

    def records(self, path: Path, options: LoadOptions) -> Iterator[LexiconEntry | Rejected]:
        """Return the lexicon entries of a file.

        Args:
            path: The file.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over entries and rejected lines.
        """
        return each_line(path, options.progress, _entries)


def _entries(line: Line) -> Iterator[LexiconEntry]:
    # Skip comments, which are lines that begin with "#".
    if not line.text.startswith("#"):
        try:
            yield replace(entry_of(line.text), place=line.place)
        except ValueError as fault:
            raise ItemError(str(fault)) from fault
