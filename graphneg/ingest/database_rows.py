"""Read the rows that databases and search engines wrap in other objects when they export a table.

Elasticsearch writes a row as ``_source`` beside its index, and DynamoDB and Firestore write the type of each
value:

>>> database_rows({"_index": "chats", "_id": "7", "_source": {"text": "Hi."}})
[{'text': 'Hi.'}]
>>> database_rows({"Item": {"text": {"S": "Hi."}, "turn": {"N": "0"}}})
[{'text': 'Hi.', 'turn': '0'}]

phpMyAdmin writes the rows of a table as ``data``, after a header:

>>> database_rows({"type": "table", "name": "chats", "database": "shop", "data": [{"text": "Hi."}]})
[{'text': 'Hi.'}]
"""

from __future__ import annotations

from typing import Any, cast

from graphneg.ingest.json_objects import Value, inside, objects

_TYPES = frozenset({
    # DynamoDB
    "S", "N", "BOOL", "NULL", "M", "L", "SS", "NS", "B",
    # Firestore
    "stringValue", "integerValue", "doubleValue", "booleanValue", "nullValue", "timestampValue",
    "referenceValue", "mapValue", "arrayValue", "bytesValue", "geoPointValue",
})  # fmt: skip
"""Keys that DynamoDB and Firestore write around a value, which name its type."""
_NULLS = ("NULL", "nullValue")
_INNER = ("values", "fields")
"""Keys of Firestore that contain the members of a list or an object."""


def database_rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the rows in an entry of an export of a database.

    Args:
        value: The entry.

    Returns:
        The rows, which are empty for the header of an export; None for any other entry.
    """
    if not isinstance(value, dict):
        return None
    cells = cast("Value", value)
    kind = cells.get("type")
    if kind == "table" and "database" in cells:
        return objects(cells.get("data"))
    # phpMyAdmin: {"type": "header", "version": "5.2.1", "comment": "Export to JSON plugin for PHPMyAdmin"}
    if (kind == "header" and "version" in cells) or (kind == "database" and set(cells) == {"type", "name"}):
        return []
    # This function is called for each row of large tables. Return early if no value of the row is an object,
    # because such a row contains no other rows.
    if "hits" not in cells and not any(isinstance(one, dict) for one in cells.values()):
        return None
    if isinstance(cells.get("_source"), dict) and "_index" in cells:
        return [dict(cells["_source"])]
    hits = objects(inside(cells, "hits", "hits") or inside(cells, "hits"))
    if hits and all("_source" in hit for hit in hits):
        return [dict(hit["_source"]) for hit in hits]
    # Firestore puts a row under the key "fields". DynamoDB puts it under the key "Item", or writes only the
    # row.
    row = next((cells[key] for key in ("Item", "fields") if isinstance(cells.get(key), dict)), cells)
    is_row = bool(row) and all(map(_is_typed, cast("Value", row).values()))
    return [{key: _plain(one) for key, one in cast("Value", row).items()}] if is_row else None


def _is_typed(value: Any) -> bool:
    """Return whether a value is an object that names the type of its only member."""
    return isinstance(value, dict) and len(cast("Value", value)) == 1 and _TYPES.issuperset(value)


def _plain(value: Any) -> Any:
    """Return the value without the names of its types: ``{"L": [{"S": "a"}]}`` contains ``["a"]``."""
    if isinstance(value, list):
        return [_plain(one) for one in cast("list[Any]", value)]
    if not _is_typed(value):
        return {key: _plain(one) for key, one in value.items()} if isinstance(value, dict) else value
    [(kind, inner)] = cast("Value", value).items()
    if kind in _NULLS:
        return None
    if kind in ("mapValue", "arrayValue"):
        inner = next((one for key in _INNER if (one := inside(inner, key)) is not None), {})
    return _plain(inner)
