"""`propbank_examples`: the examples in PropBank's frame files as a pool of sentences (Palmer et al. 2005).

Reads what `propbank` reads. An example is cut into tokens there, and is put together again here;
traces and other marks of a treebank are no words and go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from graphneg.english.propbank import Fault, read_rolesets
from graphneg.english.tokens import closed_up
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.rows import as_sentence, sentence
from graphneg.loaders.propbank import frame_records
from graphneg.model import Record, Rejected

_MARK = re.compile(r"(?<!\S)(?:\*\S*|\[\*\S*\]|-[LR][RSC]B-|/[.?,-])(?!\S)")
_HYPHEN = re.compile(r"(?<=\w) - (?=\w)")


class Loader:
    """The examples of PropBank's frames: a directory, a tar archive or an XML file."""

    name = "propbank_examples"
    summary = "PropBank: the examples in its frame files as a pool of sentences; what propbank reads"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The examples of the files, as sentences."""
        read_file = partial(_examples, options.corpus or self.name)
        return frame_records(paths, self.name, read_file, options.progress)


def _examples(source: str, name: str, data: bytes) -> Iterator[Record]:
    number = 0
    for part in read_rolesets(data):
        if isinstance(part, Fault):
            yield Rejected(f"{name}:{part.line}", part.reason)
            continue
        for example in part.examples:
            text = as_sentence(closed_up(_HYPHEN.sub("-", _MARK.sub(" ", example.text))))
            if text:
                yield sentence(f"{source}/{Path(name).stem}.{number}", text, source, f"{name}:{example.line}")
            number += 1
