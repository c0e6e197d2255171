"""Rows of tokens as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal


def padded(
    rows: Sequence[Sequence[int]],
    pad: int,
    side: Literal["left", "right"],
    device: Any,
    width: int = 0,
) -> dict[str, Any]:
    """``input_ids`` and ``attention_mask``: int64 tensors of shape (rows, tokens of the longest row).

    Rows are filled to at least ``width`` tokens with ``pad``, which the mask leaves out.
    """
    import torch

    width = max(width, *(len(row) for row in rows))
    ids = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        place = slice(width - len(row), width) if side == "left" else slice(0, len(row))
        ids[number, place] = torch.tensor(row, dtype=torch.long)
        mask[number, place] = 1
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
