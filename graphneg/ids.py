"""Sort the ids of dialogues, utterances and negatives.

>>> sorted(["c/test/10", "c/test/9"], key=natural_order)
['c/test/9', 'c/test/10']
"""

from __future__ import annotations

import re


def natural_order(id: str) -> str:
    """Return an ASCII sort key for an id, with which numbers inside ids are sorted by value: 2 before 10.

    Args:
        id: Any id.

    Returns:
        The key. All servers sort it in the same way.

    Example:
        >>> sorted(["c/test/10", "c/test/9"], key=natural_order)
        ['c/test/9', 'c/test/10']
    """
    # Each number is prefixed with the count of its digits: 9 becomes 019, 10 becomes 0210.
    padded = re.sub(r"\d+", lambda match: f"{len(match[0]):02d}{match[0]}", id)
    return padded.encode("ascii", "backslashreplace").decode("ascii")
