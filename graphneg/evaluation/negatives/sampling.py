"""Count and sample the texts of negatives and right responses in one pass over the files.

The text that is measured is the response of a record, or the edited turns if the whole dialogue was edited.
Texts are grouped into lines by source (generator or recipe), category and target. Memory does not grow with
the size of the files: distributions are histograms of rounded values, samples have a maximum size, and hashes
of texts are kept in a temporary SQLite file to find repetitions.

Example:
    A dialogue with the turns "Hi.", "I have a dog." and "Nice." is edited to "Hi.", "I have no dog." and
    "Nice." The wrong text is "I have no dog." with the context "Hi."; the right text in its place is "I have
    a dog."
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
"""The targets of records: the response, or any turn of the dialogue."""
UNNAMED = "unnamed"
"""The source of negatives whose records name none."""
ALL = "all"
"""The category of the line with all negatives of a source."""
# Records between two updates of the progress bar.
_SHOWN_EVERY = 200


@dataclass(frozen=True, slots=True)
class Text:
    """A right or wrong text in its context.

    Attributes:
        id: The id of the record.
        target: The target of the record, ``response`` or ``dialogue``.
        place: The original context.
        context: The context in the record, in which turns may have been edited.
        text: The text.
        categories: The error categories of the text.
        right: The original text in its place, if known.
    """

    id: str
    target: str
    place: tuple[str, ...]
    context: tuple[str, ...]
    text: str
    categories: tuple[str, ...] = ()
    right: str | None = None


class MeasuredTexts(NamedTuple):
    """The texts of one record.

    Attributes:
        wrong: The wrong texts. Empty for a right response.
        right: The right texts: the response, or the originals of the wrong texts.
    """

    wrong: Sequence[Text]
    right: Sequence[Text]


def measured(negative: Negative) -> MeasuredTexts:
    """Return the texts of a record that are measured.

    Args:
        negative: The record. If its target is ``dialogue``, each changed or inserted turn is a wrong text. A
            removed turn has no text.

    Returns:
        The wrong and right texts.
    """
    id, target, categories = negative.id, negative.target, tuple(negative.categories)
    after = (*(turn["text"] for turn in negative.context), negative.response)
    if negative.label:
        right = Text(id, RESPONSE, after[:-1], after[:-1], negative.response)
        return MeasuredTexts((), (right,))
    context, response = negative.original["context"], negative.original["response"]
    # Retrieved and generated responses are no edits and have no original.
    known = context is not None or response is not None
    before = (
        *(turn["text"] for turn in (negative.context if context is None else context)),
        negative.response if response is None else response,
    )
    last = [(len(before) - 1, len(after) - 1)]
    wrong: list[Text] = []
    for old, new in last if target == RESPONSE else _edited_turns(before, after):
        edits = negative.edits if target == TURN else ()
        # An edit of this turn has a category of its own; otherwise the categories of the record apply.
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
    """Yield the indices of changed and new turns, each after the index of the turn that it replaces."""
    # Turns were changed in place: no alignment is needed.
    if len(before) == len(after):
        yield from ((at, at) for at in range(len(after)) if before[at] != after[at])
        return
    # Turns were added or removed, so align the two dialogues.
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            # Pair replaced turns in order; surplus new turns replace none.
            yield from ((a + at - c if a + at - c < b else None, at) for at in range(c, d))


_TABLES = """
CREATE TABLE wrong (line INTEGER, place INTEGER, text INTEGER);
CREATE TABLE right (place INTEGER, text INTEGER, PRIMARY KEY (place, text)) WITHOUT ROWID;
"""
# Texts that repeat another negative of the same context.
_AGAIN = """
SELECT line, sum(times - 1) FROM (SELECT line, count(*) AS times FROM wrong GROUP BY line, place, text)
GROUP BY line
"""
# Texts that occur under more than one context.
_ELSEWHERE = """
SELECT line, sum(times)
FROM (
  SELECT line, count(*) AS times FROM wrong GROUP BY line, text HAVING count(DISTINCT place) > 1
)
GROUP BY line
"""
# Negatives that equal a right response of their context.
_RIGHT = """
SELECT wrong.line, count(*) FROM wrong JOIN right ON right.place = wrong.place AND right.text = wrong.text
GROUP BY wrong.line
"""


def _digests(text: Text) -> tuple[int, ...]:
    """Return 64-bit hashes of a text's original context and of the text, ignoring case and white space."""
    written = ("\0".join(map(match_key, texts)) for texts in (text.place, [text.text]))
    hashes = (hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8) for key in written)
    return tuple(int.from_bytes(digest.digest(), "big", signed=True) for digest in hashes)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Mean and quartiles of some numbers.

    Attributes:
        mean: The mean.
        lower: The first quartile.
        median: The median.
        upper: The third quartile.
    """

    mean: float
    lower: float
    median: float
    upper: float


class Histogram:
    """Counts of values rounded to a step.

    Memory grows with the range of the values only.

    Attributes:
        step: The step to which values are rounded.
        counts: The counts, by the value divided by the step.
        total: The number of values.
    """

    def __init__(self, values: Iterable[float] = (), step: float = 1.0) -> None:
        """Initialize the histogram.

        Args:
            values: The first values to count.
            step: The step to which values are rounded.
        """
        self.step = step
        self.counts: Counter[int] = Counter()
        self.total = 0
        # The sum is exact, so the mean does not suffer from rounding.
        self._sum = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Count a value.

        Args:
            value: The value.
        """
        self.counts[round(value / self.step)] += 1
        self.total += 1
        self._sum += value

    def quantile(self, part: float) -> float:
        """Return the smallest value that is not below ``part`` of the values.

        Args:
            part: The share of values, from 0 to 1.

        Returns:
            The quantile, rounded to the step.

        Example:
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
        """Return mean and quartiles, or None without values."""
        if not self.total:
            return None
        quartiles = (self.quantile(part) for part in (0.25, 0.5, 0.75))
        return Distribution(self._sum / self.total, *quartiles)


def histogram_auc(more: Histogram, less: Histogram) -> float:
    """Return the area under the ROC curve of two histograms.

    Args:
        more: Values that are expected to be higher.
        less: Values that are expected to be lower.

    Returns:
        The probability that a value of ``more`` is above a value of ``less``; a tie counts as half.

    Example:
        >>> histogram_auc(Histogram([2, 3]), Histogram([1, 2])), histogram_auc(Histogram([1]), Histogram([1]))
        (0.875, 0.5)
    """
    return roc_auc(
        list(more.counts), list(less.counts), list(more.counts.values()), list(less.counts.values())
    )


class Key(NamedTuple):
    """The key of a line.

    Attributes:
        source: The generator or recipe.
        category: The error category, or `ALL`.
        target: ``response`` or ``dialogue``.
    """

    source: str
    category: str
    target: str


class TextPool:
    """Statistics and a sample of the texts of one line.

    Attributes:
        line: The number of the line.
        records: Number of records.
        words: Histogram of the number of words.
        shared: Histogram of the number of content words shared with the context.
        like_right: Histogram of the overlap with the right response: shared content words divided by all
            content words of both.
        questions: Number of questions.
        persons: Number of texts by grammatical person.
        sample: The sampled texts.
    """

    def __init__(self, sample: int, seed: int, line: int = 0) -> None:
        """Initialize an empty pool.

        Args:
            sample: Maximum size of the sample.
            seed: Seed of the sample.
            line: The number of the line.
        """
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
        """Count a text.

        Args:
            text: The text.
        """
        content = _content(text.text)
        self.words.add(word_count(text.text))
        self.shared.add(len(content & frozenset[str]().union(*map(_content, text.context))))
        if text.right is not None:
            right = _content(text.right)
            self.like_right.add(len(content & right) / len(content | right) if content | right else 1.0)
        self.questions += mood_of(text.text) == "question"
        self.persons[person_of(text.text)] += 1
        # The sample depends on the seed and the texts, but not on the order of the files.
        draw = number(self._seed, "sample", text.id, str(len(text.context)), text.text)
        self.sample.offer(draw, text)

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self.words.total


@lru_cache(maxsize=1 << 14)
def _content(text: str) -> frozenset[str]:
    """Return the content lemmas of a text."""
    return frozenset(content_lemmas(text))


class TextCounts:
    """The result of a pass over records.

    Attributes:
        records: Number of records.
        negatives: Number of negatives.
        empty: Number of negatives without a text to measure.
        wrong: Statistics of wrong texts by line, in the order of the report.
        right: Statistics of right texts by target.
        repeated: For each line, the numbers of texts that repeat a negative of the same context, that occur
            under several contexts, and that equal a right response of their context.
    """

    def __init__(self, records: Iterable[Negative], sample: int, seed: int) -> None:
        """Count the texts of records.

        Args:
            records: Negatives and right responses.
            sample: Maximum size of the sample of each line.
            seed: Seed of the samples.
        """
        self.records = self.negatives = self.empty = 0
        self.wrong: dict[Key, TextPool] = {}
        self.right: dict[str, TextPool] = {}
        self._sample = (sample, seed)
        # An empty name opens a temporary file that SQLite removes when the connection closes.
        with closing(sqlite3.connect("")) as rows:
            rows.executescript(_TABLES)
            for record in records:
                self._add(record, rows)
            counts = [dict(rows.execute(query).fetchall()) for query in (_AGAIN, _ELSEWHERE, _RIGHT)]
        # The line with all negatives of a source comes before the lines of its categories.
        order = sorted(
            self.wrong, key=lambda key: (key.source, key.target, key.category != ALL, key.category)
        )
        self.wrong = {key: self.wrong[key] for key in order if not self._is_counted_twice(key)}
        self.right = {target: self.right[target] for target in (RESPONSE, TURN) if target in self.right}
        self.repeated = {
            key: tuple(of.get(pool.line, 0) for of in counts) for key, pool in self.wrong.items()
        }

    def _add(self, record: Negative, rows: sqlite3.Connection) -> None:
        """Count the texts of a record."""
        self.records += 1
        wrong, right = measured(record)
        for text in right:
            new = rows.execute("INSERT OR IGNORE INTO right VALUES (?, ?)", _digests(text)).rowcount
            # A right response may come with several negatives; count it once per context.
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
        """Return whether a line of all categories equals the only category line of its source."""
        same = [other for other in self.wrong if other[::2] == key[::2] and other.category != ALL]
        if key.category != ALL or len(same) != 1:
            return False
        pool, part = self.wrong[key], self.wrong[same[0]]
        return (part.records, part.texts) == (pool.records, pool.texts)


def count_texts(paths: Sequence[Path], size: int, seed: int, progress: Progress | None = None) -> TextCounts:
    """Count and sample the texts of files.

    A file that cannot be read raises `InputError`.

    Args:
        paths: Files of negatives and right responses.
        size: Maximum size of the sample of each line.
        seed: Seed of the samples.
        progress: Receives progress updates.

    Returns:
        The statistics.

    Raises:
        InputError: A label is neither 0 nor 1, or no record is a negative.
    """
    bar = progress or NoProgress()

    def records() -> Iterator[Negative]:
        """Yield the records of all files."""
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
