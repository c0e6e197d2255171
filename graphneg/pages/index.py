"""Index a file of negatives, so that it can be filtered, sorted and paged through without loading it.

The index is an SQLite database, which `open_index` creates in the folder of the file. It contains each record
with its labels (such as transform and corpus), scores, edits and the words of its dialogue. `NegativesIndex`
returns the records that match a `Filter`, page by page, and the distribution of each score. The index is
written to a temporary file that is renamed at the end, so an incomplete index is never used. If the file of
negatives has changed, the index is written again. The scores ``context_overlap`` and ``selectional_fit``,
which ``graphneg select`` also computes, are added to the records.

Example::

    index = open_index("negatives.jsonl")
    # Records of the transform polarity_flip with a context overlap of at least 0.5:
    asked = Filter(labels={"transform": "polarity_flip"}, ranges={"context_overlap": (0.5, None)})
    index.count(asked)
    # The 50 records with the highest overlap, highest overlap first:
    index.page(asked, 0, 50, "context_overlap", descending=True)
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import msgspec

from graphneg import __version__
from graphneg.errors import GraphnegError, InputError, first_line
from graphneg.hashing import files_digest, fingerprint
from graphneg.json_input import LONGEST_LINE
from graphneg.model import Negative
from graphneg.paths import resolved
from graphneg.private_files import cache_folder, create_private
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import negative_from_json, negative_to_json, read_negatives
from graphneg.records.locks import open_regular
from graphneg.records.runs import atomic_file
from graphneg.records.scores import measured

LAYOUT = "1"
"""Version of the database schema. An index with a different version is written again."""
STEPS = 100
"""Number of intervals between the thresholds of a `ScoreDistribution`."""
LABELS = ("corpus", "split", "transform", "category", "generator")
"""The kinds of labels by which records can be filtered."""
OFFERED = 200
"""Maximum number of labels of a kind that the page offers to choose from. The most frequent labels are
offered.
"""
BATCH = 2_000
"""Number of records that are inserted into the database at a time."""
SCORE = "score"
"""The value of ``kind`` in rows of the table ``names`` that contain the name of a score. Other rows contain
labels."""
_WORD = re.compile(r"[^\W_]+")
_HEAD = re.compile(r"[^\s()]+")
_FACTS = "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT)"
"""The statement that creates the table by which an index is recognized. All versions of graphneg use it."""
_TABLES = f"""
{_FACTS};
CREATE TABLE negatives (n INTEGER PRIMARY KEY, dialogue TEXT, is_wrong INTEGER, record BLOB);
CREATE TABLE names (name INTEGER PRIMARY KEY, kind TEXT, value TEXT, amount INTEGER);
CREATE TABLE labels (name INTEGER, n INTEGER, PRIMARY KEY (name, n)) WITHOUT ROWID;
CREATE TABLE scores (n INTEGER, name INTEGER, value REAL, PRIMARY KEY (n, name)) WITHOUT ROWID;
CREATE TABLE edits (edit TEXT, n INTEGER);
CREATE TABLE spreads (score TEXT PRIMARY KEY, spread TEXT);
CREATE VIRTUAL TABLE words USING fts5 (text, content='', detail=column);
"""
_INDEXES = """
CREATE INDEX by_dialogue ON negatives (dialogue, n);
CREATE INDEX by_edit ON edits (edit, n);
CREATE INDEX edits_of ON edits (n);
CREATE INDEX by_score ON scores (name, value, n);
"""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions for records. A record matches if it satisfies all of them.

    Attributes:
        labels: The required labels, keyed by kind.
        text: Prefixes of words, separated by spaces. Each must occur in the context or the response.
        ranges: The lowest and the highest allowed value of a score, keyed by the name of the score. None
            means that there is no limit.
    """

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    text: str = ""
    ranges: Mapping[str, tuple[float | None, float | None]] = field(
        default_factory=dict[str, tuple[float | None, float | None]]
    )


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """The distribution of the values of a score over the wrong responses in a file.

    Attributes:
        score: The name of the score.
        thresholds: `STEPS` + 1 thresholds at equal distances, from the lowest value to the highest, or from 0
            to 1 if all values are in this range.
        below: For each threshold, the number of responses with a lower score.
        above: For each threshold, the number of responses with a higher score.
        amount: Number of wrong responses that have the score.
        wrong: Number of all wrong responses, with or without the score.
    """

    score: str
    thresholds: tuple[float, ...]
    below: tuple[int, ...]
    above: tuple[int, ...]
    amount: int
    wrong: int

    def share_below(self, value: float) -> float:
        """Return the share of responses whose score is lower than a value.

        Args:
            value: A value of the score. If it is between two of the `thresholds`, it is rounded down.

        Returns:
            A share from 0 to 1. Responses without the score do not count.
        """
        at = max(0, bisect_right(self.thresholds, value) - 1)
        return self.below[at] / max(1, self.amount)


@dataclass(frozen=True, slots=True)
class IndexedNegative:
    """A record with its position in the file.

    Attributes:
        n: The position of the record in the file, starting at 1.
        negative: The record. Its scores include ``context_overlap`` and ``selectional_fit`` if they can be
            computed.
    """

    n: int
    negative: Negative


class NegativesIndex:
    """An index of a file of negatives. Its methods may be called from several threads.

    Args:
        source: The path of the file of negatives.
        path: The path of the index.
    """

    def __init__(self, source: Path, path: Path) -> None:
        self.source = source
        self._path = path
        self._state_of_file = _state_of_file(source)
        with self._open() as index:
            self.total = int(_fact(index, "total"))
            """Number of records in the file of negatives."""

    @property
    def is_stale(self) -> bool:
        """Whether the file of negatives has changed since the index was opened."""
        try:
            return _state_of_file(self.source) != self._state_of_file
        except InputError:
            return True

    def labels(self, kind: str) -> list[tuple[str, int]]:
        """Return the most frequent labels of one kind, such as the names of the transforms in the file.

        Args:
            kind: One of the kinds in `LABELS`.

        Returns:
            At most `OFFERED` pairs of a label and the number of records that have it, with the most frequent
            label first.
        """
        return self._rows(
            "SELECT value, amount FROM names WHERE kind = ? ORDER BY amount DESC, value LIMIT ?",
            [kind, OFFERED],
        )

    def score_distributions(self) -> list[ScoreDistribution]:
        """Return the distribution of each score.

        Returns:
            The distributions, sorted by the name of the score.
        """
        rows = self._rows("SELECT score, spread FROM spreads ORDER BY score")
        with self._damage_as_input_error():
            return [
                msgspec.convert({"score": score, **msgspec.json.decode(text)}, ScoreDistribution)
                for score, text in rows
            ]

    def count(self, asked: Filter) -> int:
        """Count the records that match a filter.

        Args:
            asked: The conditions for the records.

        Returns:
            The number of matching records.
        """
        if asked == Filter():
            return self.total
        where, values = _sql_condition(asked)
        return self._rows(f"SELECT count(*) FROM negatives WHERE {where}", values)[0][0]

    def page(
        self, asked: Filter, start: int, amount: int, order: str = "", *, descending: bool = False
    ) -> list[IndexedNegative]:
        """Return one page of the records that match a filter.

        Args:
            asked: The conditions for the records.
            start: Number of records to skip.
            amount: Maximum number of records.
            order: The score by which to sort; empty for the order of the file. Records without the score come
                last.
            descending: Whether to sort in descending order.

        Returns:
            The records of the page, in the requested order.
        """
        where, values = _sql_condition(asked)
        way = "DESC" if descending else "ASC"
        if order:
            # Sort by `IS NULL` first, so that records without the score come last, whichever the direction.
            query = f"""SELECT negatives.n FROM negatives
                LEFT JOIN scores ON scores.n = negatives.n
                    AND scores.name = (SELECT name FROM names WHERE kind = '{SCORE}' AND value = ?)
                WHERE {where} ORDER BY scores.value IS NULL, scores.value {way}, negatives.n
                LIMIT ? OFFSET ?"""
            values = [order, *values]
        else:
            query = f"SELECT n FROM negatives WHERE {where} ORDER BY n {way} LIMIT ? OFFSET ?"
        return self._records_of_query(query, [*values, amount, start])

    def at(self, n: int) -> Negative:
        """Return the record with a given number.

        Args:
            n: The position of the record in the file, starting at 1.

        Returns:
            The record.

        Raises:
            InputError: The file has no record with this number.
        """
        found = self._records_of_query("SELECT n FROM negatives WHERE n = ?", [n])
        if not found:
            raise InputError(f"{self.source}: there is no negative {n}; the file has {self.total:,}")
        return found[0].negative

    def same_edit(self, n: int, amount: int) -> tuple[int, list[IndexedNegative]]:
        """Return other records with the same edit as a given record.

        Two edits count as the same if they have the same transform and the same concepts before and after the
        edit.

        Args:
            n: The position of the given record in the file, starting at 1.
            amount: Maximum number of records to return.

        Returns:
            The number of other records with the same edit, and the first ``amount`` of these records.
        """
        return self._others(
            "SELECT n FROM edits WHERE edit IN (SELECT edit FROM edits WHERE n = ?)", n, amount
        )

    def same_dialogue(self, n: int, amount: int) -> tuple[int, list[IndexedNegative]]:
        """Return other records from the same dialogue as a given record.

        Args:
            n: The position of the given record in the file, starting at 1.
            amount: Maximum number of records to return.

        Returns:
            The number of other records from the same dialogue, and the first ``amount`` of these records.
        """
        query = "SELECT n FROM negatives WHERE dialogue = (SELECT dialogue FROM negatives WHERE n = ?)"
        return self._others(query, n, amount)

    def count_within(self, least: Mapping[str, float], most: Mapping[str, float]) -> tuple[int, int]:
        """Count the wrong responses whose scores are within limits.

        A response that has no value for a score counts as being within the limits of this score.

        Args:
            least: The lowest allowed value of a score, keyed by the name of the score.
            most: The highest allowed value of a score, keyed by the name of the score.

        Returns:
            The number of wrong responses within the limits, and the number of all wrong responses.
        """
        lost: list[str] = []
        values: list[Any] = []
        for limits, sign in ((least, "<"), (most, ">")):
            for score, limit in limits.items():
                # Exclude the records whose score is beyond its limit, instead of selecting the records whose
                # score is within its limit. Records without the score are then kept.
                lost.append(f"{_of_score(sign)}")
                values += [score, limit]
        where = " AND ".join(["is_wrong", *(f"n NOT IN ({query})" for query in lost)])
        kept = self._rows(f"SELECT count(*) FROM negatives WHERE {where}", values)[0][0]
        return kept, self._rows("SELECT count(*) FROM negatives WHERE is_wrong")[0][0]

    def _others(self, among: str, n: int, amount: int) -> tuple[int, list[IndexedNegative]]:
        where = f"n IN ({among}) AND n != ?"
        count = self._rows(f"SELECT count(*) FROM negatives WHERE {where}", [n, n])[0][0]
        query = f"SELECT n FROM negatives WHERE {where} ORDER BY n LIMIT ?"
        return count, self._records_of_query(query, [n, n, amount])

    def _records_of_query(self, query: str, values: Sequence[Any]) -> list[IndexedNegative]:
        """Return the records whose positions in the file a query selects, in the order of the query."""
        # First select and sort only the positions of the records, then read the records. Sorting whole
        # records would be slow, because SQLite would have to copy many megabytes.
        numbers = [n for (n,) in self._rows(query, values)]
        among = ", ".join("?" * len(numbers))
        records = dict(self._rows(f"SELECT n, record FROM negatives WHERE n IN ({among})", numbers))
        with self._damage_as_input_error():
            return [IndexedNegative(n, negative_from_json(_record(records[n]))) for n in numbers]

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._open() as index:
            return index.execute(query, values).fetchall()

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        with (
            self._damage_as_input_error(),
            closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)) as index,
        ):
            yield index

    @contextmanager
    def _damage_as_input_error(self) -> Generator[None]:
        damage = (
            sqlite3.Error,
            zlib.error,
            msgspec.MsgspecError,
            ValueError,
            KeyError,
            TypeError,
            InputError,
        )
        try:
            yield
        except damage as error:
            raise InputError(
                f"{self._path}: the index can't be read: {first_line(error)}; delete the index and start "
                "again"
            ) from error


def open_index(source: str | Path, progress: Progress | None = None) -> NegativesIndex:
    """Open the index of a file of negatives. If it is missing or outdated, create it first.

    The index is a hidden file in the same folder as the negatives. If this folder is read-only or another
    program's file has the name of the index, the index is stored in the user's cache folder.

    Args:
        source: The file of negatives (.jsonl, .parquet).
        progress: Progress display for creating the index; None for no display.

    Returns:
        The open index.
    """
    source = resolved(source)
    path = _place(source)
    state = _state_of_file(source)
    if not _is_current(path, state):
        write_index(path, state, read_negatives(source), progress or NoProgress(), source.name)
    return NegativesIndex(source, path)


def write_index(path: Path, state: str, negatives: Iterable[Negative], progress: Progress, name: str) -> None:
    """Write an index of negatives.

    Args:
        path: The path of the index.
        state: A text that identifies the state of the file of negatives, and changes when the file changes;
            see `_state_of_file`.
        negatives: The records to index, in the order of the file.
        progress: Progress display; advanced by the number of indexed records.
        name: The name of the file of negatives, for the progress display.

    Raises:
        InputError: The index cannot be written.
    """
    progress.start(f"index of {name}", None, "negatives")
    with atomic_file(path) as unfinished:
        unfinished.unlink(missing_ok=True)
        try:
            # Make the index readable for its owner only, because the negatives may be confidential.
            create_private(unfinished)
            with closing(sqlite3.connect(unfinished)) as index:
                # Switch off the journal to save time. SQLite needs it only to repair an incomplete database,
                # and an incomplete index is never used.
                index.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
                _fill(index, negatives, progress)
                index.execute("INSERT INTO facts VALUES ('state', ?)", [state])
                index.commit()
        except sqlite3.Error as error:
            raise InputError(f"{path}: the index can't be written: {error}") from error
    progress.finish()


def _fill(index: sqlite3.Connection, negatives: Iterable[Negative], progress: Progress) -> None:
    names: dict[tuple[str, str], int] = {}
    amounts = Counter[int]()
    total = 0

    # Store each label and each name of a score only once. Records refer to labels and names by number.
    def named(kind: str, value: str) -> int:
        name = names.setdefault((kind, value), len(names) + 1)
        amounts[name] += 1
        return name

    for batch in _batches(enumerate(negatives, 1)):
        rows = [(n, _with_scores(negative)) for n, negative in batch]
        index.executemany("INSERT INTO negatives VALUES (?, ?, ?, ?)", [_row(n, one) for n, one in rows])
        index.executemany(
            "INSERT INTO labels VALUES (?, ?)",
            [(named(*label), n) for n, one in rows for label in sorted(_labels(one))],
        )
        index.executemany(
            "INSERT INTO scores VALUES (?, ?, ?)",
            [(n, named(SCORE, score), value) for n, one in rows for score, value in one.scores.items()],
        )
        index.executemany(
            "INSERT INTO edits VALUES (?, ?)",
            [(edit, n) for n, one in rows for edit in sorted(_edit_keys(one))],
        )
        index.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)", [(n, _words(one)) for n, one in rows]
        )
        total += len(rows)
        progress.advance(len(rows))
    # Create the SQL indexes after the rows have been inserted. Updating them with each row would be slower.
    index.executescript(_INDEXES)
    index.executemany(
        "INSERT INTO names VALUES (?, ?, ?, ?)",
        [(name, kind, value, amounts[name]) for (kind, value), name in names.items()],
    )
    index.execute("INSERT INTO facts VALUES ('total', ?)", [str(total)])
    for (kind, score), name in names.items():
        if kind == SCORE:
            index.execute(
                "INSERT INTO spreads VALUES (?, ?)", [score, json.dumps(_distribution(index, name))]
            )
    index.execute("ANALYZE")


def _distribution(index: sqlite3.Connection, name: int) -> dict[str, Any]:
    """Compute the fields of a `ScoreDistribution` in one pass over the sorted values of a score."""
    of_wrong = "FROM scores JOIN negatives USING (n) WHERE is_wrong AND name = ?"
    low, high, amount = index.execute(
        f"SELECT min(value), max(value), count(*) {of_wrong}", [name]
    ).fetchone()
    wrong = index.execute("SELECT count(*) FROM negatives WHERE is_wrong").fetchone()[0]
    # If all values are between 0 and 1, use this range as the scale, so that histograms can be compared.
    low, high = (0.0, 1.0) if low is None or 0 <= low <= high <= 1 else (low, high)
    thresholds = [round(low + (high - low) * step / STEPS, 4) for step in range(STEPS + 1)]
    below, above = [0] * (STEPS + 2), [0] * (STEPS + 2)
    for (value,) in index.execute(f"SELECT value {of_wrong} ORDER BY value", [name]):
        below[bisect_right(thresholds, value)] += 1
        above[bisect_left(thresholds, value)] += 1
    return {
        "thresholds": thresholds,
        "below": [*accumulate(below)][: STEPS + 1],
        "above": [amount - upto for upto in accumulate(above)][: STEPS + 1],
        "amount": amount,
        "wrong": wrong,
    }


def _with_scores(negative: Negative) -> Negative:
    """Add the scores that need no model to a record, unless one of its graphs cannot be parsed."""
    try:
        return msgspec.structs.replace(negative, scores=measured(negative))
    except GraphnegError:
        return negative


def _row(n: int, negative: Negative) -> tuple[int, str, bool, bytes]:
    record = zlib.compress(negative_to_json(negative).encode(), 1)
    return n, negative.dialogue, negative.label != 1, record


def _labels(negative: Negative) -> set[tuple[str, str]]:
    found = {
        *(("transform", edit.transform or "") for edit in negative.edits),
        *(("category", category) for category in negative.categories),
        *(("corpus", negative.corpus), ("split", negative.split), ("generator", negative.recipe)),
    }
    return {(kind, value) for kind, value in found if value}


def _edit_keys(negative: Negative) -> set[str]:
    """Return a key for each edit of a record. Similar edits in other records have the same key.

    The key consists of the transform and of the root concepts of the edited part before and after the edit.
    If a generator has replaced the whole response, the key contains the texts instead of concepts.
    """
    return {
        "\n".join([edit.transform or "", _root_concept(edit.before or ""), _root_concept(edit.after or "")])
        for edit in negative.edits
    }


def _root_concept(fragment: str) -> str:
    """Return the root concept of a part of a graph in PENMAN notation. Return any other text unchanged.

    >>> _root_concept("(like-01 :polarity - :ARG0 i)"), _root_concept("i"), _root_concept("Tea, please.")
    ('like-01', 'i', 'Tea, please.')
    """
    found = _HEAD.search(fragment) if fragment.startswith("(") else None
    return found[0] if found else fragment


def _words(negative: Negative) -> str:
    return "\n".join([*(turn.text for turn in negative.context), negative.response])


def _sql_condition(asked: Filter) -> tuple[str, list[Any]]:
    """Convert a filter into an SQL condition on the table of negatives, and the values of placeholders."""
    parts: list[str] = ["1"]
    values: list[Any] = []
    for kind, value in asked.labels.items():
        named = "(SELECT name FROM names WHERE kind = ? AND value = ?)"
        parts.append(f"negatives.n IN (SELECT n FROM labels WHERE name = {named})")
        values += [kind, value]
    if asked.text.strip():
        parts.append("negatives.n IN (SELECT rowid FROM words WHERE words MATCH ?)")
        # Convert a search word such as coff to "coff"*, which matches all words that begin with it. The
        # quotes are needed because words such as OR are operators in the query language of FTS5.
        values.append(" ".join(f'"{word}"*' for word in _WORD.findall(asked.text)) or '""')
    for score, limits in asked.ranges.items():
        for sign, limit in zip((">=", "<="), limits, strict=True):
            if limit is not None:
                parts.append(f"negatives.n IN ({_of_score(sign)})")
                values += [score, limit]
    return " AND ".join(parts), values


def _of_score(sign: str) -> str:
    return (
        f"SELECT n FROM scores WHERE name = (SELECT name FROM names WHERE kind = '{SCORE}' AND value = ?) "
        f"AND value {sign} ?"
    )


def _place(source: Path) -> Path:
    beside = source.with_name(f".{source.name}.index.sqlite")
    # If the folder is read-only, which is common for a corpus that several users share, use the cache folder.
    if os.access(source.parent, os.W_OK) and _is_free(beside):
        return beside
    return cache_folder("indexes") / f"{fingerprint(str(source))}.sqlite"


def _is_free(path: Path) -> bool:
    """Return whether an index may be written to a path: there is no file, or the file is an index."""
    try:
        open_regular(path).close()
    except FileNotFoundError:
        return True
    except (InputError, OSError):
        return False
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as index:
            return ("table", "facts", _FACTS) in _schema(index)
    except sqlite3.Error:
        return False


def _state_of_file(source: Path) -> str:
    """Return a string that changes with the file of negatives, the index schema and the graphneg version."""
    try:
        known = source.stat()
        return f"{LAYOUT} {__version__} {known.st_size} {known.st_mtime_ns} {files_digest([source])}"
    except OSError as error:
        raise InputError(f"{source}: can't be read: {error.strerror}") from error


def _is_current(path: Path, state: str) -> bool:
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as index:
            # The index may come from an untrusted source, so compare its schema with the expected schema. If
            # a view had replaced a table, a query on this view could run forever.
            return _schema(index) == _own_schema() and _fact(index, "state") == state
    # A damaged index counts as outdated.
    except sqlite3.Error:
        return False


def _schema(index: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    """Return the type, name and SQL text of all tables, views, indexes and triggers of a database."""
    return set(index.execute("SELECT type, name, sql FROM sqlite_master"))


@cache
def _own_schema() -> set[tuple[str, str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as index:
        index.executescript(f"{_TABLES}{_INDEXES}ANALYZE;")
        return _schema(index)


def _record(content: bytes) -> str:
    """Decompress a record. Raise `ValueError` if it is longer than `LONGEST_LINE` bytes."""
    # Limit the length, because a few kilobytes in an index from an untrusted source could expand to
    # gigabytes.
    stream = zlib.decompressobj()
    text = stream.decompress(content, LONGEST_LINE)
    if stream.unconsumed_tail:
        raise ValueError(f"a record is longer than {LONGEST_LINE:,} bytes")
    return text.decode()


def _fact(index: sqlite3.Connection, name: str) -> str:
    found = index.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
    return found[0] if found else ""


def _batches(items: Iterable[tuple[int, Negative]]) -> Iterator[list[tuple[int, Negative]]]:
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        yield batch
