"""Tests of language models: scores, loading, training and resuming."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="language models need the neural extra")
pytest.importorskip("transformers", reason="language models need the neural extra")

import torch

from graphneg.errors import InputError, ModelError
from graphneg.generators.prompts import perspective_example
from graphneg.nn.fine_tuning import Example, fine_tune
from graphneg.nn.language_models import CausalLM, Seq2SeqLM
from graphneg.nn.models import load_causal, load_either, load_seq2seq
from tests.tiny_lm import TinyModels, causal_folder, exchanges

LEARNED = [perspective_example(exchange) for exchange in exchanges()]
SOURCES = [one.source for one in LEARNED]
TARGETS = [one.target for one in LEARNED]
REPLIES = [one.target.strip() for one in LEARNED]


@pytest.fixture(scope="module", params=["trained_gpt2", "trained_bart"])
def trained(request: pytest.FixtureRequest, tiny_lms: TinyModels) -> CausalLM | Seq2SeqLM:
    return load_either(getattr(tiny_lms, request.param))


@pytest.fixture(scope="module")
def gpt2(tiny_lms: TinyModels) -> CausalLM:
    return load_causal(tiny_lms.trained_gpt2)


class TestScores:
    def test_the_learned_reply_has_a_lower_loss_than_another(self, trained: CausalLM):
        right = trained.score(TARGETS, SOURCES)
        wrong = trained.score(TARGETS[::-1], SOURCES)
        assert all(one < other for one, other in zip(right, wrong, strict=True))

    def test_a_score_is_the_mean_loss_of_transformers(self, gpt2: CausalLM):
        source, target = gpt2.source_tokens(SOURCES[0]), gpt2.target_tokens(TARGETS[1])[:-1]
        row = torch.tensor([[*source, *target]], device=gpt2.device)
        labels = row.clone()
        labels[0, : len(source)] = -100
        with torch.inference_mode():
            expected = float(gpt2.model(input_ids=row, labels=labels).loss)
        assert gpt2.score([TARGETS[1]], [SOURCES[0]]) == [pytest.approx(expected, rel=1e-5)]

    def test_scores_do_not_depend_on_the_batch(self, trained: CausalLM):
        together = trained.score(TARGETS, SOURCES)
        alone = [trained.score([t], [s])[0] for s, t in zip(SOURCES, TARGETS, strict=True)]
        assert together == pytest.approx(alone, rel=1e-4)

    def test_an_empty_text_has_an_infinite_loss(self, trained: CausalLM):
        assert trained.score(["", "  ", TARGETS[0]])[:2] == [math.inf, math.inf]

    def test_a_source_that_is_too_long_loses_its_beginning(self, gpt2: CausalLM):
        long = "never said before " * 60 + SOURCES[0]
        assert gpt2.score([TARGETS[0]], [long]) != gpt2.score([TARGETS[0]])

    def test_each_text_needs_a_source(self, gpt2: CausalLM):
        with pytest.raises(
            InputError, match="expected 2 preceding texts, one for each text to score, but found 1"
        ):
            gpt2.score(["a", "b"], ["c"])

    def test_the_batch_is_halved_when_memory_runs_out(self, gpt2: CausalLM, monkeypatch: pytest.MonkeyPatch):
        whole, sizes, losses = gpt2.score(TARGETS, SOURCES), [], gpt2.losses

        def small(batch):
            sizes.append(len(batch))
            if len(batch) > 2:
                raise RuntimeError("CUDA out of memory")
            return losses(batch)

        monkeypatch.setattr(gpt2, "losses", small)
        assert gpt2.score(TARGETS, SOURCES) == pytest.approx(whole, rel=1e-4)
        assert max(sizes[2:]) == 2


class TestLoading:
    def test_a_model_of_another_architecture_is_refused(self, tiny_lms: TinyModels):
        with pytest.raises(ModelError, match="contains BartForConditionalGeneration, which is not a causal"):
            load_causal(tiny_lms.bart)
        with pytest.raises(ModelError, match="contains GPT2LMHeadModel, which is not a sequence-to-sequence"):
            load_seq2seq(tiny_lms.gpt2)

    def test_a_missing_model_is_answered_with_the_download_command(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        with pytest.raises(ModelError) as caught:
            load_causal("graphneg/not-there", offline=True)
        assert str(caught.value) == (
            "model graphneg/not-there is not on this machine and downloads are disabled; "
            "get it with: hf download graphneg/not-there"
        )
        with pytest.raises(ModelError, match="there is no such model folder; get one with: hf download"):
            load_causal(tmp_path / "none")

    def test_an_unreachable_hub_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        with pytest.raises(ModelError, match=r"not on this machine and the hub can't be reached") as caught:
            load_causal("graphneg/not-there")
        assert "\n" not in str(caught.value)

    def test_incomplete_model_folders_are_refused(self, tiny_lms: TinyModels, tmp_path: Path):
        def changed(name: str, file: str, content: str) -> Path:
            shutil.copytree(tiny_lms.gpt2, tmp_path / name)
            (tmp_path / name / file).write_text(content)
            return tmp_path / name

        (tmp_path / "empty").mkdir()
        two = tmp_path / "two"
        two.mkdir()
        (two / "a.gguf").touch()
        (two / "b.gguf").touch()
        cases = [
            (tmp_path / "empty", "neither config.json nor a GGUF file"),
            (two, "2 GGUF files found; choose one as gguf_file: a.gguf, b.gguf"),
            (changed("broken", "config.json", "{"), "no model can be read from it"),
            (changed("weights", "model.safetensors", "none"), "no causal language model can be read from it"),
            (changed("kind", "config.json", json.dumps({"model_type": "vit"})), "which is not a causal"),
        ]
        for folder, message in cases:
            with pytest.raises(ModelError, match=message) as caught:
                load_causal(folder, offline=True)
            assert str(folder) in str(caught.value) and "\n" not in str(caught.value)
        with pytest.raises(ModelError, match=r"the folder has no file c\.gguf"):
            load_causal(two, gguf_file="c.gguf")


class TestTraining:
    def test_a_resumed_training_gives_the_same_weights(self, tiny_lms: TinyModels, tmp_path: Path):
        settings = {"max_steps": 6, "save_steps": 2, "per_device_train_batch_size": 2, "learning_rate": 1e-3}
        whole = fine_tune(load_causal(tiny_lms.gpt2), LEARNED, tmp_path / "whole", seed=1, **settings)

        class Stop:
            steps = 0

            def start(self, label: str, total: int | None, unit: str) -> None: ...

            def advance(self, amount: int) -> None:
                self.steps += amount
                if self.steps == 5:
                    raise KeyboardInterrupt

            def finish(self) -> None: ...

        stopped = tmp_path / "stopped"
        with pytest.raises(KeyboardInterrupt):
            fine_tune(load_causal(tiny_lms.gpt2), LEARNED, stopped, seed=1, progress=Stop(), **settings)
        with pytest.raises(InputError, match="other examples or settings"):
            fine_tune(load_causal(tiny_lms.gpt2), LEARNED[1:], stopped, seed=1, **settings)
        report = fine_tune(load_causal(tiny_lms.gpt2), LEARNED, stopped, seed=1, **settings)
        assert report.steps == whole.steps == 6
        one, other = (load_causal(folder).model.state_dict() for folder in (tmp_path / "whole", stopped))
        assert all(torch.equal(one[name], other[name]) for name in one)
        assert not (stopped / "checkpoints").exists()

    def test_unusable_examples_are_counted(self, tiny_lms: TinyModels, tmp_path: Path):
        given = [*LEARNED, Example("a", ""), Example("a", "word " * 300), Example("word " * 300, " b")]
        report = fine_tune(
            load_causal(tiny_lms.gpt2), given, tmp_path / "out", max_steps=1, validation=LEARNED
        )
        assert (report.examples, report.skipped, report.shortened) == (9, 2, 1)
        assert report.validation_loss is not None and report.validation_loss > 0

    def test_a_saved_backward_model_reads_tokens_in_reverse(self, tmp_path: Path):
        start = causal_folder(tmp_path / "start")
        forward, before = load_causal(start), load_causal(start)
        texts = [Example("", reply) for reply in REPLIES]
        fine_tune(before, texts, tmp_path / "out", direction="backward", max_steps=10, learning_rate=5e-3)
        loaded = load_causal(tmp_path / "out")
        assert loaded.direction == "backward"
        assert loaded.source_tokens(REPLIES[0]) == forward.source_tokens(REPLIES[0])[::-1]
        assert loaded.decode(loaded.source_tokens(REPLIES[0])) == REPLIES[0]
        assert sum(loaded.score(REPLIES)) < sum(forward.score(REPLIES))

    @pytest.mark.parametrize(
        ("examples", "settings", "message"),
        [
            ([], {}, "nothing to train on: the targets of all 0 examples"),
            (LEARNED, {"epochs": 3}, "no argument epochs; see transformers' TrainingArguments"),
        ],
    )
    def test_invalid_training_input_is_refused(
        self, gpt2: CausalLM, tmp_path: Path, examples: list[Example], settings: dict, message: str
    ):
        with pytest.raises(InputError, match=message):
            fine_tune(gpt2, examples, tmp_path / "out", **settings)
