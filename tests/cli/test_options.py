"""Tests of shared groups of options: stores, selections of dialogues, training."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer import BadParameter

from graphneg.cli.options import (
    CorpusOptions,
    DialogueOptions,
    EncoderTraining,
    LanguageModelTraining,
    StoreOptions,
    make_responses,
)
from graphneg.errors import InputError
from graphneg.store.dialogues import Selection


class TestStores:
    @pytest.fixture(autouse=True)
    def no_server(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("NEO4J_URI", raising=False)
        monkeypatch.chdir(tmp_path)

    def test_the_store_comes_from_the_option_the_environment_or_the_default_folder(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert StoreOptions().name == "./graphneg-store"
        monkeypatch.setenv("NEO4J_URI", "bolt://far:7687")
        assert (StoreOptions().name, StoreOptions("here").name) == ("bolt://far:7687", "here")

    def test_a_server_is_assumed_to_exist(self, tmp_path: Path) -> None:
        assert StoreOptions("neo4j://nowhere").exists
        assert StoreOptions(str(tmp_path)).exists
        assert not StoreOptions("none").exists

    def test_opening_a_missing_store_does_not_create_it(self, tmp_path: Path) -> None:
        with (
            pytest.raises(InputError, match="there is no store at none: create it with graphneg load"),
            StoreOptions("none").opened(),
        ):
            pass
        assert list(tmp_path.iterdir()) == []


class TestSharedOptions:
    def test_dialogue_options_become_a_selection(self) -> None:
        chosen = DialogueOptions(["a"], None, 3)
        assert chosen.selection == Selection(("a",), (), 3)
        assert chosen.as_arguments == {"corpora": ("a",), "splits": (), "limit": 3}
        assert CorpusOptions(None, ["test"]).as_arguments == {"corpora": (), "splits": ("test",)}

    def test_named_options_override_the_defaults_of_a_training(self) -> None:
        given = ["learning_rate=0.5", "bf16=true"]
        expected = {"learning_rate": 0.5, "bf16": True, "per_device_train_batch_size": 8}
        assert LanguageModelTraining(option=given).arguments.items() >= expected.items()
        assert EncoderTraining(freeze=["embeddings"]).model["frozen"] == ["embeddings"]

    def test_an_invalid_training_option_is_refused_at_once(self) -> None:
        for lessons in (LanguageModelTraining, EncoderTraining):
            with pytest.raises(BadParameter, match="expected NAME=VALUE"):
                lessons(option=["bf16"])

    def test_no_files_make_no_responses_and_need_no_embedder(self) -> None:
        assert make_responses((), "no/such/encoder", seed=0, offline=True) == []
