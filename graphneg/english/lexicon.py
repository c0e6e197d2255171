"""The lexicon: classes of words and frames, how words move along scales, which pairs are opposites.

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from graphneg.errors import InputError
from graphneg.model import LexiconEntry

NONE = "-"
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

    classes: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    moves: Mapping[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )
    opposites: Mapping[tuple[str, str], tuple[str, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[str, ...]]
    )

    def of(self, concept: str) -> frozenset[str]:
        """The classes of a concept."""
        return self.classes.get(concept, _NOTHING)

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
                _classify(classes, *cells)
            elif table == "move":
                moves.setdefault(cells[1], {})[cells[0]] = cells[2]
            else:
                opposites.pop((cells[1], cells[0]), None)
                opposites[cells[0], cells[1]] = () if cells[2] == NONE else tuple(cells[2].split())
        return Lexicon(
            {concept: frozenset(names) for concept, names in classes.items()},
            {word: tuple(sorted(targets.items())) for word, targets in moves.items()},
            opposites,
        )


_NOTHING: frozenset[str] = frozenset()


def _classify(classes: dict[str, set[str]], name: str, concepts: str) -> None:
    for concept in concepts.split():
        names = classes.setdefault(concept, set())
        if name.startswith("-"):
            names.discard(name[1:])
        else:
            names.add(name)


@cache
def english() -> Lexicon:
    """The lexicon that comes with graphneg."""
    folder = files("graphneg.english").joinpath("lexicon")
    texts = sorted(
        (one.name, one.read_text("utf-8")) for one in folder.iterdir() if one.name.endswith(".tsv")
    )
    entries = (entry for name, text in texts for _, entry in read_entries(name, text.splitlines()))
    return Lexicon().extended(entries)


def read_entries(name: str, lines: Iterable[str]) -> Iterator[tuple[int, LexiconEntry]]:
    """The entries of a table with their line numbers; ``name`` is for messages.

    Raises:
        InputError: a line is no entry.
    """
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, entry_of(line)
            except ValueError as fault:
                raise InputError(f"{name}:{number}: {fault}") from None


def entry_of(line: str) -> LexiconEntry:
    """The entry that a line holds.

    Raises:
        ValueError: it holds none; the message says why.
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
