"""Write the negatives of a long run to a file, and resume the run after an interruption.

A run does not write the file ``OUT`` directly. It first writes a temporary file in the same folder, the part
file ``OUT.5f0c1d9a7e3b2486.part``. At regular checkpoints, it syncs the part file to disk and then writes a
small file, the note ``.OUT.part.json``. The note contains the number of finished dialogues, the name of the
part file, the size of the part file at the checkpoint, and the SHA-256 of its content.

If a run is stopped in any way, the next run with the same settings and content truncates the part file to the
last checkpoint and continues there. The finished file is the same, byte for byte, as if the run had not been
interrupted. A part file that does not match its note is not used.

At the end, the part file is renamed to ``OUT``. If ``OUT`` exists already and the same run has written it, it
is complete, and nothing is written. Any other existing file is replaced only with ``overwrite``.

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
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.ids import natural_order
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
from graphneg.shards import Shard

if TYPE_CHECKING:
    import datasets
    import pandas

    from graphneg.records.shards import Header, ShardBatch


@dataclass(frozen=True, slots=True)
class Resumed:
    """The state from which a run continues.

    Attributes:
        dialogues: Number of dialogues that the earlier run finished.
        negatives: Number of negatives that the earlier run wrote.
        notes: The values that the earlier run stored in its last checkpoint, such as counts.
        discarded: Why the part file of the earlier run could not be used; None if it is used or does not
            exist.
        last: The sort key of the last finished dialogue, as stored in the last checkpoint of the earlier run.
        is_complete: Whether the output file is already complete, so that nothing is left to do.
    """

    dialogues: int = 0
    negatives: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    discarded: str | None = None
    last: str = ""
    is_complete: bool = False


_Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file ``.OUT.part.json``: the state of an unfinished run at its last checkpoint."""

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
    """The description of a finished run. For an output file ``OUT``, it is stored in ``.OUT.run.json``."""

    dialogues: _Count
    negatives: _Count
    notes: dict[str, Any]
    last: str


def checkpoint_path(path: Path) -> Path:
    """Return the path of the JSON file that stores the last checkpoint of an unfinished output.

    Args:
        path: The output file of the run.

    Returns:
        The path of a hidden file in the same folder as the output.
    """
    return path.with_name(f".{path.name}.part.json")


class ResumableWriter(AbstractContextManager["ResumableWriter"]):
    """Writes negatives to a file, in such a way that an interrupted run can be resumed.

    Use the writer in a ``with`` block. If the block ends before `finish` is called, the part file (the
    unfinished output) is kept, and the next run continues at the last checkpoint.

    Args:
        out: A file that ends in .jsonl or .parquet.
        fingerprint: A digest of the settings of the run.
        content_digest: A digest of the content from which the negatives are made.
        overwrite: Whether to replace an existing file that this run did not write.
        shard: The shard whose file is written, such as ``OUT.3-of-16``; None to write ``out`` itself. The
            lines of a shard may be any JSON, not only negatives.

    Attributes:
        resumed: The state from which the run continues.

    Raises:
        InputError: The file cannot be written, another run is writing it, or it exists and must not be
            replaced.
    """

    def __init__(
        self,
        out: str | Path,
        fingerprint: str,
        content_digest: str = "",
        *,
        overwrite: bool = False,
        shard: Shard | None = None,
    ) -> None:
        """Lock the output, and open the part file of a stopped run or create a new one."""
        own = None if shard is None else shard.file(out)
        # The file of a shard ends in a suffix such as ".3-of-16", which `check_output` must accept.
        path = check_destination(out) if own is None else check_output(own, [own.suffix])
        if path is None:
            raise InputError(f"{STANDARD_OUTPUT}: standard output can't be resumed; name a file")
        self._path = path
        self._fingerprint, self._content_digest = fingerprint, content_digest
        # `_run` is stored in the run note of the finished file, and identifies the settings and the content.
        self._run = f"{fingerprint} {content_digest}"
        self._file: BinaryIO | None = None
        self._written = hashlib.sha256()
        with ExitStack() as stack:
            held = stack.enter_context(locking(path))
            self._note = RunNote(checkpoint_path(path), fingerprint, held.token)
            self._token = held.token
            noted = read_own_note(self._note.path)
            if done := finished_run(path, self._run, overwrite):
                facts = converted(done, _FinishedFacts, f"the note of {path}")
                self.resumed = Resumed(**msgspec.structs.asdict(facts), is_complete=True)
                if noted.get("fingerprint") == fingerprint:
                    # The output file is complete, but the file ``.OUT.part.json`` with the last checkpoint
                    # still exists. The previous run was stopped before it could remove this file.
                    self._remove_leftovers(noted)
            else:
                with self._writing():
                    self._part, self._file, self.resumed = self._opened_part_file(noted, held)
                    stack.enter_context(self._file)
            self._negatives, self._dialogues = self.resumed.negatives, self.resumed.dialogues
            self._notes, self._last = self.resumed.notes, self.resumed.last
            # Write a checkpoint for a new part file at once. If this run is killed, the next run can see from
            # the checkpoint that graphneg wrote the part file.
            if not (self.resumed.is_complete or self.resumed.dialogues):
                try:
                    self.checkpoint(0)
                except InputError:
                    # The checkpoint could not be written. Without it, later runs would not know that graphneg
                    # wrote the part file, and would never remove it. So remove it now. Nothing has been
                    # written to it yet.
                    self._part.unlink(missing_ok=True)
                    raise
            # The file was opened without an error, so keep its lock until `close` is called. Without
            # `pop_all`, the end of the `with` block would release the lock.
            self._held = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        """Stop writing. Keep an unfinished file under its temporary name, so that the run can be resumed."""
        self.close()

    def write(self, negative: Negative) -> None:
        """Write a negative. A resumed run keeps it only if a checkpoint was made after it was written.

        Args:
            negative: The negative to write.
        """
        self.write_line(negative_to_json(negative))

    def write_line(self, line: str) -> None:
        """Write a line of JSON. A resumed run keeps it only if a checkpoint was made after it was written.

        Args:
            line: The line, without a line end.
        """
        with self._writing():
            data = line.encode() + b"\n"
            self._open_file.write(data)
            # Update the digest with each line. Otherwise, each checkpoint would have to read the whole part
            # file.
            self._written.update(data)
        self._negatives += 1

    def checkpoint(self, dialogues: int, notes: Mapping[str, Any] | None = None, last: str = "") -> None:
        """Record the progress, so that everything written so far is kept after an interruption.

        Args:
            dialogues: Number of dialogues that are done, including dialogues that were done before an earlier
                interruption.
            notes: JSON values that the next run finds in ``resumed.notes``, such as counts.
            last: The sort key of the last dialogue, which the next run finds in ``resumed.last``.
        """
        self._dialogues, self._notes, self._last = dialogues, notes or {}, last
        with self._writing():
            # Sync the part file to disk before the checkpoint is written to the note ``.OUT.part.json``. If a
            # power failure occurs, the note must not count lines that the part file does not contain.
            self._open_file.flush()
            os.fsync(self._open_file.fileno())
            self._note.write(
                made_of=self._content_digest,
                part=self._part.name,
                offset=self._open_file.tell(),
                digest=self._written.hexdigest(),
                **self._facts(),
            )

    @property
    def digest(self) -> str:
        """The SHA-256 of everything written so far, in hexadecimal."""
        return self._written.hexdigest()

    def written(self) -> Iterator[Negative]:
        """Read the part file, and return all negatives that were written to it so far."""
        with self._writing():
            self._open_file.flush()
        return read_jsonl(self._part)

    def finish(self) -> Path:
        """Give the finished file its final name. If this name ends in .parquet, convert the file first.

        If the program is stopped in this method, the file with the final name is either the old file or the
        new file, and never incomplete.

        Returns:
            The path of the file.

        Raises:
            InputError: Another program changed the part file.
        """
        if not self.resumed.is_complete:
            with self._writing():
                self._open_file.flush()
                # Check that no other program has changed the part file, which lies in a folder of the user.
                if file_digest(self._part) != self._written.hexdigest():
                    raise InputError(
                        f"{self._part}: another program changed this file during the run; run the command "
                        "again"
                    )
                # Rows cannot be appended to a Parquet file after an interruption. So the unfinished file
                # always contains JSON lines, and is converted at the end.
                if self._path.suffix == ".parquet":
                    with replacing(self._path, self._token) as converted_file:
                        write_rows(read_jsonl(self._part), converted_file)
                        note_finished(self._path, converted_file, self._run, self._token, **self._facts())
                    self._part.unlink(missing_ok=True)
                else:
                    note_finished(self._path, self._part, self._run, self._token, **self._facts())
                    replace(self._part, self._path)
                self._note.remove()
        self.close()
        return self._path

    def close(self) -> None:
        """Stop writing. If the file is unfinished, lines after the last checkpoint will not be kept."""
        # If the disk is full, closing the file fails, too, but the error has already been reported.
        with suppress(OSError):
            self._held.close()

    @property
    def _open_file(self) -> BinaryIO:
        assert self._file is not None, "the file is complete already"
        return self._file

    def _facts(self) -> dict[str, Any]:
        """Return the progress of the run, such as its number of dialogues, for a checkpoint."""
        done = {"dialogues": self._dialogues, "negatives": self._negatives}
        return {**done, "notes": self._notes, "last": self._last}

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Convert a disk error into an `InputError` that also says what was saved."""
        try:
            yield
        except (OSError, InputError) as error:
            # If an `InputError` was not caused by an `OSError`, the disk did not fail. The cause is, for
            # example, an invalid record, so do not convert the error.
            if isinstance(error, InputError) and not isinstance(error.__cause__, OSError):
                raise
            kept = "what was made up to the last checkpoint is kept"
            raise unwritable(self._path, error, kept) from error

    def _opened_part_file(self, noted: Mapping[str, Any], held: Held) -> tuple[Path, BinaryIO, Resumed]:
        """Open the unfinished output of a stopped run, or a new file. Return its path, file and state."""
        before, reason = _checkpoint(noted, self._path), None
        if before is None:
            reason = f"{self._note.path} is not readable" if noted else None
        else:
            reason = self._reason_not_to_resume(before)
        if before is not None and reason is None:
            facts = {name: getattr(before, name) for name in _FinishedFacts.__struct_fields__}
            part = self._path.with_name(before.part)
            file = open_regular(part, writable=True)
            # Remove the lines that were written after the last checkpoint.
            file.truncate(before.offset)
            file.seek(before.offset)
            return part, file, Resumed(**facts)
        self._written = hashlib.sha256()
        if held.stale and (before is None or before.part != self._part_name(held.stale)):
            # No checkpoint belongs to this part file. If the previous run was killed before its first
            # checkpoint, its part file is empty, so remove this file.
            self._path.with_name(self._part_name(held.stale)).unlink(missing_ok=True)
        part = self._path.with_name(self._part_name(held.token))
        return part, create_exclusively(part), Resumed(discarded=reason)

    def _part_name(self, token: str) -> str:
        """Return the name of the part file, which contains the unfinished output: ``NAME.TOKEN.part``."""
        return f"{self._path.name}.{token}.part"

    def _reason_not_to_resume(self, before: _Checkpoint) -> str | None:
        """Compare the part file of a stopped run with its checkpoint.

        Returns:
            The reason why the run cannot be resumed; None if it can be resumed.
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
            return f"{part} no longer exists"
        except InputError:
            return f"{part} is not the file that the run wrote, and is kept"
        if self._written.hexdigest() != before.digest:
            return f"{part} was changed after the run wrote it, and is kept"
        # The part file matches its checkpoint, so graphneg wrote it and may remove it. If the settings or the
        # content have changed, the part file cannot be resumed, so remove it.
        reason: str | None = None
        if before.fingerprint != self._fingerprint:
            reason = f"{self._path} was started with other settings"
        elif before.made_of != self._content_digest:
            reason = f"the input of {self._path} has changed since the run was started"
        if reason is not None:
            part.unlink()
        return reason

    def _remove_leftovers(self, noted: Mapping[str, Any]) -> None:
        """Remove the part file and checkpoint of a run that was stopped just after finishing its output."""
        before = _checkpoint(noted, self._path)
        if before is not None and self._reason_not_to_resume(before) is None:
            self._path.with_name(before.part).unlink(missing_ok=True)
        self._note.remove()


_CHUNK = 1 << 20
"""Number of bytes of a part file to read at a time."""


def _checkpoint(noted: Mapping[str, Any], path: Path) -> _Checkpoint | None:
    """Return the checkpoint that the note ``.OUT.part.json`` describes; None if the note is not valid."""
    try:
        found = msgspec.convert(noted, _Checkpoint)
    except msgspec.ValidationError:
        return None
    # A forged checkpoint could name any file, which the run would then truncate or remove. So accept only a
    # name that a part file can have.
    is_part = re.fullmatch(rf"{re.escape(path.name)}\.[0-9a-f]{{16}}\.part", found.part)
    return found if is_part else None


Written = Callable[[], Iterable[Negative]]
"""A function that returns the negatives that an interrupted run has already written."""


@dataclass(frozen=True, slots=True)
class NegativeBatch:
    """A batch of finished dialogues with their negatives.

    Attributes:
        dialogues: Number of dialogues that are done after this batch, counted from the start of the run.
        negatives: The negatives of the batch.
        last: The sort key of the last dialogue of the batch. If the run is interrupted, it resumes after this
            dialogue (`Resumed.last`).
        places: For each negative, the number of its dialogue or context in the input. `merge` sorts the
            negatives of all shards by these numbers. Empty if the output is sorted by dialogue.
    """

    dialogues: int
    negatives: Sequence[Negative]
    last: str = ""
    places: Sequence[int] = ()


class NegativeStream(ABC):
    """A stream of negatives. Each time that it is iterated or written, the negatives are computed again.

    Attributes:
        summary: The counts from the last time that the stream was iterated or written.
        resumed: The state from which the stream continued when it was last written to a file.
    """

    def __init__(self) -> None:
        self.summary = Summary()
        self.resumed = Resumed()
        self._made: int | None = None

    @property
    def notes(self) -> Sequence[str]:
        """Messages to show to the user after a run, for example that a condition was switched off."""
        return ()

    @property
    def description(self) -> str:
        """A description of the negatives to be made: how many, of which kind, and from which dialogues."""
        return "negatives to be made"

    def __repr__(self) -> str:
        """Return the name of the class, followed by `description`."""
        return f"<{type(self).__name__}: {self.description}>"

    def __len__(self) -> int:
        """Return the number of negatives that were computed when the stream was last iterated or written.

        Returns:
            The number of negatives.

        Raises:
            TypeError: The stream was never iterated or written completely. It would take too long to compute
                the negatives only to count them.
        """
        if self._made is None:
            raise TypeError(
                "the number of negatives is known only after they are made: write them to a file, or use "
                "list(...)"
            )
        return self._made

    def __bool__(self) -> bool:
        """Return True. By default, `bool` would call `__len__`, which fails before the first iteration."""
        return True

    @abstractmethod
    def run(self, skip: int, written: Written) -> Iterator[NegativeBatch]:
        """Compute batches of negatives.

        Args:
            skip: Number of dialogues to skip, because an interrupted run has finished them.
            written: Function that returns the negatives that the interrupted run has made from the skipped
                dialogues.

        Yields:
            The batches, in the order of the dialogues.
        """

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that determine the output, as JSON values.

        For example, the batch size is not included, because the output does not depend on it.
        """

    def content_digest(self) -> str:
        """Return a digest of the input of the run; empty if the `settings` already identify the input."""
        return ""

    def shared_content(self) -> str:
        """Return a digest of the content that all shards of a run have in common."""
        return self.content_digest()

    @property
    def shard(self) -> Shard | None:
        """The shard of the dialogues from which negatives are made; None for all dialogues."""
        return None

    def shard_header(self, content: str | None = None) -> Header:
        """Return the header line of the output file for one shard of the dialogues.

        Args:
            content: A digest of the dialogues and graphs in the store; None to compute it.

        Returns:
            The header. It contains the digest instead of the path of the store, which differs between
            machines.
        """
        from graphneg.records.shards import RECORDS, Header

        # The headers of all shards must be equal, but the location of the store may differ between machines.
        given = with_model_digests(self.settings())
        settings = {name: value for name, value in given.items() if name != "store"}
        return Header(str(self.shard), RECORDS, settings, content or self.shared_content())

    def run_shard(self, skip: int) -> Iterator[ShardBatch]:
        """Compute the batches for the file of one shard, without access to the other shards.

        Args:
            skip: Number of dialogues to skip, because an interrupted run has finished them.

        Yields:
            The batches, in the order of the dialogues.
        """
        from graphneg.records.shards import ShardBatch

        for finished in self.run(skip, tuple[Negative, ...]):
            # `places` contains sort keys of the negatives. If it is empty, sort by the ids of the dialogues.
            at = finished.places or [natural_order(negative.dialogue) for negative in finished.negatives]
            items = [(place, to_record(one)) for place, one in zip(at, finished.negatives, strict=True)]
            yield ShardBatch(finished.dialogues, items, finished.last)

    def to_shard(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the file of a shard, such as ``OUT.3-of-16``. `graphneg.merging.merge` reads these files.

        An interrupted run is resumed, as in `to_jsonl`.

        Args:
            out: The name of the merged file, which ends in .jsonl or .parquet. The name of the shard's file
                is derived from it.
            overwrite: Whether to replace an existing file of the shard.

        Returns:
            The numbers of negatives made and of items skipped.

        Raises:
            InputError: The stream has no shard, or ``out`` is standard output.
        """
        from graphneg.records.shards import open_shard, write_batches

        if self.shard is None or check_destination(out) is None:
            raise InputError(f"{out}: name a shard (3/16), and a file that ends in .jsonl or .parquet")
        header = self.shard_header()
        with open_shard(out, header, self.content_digest(), overwrite=overwrite) as writer:
            self.resumed = writer.resumed
            # Continue with the counts that the last checkpoint stored.
            self.summary = Summary.from_state(self.resumed.notes.get("summary", {}))
            batches = self.run_shard(self.resumed.dialogues)
            noted = (batch._replace(notes={"summary": self.summary.state()}) for batch in batches)
            write_batches(writer, noted)
        self._made = self.summary.negatives_and_twins
        return self.summary

    def __iter__(self) -> Iterator[Negative]:
        """Compute the negatives and yield them one by one."""
        self.summary, self.resumed = Summary(), Resumed()
        for finished in self.run(0, tuple[Negative, ...]):
            yield from finished.negatives
        self._made = self.summary.negatives_and_twins

    def to_jsonl(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the negatives to a file with one JSON object per line.

        If the run is interrupted, the same call continues it, and the finished file is the same, byte for
        byte, as without the interruption. If the same call has already written the file, nothing is computed
        again, and ``resumed.is_complete`` is True. Raises `InputError` if the file cannot be written, if
        another run is writing it, or if it exists and must not be replaced.

        Args:
            out: The file, or ``-`` for standard output.
            overwrite: Whether to replace an existing file. A file that an interrupted run with the same
                settings has begun is not replaced, but completed.

        Returns:
            How many negatives were made, and how many were skipped for which reason.
        """
        return self._write(out, ".jsonl", overwrite)

    def to_parquet(self, out: str | Path, *, overwrite: bool = False) -> Summary:
        """Write the negatives to a Parquet file. An interrupted run is resumed, as in `to_jsonl`.

        Args:
            out: The file to write.
            overwrite: Whether to replace an existing file. A file that an interrupted run with the same
                settings has begun is not replaced, but completed.

        Returns:
            How many negatives were made, and how many were skipped for which reason.
        """
        return self._write(out, ".parquet", overwrite)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the negatives as a data frame with a row per negative."""
        return to_pandas(self)

    def to_dataset(self) -> datasets.Dataset:
        """Return the negatives as a Hugging Face data set with typed features."""
        return to_dataset(self)

    def _write(self, out: str | Path, suffix: str, overwrite: bool) -> Summary:
        """Write the negatives to a file with the given suffix, and resume an interrupted run."""
        path = check_destination(out)
        if path is None and suffix == ".jsonl":
            write_jsonl(self, out)
            return self.summary
        if path is None or path.suffix != suffix:
            raise InputError(f"{out}: name a file that ends in {suffix}")
        # Include the shard in the fingerprint, so that a run never resumes the file of another shard.
        settings = with_model_digests(self.settings())
        settings = fingerprint(settings if self.shard is None else [settings, str(self.shard)])
        with ResumableWriter(out, settings, self.content_digest(), overwrite=overwrite) as writer:
            self.resumed = writer.resumed
            self.summary = Summary.from_state(self.resumed.notes)
            done = self.resumed.is_complete
            # If the file is complete, there is nothing to compute.
            for finished in () if done else self.run(self.resumed.dialogues, writer.written):
                for negative in finished.negatives:
                    writer.write(negative)
                writer.checkpoint(finished.dialogues, self.summary.state(), finished.last)
            writer.finish()
        self._made = self.summary.negatives_and_twins
        return self.summary
