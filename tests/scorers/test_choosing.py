"""Tests of choosing negatives by scores, judge, margins and quotas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.amr.penman import parse_graph
from graphneg.errors import InputError
from graphneg.model import EditedPenman, EditRecord, Negative, Original, Turn
from graphneg.rankers.base import argsort_descending
from graphneg.records.files import negative_to_json
from graphneg.records.scores import CONTEXT_OVERLAP, SELECTIONAL_FIT, context_overlap, selectional_fit
from graphneg.scorers.choosing import ANSWERS, SelectedNegatives, SelectionCriteria

CONTEXT = (Turn("A", "Do you like dogs?"), Turn("B", "My dogs eat bread."))


def negative(id: str, response: str, transform: str = "polarity_flip", dialogue: str = "d") -> Negative:
    return Negative(
        id=id, corpus="c", split="train", dialogue=dialogue, turn=2, context=CONTEXT, response=response,
        label=0, original=Original(None, "I like dogs."), categories=("C-cont",),
        recipe="all", target="response", seed=0, decoder="surface",
        edits=(EditRecord(2, transform, "C-cont", "0", "(l / like-01)", "(l / like-01)"),), amr={}, scores={},
    )  # fmt: skip


class Judge:
    """Score a response by its length."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        return [len(response) / 100 for response in responses]

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        return argsort_descending(self.score([context] * len(candidates), candidates))


def chosen(
    folder: Path, records: Sequence[Negative], choice: SelectionCriteria, judge: Judge | None = None
) -> SelectedNegatives:
    path = folder / "records.jsonl"
    path.write_text("".join(f"{negative_to_json(record)}\n" for record in records))
    return SelectedNegatives(path, choice, judge)


def test_context_overlap_is_the_share_of_content_words():
    assert context_overlap(["Do you like dogs?"], "The moon is bright.") == 0
    assert context_overlap(["Do you like dogs?"], "I hate dogs.") == 0.5


def test_a_response_without_content_words_has_overlap_0():
    assert context_overlap(["Do you like dogs?"], "Oh, me?") == 0


def test_bread_fits_eat_and_cinema_does_not():
    usual, odd = (
        selectional_fit(parse_graph(f"(e / eat-01 :ARG0 (i / i) :ARG1 (n / {noun}))"))
        for noun in ("bread", "cinema")
    )
    assert (usual, odd) == (1, 0)


def test_an_unknown_verb_fits_any_noun():
    assert selectional_fit(parse_graph("(x / frobnicate-01 :ARG1 (n / cinema))")) == 1


def test_the_best_of_a_context_are_kept_and_have_scores(tmp_path):
    records = [negative("a", "The moon is bright."), negative("b", "I don't like dogs.")]
    stream = chosen(tmp_path, records, SelectionCriteria(per_context=1))
    (kept,) = stream
    assert kept.id == "b"
    assert kept.scores[CONTEXT_OVERLAP] == 1
    assert any(reason.startswith("ranked-out") for reason in stream.summary.skipped)


def test_the_graph_determines_the_selectional_fit(tmp_path):
    graph = "(e / eat-01 :ARG0 (i / i) :ARG1 (c / cinema))"
    record = replace(negative("a", "I eat a cinema."), amr={"2": EditedPenman(graph, graph)})
    assert [kept.scores[SELECTIONAL_FIT] for kept in chosen(tmp_path, [record], SelectionCriteria())] == [0]
    assert not list(chosen(tmp_path, [record], SelectionCriteria(min_scores={SELECTIONAL_FIT: 0.5})))


def test_correct_responses_are_not_chosen(tmp_path):
    assert not list(chosen(tmp_path, [replace(negative("a", "I like dogs."), label=1)], SelectionCriteria()))


def test_a_high_judge_score_is_refused(tmp_path):
    records = [negative("short", "No dogs."), negative("long", "I do not like any dogs at all, I said.")]
    stream = chosen(tmp_path, records, SelectionCriteria(max_score=0.2), Judge())
    assert [(kept.id, kept.scores[ANSWERS]) for kept in stream] == [("short", 0.08)]


@pytest.mark.parametrize(
    ("margins", "ids"),
    [
        ({"absolute_margin": 0.0}, ["less", "same"]),
        ({"absolute_margin": 0.03}, ["less"]),
        ({"relative_margin": 0.25}, ["less"]),
        ({"relative_margin": 0.5}, []),
    ],
)
def test_margins_are_relative_to_the_correct_response(tmp_path, margins, ids):
    records = [
        negative("less", "No dogs!"),
        negative("same", "I eat dogs!!"),
        negative("more", "I hate all dogs."),
    ]
    assert [kept.id for kept in chosen(tmp_path, records, SelectionCriteria(**margins), Judge())] == ids


def test_margins_refuse_records_without_a_correct_response(tmp_path):
    record = replace(negative("a", "No dogs."), original=Original(None, None))
    assert not list(chosen(tmp_path, [record], SelectionCriteria(absolute_margin=0.0), Judge()))


def test_margins_need_a_judge(tmp_path):
    with pytest.raises(InputError, match="judge"):
        chosen(tmp_path, [], SelectionCriteria(max_score=0.5))


@pytest.mark.parametrize(
    "wrong", [{"per_context": 0}, {"min_scores": {"odd": 0.5}}, {"quotas": {"polarity_flip": 2}}]
)
def test_values_out_of_range_are_refused(wrong):
    with pytest.raises(InputError):
        SelectionCriteria(**wrong)


@given(
    st.lists(
        st.sampled_from(["polarity_flip", "topical_statement", "coreference_swap"]), min_size=1, max_size=40
    )
)
def test_quotas_hold_for_every_prefix(tmp_path_factory, transforms):
    folder = tmp_path_factory.mktemp("quota")
    records = [
        negative(f"{at}", f"I like {at} dogs.", name, dialogue=f"d{at}") for at, name in enumerate(transforms)
    ]
    kept = [
        one.edits[0].transform
        for one in chosen(folder, records, SelectionCriteria(quotas={"polarity_flip": 0.5}))
    ]
    for end in range(1, len(kept) + 1):
        assert kept[:end].count("polarity_flip") <= max(1, end / 2)


def test_a_resumed_run_chooses_the_same(tmp_path):
    records = [
        negative(f"{at}", "I like dogs.", ("polarity_flip", "topical_statement")[at % 2], f"d{at}")
        for at in range(80)
    ]
    stream = chosen(tmp_path, records, SelectionCriteria(quotas={"polarity_flip": 0.3}))
    first = next(iter(stream.run(0, tuple)))
    rest = stream.run(first.dialogues, lambda: tuple(first.negatives))
    assert [*first.negatives, *(record for batch in rest for record in batch.negatives)] == list(stream)
