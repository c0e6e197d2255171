r"""The lexicon: classes of words and frames, moves along scales, and pairs of opposites.

Transforms use the lexicon to decide which words may be edited and which words replace them. A move replaces
a word with another word on the same scale, for example *today* with *yesterday* on the scale ``time``. The
lexicon also limits the use of antonyms from ConceptNet: `usable_antonyms` decides which antonyms may replace
a word, and in which uses of the word.

The lexicon is read from the tables in ``lexicon/``, and users may add lines in the same format. Cells are
separated by tabs. A line that starts with ``#`` is a comment. There are three types of lines:

=========== ============ ============= ==================================================
class       class name   concepts      (separated by spaces)
move        scale        word          the word that it becomes
opposite    word         other word    kinds of things for which they are opposites, or ``-``
=========== ============ ============= ==================================================

Concepts are written as in AMR: ``have-03``, ``no-one``. A line whose class name is ``-NAME`` removes the
given concepts from the class NAME.

>>> own = [entry_of("move\ttime\tdawn\tdusk"), entry_of("class\t-handling\thave-03")]
>>> lexicon = english().extended(own)
>>> lexicon.moves["dawn"], "handling" in lexicon.classes_of("have-03")
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
    """The contents of the lexicon tables: word classes, moves and opposites.

    Attributes:
        classes: For each concept, the names of the classes that contain it.
        moves: For each word, pairs of a scale and the word that replaces it on this scale.
        opposites: For each pair of words, the kinds of things for which the words are opposites: *old* and
            *young* for a person, *old* and *new* for an object. Empty if the words must never be exchanged.

    >>> english().classes_of("have-03") & {"handling", "modal"}
    frozenset({'handling'})
    >>> english().moves["monday"]
    (('time', 'thursday'),)
    """

    classes: Mapping[str, frozenset[str]]
    moves: Mapping[str, tuple[tuple[str, str], ...]]
    opposites: Mapping[tuple[str, str], tuple[str, ...]]

    def classes_of(self, concept: str) -> frozenset[str]:
        """Return the names of the classes that contain a concept.

        Args:
            concept: An AMR concept, such as ``have-03``.

        Returns:
            The class names; empty for an unknown concept.
        """
        return self.classes.get(concept, frozenset())

    def members(self, name: str) -> frozenset[str]:
        """Return the concepts of a word class.

        Args:
            name: Name of the class, such as ``modal``.

        Returns:
            The concepts; empty for an unknown class.
        """
        return frozenset(concept for concept, names in self.classes.items() if name in names)

    def modified_kinds(self, word: str, other: str) -> list[str] | None:
        """Return the kinds of things for which two words are opposites.

        >>> english().modified_kinds("young", "old"), english().modified_kinds("meet", "pass")
        (['animal', 'person', 'plant'], [])

        Args:
            word: The first word.
            other: The second word; the order of the words does not matter.

        Returns:
            Noun kinds, as in ``nouns.tsv``. An empty list means that the words must never be exchanged.
            ``None`` means that the tables do not list the pair.
        """
        kinds = self.opposites.get((word, other))
        kinds = self.opposites.get((other, word)) if kinds is None else kinds
        return None if kinds is None else list(kinds)

    def extended(self, entries: Iterable[LexiconEntry]) -> Lexicon:
        """Return a copy of the lexicon with additional entries.

        A new entry for a pair of opposites replaces the old entry. A move is the step from one word to
        another on a scale. A new move replaces the old move of the same word on the same scale.

        Args:
            entries: Entries, as `entry_of` returns them. If two entries conflict, the later entry counts.

        Returns:
            The new lexicon. This lexicon does not change.
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
                # The entry "old, new" also applies to "new, old". So it replaces an earlier entry "new, old".
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
    """Yield the entries of a lexicon table with their line numbers.

    Args:
        name: File name of the table, for error messages.
        lines: Lines of the table. Blank lines and comments are skipped.

    Yields:
        Pairs of the line number, counted from 1, and the entry.

    Raises:
        InputError: A line is not a valid entry. The message contains the file name and the line number.
    """
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                yield number, entry_of(line)
            except ValueError as fault:
                raise InputError(f"{name}:{number}: {fault}") from None


def entry_of(line: str) -> LexiconEntry:
    r"""Read an entry from one line of a lexicon table.

    Args:
        line: Tab-separated cells; the first is ``class``, ``move`` or ``opposite``.

    Returns:
        The entry: the type of the line, and its other cells.

    Raises:
        ValueError: The line is not a valid entry. The message contains the reason.

    Example:
        >>> entry_of("opposite\told\tnew\tobject").cells
        ('old', 'new', 'object')
    """
    table, *cells = (cell.strip() for cell in line.rstrip("\n").split("\t"))
    if table not in _SHAPE:
        raise ValueError(f"a line must begin with class, move or opposite and a tab, not with {table[:40]!r}")
    if len(cells) != _SHAPE[table] - 1 or not all(cells):
        raise ValueError(f"a line of {table!r} has {_SHAPE[table]} cells, separated by tabs")
    if table != "opposite" and not _NAME.fullmatch(cells[0]):
        raise ValueError(f"{cells[0][:40]!r} is not a valid name: use lower-case letters, digits and hyphens")
    return LexiconEntry(table, tuple(cells))


def surface_form(text: str) -> str:
    """Classify a term by its spelling as ``phrase``, ``plural``, ``verbal`` or ``base``.

    The spelling alone can be misleading, so the result can be wrong.

    >>> [surface_form(text) for text in ("coffee shop", "dogs", "running", "dog")]
    ['phrase', 'plural', 'verbal', 'base']

    Args:
        text: A lower-case word or phrase.

    Returns:
        ``phrase`` for several words, ``plural`` for one word in *-s*, ``verbal`` for one word in *-ed*, *-ly*
        or *-ing*, and ``base`` for any other word.
    """
    if " " in text:
        return "phrase"
    # Words in -ss and -us, such as "glass" and "bus", are singular, so do not take them for plurals.
    if re.fullmatch(r".+[^su]s", text):
        return "plural"
    return "verbal" if re.fullmatch(r".{3,}(?:ed|ly|ing)", text) else "base"


_SOFT = frozenset({"state", "thought", "act"})
"""Noun kinds whose nouns often have a verb or an adjective as antonym, which has the kind ``other``."""
_ABSTRACT = re.compile(r".*(?:ness|ment|tion|hood|ship|ism)")
"""Endings of abstract nouns. Such nouns cannot modify another noun: *a darkness room* is wrong."""

Frames = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""For each lemma, its frames in sorted order: pairs of a frame id and the frame's numbered roles."""


class Antonym(NamedTuple):
    """An antonym of a word, for one use of the word, such as *young* for *old* as a modifier.

    Attributes:
        word: The word that is replaced.
        used_as: The use of the word in which it may be replaced: ``noun``, ``modifier``, or a frame id such
            as ``like-01``. ``frame`` stands for all frames of the word except those in ``known``.
        replacement: The word or the frame id that replaces the word, such as ``dislike-01``.
        is_frame: Whether ``replacement`` is a frame id and not a word.
        modified_kinds: The word is replaced only if it refers to a thing of one of these kinds, such as
            ``person``; ``None`` allows all kinds.
        known: If ``used_as`` is ``frame``, the ids of the frames that have an `Antonym` of their own;
            otherwise None.
    """

    word: str
    used_as: str
    replacement: str
    is_frame: bool
    modified_kinds: list[str] | None
    known: list[str] | None = None


def usable_antonyms(
    word: str, weights: Mapping[str, float], frames: Frames, lexicon: Lexicon
) -> Iterator[Antonym]:
    """Yield the antonyms that may replace a word.

    ConceptNet lists antonyms without their word class or sense. An antonym may replace the word if it has the
    same class and form, if the lexicon does not forbid the pair, and if its weight is at least half of the
    largest weight. For example, *like* as ``like-01`` may become ``dislike-01``, and *old* as a modifier of a
    person may become *young*.

    Args:
        word: The word to replace, in lower case.
        weights: ConceptNet's weights of the word's antonyms, keyed by antonym.
        frames: PropBank frames, keyed by lemma.
        lexicon: The lexicon; its opposites and its class ``no-opposite`` are used.

    Yields:
        One entry for each combination of a use of the word and a replacement.
    """
    heaviest = max(weights.values(), default=0.0)
    for other in sorted(weights):
        kinds = lexicon.modified_kinds(word, other)
        if weights[other] * 2 >= heaviest and kinds != [] and _have_same_form(word, other, lexicon):
            yield from _usable(word, other, frames, lexicon, kinds)


def _have_same_form(word: str, other: str, lexicon: Lexicon) -> bool:
    """Return whether two words seem to have the same form, for example whether both are plurals."""
    # Prepositions and adverbs of place replace only each other: "in" may become "out", but not "absence".
    closed = ("particle" in lexicon.classes_of(text.replace(" ", "-")) for text in (word, other))
    if len(set(closed)) > 1 or "much" in (word, other):
        return False
    # A plural replaces only a plural: "men" is not an antonym of "woman". An -ing form replaces only an -ing
    # form: "standing" is not an antonym of "sit".
    plural = re.fullmatch(r".+[^siu]s", other) or "plural" in lexicon.classes_of(other)
    if plural and not re.fullmatch(r".+[^su]s", word):
        return False
    return word.endswith("ing") or not other.endswith("ing") or "ing-noun" in lexicon.classes_of(other)


def _usable(
    word: str, other: str, frames: Frames, lexicon: Lexicon, kinds: list[str] | None
) -> Iterator[Antonym]:
    """Yield the uses in which an antonym may replace a word: as a frame, as a modifier or as a noun."""
    kind, word_kind = kind_of(other), kind_of(word)
    # The two words must have the same kind: a noun for a person can replace only a noun for a person. Verbs
    # and adjectives have the kind "other". As an exception, a verb or adjective can replace a noun for a
    # state, a thought or an act: the verb "love" can replace the noun "hatred".
    if kind == word_kind or (kind == OTHER and word_kind in _SOFT):
        known = [old for old, _ in frames.get(word, ())]
        # A graph may contain a frame of the word that PropBank does not list. The roles of this frame are
        # unknown, so allow all frames of the antonym as replacements.
        yield from (Antonym(word, "frame", new, True, kinds, known) for new, _ in frames.get(other, ()))
        for old, roles in frames.get(word, ()):
            for new, others in frames.get(other, ()) if "no-opposite" not in lexicon.classes_of(old) else ():
                # The two frames must agree in whether they have an agent, and in whether they have a patient.
                # For example, a verb without an object must not replace the verb of "He won the game".
                if new != old and all((role in roles) == (role in others) for role in ("ARG0", "ARG1")):
                    yield Antonym(word, old, new, True, kinds)
    if (
        " " not in other
        and kind == word_kind
        and "no-opposite" not in lexicon.classes_of(word.replace(" ", "-"))
    ):
        # "a dark room" may become "a light room", but not "a brightness room": abstract nouns are excluded.
        if not _ABSTRACT.fullmatch(other):
            yield Antonym(word, "modifier", other, False, kinds)
        # If a noun has no frame, it must not become a word with a frame, since that word is usually a verb.
        # For example, "arrival" may become "departure", but not "go".
        if frames.get(word) or not frames.get(other):
            yield Antonym(word, "noun", other, False, kinds)
