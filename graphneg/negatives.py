"""Negatives to be made by edits: a stream that can be iterated, written, or turned into a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphneg import __version__
from graphneg.decoders import Decoder
from graphneg.editing.generation import Generator, Request
from graphneg.editing.originals import Originals
from graphneg.output.stream import Finished, NegativeStream, Written
from graphneg.progress import NoProgress, Progress
from graphneg.store import Store


class Negatives(NegativeStream):
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
        super().__init__()
        self._store = store
        self._request = request
        self._decoder = decoder
        self._originals = originals or Originals(store)
        self._progress = progress or NoProgress()
        self._decoder_options = {name: repr(value) for name, value in (decoder_options or {}).items()}

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        generator = Generator(
            self._store, self._request, self._decoder, self.summary, self._progress, self._originals
        )
        return generator.run(skip)

    def settings(self) -> dict[str, Any]:
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
