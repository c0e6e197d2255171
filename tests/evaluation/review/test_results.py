"""Tests of labels by majority rules, and of agreement between annotators."""

from __future__ import annotations

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgement
from graphneg.evaluation.review.results import results_of
from tests.review_samples import USABLE, said, small_set


class TestResults:
    @pytest.mark.parametrize(
        ("votes", "majority", "two_of_three", "all_of_three"),
        [
            (("yes", "yes", "yes"), "yes", "yes", "yes"),
            (("yes", "yes", "no"), "yes", "yes", None),
            (("yes", "no", "no"), "no", None, None),
            (("no", "no", "no"), "no", "no", "no"),
            (("yes", "no"), None, None, None),
        ],
    )
    def test_rules_make_labels(
        self,
        votes: tuple[str, ...],
        majority: str | None,
        two_of_three: str | None,
        all_of_three: str | None,
    ) -> None:
        set = small_set(questions="contradiction")
        for rule, expected in zip(
            ("majority", "two-of-three", "all-of-three"), (majority, two_of_three, all_of_three), strict=True
        ):
            found = results_of(set, said(*votes), rule)
            assert found.labels == ({} if expected is None else {1: {"contradictory": expected}})
            assert found.open == (expected is None)

    def test_an_unknown_rule_is_refused(self) -> None:
        with pytest.raises(
            InputError, match="no rule named 'most'; choose one of majority, two-of-three, all-of-three"
        ):
            results_of(small_set(), [], "most")

    def test_an_item_counts_once_however_many_judge_it(self) -> None:
        some = [Judgement(row, name, USABLE) for row in (1, 2, 3) for name in ("ann", "ben", "cleo")]
        (edits, hard) = results_of(small_set(), some).sources
        assert (edits.name, edits.read, hard.name, hard.read) == ("edits", 2, "hard", 1)
        assert edits.shares["usable"].value == 1

    def test_agreement_and_disagreements(self) -> None:
        rows = [(1, "yes", "yes"), (2, "no", "no"), (3, "yes", "no"), (4, "yes", "yes")]
        some = [
            Judgement(row, name, {"contradictory": vote})
            for row, *votes in rows
            for name, vote in zip(("ann", "ben"), votes, strict=True)
        ]
        set = small_set(questions="contradiction")
        found = results_of(set, [*some, Judgement(5, "ann", {"contradictory": "no"})])
        (agreement,) = found.agreement()
        assert (agreement.items, agreement.same, agreement.annotators) == (4, 4, 2)
        assert agreement.kappa == pytest.approx(0.4667, abs=1e-4)
        assert agreement.alpha == pytest.approx(0.5333, abs=1e-4)
        assert found.disagreements == [3] and 3 not in found.labels
        decided = results_of(set, [*some, Judgement(3, ADJUDICATOR, {"contradictory": "no"})])
        assert decided.labels[3] == {"contradictory": "no"} and decided.agreement()[0] == agreement

    def test_one_annotator_has_no_agreement(self) -> None:
        assert results_of(small_set(), [Judgement(1, "ann", USABLE)]).agreement() == []
