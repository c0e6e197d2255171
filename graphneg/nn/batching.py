"""Batches: rows of tokens as tensors, items of like length, halved when memory runs out."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from graphneg.errors import ModelError

_log = logging.getLogger(__name__)

# What torch and CTranslate2 say, on GPUs and CPUs, where they raise no type of their own.
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "bad_alloc")

Item = TypeVar("Item")
Result = TypeVar("Result")


def padded(
    rows: Sequence[Sequence[int]], pad: int, side: Literal["left", "right"], device: Any, width: int = 0
) -> dict[str, Any]:
    """``input_ids`` and ``attention_mask``: int64 tensors of shape (rows, tokens of the longest row).

    Rows are filled to at least ``width`` tokens with ``pad``, which the mask leaves out.
    """
    import torch

    width = max(width, *(len(row) for row in rows))
    ids = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        filled = slice(width - len(row), width) if side == "left" else slice(0, len(row))
        ids[number, filled] = torch.tensor(row, dtype=torch.long)
        mask[number, filled] = 1
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


def in_batches(
    items: Sequence[Item], size: int, run: Callable[[Sequence[Item]], Sequence[Result]]
) -> Iterator[tuple[Item, Result | None]]:
    """Run ``items`` in the given order, ``size`` at a time; yields each with its result.

    A batch that runs out of memory is run again in halves, and so are the batches after it.
    An item for which memory does not suffice alone has None. Other errors are raised.
    """
    start = 0
    while start < len(items):
        batch = items[start : start + size]
        results = _run_if_memory_suffices(batch, run)
        if results is not None:
            yield from zip(batch, results, strict=True)
        elif len(batch) == 1:
            yield batch[0], None
        else:
            size = len(batch) // 2
            _log.warning("out of memory with %d items in a batch; going on with %d", len(batch), size)
            continue
        start += len(batch)


def longest_first(
    items: Sequence[Item],
    length: Callable[[Item], int],
    size: int,
    run: Callable[[Sequence[Item]], Sequence[Result]],
    what: str = "a text",
) -> list[Result]:
    """The result of each item, in the order given; items of like length run together.

    The longest go first: memory runs out early or never.

    Raises `ModelError`: memory does not suffice for ``what`` an item is alone.
    """
    results: list[Result] = []
    for index, result in enumerate(if_memory_suffices(items, length, size, run)):
        if result is None:
            raise ModelError(f"memory does not suffice for {what} alone (number {index})")
        results.append(result)
    return results


def if_memory_suffices(
    items: Sequence[Item],
    length: Callable[[Item], int],
    size: int,
    run: Callable[[Sequence[Item]], Sequence[Result]],
) -> list[Result | None]:
    """As `longest_first`, but None for an item for which memory does not suffice alone."""
    order = sorted(range(len(items)), key=lambda index: (-length(items[index]), index))
    results = dict(in_batches(order, size, lambda batch: run([items[i] for i in batch])))
    return [results[index] for index in range(len(items))]


def _run_if_memory_suffices(
    batch: Sequence[Item], run: Callable[[Sequence[Item]], Sequence[Result]]
) -> Sequence[Result] | None:
    try:
        return run(batch)
    except (RuntimeError, MemoryError) as error:
        message = str(error).lower()
        if not (
            isinstance(error, MemoryError)
            or type(error).__name__ == "OutOfMemoryError"
            or any(words in message for words in _OUT_OF_MEMORY)
        ):
            raise
    # Behind the handler: the error's traceback keeps the batch's tensors alive until here.
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None
