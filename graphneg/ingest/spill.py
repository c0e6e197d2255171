"""Keep the state of a load on disk, so that memory use does not grow with the input files.

`IdSet` is a set of names. `RowStore` takes the rows of a table in any order, and returns them grouped by
dialogue. `ReversedRows` returns rows in reverse order. `Threads` finds the first message of each thread.
These classes use temporary SQLite databases without a file name, which SQLite deletes when the object is
deleted.

>>> rows = RowStore()
>>> for key, said in (("a", "Hi."), ("b", "Ho."), ("a", "Hello.")):
...     rows.add(key, said)
>>> [(key, list(group)) for key, group in rows.groups()]
[('a', ['Hi.', 'Hello.']), ('b', ['Ho.'])]
"""

from __future__ import annotations

import marshal
import re
import sqlite3
from array import array
from collections.abc import Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from graphneg.errors import InputError, first_line

_CACHE = 16 << 20
"""Size of SQLite's page cache in bytes."""
_REMEMBERED = 50_000
"""Maximum number of keys that are cached in memory."""


class IdSet:
    """A set of names that may be larger than memory.

    >>> known = IdSet()
    >>> known.add("chats/all/1"), known.add("chats/all/1")
    (True, False)
    """

    def __init__(self) -> None:
        self._rows = _database()
        self._rows.execute("CREATE TABLE ids (id PRIMARY KEY) WITHOUT ROWID")

    def add(self, id: str) -> bool:
        """Add an id to the set. Raises `InputError` if the disk is full.

        Args:
            id: The id to add.

        Returns:
            True if the id was not in the set before.
        """
        with _enough_room("the ids of this load"):
            return self._rows.execute("INSERT OR IGNORE INTO ids VALUES (?)", (_key(id),)).rowcount > 0


class RowStore:
    """The rows of a table, grouped by key.

    Groups are returned in the order of their first rows. The rows of a group are returned in the order in
    which they were added. Memory use stays below about 30 MB.
    """

    def __init__(self) -> None:
        self._db = _database()
        self._db.execute("CREATE TABLE groups (key PRIMARY KEY, number INTEGER) WITHOUT ROWID")
        self._db.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, grp INTEGER, data BLOB)")
        self._numbers: dict[str, int] = {}
        self._groups = 0

    def add(self, key: str, row: Any) -> None:
        """Add a row to a group. Raises `InputError` if the disk is full.

        Args:
            key: The key of the group.
            row: The row: any value that `marshal` can write, such as JSON values and tuples.
        """
        with _enough_room("the rows of this file"):
            # Consecutive rows often have the same key. Look up the number of the key in the cache before the
            # database.
            number = self._numbers.get(key)
            if number is None:
                number = self._number(key)
            self._db.execute("INSERT INTO rows (grp, data) VALUES (?, ?)", (number, marshal.dumps(row)))

    def _number(self, key: str) -> int:
        if len(self._numbers) >= _REMEMBERED:
            self._numbers.clear()
        # Groups are numbered in the order of their first rows.
        new = self._db.execute("INSERT OR IGNORE INTO groups VALUES (?, ?)", (_key(key), self._groups))
        self._groups += new.rowcount
        [found] = self._db.execute("SELECT number FROM groups WHERE key = ?", (_key(key),)).fetchone()
        self._numbers[key] = found
        return found

    def groups(self) -> Iterator[tuple[str, Iterator[Any]]]:
        """Yield the rows group by group. Raises `InputError` if the disk is full.

        Yields:
            The key of each group, and an iterator over its rows. Use up this iterator before you take the
            next group.
        """
        found = self._db.execute(
            "SELECT key, data FROM rows JOIN groups ON groups.number = grp ORDER BY grp, rows.number"
        )
        with _enough_room("the rows of this file"):
            for key, rows in groupby(found, lambda row: row[0]):
                written = key if isinstance(key, str) else key.decode("utf-8", "surrogatepass")
                yield written, (marshal.loads(data) for _, data in rows)


class ReversedRows:
    """Rows that are returned in reverse order.

    >>> rows = ReversedRows()
    >>> for said in ("Ho.", "Hi."):
    ...     rows.add(said)
    >>> list(rows)
    ['Hi.', 'Ho.']
    """

    def __init__(self) -> None:
        self._db = _database()
        self._db.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, data BLOB)")

    def add(self, row: Any) -> None:
        """Add a row. Raises `InputError` if the disk is full.

        Args:
            row: The row: any value that `marshal` can write, such as JSON values and tuples.
        """
        with _enough_room("the messages of this file"):
            self._db.execute("INSERT INTO rows (data) VALUES (?)", (marshal.dumps(row),))

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows, the last one first. Raises `InputError` if the disk is full."""
        with _enough_room("the messages of this file"):
            for (data,) in self._db.execute("SELECT data FROM rows ORDER BY number DESC"):
                yield marshal.loads(data)


class Threads:
    """The messages of a file, and the message that each of them answers.

    `first` returns the first message of a thread. In the example, "c" answers "b", and "b" answers "a". The
    message that "d" answers is missing, so "d" itself is the first message of its thread.

    >>> threads = Threads()
    >>> for id, answered in (("c", "b"), ("a", None), ("b", "a"), ("d", "gone")):
    ...     threads.add(id, answered)
    >>> [threads.first(id) for id in "abcd"]
    ['a', 'a', 'a', 'd']
    """

    def __init__(self) -> None:
        """Create an empty database for messages and the messages that they answer."""
        self._db = _database()
        self._db.execute("CREATE TABLE messages (id PRIMARY KEY, answered) WITHOUT ROWID")
        self._first: dict[str, str | None] = {}

    def add(self, id: str, answered: str | None) -> None:
        """Add a message. Raises `InputError` if the disk is full.

        Args:
            id: The id of the message. If an id is added twice, the first message is kept.
            answered: The id of the message to which it replies; None if it replies to no message.
        """
        with _enough_room("the replies of this file"):
            self._db.execute(
                "INSERT OR IGNORE INTO messages VALUES (?, ?)", (_key(id), answered and _key(answered))
            )

    def first(self, id: str) -> str | None:
        """Return the first message of a thread.

        Args:
            id: The id of any message in the thread. It must have been added.

        Returns:
            The id of the message at the top of the chain of replies. If a message in the chain is missing,
            the chain ends below it. None if the replies form a cycle.
        """
        passed: dict[str, None] = {}
        at = id
        while at not in self._first and at not in passed:
            passed[at] = None
            above = self._answered(at)
            if above is None:
                self._first[at] = at
            else:
                at = above
        # If the replies form a cycle, there is no first message, and the result is None.
        first = self._first.get(at)
        # Cache the result for the other messages of the thread. Empty the cache first if it is full.
        if len(self._first) > _REMEMBERED:
            self._first.clear()
        self._first.update(dict.fromkeys(passed, first))
        return first

    def missing(self) -> int:
        """Return the number of messages that answer a missing message, that is, one that was never added.

        Returns:
            The number. Messages that answer themselves, or no message, do not count.
        """
        rows = self._db.execute("SELECT answered FROM messages WHERE answered IS NOT NULL")
        return sum(self._spelling(_name(answered)) is None for (answered,) in rows)

    def refer_to_dialogues(self) -> bool:
        """Return whether messages name the id of their dialogue instead of the message that they answer.

        Returns:
            True if every message names an id, at least two messages name the same id, and none of these ids
            belongs to a message.
        """
        count = "SELECT COUNT(*), COUNT(answered), COUNT(DISTINCT answered) FROM messages"
        [whole, named, different] = self._db.execute(count).fetchone()
        return 0 < different < named == whole == self.missing()

    def _answered(self, id: str) -> str | None:
        """Return the id of the message that a message answers; None if it is unknown or answers itself."""
        [answered] = self._db.execute("SELECT answered FROM messages WHERE id = ?", (_key(id),)).fetchone()
        if answered is None:
            return None
        spelling = self._spelling(_name(answered))
        return spelling if spelling != id else None

    def _spelling(self, name: str) -> str | None:
        """Return the id of the message to which a reference points; None if this message was not added."""
        # A reference is the id of a message, "abc", or, on Reddit, the id with a prefix, "t1_abc".
        for spelling in parent_names(name):
            if self._db.execute("SELECT 1 FROM messages WHERE id = ?", (_key(spelling),)).fetchone():
                return spelling
        return None


def _name(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


_KIND = re.compile(r"t[0-9]_(?=.)")


def parent_names(id: str) -> tuple[str, ...]:
    """Return the possible ids of the message to which a reply refers.

    A reference on Reddit has a prefix for the kind of object: ``t1_abc`` refers to the comment ``abc``.

    >>> parent_names("t1_abc"), parent_names("abc")
    (('t1_abc', 'abc'), ('abc',))

    Args:
        id: The reference to the answered message, as it is written in the reply.

    Returns:
        The reference itself, and, if it has a prefix, the reference without the prefix.
    """
    return (id, id[3:]) if _KIND.match(id) else (id,)


def is_interleaved(keys: Iterable[Hashable]) -> bool:
    """Return whether equal keys are separated by other keys, as in ``a b a``.

    >>> is_interleaved("aabbb"), is_interleaved("aba")
    (False, True)

    Args:
        keys: The keys, in order. Reading stops soon after the first key that occurs again after another key.

    Returns:
        True if a key occurs again after another key. Only hashes are compared, to save memory: eight bytes
        per run of equal keys. The probability of an incorrect True is about 1 in 10^8.
    """
    hashes = array("q")
    # Search the list of hashes for repetitions only when it has 64, 128, 256, ... members. The total time is
    # then almost linear in the number of keys.
    limit = 64
    for key, _ in groupby(keys):
        hashes.append(hash(key))
        if len(hashes) >= limit:
            if _has_equal(hashes):
                return True
            limit *= 2
    return _has_equal(hashes)


def _has_equal(hashes: array[int]) -> bool:
    import numpy as np

    return len(np.unique(np.frombuffer(hashes, dtype=np.int64))) < len(hashes) if hashes else False


def _database() -> sqlite3.Connection:
    # Python's sqlite3 begins a transaction with the first change to the database. Never commit this
    # transaction, because a commit for each row would take 50 times as long.
    connection = sqlite3.connect("", check_same_thread=False)
    connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA cache_size = {-_CACHE // 1024};")
    return connection


def _key(name: str) -> str | bytes:
    """Return a name in a form that SQLite can store. Strings with lone surrogates are stored as bytes."""
    return name if name.isascii() else name.encode("utf-8", "surrogatepass")


@contextmanager
def _enough_room(what: str) -> Generator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise InputError(
            f"{what} can't be stored temporarily ({first_line(error)}): free some space in the folder for "
            "temporary files, or set TMPDIR to another folder"
        ) from error
