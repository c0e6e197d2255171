"""Tests of token substitution: the choice of substitutes, and articles and capitals beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.generators.retrieval import BankEntry
from graphneg.generators.token_substitution import TokenSubstitutionGenerator, known_words, masked_words
from graphneg.store.connection import Store


class SubstitutionFromTexts(TokenSubstitutionGenerator):
    """Take the substitutes from `texts`."""

    texts: tuple[str, ...] = ()

    def bank(self) -> list[BankEntry]:
        return [BankEntry(f"e#{n}", text, "e") for n, text in enumerate(self.texts)]


def substituted(context: Context, right: str, *texts: str, **options: int) -> list[str]:
    store: Store = None  # pyright: ignore[reportAssignmentType]
    generator = SubstitutionFromTexts(store, **options)
    generator.texts = texts
    asked = Context(**{name: getattr(context, name) for name in context.__slots__} | {"positives": (right,)})
    [found] = generator.generate([asked], 1, 0)
    return [candidate.text for candidate in found]


@pytest.mark.parametrize(
    ("right", "told", "becomes"),
    [
        ("It is a pear.", "An apple fell.", "It is an apple."),
        ("An apple!", "pears, pear", "A pear!"),
        ("Bring the  apple, please", "pear", "Bring the  pear, please"),
    ],
)
def test_articles_and_capitals_follow_the_new_word(
    context: Context, right: str, told: str, becomes: str
) -> None:
    assert substituted(context, right, told, most=1) == [becomes]


def test_the_first_word_keeps_its_capital(context: Context) -> None:
    assert substituted(context, "Pears rot.", "apples", most=1) == ["Apples rot."]


def test_forms_of_the_same_word_are_no_substitutes(context: Context) -> None:
    assert substituted(context, "She walked.", "walked") == []


def test_substitutes_have_the_same_possible_tags(context: Context) -> None:
    source = known_words(["He walks and talks.", "The quick dog barks quickly.", "A car."])
    assert list(source(["", "hikes"], 1)) == ["barks", "talks", "walks"]
    assert list(source(["", "slowly"], 1)) == ["quickly"]
    assert list(source(["", "xqzt"], 1)) == []


def test_at_most_the_given_number_of_words_is_replaced(context: Context) -> None:
    right, told = "The farmer met the teacher in the village.", "a baker, an onion, a kitchen"
    for most in (1, 2, 3):
        [text] = substituted(context, right, told, least=most, most=most)
        changed = [a for a, b in zip(right.split(), text.split(), strict=True) if a != b and len(a) > 2]
        assert len(changed) == most


@pytest.fixture
def byte_level_model(tmp_path: Path) -> Path:
    """Save a masked model with byte-level BPE whose likeliest tokens are "ing", "horse" and "barn"."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers
    from tokenizers.decoders import ByteLevel
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevel()
    mask = AddedToken("<mask>", lstrip=True)
    trainer = trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=["<unk>", "<pad>", mask],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(["a horse in a barn, swimming, running, walking"] * 9, trainer)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, mask_token=mask, unk_token="<unk>", pad_token="<pad>"
    ).save_pretrained(tmp_path)
    size: dict[str, Any] = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
    }
    model = RobertaForMaskedLM(RobertaConfig(vocab_size=tokenizer.get_vocab_size(), pad_token_id=1, **size))
    for weight, piece in enumerate(("Ġbarn", "Ġhorse", "ing"), 1):
        model.lm_head.bias.data[tokenizer.token_to_id(piece)] = 100.0 * weight
    model.save_pretrained(tmp_path)
    return tmp_path


def test_word_pieces_are_no_substitutes(byte_level_model: Path) -> None:
    likeliest = masked_words(byte_level_model, 2, "cpu", offline=True)
    assert list(likeliest(["A", " ", "cow", " ", "swims", "."], 2)) == ["horse", "barn"]


def test_least_above_most_is_refused(unused: Store) -> None:
    with pytest.raises(GeneratorError, match="least 4 is greater than most 3"):
        TokenSubstitutionGenerator(unused, least=4)
