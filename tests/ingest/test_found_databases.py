"""Tests of dumps of databases and of their query tools."""

from __future__ import annotations

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
