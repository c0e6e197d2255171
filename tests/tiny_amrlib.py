"""Small parse models in amrlib's format, which tests train on a few bundled sentences."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from graphneg.amr.penman import flat_graph
from graphneg.model import AmrGraph
from tests.tiny_t5 import fitted, pairs_to_learn

GRAPHS = 8
MAX_INPUT, MAX_OUTPUT = 40, 160


@dataclass(frozen=True)
class TinyParser:
    """The folder of a model, and the sentences and graphs on which it was trained."""

    folder: Path
    pairs: list[tuple[AmrGraph, str]]


def train(kind: str, folder: Path) -> TinyParser:
    """Train a model on the CPU in less than half a minute, and save it in amrlib's format."""
    from amrlib.models.parse_xfm.penman_serializer import PenmanSerializer

    pairs = pairs_to_learn()[:GRAPHS]
    graphs = [PenmanSerializer(flat_graph(graph)).get_graph_string() for graph, _ in pairs]
    model, tokenizer = fitted(kind, [text for _, text in pairs], graphs)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    describe(folder, "stog")
    return TinyParser(folder, pairs)


def describe(folder: Path, model_type: str) -> None:
    """Write the metadata file that amrlib stores with the weights of a model."""
    config = json.loads((folder / "config.json").read_text())
    task = {"model_name_or_path": str(folder), "max_in_len": MAX_INPUT, "max_out_len": MAX_OUTPUT}
    config["task_specific_params"] = {"parse_amr": task}
    (folder / "config.json").write_text(json.dumps(config))
    meta = {
        "model_type": model_type,
        "version": "0.1.0",
        "date": "2026-01-01",
        "inference_module": ".parse_xfm.inference",
        "inference_class": "Inference",
        "model_fn": "model.safetensors",
        "base_model": "tiny",
        "kwargs": {},
    }
    (folder / "amrlib_meta.json").write_text(json.dumps(meta))
