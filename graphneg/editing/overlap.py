"""Work one item ahead: the server answers for the next batch while this one is being finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def one_ahead(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """``work(item)`` for each item, in order; the next one is done in a thread meanwhile.

    What ``work`` raises is raised here. Leaving early waits for the item at work.

    >>> list(one_ahead(str, [1, 2, 3]))
    ['1', '2', '3']
    """
    waiting = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="graphneg-ahead") as ahead:
        coming = [ahead.submit(work, item) for item in _first(waiting)]
        while coming:
            done = coming.pop().result()
            coming = [ahead.submit(work, item) for item in _first(waiting)]
            yield done


def _first(items: Iterator[T]) -> Iterator[T]:
    for item in items:
        yield item
        return
