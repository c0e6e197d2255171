r"""The lexicon: classes of words and frames, moves along scales, and pairs of opposites.

Transforms use it to decide what may be edited and into what. It also filters ConceptNet's antonyms: `judge`
decides which antonym may replace a word, and in which use.

The lexicon is read from the tables in ``lexicon/``. Users may add lines of the same form. Cells are separated
by tabs, and a line that starts with ``#`` is a comment:

=========== ============ ============= ==================================================
class       class name   concepts      (separated by spaces)
move        scale        word          the word that it becomes
opposite    word         other word    kinds of things of which they are opposites, or ``-``
=========== ============ ============= ==================================================

Concepts are written as in AMR: ``have-03``, ``no-one``. ``class -NAME`` removes concepts from a class.

>>> own = [entry_of("move\ttime\tdawn\tdusk"), entry_of("class\t-handling\thave-03")]
>>> lexicon = english().extended(own)
>>> lexicon.moves["dawn"], "handling" in lexicon.of("have-03")
((('time', 'dusk'),), False)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from graphneg.english.noun_kinds import OTHER, kind_of
from graphneg.errors import InputError
from graphneg.model import LexiconEntry

_NAME = re.compile(r"-?[a-z][a-z0-9-]*")
_SHAPE = {"class": 3, "move": 4, "opposite": 4}


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The lexicon tables in memory.

    Attributes:
        classes: Names of the classes of each concept.
        moves: By word, pairs of a scale and the word that it becomes on that scale.
        opposites: By pair of words, the kinds of things of which they are opposites; empty if the pair may
            not be exchanged at all.

    >>> english().of("have-03") & {"handling", "modal"}
    frozenset({'handling'})
    >>> english().moves["monday"]
    (('time', 'thursday'),)
    """

    classes: Mapping[str, frozenset[str]]
    moves: Mapping[str, tuple[tuple[str, str], ...]]
    opposites: Mapping[tuple[str, str], tuple[str, ...]]

    def of(self, concept: str) -> frozenset[str]:
        """Return the classes of a concept.

        Args:
            concept: An AMR concept, ``have-03``.

        Returns:
            The class names; empty for an unknown concept.
        """
        return self.classes.get(concept, frozenset())

    def members(self, name: str) -> frozenset[str]:
        """Return the concepts of a class.

        Args:
            name: The class name, ``modal``.

        Returns:
            The concepts; empty for an unknown class.
        """
        return frozenset(concept for concept, names in self.classes.items() if name in names)

    def said_of(self, word: str, other: str) -> list[str] | None:
        """Return the kinds of things of which two words are opposites.

        >>> english().said_of("young", "old"), english().said_of("meet", "pass")
        (['animal', 'person', 'plant'], [])

        Args:
            word: One of the words.
            other: The other word; the order does not matter.

        Returns:
            Noun kinds of ``nouns.tsv``; empty if the words are known not to be opposites, ``None`` if the
            tables do not list the pair.
        """
        kinds = self.opposites.get((word, other))
        kinds = self.opposites.get((other, word)) if kinds is None else kinds
        return None if kinds is None else list(kinds)

    def extended(self, entries: Iterable[LexiconEntry]) -> Lexicon:
        """Return a lexicon with further entries.

        A new opposite pair replaces an older entry of the same pair. A new move replaces the older move of
        that word on the same scale.

        Args:
            entries: Entries, as `entry_of` reads them; later ones win.

        Returns:
            A new lexicon; this one is unchanged.
        """
        classes = {concept: set(names) for concept, names in self.classes.items()}
        moves = {word: dict(targets) for word, targets in self.moves.items()}
        opposites = dict(self.opposites)
        for entry in entries:
            table, cells = entry.table, entry.cells
            if table == "class":
                for concept in cells[1].split():
                    names = classes.setdefault(concept, set())
                    if cells[0].startswith("-"):
                        names.discard(cells[0][1:])
                    else:
                        names.add(cells[0])
            elif table == "move":
                moves.setdefault(cells[1], {})[cells[0]] = cells[2]
            else:
                # Pairs are looked up in both orders, so an older entry in the other order would shadow the
                # new one.
                opposites.pop((cells[1], cells[0]), None)
                opposites[cells[0], cells[1]] = () if cells[2] == "-" else tuple(cells[2].split())
        return Lexicon(
            {concept: frozenset(names) for concept, names in classes.items()},
            {word: tuple(sorted(targets.items())) for word, targets in moves.items()},
            opposites,
        )


@cache
def english() -> Lexicon:
    """Return the lexicon that ships with the package."""
    tables = files("graphneg.english").joinpath("lexicon").iterdir()
    texts = sorted((file.name, file.read_text("utf-8")) for file in tables if file.name.endswith(".tsv"))
    entries = (entry for name, text in texts for _, entry in read_entries(name, text.splitlines()))
    return Lexicon({}, {}, {}).extended(entries)


def read_entries(name: str, lines: Iterable[str]) -> Iterator[tuple[int, LexiconEntry]]:
    """Yield the entries of a table with their line numbers.

    Args:
        name: File name for error messages.
        lines: Lines of the table; blank lines and comments are skipped.

    Yields:
        The line number, counted from 1, and the entry.

    Raises:
        InputError: A line is not a valid entry; the message names file and line.
    """
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, entry_of(line)
            except ValueError as fault:
                raise InputError(f"{name}:{number}: {fault}") from None


def entry_of(line: str) -> LexiconEntry:
    r"""Parse one line of a table.

    Args:
        line: Tab-separated cells; the first is ``class``, ``move`` or ``opposite``.

    Returns:
        The entry.

    Raises:
        ValueError: The line is not a valid entry; the message says why.

    Example:
        >>> entry_of("opposite\told\tnew\tobject").cells
        ('old', 'new', 'object')
    """
    table, *cells = (cell.strip() for cell in line.rstrip("\n").split("\t"))
    if table not in _SHAPE:
        raise ValueError(f"a line begins with class, move or opposite and a tab, not with {table[:40]!r}")
    if len(cells) != _SHAPE[table] - 1 or not all(cells):
        raise ValueError(f"a line of {table!r} has {_SHAPE[table]} cells, apart by tabs")
    if table != "opposite" and not _NAME.fullmatch(cells[0]):
        raise ValueError(f"{cells[0][:40]!r} is no name: lower-case letters, digits and hyphens")
    return LexiconEntry(table, tuple(cells))


def form_of(text: str) -> str:
    """Return the surface form of a term: ``phrase``, ``plural``, ``verbal`` or ``base``.

    The form is judged by the spelling alone.

    >>> [form_of(text) for text in ("coffee shop", "dogs", "running", "dog")]
    ['phrase', 'plural', 'verbal', 'base']

    Args:
        text: A lower-case word or phrase.

    Returns:
        ``phrase`` for several words, ``plural`` for *-s*, ``verbal`` for *-ed*, *-ly* or *-ing*, else
        ``base``.
    """
    if " " in text:
        return "phrase"
    # "glass" and "bus" end in -s but are singular.
    if re.fullmatch(r".+[^su]s", text):
        return "plural"
    return "verbal" if re.fullmatch(r".{3,}(?:ed|ly|ing)", text) else "base"


_SOFT = frozenset({"state", "thought", "act"})
"""Noun kinds whose words often pair with a word that is not a noun: "peace" (state), "idea" (thought)."""
_ABSTRACT = re.compile(r".*(?:ness|ment|tion|hood|ship|ism)")
"""Endings of abstract nouns, which do not modify other nouns: "darkness", not "a darkness room"."""

Frames = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""The frames of each lemma, sorted: pairs of a frame id and its numbered roles."""


class Antonym(NamedTuple):
    """A word and a term or frame that may replace it.

    Attributes:
        word: The word that is replaced.
        used_as: The use in which it may be replaced: a frame id of the word, ``frame`` for any frame outside
            ``known``, ``noun``, or ``modifier``.
        other: The replacement, a term or a frame id.
        is_frame: Whether ``other`` is a frame id.
        said_of: Kinds of things that the word must be said of; ``None`` allows all.
        known: Frames of the word for which separate entries exist; only set if ``used_as`` is ``frame``.
    """

    word: str
    used_as: str
    other: str
    is_frame: bool
    said_of: list[str] | None
    known: list[str] | None = None


def judge(word: str, weights: Mapping[str, float], frames: Frames, lexicon: Lexicon) -> Iterator[Antonym]:
    """Yield the usable antonyms of a word.

    ConceptNet lists antonyms without word class or sense. An antonym is usable if it agrees with the word in
    class and form, if the lexicon does not forbid the pair, and if its weight is at least half of the
    heaviest one's. For example, *like* used as ``like-01`` may become ``dislike-01``, and *old* used as a
    modifier of people may become ``young``.

    Args:
        word: The word to replace, a lower-case term.
        weights: ConceptNet's weight of each antonym of the word.
        frames: PropBank frames by lemma.
        lexicon: The lexicon with the opposites and the ``no-opposite`` class.

    Yields:
        One entry per use of the word and replacement.
    """
    heaviest = max(weights.values(), default=0.0)
    for other in sorted(weights):
        said_of = lexicon.said_of(word, other)
        if weights[other] * 2 >= heaviest and said_of != [] and _agree(word, other, lexicon):
            yield from _usable(word, other, frames, lexicon, said_of)


def _agree(word: str, other: str, lexicon: Lexicon) -> bool:
    """Return whether two words have the same class and form, as far as their spelling shows."""
    # Prepositions and adverbs of place replace each other only: "in" may become "out", never "absence".
    closed = ("particle" in lexicon.of(text.replace(" ", "-")) for text in (word, other))
    if len(set(closed)) > 1 or "much" in (word, other):
        return False
    # A plural replaces a plural only: "men" is no antonym of "woman". An -ing form replaces an -ing form
    # only: "standing" is no antonym of "sit".
    plural = re.fullmatch(r".+[^siu]s", other) or "plural" in lexicon.of(other)
    if plural and not re.fullmatch(r".+[^su]s", word):
        return False
    return word.endswith("ing") or not other.endswith("ing") or "ing-noun" in lexicon.of(other)


def _usable(
    word: str, other: str, frames: Frames, lexicon: Lexicon, said_of: list[str] | None
) -> Iterator[Antonym]:
    """Yield the entries of one pair of words, for its use as a frame, as a modifier and as a noun."""
    kind, own = kind_of(other), kind_of(word)
    # Both words must name the same kind of thing. A state, thought or act may pair with a word of no kind,
    # since its antonym is often a verb or adjective.
    if kind == own or (kind == OTHER and own in _SOFT):
        known = [old for old, _ in frames.get(word, ())]
        # A frame of the word that is not in PropBank's tables has unknown roles, so any frame of the other
        # word may replace it.
        yield from (Antonym(word, "frame", new, True, said_of, known) for new, _ in frames.get(other, ()))
        for old, roles in frames.get(word, ()):
            for new, others in frames.get(other, ()) if "no-opposite" not in lexicon.of(old) else ():
                # The replacement needs an agent if the old frame has one, and likewise a patient. Otherwise
                # "He won the game" could become a frame without an object.
                if new != old and all((role in roles) == (role in others) for role in ("ARG0", "ARG1")):
                    yield Antonym(word, old, new, True, said_of)
    if " " not in other and kind == own and "no-opposite" not in lexicon.of(word.replace(" ", "-")):
        # "a dark room" may become "a light room", but not "a brightness room".
        if not _ABSTRACT.fullmatch(other):
            yield Antonym(word, "modifier", other, False, said_of)
        # A plain noun must not become a word that is mostly a verb: "arrival" may become "departure", not
        # "go".
        if frames.get(word) or not frames.get(other):
            yield Antonym(word, "noun", other, False, said_of)
