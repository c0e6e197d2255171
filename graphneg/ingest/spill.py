"""Keep what one load must remember on disk, so that memory does not grow with the files.

`KnownIds` is a set of names. SQLite keeps it in a temporary file that has no name and goes with the object.
"""

from __future__ import annotations

import sqlite3

from graphneg.errors import InputError, first_line


class KnownIds:
    """A set of names that may be larger than memory.

    >>> known = KnownIds()
    >>> known.add("chats/all/1"), known.add("chats/all/1")
    (True, False)
    """

    def __init__(self) -> None:
        self._rows = sqlite3.connect("", check_same_thread=False)
        self._rows.executescript(
            "PRAGMA journal_mode = OFF; CREATE TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID;"
        )

    def add(self, id: str) -> bool:
        """Add a name.

        Args:
            id: The name. Halves of surrogate pairs, which SQLite does not store, count as written.

        Returns:
            Whether the name was not in the set before.

        Raises:
            InputError: The disk is full.
        """
        stored = id if id.isascii() else id.encode("utf-8", "surrogatepass")
        try:
            return self._rows.execute("INSERT OR IGNORE INTO ids VALUES (?)", (stored,)).rowcount > 0
        except sqlite3.OperationalError as error:
            raise InputError(
                f"the ids of this load can't be kept ({first_line(error)}): make room in the folder for "
                "temporary files, or name another one in TMPDIR"
            ) from error
