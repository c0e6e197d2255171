"""Run a model on batches of items that have similar lengths, and use smaller batches if memory runs out.

`padded` converts rows of tokens into tensors. `longest_first` sorts items by length and processes them in
batches. If a batch does not fit into memory, it is divided into two smaller batches.

Example:
    Score texts in batches of 16, or in batches of 8 if 16 texts do not fit into memory::

        longest_first(texts, len, 16, lambda batch: [score(text) for text in batch])
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from graphneg.errors import ModelError

_log = logging.getLogger(__name__)

# Parts of the messages with which torch and CTranslate2 report that GPU or CPU memory ran out. Some of these
# errors are plain RuntimeErrors, which can be recognised only by their message.
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "bad_alloc")

Item = TypeVar("Item")
Result = TypeVar("Result")


def padded(
    rows: Sequence[Sequence[int]], pad: int, side: Literal["left", "right"], device: Any, width: int = 0
) -> dict[str, Any]:
    """Return rows of tokens as padded tensors.

    Args:
        rows: The token ids of each row.
        pad: The id of the padding token.
        side: The side on which rows are padded.
        device: The torch device for the tensors.
        width: Number of tokens to which rows are padded, unless a row is longer.

    Returns:
        ``input_ids`` and ``attention_mask``, two int64 tensors of shape (rows, tokens). The mask is 1 at the
        tokens of a row and 0 at the padding.
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
    """Process items in batches, in the given order.

    If memory runs out during a batch, the batch is run again in two halves, and all further batches have the
    smaller size. Other errors are raised.

    Args:
        items: Items of any type, such as texts.
        size: Maximum number of items in a batch.
        run: Function that takes a batch and returns the result for each of its items.

    Yields:
        Pairs of an item and its result. The result is None if memory runs out even for this item alone.
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
            _log.warning("out of memory with %d items in a batch; continuing with %d", len(batch), size)
            # With the reduced batch size, the next iteration processes the same items in smaller batches.
            continue
        start += len(batch)


def longest_first(
    items: Sequence[Item],
    length: Callable[[Item], int],
    size: int,
    run: Callable[[Sequence[Item]], Sequence[Result]],
    what: str = "a text",
) -> list[Result]:
    """Process items in batches of similar length, the longest items first.

    The batch with the longest items needs the most memory. Because this batch comes first, a lack of memory
    shows at the start and not in the middle of a run.

    Args:
        items: Items of any type, such as texts.
        length: Function that returns the length of an item, usually in tokens.
        size: Maximum number of items in a batch.
        run: Function that takes a batch and returns the result for each of its items.
        what: Description of an item for the error message, such as "a text".

    Returns:
        The result of each item, in the order of the items.

    Raises:
        ModelError: Memory runs out even for a single item.
    """
    results: list[Result] = []
    for index, result in enumerate(if_memory_suffices(items, length, size, run)):
        if result is None:
            raise ModelError(f"out of memory, even for {what} alone (number {index})")
        results.append(result)
    return results


def if_memory_suffices(
    items: Sequence[Item],
    length: Callable[[Item], int],
    size: int,
    run: Callable[[Sequence[Item]], Sequence[Result]],
) -> list[Result | None]:
    """Process items like `longest_first`, but return None for items that do not fit into memory.

    Args:
        items: Items of any type, such as texts.
        length: Function that returns the length of an item, usually in tokens.
        size: Maximum number of items in a batch.
        run: Function that takes a batch and returns the result for each of its items.

    Returns:
        The result of each item; None for an item that does not fit into memory, even alone.
    """
    # Sort the items by length, longest first. Sort items of the same length by index, so that the batches are
    # always the same.
    order = sorted(range(len(items)), key=lambda index: (-length(items[index]), index))
    results = dict(in_batches(order, size, lambda batch: run([items[i] for i in batch])))
    return [results[index] for index in range(len(items))]


def _run_if_memory_suffices(
    batch: Sequence[Item], run: Callable[[Sequence[Item]], Sequence[Result]]
) -> Sequence[Result] | None:
    """Return the results of a batch, or None if memory runs out."""
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
    # Free memory here, after the except block. Inside the block, the traceback of the error would still refer
    # to the tensors of the batch, so that these tensors could not be freed.
    import torch

    # The garbage collector deletes tensors in reference cycles. After that, torch can return the memory to
    # the device.
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None
