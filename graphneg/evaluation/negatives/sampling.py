"""One pass over files: the texts of each generator and category, counted and sampled.

In: files of negatives and right responses. Out: `TextCounts`. What is measured of a record is its response,
or the turns of its dialogue that were edited. Memory does not grow with the files: distributions are
histograms of rounded values, samples have a size, and digests of texts that come up again lie in a file
that goes with the process.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from graphneg.english.lemmas import content_lemmas
from graphneg.english.tokens import match_key, word_count
from graphneg.errors import InputError
from graphneg.hashing import HashSample, number
from graphneg.ingest.rows import mood_of, person_of
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import read_located
from graphneg.statistics import roc_auc

RESPONSE, TURN = "response", "dialogue"
"""Targets, as records name them."""
UNNAMED = "unnamed"
"""The source of negatives whose records name none."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that somebody may say after a context.

    ``place`` is the context as the corpus has it, ``context`` the one that the text follows in its
    record: edits may have changed turns of it. ``right`` is what was said there in truth, where known.
    """

    id: str
    target: str
    place: tuple[str, ...]
    context: tuple[str, ...]
    text: str
    categories: tuple[str, ...] = ()
    right: str | None = None


@dataclass(frozen=True, slots=True)
class MeasuredRecord:
    """One record: the ``wrong`` texts of a negative, and the ``right`` ones that it brings."""

    source: str
    target: str
    categories: tuple[str, ...]
    wrong: tuple[Text, ...]
    right: tuple[Text, ...]
    label: int


def read_measured(path: Path) -> Iterator[MeasuredRecord]:
    """What is measured of each record of a file (.jsonl, .parquet), one by one.

    Raises:
        InputError: the file can't be read, a record is no negative, or a label is neither 0 nor 1.
    """
    for address, record in read_located(path):
        if record.label not in (0, 1):
            raise InputError(f"{address}: the label of {record.id} is {record.label}; 1 fits, 0 does not")
        yield measured(record)


def measured(one: Negative) -> MeasuredRecord:
    """What is measured of a record: the response, or the turns of a dialogue that are not as they were."""
    after = (*(turn["text"] for turn in one.context), one.response)
    if one.label:
        return MeasuredRecord(one.recipe, one.target, (), (), (_said(one.id, RESPONSE, after),), 1)
    unedited = one.original["context"]
    known = one.original["response"] is not None or unedited is not None
    before = (
        *(turn["text"] for turn in (one.context if unedited is None else unedited)),
        one.response if one.original["response"] is None else one.original["response"],
    )
    if one.target == RESPONSE:
        right = (_said(one.id, RESPONSE, before),) if known else ()
        text = _response(one, before, after, before[-1] if known else None)
        wrong = (text,)
    else:
        wrong = tuple(_edited_turns(one, before, after))
        right = tuple(_said(one.id, TURN, (*text.place, text.right)) for text in wrong if text.right)
    return MeasuredRecord(one.recipe or UNNAMED, one.target, tuple(one.categories), wrong, right, 0)


def _said(id: str, target: str, turns: Sequence[str]) -> Text:
    return Text(id, target, tuple(turns[:-1]), tuple(turns[:-1]), turns[-1])


def _response(one: Negative, before: Sequence[str], after: Sequence[str], right: str | None) -> Text:
    return Text(
        one.id,
        RESPONSE,
        place=tuple(before[:-1]),
        context=tuple(after[:-1]),
        text=one.response,
        categories=tuple(one.categories),
        right=right,
    )


def _edited_turns(one: Negative, before: Sequence[str], after: Sequence[str]) -> Iterator[Text]:
    """Turns that were changed or put in; of a turn that was only taken away there is no text."""
    for old, new in _paired(before, after):
        by_turn = (str(edit["category"]) for edit in one.edits if edit["turn"] == new and edit["category"])
        yield Text(
            one.id,
            TURN,
            place=tuple(before[:new] if old is None else before[:old]),
            context=tuple(after[:new]),
            text=after[new],
            categories=tuple(dict.fromkeys(by_turn)) or tuple(one.categories),
            right=None if old is None else before[old],
        )


def _paired(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int | None, int]]:
    """Places of turns that are new or other, each with the one that it replaces where there is one."""
    if len(before) == len(after):
        yield from ((at, at) for at in range(len(after)) if before[at] != after[at])
        return
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            yield from ((a + at - c if a + at - c < b else None, at) for at in range(c, d))


_HELD = 10_000
_TABLES = """
CREATE TABLE wrong (line INTEGER, place INTEGER, text INTEGER);
CREATE TABLE right (place INTEGER, text INTEGER, PRIMARY KEY (place, text)) WITHOUT ROWID;
"""
_AGAIN = """
SELECT line, sum(times - 1) FROM (SELECT line, count(*) AS times FROM wrong GROUP BY line, place, text)
GROUP BY line
"""
_ELSEWHERE = """
SELECT line, sum(times)
FROM (
  SELECT line, count(*) AS times FROM wrong GROUP BY line, text HAVING count(DISTINCT place) > 1
)
GROUP BY line
"""
_RIGHT = """
SELECT wrong.line, count(*) FROM wrong JOIN right ON right.place = wrong.place AND right.text = wrong.text
GROUP BY wrong.line
"""


class Repeated(NamedTuple):
    """Counts of texts: said ``again`` to one context, said ``elsewhere`` too, ``right`` for their context."""

    again: int
    elsewhere: int
    right: int


class Repeats:
    """Digests of texts and contexts. Case and white space do not count. Memory does not grow with them."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect("")  # a file without a name: SQLite keeps it, and removes it
        self._rows.executescript(_TABLES)
        self._held: list[tuple[int, int, int]] = []

    def add_wrong(self, lines: Sequence[int], text: Text) -> None:
        """A wrong text, under each of the lines that it counts for."""
        place, said = _digest(*text.place), _digest(text.text)
        self._held += [(line, place, said) for line in lines]
        if len(self._held) >= _HELD:
            self._flush()

    def add_right(self, text: Text) -> bool:
        """A right text; whether it is new for its context."""
        row = (_digest(*text.place), _digest(text.text))
        return self._rows.execute("INSERT OR IGNORE INTO right VALUES (?, ?)", row).rowcount > 0

    def counted(self) -> dict[int, Repeated]:
        """What was found, by line."""
        self._flush()
        again, elsewhere, right = (
            dict(self._rows.execute(query).fetchall()) for query in (_AGAIN, _ELSEWHERE, _RIGHT)
        )
        return {line: Repeated(again[line], elsewhere.get(line, 0), right.get(line, 0)) for line in again}

    def close(self) -> None:
        """Remove the file of digests."""
        self._rows.close()

    def _flush(self) -> None:
        self._rows.executemany("INSERT INTO wrong VALUES (?, ?, ?)", self._held)
        self._held.clear()


def _digest(*texts: str) -> int:
    written = "\0".join(match_key(text) for text in texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Mean and quartiles of some numbers."""

    mean: float
    lower: float
    median: float
    upper: float


class Histogram:
    """Counts of values rounded to ``step``; the sum is exact. Memory grows with the values' range alone."""

    def __init__(self, values: Iterable[float] = (), step: float = 1.0) -> None:
        self.step = step
        self.counts: Counter[int] = Counter()
        self.total = 0
        self._sum = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Count one more."""
        self.counts[round(value / self.step)] += 1
        self.total += 1
        self._sum += value

    @property
    def mean(self) -> float:
        """0 where there is no value."""
        return self._sum / self.total if self.total else 0.0

    def share(self, value: float) -> float:
        """How many of all have this value, 0 to 1."""
        return self.counts[round(value / self.step)] / self.total if self.total else 0.0

    def quantile(self, part: float) -> float:
        """The smallest value that at least ``part`` of all do not exceed (0 to 1).

        >>> Histogram([1, 2, 3, 10]).quantile(0.5)
        2.0
        """
        wanted, seen = part * self.total, 0
        for place in sorted(self.counts):
            seen += self.counts[place]
            if seen >= wanted:
                return round(place * self.step, 6)
        return 0.0

    def spread(self) -> Distribution | None:
        """Mean and quartiles; nothing of no values."""
        if not self.total:
            return None
        return Distribution(self.mean, self.quantile(0.25), self.quantile(0.5), self.quantile(0.75))


def histogram_auc(more: Histogram, less: Histogram) -> float:
    """The area under the ROC curve: how often a value of ``more`` is above one of ``less``, a tie half.

    >>> histogram_auc(Histogram([2, 3]), Histogram([1, 2])), histogram_auc(Histogram([1]), Histogram([1]))
    (0.875, 0.5)
    """
    return roc_auc(
        list(more.counts), list(less.counts), list(more.counts.values()), list(less.counts.values())
    )


ALL = "all"
"""The category of a line that holds all of a source's."""
_STEP = 0.01
_TOLD_EVERY = 200


class Key(NamedTuple):
    """Which texts a line is about."""

    source: str
    category: str
    target: str


class TextPool:
    """Counts of texts: words, content words shared with their contexts, moods, persons; and a sample."""

    def __init__(self, sample: int, seed: int) -> None:
        self.records = 0
        self.words = Histogram()
        self.shared = Histogram()
        self.like_right = Histogram(step=_STEP)
        self.questions = 0
        self.persons: Counter[int] = Counter()
        self.sample = HashSample[Text](sample)
        self._seed = seed

    def add(self, text: Text) -> None:
        """Count one more."""
        said = _content(text.text)
        self.words.add(word_count(text.text))
        self.shared.add(len(said & _content_of(text.context)))
        if text.right is not None:
            right = _content(text.right)
            self.like_right.add(len(said & right) / len(said | right) if said | right else 1.0)
        self.questions += mood_of(text.text) == "question"
        self.persons[person_of(text.text)] += 1
        draw = number(self._seed, "sample", text.id, str(len(text.context)), text.text)
        self.sample.offer(draw, text)

    @property
    def texts(self) -> int:
        """How many texts were counted."""
        return self.words.total


@dataclass(frozen=True, slots=True)
class TextCounts:
    """What a pass found: ``right`` texts by target; ``empty`` counts negatives without a text."""

    wrong: dict[Key, TextPool]
    right: dict[str, TextPool]
    repeated: dict[Key, Repeated]
    records: int
    negatives: int
    empty: int


def count_texts(paths: Sequence[Path], size: int, seed: int, progress: Progress | None = None) -> TextCounts:
    """Count what the files hold; of each line at most ``size`` texts are kept.

    Raises:
        InputError: a file can't be read, a label is neither 0 nor 1, or no record is a negative.
    """
    bar = progress or NoProgress()
    bar.start("reading", None, "records")
    counter = _TextCounter(size, seed)
    try:
        for path in paths:
            for one in read_measured(path):
                counter.add(one)
                if counter.records % _TOLD_EVERY == 0:
                    bar.advance(_TOLD_EVERY)
        if not counter.negatives:
            raise InputError(
                f"{', '.join(map(str, paths))}: no negative among {counter.records} records; "
                "a negative has the label 0"
            )
        return counter.found()
    finally:
        counter.repeats.close()
        bar.finish()


class _TextCounter:
    def __init__(self, sample: int, seed: int) -> None:
        self.records = self.negatives = self._empty = 0
        self.repeats = Repeats()
        self._sample = (sample, seed)
        self._wrong: dict[Key, TextPool] = {}
        self._numbers: dict[Key, int] = {}
        self._right: dict[str, TextPool] = {}

    def add(self, one: MeasuredRecord) -> None:
        """Count one more."""
        self.records += 1
        self.negatives += not one.label
        self._empty += not one.label and not one.wrong
        for text in one.right:
            if self.repeats.add_right(text):
                self._right.setdefault(text.target, TextPool(*self._sample)).add(text)
        keys = [Key(one.source, category, one.target) for category in (ALL, *one.categories)]
        for key in keys if not one.label else ():
            self._pool(key).records += 1
        for text in one.wrong:
            told = [key for key in keys if key.category in (ALL, *text.categories)]
            for key in told:
                self._pool(key).add(text)
            self.repeats.add_wrong([self._numbers[key] for key in told], text)

    def _pool(self, key: Key) -> TextPool:
        if key not in self._wrong:
            self._wrong[key] = TextPool(*self._sample)
            self._numbers[key] = len(self._numbers)
        return self._wrong[key]

    def found(self) -> TextCounts:
        """What was counted, lines in the order of a report."""
        counted = self.repeats.counted()
        kept = sorted((key for key in self._wrong if not self._is_said_twice(key)), key=_in_order)
        nothing = Repeated(0, 0, 0)
        return TextCounts(
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
