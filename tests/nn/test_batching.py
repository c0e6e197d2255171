"""Tests of batching: items sorted by length, results in the original order, halved when memory runs out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.errors import ModelError
from graphneg.nn.batching import longest_first


@given(st.lists(st.text("ab", max_size=9)), st.integers(1, 5))
def test_results_are_in_the_order_of_the_items(items: list[str], size: int):
    batches: list[list[str]] = []

    def run(batch):
        batches.append(list(batch))
        return [item.upper() for item in batch]

    assert longest_first(items, len, size, run) == [item.upper() for item in items]
    lengths = [len(item) for batch in batches for item in batch]
    assert lengths == sorted(lengths, reverse=True)
    assert all(len(batch) <= size for batch in batches)


def test_a_batch_is_halved_until_memory_suffices():
    pytest.importorskip("torch")

    def run(batch):
        if sum(map(len, batch)) > 6:
            raise MemoryError
        return [len(item) for item in batch]

    assert longest_first(["aaa", "bb", "cccc", "d"], len, 4, run) == [3, 2, 4, 1]
    with pytest.raises(ModelError, match=r"out of memory, even for a row alone \(number 1\)"):
        longest_first(["a", "bbbbbbb"], len, 2, run, "a row")
