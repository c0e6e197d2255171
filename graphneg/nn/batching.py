"""Run a model on batches of items of similar length, with smaller batches if memory runs out.

`padded` turns rows of tokens into tensors. `longest_first` sorts items by length, runs them in batches, and
halves a batch that does not fit into memory.

Example:
    Score texts in batches of 16, or of 8 if 16 do not fit::

        longest_first(texts, len, 16, lambda batch: [score(text) for text in batch])
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from graphneg.errors import ModelError

_log = logging.getLogger(__name__)

# Parts of the messages of torch and CTranslate2 about missing memory, on GPUs and CPUs. Some of these errors
# have no type of their own.
_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "bad_alloc")

Item = TypeVar("Item")
Result = TypeVar("Result")


def padded(
    rows: Sequence[Sequence[int]], pad: int, side: Literal["left", "right"], device: Any, width: int = 0
) -> dict[str, Any]:
    """Return rows of tokens as padded tensors.

    Args:
        rows: The tokens of each row.
        pad: The padding token.
        side: The side on which rows are padded.
        device: The torch device of the tensors.
        width: Minimum number of tokens per row.

    Returns:
        ``input_ids`` and ``attention_mask``, int64 tensors of shape (rows, tokens of the longest row). The
        mask is 0 at padding.
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
    """Run items in batches, in the given order.

    A batch that runs out of memory is run again in two halves, and all further batches have the smaller size.
    Other errors are raised.

    Args:
        items: The items.
        size: Maximum number of items in a batch.
        run: Returns the result of each item of a batch.

    Yields:
        Each item with its result, or with None if memory does not suffice for this item alone.
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
            # Run the same items again in smaller batches.
            continue
        start += len(batch)


def longest_first(
    items: Sequence[Item],
    length: Callable[[Item], int],
    size: int,
    run: Callable[[Sequence[Item]], Sequence[Result]],
    what: str = "a text",
) -> list[Result]:
    """Run items in batches of similar length, the longest items first.

    With this order, memory runs out at the start or never.

    Args:
        items: The items.
        length: Returns the length of an item, usually in tokens.
        size: Maximum number of items in a batch.
        run: Returns the result of each item of a batch.
        what: What an item is, for the error message.

    Returns:
        The result of each item, in the order of the items.

    Raises:
        ModelError: Memory does not suffice for a single item.
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
    """Run items like `longest_first`, without an error for items that do not fit into memory.

    Args:
        items: The items.
        length: Returns the length of an item, usually in tokens.
        size: Maximum number of items in a batch.
        run: Returns the result of each item of a batch.

    Returns:
        The result of each item; None for an item that does not fit into memory alone.
    """
    # The index breaks ties, so the batches do not depend on anything but the items.
    order = sorted(range(len(items)), key=lambda index: (-length(items[index]), index))
    results = dict(in_batches(order, size, lambda batch: run([items[i] for i in batch])))
    return [results[index] for index in range(len(items))]


def _run_if_memory_suffices(
    batch: Sequence[Item], run: Callable[[Sequence[Item]], Sequence[Result]]
) -> Sequence[Result] | None:
    """Return the results of a batch; None if memory runs out."""
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
    # This must come after the handler: until then, the traceback of the error keeps the tensors of the batch
    # alive.
    import torch

    # Free tensors in reference cycles, and then return the cached memory to the device.
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None
