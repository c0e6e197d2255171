"""Lock output files and create temporary files beside them, without touching files of other programs.

The output folder may contain anything, such as a link to another file of the user, or a file that happens to
have the name of a temporary file. Temporary files therefore get random names, and creating a temporary file
fails if its name exists already. A lock file has a fixed name. It is used only if it is a regular file that
starts with graphneg's mark, ``graphneg lock``:

>>> with locked(Path("negatives.jsonl")) as held:                     # doctest: +SKIP
...     with scratch_file(Path("negatives.jsonl"), held.token) as unfinished:
...         unfinished.name
'.negatives.jsonl.5f0c1d9a7e3b2486.tmp'

The lock file contains the token of the run, which is the random part of the names of its temporary files. If
a run is killed, its lock file is not removed. The next run reads the token from the lock file, and removes
the temporary files with this token and no others.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graphneg.errors import InputError
from graphneg.file_locks import lock_exclusively

_MARK = b"graphneg lock\n"
"""The first bytes of a lock file."""
_ATTEMPTS = 100
"""Maximum number of attempts to lock a file. An attempt fails if another run removes or creates the file at
the same time."""
_TOKEN = re.compile(rb"[0-9a-f]{16}")
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags for `os.open`: do not follow links, and do not wait until the other end of a pipe is opened. Windows
has neither flag."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that this run holds.

    Attributes:
        token: The random part of the names of this run's temporary files.
        stale: The token of the previous run if that run was killed; otherwise empty.
    """

    token: str
    stale: str = ""


def create_exclusively(path: Path) -> BinaryIO:
    """Create a file, and open it for reading and writing.

    Raises `FileExistsError` if the name exists, even if it is a dangling link.

    Args:
        path: The file to create.

    Returns:
        The open file.
    """
    # With O_EXCL, the call fails if the name exists, even if it is a dangling link.
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _FLAGS, 0o666), "r+b")


def open_regular(path: Path, *, writable: bool = False) -> BinaryIO:
    """Open a regular file in binary mode, without following links.

    Args:
        path: The file to open.
        writable: Whether to open the file for reading and writing; False to open it for reading only.

    Returns:
        The open file.

    Raises:
        InputError: The path does not refer to a regular file, but, for example, to a link, a pipe or a
            folder.
        OSError: The file does not exist or cannot be opened.
    """  # noqa: DOC501, DOC502
    try:
        opened = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | _NO_FOLLOW | _FLAGS)
    except OSError as error:
        # Refuse a path that is a link (ELOOP, EMLINK), a pipe or socket (ENXIO) or a folder (EISDIR), because
        # graphneg creates only regular files.
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EMLINK):
            raise foreign_file_error(path) from error
        raise
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise foreign_file_error(path)
    return os.fdopen(opened, "r+b" if writable else "rb")


def refuse_links(paths: Iterable[Path]) -> None:
    """Refuse symbolic links at names that graphneg is going to use inside an output folder.

    A folder that the user names may be a link, which is followed, as usual on Unix. The content of the
    folder, however, may come from somebody else: a link in it could lead to any file of the user.

    Args:
        paths: Files and folders inside the output folder, which need not exist.

    Raises:
        InputError: One of them is a symbolic link.
    """  # noqa: DOC501, DOC502
    for path in paths:
        if path.is_symlink():
            raise foreign_file_error(path)


def foreign_file_error(path: Path) -> InputError:
    """Return the error for a path that graphneg needs, but at which there is a file of another program.

    Args:
        path: The path of the other program's file.

    Returns:
        The error, with exit status 2.
    """
    error = InputError(
        f"{path}: graphneg needs this name, but did not write the file; move the file, or name another output"
    )
    error.status = 2
    return error


def output_in_use_error(path: Path) -> InputError:
    """Return the error to raise if another run is writing the same output.

    Args:
        path: The output file.

    Returns:
        The error to raise.
    """
    return InputError(
        f"{path}: another run is writing this file; wait until that run ends, or name another file"
    )


@contextmanager
def scratch_file(path: Path, token: str = "") -> Generator[Path]:
    """Create an empty temporary file in the same folder as another file, and remove it after the block.

    Args:
        path: The other file. Its name is part of the name of the temporary file.
        token: The random part of the name of the temporary file; empty to generate it.

    Yields:
        The path of the temporary file.
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
        path: The output file.
        file: The lock file; None for ``.NAME.lock`` beside the output.

    Yields:
        The lock that is held.
    """
    file = file or path.with_name(f".{path.name}.lock")
    lock = _acquired(path, file)
    with lock:
        held = Held(secrets.token_hex(8), _token_in(lock))
        # A run removes its lock file when it ends. If the lock file already existed and has a token, the
        # previous run was killed. So remove the temporary files of that run.
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
                with suppress(OSError):  # Windows cannot remove an open file, so the lock file remains.
                    file.unlink()


def remove_stale_lock(path: Path) -> None:
    """Remove the lock file and the temporary files that a killed run has left beside an output.

    A run that writes the output does this itself. Call this function if nothing will be written, for example
    because the output is complete: the run may have been killed after it had renamed the finished file, and
    before it removed its lock file. A lock that another run holds and a file of another program are kept.

    Args:
        path: The output file.
    """
    file = path.with_name(f".{path.name}.lock")
    # Look for the file first, because `locked` would create it.
    if os.path.lexists(file):
        with suppress(InputError, OSError), locked(path, file):
            pass


def _acquired(path: Path, file: Path) -> BinaryIO:
    """Open or create the lock file, and lock it. Raise `InputError` if that is not possible."""
    for _ in range(_ATTEMPTS):
        try:
            lock = open_regular(file, writable=True)
        except FileNotFoundError:
            try:
                lock = create_exclusively(file)
            except FileExistsError:
                continue
            _write_mark(lock, file)
        # A lock file begins with a mark that shows that graphneg wrote it. Accept an empty file as well,
        # because another run may have created it and not written the mark yet. Check the size before the
        # mark. If the mark were checked first, the other run could write it between the two checks. Its file
        # would then seem to be neither empty nor marked.
        if os.fstat(lock.fileno()).st_size and not _is_marked(lock):
            lock.close()
            raise foreign_file_error(file)
        # Since the file was opened, another run may have removed it, and a third run may have created a new
        # file of the same name. So accept the lock only if the path still refers to the locked file.
        taken = lock_exclusively(lock)
        if _is_at(file, os.fstat(lock.fileno())):
            if taken:
                return lock
            lock.close()
            break
        lock.close()
    raise output_in_use_error(path)


def _write_mark(lock: BinaryIO, file: Path) -> None:
    """Write the mark into a new lock file. Remove the file if that fails, for example on a full disk."""
    try:
        lock.write(_MARK)
        lock.flush()
    except OSError:
        # Remove the file. With an incomplete mark, later runs would take it for a file of another program.
        file.unlink(missing_ok=True)
        # `close` tries again to write the mark, which is still in the buffer. Ignore the second error.
        with suppress(OSError):
            lock.close()
        raise


def _is_marked(lock: BinaryIO) -> bool:
    """Return whether a lock file starts with `_MARK`, as all lock files of graphneg do."""
    lock.seek(0)
    return lock.read(len(_MARK)) == _MARK


def _token_in(lock: BinaryIO) -> str:
    """Return the token of the run that wrote a lock file; an empty string if the file has no token."""
    lock.seek(len(_MARK))
    # A lock file consists of a mark, by which graphneg recognises the file, and the token of the run. If
    # anything else follows the mark, return no token.
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
    """Return whether ``known``, an earlier result of ``stat``, belongs to the file at a path."""
    try:
        return os.path.samestat(known, os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
