"""Tests of training rankers: groups, sampling, resuming, and protection of existing folders."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.datasets.groups import Answer, Group, HeldOut, read_groups
from graphneg.datasets.pair_sampler import Mix, PairSampler
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.model import Original, Turn
from graphneg.records.files import write_jsonl
from tests.cli_runs import Run
from tests.interrupting import StopsAt
from tests.negative_samples import EXAMPLE
from tests.pair_samples import some, written
from tests.tiny_ranker import encoder_folder, groups, with_other_weights


class TestGroups:
    def test_an_edited_response_has_the_original_as_correct_response(self, tmp_path: Path) -> None:
        edited = replace(EXAMPLE, response="No.", original=Original(None, "Yes."))
        write_jsonl([edited, edited], tmp_path / "negatives.jsonl")
        [group] = read_groups([tmp_path / "negatives.jsonl"])
        assert [answer.text for answer in group.positives] == ["Yes."]
        assert [answer.text for answer in group.negatives] == ["No."]

    def test_a_negative_of_an_edited_dialogue_keeps_the_edited_context(self) -> None:
        turns = (Turn("A", "I like tea."),)
        edited = replace(
            EXAMPLE,
            context=(Turn("A", "I hate tea."),),
            response="Me too.",
            original=Original(turns, None),
        )
        [group] = read_groups([[edited]])
        assert group.context == ("I like tea.",)
        assert group.negatives[0].context == ("I hate tea.",)
        assert group.positives[0].text == "Me too."


class TestDrawing:
    @given(st.integers(0, 99), st.integers(0, 5), st.integers(1, 3))
    def test_each_context_has_the_numbers_of_the_mix(self, seed: int, epoch: int, amount: int) -> None:
        pairs, lacking = PairSampler(groups(), Mix(2, {"edited": amount, "random": 1}), seed).drawn(epoch)
        counts = Counter((pair.context, pair.source) for pair in pairs)
        for group in groups():
            assert counts[(group.context, "reference")] == 2
            assert counts[(group.context, "edited")] == amount
            assert counts[(group.context, "random")] == 1
        assert not lacking.responses

    @given(st.integers(0, 99))
    def test_sampling_depends_on_seed_and_epoch(self, seed: int) -> None:
        drawing = PairSampler(groups(), Mix(1, {"edited": 1}), seed)
        again = PairSampler(groups(), Mix(1, {"edited": 1}), seed)
        assert list(drawing.drawn(0)[0]) == list(again.drawn(0)[0])
        drawn = [pair.response for epoch in range(3) for pair in drawing.drawn(epoch)[0] if not pair.label]
        assert Counter(drawn) == Counter({"fish now": 3, "fish at six": 3, "fish eggs": 3})

    @given(st.integers(0, 99))
    def test_a_random_response_is_never_a_correct_one(self, seed: int) -> None:
        pairs, _ = PairSampler(groups(), Mix(1, {"random": 2}), seed).drawn(0)
        right = {group.context: {match_key(one.text) for one in group.positives} for group in groups()}
        assert all(match_key(pair.response) not in right[pair.context] for pair in pairs if not pair.label)

    def test_held_out_texts_are_never_sampled(self) -> None:
        held_out = HeldOut(["At  six", "FISH now"])
        some = [held_out.without_held_out(group) for group in groups()]
        pairs, lacking = PairSampler(some, Mix(2, {"edited": 3, "random": 4}), 0, left_out=4).drawn(0)
        assert not {"at six", "fish now"} & {match_key(pair.response) for pair in pairs}
        assert lacking.responses["edited"] == 3 and lacking.held_out == 4
        assert sum(group.size for group in groups()) - sum(group.size for group in some) == 4

    def test_missing_negatives_are_counted_and_not_replaced(self) -> None:
        pairs, lacking = PairSampler(groups(), Mix(1, {"C-cont": 5}), 0).drawn(0)
        assert sum(not pair.label for pair in pairs) == 9
        assert (lacking.contexts["C-cont"], lacking.responses["C-cont"]) == (3, 6)

    @pytest.mark.parametrize(
        ("some", "mix", "complaint"),
        [
            (groups(), Mix(1, {"overlap": 1}), "no negatives of 'overlap'; available: C-cont, edited"),
            (
                [Group("a#1", ("Hi.",), [], [Answer("No.", "x")])],
                Mix(),
                "nothing to train on: no context has a correct response",
            ),
        ],
    )
    def test_an_empty_selection_is_refused(self, some: list[Group], mix: Mix, complaint: str) -> None:
        with pytest.raises(InputError, match=complaint):
            PairSampler(some, mix, 0)


class TestTraining:
    @pytest.fixture(scope="class")
    def encoder(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        pytest.importorskip("torch")
        return encoder_folder(tmp_path_factory.mktemp("encoder"))

    SETTINGS = {"epochs": 30, "learning_rate": 5e-3, "per_device_train_batch_size": 4}  # noqa: RUF012

    def test_a_ranker_learns_to_score_responses_about_fish_low(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        ranker = CrossEncoder.new(encoder, dropout=0.0)
        report = train_ranker(
            ranker, groups(), tmp_path / "ranker", mix=Mix(2, {"edited": 2}), **self.SETTINGS
        )
        assert report.pairs == {"reference": 180, "edited": 180} and report.steps == 90
        read = CrossEncoder.from_pretrained(tmp_path / "ranker")
        assert read.rank(["shall we swim"], ["fish eggs", "at six"]) == [1, 0]
        again = CrossEncoder.new(encoder, dropout=0.0)
        train_ranker(again, groups(), tmp_path / "again", mix=Mix(2, {"edited": 2}), **self.SETTINGS)
        assert again.score([["who ate the bread"]], ["you did"]) == ranker.score(
            [["who ate the bread"]], ["you did"]
        )

    def test_a_resumed_training_gives_the_same_model(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        settings = {**self.SETTINGS, "mix": Mix(2, {"edited": 2}), "save_steps": 20}
        with pytest.raises(KeyboardInterrupt):
            train_ranker(
                CrossEncoder.new(encoder), groups(), tmp_path / "a", progress=StopsAt(50), **settings
            )
        with pytest.raises(
            InputError, match="the folder contains an unfinished run with other examples or settings"
        ):
            train_ranker(CrossEncoder.new(encoder), groups(), tmp_path / "a", seed=1, **settings)
        shutil.copytree(tmp_path / "a", tmp_path / "copied")
        (tmp_path / "copied" / "checkpoints" / "run.json").unlink()
        with pytest.raises(InputError, match="not made by a training run, so nothing is overwritten"):
            train_ranker(CrossEncoder.new(encoder), groups(), tmp_path / "copied", **settings)
        stopped, whole = CrossEncoder.new(encoder), CrossEncoder.new(encoder)
        train_ranker(stopped, groups(), tmp_path / "a", **settings)
        train_ranker(whole, groups(), tmp_path / "b", **settings)
        pairs = [["shall we swim"], ["where is the cat"]], ["at six", "fish now"]
        assert stopped.score(*pairs) == pytest.approx(whole.score(*pairs), abs=1e-6)
        with pytest.raises(InputError, match="the folder already contains a model"):
            train_ranker(stopped, groups(), tmp_path / "a", **settings)

    def test_a_training_is_not_resumed_with_another_model_at_the_same_path(self, tmp_path: Path) -> None:
        pytest.importorskip("torch")
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        encoder = encoder_folder(tmp_path / "encoder")
        settings = {**self.SETTINGS, "mix": Mix(2, {"edited": 2}), "save_steps": 20}
        with pytest.raises(KeyboardInterrupt):
            train_ranker(
                CrossEncoder.new(encoder), groups(), tmp_path / "a", progress=StopsAt(30), **settings
            )
        with_other_weights(encoder)
        with pytest.raises(InputError, match="an unfinished run with other examples or settings"):
            train_ranker(CrossEncoder.new(encoder), groups(), tmp_path / "a", **settings)

    def test_ctrl_c_writes_a_checkpoint_after_the_step(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        pressed = StopsAt(37, lambda: signal.raise_signal(signal.SIGINT))
        settings = {**self.SETTINGS, "mix": Mix(2, {"edited": 2})}
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            train_ranker(CrossEncoder.new(encoder), groups(), tmp_path / "a", progress=pressed, **settings)
        assert signal.getsignal(signal.SIGINT) is before
        assert [path.name for path in (tmp_path / "a" / "checkpoints").glob("*-*")] == ["checkpoint-37"]
        stopped, whole = CrossEncoder.new(encoder), CrossEncoder.new(encoder)
        report = train_ranker(stopped, groups(), tmp_path / "a", **settings)
        train_ranker(whole, groups(), tmp_path / "b", **settings)
        assert report.steps == 90
        pairs = [["shall we swim"], ["where is the cat"]], ["at six", "fish now"]
        assert stopped.score(*pairs) == pytest.approx(whole.score(*pairs), abs=1e-6)

    def test_frozen_embeddings_are_not_changed(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        ranker = CrossEncoder.new(encoder, frozen=["embeddings"])
        before = ranker.model.bert.embeddings.word_embeddings.weight.detach().clone()
        train_ranker(ranker, groups(), tmp_path / "ranker", epochs=1, learning_rate=0.1)
        assert (ranker.model.bert.embeddings.word_embeddings.weight == before).all()
        with pytest.raises(InputError, match="no parameter's name begins with 'wings'"):
            CrossEncoder.new(encoder, frozen=["wings"])

    def test_overwriting_a_folder_keeps_foreign_files(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        out = tmp_path / "ranker"
        train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1)
        (out / "notes.txt").write_text("mine")
        before = (out / "model.safetensors").read_bytes()
        train_ranker(CrossEncoder.new(encoder, seed=1), groups(), out, epochs=1, overwrite=True)
        assert (out / "model.safetensors").read_bytes() != before
        assert (out / "notes.txt").read_text() == "mine" and not (out / "checkpoints").exists()
        (out / "config.json").write_text('{"port": 80}')
        with pytest.raises(InputError, match="not a model file, so nothing is overwritten"):
            train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1, overwrite=True)

    def test_invalid_arguments_leave_the_folder_unchanged(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        out = tmp_path / "ranker"
        strange = {"sails": 3}
        with pytest.raises(InputError, match="takes no argument sails"):
            train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1, **strange)
        assert not out.exists()
        train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1)
        before = (out / "model.safetensors").read_bytes()
        with pytest.raises(InputError, match="takes no argument sails"):
            train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1, overwrite=True, **strange)
        assert (out / "model.safetensors").read_bytes() == before and not (out / "checkpoints").exists()

    def test_a_run_without_a_checkpoint_can_be_started_again(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.progress import NoProgress
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        class Stop(NoProgress):
            def advance(self, amount: int) -> None:
                if amount:
                    raise KeyboardInterrupt

        out = tmp_path / "ranker"
        with pytest.raises(KeyboardInterrupt):
            train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1, progress=Stop())
        assert not out.exists()
        train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1, seed=1)

    def test_tensorboard_logs_are_kept_beside_the_model(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        out = tmp_path / "ranker"
        train_ranker(CrossEncoder.new(encoder), groups(), out, epochs=1, report_to="tensorboard")
        assert list((out / "runs").rglob("events.out*")) and not (out / "checkpoints").exists()

    def test_a_model_trained_in_mixed_precision_is_saved_exactly(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import load_ranker
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        ranker = CrossEncoder.new(encoder, device="cpu")
        train_ranker(ranker, groups(), tmp_path / "ranker", epochs=1, bf16=True)
        pairs = [["shall we swim"], ["where is the cat"]], ["at six", "fish now"]
        read = load_ranker(tmp_path / "ranker", device="cpu")
        assert read.score(*pairs) == pytest.approx(ranker.score(*pairs), abs=1e-6)

    def test_gradient_accumulation_equals_larger_batches(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        pairs = [["shall we swim"], ["where is the cat"]], ["at six", "fish now"]
        scores: list[list[float]] = []
        for batch, parts in ((12, 1), (6, 2)):
            ranker = CrossEncoder.new(encoder, dropout=0.0)
            settings = {"per_device_train_batch_size": batch, "gradient_accumulation_steps": parts}
            mix = Mix(2, {"edited": 2}, {"edited": 0.5})
            train_ranker(
                ranker, groups(), tmp_path / str(batch), mix=mix, epochs=3, learning_rate=5e-3, **settings
            )
            scores.append(ranker.score(*pairs))
        assert scores[0] == pytest.approx(scores[1], abs=1e-4)

    @pytest.mark.parametrize("kind", ["cross-encoder", "poly-encoder"])
    def test_early_stopping_keeps_the_best_model(self, kind: str, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.rankers.poly_encoder import PolyEncoder
        from graphneg.training.rankers import EarlyStopping, train_ranker

        many = [
            Group(f"own/all/{k}#1", (f"{one.context[0]} {word}",), one.positives, one.negatives)
            for k, one in enumerate(groups())
            for word in ("now", "fish", "you", "cat", "garden", "bread")
        ]
        report = train_ranker(
            {"cross-encoder": CrossEncoder, "poly-encoder": PolyEncoder}[kind].new(encoder, dropout=0.0),
            many,
            tmp_path / "ranker",
            mix=Mix(1, {"edited": 1}),
            validation=EarlyStopping(0.3, 1),
            **{**self.SETTINGS, "learning_rate": 0.5},
        )
        planned = 2 * 30 * sum(EarlyStopping(0.3, 1).is_trained_on(one) for one in many)
        assert report.planned == planned and report.steps < planned / 4
        assert sum(report.pairs.values()) == min(planned, report.steps * 4)
        with pytest.raises(InputError, match="of 1 contexts would be held back"):
            train_ranker(
                CrossEncoder.new(encoder), many[:1], tmp_path / "other", validation=EarlyStopping(0.5)
            )

    def test_training_on_pairs_equals_training_on_groups(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.datasets.pairs import read_pairs
        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        records, mix = some(), Mix(1, {"edits": 1, "random": 1})
        scores: list[list[float]] = []
        for name, data in (("pairs", read_pairs(records, mix=mix)), ("groups", read_groups([records]))):
            ranker = CrossEncoder.new(encoder)
            given = {"mix": mix} if name == "groups" else {}
            train_ranker(ranker, data, tmp_path / name, epochs=2, **given)
            scores.append(ranker.score([["shall we swim"]], ["at six"]))
        assert scores[0] == scores[1]
        with pytest.raises(InputError, match="pairs already have a mix and held-out texts"):
            train_ranker(CrossEncoder.new(encoder), read_pairs(records), tmp_path / "x", mix=mix)

    def test_a_missing_logger_is_refused_before_training(self, encoder: Path, tmp_path: Path) -> None:
        from importlib.util import find_spec

        from graphneg.rankers.cross_encoder import CrossEncoder
        from graphneg.training.rankers import train_ranker

        if find_spec("tensorboard") or find_spec("tensorboardX"):
            pytest.skip("tensorboard is installed")
        with pytest.raises(InputError, match="tensorboard is not installed"):
            train_ranker(CrossEncoder.new(encoder), groups(), tmp_path / "ranker", report_to="tensorboard")

    def test_the_command_counts_unused_negatives(self, encoder: Path, tmp_path: Path, run: Run) -> None:
        path = written(some(3), tmp_path / "some.jsonl")
        command = ("train", "ranker", path, "--model", encoder, "--mix", "edits=1", "--epochs", "1")
        ended = run(*command, "-o", tmp_path / "ranker")
        assert ended.status == 0
        assert (
            "overlap: 6 negatives not used, because the mix does not include them (--mix overlap=1 adds them)"
            in ended.err
        )
