"""What a run leaves on disk: files and folders that are whole or not there, notes of what they are made from.

In: a path, and the facts that decide what is written. Out: a file that appears in one step, or a note by
which the next run knows whether what an earlier one left is its own to go on with:

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
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from graphneg.errors import InputError, first_line
from graphneg.json_input import json_line, parse_json, read_input
from graphneg.records.locks import Held, foreign, locked, open_regular, scratch_file

_LONGEST_NOTE = 64 * 2**20
"""Bytes of a note: it has the counts of a run."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_output(out: str | Path, suffixes: Sequence[str], instead: str = "") -> Path:
    """The file to write, checked before any work: no run of an hour ends at a folder that is not there.

    Raises `InputError`: none of these suffixes, a missing or unwritable folder, a folder in the file's place;
    ``instead`` is what else to name (``, or - for standard output``).
    """
    path = Path(out)
    folder, suffix = path.parent, f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    for is_fault, reason in (
        (path.suffix not in suffixes, f"{suffix} says no format; use {' or '.join(suffixes)}{instead}"),
        (not folder.exists(), f"the folder {folder} does not exist; make it first"),
        (not folder.is_dir(), f"{folder} is not a folder"),
        (path.is_dir(), "a folder is in the file's place; name another file"),
        (not os.access(folder, os.W_OK | os.X_OK), f"no permission to write in {folder}"),
        (path.exists() and not path.is_file(), "not a regular file, it can't be replaced; name another"),
    ):
        if is_fault:
            raise InputError(f"{path}: {reason}")
    return path


def check_replaceable(path: Path, overwrite: bool) -> dict[str, Any]:
    """Return what the run noted that wrote the file; nothing where there is none, or it is to be overwritten.

    Raises:
        InputError: The file is no run's, or not as a run left it; or something that graphneg did not write
            has the name of its note.
    """
    noted = read_own_note(_finished_note(path, "").path)
    if overwrite or not path.exists():
        return {}
    if "digest" not in noted or noted["digest"] != file_digest(path):
        raise _taken(path, ", which no run of graphneg left as it is")
    return noted


def finished_run(path: Path, fingerprint: str, overwrite: bool) -> dict[str, Any]:
    """Return what the run of this fingerprint noted of the file that it has written, if there is one.

    Raises:
        InputError: There is a file that another run wrote, or none, and nothing says to overwrite it.
    """
    noted = check_replaceable(path, overwrite)
    if noted and noted["fingerprint"] != fingerprint:
        raise _taken(path, ", made with other settings or of other content")
    return noted


def note_finished(path: Path, made: Path, fingerprint: str, **facts: Any) -> None:
    """Note which run made a file, and facts of it, before what is ``made`` takes its name ``path``.

    The note is a hidden file beside it, as JSON lines have no room for one that other readers pass over. It
    stays: by it the same command knows that nothing is left to do, and others that the file is a run's.

    Raises:
        InputError: It can't be written.
    """
    _finished_note(path, fingerprint).write(digest=file_digest(made), **facts)


def remove_finished(path: Path) -> None:
    """Take away a file that a run wrote, with its note."""
    path.unlink()
    _finished_note(path, "").remove()


def _finished_note(path: Path, fingerprint: str) -> RunNote:
    return RunNote(path.with_name(f".{path.name}.run.json"), fingerprint)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _taken(path: Path, which: str = "") -> InputError:
    error = InputError(
        f"{path}: there is such a file already{which}; name another one, or overwrite it (--overwrite)"
    )
    error.status = 2
    return error


def check_new(path: Path, overwrite: bool) -> None:
    """Raises `InputError` where there is such a file and nothing says to ``overwrite`` it."""
    if path.exists() and not overwrite:
        raise _taken(path)


def unwritable(path: str | Path, error: BaseException, kept: str) -> InputError:
    """The error of a file that can't be written: why, what is ``kept``, what to do where a disk is full."""
    cause = error if isinstance(error, OSError) else error.__cause__ or error
    reason = (isinstance(cause, OSError) and cause.strerror) or first_line(cause)
    room = "; make room, then run the same command again"
    full = isinstance(cause, OSError) and cause.errno in _FULL
    return InputError(f"{path}: can't be written: {reason}; {kept}{room if full else ''}")


@contextmanager
def atomic_file(path: str | Path) -> Generator[Path]:
    """Write a file that is whole or not there, while no other run writes it.

    The step survives a power cut. Where the block raises, ``path`` stays as it was and nothing is left
    beside it.

    Args:
        path: The file to write or replace.

    Yields:
        An empty file beside it to write to, which takes its place when the block ends.

    Raises:
        InputError: The file can't be written, or another run is writing it.
    """
    path = Path(path)
    with locking(path) as held, replacing(path, held.token) as unfinished:
        yield unfinished


@contextmanager
def locking(path: Path, file: Path | None = None) -> Generator[Held]:
    """Hold an output as `locked` does.

    Args:
        path: The output.
        file: The lock file, where it is not the default.

    Yields:
        What temporary names are made of.

    Raises:
        InputError: Another run holds it, or the lock file can't be made.
    """
    with ExitStack() as stack:
        try:
            held = stack.enter_context(locked(path, file))
        except OSError as error:
            raise unwritable(path, error, "nothing was changed") from error
        yield held


@contextmanager
def replacing(path: Path, token: str = "") -> Generator[Path]:
    """Write a file that is whole or not there; whoever calls sees to it that nobody else writes it.

    Args:
        path: The file to write or replace.
        token: The random part of the temporary name; a new one where empty.

    Yields:
        An empty file beside it to write to, which takes its place when the block ends.

    Raises:
        InputError: The file can't be written.
    """
    try:
        with scratch_file(path, token) as unfinished:
            yield unfinished
            replace(unfinished, path)
    except OSError as error:
        raise unwritable(path, error, "nothing was changed") from error


@contextmanager
def atomic_folder(path: str | Path) -> Generator[Path]:
    """A new folder beside ``path`` to fill; when the block ends, it becomes ``path``.

    Where another process has made ``path`` meanwhile, that one stays. Where the block raises, nothing
    is left.
    """
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        try:
            unfinished.rename(path)
        except OSError:
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_atomically(path: str | Path, text: str) -> None:
    """Write a small text file with `atomic_file`; line ends stay as they are."""
    with atomic_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


def replace(finished: Path, path: Path) -> None:
    """Give a finished file its name, in one step that survives a power cut."""
    with open(finished, "rb") as file:
        os.fsync(file.fileno())
    os.replace(finished, path)
    if os.name != "nt":  # Windows can't sync folders, and need not
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@dataclass(frozen=True, slots=True)
class RunNote:
    """A small JSON file beside what a run makes: the ``fingerprint`` of all that decides the result.

    ``token`` is the random part of its temporary name, by which a next run finds it after a kill.
    """

    path: Path
    fingerprint: str
    token: str = ""

    @property
    def state(self) -> Literal["none", "same", "other"]:
        """Whether a run left a note, and whether it was this run; a note that can't be read is another's."""
        if not self.path.is_file():
            return "none"
        return "same" if noted_fingerprint(self.path) == self.fingerprint else "other"

    def write(self, **facts: Any) -> None:
        """Leave the note, with facts that JSON can hold.

        Raises `InputError`: it can't be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path, self.token) as unfinished:
            unfinished.write_text(json_line({"fingerprint": self.fingerprint, **facts}), encoding="utf-8")

    def remove(self) -> None:
        """Take the note away."""
        self.path.unlink(missing_ok=True)


def read_own_note(path: Path) -> dict[str, Any]:
    """Return what a note of a fixed name says; nothing where there is none.

    Raises:
        InputError: There is something of this name that no `RunNote` wrote: a link, a folder, or a file
            without a fingerprint. It is not replaced.
    """
    try:
        with open_regular(path) as file:
            noted = parse_json(file.read(_LONGEST_NOTE), str(path))
    except FileNotFoundError:
        return {}
    except (InputError, OSError) as error:
        raise foreign(path) from error
    if not isinstance(noted, dict) or "fingerprint" not in noted:
        raise foreign(path)
    return cast("dict[str, Any]", noted)


def noted_facts(path: Path) -> dict[str, Any]:
    """Return what a note says; nothing where there is no note, or it can't be read."""
    try:
        noted = parse_json(read_input(path, _LONGEST_NOTE), str(path))
    except InputError:
        return {}
    return cast("dict[str, Any]", noted) if isinstance(noted, dict) else {}


def noted_fingerprint(path: Path) -> str | None:
    """Return the fingerprint in a note; None where there is no note, or it can't be read."""
    return noted_facts(path).get("fingerprint")
