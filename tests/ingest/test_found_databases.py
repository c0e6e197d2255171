"""Tests of dumps of databases and of their query tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.found_files import notices_of
from tests.ingest.test_dialogue_files import lines, said
from tests.loader_samples import written

ROWS: list[dict[str, Any]] = [
    {"conversation_id": "c1", "sender": "Bo", "text": "Hello.", "sent_at": "2025-11-14T09:02:00Z"},
    {"conversation_id": "c2", "sender": "Cy", "text": "Ho.", "sent_at": "2025-11-14T09:05:00Z"},
    {"conversation_id": "c1", "sender": "Ann", "text": "Hi.", "sent_at": "2025-11-14T09:01:00Z"},
]
TALKS = {"c1": [("Ann", "Hi."), ("Bo", "Hello.")], "c2": [("Cy", "Ho.")]}


class TestExtendedJsonOfMongo:
    @pytest.mark.parametrize("deleted", ["2025-11-14T10:00:00Z", {"$numberLong": "1763114400000"}])
    def test_times_and_marks_are_read_in_both_forms(self, tmp_path: Path, deleted: Any) -> None:
        first, second = {"$numberLong": "1763110860000"}, {"$numberLong": "1763110920000"}
        if isinstance(deleted, str):
            first, second = "2025-11-14T09:01:00Z", "2025-11-14T09:02:00.5Z"
        rows = [
            {"chat_id": {"$oid": "5f"}, "sender": "Bo", "text": "Hello.", "createdAt": {"$date": second}},
            {"chat_id": {"$oid": "5f"}, "sender": "Ann", "text": "Hi.", "createdAt": {"$date": first}},
            {
                "chat_id": {"$oid": "5f"},
                "sender": "Ann",
                "text": "Oops.",
                "createdAt": {"$date": second},
                "deletedAt": {"$date": deleted},
            },
        ]
        file = written(tmp_path / "t.jsonl", lines(rows))
        assert said(file) == {"5f": [("Ann", "Hi."), ("Bo", "Hello.")]}
        assert "1 deleted message left out" in notices_of(file)


def _typed(row: dict[str, Any], text: str) -> dict[str, Any]:
    return {key: {text: one} for key, one in row.items()}


def _hits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"_index": "m", "_id": str(at), "_score": 1, "_source": row} for at, row in enumerate(rows)]


DUMPS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "elasticdump": lambda rows: lines(_hits(rows)),
    "elasticsearch": lambda rows: json.dumps(
        {"took": 3, "_shards": {"total": 1}, "hits": {"total": {"value": 3}, "hits": _hits(rows)}}, indent=2
    ),
    "dynamodb export": lambda rows: lines([{"Item": _typed(row, "S")} for row in rows]),
    "dynamodb scan": lambda rows: json.dumps({"Items": [_typed(row, "S") for row in rows], "Count": 3}),
    "firestore": lambda rows: json.dumps(
        {"documents": [{"name": "m/1", "fields": _typed(row, "stringValue")} for row in rows]}
    ),
    "phpmyadmin": lambda rows: json.dumps(
        [
            {"type": "header", "version": "5.2.1", "comment": "Export to JSON plugin for PHPMyAdmin"},
            {"type": "database", "name": "shop"},
            {"type": "table", "name": "messages", "database": "shop", "data": rows},
        ]
    ),
}


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_rows_in_wrappers_are_read(tmp_path: Path, dump: Callable[[list[dict[str, Any]]], str]) -> None:
    file = written(tmp_path / "t.json", dump(ROWS))
    assert said(file) == TALKS
    told = [line.partition(": ")[2] for line in notices_of(file)]
    assert "the rows of an export of a database are read without the objects around them" in told


def test_paths_may_name_values_in_wrapped_rows(tmp_path: Path) -> None:
    rows = [
        {**{key: one for key, one in row.items() if key != "text"}, "m": {"x": row["text"]}} for row in ROWS
    ]
    hits = written(tmp_path / "t.jsonl", lines(_hits(rows)))
    assert said(hits, map={"text": "m.x"}) == TALKS
    named = {"text": "_source.m.x", "dialogue": "_source.conversation_id", "speaker": "_source.sender"}
    assert said(hits, map={**named, "time": "_source.sent_at"}) == TALKS


DRAWN = {
    "psql": (" ", " | ", "", "-+-"),
    "mysql": ("| ", " | ", " |", "-+-"),
    "markdown": ("| ", " | ", " |", "-|-"),
    "sqlite": ("│ ", " │ ", " │", "─┼─"),
}


@pytest.mark.parametrize(("before", "between", "after", "ruler"), DRAWN.values(), ids=DRAWN)
def test_the_rulers_of_drawn_tables_are_left_out(
    tmp_path: Path, before: str, between: str, after: str, ruler: str
) -> None:
    drawn = [before + between.join(cells) + after for cells in (ROWS[0], *(row.values() for row in ROWS))]
    rule = ruler.join([ruler[0] * 3] * 4)
    above = ["+" + rule + "+"] if before == "| " and ruler == "-+-" else []
    below = ["(3 rows)"] if before == " " else above
    text = "\n".join([*above, drawn[0], rule, *drawn[1:], *below]) + "\n"
    assert said(written(tmp_path / "t.txt", text)) == TALKS


def test_rulers_in_the_texts_of_other_tables_are_kept(tmp_path: Path) -> None:
    rows = 'dialogue|speaker|text\n1|Ann|"Hi.\n---|---\nHo."\n1|Bo|Hello.\n'
    assert said(written(tmp_path / "t.psv", rows)) == {"1": [("Ann", "Hi.\n---|---\nHo."), ("Bo", "Hello.")]}
