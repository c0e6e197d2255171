"""One call of transformers' ``generate``, its settings laid over the model's own for that call."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any


def generate(
    model: Any, rows: Mapping[str, Any], chain: list[Any], stops: Sequence[Any] = (), **settings: Any
) -> list[list[int]]:
    """The sequences that ``generate`` gives, as lists of token numbers.

    ``rows`` has ``input_ids`` and ``attention_mask`` of shape (items, tokens); ``chain`` holds
    logits processors, ``stops`` stopping criteria. Whatever the model's own configuration says of
    drawing is left out.
    """
    import torch
    from transformers import LogitsProcessorList, StoppingCriteriaList

    config = copy.deepcopy(model.generation_config)
    plain = {"temperature": 1.0, "top_k": 50, "top_p": 1.0, "max_length": None, "num_return_sequences": 1}
    config.update(**{**plain, "do_sample": False, "early_stopping": False, **settings})
    with torch.inference_mode():
        sequences = model.generate(
            **rows,
            generation_config=config,
            logits_processor=LogitsProcessorList(chain),
            stopping_criteria=StoppingCriteriaList(stops),
        )
    return sequences.tolist()
