"""The pairs of an epoch in the shapes that trainers take: datasets, a data loader, rows of n negatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from graphneg.errors import GraphnegError
from graphneg.training.drawing import Drawing, Drawn, Lacking, Pair

if TYPE_CHECKING:
    from datasets import Dataset, Features, IterableDataset
    from torch.utils.data import DataLoader

_ROWS = 1_000
_SHARD = 1_000
Row = dict[str, Any]


def to_dataset(pairs: Drawn, folder: Path, separator: str | None) -> Dataset:
    """Pairs as a ``Dataset`` that maps a file in ``folder`` into memory."""
    rows = (_row(pair, separator) for pair in pairs)
    return _dataset(rows, _features(separator), folder)


def to_iterable_dataset(pairs: Drawn, separator: str | None) -> IterableDataset:
    """Pairs as an ``IterableDataset`` of shards of `_SHARD` pairs."""
    features = _features(separator)
    from datasets import IterableDataset

    given = {"pairs": pairs, "separator": separator, "starts": list(range(0, len(pairs), _SHARD))}
    make: Any = IterableDataset.from_generator
    return make(_shards, features=features, gen_kwargs=given)


class Rest:
    """A torch data set of numbered items: pairs from ``start`` on."""

    def __init__(self, pairs: Drawn, start: int) -> None:
        self._pairs = pairs
        self._start = start

    def __len__(self) -> int:
        return max(0, len(self._pairs) - self._start)

    def __getitem__(self, place: int) -> Pair:
        return self._pairs[self._start + place]


def to_dataloader(
    pairs: Rest,
    batch: int,
    collate: Callable[[Sequence[Pair]], Any] | None,
    options: Mapping[str, Any],
) -> DataLoader[Any]:
    """Pairs as a torch ``DataLoader``, in their order."""
    from graphneg.language_models.finding import check_packages

    check_packages()
    from torch.utils.data import DataLoader

    make: Any = DataLoader
    return make(pairs, batch_size=batch, collate_fn=collate or _batch, **options)


def to_tuples(drawing: Drawing, epoch: int, names: Sequence[str], folder: Path, separator: str) -> Dataset:
    """Rows of an anchor, a positive, and as many negatives as there are ``names`` for columns.

    Negatives of a context are cut into rows, and rows go round its positives, until each positive and
    each cut has had its turn.
    """
    columns = ["anchor", "positive", *names]
    features = _texts(columns)
    left_out = [0]

    def rows() -> Iterator[Row]:
        for place in drawing.shuffled(epoch):
            found = list(_tuples(drawing, epoch, place, len(names), separator))
            left_out[0] += not found
            for texts in found:
                yield dict(zip(columns, texts, strict=True))

    made = _dataset(rows(), features, folder)
    made.info.description = (
        f"{left_out[0]:,} contexts have fewer than {len(names)} negatives and are left out"
    )
    return made


def _tuples(drawing: Drawing, epoch: int, place: int, size: int, separator: str) -> Iterator[list[str]]:
    pairs = [drawing.pair(draw) for draw in drawing.draws_of(place, epoch, Lacking())]
    right = [pair.response for pair in pairs if pair.label]
    wrong = [pair.response for pair in pairs if not pair.label]
    cuts = [wrong[at : at + size] for at in range(0, len(wrong) - size + 1, size)]
    anchor = separator.join(drawing.groups[place].context)
    for row in range(max(len(right), len(cuts)) if cuts else 0):
        yield [anchor, right[row % len(right)], *cuts[row % len(cuts)]]


def _shards(pairs: Drawn, separator: str | None, starts: Sequence[int]) -> Iterator[Row]:
    for start in starts:
        for place in range(start, min(start + _SHARD, len(pairs))):
            yield _row(pairs[place], separator)


def _row(pair: Pair, separator: str | None) -> Row:
    return {
        "context": list(pair.context) if separator is None else separator.join(pair.context),
        "response": pair.response,
        "label": pair.label,
        "category": pair.category,
        "weight": pair.weight,
    }


def _batch(pairs: Sequence[Pair]) -> Mapping[str, Any]:
    import torch

    return {
        "context": [pair.context for pair in pairs],
        "response": [pair.response for pair in pairs],
        "label": torch.tensor([float(pair.label) for pair in pairs]),
        "weight": torch.tensor([pair.weight for pair in pairs]),
    }


def _features(separator: str | None) -> Features:
    features = _texts(["context", "response", "label", "category", "weight"])
    from datasets import List, Value

    if separator is None:
        features["context"] = List(Value("string"))
    features["label"] = Value("int64")
    features["weight"] = Value("float64")
    return features


def _texts(columns: Sequence[str]) -> Features:
    try:
        from datasets import Features, Value
    except ImportError as error:
        raise GraphnegError('a dataset needs datasets: pip install "graphneg[neural]"') from error
    return Features({name: Value("string") for name in columns})


def _dataset(rows: Iterable[Row], features: Features, folder: Path) -> Dataset:
    import pyarrow as pa
    from datasets import Dataset

    path = folder / f"{uuid4().hex}.arrow"
    remaining, schema = iter(rows), features.arrow_schema
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
        while some := list(islice(remaining, _ROWS)):
            stream.write_batch(pa.RecordBatch.from_pylist(some, schema=schema))
    return Dataset.from_file(str(path))
