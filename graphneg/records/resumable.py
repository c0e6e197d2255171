"""Files that grow over a long run and lose nothing that was acknowledged; and runs that fill them.

In: negatives, batch by batch, and a fingerprint of the settings. Out: a file. Lines go to ``OUT.part``. A
checkpoint makes them durable and then notes, in ``OUT.part.json``, how many dialogues are done and how many
bytes that took. Whatever stops the run, the next one with the same settings cuts ``OUT.part`` back to the
last checkpoint and goes on there, so that the finished file is byte for byte the one of a run that was never
stopped. ``OUT`` itself is replaced only at the end, in one step.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.model import Negative
from graphneg.records.files import (
    STANDARD_OUTPUT,
    check_destination,
    negative_to_json,
    read_jsonl,
    to_dataset,
    to_pandas,
    write_jsonl,
    write_rows,
)
from graphneg.records.runs import RunNote, atomic_file, noted_facts, replace
from graphneg.records.summary import Summary

if TYPE_CHECKING:
    import datasets
    import pandas


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where a run goes on: dialogues and negatives done, and the notes of the last checkpoint.

    ``discarded`` says why an earlier part was thrown away; None where there was none or it is used.
    """

    dialogues: int = 0
    negatives: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    discarded: str | None = None


class ResumableWriter(AbstractContextManager["ResumableWriter"]):
    """Writes negatives to ``out`` (``.jsonl`` or ``.parquet``), resumable at its checkpoints.

    Opening raises `InputError` at once where ``out`` can't be written or another run is
    writing it. Use it in a ``with`` block; leaving it without `finish` keeps the part.
    """

    def __init__(self, out: str | Path, fingerprint: str) -> None:
        from filelock import FileLock, Timeout

        path = check_destination(out)
        if path is None:
            raise InputError(f"{STANDARD_OUTPUT}: standard output can't be resumed; name a file")
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._note = RunNote(path.with_name(path.name + ".part.json"), fingerprint)
        self._lock = FileLock(path.with_name(path.name + ".part.lock"), timeout=0)
        try:
            self._lock.acquire()
            self._file = open(self._part, "ab")  # noqa: SIM115 - closed by close()
        except Timeout as error:
            raise InputError(
                f"{self._part}: another run is writing it; wait for its end or name another file"
            ) from error
        except OSError as error:
            self._lock.release()
            raise InputError(f"{self._part}: can't be written: {error.strerror}") from error
        try:
            self.resumed, offset = self._last_checkpoint()
            self._negatives = self.resumed.negatives
            self._file.truncate(offset)
            self._file.seek(offset)
            if offset == 0:
                self.checkpoint(0)
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, negative: Negative) -> None:
        """Add a negative. It counts from the next checkpoint on."""
        self.write_line(negative_to_json(negative))

    def write_line(self, line: str) -> None:
        """Add a line of JSON that is no negative, to a file of such lines. It counts likewise."""
        self._file.write(line.encode() + b"\n")
        self._negatives += 1

    def checkpoint(self, dialogues: int, notes: Mapping[str, Any] | None = None) -> None:
        """Acknowledge all that was written: ``dialogues`` are done, counted from the run's start.

        ``notes`` (what JSON can hold) come back in `resumed`, for counts that go on.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        offset = self._file.tell()
        self._note.write(dialogues=dialogues, negatives=self._negatives, offset=offset, notes=notes or {})

    def written(self) -> Iterator[Negative]:
        """All that was written so far, from the file."""
        self._file.flush()
        return read_jsonl(self._part)

    def finish(self) -> Path:
        """Put the finished file in its place, as Parquet where the suffix says so; returns its path.

        Stopped at any moment, the old file or the new one is there, never a half of one.
        """
        self._file.flush()
        if self._path.suffix == ".parquet":
            with atomic_file(self._path) as converted:
                write_rows(read_jsonl(self._part), converted)
            self._note.remove()
            self._part.unlink()
        else:
            replace(self._part, self._path)
            self._note.remove()
        with suppress(PermissionError):  # Windows keeps a file that is open
            Path(self._lock.lock_file).unlink(missing_ok=True)
        self.close()
        return self._path

    def close(self) -> None:
        """Stop writing. What no checkpoint acknowledged is dropped by the next run."""
        self._file.close()
        self._lock.release()

    def _last_checkpoint(self) -> tuple[Resumed, int]:
        """The last checkpoint and the bytes of the part up to it, or a fresh start and why."""
        size, noted = self._part.stat().st_size, noted_facts(self._note.path)
        reason: str | None = None
        if not self._note.path.is_file():
            reason = f"{self._part} came without {self._note.path.name}" if size else None
        elif not noted.keys() >= {"fingerprint", "dialogues", "negatives", "offset", "notes"}:
            reason = f"{self._note.path} is not readable"
        elif noted["fingerprint"] != self._note.fingerprint:
            reason = f"{self._part} was begun with other settings"
        elif size < noted["offset"]:
            reason = f"{self._part} is shorter than its last checkpoint"
        else:
            return Resumed(noted["dialogues"], noted["negatives"], noted["notes"]), noted["offset"]
        return Resumed(discarded=reason), 0


Written = Callable[[], Iterable[Negative]]
"""Gives the negatives that an interrupted run wrote before."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One batch: how many dialogues are done since the start, and the batch's negatives."""

    dialogues: int
    negatives: Sequence[Negative]


class NegativeStream(ABC):
    """Negatives to be made. Each use makes them anew; ``summary`` tells of the last one."""

    def __init__(self) -> None:
        self.summary = Summary()
        self.resumed = Resumed()

    @property
    def notes(self) -> Sequence[str]:
        """What there is to say to the user after a run: a condition that is off, say."""
        return ()

    @abstractmethod
    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """Make the batches behind the first ``skip`` dialogues, whose negatives are ``written``."""

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """What the output depends on, as JSON can hold it; the batch is not part of it."""

    def __iter__(self) -> Iterator[Negative]:
        self.summary = Summary()
        for finished in self.run(0, tuple[Negative, ...]):
            yield from finished.negatives

    def to_jsonl(self, out: str | Path) -> Summary:
        """Write one JSON object a line to ``out``, or to standard output (``-``).

        A file is resumable: stopped at any moment, the same call goes on where it was and ends with
        the same bytes. Raises `InputError` where ``out`` can't be written, or another run is writing it.
        """
        return self._write(out, ".jsonl")

    def to_parquet(self, out: str | Path) -> Summary:
        """Write a Parquet file, resumable as :meth:`to_jsonl` is, with its errors."""
        return self._write(out, ".parquet")

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame, one row a negative."""
        return to_pandas(self)

    def to_dataset(self) -> datasets.Dataset:
        """A Hugging Face dataset with typed features."""
        return to_dataset(self)

    def _write(self, out: str | Path, suffix: str) -> Summary:
        path = check_destination(out)
        if path is None and suffix == ".jsonl":
            write_jsonl(self, out)
            return self.summary
        if path is None or path.suffix != suffix:
            raise InputError(f"{out}: name a file that ends {suffix}")
        with ResumableWriter(out, fingerprint(self.settings())) as writer:
            self.resumed = writer.resumed
            self.summary = Summary.from_state(self.resumed.notes)
            for finished in self.run(self.resumed.dialogues, writer.written):
                for negative in finished.negatives:
                    writer.write(negative)
                writer.checkpoint(finished.dialogues, self.summary.state())
            writer.finish()
        return self.summary
