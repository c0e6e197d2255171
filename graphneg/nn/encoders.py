"""Encoders with a head of their own: a path or a hub id in, a network and its tokenizer out."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.nn.models import check_packages, locate, reading

_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")


def new_classifier(
    model: str | Path, *, seed: int, dropout: float | None = None, offline: bool = False
) -> tuple[Any, Any]:
    """An encoder with a new head of one class, drawn by ``seed``, and its tokenizer.

    Raises `ModelError`: there is no such encoder.
    """
    check_packages()
    folder = locate(model, offline=offline)
    from transformers import AutoModelForSequenceClassification, set_seed

    set_seed(seed)
    with reading(folder, "encoder"):
        config = config_of(folder, dropout, num_labels=1)
        network: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, config=config, local_files_only=True, dtype="float32"
        )
        return network, tokenizer_of(folder)


def load_classifier(folder: Path, what: str) -> tuple[Any, Any]:
    """A trained sequence classifier and its tokenizer; ``what`` it is goes into the message if it is not.

    Raises `ModelError`: the folder holds none.
    """
    from transformers import AutoModelForSequenceClassification

    with reading(folder, what):
        network = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
        return network, tokenizer_of(folder)


def load_encoder(folder: Path, dropout: float | None = None) -> Any:
    """An encoder without a head."""
    from transformers import AutoModel

    config = config_of(folder, dropout)
    return AutoModel.from_pretrained(folder, config=config, local_files_only=True, dtype="float32")


def config_of(folder: Path, dropout: float | None = None, **options: Any) -> Any:
    """The model's configuration, with another ``dropout`` where one is given."""
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(folder, local_files_only=True, **options)
    for name in _DROPOUTS if dropout is not None else ():
        if hasattr(config, name):
            setattr(config, name, dropout)
    return config


def tokenizer_of(folder: Path) -> Any:
    """The folder's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def freeze(network: Any, starts: Collection[str]) -> None:
    """Parameters whose names begin with one of ``starts``, or have a part that does, do not learn.

    Raises `InputError`: there are none.
    """
    for start in starts:
        named = network.named_parameters()
        parameters = [some for name, some in named if name.startswith(start) or f".{start}" in name]
        if not parameters:
            raise InputError(f"no parameter's name begins with {start!r}")
        for parameter in parameters:
            parameter.requires_grad_(False)


def positions(model: Any) -> int:
    """The most tokens that the model can read; in RoBERTa and MPNet, positions begin behind the padding's."""
    most = getattr(model.config, "max_position_embeddings", None)
    if not isinstance(most, int) or most <= 0:
        return 1 << 20
    for name, module in model.named_modules():
        if name.rpartition(".")[2] == "position_embeddings":
            padding = getattr(module, "padding_idx", None)
            return most - padding - 1 if isinstance(padding, int) else most
    return most
