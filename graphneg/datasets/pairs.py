"""Stream pairs of context and response to a training job, from any number of negatives.

`read_pairs` accepts files of negatives, streams of negatives (``graph.negatives(...)``,
``graph.generate(...)``), and functions that make new negatives for each epoch. The negatives are grouped by
context in a memory-mapped file, and each epoch draws its pairs from these groups. Pairs are available in the
forms that trainers expect: a sequence, a Hugging Face ``Dataset`` or ``IterableDataset``, a torch
``DataLoader``, or rows of an anchor, a positive and negatives. This example prints one correct response, two
edited negatives and one random negative per context::

    mix = Mix(positives=1, negatives={"deam": 2, "random": 1})
    for pair in read_pairs("negatives.jsonl", mix=mix, seed=0):
        print(pair.context, pair.response, pair.label)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from graphneg.datasets.groups import Group, split_texts
from graphneg.datasets.negative_dataset import NegativeDataset, Source
from graphneg.datasets.pair_sampler import (
    RANDOM,
    EpochPairs,
    Mix,
    Pair,
    PairSampler,
    Shortage,
    Shortfall,
    shortages,
)
from graphneg.errors import GraphnegError, InputError, checked_list
from graphneg.nn.models import check_packages

if TYPE_CHECKING:
    import pandas
    from datasets import Dataset, Features, IterableDataset
    from torch.utils.data import DataLoader

    from graphneg.nn.embedders import Embedder
    from graphneg.store.connection import Store

_COLUMNS = {
    "context": "string",
    "response": "string",
    "label": "int64",
    "category": "string",
    "weight": "float64",
}
"""Columns of a table of pairs, with their Hugging Face types."""
Row = dict[str, Any]
"""A row of a table: column names and values."""


def read_pairs(
    *sources: Source,
    mix: Mix | None = None,
    seed: int = 0,
    held_out: Iterable[str] = (),
    held_out_splits: Collection[str] = (),
    cache: str | Path | None = None,
    store: Store | None = None,
) -> Pairs:
    """Read negatives and return training pairs that are drawn from them.

    Args:
        sources: Files of negatives (.jsonl, .parquet), iterables of negatives, or functions that make
            negatives from a seed. A function is called once per epoch, with ``seed`` + epoch.
        mix: Numbers of correct and wrong responses to draw per context and epoch. None for one correct
            response and one wrong response of each recipe and generator.
        seed: Seed of the draws.
        held_out: Texts to exclude from the responses.
        held_out_splits: Splits to hold out. Their records are left out, and so are their responses if they
            occur in other splits. With a ``store``, the replies in its dialogues of these splits are held
            out, too.
        cache: Folder in which the grouped negatives are kept, so that the same files are read only once. None
            for a temporary folder.
        store: Store whose dialogues of ``held_out_splits`` are held out.

    Returns:
        The pairs. The sources are read when the first pair is requested.
    """
    held_out, held_out_splits = (
        checked_list("held_out", held_out),
        checked_list("held_out_splits", held_out_splits),
    )
    splits = held_out_splits if store is not None else ()
    texts = chain(held_out, split_texts(store, splits)) if store is not None and splits else held_out
    return Pairs(NegativeDataset(sources, seed, texts, held_out_splits, cache, splits), mix, seed)


class Pairs:
    """The training pairs of any number of epochs.

    The same sources, mix and seed give the same pairs. Iterating yields the pairs of one epoch; iterating
    again yields those of the next epoch. `state_dict` returns the position in the stream, and
    `load_state_dict` continues at such a position without reading the pairs before it. Errors in the sources
    are raised when the first pair is requested.
    """

    def __init__(
        self,
        dataset: NegativeDataset,
        mix: Mix | None = None,
        seed: int = 0,
        wanted: Callable[[Group], bool] | None = None,
    ) -> None:
        """Initialize the stream; the sources are read later.

        Args:
            dataset: The groups to draw from.
            mix: Numbers of responses to draw per context; None for one correct response and one wrong
                response of each source.
            seed: Seed of the draws.
            wanted: Function that returns whether to use a group; None to use all groups.
        """
        self.seed = seed
        self._dataset = dataset
        self._mix = mix
        self._wanted = wanted
        self._sampler: PairSampler | None = None
        self._drawn: tuple[int, EpochPairs, Shortfall] | None = None
        self._epoch = self._index = 0

    def __iter__(self) -> Iterator[Pair]:
        """Yield the rest of the current epoch, then move to the next epoch."""
        pairs = self.epoch(self._epoch)
        while self._index < len(pairs):
            pair = pairs[self._index]
            self._index += 1
            yield pair
        self._epoch, self._index = self._epoch + 1, 0

    def __len__(self) -> int:
        """Return the number of pairs of the current epoch."""
        return len(self.epoch(self._epoch))

    def __repr__(self) -> str:
        """Return the sources, the mix and the current position."""
        amounts = self._mix.negatives if self._mix is not None else {"each source": 1}
        mix = " ".join(f"{name}={amount}" for name, amount in amounts.items())
        return (
            f"<Pairs: {self._dataset}, {mix}, seed {self.seed}, at epoch {self._epoch}, pair {self._index}>"
        )

    def epoch(self, epoch: int) -> EpochPairs:
        """Return the pairs of an epoch.

        Args:
            epoch: Number of the epoch, from 0.

        Returns:
            A sequence that creates its pairs on access.
        """
        return self.draw(epoch)[0]

    def draw(self, epoch: int) -> tuple[EpochPairs, Shortfall]:
        """Return the pairs of an epoch, and the counts of what could not be drawn.

        Args:
            epoch: Number of the epoch, from 0.

        Returns:
            The pairs, and the counts of missing responses.
        """
        # Several methods use the same epoch one after the other, so the last one is cached.
        if self._drawn is None or self._drawn[0] != epoch:
            self._drawn = (epoch, *self.sampler(epoch).drawn(epoch))
        return self._drawn[1], self._drawn[2]

    def sampler(self, epoch: int) -> PairSampler:
        """Return the sampler of an epoch.

        Args:
            epoch: Number of the epoch, from 0.

        Returns:
            The sampler.
        """
        groups = self._dataset.groups(epoch)
        # If a source is a function, each epoch has new groups and needs a new sampler.
        if self._sampler is None or self._sampler.groups is not groups:
            mix = self._mix
            if mix is None:
                # By default, draw one wrong response from each source.
                sources = sorted({answer.source for group in groups for answer in group.negatives})
                mix = Mix(1, dict.fromkeys(sources or [RANDOM], 1))
            left_out, unusable = groups.held_out, groups.unusable
            self._sampler = PairSampler(groups, mix, self.seed, self._wanted, left_out, unusable)
        return self._sampler

    def part(self, wanted: Callable[[Group], bool]) -> Pairs:
        """Return the pairs of a subset of the contexts.

        Args:
            wanted: Function that returns whether to use a context. Random negatives, too, are drawn from
                these contexts only.

        Returns:
            The pairs.
        """
        return Pairs(self._dataset, self._mix, self.seed, wanted)

    def state_dict(self) -> dict[str, Any]:
        """Return the position in the stream, as JSON values."""
        return {"epoch": self._epoch, "place": self._index, "pairs": self.epoch(self._epoch).digest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue at a position that was saved from another stream of the same pairs.

        Args:
            state: The result of `state_dict`.

        Raises:
            InputError: The state is malformed, or it was saved from other pairs.
        """
        try:
            epoch, index, digest = int(state["epoch"]), int(state["place"]), state["pairs"]
        except (KeyError, TypeError, ValueError) as error:
            reason = "not the state of a stream of pairs, which has an epoch, a place and a digest"
            raise InputError(reason) from error
        # A position is meaningful only for the same pairs.
        # The digest covers all that determines them: the negatives, the mix, the seed and the texts held out.
        if epoch < 0 or self.epoch(epoch).digest != digest:
            raise InputError("this state is of other pairs: other negatives, mix, seed or texts held out")
        self._epoch, self._index = epoch, index

    def shortages(self, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
        """Report how many responses an epoch draws and lacks, and how similar wrong ones are to correct ones.

        Args:
            epoch: Number of the epoch, from 0.
            embedder: Model that converts responses to vectors; None for the bundled word vectors.

        Returns:
            One row per name of the mix, followed by one row per category in it.
        """
        return shortages(self.sampler(epoch), epoch, embedder)

    def to_pandas(self, epoch: int = 0, separator: str | None = None) -> pandas.DataFrame:
        """Return an epoch as a data frame.

        Args:
            epoch: Number of the epoch, from 0.
            separator: Text between the turns of a context; None to keep a list of turns.

        Returns:
            A data frame with the columns of `to_dataset`.
        """
        import pandas

        rows = [_row(pair, separator) for pair in self.epoch(epoch)]
        return pandas.DataFrame.from_records(rows, columns=list(_COLUMNS))

    def to_dataset(self, epoch: int = 0, separator: str | None = None) -> Dataset:
        """Return an epoch as a Hugging Face ``Dataset``.

        The dataset memory-maps a file that is deleted together with this object. The package datasets is
        required.

        Args:
            epoch: Number of the epoch, from 0.
            separator: Text between the turns of a context; None to keep a list of turns.

        Returns:
            A dataset with the columns context, response, label, category and weight.
        """
        rows = (_row(pair, separator) for pair in self.epoch(epoch))
        return _mapped(rows, _features(_COLUMNS, separator), self._dataset.folder)

    def to_iterable_dataset(self, epoch: int = 0, separator: str | None = None) -> IterableDataset:
        """Return an epoch as a Hugging Face ``IterableDataset``.

        The dataset has shards, so that several workers can read it in parallel. Restoring its ``state_dict``
        skips whole shards without decoding them.

        Args:
            epoch: Number of the epoch, from 0.
            separator: Text between the turns of a context; None to keep a list of turns.

        Returns:
            A dataset with the columns of `to_dataset`.
        """
        dataset = self.to_dataset(epoch, separator)
        # A shard has about 1,000 pairs, so that there are enough shards for several workers.
        return dataset.to_iterable_dataset(max(1, len(dataset) // 1_000))

    def to_dataloader(
        self,
        batch_size: int = 32,
        *,
        epoch: int = 0,
        start: int = 0,
        collate: Callable[[Sequence[Pair]], Any] | None = None,
        **options: Any,
    ) -> DataLoader[Any]:
        """Return an epoch as a torch ``DataLoader``.

        Args:
            batch_size: Number of pairs per batch.
            epoch: Number of the epoch, from 0.
            start: Index of the first pair, to resume within an epoch.
            collate: Function that makes a batch from pairs. By default, a batch is a dict with ``context``
                and ``response`` (lists), ``label`` and ``weight`` (tensors of shape (pairs,)).
            options: Further arguments of ``DataLoader``.

        Returns:
            The data loader.
        """
        check_packages()
        from torch.utils.data import DataLoader, Subset

        pairs: Any = self.epoch(epoch)
        make: Any = DataLoader
        # A resumed job skips the pairs that it has already seen.
        rest = Subset(pairs, range(start, len(pairs)))
        return make(rest, batch_size=batch_size, collate_fn=collate or _batch, **options)

    def triplets(self, epoch: int = 0, separator: str = "\n") -> Dataset:
        """Return an epoch as a ``Dataset`` for the losses of sentence-transformers.

        The columns are anchor, positive and negative. The anchor is the context. Both responses of a row
        share it, so a negative with an edited context raises an error; `epoch` and `to_dataset` support such
        negatives.

        Args:
            epoch: Number of the epoch, from 0.
            separator: Text between the turns of the anchor.

        Returns:
            The dataset.
        """
        return self._tuples(epoch, ["negative"], separator)

    def tuples(self, negatives: int, epoch: int = 0, separator: str = "\n") -> Dataset:
        """Return an epoch as a ``Dataset`` with several negatives per row.

        The columns are anchor, positive, negative_1, negative_2 and so on. A context with fewer negatives in
        this epoch is left out; ``dataset.info.description`` says how many contexts are left out. All
        responses of a row share the anchor, so a negative with an edited context raises an error.

        Args:
            negatives: Number of negatives per row.
            epoch: Number of the epoch, from 0.
            separator: Text between the turns of the anchor.

        Returns:
            The dataset.

        Raises:
            InputError: ``negatives`` is below 1, or the mix draws fewer per context.
        """
        # If the mix draws fewer negatives per context, no row could ever be filled.
        most = sum(self.sampler(epoch).mix.negatives.values())
        if not 1 <= negatives <= most:
            raise InputError(f"{negatives} negatives in a row: the mix draws {most} of each context")
        return self._tuples(epoch, [f"negative_{number}" for number in range(1, negatives + 1)], separator)

    def _tuples(self, epoch: int, names: Sequence[str], separator: str) -> Dataset:
        """Return rows of an anchor, a positive, and one negative for each column name given."""
        columns = ["anchor", "positive", *names]
        features = _features(dict.fromkeys(columns, "string"), separator)
        sampler = self.sampler(epoch)
        left_out = 0

        def rows() -> Iterator[Row]:
            """Yield the rows of one context after the other, each with a correct response and negatives."""
            nonlocal left_out
            size = len(names)
            for index in sampler.shuffled(epoch):
                # A row has responses of one context only, so that its negatives are wrong for its anchor.
                pairs = [sampler.pair(draw) for draw in sampler.draws_of(index, epoch, Shortfall())]
                for pair in pairs:
                    _refuse_edited_context(pair, sampler.groups[index].context)
                right = [pair.response for pair in pairs if pair.label]
                wrong = [pair.response for pair in pairs if not pair.label]
                # All rows have the same columns, so an incomplete last block of negatives is dropped.
                cuts = [wrong[at : at + size] for at in range(0, len(wrong) - size + 1, size)]
                left_out += not cuts
                anchor = separator.join(sampler.groups[index].context)
                # The shorter list is repeated, so that each response and each block of negatives occurs.
                for row in range(max(len(right), len(cuts)) if cuts else 0):
                    texts = (anchor, right[row % len(right)], *cuts[row % len(cuts)])
                    yield dict(zip(columns, texts, strict=True))

        dataset = _mapped(rows(), features, self._dataset.folder)
        few = f"contexts have fewer than {len(names)} negatives and are left out"
        dataset.info.description = f"{left_out:,} {few}"
        return dataset


def _refuse_edited_context(pair: Pair, anchor: tuple[str, ...]) -> None:
    """Raise `InputError` if the context of a pair differs from the anchor of its row."""
    if pair.context != anchor:
        raise InputError(
            f"{pair.id.partition('~')[0]}: a negative of {pair.source!r} edits the context, and a row has "
            'one anchor: make negatives with target="response" (--target response), or use to_dataset(), '
            "whose pairs carry each context"
        )


def _row(pair: Pair, separator: str | None) -> Row:
    """Return a pair as a row of a table."""
    context = list(pair.context) if separator is None else separator.join(pair.context)
    return {name: getattr(pair, name) for name in _COLUMNS} | {"context": context}


def _batch(pairs: Sequence[Pair]) -> Mapping[str, Any]:
    """Return pairs as a batch of lists and tensors."""
    import torch

    rows: dict[str, Any] = {name: [getattr(pair, name) for pair in pairs] for name in ("context", "response")}
    for name in ("label", "weight"):
        rows[name] = torch.tensor([float(getattr(pair, name)) for pair in pairs])
    return rows


def _features(columns: Mapping[str, str], separator: str | None) -> Features:
    """Return the Hugging Face features of a table; if there is no separator, a context is a list of turns."""
    try:
        from datasets import Features, List, Value
    except ImportError as error:
        raise GraphnegError('a dataset needs datasets: pip install "graphneg[neural]"') from error
    features = Features({name: Value(kind) for name, kind in columns.items()})
    if separator is None:
        features["context"] = List(Value("string"))
    return features


def _mapped(rows: Iterable[Row], features: Features, folder: Path) -> Dataset:
    """Write rows to an Arrow file in a folder, and return a ``Dataset`` that memory-maps it."""
    import pyarrow as pa
    from datasets import Dataset

    path = folder / f"{uuid4().hex}.arrow"
    remaining, schema = iter(rows), features.arrow_schema
    try:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            # Rows are written in batches, so that memory use does not grow with their number.
            while some := list(islice(remaining, 1_000)):
                stream.write_batch(pa.RecordBatch.from_pylist(some, schema=schema))
    except BaseException:
        # Remove the incomplete file, whatever interrupted the writing.
        path.unlink(missing_ok=True)
        raise
    return Dataset.from_file(str(path))
