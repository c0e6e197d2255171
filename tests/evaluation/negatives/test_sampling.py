"""Tests of the measurements of a record, and of counts that do not depend on the order of records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from graphneg.evaluation.negatives.sampling import Histogram, NegativeStatistics, measured
from graphneg.model import Negative, Original, Turn
from tests.negative_samples import EXAMPLE

OWN = replace(EXAMPLE, target="response", edits=(), recipe="own", pair=None)


def records() -> list[Negative]:
    responses = ("No.", "no.", "It is far.", "I like it.")
    kinds = (("C-cont",), ("C-ent",), ("C-cont", "C-ent"), ())
    wrong = [
        replace(OWN, id=f"{at}~{kind}", response=text, categories=kind, dialogue=f"own/{at % 2}")
        for at, text in enumerate(responses)
        for kind in kinds
    ]
    return [*wrong, replace(OWN, label=1, response="Sure."), replace(OWN, recipe="", categories=())]


class TestRecords:
    def test_a_correct_record_gives_its_context_and_response(self) -> None:
        found = measured(replace(OWN, label=1))
        [text] = found.right
        assert (text.text, text.original_context, found.wrong) == (OWN.response, text.context, ())

    def test_a_wrong_record_without_an_original_has_no_correct_text(self) -> None:
        found = measured(replace(OWN, original=Original(None, None)))
        assert found.right == () and found.wrong[0].original is None

    def test_the_context_is_the_original_one(self) -> None:
        edited = (replace(EXAMPLE.context[0], text="Do you hate it?"), EXAMPLE.context[1])
        original = Original(EXAMPLE.context, None)
        [text] = measured(replace(OWN, context=edited, original=original)).wrong
        assert text.original_context[0] == EXAMPLE.context[0].text and text.context[0] == "Do you hate it?"
        assert text.original == OWN.response, "only the context was edited"


class TestCounts:
    @settings(max_examples=20)
    @given(st.permutations(records()))
    def test_counts_do_not_depend_on_the_order(self, some: list[Negative]) -> None:
        there, back = (NegativeStatistics(order, 3, 0) for order in (records(), some))
        assert list(there.wrong) == list(back.wrong)
        assert (there.repeated, there.records, there.negatives) == (back.repeated, 18, 17)
        for key, pool in there.wrong.items():
            assert pool.words.counts == back.wrong[key].words.counts
            assert pool.sample.items() == back.wrong[key].sample.items()

    def test_lines_of_a_source_begin_with_all_of_it(self) -> None:
        counts = NegativeStatistics(records(), 3, 0)
        names = [(key.source, key.category) for key in counts.wrong]
        assert names == [("own", "all"), ("own", "C-cont"), ("own", "C-ent"), ("unnamed", "all")]
        assert counts.repeated[next(iter(counts.wrong))][-1] == 4, "four times what is right there"

    def test_a_source_of_one_category_has_one_line(self) -> None:
        one = [replace(OWN, id=str(at), response=f"Text {at}") for at in range(3)]
        assert [key.category for key in NegativeStatistics(one, 3, 0).wrong] == ["C-cont"]


class TestHistograms:
    @given(st.lists(st.integers(0, 50), min_size=1), st.floats(0.01, 1))
    def test_a_quantile_is_that_of_the_inverted_distribution(self, values: list[int], part: float) -> None:
        expected = np.quantile(values, part, method="inverted_cdf")
        assert Histogram(values).quantile(part) == pytest.approx(expected)

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
    def test_the_mean_is_exact_for_any_step(self, values: list[float]) -> None:
        spread = Histogram(values, 0.25).spread()
        assert spread is not None and spread.mean == pytest.approx(sum(values) / len(values))

    def test_an_empty_histogram_has_no_spread(self) -> None:
        assert Histogram().spread() is None


class Paired(Negative, frozen=True, kw_only=True):
    """A record of a minimal pair."""

    pair: str | None = None


def paired(negative: Negative, **values: object) -> Negative:
    return Paired(**{**structs.asdict(negative), **values})  # type: ignore[arg-type]


class TestTwins:
    def test_a_twin_is_no_correct_response(self) -> None:
        negative = paired(OWN, pair="1")
        twin = paired(OWN, pair="1", label=1, recipe="twin", response="I do.")
        counts = NegativeStatistics([negative, twin], 10, 0)
        assert [(text.text, text.pair) for text in counts.twins.items()] == [("I do.", "1")]
        [response] = [text.text for text in counts.right["response"].sample.items()]
        assert response == OWN.original.response
        [pool] = counts.wrong.values()
        assert [text.pair for text in pool.sample.items()] == ["1"]

    def test_samples_of_negatives_and_twins_have_the_same_pairs(self) -> None:
        records = [
            paired(
                OWN, id=f"{label}~{at}", response=f"{label} {at}", pair=str(at), label=label, categories=()
            )
            for at in range(60)
            for label in (0, 1)
        ]
        counts = NegativeStatistics(records, 10, 0)
        [pool] = counts.wrong.values()
        assert {text.pair for text in pool.sample.items()} == {text.pair for text in counts.twins.items()}

    def test_a_twin_after_an_edited_context_has_the_place_of_its_negative(self) -> None:
        negative = paired(OWN, pair="1")
        edited = (*OWN.context[:-1], Turn("B", "I don't have a dog."))
        twin = paired(
            OWN, pair="1", label=1, recipe="twin", context=edited, original=Original(OWN.context, "Oh.")
        )
        [wrong], found = measured(negative).wrong, measured(twin).twin
        assert found is not None
        assert (found.text, found.original_context) == (wrong.text, wrong.original_context)
        assert found.context == tuple(turn.text for turn in edited) != wrong.context

    def test_the_twin_of_an_edited_dialogue_is_not_compared(self) -> None:
        twin = paired(OWN, pair="1", label=1, target="dialogue")
        assert measured(twin) == ((), (), None)
