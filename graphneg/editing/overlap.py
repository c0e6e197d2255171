"""Work ahead: the server answers for the next batches while this one is being finished."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 3


def ahead(work: Callable[[T], R], items: Iterable[T], at_once: int = AT_ONCE) -> Iterator[R]:
    """``work(item)`` for each item, in order; the next ``at_once`` are done in threads meanwhile.

    What ``work`` raises is raised here. Leaving early waits for the items at work.

    >>> list(ahead(str, [1, 2, 3]))
    ['1', '2', '3']
    """
    waiting = iter(items)
    with ThreadPoolExecutor(at_once, thread_name_prefix="graphneg-ahead") as threads:
        coming: deque[Future[R]] = deque(threads.submit(work, item) for item in islice(waiting, at_once))
        while coming:
            done = coming.popleft().result()
            coming.extend(threads.submit(work, item) for item in islice(waiting, 1))
            yield done
