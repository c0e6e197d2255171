"""Tests of exporting judgements to files and importing them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.exchange import (
    FORMS,
    label_studio_config,
    labels_of,
    read_gold,
    read_judgements,
    write_judgements,
)
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgement
from graphneg.evaluation.review.results import Results
from tests.review_samples import RIGHT, USABLE, small_set


class TestExchange:
    @pytest.fixture
    def results(self) -> Results:
        """Return judgements with quotation marks, a line break, a time and an adjudication."""
        some = [
            Judgement(1, "ann", USABLE, 'so "so",\nreally', "2026-01-31T12:00:00+00:00"),
            Judgement(1, "ben", RIGHT),
            Judgement(1, ADJUDICATOR, RIGHT),
            Judgement(2, "ann", USABLE),
        ]
        return Results(small_set(), some)

    @pytest.mark.parametrize("suffix", list(FORMS))
    def test_each_format_can_be_exported_and_imported(
        self, results: Results, tmp_path: Path, suffix: str
    ) -> None:
        path = tmp_path / f"out{suffix}"
        write_judgements(results, path)
        back = read_judgements(results.set, path)
        assert [replace(one, at="") for one in back] == [replace(one, at="") for one in results.judgements]
        if suffix == ".jsonl":
            assert back == results.judgements
        with pytest.raises(InputError, match="the file already exists"):
            write_judgements(results, path)

    @pytest.mark.parametrize("suffix", list(FORMS))
    def test_rows_of_another_set_are_refused(self, results: Results, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"out{suffix}"
        write_judgements(results, path)
        items = (replace_text(results.set.items[0]), *results.set.items[1:])
        other = ReviewSet(FORMAT, 7, results.set.questions, items)
        with pytest.raises(InputError, match="row 1 has a different context or response than the key"):
            read_judgements(other, path)
        with pytest.raises(InputError, match=r"row '\d' is not in the key"):
            read_judgements(ReviewSet(FORMAT, 7, results.set.questions, ()), path)

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("a.jsonl", "{", r"a\.jsonl:1: not JSON"),
            ("a.jsonl", "[]", r"a\.jsonl:1: the line is not a JSON object"),
            ("a.jsonl", "{}", r"a\.jsonl:1: not a judgement"),
            ("a.json", "{", r"a\.json: not JSON"),
            ("a.json", "{}", r"a\.json: expected a list of tasks"),
            ("a.json", "[3]", r"a\.json: task 0: not a task of this review"),
            ("a.csv", "row,context\n", r"a\.csv:1: no column response"),
            ("a.txt", "", "unknown suffix; use"),
        ],
    )
    def test_broken_files_are_named(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_judgements(small_set(), tmp_path / name)

    def test_labels_are_gold_of_the_next_review(self, results: Results, tmp_path: Path) -> None:
        (tmp_path / "labels.jsonl").write_text(labels_of(results), encoding="utf-8")
        gold = read_gold(results.set.questions, [tmp_path / "labels.jsonl"])
        assert [(item.id, item.gold) for item in gold] == [("i0", RIGHT), ("i1", USABLE)]
        two = (tmp_path / "labels.jsonl").read_text(encoding="utf-8").replace('"right"', '"arguable"', 1)
        (tmp_path / "more.jsonl").write_text(two, encoding="utf-8")
        with pytest.raises(InputError, match=r"more\.jsonl:1: i0 has different answers"):
            read_gold(results.set.questions, [tmp_path / "labels.jsonl", tmp_path / "more.jsonl"])

    def test_label_studio_has_a_configuration(self) -> None:
        from xml.etree import ElementTree

        root = ElementTree.fromstring(label_studio_config(small_set()))
        assert [one.get("name") for one in root.iter("Choices")] == ["grammatical", "sensible", "verdict"]

    def test_what_label_studio_exports_itself_is_read(self, results: Results, tmp_path: Path) -> None:
        write_judgements(results, tmp_path / "out.json")
        tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
        cancelled = {"was_cancelled": True, "result": []}
        (annotation, *_) = tasks[0]["annotations"]
        annotation["result"] = [one for one in annotation["result"] if one["type"] == "choices"]
        tasks[0]["annotations"] = [cancelled, {**annotation, "completed_by": {"email": "ann@example.org"}}]
        (tmp_path / "ls.json").write_text(json.dumps(tasks[:1]), encoding="utf-8")
        (back,) = read_judgements(results.set, tmp_path / "ls.json")
        assert (back.annotator, back.answers) == ("ann@example.org", USABLE)


def replace_text(item: Item) -> Item:
    return Item(item.source, item.id, item.context, item.response + " More.")
