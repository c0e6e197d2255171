"""Create files that only their owner may read, and open files in folders that others may have filled.

A cache, an index or a file of judgements contains what people wrote. `private` creates a file with mode 0600,
and `create_folder` a folder with mode 0700, whatever the umask is:

>>> import tempfile
>>> folder = create_folder(Path(tempfile.mkdtemp()) / "notes")
>>> with open(folder / "note", "w", opener=private) as file:
...     oct(os.fstat(file.fileno()).st_mode & 0o777)
'0o600'

A store or a folder from a stranger may contain a link to a file of the user's, or a FIFO that blocks `open`
for ever. `found` opens a name in such a folder only if it is a plain file of the user's:

>>> (folder / "link").symlink_to("note")
>>> open(folder / "link", opener=found)
Traceback (most recent call last):
    ...
graphneg.private_files.UnsafeFileError: [Errno 1] is a symbolic link: ...

This module uses only the standard library, because the supervisor of an embedded store imports it, too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

# Windows has none of these flags, and no FIFOs and owners in the sense of POSIX.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class UnsafeFileError(OSError):
    """A file is not a plain file of the user's. ``strerror`` describes what it is instead."""

    def __init__(self, path: str | Path, problem: str) -> None:
        """Initialize the error.

        Args:
            path: The file.
            problem: A predicate, such as ``is a FIFO``.
        """
        super().__init__(errno.EPERM, problem, os.fspath(path))


def private(path: str, flags: int) -> int:
    """Open a file as `open` does, and create it for its owner alone. Use it as an ``opener``.

    Args:
        path: The file. The user chose the folder, so that links are followed.
        flags: Flags of `os.open`.

    Returns:
        A file descriptor.
    """
    return os.open(path, flags, PRIVATE_FILE)


def found(path: str, flags: int) -> int:
    """Open a file in a folder that others may have filled, without blocking. Use it as an ``opener``.

    Args:
        path: The file. It is created with mode 0600 if ``flags`` say so.
        flags: Flags of `os.open`.

    Returns:
        A file descriptor.

    Raises:
        UnsafeFileError: The name is a link, a directory, a FIFO, a socket or a device; or the file has a
            second name (a hard link) or belongs to another user.
        OSError: The file cannot be opened.
    """
    # Check before opening, because opening a device can change it (it rewinds a tape).
    with contextlib.suppress(FileNotFoundError):
        _check(path, os.lstat(path))
    try:
        file = os.open(path, flags | _NO_FOLLOW | _NO_WAIT, PRIVATE_FILE)
    except OSError as error:
        if error.errno == errno.ELOOP:  # The file became a link after the check.
            raise UnsafeFileError(path, "is a symbolic link") from error
        raise
    try:
        _check(path, os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file


def _check(path: str, status: os.stat_result) -> None:
    """Raise an error unless the file is a plain file of the user's."""
    if problem := problem_of(status):
        raise UnsafeFileError(path, problem)


def problem_of(status: os.stat_result) -> str:
    """Return why a file must not be opened, or an empty string if it may be.

    Args:
        status: Status of the name itself (`os.lstat`) or of the open file.

    Returns:
        A predicate for a message, such as ``is a FIFO``.
    """
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            return f"is {name}"
    if not stat.S_ISREG(status.st_mode):
        return "is not a plain file"
    if status.st_nlink > 1:
        return "has a second name elsewhere (a hard link)"
    return owner_problem(status)


def owner_problem(status: os.stat_result) -> str:
    """Return a message if a file or folder belongs to another user, or an empty string if it does not.

    Root is no exception. The owner could replace a file by a link at any time, and could no longer use what
    root creates.

    Args:
        status: Status of the file or folder.

    Returns:
        A predicate for a message, such as ``belongs to user 1001``.
    """
    user = _user()
    if user is None or status.st_uid == user:
        return ""
    return f"belongs to user {status.st_uid}, not to user {user}"


def _user() -> int | None:
    """Return the id of the user whose rights this process has, or None on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def create_private(path: str | Path) -> None:
    """Create an empty file with mode 0600, for a library that opens files itself (SQLite).

    An existing file keeps its content and its mode, because somebody may share it on purpose. The journals
    that SQLite writes beside a database get the mode of the database.

    Args:
        path: The file.
    """
    # SQLite opens the database with the mode of the umask.
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_FILE))


def create_folder(path: Path) -> Path:
    """Create a folder and its parents with mode 0700. Existing folders are not changed.

    Args:
        path: The folder.

    Returns:
        The same path.
    """
    for folder in reversed([*_missing(path)]):
        folder.mkdir(PRIVATE_FOLDER, exist_ok=True)
    return path


def _missing(path: Path) -> Iterator[Path]:
    """Yield the folders of a path that do not exist, innermost first."""
    for folder in (path, *path.parents):
        if folder.is_dir():
            return
        yield folder


def cache_folder(*names: str) -> Path:
    """Return a folder among the user's caches, closed to others. It is created if missing.

    Args:
        *names: Names of the folders below graphneg's own.

    Returns:
        The folder.
    """
    from platformdirs import user_cache_path

    caches = user_cache_path("graphneg")
    create_folder(caches)
    status = os.stat(caches)
    if _user() == status.st_uid and stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER:
        os.chmod(caches, PRIVATE_FOLDER)  # An earlier version created it with the mode of the umask.
    return create_folder(caches.joinpath(*names))


def own_folder(path: Path) -> Path:
    """Create a folder for the user alone, or check that it is one. Others lose access to it.

    Args:
        path: The folder.

    Returns:
        The same path.

    Raises:
        UnsafeFileError: The name is a link or not a folder, or the folder belongs to another user. Root is
            refused a new folder inside another user's, because ``sudo`` may keep the HOME of the user.
    """
    user = _user()
    # Root could create the folder, but the owner of the folder above could replace it.
    if user == 0:
        above = next(folder for folder in (path, *path.parents) if folder.exists())
        if problem := owner_problem(os.stat(above)):
            raise UnsafeFileError(above, problem)
    create_folder(path)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeFileError(path, "is not a directory")
    if problem := owner_problem(status):
        raise UnsafeFileError(path, problem)
    if user is not None and stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER:
        os.chmod(path, PRIVATE_FOLDER)
    return path
