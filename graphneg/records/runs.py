"""Write files and folders so that they are never incomplete, and record which run wrote them.

`atomic_file` and `atomic_folder` write a temporary file or folder and rename it when it is complete. A run
note (`RunNote`) is a small JSON file beside an output. It contains a fingerprint of everything that
determines the output. The next run compares this fingerprint with its own, to decide whether it may continue
the output of the earlier run:

>>> note = RunNote(folder / "run.json", fingerprint([model, seed]))      # doctest: +SKIP
>>> note.state                                                            # doctest: +SKIP
'none'
>>> note.write(); RunNote(folder / "run.json", fingerprint([model, seed + 1])).state   # doctest: +SKIP
'other'
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from graphneg.errors import FORBIDDEN, InputError, first_line
from graphneg.json_input import json_line, parse_json, read_input
from graphneg.records.locks import (
    Held,
    foreign_file_error,
    locked,
    open_regular,
    remove_stale_lock,
    scratch_file,
)

_LONGEST_NOTE = 64 * 2**20
"""Maximum size of a run note in bytes. It can be large, because it may contain the counts of a run."""
_SEAL = "seal"
"""The key under which a run note stores a digest of its own content, which reveals whether somebody edited
it."""
_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers that mean that the disk is full or that a quota is exhausted."""


def check_output(out: str | Path, suffixes: Sequence[str], instead: str = "") -> Path:
    """Check whether a file can be written. A run calls this first, before it spends hours on the content.

    Args:
        out: The file to write.
        suffixes: The allowed suffixes, such as ``.jsonl``.
        instead: Text to add to the error message about an unknown suffix, such as ``, or - for standard
            output``.

    Returns:
        The path of the file.

    Raises:
        InputError: The suffix is not allowed, the folder is missing or not writable, or the path refers to a
            folder, pipe, device or dangling link.
    """  # noqa: DOC502
    path = Path(out)
    suffix = f"unknown suffix {path.suffix!r}" if path.suffix else "no suffix"
    suffix_fault = (path.suffix not in suffixes, f"{suffix}; use {' or '.join(suffixes)}{instead}")
    _check_place(path, suffix_fault)
    return path


def _check_place(path: Path, *faults: tuple[bool, str]) -> None:
    """Raise `InputError` if no file can be written at a path, with the first reason that applies.

    Args:
        path: The path of the output file.
        *faults: Reasons to check first: for each, whether it applies, and its message.
    """  # noqa: DOC501
    try:
        path.exists()
    # `exists` raises an error if, for example, the name is too long, symbolic links form a loop, or the
    # folder is not readable.
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name another file") from error
    folder = path.parent
    # If there are several problems, report the one that the user should fix first.
    for is_fault, reason in (
        *faults,
        (not folder.exists(), f"the folder {folder} does not exist; create it first"),
        (not folder.is_dir(), f"{folder} is not a folder"),
        (path.is_dir(), "this is a folder; name a file"),
        (
            not os.access(folder, os.W_OK | os.X_OK),
            f"no permission to write in {folder}; name another",
        ),
        (_is_irregular(path), _IRREGULAR),
    ):
        if is_fault:
            raise InputError(f"{path}: {reason}")


_IRREGULAR = "not a regular file, so it can't be replaced; name another file"


def _is_irregular(path: Path) -> bool:
    """Return whether a path refers to a pipe, a socket, a device or a dangling link.

    A dangling link is a link to a file that does not exist. Writing to the path would replace the link
    without a message.
    """
    return path.is_symlink() if not path.exists() else not (path.is_file() or path.is_dir())


def check_replaceable(path: Path, overwrite: bool) -> dict[str, Any]:
    """Check whether a file may be replaced, and return its run note (see `RunNote`).

    Args:
        path: The file that is to be replaced.
        overwrite: Whether any existing file may be overwritten.

    Returns:
        The content of the run note; empty if the file does not exist or ``overwrite`` is True.

    Raises:
        InputError: The file exists, may not be overwritten, and was not written by a run of graphneg or was
            changed afterwards. Or a file of another program has the name of the run note.
    """  # noqa: DOC501, DOC502
    # Read the run note even with `overwrite`. The new run will write its note to the same path. If a file of
    # another program is there, reading raises an error, so that the file is not overwritten.
    noted = read_own_note(_finished_note(path, "").path)
    if not path.exists():
        return {}
    # A killed run may have left its lock file. Remove it here, because this run may have nothing to write,
    # and then does not take the lock.
    remove_stale_lock(path)
    if overwrite:
        return {}
    # A file without a run note was not written by a run of graphneg. If the digest in the note is not that of
    # the file, the file was changed after the run.
    if "digest" not in noted or noted["digest"] != file_digest(path):
        raise _exists_error(path, ", and it is not the unchanged output of a run")
    return noted


def finished_run(path: Path, fingerprint: str, overwrite: bool) -> dict[str, Any]:
    """Return the run note of a file that a run with the same fingerprint has already finished.

    Args:
        path: The output file of the run.
        fingerprint: The fingerprint of the current run, a digest of everything that determines the output.
        overwrite: Whether any existing file may be overwritten.

    Returns:
        The content of the run note; empty if the file does not exist or ``overwrite`` is True.

    Raises:
        InputError: The file exists and may not be overwritten, and one of these is true: it was not written
            by a run of graphneg; it was written by a run with a different fingerprint; it was changed after
            the run.
    """  # noqa: DOC501, DOC502
    noted = check_replaceable(path, overwrite)
    if noted and noted["fingerprint"] != fingerprint:
        raise _exists_error(path, ", made with other settings or from other content")
    return noted


def note_finished(path: Path, made: Path, fingerprint: str, token: str = "", **facts: Any) -> None:
    """Write the run note for a finished file, before the file gets its final name.

    The run note tells the same command later that the file is complete, and tells other commands that a run
    wrote the file. It is a separate hidden file in the same folder, because a JSON Lines file cannot contain
    data that other programs would ignore.

    Args:
        path: The path that the file will have.
        made: The finished file under its temporary name.
        fingerprint: The fingerprint of the run.
        token: The token of the lock that the run holds. If the run is killed, the next run finds the
            temporary file of the note by this token.
        **facts: Further values to store in the run note, as JSON values.
    """
    # Write the run note before the file is renamed. If the run is killed between the two steps, a note
    # without a file does no harm, but a file without a note would be mistaken for a file of another program.
    _finished_note(path, fingerprint, token).write(digest=file_digest(made), **facts)


def remove_finished(path: Path) -> None:
    """Remove a file that a run wrote, and its run note.

    Args:
        path: The file to remove.
    """
    path.unlink()
    _finished_note(path, "").remove()


def _finished_note(path: Path, fingerprint: str, token: str = "") -> RunNote:
    """Return the run note of a finished file, which is a hidden JSON file in the same folder."""
    return RunNote(path.with_name(f".{path.name}.run.json"), fingerprint, token)


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file.

    Args:
        path: The file to read.

    Returns:
        64 hexadecimal digits.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _exists_error(path: Path, which: str = "") -> InputError:
    error = InputError(
        f"{path}: the file already exists{which}; name another file, or overwrite it (--overwrite)"
    )
    # The exit status 2 means incorrect usage.
    error.status = 2
    return error


def check_new(path: Path, overwrite: bool) -> None:
    """Check that a file can be written, and that it does not exist or may be overwritten.

    Args:
        path: The file that is to be written.
        overwrite: Whether the file may be overwritten.

    Raises:
        InputError: The file exists and may not be overwritten, its folder is missing or not writable, or the
            path refers to a folder, pipe, device or dangling link.
    """  # noqa: DOC501, DOC502
    _check_place(path)
    if path.exists() and not overwrite:
        remove_stale_lock(path)
        raise _exists_error(path)


def unwritable(path: str | Path, error: BaseException, kept: str) -> InputError:
    """Return the error to raise if a file cannot be written.

    Args:
        path: The file that could not be written.
        error: The exception that was raised during writing.
        kept: Text for the message that says what is on disk now, such as ``nothing was changed``.

    Returns:
        An error with the reason, and with advice if the disk is full or the user may not write there.
    """
    # `error` may be an `InputError` that was raised from an `OSError`. In this case, report the `OSError`.
    cause = error if isinstance(error, OSError) else error.__cause__ or error
    reason = (isinstance(cause, OSError) and cause.strerror) or first_line(cause)
    number, advice = cause.errno if isinstance(cause, OSError) else None, ""
    if number in _DISK_FULL_ERRORS:
        advice = "; make room, then run the same command again"
    elif number in FORBIDDEN:
        advice = "; name a file in a folder that you may write to"
    return InputError(f"{path}: can't be written: {reason}; {kept}{advice}")


@contextmanager
def atomic_file(path: str | Path) -> Generator[Path]:
    """Write a file that appears only when it is complete, and prevent other runs from writing it.

    The caller writes to a temporary file in a ``with`` block. At the end of the block, the file is synced to
    disk and renamed to ``path``. If the block raises an exception, ``path`` is not changed, and the temporary
    file is removed. Raises `InputError` if the file cannot be written, or if another run is writing it.

    Args:
        path: The file to write or replace.

    Yields:
        The path of an empty temporary file to write to.
    """
    path = Path(path)
    with locking(path) as held, replacing(path, held.token) as unfinished:
        yield unfinished


@contextmanager
def locking(path: Path, file: Path | None = None) -> Generator[Held]:
    """Hold the lock of an output file, so that no other run writes it.

    This is the function `locked`, except that it raises `InputError` instead of `OSError`.

    Args:
        path: The output file.
        file: The lock file; None for ``.NAME.lock`` beside the output.

    Yields:
        The lock that is held.

    Raises:
        InputError: Another run holds the lock, or the lock file cannot be created or opened.
    """  # noqa: DOC501, DOC502
    with ExitStack() as stack:
        try:
            held = stack.enter_context(locked(path, file))
        except OSError as error:
            raise unwritable(path, error, "nothing was changed") from error
        yield held


@contextmanager
def replacing(path: Path, token: str = "") -> Generator[Path]:
    """Write a file like `atomic_file`, for a caller that has already locked ``path``.

    Args:
        path: The file to write or replace.
        token: The random part of the name of the temporary file; empty to generate it.

    Yields:
        The path of an empty temporary file to write to.

    Raises:
        InputError: The file cannot be written, the block raised an `OSError`, or the path refers to a pipe,
            socket, device or dangling link.
    """  # noqa: DOC501
    try:
        # Refuse a path that is a pipe, for example: renaming the finished file would replace the pipe.
        if _is_irregular(path):
            raise InputError(f"{path}: {_IRREGULAR}")
        with scratch_file(path, token) as unfinished:
            yield unfinished
            replace(unfinished, path)
    except OSError as error:
        raise unwritable(path, error, "nothing was changed") from error


@contextmanager
def atomic_folder(path: str | Path) -> Generator[Path]:
    """Create a folder that appears only when its content is complete.

    The caller fills a temporary folder in a ``with`` block. At the end of the block, it is renamed to
    ``path``. If another process has created ``path`` in the meantime, the folder of this process is kept, and
    the temporary folder is removed. If the block raises an exception, the temporary folder is removed, too.

    Args:
        path: The final path of the folder.

    Yields:
        The path of an empty temporary folder to fill.

    Raises:
        OSError: The folder cannot be renamed.
    """
    path = Path(path)
    # Several processes may create the same folder at the same time, so each uses a random temporary name.
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        try:
            unfinished.rename(path)
        except OSError:
            # If the folder exists now, another process has created it in the meantime, with the same content.
            # Keep that folder.
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_atomically(path: str | Path, text: str) -> None:
    """Write a text to a file that appears only when it is complete. Line ends are not converted.

    Args:
        path: The file to write.
        text: The content of the file.
    """
    with atomic_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


def replace(finished: Path, path: Path) -> None:
    """Rename a finished file to its final name, so that a power failure cannot leave an incomplete file.

    Args:
        finished: The file under its temporary name.
        path: The final path.
    """
    # Sync the content before the file is renamed. Otherwise, a power failure could leave an empty file under
    # the final name.
    with open(finished, "rb") as file:
        os.fsync(file.fileno())
    os.replace(finished, path)
    # Sync the folder, which contains the new name. Windows cannot sync folders, and does not need to.
    if os.name != "nt":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@dataclass(frozen=True, slots=True)
class RunNote:
    """A small JSON file beside the output of a run. It records which run wrote the output.

    Attributes:
        path: The path of the JSON file.
        fingerprint: A digest of everything that determines the output.
        token: The random part of the name of a temporary file. The JSON text is first written to this file,
            which is then renamed to ``path``. If the run is killed, the next run finds the temporary file by
            this token.
    """

    path: Path
    fingerprint: str
    token: str = ""

    @property
    def state(self) -> Literal["none", "same", "other"]:
        """``none`` without a run note, ``same`` if it has the fingerprint of this run, else ``other``."""
        if not self.path.is_file():
            return "none"
        return "same" if noted_fingerprint(self.path) == self.fingerprint else "other"

    def write(self, **facts: Any) -> None:
        """Write the run note (the file that describes the run), with a digest of its own content.

        Args:
            **facts: Values about the run to write in addition to the fingerprint, as JSON values.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        noted = {"fingerprint": self.fingerprint, **facts}
        with replacing(self.path, self.token) as unfinished:
            unfinished.write_text(json_line({**noted, _SEAL: _seal(noted)}), encoding="utf-8")

    def remove(self) -> None:
        """Remove the run note if it exists."""
        self.path.unlink(missing_ok=True)


def _seal(noted: Mapping[str, Any]) -> str:
    """Return a digest of the content of a run note, by which `read_own_note` notices any later change."""
    return hashlib.sha256(json_line(noted).encode()).hexdigest()


def read_own_note(path: Path) -> dict[str, Any]:
    """Return the content of a run note after checking that nobody edited it.

    Args:
        path: The path of the run note.

    Returns:
        The content without its digest; {} if there is no file. If the digest is wrong, the result contains
        only an empty fingerprint, which matches no run.

    Raises:
        InputError: The file is not a run note, or it cannot be read.
    """  # noqa: DOC501, DOC502
    try:
        with open_regular(path) as file:
            noted = parse_json(file.read(_LONGEST_NOTE), str(path))
    except FileNotFoundError:
        return {}
    except (InputError, OSError) as error:
        raise foreign_file_error(path) from error
    # graphneg writes a fingerprint into every run note. A JSON file without a fingerprint is from another
    # program, so raise an error instead of replacing it.
    if not isinstance(noted, dict) or "fingerprint" not in noted:
        raise foreign_file_error(path)
    facts = cast("dict[str, Any]", noted)
    seal = facts.pop(_SEAL, None)
    # If the digest is wrong, somebody has edited the run note (the JSON file that describes the run). If, for
    # example, the number of finished dialogues was changed, a resumed run would skip dialogues or process
    # them twice. Return an empty fingerprint, which matches no run, so that nothing is resumed.
    return facts if seal == _seal(facts) else {"fingerprint": ""}


def read_unverified_note(path: Path) -> dict[str, Any]:
    """Return the content of a run note (see `RunNote`) without checking its digest.

    Args:
        path: The path of the run note.

    Returns:
        The content; an empty dict if the file is missing or unreadable.
    """
    try:
        noted = parse_json(read_input(path, _LONGEST_NOTE), str(path))
    except InputError:
        return {}
    return cast("dict[str, Any]", noted) if isinstance(noted, dict) else {}


def noted_fingerprint(path: Path) -> str | None:
    """Return the fingerprint from a run note (see `RunNote`).

    Args:
        path: The path of the run note.

    Returns:
        The fingerprint; None if the file is missing or unreadable.
    """
    return read_unverified_note(path).get("fingerprint")
