"""What pairs of opposites are said of: *old* is *young* of people and *new* of things.

ConceptNet calls many words antonyms that are no opposites (*meet* and *pass*), or are so in one sense only.
The table names the common ones of both sorts, judged by reading: two words and the kinds of what they are
said of, ``-`` for none.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

NOTHING = "-"


def said_of(word: str, other: str) -> list[str] | None:
    """The kinds of things of which two words are opposites; ``None`` where the table does not know them.

    >>> said_of("young", "old")
    ['animal', 'person', 'plant']
    >>> said_of("meet", "pass"), said_of("good", "bad")
    ([], None)
    """
    kinds = _table().get((word, other)) or _table().get((other, word))
    if kinds is None:
        return None
    return [] if kinds == NOTHING else kinds.split(" ")


@cache
def _table() -> dict[tuple[str, str], str]:
    lines = files("graphneg.kinds").joinpath("opposites.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {(word, other): kinds for word, other, kinds in rows}
