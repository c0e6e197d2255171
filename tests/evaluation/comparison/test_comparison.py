"""Tests of comparing sources of negatives: one ranker for each source, a table, and resuming."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphneg
from graphneg.datasets.groups import LabelledContext
from graphneg.errors import InputError
from graphneg.evaluation.comparison.comparison import (
    AUC,
    BALANCED,
    RECALL,
    Bootstrap,
    BootstrapEstimate,
    Comparison,
    ComparisonPlan,
    compare,
    gap_closed,
    tallies,
)
from graphneg.evaluation.comparison.data import BankFile, Data, LeakageFilter, bank_of, read_data
from graphneg.evaluation.comparison.runs import RankerRun, RankerSettings
from graphneg.evaluation.comparison.sources import Budget, source_of
from graphneg.evaluation.ranking import rank
from graphneg.hashing import number
from graphneg.model import Dialogue, Response, Sentence, Utterance
from graphneg.progress import NoProgress
from graphneg.records.files import read_jsonl
from tests.cli_runs import Run as CommandLine
from tests.tiny_ranker import encoder_folder, with_other_weights

ADVERSARIAL = "adversarial_negative_responses"
RANDOM = "random_negative_responses"
THINGS = ("cat", "dog", "fish", "bread", "eggs", "garden", "kitchen", "cats", "dogs", "tea", "jam", "pie")


def context(at: int, thing: str) -> dict[str, Any]:
    return {
        "id": at,
        "context": ["Shall we swim now?", f"Where is the {thing}?"],
        "positive_responses": [f"The {thing} is in the garden.", f"You ate the {thing} at six."],
        ADVERSARIAL: [f"Fish swim when the {thing} is twelve.", f"A {thing} is what fish eat."],
        RANDOM: ["Who did?", f"Eggs, when you swim at {at}."],
    }


CONTEXTS = [context(at, thing) for at, thing in enumerate(THINGS)]


def written(path: Path, contexts: Sequence[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, contexts)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an encoder and a file of contexts."""
    folder = tmp_path_factory.mktemp("compare")
    encoder_folder(folder / "encoder")
    written(folder / "all.json", CONTEXTS)
    return folder


@pytest.fixture(scope="module")
def data(folder: Path) -> Data:
    return read_data(folder / "all.json", split=0.5)


def plan(folder: Path, *sources: str, **changes: Any) -> ComparisonPlan:
    ranker = RankerSettings(folder / "encoder", options={"device": "cpu"}, arguments={"learning_rate": 1e-3})
    return replace(
        ComparisonPlan([source_of(one) for one in sources], ranker, budget=Budget(epochs=1, source=2)),
        **changes,
    )


class TestData:
    def test_one_file_is_split_by_the_hash_of_context_names(self, data: Data) -> None:
        order = sorted(range(12), key=lambda at: number(7, str(at)))
        assert [one.id for one in data.train] == [f"dailydialog_pp/train/{at}" for at in order[:6]]
        assert [one.id for one in data.test] == [f"dailydialog_pp/test/{at}" for at in order[6:]]

    @pytest.mark.parametrize(
        ("changed", "complaint"),
        [
            ({"positive_responses": []}, "bad.json:1: context dailydialog_pp/all/3 has no correct response"),
            ({"context": "Hello?"}, "bad.json:1"),
            ({ADVERSARIAL: [], RANDOM: []}, "has no wrong response"),
        ],
    )
    def test_an_unusable_context_is_refused_with_its_location(
        self, tmp_path: Path, changed: dict[str, Any], complaint: str
    ) -> None:
        bad = written(tmp_path / "bad.json", [{**CONTEXTS[3], **changed}])
        good = written(tmp_path / "good.json", CONTEXTS[:2])
        with pytest.raises(InputError, match=complaint):
            read_data(good, bad)

    def test_no_context_is_used_in_both_training_and_test(self, tmp_path: Path) -> None:
        one, other = (written(tmp_path / name, CONTEXTS[:2]) for name in ("one.json", "other.json"))
        with pytest.raises(InputError, match="is the same as training context"):
            read_data(one, other)


class TestSources:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("random", "random"),
            ("human", "human"),
            ("bm25", "generator"),
            ("hard", "generator"),
            ("deam", "recipe"),
            ("topical_statement", "recipe"),
        ],
    )
    def test_sources_have_names(self, text: str, kind: str) -> None:
        assert source_of(text).kind == kind

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("people", "choose random, human, NAME=FILE, a recipe .* or a generator"),
            ("mine=none.jsonl", "there is no such file"),
            ("human=mine.jsonl", "give the file another name"),
            ("mine=mine.txt", "must end in .jsonl or .parquet"),
        ],
    )
    def test_unknown_sources_are_refused(self, text: str, complaint: str) -> None:
        with pytest.raises(InputError, match=complaint):
            source_of(text)

    def test_all_sources_take_the_same_number_of_pairs(self) -> None:
        mixes = [Budget().mix(source_of(name)) for name in ("random", "human", "bm25")]
        assert {sum(mix.negatives.values()) for mix in mixes} == {5}


class TestBanks:
    def test_banks_contain_no_test_texts(self, data: Data) -> None:
        asked = data.test[0]
        answer, wrong = asked.positives[0], data.train[0].negatives["adversarial"][0]
        turns = ("Hello?", "Hi.", answer, "Bye.")
        spoken = Dialogue(
            "chat/all/1",
            "chat",
            "all",
            tuple(Utterance(at, "AB"[at % 2], text) for at, text in enumerate(turns)),
            (Response(0, "Oh, hello.", 1, "human"), Response(0, "Never.", 0, "human")),
        )
        sentences = [Sentence(f"s/{at}", text, "s") for at, text in enumerate((answer, wrong, "Ducks fly."))]
        sieve = LeakageFilter(data.forbidden)
        dialogue, *others = sieve.remove_leaks([spoken, *sentences])
        assert isinstance(dialogue, Dialogue)
        assert [one.text for one in dialogue.utterances] == ["Hello?", "Hi."]
        assert [one.text for one in dialogue.responses] == ["Oh, hello."]
        assert [one.text for one in others if isinstance(one, Sentence)] == ["Ducks fly."]
        assert sieve.left_out == {"turns": 1, "sentences": 2}

    def test_banks_are_read_by_the_loader_of_their_name(self, tmp_path: Path) -> None:
        path = tmp_path / "more.txt"
        path.write_text("Ducks fly.\n")
        bank = bank_of(f"text={path}")
        assert bank == BankFile("text", path)
        found = list(LeakageFilter(()).read(bank, NoProgress()))
        assert [one.text for one in found if isinstance(one, Sentence)] == ["Ducks fly."]
        with pytest.raises(InputError, match="the path does not exist"):
            bank_of("text=none.txt")
        with pytest.raises(InputError, match="expected LOADER=PATH"):
            bank_of("more.txt")


@st.composite
def scored_choices(draw: st.DrawFn) -> tuple[list[LabelledContext], list[list[float]]]:
    amounts = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=5))
    if not any(wrong for _, wrong in amounts):
        amounts.append((1, 1))
    choices = [
        LabelledContext(str(at), ("Hm?",), ("yes",) * right, {"other": ("no",), "kind": ("no",) * wrong})
        for at, (right, wrong) in enumerate(amounts)
    ]
    score = st.sampled_from([0.1, 0.4, 0.5, 0.6, 0.9])
    scores = [draw(st.lists(score, min_size=n, max_size=n)) for n in (len(one.responses) for one in choices)]
    return choices, scores


class TestFigures:
    @given(scored_choices())
    @settings(max_examples=60)
    def test_figures_over_all_contexts_equal_those_of_the_evaluation(
        self, given_: tuple[list[LabelledContext], list[list[float]]]
    ) -> None:
        choices, scores = given_
        told = next(one for one in rank(choices, scores) if one.kind == "kind")
        bootstrap = Bootstrap(len(choices), resamples=2)
        of = tallies(choices, scores, "kind")
        found = {name: bootstrap.measured(name, {0: of}).value for name in (RECALL, BALANCED, AUC)}
        assert found == pytest.approx(
            {RECALL: told.recall_at_1, BALANCED: told.balanced_accuracy, AUC: told.auc}
        )

    def test_figures_have_intervals(self) -> None:
        choices = [LabelledContext(str(at), ("Hm?",), ("yes",), {"kind": ("no",)}) for at in range(40)]
        scores = [[0.9, 0.1] if at % 4 else [0.1, 0.9] for at in range(40)]
        figure = Bootstrap(40).measured(RECALL, {0: tallies(choices, scores, "kind")}).figure()
        assert figure.value == 0.75
        assert 0.55 < figure.low < 0.7 < 0.8 < figure.high < 0.95

    def test_figures_include_the_share_of_the_gap(self) -> None:
        import numpy as np

        low, middle, high = (BootstrapEstimate(value, np.full(9, value)) for value in (0.2, 0.5, 0.8))
        share = gap_closed(middle, low, high)
        assert share is not None and share == pytest.approx((0.5, 0.5, 0.5))
        assert gap_closed(middle, high, low) is None


SOURCES = ("random", "human", "bm25", "person_swap", "turn-shuffle")


@dataclass(frozen=True)
class FinishedComparison:
    """A finished comparison: its folder, the reported runs, and its result."""

    out: Path
    told: list[RankerRun]
    found: Comparison


@pytest.fixture(scope="module")
def done(folder: Path, data: Data) -> FinishedComparison:
    told: list[RankerRun] = []
    made = plan(folder, *SOURCES)
    found = compare(data, made, folder / "out", open_graph=graphneg.open, on_run=told.append)
    return FinishedComparison(folder / "out", told, found)


class TestComparing:
    def test_a_comparison_gives_a_row_for_each_source(self, done: FinishedComparison) -> None:
        assert [row.source for row in done.found.rows] == [*SOURCES]
        assert {*done.found.rows[0].figures} == {"adversarial", "random"}
        sources = [{*run.pairs} - {"reference"} for run in done.told]
        assert sources[:2] == [{"random"}, {"random", "adversarial"}]
        assert sources[2:] == [{"random", name} for name in SOURCES[2:]]

    def test_edited_negatives_are_made_of_correct_responses(
        self, data: Data, done: FinishedComparison
    ) -> None:
        right = {one.turns: set(one.positives) for one in data.train}
        edited: dict[tuple[str, ...], set[str]] = {turns: set() for turns in right}
        for one in read_jsonl(done.out / "negatives" / "person_swap.jsonl"):
            turns = tuple(turn.text for turn in one.context)
            edited[turns].add(one.original.response)
            assert one.response not in right[turns]
        assert any(edited.values()) and all(found <= right[turns] for turns, found in edited.items())
        missing = sum(len(right[turns] - found) for turns, found in edited.items())
        assert 0 < done.found.rows[3].shortfall <= missing

    def test_a_comparison_keeps_each_result_and_no_model(
        self, folder: Path, data: Data, done: FinishedComparison
    ) -> None:
        told: list[RankerRun] = []
        again = compare(data, plan(folder, *SOURCES), done.out, open_graph=graphneg.open, on_run=told.append)
        assert again == done.found and not told
        assert not any((done.out / "models").iterdir())

    def test_a_comparison_can_be_extended_by_seeds(
        self, folder: Path, data: Data, done: FinishedComparison
    ) -> None:
        told: list[RankerRun] = []
        found = compare(data, plan(folder, "human", seeds=[0, 1]), done.out, on_run=told.append)
        assert [(run.source, run.seed) for run in told] == [("human", 1)]
        assert found.rows[0].seeds == (0, 1)

    def test_a_second_comparison_gives_the_same_scores(
        self, folder: Path, data: Data, done: FinishedComparison, tmp_path: Path
    ) -> None:
        told: list[RankerRun] = []
        compare(data, plan(folder, "human", keep_models=True), tmp_path / "anew", on_run=told.append)
        assert told[0].scores == done.told[1].scores
        assert [one.name for one in (tmp_path / "anew" / "models").iterdir()] == [
            f"human-0-{told[0].fingerprint[:12]}"
        ]

    def test_negatives_of_a_file_give_the_same_result_as_generated_ones(
        self, folder: Path, data: Data, done: FinishedComparison, tmp_path: Path
    ) -> None:
        told: list[RankerRun] = []
        file = done.out / "negatives" / "person_swap.jsonl"
        compare(data, plan(folder, f"mine={file}"), tmp_path / "other", on_run=told.append)
        assert told[0].pairs["mine"] == done.told[3].pairs["person_swap"] > 0

    def test_a_folder_of_another_comparison_is_refused(
        self, folder: Path, data: Data, done: FinishedComparison, tmp_path: Path
    ) -> None:
        other = plan(folder, "random", budget=Budget(epochs=1, source=1))
        out = tmp_path / "out"
        out.mkdir()
        (out / "comparison.json").write_text((done.out / "comparison.json").read_text())
        with pytest.raises(InputError, match="the folder contains a comparison with other contexts"):
            compare(data, other, out)
        assert len(compare(data, other, out, overwrite=True).rows) == 1
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.txt").touch()
        with pytest.raises(InputError, match="the folder contains other files"):
            compare(data, other, tmp_path / "mine", overwrite=True)
        (tmp_path / "mine" / "comparison.json").write_text('{"phones": 2}')
        with pytest.raises(InputError, match="did not write the file"):
            compare(data, other, tmp_path / "mine", overwrite=True)

    def test_a_comparison_with_another_encoder_at_the_same_path_is_refused(
        self, folder: Path, data: Data, done: FinishedComparison, tmp_path: Path
    ) -> None:
        same = plan(folder, "random")
        moved = replace(same.ranker, model=tmp_path / "encoder")
        shutil.copytree(folder / "encoder", tmp_path / "encoder")
        assert moved.facts() == same.ranker.facts()
        with_other_weights(tmp_path / "encoder")
        (tmp_path / "out").mkdir()
        shutil.copy(done.out / "comparison.json", tmp_path / "out")
        with pytest.raises(InputError, match="the folder contains a comparison with other contexts"):
            compare(data, replace(same, ranker=moved), tmp_path / "out")

    def test_a_bank_with_other_sentences_of_the_same_length_has_other_facts(self, tmp_path: Path) -> None:
        bank = bank_of(f"text={tmp_path}")
        (tmp_path / "some.txt").write_text("I like tea.")
        before = bank.facts()
        (tmp_path / "some.txt").write_text("I sell tea.")
        assert bank.facts() != before

    def test_an_unreadable_result_is_named(
        self, folder: Path, data: Data, done: FinishedComparison, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        shutil.copytree(done.out / "results", out / "results")
        shutil.copy(done.out / "comparison.json", out)
        [result] = (out / "results").glob("random-0-*.json")
        result.write_text('{"source": "random"')
        with pytest.raises(
            InputError, match="this result can't be read; remove it and run the command again"
        ):
            compare(data, plan(folder, "random"), out)

    def test_the_source_people_needs_adversarial_responses(
        self, folder: Path, data: Data, tmp_path: Path
    ) -> None:
        without = Data(tuple(replace(one, negatives={}) for one in data.train), data.test)
        with pytest.raises(InputError, match="source human: no training context has adversarial responses"):
            compare(without, plan(folder, "human"), tmp_path / "other")


class TestCommand:
    def test_the_command_prints_a_table_and_can_be_resumed(
        self, folder: Path, run: CommandLine, tmp_path: Path
    ) -> None:
        words = [
            "evaluate",
            "sources",
            folder / "all.json",
            "--model",
            folder / "encoder",
            "-o",
            tmp_path / "out",
        ]
        words += ["--epochs", 1, "--source", "random", "--source", "human"]
        first = run(*words)
        assert first.status == 0, first.err
        assert "balanced" in first.out and "human" in first.out
        assert "too few" in first.out, "people wrote two wrong responses of each, and three are drawn"
        again = run(*words, "--json")
        assert again.status == 0 and "seed 0" not in again.err
        assert [row["source"] for row in json.loads(again.out)["rows"]] == ["random", "human"]

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            (["--source", "people"], "unknown source 'people'"),
            (["--source", "random", "--split", 1.5], "between 0 and 1"),
            (["--source", "random", "--source-option", "bm25=1"], "expected SOURCE.NAME=VALUE"),
            (["--source", "random", "--source-option", "bm25.by=x"], "not a source of this comparison"),
            (["--source", "random", "--kind", "oracle"], "oracle"),
        ],
    )
    def test_wrong_usage_ends_with_2(
        self, folder: Path, run: CommandLine, tmp_path: Path, words: list[Any], complaint: str
    ) -> None:
        ended = run(
            "evaluate",
            "sources",
            folder / "all.json",
            "--model",
            folder / "encoder",
            "-o",
            tmp_path / "o",
            *words,
        )
        assert ended.status == 2
        assert complaint in " ".join(ended.err.split())
