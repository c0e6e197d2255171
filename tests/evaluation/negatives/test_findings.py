"""Tests of the findings about negatives, such as "longer than correct responses"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphneg.evaluation.negatives.findings import findings
from graphneg.evaluation.negatives.sampling import Distribution
from graphneg.evaluation.negatives.statistics import CategoryLine, Figures


def flat(value: float) -> Distribution:
    return Distribution(value, value, value, value)


RIGHT = Figures(
    texts=500,
    sampled=500,
    words=flat(10),
    shared=flat(1),
    like_right=None,
    to_context=flat(0.5),
    to_right=None,
    perplexity=flat(30),
    judged_right=0.9,
    questions=0.2,
    first_person=0.3,
    second_person=0.3,
    third_person=0.4,
)
LINE = CategoryLine("own", "all", "response", 500, replace(RIGHT, judged_right=0.2), 0, 0, 0, 1.0, 2.5)


def told(line: CategoryLine, right: Figures | None = RIGHT) -> list[tuple[str, str]]:
    return [(finding.level, finding.sentence) for finding in findings([line], lambda _: right)]


def test_a_line_without_fault_is_good() -> None:
    assert told(LINE) == [("good", "no single cue separates these negatives from correct responses")]


@pytest.mark.parametrize(
    ("cue", "figures", "sentence"),
    [
        ("length", {"words": flat(5)}, "0.50 times as long as correct responses (5.0 words against 10.0)"),
        (
            "overlap",
            {"shared": flat(2)},
            "a ranker trained on these negatives alone learns that shared words mean wrong",
        ),
        ("overlap", {"shared": flat(0.2)}, "by their lack of shared words"),
        ("similarity", {"to_context": flat(0.9)}, "closer to their contexts (cosine 0.90)"),
        ("similarity", {"to_context": flat(0.1)}, "further from their contexts (cosine 0.10)"),
        ("fluency", {}, "their perplexity is 2.5 times that of correct responses"),
        ("words", {}, '("hums", "sings")'),
    ],
)
def test_a_cue_is_described(cue: str, figures: dict[str, Any], sentence: str) -> None:
    own = replace(LINE.figures, **figures)
    ratio = own.words.mean / RIGHT.words.mean
    line = replace(LINE, figures=own, words_ratio=ratio, cue_auc={cue: 0.8}, cue_words=("hums", "sings"))
    [(level, said)] = told(line)
    assert level == "suspicious" and sentence in said and said.endswith("(AUC 0.80)")


def test_few_negatives_need_a_strong_cue() -> None:
    few = replace(LINE, figures=replace(LINE.figures, texts=20, sampled=20))
    assert [level for level, _ in told(replace(few, cue_auc={"length": 0.69}))] == ["good"]
    assert [level for level, _ in told(replace(few, cue_auc={"length": 0.71}))] == ["suspicious"]
    area = {"length": 0.71}
    tiny = replace(few, cue_auc=area)
    assert [level for level, _ in told(tiny, replace(RIGHT, texts=10, sampled=10))] == ["good"]


@pytest.mark.parametrize(
    ("changes", "level", "sentence"),
    [
        ({"again": 100}, "suspicious", "20% repeat a negative of the same context"),
        ({"elsewhere": 200}, "suspicious", "40% occur with more than one context"),
        ({"equal_to_right": 7}, "wrong", "7 of 500 are correct responses of their own contexts"),
    ],
)
def test_repeats_are_judged_by_their_share(changes: dict[str, int], level: str, sentence: str) -> None:
    first, *_ = told(replace(LINE, **changes))
    assert first[0] == level and sentence in first[1]


@pytest.mark.parametrize(
    ("figures", "level", "sentence"),
    [
        ({"questions": 0.6}, "suspicious", "60% are questions, but 20% of correct responses"),
        ({"judged_right": 0.6}, "suspicious", "accepts 60% as correct (correct responses: 90%)"),
        ({"judged_right": 0.01}, "note", "accepts only 1% as correct"),
    ],
)
def test_questions_and_judge_scores_are_reported(
    figures: dict[str, float], level: str, sentence: str
) -> None:
    first, *_ = told(replace(LINE, figures=replace(LINE.figures, **figures)))
    assert first[0] == level and sentence in first[1]


def test_findings_are_sorted_by_severity() -> None:
    few = replace(LINE, source="few", figures=replace(LINE.figures, texts=3))
    wrong = replace(LINE, source="bad", equal_to_right=1)
    found = findings([few, LINE, wrong], lambda _: RIGHT)
    assert [(finding.level, finding.line) for finding in found] == [
        ("wrong", "bad"),
        ("note", "few"),
        ("good", "own"),
    ]
