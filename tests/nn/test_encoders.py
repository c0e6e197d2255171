"""Encoders: what learns, how much they read, and heads that a seed draws."""

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
    def test_a_seed_draws_the_head_and_the_encoder_stays(self, encoder: Path) -> None:
        first, same, other = (new_classifier(encoder, seed=seed)[0] for seed in (1, 1, 2))
        assert first.classifier.weight.equal(same.classifier.weight)
        assert not first.classifier.weight.equal(other.classifier.weight)
        words = load_encoder(encoder).embeddings.word_embeddings.weight
        assert other.bert.embeddings.word_embeddings.weight.equal(words)

    def test_dropout_is_what_is_asked_for_or_the_encoders_own(self, encoder: Path) -> None:
        config = new_classifier(encoder, seed=0, dropout=0.3)[0].config
        assert (config.hidden_dropout_prob, config.attention_probs_dropout_prob) == (0.3, 0.3)
        assert new_classifier(encoder, seed=0)[0].config.hidden_dropout_prob == 0.1

    def test_a_folder_of_something_else_is_one_clear_line(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(ModelError, match="no detector can be read from it") as raised:
            load_classifier(tmp_path, "detector")
        assert "\n" not in str(raised.value)


class TestFreezing:
    def test_parameters_are_named_by_the_beginning_of_a_part(self, encoder: Path) -> None:
        network, _ = new_classifier(encoder, seed=0)
        freeze(network, ["embeddings", "encoder.layer.0"])
        learning = {name for name, weights in network.named_parameters() if weights.requires_grad}
        assert "classifier.weight" in learning and "bert.encoder.layer.1.output.dense.weight" in learning
        assert not any("embeddings" in name or "layer.0." in name for name in learning)

    def test_a_part_that_is_not_there_is_named(self, encoder: Path) -> None:
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
    def test_bert_reads_as_many_tokens_as_it_has_positions(self, encoder: Path) -> None:
        assert positions(load_encoder(encoder)) == 24

    def test_roberta_has_none_for_padding(self) -> None:
        from transformers import RobertaConfig, RobertaModel

        sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
        config = RobertaConfig(vocab_size=9, max_position_embeddings=34, pad_token_id=1, **sizes)
        assert positions(RobertaModel(config)) == 32

    def test_a_model_without_a_limit_reads_any_text(self) -> None:
        model = torch.nn.Linear(1, 1)
        model.config = object()
        assert positions(model) > 100_000
