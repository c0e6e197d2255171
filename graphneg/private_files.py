"""Create files that only their owner may read, and open files in folders that others may have written to.

Caches, indexes and files of judgements contain private texts. `private_opener` creates a file with mode 0600
and `create_folder` creates a folder with mode 0700, regardless of the umask:

>>> import tempfile
>>> folder = create_folder(Path(tempfile.mkdtemp()) / "notes")
>>> with open(folder / "note", "w", opener=private_opener) as file:
...     oct(os.fstat(file.fileno()).st_mode & 0o777)
'0o600'

A store or another folder that somebody else has prepared may contain a symbolic link to one of the user's
files, or a named pipe (FIFO), for which `open` would wait without end. `untrusted_opener` opens a file in
such a folder only if it is a plain file that belongs to the user:

>>> (folder / "link").symlink_to("note")
>>> open(folder / "link", opener=untrusted_opener)
Traceback (most recent call last):
    ...
graphneg.private_files.UnsafeFileError: [Errno 1] is a symbolic link: ...

This module uses only the standard library, because the supervisor process of an embedded store imports it.
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

# O_NOFOLLOW, O_NONBLOCK and O_NOCTTY do not exist on Windows. They are not needed there, because Windows has
# no POSIX file owners and no FIFOs.
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
    """A file or folder is not safe to use. The attribute ``strerror`` says why, such as ``is a FIFO``."""

    def __init__(self, path: str | Path, problem: str) -> None:
        """Initialize the error.

        Args:
            path: The unsafe file.
            problem: Predicate of a sentence about the file, such as ``is a FIFO``.
        """
        super().__init__(errno.EPERM, problem, os.fspath(path))


def private_opener(path: str, flags: int) -> int:
    """Open a file as `open` does, but create new files with mode 0600. Pass it to `open` as ``opener``.

    Args:
        path: The file. Links are followed, because the user chose the path.
        flags: Flags of `os.open`.

    Returns:
        A file descriptor.
    """
    return os.open(path, flags, PRIVATE_FILE)


def untrusted_opener(path: str, flags: int) -> int:
    """Open a file safely in a folder that others may have written to. Pass it to `open` as ``opener``.

    The call never blocks, even if the file is a FIFO.

    Args:
        path: The file. It is created with mode 0600 if ``flags`` contains ``O_CREAT`` and it does not exist.
        flags: Flags of `os.open`.

    Returns:
        A file descriptor.

    Raises:
        UnsafeFileError: The path is a link, a directory, a FIFO, a socket or a device; or the file has
            another hard link or belongs to another user.
        OSError: The file cannot be opened.
    """
    # Check before opening, because opening a device can have side effects, such as rewinding a tape.
    with contextlib.suppress(FileNotFoundError):
        _check(path, os.lstat(path))
    try:
        file = os.open(path, flags | _NO_FOLLOW | _NO_WAIT, PRIVATE_FILE)
    except OSError as error:
        if error.errno == errno.ELOOP:  # ELOOP: the file was replaced by a link after the check.
            raise UnsafeFileError(path, "is a symbolic link") from error
        raise
    try:
        _check(path, os.fstat(file))
    except BaseException:
        os.close(file)
        raise
    return file


def _check(path: str, status: os.stat_result) -> None:
    """Raise an error unless the file is a plain file that belongs to the user."""
    if problem := problem_of(status):
        raise UnsafeFileError(path, problem)


def problem_of(status: os.stat_result) -> str:
    """Return why a file is not safe to open, or an empty string if it is safe.

    Args:
        status: Status of the path itself (`os.lstat`, which does not follow links) or of the open file.

    Returns:
        Predicate for an error message, such as ``is a FIFO``; empty if the file is safe.
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
    """Return an error message if a file or folder belongs to another user, or an empty string otherwise.

    The check also applies to root, although root may use the files of other users. The owner of such a file
    could replace it with a link at any time. In a folder of another user, the owner could not use the files
    that root creates.

    Args:
        status: Status of the file or folder.

    Returns:
        Predicate for an error message, such as ``belongs to user 1001, not to user 0``; empty if the user is
        the owner.
    """
    user = _effective_user_id()
    if user is None or status.st_uid == user:
        return ""
    return f"belongs to user {status.st_uid}, not to user {user}"


def _effective_user_id() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None


def create_private(path: str | Path) -> None:
    """Create an empty file with mode 0600, before a library such as SQLite opens it.

    An existing file keeps its content and its mode, because the user may share it on purpose. SQLite gives
    the journal files beside a database the same mode as the database.

    Args:
        path: The file to create.

    Raises:
        UnsafeFileError: The path is a link to a file that does not exist.
        OSError: The file cannot be created.
    """  # noqa: DOC502
    # Create the file here, with a private mode. If SQLite created it, the mode would depend on the umask, and
    # other users could usually read the file.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
    except FileExistsError as error:
        # A link without a target could make the library create a file anywhere, because libraries follow
        # links.
        if not os.path.exists(path):
            raise UnsafeFileError(path, "is a link to a file that does not exist") from error


def create_folder(path: Path) -> Path:
    """Create a folder and its missing parents with mode 0700. Existing folders are not changed.

    Args:
        path: The folder to create.

    Returns:
        The same path.
    """
    for folder in reversed([*_missing_folders(path)]):
        folder.mkdir(PRIVATE_FOLDER, exist_ok=True)
    return path


def _missing_folders(path: Path) -> Iterator[Path]:
    """Yield the folders on a path that do not exist, innermost first."""
    for folder in (path, *path.parents):
        if folder.is_dir():
            return
        yield folder


def cache_folder(*names: str) -> Path:
    """Return a folder in the user's cache that other users cannot read. It is created if it does not exist.

    Args:
        *names: Path components below graphneg's cache folder.

    Returns:
        The path of the folder.

    Raises:
        OSError: The folder cannot be created. The message says how to name another one.
    """
    from platformdirs import user_cache_path

    caches = user_cache_path("graphneg")
    try:
        create_folder(caches)
        status = os.stat(caches)
        if _effective_user_id() == status.st_uid and stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER:
            # If the folder exists already, other users may have access to it. Remove their rights.
            os.chmod(caches, PRIVATE_FOLDER)
        return create_folder(caches.joinpath(*names))
    except OSError as error:
        reason = f"{error.strerror}; set XDG_CACHE_HOME to a folder that you may write to"
        raise OSError(error.errno, reason, error.filename or str(caches)) from error


def private_folder(path: Path) -> Path:
    """Create a folder that only the user can access, or check an existing folder and make it private.

    Args:
        path: The folder to create or check.

    Returns:
        The same path.

    Raises:
        UnsafeFileError: The path is a link or not a folder, or it belongs to another user. If root runs the
            program, the error is also raised if the parent folder belongs to another user, for example
            because ``sudo`` has kept the HOME of the user who called it.
    """
    user = _effective_user_id()
    # Root could create the folder in a folder of another user. Refuse this, because that user could replace
    # the new folder later.
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
