"""Set sentences such as "You're not kidding": what they mean is not what their words say.

In: a sentence and the index of a word in it. Out: a refusal where the word stands in an idiom of
``idioms.tsv``. "You're not kidding" agrees with what was said, and so does "You're kidding", more or less: to
add or drop its *not* makes no error, and no speaker can be swapped in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.words import table_rows

_OPENING = frozenset({"EN", "UH", "PU", "QT"})
_CLOSING = frozenset({"EN", "PU", "QT"})
_AMBIGUOUS = {"n't": ("not",), "'s": ("is", "has", "us"), "'d": ("would", "had"), "gotta": ("got",)}


class Idiom(NamedTuple):
    """A row of ``idioms.tsv``: the words of each place, whether others may follow, and the meaning."""

    places: tuple[frozenset[str], ...]
    goes_on: bool
    meaning: str


@cache
def _idioms() -> Mapping[str, tuple[Idiom, ...]]:
    """The idioms by their first word."""
    found: dict[str, list[Idiom]] = {}
    for words, meaning in table_rows("graphneg.decoders.surface", "idioms.tsv"):
        places = tuple(frozenset(place.split("|")) for place in words.split() if place != "...")
        idiom = Idiom(places, words.endswith(" ..."), meaning)
        for first in places[0]:
            found.setdefault(first, []).append(idiom)
    return {first: tuple(some) for first, some in found.items()}


def refuse_idiom(sentence: SentenceDraft, index: int) -> None:
    """Raise ``unsupported-edit`` where the word at ``index`` stands in an idiom.

    Args:
        sentence: The sentence being edited.
        index: The index of a word that the edit would change.
    """
    tokens = sentence.tokens
    start, end = sentence.sentence_bounds(index)
    for first in range(start, index + 1):
        # "Oh, not bad" is an idiom, "cheap but not bad" is none.
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
    """The words that a token may stand for."""
    return frozenset({token.low, token.full, *_AMBIGUOUS.get(token.low, ())})
