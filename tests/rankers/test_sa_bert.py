"""Tests of speaker-aware BERT: its input, its model and its domain adaptation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.datasets.groups import Answer, Group
from graphneg.datasets.pair_sampler import Mix
from graphneg.errors import InputError, ModelError
from tests.interrupting import StopsAt
from tests.tiny_ranker import WORDS, encoder_folder, groups

pytest.importorskip("torch")

TURNS = st.lists(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=6).map(" ".join), max_size=4)
QUICK = settings(max_examples=15)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = encoder_folder(tmp_path_factory.mktemp("encoder"))
    return _with_mask(folder)


@pytest.fixture(scope="module")
def ranker(encoder: Path) -> Any:
    from graphneg.rankers.base import new_ranker

    return new_ranker("sa-bert", encoder, seed=1, dropout=0.0, device="cpu")


def _with_mask(folder: Path) -> Path:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    tokenizer.save_pretrained(folder)
    return folder


def _read(ranker: Any, context: list[str], response: str) -> tuple[str, list[int]]:
    row = ranker.encode([context], [response])
    return ranker.tokenizer.decode(row["input_ids"][0]), row["token_type_ids"][0].tolist()


class TestInputs:
    def test_turns_end_with_markers_and_alternate_segments(self, ranker: Any) -> None:
        text, types = _read(ranker, ["shall we swim", "when"], "at six")
        assert text == "[CLS] shall we swim [EOU] [EOT] when [EOU] [EOT] [SEP] at six [SEP]"
        assert types == [0, *[0] * 5, *[2] * 3, 0, 1, 1, 1]

    def test_each_line_of_a_turn_is_an_utterance(self, ranker: Any) -> None:
        text, types = _read(ranker, ["fish now\nshall we swim"], "at six")
        assert text == "[CLS] fish now [EOU] shall we swim [EOU] [EOT] [SEP] at six [SEP]"
        assert types == [0, *[2] * 8, 0, 1, 1, 1]

    def test_a_long_context_loses_whole_turns_from_its_start(self, ranker: Any) -> None:
        text, types = _read(ranker, ["cat " * 9, "fish " * 7, "shall we swim"], "at six")
        assert text.startswith("[CLS] fish") and text.endswith("[EOT] [SEP] at six [SEP]")
        assert types[1] == 0 and "cat" not in text

    def test_a_too_long_last_turn_loses_its_beginning(self, ranker: Any) -> None:
        text, types = _read(ranker, ["fish " * 30 + "now"], "at six")
        assert text.endswith("fish now [EOU] [EOT] [SEP] at six [SEP]") and len(types) == 24

    def test_a_too_long_response_loses_its_end(self, ranker: Any) -> None:
        text, types = _read(ranker, ["when"], "at six " + "fish " * 40)
        assert text.startswith("[CLS] [SEP] at six fish") and text.endswith("fish [SEP]")
        assert len(types) == 24

    @QUICK
    @given(context=TURNS, response=st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
    def test_an_input_fits_and_contains_the_whole_response(
        self, ranker: Any, context: list[str], response: str
    ) -> None:
        text, types = _read(ranker, context, response)
        assert len(types) <= 24
        assert text.partition("[SEP]")[2].removesuffix("[SEP]").strip() == response
        kept = [turn.removesuffix("[EOU]").strip() for turn in _turns(text)]
        assert kept == context[len(context) - len(kept) :] or len(kept) == 1


def _turns(text: str) -> list[str]:
    context = text.partition("[SEP]")[0].removeprefix("[CLS]").strip()
    return [turn.strip() for turn in context.split("[EOT]")[:-1]]


class TestModel:
    def test_scores_equal_those_of_transformers(self, ranker: Any, tmp_path: Path) -> None:
        from transformers import AutoModelForSequenceClassification

        from graphneg.rankers.base import load_ranker

        ranker.save(tmp_path)
        config = json.loads((tmp_path / "config.json").read_text())
        assert config["graphneg"] == {"kind": "sa-bert", "max_tokens": 24, "first": "context"}
        assert config["type_vocab_size"] == 4
        pairs = [["shall we swim", "when"], ["where is the cat"]], ["at six", "fish"]
        network = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
        found = network(**ranker.encode(*pairs)).logits.sigmoid()[:, 0].tolist()
        assert ranker.score(*pairs) == pytest.approx(found, abs=1e-6)
        assert load_ranker(tmp_path, device="cpu").score(*pairs) == pytest.approx(found, abs=1e-6)

    @QUICK
    @given(context=TURNS, response=st.sampled_from(["at six", "fish now"]))
    def test_without_speaker_embeddings_it_equals_a_cross_encoder(
        self, encoder: Path, context: list[str], response: str
    ) -> None:
        import torch

        from graphneg.nn.encoders import new_classifier
        from graphneg.rankers.base import new_ranker

        plain, tokenizer = new_classifier(encoder, seed=1, dropout=0.0)
        ranker = new_ranker("sa-bert", encoder, seed=1, dropout=0.0, device="cpu", max_tokens=24)
        rows = ranker.model.bert.embeddings.token_type_embeddings.weight
        segments = plain.bert.embeddings.token_type_embeddings.weight
        with torch.no_grad():
            rows.copy_(segments.repeat(2, 1))
            plain.resize_token_embeddings(len(ranker.tokenizer), mean_resizing=False)
            plain.get_input_embeddings().weight.copy_(ranker.model.get_input_embeddings().weight)
            tokenizer.add_special_tokens({"extra_special_tokens": ["[EOU]", "[EOT]"]})
            text = "".join(f"{turn} [EOU] [EOT] " for turn in _turns_kept(ranker, context, response))
            one = tokenizer(text, response, return_token_type_ids=True, return_tensors="pt")
            found = plain.eval()(**one).logits.sigmoid().item()
        assert ranker.score([context], [response]) == pytest.approx([found], abs=1e-6)

    def test_new_embeddings_are_sums_of_segment_and_speaker(self, encoder: Path, ranker: Any) -> None:
        from graphneg.nn.encoders import new_classifier

        segments = new_classifier(encoder, seed=1)[0].bert.embeddings.token_type_embeddings.weight
        rows = ranker.model.bert.embeddings.token_type_embeddings.weight
        first, second = rows[:2] - segments, rows[2:] - segments
        assert first[0].tolist() == pytest.approx(first[1].tolist(), abs=1e-6)
        assert second[0].tolist() == pytest.approx(second[1].tolist(), abs=1e-6)
        assert not first[0].equal(second[0]) and first.abs().max() < 0.2

    def test_speaker_embeddings_are_trained_when_other_embeddings_are_frozen(self, encoder: Path) -> None:
        from graphneg.rankers.base import new_ranker

        model = new_ranker("sa-bert", encoder, frozen=["embeddings"], device="cpu").model
        assert model.bert.embeddings.token_type_embeddings.weight.requires_grad
        assert not model.bert.embeddings.word_embeddings.weight.requires_grad
        frozen = ["embeddings", "token_type_embeddings"]
        model = new_ranker("sa-bert", encoder, frozen=frozen, device="cpu").model
        assert not model.bert.embeddings.token_type_embeddings.weight.requires_grad

    def test_an_encoder_with_one_segment_is_extended(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import new_ranker

        _save_encoder(encoder, tmp_path, "Roberta", type_vocab_size=1)
        ranker = new_ranker("sa-bert", tmp_path, device="cpu")
        assert ranker.model.config.type_vocab_size == 4
        assert len(ranker.score([["fish " * 40], ["when"]], ["at six", "now"])) == 2

    def test_an_encoder_without_segments_is_refused(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import new_ranker

        _save_encoder(encoder, tmp_path, "DistilBert")
        with pytest.raises(ModelError, match="distilbert has no segment embeddings that could be extended"):
            new_ranker("sa-bert", tmp_path)

    def test_it_is_not_loaded_as_a_cross_encoder(self, ranker: Any, tmp_path: Path) -> None:
        from graphneg.rankers.cross_encoder import CrossEncoder

        ranker.save(tmp_path)
        with pytest.raises(ModelError, match="a ranker of the kind sa-bert, not cross-encoder"):
            CrossEncoder.from_pretrained(tmp_path)

    def test_training_ranks_the_correct_response_first(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.rankers.base import load_ranker, new_ranker
        from graphneg.training.rankers import train_ranker

        ranker = new_ranker("sa-bert", encoder, dropout=0.0, device="cpu")
        train_ranker(
            ranker, groups(), tmp_path / "ranker", mix=Mix(2, {"edited": 2}),
            epochs=20, learning_rate=5e-3, per_device_train_batch_size=6,
        )  # fmt: skip
        read = load_ranker(tmp_path / "ranker", device="cpu")
        assert read.rank(["shall we swim"], ["fish eggs", "at six"]) == [1, 0]


def _turns_kept(ranker: Any, context: list[str], response: str) -> list[str]:
    return [turn.removesuffix("[EOU]").strip() for turn in _turns(_read(ranker, context, response)[0])]


def _save_encoder(encoder: Path, folder: Path, name: str, **options: Any) -> None:
    """Save a tiny encoder of the architecture `name` with the same vocabulary."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    tokenizer.save_pretrained(folder)
    sizes = (
        {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}
        if name == "DistilBert"
        else {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    )
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(tokenizer), max_position_embeddings=32, pad_token_id=0, **sizes, **options
    )
    getattr(transformers, f"{name}Model")(config).save_pretrained(folder)


class TestAdapting:
    SETTINGS = {"epochs": 20, "learning_rate": 5e-3, "per_device_train_batch_size": 4}  # noqa: RUF012

    def test_adaptation_lowers_the_masked_loss_and_keeps_speaker_embeddings(
        self, encoder: Path, tmp_path: Path
    ) -> None:
        from graphneg.rankers.base import new_ranker
        from graphneg.training.domain_adaptation import adapt, new_adaptable

        start = new_adaptable(encoder, device="cpu")
        before = _masked_loss(start)
        table = start.model.bert.embeddings.token_type_embeddings.weight.detach().clone()
        report = adapt(start, dialogues(), tmp_path / "adapted", **self.SETTINGS)
        assert report.examples == 6 and report.steps == 30
        assert _masked_loss(start) < before - 0.3
        learned = start.model.bert.embeddings.token_type_embeddings.weight
        assert not learned.equal(table)
        ranker = new_ranker("sa-bert", tmp_path / "adapted", seed=5, device="cpu")
        assert ranker.model.bert.embeddings.token_type_embeddings.weight.equal(learned)
        assert ranker.model.bert.pooler.dense.weight.equal(start.model.bert.pooler.dense.weight)

    def test_a_resumed_adaptation_gives_the_same_weights(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.training.domain_adaptation import adapt, new_adaptable

        how = {**self.SETTINGS, "epochs": 4, "save_steps": 2}
        with pytest.raises(KeyboardInterrupt):
            adapt(
                new_adaptable(encoder, device="cpu"), dialogues(), tmp_path / "a", progress=StopsAt(5), **how
            )
        with pytest.raises(InputError, match="an unfinished run with other examples or settings"):
            adapt(new_adaptable(encoder, device="cpu"), dialogues(), tmp_path / "a", seed=1, **how)
        stopped, whole = new_adaptable(encoder, device="cpu"), new_adaptable(encoder, device="cpu")
        adapt(stopped, dialogues(), tmp_path / "a", **how)
        adapt(whole, dialogues(), tmp_path / "b", **how)
        ours, theirs = stopped.model.state_dict(), whole.model.state_dict()
        assert all(ours[name].equal(theirs[name]) for name in theirs)

    def test_half_of_the_examples_have_another_reply_and_none_is_held_out(self) -> None:
        from graphneg.training.domain_adaptation import AdaptationExamples

        rows = AdaptationExamples(dialogues(), 40, seed=0, held_out=["You  DID"])
        examples = [rows[place] for place in range(len(rows))]
        assert rows.size == 5 and "you did" not in {one.response for one in examples}
        assert 0.4 < sum(one.label for one in examples) / len(examples) < 0.6
        right = {(group.context, one.text) for group in dialogues() for one in group.positives}
        assert all((one.label == 0) == ((one.context, one.response) in right) for one in examples)
        assert [rows[place] for place in (7, 3, 7)] == [examples[place] for place in (7, 3, 7)]

    def test_contexts_of_a_store_become_groups(self) -> None:
        from graphneg.generators.base import Context
        from graphneg.model import Turn
        from graphneg.training.domain_adaptation import groups_of_contexts

        turns = (Turn("A", "shall we swim"), Turn("B", "when"))
        some = [Context(f"own/all/1#{3 + len(right)}", "own", "all", "own/all/1", 3, turns, "A", right)
                for right in (("now", "at six"), ())]  # fmt: skip
        [group] = groups_of_contexts(some)
        assert group.context == ("shall we swim", "when")
        assert [answer.text for answer in group.positives] == ["now", "at six"]

    def test_masks_depend_on_seed_and_example_only(self, ranker: Any) -> None:
        from graphneg.rankers.sa_bert import SpeakerInputs
        from graphneg.training.domain_adaptation import Masking

        inputs = SpeakerInputs(ranker.tokenizer, 24)
        [row] = inputs.rows([["shall we swim now", "when"]], ["at six"])
        make = [Masking(inputs, 30, ranker.tokenizer.mask_token_id, 0.5, seed) for seed in (0, 0, 1)]
        first, same, other = (one.masked(row, "0~1") for one in make)
        assert first == same != other != make[2].masked(row, "1~1")
        told = [place for place, label in enumerate(first[1]) if label != -100]
        assert len(told) == 4 and not inputs.special & {row.tokens[place] for place in told}

    def test_unusable_examples_and_encoders_are_refused(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.training.domain_adaptation import adapt, new_adaptable

        one = [Group("a#1", ("when",), [Answer("now", "reference")])]
        with pytest.raises(InputError, match="fewer than two distinct correct responses"):
            adapt(new_adaptable(encoder, device="cpu"), one, tmp_path / "a")
        with pytest.raises(ModelError, match="no mask token"):
            new_adaptable(encoder_folder(tmp_path / "plain"))
        _save_encoder(encoder, tmp_path / "roberta", "Roberta", type_vocab_size=1)
        with pytest.raises(ModelError, match="roberta has no head for next-sentence prediction"):
            new_adaptable(tmp_path / "roberta")


def dialogues() -> list[Group]:
    """Return contexts of two turns with two correct responses each."""
    return [Group(one.id, ("fish now", *one.context), one.positives) for one in groups()]


def _masked_loss(encoder: Any) -> float:
    """Return the mean loss in nats for each masked word; the masks are always the same."""
    import torch

    from graphneg.rankers.sa_bert import SpeakerInputs
    from graphneg.training.domain_adaptation import Masking

    inputs = SpeakerInputs(encoder.tokenizer, 24)
    masking = Masking(inputs, len(encoder.tokenizer), encoder.tokenizer.mask_token_id, 0.3, 9)
    rows = inputs.rows([one.context for one in dialogues()], [one.positives[0].text for one in dialogues()])
    batch = masking.batch(rows, [str(place) for place in range(len(rows))])
    labels = batch.pop("labels")
    encoder.model.eval()
    with torch.inference_mode():
        found = encoder.model(**batch).prediction_logits
    return float(torch.nn.functional.cross_entropy(found.flatten(0, 1), labels.flatten()))
