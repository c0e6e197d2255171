"""Files as people have them: what is not a message is left out and counted, and hints work when followed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphneg.errors import InputError
from tests.ingest.test_dialogue_files import load, refused, said
from tests.loader_samples import written

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def told(*given: Any, **options: Any) -> list[str]:
    """What is said of a load, without the lines that name the columns."""
    return [line for line in load(*given, **options)[1].notices.lines() if "read as" not in line]


def texts(file: Path, **options: Any) -> dict[str, list[str]]:
    return {id: [text for _, text in turns] for id, turns in said(file, **options).items()}


class TestAMessageWithoutATextKey:
    @pytest.mark.parametrize(
        ("message", "notice"),
        [
            ({"role": "a", "tool_calls": [CALL, CALL]}, "2 tool calls left out"),
            ({"role": "a", "function_call": {"name": "w"}}, "1 tool call left out"),
            ({"role": "a", "photos": [{"uri": "x.jpg"}]}, "1 media placeholder left out"),
            ({"role": "a", "deletion_metadata": {"deletion_type": "X"}}, "1 deleted message left out"),
            ({"role": "a", "action": {"type": "closed"}}, "1 service message left out"),
            ({"role": "a", "status": "closed"}, "1 turn left out as without text"),
        ],
    )
    def test_is_left_out_and_counted_by_its_kind(
        self, tmp_path: Path, message: dict[str, Any], notice: str
    ) -> None:
        talk = [{"role": "u", "content": "Hi."}, message, {"role": "a", "content": "Hello."}]
        file = written(tmp_path / "t.jsonl", json.dumps({"messages": talk}))
        assert said(file) == {"0": [("u", "Hi."), ("a", "Hello.")]}
        assert told(file) == [notice]

    def test_does_not_keep_the_others_from_being_ordered_by_time(self, tmp_path: Path) -> None:
        talk = [
            {"role": "u", "date": "2024-01-01 10:02", "content": "Ho."},
            {"role": "u", "status": "x"},
            {"role": "a", "date": "2024-01-01 10:01", "content": "Hi."},
        ]
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, "messages": talk}]))
        assert texts(file) == {"1": ["Hi.", "Ho."]}

    def test_refuses_the_conversation_if_no_message_has_one(self, tmp_path: Path) -> None:
        talks = [[{"role": "u", "content": "Hi."}], [{"role": "u", "remark": "Hi."}]]
        file = written(tmp_path / "t.jsonl", "\n".join(json.dumps({"messages": one}) for one in talks))
        [line] = refused(load(file)[0])
        assert line.endswith("messages[0] lacks 'text'; it has 'remark': name the text with --map text=NAME")

    def test_is_left_out_of_the_rows_of_a_dialogue(self, tmp_path: Path) -> None:
        rows = [{"ticket_id": 1, "text": "Hi."}, {"ticket_id": 1, "status": "closed"}]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert texts(file) == {"1": ["Hi."]}
        assert "1 turn left out as without text" in told(file)

    def test_does_not_name_the_columns_of_the_conversation(self, tmp_path: Path) -> None:
        talk = [{"actor": "Ann", "action": "create", "text": ""}, {"from": "Bo", "text": "Hi."}]
        file = written(tmp_path / "t.jsonl", json.dumps({"messages": talk}))
        assert load(file)[1].notices.lines()[0].endswith("read as turns=messages, speaker=from")
