"""Recognize lines that chat programs write themselves, such as "Missed voice call", in several languages.

The lines are patterns of ``chat_lines.tsv``:

>>> chat_line("whatsapp deleted", "Du hast diese Nachricht gelöscht.")
'deleted message'
>>> chat_line("whatsapp deleted", "Hast du diese Nachricht gelöscht?")
''
"""

from __future__ import annotations

import re
from functools import cache

from graphneg.english.words import table_rows
from graphneg.errors import InputError

_TABLE = "chat_lines.tsv"


def chat_line(group: str, text: str) -> str:
    """Return the kind of a line that a program wrote.

    Args:
        group: The group of patterns in the table, such as ``meeting``.
        text: The line.

    Returns:
        The name under which the line is counted; empty if no pattern of the group matches the whole line.
    """
    found = pattern(group).fullmatch(text)
    return _kinds()[group][int((found.lastgroup or "k0")[1:])] if found else ""


@cache
def pattern(group: str) -> re.Pattern[str]:
    """Return a pattern that matches any line of a group in ``chat_lines.tsv``, in upper or lower case.

    Args:
        group: The name of the group, such as ``whatsapp deleted``.

    Returns:
        The pattern. It also accepts a full stop at the end of the line.
    """
    rows = [row for row in _rows() if row[0] == group]
    ways = "|".join(f"(?P<k{at}>{row[3]})" for at, row in enumerate(rows))
    return re.compile(rf"(?:{ways})\.?", re.IGNORECASE)


def alternatives(group: str) -> str:
    """Return the regular expressions of a group in ``chat_lines.tsv`` as alternatives, ``one|two|three``.

    Args:
        group: The name of the group, such as ``whatsapp name``.

    Returns:
        The alternatives. The caller inserts them into a longer regular expression.
    """
    return "|".join(row[3] for row in _rows() if row[0] == group)


@cache
def _kinds() -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for group, kind, *_ in _rows():
        kinds.setdefault(group, []).append(kind)
    return kinds


@cache
def _rows() -> tuple[list[str], ...]:
    rows = tuple(table_rows("graphneg.ingest", _TABLE))
    for row in rows:
        if len(row) != len(("group", "kind", "language", "pattern")):
            raise InputError(f"{_TABLE}: expected a group, a kind, a language and a pattern, got {row}")
    return rows
