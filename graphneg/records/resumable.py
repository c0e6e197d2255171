"""Files that grow over a long run and lose nothing that was acknowledged; and runs that fill them.

In: negatives, batch by batch, and a fingerprint of the settings. Out: a file. Lines go to a part beside it,
``OUT.5f0c1d9a7e3b2486.part``. A checkpoint makes them durable and then notes, in ``.OUT.part.json``, how many
dialogues are done, and how many bytes of which part that took, with their SHA-256. Whatever stops the run,
the next one with the same settings, of the same content, cuts the part back to the last checkpoint and goes
on there, so that the finished file is byte for byte the one of a run that was never stopped. A part that is
not as the note says is not used. ``OUT`` itself appears only at the end, in one step. One that another run
made, or none, is not replaced without a word (``overwrite``), and one that this run made is complete.
"""

from __future__ import annotations

import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta

from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.json_input import converted
from graphneg.model import Negative
from graphneg.records.files import (
    STANDARD_OUTPUT,
    check_destination,
    negative_to_json,
    read_jsonl,
    to_dataset,
    to_pandas,
    to_record,
    write_jsonl,
    write_rows,
)
from graphneg.records.locks import Held, create_exclusively, open_regular
from graphneg.records.runs import (
    RunNote,
    check_output,
    file_digest,
    finished_run,
    locking,
    note_finished,
    read_own_note,
    replace,
    replacing,
    unwritable,
)
from graphneg.records.summary import Summary
from graphneg.shards import Shard, natural_order

if TYPE_CHECKING:
    import datasets
    import pandas

    from graphneg.records.shards import Header, ShardBatch


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where a run goes on: dialogues and negatives done, and the notes of the last checkpoint.

    ``last`` is the place of the last dialogue that is done, as the run told it. ``discarded`` says why an
    earlier part was thrown away; None where there was none or it is used. Where the file ``is_complete``
    already, nothing is left to do.
    """

    dialogues: int = 0
    negatives: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    discarded: str | None = None
    last: str = ""
    is_complete: bool = False


_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the note of a part says."""

    fingerprint: str
    made_of: str
    part: str
    offset: _Count
    digest: str
    dialogues: _Count
    negatives: _Count
    notes: dict[str, Any]
    last: str


class _FinishedFacts(msgspec.Struct, frozen=True):
    """What the note of a finished file says of its run."""

    dialogues: _Count
    negatives: _Count
    notes: dict[str, Any]
    last: str


def part_note(path: Path) -> Path:
    """Return where the checkpoints of an output are noted until it is finished."""
    return path.with_name(f".{path.name}.part.json")


class ResumableWriter(AbstractContextManager["ResumableWriter"]):
    """Writes negatives to ``out`` (``.jsonl`` or ``.parquet``), resumable at its checkpoints.

    ``fingerprint`` is that of the settings, ``made_of`` that of the content that goes in. Opening raises
    `InputError` at once where ``out`` can't be written, another run is writing it, or there is a file that is
    not to be overwritten. Use it in a ``with`` block; leaving it without `finish` keeps the part. Of a
    ``shard``, the file is that of its part of ``out``, with lines of any kind.
    """

    def __init__(
        self,
        out: str | Path,
        fingerprint: str,
        made_of: str = "",
        *,
        overwrite: bool = False,
        shard: Shard | None = None,
    ) -> None:
        own = None if shard is None else shard.file(out)
        path = check_destination(out) if own is None else check_output(own, [own.suffix])
        if path is None:
            raise InputError(f"{STANDARD_OUTPUT}: standard output can't be resumed; name a file")
        self._path = path
        self._fingerprint, self._made_of = fingerprint, made_of
        self._run = f"{fingerprint} {made_of}"
        self._file: BinaryIO | None = None
        self._written = hashlib.sha256()
        with ExitStack() as stack:
            held = stack.enter_context(locking(path))
            self._note = RunNote(part_note(path), fingerprint, held.token)
            self._token = held.token
            noted = read_own_note(self._note.path)
            if done := finished_run(path, self._run, overwrite):
                facts = converted(done, _FinishedFacts, f"the note of {path}")
                self.resumed = Resumed(**msgspec.structs.asdict(facts), is_complete=True)
                if noted.get("fingerprint") == fingerprint:
                    self._forget_stopped(noted)  # of a run that was stopped when it had just finished
            else:
                with self._writing():
                    self._part, self._file, self.resumed = self._begun(noted, held)
                    stack.enter_context(self._file)
            self._negatives, self._dialogues = self.resumed.negatives, self.resumed.dialogues
            self._notes, self._last = self.resumed.notes, self.resumed.last
            if not (self.resumed.is_complete or self.resumed.dialogues):
                self.checkpoint(0)
            self._held = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, negative: Negative) -> None:
        """Add a negative. It counts from the next checkpoint on."""
        self.write_line(negative_to_json(negative))

    def write_line(self, line: str) -> None:
        """Add a line of JSON that is no negative, to a file of such lines. It counts likewise."""
        with self._writing():
            data = line.encode() + b"\n"
            self._open.write(data)
            self._written.update(data)
        self._negatives += 1

    def checkpoint(self, dialogues: int, notes: Mapping[str, Any] | None = None, last: str = "") -> None:
        """Acknowledge all that was written: ``dialogues`` are done, counted from the run's start.

        ``notes`` (what JSON can hold) and ``last`` come back in `resumed`, for counts that go on.
        """
        self._dialogues, self._notes, self._last = dialogues, notes or {}, last
        with self._writing():
            self._open.flush()
            os.fsync(self._open.fileno())
            self._note.write(
                made_of=self._made_of,
                part=self._part.name,
                offset=self._open.tell(),
                digest=self._written.hexdigest(),
                **self._facts(),
            )

    @property
    def digest(self) -> str:
        """The SHA-256 of all that was written so far, in hexadecimal digits."""
        return self._written.hexdigest()

    def written(self) -> Iterator[Negative]:
        """All that was written so far, from the file."""
        with self._writing():
            self._open.flush()
        return read_jsonl(self._part)

    def finish(self) -> Path:
        """Put the finished file in its place, as Parquet where the suffix says so; returns its path.

        Stopped at any moment, the old file or the new one is there, never a half of one.
        """
        if not self.resumed.is_complete:
            with self._writing():
                self._open.flush()
                if file_digest(self._part) != self._written.hexdigest():
                    raise InputError(
                        f"{self._part}: changed by another program while the run wrote it; run the command "
                        "again"
                    )
                if self._path.suffix == ".parquet":
                    with replacing(self._path, self._token) as converted_file:
                        write_rows(read_jsonl(self._part), converted_file)
                        note_finished(self._path, converted_file, self._run, **self._facts())
                    self._part.unlink(missing_ok=True)
                else:
                    note_finished(self._path, self._part, self._run, **self._facts())
                    replace(self._part, self._path)
                self._note.remove()
        self.close()
        return self._path

    def close(self) -> None:
        """Stop writing. What no checkpoint acknowledged is dropped by the next run."""
        with suppress(OSError):  # of a full disk: its error has been told
            self._held.close()

    @property
    def _open(self) -> BinaryIO:
        assert self._file is not None, "the file is complete already"
        return self._file

    def _facts(self) -> dict[str, Any]:
        """What the run has done so far, for its notes."""
        done = {"dialogues": self._dialogues, "negatives": self._negatives}
        return {**done, "notes": self._notes, "last": self._last}

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Where writing fails inside: says what is kept."""
        try:
            yield
        except (OSError, InputError) as error:
            if isinstance(error, InputError) and not isinstance(error.__cause__, OSError):
                raise
            kept = "what was made up to the last checkpoint is kept"
            raise unwritable(self._path, error, kept) from error

    def _begun(self, noted: Mapping[str, Any], held: Held) -> tuple[Path, BinaryIO, Resumed]:
        """Return the part to write, open at its end: that of a stopped run, or a new one and why."""
        before, reason = _checkpoint(noted, self._path), None
        if before is None:
            reason = f"{self._note.path} is not readable" if noted else None
        else:
            reason = self._verified(before)
        if before is not None and reason is None:
            facts = {name: getattr(before, name) for name in _FinishedFacts.__struct_fields__}
            part = self._path.with_name(before.part)
            file = open_regular(part, writable=True)
            file.truncate(before.offset)
            file.seek(before.offset)
            return part, file, Resumed(**facts)
        self._written = hashlib.sha256()
        if held.stale and (before is None or before.part != self._part_name(held.stale)):
            # Killed after it had made its part and before it noted that.
            self._path.with_name(self._part_name(held.stale)).unlink(missing_ok=True)
        part = self._path.with_name(self._part_name(held.token))
        return part, create_exclusively(part), Resumed(discarded=reason)

    def _part_name(self, token: str) -> str:
        return f"{self._path.name}.{token}.part"

    def _verified(self, before: _Checkpoint) -> str | None:
        """Return why the part of a stopped run can't be gone on with; what it says is digested on the way.

        A part that is as its note says, but of other settings or content, is removed. One that is not may be
        somebody's file: it stays.
        """
        part = self._path.with_name(before.part)
        try:
            with open_regular(part) as file:
                size = os.fstat(file.fileno()).st_size
                if size < before.offset:
                    return f"{part} is shorter than its last checkpoint"
                left = before.offset
                while left and (read := file.read(min(left, _CHUNK))):
                    self._written.update(read)
                    left -= len(read)
        except FileNotFoundError:
            return f"{part} is not there any more"
        except InputError:
            return f"{part} is not the file that the run wrote, and stays as it is"
        if self._written.hexdigest() != before.digest:
            return f"{part} is not as the run left it, and stays as it is"
        reason: str | None = None
        if before.fingerprint != self._fingerprint:
            reason = f"{self._path} was begun with other settings"
        elif before.made_of != self._made_of:
            reason = f"what {self._path} was made of has changed since it was begun"
        if reason is not None:
            part.unlink()
        return reason

    def _forget_stopped(self, noted: Mapping[str, Any]) -> None:
        """Remove what a run left that was stopped when it had just finished."""
        before = _checkpoint(noted, self._path)
        if before is not None and self._verified(before) is None:
            self._path.with_name(before.part).unlink(missing_ok=True)
        self._note.remove()


_CHUNK = 1 << 20


def _checkpoint(noted: Mapping[str, Any], path: Path) -> _Checkpoint | None:
    """Return the checkpoint that a note has; None where it has none that a run wrote."""
    try:
        found = msgspec.convert(noted, _Checkpoint)
    except msgspec.ValidationError:
        return None
    is_part = re.fullmatch(rf"{re.escape(path.name)}\.[0-9a-f]{{16}}\.part", found.part)
    return found if is_part else None


Written = Callable[[], Iterable[Negative]]
"""Gives the negatives that an interrupted run wrote before."""


@dataclass(frozen=True, slots=True)
class Finished:
    """One batch: how many dialogues are done since the start, the batch's negatives, and the place of the
    batch's last dialogue, which a run that goes on finds in ``resumed.last``. ``places`` say where each
    negative stands in the result, where that is not the order of dialogues."""

    dialogues: int
    negatives: Sequence[Negative]
    last: str = ""
    places: Sequence[int] = ()


class NegativeStream(ABC):
    """Negatives to be made. Each use makes them anew; ``summary`` tells of the last one."""

    def __init__(self) -> None:
        self.summary = Summary()
        self.resumed = Resumed()
        self._made: int | None = None

    @property
    def notes(self) -> Sequence[str]:
        """What there is to say to the user after a run: a condition that is off, say."""
        return ()

    @property
    def asked(self) -> str:
        """What is asked for, in words: how many of what, of where."""
        return "negatives to be made"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.asked}>"

    def __len__(self) -> int:
        """How many negatives there are, as the last use that came to its end has counted them.

        Raises `TypeError`: none did. Nothing is made only to be counted.
        """
        if self._made is None:
            raise TypeError("negatives are counted when they are made: write them, or take list(...)")
        return self._made

    def __bool__(self) -> bool:
        return True

    @abstractmethod
    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """Make the batches behind the first ``skip`` dialogues, whose negatives are ``written``."""

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """What the output depends on, as JSON can hold it; the batch is not part of it."""

    def made_of(self) -> str:
        """A digest of the content that the output is made of, where it is not part of the settings."""
        return ""

    def shared_content(self) -> str:
        """A digest of the content that the output of all shards is made of."""
        return self.made_of()

    @property
    def shard(self) -> Shard | None:
        """The part of the dialogues that negatives are made of; None where it is all."""
        return None

    def shard_header(self, content: str | None = None) -> Header:
        """What the file of a shard says of itself. Where the store is, is no matter: what is in it, whose
        digest is taken where no ``content`` is given."""
        from graphneg.records.shards import RECORDS, Header

        settings = {name: value for name, value in self.settings().items() if name != "store"}
        return Header(str(self.shard), RECORDS, settings, content or self.shared_content())

    def run_shard(self, skip: int) -> Iterator[ShardBatch]:
        """`run` for the file of a shard; what other shards give is not known."""
        from graphneg.records.shards import ShardBatch

        for finished in self.run(skip, tuple[Negative, ...]):
            at = finished.places or [natural_order(negative.dialogue) for negative in finished.negatives]
            items = [(place, to_record(one)) for place, one in zip(at, finished.negatives, strict=True)]
            yield ShardBatch(finished.dialogues, items, finished.last)

    def to_shard(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the file of a shard, ``OUT.3-of-16``, for `graphneg.merging.merge`; resumable as `to_jsonl`.

        Raises `InputError`: as `to_jsonl`, or there is no shard.
        """
        from graphneg.records.shards import open_shard, write_batches

        if self.shard is None or check_destination(out) is None:
            raise InputError(f"{out}: name a shard (3/16), and a file that ends .jsonl or .parquet")
        header = self.shard_header()
        with open_shard(out, header, self.made_of(), overwrite=overwrite) as writer:
            self.resumed = writer.resumed
            self.summary = Summary.from_state(self.resumed.notes.get("summary", {}))
            batches = self.run_shard(self.resumed.dialogues)
            noted = (batch._replace(notes={"summary": self.summary.state()}) for batch in batches)
            write_batches(writer, noted)
        self._made = self.summary.negatives
        return self.summary

    def __iter__(self) -> Iterator[Negative]:
        self.summary, self.resumed = Summary(), Resumed()
        for finished in self.run(0, tuple[Negative, ...]):
            yield from finished.negatives
        self._made = self.summary.negatives

    def to_jsonl(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write one JSON object a line to ``out``, or to standard output (``-``).

        A file is resumable: stopped at any moment, the same call goes on where it was and ends with
        the same bytes; of a file that it has written nothing is made again (``resumed.is_complete``).

        Raises `InputError`: ``out`` can't be written, another run is writing it, or there is another file,
        which ``overwrite`` replaces.
        """
        return self._write(out, ".jsonl", overwrite)

    def to_parquet(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write a Parquet file, resumable as :meth:`to_jsonl` is, with its errors."""
        return self._write(out, ".parquet", overwrite)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame, one row a negative."""
        return to_pandas(self)

    def to_dataset(self) -> datasets.Dataset:
        """A Hugging Face dataset with typed features."""
        return to_dataset(self)

    def _write(self, out: str | Path, suffix: str, overwrite: bool) -> Summary:
        path = check_destination(out)
        if path is None and suffix == ".jsonl":
            write_jsonl(self, out)
            return self.summary
        if path is None or path.suffix != suffix:
            raise InputError(f"{out}: name a file that ends {suffix}")
        settings = self.settings() if self.shard is None else [self.settings(), str(self.shard)]
        settings = fingerprint(settings)
        with ResumableWriter(out, settings, self.made_of(), overwrite=overwrite) as writer:
            self.resumed = writer.resumed
            self.summary = Summary.from_state(self.resumed.notes)
            done = self.resumed.is_complete
            for finished in () if done else self.run(self.resumed.dialogues, writer.written):
                for negative in finished.negatives:
                    writer.write(negative)
                writer.checkpoint(finished.dialogues, self.summary.state(), finished.last)
            writer.finish()
        self._made = self.summary.negatives
        return self.summary
