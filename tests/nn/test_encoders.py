"""Tests of encoders: classifier heads, frozen parameters and maximum lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from graphneg.errors import InputError, ModelError  # noqa: E402
from graphneg.nn.encoders import freeze, load_classifier, load_encoder, new_classifier, positions  # noqa: E402
from tests.tiny_ranker import encoder_folder  # noqa: E402


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder_folder(tmp_path_factory.mktemp("encoder"))


class TestClassifiers:
    def test_the_seed_determines_the_classifier_head_only(self, encoder: Path) -> None:
        first, same, other = (new_classifier(encoder, seed=seed)[0] for seed in (1, 1, 2))
        assert first.classifier.weight.equal(same.classifier.weight)
        assert not first.classifier.weight.equal(other.classifier.weight)
        words = load_encoder(encoder).embeddings.word_embeddings.weight
        assert other.bert.embeddings.word_embeddings.weight.equal(words)

    def test_dropout_can_be_set_or_is_that_of_the_encoder(self, encoder: Path) -> None:
        config = new_classifier(encoder, seed=0, dropout=0.3)[0].config
        assert (config.hidden_dropout_prob, config.attention_probs_dropout_prob) == (0.3, 0.3)
        assert new_classifier(encoder, seed=0)[0].config.hidden_dropout_prob == 0.1

    def test_a_folder_without_a_classifier_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(ModelError, match="no detector can be read from it") as raised:
            load_classifier(tmp_path, "detector")
        assert "\n" not in str(raised.value)


class TestFreezing:
    def test_parameters_are_frozen_by_the_start_of_their_name(self, encoder: Path) -> None:
        network, _ = new_classifier(encoder, seed=0)
        freeze(network, ["embeddings", "encoder.layer.0"])
        learning = {name for name, weights in network.named_parameters() if weights.requires_grad}
        assert "classifier.weight" in learning and "bert.encoder.layer.1.output.dense.weight" in learning
        assert not any("embeddings" in name or "layer.0." in name for name in learning)

    def test_an_unknown_parameter_name_is_refused(self, encoder: Path) -> None:
        with pytest.raises(InputError, match="no parameter's name begins with 'eddings'"):
            freeze(load_encoder(encoder), ["eddings"])

    def test_layer_1_is_not_layer_10(self) -> None:
        network = torch.nn.ModuleDict(
            {"layer": torch.nn.ModuleList(torch.nn.Linear(1, 1) for _ in range(11))}
        )
        freeze(network, ["layer.1"])
        frozen = [name for name, some in network.named_parameters() if not some.requires_grad]
        assert frozen == ["layer.1.weight", "layer.1.bias"]


class TestPositions:
    def test_bert_has_as_many_positions_as_configured(self, encoder: Path) -> None:
        assert positions(load_encoder(encoder)) == 24

    def test_roberta_positions_exclude_the_padding_offset(self) -> None:
        from transformers import RobertaConfig, RobertaModel

        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
        config = RobertaConfig(vocab_size=9, max_position_embeddings=34, pad_token_id=1, **sizes)
        assert positions(RobertaModel(config)) == 32

    def test_a_model_without_a_limit_has_unlimited_positions(self) -> None:
        model = torch.nn.Linear(1, 1)
        model.config = object()
        assert positions(model) > 100_000
