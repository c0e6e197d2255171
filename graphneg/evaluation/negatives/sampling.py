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
from contextlib import closing
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from graphneg.english.tokens import match_key, word_count
from graphneg.english.words import content_lemmas
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
ALL = "all"
"""The category of a line that holds all of a source's."""
_SHOWN_EVERY = 200


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


class MeasuredTexts(NamedTuple):
    """Texts of one record: the ``wrong`` ones of a negative, and the ``right`` ones that it brings."""

    wrong: Sequence[Text]
    right: Sequence[Text]


def measured(negative: Negative) -> MeasuredTexts:
    """What is measured of a record: the response, or the turns of a dialogue that are not as they were.

    Turns that were changed or put in have a text; of a turn that was only taken away there is none.
    """
    id, target, categories = negative.id, negative.target, tuple(negative.categories)
    after = (*(turn["text"] for turn in negative.context), negative.response)
    if negative.label:
        right = Text(id, RESPONSE, after[:-1], after[:-1], negative.response)
        return MeasuredTexts((), (right,))
    context, response = negative.original["context"], negative.original["response"]
    known = context is not None or response is not None
    before = (
        *(turn["text"] for turn in (negative.context if context is None else context)),
        negative.response if response is None else response,
    )
    last = [(len(before) - 1, len(after) - 1)]
    wrong: list[Text] = []
    for old, new in last if target == RESPONSE else _edited_turns(before, after):
        edits = negative.edits if target == TURN else ()
        by_turn = (str(edit["category"]) for edit in edits if edit["turn"] == new and edit["category"])
        text = Text(
            id,
            target,
            place=before[:new] if old is None else before[:old],
            context=after[:new],
            text=after[new],
            categories=tuple(dict.fromkeys(by_turn)) or categories,
            right=before[old] if known and old is not None else None,
        )
        wrong.append(text)
    rights = tuple(Text(id, target, text.place, text.place, text.right) for text in wrong if text.right)
    return MeasuredTexts(wrong, rights)


def _edited_turns(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int | None, int]]:
    """Places of turns that are new or other, each with the one that it replaces where there is one."""
    if len(before) == len(after):
        yield from ((at, at) for at in range(len(after)) if before[at] != after[at])
        return
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            yield from ((a + at - c if a + at - c < b else None, at) for at in range(c, d))


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


def _digests(text: Text) -> tuple[int, ...]:
    """Of a text's place and of itself; case and white space do not count."""
    written = ("\0".join(map(match_key, texts)) for texts in (text.place, [text.text]))
    hashes = (hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8) for key in written)
    return tuple(int.from_bytes(digest.digest(), "big", signed=True) for digest in hashes)


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

    def quantile(self, part: float) -> float:
        """The smallest value that at least ``part`` of all do not exceed (0 to 1).

        >>> Histogram([1, 2, 3, 10]).quantile(0.5)
        2.0
        """
        least, seen = part * self.total, 0
        for value in sorted(self.counts):
            seen += self.counts[value]
            if seen >= least:
                return round(value * self.step, 6)
        return 0.0

    def spread(self) -> Distribution | None:
        """Mean and quartiles; nothing of no values."""
        if not self.total:
            return None
        quartiles = (self.quantile(part) for part in (0.25, 0.5, 0.75))
        return Distribution(self._sum / self.total, *quartiles)


def histogram_auc(more: Histogram, less: Histogram) -> float:
    """The area under the ROC curve: how often a value of ``more`` is above one of ``less``, a tie half.

    >>> histogram_auc(Histogram([2, 3]), Histogram([1, 2])), histogram_auc(Histogram([1]), Histogram([1]))
    (0.875, 0.5)
    """
    return roc_auc(
        list(more.counts), list(less.counts), list(more.counts.values()), list(less.counts.values())
    )


class Key(NamedTuple):
    """Which texts a line is about."""

    source: str
    category: str
    target: str


class TextPool:
    """Counts of texts: words, content words shared with their contexts, moods, persons; and a sample.

    ``line`` is its number among the lines of negatives.
    """

    def __init__(self, sample: int, seed: int, line: int = 0) -> None:
        self.line = line
        self.records = 0
        self.words = Histogram()
        self.shared = Histogram()
        self.like_right = Histogram(step=0.01)
        self.questions = 0
        self.persons: Counter[int] = Counter()
        self.sample = HashSample[Text](sample)
        self._seed = seed

    def add(self, text: Text) -> None:
        """Count one more."""
        content = _content(text.text)
        self.words.add(word_count(text.text))
        self.shared.add(len(content & frozenset[str]().union(*map(_content, text.context))))
        if text.right is not None:
            right = _content(text.right)
            self.like_right.add(len(content & right) / len(content | right) if content | right else 1.0)
        self.questions += mood_of(text.text) == "question"
        self.persons[person_of(text.text)] += 1
        draw = number(self._seed, "sample", text.id, str(len(text.context)), text.text)
        self.sample.offer(draw, text)

    @property
    def texts(self) -> int:
        """How many texts were counted."""
        return self.words.total


@lru_cache(maxsize=1 << 14)
def _content(text: str) -> frozenset[str]:
    return frozenset(content_lemmas(text))


class TextCounts:
    """What a pass over records finds, lines in the order of a report.

    ``wrong`` has the texts of negatives by line, ``right`` those that fit by target. ``repeated`` counts by
    line: texts said again to one context, said elsewhere too, right for their context. ``empty`` counts
    negatives without a text.
    """

    def __init__(self, records: Iterable[Negative], sample: int, seed: int) -> None:
        self.records = self.negatives = self.empty = 0
        self.wrong: dict[Key, TextPool] = {}
        self.right: dict[str, TextPool] = {}
        self._sample = (sample, seed)
        with closing(sqlite3.connect("")) as rows:  # a file without a name: SQLite keeps it, and removes it
            rows.executescript(_TABLES)
            for record in records:
                self._add(record, rows)
            counts = [dict(rows.execute(query).fetchall()) for query in (_AGAIN, _ELSEWHERE, _RIGHT)]
        # All of a source first, then its categories.
        order = sorted(
            self.wrong, key=lambda key: (key.source, key.target, key.category != ALL, key.category)
        )
        self.wrong = {key: self.wrong[key] for key in order if not self._is_counted_twice(key)}
        self.right = {target: self.right[target] for target in (RESPONSE, TURN) if target in self.right}
        self.repeated = {
            key: tuple(of.get(pool.line, 0) for of in counts) for key, pool in self.wrong.items()
        }

    def _add(self, record: Negative, rows: sqlite3.Connection) -> None:
        self.records += 1
        wrong, right = measured(record)
        for text in right:
            new = rows.execute("INSERT OR IGNORE INTO right VALUES (?, ?)", _digests(text)).rowcount
            if new:
                self.right.setdefault(text.target, TextPool(*self._sample)).add(text)
        if record.label:
            return
        self.negatives += 1
        self.empty += not wrong
        lines: dict[str, TextPool] = {}
        for category in (ALL, *record.categories):
            key = Key(record.recipe or UNNAMED, category, record.target)
            if key not in self.wrong:
                self.wrong[key] = TextPool(*self._sample, line=len(self.wrong))
            lines[category] = self.wrong[key]
            lines[category].records += 1
        for text in wrong:
            pools = [pool for category, pool in lines.items() if category in (ALL, *text.categories)]
            for pool in pools:
                pool.add(text)
            digests = _digests(text)
            rows.executemany("INSERT INTO wrong VALUES (?, ?, ?)", [(pool.line, *digests) for pool in pools])

    def _is_counted_twice(self, key: Key) -> bool:
        """Whether it is the line of all of a source whose negatives are of one and the same category."""
        same = [other for other in self.wrong if other[::2] == key[::2] and other.category != ALL]
        if key.category != ALL or len(same) != 1:
            return False
        pool, part = self.wrong[key], self.wrong[same[0]]
        return (part.records, part.texts) == (pool.records, pool.texts)


def count_texts(paths: Sequence[Path], size: int, seed: int, progress: Progress | None = None) -> TextCounts:
    """Count what the files hold; of each line at most ``size`` texts are kept.

    Raises `InputError`: a file can't be read, a label is neither 0 nor 1, or no record is a negative.
    """
    bar = progress or NoProgress()

    def records() -> Iterator[Negative]:
        located = chain.from_iterable(map(read_located, paths))
        for count, (address, record) in enumerate(located, 1):
            if record.label not in (0, 1):
                raise InputError(f"{address}: the label of {record.id} is {record.label}; 1 fits, 0 does not")
            yield record
            if count % _SHOWN_EVERY == 0:
                bar.advance(_SHOWN_EVERY)

    bar.start("reading", None, "records")
    try:
        counts = TextCounts(records(), size, seed)
    finally:
        bar.finish()
    if not counts.negatives:
        raise InputError(
            f"{', '.join(map(str, paths))}: no negative among {counts.records} records; "
            "a negative has the label 0"
        )
    return counts
