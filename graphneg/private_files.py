"""Files that only their owner may read, and files in folders that somebody else may have filled.

A cache, an index or a file of judgements holds what people wrote: `private` creates it with mode 0600, and
`create_folder` creates its folder with mode 0700, whatever the umask says:

>>> import tempfile
>>> folder = create_folder(Path(tempfile.mkdtemp()) / "notes")
>>> with open(folder / "note", "w", opener=private) as file:
...     oct(os.fstat(file.fileno()).st_mode & 0o777)
'0o600'

A store or a folder that somebody sent may hold a link to a file of the user's, or a FIFO on which an open
waits for ever. `found` opens a name in such a folder only if it is a plain file of the user's:

>>> (folder / "link").symlink_to("note")
>>> open(folder / "link", opener=found)
Traceback (most recent call last):
    ...
graphneg.private_files.UnsafeFileError: [Errno 1] is a symbolic link: ...

This module uses the standard library alone: the supervisor of an embedded store imports it, too.
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

# Windows has none of these flags, and neither FIFOs nor owners as POSIX knows them.
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
    """A file is not a plain file of the user's. ``strerror`` says what it is instead."""

    def __init__(self, path: str | Path, problem: str) -> None:
        super().__init__(errno.EPERM, problem, os.fspath(path))


def private(path: str, flags: int) -> int:
    """Open a file as `open` would, for its owner alone where it is created: an ``opener``.

    Args:
        path: The file. The folder is one that the user chose: links are followed.
        flags: Flags of `os.open`.

    Returns:
        A file descriptor.
    """
    return os.open(path, flags, PRIVATE_FILE)


def found(path: str, flags: int) -> int:
    """Open a file in a folder that somebody else may have filled: an ``opener`` that never waits.

    Args:
        path: The file. It is created with mode 0600 where ``flags`` say so.
        flags: Flags of `os.open`.

    Returns:
        A file descriptor.

    Raises:
        UnsafeFileError: The name is a link, a directory, a FIFO, a socket or a device; the file has a second
            name (a hard link) or belongs to another user.
    """
    # Look before opening: to open a device can change it (a tape is rewound).
    with contextlib.suppress(FileNotFoundError):
        _check(path, os.lstat(path))
    try:
        file = os.open(path, flags | _NO_FOLLOW | _NO_WAIT, PRIVATE_FILE)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link since the check
            raise UnsafeFileError(path, "is a symbolic link") from error
        raise
    try:
        _check(path, os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file


def _check(path: str, status: os.stat_result) -> None:
    if problem := problem_of(status):
        raise UnsafeFileError(path, problem)


def problem_of(status: os.stat_result) -> str:
    """Say why a file must not be opened, by its status; an empty text if it may be.

    Args:
        status: Its status, of the name itself (`os.lstat`) or of the opened file.

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
    """Say that a file or a folder belongs to somebody else; an empty text if it does not.

    Root is no exception: the owner could put a link in place of a file at any time, and could no longer use
    what root creates.

    Args:
        status: The status of the file or folder.

    Returns:
        A predicate for a message, such as ``belongs to user 1001``.
    """
    user = _user()
    if user is None or status.st_uid == user:
        return ""
    return f"belongs to user {status.st_uid}, not to user {user}"


def _user() -> int | None:
    """Return the id of the user whose rights this process has; None on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def create_private(path: str | Path) -> None:
    """Create an empty file with mode 0600, for a library that opens files itself (SQLite).

    A file that exists keeps its content and mode: somebody may have shared it on purpose. The journals that
    SQLite writes beside a database get the mode of the database.

    Args:
        path: The file.
    """
    if not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_FILE))


def create_folder(path: Path) -> Path:
    """Create a folder and those above it with mode 0700; folders that exist stay as they are.

    Args:
        path: The folder.

    Returns:
        The same path.
    """
    for folder in reversed([*_missing(path)]):
        folder.mkdir(PRIVATE_FOLDER, exist_ok=True)
    return path


def _missing(path: Path) -> Iterator[Path]:
    for folder in (path, *path.parents):
        if folder.is_dir():
            return
        yield folder


def cache_folder(*names: str) -> Path:
    """Return a folder among the user's caches, which are closed to others; it is made if missing.

    Args:
        names: Names of the folders below graphneg's own.

    Returns:
        The folder.
    """
    from platformdirs import user_cache_path

    caches = user_cache_path("graphneg")
    create_folder(caches)
    status = os.stat(caches)
    if _user() == status.st_uid and stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER:
        os.chmod(caches, PRIVATE_FOLDER)  # made by an earlier version, as open as the umask let it
    return create_folder(caches.joinpath(*names))


def own_folder(path: Path) -> Path:
    """Create a folder of the user's alone, or check that it is one; others lose access to it.

    Args:
        path: The folder.

    Returns:
        The same path.

    Raises:
        UnsafeFileError: The name is a link or no folder, or the folder belongs to another user. Root is
            refused a new folder in another user's (``sudo`` may leave HOME as it was).
    """
    user = _user()
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
