"""Decode JSON that comes from files, and refuse what the standard decoder accepts silently.

Python's decoder keeps the last of two equal keys and reads ``NaN``, which no other program may write. Both
hide damage: a line that says ``"label": 0, "label": 1`` means nothing certain. `decode_json` refuses them.

>>> decode_json('{"label": 0}')
{'label': 0}
>>> decode_json('{"label": 0, "label": 1}')
Traceback (most recent call last):
graphneg.errors.InputError: the key "label" appears twice in one JSON object
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NoReturn

from graphneg.errors import InputError


class DuplicateKeyError(ValueError):
    """A JSON object has the same key twice."""

    def __init__(self, key: str) -> None:
        written = key if len(key) <= 60 else f"{key[:60]}…"
        super().__init__(
            f"the key {json.dumps(written, ensure_ascii=False)} appears twice in one JSON object"
        )


def refuse_constant(name: str) -> NoReturn:
    """Refuse ``NaN``, ``Infinity`` and ``-Infinity``, which RFC 8259 does not allow.

    Args:
        name: The constant as it is written.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{name} is no JSON number")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object as a dict.

    Args:
        pairs: The members in the order of the text.

    Returns:
        The members by key.

    Raises:
        DuplicateKeyError: Two members have the same key.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(key)
            seen.add(key)
    return members


DECODER = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=unique_keys)
"""The decoder of `decode_json`, for callers that decode a part of a text with ``raw_decode``."""


def decode_json(text: str) -> Any:
    """Return the value of a JSON text.

    Args:
        text: One JSON value as RFC 8259 defines it, with blanks around it.

    Returns:
        The value in Python's types.

    Raises:
        InputError: The text is no JSON, has a key twice in one object, or is nested too deeply. The message
            names the column where it can.
    """
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        column = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(json_fault(error) + column) from error


def json_fault(error: ValueError | RecursionError) -> str:
    """Describe an error of `DECODER` without its position.

    >>> json_fault(json.JSONDecodeError("Unterminated string starting at", '["', 1))
    'not JSON: Unterminated string'

    Args:
        error: What `DECODER` raised.

    Returns:
        One line that says what is wrong with the text.
    """
    if isinstance(error, RecursionError):
        return "the JSON nests too deeply"
    if isinstance(error, DuplicateKeyError):
        return str(error)
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"not JSON: {message.removesuffix(' at').removesuffix(' starting')}"


def certain_members(text: str) -> dict[str, Any]:
    """Return the members of a JSON object that `decode_json` refuses, without those that come twice.

    >>> certain_members('{"id": "c1", "text": "Hi.", "text": "Ho."}')
    {'id': 'c1'}

    Args:
        text: The JSON text.

    Returns:
        The members whose keys come once; nothing where the text is no JSON object at all.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        return {key: value for key, value in pairs if counts[key] == 1}

    try:
        value = json.loads(text, object_pairs_hook=once, strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
