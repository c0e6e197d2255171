"""Lock output files and create temporary files beside them, without touching files of other programs.

The output folder may contain anything: a link to another file of the user, or a file that happens to have the
name of a temporary file. Temporary files therefore get random names, and creating them fails if the name
exists. A lock file has a fixed name. It is used only if it is a regular file that starts with a mark of
graphneg:

>>> with locked(Path("negatives.jsonl")) as held:                     # doctest: +SKIP
...     with scratch_file(Path("negatives.jsonl"), held.token) as unfinished:
...         unfinished.name
'.negatives.jsonl.5f0c1d9a7e3b2486.tmp'

The lock file contains the token of the run, which is the random part of its temporary names. If a run is
killed, its lock file stays. The next run reads the token from it, and removes the temporary files with this
token and no others.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graphneg.errors import InputError
from graphneg.file_locks import lock_exclusively

_MARK = b"graphneg lock\n"
"""The first bytes of a lock file."""
_ATTEMPTS = 100
"""Maximum number of attempts to lock a file that other runs keep removing and creating."""
_TOKEN = re.compile(rb"[0-9a-f]{16}")
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOT_THROUGH = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags of `os.open`: do not follow links, and do not wait for the other end of a pipe. Windows has
neither."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that this run holds.

    Attributes:
        token: The random part of the names of this run's temporary files.
        stale: The token of the previous run if it was killed; else empty.
    """

    token: str
    stale: str = ""


def create_exclusively(path: Path) -> BinaryIO:
    """Create a file, and open it for reading and writing.

    Raises `FileExistsError` if the name exists, even if it is a dangling link.

    Args:
        path: The file.

    Returns:
        The open file.
    """
    # O_EXCL makes the call fail for any existing name, including that of a link.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOT_THROUGH | _FLAGS, 0o666), "r+b")


def open_regular(path: Path, *, writable: bool = False) -> BinaryIO:
    """Open a file without following links or waiting for pipes; raise `InputError` if it is not regular."""
    try:
        opened = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | _NOT_THROUGH | _FLAGS)
    except OSError as error:
        # ELOOP and EMLINK mean a link, ENXIO a pipe or a socket, and EISDIR a folder.
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EMLINK):
            raise foreign_file_error(path) from error
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise foreign_file_error(path)
    return os.fdopen(opened, "r+b" if writable else "rb")


def foreign_file_error(path: Path) -> InputError:
    """Return the error for a name that graphneg needs and that another program's file has.

    Args:
        path: The file.

    Returns:
        The error, with exit status 2.
    """
    error = InputError(
        f"{path}: graphneg needs this name and did not write what is there; move it away, or name another "
        "output"
    )
    error.status = 2
    return error


def output_in_use_error(path: Path) -> InputError:
    """Return the error for an output that another run is writing.

    Args:
        path: The output.

    Returns:
        The error.
    """
    return InputError(f"{path}: another run is writing it; wait for its end or name another file")


@contextmanager
def scratch_file(path: Path, token: str = "") -> Generator[Path]:
    """Create an empty file beside another one, under a random name, and remove it after the block.

    Args:
        path: The file beside which it is created.
        token: The random part of the name; empty for a new one.

    Yields:
        The path of the new file.
    """
    scratch = path.with_name(f".{path.name}.{token or secrets.token_hex(8)}.tmp")
    # Create the file only to reserve its name. The caller opens it again.
    create_exclusively(scratch).close()
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, file: Path | None = None) -> Generator[Held]:
    """Hold the lock of an output while the block runs.

    Raises `InputError` at once, without waiting, if another run holds the lock, or if another program's file
    has the name of the lock file.

    Args:
        path: The output.
        file: The lock file; by default ``.NAME.lock`` beside the output.

    Yields:
        The lock that is held.
    """
    file = file or path.with_name(f".{path.name}.lock")
    lock = _acquired(path, file)
    with lock:
        held = Held(secrets.token_hex(8), _noted_token(lock))
        # A run removes its lock file at the end. The file still has a token, so its run was killed.
        if held.stale:
            _remove_scratch(path.parent, held.stale)
        if _is_marked(lock):
            lock.seek(len(_MARK))
            lock.write(held.token.encode())
            lock.flush()
        try:
            yield held
        finally:
            if _is_marked(lock):
                with suppress(OSError):  # Windows cannot remove a file that is open.
                    file.unlink()


def _acquired(path: Path, file: Path) -> BinaryIO:
    """Open or create the lock file, and lock it. Raise `output_in_use_error` or `foreign_file_error`."""
    for _ in range(_ATTEMPTS):
        try:
            lock = open_regular(file, writable=True)
        except FileNotFoundError:
            try:
                lock = create_exclusively(file)
                lock.write(_MARK)
                lock.flush()
            except FileExistsError:
                continue
        # An empty file may be the lock file of a run that has not written its mark yet, so it is accepted.
        # Read the size first, because that run may write its mark between the two checks.
        if os.fstat(lock.fileno()).st_size and not _is_marked(lock):
            lock.close()
            raise foreign_file_error(file)
        # Meanwhile, another run may remove the file, and a third run may create a new file of this name.
        # The lock counts only if the locked file still has its name.
        taken = lock_exclusively(lock)
        if _is_at(file, os.fstat(lock.fileno())):
            if taken:
                return lock
            lock.close()
            break
        lock.close()
    raise output_in_use_error(path)


def _is_marked(lock: BinaryIO) -> bool:
    """Return whether a lock file starts with the mark of graphneg."""
    lock.seek(0)
    return lock.read(len(_MARK)) == _MARK


def _noted_token(lock: BinaryIO) -> str:
    """Return the token from a lock file; an empty string if it has none."""
    lock.seek(len(_MARK))
    # Accept the token only if nothing else follows the mark.
    found = _TOKEN.fullmatch(lock.read(100))
    return found[0].decode() if found else ""


def _remove_scratch(folder: Path, token: str) -> None:
    """Remove the temporary files of a killed run, which have its token in their names."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(f".{token}.tmp") and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_at(path: Path, known: os.stat_result) -> bool:
    """Return whether a path still leads to a known file."""
    try:
        return os.path.samestat(known, os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
