"""Load the sentences of plain text (``text``), from which generators can choose responses.

A line contains one or more sentences. For example, the line ``We moved in May. The cat hated it.`` at the
beginning of the file ``quotes.txt`` gives the sentences ``quotes/1.0`` and ``quotes/1.1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graphneg.english.tokens import sentences
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, corpus_of, each_line
from graphneg.ingest.rows import sentence
from graphneg.ingest.validation import FileLoader
from graphneg.model import Rejected, Sentence


class Loader(FileLoader):
    """Loader for plain text with one or more sentences per line."""

    name = "text"
    summary = "plain text as a pool of sentences, with one or more sentences per line"

    def records(self, path: Path, options: LoadOptions) -> Iterator[Sentence | Rejected]:
        """Return the sentences of a text file.

        Args:
            path: The file.
            options: Options for loading. ``corpus``, if given, replaces the file name in the ids.

        Returns:
            An iterator over sentences and rejected items.
        """
        source = options.corpus or corpus_of(path)

        def of_line(line: Line) -> Iterator[Sentence | Rejected]:
            # The id contains the line number, so it stays the same if sentences in other lines change.
            for number, text in enumerate(sentences(line.text)):
                yield sentence(f"{source}/{line.number}.{number}", text, source, line.place)

        return each_line(path, options.progress, of_line)
