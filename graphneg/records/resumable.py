"""Write the negatives of a long run to a file, and resume the run after an interruption.

While a run writes ``OUT``, its lines go to a part file beside it, ``OUT.5f0c1d9a7e3b2486.part``. A checkpoint
syncs the part to disk. It then notes in ``.OUT.part.json`` how many dialogues are done, which part holds
their negatives, how many bytes these take, and their SHA-256.

If a run is stopped in any way, the next run with the same settings and the same content cuts the part back to
the last checkpoint and continues there. The finished file is byte for byte that of a run without
interruptions. A part that does not match its note is not used.

``OUT`` itself appears at the end, in one step. A file of another run, or of no run, is replaced only with
``overwrite``. A file of the same run is complete, and nothing is written.

Example:
    Write the negatives of each dialogue, and continue if the program was killed::

        with ResumableWriter("negatives.jsonl", fingerprint(settings)) as writer:
            for done in range(writer.resumed.dialogues, len(dialogues)):
                for negative in negatives_of(dialogues[done]):
                    writer.write(negative)
                writer.checkpoint(done + 1)
            writer.finish()
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
    """The place at which a run continues.

    Attributes:
        dialogues: Number of dialogues that are done.
        negatives: Number of negatives that are written.
        notes: The notes of the last checkpoint.
        discarded: Why the part of an earlier run was not used; None if there was none, or it is used.
        last: The place of the last dialogue that is done, as the run gave it at the checkpoint.
        is_complete: Whether the file is complete, so that nothing is left to do.
    """

    dialogues: int = 0
    negatives: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    discarded: str | None = None
    last: str = ""
    is_complete: bool = False


_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The note of a part."""

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
    """What the note of a finished file says about its run."""

    dialogues: _Count
    negatives: _Count
    notes: dict[str, Any]
    last: str


def part_note(path: Path) -> Path:
    """Return the path of the note that holds the checkpoints of an unfinished output.

    Args:
        path: The output.

    Returns:
        A hidden file beside it.
    """
    return path.with_name(f".{path.name}.part.json")


class ResumableWriter(AbstractContextManager["ResumableWriter"]):
    """Writes negatives to a file, resumable at its checkpoints.

    Use it in a ``with`` block. If the block ends without `finish`, the part is kept.

    Args:
        out: A file that ends in .jsonl or .parquet.
        fingerprint: A digest of the settings of the run.
        made_of: A digest of the content from which the negatives are made.
        overwrite: Whether to replace a file of another run, or of no run.
        shard: Write the file of this shard of ``out``. Its lines may be any JSON.

    Attributes:
        resumed: The place at which the run continues.

    Raises:
        InputError: The file cannot be written, another run is writing it, or it exists and must not be
            replaced.
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
        """Initialize by locking the output, and open the part of a stopped run or a new one."""
        own = None if shard is None else shard.file(out)
        # The file of a shard has a suffix such as .3-of-16.
        path = check_destination(out) if own is None else check_output(own, [own.suffix])
        if path is None:
            raise InputError(f"{STANDARD_OUTPUT}: standard output can't be resumed; name a file")
        self._path = path
        self._fingerprint, self._made_of = fingerprint, made_of
        # A finished file belongs to a run with these settings and this content.
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
                    # The run was stopped between the rename and the removal of the note.
                    self._forget_stopped(noted)
            else:
                with self._writing():
                    self._part, self._file, self.resumed = self._begun(noted, held)
                    stack.enter_context(self._file)
            self._negatives, self._dialogues = self.resumed.negatives, self.resumed.dialogues
            self._notes, self._last = self.resumed.notes, self.resumed.last
            # Note a new part at once. If this run is killed now, the next one knows whose part it is.
            if not (self.resumed.is_complete or self.resumed.dialogues):
                self.checkpoint(0)
            # Everything has succeeded, so the lock is kept until `close`.
            self._held = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        """Stop writing, keeping the part."""
        self.close()

    def write(self, negative: Negative) -> None:
        """Add a negative. It counts from the next checkpoint on.

        Args:
            negative: The negative.
        """
        self.write_line(negative_to_json(negative))

    def write_line(self, line: str) -> None:
        """Add a line of JSON that is not a negative. It counts from the next checkpoint on.

        Args:
            line: The line, without a line end.
        """
        with self._writing():
            data = line.encode() + b"\n"
            self._open.write(data)
            # The digest grows with the part, so that a checkpoint does not have to read the part again.
            self._written.update(data)
        self._negatives += 1

    def checkpoint(self, dialogues: int, notes: Mapping[str, Any] | None = None, last: str = "") -> None:
        """Acknowledge everything that was written.

        Args:
            dialogues: Number of dialogues that are done since the start of the run, including interrupted
                parts.
            notes: Notes that `resumed` returns to the next run, such as counts. They must be JSON values.
            last: The place of the last dialogue, which `resumed` returns to the next run.
        """
        self._dialogues, self._notes, self._last = dialogues, notes or {}, last
        with self._writing():
            # First the data, then the note: a note must not promise more than the part holds.
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
        """The SHA-256 of everything that was written so far, in hexadecimal digits."""
        return self._written.hexdigest()

    def written(self) -> Iterator[Negative]:
        """Return all negatives that were written so far, read from the part."""
        with self._writing():
            self._open.flush()
        return read_jsonl(self._part)

    def finish(self) -> Path:
        """Put the finished file in its place, converted to Parquet if its suffix says so.

        If the program is stopped during this, the old file or the new one is there, and never a partial one.

        Returns:
            The path of the file.

        Raises:
            InputError: Another program changed the part.
        """
        if not self.resumed.is_complete:
            with self._writing():
                self._open.flush()
                # The part has an ordinary name, so another program may have written to it.
                if file_digest(self._part) != self._written.hexdigest():
                    raise InputError(
                        f"{self._part}: changed by another program while the run wrote it; run the command "
                        "again"
                    )
                # A Parquet file cannot be continued after an interruption, so it is made from the lines at
                # the end.
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
        """Stop writing. The next run drops what no checkpoint has acknowledged."""
        with suppress(OSError):  # The disk may be full. That error has been reported already.
            self._held.close()

    @property
    def _open(self) -> BinaryIO:
        """The open part."""
        assert self._file is not None, "the file is complete already"
        return self._file

    def _facts(self) -> dict[str, Any]:
        """Return the progress of the run, for its notes."""
        done = {"dialogues": self._dialogues, "negatives": self._negatives}
        return {**done, "notes": self._notes, "last": self._last}

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Add to an error of writing what has been kept."""
        try:
            yield
        except (OSError, InputError) as error:
            # A wrong record is the caller's mistake. Only failures of the disk are explained here.
            if isinstance(error, InputError) and not isinstance(error.__cause__, OSError):
                raise
            kept = "what was made up to the last checkpoint is kept"
            raise unwritable(self._path, error, kept) from error

    def _begun(self, noted: Mapping[str, Any], held: Held) -> tuple[Path, BinaryIO, Resumed]:
        """Return the part to write, open at its end: that of a stopped run, or a new one and the reason."""
        before, reason = _checkpoint(noted, self._path), None
        if before is None:
            reason = f"{self._note.path} is not readable" if noted else None
        else:
            reason = self._verified(before)
        if before is not None and reason is None:
            facts = {name: getattr(before, name) for name in _FinishedFacts.__struct_fields__}
            part = self._path.with_name(before.part)
            file = open_regular(part, writable=True)
            # Drop what was written after the last checkpoint.
            file.truncate(before.offset)
            file.seek(before.offset)
            return part, file, Resumed(**facts)
        self._written = hashlib.sha256()
        if held.stale and (before is None or before.part != self._part_name(held.stale)):
            # The previous run was killed after it had created its part, and before it had noted that.
            self._path.with_name(self._part_name(held.stale)).unlink(missing_ok=True)
        part = self._path.with_name(self._part_name(held.token))
        return part, create_exclusively(part), Resumed(discarded=reason)

    def _part_name(self, token: str) -> str:
        """Return the name of the part with a token."""
        return f"{self._path.name}.{token}.part"

    def _verified(self, before: _Checkpoint) -> str | None:
        """Return why the part of a stopped run cannot be used, or None; digest its content on the way."""
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
            return f"{part} no longer exists"
        except InputError:
            return f"{part} is not the file that the run wrote, and is kept"
        if self._written.hexdigest() != before.digest:
            return f"{part} was changed after the run wrote it, and is kept"
        # The part is as the run left it. If it belongs to other settings or content, remove it. A part that
        # is not as it was left may be somebody's file, so it stays.
        reason: str | None = None
        if before.fingerprint != self._fingerprint:
            reason = f"{self._path} was started with other settings"
        elif before.made_of != self._made_of:
            reason = f"the input of {self._path} has changed since the run was started"
        if reason is not None:
            part.unlink()
        return reason

    def _forget_stopped(self, noted: Mapping[str, Any]) -> None:
        """Remove the part and the note of a run that was stopped when it had just finished."""
        before = _checkpoint(noted, self._path)
        if before is not None and self._verified(before) is None:
            self._path.with_name(before.part).unlink(missing_ok=True)
        self._note.remove()


_CHUNK = 1 << 20
"""Number of bytes that are read at a time."""


def _checkpoint(noted: Mapping[str, Any], path: Path) -> _Checkpoint | None:
    """Return the checkpoint in a note; None if the note was not written by a run."""
    try:
        found = msgspec.convert(noted, _Checkpoint)
    except msgspec.ValidationError:
        return None
    # Accept only names of parts, so that a forged note cannot make a run cut or remove another file.
    is_part = re.fullmatch(rf"{re.escape(path.name)}\.[0-9a-f]{{16}}\.part", found.part)
    return found if is_part else None


Written = Callable[[], Iterable[Negative]]
"""Returns the negatives that an interrupted run has written."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of one batch.

    Attributes:
        dialogues: Number of dialogues that are done since the start of the run.
        negatives: The negatives of the batch.
        last: The place of the last dialogue of the batch, which a resumed run finds in ``resumed.last``.
        places: The place of each negative in the result; empty if the order of dialogues decides.
    """

    dialogues: int
    negatives: Sequence[Negative]
    last: str = ""
    places: Sequence[int] = ()


class NegativeStream(ABC):
    """Negatives that are made when they are used. Each use makes them anew.

    Attributes:
        summary: The counts of the last use.
        resumed: The place at which the last use continued.
    """

    def __init__(self) -> None:
        """Initialize without making negatives."""
        self.summary = Summary()
        self.resumed = Resumed()
        self._made: int | None = None

    @property
    def notes(self) -> Sequence[str]:
        """Messages for the user after a run, for example about a condition that is switched off."""
        return ()

    @property
    def asked(self) -> str:
        """A description of the request: how many negatives, of which kind, from which dialogues."""
        return "negatives to be made"

    def __repr__(self) -> str:
        """Return the class and the request in angle brackets."""
        return f"<{type(self).__name__}: {self.asked}>"

    def __len__(self) -> int:
        """Return the number of negatives that the last complete use has counted.

        Returns:
            The number.

        Raises:
            TypeError: No use was complete. Negatives are not made only to be counted.
        """
        if self._made is None:
            raise TypeError("negatives are counted when they are made: write them, or take list(...)")
        return self._made

    def __bool__(self) -> bool:
        """Return True, because `bool` would otherwise call `__len__`, which fails before the first use."""
        return True

    @abstractmethod
    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """Make batches of negatives.

        Args:
            skip: Number of dialogues at the start that are done.
            written: Returns the negatives of these dialogues.

        Yields:
            The batches, in the order of dialogues.
        """

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """Return everything that the output depends on, as JSON values. The batch size is not included."""

    def made_of(self) -> str:
        """Return a digest of the content from which the output is made, if the settings do not include it."""
        return ""

    def shared_content(self) -> str:
        """Return a digest of the content from which the output of all shards is made."""
        return self.made_of()

    @property
    def shard(self) -> Shard | None:
        """The shard of the dialogues from which negatives are made; None for all dialogues."""
        return None

    def shard_header(self, content: str | None = None) -> Header:
        """Return the header of the file of a shard.

        Args:
            content: The digest of the content; by default it is computed.

        Returns:
            The header. The place of the store is not a part of it, only the content is.
        """
        from graphneg.records.shards import RECORDS, Header

        # Each machine may have its store in another place.
        settings = {name: value for name, value in self.settings().items() if name != "store"}
        return Header(str(self.shard), RECORDS, settings, content or self.shared_content())

    def run_shard(self, skip: int) -> Iterator[ShardBatch]:
        """Make batches for the file of a shard, without knowledge of the other shards.

        Args:
            skip: Number of dialogues at the start that are done.

        Yields:
            The batches, in the order of dialogues.
        """
        from graphneg.records.shards import ShardBatch

        for finished in self.run(skip, tuple[Negative, ...]):
            # Without places, the natural order of the dialogue ids decides.
            at = finished.places or [natural_order(negative.dialogue) for negative in finished.negatives]
            items = [(place, to_record(one)) for place, one in zip(at, finished.negatives, strict=True)]
            yield ShardBatch(finished.dialogues, items, finished.last)

    def to_shard(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the file of a shard, ``OUT.3-of-16``, which `graphneg.merging.merge` reads.

        It is resumable like `to_jsonl`.

        Args:
            out: The file that all shards make together. It ends in .jsonl or .parquet.
            overwrite: Whether to replace an existing file.

        Returns:
            The counts of the run.

        Raises:
            InputError: The stream has no shard, or ``out`` is standard output.
        """
        from graphneg.records.shards import open_shard, write_batches

        if self.shard is None or check_destination(out) is None:
            raise InputError(f"{out}: name a shard (3/16), and a file that ends .jsonl or .parquet")
        header = self.shard_header()
        with open_shard(out, header, self.made_of(), overwrite=overwrite) as writer:
            self.resumed = writer.resumed
            # The counts continue where the last checkpoint left them.
            self.summary = Summary.from_state(self.resumed.notes.get("summary", {}))
            batches = self.run_shard(self.resumed.dialogues)
            noted = (batch._replace(notes={"summary": self.summary.state()}) for batch in batches)
            write_batches(writer, noted)
        self._made = self.summary.negatives
        return self.summary

    def __iter__(self) -> Iterator[Negative]:
        """Make the negatives and yield them one by one."""
        self.summary, self.resumed = Summary(), Resumed()
        for finished in self.run(0, tuple[Negative, ...]):
            yield from finished.negatives
        self._made = self.summary.negatives

    def to_jsonl(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the negatives to a file with one JSON object per line.

        A file is resumable: if the run is stopped at any moment, the same call continues it and ends with the
        same bytes. If the same call has already written the file, nothing is made again
        (``resumed.is_complete``). A file that cannot be written, that another run is writing, or that must
        not be replaced, raises `InputError`.

        Args:
            out: The file, or ``-`` for standard output.
            overwrite: Whether to replace a file of another run.

        Returns:
            The counts of the run.
        """
        return self._write(out, ".jsonl", overwrite)

    def to_parquet(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the negatives to a Parquet file, resumable like `to_jsonl`.

        Args:
            out: The file.
            overwrite: Whether to replace a file of another run.

        Returns:
            The counts of the run.
        """
        return self._write(out, ".parquet", overwrite)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per negative."""
        return to_pandas(self)

    def to_dataset(self) -> datasets.Dataset:
        """Return a Hugging Face data set with typed features."""
        return to_dataset(self)

    def _write(self, out: str | Path, suffix: str, overwrite: bool) -> Summary:
        """Write a file, resuming a stopped run."""
        path = check_destination(out)
        if path is None and suffix == ".jsonl":
            write_jsonl(self, out)
            return self.summary
        if path is None or path.suffix != suffix:
            raise InputError(f"{out}: name a file that ends {suffix}")
        # Different shards must not resume each other.
        settings = self.settings() if self.shard is None else [self.settings(), str(self.shard)]
        settings = fingerprint(settings)
        with ResumableWriter(out, settings, self.made_of(), overwrite=overwrite) as writer:
            self.resumed = writer.resumed
            self.summary = Summary.from_state(self.resumed.notes)
            done = self.resumed.is_complete
            # A complete file of the same run needs no work.
            for finished in () if done else self.run(self.resumed.dialogues, writer.written):
                for negative in finished.negatives:
                    writer.write(negative)
                writer.checkpoint(finished.dialogues, self.summary.state(), finished.last)
            writer.finish()
        self._made = self.summary.negatives
        return self.summary
