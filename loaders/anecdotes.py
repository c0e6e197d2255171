"""Load the short personal statements that ship with graphneg (``anecdotes``).

One of them is "My brother is careful with money and careless with boats." The generator ``hard`` can choose
its wrong responses from these sentences. Each line of the file is a statement of one or two sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from graphneg.english.tokens import sentences
from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, each_line
from graphneg.ingest.rows import sentence
from graphneg.model import Record

NAME = "anecdotes"
"""The name of the loader, which is also the ``source`` of its sentences."""
_FILE = "data/anecdotes/anecdotes.txt"


class Loader:
    """Loader for the bundled statements. It accepts no paths."""

    name = NAME
    summary = "the bundled pool of short personal statements; takes no path"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the sentences of the bundled personal statements, in the order of the bundled file.

        Args:
            paths: Must be empty.
            options: Options for loading, such as the corpus and split.

        Yields:
            The sentences. The first sentence of each statement is marked as a complete clause. The second
            sentence is not, because it continues the first.

        Raises:
            InputError: A path was given.
        """
        if paths:
            raise InputError(f"the loader {NAME!r} reads a bundled file and takes no path: remove {paths[0]}")

        def of_line(line: Line) -> Iterator[Record]:
            # Only the first sentence is a complete clause. In "We had a goat. It ate the curtains.", the
            # second sentence cannot be used without the first.
            for at, text in enumerate(sentences(line.text)):
                yield sentence(f"{NAME}#{line.number}.{at}", text, NAME, line.place, clause=at == 0)

        with as_file(files("graphneg").joinpath(_FILE)) as path:
            yield from each_line(path, options.progress, of_line)
