"""Cache the answers of model servers on disk, so that no answer is paid for twice.

`AnswerCache` maps a key to an `Answer`. The key is a digest of everything that the answer depends on: server,
model, prompt, parameters and seed. When `AnswerCache.put` returns, the answer has been written to the file,
so it is not lost if the process is killed. Several processes may share the file.

Some answers are unusable, for example because they were cut off at the token limit. Unusable answers are kept
only until the file is closed, so that the next run requests them again. If the server rejected the prompt,
however, the rejection is stored permanently, because the server would reject the prompt again.

Example:
    Look up an answer, and send a request only if it is missing::

        answers = AnswerCache(Path("answers.sqlite"))
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
"""The problems that make an answer unusable: the name of each problem, as shown in reports, with an
explanation."""

FORMAT = 2
"""Version of the file format. Answers in format 1 are ignored, because their keys do not include the
server."""
_MAX_KEYS = 500
"""Maximum number of keys in one SQL query, because SQLite limits the number of placeholders."""
_WAIT_SECONDS = 60
"""Maximum number of seconds to wait while another process has locked the file."""
_PAUSE_SECONDS = 0.02
"""Seconds between two attempts to switch the file to WAL mode."""
_log = logging.getLogger(__name__)


class Answer(NamedTuple):
    """The answer of a server to one request.

    Attributes:
        text: The generated text.
        finished: Whether the model ended the text before the token limit.
        logprobs: The log-probability of each token of the text in nats; None if the server does not report
            log-probabilities.
        tokens_in: Number of prompt tokens.
        tokens_out: Number of generated tokens.
        problem: Why the answer is unusable (a key of `PROBLEMS`); empty if the answer is usable.
    """

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    problem: Problem = ""


class AnswerCache:
    """A cache of answers in an SQLite file. Several threads may share one instance.

    Args:
        path: The SQLite file, which is created if it is missing.

    Raises:
        InputError: The file cannot be created, is not a cache of answers, or was written by a newer version
            of graphneg.
    """

    def __init__(self, path: Path) -> None:
        """Open the file of cached answers."""
        self.path = path
        self._lock = Lock()
        self._reads = msgspec.json.Decoder(Answer)
        with self._raising_input_errors():
            create_folder(path.parent)
            create_private(path)
            # All threads share one connection, which Python's sqlite3 refuses by default. Sharing is safe
            # here, because a lock ensures that only one thread uses the connection at a time.
            self._connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._enable_wal()
            # In WAL mode, NORMAL is faster than FULL and safe enough: a power failure can lose the most
            # recent answers, but a killed process cannot.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            version = self._checked_format()
            with self._connection:
                # Store unusable answers in a TEMP table, which SQLite deletes when the connection is closed.
                for table in ("TABLE IF NOT EXISTS final_answers", "TEMP TABLE problem_answers"):
                    self._connection.execute(
                        f"CREATE {table} (key BLOB PRIMARY KEY, answer BLOB) WITHOUT ROWID"
                    )
                if version < FORMAT:
                    self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _enable_wal(self) -> None:
        """Switch the file to WAL mode, in which other processes can read while one process writes."""
        # SQLite does not retry this statement: if several processes switch the mode at the same time, some of
        # them get SQLITE_BUSY at once, whatever the connection's timeout is. Therefore retry the statement
        # here.
        until = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def _checked_format(self) -> int:
        """Return the format version of the file. Warn if the file contains answers in an older format.

        Raises:
            InputError: A newer version of graphneg has written the file.
        """
        [version] = self._connection.execute("PRAGMA user_version").fetchone()
        # Files in format 1 have their answers in the table "answers". Such a file can be used, but its old
        # answers are ignored, because new answers are read from and written to other tables.
        if version > FORMAT:
            raise InputError(
                f"{self.path}: a newer version of graphneg wrote these answers; choose another cache"
            )
        old = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'answers'"
        if version < FORMAT and self._connection.execute(old).fetchone() != (0,):
            [amount] = self._connection.execute("SELECT count(*) FROM answers").fetchone()
            _log.warning(
                "%s: %d answers of an older version do not record their server, so they are not used",
                self.path,
                amount,
            )
        return version

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        """Look up answers in the cache.

        Most unusable answers, such as an empty text, are found only if this object has stored them. If the
        server rejected the prompt (``not-accepted``), this answer is always found, like a usable answer.

        Args:
            keys: The keys of the answers to look up.

        Returns:
            The answers that were found, keyed by their keys.
        """
        found: dict[bytes, Answer] = {}
        for start in range(0, len(keys), _MAX_KEYS):
            some = keys[start : start + _MAX_KEYS]
            holes = ", ".join("?" * len(some))
            with self._raising_input_errors(), self._lock:
                for table in ("problem_answers", "final_answers"):
                    rows = self._connection.execute(
                        f"SELECT key, answer FROM {table} WHERE key IN ({holes})", some
                    )
                    found.update((key, self._reads.decode(answer)) for key, answer in rows)
        return found

    def put(self, key: bytes, answer: Answer) -> None:
        """Store an answer, unless the key already has one.

        Existing answers are not replaced, so that all processes that share the file see the same answer.

        Args:
            key: The key of the answer.
            answer: The answer to store.
        """
        # The server would reject a rejected prompt again, so store the rejection permanently, like a usable
        # answer.
        is_final = answer.problem in ("", "not-accepted")
        table = "final_answers" if is_final else "problem_answers"
        with self._raising_input_errors(), self._lock, self._connection:
            self._connection.execute(
                f"INSERT OR IGNORE INTO {table} VALUES (?, ?)", (key, msgspec.json.encode(answer))
            )

    def close(self) -> None:
        """Close the SQLite file. This deletes the unusable answers."""
        self._connection.close()

    @contextmanager
    def _raising_input_errors(self) -> Generator[None]:
        """Convert errors while reading or writing the cache file into `InputError`."""
        try:
            yield
        except (OSError, sqlite3.Error, msgspec.MsgspecError) as error:
            raise InputError(
                f"{self.path}: can't be used for answers ({first_line(error)}); choose another cache"
            ) from error
