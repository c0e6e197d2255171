"""Tests of exports of help desks as users have them: internal notes, drafts, HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from graphneg.errors import InputError
from graphneg.model import Dialogue
from tests.ingest.found_files import notices_of, texts
from tests.ingest.test_dialogue_files import load, said
from tests.loader_samples import written


class TestInternalNotes:
    @pytest.mark.parametrize(
        ("column", "note", "public"),
        [
            ("Intern", "Ja", "Nein"),
            ("Interne Notiz", "WAHR", "FALSCH"),
            ("Öffentlich", "Nein", "Ja"),
            ("Öffentlich?", "Falsch", "Wahr"),
            ("Notiztyp", "intern", "öffentlich"),
            ("Commentaire interne", "oui", "non"),
            ("Privé", "Vrai", "Faux"),
            ("Réponse publique", "non", "oui"),
            ("Es privado", "Sí", "No"),
            ("Visibilidad", "interna", "pública"),
            ("Nota interna", "Sì", "No"),
            ("Privada", "Sim", "Não"),
            ("Interne notitie", "Ja", "Nee"),
            ("Openbaar", "Onwaar", "Waar"),
            ("IsPublished", "false", "true"),
            ("IsPublic", "0", "1"),
        ],
    )
    def test_internal_notes_are_found_by_columns_in_many_languages(
        self, tmp_path: Path, column: str, note: str, public: str
    ) -> None:
        rows = f"ticket_id;text;{column}\n1;Hi.;{public}\n1;Do not refund.;{note}\n1;Hello.;{public}\n"
        file = written(tmp_path / "t.csv", rows)
        assert texts(file) == {"1": ["Hi.", "Hello."]}
        assert notices_of(file)[1:] == ["1 internal note left out"]

    @pytest.mark.parametrize(
        ("column", "cells"),
        [
            ("Internal phone", ["12", "0", "1"]),
            ("Public key", ["no", "yes", "no"]),
            ("Interne Notiz", ["Kunde ist schwierig, intern klären", "Das ist eine interne Sache", "Ja"]),
            ("Staff", ["yes", "no", "yes"]),
        ],
    )
    def test_internal_notes_are_not_found_in_unrelated_columns(
        self, tmp_path: Path, column: str, cells: list[str]
    ) -> None:
        rows = "".join(f"1;Text {at}.;{cell}\n" for at, cell in enumerate(cells))
        file = written(tmp_path / "t.csv", f"ticket_id;text;{column}\n{rows}")
        assert texts(file) == {"1": ["Text 0.", "Text 1.", "Text 2."]}

    def test_a_column_that_may_mark_internal_notes_is_named(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "ticket_id;text;Intern\n1;Hi.;\n1;Do not refund.;stufe 2\n")
        assert texts(file) == {"1": ["Hi.", "Do not refund."]}
        hint = "its values are unknown: --map 'internal=Intern' leaves these turns out"
        assert f"the column 'Intern' may mark internal notes, but {hint}" in notices_of(file)
        assert texts(file, map={"internal": "Intern"}) == {"1": ["Hi."]}


class TestNotesOfOtherPrograms:
    def test_of_servicenow_are_the_work_notes(self, tmp_path: Path) -> None:
        rows = (
            "INC1,work_notes,2025-11-14 09:02:00,kim,Be careful.\nINC1,comments,2025-11-14 09:01:00,ann,Hi.\n"
        )
        header = "element_id,element,sys_created_on,sys_created_by,value"
        file = written(tmp_path / "t.csv", f"{header}\n{rows}")
        assert said(file) == {"INC1": [("ann", "Hi.")]}
        assert "1 internal note left out" in notices_of(file)

    def test_of_gitlab_are_the_internal_ones_and_not_all_notes(self, tmp_path: Path) -> None:
        note = {
            "type": "DiscussionNote",
            "author": {"username": "ann"},
            "system": False,
            "internal": False,
            "noteable_type": "Issue",
        }
        notes = [
            note | {"body": "Hi."},
            note | {"body": "changed the title", "system": True},
            note | {"body": "Be careful.", "internal": True},
        ]
        file = written(tmp_path / "t.json", json.dumps([{"id": "d", "notes": notes}]))
        assert texts(file, map={"turns": "notes"}) == {"d": ["Hi."]}
        assert set(notices_of(file, map={"turns": "notes"})) == {
            "1 internal note left out",
            "1 service message left out",
        }

    def test_of_livechat_are_seen_by_agents_only(self, tmp_path: Path) -> None:
        events = [
            {"author_id": "a", "type": "message", "text": "Hi.", "visibility": "all"},
            {"author_id": "a", "type": "message", "text": "Be careful.", "visibility": "agents"},
            {"type": "system_message", "text": "Chat archived"},
        ]
        file = written(tmp_path / "t.json", json.dumps([{"id": "d", "messages": events}]))
        assert texts(file) == {"d": ["Hi."]}


def test_the_text_of_a_part_may_be_an_object(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": {"value": "Hi.", "annotations": []}}]
    page = {"object": "list", "data": [{"role": "user", "content": parts}], "has_more": False}
    file = written(tmp_path / "t.jsonl", "\n".join([json.dumps(page)] * 2))
    assert said(file, map={"turns": "data"})["0"] == [("user", "Hi.")]
    assert said(file, map={"turns": "data"})["1"] == [("user", "Hi.")]


class TestMessagesOfHelpDesks:
    THREADS: ClassVar = [
        {"type": "note", "state": "published", "body": "Be careful.", "createdBy": {"id": 1, "first": "Kim"}},
        {
            "type": "customer",
            "state": "published",
            "body": "Hi.",
            "createdBy": {"first": "Ann", "last": "Lee"},
        },
        {"type": "lineitem", "state": "published", "action": {"text": "closed"}, "createdBy": {"id": 1}},
        {"type": "message", "state": "draft", "body": "Never sent.", "createdBy": {"first": "Kim"}},
        {
            "type": "message",
            "state": "published",
            "body": "Hello.",
            "createdBy": {"first": "Kim", "type": "user"},
        },
    ]

    @pytest.mark.parametrize("ticket", [{"threads": THREADS}, {"_embedded": {"threads": THREADS}}])
    def test_messages_of_help_scout_are_public_unless_they_are_notes_or_drafts(
        self, tmp_path: Path, ticket: dict[str, Any]
    ) -> None:
        file = written(tmp_path / "t.jsonl", json.dumps({"id": 7} | ticket))
        assert said(file) == {"7": [("Ann Lee", "Hi."), ("Kim", "Hello.")]}
        assert sorted(notices_of(file)) == [
            "1 draft left out",
            "1 internal note left out",
            "1 service message left out",
        ]

    def test_comments_of_hubspot_are_omitted(self, tmp_path: Path) -> None:
        sender = [{"actorId": "V-1", "name": "Ann"}]
        rows = [
            {"conversationsThreadId": "9", "type": "MESSAGE", "text": "Hi.", "senders": sender},
            {"conversationsThreadId": "9", "type": "COMMENT", "text": "Can you take it?", "senders": []},
        ]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file) == {"9": [("Ann", "Hi.")]}
        assert notices_of(file) == ["1 internal note left out"]

    @pytest.mark.parametrize(
        ("person", "name"),
        [
            ({"login": "ann", "id": 7, "type": "User"}, "ann"),
            ({"user": {"id": "u1", "displayName": "Ann Lee"}}, "Ann Lee"),
            ({"firstName": "Ann", "lastName": "Lee", "role": "agent"}, "Ann Lee"),
        ],
    )
    def test_people_are_named_by_login_or_by_first_and_last_name(
        self, tmp_path: Path, person: dict[str, Any], name: str
    ) -> None:
        file = written(tmp_path / "t.jsonl", json.dumps({"messages": [{"user": person, "body": "Hi."}]}))
        assert said(file) == {"0": [(name, "Hi.")]}


class TestAMessageThatIsMarkedAs:
    @pytest.mark.parametrize(
        ("columns", "cells", "notice"),
        [
            ("IS MESSAGE DRAFT", ["No", "Yes"], "1 draft left out"),
            ("deleted_at", ["", "2025-11-03 08:12:05 UTC"], "1 deleted message left out"),
            ("deleted", ["", "true"], "1 deleted message left out"),
            ("isUnsent", ["false", "true"], "1 deleted message left out"),
            ("dead", ["", "true"], "1 hidden message left out"),
            ("hidden", ["false", "true"], "1 hidden message left out"),
            ("state", ["published", "draft"], "1 draft left out"),
            ("post_number,post_type", ["1,1", "2,4"], "1 internal note left out"),
            ("post_visibility", ["1", "2"], "1 deleted message left out"),
            ("post_visibility", ["1", "0"], "1 hidden message left out"),
            ("post_visibility", ["1.0", "3.0"], "1 hidden message left out"),
            ("post_approved", ["1", "0"], "1 hidden message left out"),
            ("post_delete_time", ["0", "1700002500"], "1 deleted message left out"),
            ("message_state", ["visible", "moderated"], "1 hidden message left out"),
            ("post_status", ["publish", "spam"], "1 hidden message left out"),
            ("is_deleted", ["0", "1"], "1 deleted message left out"),
            ("pid,tid,visible", ["1,1,1", "2,1,-1"], "1 deleted message left out"),
            ("messageType", ["message", "systemEventMessage"], "1 service message left out"),
            ("messageType", ["message", "unknownFutureValue"], "1 service message left out"),
        ],
    )
    def test_a_message_marked_as_no_part_of_the_conversation_is_omitted_and_counted(
        self, tmp_path: Path, columns: str, cells: list[str], notice: str
    ) -> None:
        rows = f"topic_id,speaker,text,{columns}\n1,Ann,Hi.,{cells[0]}\n1,Bo,Ho.,{cells[1]}\n"
        file = written(tmp_path / "t.csv", rows)
        assert texts(file) == {"1": ["Hi."]}
        assert notices_of(file) == [notice]

    @pytest.mark.parametrize(
        ("column", "cell"), [("deleted_at", "null"), ("post_type", "4"), ("state", "OH"), ("visible", "0")]
    )
    def test_a_message_with_another_mark_is_kept(self, tmp_path: Path, column: str, cell: str) -> None:
        file = written(tmp_path / "t.csv", f"topic_id,speaker,text,{column}\n1,Ann,Hi.,{cell}\n")
        assert texts(file) == {"1": ["Hi."]}


class TestTextsInHtml:
    def talk(self, folder: Path, *bodies: str) -> Path:
        return written(
            folder / "t.jsonl", json.dumps({"messages": [{"user": "Ann", "body": one} for one in bodies]})
        )

    def test_tags_are_removed_if_all_texts_of_the_dialogue_have_them(self, tmp_path: Path) -> None:
        file = self.talk(
            tmp_path, "<p>It&#39;s <b>late</b>.</p><p>Where is it?</p>", '<div dir="ltr">Here.</div>'
        )
        assert texts(file) == {"0": ["It's late.\nWhere is it?", "Here."]}
        assert notices_of(file) == ["2 texts converted from HTML"]

    def test_other_tags_are_kept_and_the_report_explains_how_to_remove_them(self, tmp_path: Path) -> None:
        file = self.talk(tmp_path, "How do I write a paragraph?", "<p>Like this.</p>")
        assert texts(file)["0"][1] == "<p>Like this.</p>"
        assert notices_of(file) == ["1 text with HTML tags kept: --clean removes them"]
        assert texts(file, clean=True)["0"][1] == "Like this."


class TestKindsOfMessages:
    ROWS = (
        "c1,system,Assigned to Kim.\nc1,{0},Where is my refund?\nc1,private,VIP? Check the plan.\n"
        "c1,{0},It is on its way.\n"
    )

    @pytest.mark.parametrize("kind", ["normal", "Regular", "public", "message", "text", "chat", "reply"])
    @pytest.mark.parametrize("map", [{}, {"internal": ""}])
    def test_private_and_system_messages_are_left_out(
        self, tmp_path: Path, kind: str, map: dict[str, str]
    ) -> None:
        file = written(
            tmp_path / "t.csv", f"Conversation ID,Message Type,Message Content\n{self.ROWS.format(kind)}"
        )
        assert texts(file, map=map) == {"c1": ["Where is my refund?", "It is on its way."]}
        assert {"1 service message left out", "1 internal note left out"} <= set(notices_of(file))

    def test_messages_of_unknown_kinds_can_be_kept_without_the_notes(self, tmp_path: Path) -> None:
        file = written(
            tmp_path / "t.csv", f"Conversation ID,Message Type,Message Content\n{self.ROWS.format('kind_a')}"
        )
        with pytest.raises(InputError, match="--map internal= keeps those of unknown kinds"):
            load(file)
        assert texts(file, map={"internal": ""}) == {"c1": ["Where is my refund?", "It is on its way."]}


def test_rows_with_an_object_in_place_of_the_text_are_left_out(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"session_id": "s", "type": "text", "from": "user", "content": "Hi.", "timestamp": 1763110863000},
        {"session_id": "s", "type": "note", "from": "operator", "content": "VIP", "timestamp": 1763110864000},
        {
            "session_id": "s",
            "type": "file",
            "from": "user",
            "content": {"name": "a.png", "type": "image/png"},
            "timestamp": 1763110865000,
        },
        {"session_id": "s", "type": "text", "from": "operator", "content": "Ok.", "timestamp": 1763110866000},
    ]
    file = written(tmp_path / "t.json", json.dumps(rows))
    assert said(file) == {"s": [("user", "Hi."), ("operator", "Ok.")]}
    assert notices_of(file) == ["1 turn left out as without text", "1 internal note left out"]


def test_an_object_under_another_key_than_the_texts_is_not_left_out(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"session_id": "s", "from": "user", "content": "Hi."},
        {"session_id": "s", "from": "user", "message": {"content": "Why?", "role": "user", "id": 7}},
        {"session_id": "t", "from": "user", "content": "Ho."},
    ]
    records, _ = load(written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows))))
    assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/t"]


class TestKindsOfAuthorsBesideNames:
    """The prompt and the tool calls of an assistant have its name, and another column names their kind."""

    HEAD = "Conversation ID,Part type,Created at (UTC),Author type,Author ID,Author name,Body\n"
    ROWS: ClassVar = [
        ("comment", "user", "Lena", "Where is my refund?"),
        ("comment", "system", "Fin", "You are Fin."),
        ("comment", "tool", "Fin", "lookup A-77"),
        ("comment", "Function Call", "Fin", "refund A-77"),
        ("comment", "bot", "Fin", "It was sent."),
        ("note", "system", "Fin", "VIP."),
        ("comment", "user", "Lena", '[Image ""https://x.org/bank.png""]'),
        ("comment", "admin", "Tom", "I will send it again."),
    ]
    TALK: ClassVar = ["Where is my refund?", "It was sent.", "I will send it again."]
    NOTICES: ClassVar = {
        "1 system message kept out of the turns", "2 tool messages kept out of the turns",
        "1 internal note left out", "1 media placeholder left out",
    }  # fmt: skip

    def file(self, folder: Path, rows: Sequence[tuple[str, ...]], *, names: bool = True) -> Path:
        lines = [
            f'7,{part},2025-11-03 08:00:{at:02},{kind},{name.lower()}1,{name if names else ""},"{text}"'
            for at, (part, kind, name, text) in enumerate(rows)
        ]
        return written(folder / "parts.csv", self.HEAD + "\n".join(lines) + "\n")

    @pytest.mark.parametrize("names", [True, False])
    def test_prompts_and_tool_messages_are_left_out(self, tmp_path: Path, names: bool) -> None:
        path = self.file(tmp_path, self.ROWS, names=names)
        assert texts(path) == {"7": self.TALK}
        assert set(notices_of(path)) >= self.NOTICES

    def test_the_hint_for_unknown_notes_does_not_load_them(self, tmp_path: Path) -> None:
        kinds = {"system": "system_prompt", "tool": "tool_call"}
        rows = [
            (kinds.get(kind, part), "bot" if name == "Fin" else kind, name, text)
            for part, kind, name, text in self.ROWS
            if text not in ("VIP.", "refund A-77")
        ]
        path = self.file(tmp_path, rows)
        assert texts(path, map={"internal": ""}) == {"7": self.TALK}
        assert not any("possible internal note" in line for line in notices_of(path))

    def test_messages_of_json_files_are_left_out(self, tmp_path: Path) -> None:
        turns = [
            {"author": {"type": kind, "name": name}, "body": text} for _, kind, name, text in self.ROWS[:5]
        ]
        path = written(tmp_path / "talk.json", json.dumps([{"id": "7", "messages": turns}]))
        assert texts(path) == {"7": self.TALK[:2]}

    def test_a_dialogue_system_is_a_participant(self, tmp_path: Path) -> None:
        rows = [
            ("comment", "user", "Lena", "A table for two."),
            ("comment", "system", "Diner", "For what time?"),
        ]
        assert texts(self.file(tmp_path, rows)) == {"7": ["A table for two.", "For what time?"]}
