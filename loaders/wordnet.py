"""Load the examples in WordNet's glosses as sentences (``wordnet``; Miller 1995).

Generators can choose responses from them. The loader reads ``data.noun``, ``data.verb``, ``data.adj`` and
``data.adv`` as they are installed by WordNet and by Debian's package wordnet-base (format: wndb(5WN)). After
the definition of a synset, examples follow in quotation marks:

    02001858 35 v 02 run 0 shoot 1 ... | run fast; "he ran for the bus"

This line gives the sentence "He ran for the bus." Quotations with the name of an author are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graphneg.english.tokens import one_line
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Line, each_line
from graphneg.ingest.rows import as_sentence, sentence
from graphneg.ingest.validation import FileLoader
from graphneg.model import Rejected, Sentence

_SYNSET = re.compile(r"(\d{8}) \d\d [nvasr] [0-9a-f]{2} ")
# Matches an example. If a dash follows, as in "..." - Author, it is a quotation and is left out.
_EXAMPLE = re.compile(r'"([^"]+)"(?!\s*-)')


class Loader(FileLoader):
    """Loader for WordNet's data files, or for a directory that contains them."""

    name = "wordnet"
    summary = "WordNet: the examples in its glosses as a pool of sentences; data.* files or their directory"
    within = ("data.*", "data files of WordNet (data.*)")

    def records(self, path: Path, options: LoadOptions) -> Iterator[Sentence | Rejected]:
        """Return the examples of a data file as sentences.

        Args:
            path: The file.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over sentences and rejected lines.
        """
        source = options.corpus or self.name

        def of_line(line: Line) -> Iterator[Sentence | Rejected]:
            # Skip the licence at the beginning of the file. Only its lines are indented.
            if line.text.startswith("  "):
                return
            synset, gloss = _SYNSET.match(line.text), line.text.partition("| ")[2]
            if synset is None or not gloss:
                raise ItemError("no synset with a gloss, as wndb(5WN) describes it")
            for number, example in enumerate(_EXAMPLE.findall(gloss)):
                id = f"{source}/{path.name}/{synset[1]}.{number}"
                yield sentence(id, as_sentence(one_line(example)), source, line.place)

        return each_line(path, options.progress, of_line)
