"""`text`: plain text as a pool of sentences, one a line (or several: lines are cut into sentences)."""

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
    """Plain text, a sentence a line."""

    name = "text"
    summary = "plain text as a pool of sentences, one a line"

    def records(self, path: Path, options: LoadOptions) -> Iterator[Sentence | Rejected]:
        """The sentences of a file."""
        source = options.corpus or corpus_of(path)

        def of_line(line: Line) -> Iterator[Sentence | Rejected]:
            for number, text in enumerate(sentences(line.text)):
                yield sentence(f"{source}/{line.number}.{number}", text, source, line.place)

        return each_line(path, options.progress, of_line)
