"""An index beside a file of negatives: what is looked for in it, without the whole of it in memory.

In: a file of negatives. Out: `NegativesIndex`, a SQLite file beside it that holds each record with its labels
(which transform, of which corpus), its scores, its edits and the words of its dialogue. It gives records
under a `Filter`, page by page, and says how scores are spread. It is made once, appears whole or not at all,
and is made anew where the file has changed. ``clash`` and ``fit`` are those that ``graphneg select`` goes by.
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
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import msgspec

from graphneg import __version__
from graphneg.errors import GraphnegError, InputError, first_line
from graphneg.hashing import files_digest, fingerprint
from graphneg.model import Negative
from graphneg.private_files import cache_folder, create_private
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import negative_from_json, negative_to_json, read_negatives
from graphneg.records.runs import atomic_file
from graphneg.records.scores import measured

LAYOUT = "1"
"""Of an index; one of another layout is made anew."""
STEPS = 100
LABELS = ("corpus", "split", "transform", "category", "generator")
OFFERED = 200
"""So many labels of a kind are offered, the commonest."""
BATCH = 2_000
SCORE = "score"
_WORD = re.compile(r"[^\W_]+")
_HEAD = re.compile(r"[^\s()]+")
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
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
    """Which negatives: by label (kind to value), by words of context or response, by ranges of scores (a
    lowest and a highest value, either may be None)."""

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    text: str = ""
    ranges: Mapping[str, tuple[float | None, float | None]] = field(
        default_factory=dict[str, tuple[float | None, float | None]]
    )


@dataclass(frozen=True, slots=True)
class Spread:
    """How a score is spread over wrong responses, at `STEPS` + 1 thresholds from the lowest to the highest.

    ``below`` and ``above`` count, by threshold, those that score less and more; ``amount`` counts all that
    have the score, ``wrong`` all wrong responses.
    """

    score: str
    thresholds: tuple[float, ...]
    below: tuple[int, ...]
    above: tuple[int, ...]
    amount: int
    wrong: int

    def share_below(self, value: float) -> float:
        """The share of those with the score that score less than the threshold next below ``value``."""
        at = max(0, bisect_right(self.thresholds, value) - 1)
        return self.below[at] / max(1, self.amount)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A negative with its number in the file, from 1. Among its scores are ``clash`` and ``fit``."""

    n: int
    negative: Negative


class NegativesIndex:
    """Looks things up in an index. Calls may come from several threads."""

    def __init__(self, source: Path, path: Path) -> None:
        self.source = source
        self._path = path
        self._state = _state(source)
        with self._open() as index:
            self.total = int(_fact(index, "total"))
            """How many records there are."""

    @property
    def is_stale(self) -> bool:
        """Whether the file has changed since it was opened."""
        try:
            return _state(self.source) != self._state
        except InputError:
            return True

    def labels(self, kind: str) -> list[tuple[str, int]]:
        """The labels of a kind (one of `LABELS`), each with how many records have it, the commonest first."""
        return self._rows(
            "SELECT value, amount FROM names WHERE kind = ? ORDER BY amount DESC, value LIMIT ?",
            [kind, OFFERED],
        )

    def spreads(self) -> list[Spread]:
        """How each score is spread, by name."""
        rows = self._rows("SELECT score, spread FROM spreads ORDER BY score")
        with self._readable():
            return [
                msgspec.convert({"score": score, **msgspec.json.decode(text)}, Spread) for score, text in rows
            ]

    def count(self, asked: Filter) -> int:
        """How many records there are of these."""
        if asked == Filter():
            return self.total
        where, values = _where(asked)
        return self._rows(f"SELECT count(*) FROM negatives WHERE {where}", values)[0][0]

    def page(
        self, asked: Filter, start: int, amount: int, order: str = "", *, descending: bool = False
    ) -> list[Numbered]:
        """So many records from the ``start``-th on (from 0), in the file's order or by a score; those that
        have none come last."""
        where, values = _where(asked)
        way = "DESC" if descending else "ASC"
        if order:
            query = f"""SELECT negatives.n FROM negatives
                LEFT JOIN scores ON scores.n = negatives.n
                    AND scores.name = (SELECT name FROM names WHERE kind = '{SCORE}' AND value = ?)
                WHERE {where} ORDER BY scores.value IS NULL, scores.value {way}, negatives.n
                LIMIT ? OFFSET ?"""
            values = [order, *values]
        else:
            query = f"SELECT n FROM negatives WHERE {where} ORDER BY n {way} LIMIT ? OFFSET ?"
        return self._numbered(query, [*values, amount, start])

    def at(self, n: int) -> Negative:
        """The record of that number.

        Raises `InputError`: there is none.
        """
        found = self._numbered("SELECT n FROM negatives WHERE n = ?", [n])
        if not found:
            raise InputError(f"{self.source}: there is no negative {n}; it has {self.total:,}")
        return found[0].negative

    def same_edit(self, n: int, amount: int) -> tuple[int, list[Numbered]]:
        """Others that an edit of the same transform, from the same concept to the same, made: how many, and
        the first ones."""
        return self._others(
            "SELECT n FROM edits WHERE edit IN (SELECT edit FROM edits WHERE n = ?)", n, amount
        )

    def same_dialogue(self, n: int, amount: int) -> tuple[int, list[Numbered]]:
        """Others of the same dialogue: how many, and the first ones."""
        query = "SELECT n FROM negatives WHERE dialogue = (SELECT dialogue FROM negatives WHERE n = ?)"
        return self._others(query, n, amount)

    def kept(self, least: Mapping[str, float], most: Mapping[str, float]) -> tuple[int, int]:
        """How many wrong responses have no score below its ``least`` and none above its ``most``, and how
        many there are. One without the score is kept."""
        lost: list[str] = []
        values: list[Any] = []
        for limits, sign in ((least, "<"), (most, ">")):
            for score, limit in limits.items():
                lost.append(f"{_of_score(sign)}")
                values += [score, limit]
        where = " AND ".join(["is_wrong", *(f"n NOT IN ({query})" for query in lost)])
        kept = self._rows(f"SELECT count(*) FROM negatives WHERE {where}", values)[0][0]
        return kept, self._rows("SELECT count(*) FROM negatives WHERE is_wrong")[0][0]

    def _others(self, among: str, n: int, amount: int) -> tuple[int, list[Numbered]]:
        where = f"n IN ({among}) AND n != ?"
        count = self._rows(f"SELECT count(*) FROM negatives WHERE {where}", [n, n])[0][0]
        query = f"SELECT n FROM negatives WHERE {where} ORDER BY n LIMIT ?"
        return count, self._numbered(query, [n, n, amount])

    def _numbered(self, query: str, values: Sequence[Any]) -> list[Numbered]:
        """The records whose numbers a query gives, in its order. They are read after it has sorted."""
        numbers = [n for (n,) in self._rows(query, values)]
        among = ", ".join("?" * len(numbers))
        records = dict(self._rows(f"SELECT n, record FROM negatives WHERE n IN ({among})", numbers))
        with self._readable():
            return [Numbered(n, negative_from_json(zlib.decompress(records[n]).decode())) for n in numbers]

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._open() as index:
            return index.execute(query, values).fetchall()

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        with (
            self._readable(),
            closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True)) as index,
        ):
            yield index

    @contextmanager
    def _readable(self) -> Generator[None]:
        """Raise what a damaged index leads to as an `InputError`."""
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
                f"{self._path}: the index can't be read: {first_line(error)}; delete it, begin anew"
            ) from error


def open_index(source: str | Path, progress: Progress | None = None) -> NegativesIndex:
    """The index of a file of negatives (.jsonl, .parquet), made where there is none that is up to date.

    It stands beside the file, hidden; where that folder can't be written, among the user's caches.

    Raises `InputError`: a record can't be read (the message says where), or the index can't be written.
    """
    source = Path(source).resolve()
    path = _place(source)
    state = _state(source)
    if not _is_current(path, state):
        write_index(path, state, read_negatives(source), progress or NoProgress(), source.name)
    return NegativesIndex(source, path)


def write_index(path: Path, state: str, negatives: Iterable[Negative], progress: Progress, name: str) -> None:
    """Write an index of negatives; ``state`` tells what they were made of, ``name`` what is worked at."""
    progress.start(f"index of {name}", None, "negatives")
    with atomic_file(path) as unfinished:
        unfinished.unlink(missing_ok=True)
        try:
            create_private(unfinished)  # it holds what the file holds, whoever may read that
            with closing(sqlite3.connect(unfinished)) as index:
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

    def named(kind: str, value: str) -> int:
        name = names.setdefault((kind, value), len(names) + 1)
        amounts[name] += 1
        return name

    for batch in _batches(enumerate(negatives, 1)):
        rows = [(n, _scored(negative)) for n, negative in batch]
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
            "INSERT INTO edits VALUES (?, ?)", [(edit, n) for n, one in rows for edit in sorted(_edits(one))]
        )
        index.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)", [(n, _words(one)) for n, one in rows]
        )
        total += len(rows)
        progress.advance(len(rows))
    index.executescript(_INDEXES)
    index.executemany(
        "INSERT INTO names VALUES (?, ?, ?, ?)",
        [(name, kind, value, amounts[name]) for (kind, value), name in names.items()],
    )
    index.execute("INSERT INTO facts VALUES ('total', ?)", [str(total)])
    for (kind, score), name in names.items():
        if kind == SCORE:
            index.execute("INSERT INTO spreads VALUES (?, ?)", [score, json.dumps(_spread(index, name))])
    index.execute("ANALYZE")


def _spread(index: sqlite3.Connection, name: int) -> dict[str, Any]:
    """The fields of a `Spread`, counted in one pass over the values in their order."""
    of_wrong = "FROM scores JOIN negatives USING (n) WHERE is_wrong AND name = ?"
    low, high, amount = index.execute(
        f"SELECT min(value), max(value), count(*) {of_wrong}", [name]
    ).fetchone()
    wrong = index.execute("SELECT count(*) FROM negatives WHERE is_wrong").fetchone()[0]
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


def _scored(negative: Negative) -> Negative:
    """With the scores that ``graphneg select`` would find; of a graph that can't be read, with its own."""
    try:
        return replace(negative, scores=measured(negative))
    except GraphnegError:
        return negative


def _row(n: int, negative: Negative) -> tuple[int, str, bool, bytes]:
    record = zlib.compress(negative_to_json(negative).encode(), 1)
    return n, negative.dialogue, negative.label != 1, record


def _labels(negative: Negative) -> set[tuple[str, str]]:
    found = {
        *(("transform", edit["transform"] or "") for edit in negative.edits),
        *(("category", category) for category in negative.categories),
        *(("corpus", negative.corpus), ("split", negative.split), ("generator", negative.recipe)),
    }
    return {(kind, value) for kind, value in found if value}


def _edits(negative: Negative) -> set[str]:
    """For each edit: its transform, and the concepts that head what stood there and what stands there now.
    The edit of a generator is its whole response."""
    return {
        "\n".join([edit["transform"] or "", *(_head(edit[side] or "") for side in ("before", "after"))])
        for edit in negative.edits
    }


def _head(fragment: str) -> str:
    """The concept that heads a fragment of a graph; a text, whole.

    >>> _head("(like-01 :polarity - :ARG0 i)"), _head("i"), _head("Tea, please.")
    ('like-01', 'i', 'Tea, please.')
    """
    found = _HEAD.search(fragment) if fragment.startswith("(") else None
    return found[0] if found else fragment


def _words(negative: Negative) -> str:
    return "\n".join([*(turn["text"] for turn in negative.context), negative.response])


def _where(asked: Filter) -> tuple[str, list[Any]]:
    """A condition on the table of negatives, and its values."""
    parts: list[str] = ["1"]
    values: list[Any] = []
    for kind, value in asked.labels.items():
        named = "(SELECT name FROM names WHERE kind = ? AND value = ?)"
        parts.append(f"negatives.n IN (SELECT n FROM labels WHERE name = {named})")
        values += [kind, value]
    if asked.text.strip():
        parts.append("negatives.n IN (SELECT rowid FROM words WHERE words MATCH ?)")
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
    if os.access(source.parent, os.W_OK):
        return beside
    return cache_folder("indexes") / f"{fingerprint(str(source))}.sqlite"


def _state(source: Path) -> str:
    """Tells one state of a file from another, and one layout of an index."""
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
            return _fact(index, "state") == state
    except sqlite3.Error:
        return False


def _fact(index: sqlite3.Connection, name: str) -> str:
    found = index.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
    return found[0] if found else ""


def _batches(items: Iterable[tuple[int, Negative]]) -> Iterator[list[tuple[int, Negative]]]:
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        yield batch
