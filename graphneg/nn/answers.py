"""Answers of served language models, kept on disk, so that what was paid for once is not asked again.

A key (a digest of all that an answer depends on) and an `Answer` go in; the answer comes out, in this run or
a later one. An answer is in the file as soon as `Answers.put` returns: a process that is killed loses none of
them, and several processes may share the file. An answer with a problem, such as one that was cut off, is
kept until the file is closed and no longer, and the next run asks again. The exception is a prompt that the
server did not accept: it would not accept it the next time either.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple

import msgspec

from graphneg.errors import InputError, first_line
from graphneg.private_files import create_folder, create_private

Problem = Literal["", "truncated", "empty-answer", "refused-answer", "only-thinking", "not-accepted"]
PROBLEMS: dict[Problem, str] = {
    "truncated": "the model's answer was cut off at its limit of tokens",
    "empty-answer": "the model's answer was empty",
    "refused-answer": "the model refused to answer, or a filter held its answer back",
    "only-thinking": "the model's answer ended while it was still thinking",
    "not-accepted": "the server did not accept the prompt",
}
"""Why an answer cannot be used as it is, by the names under which they are counted."""

FORMAT = 2
"""The number of the file's format. Keys of format 1 did not tell one server from another."""
_AT_ONCE = 500
_WAIT_SECONDS = 60
_PAUSE_SECONDS = 0.02
_log = logging.getLogger(__name__)


class Answer(NamedTuple):
    """A text that a server gave.

    ``finished`` says that it came to an end before the limit of tokens. ``logprobs`` are the
    log-probabilities of its tokens, if the server tells them; ``tokens_in`` and ``tokens_out`` what was read
    and written, as the server counts. ``problem`` names what is wrong with it (see `PROBLEMS`), if anything
    is.
    """

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    problem: Problem = ""


class Answers:
    """The answers in a file, which is created if it is missing. Threads may share it.

    Raises:
        InputError: the file cannot be created, is no file of answers, or a newer version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._reads = msgspec.json.Decoder(Answer)
        with self._using():
            create_folder(path.parent)
            create_private(path)
            self._file = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._share()
            self._file.execute("PRAGMA synchronous = NORMAL")
            version = self._checked_format()
            with self._file:
                for table in ("TABLE IF NOT EXISTS final_answers", "TEMP TABLE problem_answers"):
                    self._file.execute(f"CREATE {table} (key BLOB PRIMARY KEY, answer BLOB) WITHOUT ROWID")
                if version < FORMAT:
                    self._file.execute(f"PRAGMA user_version = {FORMAT}")

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

    def _checked_format(self) -> int:
        """Return the format; refuse a newer one, and say once that answers of an older are not used.

        An older file keeps them in a table of another name, so that they are never read as answers of today.
        """
        [version] = self._file.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise InputError(
                f"{self.path}: a newer version of graphneg wrote these answers; choose another cache"
            )
        old = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'answers'"
        if version < FORMAT and self._file.execute(old).fetchone() != (0,):
            [amount] = self._file.execute("SELECT count(*) FROM answers").fetchone()
            _log.warning(
                "%s: %d answers of an older version do not say which server gave them, and are not used",
                self.path,
                amount,
            )
        return version

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        """Return the answers that are here, by their keys; those with a problem only of this run."""
        found: dict[bytes, Answer] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            holes = ", ".join("?" * len(some))
            with self._using(), self._lock:
                for table in ("problem_answers", "final_answers"):
                    rows = self._file.execute(f"SELECT key, answer FROM {table} WHERE key IN ({holes})", some)
                    found.update((key, self._reads.decode(answer)) for key, answer in rows)
        return found

    def put(self, key: bytes, answer: Answer) -> None:
        """Keep an answer; one that is here stays, so that all that use the file have the same."""
        is_final = answer.problem in ("", "not-accepted")
        table = "final_answers" if is_final else "problem_answers"
        with self._using(), self._lock, self._file:
            self._file.execute(
                f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", (key, msgspec.json.encode(answer))
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
