"""Tests of cross-validation by generator: input errors before training, and disjoint folds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphneg.errors import InputError
from graphneg.evaluation import cross_validation
from graphneg.evaluation.cross_validation import cross_validate, leave_one_out
from tests.contradiction_samples import apart


class TestWrongUse:
    @pytest.mark.parametrize(
        ("source", "complaint"),
        [
            ("people", "unknown source 'people'; choose one of labelled, made, both"),
            ("both", "needs graph-made"),
        ],
    )
    def test_an_invalid_source_is_refused_before_a_model_is_loaded(
        self, tmp_path: Path, source: Any, complaint: str
    ) -> None:
        with pytest.raises(InputError, match=complaint):
            cross_validate(apart(), tmp_path / "no encoder", tmp_path / "out", source=source)
        assert not (tmp_path / "out").exists()

    def test_a_generator_with_one_class_is_refused_by_name(self, tmp_path: Path) -> None:
        some = [replace(item, votes=0) if item.generator == "six" else item for item in apart()]
        with pytest.raises(InputError, match="six: all responses have the same label"):
            cross_validate(some, "no encoder", tmp_path)


class TestFolds:
    def test_tested_texts_are_compared_without_case_and_spaces(self) -> None:
        [first, *_] = apart()
        shouted = replace(first, utterances=tuple(f"  {text.upper()} " for text in first.utterances))
        texts = cross_validation.test_texts
        assert texts([first]) == texts([shouted])

    def test_a_response_equal_to_a_tested_one_is_omitted(self) -> None:
        some = apart()
        tested = next(item for item in some if item.generator == "six")
        other = next(item for item in some if item.generator == "eggs")
        copy = replace(other, utterances=(*other.context, tested.response))
        before, after = leave_one_out(some), leave_one_out([*some, copy])
        lost = {fold.generator: fold.leaked for fold in after}
        assert lost["six"] == 1 + next(fold.leaked for fold in before if fold.generator == "six")
        assert lost["eggs"] == sum(item.response == tested.response for item in some)
