"""Pairs of context and response for a training job, streamed from negatives in any number.

In go negatives, from files, from streams that make them (``graph.negatives(...)``, ``graph.generate(...)``),
or anew for each epoch from a function of a seed. They are grouped by their context in a file that is
mapped into memory, from which each epoch draws. Out come pairs, in the shapes that trainers take: a
sequence, a Hugging Face ``Dataset`` or ``IterableDataset``, a torch ``DataLoader``, rows of n negatives.
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
from graphneg.errors import GraphnegError, InputError, listed
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
Row = dict[str, Any]


def read_pairs(
    *sources: Source,
    mix: Mix | None = None,
    seed: int = 0,
    held_out: Iterable[str] = (),
    held_out_splits: Collection[str] = (),
    cache: str | Path | None = None,
    store: Store | None = None,
) -> Pairs:
    """The pairs that files of negatives (.jsonl, .parquet) give, or streams of negatives.

    ``mix`` says how many of what each context gives in an epoch; without one: one right response, and a
    wrong one of each recipe and generator. A function among the ``sources`` is called for each epoch with
    another seed, ``seed`` + epoch. No response with a text of ``held_out`` ever comes up, and none
    that a record of the splits ``held_out_splits`` has; with a ``store``, none that its dialogues of
    these splits say in reply. What is read goes to a file in a temporary folder; in the folder ``cache`` it
    is kept, and the same files are read only once.

    Raises `InputError`: there are no sources, no dialogue of the store is of a split, or a single text is
    given where a list is meant.
    """
    held_out, held_out_splits = listed("held_out", held_out), listed("held_out_splits", held_out_splits)
    splits = held_out_splits if store is not None else ()
    texts = chain(held_out, split_texts(store, splits)) if store is not None and splits else held_out
    return Pairs(NegativeDataset(sources, seed, texts, held_out_splits, cache, splits), mix, seed)


class Pairs:
    """The pairs of as many epochs as are asked for: the same sources, mix and seed give the same ones.

    Iterated, it gives an epoch, and the next time the next one. ``state_dict`` says where it stands in the
    middle of one, and ``load_state_dict`` goes there without reading what comes before. What can't be
    used is found when the first pair is asked for.

    Raises `InputError`: a file can't be read, a label is neither 0 nor 1, a context has no right response, a
    source of the mix is not there, or nothing is left to learn from.
    """

    def __init__(
        self,
        dataset: NegativeDataset,
        mix: Mix | None = None,
        seed: int = 0,
        wanted: Callable[[Group], bool] | None = None,
    ) -> None:
        self.seed = seed
        self._dataset = dataset
        self._mix = mix
        self._wanted = wanted
        self._sampler: PairSampler | None = None
        self._drawn: tuple[int, EpochPairs, Shortfall] | None = None
        self._epoch = self._index = 0

    def __iter__(self) -> Iterator[Pair]:
        pairs = self.epoch(self._epoch)
        while self._index < len(pairs):
            pair = pairs[self._index]
            self._index += 1
            yield pair
        self._epoch, self._index = self._epoch + 1, 0

    def __len__(self) -> int:
        """How many pairs the epoch has that comes next, or is in use."""
        return len(self.epoch(self._epoch))

    def __repr__(self) -> str:
        amounts = self._mix.negatives if self._mix is not None else {"each source": 1}
        mix = " ".join(f"{name}={amount}" for name, amount in amounts.items())
        return (
            f"<Pairs: {self._dataset}, {mix}, seed {self.seed}, at epoch {self._epoch}, pair {self._index}>"
        )

    def epoch(self, epoch: int) -> EpochPairs:
        """The pairs of an epoch, counted from 0: a sequence whose items are made when they are looked at."""
        return self.draw(epoch)[0]

    def draw(self, epoch: int) -> tuple[EpochPairs, Shortfall]:
        """The pairs of an epoch, and their `Shortfall`."""
        if self._drawn is None or self._drawn[0] != epoch:
            self._drawn = (epoch, *self.sampler(epoch).drawn(epoch))
        return self._drawn[1], self._drawn[2]

    def sampler(self, epoch: int) -> PairSampler:
        """What draws the pairs of an epoch."""
        groups = self._dataset.groups(epoch)
        if self._sampler is None or self._sampler.groups is not groups:
            mix = self._mix
            if mix is None:  # one of each source
                sources = sorted({answer.source for group in groups for answer in group.negatives})
                mix = Mix(1, dict.fromkeys(sources or [RANDOM], 1))
            left_out, unusable = groups.held_out, groups.unusable
            self._sampler = PairSampler(groups, mix, self.seed, self._wanted, left_out, unusable)
        return self._sampler

    def part(self, wanted: Callable[[Group], bool]) -> Pairs:
        """The pairs of the contexts that are ``wanted``; random responses come from them alone."""
        return Pairs(self._dataset, self._mix, self.seed, wanted)

    def state_dict(self) -> dict[str, Any]:
        """Where the stream stands, as JSON can hold it."""
        return {"epoch": self._epoch, "place": self._index, "pairs": self.epoch(self._epoch).digest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to where another stream of the same pairs stood.

        Raises `InputError`: the state is of other pairs, or none.
        """
        try:
            epoch, index, digest = int(state["epoch"]), int(state["place"]), state["pairs"]
        except (KeyError, TypeError, ValueError) as error:
            reason = "no state of a stream of pairs: it has an epoch, a place and a digest"
            raise InputError(reason) from error
        if epoch < 0 or self.epoch(epoch).digest != digest:
            raise InputError("this state is of other pairs: other negatives, mix, seed or texts held out")
        self._epoch, self._index = epoch, index

    def shortages(self, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
        """What an epoch lacks, by source and category, and how like the right responses the wrong ones are.

        ``embedder`` turns responses into vectors; without one, the word vectors that graphneg comes with.
        """
        return shortages(self.sampler(epoch), epoch, embedder)

    def to_pandas(self, epoch: int = 0, separator: str | None = None) -> pandas.DataFrame:
        """An epoch as a data frame, columns as in `to_dataset`."""
        import pandas

        rows = [_row(pair, separator) for pair in self.epoch(epoch)]
        return pandas.DataFrame.from_records(rows, columns=list(_COLUMNS))

    def to_dataset(self, epoch: int = 0, separator: str | None = None) -> Dataset:
        """An epoch as a Hugging Face ``Dataset``: context, response, label, category, weight.

        A context is the list of its turns; with a ``separator``, one text. The dataset's file is
        mapped into memory and lives as long as these pairs do.

        Raises `GraphnegError`: datasets is not installed.
        """
        rows = (_row(pair, separator) for pair in self.epoch(epoch))
        return _mapped(rows, _features(_COLUMNS, separator), self._dataset.folder)

    def to_iterable_dataset(self, epoch: int = 0, separator: str | None = None) -> IterableDataset:
        """An epoch as a Hugging Face ``IterableDataset``, columns as in `to_dataset`.

        It has shards for workers, and its ``state_dict`` skips whole shards without decoding them.

        Raises `GraphnegError`: datasets is not installed.
        """
        dataset = self.to_dataset(epoch, separator)
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
        """An epoch as a torch ``DataLoader``, from its pair number ``start`` on.

        ``collate`` makes a batch of pairs; without it, a batch is a dict: ``context`` and ``response``
        (lists), ``label`` and ``weight`` (tensors of shape (pairs,)). ``options`` go to ``DataLoader``.

        Raises `ModelError`: torch is not installed.
        """
        check_packages()
        from torch.utils.data import DataLoader, Subset

        pairs: Any = self.epoch(epoch)
        make: Any = DataLoader
        rest = Subset(pairs, range(start, len(pairs)))
        return make(rest, batch_size=batch_size, collate_fn=collate or _batch, **options)

    def triplets(self, epoch: int = 0, separator: str = "\n") -> Dataset:
        """Return an epoch as a ``Dataset`` for sentence-transformers' losses: anchor, positive, negative.

        The anchor is the context of both responses, so negatives that edit the context have no place in a
        row. The pairs of `epoch` and `to_dataset` carry them.

        Args:
            epoch: Number of the epoch, from 0.
            separator: Text between the turns of the anchor.

        Raises:
            InputError: A negative that is drawn has an edited context.
            GraphnegError: The package datasets is not installed.
        """
        return self._tuples(epoch, ["negative"], separator)

    def tuples(self, negatives: int, epoch: int = 0, separator: str = "\n") -> Dataset:
        """As `triplets`, but with so many negatives in a row: anchor, positive, negative_1, negative_2, ...

        A context that has fewer in this epoch gives no row; ``dataset.info.description`` counts them.

        Raises:
            InputError: the mix draws fewer of each context, not even one is asked for, or a negative that is
                drawn has an edited context.
            GraphnegError: datasets is not installed.
        """
        most = sum(self.sampler(epoch).mix.negatives.values())
        if not 1 <= negatives <= most:
            raise InputError(f"{negatives} negatives in a row: the mix draws {most} of each context")
        return self._tuples(epoch, [f"negative_{number}" for number in range(1, negatives + 1)], separator)

    def _tuples(self, epoch: int, names: Sequence[str], separator: str) -> Dataset:
        """Rows of an anchor, a positive, and as many negatives as there are ``names`` for columns."""
        columns = ["anchor", "positive", *names]
        features = _features(dict.fromkeys(columns, "string"), separator)
        sampler = self.sampler(epoch)
        left_out = 0

        def rows() -> Iterator[Row]:
            """Of one context after another: its negatives, cut, each cut beside the next right response."""
            nonlocal left_out
            size = len(names)
            for index in sampler.shuffled(epoch):
                pairs = [sampler.pair(draw) for draw in sampler.draws_of(index, epoch, Shortfall())]
                for pair in pairs:
                    _refuse_edited_context(pair, sampler.groups[index].context)
                right = [pair.response for pair in pairs if pair.label]
                wrong = [pair.response for pair in pairs if not pair.label]
                cuts = [wrong[at : at + size] for at in range(0, len(wrong) - size + 1, size)]
                left_out += not cuts
                anchor = separator.join(sampler.groups[index].context)
                for row in range(max(len(right), len(cuts)) if cuts else 0):
                    texts = (anchor, right[row % len(right)], *cuts[row % len(cuts)])
                    yield dict(zip(columns, texts, strict=True))

        dataset = _mapped(rows(), features, self._dataset.folder)
        few = f"contexts have fewer than {len(names)} negatives and are left out"
        dataset.info.description = f"{left_out:,} {few}"
        return dataset


def _refuse_edited_context(pair: Pair, anchor: tuple[str, ...]) -> None:
    """Raise `InputError` where a pair has another context than the row's anchor."""
    if pair.context != anchor:
        raise InputError(
            f"{pair.id.partition('~')[0]}: a negative of {pair.source!r} edits the context, and a row has "
            'one anchor: make negatives with target="response" (--target response), or use to_dataset(), '
            "whose pairs carry each context"
        )


def _row(pair: Pair, separator: str | None) -> Row:
    context = list(pair.context) if separator is None else separator.join(pair.context)
    return {name: getattr(pair, name) for name in _COLUMNS} | {"context": context}


def _batch(pairs: Sequence[Pair]) -> Mapping[str, Any]:
    import torch

    rows: dict[str, Any] = {name: [getattr(pair, name) for pair in pairs] for name in ("context", "response")}
    for name in ("label", "weight"):
        rows[name] = torch.tensor([float(getattr(pair, name)) for pair in pairs])
    return rows


def _features(columns: Mapping[str, str], separator: str | None) -> Features:
    """Columns of those types; without a separator, a context is a list."""
    try:
        from datasets import Features, List, Value
    except ImportError as error:
        raise GraphnegError('a dataset needs datasets: pip install "graphneg[neural]"') from error
    features = Features({name: Value(kind) for name, kind in columns.items()})
    if separator is None:
        features["context"] = List(Value("string"))
    return features


def _mapped(rows: Iterable[Row], features: Features, folder: Path) -> Dataset:
    """Rows as a ``Dataset`` that maps a file in ``folder`` into memory."""
    import pyarrow as pa
    from datasets import Dataset

    path = folder / f"{uuid4().hex}.arrow"
    remaining, schema = iter(rows), features.arrow_schema
    try:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            while some := list(islice(remaining, 1_000)):
                stream.write_batch(pa.RecordBatch.from_pylist(some, schema=schema))
    except BaseException:  # rows that can't be made leave no file behind
        path.unlink(missing_ok=True)
        raise
    return Dataset.from_file(str(path))
