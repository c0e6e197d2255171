"""Load pretrained encoders such as BERT, with or without a classification head.

`new_classifier` adds a new classification head to an encoder, `load_classifier` loads a classifier that was
trained before, and `freeze` excludes parameters from training.

Example:
    Train only the upper layers of a new classifier::

        network, tokenizer = new_classifier("distilroberta-base", seed=0)
        freeze(network, ["embeddings", "layer.0"])
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.json_input import whole_number
from graphneg.nn.models import check_packages, locate, reading

_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout")
"""The names of dropout rates in model configurations."""


def new_classifier(
    model: str | Path, *, seed: int, dropout: float | None = None, offline: bool = False
) -> tuple[Any, Any]:
    """Load an encoder and add a new classification head with one output.

    Args:
        model: The path of the encoder's folder, or its id on the Hugging Face hub.
        seed: Seed for the random weights of the head.
        dropout: Dropout rate from 0 to 1; None to keep the rate in the model's configuration.
        offline: Whether to use only local files, without network access.

    Returns:
        The network with the new head, and its tokenizer.
    """
    check_packages()
    folder = locate(model, offline=offline)
    from transformers import AutoModelForSequenceClassification, set_seed

    # Set the seed, because transformers initializes the classification head with random weights.
    set_seed(seed)
    with reading(folder, "encoder"):
        # With num_labels=1, the head has a single output, which is used as the score of the model's input.
        config = config_of(folder, dropout, num_labels=1)
        network: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, config=config, local_files_only=True, dtype="float32"
        )
        return network, tokenizer_of(folder)


def load_classifier(folder: Path, what: str) -> tuple[Any, Any]:
    """Load a trained sequence classifier.

    Args:
        folder: The folder of the model.
        what: Name of the expected kind of model, such as "encoder", for the error message.

    Returns:
        The network with its classification head, and its tokenizer.
    """
    from transformers import AutoModelForSequenceClassification

    with reading(folder, what):
        network = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
        return network, tokenizer_of(folder)


def load_encoder(folder: Path, dropout: float | None = None) -> Any:
    """Load an encoder without a classification head.

    Args:
        folder: The folder of the model.
        dropout: Dropout rate from 0 to 1; None to keep the rate in the model's configuration.

    Returns:
        The transformers model.
    """
    from transformers import AutoModel

    config = config_of(folder, dropout)
    # Some checkpoints are stored in 16 bits, but training needs 32 bits, so load all checkpoints in 32 bits.
    return AutoModel.from_pretrained(folder, config=config, local_files_only=True, dtype="float32")


def config_of(folder: Path, dropout: float | None = None, **options: Any) -> Any:
    """Load the configuration of a model.

    Args:
        folder: The folder of the model.
        dropout: Dropout rate from 0 to 1; None to keep the rate in the model's configuration.
        **options: Further entries of the configuration to set, such as ``num_labels``.

    Returns:
        The configuration object of transformers.
    """
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(folder, local_files_only=True, **options)
    # The names of the dropout rates depend on the kind of model: BERT has the first two names in `_DROPOUTS`,
    # and DistilBERT has the last two names.
    for name in _DROPOUTS if dropout is not None else ():
        if hasattr(config, name):
            setattr(config, name, dropout)
    return config


def tokenizer_of(folder: Path) -> Any:
    """Load the tokenizer of a model.

    Args:
        folder: The folder of the model.

    Returns:
        The tokenizer object of transformers.
    """
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def freeze(network: Any, starts: Collection[str]) -> None:
    """Exclude some parameters of a network from training.

    Args:
        network: A torch module, such as a transformers model.
        starts: Prefixes of the names of parameters to exclude. A prefix may also match after a dot inside a
            name. For example, ``layer.0`` matches ``encoder.layer.0.output.dense.weight``.

    Raises:
        InputError: A prefix matches no parameter.
    """
    for start in starts:
        named = network.named_parameters()
        # A match begins at the start of the name or after a dot, so that the prefix "layer.1" does not match
        # "sublayer.1". If the prefix ends with a digit, no other digit may follow, so that "layer.1" does not
        # match "layer.10".
        end = r"(?!\d)" if start[-1:].isdigit() else ""
        pattern = re.compile(rf"(?:^|\.){re.escape(start)}{end}")
        parameters = [some for name, some in named if pattern.search(name)]
        if not parameters:
            raise InputError(f"no parameter's name begins with {start!r}")
        for parameter in parameters:
            parameter.requires_grad_(False)


def positions(model: Any) -> int:
    """Return the maximum number of tokens that a model can read.

    Args:
        model: A transformers model.

    Returns:
        The maximum number of tokens; 2**20 if the configuration has no limit.
    """
    most = whole_number(getattr(model.config, "max_position_embeddings", None), least=1)
    # Some models have no limit. For example, T5 uses relative positions.
    if most is None:
        return 1 << 20
    # RoBERTa and MPNet reserve the first positions for padding, so with 514 positions they read 512 tokens.
    for name, module in model.named_modules():
        if name.rpartition(".")[2] == "position_embeddings":
            padding = getattr(module, "padding_idx", None)
            return most - padding - 1 if isinstance(padding, int) else most
    return most
