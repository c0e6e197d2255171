"""Tests of logs of models and bots as users have them: tool calls, thoughts, branches, training data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graphneg.errors import InputError
from tests.ingest.found_files import notices_of, texts, wrapped
from tests.ingest.test_dialogue_files import load, refused, said
from tests.loader_samples import written

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


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
    def test_a_message_without_a_text_key_is_omitted_and_counted_by_kind(
        self, tmp_path: Path, message: dict[str, Any], notice: str
    ) -> None:
        talk = [{"role": "u", "content": "Hi."}, message, {"role": "a", "content": "Hello."}]
        file = written(tmp_path / "t.jsonl", json.dumps({"messages": talk}))
        assert said(file) == {"0": [("u", "Hi."), ("a", "Hello.")]}
        assert notices_of(file) == [notice]

    def test_the_other_messages_are_still_ordered_by_time(self, tmp_path: Path) -> None:
        talk = [
            {"role": "u", "date": "2024-01-01 10:02", "content": "Ho."},
            {"role": "u", "status": "x"},
            {"role": "a", "date": "2024-01-01 10:01", "content": "Hi."},
        ]
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, "messages": talk}]))
        assert texts(file) == {"1": ["Hi.", "Ho."]}

    def test_a_conversation_without_any_text_key_is_refused(self, tmp_path: Path) -> None:
        talks = [[{"role": "u", "content": "Hi."}], [{"role": "u", "remark": "Hi."}]]
        file = written(tmp_path / "t.jsonl", "\n".join(json.dumps({"messages": one}) for one in talks))
        [line] = refused(load(file)[0])
        assert line.endswith("messages[0] lacks 'text'; it has 'remark': name the text with --map text=NAME")

    def test_a_row_without_a_text_key_is_omitted_from_its_dialogue(self, tmp_path: Path) -> None:
        rows = [{"ticket_id": 1, "text": "Hi."}, {"ticket_id": 1, "status": "closed"}]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert texts(file) == {"1": ["Hi."]}
        assert "1 turn left out as without text" in notices_of(file)

    def test_a_message_without_a_text_key_does_not_determine_the_columns(self, tmp_path: Path) -> None:
        talk = [{"actor": "Ann", "action": "create", "text": ""}, {"from": "Bo", "text": "Hi."}]
        file = written(tmp_path / "t.jsonl", json.dumps({"messages": talk}))
        assert load(file)[1].notices.lines()[0].endswith("read as turns=messages, speaker=from")


class TestTextsOfModels:
    @pytest.mark.parametrize(
        ("text", "kept", "notice"),
        [
            ("<think>\nA greeting.\n</think>\n\nHello.", "Hello.", "1 thought left out"),
            ("A greeting.\n</think>\n\nHello.", "Hello.", "1 thought left out"),
            ('<tool_call>\n{"name": "f"}\n</tool_call>', None, "1 tool call left out"),
            (
                'Wait.\n<tool_call>{"name": "f"}</tool_call>\n<tool_call>{}</tool_call>',
                "Wait.",
                "2 tool calls left out",
            ),
            ('<tool_response>\n{"x": 1}\n</tool_response>', None, "1 tool result left out"),
            ("Put it in <tool_call> and </tool_call>.", "Put it in <tool_call> and </tool_call>.", None),
            ("R1 writes <think>, then </think>.", "R1 writes <think>, then </think>.", None),
        ],
    )
    def test_thoughts_and_tool_calls_are_removed_from_texts_of_models(
        self, tmp_path: Path, text: str, kept: str | None, notice: str | None
    ) -> None:
        talk = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": text}]
        file = written(tmp_path / "t.json", json.dumps([{"conversations": talk}]))
        assert texts(file) == {"0": ["Hi.", kept] if kept else ["Hi."]}
        assert notices_of(file) == ([notice] if notice else [])


class TestLogsOfModelsAndBots:
    @pytest.mark.parametrize(
        "messages",
        [
            [wrapped("human", "Hi."), wrapped("ai", "Hello.")],
            [
                {
                    "type": "constructor",
                    "id": ["HumanMessage"],
                    "kwargs": {"content": "Hi.", "type": "human"},
                },
                {"type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "Hello.", "type": "ai"}},
            ],
            [{"content": "Hi.", "type": "human"}, {"content": "Hello.", "type": "ai", "tool_calls": []}],
        ],
    )
    def test_of_langchain_have_the_speaker_in_the_type(
        self, tmp_path: Path, messages: list[dict[str, Any]]
    ) -> None:
        file = written(tmp_path / "t.jsonl", json.dumps({"id": 1, "messages": messages}))
        assert said(file) == {"1": [("human", "Hi."), ("ai", "Hello.")]}

    def test_of_rasa_are_what_user_and_bot_said(self, tmp_path: Path) -> None:
        events = [
            {"event": "action", "name": "action_listen", "timestamp": 1700000000.1},
            {
                "event": "user",
                "text": "It's 7.",
                "timestamp": 1700000000.2,
                "parse_data": {"text": "It's 7."},
            },
            {"event": "slot", "name": "number", "value": "7", "timestamp": 1700000000.3},
            {"event": "bot", "text": "Thanks.", "timestamp": 1700000000.4, "data": {"buttons": None}},
        ]
        file = written(tmp_path / "t.json", json.dumps([{"sender_id": "u1", "events": events}]))
        assert said(file) == {"u1": [("user", "It's 7."), ("bot", "Thanks.")]}
        assert notices_of(file) == ["2 service messages left out"]

    def test_of_cohere_end_with_the_message(self, tmp_path: Path) -> None:
        earlier = [{"role": "USER", "message": "Hi."}, {"role": "CHATBOT", "message": "Hello."}]
        talk = {"conversation_id": "c", "chat_history": earlier, "message": "Is it late?"}
        file = written(tmp_path / "t.jsonl", json.dumps(talk))
        assert said(file) == {"c": [("USER", "Hi."), ("CHATBOT", "Hello."), ("USER", "Is it late?")]}

    @pytest.mark.parametrize(
        ("keys", "others"),
        [
            (("prompt", "chosen"), {"rejected": [{"role": "a", "content": "No."}]}),
            (("prompt", "completion"), {}),
            (("input", "output"), {}),
        ],
    )
    def test_in_two_lists_are_one_dialogue(
        self, tmp_path: Path, keys: tuple[str, str], others: dict[str, Any]
    ) -> None:
        talk = ([{"role": "u", "content": "Hi."}], [{"type": "reasoning"}, {"role": "a", "content": "Yes."}])
        file = written(
            tmp_path / "t.jsonl", json.dumps({"id": 1, **dict(zip(keys, talk, strict=True)), **others})
        )
        assert said(file) == {"1": [("u", "Hi."), ("a", "Yes.")]}
        assert ("1 rejected response left out" in notices_of(file)) == bool(others)

    def test_of_ai_studio_have_no_thoughts_and_no_prompt(self, tmp_path: Path) -> None:
        chunks = [
            {"role": "user", "text": "Hi."},
            {"role": "model", "text": "A greeting.", "isThought": True},
            {"role": "model", "text": "Hello."},
        ]
        talk = {"systemInstruction": {"text": "Be kind."}, "chunkedPrompt": {"chunks": chunks}}
        file = written(tmp_path / "t.json", json.dumps(talk))
        assert said(file) == {"0": [("user", "Hi."), ("model", "Hello.")]}
        assert notices_of(file) == ["1 thought left out", "1 system message kept out of the turns"]

    def test_of_open_webui_are_the_messages_that_the_user_sees(self, tmp_path: Path) -> None:
        talk = [
            {"id": "a", "role": "user", "content": "Hi."},
            {"id": "b", "role": "assistant", "content": "Yes."},
        ]
        nodes = {one["id"]: one for one in [*talk, {"id": "x", "role": "assistant", "content": "No."}]}
        chat = {"title": "T", "history": {"messages": nodes, "currentId": "b"}, "messages": talk}
        file = written(tmp_path / "t.json", json.dumps([{"id": "w", "chat": chat}]))
        assert texts(file) == {"w": ["Hi.", "Yes."]}
        assert notices_of(file) == ["1 message of other branches left out"]


def turn(id: str, above: str, sender: str, text: str) -> dict[str, Any]:
    """A message as Claude exports it."""
    content = [{"type": "text", "text": text}]
    return {"uuid": id, "parent_message_uuid": above, "sender": sender, "text": text, "content": content}


class TestConversationsWithBranches:
    ROOT = "00000000-0000-4000-8000-000000000000"
    OPENING: ClassVar = [turn("a", ROOT, "human", "Hi."), turn("b", "a", "assistant", "Hello.")]

    def test_of_claude_are_the_path_to_the_last_message(self, tmp_path: Path) -> None:
        edited = [
            turn("c", "b", "human", "Is it lat?"),
            turn("d", "c", "assistant", "What?"),
            turn("e", "b", "human", "Is it late?"),
            turn("f", "e", "assistant", "Yes."),
        ]
        file = written(
            tmp_path / "t.json", json.dumps([{"uuid": "u", "chat_messages": self.OPENING + edited}])
        )
        assert texts(file) == {"0": ["Hi.", "Hello.", "Is it late?", "Yes."]}
        assert "2 messages of other branches left out" in notices_of(file)

    def test_may_begin_with_an_edited_message(self, tmp_path: Path) -> None:
        edited = [turn("c", self.ROOT, "human", "Hello?"), turn("d", "c", "assistant", "Yes?")]
        file = written(tmp_path / "t.json", json.dumps([{"chat_messages": self.OPENING + edited}]))
        assert texts(file) == {"0": ["Hello?", "Yes?"]}

    def test_of_librechat_are_the_path_to_the_last_message(self, tmp_path: Path) -> None:
        messages = [
            {"messageId": "a", "parentMessageId": self.ROOT, "text": "Hi.", "isCreatedByUser": True},
            {"messageId": "b", "parentMessageId": "a", "text": "Ho.", "isCreatedByUser": False},
            {"messageId": "c", "parentMessageId": "a", "text": "Hello.", "isCreatedByUser": False},
        ]
        file = written(tmp_path / "t.json", json.dumps({"conversationId": "7", "messages": messages}))
        assert texts(file) == {"7": ["Hi.", "Hello."]}

    @pytest.mark.parametrize(
        "change",
        [{"sender": "Ann"}, {"parent_message_uuid": "x"}, {"uuid": "a"}, {"parent_message_uuid": "c"}],
    )
    def test_are_not_forums_or_incomplete_trees(self, tmp_path: Path, change: dict[str, str]) -> None:
        people = {"sender": change.get("sender", "human")}
        talk = [turn("a", self.ROOT, "", "Hi."), turn("b", "a", "", "Ho."), turn("c", "a", "", "Hello.")]
        talk = [one | people for one in talk[:2]] + [talk[2] | people | change]
        file = written(tmp_path / "t.json", json.dumps([{"chat_messages": talk}]))
        assert texts(file) == {"0": ["Hi.", "Ho.", "Hello."]}


ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."}]
ANSWER = {"role": "assistant", "content": "Hello."}
PARTS = [{"role": "user", "parts": [{"text": "Hi."}]}]


class TestRequestsToModels:
    @pytest.mark.parametrize(
        "entry",
        [
            {"custom_id": "r", "method": "POST", "body": {"model": "m", "messages": [*ASKED, ANSWER]}},
            {"custom_id": "r", "params": {"system": "Be brief.", "messages": [ASKED[1], ANSWER]}},
            {"id": "r", "request": {"messages": ASKED}, "response": {"choices": [{"message": ANSWER}]}},
            {
                "id": "r",
                "request": {"messages": ASKED},
                "response": {"content": [{"type": "text", "text": "Hello."}]},
            },
            {
                "id": "r",
                "input": {"messages": ASKED},
                "preferred_output": [ANSWER],
                "non_preferred_output": [],
            },
            {
                "key": "r",
                "request": {"contents": PARTS},
                "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}}]},
            },
        ],
    )
    def test_continue_with_the_response(self, tmp_path: Path, entry: dict[str, Any]) -> None:
        file = written(tmp_path / "t.jsonl", f"{json.dumps(entry)}\n" + json.dumps(entry | {"id": "s"}))
        assert texts(file)["r" if "id" in entry else "s"] == ["Hi.", "Hello."]

    def test_have_one_answer(self, tmp_path: Path) -> None:
        choices = [{"message": ANSWER}, {"message": {"role": "assistant", "content": "Ho."}}]
        talk = {"request": {"messages": ASKED}, "response": {"body": {"choices": choices}}}
        file = written(tmp_path / "t.jsonl", json.dumps(talk))
        assert texts(file) == {"0": ["Hi.", "Hello."]}
        assert "1 alternative answer left out" in notices_of(file)


class TestTrainingData:
    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            ({"conversation": [{"input": "Hi.", "output": "Hello."}] * 2}, ["Hi.", "Hello."] * 2),
            (
                {"history": [["Hi.", "Hello."]], "instruction": "Late?", "input": "", "output": "Yes."},
                ["Hi.", "Hello.", "Late?", "Yes."],
            ),
            ({"chosen": [*ASKED, ANSWER], "rejected": [*ASKED, CALL]}, ["Hi.", "Hello."]),
            (
                {"chosen": "\n\nHuman: Hi.\n\nAssistant: Ho.\n\nHuman: No.", "rejected": "\n\nHuman: X."},
                ["Hi.", "Ho.", "No."],
            ),
            ({"id": "0", "data": ["Hi.", "Hello.", "Late?"]}, ["Hi.", "Hello.", "Late?"]),
        ],
    )
    def test_is_read_as_dialogues(self, tmp_path: Path, entry: dict[str, Any], expected: list[str]) -> None:
        file = written(tmp_path / "t.jsonl", json.dumps(entry))
        assert texts(file) == {"0": expected}

    def test_of_single_pairs_is_refused_with_what_to_do(self, tmp_path: Path) -> None:
        rows = [{"instruction": "Name a bird.", "input": "", "output": "A swan."}] * 2
        for file in (
            written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows))),
            written(tmp_path / "u.jsonl", json.dumps(rows[0])),
        ):
            with pytest.raises(InputError, match="'instruction' and 'output' look like two messages: write"):
                load(file)


def test_thoughts_and_calls_in_parts_with_a_text_are_left_out(tmp_path: Path) -> None:
    parts: list[dict[str, Any]] = [
        {"type": "step-start"},
        {"type": "reasoning", "text": "They greet me."},
        {"type": "tool-lookup", "state": "output-available", "output": {"text": "x"}},
        {"type": "text", "text": "Hello."},
        {"type": "source-url", "url": "https://example.org"},
    ]
    talk = [
        {"role": "user", "parts": [{"type": "text", "text": "Hi."}]},
        {"role": "assistant", "parts": parts},
    ]
    file = written(tmp_path / "t.jsonl", json.dumps({"messages": talk}))
    assert said(file) == {"0": [("user", "Hi."), ("assistant", "Hello.")]}
    assert notices_of(file) == [
        "1 step mark left out",
        "1 thought left out",
        "1 tool call left out",
        "1 source left out",
    ]


def _deepseek(node: str, parent: str | None, children: list[str], *parts: tuple[str, str]) -> dict[str, Any]:
    fragments = [{"type": kind, "content": text} for kind, text in parts]
    message = {"files": [], "inserted_at": f"2025-11-14T09:0{node}:00+08:00", "fragments": fragments}
    return {"id": node, "parent": parent, "children": children, "message": message if parts else None}


class TestConversationsOfDeepseek:
    def test_follow_the_newest_answers_and_omit_thoughts(self, tmp_path: Path) -> None:
        nodes = [
            _deepseek("0", None, ["1"]),
            _deepseek("1", "0", ["2", "3"], ("REQUEST", "Hi.")),
            _deepseek("2", "1", [], ("RESPONSE", "Old.")),
            _deepseek("3", "1", [], ("THINK", "Hm."), ("SEARCH", "x"), ("RESPONSE", "Hello.")),
        ]
        talk = {"id": "x", "title": "T", "mapping": {one["id"]: one for one in nodes}}
        file = written(tmp_path / "conversations.json", json.dumps([talk]))
        assert said(file) == {"x": [("user", "Hi."), ("assistant", "Hello.")]}
        assert notices_of(file) == [
            "1 thought left out",
            "1 tool call left out",
            "1 message of other branches left out",
        ]

    def test_of_chatgpt_still_need_the_last_node(self, tmp_path: Path) -> None:
        message = {"author": {"role": "user"}, "content": {"parts": ["Hi."]}}
        talk = {"id": "x", "mapping": {"a": {"parent": None, "children": [], "message": message}}}
        good = {**talk, "id": "y", "current_node": "a"}
        records, _ = load(written(tmp_path / "conversations.json", json.dumps([talk, good])))
        assert any("no 'current_node'" in one for one in refused(records))


class TestLogsOfClaudeCode:
    @staticmethod
    def entry(session: str, second: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
        time = f"2025-11-14T09:00:{second:02}.000Z"
        message = {"role": role, "content": content, "id": "m"}
        own = {"sessionId": session, "uuid": f"{session}-{second}", "type": role, "timestamp": time}
        return {"parentUuid": None, "isSidechain": False, **own, "message": message, **more}

    def test_have_a_dialogue_for_each_session(self, tmp_path: Path) -> None:
        call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "1 def f(): ..."}
        entries = [
            {"type": "summary", "summary": "Fix the test", "leafUuid": "a-9"},
            {"type": "file-history-snapshot", "messageId": "a-1", "snapshot": {}},
            self.entry("a", 1, "user", "Caveat: ...", isMeta=True),
            self.entry("a", 2, "user", "Why does it fail?"),
            self.entry("b", 3, "user", "Hi."),
            self.entry("a", 4, "assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "x"}]),
            self.entry("a", 5, "assistant", [{"type": "text", "text": "I will read it."}, call]),
            self.entry("a", 6, "user", [result]),
            self.entry("a", 7, "user", "Search the files.", isSidechain=True),
            self.entry("a", 8, "user", [{"type": "text", "text": "[Request interrupted by user]"}]),
            {"type": "system", "subtype": "turn_duration", "sessionId": "a", "uuid": "a-9", "content": "5s"},
            self.entry("b", 9, "assistant", [{"type": "text", "text": "Hello."}]),
        ]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, entries)))
        assert said(file) == {
            "a": [("user", "Why does it fail?"), ("assistant", "I will read it.")],
            "b": [("user", "Hi."), ("assistant", "Hello.")],
        }
        told = " ".join(notices_of(file))
        counted = ("service message", "subagent message", "thought", "tool call", "tool result")
        assert all(kind in told for kind in counted)
