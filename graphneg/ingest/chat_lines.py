"""Recognize lines that chat programs write themselves, such as "Missed voice call", in several languages.

The lines are patterns of ``chat_lines.tsv``:

>>> chat_line("whatsapp deleted", "Du hast diese Nachricht gelöscht.")
'deleted message'
>>> chat_line("whatsapp deleted", "Hast du diese Nachricht gelöscht?")
''
>>> [media_placeholders(text) for text in ("[Voice message]", "<image> (file: x.pdf)", "[laughs]", "photo")]
[1, 2, 0, 0]
"""

from __future__ import annotations

import re
from functools import cache

from graphneg.english.words import table_rows
from graphneg.errors import InputError

_TABLE = "chat_lines.tsv"
_LONGEST_PLACEHOLDERS = 2_000
"""Maximum length of a line of placeholders in characters."""
_BRACKETS = {"[": "]", "<": ">", "(": ")"}
# After the words for media: ": report.pdf", " \"https://x.org/a.png\"", " report.pdf", ", 0:12", " (3 MB)"
_DETAIL = r"""(?:\s?[:|]\s?{inner}{{1,300}}
  |[\s,–-]{{1,3}}(?=["'“]?(?:https?://|[^\s<>()\[\]]{{1,200}}\.\w{{2,5}}\b)){inner}{{1,300}}
  |[\s,#(–-]{{1,3}}\d[\d:.,/]{{0,11}}(?:\s?[a-z]{{1,5}})?(?:\sof\s\d{{1,3}})?\)?
)?"""


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


def media_placeholders(text: str) -> int:
    """Return how many placeholders for media a text consists of, such as "[image]" or "<Media omitted>".

    Args:
        text: A text, or a line of a text.

    Returns:
        The number of placeholders; 0 if the text has other words.
    """
    line = text.strip()
    # Most texts are not in brackets. Test this first, to save time.
    if line[:1] not in _BRACKETS or len(line) > _LONGEST_PLACEHOLDERS:
        return 0
    found = 0
    while line:
        if (one := _placeholder().match(line)) is None:
            return 0
        line, found = line[one.end() :].lstrip(), found + 1
    return found


@cache
def _placeholder() -> re.Pattern[str]:
    """Return a pattern that matches a placeholder for media, in brackets."""
    words = rf"(?:an?\s|\d{{1,3}}\s)?(?:{alternatives('media')})(?:\s(?:{alternatives('media without')}))?"
    # "[IMG-2041.jpg]"
    name = rf"[\w.&+-]{{1,120}}\.(?:{alternatives('media file')})"
    whole = f"(?:{words}|{alternatives('whatsapp media')}|{name})"
    ways: list[str] = []
    for left, right in _BRACKETS.items():
        detail = re.sub(r"\n\s*", "", _DETAIL.format(inner=rf"[^\n{re.escape(left + right)}]"))
        ways.append(rf"{re.escape(left)}\s?{whole}{detail}\s?{re.escape(right)}\.?")
    return re.compile(rf"{'|'.join(ways)}|{alternatives('qq media')}", re.IGNORECASE)


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
