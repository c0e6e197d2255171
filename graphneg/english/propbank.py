"""PropBank frames (Palmer et al. 2005): a reader of frame files, and the table of frames in the package.

`load_frames` reads ``frames.tsv``, which the parser and the decoder use. `read_rolesets` reads one XML frame
file of a PropBank release. It returns a `Roleset` for each one that it can read, and a `Fault` with a line
number for each problem. If the file is not well-formed, its well-formed rolesets are still read. A file that
declares an XML entity is refused.

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
    """A numbered role of a roleset.

    Attributes:
        number: Number of the role: ``0`` for ``ARG0``.
        function: PropBank's function tag, ``PAG`` (agent) or ``PPT`` (patient); empty if the file gives none.
        description: The role in words, *entity leaving*.
    """

    number: str
    function: str
    description: str


class Alias(NamedTuple):
    """A word that a roleset covers.

    Attributes:
        word: The lemma, with ``_`` before a particle.
        pos: ``v``, ``n``, ``j``, or whatever the file says.
    """

    word: str
    pos: str


@dataclass(frozen=True, slots=True)
class PropBankExample:
    """An annotated example sentence.

    Attributes:
        line: Line of the sentence in the file.
        text: The sentence, its tokens separated by spaces.
        relation: Index of the predicate's token, or ``None``.
        arguments: Per argument its type, and its first and last token (inclusive).
    """

    line: int
    text: str
    relation: int | None
    arguments: tuple[tuple[str, int, int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens of the text."""
        return tuple(self.text.split())


@dataclass(frozen=True, slots=True)
class Roleset:
    """A roleset of a frame file.

    Attributes:
        line: Line of the roleset in the file.
        name: The id as the file writes it, ``give_up.07``.
        roles: The numbered roles.
        aliases: Words that the roleset covers.
        usages: Per resource its name, its version, and ``+`` if the roleset is in use there.
        examples: Annotated sentences.
    """

    line: int
    name: str
    roles: tuple[Role, ...]
    aliases: tuple[Alias, ...]
    usages: tuple[tuple[str, str, str], ...]
    examples: tuple[PropBankExample, ...]

    @property
    def id(self) -> str | None:
        """AMR's id of the frame, ``give-up-07``; ``None`` if the name is not of the form ``LEMMA.NN``."""
        match = _ID.fullmatch(self.name)
        return f"{match[1].replace('_', '-')}-{match[2]}" if match else None

    @property
    def in_amr(self) -> bool:
        """Whether AMR uses the frame."""
        return any(resource == "AMR" and in_use == "+" for resource, _, in_use in self.usages)


class Fault(NamedTuple):
    """A part of a file that cannot be read.

    Attributes:
        line: Line in the file, counted from 1.
        reason: What is wrong.
    """

    line: int
    reason: str


def read_rolesets(data: bytes) -> list[Roleset | Fault]:
    """Read the rolesets of a frame file.

    Args:
        data: The bytes of the XML file.

    Returns:
        The rolesets in file order, and a `Fault` for each problem.
    """
    try:
        return _rolesets(data)
    except expat.ExpatError as error:
        parts = [part for match in _ROLESET.finditer(data) for part in _alone(data, match)]
        # All rolesets can be read, so the fault lies between them and is reported for the file.
        if not any(isinstance(part, Fault) for part in parts):
            parts.append(_malformed(error))
        return parts
    except (LookupError, ValueError) as error:
        return [Fault(1, f"the XML declares an encoding that can't be read: {error}")]
    except _EntityDeclared as error:
        return [Fault(error.args[0], "the file declares an XML entity, which graphneg does not expand")]


def _alone(data: bytes, match: re.Match[bytes]) -> list[Roleset | Fault]:
    """Read one roleset of a file that is not well-formed."""
    above = data.count(b"\n", 0, match.start())
    # The indentation is kept so that columns in error messages are those of the file.
    indent = b" " * (match.start() - data.rfind(b"\n", 0, match.start()) - 1)
    try:
        return _rolesets(indent + match[0], above)
    except expat.ExpatError as error:
        return [_malformed(error, above)]


def _malformed(error: expat.ExpatError, above: int = 0) -> Fault:
    reason = f"not well-formed XML: {expat.ErrorString(error.code)} at column {error.offset + 1}"
    return Fault(above + error.lineno, reason)


class _EntityDeclared(Exception):
    """The file declares an XML entity; the argument is the line."""


def _rolesets(data: bytes, above: int = 0) -> list[Roleset | Fault]:
    """Parse a document that starts ``above`` lines into its file."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    # ElementTree's own parser does not report line numbers, so expat is driven by hand.
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, {**attributes, _LINE: str(above + parser.CurrentLineNumber)})

    # Expanding entities could use up the memory ("billion laughs"). No PropBank file declares any.
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
        # If a role number occurs twice, the first one counts.
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
"""Word classes to look up under another letter: PropBank lists adverbs as adjectives."""


@dataclass(frozen=True, slots=True)
class FrameEntry:
    """A frame of the shipped table.

    Attributes:
        id: AMR's frame id, ``give-01``.
        functions: Function tag by role number: ``{"0": "PAG"}``.
        verbal: Whether a verb is among its aliases.
        examples: Number of annotated examples in PropBank.
        seen: How often each argument signature (``dobj``, ``prep_to``) had each role in the examples; the
            role is a number, or ``M`` for a modifier.
    """

    id: str
    functions: Mapping[str, str]
    verbal: bool
    examples: int
    seen: Mapping[str, Counts]


@dataclass(slots=True)
class FrameTable:
    """Frames by id, and frame ids by word.

    Attributes:
        frames: Frame by id.
        aliases: Frame ids by word class and lemma: ``("v", "give_up")``.
    """

    frames: dict[str, FrameEntry] = field(default_factory=dict[str, FrameEntry])
    aliases: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    def add_frames(self, rows: Iterable[str]) -> None:
        """Add rows of ``frames.tsv``.

        Args:
            rows: Tab-separated rows: frame id, roles as ``number:function``, aliases as ``class:lemma``,
                number of annotated examples, and ``signature=role:count`` for each signature in the examples.
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
        """Return the frames of a lemma in a word class, in PropBank's order.

        Args:
            lemma: The lemma, with ``_`` before a particle: ``give_up``.
            kind: ``v``, ``n``, ``j`` or ``r`` (adverb).

        Returns:
            Frame ids; empty for an unknown word.
        """
        return self.aliases.get((_CLASSES.get(kind, kind), lemma), [])


@lru_cache(maxsize=1)
def load_frames() -> FrameTable:
    """Return the frame table that ships with the package.

    The table is read once and shared.

    Returns:
        The frames that AMR uses.

    Example:
        >>> frames = load_frames()
        >>> "give-up-07" in frames.candidates("give_up", "v"), frames.frames["give-01"].functions
        (True, {'0': 'PAG', '1': 'PPT', '2': 'GOL'})
    """
    table = FrameTable()
    table.add_frames(files("graphneg.english").joinpath("frames.tsv").read_text("utf-8").splitlines())
    return table
