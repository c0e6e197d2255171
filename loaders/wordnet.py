"""`wordnet`: the examples in WordNet's glosses as a pool of sentences (Miller 1995).

Reads ``data.noun``, ``data.verb``, ``data.adj`` and ``data.adv`` as WordNet and Debian's package
wordnet-base install them (wndb(5WN)): what stands in quotes behind a synset's definition. A quotation with
its author is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphneg.english.tokens import one_line
from graphneg.errors import InputError
from graphneg.ingest.formats import checked
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, Refused, each_line, input_paths
from graphneg.ingest.rows import as_sentence, sentence
from graphneg.model import Record, Rejected, Sentence

_SYNSET = re.compile(r"(\d{8}) \d\d [nvasr] [0-9a-f]{2} ")
_EXAMPLE = re.compile(r'"([^"]+)"(?!\s*-)')
_FILES = "data.*"


class Loader:
    """WordNet's data files, or their directory."""

    name = "wordnet"
    summary = "WordNet: the examples in its glosses as a pool of sentences; data.* files or their directory"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The examples of the files."""
        for path in input_paths(paths, self.name):
            for file in _data_files(path):
                yield from checked(file, self.name, _examples(file, options))


def _data_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob(_FILES))
    if not files:
        raise InputError(f"{path} has no data files of WordNet ({_FILES}) in it")
    return files


def _examples(path: Path, options: LoadOptions) -> Iterator[Sentence | Rejected]:
    """The examples of a file; a licence, in lines that begin with a space, comes before its synsets."""
    source = options.corpus or Loader.name

    def of_line(place: str, line: Line) -> Iterator[Sentence | Rejected]:
        if line.text.startswith("  "):
            return
        synset, gloss = _SYNSET.match(line.text), line.text.partition("| ")[2]
        if synset is None or not gloss:
            raise Refused("no synset with a gloss, as wndb(5WN) describes it")
        for number, example in enumerate(_EXAMPLE.findall(gloss)):
            id = f"{source}/{path.name}/{synset[1]}.{number}"
            yield sentence(id, as_sentence(one_line(example)), source, place)

    return each_line(path, options.progress, of_line)
