"""Tests of the measures of a detector: thresholds, ties, symmetry and JSON form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.evaluation.detection import MEASURES, check_classes, evaluate_detection
from graphneg.ingest.labelled import JudgedResponse
from tests.contradiction_samples import apart

ONE = replace(apart()[0], generator="g")


def labelled(*votes: int) -> list[JudgedResponse]:
    return [replace(ONE, votes=of) for of in votes]


class TestThreshold:
    def test_a_score_on_it_says_contradictory(self) -> None:
        found = evaluate_detection(labelled(3, 0), [0.7, 0.69], threshold=0.7, resamples=0).mean
        assert (found.accuracy.value, found.f1.value) == (1, 1)

    def test_calling_everything_contradictory_has_balanced_accuracy_half(self) -> None:
        found = evaluate_detection(labelled(3, 3, 3, 0), [1.0] * 4, resamples=0).mean
        assert (found.accuracy.value, found.balanced_accuracy.value, found.auc.value) == (0.75, 0.5, 0.5)

    def test_calling_nothing_contradictory_has_f1_0(self) -> None:
        assert evaluate_detection(labelled(3, 0), [0.2, 0.1], resamples=0).mean.f1.value == 0


class TestProperties:
    @settings(max_examples=40)
    @given(st.lists(st.tuples(st.sampled_from((0, 3)), st.integers(0, 10)), min_size=2, max_size=12))
    def test_inverted_scores_invert_the_auc(self, rows: list[tuple[int, int]]) -> None:
        some = [*labelled(0, 3), *labelled(*(votes for votes, _ in rows))]
        scores = [0.5, 0.5, *(value / 10 for _, value in rows)]
        there = evaluate_detection(some, scores, resamples=0).mean.auc.value
        back = evaluate_detection(some, [1 - value for value in scores], resamples=0).mean.auc.value
        assert there + back == pytest.approx(1)

    def test_without_resamples_intervals_are_points(self) -> None:
        found = evaluate_detection(labelled(3, 0, 0), [0.9, 0.8, 0.1], resamples=0).mean
        assert found.accuracy.low == found.accuracy.value == found.accuracy.high

    def test_one_generator_is_its_own_mean(self) -> None:
        found = evaluate_detection(labelled(3, 0, 0), [0.9, 0.8, 0.1], resamples=30)
        assert replace(found.generators[0], generator="mean") == found.mean


class TestForm:
    def test_plain_objects_have_each_generator_in_the_order_of_the_responses_then_the_mean(self) -> None:
        some = [*labelled(3, 0), *(replace(item, generator="a") for item in labelled(0, 3))]
        rows = evaluate_detection(some, [1, 0, 0, 1], resamples=5).as_dicts()
        assert [row["generator"] for row in rows] == ["g", "a", "mean"]
        assert all(row[name].keys() == {"value", "low", "high"} for row in rows for name in MEASURES)
        assert (rows[-1]["responses"], rows[-1]["contradictory"]) == (4, 2)

    def test_a_generator_of_one_class_is_named(self) -> None:
        check_classes(labelled(3, 0))
        with pytest.raises(InputError, match="g: all responses have the same label"):
            check_classes(labelled(2, 3))
