"""The files that make a folder with an encoder one of sentence-transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_POOLING = "1_Pooling"
_MODULES = "sentence_transformers.models"


def note_pooling(folder: Path, pooling: str, size: int, tokens: int) -> None:
    """Say how the encoder in ``folder`` pools its states: ``first`` or ``mean``, vectors of ``size``.

    Texts are read to ``tokens`` tokens. The names are those that all versions of sentence-transformers know.
    """
    files: dict[str, Any] = {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{_MODULES}.Transformer"},
            {"idx": 1, "name": "1", "path": _POOLING, "type": f"{_MODULES}.Pooling"},
        ],
        "sentence_bert_config.json": {"max_seq_length": tokens, "do_lower_case": False},
        "config_sentence_transformers.json": {"similarity_fn_name": "dot"},
        f"{_POOLING}/config.json": {
            "word_embedding_dimension": size,
            "pooling_mode_cls_token": pooling == "first",
            "pooling_mode_mean_tokens": pooling == "mean",
        },
    }
    (folder / _POOLING).mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
