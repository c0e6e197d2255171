r"""Decode lists and objects that a program wrote into the cells of a table, or into texts, as text.

A data set with a list of messages in each row has no good form as a CSV file, so programs write the list as
JSON, as Python prints it, or as numpy prints it (without commas):

>>> decoded('[{"role": "user", "content": "Hi."}]')
[{'role': 'user', 'content': 'Hi.'}]
>>> decoded("['Hi.', 'It\\'s late.']"), decoded("['Hi.' 'Ho.']")
(['Hi.', "It's late."], ['Hi.', 'Ho.'])
>>> decoded("[deleted]") is None
True
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, cast

# Matches a part of a printed list: a text in quotation marks ('It\'s'), white space, a bracket, or other
# characters.
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|\s+|[\[\]{}]|[^\s'"\[\]{}]++|['"]""", re.DOTALL)
_ENDS, _BEGINS = ("'", '"', "}", "]"), ("'", '"', "{", "[")


def decoded(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or the object that a text contains as JSON, or as Python or numpy prints it.

    Args:
        text: The text.

    Returns:
        A list whose members are all texts or all objects, or an object with texts as keys; None for any
        other text.
    """
    text = text.strip()
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = _printed(text)
    if isinstance(value, dict):
        keys = cast("dict[Any, Any]", value)
        return cast("dict[str, Any]", keys) if all(isinstance(key, str) for key in keys) else None
    if not isinstance(value, list) or not value:
        return None
    members = cast("list[Any]", value)
    is_uniform = any(all(isinstance(one, kind) for one in members) for kind in (str, dict))
    return members if is_uniform else None


def _printed(text: str) -> Any:
    """Parse a list or object as Python or numpy prints it, such as ``['Hi.' 'Ho.']``; otherwise None."""
    parts: list[str] = []
    before = ""
    for token in _TOKEN.findall(text):
        # numpy prints no commas: "['Hi.' 'Ho.']". Python would read two such texts as one text.
        if before.endswith(_ENDS) and parts[-1].isspace() and token.startswith(_BEGINS):
            parts.append(",")
        parts.append(token)
        before = before if token.isspace() else token
    try:
        return ast.literal_eval("".join(parts))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
