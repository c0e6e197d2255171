"""Read PropBank frame files, and the table of frames in the package (Palmer et al. 2005).

`load_frames` reads ``frames.tsv``, which the parser and the decoder use. `read_rolesets` reads one XML frame
file of a PropBank release. It returns a `Roleset` for each readable roleset, and a `ReadError` with a line
number for each problem. If the file is not well-formed, its well-formed rolesets are still returned. If the
file declares an XML entity, no roleset is read.

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
        number: Number of the role, such as ``0`` for ``ARG0``.
        function: Function tag in PropBank, such as ``PAG`` (agent) or ``PPT`` (patient); empty if the file
            does not give a tag.
        description: Description of the role, such as *entity leaving*.
    """

    number: str
    function: str
    description: str


class Alias(NamedTuple):
    """A word to which a roleset applies.

    Attributes:
        word: The lemma; a particle is joined with ``_``, as in ``give_up``.
        pos: Part of speech: ``v``, ``n``, ``j``, or another string from the file.
    """

    word: str
    pos: str


@dataclass(frozen=True, slots=True)
class PropBankExample:
    """An annotated example sentence.

    Attributes:
        line: Line number of the sentence in the file.
        text: The sentence. Its tokens are separated by spaces.
        predicate: Index of the token of the predicate, or ``None`` if the file does not give it.
        arguments: For each argument, its type, the index of its first token and the index of its last token
            (inclusive).
    """

    line: int
    text: str
    predicate: int | None
    arguments: tuple[tuple[str, int, int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens of the text."""
        return tuple(self.text.split())


@dataclass(frozen=True, slots=True)
class Roleset:
    """A roleset: the numbered roles of one sense of a word.

    Attributes:
        line: Line number of the roleset in the file.
        name: The id as the file writes it, such as ``give_up.07``.
        roles: The numbered roles.
        aliases: The words to which the roleset applies.
        usages: For each resource, such as AMR, its name, its version, and ``+`` if the resource uses the
            roleset.
        examples: Annotated example sentences.
    """

    line: int
    name: str
    roles: tuple[Role, ...]
    aliases: tuple[Alias, ...]
    usages: tuple[tuple[str, str, str], ...]
    examples: tuple[PropBankExample, ...]

    @property
    def id(self) -> str | None:
        """The id that AMR uses, ``give-up-07``; ``None`` if the name does not have the form ``LEMMA.NN``."""
        match = _ID.fullmatch(self.name)
        return f"{match[1].replace('_', '-')}-{match[2]}" if match else None

    @property
    def in_amr(self) -> bool:
        """Whether AMR uses the roleset as a frame."""
        return any(resource == "AMR" and in_use == "+" for resource, _, in_use in self.usages)


class ReadError(NamedTuple):
    """A problem that prevented a part of a frame file from being read.

    Attributes:
        line: Line number in the file, counted from 1.
        reason: What is wrong.
    """

    line: int
    reason: str


def read_rolesets(data: bytes) -> list[Roleset | ReadError]:
    """Read the rolesets of a frame file.

    Args:
        data: The contents of the XML file.

    Returns:
        The rolesets that can be read, in file order, and a `ReadError` for each problem.
    """
    try:
        return _rolesets(data)
    except expat.ExpatError as error:
        parts = [part for match in _ROLESET.finditer(data) for part in _read_roleset(data, match)]
        # If every roleset can be read separately, the XML error is in the text between two rolesets. Report
        # it with its line number in the file.
        if not any(isinstance(part, ReadError) for part in parts):
            parts.append(_malformed(error))
        return parts
    except (LookupError, ValueError) as error:
        return [ReadError(1, f"the XML declares an encoding that can't be read: {error}")]
    except _EntityDeclared as error:
        return [ReadError(error.args[0], "the file declares an XML entity, which graphneg does not expand")]


def _read_roleset(data: bytes, match: re.Match[bytes]) -> list[Roleset | ReadError]:
    """Read one roleset of a file that is not well-formed XML."""
    lines_before = data.count(b"\n", 0, match.start())
    # Keep the indentation, so that the column numbers in error messages are the column numbers in the file.
    indent = b" " * (match.start() - data.rfind(b"\n", 0, match.start()) - 1)
    try:
        return _rolesets(indent + match[0], lines_before)
    except expat.ExpatError as error:
        return [_malformed(error, lines_before)]


def _malformed(error: expat.ExpatError, lines_before: int = 0) -> ReadError:
    reason = f"not well-formed XML: {expat.ErrorString(error.code)} at column {error.offset + 1}"
    return ReadError(lines_before + error.lineno, reason)


class _EntityDeclared(Exception):
    """The exception for a file that declares an XML entity. Its argument is the line number."""


def _rolesets(data: bytes, lines_before: int = 0) -> list[Roleset | ReadError]:
    """Read the rolesets of an XML document. In the file, ``lines_before`` lines precede this document."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    # ElementTree's own parser does not report line numbers, which are needed, so expat is called directly.
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, {**attributes, _LINE: str(lines_before + parser.CurrentLineNumber)})

    # Expanding entities could exhaust the memory ("billion laughs" attack). PropBank files declare no
    # entities, so the parser stops at an entity declaration.
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
        # If a roleset lists a role number twice, keep the first role with this number.
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
"""PropBank has no word class for adverbs (``r``), so they are looked up as adjectives (``j``)."""


@dataclass(frozen=True, slots=True)
class FrameEntry:
    """A PropBank frame, read from a row of ``frames.tsv``.

    Attributes:
        id: Frame id in AMR, such as ``give-01``.
        functions: Function tags, keyed by role number: ``{"0": "PAG"}``.
        verbal: Whether one of the words of the frame is a verb.
        examples: Number of annotated examples of the frame in PropBank.
        seen: Number of examples for each syntactic relation to the verb and each role. In
            ``{"dobj": {"1": 27}}``, the direct object had role ``ARG1`` in 27 examples. The role ``M`` is a
            modifier.
    """

    id: str
    functions: Mapping[str, str]
    verbal: bool
    examples: int
    seen: Mapping[str, Counts]


@dataclass(slots=True)
class FrameTable:
    """PropBank frames, which can be looked up by id, and by word.

    Attributes:
        frames: The frames, keyed by id.
        aliases: Frame ids, keyed by word class and lemma, such as ``("v", "give_up")``.
    """

    frames: dict[str, FrameEntry] = field(default_factory=dict[str, FrameEntry])
    aliases: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])

    def add_frames(self, rows: Iterable[str]) -> None:
        """Add frames from rows of ``frames.tsv``.

        Args:
            rows: Rows of five tab-separated cells: the frame id, the roles with their function tags (``0:PAG
                1:PPT``), the words (``v:give_up``), the number of annotated examples, and how often an
                argument had a role in these examples (``dobj=1:27``; see `FrameEntry.seen`).
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
        """Return the frames that a word can have, in PropBank's order.

        Args:
            lemma: The lemma of the word; a particle is joined with ``_``, as in ``give_up``.
            kind: The word class: ``v``, ``n``, ``j`` or ``r`` (adverb).

        Returns:
            The frame ids; empty for an unknown word.
        """
        return self.aliases.get((_CLASSES.get(kind, kind), lemma), [])


@lru_cache(maxsize=1)
def load_frames() -> FrameTable:
    """Return the frame table in the package.

    The table is read on the first call, and later calls return the same object.

    Returns:
        The table of the frames that AMR uses.

    Example:
        >>> frames = load_frames()
        >>> "give-up-07" in frames.candidates("give_up", "v"), frames.frames["give-01"].functions
        (True, {'0': 'PAG', '1': 'PPT', '2': 'GOL'})
    """
    table = FrameTable()
    table.add_frames(files("graphneg.english").joinpath("frames.tsv").read_text("utf-8").splitlines())
    return table
