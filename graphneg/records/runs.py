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

import json
import os
import secrets
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from graphneg.errors import InputError


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


def check_new(path: Path, overwrite: bool) -> None:
    """Raises `InputError` where there is such a file and nothing says to ``overwrite`` it."""
    if path.exists() and not overwrite:
        raise InputError(f"{path}: there is such a file already; name another one, or overwrite it")


@contextmanager
def atomic_file(path: str | Path) -> Generator[Path]:
    """A path beside ``path`` to write to; when the block ends, what is there takes the place of ``path``.

    The step survives a power cut. Where the block raises, ``path`` stays as it was and nothing is left
    beside it.

    Raises `InputError`: the file can't be written.
    """
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.tmp")
    try:
        yield unfinished
        replace(unfinished, path)
    except OSError as error:
        raise InputError(f"{path}: can't be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


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
    """A small JSON file beside what a run makes: the ``fingerprint`` of all that decides the result."""

    path: Path
    fingerprint: str

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
        write_atomically(self.path, json.dumps({"fingerprint": self.fingerprint, **facts}))

    def remove(self) -> None:
        """Take the note away."""
        self.path.unlink(missing_ok=True)


def noted_facts(path: Path) -> dict[str, Any]:
    """What a note says; nothing where there is no note, or it can't be read."""
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", noted) if isinstance(noted, dict) else {}


def noted_fingerprint(path: Path) -> str | None:
    """The fingerprint in a note; None where there is no note, or it can't be read."""
    return noted_facts(path).get("fingerprint")
