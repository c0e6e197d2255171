"""Options that commands share: what objects of them hand on."""

from __future__ import annotations

from graphneg.cli.options import CorpusOptions, DialogueOptions, EncoderTraining, LanguageModelTraining
from graphneg.store.dialogues import Selection


class TestSharedOptions:
    def test_a_choice_of_dialogues_is_a_selection(self) -> None:
        chosen = DialogueOptions(["a"], None, 3)
        assert chosen.selection == Selection(("a",), (), 3)
        assert chosen.named == {"corpora": ("a",), "splits": (), "limit": 3}
        assert CorpusOptions(None, ["test"]).named == {"corpora": (), "splits": ("test",)}

    def test_named_options_of_a_training_go_before_its_own(self) -> None:
        given = ["learning_rate=0.5", "bf16=true"]
        expected = {"learning_rate": 0.5, "bf16": True, "per_device_train_batch_size": 8}
        assert LanguageModelTraining(option=given).arguments.items() >= expected.items()
        assert EncoderTraining(freeze=["embeddings"]).model["frozen"] == ["embeddings"]
