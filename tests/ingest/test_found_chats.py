"""Tests of exports of chat programs as users have them: service messages, media, garbled letters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from tests.ingest.found_files import chat, notices_of, texts, transcript
from tests.ingest.test_dialogue_files import load, said
from tests.loader_samples import written


class TestTelegram:
    CHAT: ClassVar = {
        "id": 5,
        "messages": [
            {"type": "service", "actor": "Ann", "action": "create_group", "text": ""},
            {
                "type": "message",
                "from": "Ann",
                "text": ["Look at ", {"type": "link", "text": "x.org"}, "'s page"],
            },
            {"type": "message", "from": "Bo", "media_type": "sticker", "file": "x", "text": ""},
            {
                "type": "message",
                "from": "Bo",
                "text": [{"type": "bold", "text": "Storm"}, "\n\nStay at home."],
            },
        ],
    }

    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize("is_account", [True, False])
    def test_texts_are_joined_as_they_are_and_each_chat_is_a_dialogue(
        self, tmp_path: Path, indent: int | None, is_account: bool
    ) -> None:
        chats = {
            "about": "Your data.",
            "chats": {"about": "All chats.", "list": [self.CHAT, {**self.CHAT, "id": 6}]},
        }
        file = written(
            tmp_path / "result.json", json.dumps(chats if is_account else self.CHAT, indent=indent)
        )
        turns = [("Ann", "Look at x.org's page"), ("Bo", "Storm\n\nStay at home.")]
        assert said(file) == ({"5": turns, "6": turns} if is_account else {"5": turns})
        assert f"{1 + is_account} service message{'s' * is_account} left out" in notices_of(file)
        assert f"{1 + is_account} media placeholder{'s' * is_account} left out" in notices_of(file)


class TestFacebook:
    def chat(self, folder: Path, *contents: str) -> Path:
        name = "M\u00c3\u00bcller"
        messages = [
            {"sender_name": name, "timestamp_ms": 1700000000000 - at, "content": text}
            for at, text in enumerate(contents)
        ]
        return written(
            folder / "m.json", json.dumps({"participants": [{"name": name}], "messages": messages})
        )

    def test_texts_whose_letters_are_garbled_are_repaired_and_counted(self, tmp_path: Path) -> None:
        file = self.chat(tmp_path, "gr\u00c3\u00bc\u00c3\u009fe \u00f0\u009f\u0098\u0080", "Hi.")
        assert said(file) == {"0": [("Müller", "Hi."), ("Müller", "grüße 😀")]}
        assert "4 texts with garbled letters repaired" in notices_of(file)

    def test_texts_are_kept_if_one_of_them_is_right(self, tmp_path: Path) -> None:
        file = self.chat(tmp_path, "gr\u00c3\u00bcn", "grün")
        assert texts(file) == {"0": ["grün", "gr\u00c3\u00bcn"]}

    def test_automatic_lines_are_omitted_and_counted(self, tmp_path: Path) -> None:
        lines = [
            "M\u00c3\u00bcller sent an attachment.",
            "Reacted \u00e2\u009d\u00a4 to your message ",
            "He sent a photo.",
        ]
        file = self.chat(tmp_path, *lines)
        assert texts(file) == {"0": ["He sent a photo."]}
        assert {"1 media placeholder left out", "1 reaction left out"} <= set(notices_of(file))


class TestMessagesOfOtherPrograms:
    @pytest.mark.parametrize(
        ("messages", "notices"),
        [
            (
                [
                    {"sender": {"t": "v", "n": "Ann", "id": "1"}, "type": "msg", "msg": "Hi."},
                    {"sender": {"t": "s"}, "type": "sys", "msg": "Bo joined the conversation"},
                    {"sender": {"t": "a", "n": "Bo", "id": "2"}, "type": "msg", "msg": "Hello."},
                ],
                {"1 service message left out"},
            ),
            (
                [
                    {"msg": "ann", "ts": 1763110860000, "t": "uj", "u": {"_id": "1", "name": "Ann"}},
                    {"msg": "Hi.", "ts": 1763110861000, "u": {"_id": "1", "name": "Ann"}},
                    {"msg": "Hello.", "ts": 1763110862000, "u": {"_id": "2", "name": "Bo"}},
                ],
                {"1 service message left out"},
            ),
            (
                [
                    {"sender_id": 1, "sender_full_name": "Ann", "content": "Hi."},
                    {"sender_id": 2, "sender_full_name": "Bo", "content": "Hello."},
                ],
                set[str](),
            ),
            (
                [
                    {
                        "ParticipantId": "1",
                        "DisplayName": "Ann",
                        "ParticipantRole": "CUSTOMER",
                        "Content": "Hi.",
                    },
                    {
                        "ParticipantId": "2",
                        "DisplayName": "S",
                        "ParticipantRole": "SYSTEM",
                        "Content": "Wait.",
                    },
                    {
                        "ParticipantId": "3",
                        "DisplayName": "Bo",
                        "ParticipantRole": "AGENT",
                        "Content": "Hello.",
                    },
                ],
                {"1 service message left out"},
            ),
            (
                [
                    {"from": "Ann", "messagetype": "RichText", "content": "Hi."},
                    {"from": "Bo", "messagetype": "Event/Call", "content": "<partlist/>"},
                    {
                        "from": "Bo",
                        "messagetype": "RichText/UriObject",
                        "content": "<URIObject>x</URIObject>",
                    },
                    {"from": "Bo", "messagetype": "RichText", "content": "Hello."},
                ],
                {"1 service message left out", "1 media placeholder left out"},
            ),
            (
                [
                    {
                        "message_type": 0,
                        "content_type": "text",
                        "private": False,
                        "content": "Hi.",
                        "sender": "Ann",
                    },
                    {"message_type": 2, "content_type": "text", "private": False, "content": "Bo joined"},
                    {
                        "message_type": 1,
                        "content_type": "text",
                        "private": False,
                        "content": "Hello.",
                        "sender": "Bo",
                    },
                ],
                {"1 service message left out"},
            ),
            (
                [
                    {"type": "incoming", "sourceName": "Ann", "body": "Hi.", "sent_at": 1763110860000},
                    {"type": "call-history", "body": "", "sent_at": 1763110861000},
                    {"type": "outgoing", "sourceName": "Bo", "body": "Hello.", "sent_at": 1763110862000},
                ],
                {"1 service message left out"},
            ),
        ],
    )
    def test_have_names_and_no_lines_of_the_program(
        self, tmp_path: Path, messages: list[dict[str, Any]], notices: set[str]
    ) -> None:
        file = written(tmp_path / "t.json", json.dumps([{"id": "c", "messages": messages}]))
        assert said(file) == {"c": [("Ann", "Hi."), ("Bo", "Hello.")]}
        assert set(notices_of(file)) == notices

    def test_of_matrix_are_texts_with_their_last_edit(self, tmp_path: Path) -> None:
        def event(id: str, kind: str, **content: Any) -> dict[str, Any]:
            sender = "@ann:x.org" if id in ("1", "5") else "@bo:x.org"
            return {"event_id": id, "type": kind, "sender": sender, "content": content}

        text = {"msgtype": "m.text"}
        edit = {
            "m.new_content": {"body": "Hello, Ann."},
            "m.relates_to": {"rel_type": "m.replace", "event_id": "2"},
        }
        events = [
            event("0", "m.room.member", displayname="Bo"),
            event("1", "m.room.message", **text, body="Hi."),
            event("2", "m.room.message", **text, body="Hello, Anne."),
            event("3", "m.room.message", msgtype="m.image", body="bread.jpg"),
            event("4", "m.room.message", **text, body="* Hello, Ann.", **edit),
            event("5", "m.room.message", **text, body="> <@bo:x.org> Hello, Anne.\n\nGood.\n> <@7>"),
            event("6", "m.reaction"),
            event("7", "m.room.message"),
        ]
        file = written(tmp_path / "t.json", json.dumps({"room_name": "Bread", "messages": events}))
        turns = [("@ann:x.org", "Hi."), ("Bo", "Hello, Ann."), ("@ann:x.org", "Good.\n> <@7>")]
        assert said(file) == {"0": turns}
        assert set(notices_of(file)) == {
            "1 service message left out",
            "1 media placeholder left out",
            "1 edit left out",
            "1 quotation left out",
            "1 reaction left out",
            "1 deleted message left out",
        }

    def test_of_dialogflow_are_requests_and_responses(self, tmp_path: Path) -> None:
        answer = {
            "queryResult": {"responseMessages": [{"text": {"text": ["Hello."]}}, {"payload": {"x": 1}}]}
        }
        talk = {
            "name": "projects/p/conversations/c7",
            "interactions": [
                {"request": {"queryInput": {"text": {"text": "Hi."}}}, "response": answer},
                {"request": {"queryInput": {"event": {"event": "x"}}}, "response": {}},
            ],
        }
        file = written(tmp_path / "t.json", json.dumps(talk))
        assert said(file) == {"c7": [("user", "Hi."), ("bot", "Hello.")]}
        assert notices_of(file) == ["2 service messages left out"]

    def test_of_lex_are_what_user_and_bot_said(self, tmp_path: Path) -> None:
        rows = [
            {"sessionId": f"s{at % 2}", "inputTranscript": f"U{at}.", "messages": [{"content": f"B{at}."}]}
            for at in range(4)
        ]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file) == {
            f"s{at}": [(who, f"{who[0].upper()}{n}.") for n in (at, at + 2) for who in ("user", "bot")]
            for at in (0, 1)
        }

    def test_of_sillytavern_are_one_dialogue(self, tmp_path: Path) -> None:
        rows = [
            {"user_name": "Ann", "character_name": "Bo", "chat_metadata": {}},
            {"name": "Bo", "is_user": False, "is_system": False, "mes": "Hi.", "swipes": ["Hi.", "Ho."]},
            {"name": "S", "is_user": False, "is_system": True, "mes": "Checkpoint."},
            {"name": "Ann", "is_user": True, "is_system": False, "mes": "Hello."},
        ]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file) == {"0": [("Bo", "Hi."), ("Ann", "Hello.")]}
        assert notices_of(file) == ["1 service message left out"]
        broken = written(tmp_path / "u.jsonl", "\n".join([*map(json.dumps, rows), '{"name": "Bo"']))
        with pytest.raises(InputError, match="the chat has an unreadable message"):
            load(broken)


class TestMicrosoftTeams:
    def chat(self, folder: Path, *bodies: str) -> Path:
        rows = [
            {
                "id": str(at),
                "chatId": "7",
                "from": {"user": {"id": "1", "displayName": "Ann"}},
                "body": {"contentType": "html", "content": body},
            }
            for at, body in enumerate(bodies)
        ]
        return written(folder / "t.json", json.dumps({"value": rows}))

    def test_attachments_and_events_are_not_texts(self, tmp_path: Path) -> None:
        mark = '<attachment id="f1"></attachment>'
        file = self.chat(
            tmp_path,
            "<p>Hi.</p>",
            "<systemEventMessage/>",
            mark,
            f"<div><div>\n{mark}</div></div>",
            f"{mark}<p>Look &amp; see.</p>",
        )
        assert texts(file) == {"7": ["Hi.", "Look & see."]}
        assert set(notices_of(file)) == {
            "1 service message left out",
            "2 media placeholders left out",
            "1 attachment mark removed",
            "2 texts converted from HTML",
        }

    def test_other_tags_of_this_name_are_kept(self, tmp_path: Path) -> None:
        text = "What is <attachment> or <systemEventMessage/>?"
        assert texts(self.chat(tmp_path, text)) == {"7": [text]}


class TestChatsOfOtherPrograms:
    TURNS: ClassVar = [("Ann", "Is it fresh?"), ("Bo", "Yes!\nI'll come: at ten."), ("Ann", "Good.")]
    KAKAO = """Bo 님과 카카오톡 대화
저장한 날짜 : 2025년 11월 16일 오전 10:00


2025년 11월 14일 오전 9:01
2025년 11월 14일 오전 9:01, Ann : Is it fresh?
2025년 11월 14일 오후 12:02, Bo : 사진
2025년 11월 14일 오후 12:02, Bo : Yes!
I'll come: at ten.
2025년 11월 14일 오후 12:03, Cid님이 나갔습니다.
2025년 11월 14일 금요일
2025년 11월 14일 오후 12:04, Ann : Good.
"""
    KAKAO_EN = """KakaoTalk Chats with Bo
Date Saved : Nov 16, 2025 10:00


Friday, November 14, 2025
Nov 14, 2025 9:01 AM, Ann : Is it fresh?
Nov 14, 2025 12:02 PM, Bo : Photo
Nov 14, 2025 12:02 PM, Bo : Yes!
I'll come: at ten.
Nov 14, 2025 12:03 PM, Cid left.
Nov 14, 2025 12:04 PM, Ann : Good.
"""
    KAKAO_PC = """Bo 님과 카카오톡 대화
저장한 날짜 : 2025-11-16 10:00:00

--------------- 2025년 11월 14일 금요일 ---------------
[Ann] [오전 9:01] Is it fresh?
[Bo] [오후 12:02] 사진
[Bo] [오후 12:02] Yes!
I'll come: at ten.
Cid님이 나갔습니다.
[Ann] [오후 12:04] Good.
"""
    VIBER = """[ 14 November 2025 9:01 AM ] \u2068Ann\u2069: Is it fresh?
[ 14 November 2025 12:02 PM ] \u2068Bo\u2069: Yes!
I'll come: at ten.
[ 14 November 2025 12:04 PM ] \u2068Ann\u2069: Good.
"""
    SIGNAL = """[2025-11-14 09:01] Ann: Is it fresh?
[2025-11-14 12:02] Bo: Yes!![x.jpg](media/x.jpg)
I'll come: at ten.
(- Ann: 👍 -)
[2025-11-14 12:03] Bo: ![x.jpg](media/x.jpg)
[2025-11-14 12:04] Ann:
>
> Yes!
>
Good.
"""

    IMESSAGE = """Nov 14, 2025  9:01:12 AM (Read by them after 2 minutes)
Ann
Is it fresh?

    Nov 14, 2025 12:02:00 PM
    Bo
    Yes!

Nov 14, 2025 12:00:00 PM You named the conversation Bread

Nov 14, 2025 12:02:00 PM
Bo
This message responded to an earlier message.
Yes!
I'll come: at ten.
/Users/ann/Library/Messages/Attachments/ab/a file.heic
Tapbacks:
Loved by Ann

Nov 14, 2025 12:04:00 PM
Ann
Good.
"""

    @pytest.mark.parametrize(
        ("text", "loader", "notices"),
        [
            (
                IMESSAGE,
                "whatsapp",
                {
                    "1 system line left out",
                    "1 program line left out",
                    "1 media placeholder left out",
                    "1 reaction left out",
                    "3 lines of an answer that the file contains twice left out",
                },
            ),
            (KAKAO, "whatsapp", {"5 system lines left out", "1 media placeholder left out"}),
            (KAKAO_EN, "whatsapp", {"4 system lines left out", "1 media placeholder left out"}),
            (
                KAKAO_PC.replace("\n", "\r\n"),
                "line",
                {"3 system lines left out", "1 media placeholder left out"},
            ),
            (
                KAKAO_PC.replace("2025년 11월 14일 금요일", "Friday, November 14, 2025")
                .replace("오전 9:01", "9:01 AM")
                .replace("사진", "Photo"),
                "line",
                {"3 system lines left out", "1 media placeholder left out"},
            ),
            (VIBER, "whatsapp", set[str]()),
            (
                SIGNAL,
                "whatsapp",
                {"2 media placeholders left out", "1 quotation left out", "1 reaction left out"},
            ),
        ],
    )
    def test_are_read_without_lines_of_the_program(
        self, tmp_path: Path, text: str, loader: str, notices: set[str]
    ) -> None:
        assert chat(written(tmp_path / "t.txt", text), loader) == (self.TURNS, notices, [])

    @pytest.mark.parametrize(
        ("text", "loader"),
        [
            (KAKAO, "whatsapp"),
            (KAKAO_EN, "whatsapp"),
            (KAKAO_PC, "line"),
            (VIBER, "whatsapp"),
            (IMESSAGE, "whatsapp"),
        ],
    )
    def test_are_known_by_their_beginning(self, tmp_path: Path, text: str, loader: str) -> None:
        with pytest.raises(InputError, match=f"looks like a file for the loader '{loader}'"):
            transcript(written(tmp_path / "t.txt", text))

    def test_a_date_in_a_message_of_whatsapp_stays_in_it(self, tmp_path: Path) -> None:
        text = "31/12/2023, 21:04 - Ann: We meet on\nFriday, November 14, 2025\nPhoto\n"
        turns, _, _ = chat(written(tmp_path / "t.txt", text), "whatsapp")
        assert turns == [("Ann", "We meet on\nFriday, November 14, 2025\nPhoto")]


class TestTheBulkExportOfMattermost:
    def file(self, folder: Path, *posts: dict[str, Any]) -> Path:
        def line(post: dict[str, Any]) -> dict[str, Any]:
            kind = "direct_post" if "channel_members" in post else "post"
            return {"type": kind, kind: post}

        lines = [{"type": "version", "version": 1}, {"type": "user", "user": {}}, *map(line, posts)]
        return written(folder / "export.jsonl", "\n".join(map(json.dumps, lines)))

    def post(self, channel: str, user: str, text: str, at: int, **more: Any) -> dict[str, Any]:
        post = {"team": "t", "channel": channel, "user": user, "message": text}
        return {**post, "create_at": 1763110860000 + at * 1000, **more}

    def test_is_split_by_channel_thread_and_pause(self, tmp_path: Path) -> None:
        replies = [self.post("a", "ann", "Good.", 9), self.post("a", "bo", "Yes.", 5)]
        file = self.file(
            tmp_path,
            self.post("a", "ann", "Is it fresh?", 0, replies=replies),
            self.post("a", "bo", "Who closes?", 20),
            self.post("b", "cid", "Ten loaves.", 21),
            self.post("a", "ann", "I do.", 22, delete_at=0, props={}),
            self.post("", "ann", "Hi.", 23, channel_members=["ann", "bo"]),
            self.post("a", "ann", "Good morning.", 90_000),
        )
        records = list(get_loader("slack").read([file], LoadOptions()))
        assert {r.id: [one.text for one in r.utterances] for r in records if isinstance(r, Dialogue)} == {
            "mattermost/all/t-a-thread-1763110860000": ["Is it fresh?", "Yes.", "Good."],
            "mattermost/all/t-a-2025-11-14T0901": ["Who closes?", "I do."],
            "mattermost/all/t-a-2025-11-15T1001": ["Good morning."],
            "mattermost/all/t-b-2025-11-14T0901": ["Ten loaves."],
            "mattermost/all/direct-ann-bo-2025-11-14T0901": ["Hi."],
        }

    def test_counts_what_nobody_said(self, tmp_path: Path) -> None:
        file = self.file(
            tmp_path,
            self.post("a", "ann", "ann joined the channel.", 0, type="system_join_channel"),
            self.post("a", "ann", "Hi.", 1),
            self.post("a", "bot", "Build failed.", 2, props={"from_webhook": "true"}),
            self.post("a", "bo", "", 3, attachments=[{"path": "x.jpg"}]),
            self.post("a", "bo", "No.", 4, delete_at=1763110869000),
        )
        turns, notices, _ = chat(file, "slack")
        assert turns == [("ann", "Hi.")]
        kinds = ("system line", "bot message", "media placeholder", "deleted message")
        assert notices == {f"1 {kind} left out" for kind in kinds}

    def test_rejects_the_conversation_of_an_unreadable_line(self, tmp_path: Path) -> None:
        file = self.file(
            tmp_path, self.post("a", "ann", "Hi.", 0), {"channel": "a"}, self.post("b", "bo", "Ho.", 1)
        )
        turns, _, lines = chat(file, "slack")
        assert turns == [("bo", "Ho.")]
        assert any("no 'user'" in line for line in lines)

    def test_is_known_by_its_beginning(self, tmp_path: Path) -> None:
        file = self.file(tmp_path, self.post("a", "ann", "Hi.", 0))
        with pytest.raises(InputError, match="looks like a file for the loader 'slack'"):
            load(file)


class TestRecordsOfCallsAndChats:
    @pytest.mark.parametrize(
        ("document", "speakers", "notices"),
        [
            (
                {
                    "records": {"total": 1},
                    "callTranscripts": [
                        {
                            "callId": "7",
                            "transcript": [
                                {"speakerId": "a", "sentences": [{"text": "Hi."}, {"text": "It's me."}]},
                                {"speakerId": "b", "sentences": [{"text": "Hello."}]},
                            ],
                        }
                    ],
                },
                ("a", "b"),
                set[str](),
            ),
            (
                {
                    "data": {
                        "transcript": {
                            "id": "7",
                            "sentences": [
                                {"speaker_name": "Ann", "text": "Hi. It's me.", "raw_text": "hi its me"},
                                {"speaker_name": "Bo", "text": "Hello."},
                            ],
                        }
                    }
                },
                ("Ann", "Bo"),
                set[str](),
            ),
            (
                {
                    "id": 7,
                    "text": "Hi. It's me. Hello.",
                    "segments": [
                        {"start": 0, "text": " Hi. It's me.", "speaker": "S0", "words": []},
                        {"start": 1, "text": " Hello.", "speaker": "S1", "words": []},
                    ],
                },
                ("S0", "S1"),
                set[str](),
            ),
            (
                {
                    "_metadata": {"count": 1},
                    "conversationHistoryRecords": [
                        {
                            "info": {"conversationId": "7"},
                            "messageRecords": [
                                {
                                    "sentBy": "Agent",
                                    "timeL": 3,
                                    "audience": "ALL",
                                    "messageData": {"msg": {"text": "Hello."}},
                                },
                                {
                                    "sentBy": "Consumer",
                                    "timeL": 2,
                                    "messageData": {"msg": {"text": "Hi. It's me."}},
                                },
                                {
                                    "sentBy": "Agent",
                                    "timeL": 4,
                                    "audience": "AGENTS_AND_MANAGERS",
                                    "messageData": {"msg": {"text": "Help me!"}},
                                },
                                {
                                    "sentBy": "Agent",
                                    "timeL": 5,
                                    "messageData": {"file": {"fileType": "JPEG"}},
                                },
                            ],
                        }
                    ],
                },
                ("Consumer", "Agent"),
                {"1 internal note left out", "1 media placeholder left out"},
            ),
            (
                {
                    "character": {"name": "Bo"},
                    "histories": {
                        "histories": [
                            {
                                "external_id": "7",
                                "msgs": [
                                    {"text": "Hi. It's me.", "src": {"name": "Ann", "is_human": True}},
                                    {"text": "Ho.", "src": {"name": "Bo"}, "is_alternative": True},
                                    {"text": "Hello.", "src": {"name": "Bo"}},
                                ],
                            }
                        ]
                    },
                },
                ("Ann", "Bo"),
                {"1 alternative answer left out"},
            ),
            (
                {
                    "id": "7",
                    "turns": [
                        {
                            "author": {"name": "Bo"},
                            "create_time": "2025-11-14T09:02:00Z",
                            "candidates": [
                                {"candidate_id": "x", "raw_content": "Ho."},
                                {"candidate_id": "y", "raw_content": "Hello."},
                            ],
                            "primary_candidate_id": "y",
                        },
                        {
                            "author": {"name": "Ann"},
                            "create_time": "2025-11-14T09:01:00Z",
                            "candidates": [{"candidate_id": "z", "raw_content": "Hi. It's me."}],
                        },
                    ],
                },
                ("Ann", "Bo"),
                {"1 alternative answer left out"},
            ),
        ],
    )
    def test_have_the_text_and_the_speaker_of_each_message(
        self, tmp_path: Path, document: dict[str, Any], speakers: tuple[str, str], notices: set[str]
    ) -> None:
        file = written(tmp_path / "t.json", json.dumps(document))
        assert said(file) == {"7": [(speakers[0], "Hi. It's me."), (speakers[1], "Hello.")]}
        assert notices <= set(notices_of(file))

    def test_of_twitter_are_read_from_the_script_of_the_archive(self, tmp_path: Path) -> None:
        messages = [
            {"messageCreate": {"senderId": "2", "text": "Hello.", "createdAt": "2025-11-14T09:02:00.000Z"}},
            {"joinConversation": {"initiatingUserId": "2"}},
            {"messageCreate": {"senderId": "1", "text": "Hi.", "createdAt": "2025-11-14T09:01:00.000Z"}},
        ]
        talks = [{"dmConversation": {"conversationId": "1-2", "messages": messages}}]
        text = f"window.YTD.direct_messages.part0 = {json.dumps(talks, indent=1)}"
        file = written(tmp_path / "direct-messages.js", text)
        assert said(file) == {"1-2": [("1", "Hi."), ("2", "Hello.")]}
        assert "1 service message left out" in notices_of(file)

    def test_of_teams_without_a_chat_are_threads(self, tmp_path: Path) -> None:
        rows = [
            {
                "id": "1",
                "replyToId": None,
                "chatId": None,
                "from": "Ann",
                "body": {"contentType": "text", "content": "3 < 4?"},
            },
            {
                "id": "2",
                "replyToId": "1",
                "chatId": None,
                "from": "Bo",
                "body": {"contentType": "text", "content": "Yes."},
            },
            {
                "id": "3",
                "replyToId": None,
                "chatId": None,
                "from": "Bo",
                "body": {"contentType": "text", "content": "Hi."},
            },
        ]
        file = written(tmp_path / "t.json", json.dumps({"value": rows}))
        assert said(file) == {"1": [("Ann", "3 < 4?"), ("Bo", "Yes.")], "3": [("Bo", "Hi.")]}

    def test_of_google_chat_are_topics_if_topics_have_answers(self, tmp_path: Path) -> None:
        def topics_of(*topics: str) -> dict[str, Any]:
            texts = zip("abcd", topics, strict=True)
            return {
                "messages": [{"creator": {"name": "Ann"}, "text": text, "topic_id": id} for text, id in texts]
            }

        assert texts(written(tmp_path / "t.json", json.dumps(topics_of("x", "y", "x", "y")))) == {
            "x": ["a", "c"],
            "y": ["b", "d"],
        }
        # Outside of threads, each message has its own topic.
        assert texts(written(tmp_path / "u.json", json.dumps(topics_of("w", "x", "y", "z")))) == {
            "0": list("abcd")
        }

    def test_of_snapchat_are_lists_whose_keys_name_the_chats(self, tmp_path: Path) -> None:
        def row(name: str, minute: int, text: str) -> dict[str, Any]:
            return {
                "From": name,
                "Media Type": "TEXT",
                "Created": f"2025-11-14 09:0{minute}:00 UTC",
                "Content": text,
            }

        chats = {"bo7": [row("bo7", 2, "Hello."), row("ann", 1, "Hi.")], "cid": [row("cid", 1, "Ho.")]}
        file = written(tmp_path / "t.json", json.dumps(chats))
        assert said(file) == {"bo7": [("ann", "Hi."), ("bo7", "Hello.")], "cid": [("cid", "Ho.")]}
        assert f"{file}: the keys of the lists are the names of the dialogues" in notices_of(file)


class TestChatsOfQqAndWechat:
    QQ = """消息记录（此消息记录为文本格式，不支持重新导入）

================================================================
消息对象:面包群
================================================================

2025-11-14 9:01:12 【管理员】Ann(12345678)
Is it fresh?

2025-11-14 12:02:15 Bo<bo@example.org>
Yes!
I'll come: at ten.

2025-11-14 12:03:00 Bo<bo@example.org>
[图片]

2025-11-14 12:03:01 系统消息(10000)
Cid加入本群。

2025-11-14 12:04:20 Ann(12345678)
Good.
"""
    WECHAT = """Ann 2025-11-14 09:01:12
Is it fresh?

Bo 2025-11-14 12:02
Yes!
I'll come: at ten.

Ann 2025-11-14 12:04:20
Good.
"""

    @pytest.mark.parametrize(
        ("text", "notices"),
        [(QQ, {"5 system lines left out", "1 media placeholder left out"}), (WECHAT, set[str]())],
    )
    def test_are_read_without_lines_of_the_program(
        self, tmp_path: Path, text: str, notices: set[str]
    ) -> None:
        file = written(tmp_path / "t.txt", text)
        assert chat(file, "whatsapp") == (TestChatsOfOtherPrograms.TURNS, notices, [])
        with pytest.raises(InputError, match="looks like a file for the loader 'whatsapp'"):
            load(file)


@pytest.mark.parametrize(
    "line",
    [
        "Você apagou esta mensagem", "Esta mensagem foi apagada pelo admin Ana", "Esta mensagem foi apagada.",
        "Eliminaste este mensaje", "Ce message a été supprimé par l’admin Ana",
        "Hai eliminato questo messaggio",
        "Je hebt dit bericht verwijderd", "Du raderade det här meddelandet", "Du slettede denne besked",
        "Usunięto tę wiadomość", "Bu mesaj silindi", "Вы удалили данное сообщение", "此消息已删除",
    ],
)  # fmt: skip
def test_deleted_messages_are_left_out_in_other_languages(tmp_path: Path, line: str) -> None:
    rows = f"9:14 - Ana: Bom dia!\n9:15 - Edu: {line}\n9:16 - Edu: Oi: {line}\n"
    rows = "".join(f"03/11/2025 0{row}\n" for row in rows.splitlines())
    turns, notices, left = chat(written(tmp_path / "chat.txt", rows), "whatsapp")
    assert (turns, left) == ([("Ana", "Bom dia!"), ("Edu", f"Oi: {line}")], [])
    assert notices == {"1 deleted message left out"}


@pytest.mark.parametrize("comments", [[{"date": "2025-10-01 08:00:00", "comment": "Nice."}], []])
def test_chats_of_tiktok_are_named_by_their_keys(tmp_path: Path, comments: list[Any]) -> None:
    def message(minute: int, who: str, text: str) -> dict[str, str]:
        return {"Date": f"2025-11-14 09:{minute:02}:03", "From": who, "Content": text}

    chats = {
        "Chat History with bo:": [message(9, "bo", "Ok."), message(2, "ann", "Hi bo.")],
        "Chat History with cy:": [message(5, "cy", "Hi ann.")],
        "Chat History with di:": [],
    }
    export = {
        "Activity": {"Favorite Videos": {"FavoriteVideoList": [{"Date": "2025-11-01", "Link": "x"}]}},
        "Comment": {"Comments": {"CommentsList": comments}},
        "Direct Messages": {"Chat History": {"ChatHistory": chats}},
        "Profile": {"Profile Information": {"ProfileMap": {"userName": "ann"}}},
    }
    file = written(tmp_path / "user_data.json", json.dumps(export, indent=1))
    assert said(file) == {
        "Chat History with bo:": [("ann", "Hi bo."), ("bo", "Ok.")],
        "Chat History with cy:": [("cy", "Hi ann.")],
    }
