"""Make a language model that is small enough to train from scratch on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

WIDTH, LAYERS, HEADS, WORDS, LONGEST = 96, 2, 4, 6_000, 256
"""Hidden size, numbers of layers and attention heads, size of the vocabulary, maximum number of tokens."""


def small_bart(folder: Path, texts: Sequence[str]) -> None:
    """Make a BART with random weights, and a tokenizer trained on some texts.

    Args:
        folder: Folder for the model and the tokenizer.
        texts: Texts to train the tokenizer on.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import (
        BartConfig,
        BartForConditionalGeneration,
        PreTrainedTokenizerFast,
        set_seed,
    )

    set_seed(0)
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS,
        special_tokens=["<pad>", "<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pieces.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces, pad_token="<pad>", bos_token="<end>", eos_token="<end>"
    )
    parts = {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": 2 * WIDTH}
    sides = {f"{side}_{part}": size for side in ("encoder", "decoder") for part, size in parts.items()}
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=WIDTH,
        max_position_embeddings=LONGEST,
        forced_eos_token_id=None,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=1,
        decoder_start_token_id=1,
        **sides,
    )
    BartForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
