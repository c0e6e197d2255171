"""Compare the shared statistics with their definitions."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.hashing import HashSample
from graphneg.statistics import percentile_interval, resampled_counts, resampled_items, roc_auc

SCORES = st.lists(st.integers(0, 9), min_size=1, max_size=20)


class TestAreaUnderTheCurve:
    @given(SCORES, SCORES)
    def test_is_the_share_of_pairs_that_are_in_order(self, positive: list[int], negative: list[int]) -> None:
        won = sum((a > b) + (a == b) / 2 for a, b in product(positive, negative))
        assert roc_auc(positive, negative) == pytest.approx(won / (len(positive) * len(negative)))

    @given(SCORES, SCORES)
    def test_counts_stand_for_scores_that_come_up_again(self, some: list[int], others: list[int]) -> None:
        values, counts = np.unique(others, return_counts=True)
        assert roc_auc(some, values, negative_counts=counts) == pytest.approx(roc_auc(some, others))

    def test_of_one_class_is_no_number(self) -> None:
        assert math.isnan(roc_auc([], [1.0]))


class TestResamples:
    def test_hold_as_many_as_there_are(self) -> None:
        assert resampled_items(5, 3, 0).shape == (3, 5)
        assert resampled_counts(5, 3, 0).sum(axis=1).tolist() == [5, 5, 5]

    def test_depend_on_the_seed_alone(self) -> None:
        assert (resampled_counts(9, 2, 1) == resampled_counts(9, 2, 1)).all()


class TestIntervals:
    def test_leave_out_what_is_no_number(self) -> None:
        assert percentile_interval([math.nan, 2.0, 2.0]).tolist() == [2.0, 2.0]

    def test_of_nothing_are_nothing(self) -> None:
        assert percentile_interval([]).tolist() == [0.0, 0.0]


class TestSampleByHash:
    @given(st.dictionaries(st.integers(0, 99), st.text(max_size=2), max_size=30), st.randoms())
    def test_holds_the_lowest_numbers_in_any_order(self, items: dict[int, str], random: Random) -> None:
        offered = list(items.items())
        random.shuffle(offered)
        sample = HashSample[str](5)
        for draw, item in offered:
            sample.offer(draw, item)
        assert sample.items() == [items[draw] for draw in sorted(items)[:5]]
