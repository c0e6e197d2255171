"""Tests of training contradiction detectors, and of their cross-validation by generator."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from graphneg.errors import InputError, ModelError
from graphneg.evaluation.cross_validation import DetectorSettings, cross_validate
from graphneg.ingest.labelled import JudgedResponse, labelled_lines
from graphneg.nn.training import pairs_and_lists
from graphneg.scorers.contradiction import ContradictionDetector
from graphneg.training.contradiction import pairs_of, train_detector
from tests.cli_runs import Run
from tests.contradiction_samples import apart
from tests.tiny_ranker import encoder_folder

QUICK = {"learning_rate": 5e-3, "per_device_train_batch_size": 4}
PAIRS = [("fish fish six", "the cat is in the garden"), ("the cat six", "the cat is in the garden")]


def new_detector(encoder: Path) -> ContradictionDetector:
    return ContradictionDetector.new(encoder, device="cpu")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder_folder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def trained(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "detector"
    report = train_detector(new_detector(encoder), pairs_of(apart()), out, epochs=8, **QUICK)
    assert report.pairs == {"six": 8, "twelve": 6, "eggs": 6}
    return out


class TestDetector:
    def test_contradictory_responses_score_higher(self, trained: Path) -> None:
        wrong, right = ContradictionDetector.from_pretrained(trained, device="cpu").score(PAIRS)
        assert 0 <= right < 0.5 < wrong <= 1

    def test_a_saved_detector_is_read_by_sentence_transformers(self, trained: Path) -> None:
        from sentence_transformers import CrossEncoder

        assert json.loads((trained / "config.json").read_text())["graphneg"]["kind"] == "contradiction"
        others = CrossEncoder(str(trained), device="cpu").predict([(said, text) for text, said in PAIRS])
        own = ContradictionDetector.from_pretrained(trained, device="cpu").score(PAIRS)
        assert own == pytest.approx(others.tolist(), abs=1e-5)

    def test_a_ranker_is_no_detector(self, tmp_path: Path) -> None:
        folder = encoder_folder(tmp_path / "classifier", labels=1)
        with pytest.raises(ModelError, match="cross-encoder, not contradiction"):
            ContradictionDetector.from_pretrained(folder)

    def test_no_pairs_have_no_scores(self, trained: Path) -> None:
        assert ContradictionDetector.from_pretrained(trained, device="cpu").score([]) == []


class TestTraining:
    def test_the_same_seed_trains_the_same_model(self, encoder: Path, trained: Path, tmp_path: Path) -> None:
        again = new_detector(encoder)
        train_detector(again, pairs_of(apart()), tmp_path / "again", epochs=8, **QUICK)
        assert again.score(PAIRS) == ContradictionDetector.from_pretrained(trained, device="cpu").score(PAIRS)

    def test_the_loss_compares_a_contradiction_with_its_counterpart(self) -> None:
        import torch
        from transformers.modeling_outputs import SequenceClassifierOutput

        unsure = SequenceClassifierOutput(logits=torch.zeros(4, 1))
        alone, together = ([[1.0, 1.0, 0.0], [0.0, 1.0, group]] * 2 for group in (1.0, 0.0))
        losses = [float(pairs_and_lists(unsure, torch.tensor(some))) for some in (alone, together)]
        assert losses == pytest.approx([math.log(2), math.log(2) + math.log(3)])

    def test_held_out_responses_are_not_learned(self, encoder: Path, tmp_path: Path) -> None:
        held = ["THE cat is in  the garden six"]
        report = train_detector(
            new_detector(encoder),
            pairs_of(apart()),
            tmp_path / "m",
            held_out=held,
            epochs=1,
        )
        assert report.held_out == 2 and report.pairs["six"] == 6

    def test_a_model_is_replaced_only_with_overwrite(self, encoder: Path, tmp_path: Path) -> None:
        pairs = pairs_of(apart())
        train_detector(new_detector(encoder), pairs, tmp_path / "m", epochs=1)
        with pytest.raises(InputError, match="the folder already contains a model"):
            train_detector(new_detector(encoder), pairs, tmp_path / "m", epochs=1)
        train_detector(new_detector(encoder), pairs, tmp_path / "m", epochs=1, overwrite=True)

    def test_one_class_alone_is_refused(self, encoder: Path, tmp_path: Path) -> None:
        wrong = [one for one in apart() if one.label]
        with pytest.raises(InputError, match="both contradictory and non-contradictory"):
            train_detector(new_detector(encoder), pairs_of(wrong), tmp_path / "m")


class TestCrossValidation:
    @pytest.fixture(scope="class")
    def made(self) -> list[JudgedResponse]:
        return [
            JudgedResponse(f"graph:{at}{votes}", ("the bread", text), ("A", "A"), 0, "graph", votes)
            for at, dish in enumerate(("fish", "fish eggs", "fish bread"))
            for text, votes in ((f"{dish} now", 3), ("the dog", 0))
        ]

    def test_each_generator_is_scored_by_a_detector_trained_without_it(
        self, encoder: Path, made: list[JudgedResponse], tmp_path: Path
    ) -> None:
        settings = DetectorSettings(epochs=6, made_epochs=2, device="cpu", arguments=QUICK)
        found = cross_validate(
            apart(), encoder, tmp_path, source="both", graph_made=made, settings=settings, resamples=10
        )
        assert [one.generator for one in found.detection.generators] == ["eggs", "six", "twelve"]
        assert len(found.scores) == len(apart()) == found.detection.mean.responses
        assert found.detection.mean.auc.value > 0.7
        times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/model.safetensors")}
        assert len(times) == 4
        again = cross_validate(
            apart(), encoder, tmp_path, source="both", graph_made=made, settings=settings, resamples=10
        )
        assert again.scores == found.scores
        assert {path: path.stat().st_mtime_ns for path in times} == times

    def test_a_detector_of_graph_made_responses_is_trained_once(
        self, encoder: Path, made: list[JudgedResponse], tmp_path: Path
    ) -> None:
        settings = DetectorSettings(made_epochs=1, device="cpu", arguments=QUICK)
        cross_validate(
            apart(), encoder, tmp_path, source="made", graph_made=made, settings=settings, resamples=0
        )
        assert [path.name for path in tmp_path.iterdir()] == ["made"]

    def test_missing_graph_made_responses_are_refused(self, encoder: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="needs graph-made responses"):
            cross_validate(apart(), encoder, tmp_path, source="both")

    def test_a_generator_with_one_class_is_refused_before_training(
        self, encoder: Path, tmp_path: Path
    ) -> None:
        some = [one for one in apart() if one.generator != "six" or one.label]
        with pytest.raises(InputError, match="six: all responses have the same label"):
            cross_validate(some, encoder, tmp_path / "folds")
        assert not (tmp_path / "folds").exists()


class TestCommands:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "labelled.jsonl"
        path.write_text("\n".join(labelled_lines(apart())), encoding="utf-8")
        return path

    def test_train_and_evaluate(self, run: Run, encoder: Path, file: Path, tmp_path: Path) -> None:
        made = ("train", "contradiction", file, "--model", encoder, "-o", tmp_path / "d", "--device", "cpu")
        ended = run(*made, "--epochs", "1")
        assert ended.status == 0, ended.err
        assert "trained in 2 steps" in ended.err
        assert run(*made).status == 2
        ended = run(
            "evaluate", "contradiction", file, "--model", tmp_path / "d", "--json", "--resamples", "5"
        )
        lines = [json.loads(line) for line in ended.out.splitlines()]
        assert [one["generator"] for one in lines] == ["six", "twelve", "eggs", "mean"]
        assert set(lines[0]["auc"]) == {"value", "low", "high"}

    def test_leaving_one_generator_out(self, run: Run, encoder: Path, file: Path, tmp_path: Path) -> None:
        ended = run(
            *("evaluate", "contradiction", file, "--encoder", encoder, "-o", tmp_path / "folds"),
            *("--epochs", "1", "--device", "cpu", "--resamples", "5"),
        )
        assert ended.status == 0, ended.err
        assert "mean" in ended.out and "six: 12 to train on, 8 to test" in ended.err

    def test_scores_of_a_file(self, run: Run, file: Path, tmp_path: Path) -> None:
        scores = tmp_path / "scores.txt"
        scores.write_text("\n".join(str(one.label) for one in apart()), encoding="utf-8")
        ended = run("evaluate", "contradiction", file, "--scores", scores, "--json")
        assert json.loads(ended.out.splitlines()[-1])["balanced_accuracy"]["value"] == 1

    @pytest.mark.parametrize(
        ("line", "reason"),
        [("{}", '"utterances" is missing'), ("nonsense", "not JSON")],
    )
    def test_an_invalid_line_ends_with_2_and_its_place(
        self, run: Run, file: Path, line: str, reason: str
    ) -> None:
        file.write_text(line, encoding="utf-8")
        ended = run("evaluate", "contradiction", file, "--model", "nowhere")
        assert ended.status == 2
        assert f"{file}:1: " in ended.err and reason in ended.err

    def test_one_way_to_score_must_be_named(self, run: Run, file: Path) -> None:
        assert "give one of --model, --scores and --encoder" in run("evaluate", "contradiction", file).err
