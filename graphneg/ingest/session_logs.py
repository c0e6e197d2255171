"""Read the logs that coding assistants write, with one entry per line and several sessions.

The message of an entry is nested in it, and other entries are no messages. The table ``session_logs.tsv``
lists the formats:

>>> message = {"role": "user", "content": "Hi."}
>>> session_rows({"sessionId": "s", "uuid": "1", "timestamp": "2025-11-14T09:00:02Z", "message": message})
[{'dialogue': 's', 'speaker': 'user', 'text': 'Hi.', 'time': '2025-11-14T09:00:02Z', 'uuid': '1'}]
>>> session_rows({"type": "summary", "leafUuid": "1", "summary": "A greeting"})
[]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from graphneg.english.words import table_rows
from graphneg.ingest.json_objects import Value, inside

_FIELDS = ("dialogue", "speaker", "text", "time")
_KEPT = ("uuid", "isMeta", "isSidechain")
"""Keys of an entry that show, for example, that the message belongs to another agent."""


def session_rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the message of an entry as a row of a table.

    Args:
        value: The entry.

    Returns:
        A list with the row; an empty list if the entry is no message; None for entries of other formats.
    """
    cells = cast("Value", value) if isinstance(value, dict) else {}
    if _first_keys().isdisjoint(cells):
        return None
    for required, message in _formats():
        if all(inside(cells, *path) is not None for path in required):
            row = {field: inside(cells, *path) for field, path in zip(_FIELDS, message, strict=False)}
            return [row | {key: cells[key] for key in _KEPT if key in cells}] if row else []
    return None


@cache
def _formats() -> Sequence[tuple[list[list[str]], list[list[str]]]]:
    rows = table_rows("graphneg.ingest", "session_logs.tsv")
    split = [[[path.split(".") for path in cell.split(",")] for cell in row] for row in rows]
    return [(row[0], row[1] if len(row) > 1 else []) for row in split]


@cache
def _first_keys() -> frozenset[str]:
    return frozenset(required[0][0] for required, _ in _formats())
