"""Make the ids of dialogues unique if they begin again in each folder, season or channel.

In the script of a series, each episode has a scene 1. The table ``id_scopes.tsv`` lists such columns:

>>> with_whole_id({"season": 1, "episode": 2, "scene": 1, "text": "Hi."}, Fields({"dialogue": "scene"}))
{'season': 1, 'episode': 2, 'scene': '1-2-1', 'text': 'Hi.'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from graphneg.english.words import table_rows
from graphneg.ingest.content import ItemError
from graphneg.ingest.fields import Fields, Value, plain_names
from graphneg.ingest.values import id_text


def scope_columns(columns: Iterable[str], fields: Fields) -> list[str]:
    """Return the columns in which the ids of dialogues begin again.

    Args:
        columns: The columns of a table.
        fields: Look-up from a field, such as the dialogue, to the column that contains it.

    Returns:
        The columns, from the largest to the smallest; empty if the ids are unique.
    """
    columns = list(columns)
    key = fields.of(columns).get("dialogue")
    if key is None:
        return []
    plain = plain_names(columns)
    names = next((_scopes()[name] for name in plain_names([key]) if name in _scopes()), ())
    return [plain[name] for name in names if name in plain and plain[name] != key]


def scoped_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns of ``id_scopes.tsv`` that may contain the ids of dialogues.

    Args:
        columns: The columns of a table.

    Returns:
        The columns, in the order of ``id_scopes.tsv``.
    """
    plain = plain_names(columns)
    return [plain[name] for name in _scopes() if name in plain]


def with_whole_id(cells: Value, fields: Fields) -> Value:
    """Return a row whose dialogue id contains the folder, season or channel.

    Args:
        cells: The row.
        fields: Look-up from a field, such as the dialogue, to the column that contains it.

    Returns:
        The row; unchanged if its id is missing or unique.
    """
    scopes = scope_columns(cells, fields)
    if not scopes:
        return cells
    key = fields.of(cells)["dialogue"]
    parts: list[str | None] = []
    with suppress(ItemError):
        parts = [id_text(cells[name]) for name in (*scopes, key)]
    # Do not change a row with an empty id, because it may belong to the dialogue of the row above.
    return {**cells, key: "-".join(filter(None, parts))} if parts and parts[-1] else cells


@cache
def _scopes() -> Mapping[str, tuple[str, ...]]:
    rows: list[Any] = table_rows("graphneg.ingest", "id_scopes.tsv")
    return {name: tuple(scopes.split()) for name, scopes in rows}
