"""Characters to tokens: which tokens a node's words are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from graphneg.alignment import tokenize


def token_spans(text: str, places: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The token range of each place ``(start, end)`` in characters; -1 has none.

    >>> token_spans("I can't go.", [(0, 1), (5, 7), (-1, -1)])
    {0: (0, 1), 1: (2, 3)}
    """
    tokens = tokenize(text)
    starts = [token.start for token in tokens]
    ends = [token.end for token in tokens]
    spans: dict[int, tuple[int, int]] = {}
    for k, (start, end) in enumerate(places):
        if start < 0:
            continue
        first, behind = bisect_right(ends, start), bisect_left(starts, end)
        if first < behind:
            spans[k] = (first, behind)
    return spans
