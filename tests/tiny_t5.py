"""A T5 with two hundred thousand weights, which is trained until it reproduces the texts of a few graphs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from graphneg.amr.penman import flat_graph, iter_blocks, metadata, parse_graph
from graphneg.model import AmrGraph, EditedUtterance

GRAPHS = 16
LONGEST_GRAPH = 170
STEPS = 700
BART_SIZES = {"layers": 2, "attention_heads": 4, "ffn_dim": 128}


@dataclass(frozen=True)
class TinyT5:
    """Two folders with the same model, and the pairs of graph and text on which it was trained."""

    hugging_face: Path
    amrlib: Path
    pairs: list[tuple[AmrGraph, str]]


def pairs_to_learn() -> list[tuple[AmrGraph, str]]:
    """Return the first short graphs of the bundled corpus with their sentences."""
    text = (files("graphneg") / "data/everyday/graphs.amr").read_text(encoding="utf-8")
    graphs = [parse_graph(block, first_line=line) for line, block in iter_blocks(text)]
    short = [graph for graph in graphs if len(flat_graph(graph)) <= LONGEST_GRAPH]
    return [(graph, metadata(graph.metadata)["snt"]) for graph in short[:GRAPHS]]


def edited(graph: AmrGraph, text: str, id: str = "own/test/1#0") -> EditedUtterance:
    """Return an edited utterance with the edited graph ``graph`` and the original text ``text``."""
    return EditedUtterance(id=id, speaker="A", text=text, before=graph, after=graph, edits=())


def train(folder: Path) -> TinyT5:
    """Train the model on the CPU in less than half a minute, and save it in both folders."""
    pairs = pairs_to_learn()
    model, tokenizer = fitted("t5", [flat_graph(graph) for graph, _ in pairs], [text for _, text in pairs])
    return _saved(model, tokenizer, folder, pairs)


def fitted(kind: str, inputs: list[str], outputs: list[str], marks: Sequence[str] = ()):
    """Train a ``t5`` or ``bart`` until it reproduces the outputs. Return the model and its tokenizer.

    The tokenizer gets the special tokens ``marks``, such as T5's sentinels or BART's mask.
    """
    import torch

    torch.manual_seed(0)
    tokenizer = _tokenizer([text for pair in zip(inputs, outputs, strict=True) for text in pair])
    if kind == "bart" and marks:
        tokenizer.add_special_tokens({"mask_token": marks[0]})
    else:
        tokenizer.add_tokens(list(marks), special_tokens=True)
    model = _model(kind, tokenizer)
    read = tokenizer(inputs, padding=True, return_tensors="pt")
    labels = tokenizer(outputs, padding=True, return_tensors="pt")["input_ids"]
    labels[labels == tokenizer.pad_token_id] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(STEPS):
        loss = model(input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.02:
            break
    return model, tokenizer


def _model(kind: str, tokenizer):
    from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

    ends = {
        "pad_token_id": tokenizer.pad_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if kind == "bart":
        size = {f"{part}_{what}": n for part in ("encoder", "decoder") for what, n in BART_SIZES.items()}
        config = BartConfig(
            vocab_size=len(tokenizer), d_model=64, dropout=0.0, attention_dropout=0.0, bos_token_id=None,
            forced_eos_token_id=None, max_position_embeddings=256, **size, **ends,
        )  # fmt: skip
        return BartForConditionalGeneration(config)
    config = T5Config(
        vocab_size=len(tokenizer), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0
    )
    for name, value in ends.items():
        setattr(config, name, value)
    return T5ForConditionalGeneration(config)


def _tokenizer(texts: list[str]):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<pad>", "</s>", "<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=512,
    )


def _saved(model, tokenizer, folder: Path, pairs: list[tuple[AmrGraph, str]]) -> TinyT5:
    """Save the model in two folders: with its tokenizer, and in amrlib's format with only a path to it."""
    hugging_face, amrlib = folder / "hugging-face", folder / "amrlib"
    model.save_pretrained(hugging_face)
    tokenizer.save_pretrained(hugging_face)
    amrlib.mkdir()
    shutil.copy(hugging_face / "model.safetensors", amrlib)
    shutil.copy(hugging_face / "generation_config.json", amrlib)
    config = json.loads((hugging_face / "config.json").read_text())
    task = {"model_name_or_path": str(hugging_face), "max_in_len": 256, "max_out_len": 64}
    config["task_specific_params"] = {"translation_amr_to_text": task}
    (amrlib / "config.json").write_text(json.dumps(config))
    meta = {
        "model_type": "gtos",
        "version": "0.1.0",
        "date": "2026-01-01",
        "inference_module": ".generate_xfm.inference",
        "inference_class": "Inference",
        "model_fn": "model.safetensors",
        "base_model": "tiny",
        "kwargs": {},
    }
    (amrlib / "amrlib_meta.json").write_text(json.dumps(meta))
    return TinyT5(hugging_face, amrlib, pairs)
