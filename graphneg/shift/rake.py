"""Keywords by RAKE, rapid automatic keyword extraction (Rose et al. 2010), as Key-context takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from graphneg.shift.keywords import MAX_WORDS, Keyword
from graphneg.shift.words import Word, WordReader, key_of


class RakeExtractor:
    """Runs of content words, scored by how the words keep company.

    A word's score is its degree (how many words stand in its runs, itself included) by its
    frequency; a run's is the sum over its words, here ``s / (1 + s)`` to stay below 1. Departures
    from the paper: words that are no noun or adjective end a run as stop words do, a verb is a run
    of its own, words are counted by their lemmas, and of a run of more than three words the last
    three are the keyword.
    """

    def __init__(self, reader: WordReader) -> None:
        self._reader = reader
        self._stops = reader.stop_words
        self.name = f"rake {reader.name}"
        self.notes = reader.notes

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        return [self._keywords(words) for words in self._reader.read(texts)]

    def _keywords(self, words: Sequence[Word]) -> list[Keyword]:
        runs = list(self._runs(words))
        frequency, degree = Counter[str](), Counter[str]()
        for run in runs:
            for word in run:
                frequency[word.lemma] += 1
                degree[word.lemma] += len(run)
        found: dict[str, Keyword] = {}
        for run in runs:
            score = sum(degree[word.lemma] / frequency[word.lemma] for word in run)
            key = key_of(run)
            if key and key not in found:
                found[key] = Keyword(key, score / (1 + score), tuple(word.text for word in run))
        return sorted(found.values(), key=lambda one: (-one.score, one.text))

    def _runs(self, words: Sequence[Word]) -> Iterator[list[Word]]:
        for together, run in groupby(words, self._place):
            some = list(run)
            if together == "phrase" and self._reader.is_phrase(some[-MAX_WORDS:]):
                yield some[-MAX_WORDS:]
            elif together is not None:
                yield from ([word] for word in some)

    def _place(self, word: Word) -> Literal["phrase", "verb"] | None:
        if word.kind is None or word.text.lower() in self._stops:
            return None
        return "verb" if word.kind == "verb" else "phrase"
