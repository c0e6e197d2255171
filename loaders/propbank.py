"""`propbank`: PropBank's frame files as an inventory of rolesets (Palmer et al. 2005; AMR's frames).

Reads a directory of XML files, a tar archive of them, or one file. ``give_up.07`` becomes the
frame ``give-up-07`` with its numbered roles. In a file that is not well-formed XML, a roleset
that is well-formed by itself is read. Entities are refused, never expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

from graphneg.english.noun_kinds import lexeme
from graphneg.english.propbank import frame_records
from graphneg.ingest.loader import LoadOptions
from graphneg.model import Frame, Record, Rejected

_ID = re.compile(r"(\S+)[.-](\d{2,})")
_ROLESET = re.compile(rb"<roleset\b.*?</roleset>", re.DOTALL)


class Loader:
    """PropBank frames: a directory, a tar archive or an XML file."""

    name = "propbank"
    summary = "PropBank frames: the directory of XML files, their tar.gz, or one file"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        return frame_records(paths, self.name, _Inventory().rolesets, options.progress)


class _Inventory:
    """The frames of one load: refuses a frame that came before."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def rolesets(self, name: str, data: bytes) -> Iterator[Record]:
        """The rolesets of one frame file, and what is wrong with it."""
        found = rolesets(data)
        if not found:
            yield Rejected(f"{name}:1", "there are no rolesets in it")
        for line, one in found:
            yield self._new(f"{name}:{line}", one)

    def _new(self, place: str, found: Frame | str) -> Frame | Rejected:
        if isinstance(found, str):
            return Rejected(place, found)
        before = self._places.setdefault(found.id, place)
        if before != place:
            return Rejected(place, f"the frame {found.id} came before in this load, at {before}")
        return found


def rolesets(data: bytes) -> list[tuple[int, Frame | str]]:
    """The rolesets of a frame file: the line, and the frame or the reason why there is none."""
    try:
        return _Events().read(data)
    except expat.ExpatError as error:
        found = [one for match in _ROLESET.finditer(data) for one in _alone(data, match)]
        if not any(isinstance(one, str) for _, one in found):
            found.append((error.lineno, _reason(error)))
        return found
    except (LookupError, ValueError) as error:
        return [(1, f"the XML declares an encoding that can't be read: {error}")]
    except _EntityDeclared as error:
        return [(error.line, "the file declares an XML entity, which graphneg does not expand")]


def _alone(data: bytes, match: re.Match[bytes]) -> list[tuple[int, Frame | str]]:
    """A roleset of a file that is not well-formed, read by itself."""
    above = data.count(b"\n", 0, match.start())
    indent = b" " * (match.start() - data.rfind(b"\n", 0, match.start()) - 1)
    try:
        return [(above + line, one) for line, one in _Events().read(indent + match[0])]
    except expat.ExpatError as error:
        return [(above + error.lineno, _reason(error))]


def _reason(error: expat.ExpatError) -> str:
    return f"not well-formed XML: {expat.ErrorString(error.code)} at column {error.offset + 1}"


class _EntityDeclared(Exception):
    """The file declares an entity, which no frame file needs."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Events:
    """Collects rolesets, with their lines, from the events of an XML parser."""

    def __init__(self) -> None:
        self._found: list[tuple[int, Frame | str]] = []
        self._id, self._line = "", 0
        self._roles: dict[str, str] = {}
        self._aliases: list[str] = []
        self._text: list[str] | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def read(self, data: bytes) -> list[tuple[int, Frame | str]]:
        """The rolesets of a document.

        Raises:
            ExpatError: it is not well-formed.
            _EntityDeclared: it declares an entity.
        """
        self._parser.Parse(data, True)
        return self._found

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "roleset":
            self._id, self._line = attributes.get("id", ""), self._parser.CurrentLineNumber
            self._roles, self._aliases = {}, []
        elif tag == "role" and attributes.get("n", "").isdigit():
            self._roles.setdefault(f"ARG{attributes['n']}", " ".join(attributes.get("descr", "").split()))
        elif tag == "alias":
            self._text = []

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        if tag == "alias" and self._text is not None:
            self._aliases.append(" ".join("".join(self._text).replace("_", " ").split()))
            self._text = None
        elif tag == "roleset":
            self._found.append((self._line, self._frame()))

    def _frame(self) -> Frame | str:
        match = _ID.fullmatch(self._id)
        if match is None:
            return f"the roleset id {self._id!r} is not LEMMA.NN"
        id = f"{match[1].replace('_', '-')}-{match[2]}"
        descriptions, aliases = tuple(self._roles.values()), tuple(dict.fromkeys(filter(None, self._aliases)))
        return Frame(id, lexeme(id), tuple(self._roles), descriptions, aliases)

    def _entity(self, *declaration: object) -> None:
        raise _EntityDeclared(self._parser.CurrentLineNumber)
