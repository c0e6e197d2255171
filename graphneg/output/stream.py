"""A run that makes negatives batch by batch: iterated, written resumably, or turned into a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.output.destination import check_destination
from graphneg.output.jsonl import write_jsonl
from graphneg.output.resumable import ResumableWriter, Resumed, fingerprint
from graphneg.output.summary import Summary
from graphneg.output.tables import to_dataset, to_pandas

if TYPE_CHECKING:
    import datasets
    import pandas

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
        the same bytes.

        Raises:
            InputError: ``out`` can't be written, or another run is writing it.
        """
        return self._write(out, ".jsonl")

    def to_parquet(self, out: str | Path) -> Summary:
        """Write a Parquet file, resumable as :meth:`to_jsonl` is.

        Raises:
            InputError: ``out`` can't be written, or another run is writing it.
        """
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
