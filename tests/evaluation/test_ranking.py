"""Tests of the evaluation of rankers: hand-computed figures, files, models and wrong input."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from graphneg.datasets.groups import LabelledContext, labelled_context, read_groups
from graphneg.errors import InputError, ModelError
from graphneg.evaluation.ranking import rank, read_choices, response_texts, score_contexts
from graphneg.model import Original, Turn
from graphneg.rankers.base import argsort_descending
from graphneg.records.files import write_parquet
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE
from tests.pair_samples import right, written, wrong
from tests.tiny_ranker import encoder_folder

ONE = LabelledContext(
    "own/test/1",
    ("Shall we swim?",),
    ("Yes, let us go now.", "No."),
    {"adversarial": ("Fish swim.", "I swim in money, they say."), "random": ("Twelve.",)},
)

NOTHING = Original(None, None)


def line(id: int = 1, **fields: object) -> str:
    return json.dumps({"id": id, "context": ["Shall we swim?", "When?"], **fields})


GOOD = line(
    positive_responses=["Now.", "At six."],
    adversarial_negative_responses=["Fish swim."],
    random_negative_responses=["Twelve eggs."],
)


class TestFigures:
    def test_a_perfect_ranker_has_ones(self) -> None:
        for one in rank([ONE], [[0.9, 0.8, 0.1, 0.2, 0.3]]):
            assert (one.accuracy, one.balanced_accuracy, one.auc) == (1, 1, 1)
            assert (one.recall_at_1, one.mrr, one.matched_accuracy) == (1, 1, 1)

    def test_figures_are_computed_for_each_kind(self) -> None:
        adversarial, random = rank([ONE], [[0.9, 0.4, 0.6, 0.2, 0.3]])
        assert (adversarial.kind, adversarial.negatives) == ("adversarial", 2)
        assert (adversarial.recall_at_1, adversarial.mrr) == (0.5, 0.75)
        assert (adversarial.accuracy, adversarial.balanced_accuracy) == (0.5, 0.5)
        assert (random.recall_at_1, random.auc, random.balanced_accuracy) == (1, 1, 0.75)

    def test_a_tie_counts_against_the_ranker(self) -> None:
        for one in rank([ONE], [[0.5] * 5]):
            assert (one.recall_at_1, one.matched_accuracy, one.balanced_accuracy) == (0, 0, 0)
            assert one.auc == 0.5

    def test_negatives_are_compared_with_the_positive_of_their_length(self) -> None:
        adversarial, _ = rank([ONE], [[0.9, 0.1, 0.5, 0.5, 0.0]])
        assert adversarial.matched_accuracy == 0.5

    def test_scores_that_do_not_fit_are_refused(self) -> None:
        with pytest.raises(
            InputError, match="own/test/1: expected 5 scores, one for each response, but found 4"
        ):
            rank([ONE], [[0.1] * 4])

    def test_equal_scores_keep_their_order(self) -> None:
        assert argsort_descending([0.5, 0.7, 0.5]) == [1, 0, 2]


class TestFiles:
    def test_lines_become_contexts(self, tmp_path: Path) -> None:
        (tmp_path / "dev.json").write_text(GOOD + "\n" + GOOD.replace("1", "3", 1) + "\n")
        choices = read_choices([tmp_path / "dev.json"])
        assert [one.positives for one in choices] == [("Now.", "At six.")] * 2
        assert [*choices[0].negatives] == ["adversarial", "random"]

    @pytest.mark.parametrize(
        ("bad", "complaint"),
        [
            ("{", "dev.json:2: "),
            (line(id=2, positive_responses=[]), "dev.json:2: context .*/2 has no correct response"),
            (
                line(id=2, positive_responses=["Now."], adversarial_negative_responses=[]),
                "dev.json:2: context .*/2 has no wrong response",
            ),
        ],
    )
    def test_an_invalid_line_is_refused_with_its_place(
        self, tmp_path: Path, bad: str, complaint: str
    ) -> None:
        (tmp_path / "dev.json").write_text(f"{GOOD}\n{bad}\n")
        with pytest.raises(InputError, match=complaint):
            read_choices([tmp_path / "dev.json"])

    def test_scores_come_in_the_order_of_the_responses(self, tmp_path: Path) -> None:
        class LongestFirst:
            def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
                return [len(text) / 100 for text in responses]

            def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
                return argsort_descending(self.score([context] * len(candidates), candidates))

        (tmp_path / "dev.json").write_text(GOOD + "\n")
        assert score_contexts(LongestFirst(), read_choices([tmp_path / "dev.json"])) == [
            [0.04, 0.07, 0.1, 0.12]
        ]

    def test_a_ranker_reads_the_edited_context(self) -> None:
        before = (Turn("A", "I like tea."),)
        edited = replace(
            EXAMPLE,
            context=(Turn("A", "I hate tea."),),
            response="Me too.",
            original=Original(before, None),
        )

        class HateRanker:
            def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
                return [float("hate" in " ".join(turns)) for turns in contexts]

            def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
                return argsort_descending(self.score([context] * len(candidates), candidates))

        choices = [labelled_context(group) for group in read_groups([[edited]])]
        assert score_contexts(HateRanker(), choices) == [[0, 1]]

    def test_texts_to_hold_out_are_those_of_own_files_too(self, tmp_path: Path) -> None:
        (tmp_path / "dev.json").write_text(GOOD + "\n")
        path = written([EXAMPLE], tmp_path / "negatives.jsonl")
        texts = response_texts([path, tmp_path / "dev.json"])
        assert texts == ["Now.", "At six.", "Fish swim.", "Twelve eggs.", "I like it.", "I don't like it."]


class TestCommand:
    def test_scores_of_a_file_give_a_table(self, tmp_path: Path, run: Run) -> None:
        (tmp_path / "dev.json").write_text(GOOD + "\n")
        (tmp_path / "scores.txt").write_text('0.9\n{"score": 0.8}\n0.1\n0.7\n')
        command = ("evaluate", "ranker", str(tmp_path / "dev.json"), "--scores", str(tmp_path / "scores.txt"))
        ended = run(*command)
        assert ended.status == 0 and "adversarial" in ended.out and "1.000" in ended.out
        lines = run(*command, "--json").out.splitlines()
        assert [json.loads(one)["balanced_accuracy"] for one in lines] == [1.0, 0.5]

    def test_own_negatives_give_a_line_for_each_recipe_transform_and_category(
        self, tmp_path: Path, run: Run
    ) -> None:
        edited, other = EXAMPLE, replace(EXAMPLE, id="x", response="You like it.", categories=("C-speaker",))
        other = replace(other, edits=(replace(EXAMPLE.edits[0], transform="person_swap"),))
        lonely = replace(EXAMPLE, dialogue="own/test/2", label=1, original=NOTHING, recipe="")
        negatives = written([edited, other], tmp_path / "negatives.jsonl")
        positives = written([right(0, "Yes."), lonely], tmp_path / "positives.jsonl")
        more = written([wrong(0, "Twelve eggs.", "overlap", "")], tmp_path / "more.jsonl")
        (tmp_path / "scores.txt").write_text("0.9\n0.1\n0.95\n0.9\n0.2\n")
        command = ("evaluate", "ranker", negatives, positives, more, "--scores", tmp_path / "scores.txt")
        ended = run(*command, "--json")
        lines = [json.loads(one) for one in ended.out.splitlines()]
        assert [(one["by"], one["kind"], one["recall_at_1"]) for one in lines] == [
            ("source", "deam", 0),
            ("source", "overlap", 1),
            ("transform", "person_swap", 0),
            ("transform", "polarity_flip", 1),
            ("category", "C-cont", 1),
            ("category", "C-speaker", 0),
        ]
        assert "2 contexts; 1 without a wrong response left out" in ended.err
        table = run(*command).out
        assert "transform person_swap" in table and "category C-cont" in table and "overlap" in table

    def test_own_files_and_contexts_of_dailydialog_pp_are_read_together(
        self, tmp_path: Path, run: Run
    ) -> None:
        (tmp_path / "dev.json").write_text(GOOD + "\n")
        write_parquet([EXAMPLE], tmp_path / "negatives.parquet")
        (tmp_path / "scores.txt").write_text("0.9\n0.8\n0.1\n0.2\n0.9\n0.1\n")
        files = (tmp_path / "negatives.parquet", tmp_path / "dev.json")
        ended = run("evaluate", "ranker", *files, "--scores", tmp_path / "scores.txt", "--json")
        kinds = [json.loads(one)["kind"] for one in ended.out.splitlines()]
        assert kinds == ["adversarial", "random", "deam", "polarity_flip", "C-cont"]

    def test_files_without_a_wrong_response_are_refused(self, tmp_path: Path, run: Run) -> None:
        positives = written([right(0, "Yes.")], tmp_path / "positives.jsonl")
        ended = run("evaluate", "ranker", positives, "--scores", positives)
        assert ended.status == 2 and "there is no context with a wrong response" in ended.err

    @pytest.mark.parametrize(
        ("scores", "complaint"),
        [
            ("0.9\nmany\n", "scores.txt:2: not JSON"),
            ('0.9\n"0.5"\n', "scores.txt:2: expected a number"),
            ("0.9\nnan\n", "scores.txt:2: not JSON"),
            ("1\n", "expected 4 scores, one for each item in order, but found 1"),
        ],
    )
    def test_wrong_scores_are_refused(self, tmp_path: Path, run: Run, scores: str, complaint: str) -> None:
        (tmp_path / "dev.json").write_text(GOOD + "\n")
        (tmp_path / "scores.txt").write_text(scores)
        ended = run(
            "evaluate", "ranker", str(tmp_path / "dev.json"), "--scores", str(tmp_path / "scores.txt")
        )
        assert ended.status == 2 and complaint in ended.err

    def test_neither_model_nor_scores_is_wrong_usage(self, tmp_path: Path, run: Run) -> None:
        (tmp_path / "dev.json").write_text(GOOD + "\n")
        assert run("evaluate", "ranker", str(tmp_path / "dev.json")).status == 2


class TestCrossEncoder:
    @pytest.fixture(scope="class")
    def folder(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        pytest.importorskip("torch")
        return encoder_folder(tmp_path_factory.mktemp("ranker"), labels=1)

    def test_scores_do_not_depend_on_the_batch(self, folder: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder

        contexts = [["shall we swim"], ["shall we swim", "when"], ["fish " * 40]]
        responses = ["now", "at six", "twelve eggs now"]
        one, many = (CrossEncoder.from_pretrained(folder, batch=size) for size in (1, 3))
        assert one.score(contexts, responses) == pytest.approx(many.score(contexts, responses), abs=1e-5)
        assert all(0 < score < 1 for score in one.score(contexts, responses))

    def test_a_long_context_loses_its_beginning(self, folder: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder

        ranker = CrossEncoder.from_pretrained(folder)
        tokens = ranker.encode([["eggs"] * 40 + ["when"]], ["at six"])["input_ids"][0].tolist()
        text = ranker.tokenizer.decode(tokens)
        assert len(tokens) == 24 and text.endswith("when [SEP] at six [SEP]")

    def test_a_saved_ranker_is_read_by_sentence_transformers(self, folder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder

        sentence_transformers = pytest.importorskip("sentence_transformers")
        ours = CrossEncoder.from_pretrained(folder)
        ours.save(tmp_path / "saved")
        theirs = sentence_transformers.CrossEncoder(str(tmp_path / "saved"))
        found = theirs.predict([("shall we swim", "now")], show_progress_bar=False)
        assert ours.score([["shall we swim"]], ["now"]) == pytest.approx([float(found[0])], abs=1e-5)

    def test_a_folder_that_sentence_transformers_trained_on_keeps_its_order(
        self, folder: Path, tmp_path: Path
    ) -> None:
        from graphneg.rankers.base import new_ranker
        from graphneg.rankers.cross_encoder import CrossEncoder

        sentence_transformers = pytest.importorskip("sentence_transformers")
        new_ranker("cross-encoder", encoder_folder(tmp_path / "encoder")).save(tmp_path / "start")
        theirs = sentence_transformers.CrossEncoder(str(tmp_path / "start"))
        theirs.save_pretrained(str(tmp_path / "trained"))
        assert CrossEncoder.from_pretrained(tmp_path / "trained").first == "response"

    def test_a_model_for_another_task_is_refused(self, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        from graphneg.rankers.cross_encoder import CrossEncoder

        (tmp_path / "config.json").write_text('{"architectures": ["GPT2LMHeadModel"]}')
        with pytest.raises(ModelError, match="GPT2LMHeadModel gives no scores"):
            CrossEncoder.from_pretrained(tmp_path)
