"""Negatives to be made: a stream that can be iterated, written, or turned into a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg import __version__
from graphneg.decoders import Decoder
from graphneg.editing.generation import Finished, Generator, Request
from graphneg.editing.originals import Originals
from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.output import (
    ResumableWriter,
    Resumed,
    Summary,
    check_destination,
    fingerprint,
    to_dataset,
    to_pandas,
    write_jsonl,
)
from graphneg.progress import NoProgress, Progress
from graphneg.store import Store

if TYPE_CHECKING:
    import datasets
    import pandas


class Negatives:
    """The negatives of a request. Each use makes them anew; ``summary`` tells of the last one."""

    def __init__(
        self,
        store: Store,
        request: Request,
        decoder: Decoder,
        progress: Progress | None = None,
        decoder_options: Mapping[str, Any] | None = None,
        originals: Originals | None = None,
    ) -> None:
        self.summary = Summary()
        self.resumed = Resumed()
        self._store = store
        self._request = request
        self._decoder = decoder
        self._originals = originals or Originals(store)
        self._progress = progress or NoProgress()
        self._decoder_options = {name: repr(value) for name, value in (decoder_options or {}).items()}

    def __iter__(self) -> Iterator[Negative]:
        self.summary = Summary()
        for finished in self._run(0):
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
        with ResumableWriter(out, fingerprint(self._settings())) as writer:
            self.resumed = writer.resumed
            self.summary = Summary.from_state(self.resumed.notes)
            for finished in self._run(self.resumed.dialogues):
                for negative in finished.negatives:
                    writer.write(negative)
                writer.checkpoint(finished.dialogues, self.summary.state())
            writer.finish()
        return self.summary

    def _run(self, skip: int) -> Iterator[Finished]:
        generator = Generator(
            self._store, self._request, self._decoder, self.summary, self._progress, self._originals
        )
        return generator.run(skip)

    def _settings(self) -> dict[str, Any]:
        """What the output depends on; the batch is not part of it."""
        plan, selection = self._request.plan, self._request.selection
        recipe = plan.recipe
        return {
            "version": __version__,
            "store": self._store.description,
            "recipe": [recipe.name, recipe.groups, recipe.least, recipe.most],
            "queries": [self._request.transforms[name].query for name in recipe.transforms],
            "target": plan.target,
            "seed": plan.seed,
            "per_dialogue": self._request.per_dialogue,
            "selection": [selection.corpora, selection.splits, selection.limit],
            "decoder": [self._decoder.name, self._decoder_options],
        }
