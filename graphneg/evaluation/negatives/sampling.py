"""Count and sample the texts of negatives and correct responses in one pass over the files.

Two kinds of texts are counted. A wrong text is a wrong response or, if a whole dialogue was edited, the new
text of an edited turn. A right text is a correct response, or the original text of an edited turn. Wrong
texts are grouped by source (generator or recipe), error category and target (``response`` or ``dialogue``).
Each group becomes a row of the report.

The files may be larger than the memory: distributions are histograms of rounded values, samples have a
maximum size, and the hashes with which repetitions are found are kept in a temporary SQLite file.

Example:
    A dialogue with the turns "Hi.", "I have a dog." and "Nice." is edited so that its turns are "Hi.", "I
    have no dog." and "Nice." The wrong text is "I have no dog." with the context "Hi."; the right text in its
    place is "I have a dog."
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
"""The two targets of an edit: only the response may be edited, or any turn of the dialogue."""
UNNAMED = "unnamed"
"""The name of the source of negatives whose records name no recipe or generator."""
ALL = "all"
"""The category name of a report row for the negatives of all error categories of a source."""
# Number of records that are read between two updates of the progress display.
_SHOWN_EVERY = 200


@dataclass(frozen=True, slots=True)
class Text:
    """A right text (correct response or original turn) or wrong text (negative), with its context.

    Attributes:
        id: The id of the record that contains the text.
        target: The target of the record, ``response`` or ``dialogue``.
        original_context: The turns before the text in the original dialogue. Texts with the same preceding
            turns have equal values.
        context: The turns before the text in the record. Some of these turns may have been edited.
        text: The text of the response or turn.
        categories: The error categories of the text; empty for a right text.
        original: The original text that the edit has replaced, or None if the original text is not known.
        pair: Id of the minimal pair of the record; None if it is in no pair.
    """

    id: str
    target: str
    original_context: tuple[str, ...]
    context: tuple[str, ...]
    text: str
    categories: tuple[str, ...] = ()
    original: str | None = None
    pair: str | None = None


class MeasuredTexts(NamedTuple):
    """The wrong and right texts of one record.

    Attributes:
        wrong: The wrong texts: a wrong response, or edited turns. Empty if the record is a correct response.
        right: The right texts: the correct response, or the originals of the edited texts.
        twin: The response of a twin, which is a record with label 1 in a minimal pair; otherwise None. A twin
            is not counted as a correct response, because its text may come from an edited graph.
    """

    wrong: Sequence[Text]
    right: Sequence[Text]
    twin: Text | None = None


def measured(negative: Negative) -> MeasuredTexts:
    """Return the wrong texts of a record, and its right texts (correct response or original turns).

    Args:
        negative: The record. If its target is ``dialogue``, each changed or inserted turn is a wrong text. A
            removed turn is not counted as a text.

    Returns:
        The wrong and right texts.
    """
    id, target, categories = negative.id, negative.target, negative.categories
    pair = negative.pair
    after = (*(turn.text for turn in negative.context), negative.response)
    if negative.label:
        # A twin is the correct counterpart of a negative. Even if its context was edited, `original_context`
        # is the unedited context, as it is for the negative.
        given = negative.original.context
        place = after[:-1] if given is None else tuple(turn.text for turn in given)
        right = Text(id, RESPONSE, place, after[:-1], negative.response, pair=pair)
        if pair is None:
            return MeasuredTexts((), (right,))
        # Compare a negative with its twin only if the edit concerns the response. In an edited dialogue, the
        # two may differ in any turn.
        return MeasuredTexts((), (), right if target == RESPONSE else None)
    context, response = negative.original.context, negative.original.response
    # A record has an original text only if its response was edited, not if the response was retrieved or
    # generated.
    known = context is not None or response is not None
    before = (
        *(turn.text for turn in (negative.context if context is None else context)),
        negative.response if response is None else response,
    )
    last = [(len(before) - 1, len(after) - 1)]
    wrong: list[Text] = []
    for old, new in last if target == RESPONSE else _edited_turns(before, after):
        edits = negative.edits if target == TURN else ()
        # Use the error categories of the edits to this turn. If these edits name no category, use the error
        # categories of the whole record.
        by_turn = (edit.category for edit in edits if edit.turn == new and edit.category)
        text = Text(
            id,
            target,
            original_context=before[:new] if old is None else before[:old],
            context=after[:new],
            text=after[new],
            categories=tuple(dict.fromkeys(by_turn)) or categories,
            original=before[old] if known and old is not None else None,
            pair=pair,
        )
        wrong.append(text)
    rights = tuple(
        Text(id, target, text.original_context, text.original_context, text.original)
        for text in wrong
        if text.original
    )
    return MeasuredTexts(wrong, rights)


def _edited_turns(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int | None, int]]:
    """Yield the index of each changed turn in ``before`` and its index in ``after``.

    The first index is None if the turn was added. For example, the result is (None, 1) if a turn was inserted
    after turn 0.
    """
    # If both dialogues have the same number of turns, assume that no turn was added or removed, and compare
    # the turns with the same index.
    if len(before) == len(after):
        yield from ((at, at) for at in range(len(after)) if before[at] != after[at])
        return
    # The dialogues have different numbers of turns, so turns were added or removed. Find out which turns
    # correspond to each other.
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            # If two turns were replaced by three, pair the first two new turns with the two old turns. The
            # third new turn replaces nothing (None).
            yield from ((a + at - c if a + at - c < b else None, at) for at in range(c, d))


_TABLES = """
CREATE TABLE wrong (line INTEGER, place INTEGER, text INTEGER);
CREATE TABLE right (place INTEGER, text INTEGER, PRIMARY KEY (place, text)) WITHOUT ROWID;
"""
# For each row of the report: how many texts repeat an earlier negative of the same context.
_AGAIN = """
SELECT line, sum(times - 1) FROM (SELECT line, count(*) AS times FROM wrong GROUP BY line, place, text)
GROUP BY line
"""
# For each row of the report: how many texts occur after more than one context.
_ELSEWHERE = """
SELECT line, sum(times)
FROM (
  SELECT line, count(*) AS times FROM wrong GROUP BY line, text HAVING count(DISTINCT place) > 1
)
GROUP BY line
"""
# For each row of the report, count the wrong texts that equal a right text (a correct response or an original
# turn) with the same context.
_RIGHT = """
SELECT wrong.line, count(*) FROM wrong JOIN right ON right.place = wrong.place AND right.text = wrong.text
GROUP BY wrong.line
"""


def _digests(text: Text) -> tuple[int, ...]:
    """Return two 64-bit hashes: of the original turns before a text, and of the text itself.

    Differences in case and white space are ignored.
    """
    written = ("\0".join(map(match_key, texts)) for texts in (text.original_context, [text.text]))
    hashes = (hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8) for key in written)
    return tuple(int.from_bytes(digest.digest(), "big", signed=True) for digest in hashes)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The mean and the quartiles of a set of numbers.

    Attributes:
        mean: The arithmetic mean.
        lower: The first quartile.
        median: The median, which is the second quartile.
        upper: The third quartile.
    """

    mean: float
    lower: float
    median: float
    upper: float


class Histogram:
    """A histogram of values, which are rounded to multiples of a step.

    Its size depends on the range of the values, not on their number.

    Attributes:
        step: The step size. Values are rounded to multiples of this number.
        counts: How often each value occurs, keyed by the rounded value divided by the step.
        total: The number of values that were added.
    """

    def __init__(self, values: Iterable[float] = (), step: float = 1.0) -> None:
        """Initialize the histogram.

        Args:
            values: Values to count.
            step: The step size. Values are rounded to multiples of this number.
        """
        self.step = step
        self.counts: Counter[int] = Counter()
        self.total = 0
        # Add up the values before rounding, so that the mean is exact.
        self._sum = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """Add a value to the histogram.

        Args:
            value: The value, which is rounded to a multiple of the step here.
        """
        self.counts[round(value / self.step)] += 1
        self.total += 1
        self._sum += value

    def quantile(self, part: float) -> float:
        """Return a quantile of the values, rounded to a multiple of the step.

        The quantile is the smallest value such that at least the given share of all values is not above it.

        Args:
            part: The share of values, from 0 to 1. For example, 0.5 gives the median.

        Returns:
            The quantile, a multiple of the step; 0 if there are no values.

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
        """Return the mean and the quartiles of the counted values, or None if no values were counted."""
        if not self.total:
            return None
        quartiles = (self.quantile(part) for part in (0.25, 0.5, 0.75))
        return Distribution(self._sum / self.total, *quartiles)


def histogram_auc(more: Histogram, less: Histogram) -> float:
    """Return the area under the ROC curve for the values in two histograms.

    Args:
        more: The histogram of values that are expected to be higher.
        less: The histogram of values that are expected to be lower. It must have the same step.

    Returns:
        The probability that a random value of ``more`` is above a random value of ``less``. A pair of equal
        values counts as half.

    Example:
        >>> histogram_auc(Histogram([2, 3]), Histogram([1, 2])), histogram_auc(Histogram([1]), Histogram([1]))
        (0.875, 0.5)
    """
    return roc_auc(
        list(more.counts), list(less.counts), list(more.counts.values()), list(less.counts.values())
    )


class Key(NamedTuple):
    """The key of a row of the report. Each row describes one group of negatives.

    Attributes:
        source: The name of the generator or recipe.
        category: The error category, or `ALL` for the negatives of all categories.
        target: The part of the dialogue that may be edited: ``response`` or ``dialogue``.
    """

    source: str
    category: str
    target: str


class TextPool:
    """The statistics and a random sample of a group of texts.

    A group contains the wrong texts of one row of the report, or all right texts (correct responses or
    original turns) with the same target (``response`` or ``dialogue``).

    Attributes:
        line: The index of the group's row in the report, as stored in the temporary database.
        records: Number of records to which the texts belong.
        words: Histogram of the number of words per text.
        shared: Histogram of the number of content words per text that also occur in the context.
        like_right: Histogram of the overlap with the right text in the same place: the number of common
            content words, divided by the number of content words that occur in either text.
        questions: Number of texts that are questions.
        persons: Counts of texts, keyed by grammatical person (1, 2 or 3).
        sample: The sampled texts.
    """

    def __init__(self, sample: int, seed: int, line: int = 0) -> None:
        """Initialize the statistics of an empty group.

        Args:
            sample: Maximum number of texts in the sample.
            seed: Seed for sampling.
            line: Number of the row of the report that describes the group. It identifies the group in the
                temporary database.
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
        """Add a text to the statistics. It may also become part of the sample.

        Args:
            text: The text with its context.
        """
        content = _content(text.text)
        self.words.add(word_count(text.text))
        self.shared.add(len(content & frozenset[str]().union(*map(_content, text.context))))
        if text.original is not None:
            right = _content(text.original)
            self.like_right.add(len(content & right) / len(content | right) if content | right else 1.0)
        self.questions += mood_of(text.text) == "question"
        self.persons[person_of(text.text)] += 1
        # Sample by a hash, so that the sample does not depend on the order of the files. A negative and its
        # twin (the correct counterpart) have the same hash, that of their minimal pair. So usually both are
        # sampled, or neither.
        names = (text.id, str(len(text.context)), text.text) if text.pair is None else (text.pair,)
        self.sample.offer(number(self._seed, "sample", *names), text)

    @property
    def texts(self) -> int:
        """The number of texts that were counted, including those that are not in the sample."""
        return self.words.total


@lru_cache(maxsize=1 << 14)
def _content(text: str) -> frozenset[str]:
    """Return the lemmas of the content words of a text."""
    return frozenset(content_lemmas(text))


class NegativeStatistics:
    """The statistics of all texts in a set of records.

    Attributes:
        records: Number of records.
        negatives: Number of records that are negatives.
        empty: Number of negatives without a wrong text, because turns were only removed.
        wrong: Statistics of wrong texts, keyed by `Key` (source, category and target), in the order of the
            report.
        right: Statistics of right texts, keyed by target.
        twins: Sample of the twins (the correct counterparts of negatives).
        repeated: Three counts for each row of the report, keyed by `Key`: texts that repeat a negative of the
            same context, texts that occur after several contexts, and texts that equal a right text with the
            same context.
    """

    def __init__(self, records: Iterable[Negative], sample: int, seed: int) -> None:
        """Collect and count the wrong texts (negatives) and right texts (correct or original) of records.

        Args:
            records: Negatives and correct responses.
            sample: Maximum number of texts in the sample of each row of the report.
            seed: Seed for sampling.
        """
        self.records = self.negatives = self.empty = 0
        self.wrong: dict[Key, TextPool] = {}
        self.right: dict[str, TextPool] = {}
        self.twins = HashSample[Text](sample)
        self._sample = (sample, seed)
        # With an empty name, SQLite uses a temporary file, which it removes when the connection is closed.
        with closing(sqlite3.connect("")) as rows:
            rows.executescript(_TABLES)
            for record in records:
                self._add(record, rows)
            counts = [dict(rows.execute(query).fetchall()) for query in (_AGAIN, _ELSEWHERE, _RIGHT)]
        # In the report, the row for all categories of a source comes before its rows for single categories.
        order = sorted(
            self.wrong, key=lambda key: (key.source, key.target, key.category != ALL, key.category)
        )
        self.wrong = {key: self.wrong[key] for key in order if not self._is_counted_twice(key)}
        self.right = {target: self.right[target] for target in (RESPONSE, TURN) if target in self.right}
        self.repeated = {
            key: tuple(of.get(pool.line, 0) for of in counts) for key, pool in self.wrong.items()
        }

    def _add(self, record: Negative, rows: sqlite3.Connection) -> None:
        """Count the texts of a record, and store their hashes in the temporary database."""
        self.records += 1
        wrong, right, twin = measured(record)
        if twin is not None:
            self.twins.offer(number(self._sample[1], "sample", twin.pair or ""), twin)
        for text in right:
            new = rows.execute("INSERT OR IGNORE INTO right VALUES (?, ?)", _digests(text)).rowcount
            # Several negatives of a context may have the same original text. Count a correct text only once
            # per context.
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
        """Return whether the row for all categories counts the same texts as the only row for one category.

        For example, if all negatives of a source have the category ``C-cont``, the two rows are equal.
        """
        same = [other for other in self.wrong if other[::2] == key[::2] and other.category != ALL]
        if key.category != ALL or len(same) != 1:
            return False
        pool, part = self.wrong[key], self.wrong[same[0]]
        return (part.records, part.texts) == (pool.records, pool.texts)


def count_texts(
    paths: Sequence[Path], size: int, seed: int, progress: Progress | None = None
) -> NegativeStatistics:
    """Count and sample the texts of negatives and correct responses in files.

    Raises `InputError` if a file cannot be read.

    Args:
        paths: Files of negatives and correct responses.
        size: Maximum number of texts in the sample of each row of the report.
        seed: Seed for sampling.
        progress: Progress display, which is advanced by the number of records read.

    Returns:
        The statistics of the texts.

    Raises:
        InputError: A label is neither 0 nor 1, or no record is a negative.
    """
    bar = progress or NoProgress()

    def records() -> Iterator[Negative]:
        """Yield the records of all files, and check their labels."""
        located = chain.from_iterable(map(read_located, paths))
        for count, (address, record) in enumerate(located, 1):
            if record.label not in (0, 1):
                raise InputError(
                    f"{address}: the label of {record.id} is {record.label}, but must be 1 (correct) or 0 "
                    "(wrong)"
                )
            yield record
            if count % _SHOWN_EVERY == 0:
                bar.advance(_SHOWN_EVERY)

    bar.start("reading", None, "records")
    try:
        counts = NegativeStatistics(records(), size, seed)
    finally:
        bar.finish()
    if not counts.negatives:
        raise InputError(
            f"{', '.join(map(str, paths))}: none of the {counts.records} records is a negative (label 0)"
        )
    return counts
