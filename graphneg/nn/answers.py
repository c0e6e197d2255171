"""Keep the answers of served language models on disk, so that no answer is paid for twice.

`Answers` maps a key to an `Answer`. The key is a digest of everything that the answer depends on. An answer
is in the file as soon as `Answers.put` returns, so a process that is killed loses none, and several processes
may share the file.

An answer with a problem, for example one that was cut off, is kept only until the file is closed, and the
next run asks again. A prompt that the server did not accept is the exception: the server would not accept it
the next time either.

Example:
    Look up an answer, and ask the server only if it is missing::

        answers = Answers(Path("answers.sqlite"))
        answer = answers.get([key]).get(key) or ask_server()
        answers.put(key, answer)
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
    "refused-answer": "the model refused to answer, or a filter blocked its answer",
    "only-thinking": "the model's answer ended before its reasoning was complete",
    "not-accepted": "the server rejected the prompt",
}
"""Problems that make an answer unusable, by the names under which they are counted."""

FORMAT = 2
"""Version of the file format. The keys of format 1 did not distinguish servers."""
_AT_ONCE = 500
"""Number of keys in one SQL query. SQLite limits the number of placeholders."""
_WAIT_SECONDS = 60
"""Seconds for which SQLite waits for another process."""
_PAUSE_SECONDS = 0.02
"""Seconds between two attempts to open the file for sharing."""
_log = logging.getLogger(__name__)


class Answer(NamedTuple):
    """An answer of a server.

    Attributes:
        text: The text.
        finished: Whether the text ended before the token limit.
        logprobs: The log-probabilities of its tokens; None if the server does not report them.
        tokens_in: Number of tokens that the server read.
        tokens_out: Number of tokens that the server wrote.
        problem: Why the answer is unusable (see `PROBLEMS`); empty if it is usable.
    """

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    problem: Problem = ""


class Answers:
    """A file of answers. Several threads may share it.

    Args:
        path: The file, which is created if it is missing.

    Raises:
        InputError: The file cannot be created, holds something else, or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        """Initialize by opening the file."""
        self.path = path
        self._lock = Lock()
        self._reads = msgspec.json.Decoder(Answer)
        with self._using():
            create_folder(path.parent)
            create_private(path)
            # Threads share the connection. The lock lets one of them use it at a time.
            self._file = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._share()
            # In WAL mode, NORMAL loses nothing if a process is killed. Only a power failure can lose the last
            # answers.
            self._file.execute("PRAGMA synchronous = NORMAL")
            version = self._checked_format()
            with self._file:
                # A TEMP table exists for this connection only, so answers with a problem disappear when the
                # file is closed.
                for table in ("TABLE IF NOT EXISTS final_answers", "TEMP TABLE problem_answers"):
                    self._file.execute(f"CREATE {table} (key BLOB PRIMARY KEY, answer BLOB) WITHOUT ROWID")
                if version < FORMAT:
                    self._file.execute(f"PRAGMA user_version = {FORMAT}")

    def _share(self) -> None:
        """Switch the file to a mode in which others can read while one process writes."""
        # If several processes switch the mode at once, SQLite refuses some of them immediately, without its
        # usual waiting.
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
        """Return the format of the file, and warn once about unused answers of an older format."""
        [version] = self._file.execute("PRAGMA user_version").fetchone()
        # A file of format 1 keeps its answers in a table of another name, so they are never read as current
        # ones.
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
        """Return the known answers.

        Answers with a problem are known only if this run has received them.

        Args:
            keys: Keys of answers.

        Returns:
            The known answers, by key.
        """
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
        """Keep an answer. An existing answer is not replaced, so that all users of the file see the same one.

        Args:
            key: The key of the answer.
            answer: The answer.
        """
        # A prompt that was refused would be refused again, so this answer is final, too.
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
        """Turn errors of the file and of its content into an `InputError`."""
        try:
            yield
        except (OSError, sqlite3.Error, msgspec.MsgspecError) as error:
            raise InputError(
                f"{self.path}: can't be used for answers ({first_line(error)}); choose another cache"
            ) from error
