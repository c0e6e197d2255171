"""What a request is made of: keywords of a context, neighbours in their place, another history.

All choices are hashes of the seed and the place of the response: they depend on nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from graphneg.editing.originals import Selection, StoredDialogue, dialogue_ids, read_dialogues
from graphneg.errors import InputError
from graphneg.generators.base import Context, Turn
from graphneg.generators.keywords.words import FUNCTION_WORDS, WORDS_OF_TALK, classes, lemmas
from graphneg.hashing import number, shuffled
from graphneg.loading.rows import utterance_id
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store import Store

BEST = 8
"""Keywords are drawn from so many of a context, the most salient ones."""

LONGEST_KEYWORD = 2
"""Longer ones are rarely repeated word for word, by people or models."""

NEIGHBOURS = 10
_HALF = 2**63
_SHORTEST_WORD = 3

Words = tuple[str, ...]
"""The words of one keyword, as a text would have them."""


class Neighbourhood(Protocol):
    """Words near a word: `graphneg.embedding.static.StaticVectors`."""

    def neighbours(self, word: str, k: int) -> list[tuple[str, float]]: ...


@dataclass(frozen=True, slots=True)
class Amount:
    """From ``least`` to ``most`` keywords. Raises `InputError` where that is no range."""

    least: int = 1
    most: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise InputError(f"keywords from {self.least} to {self.most}: the first must be 1 or more")


def keywords_of(
    extractor: KeywordExtractor, texts: Sequence[str], language: str = "en"
) -> list[list[Keyword]]:
    """The usable keywords of each text, the most salient first: short, and of more than function words.

    In English the last word may be a noun or is a name: a small model writes sense about things, and
    little about *let* or *seem*.
    """
    found = extractor.extract(texts)
    return [
        [one for one in some if _usable(one) and (language != "en" or _nominal(one, text))][:BEST]
        for some, text in zip(found, texts, strict=True)
    ]


def drawn(
    keywords: Sequence[Keyword], amount: Amount, seed: int, id: str, text: str = ""
) -> tuple[Words, ...]:
    """Some of the keywords; fewer than ``amount.least`` only where there are not so many.

    No two of them share a word. They are in lower case, but for names: words that ``text``, where the
    keywords are from, never writes small.
    """
    wanted = amount.least + number(seed, "amount", id) % (amount.most - amount.least + 1)
    chosen: list[Words] = []
    for key in shuffled([one.text for one in keywords], seed, "keywords", id):
        words = next(tuple(one_case(word, text) for word in one.words) for one in keywords if one.text == key)
        if not any(set(words) & set(other) for other in chosen):
            chosen.append(words)
        if len(chosen) == wanted:
            break
    return tuple(chosen)


def one_case(word: str, text: str) -> str:
    """The word as it is where ``text`` has it with a capital inside a sentence, else in lower case.

    >>> one_case("July", "It was in July."), one_case("Wait", "Wait for me."), one_case("Wait", "")
    ('July', 'wait', 'wait')
    """
    inside = re.search(rf"[a-z,] {re.escape(word)}\b", text) is not None
    return word if inside else word.lower()


def with_neighbours(
    vectors: Neighbourhood, keywords: Sequence[Words], seed: int, id: str
) -> tuple[Words, ...]:
    """The keywords, each replaced with probability 0.5 by one that is near it (Gupta et al., 2021).

    The last word of a keyword is exchanged, for one that may be of the same part of speech. It stays where
    the vectors do not know it, and where it is a name.
    """
    return tuple(
        _neighbour(words, vectors, seed, id) if number(seed, "replace", id, *words) < _HALF else words
        for words in keywords
    )


class History(NamedTuple):
    """The first turns of a dialogue; ``id`` is the place of the last of them."""

    id: str
    turns: tuple[Turn, ...]


class Histories:
    """What was said in other dialogues of a store, up to some turn."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, contexts: Sequence[Context], ids: Sequence[str], seed: int) -> list[History | None]:
        """For each context a history from another dialogue, drawn by its id in ``ids``; None where
        the store holds no other.

        Raises:
            StoreError: the store is gone.
        """
        pairs = zip(contexts, ids, strict=True)
        drawn = [self._other(context.dialogue, seed, id) for context, id in pairs]
        wanted = sorted({one for one in drawn if one is not None})
        found = {one.id: one for one in read_dialogues(self._store, wanted)}
        return [
            _beginning(found[one], seed, id) if one in found else None
            for one, id in zip(drawn, ids, strict=True)
        ]

    @cached_property
    def _dialogues(self) -> list[str]:
        return list(dialogue_ids(self._store, Selection()))

    def _other(self, dialogue: str, seed: int, id: str) -> str | None:
        known = self._dialogues
        others = len(known) - (dialogue in self._places)
        if others < 1:
            return None
        place = number(seed, "history", id) % others
        return known[place + (place >= self._places.get(dialogue, len(known)))]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {id: place for place, id in enumerate(self._dialogues)}


def _beginning(dialogue: StoredDialogue, seed: int, id: str) -> History | None:
    if not dialogue.turns:
        return None
    shown = dialogue.turns[: 1 + number(seed, "turn", id) % len(dialogue.turns)]
    last = utterance_id(dialogue.id, shown[-1].turn)
    return History(last, tuple(Turn(turn.speaker, turn.text) for turn in shown))


def _usable(keyword: Keyword) -> bool:
    words = [word.lower() for word in keyword.words]
    return len(words) <= LONGEST_KEYWORD and all(
        word.replace("-", "").isalpha()
        and len(word) >= _SHORTEST_WORD
        and word not in FUNCTION_WORDS
        and word not in WORDS_OF_TALK
        for word in words
    )


def _nominal(keyword: Keyword, text: str) -> bool:
    last = keyword.words[-1]
    return "NOUN" in classes(last) or one_case(last, text) != last.lower()


def _neighbour(words: Words, vectors: Neighbourhood, seed: int, id: str) -> Words:
    *first, last = words
    if last != last.lower():
        return words
    near = [
        word
        for word, _ in vectors.neighbours(last.lower(), NEIGHBOURS)
        if word.isalpha() and len(word) >= _SHORTEST_WORD and not lemmas(word) & lemmas(last)
        if classes(word) & classes(last) or not classes(word) | classes(last)
    ]
    if not near:
        return words
    return (*first, near[number(seed, "neighbour", id, *words) % len(near)])
