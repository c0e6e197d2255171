"""One pass over files: the texts of each generator and category, counted as they come by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from graphneg.content_words import content_lemmas, word_count
from graphneg.errors import InputError
from graphneg.evaluation.negatives.histogram import Histogram
from graphneg.evaluation.negatives.repeats import Repeated, Repeats
from graphneg.evaluation.negatives.sampling import Sample
from graphneg.evaluation.negatives.texts import RESPONSE, TURN, Measured, Text, read_measured
from graphneg.loading.sentences import mood_of, person_of
from graphneg.progress import NoProgress, Progress

ALL = "all"
"""The category of a line that holds all of a source's."""
_STEP = 0.01
_TOLD_EVERY = 200


class Key(NamedTuple):
    """Which texts a line is about."""

    source: str
    category: str
    target: str


class Pool:
    """Counts of texts: words, content words shared with their contexts, moods, persons; and a sample."""

    def __init__(self, sample: Sample) -> None:
        self.records = 0
        self.words = Histogram()
        self.shared = Histogram()
        self.like_right = Histogram(step=_STEP)
        self.questions = 0
        self.persons: Counter[int] = Counter()
        self.sample = sample

    def add(self, text: Text) -> None:
        said = _content(text.text)
        self.words.add(word_count(text.text))
        self.shared.add(len(said & _content_of(text.context)))
        if text.right is not None:
            right = _content(text.right)
            self.like_right.add(len(said & right) / len(said | right) if said | right else 1.0)
        self.questions += mood_of(text.text) == "question"
        self.persons[person_of(text.text)] += 1
        self.sample.offer(text)

    @property
    def texts(self) -> int:
        return self.words.total


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a pass found: ``right`` texts by target; ``empty`` counts negatives without a text."""

    wrong: dict[Key, Pool]
    right: dict[str, Pool]
    repeated: dict[Key, Repeated]
    records: int
    negatives: int
    empty: int


def gather(paths: Sequence[Path], size: int, seed: int, progress: Progress | None = None) -> Gathered:
    """Count what the files hold; of each line at most ``size`` texts are kept.

    Raises:
        InputError: a file can't be read, a label is neither 0 nor 1, or no record is a negative.
    """
    bar = progress or NoProgress()
    bar.start("reading", None, "records")
    gathering = _Gathering(lambda: Sample(size, seed))
    try:
        for path in paths:
            for one in read_measured(path):
                gathering.add(one)
                if gathering.records % _TOLD_EVERY == 0:
                    bar.advance(_TOLD_EVERY)
        if not gathering.negatives:
            raise InputError(
                f"{', '.join(map(str, paths))}: no negative among {gathering.records} records; "
                "a negative has the label 0"
            )
        return gathering.found()
    finally:
        gathering.repeats.close()
        bar.finish()


class _Gathering:
    def __init__(self, sample: Callable[[], Sample]) -> None:
        self.records = self.negatives = self._empty = 0
        self.repeats = Repeats()
        self._sample = sample
        self._wrong: dict[Key, Pool] = {}
        self._numbers: dict[Key, int] = {}
        self._right: dict[str, Pool] = {}

    def add(self, one: Measured) -> None:
        self.records += 1
        self.negatives += not one.label
        self._empty += not one.label and not one.wrong
        for text in one.right:
            if self.repeats.add_right(text):
                self._right.setdefault(text.target, Pool(self._sample())).add(text)
        keys = [Key(one.source, category, one.target) for category in (ALL, *one.categories)]
        for key in keys if not one.label else ():
            self._pool(key).records += 1
        for text in one.wrong:
            told = [key for key in keys if key.category in (ALL, *text.categories)]
            for key in told:
                self._pool(key).add(text)
            self.repeats.add_wrong([self._numbers[key] for key in told], text)

    def _pool(self, key: Key) -> Pool:
        if key not in self._wrong:
            self._wrong[key] = Pool(self._sample())
            self._numbers[key] = len(self._numbers)
        return self._wrong[key]

    def found(self) -> Gathered:
        counted = self.repeats.counted()
        kept = sorted((key for key in self._wrong if not self._is_said_twice(key)), key=_in_order)
        nothing = Repeated(0, 0, 0)
        return Gathered(
            wrong={key: self._wrong[key] for key in kept},
            right={target: self._right[target] for target in (RESPONSE, TURN) if target in self._right},
            repeated={key: counted.get(self._numbers[key], nothing) for key in kept},
            records=self.records,
            negatives=self.negatives,
            empty=self._empty,
        )

    def _is_said_twice(self, key: Key) -> bool:
        """Whether it is the line of all of a source whose negatives are of one and the same category."""
        if key.category != ALL:
            return False
        pool = self._wrong[key]
        parts = [
            some
            for other, some in self._wrong.items()
            if (other.source, other.target) == (key.source, key.target) and other.category != ALL
        ]
        return len(parts) == 1 and (parts[0].records, parts[0].texts) == (pool.records, pool.texts)


def _in_order(key: Key) -> tuple[str, str, bool, str]:
    """All of a source first, then its categories."""
    return key.source, key.target, key.category != ALL, key.category


def _content_of(turns: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*(_content(turn) for turn in turns))


@lru_cache(maxsize=1 << 14)
def _content(text: str) -> frozenset[str]:
    return frozenset(content_lemmas(text))
