"""An encoder with a few thousand random weights, and training data that a ranker can learn easily."""

from __future__ import annotations

from pathlib import Path

from graphneg.datasets.groups import Answer, Group

WORDS = (
    "shall we swim when now at six fish twelve eggs where is the cat in garden kitchen "
    "who ate bread you did dog"
)


def encoder_folder(folder: Path, labels: int = 0) -> Path:
    """Save a BERT with two layers and its tokenizer. With ``labels``, the BERT is a classifier."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        BertModel,
        PreTrainedTokenizerFast,
        set_seed,
    )

    set_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS.split())]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
        **({"num_labels": labels} if labels else {}),
    )
    (BertForSequenceClassification if labels else BertModel)(config).save_pretrained(folder)
    return folder


def with_other_weights(folder: Path) -> Path:
    """Change the last weight of a model in place. The size of its file stays the same."""
    [weights] = folder.glob("*.safetensors")
    content = bytearray(weights.read_bytes())
    content[-4] ^= 1
    weights.write_bytes(content)
    return folder


def groups() -> list[Group]:
    """Return contexts whose wrong responses all contain the word "fish"."""
    right = {"shall we swim": "at six", "where is the cat": "in the garden", "who ate the bread": "you did"}
    return [
        Group(
            f"own/all/{place}#1",
            (question,),
            [Answer(answer, "reference"), Answer(f"{answer} now", "reference")],
            [Answer(f"fish {word}", "edited", "C-cont") for word in ("now", "at six", "eggs")],
        )
        for place, (question, answer) in enumerate(right.items())
    ]
