"""Answers of language models that others serve, kept on disk: what was paid for once is not asked again.

A key (a digest of all that an answer depends on) and an answer go in; the answer comes out, in this run or a
later one. An answer is in the file as soon as `Answers.put` returns: a process that is killed loses none of
them, and several processes may share the file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import msgspec

from graphneg.errors import InputError, first_line

_AT_ONCE = 500
_WAIT_SECONDS = 60
_PAUSE_SECONDS = 0.02


class Answer(NamedTuple):
    """A text as a server gave it; ``finished`` if it came to an end before the limit.

    ``logprobs`` are its tokens' log-probabilities, if the server tells them; ``tokens_in`` and ``tokens_out``
    what was read and written, as the server counts."""

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    tokens_in: int = 0
    tokens_out: int = 0


class Answers:
    """The answers in a file, which is made where it is not there. Threads may share it.

    Raises:
        InputError: the file can't be made, or is no file of answers.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._reads = msgspec.json.Decoder(Answer)
        with self._using():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._share()
            self._file.execute("PRAGMA synchronous = NORMAL")
            with self._file:
                self._file.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer BLOB) WITHOUT ROWID"
                )

    def _share(self) -> None:
        """Let others read while one writes. Of several that ask for this at once SQLite refuses some, and
        lets none of them wait."""
        until = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._file.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        """The answers that are here, by their keys."""
        found: dict[bytes, Answer] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            holes = ", ".join("?" * len(some))
            with self._using(), self._lock:
                rows = self._file.execute(f"SELECT key, answer FROM answers WHERE key IN ({holes})", some)
                found.update((key, self._reads.decode(answer)) for key, answer in rows)
        return found

    def put(self, key: bytes, answer: Answer) -> None:
        """Keep an answer; one that is here stays, so that all that use the file have the same."""
        with self._using(), self._lock, self._file:
            self._file.execute(
                "INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, msgspec.json.encode(answer))
            )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def _using(self) -> Generator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, msgspec.MsgspecError) as error:
            raise InputError(
                f"{self.path}: can't be used for answers ({first_line(error)}); choose another cache"
            ) from error
