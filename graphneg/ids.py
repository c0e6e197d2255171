"""Sort the ids of dialogues, utterances and negatives.

>>> sorted(["c/test/10", "c/test/9"], key=natural_order)
['c/test/9', 'c/test/10']
"""

from __future__ import annotations

import re


def natural_order(id: str) -> str:
    """Return an ASCII sort key for an id. It sorts numbers inside ids by their values: 2 before 10.

    Args:
        id: Any id.

    Returns:
        The sort key. All database servers sort such keys in the same order.

    Example:
        >>> sorted(["c/test/10", "c/test/9"], key=natural_order)
        ['c/test/9', 'c/test/10']
    """
    # Prefix each number with the count of its digits, in two digits, so that texts are sorted like numbers: 9
    # becomes "01" + "9", and 10 becomes "02" + "10".
    padded = re.sub(r"\d+", lambda match: f"{len(match[0]):02d}{match[0]}", id)
    return padded.encode("ascii", "backslashreplace").decode("ascii")
