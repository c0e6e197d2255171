"""Refuse edits inside idioms, whose meaning does not follow from their words.

"You're not kidding" agrees with what was said, and so does "You're kidding", more or less. Adding or removing
its *not* creates no error, and swapping its speaker makes no sense. ``idioms.tsv`` lists such idioms.

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

# Tags of tokens that may precede an idiom: end marks, interjections, other marks, quotation marks.
_OPENING = frozenset({"EN", "UH", "PU", "QT"})
# Tags of tokens that may follow an idiom, unless its row ends in "...".
_CLOSING = frozenset({"EN", "PU", "QT"})
# Words of the table that a contraction may represent, besides its full form.
_AMBIGUOUS = {"n't": ("not",), "'s": ("is", "has", "us"), "'d": ("would", "had"), "gotta": ("got",)}


class Idiom(NamedTuple):
    """A row of ``idioms.tsv``.

    Attributes:
        places: For each position, the words that may occur there.
        goes_on: Whether other words may follow the idiom in its clause.
        meaning: What the idiom means.
    """

    places: tuple[frozenset[str], ...]
    goes_on: bool
    meaning: str


@cache
def _idioms() -> Mapping[str, tuple[Idiom, ...]]:
    """Return the idioms of the table, grouped by their first words."""
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
        In "You're not kidding." the index of *not* is refused: the sentence means "I agree".
    """
    tokens = sentence.tokens
    start, end = sentence.sentence_bounds(index)
    for first in range(start, index + 1):
        # An idiom is a whole clause. "Oh, not bad" is an idiom; "cheap but not bad" is not. A conjunction may
        # precede it only at the start of the sentence: "But no wonder".
        before = tokens[first - 1].tag if first > start else "EN"
        if before not in _OPENING and (before, first) != ("CC", start + 1):
            continue
        for idiom in (one for form in _forms(tokens[first]) for one in _idioms().get(form, ())):
            last = first + len(idiom.places)
            says = last <= end and all(
                not place.isdisjoint(_forms(token))
                for place, token in zip(idiom.places, tokens[first:last], strict=False)
            )
            if says and index < last and (idiom.goes_on or tokens.at(last).tag in _CLOSING):
                words = " ".join(token.low for token in tokens[first:last])
                raise RealisationError("unsupported-edit", f"{words!r} is a set phrase: {idiom.meaning}")


def _forms(token: Token) -> frozenset[str]:
    """Return the words of the table that a token may represent."""
    return frozenset({token.low, token.full, *_AMBIGUOUS.get(token.low, ())})
