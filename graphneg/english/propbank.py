"""PropBank (Palmer et al. 2005): rolesets of its frame files, and its frames as the package ships them.

In: ``frames.tsv``, for the `FrameTable` of parser and decoder; or the bytes of one XML file. Out of that
come its `Roleset`s, and a `Fault` with its line for each thing that can't be read. In a file that is not
well-formed, a roleset that is well-formed by itself is read. A file that declares an entity is refused.

>>> [roleset] = read_rolesets(b'<roleset id="give_up.07"><roles><role n="0" f="pag"/></roles></roleset>')
>>> roleset.id, roleset.roles
('give-up-07', (Role(number='0', function='PAG', description=''),))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from graphneg.english.tokens import one_line

_ID = re.compile(r"(\S+)[.-](\d{2,})")
_ROLESET = re.compile(rb"<roleset\b.*?</roleset>", re.DOTALL)
_LINE = "line of the file"


class Role(NamedTuple):
    """A numbered role: ``function`` is ``PAG``, ``PPT``, …, empty where none is given."""

    number: str
    function: str
    description: str


class Alias(NamedTuple):
    """A word that a roleset goes by; ``pos`` is ``v``, ``n``, ``j`` or what else the file says."""

    word: str
    pos: str


@dataclass(frozen=True, slots=True)
class PropBankExample:
    """A sentence; its words stand apart by spaces. ``relation`` is the predicate's, ``arguments`` are a type,
    first and last word (inclusive)."""

    line: int
    text: str
    relation: int | None
    arguments: tuple[tuple[str, int, int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text."""
        return tuple(self.text.split())


@dataclass(frozen=True, slots=True)
class Roleset:
    """A roleset by the ``name`` that the file has; ``usages`` are resource, version, and whether it is in use
    there (``+``)."""

    line: int
    name: str
    roles: tuple[Role, ...]
    aliases: tuple[Alias, ...]
    usages: tuple[tuple[str, str, str], ...]
    examples: tuple[PropBankExample, ...]

    @property
    def id(self) -> str | None:
        """AMR's id of the frame, ``give-up-07``; none where the name is not ``LEMMA.NN``."""
        match = _ID.fullmatch(self.name)
        return f"{match[1].replace('_', '-')}-{match[2]}" if match else None

    @property
    def in_amr(self) -> bool:
        """Whether AMR uses the frame."""
        return any(resource == "AMR" and in_use == "+" for resource, _, in_use in self.usages)


class Fault(NamedTuple):
    """What can't be read, and on which line."""

    line: int
    reason: str


def read_rolesets(data: bytes) -> list[Roleset | Fault]:
    """The rolesets of a frame file, and what is wrong with it."""
    try:
        return _rolesets(data)
    except expat.ExpatError as error:
        parts = [part for match in _ROLESET.finditer(data) for part in _alone(data, match)]
        if not any(isinstance(part, Fault) for part in parts):
            parts.append(_malformed(error))
        return parts
    except (LookupError, ValueError) as error:
        return [Fault(1, f"the XML declares an encoding that can't be read: {error}")]
    except _EntityDeclared as error:
        return [Fault(error.args[0], "the file declares an XML entity, which graphneg does not expand")]


def _alone(data: bytes, match: re.Match[bytes]) -> list[Roleset | Fault]:
    """A roleset of a file that is not well-formed, read by itself."""
    above = data.count(b"\n", 0, match.start())
    indent = b" " * (match.start() - data.rfind(b"\n", 0, match.start()) - 1)
    try:
        return _rolesets(indent + match[0], above)
    except expat.ExpatError as error:
        return [_malformed(error, above)]


def _malformed(error: expat.ExpatError, above: int = 0) -> Fault:
    reason = f"not well-formed XML: {expat.ErrorString(error.code)} at column {error.offset + 1}"
    return Fault(above + error.lineno, reason)


class _EntityDeclared(Exception):
    """The file declares an entity, which no frame file needs, on that line."""


def _rolesets(data: bytes, above: int = 0) -> list[Roleset | Fault]:
    """The rolesets of a document; ``above`` lines stand before it in its file."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, {**attributes, _LINE: str(above + parser.CurrentLineNumber)})

    def entity(*declaration: object) -> None:
        raise _EntityDeclared(parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = entity
    parser.Parse(data, True)
    return [_roleset(element) for element in builder.close().iter("roleset")]


def _roleset(element: Element) -> Roleset:
    roles = {
        number: Role(number, role.get("f", "").upper(), one_line(role.get("descr", "")))
        for role in reversed(list(element.iter("role")))
        if (number := role.get("n", "")).isdigit()
    }
    return Roleset(
        int(element.get(_LINE, "")),
        element.get("id", ""),
        tuple(reversed(roles.values())),
        tuple(Alias(one_line(_text(alias)), alias.get("pos", "")) for alias in element.iter("alias")),
        tuple(
            (usage.get("resource", ""), usage.get("version", ""), usage.get("inuse", ""))
            for usage in element.iter("usage")
        ),
        tuple(_example(example) for example in element.iter("example")),
    )


def _example(element: Element) -> PropBankExample:
    text, relation = element.find(".//text"), element.find(".//rel")
    words = 0 if text is None else len(_text(text).split())
    number = next(iter((relation.get("relloc") or "").split()), "") if relation is not None else ""
    spans = [(one.get("type", ""), one.get("start", ""), one.get("end", "")) for one in element.iter("arg")]
    numbered = [(kind, int(a), int(b)) for kind, a, b in spans if a.isdigit() and b.isdigit()]
    return PropBankExample(
        int((element if text is None else text).get(_LINE, "")),
        "" if text is None else _text(text),
        int(number) if number.isdigit() and int(number) < words else None,
        tuple((kind, first, last) for kind, first, last in numbered if first <= last < words),
    )


def _text(element: Element) -> str:
    return "".join(element.itertext())


Counts = dict[str, int]
_CLASSES = {"r": "j"}
"""Adverbs are looked up among the adjectives: PropBank's aliases are verbs, nouns and adjectives."""


@dataclass(frozen=True, slots=True)
class FrameEntry:
    """A frame: its roles' functions by number (``{"0": "PAG"}``) and its examples' roles by signature."""

    id: str
    functions: Mapping[str, str]
    verbal: bool
    examples: int
    seen: Mapping[str, Counts]


@dataclass(slots=True)
class FrameTable:
    """Frames by id, and the ids of the frames that a word names by ``(class, lemma)``."""

    frames: dict[str, FrameEntry] = field(default_factory=dict[str, FrameEntry])
    aliases: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    def add_frames(self, rows: Iterable[str]) -> None:
        """Reads rows of ``frames.tsv``.

        A row has the frame's id, roles as ``number:function``, aliases as ``class:lemma``, the number of
        annotated examples, and ``signature=role:count`` for each that they show.
        """
        for row in rows:
            id, roles, aliases, examples, seen = row.split("\t")
            pairs = [alias.split(":", 1) for alias in aliases.split()]
            verbal = any(pos == "v" for pos, _ in pairs)
            functions = dict(role.split(":") for role in roles.split())
            counts: dict[str, Counts] = {}
            for cell in seen.split():
                signature, _, rest = cell.rpartition("=")
                role, _, count = rest.partition(":")
                counts.setdefault(signature, {})[role] = int(count)
            self.frames[id] = FrameEntry(id, functions, verbal, int(examples), counts)
            for pos, lemma in pairs:
                self.aliases.setdefault((pos, lemma.lower()), []).append(id)

    def candidates(self, lemma: str, kind: str) -> list[str]:
        """The frames of a lemma in a word class (``v``, ``n``, ``j``, ``r``), in PropBank's order."""
        return self.aliases.get((_CLASSES.get(kind, kind), lemma), [])


@lru_cache(maxsize=1)
def load_frames() -> FrameTable:
    """The frames that come with the package.

    >>> frames = load_frames()
    >>> "give-up-07" in frames.candidates("give_up", "v"), frames.frames["give-01"].functions
    (True, {'0': 'PAG', '1': 'PPT', '2': 'GOL'})
    """
    table = FrameTable()
    table.add_frames(files("graphneg.english").joinpath("frames.tsv").read_text("utf-8").splitlines())
    return table
