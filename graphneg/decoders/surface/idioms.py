"""Refuse edits inside idioms, whose meaning does not follow from their words.

"You're not kidding" means "I agree". Removing its *not* does not contradict this meaning, and swapping its
speaker makes no sense. Edits of such idioms are therefore refused. ``idioms.tsv`` lists them.

Input: a sentence and the index of a word that an edit would change. Output: nothing, or a `RealisationError`
if the word is part of an idiom.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.words import table_rows

# Tags of the tokens after which an idiom may begin: end marks, interjections, other marks, quotation marks.
_OPENING = frozenset({"EN", "UH", "PU", "QT"})
# Tags of the tokens that must follow an idiom. If its row ends in "...", any token may follow.
_CLOSING = frozenset({"EN", "PU", "QT"})
# Words that a contraction can stand for, in addition to its full form. The table contains only such words.
_AMBIGUOUS = {"n't": ("not",), "'s": ("is", "has", "us"), "'d": ("would", "had"), "gotta": ("got",)}


class Idiom(NamedTuple):
    """A row of ``idioms.tsv``.

    Attributes:
        places: The alternative words for each position of the idiom.
        goes_on: Whether other words may follow the idiom in its clause.
        meaning: The meaning of the idiom in other words.
    """

    places: tuple[frozenset[str], ...]
    goes_on: bool
    meaning: str


@cache
def _idioms() -> Mapping[str, tuple[Idiom, ...]]:
    """Return the idioms of the table by each of their possible first words."""
    found: dict[str, list[Idiom]] = {}
    for words, meaning in table_rows("graphneg.decoders.surface", "idioms.tsv"):
        places = tuple(frozenset(place.split("|")) for place in words.split() if place != "...")
        idiom = Idiom(places, words.endswith(" ..."), meaning)
        for first in places[0]:
            found.setdefault(first, []).append(idiom)
    return {first: tuple(some) for first, some in found.items()}


def refuse_idiom(sentence: SentenceDraft, index: int) -> None:
    """Refuse to edit a word that is part of an idiom.

    Args:
        sentence: The sentence being edited.
        index: The index of a word that the edit would change.

    Raises:
        RealisationError: The word is part of an idiom (``unsupported-edit``).

    Example:
        In "You're not kidding.", the index of *not* is refused, because the sentence means "I agree".
    """
    tokens = sentence.tokens
    start, end = sentence.sentence_bounds(index)
    for first in range(start, index + 1):
        # An idiom must begin a clause: "Oh, not bad" is an idiom, "cheap but not bad" is not. A conjunction
        # may precede the idiom only at the start of the sentence: "But no wonder".
        before = tokens[first - 1].tag if first > start else "EN"
        if before not in _OPENING and (before, first) != ("CC", start + 1):
            continue
        for idiom in (one for form in _forms(tokens[first]) for one in _idioms().get(form, ())):
            last = first + len(idiom.places)
            says = last <= end and all(
                not place.isdisjoint(_forms(token))
                for place, token in zip(idiom.places, tokens[first:last], strict=False)
            )
            if says and index < last and (idiom.goes_on or tokens.get(last).tag in _CLOSING):
                words = " ".join(token.lower for token in tokens[first:last])
                raise RealisationError("unsupported-edit", f"{words!r} is a set phrase: {idiom.meaning}")


def _forms(token: Token) -> frozenset[str]:
    """Return the words by which a token may be listed in the table: as written, in full, or ambiguous."""
    return frozenset({token.lower, token.expanded, *_AMBIGUOUS.get(token.lower, ())})
