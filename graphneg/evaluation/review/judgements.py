"""Judgements: what annotators say of the items of a review, in one SQLite file that no crash harms.

>>> with Judgements.create(path, drawn.set) as judged:              # doctest: +SKIP
...     row = judged.next_row("ann")
...     judged.judge(row, "ann", {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"})

A judgement is on disk when the call returns. Several threads and processes may use a file at a time.
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
"""Who decides where annotators differ: an answer of this name is the item's label."""
CLAIMED = 1800.0
"""Seconds that an item which somebody sees is kept from others, where it is for some annotators only."""
_NAME = re.compile(r"[\w.@ -]{1,60}")
_SCHEMA = """
CREATE TABLE review (only INTEGER PRIMARY KEY CHECK (only = 1), facts TEXT NOT NULL);
CREATE TABLE judgement (
    item INTEGER NOT NULL, annotator TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('shown', 'skipped', 'judged')),
    answers TEXT NOT NULL DEFAULT '{}', comment TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL, step INTEGER NOT NULL, PRIMARY KEY (item, annotator)
);
"""
_PUT = """
INSERT INTO judgement (item, annotator, state, answers, comment, at, step)
VALUES (?, ?, ?, ?, ?, ?, 1 + (SELECT coalesce(max(step), 0) FROM judgement))
ON CONFLICT (item, annotator) DO UPDATE SET state = excluded.state, answers = excluded.answers,
    comment = excluded.comment, at = excluded.at, step = excluded.step
"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one annotator says of one row. ``at`` is when, in UTC, or empty where nobody knows."""

    row: int
    annotator: str
    answers: Mapping[str, str]
    comment: str = ""
    at: str = ""


class Standing(NamedTuple):
    """How far an annotator is: rows judged, skipped, and still open to them; and of the answers to gold items
    how many are right, of how many."""

    judged: int
    skipped: int
    open: int
    right: int
    gold: int


def check_annotator(name: str) -> str:
    """The name, without blanks around it.

    Raises `InputError`: it can't be one.
    """
    if not _NAME.fullmatch(name.strip()) or name.strip() == ADJUDICATOR:
        raise InputError(f"{name[:60]!r} is no name: up to 60 letters, digits, blanks and . _ @ -")
    return name.strip()


class Judgements:
    """An open file of judgements. Use it in a ``with`` statement, or close it."""

    def __init__(self, path: Path, set: ReviewSet, connection: sqlite3.Connection) -> None:
        self.path = path
        self.set = set
        self.now: Callable[[], float] = time.time
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def create(cls, path: Path, set: ReviewSet) -> Self:
        """A new file for the judgements of a set.

        Raises `InputError`: there is such a file already, or it can't be written.
        """
        if path.exists():
            raise InputError(f"{path}: there is such a file already; name another one")
        connection = _connected(path)
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO review VALUES (1, ?)", (set.to_json(),))
        except sqlite3.Error as error:
            connection.close()
            raise InputError(f"{path}: can't be written: {error}") from error
        return cls(path, set, connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A file that is there.

        Raises `InputError`: it is not there, or is none of judgements, or damaged.
        """
        if not path.is_file():
            raise InputError(f"{path}: there is no such file of judgements")
        connection: sqlite3.Connection | None = None
        try:
            connection = _connected(path)
            found = connection.execute("SELECT facts FROM review").fetchone()
            if found is None:
                raise InputError(
                    f"{path}: no file of judgements: it was not finished; remove it and begin anew"
                )
            opened = cls(path, review_set_of(str(found[0]), path), connection)
            opened._check()
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise InputError(f"{path}: no file of judgements, or damaged: {error}") from error
            raise
        return opened

    def _check(self) -> None:
        """Read all judgements once, so that a damaged file is refused before anybody works with it.

        Raises:
            InputError: A judgement is of no row of the review, or is not as this program writes it.
        """
        for one in self.all():
            self.set.item(one.row)
            self.set.questions.check(one.answers, f"{self.path}: row {one.row}, {one.annotator}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """One transaction, on disk when the block ends."""
        with self._readable(), self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def _asked(self, query: str, *values: Any) -> list[Any]:
        with self._readable(), self._lock:
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _readable(self) -> Generator[None]:
        """Raise what SQLite says of the file as an `InputError`."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: can't be read or written: {error}") from error

    def next_row(self, annotator: str) -> int | None:
        """The row that an annotator sees next, which is theirs until they answer; None where none is left.

        It is the one that they were shown last and did not answer, else the first of their order that is open
        to them, else one that they skipped.
        """
        name = check_annotator(annotator)
        with self._writing() as connection:
            own = self._states(name)
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
        """Skipped rows, those first that were skipped longest ago."""
        query = "SELECT item, step FROM judgement WHERE annotator = ?"
        steps = dict(self._asked(query, annotator))
        return sorted(rows, key=steps.__getitem__)

    def _states(self, annotator: str) -> dict[int, str]:
        return dict(self._asked("SELECT item, state FROM judgement WHERE annotator = ?", annotator))

    def _taken(self, annotator: str) -> Counter[int]:
        """How many others have judged each row, or see it now."""
        query = (
            "SELECT item, count(*) FROM judgement WHERE annotator NOT IN (?, ?)"
            " AND (state = 'judged' OR state = 'shown' AND at > ?) GROUP BY item"
        )
        return Counter(dict(self._asked(query, annotator, ADJUDICATOR, self.now() - CLAIMED)))

    def _is_open(self, row: int, taken: Counter[int]) -> bool:
        wanted = self.set.annotators
        return not wanted or taken[row] < wanted or bool(self.set.item(row).gold)

    def judge(self, row: int, annotator: str, answers: Mapping[str, str], comment: str = "") -> None:
        """Keep what an annotator says of a row, in place of what they said of it before.

        Raises `InputError`: there is no such row, or a question is not answered by one of its answers.
        """
        self.put([Judgement(row, annotator, answers, comment)])

    def put(self, judgements: Iterable[Judgement]) -> int:
        """Keep judgements, all or none; how many there were. As `judge`."""
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
        """Put a row off: it comes again when no other is left.

        Raises `InputError`: there is no such row.
        """
        self.set.item(row)
        with self._writing() as connection:
            connection.execute(_PUT, (row, check_annotator(annotator), "skipped", "{}", "", self.now()))

    def undo(self, annotator: str) -> int | None:
        """Take back the annotator's last answer or skip; returns that row, which is the next again, if
        any."""
        name = check_annotator(annotator)
        with self._writing() as connection:
            query = (
                "SELECT item, comment FROM judgement WHERE annotator = ? AND state != 'shown'"
                " ORDER BY step DESC LIMIT 1"
            )
            last = connection.execute(query, (name,)).fetchone()
            if last is None:
                return None
            connection.execute("DELETE FROM judgement WHERE annotator = ? AND state = 'shown'", (name,))
            connection.execute(_PUT, (last[0], name, "shown", "{}", last[1], self.now()))
            return int(last[0])

    def comment(self, row: int, annotator: str) -> str:
        """What an annotator has written beside a row."""
        query = "SELECT comment FROM judgement WHERE item = ? AND annotator = ?"
        return next((str(found[0]) for found in self._asked(query, row, annotator)), "")

    def standing(self, annotator: str) -> Standing:
        """How far an annotator is."""
        states, taken = self._states(annotator), self._taken(annotator)
        count = Counter(states.values())
        rows = range(1, len(self.set.items) + 1)
        left = sum(states.get(row) != "judged" and self._is_open(row, taken) for row in rows)
        right = gold = 0
        for judgement in self.all(annotator):
            for name, known in self.set.item(judgement.row).gold.items():
                gold += 1
                right += judgement.answers.get(name) == known
        return Standing(count["judged"], count["skipped"], left, right, gold)

    def annotators(self) -> list[str]:
        """Who has judged, skipped or seen anything, but the adjudicator."""
        query = "SELECT DISTINCT annotator FROM judgement WHERE annotator != ? ORDER BY annotator"
        return [str(found[0]) for found in self._asked(query, ADJUDICATOR)]

    def all(self, annotator: str | None = None) -> list[Judgement]:
        """The judgements, by row and annotator; those of one annotator only, if named."""
        query = (
            "SELECT item, annotator, answers, comment, at FROM judgement"
            " WHERE state = 'judged' AND (?1 IS NULL OR annotator = ?1) ORDER BY item, annotator"
        )
        return [self._judgement(*found) for found in self._asked(query, annotator)]

    def _judgement(self, row: Any, name: Any, answers: Any, comment: Any, at: Any) -> Judgement:
        """Return a judgement of the file, checked: somebody else may have written it.

        Raises:
            InputError: A column is of another type, or holds what can't be read.
        """
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
    """A connection whose transactions are begun by hand and are on disk when they end."""
    try:
        create_private(path)
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{path}: can't be opened: {error}") from error
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _check_text(text: str, what: str) -> None:
    """Raise `InputError` where a text holds half of a letter (a lone surrogate), which no file can keep."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is no Unicode text: {error.reason}") from error


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{time[:40]!r} is no time; write it as 2026-01-31T12:00:00+00:00") from error
