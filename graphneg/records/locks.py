"""Locks and temporary files beside an output, which nobody else's file is mistaken for.

A folder may hold anything under any name: a link that leads to another file of the user's, or a file that
happens to be called as a temporary one. So temporary files have random names and are created exclusively, and
a file of a fixed name is used only where it is a regular one with a mark of graphneg's in it:

>>> with locked(Path("negatives.jsonl")) as held:                     # doctest: +SKIP
...     with scratch_file(Path("negatives.jsonl"), held.token) as unfinished:
...         unfinished.name
'.negatives.jsonl.5f0c1d9a7e3b2486.tmp'

A run that was killed leaves its lock file, in which its token stands. The next run removes what that token
names, and nothing else.
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
_ATTEMPTS = 100
_TOKEN = re.compile(rb"[0-9a-f]{16}")
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOT_THROUGH = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that is held.

    ``token`` is the random part of the holder's temporary names, ``stale`` that of a holder that was killed,
    or empty.
    """

    token: str
    stale: str = ""


def create_exclusively(path: Path) -> BinaryIO:
    """Create a file for reading and writing.

    Args:
        path: A name that nothing has, not even a link that leads nowhere.

    Returns:
        The open file.

    Raises:
        FileExistsError: There is something of this name.
        OSError: The file can't be created.
    """
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOT_THROUGH | _FLAGS, 0o666), "r+b")


def open_regular(path: Path, *, writable: bool = False) -> BinaryIO:
    """Open a regular file, following no link and waiting for no pipe.

    Args:
        path: The file.
        writable: Whether it is opened for writing, too.

    Returns:
        The open file.

    Raises:
        InputError: There is something else of this name.
        OSError: The file is not there or can't be opened.
    """
    try:
        opened = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | _NOT_THROUGH | _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EMLINK):
            raise foreign(path) from error
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise foreign(path)
    return os.fdopen(opened, "r+b" if writable else "rb")


def foreign(path: Path) -> InputError:
    """Return the error of something that graphneg did not write, under a name that it needs."""
    error = InputError(
        f"{path}: graphneg needs this name and did not write what is there; move it away, or name another "
        "output"
    )
    error.status = 2
    return error


def busy(path: Path) -> InputError:
    """Return the error of an output that another run is writing."""
    return InputError(f"{path}: another run is writing it; wait for its end or name another file")


@contextmanager
def scratch_file(path: Path, token: str = "") -> Generator[Path]:
    """Create an empty file beside ``path``, under a random name, and remove it when the block ends.

    Args:
        path: What the file is to become or to help with.
        token: The random part; a new one where empty.

    Yields:
        The path of the file.

    Raises:
        OSError: It can't be created.
    """
    scratch = path.with_name(f".{path.name}.{token or secrets.token_hex(8)}.tmp")
    create_exclusively(scratch).close()
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, file: Path | None = None) -> Generator[Held]:
    """Hold ``path`` by a lock file, which goes when the block ends. Nobody waits.

    Args:
        path: What the block writes.
        file: The lock file, ``.NAME.lock`` beside it by default.

    Yields:
        The random part of temporary names.

    Raises:
        InputError: Another run holds it, or the name of the lock file is taken.
        OSError: The lock file can't be made.
    """
    file = file or path.with_name(f".{path.name}.lock")
    lock = _acquired(path, file)
    with lock:
        held = Held(secrets.token_hex(8), _noted_token(lock))
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
                with suppress(OSError):  # Windows keeps a file that is open.
                    file.unlink()


def _acquired(path: Path, file: Path) -> BinaryIO:
    """Return the locked file.

    Another run may remove the lock file, and a third one make a new one, while this one locks it: only where
    it is still the file of that name does the lock keep others out.
    """
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
        # The size comes first: the run that made the file may write the mark between the two looks.
        if os.fstat(lock.fileno()).st_size and not _is_marked(lock):
            lock.close()
            raise foreign(file)
        taken = lock_exclusively(lock)
        if _is_at(file, os.fstat(lock.fileno())):
            if taken:
                return lock
            lock.close()
            break
        lock.close()
    raise busy(path)


def _is_marked(lock: BinaryIO) -> bool:
    lock.seek(0)
    return lock.read(len(_MARK)) == _MARK


def _noted_token(lock: BinaryIO) -> str:
    lock.seek(len(_MARK))
    found = _TOKEN.fullmatch(lock.read(100))
    return found[0].decode() if found else ""


def _remove_scratch(folder: Path, token: str) -> None:
    """Remove the temporary files of a holder that was killed: nobody else's name ends in its token."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(f".{token}.tmp") and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_at(path: Path, known: os.stat_result) -> bool:
    """Return whether the file of that state still has this name."""
    try:
        return os.path.samestat(known, os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
