"""Tests of training runs: arguments, losses, and protection of existing folders."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from graphneg.errors import InputError  # noqa: E402
from graphneg.nn.training import (  # noqa: E402
    Run,
    open_run,
    pairs_and_lists,
    training_arguments,
    weighted_cross_entropy,
)

LOGITS = st.lists(st.floats(-8, 8), min_size=1, max_size=8)


def model_outputs(logits: list[float]) -> Any:
    return SimpleNamespace(logits=torch.tensor(logits)[:, None])


def write_model_files(folder: Path, **config: Any) -> Path:
    """Write the files of a model, and `notes.md`, which no run may delete."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **config}))
    for name in ("model.safetensors", "tokenizer.json", "notes.md"):
        (folder / name).write_text("")
    return folder


def make_checkpoint(run: Run, step: int, finished: bool = True) -> Path:
    """Make the folder of a checkpoint; a finished one has `trainer_state.json`."""
    folder = run.checkpoints / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    if finished:
        (folder / "trainer_state.json").write_text("{}")
    return folder


class TestArguments:
    def test_arguments_of_the_caller_override_the_defaults(self, tmp_path: Path) -> None:
        made = training_arguments(tmp_path, 7, "cpu", {"learning_rate": 0.5})
        assert (made.learning_rate, made.seed, made.data_seed, made.save_total_limit) == (0.5, 7, 7, 1)
        assert made.use_cpu and not made.bf16 and made.report_to == []

    @pytest.mark.parametrize("name", ["sails", "output_dir", "seed", "resume_from_checkpoint"])
    def test_unknown_and_reserved_arguments_are_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InputError, match=f"training takes no argument {name}"):
            training_arguments(tmp_path, 0, "cpu", {name: 1})

    def test_contradictory_arguments_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="these training arguments contradict each other"):
            training_arguments(tmp_path, 0, "cpu", {"save_strategy": "sometimes"})


class TestLosses:
    @given(LOGITS, st.data())
    def test_losses_of_accumulated_batches_add_up(self, logits: list[float], data: st.DataObject) -> None:
        size = len(logits)
        rows = st.tuples(st.sampled_from([0.0, 1.0]), st.floats(0, 4))
        labels = torch.tensor(data.draw(st.lists(rows, min_size=size, max_size=size)))
        cut = data.draw(st.integers(0, size))
        whole = weighted_cross_entropy(model_outputs(logits), labels)
        parts = [
            weighted_cross_entropy(model_outputs(logits[some]), labels[some], labels.numel())
            for some in (slice(0, cut), slice(cut, size))
            if logits[some]
        ]
        assert float(sum(parts)) == pytest.approx(float(whole), abs=1e-5)

    def test_weight_3_counts_a_pair_three_times(self) -> None:
        once, thrice = (torch.tensor([[1.0, weight]]) for weight in (1.0, 3.0))
        given = model_outputs([0.3])
        loss = float(weighted_cross_entropy(given, once))
        assert loss == pytest.approx(float(torch.nn.functional.softplus(torch.tensor(-0.3))))
        assert float(weighted_cross_entropy(given, thrice)) == pytest.approx(3 * loss)

    def test_only_wrong_responses_of_the_same_group_compete(self) -> None:
        labels = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
        given = model_outputs([0.5, 2.0, -1.0])
        assert float(pairs_and_lists(given, labels)) == float(weighted_cross_entropy(given, labels))
        labels[1, 2] = 0.0
        rivals = torch.nn.functional.softplus(2.0 - torch.tensor([0.5, -1.0])).mean()
        both = weighted_cross_entropy(given, labels) + rivals
        assert float(pairs_and_lists(given, labels)) == pytest.approx(float(both))


class TestRuns:
    def test_a_run_with_other_settings_is_not_resumed(self, tmp_path: Path) -> None:
        run = open_run(tmp_path, ["a", 1])
        run.begin()
        last = make_checkpoint(run, 20)
        make_checkpoint(run, 3)
        make_checkpoint(run, 40, finished=False)
        assert open_run(tmp_path, ["a", 1]).last == last
        with pytest.raises(
            InputError, match="the folder contains an unfinished run with other examples or settings"
        ):
            open_run(tmp_path, ["a", 2])
        other = open_run(tmp_path, ["a", 2], overwrite=True)
        assert last.exists()  # nothing is removed before the run begins
        other.begin()
        assert not last.exists() and other.last is None

    @pytest.mark.parametrize("overwrite", [False, True])
    @pytest.mark.parametrize("kind", ["checkpoints", "other files", "link", "file", "other note"])
    def test_foreign_checkpoints_are_never_removed(self, tmp_path: Path, kind: str, overwrite: bool) -> None:
        out, mine = tmp_path / "out", tmp_path / "out" / "checkpoints"
        out.mkdir()
        match kind:
            case "checkpoints":
                make_checkpoint(Run(out, "x"), 1)
            case "other files":
                mine.mkdir()
                (mine / "epoch1.pt").write_text("mine")
            case "link":
                (tmp_path / "elsewhere").mkdir()
                mine.symlink_to(tmp_path / "elsewhere")
            case "file":
                mine.write_text("mine")
            case _:
                mine.mkdir()
                (mine / "run.json").write_text('{"epoch": 1}')
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError, match=r"nothing is overwritten|did not write the file"):
            open_run(out, [1], overwrite=overwrite)
        with pytest.raises(InputError):
            Run(out, "x").begin()
        assert sorted(tmp_path.rglob("*")) == before

    def test_an_empty_checkpoint_folder_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "checkpoints").mkdir()
        open_run(tmp_path, [1]).begin()
        assert open_run(tmp_path, [1]).note.state == "same"

    def test_a_model_is_replaced_only_with_overwrite(self, tmp_path: Path) -> None:
        write_model_files(tmp_path)
        with pytest.raises(InputError, match="the folder already contains a model"):
            open_run(tmp_path, [1])
        open_run(tmp_path, [1], overwrite=True).begin()
        assert {path.name for path in tmp_path.iterdir()} == {"notes.md", "checkpoints"}

    def test_the_second_tower_is_replaced_without_foreign_files(self, tmp_path: Path) -> None:
        write_model_files(tmp_path, graphneg={"towers": "separate"})
        write_model_files(tmp_path / "response")
        open_run(tmp_path, [1], overwrite=True).begin()
        assert [path.name for path in (tmp_path / "response").iterdir()] == ["notes.md"]

    @pytest.mark.parametrize("content", ['{"port": 80}', "[]", "{"])
    def test_a_foreign_config_json_is_never_overwritten(self, tmp_path: Path, content: str) -> None:
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(InputError, match="not a model file, so nothing is overwritten"):
            open_run(tmp_path, [1], overwrite=True)
