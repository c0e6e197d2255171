"""Look up and copy parts of the JSON objects in exports, in which any key may be missing or have any value.

>>> entry = {"info": {"id": 7}, "messages": [{"text": "Hi."}, None]}
>>> inside(entry, "info", "id"), inside(entry, "info", "name", "first")
(7, None)
>>> objects(entry["messages"]), objects(entry["info"])
([{'text': 'Hi.'}], [])
>>> without(entry, "messages", "title")
{'info': {'id': 7}}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from graphneg.ingest.loader import Notices

Value = Mapping[str, Any]
Converter = Callable[[Value, Notices], dict[str, Any]]
"""A function that converts an entry of an export into an object with a list of turns. It counts what is left
out."""


def inside(value: Any, *keys: str) -> Any:
    """Return the value at the end of a path of keys.

    Args:
        value: A value, normally an object.
        *keys: The keys, from the outermost object to the innermost one.

    Returns:
        The value; None if a key is missing, or if a value on the path is not an object.
    """
    for key in keys:
        value = cast("Value", value).get(key) if isinstance(value, dict) else None
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list.

    Args:
        value: A value, normally a list.

    Returns:
        The objects, without other members of the list; an empty list if the value is not a list.
    """
    some = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in some if isinstance(one, dict)]


def without(value: Value, *used: str) -> dict[str, Any]:
    """Return a copy of an object without some of its keys.

    Args:
        value: The object.
        *used: The keys to leave out. They may be missing.

    Returns:
        The copy.
    """
    return {key: one for key, one in value.items() if key not in used}
