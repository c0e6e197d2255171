"""`propbank_examples`: the examples in PropBank's frame files as a pool of sentences (Palmer et al. 2005).

Reads what `propbank` reads. An example is cut into tokens there, and is put together again here;
traces and other marks of a treebank are no words and go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

from graphneg.english.propbank import frame_records
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.rows import as_sentence, joined_tokens, sentence
from graphneg.model import Record, Rejected

_MARK = re.compile(r"(?<!\S)(?:\*\S*|\[\*\S*\]|-[LR][RSC]B-|/[.?,-])(?!\S)")
_HYPHEN = re.compile(r"(?<=\w) - (?=\w)")


class Loader:
    """The examples of PropBank's frames: a directory, a tar archive or an XML file."""

    name = "propbank_examples"
    summary = "PropBank: the examples in its frame files as a pool of sentences; what propbank reads"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        source = options.corpus or self.name

        def examples(name: str, data: bytes) -> Iterator[Record]:
            return _examples(name, data, source)

        return frame_records(paths, self.name, examples, options.progress)


def _examples(name: str, data: bytes, source: str) -> Iterator[Record]:
    try:
        found = _Texts().read(data)
    except expat.ExpatError as error:
        yield Rejected(f"{name}:{error.lineno}", f"not well-formed XML: {expat.ErrorString(error.code)}")
        return
    except (LookupError, ValueError) as error:
        yield Rejected(f"{name}:1", f"the XML declares an encoding that can't be read: {error}")
        return
    file = Path(name).stem
    for number, (line, text) in enumerate(found):
        written = joined_tokens(_HYPHEN.sub("-", _MARK.sub(" ", text)))
        if written:
            yield sentence(f"{source}/{file}.{number}", as_sentence(written), source, f"{name}:{line}")


class _Texts:
    """Collects the texts of examples, with their lines, from the events of an XML parser."""

    def __init__(self) -> None:
        self._found: list[tuple[int, str]] = []
        self._example = False
        self._text: list[str] | None = None
        self._line = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def read(self, data: bytes) -> list[tuple[int, str]]:
        """The lines and texts of a frame file's examples.

        Raises:
            ExpatError: it is not well-formed.
            ValueError: it declares an entity, or an encoding that is not known.
        """
        self._parser.Parse(data, True)
        return self._found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "example":
            self._example = True
        elif tag == "text" and self._example:
            self._text, self._line = [], self._parser.CurrentLineNumber

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        if tag == "text" and self._text is not None:
            self._found.append((self._line, "".join(self._text)))
            self._text = None
        elif tag == "example":
            self._example = False

    def _entity(self, *declaration: object) -> None:
        raise ValueError("the file declares an XML entity, which graphneg does not expand")
