"""Write files and folders that are either complete or absent, and note which run wrote them.

`atomic_file` and `atomic_folder` make a file or folder appear in one step. A `RunNote` is a small file beside
an output, with a fingerprint of everything that determines the output. The next run compares the fingerprint
with its own, to decide whether it may continue the output of an earlier run:

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

from graphneg.errors import InputError, first_line
from graphneg.json_input import json_line, parse_json, read_input
from graphneg.records.locks import Held, foreign_file_error, locked, open_regular, scratch_file

_LONGEST_NOTE = 64 * 2**20
"""Maximum size of a note in bytes. A note can be large, because it may contain the counts of a run."""
_SEAL = "seal"
"""The key under which a note stores a digest of its own content."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers for a full disk or an exhausted quota."""


def check_output(out: str | Path, suffixes: Sequence[str], instead: str = "") -> Path:
    """Check that a file can be written, before a run spends hours on its content.

    Args:
        out: The file.
        suffixes: The allowed suffixes.
        instead: An alternative to a file that the message should mention, such as ``, or - for standard
            output``.

    Returns:
        The path.

    Raises:
        InputError: The suffix is wrong, the folder is missing or not writable, or the name is taken by
            something that is not a regular file.
    """
    path = Path(out)
    try:
        path.exists()
    except OSError as error:  # The name is too long, symbolic links form a loop, or a folder may not be read.
        raise InputError(f"{path}: {error.strerror}; name another file") from error
    folder, suffix = path.parent, f"unknown suffix {path.suffix!r}" if path.suffix else "no suffix"
    # Check in the order in which a user would fix the problems.
    for is_fault, reason in (
        (path.suffix not in suffixes, f"{suffix}; use {' or '.join(suffixes)}{instead}"),
        (not folder.exists(), f"the folder {folder} does not exist; create it first"),
        (not folder.is_dir(), f"{folder} is not a folder"),
        (path.is_dir(), "a folder has this name; name another file"),
        (not os.access(folder, os.W_OK | os.X_OK), f"no permission to write in {folder}"),
        (path.exists() and not path.is_file(), "not a regular file, it can't be replaced; name another"),
    ):
        if is_fault:
            raise InputError(f"{path}: {reason}")
    return path


def check_replaceable(path: Path, overwrite: bool) -> dict[str, Any]:
    """Return the note of the run that wrote a file; raise `InputError` if the file must not be replaced.

    Returns:
        The note; empty if the file does not exist or may be overwritten.

    Raises:
        _taken: An `InputError`. The file was not written by a run, or was changed since.
    """
    # Read the note even with `overwrite`, to find out whether another program's file has its name.
    # This run will write a note of that name, and must not replace such a file.
    noted = read_own_note(_finished_note(path, "").path)
    if overwrite or not path.exists():
        return {}
    # If there is no note, or its digest differs, a run did not write the file, or somebody changed it since.
    if "digest" not in noted or noted["digest"] != file_digest(path):
        raise _taken(path, ", and it is not the unchanged output of a run")
    return noted


def finished_run(path: Path, fingerprint: str, overwrite: bool) -> dict[str, Any]:
    """Return the note of a finished file if this run wrote it; raise `InputError` if another run did.

    Returns:
        The note; empty if the file does not exist or may be overwritten.

    Raises:
        _taken: An `InputError`. Another run wrote the file.
    """
    noted = check_replaceable(path, overwrite)
    if noted and noted["fingerprint"] != fingerprint:
        raise _taken(path, ", made with other settings or of other content")
    return noted


def note_finished(path: Path, made: Path, fingerprint: str, **facts: Any) -> None:
    """Note which run made a file, before the file gets its final name.

    The note is a hidden file beside the output, because JSON Lines has no place for it that other readers
    would ignore. It stays there. From it, the same command knows that the file is complete, and other
    commands know that a run wrote the file.

    Args:
        path: The final name of the file.
        made: The finished file under its temporary name.
        fingerprint: The fingerprint of the run.
        **facts: Further facts, as JSON values.
    """
    # Write the note before the file.
    # A note without a file does no harm, but a file without a note would look like a file of another program.
    _finished_note(path, fingerprint).write(digest=file_digest(made), **facts)


def remove_finished(path: Path) -> None:
    """Remove a file that a run wrote, and its note.

    Args:
        path: The file.
    """
    path.unlink()
    _finished_note(path, "").remove()


def _finished_note(path: Path, fingerprint: str) -> RunNote:
    """Return the note for a finished file."""
    return RunNote(path.with_name(f".{path.name}.run.json"), fingerprint)


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file.

    Args:
        path: The file.

    Returns:
        64 hexadecimal digits.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _taken(path: Path, which: str = "") -> InputError:
    """Return the error for an existing file that must not be replaced."""
    error = InputError(
        f"{path}: the file exists already{which}; name another file, or overwrite it (--overwrite)"
    )
    # 2 is the exit status for wrong usage.
    error.status = 2
    return error


def check_new(path: Path, overwrite: bool) -> None:
    """Raise `InputError` if a file exists and may not be overwritten."""
    if path.exists() and not overwrite:
        raise _taken(path)


def unwritable(path: str | Path, error: BaseException, kept: str) -> InputError:
    """Return the error for a file that cannot be written.

    Args:
        path: The file.
        error: The exception that the writing raised.
        kept: What remains on disk, for the message.

    Returns:
        An error with the reason, and with advice if the disk is full.
    """
    # If a nested write has already converted the failure to an `InputError`, its cause is the disk's error.
    cause = error if isinstance(error, OSError) else error.__cause__ or error
    reason = (isinstance(cause, OSError) and cause.strerror) or first_line(cause)
    room = "; make room, then run the same command again"
    full = isinstance(cause, OSError) and cause.errno in _FULL
    return InputError(f"{path}: can't be written: {reason}; {kept}{room if full else ''}")


@contextmanager
def atomic_file(path: str | Path) -> Generator[Path]:
    """Write a file that is either complete or absent, and keep other runs from writing it.

    The final step survives a power failure. If the block raises an exception, ``path`` stays as it was, and
    no temporary file is left. Raises `InputError` if the file cannot be written, or if another run is writing
    it.

    Args:
        path: The file to write or replace.

    Yields:
        The path of an empty temporary file to write to. After the block, it is renamed to ``path``.
    """
    path = Path(path)
    with locking(path) as held, replacing(path, held.token) as unfinished:
        yield unfinished


@contextmanager
def locking(path: Path, file: Path | None = None) -> Generator[Held]:
    """Hold the lock of an output like `locked`, and convert disk failures to `InputError`."""
    with ExitStack() as stack:
        try:
            held = stack.enter_context(locked(path, file))
        except OSError as error:
            raise unwritable(path, error, "nothing was changed") from error
        yield held


@contextmanager
def replacing(path: Path, token: str = "") -> Generator[Path]:
    """Write a file like `atomic_file` if the caller holds the lock. Yield a temporary file to write to."""
    try:
        with scratch_file(path, token) as unfinished:
            yield unfinished
            replace(unfinished, path)
    except OSError as error:
        raise unwritable(path, error, "nothing was changed") from error


@contextmanager
def atomic_folder(path: str | Path) -> Generator[Path]:
    """Fill a folder that is either complete or absent.

    If another process creates ``path`` in the meantime, that folder is kept and this one is removed. If the
    block raises an exception, nothing is left.

    Args:
        path: The folder.

    Yields:
        An empty temporary folder to fill. After the block, it is renamed to ``path``.

    Raises:
        OSError: The folder cannot be renamed.
    """
    path = Path(path)
    # Two processes may fill the same folder at once, so each uses a random name.
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        try:
            unfinished.rename(path)
        except OSError:
            # If the folder exists, another process was faster. Its content is the same, so it is kept.
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_atomically(path: str | Path, text: str) -> None:
    """Write a small text file in one step. Line ends are not converted.

    Args:
        path: The file.
        text: Its content.
    """
    with atomic_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


def replace(finished: Path, path: Path) -> None:
    """Rename a finished file to its final name, in one step that survives a power failure.

    Args:
        finished: The file under its temporary name.
        path: The final name.
    """
    # Sync the content before the rename. Otherwise a power failure could leave an empty file of this name.
    with open(finished, "rb") as file:
        os.fsync(file.fileno())
    os.replace(finished, path)
    if os.name != "nt":  # Windows cannot sync folders, and does not need to.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@dataclass(frozen=True, slots=True)
class RunNote:
    """A small JSON file beside the output of a run.

    Attributes:
        path: The file.
        fingerprint: A digest of everything that determines the output.
        token: The random part of the name of its temporary file. If the run is killed, the next run finds
            that file by it.
    """

    path: Path
    fingerprint: str
    token: str = ""

    @property
    def state(self) -> Literal["none", "same", "other"]:
        """Whether there is no note ("none"), this run's note ("same"), or any other file ("other")."""
        if not self.path.is_file():
            return "none"
        return "same" if noted_fingerprint(self.path) == self.fingerprint else "other"

    def write(self, **facts: Any) -> None:
        """Write the note in one step, with a digest of its own content.

        Args:
            **facts: Further facts, as JSON values.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        noted = {"fingerprint": self.fingerprint, **facts}
        with replacing(self.path, self.token) as unfinished:
            unfinished.write_text(json_line({**noted, _SEAL: _seal(noted)}), encoding="utf-8")

    def remove(self) -> None:
        """Remove the note."""
        self.path.unlink(missing_ok=True)


def _seal(noted: Mapping[str, Any]) -> str:
    """Return a digest of a note's content, which is the same after the note was written and read back."""
    return hashlib.sha256(json_line(noted).encode()).hexdigest()


def read_own_note(path: Path) -> dict[str, Any]:
    """Return the content of a note; {} if there is none. Raise `InputError` for any other file."""
    try:
        with open_regular(path) as file:
            noted = parse_json(file.read(_LONGEST_NOTE), str(path))
    except FileNotFoundError:
        return {}
    except (InputError, OSError) as error:
        raise foreign_file_error(path) from error
    # The file is valid JSON, but not a note of graphneg.
    if not isinstance(noted, dict) or "fingerprint" not in noted:
        raise foreign_file_error(path)
    facts = cast("dict[str, Any]", noted)
    seal = facts.pop(_SEAL, None)
    # A note that somebody edited cannot be trusted.
    # With another number of dialogues, for example, a resumed run would skip some or process them twice.
    # An empty fingerprint matches no run, so nothing is resumed.
    return facts if seal == _seal(facts) else {"fingerprint": ""}


def noted_facts(path: Path) -> dict[str, Any]:
    """Return the content of a note.

    Args:
        path: The note.

    Returns:
        Its content; an empty dict if the note is missing or unreadable.
    """
    try:
        noted = parse_json(read_input(path, _LONGEST_NOTE), str(path))
    except InputError:
        return {}
    return cast("dict[str, Any]", noted) if isinstance(noted, dict) else {}


def noted_fingerprint(path: Path) -> str | None:
    """Return the fingerprint from a note.

    Args:
        path: The note.

    Returns:
        The fingerprint; None if the note is missing or unreadable.
    """
    return noted_facts(path).get("fingerprint")
