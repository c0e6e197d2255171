"""Tests of the questions of a review: shipped sets and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.questions import load_questions, ready_questions


class TestQuestions:
    @pytest.mark.parametrize("name", ready_questions())
    def test_ready_ones_have_keys_and_guidelines(self, name: str) -> None:
        found = load_questions(name)
        assert found.name == name and found.guidelines and found.title and found.result_shares

    def test_there_are_four(self) -> None:
        assert ready_questions() == ["categories", "contradiction", "hardness", "usable"]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"questions": []}, "the file contains no question"),
            ({"name": 3}, r"Expected `str`, got `int` - at `\$.name`"),
            ({"more": 1}, "unknown field `more`"),
            (
                {"questions": [{"name": "row", "text": "?", "answers": []}]},
                "'row' can't be the name of a question",
            ),
            (
                {"questions": [{"name": "a", "text": "?", "answers": [{"value": "x"}]}]},
                "fewer than two answers",
            ),
            (
                {"questions": [{"name": "a", "text": "?", "answers": [{"value": "x"}, {"value": "x"}]}]},
                "is empty or occurs twice",
            ),
            (
                {
                    "questions": [
                        {"name": "a", "text": "?", "answers": [{"value": "x", "key": "u"}, {"value": "y"}]}
                    ]
                },
                "key 'u' is not a lower-case letter, occurs twice, or is one of u, s, c, g, which undo, skip",
            ),
            ({"shares": {"good": {"a": "z"}}}, "share good: a has no answer 'z'"),
        ],
    )
    def test_faults_are_named_with_their_place(
        self, tmp_path: Path, change: dict[str, object], message: str
    ) -> None:
        answers = [{"value": "x"}, {"value": "y"}]
        good = {"name": "mine", "title": "T", "questions": [{"name": "a", "text": "?", "answers": answers}]}
        path = tmp_path / "mine.json"
        path.write_text(json.dumps(good), encoding="utf-8")
        assert dict(load_questions(str(path)).result_shares) == {"x": {"a": "x"}, "y": {"a": "y"}}
        path.write_text(json.dumps({**good, **change}), encoding="utf-8")
        with pytest.raises(InputError, match=rf"mine\.json: .*{message}"):
            load_questions(str(path))

    def test_an_unknown_name_lists_the_known(self) -> None:
        with pytest.raises(
            InputError, match="no questions named 'usble'; choose one of categories, contradiction"
        ):
            load_questions("usble")
