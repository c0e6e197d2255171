"""Tests of JSON as users have it: nested values, envelopes and unknown shapes, with advice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graphneg.errors import InputError
from tests.ingest.found_files import notices_of, texts
from tests.ingest.test_dialogue_files import load, refused, said
from tests.loader_samples import written


class TestTurnsThatBeginWithNames:
    def test_have_these_speakers(self, tmp_path: Path) -> None:
        talk = ["USER: Hi: it's me.", "BOT: Hello.\nWho: you?", "USER: Yes."]
        rows = [{"id": at, "dialog": talk} for at in (1, 2)]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        turns = [("USER", "Hi: it's me."), ("BOT", "Hello.\nWho: you?"), ("USER", "Yes.")]
        assert said(file) == {"1": turns, "2": turns}

    def test_may_begin_with_times_or_be_markdown(self, tmp_path: Path) -> None:
        talk = ["[00:05] Ann: Hi: you.", "**Bo:** Hello.", "[00:09] Ann: Bye."]
        file = written(tmp_path / "t.jsonl", json.dumps({"id": 1, "turns": talk}))
        assert said(file) == {"1": [("Ann", "Hi: you."), ("Bo", "Hello."), ("Ann", "Bye.")]}

    @pytest.mark.parametrize("talk", [["Ann: Hi.", "Hello."], ["Name: Ann", "Order: 7"]])
    def test_are_kept_if_they_may_be_something_else(self, tmp_path: Path, talk: list[str]) -> None:
        file = written(tmp_path / "t.jsonl", json.dumps({"id": 1, "turns": talk}))
        assert texts(file) == {"1": talk}


class TestNestedValues:
    @pytest.mark.parametrize(
        ("talk", "hints"),
        [
            (
                {"thread": {"events": [{"user": "A", "text": "Hi."}]}, "users": [{"name": "A"}]},
                ["turns=thread.events"],
            ),
            ({"values": {"messages": [{"user": "A", "text": "Hi."}]}}, ["turns=values.messages"]),
            (
                {"history": [{"user": "A", "event": {"x": 1}}, {"user": "A", "data": {"content": "Hi."}}]},
                ["turns=history", "text=data.content"],
            ),
            (
                {
                    "messages": [
                        {"user": "A", "chat": {"content": {"segments": [{"type": "t", "text": "Hi."}]}}}
                    ]
                },
                ["text=chat.content.segments"],
            ),
            (
                {"messages": [{"user": "A", "content": {"msgtype": "m.text", "body": "Hi."}}]},
                ["text=content.body"],
            ),
            (
                {"messages": [{"sender": {"x": {"nick": "A"}}, "data": {"content": "Hi."}}]},
                ["text=data.content", "speaker=sender.x.nick"],
            ),
        ],
    )
    @pytest.mark.parametrize("form", ["jsonl", "json"])
    def test_are_named_in_hints_that_work(
        self, tmp_path: Path, talk: dict[str, Any], hints: list[str], form: str
    ) -> None:
        talks = [json.dumps({"id": id, **talk}) for id in (1, 2)]
        file = written(tmp_path / "t.json", "\n".join(talks) if form == "jsonl" else f"[{', '.join(talks)}]")
        named: dict[str, str] = {}
        for hint in hints:
            if not hint.startswith("speaker"):
                with pytest.raises(InputError, match=rf"--map {hint}(?: |$)"):
                    load(file, map=named)
            named |= dict([hint.split("=")])
        assert said(file, map=named) == {id: [("A", "Hi.")] for id in "12"}

    def test_of_rows_are_named_too(self, tmp_path: Path) -> None:
        rows = [
            {"sessionId": "s", "type": "user", "message": {"role": "u", "content": "Hi."}},
            {
                "sessionId": "s",
                "type": "bot",
                "message": {"role": "b", "content": [{"type": "text", "text": "Ho."}]},
            },
        ]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        with pytest.raises(InputError, match=r"--map text=message\.content$"):
            load(file)
        named = {"text": "message.content", "speaker": "message.role"}
        assert said(file, map=named) == {"s": [("u", "Hi."), ("b", "Ho.")]}

    def test_of_a_document_are_read_like_others(self, tmp_path: Path) -> None:
        talk = {"version": 1, "chat": {"lines": [{"user": "A", "text": "Hi."}]}}
        file = written(tmp_path / "t.json", json.dumps(talk, indent=1))
        assert said(file, map={"turns": "chat.lines"}) == {"0": [("A", "Hi.")]}


class TestListsOfDialoguesInObjects:
    def test_are_read_as_dialogues(self, tmp_path: Path) -> None:
        scenes = [
            {"scene_id": f"c{at}", "utterances": [{"speakers": ["A", "B"], "transcript": "Hi."}]}
            for at in (1, 2)
        ]
        season = {
            "season": 1,
            "episodes": [{"id": "e1", "scenes": scenes[:1]}, {"id": "e2", "scenes": scenes[1:]}],
        }
        file = written(tmp_path / "t.json", json.dumps(season))
        assert said(file) == {"c1": [("A and B", "Hi.")], "c2": [("A and B", "Hi.")]}
        assert any(
            line.endswith("objects that contain lists of dialogues are read as these")
            for line in notices_of(file)
        )

    def test_that_lack_a_known_name_are_named_in_a_hint(self, tmp_path: Path) -> None:
        talks = [{"events": [{"user": "A", "text": "Hi."}]}]
        file = written(tmp_path / "t.json", json.dumps({"conversations": talks}))
        with pytest.raises(InputError, match=r"if it is a dialogue, name its turns with --map turns=events$"):
            load(file)
        assert list(said(file, map={"turns": "events"}).values()) == [[("A", "Hi.")]]


class TestUnknownShapes:
    def test_an_unknown_key_of_turns_is_named_with_the_option_that_reads_it(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, "events": [{"user": "A", "text": "Hi."}]}]))
        with pytest.raises(InputError, match=r"name it with --map turns=events$"):
            load(file)
        assert texts(file, map={"turns": "events"}) == {"1": ["Hi."]}

    @pytest.mark.parametrize("key", ["chat_messages", "contents", "MessageList", "Transcript", "messages"])
    def test_lists_of_turns_are_recognised_by_many_names(self, tmp_path: Path, key: str) -> None:
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, key: [{"role": "A", "Content": "Hi."}]}]))
        assert said(file) == {"1": [("A", "Hi.")]}

    def test_the_list_inside_an_envelope_is_read(self, tmp_path: Path) -> None:
        rows = [{"ticket_id": 1, "body": {"contentType": "text", "content": "Hi."}}]
        file = written(tmp_path / "t.json", json.dumps({"@odata.count": 1, "value": rows}))
        assert texts(file) == {"1": ["Hi."]}

    def test_a_text_of_unknown_shape_is_refused_with_its_keys(self, tmp_path: Path) -> None:
        talk = [{"sender": "A", "content": {"msgtype": "m.text", "body": "Hi."}}]
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, "messages": talk}]))
        with pytest.raises(
            InputError, match=r"messages\[0\]\.content is not a text, but an object with the keys"
        ):
            load(file)

    def test_a_message_with_a_text_and_its_parts_is_read_from_the_parts(self, tmp_path: Path) -> None:
        parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hi."}]
        talk = [{"sender": "A", "text": "This block is not supported.\nHi.", "content": parts}]
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, "chat_messages": talk}]))
        assert texts(file) == {"1": ["Hi."]}
        assert notices_of(file) == ["1 thought left out"]

    def test_messages_with_texts_under_two_keys_are_reported(self, tmp_path: Path) -> None:
        talk = [
            {"role": "A", "text": "Hi."},
            {"role": "B", "text": "Ho."},
            {"role": "slot", "value": "48213"},
        ]
        file = written(tmp_path / "t.json", json.dumps([{"id": 1, "messages": talk}]))
        assert notices_of(file) == [
            "1 turn with the text in 'value', not in 'text': --map text=text leaves them out"
        ]
        assert texts(file, map={"text": "text"}) == {"1": ["Hi.", "Ho."]}


class TestEnvelopes:
    ROWS: ClassVar = [
        {"conversation_id": id, "author": author, "text": text}
        for id in ("x", "y")
        for author, text in (("Ann", "Hi."), ("Bo", "Ho."))
    ]

    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize("key", ["messages", "comments"])
    def test_around_rows_of_several_dialogues_are_no_dialogue(
        self, tmp_path: Path, key: str, indent: int | None
    ) -> None:
        file = written(tmp_path / "t.json", json.dumps({key: self.ROWS, "total": 4}, indent=indent))
        turns = [("Ann", "Hi."), ("Bo", "Ho.")]
        assert said(file) == {"x": turns, "y": turns}

    @pytest.mark.parametrize("more", [{"id": "z"}, {"conversation_id": "z"}])
    def test_with_an_id_are_dialogues(self, tmp_path: Path, more: dict[str, str]) -> None:
        file = written(tmp_path / "t.json", json.dumps({"messages": self.ROWS, **more}))
        assert texts(file) == {"z": ["Hi.", "Ho.", "Hi.", "Ho."]}

    def test_are_one_dialogue_if_the_user_names_the_turns(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.json", json.dumps({"messages": self.ROWS}))
        assert texts(file, map={"turns": "messages"}) == {"0": ["Hi.", "Ho.", "Hi.", "Ho."]}

    def test_around_one_dialogue_are_removed(self, tmp_path: Path) -> None:
        talk = {"id": "x", "messages": self.ROWS[:2]}
        rows = [{"status": "ok", "data": {"call": talk | {"id": id}}} for id in ("x", "y")]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert texts(file) == {"x": ["Hi.", "Ho."], "y": ["Hi.", "Ho."]}

    def test_with_a_description_of_the_recording_are_left_out(self, tmp_path: Path) -> None:
        talk = [{"speaker": 0, "transcript": "Hi."}, {"speaker": 1, "transcript": "Ho."}]
        document = {"metadata": {"duration": 7.5}, "results": {"utterances": talk}}
        file = written(tmp_path / "t.json", json.dumps(document))
        assert said(file) == {"results": [("0", "Hi."), ("1", "Ho.")]}
        assert f"{file}: left out the keys 'metadata', which contain no dialogues" in notices_of(file)

    def test_are_not_dialogues_that_cannot_be_read(self, tmp_path: Path) -> None:
        document = {"x": {"turns": ["Hi."]}, "y": {"items": [{"remark": "Ho."}]}}
        [line] = refused(load(written(tmp_path / "t.json", json.dumps(document)))[0])
        assert "item y: the object has no turns" in line


class TestPostsWithComments:
    ISSUE: ClassVar[dict[str, Any]] = {
        "number": 7,
        "author": {"login": "ann"},
        "body": "It crashes.",
        "created_at": "2025-11-14T09:00:00Z",
        "comments": [
            {"author": {"login": "ann"}, "body": "4.2.", "createdAt": "2025-11-14T09:02:00Z"},
            {"author": {"login": "bo"}, "body": "Which version?", "createdAt": "2025-11-14T09:01:00Z"},
        ],
    }

    def test_begin_with_the_post(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.json", json.dumps([self.ISSUE]))
        assert said(file) == {"0": [("ann", "It crashes."), ("bo", "Which version?"), ("ann", "4.2.")]}
        assert "1 post put before the comments" in notices_of(file)

    @pytest.mark.parametrize("change", [{"body": "4.2."}, {"body": ""}, {"author": None}])
    def test_begin_with_a_comment_if_the_post_is_no_turn(
        self, tmp_path: Path, change: dict[str, str | None]
    ) -> None:
        file = written(tmp_path / "t.json", json.dumps([self.ISSUE | change]))
        assert texts(file) == {"0": ["Which version?", "4.2."]}

    def test_of_jira_have_internal_comments(self, tmp_path: Path) -> None:
        comments = [
            {"author": {"displayName": "Bo"}, "body": "Which version?", "jsdPublic": True},
            {"author": {"displayName": "Bo"}, "body": "Annoying.", "jsdPublic": False},
        ]
        issue = {
            "reporter": {"displayName": "Ann"},
            "description": "It crashes.",
            "comment": {"comments": comments},
        }
        file = written(tmp_path / "t.json", json.dumps({"issues": [{"key": "S-1", "fields": issue}]}))
        assert said(file) == {"S-1": [("Ann", "It crashes."), ("Bo", "Which version?")]}


@pytest.mark.parametrize(
    ("page", "advice"),
    [
        (
            {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": {"body": "Hi."}}]}},
            "one row for each",
        ),
        ({"title": "Prompted Hi.", "safeHtmlItem": [{"html": "<p>Ho.</p>"}]}, "which prompts belong to one"),
    ],
)
def test_pages_of_reddit_and_google_are_refused_with_advice(
    tmp_path: Path, page: dict[str, Any], advice: str
) -> None:
    with pytest.raises(InputError, match=advice):
        load(written(tmp_path / "t.json", json.dumps([page, page], indent=1)))


def test_a_post_with_nested_answers_is_one_dialogue(tmp_path: Path) -> None:
    def post(id: int, minute: int, text: str | None, *children: dict[str, Any]) -> dict[str, Any]:
        time = f"2025-11-14T09:{minute:02}:00.000Z"
        above = {"author": f"u{id}", "text": text, "parent_id": None, "created_at": time}
        return {"id": id, "type": "comment", **above, "children": list(children)}

    story = post(1, 0, None, post(2, 9, "Yes.", post(4, 9, "Why?")), post(3, 5, "No."))
    file = written(tmp_path / "t.json", json.dumps({**story, "title": "Is it late?"}))
    assert said(file) == {"1": [("u1", "Is it late?"), ("u3", "No."), ("u2", "Yes."), ("u4", "Why?")]}
    assert notices_of(file) == [
        "1 title put before the comments, as the post has no text",
        "1 dialogue with several replies to one message, kept as a single sequence of turns",
        "1 dialogue whose turns were put in the order of 'created_at'",
    ]
