"""Judges antonyms: which word may stand in the place of which, as what, and of which kinds of things.

ConceptNet calls two words antonyms whatever their word classes and senses are. In go a word, its antonyms
with their weights, and the frames of all of them; out come the rows of ``ANTONYM`` relationships: *like* in
its frame ``like-01`` may become ``dislike-01``, *old* as a modifier ``young`` of people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from graphneg.english.lexicon import Lexicon
from graphneg.english.noun_kinds import OTHER, kind_of

ANY_FRAME = "frame"
SHARE = 2
"""An antonym counts where its weight is at least that of the heaviest one, divided by this."""
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
    """The usable antonyms of a word among those of these weights."""
    heaviest = max(weights.values(), default=0.0)
    for other in sorted(weights):
        said_of = lexicon.said_of(word, other)
        if weights[other] * SHARE >= heaviest and said_of != [] and _agree(word, other, lexicon):
            yield from _verbs(word, other, frames, lexicon, said_of)
            yield from _words(word, other, frames, lexicon, said_of)


def _agree(word: str, other: str, lexicon: Lexicon) -> bool:
    """Whether two words are of one class and form, as far as that shows."""
    closed = ("particle" in lexicon.of(text.replace(" ", "-")) for text in (word, other))
    if len(set(closed)) > 1 or "much" in (word, other):
        return False
    plural = re.fullmatch(r".+[^siu]s", other) or "plural" in lexicon.of(other)
    if plural and not re.fullmatch(r".+[^su]s", word):
        return False
    return word.endswith("ing") or not other.endswith("ing") or "ing-noun" in lexicon.of(other)


def _verbs(
    word: str, other: str, frames: Frames, lexicon: Lexicon, said_of: list[str] | None
) -> Iterator[Antonym]:
    """Frames for frames: those that have a doer, and something done, where the old one has.

    Of frames that are not among the known ones, that shows where they are used: as any ``frame``.
    """
    if not _can_be_verb(word, other):
        return
    known = [old for old, _ in frames.get(word, ())]
    yield from (Antonym(word, ANY_FRAME, new, True, said_of, known) for new, _ in frames.get(other, ()))
    for old, roles in frames.get(word, ()):
        if "no-opposite" not in lexicon.of(old):
            for new, others in frames.get(other, ()):
                if new != old and all((role in roles) == (role in others) for role in ("ARG0", "ARG1")):
                    yield Antonym(word, old, new, True, said_of)


def _can_be_verb(word: str, other: str) -> bool:
    kind, kinds = kind_of(word), kind_of(other)
    return kind == kinds or (kinds == OTHER and kind in _SOFT)


def _words(
    word: str, other: str, frames: Frames, lexicon: Lexicon, said_of: list[str] | None
) -> Iterator[Antonym]:
    """Single words of one kind: no modifier in *-ness*, and no noun that is rather a verb."""
    if " " in other or kind_of(word) != kind_of(other) or "no-opposite" in lexicon.of(word.replace(" ", "-")):
        return
    if not _ABSTRACT.fullmatch(other):
        yield Antonym(word, "modifier", other, False, said_of)
    if frames.get(word) or not frames.get(other):
        yield Antonym(word, "noun", other, False, said_of)
