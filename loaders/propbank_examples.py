"""Load the examples in PropBank's frame files as sentences (``propbank_examples``; Palmer et al. 2005).

The loader reads the same files as the loader ``propbank``. Generators can choose responses from the
sentences. The examples in the files are tokenized, and contain traces and other treebank marks. The loader
joins the tokens and removes the marks: ``he ran *trace* up a bill .`` becomes "He ran up a bill."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from graphneg.english.propbank import ReadError, read_rolesets
from graphneg.english.tokens import detokenize
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.rows import as_sentence, sentence
from graphneg.loaders.propbank import frame_records
from graphneg.model import Record, Rejected

# Matches treebank marks: traces ("*T*-1", "[*]"), brackets ("-LRB-") and escaped punctuation ("/.").
_MARK = re.compile(r"(?<!\S)(?:\*\S*|\[\*\S*\]|-[LR][RSC]B-|/[.?,-])(?!\S)")
# Matches a spaced hyphen: "long - term" becomes "long-term".
_HYPHEN = re.compile(r"(?<=\w) - (?=\w)")


class Loader:
    """Loader for the examples in PropBank frame files, from a directory, a tar archive or an XML file."""

    name = "propbank_examples"
    summary = "PropBank: the examples in its frame files as a pool of sentences; same files as propbank"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Return the examples from files as sentences.

        Args:
            paths: Files, archives and directories.
            options: Options for loading, such as the corpus and split.

        Returns:
            An iterator over sentences and rejected items.
        """
        read_file = partial(_examples, options.corpus or self.name)
        return frame_records(paths, self.name, read_file, options.progress)


def _examples(source: str, name: str, data: bytes) -> Iterator[Record]:
    number = 0
    for part in read_rolesets(data):
        if isinstance(part, ReadError):
            yield Rejected(f"{name}:{part.line}", part.reason)
            continue
        for example in part.examples:
            text = as_sentence(detokenize(_HYPHEN.sub("-", _MARK.sub(" ", example.text))))
            if text:
                yield sentence(f"{source}/{Path(name).stem}.{number}", text, source, f"{name}:{example.line}")
            number += 1
