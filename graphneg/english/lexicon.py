"""The lexicon: classes of words and frames, how words move along scales, which pairs are opposites.

What ConceptNet calls antonyms is judged here as well: which word may stand in the place of which, as what.

It is read from the tables in ``lexicon/``; lines of the same form may be added by a user. A line has its
cells apart by tabs, and ``#`` begins a comment:

=========== ============ ============ ==============
class       its name     concepts, apart by spaces
move        how          the word     what it becomes
opposite    a word       another      the kinds of things of which they are opposites, ``-`` for none
=========== ============ ============ ==============

Concepts are written as in AMR: ``have-03``, ``no-one``. ``class -NAME`` takes concepts out of a class.
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
    """Tables in memory: ``classes`` by concept, ``moves`` by word (how, and what it becomes), ``opposites``
    by pair of words (the kinds of things of which they are opposites).

    >>> english().of("have-03") & {"handling", "modal"}
    frozenset({'handling'})
    >>> english().moves["monday"]
    (('time', 'thursday'),)
    """

    classes: Mapping[str, frozenset[str]]
    moves: Mapping[str, tuple[tuple[str, str], ...]]
    opposites: Mapping[tuple[str, str], tuple[str, ...]]

    def of(self, concept: str) -> frozenset[str]:
        """The classes of a concept."""
        return self.classes.get(concept, frozenset())

    def members(self, name: str) -> frozenset[str]:
        """The concepts of a class."""
        return frozenset(concept for concept, names in self.classes.items() if name in names)

    def said_of(self, word: str, other: str) -> list[str] | None:
        """The kinds of things of which two words are opposites; ``None`` where the tables do not know them.

        >>> english().said_of("young", "old"), english().said_of("meet", "pass")
        (['animal', 'person', 'plant'], [])
        """
        kinds = self.opposites.get((word, other))
        kinds = self.opposites.get((other, word)) if kinds is None else kinds
        return None if kinds is None else list(kinds)

    def extended(self, entries: Iterable[LexiconEntry]) -> Lexicon:
        """This lexicon with further entries: a newer pair, or move of a sort, takes the older one's place."""
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
                opposites.pop((cells[1], cells[0]), None)
                opposites[cells[0], cells[1]] = () if cells[2] == "-" else tuple(cells[2].split())
        return Lexicon(
            {concept: frozenset(names) for concept, names in classes.items()},
            {word: tuple(sorted(targets.items())) for word, targets in moves.items()},
            opposites,
        )


@cache
def english() -> Lexicon:
    """The lexicon that comes with graphneg."""
    tables = files("graphneg.english").joinpath("lexicon").iterdir()
    texts = sorted((file.name, file.read_text("utf-8")) for file in tables if file.name.endswith(".tsv"))
    entries = (entry for name, text in texts for _, entry in read_entries(name, text.splitlines()))
    return Lexicon({}, {}, {}).extended(entries)


def read_entries(name: str, lines: Iterable[str]) -> Iterator[tuple[int, LexiconEntry]]:
    """The entries of a table with their line numbers; ``name`` is for messages.

    Raises `InputError`: a line is no entry.
    """
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, entry_of(line)
            except ValueError as fault:
                raise InputError(f"{name}:{number}: {fault}") from None


def entry_of(line: str) -> LexiconEntry:
    """The entry that a line holds.

    Raises `ValueError`: it holds none; the message says why.
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
    """``phrase`` for several words, ``plural`` or ``verbal`` for what ends as these do, else ``base``.

    >>> [form_of(text) for text in ("coffee shop", "dogs", "running", "dog")]
    ['phrase', 'plural', 'verbal', 'base']
    """
    if " " in text:
        return "phrase"
    if re.fullmatch(r".+[^su]s", text):
        return "plural"
    return "verbal" if re.fullmatch(r".{3,}(?:ed|ly|ing)", text) else "base"


_SOFT = frozenset({"state", "thought", "act"})
_ABSTRACT = re.compile(r".*(?:ness|ment|tion|hood|ship|ism)")

Frames = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""By lemma, its frames, sorted: id and numbered roles."""


class Antonym(NamedTuple):
    """What may stand in the place of ``word``: the term or frame ``other``.

    It is ``used_as`` a frame (its id), as any ``frame`` that is not ``known``, as a ``noun`` or as a
    ``modifier``. ``said_of`` are the kinds of things that it must be said of, ``None`` for all.
    """

    word: str
    used_as: str
    other: str
    is_frame: bool
    said_of: list[str] | None
    known: list[str] | None = None


def judge(word: str, weights: Mapping[str, float], frames: Frames, lexicon: Lexicon) -> Iterator[Antonym]:
    """The usable antonyms of a word among those of these weights: none of half the heaviest one's or less.

    ConceptNet calls two words antonyms whatever their word classes and senses are. *Like* in its frame
    ``like-01`` may become ``dislike-01``, *old* as a modifier ``young`` of people.
    """
    heaviest = max(weights.values(), default=0.0)
    for other in sorted(weights):
        said_of = lexicon.said_of(word, other)
        if weights[other] * 2 >= heaviest and said_of != [] and _agree(word, other, lexicon):
            yield from _usable(word, other, frames, lexicon, said_of)


def _agree(word: str, other: str, lexicon: Lexicon) -> bool:
    """Whether two words are of one class and form, as far as that shows."""
    closed = ("particle" in lexicon.of(text.replace(" ", "-")) for text in (word, other))
    if len(set(closed)) > 1 or "much" in (word, other):
        return False
    plural = re.fullmatch(r".+[^siu]s", other) or "plural" in lexicon.of(other)
    if plural and not re.fullmatch(r".+[^su]s", word):
        return False
    return word.endswith("ing") or not other.endswith("ing") or "ing-noun" in lexicon.of(other)


def _usable(
    word: str, other: str, frames: Frames, lexicon: Lexicon, said_of: list[str] | None
) -> Iterator[Antonym]:
    """What one word of a pair may stand for, as a frame, a modifier or a noun. A frame stands for one that
    has a doer, and something done, where it has; of frames that are not known, where they are used shows that
    (as any ``frame``). Words are single and of one kind: no modifier in *-ness*, and no noun that is rather a
    verb."""
    kind, own = kind_of(other), kind_of(word)
    if kind == own or (kind == OTHER and own in _SOFT):
        known = [old for old, _ in frames.get(word, ())]
        yield from (Antonym(word, "frame", new, True, said_of, known) for new, _ in frames.get(other, ()))
        for old, roles in frames.get(word, ()):
            for new, others in frames.get(other, ()) if "no-opposite" not in lexicon.of(old) else ():
                if new != old and all((role in roles) == (role in others) for role in ("ARG0", "ARG1")):
                    yield Antonym(word, old, new, True, said_of)
    if " " not in other and kind == own and "no-opposite" not in lexicon.of(word.replace(" ", "-")):
        if not _ABSTRACT.fullmatch(other):
            yield Antonym(word, "modifier", other, False, said_of)
        if frames.get(word) or not frames.get(other):
            yield Antonym(word, "noun", other, False, said_of)
