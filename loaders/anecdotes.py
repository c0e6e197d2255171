"""`anecdotes`: the sentences that come with graphneg, small things that people tell of themselves.

``hard`` takes them into its pool by itself. A line of the file is what somebody says at once: one sentence,
or two.
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
_FILE = "data/anecdotes/anecdotes.txt"


class Loader:
    """The bundled sentences; takes no paths."""

    name = NAME
    summary = "the bundled pool of sentences: what people tell of themselves; takes no path"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The sentences, in the file's order; the second of a line goes on where the first ends."""
        if paths:
            raise InputError(f"the loader {NAME!r} comes with its file and takes no path, not {paths[0]}")

        def of_line(line: Line) -> Iterator[Record]:
            for at, text in enumerate(sentences(line.text)):
                yield sentence(f"{NAME}#{line.number}.{at}", text, NAME, line.place, clause=at == 0)

        with as_file(files("graphneg").joinpath(_FILE)) as path:
            yield from each_line(path, options.progress, of_line)
