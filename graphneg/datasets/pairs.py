"""Read negatives and provide training pairs of a context and a response.

`read_pairs` accepts files of negatives, streams of negatives (``graph.negatives(...)``,
``graph.generate(...)``), and functions that make new negatives for each epoch. The negatives are grouped by
context in a memory-mapped file, and each epoch draws its pairs from the groups. Pairs are available in the
forms that training code expects: a sequence, a Hugging Face ``Dataset`` or ``IterableDataset``, a torch
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
from graphneg.model import TWIN
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
"""Columns of a table with one pair per row, and the Hugging Face types of the columns."""
Row = dict[str, Any]
"""Type of a row of a table: values, keyed by the name of the column."""


def read_pairs(
    *sources: Source,
    mix: Mix | None = None,
    seed: int = 0,
    held_out: Iterable[str] = (),
    held_out_splits: Collection[str] = (),
    cache: str | Path | None = None,
    store: Store | None = None,
) -> Pairs:
    """Read negatives, and return the training pairs that are drawn from them.

    Args:
        sources: Files of negatives (.jsonl, .parquet), iterables of negatives, or functions that take a seed
            and make negatives. A function is called once per epoch with ``seed`` plus the epoch number.
        mix: Number of correct and wrong responses to draw per context and epoch. None for one correct
            response and one wrong response from each recipe and generator.
        seed: Seed for drawing responses.
        held_out: Texts that must not be used as responses.
        held_out_splits: Splits to hold out. Records of these splits are left out, and their responses are
            also left out of the records of other splits. If a ``store`` is given, replies in the store that
            belong to these splits are also left out.
        cache: Folder in which to store the negatives grouped by context, so that the same files are grouped
            only once. None for a temporary folder.
        store: Store that contains dialogues of ``held_out_splits``.

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

    The same sources, mix and seed give the same pairs. An iteration yields the pairs of one epoch, and the
    next iteration yields the pairs of the next epoch. `state_dict` returns the current epoch and position,
    and `load_state_dict` continues there without reading the pairs before this position. Errors in the
    sources are raised when the first pair is requested.
    """

    def __init__(
        self,
        dataset: NegativeDataset,
        mix: Mix | None = None,
        seed: int = 0,
        wanted: Callable[[Group], bool] | None = None,
    ) -> None:
        """Initialize the pairs. The sources are not read yet.

        Args:
            dataset: Contexts with their responses, from which the pairs are drawn.
            mix: Number of responses to draw per context; None for one correct response and one wrong response
                from each source.
            seed: Seed for drawing responses.
            wanted: Function that returns whether to use a context; None to use all contexts.
        """
        self.seed = seed
        self._dataset = dataset
        self._mix = mix
        self._wanted = wanted
        self._sampler: PairSampler | None = None
        self._drawn: tuple[int, EpochPairs, Shortfall] | None = None
        self._epoch = self._index = 0

    def __iter__(self) -> Iterator[Pair]:
        """Yield the remaining pairs of the current epoch. The next iteration yields the next epoch."""
        pairs = self.epoch(self._epoch)
        while self._index < len(pairs):
            pair = pairs[self._index]
            self._index += 1
            yield pair
        self._epoch, self._index = self._epoch + 1, 0

    def __len__(self) -> int:
        """Return the number of pairs in the current epoch."""
        return len(self.epoch(self._epoch))

    def __repr__(self) -> str:
        """Return a string with the sources, the mix, the seed and the current position."""
        amounts = self._mix.negatives if self._mix is not None else {"each source": 1}
        mix = " ".join(f"{name}={amount}" for name, amount in amounts.items())
        return (
            f"<Pairs: {self._dataset}, {mix}, seed {self.seed}, at epoch {self._epoch}, pair {self._index}>"
        )

    def epoch(self, epoch: int) -> EpochPairs:
        """Return the pairs of an epoch.

        Args:
            epoch: The epoch number, from 0.

        Returns:
            A sequence whose pairs are created when they are accessed.
        """
        return self.draw(epoch)[0]

    def draw(self, epoch: int) -> tuple[EpochPairs, Shortfall]:
        """Return the pairs of an epoch, and counts of the responses that are missing.

        Args:
            epoch: The epoch number, from 0.

        Returns:
            The pairs, and the numbers of missing responses.
        """
        # Callers often need the same epoch twice in a row, for example for its pairs and for the number of
        # missing responses. So keep the pairs of the last epoch.
        if self._drawn is None or self._drawn[0] != epoch:
            self._drawn = (epoch, *self.sampler(epoch).drawn(epoch))
        return self._drawn[1], self._drawn[2]

    def sampler(self, epoch: int) -> PairSampler:
        """Return the object that draws the pairs of an epoch.

        Args:
            epoch: The epoch number, from 0.

        Returns:
            The sampler. All epochs share one sampler if the negatives are the same in all epochs.
        """
        groups = self._dataset.groups(epoch)
        # If a source is a function, the groups change in each epoch. Changed groups need a new sampler.
        if self._sampler is None or self._sampler.groups is not groups:
            mix = self._mix
            if mix is None:
                # If the user gives no mix, draw one correct response per context and one wrong response from
                # each source.
                sources = sorted({answer.source for group in groups for answer in group.negatives})
                mix = Mix(1, dict.fromkeys(sources or [RANDOM], 1))
            left_out, unusable = groups.held_out, groups.unusable
            self._sampler = PairSampler(groups, mix, self.seed, self._wanted, left_out, unusable)
        return self._sampler

    def part(self, wanted: Callable[[Group], bool]) -> Pairs:
        """Return an object that draws pairs from only some of the contexts.

        Args:
            wanted: Function that returns whether to use a context. Random negatives are also drawn only from
                the contexts that are used.

        Returns:
            A new object with the same mix and seed.
        """
        return Pairs(self._dataset, self._mix, self.seed, wanted)

    def state_dict(self) -> dict[str, Any]:
        """Return the current epoch and position as JSON values, for `load_state_dict`."""
        return {"epoch": self._epoch, "place": self._index, "pairs": self.epoch(self._epoch).digest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue at a position that `state_dict` returned for the same pairs.

        Args:
            state: The result of `state_dict`.

        Raises:
            InputError: The state is malformed, or it belongs to other pairs.
        """
        try:
            epoch, index, digest = int(state["epoch"]), int(state["place"]), state["pairs"]
        except (KeyError, TypeError, ValueError) as error:
            reason = "not the state of a stream of pairs: expected the keys epoch, place and pairs"
            raise InputError(reason) from error
        # A training run can be resumed at a position only if the pairs are the same. Their digest changes if
        # the negatives, the mix, the seed or the held-out texts change.
        if epoch < 0 or self.epoch(epoch).digest != digest:
            raise InputError(
                "this state belongs to other pairs: the negatives, mix, seed or held-out texts differ"
            )
        self._epoch, self._index = epoch, index

    def shortages(self, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
        """Report how many wrong responses an epoch has and lacks, and how similar they are to correct ones.

        Args:
            epoch: The epoch number, from 0.
            embedder: Embedder with which similarities are computed; None for the word vectors that come with
                graphneg.

        Returns:
            For each name in the mix, a row for all its responses, followed by a row for each error category
            among these responses.
        """
        return shortages(self.sampler(epoch), epoch, embedder)

    def to_pandas(self, epoch: int = 0, separator: str | None = None) -> pandas.DataFrame:
        """Convert the pairs of an epoch into a data frame.

        Args:
            epoch: The epoch number, from 0.
            separator: Text between the turns of a context; None to keep a list of turns.

        Returns:
            A data frame with the same columns as the result of `to_dataset`.
        """
        import pandas

        rows = [_row(pair, separator) for pair in self.epoch(epoch)]
        return pandas.DataFrame.from_records(rows, columns=list(_COLUMNS))

    def to_dataset(self, epoch: int = 0, separator: str | None = None) -> Dataset:
        """Convert the pairs of an epoch into a Hugging Face ``Dataset``.

        The dataset memory-maps a file that is deleted together with this object. The package ``datasets`` is
        required.

        Args:
            epoch: The epoch number, from 0.
            separator: Text between the turns of a context; None to keep a list of turns.

        Returns:
            A dataset with the columns context, response, label, category and weight.
        """
        rows = (_row(pair, separator) for pair in self.epoch(epoch))
        return _memory_mapped(rows, _features(_COLUMNS, separator), self._dataset.folder)

    def to_iterable_dataset(self, epoch: int = 0, separator: str | None = None) -> IterableDataset:
        """Convert the pairs of an epoch into a Hugging Face ``IterableDataset``.

        The dataset is divided into shards, so that several workers can read it in parallel. When its
        ``state_dict`` is restored, whole shards are skipped without decoding them.

        Args:
            epoch: The epoch number, from 0.
            separator: Text between the turns of a context; None to keep a list of turns.

        Returns:
            A dataset with the same columns as the result of `to_dataset`.
        """
        dataset = self.to_dataset(epoch, separator)
        # With shards of about 1,000 pairs, there are enough shards for several workers.
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
        """Convert the pairs of an epoch into a torch ``DataLoader``.

        Args:
            batch_size: Number of pairs per batch.
            epoch: The epoch number, from 0.
            start: Index of the first pair, for resuming in the middle of an epoch.
            collate: Function that converts a list of pairs into a batch. By default, a batch is a dict with
                ``context`` and ``response`` (lists), ``label`` and ``weight`` (tensors of shape (pairs,)).
            options: Further arguments of ``DataLoader``.

        Returns:
            A data loader that starts at the pair ``start``.
        """
        check_packages()
        from torch.utils.data import DataLoader, Subset

        pairs: Any = self.epoch(epoch)
        make: Any = DataLoader
        # Skip the pairs that a resumed job has already processed.
        rest = Subset(pairs, range(start, len(pairs)))
        return make(rest, batch_size=batch_size, collate_fn=collate or _batch, **options)

    def triplets(self, epoch: int = 0, separator: str = "\n") -> Dataset:
        """Convert an epoch into a Hugging Face ``Dataset`` for the losses of sentence-transformers.

        The columns are anchor, positive and negative. The anchor of a row is the context, which both
        responses of the row must have. A negative whose context was edited therefore raises an error. A twin
        (the correct counterpart of a negative) whose context was edited is left out. `epoch` and `to_dataset`
        support such responses.

        Args:
            epoch: The epoch number, from 0.
            separator: Text between the turns of the anchor.

        Returns:
            A dataset with the columns anchor, positive and negative.
        """
        return self._tuples(epoch, ["negative"], separator)

    def tuples(self, negatives: int, epoch: int = 0, separator: str = "\n") -> Dataset:
        """Convert an epoch into a Hugging Face ``Dataset`` with several negatives per row.

        The columns are anchor, positive, negative_1, negative_2 and so on. A context with too few negatives
        in this epoch is left out. ``dataset.info.description`` says how many contexts are left out. The
        anchor of a row is the context, which all responses of the row must have. A negative whose context was
        edited therefore raises an error. A twin (the correct counterpart of a negative) whose context was
        edited is left out.

        Args:
            negatives: Number of negatives per row.
            epoch: The epoch number, from 0.
            separator: Text between the turns of the anchor.

        Returns:
            A dataset with ``negatives`` + 2 columns.

        Raises:
            InputError: ``negatives`` is below 1 or above the number of negatives that the mix draws per
                context.
        """
        # Count the negatives that the mix draws per context. The name "twin" in a mix stands for correct
        # responses, so do not count its responses.
        amounts = self.sampler(epoch).mix.negatives
        most = sum(amount for name, amount in amounts.items() if name != TWIN)
        if not 1 <= negatives <= most:
            raise InputError(f"{negatives} negatives per row: the mix draws {most} per context")
        return self._tuples(epoch, [f"negative_{number}" for number in range(1, negatives + 1)], separator)

    def _tuples(self, epoch: int, names: Sequence[str], separator: str) -> Dataset:
        """Return a dataset with the columns anchor and positive, and a column of negatives for each name."""
        columns = ["anchor", "positive", *names]
        features = _features(dict.fromkeys(columns, "string"), separator)
        sampler = self.sampler(epoch)
        left_out = 0

        def rows() -> Iterator[Row]:
            """Yield rows, each with the text of a context, a correct response and some negatives."""
            nonlocal left_out
            size = len(names)
            for index in sampler.shuffled(epoch):
                # All responses of a row must belong to the same context, because a row has only one anchor.
                own = sampler.groups[index].context
                drawn = map(sampler.pair, sampler.draws_of(index, epoch, Shortfall()))
                # A twin (the correct counterpart of a negative) whose context was edited may be wrong after
                # the anchor. Leave it out: the row has another correct response.
                pairs = [pair for pair in drawn if pair.source != TWIN or pair.context == own]
                for pair in pairs:
                    _refuse_edited_context(pair, own)
                right = [pair.response for pair in pairs if pair.label]
                wrong = [pair.response for pair in pairs if not pair.label]
                # Divide the negatives into tuples of `size`. If fewer than `size` are left over, drop them,
                # because all rows need the same number of negatives.
                cuts = [wrong[at : at + size] for at in range(0, len(wrong) - size + 1, size)]
                left_out += not cuts
                anchor = separator.join(own)
                # Row n combines the correct response n with the tuple n of negatives. Repeat the shorter of
                # the two lists, so that every correct response and every tuple is used.
                for row in range(max(len(right), len(cuts)) if cuts else 0):
                    texts = (anchor, right[row % len(right)], *cuts[row % len(cuts)])
                    yield dict(zip(columns, texts, strict=True))

        dataset = _memory_mapped(rows(), features, self._dataset.folder)
        few = f"contexts have fewer than {len(names)} negatives and are left out"
        dataset.info.description = f"{left_out:,} {few}"
        return dataset


def _refuse_edited_context(pair: Pair, anchor: tuple[str, ...]) -> None:
    """Raise `InputError` if the pair has another context than the anchor, because its context was edited."""
    if pair.context != anchor:
        raise InputError(
            f"{pair.id.partition('~')[0]}: a negative of {pair.source!r} edits the context, and a row has "
            'one anchor: make negatives with target="response" (--target response), or use to_dataset(), '
            "where each pair has its own context"
        )


def _row(pair: Pair, separator: str | None) -> Row:
    context = list(pair.context) if separator is None else separator.join(pair.context)
    return {name: getattr(pair, name) for name in _COLUMNS} | {"context": context}


def _batch(pairs: Sequence[Pair]) -> Mapping[str, Any]:
    """Convert pairs of a context and a response into a batch of lists and tensors."""
    import torch

    rows: dict[str, Any] = {name: [getattr(pair, name) for pair in pairs] for name in ("context", "response")}
    for name in ("label", "weight"):
        rows[name] = torch.tensor([float(getattr(pair, name)) for pair in pairs])
    return rows


def _features(columns: Mapping[str, str], separator: str | None) -> Features:
    """Return the column types of a dataset. If ``separator`` is None, each context is a list of texts."""
    try:
        from datasets import Features, List, Value
    except ImportError as error:
        raise GraphnegError('a dataset needs the package datasets: pip install "graphneg[neural]"') from error
    features = Features({name: Value(kind) for name, kind in columns.items()})
    if separator is None:
        features["context"] = List(Value("string"))
    return features


def _memory_mapped(rows: Iterable[Row], features: Features, folder: Path) -> Dataset:
    """Write rows to an Arrow file, and return a ``Dataset`` that memory-maps it."""
    import pyarrow as pa
    from datasets import Dataset

    path = folder / f"{uuid4().hex}.arrow"
    remaining, schema = iter(rows), features.arrow_schema
    try:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            # Write rows in batches, so that memory use does not depend on the number of rows.
            while some := list(islice(remaining, 1_000)):
                stream.write_batch(pa.RecordBatch.from_pylist(some, schema=schema))
    except BaseException:
        # If writing was interrupted for any reason, remove the incomplete file.
        path.unlink(missing_ok=True)
        raise
    return Dataset.from_file(str(path))
