"""Tests of published corpora as users download them: parallel lists, annotators, and known shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.ingest.found_files import notices_of, texts
from tests.ingest.test_dialogue_files import said
from tests.loader_samples import written

TALK = ["Hi.", "Hello.", "How are you?"]
NAMED = [("Ann", "Hi."), ("Bo", "Hello."), ("Bo", "How are you?")]


class TestSpeakersInAListBesideTheTexts:
    @pytest.mark.parametrize(("texts_key", "speakers_key"), [("dialogue", "speakers"), ("utt", "speaker")])
    def test_are_the_speakers_of_the_turns(self, tmp_path: Path, texts_key: str, speakers_key: str) -> None:
        row = {"id": "7", texts_key: TALK, speakers_key: ["Ann", "Bo", "Bo"], "tags": ["a", "b", "c"]}
        assert said(written(tmp_path / "t.jsonl", json.dumps(row))) == {"7": NAMED}
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / "t.parquet")
        assert said(tmp_path / "t.parquet") == {"7": NAMED}

    def test_may_be_cells_of_a_table(self, tmp_path: Path) -> None:
        rows = f"id,dialogue,speakers\n7,\"{TALK}\",\"['Ann', 'Bo', 'Bo']\"\n"
        assert said(written(tmp_path / "t.csv", rows)) == {"7": NAMED}

    def test_are_not_used_if_their_number_differs(self, tmp_path: Path) -> None:
        row = {"id": "7", "dialogue": TALK, "speakers": ["Ann", "Bo"]}
        turns = [("A", "Hi."), ("B", "Hello."), ("A", "How are you?")]
        assert said(written(tmp_path / "t.jsonl", json.dumps(row))) == {"7": turns}


class TestRowsOfSeveralAnnotators:
    HEADER = "transcript_id,utterance_id,interlocutor,utterance_text,annotator,label\n"

    def test_are_one_turn(self, tmp_path: Path) -> None:
        rows = "1,0,T,Hi.,x,a\n1,0,T,Hi.,y,b\n1,1,C,Hello.,x,a\n1,1,C,Hello.,y,a\n1,2,T,Hi.,x,a\n"
        file = written(tmp_path / "t.csv", self.HEADER + rows)
        assert said(file) == {"1": [("T", "Hi."), ("C", "Hello."), ("T", "Hi.")]}
        assert notices_of(file) == ["2 rows left out, as another row has the same id, speaker and text"]

    @pytest.mark.parametrize(
        "rows",
        [
            # Each speaker has one id, which may identify the speaker.
            "1,0,T,Yes.,x,a\n1,1,C,Yes.,x,a\n1,0,T,Yes.,x,b\n",
            # Two rows of one id differ.
            "1,0,T,Hi.,x,a\n1,0,T,Hi.,x,b\n1,0,T,Bye.,x,a\n1,1,T,Ho.,x,a\n",
        ],
    )
    def test_are_kept_if_the_id_may_identify_a_person(self, tmp_path: Path, rows: str) -> None:
        file = written(tmp_path / "t.csv", self.HEADER + rows)
        assert len(texts(file)["1"]) == rows.count("\n")


LISTS: list[tuple[dict[str, Any], list[tuple[str, str]], list[str]]] = [
    # PRISM
    (
        {
            "conversation_id": "x",
            "conversation_history": [
                {"turn": 0, "role": "user", "content": "Hi.", "if_chosen": None, "within_turn_id": 0},
                {"turn": 0, "role": "model", "content": "No.", "if_chosen": False, "within_turn_id": 0},
                {"turn": 0, "role": "model", "content": "Hello.", "if_chosen": True, "within_turn_id": 1},
            ],
        },
        [("user", "Hi."), ("model", "Hello.")],
        ["1 alternative answer left out"],
    ),
    # CaSiNo
    (
        {
            "dialogue_id": "x",
            "chat_logs": [
                {"text": "Hi.", "id": "agent_1", "task_data": {}},
                {"text": "Hello.", "id": "agent_2", "task_data": {}},
                {"text": "Submit-Deal", "id": "agent_1", "task_data": {}},
            ],
        },
        [("agent_1", "Hi."), ("agent_2", "Hello.")],
        ["1 service message left out"],
    ),
    # CraigslistBargain
    (
        {
            "id": "x",
            "events": [
                {"action": "message", "agent": 0, "data": "Hi.", "time": 1.5},
                {"action": "message", "agent": 1, "data": "Hello.", "time": 2.5},
                {"action": "offer", "agent": 1, "data": {"price": 9}, "time": 3.5},
            ],
        },
        [("0", "Hi."), ("1", "Hello.")],
        ["1 service message left out"],
    ),
    # Stanford in-car dialogues
    (
        {"id": "x", "dialogue": [{"turn": "driver", "data": {"utterance": "Hi.", "end_dialogue": True}}]},
        [("driver", "Hi.")],
        [],
    ),
    # ABCD
    (
        {"convo_id": "x", "original": [["agent", "Hi."], ["action", "Found."], ["customer", "Hello."]]},
        [("agent", "Hi."), ("customer", "Hello.")],
        ["1 service message left out"],
    ),
    # DialogStudio
    (
        {"id": "x", "log": [{"turn id": 1, "user utterance": "Hi.", "system response": "Hello."}]},
        [("user", "Hi."), ("system", "Hello.")],
        [],
    ),
    # Zendesk Chat
    (
        {
            "id": "x",
            "type": "chat",
            "visitor": {"name": "Visitor 7"},
            "history": [
                {"type": "chat.memberjoin", "name": "Visitor 7", "timestamp": "2025-11-14T09:00:00Z"},
                {"type": "chat.msg", "name": "Kim", "msg": "Hello.", "timestamp": "2025-11-14T09:02:00Z"},
                {"type": "chat.msg", "name": "Visitor 7", "msg": "Hi.", "timestamp": "2025-11-14T09:01:00Z"},
            ],
        },
        [("Visitor 7", "Hi."), ("Kim", "Hello.")],
        ["1 turn left out as without text", "1 dialogue whose turns were put in the order of 'timestamp'"],
    ),
    # GitHub Copilot in VS Code
    (
        {
            "id": "x",
            "requests": [
                {
                    "requestId": "r",
                    "message": {"text": "Hi.", "parts": []},
                    "response": [{"value": "Hel"}, {"kind": "tool", "value": "f"}, {"value": "lo."}],
                }
            ],
        },
        [("user", "Hi."), ("assistant", "Hello.")],
        [],
    ),
    # Discourse
    (
        {
            "id": "x",
            "post_stream": {
                "posts": [
                    {"username": "ann", "cooked": "<p>Hi.</p>", "post_number": 1, "post_type": 1},
                    {"username": "bo", "cooked": "<p>Hello.</p>", "post_number": 2, "post_type": 1},
                    {
                        "username": "system",
                        "cooked": "<p>Closed.</p>",
                        "post_number": 3,
                        "post_type": 3,
                        "topic_id": 1,
                    },
                ]
            },
        },
        [("ann", "Hi."), ("bo", "Hello.")],
        ["1 service message left out", "2 texts converted from HTML"],
    ),
    # 4chan
    ({"id": "x", "posts": [{"no": 5, "resto": 0, "name": "Anon", "com": "Hi."}]}, [("Anon", "Hi.")], []),
    # TwitchDownloader
    (
        {
            "id": "x",
            "comments": [{"commenter": {"display_name": "Ann"}, "message": {"body": "Hi.", "bits": 0}}],
        },
        [("Ann", "Hi.")],
        [],
    ),
    # Amazon Transcribe
    (
        {"id": "x", "results": {"audio_segments": [{"transcript": "Hi.", "speaker_label": "spk_0"}]}},
        [("spk_0", "Hi.")],
        [],
    ),
    # Azure Speech
    (
        {
            "id": "x",
            "recognizedPhrases": [
                {"speaker": 2, "channel": 0, "nBest": [{"display": "Hi."}, {"display": "High."}]},
                {"channel": 0, "nBest": [{"display": "Hello."}]},
            ],
        },
        [("2", "Hi."), ("0", "Hello.")],
        [],
    ),
]


@pytest.mark.parametrize(("dialogue", "turns", "notices"), LISTS)
def test_messages_with_unusual_keys_are_read(
    tmp_path: Path, dialogue: dict[str, Any], turns: list[tuple[str, str]], notices: list[str]
) -> None:
    file = written(tmp_path / "t.json", json.dumps([dialogue]))
    assert said(file) == {"x": turns}
    assert notices_of(file) == notices
