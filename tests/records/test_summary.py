"""Tests of the summary of a run: counts of negatives and of skipped ones by reason."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console

from graphneg.model import Original, Turn
from graphneg.records.summary import Summary
from tests.negative_samples import EXAMPLE, some


def rendered(summary: Summary) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(summary.table())
    return console.file.getvalue()  # type: ignore[attr-defined]


def filled_summary() -> Summary:
    summary = Summary()
    for negative in some(3):
        summary.add(negative)
        summary.check([])
    skip_some(summary)
    return summary


def skip_some(summary: Summary) -> None:
    summary.check(["no-top"])
    for number in range(5):
        summary.skip("no-alignment: the node has no words", f"own/test/{number}#1")
    summary.skip("no-site", "own/test/9")


def test_the_summary_counts_by_transform_and_by_reason():
    summary = filled_summary()
    assert summary.negatives == 3
    assert summary.transforms == {("polarity_flip", "C-cont"): 3}
    assert summary.skipped == {"no-alignment": 5, "no-site": 1}
    assert len(summary.examples["no-alignment"]) == 3
    assert (summary.graphs, summary.well_formed) == (4, 3)


def test_twins_and_proofs_are_counted_shown_and_kept_at_a_checkpoint():
    summary = Summary()
    for proved in (True, True, False, None):
        summary.add(replace(EXAMPLE, proved=proved))
    summary.twins = 3
    assert (summary.negatives_and_twins, summary.proofs) == (7, {True: 2, False: 1})
    kept = Summary.from_state(json.loads(json.dumps(summary.state())))
    assert kept.state() == summary.state()
    lines = [" ".join(line.split()) for line in rendered(kept).replace("│", " ").splitlines()]
    for line in ("twins 3 75.0%", "error proved 2 50.0%", "error not proved 1 25.0%"):
        assert line in lines
    old = {name: count for name, count in summary.state().items() if name != "pairs"}
    assert Summary.from_state(old).twins == 0
    assert "proved" not in rendered(Summary.from_state(old)) and "twins" not in rendered(Summary())


def test_lengths_and_overlap_compare_only_edited_texts():
    summary = filled_summary()
    assert summary.words_before == 3
    assert summary.words_after == 4
    assert summary.overlap == pytest.approx(3 / 4)
    turned = replace(
        EXAMPLE,
        original=Original((Turn("A", "Do you hate the café?"), EXAMPLE.context[1]), None),
    )
    alone = Summary()
    alone.add(turned)
    assert alone.overlap == pytest.approx(4 / 6)


def test_the_table_shows_what_was_counted():
    table = rendered(filled_summary())
    assert "polarity_flip (C-cont)" in table
    assert "no-alignment" in table and "own/test/0#1: the node has no words" in table
    assert "75.0%" in table


def test_target_features_are_counted_as_met_or_not():
    summary = filled_summary()
    for is_met in (True, False, False):
        summary.count_feature("two words in common", is_met)
    again = Summary.from_state(json.loads(json.dumps(summary.state())))
    assert "two words in common" in rendered(again) and "33.3%" in rendered(again)
    assert "target features met" in rendered(again)
    assert "target features met" not in rendered(filled_summary())


def test_an_empty_summary_has_a_table():
    assert "negatives" in rendered(Summary())


def test_a_summary_can_be_restored_from_its_state():
    whole, first = filled_summary(), Summary()
    first.add(EXAMPLE)
    first.check([])
    second = Summary.from_state(json.loads(json.dumps(first.state())))
    for negative in some(2):
        second.add(negative)
        second.check([])
    skip_some(second)
    assert second.state() == whole.state()
    assert Summary.from_state({}).state() == Summary().state()
