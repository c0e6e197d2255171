"""Tests of the registry of rankers, and of the commands that train and evaluate them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from graphneg.errors import ModelError
from graphneg.model import Original, Turn
from graphneg.records.files import write_jsonl
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE
from tests.tiny_ranker import encoder_folder

pytest.importorskip("torch")

CONTEXT = {"id": 1, "context": ["shall we swim", "when"]}
RESPONSES = {
    "positive_responses": ["now", "at six"],
    "adversarial_negative_responses": ["fish swim"],
    "random_negative_responses": ["twelve eggs"],
}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder_folder(tmp_path_factory.mktemp("classifier"), labels=1)


def negatives(folder: Path) -> Path:
    some = [
        replace(
            EXAMPLE,
            dialogue=f"own/all/{place}",
            context=(Turn("A", question),),
            response=f"fish {word}",
            original=Original(None, right),
        )
        for place, (question, right) in enumerate(
            (("shall we swim", "at six"), ("where is the cat", "in the garden"))
        )
        for word in ("now", "eggs")
    ]
    write_jsonl(some, folder / "negatives.jsonl")
    return folder / "negatives.jsonl"


def contexts(folder: Path, *lines: object) -> Path:
    (folder / "dev.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "dev.json"


class TestRegistry:
    def test_a_folder_without_a_kind_is_a_cross_encoder(self, classifier: Path) -> None:
        from graphneg.rankers.base import load_ranker
        from graphneg.rankers.cross_encoder import CrossEncoder

        ranker = load_ranker(classifier, device="cpu")
        assert type(ranker) is CrossEncoder and len(ranker.score([["when"]], ["now"])) == 1

    def test_each_kind_is_saved_and_loaded(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import load_ranker, new_ranker, ranker_kinds

        for kind in ranker_kinds():
            made = new_ranker(kind, encoder, seed=3, device="cpu")
            made.save(tmp_path / kind)
            read = load_ranker(tmp_path / kind, device="cpu")
            assert type(read) is type(made)
            pair = [["shall we swim", "when"]], ["at six"]
            assert read.score(*pair) == pytest.approx(made.score(*pair), abs=1e-6)

    def test_a_cross_encoder_can_be_made_of_another_ranker(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import load_ranker, new_ranker
        from graphneg.rankers.cross_encoder import CrossEncoder

        new_ranker("sa-bert", encoder, device="cpu").save(tmp_path / "speakers")
        new_ranker("cross-encoder", tmp_path / "speakers", device="cpu").save(tmp_path / "plain")
        assert type(load_ranker(tmp_path / "plain", device="cpu")) is CrossEncoder

    @pytest.mark.parametrize(
        ("config", "complaint"),
        [
            ('{"architectures": ["GPT2LMHeadModel"]}', "GPT2LMHeadModel gives no scores"),
            ('{"graphneg": {"kind": "owl"}}', "a model for owl, not a ranker .cross-encoder, "),
            ("[1]", "its config.json is not an object"),
            ("{", "it has no readable config.json, so it is not a ranker"),
        ],
    )
    def test_a_folder_that_is_not_a_ranker_is_refused(
        self, tmp_path: Path, config: str, complaint: str
    ) -> None:
        from graphneg.rankers.base import load_ranker

        (tmp_path / "config.json").write_text(config)
        with pytest.raises(ModelError, match=complaint):
            load_ranker(tmp_path)

    @pytest.mark.parametrize("kind", ["cross-encoder", "poly-encoder"])
    def test_an_unusable_device_is_named(self, kind: str, encoder: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.rankers.poly_encoder import PolyEncoder

        cls = {"cross-encoder": CrossEncoder, "poly-encoder": PolyEncoder}[kind]
        with pytest.raises(ModelError, match=r"device 'gpu' can't be used \(.*\); try cpu"):
            cls.new(encoder, device="gpu")

    def test_an_unknown_kind_is_refused(self, encoder: Path) -> None:
        from graphneg.rankers.base import new_ranker

        with pytest.raises(ModelError, match="no kind of ranker named 'owl'"):
            new_ranker("owl", encoder)

    def test_a_too_long_response_loses_its_end(self, classifier: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder

        ranker = CrossEncoder.from_pretrained(classifier, device="cpu")
        rows = ranker.encode([["when"], [], ["eggs"]], ["fish " * 40, "cat " * 40, ""])["input_ids"]
        assert rows.shape == (3, 24)
        assert ranker.tokenizer.decode(rows[0]).startswith("[CLS] when [SEP] fish")

    def test_a_new_cross_encoder_puts_the_response_first(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import new_ranker
        from graphneg.rankers.cross_encoder import CrossEncoder

        new_ranker("cross-encoder", encoder, device="cpu").save(tmp_path)
        ranker = CrossEncoder.from_pretrained(tmp_path, device="cpu")
        tokens = ranker.encode([["eggs"] * 40 + ["when"]], ["at six"])["input_ids"][0].tolist()
        text = ranker.tokenizer.decode(tokens)
        assert len(tokens) == 24 and text.startswith("[CLS] at six [SEP] eggs") and "when [SEP]" in text

    def test_turns_are_joined_with_spaces(self, classifier: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder

        ranker = CrossEncoder.from_pretrained(classifier, device="cpu")
        tokens = ranker.encode([["shall we swim", "when"]], ["at six"])["input_ids"][0]
        assert ranker.tokenizer.decode(tokens) == "[CLS] shall we swim when [SEP] at six [SEP]"


class TestTrainCommand:
    @pytest.mark.parametrize("kind", ["cross-encoder", "sa-bert", "poly-encoder"])
    def test_each_kind_is_trained_evaluated_and_not_overwritten(
        self, kind: str, encoder: Path, tmp_path: Path, run: Run
    ) -> None:
        command = (
            "train", "ranker", negatives(tmp_path), "--kind", kind, "--model", encoder,
            "-o", tmp_path / "ranker", "--epochs", "1", "--batch", "4", "--device", "cpu",
        )  # fmt: skip
        ended = run(*command)
        assert ended.status == 0 and "trained in 2 steps" in ended.err
        rows = [line.split() for line in ended.out.splitlines()]
        row = next(row for row in rows if row[:1] == ["random"])
        assert row[1:5] == ["2", "2", "4", "2"]
        dev = contexts(tmp_path, {**CONTEXT, **RESPONSES})
        lines = run("evaluate", "ranker", dev, "--model", tmp_path / "ranker", "--json").out.splitlines()
        assert [json.loads(line)["kind"] for line in lines] == ["adversarial", "random"]
        ended = run(*command)
        assert ended.status == 2 and "the folder already contains a model" in ended.err
        assert run(*command, "--overwrite").status == 0

    @pytest.mark.parametrize(
        ("options", "complaint"),
        [
            (
                ("--kind", "owl"),
                "'owl' is not a kind of ranker; choose one of cross-encoder, sa-bert, poly-encoder",
            ),
            (("--kind", "sa-bert", "--codes", "4"), "a sa-bert has no codes"),
            (("--mix", "owl=2"), "no negatives of 'owl'"),
            (("--validation", "1.5"), "must be between 0 and 1"),
        ],
    )
    def test_wrong_usage_ends_with_two(
        self, encoder: Path, tmp_path: Path, run: Run, options: tuple[str, ...], complaint: str
    ) -> None:
        ended = run(
            "train", "ranker", negatives(tmp_path), "--model", encoder, "-o", tmp_path / "r", *options
        )
        assert ended.status == 2 and complaint in " ".join(ended.err.replace("│", "").split())
        assert not (tmp_path / "r").exists()

    def test_an_invalid_label_ends_with_two(self, encoder: Path, tmp_path: Path, run: Run) -> None:
        path = negatives(tmp_path)
        path.write_text(path.read_text().replace('"label": 0', '"label": 7'))
        ended = run("train", "ranker", path, "--model", encoder, "-o", tmp_path / "r")
        assert ended.status == 2 and "label" in ended.err and "7" in ended.err

    def test_a_stopped_run_of_other_settings_ends_with_two(
        self, encoder: Path, tmp_path: Path, run: Run
    ) -> None:
        (tmp_path / "r" / "checkpoints").mkdir(parents=True)
        (tmp_path / "r" / "checkpoints" / "run.json").write_text('{"fingerprint": "another"}')
        ended = run(
            "train", "ranker", negatives(tmp_path), "--model", encoder, "-o", tmp_path / "r",
            "--device", "cpu",
        )  # fmt: skip
        assert (
            ended.status == 2
            and "the folder contains an unfinished run with other examples or settings" in ended.err
        )

    def test_an_encoder_is_adapted_and_a_ranker_starts_from_it(
        self, encoder: Path, tmp_path: Path, run: Run
    ) -> None:
        command = ("train", "adapt", negatives(tmp_path), "-o", tmp_path / "adapted", "--device", "cpu")
        ended = run(*command, "--model", encoder)
        assert ended.status == 2 and "no mask token" in ended.err
        ended = run(*command, "--model", _with_mask(encoder, tmp_path / "encoder"))
        assert ended.status == 0 and "trained on 2 pairs in 1 step" in ended.err
        ended = run(
            "train", "ranker", negatives(tmp_path), "--kind", "sa-bert", "--model", tmp_path / "adapted",
            "-o", tmp_path / "ranker", "--epochs", "1", "--device", "cpu",
        )  # fmt: skip
        assert ended.status == 0


class TestEvaluateCommand:
    def test_a_model_for_another_task_ends_with_two(self, encoder: Path, tmp_path: Path, run: Run) -> None:
        dev = contexts(tmp_path, {**CONTEXT, **RESPONSES})
        ended = run("evaluate", "ranker", dev, "--model", encoder)
        assert ended.status == 2 and "BertModel gives no scores" in ended.err

    def test_a_context_without_a_correct_response_is_refused_with_its_line(
        self, tmp_path: Path, run: Run
    ) -> None:
        (tmp_path / "scores.txt").write_text("0.9\n0.8\n0.1\n0.7\n")
        wrong = {**CONTEXT, "id": 2, **RESPONSES, "positive_responses": []}
        dev = contexts(tmp_path, {**CONTEXT, **RESPONSES}, wrong)
        command = ("evaluate", "ranker", dev, "--scores", tmp_path / "scores.txt")
        ended = run(*command)
        assert ended.status == 2 and "dev.json:2: " in ended.err and "no correct response" in ended.err


def _with_mask(encoder: Path, folder: Path) -> Path:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    tokenizer.save_pretrained(folder)
    AutoModel.from_pretrained(encoder).save_pretrained(folder)
    return folder
