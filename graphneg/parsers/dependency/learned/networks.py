"""The networks of the learned parts, forward only: sums of feature rows, one hidden layer, scores.

In: bags of features, as strings. Out: float32 arrays with a row for each bag. In the files, tables of
features are 8-bit integers with one scale. Each sentence is computed by itself, so that its scores do
not depend on what else is in a batch.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

Array = Any
_MOST_KEPT = 50_000
_LEVELS = 127
_TABLES = frozenset({"context", "candidate", "node", "pair", "denial"})
"""Arrays with a row for each feature; the last row in memory is all zeros."""


@dataclass(frozen=True, slots=True)
class Model:
    """Feature numbers by table, arrays by name, and the names of the output classes."""

    features: Mapping[str, Mapping[str, int]]
    arrays: Mapping[str, Array]
    classes: Sequence[str] = ()

    def sums(self, table: str, rows: str, bags: Sequence[Sequence[str]]) -> Array:
        """The sum of ``arrays[rows]`` over each bag's features, float32 ``[len(bags), width]``."""
        known, weights = self.features[table], self.arrays[rows]
        if not bags:
            return np.zeros((0, weights.shape[1]), np.float32)
        nothing = len(known)
        ids: list[int] = []
        ends: list[int] = []
        for bag in bags:
            ids.extend([known.get(feature, nothing) for feature in bag])
            ids.append(nothing)
            ends.append(len(ids))
        starts = [0, *ends[:-1]]
        return np.add.reduceat(weights[ids], starts, axis=0)


class GroupSums:
    """Sums over groups of features, each group summed once and kept, for groups that come again and again.

    ``expand`` writes out a group's features. A sum does not depend on what was kept before.
    """

    def __init__(self, model: Model, table: str, expand: Callable[[Any], Sequence[str]]) -> None:
        self._model, self._table, self._expand = model, table, expand
        self._places: dict[Any, int] = {}
        self._kept: Array = np.zeros((_MOST_KEPT, model.arrays[table].shape[1]), np.float32)
        self._lock = Lock()

    def sums(self, bags: Sequence[Sequence[Any]]) -> Array:
        """The sum of the rows of each bag of groups (none may be empty), float32 ``[len(bags), width]``."""
        with self._lock:
            new = list(dict.fromkeys([group for bag in bags for group in bag if group not in self._places]))
            if len(self._places) + len(new) > _MOST_KEPT:
                self._places.clear()
                new = list(dict.fromkeys([group for bag in bags for group in bag]))
            if new:
                begin = len(self._places)
                rows = self._model.sums(self._table, self._table, [self._expand(group) for group in new])
                if begin + len(new) > len(self._kept):
                    self._kept = np.zeros((begin + len(new), rows.shape[1]), np.float32)
                self._kept[begin : begin + len(new)] = rows
                self._places.update(zip(new, range(begin, begin + len(new)), strict=True))
            places = [self._places[group] for bag in bags for group in bag]
            starts = np.cumsum([0] + [len(bag) for bag in bags[:-1]])
            return np.add.reduceat(self._kept[places], starts, axis=0)


def read_model(data: bytes) -> Model:
    """A model as :func:`write_model` writes it."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        names = list(stored.files)
        arrays = {name[2:]: _restored(stored, name[2:]) for name in names if name.startswith("a.")}
        texts = {name[2:]: _lines(stored[name]) for name in names if name.startswith("t.")}
    classes = texts.pop("classes", [])
    features = {name: {feature: i for i, feature in enumerate(lines)} for name, lines in texts.items()}
    return Model(features, arrays, classes)


def _restored(stored: Any, name: str) -> Array:
    array = stored["a." + name]
    if name not in _TABLES:
        return array.astype(np.float32)
    rows = array.astype(np.float32) * stored["s." + name]
    return np.concatenate([rows, np.zeros((1, rows.shape[1]), np.float32)])


def _lines(array: Array) -> list[str]:
    return array.tobytes().decode().split("\n")


def write_model(model: Model) -> bytes:
    """The model as a compressed ``.npz``; large tables are rounded to 8 bits a weight."""
    files: dict[str, Array] = {}
    for name, array in model.arrays.items():
        if name in _TABLES:
            scale = np.float32((np.abs(array).max(initial=0) or 1) / _LEVELS)
            files["a." + name] = np.rint(array / scale).astype(np.int8)
            files["s." + name] = scale
        else:
            files["a." + name] = array.astype(np.float32)
    for name, numbers in (*model.features.items(), ("classes", dict.fromkeys(model.classes))):
        files["t." + name] = np.frombuffer("\n".join(numbers).encode(), np.uint8)
    stream = io.BytesIO()
    np.savez_compressed(stream, **files)
    return stream.getvalue()
