"""`text`: plain text as a pool of sentences, one a line (or several: lines are cut into sentences)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphneg.english.tokens import sentences
from graphneg.ingest.formats import checked
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, corpus_of, each_line, input_files
from graphneg.ingest.rows import sentence
from graphneg.model import Record, Rejected, Sentence


class Loader:
    """Plain text, a sentence a line."""

    name = "text"
    summary = "plain text as a pool of sentences, one a line"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The sentences of the files."""
        for path in input_files(paths, self.name):
            yield from checked(path, self.name, _sentences(path, options))


def _sentences(path: Path, options: LoadOptions) -> Iterator[Sentence | Rejected]:
    source = options.corpus or corpus_of(path)

    def of_line(place: str, line: Line) -> Iterator[Sentence | Rejected]:
        for number, text in enumerate(sentences(line.text)):
            yield sentence(f"{source}/{line.number}.{number}", text, source, place)

    return each_line(path, options.progress, of_line)
