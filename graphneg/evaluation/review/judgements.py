"""Store the judgements of a review in an SQLite file.

A judgement consists of the answers of one annotator for one item. Items are numbered by their rows in the
review set.

>>> with Judgements.create(path, drawn.set) as judged:              # doctest: +SKIP
...     row = judged.next_row("ann")
...     judged.judge(row, "ann", {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"})

When `Judgements.judge` returns, the judgement has been written to the file on disk. Therefore no judgement is
lost after a crash, or if somebody copies the file. Several threads and processes may use the same file.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from graphneg.errors import InputError
from graphneg.evaluation.review.items import ReviewSet, review_set_of
from graphneg.private_files import create_private

ADJUDICATOR = "adjudicator"
"""The name under which the judgements of the adjudicator are stored.

The adjudicator decides when annotators disagree. The answers of the adjudicator become the labels.
"""
RESERVATION_SECONDS = 1800.0
"""Seconds for which an item that is shown to an annotator counts as one of that annotator's judgements.

If the number of annotators per item is limited, the item may not be shown to other annotators during this
time.
"""
_NAME = re.compile(r"[\w.@ -]{1,60}")
# The table `judgement` has one row per item and annotator. The column `step` numbers all writes in order, so
# that the last write can be undone.
_SCHEMA = """
CREATE TABLE review (only INTEGER PRIMARY KEY CHECK (only = 1), facts TEXT NOT NULL);
CREATE TABLE judgement (
    item INTEGER NOT NULL, annotator TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('shown', 'skipped', 'judged')),
    answers TEXT NOT NULL DEFAULT '{}', comment TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL, step INTEGER NOT NULL, PRIMARY KEY (item, annotator)
);
"""
# Store the state of an item for an annotator (shown, skipped or judged) in place of its earlier state. Number
# the writes in the column `step`: the new row gets the highest number so far plus one.
_PUT = """
INSERT INTO judgement (item, annotator, state, answers, comment, at, step)
VALUES (?, ?, ?, ?, ?, ?, 1 + (SELECT coalesce(max(step), 0) FROM judgement))
ON CONFLICT (item, annotator) DO UPDATE SET state = excluded.state, answers = excluded.answers,
    comment = excluded.comment, at = excluded.at, step = excluded.step
"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answers of one annotator for one item.

    Attributes:
        row: The row of the item in the review set, from 1.
        annotator: The name of the annotator.
        answers: The values of the answers, keyed by the name of the question.
        comment: A comment by the annotator.
        at: The time of the judgement in UTC (ISO 8601), or an empty string if the time is not known.
    """

    row: int
    annotator: str
    answers: Mapping[str, str]
    comment: str = ""
    at: str = ""


class AnnotatorProgress(NamedTuple):
    """The progress of an annotator in a review.

    Attributes:
        judged: Number of rows that the annotator has judged.
        skipped: Number of rows that the annotator has skipped.
        open: Number of rows that the annotator can still judge, including the skipped rows.
        right: Number of correct answers by the annotator to questions about gold items.
        gold: Number of answers by the annotator to questions about gold items, that is, items for which the
            correct answers are known.
    """

    judged: int
    skipped: int
    open: int
    right: int
    gold: int


def check_annotator(name: str) -> str:
    """Check the name of an annotator.

    Args:
        name: The name that an annotator has entered.

    Returns:
        The name without surrounding white space.

    Raises:
        InputError: The name has forbidden characters, is empty or too long, or is reserved for the
            adjudicator.
    """
    if not _NAME.fullmatch(name.strip()) or name.strip() == ADJUDICATOR:
        raise InputError(
            f"{name[:60]!r} is not a valid name: use up to 60 letters, digits, blanks and . _ @ -"
        )
    return name.strip()


class Judgements:
    """An open file of judgements.

    Use it in a ``with`` statement, or call `close`.

    Attributes:
        path: The path of the file.
        set: The items of the review, with the questions.
        now: A function that returns the current time in seconds since 1970. Tests can replace this function.
    """

    def __init__(self, path: Path, set: ReviewSet, connection: sqlite3.Connection) -> None:
        """Initialize the object with an open connection; use `create` or `open` instead.

        Args:
            path: The path of the file.
            set: The items of the review, with the questions.
            connection: The connection to the SQLite file.
        """
        self.path = path
        self.set = set
        self.now: Callable[[], float] = time.time
        self._connection = connection
        self._identity = _identity(path)
        self._lock = threading.RLock()

    @classmethod
    def create(cls, path: Path, set: ReviewSet) -> Self:
        """Create a file for the judgements of a review.

        Args:
            path: The path of the new file.
            set: The items of the review, with the questions. They are copied into the file.

        Returns:
            An object for the new file, which is open.

        Raises:
            InputError: The file exists or cannot be written.
        """
        if path.exists():
            raise InputError(f"{path}: the file already exists; name another file")
        connection = _connected(path)
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                # Execute one statement after another: executescript() would commit the open transaction.
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO review VALUES (1, ?)", (set.to_json(),))
        except sqlite3.Error as error:
            connection.close()
            raise InputError(f"{path}: can't be written: {error}") from error
        return cls(path, set, connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an existing file of judgements.

        Args:
            path: The path of the file.

        Returns:
            The judgements in the file. Close the object at the end.

        Raises:
            InputError: The file does not exist, is not a file of judgements, or is damaged.
        """
        if not path.is_file():
            raise InputError(f"{path}: there is no such file of judgements")
        connection: sqlite3.Connection | None = None
        try:
            connection = _connected(path)
            found = connection.execute("SELECT facts FROM review").fetchone()
            # `create` writes the tables and the review set together. If the review set is missing, `create`
            # was interrupted, and the file cannot be used.
            if found is None:
                raise InputError(f"{path}: an unfinished file of judgements; remove the file and start again")
            opened = cls(path, review_set_of(str(found[0]), path), connection)
            opened._check()
        except BaseException as error:
            # Close the file after any failure, even if the user interrupts the program.
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise InputError(f"{path}: not a file of judgements, or damaged: {error}") from error
            raise
        return opened

    def _check(self) -> None:
        """Check all judgements, so that a damaged file is refused before anyone works with it."""
        # Refuse SQLite triggers. A trigger runs whenever a judgement is written, and could change or discard
        # it.
        programs = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
        if found := self._asked(programs):
            raise InputError(
                f"{self.path}: contains the trigger or view {found[0][0][:60]!r}, which is not from graphneg"
            )
        for (row,) in self._asked("SELECT DISTINCT item FROM judgement"):
            # Check the type here, because SQLite does not: another program may have written any value.
            if not isinstance(row, int):
                raise InputError(
                    f"{self.path}: {str(row)[:20]!r} is not the number of a row: restore the file from a copy"
                )
            self.set.item(row)
        for one in self.all():
            self.set.questions.check(one.answers, f"{self.path}: row {one.row}, {one.annotator}")

    def __enter__(self) -> Self:
        """Return this object, whose file is closed at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """Run a ``with`` block in a transaction. At its end, all changes have been written to disk."""
        with self._readable(), self._lock, self._connection:
            # Take the write lock before the first read. Otherwise, another process could write after the
            # first read, and SQLite would then refuse to write in this transaction.
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            # If somebody has removed the file, SQLite still writes to it without an error, and the judgement
            # would be lost. So check that the file is still at its path.
            self._check_place()

    def _asked(self, query: str, *values: Any) -> list[Any]:
        with self._readable(), self._lock:
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _readable(self) -> Generator[None]:
        """Convert SQLite errors in a ``with`` block into `InputError`."""
        try:
            yield
        except sqlite3.Error as error:
            # If the file was removed, SQLite may wrongly report that the file is read-only. So check first
            # whether it was removed.
            self._check_place()
            raise InputError(f"{self.path}: can't be read or written: {error}") from error

    def _check_place(self) -> None:
        """Raise `InputError` if the file is no longer at its path."""
        if _identity(self.path) != self._identity:
            raise InputError(
                f"{self.path}: the file was removed, moved or replaced while it was open, and this "
                "judgement is not stored: put the file back, or stop and start again"
            )

    def next_row(self, annotator: str) -> int | None:
        """Return the item that an annotator should judge next, and reserve the item for this annotator.

        If the annotator has neither judged nor skipped the item that they were shown last, this item is
        returned again. Else, the first item in the annotator's order that they have not seen is returned. If
        they have seen all items, the items that they skipped are returned again, in the order of skipping.

        Args:
            annotator: The name of the annotator.

        Returns:
            The row number of the item, from 1, or None if the annotator has no item left.
        """
        name = check_annotator(annotator)
        with self._writing() as connection:
            own = self._states(name)
            # If the annotator has not answered the last row, return the same row again: the page may have
            # been reloaded.
            if shown := [row for row, state in own.items() if state == "shown"]:
                return shown[0]
            taken = self._taken(name)
            order = self.set.order(name)
            unseen = [row for row in order if row not in own and self._is_open(row, taken)]
            skipped = [row for row in order if own.get(row) == "skipped" and self._is_open(row, taken)]
            found = next(iter([*unseen, *self._as_skipped(skipped, name)]), None)
            if found is not None:
                connection.execute(_PUT, (found, name, "shown", "{}", "", self.now()))
            return found

    def _as_skipped(self, rows: Iterable[int], annotator: str) -> list[int]:
        """Sort items that an annotator has skipped, so that the item skipped first comes first."""
        query = "SELECT item, step FROM judgement WHERE annotator = ?"
        steps = dict(self._asked(query, annotator))
        return sorted(rows, key=steps.__getitem__)

    def _states(self, annotator: str) -> dict[int, str]:
        """Return the states (shown, skipped, judged) of the rows that an annotator has seen, keyed by row."""
        return dict(self._asked("SELECT item, state FROM judgement WHERE annotator = ?", annotator))

    def _taken(self, annotator: str) -> Counter[int]:
        """Return how many other annotators have judged each item or see it now, keyed by row number."""
        query = (
            "SELECT item, count(*) FROM judgement WHERE annotator NOT IN (?, ?)"
            " AND (state = 'judged' OR state = 'shown' AND at > ?) GROUP BY item"
        )
        return Counter(dict(self._asked(query, annotator, ADJUDICATOR, self.now() - RESERVATION_SECONDS)))

    def _is_open(self, row: int, taken: Counter[int]) -> bool:
        """Return whether an item needs more annotators.

        ``taken`` says, for each row, how many other annotators have judged the item or see it now.
        """
        wanted = self.set.annotators
        # Gold items are used to check each annotator, so every annotator judges them.
        return not wanted or taken[row] < wanted or bool(self.set.item(row).gold)

    def judge(self, row: int, annotator: str, answers: Mapping[str, str], comment: str = "") -> None:
        """Store the answers of an annotator for a row. They replace the annotator's earlier answers.

        Raises `InputError` if the row does not exist, an answer is missing, or an answer is unknown.

        Args:
            row: The number of the row.
            annotator: The name of the annotator.
            answers: The values of the answers, keyed by the name of the question.
            comment: A comment by the annotator.
        """
        self.put([Judgement(row, annotator, answers, comment)])

    def put(self, judgements: Iterable[Judgement]) -> int:
        """Store several judgements in one transaction, so that either all or none of them are stored.

        Raises `InputError` if a row does not exist, an answer is missing, or an answer is unknown.

        Args:
            judgements: The judgements to store.

        Returns:
            The number of stored judgements.
        """
        rows: list[tuple[Any, ...]] = []
        for one in judgements:
            self.set.item(one.row)
            answers = self.set.questions.check(one.answers, f"row {one.row}")
            name = one.annotator if one.annotator == ADJUDICATOR else check_annotator(one.annotator)
            at = _seconds(one.at) if one.at else self.now()
            _check_text(one.comment, f"row {one.row}: the comment")
            rows.append((one.row, name, "judged", json.dumps(answers), one.comment.strip(), at))
        with self._writing() as connection:
            connection.executemany(_PUT, rows)
        return len(rows)

    def skip(self, row: int, annotator: str) -> None:
        """Postpone an item until the annotator has judged all other items.

        Raises `InputError` if the row does not exist.

        Args:
            row: The row number of the item.
            annotator: The name of the annotator.
        """
        self.set.item(row)
        with self._writing() as connection:
            connection.execute(_PUT, (row, check_annotator(annotator), "skipped", "{}", "", self.now()))

    def undo(self, annotator: str) -> int | None:
        """Undo the annotator's last answer or skip.

        Args:
            annotator: The name of the annotator.

        Returns:
            The number of the row, which `next_row` then returns again; None if the annotator has not answered
            or skipped any row.
        """
        name = check_annotator(annotator)
        with self._writing() as connection:
            query = (
                "SELECT item, comment FROM judgement WHERE annotator = ? AND state != 'shown'"
                " ORDER BY step DESC LIMIT 1"
            )
            last = connection.execute(query, (name,)).fetchone()
            if last is None:
                return None
            # An annotator may have at most one item in the state "shown". Remove the item that the page shows
            # now, and show the item whose answer is undone.
            connection.execute("DELETE FROM judgement WHERE annotator = ? AND state = 'shown'", (name,))
            connection.execute(_PUT, (last[0], name, "shown", "{}", last[1], self.now()))
            return int(last[0])

    def comment(self, row: int, annotator: str) -> str:
        """Return the comment that an annotator wrote on a row.

        Args:
            row: The number of the row.
            annotator: The name of the annotator.

        Returns:
            The comment; an empty string if the annotator wrote no comment.
        """
        query = "SELECT comment FROM judgement WHERE item = ? AND annotator = ?"
        return next((str(found[0]) for found in self._asked(query, row, annotator)), "")

    def progress_of(self, annotator: str) -> AnnotatorProgress:
        """Return how far an annotator has come with the review.

        Args:
            annotator: The name of the annotator.

        Returns:
            How many rows the annotator has judged, has skipped and can still judge, how many answers about
            gold items the annotator has given, and how many of them are correct.
        """
        states, taken = self._states(annotator), self._taken(annotator)
        count = Counter(states.values())
        rows = range(1, len(self.set.items) + 1)
        left = sum(states.get(row) != "judged" and self._is_open(row, taken) for row in rows)
        right = gold = 0
        for judgement in self.all(annotator):
            for name, known in self.set.item(judgement.row).gold.items():
                gold += 1
                right += judgement.answers.get(name) == known
        return AnnotatorProgress(count["judged"], count["skipped"], left, right, gold)

    def annotators(self) -> list[str]:
        """Return the names of all annotators in the file, except for the adjudicator."""
        query = "SELECT DISTINCT annotator FROM judgement WHERE annotator != ? ORDER BY annotator"
        return [str(found[0]) for found in self._asked(query, ADJUDICATOR)]

    def all(self, annotator: str | None = None) -> list[Judgement]:
        """Return the stored judgements.

        Args:
            annotator: The annotator whose judgements are returned, or None for all annotators.

        Returns:
            The judgements, sorted by row and annotator.
        """
        query = (
            "SELECT item, annotator, answers, comment, at FROM judgement"
            " WHERE state = 'judged' AND (?1 IS NULL OR annotator = ?1) ORDER BY item, annotator"
        )
        return [self._judgement(*found) for found in self._asked(query, annotator)]

    def _judgement(self, row: Any, name: Any, answers: Any, comment: Any, at: Any) -> Judgement:
        """Convert a database row into a judgement, and check that its values were not damaged."""
        try:
            read = msgspec.json.decode(answers, type=dict[str, str])
            values = {"row": row, "annotator": name, "answers": read, "comment": comment, "at": _time(at)}
            return msgspec.convert(values, Judgement)
        except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, OSError) as error:
            raise InputError(
                f"{self.path}: the judgement of row {str(row)[:20]} by {str(name)[:60]} is damaged "
                f"({error}): restore the file from a copy"
            ) from error


def _connected(path: Path) -> sqlite3.Connection:
    """Open a connection to an SQLite file. A commit returns only when the data have been written to disk."""
    try:
        create_private(path)
        # Set isolation_level=None, so that sqlite3 does not begin transactions by itself.
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{path}: can't be opened: {error}") from error
    # With a rollback journal, each commit changes the file itself. A write-ahead log would keep recent
    # commits in a second file. If somebody copied only the first file, the recent judgements would be lost
    # without any warning. With "synchronous = EXTRA", each commit waits until the data and the removal of the
    # journal are on disk, so that a power failure does not undo the commit.
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("PRAGMA synchronous = EXTRA")
        if mode != "delete":
            raise InputError(
                f"{path}: another program keeps it open with a write-ahead log: end it and try again"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and the inode of the file at a path, which identify it; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _check_text(text: str, what: str) -> None:
    """Check that a text has no lone surrogates, which cannot be stored as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is not valid Unicode text: {error.reason}") from error


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"{time[:40]!r} is not a valid time; the format is 2026-01-31T12:00:00+00:00"
        ) from error
