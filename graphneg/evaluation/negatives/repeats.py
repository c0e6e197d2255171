"""Which texts come up again, and which are right: by digests, in a file that goes with the process."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from graphneg.evaluation.negatives.texts import Text
from graphneg.training.held_out import plain

_HELD = 10_000
_TABLES = """
CREATE TABLE wrong (line INTEGER, place INTEGER, text INTEGER);
CREATE TABLE right (place INTEGER, text INTEGER, PRIMARY KEY (place, text)) WITHOUT ROWID;
"""
_AGAIN = """
SELECT line, sum(times - 1) FROM (SELECT line, count(*) AS times FROM wrong GROUP BY line, place, text)
GROUP BY line
"""
_ELSEWHERE = """
SELECT line, sum(times)
FROM (
  SELECT line, count(*) AS times FROM wrong GROUP BY line, text HAVING count(DISTINCT place) > 1
)
GROUP BY line
"""
_RIGHT = """
SELECT wrong.line, count(*) FROM wrong JOIN right ON right.place = wrong.place AND right.text = wrong.text
GROUP BY wrong.line
"""


class Repeated(NamedTuple):
    """Counts of texts: said ``again`` to one context, said ``elsewhere`` too, ``right`` for their context."""

    again: int
    elsewhere: int
    right: int


class Repeats:
    """Digests of texts and contexts. Case and white space do not count. Memory does not grow with them."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect("")  # a file without a name: SQLite keeps it, and removes it
        self._rows.executescript(_TABLES)
        self._held: list[tuple[int, int, int]] = []

    def add_wrong(self, lines: Sequence[int], text: Text) -> None:
        """A wrong text, under each of the lines that it counts for."""
        place, said = _digest(*text.place), _digest(text.text)
        self._held += [(line, place, said) for line in lines]
        if len(self._held) >= _HELD:
            self._flush()

    def add_right(self, text: Text) -> bool:
        """A right text; whether it is new for its context."""
        row = (_digest(*text.place), _digest(text.text))
        return self._rows.execute("INSERT OR IGNORE INTO right VALUES (?, ?)", row).rowcount > 0

    def counted(self) -> dict[int, Repeated]:
        """What was found, by line."""
        self._flush()
        again, elsewhere, right = (
            dict(self._rows.execute(query).fetchall()) for query in (_AGAIN, _ELSEWHERE, _RIGHT)
        )
        return {line: Repeated(again[line], elsewhere.get(line, 0), right.get(line, 0)) for line in again}

    def close(self) -> None:
        self._rows.close()

    def _flush(self) -> None:
        self._rows.executemany("INSERT INTO wrong VALUES (?, ?, ?)", self._held)
        self._held.clear()


def _digest(*texts: str) -> int:
    written = "\0".join(plain(text) for text in texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big", signed=True)
