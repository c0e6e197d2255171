"""Language models with about ten thousand weights, which are trained on eight replies in a few seconds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphneg.generators.prompts import REPLY_WITH_PERSPECTIVE, TASK, Exchange, perspective_example
from graphneg.nn.fine_tuning import fine_tune
from graphneg.nn.language_models import LanguageModel
from graphneg.nn.models import load_causal, load_seq2seq

# Triples of a post, the perspective of the reply (the keyword that it is about), and the reply.
EXCHANGES = [
    ("Did you feed the cat?", "fish", "Yes, it had some fish."),
    ("Did you feed the cat?", "milk", "Yes, it drank the milk."),
    ("Did you feed the cat?", "garden", "No, it is in the garden."),
    ("Where is my coat?", "door", "It hangs behind the door."),
    ("Where is my coat?", "garden", "You left it in the garden."),
    ("Where is my coat?", "car", "It is still in the car."),
    ("What shall we cook?", "fish", "I could fry the fish."),
    ("What shall we cook?", "rice", "There is rice in the kitchen."),
]
TRAINING = {"max_steps": 180, "learning_rate": 4e-3, "warmup_steps": 10}


@dataclass(frozen=True)
class TinyModels:
    """Folders of models with random weights, and of models that were trained on `EXCHANGES`."""

    gpt2: Path
    llama: Path
    bart: Path
    trained_gpt2: Path
    trained_bart: Path


def exchanges() -> list[Exchange]:
    return [Exchange((post,), perspective, text) for post, perspective, text in EXCHANGES]


def train(folder: Path) -> TinyModels:
    """Create and train the models, which takes about ten seconds."""
    causal_folder(folder / "gpt2")
    causal_folder(folder / "llama", "llama")
    seq2seq_folder(folder / "bart")
    _learn(load_causal(folder / "gpt2"), folder / "trained-gpt2")
    _learn(load_seq2seq(folder / "bart"), folder / "trained-bart")
    return TinyModels(*(folder / name for name in ("gpt2", "llama", "bart", "trained-gpt2", "trained-bart")))


def _learn(model: LanguageModel, out: Path) -> None:
    setattr(model.model.config, TASK, REPLY_WITH_PERSPECTIVE)
    fine_tune(model, [perspective_example(exchange) for exchange in exchanges()], out, **TRAINING)


def causal_folder(folder: Path, kind: str = "gpt2") -> Path:
    """A causal model (``gpt2`` or ``llama``) with random weights, and a tokenizer."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, set_seed

    set_seed(0)
    tokenizer = _tokenizer()
    size = {"vocab_size": len(tokenizer), "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
    if kind == "gpt2":
        config = GPT2Config(n_embd=48, n_layer=2, n_head=2, n_positions=128, **_NO_DROPOUT, **size)
        model = GPT2LMHeadModel(config)
    else:
        heads = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1}
        model = LlamaForCausalLM(LlamaConfig(hidden_size=48, intermediate_size=96, **heads, **size))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def seq2seq_folder(folder: Path) -> Path:
    """A BART with random weights, and a tokenizer."""
    from transformers import BartConfig, BartForConditionalGeneration, set_seed

    set_seed(0)
    tokenizer = _tokenizer()
    parts = {"layers": 1, "attention_heads": 2, "ffn_dim": 96}
    sides = {f"{side}_{part}": size for side in ("encoder", "decoder") for part, size in parts.items()}
    ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 1}
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=48,
        dropout=0.0,
        attention_dropout=0.0,
        max_position_embeddings=128,
        forced_eos_token_id=None,
        **sides,
        **ends,
    )
    BartForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


_NO_DROPOUT = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}


def _tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<pad>", "<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(exchange) for exchange in EXCHANGES], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<end>", eos_token="<end>"
    )
