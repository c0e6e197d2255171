"""Read the values of an entry's fields: ids, texts and speakers as exports write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from graphneg.ingest.content import Refused

_PERSON = ("name", "nickname", "username", "displayname", "display_name", "role", "type", "id")

_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")
_EXACT = 2**53


def id_text(value: Any) -> str | None:
    """Return an id as text: as it is written, but ``7.0`` is ``7``.

    Pandas turns a column of integers with a missing value into floats, and writes them so into CSV and
    JSON. So a whole number is one id however it is written, as a number or as text.

    >>> [id_text(id) for id in (7, 7.0, "7.0", "7.50", "007", " a ", {"$oid": "5f"}, None, " ")]
    ['7', '7', '7', '7.50', '007', 'a', '5f', None, None]

    Args:
        value: The id: a text, a number, or an object of MongoDB's extended JSON with one of these.

    Returns:
        The id; None where there is none.

    Raises:
        Refused: The value is no id, or a float so large that its digits are lost.
    """
    value = unwrapped(value)
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        return (whole[1] if (whole := _WHOLE.fullmatch(text)) else text) or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(f"the id {str(value)[:40]!r} is neither a text nor a number")
    if isinstance(value, float):
        if abs(value) >= _EXACT:
            raise Refused(f"the id {value!r} is a float whose last digits are lost: give ids as text")
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def unwrapped(value: Any) -> Any:
    """Return what an object of MongoDB's extended JSON holds: ``{"$oid": "5f"}`` is ``5f``.

    Args:
        value: Any value.

    Returns:
        The only member of an object whose key begins with ``$``; all else as it is.
    """
    if isinstance(value, dict) and len(cast("dict[str, Any]", value)) == 1:
        [(key, inner)] = cast("dict[str, Any]", value).items()
        return inner if key.startswith("$") else value
    return cast("Any", value)


def text_of(value: Any) -> Any:
    """Return the text of an utterance.

    >>> text_of([{"type": "text", "text": "Look."}, {"type": "image"}, "A swan."])
    'Look. A swan.'

    Args:
        value: The text, or the list of a message's parts.

    Returns:
        The text; what is neither text nor list as it is.
    """
    if value is None:
        return ""
    if not isinstance(value, list):
        return value
    parts = [part.get("text") if isinstance(part, dict) else part for part in cast("list[Any]", value)]
    return " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def speaker_of(value: Any) -> Any:
    """Return who speaks.

    >>> speaker_of(3.0), speaker_of({"id": 7, "name": "Ann"}), speaker_of(" ")
    ('3', 'Ann', None)

    Args:
        value: A name, a number, or an object that describes a person.

    Returns:
        The name; None where there is none; what is no name as it is.
    """
    if isinstance(value, dict):
        person = cast("dict[str, Any]", value)
        return next((name for key in _PERSON if (name := speaker_of(person.get(key))) is not None), None)
    if isinstance(value, int | float):
        return str(value) if isinstance(value, bool) else id_text(value)
    return None if isinstance(value, str) and not value.strip() else value


def said_of(cells: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    """Return text, speaker and graph of an utterance under graphneg's own keys.

    Args:
        cells: A row, or a turn that is an object.
        known: The key of each field.

    Returns:
        Those of the fields that there are.
    """
    said: dict[str, Any] = {}
    if "text" in known and known["text"] in cells:
        said["text"] = text_of(cells[known["text"]])
    for field, value in (
        ("speaker", speaker_of(cells.get(known.get("speaker", "")))),
        ("amr", cells.get(known.get("amr", ""))),
    ):
        if value is not None and (not isinstance(value, str) or value.strip()):
            said[field] = value
    return said
