"""Refuse edits of idioms, whose meaning does not follow from their words.

"You're not kidding" means "I agree", so removing its *not* does not contradict it. The table ``idioms.tsv``
contains the idioms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.english.words import table_rows, word_map

# Tags of the tokens that may precede an idiom: full stops and other end marks, interjections, other
# punctuation, quotation marks.
_OPENING = frozenset({"EN", "UH", "PU", "QT"})
# Tags of the tokens that must follow an idiom. If the idiom's row ends in "...", any token may follow.
_CLOSING = frozenset({"EN", "PU", "QT"})


class Idiom(NamedTuple):
    """A row of ``idioms.tsv``, for an idiom such as "you are kidding".

    Attributes:
        positions: For each position in the idiom, the words that may occur there: *kidding* or *joking* after
            "you are".
        open_ended: Whether other words may follow the idiom in the same clause.
        meaning: The meaning of the idiom in other words.
    """

    positions: tuple[frozenset[str], ...]
    open_ended: bool
    meaning: str


@cache
def _idioms() -> Mapping[str, tuple[Idiom, ...]]:
    """Read ``idioms.tsv``, and return the idioms keyed by each of their possible first words."""
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
        In "You're not kidding.", an edit of *not* is refused, because the sentence means "I agree".
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
            last = first + len(idiom.positions)
            says = last <= end and all(
                not place.isdisjoint(_forms(token))
                for place, token in zip(idiom.positions, tokens[first:last], strict=False)
            )
            if says and index < last and (idiom.open_ended or tokens.get(last).tag in _CLOSING):
                words = " ".join(token.lower for token in tokens[first:last])
                raise RealisationError(
                    "unsupported-edit", f"{words!r} is an idiom (meaning: {idiom.meaning})"
                )


def _forms(token: Token) -> frozenset[str]:
    """Return the spellings of a token to look up in ``idioms.tsv``: as written, and without contraction."""
    full = word_map("ambiguous-contractions").get(token.lower)
    return frozenset({token.lower, token.expanded, *(full.split("/") if full else ())})
