"""Tests of sources of wrong responses: budgets, invalid plans, and groups of people and files."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from graphneg.datasets.groups import LabelledContext
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import Data
from graphneg.evaluation.comparison.runs import ComparisonPlan, RankerSettings
from graphneg.evaluation.comparison.sources import (
    Budget,
    NegativeCache,
    existing_groups,
    source_of,
)
from graphneg.records.files import write_jsonl
from tests.negative_samples import EXAMPLE

TURNS = tuple(turn.text for turn in EXAMPLE.context)
WRITTEN = {"adversarial": ("Fish.",), "random": ("Eggs.",)}
CONTEXT = LabelledContext("own/train/1", TURNS, ("I like it.",), WRITTEN)
RECORD = msgspec.structs.replace(EXAMPLE, target="response")


class TestBudgets:
    def test_a_budget_needs_one_response_of_each_kind(self) -> None:
        with pytest.raises(InputError, match="at least one correct, one random and one wrong response"):
            Budget(source=0)

    def test_a_budget_has_new_negatives_of_a_source_for_each_epoch(self) -> None:
        assert Budget(source=3, epochs=4).negatives_per_context == 12

    def test_human_negatives_have_the_name_of_the_data(self) -> None:
        assert set(Budget().mix(source_of("human")).negatives) == {"random", "adversarial"}
        assert set(Budget().mix(source_of("bm25")).negatives) == {"random", "bm25"}


class TestPlans:
    @pytest.mark.parametrize(
        ("names", "changes", "complaint"),
        [
            ([], {}, "at least one source and one seed"),
            (["random"], {"seeds": ()}, "at least one source and one seed"),
            (["bm25", "bm25"], {}, "source bm25 is named twice"),
            (["bm25"], {"options": {"hard": {}}}, "options are given for 'hard'"),
            (["bm25"], {"held_out": "all"}, "unknown value 'all' of held_out; choose one of right, nothing"),
        ],
    )
    def test_invalid_plans_are_refused(
        self, names: list[str], changes: dict[str, Any], complaint: str
    ) -> None:
        with pytest.raises(InputError, match=complaint):
            ComparisonPlan(list(map(source_of, names)), RankerSettings("none"), **changes)


class TestGroups:
    def test_random_groups_have_correct_responses_only(self) -> None:
        [group] = existing_groups([CONTEXT], source_of("random")) or []
        assert [answer.text for answer in group.positives] == ["I like it."] and not group.negatives

    def test_groups_of_people_have_their_adversarial_responses(self) -> None:
        [group] = existing_groups([CONTEXT], source_of("human")) or []
        assert [(answer.text, answer.source) for answer in group.negatives] == [("Fish.", "adversarial")]

    def test_generated_sources_have_no_ready_groups(self) -> None:
        assert existing_groups([CONTEXT], source_of("bm25")) is None
        assert existing_groups([CONTEXT], source_of("deam")) is None

    def test_groups_of_a_file_are_matched_by_text(self, tmp_path: Path) -> None:
        write_jsonl([RECORD, RECORD], tmp_path / "own.jsonl")
        source = source_of(f"mine={tmp_path / 'own.jsonl'}")
        louder = replace(CONTEXT, turns=tuple(f" {text.upper()}" for text in TURNS))
        [group] = existing_groups([louder], source) or []
        assert [(answer.text, answer.source) for answer in group.negatives] == [("I don't like it.", "mine")]
        with pytest.raises(InputError, match=r"source mine: .* has no negative of a training context"):
            existing_groups([replace(CONTEXT, turns=("Hm?",))], source)


def test_generated_sources_need_a_store(tmp_path: Path) -> None:
    data = Data((CONTEXT,), (replace(CONTEXT, id="own/test/2", turns=("Hm?",)),))
    with ExitStack() as stores:
        cache = NegativeCache(tmp_path, data, 2, stores)
        with pytest.raises(InputError, match="source bm25: this source makes its negatives in a store"):
            cache.made(source_of("bm25"))
    assert not list(tmp_path.iterdir())
