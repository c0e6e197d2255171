"""Tests of files as users have them: notes, HTML, garbled text and unknown shapes, with advice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from tests.ingest.test_dialogue_files import load, refused, said
from tests.loader_samples import written

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def notices_of(*given: Any, **options: Any) -> list[str]:
    """Return the notices of a load, without those that name the columns."""
    return [line for line in load(*given, **options)[1].notices.lines() if ": read as " not in line]


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


class TestCommentsOfWordPress:
    def test_are_read_without_spam_and_with_names_instead_of_numbers(self, tmp_path: Path) -> None:
        header = (
            "comment_ID,comment_post_ID,comment_author,comment_content,"
            "comment_approved,comment_parent,user_id"
        )
        rows = "7,3,Ann,Hi.,1,0,0\n8,3,Pills,Buy!,spam,0,0\n9,3,Bo,Hello.,1,7,0\n"
        file = written(tmp_path / "t.csv", f"{header}\n{rows}")
        assert said(file) == {"3": [("Ann", "Hi."), ("Bo", "Hello.")]}
        assert notices_of(file) == ["1 hidden message left out"]


class TestTablesFromSpreadsheets:
    def test_with_rounded_ids_are_refused(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "ticket_id,text\n1.76E+12,Hi.\n1.76E+12,Ho.\n")
        with pytest.raises(
            InputError, match=r"'1.76E\+12' was rounded by a spreadsheet: export the ids as text"
        ):
            load(file)

    def test_with_merged_cells_are_filled_down(self, tmp_path: Path) -> None:
        rows = "T1;Ann;Hi.\n;Bo;Hello.\nT2;Ann;Is it late?\n;Bo;No.\n;Ann;Good.\n"
        file = written(tmp_path / "t.csv", f"Ticket;Sender;Message\n{rows}")
        assert texts(file) == {"T1": ["Hi.", "Hello."], "T2": ["Is it late?", "No.", "Good."]}
        assert any(
            "an empty 'Ticket' means the dialogue of the row above" in line for line in notices_of(file)
        )

    @pytest.mark.parametrize(
        "rows", ["T1;Ann;Hi.\nT1;Bo;Hello.\n;Bo;No.\n;Ann;Ok.\n", ";Bo;No.\nT1;Ann;Hi.\n;Ann;Ok.\n"]
    )
    def test_with_rows_of_no_dialogue_are_not_filled(self, tmp_path: Path, rows: str) -> None:
        file = written(tmp_path / "t.csv", f"Ticket;Sender;Message\n{rows}")
        assert any("'Ticket' is empty" in line for line in refused(load(file)[0]))

    def test_with_lines_above_the_header_are_read_from_the_header(self, tmp_path: Path) -> None:
        above = '"Case comments"\n"As of 2025-11-16, all cases"\n\n'
        file = written(tmp_path / "t.csv", f"{above}Case Number,Created By,Comment\n7,Ann,Hi.\n")
        assert said(file) == {"7": [("Ann", "Hi.")]}
        assert any(
            line.endswith("line 4 is read as the header, and the lines above it are left out")
            for line in notices_of(file)
        )

    def test_with_a_column_for_each_turn_are_refused_with_what_to_do(self, tmp_path: Path) -> None:
        rows = "dialogue_id,utterance_1,utterance_2,utterance_3\n1,Hi.,Ho.,Bye.\n"
        file = written(tmp_path / "t.csv", rows)
        with pytest.raises(
            InputError, match="look like the turns of a dialogue: write one row for each turn"
        ):
            load(file)
        lines = notices_of(file, map={"text": "utterance_1"})
        assert any("to load all of them, write one row for each turn" in line for line in lines)

    def test_with_a_column_for_each_speaker_are_refused_with_what_to_do(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "chat_id,Customer,Agent\n1,Hi.,\n1,,Hello.\n")
        with pytest.raises(InputError, match="'Customer' and 'Agent' look like two messages in one row"):
            load(file)


class TestIdsThatEndWithTheNumberOfTheTurn:
    ROWS = "dialogue_id,utterance_id,text\nq,q7_10,Ten.\nq,q7_9,Nine.\n" + "".join(
        f"q,q7_{at},Text {at}.\n" for at in range(1, 9)
    )

    def test_are_reported_and_sort_the_turns_if_the_user_says_so(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", self.ROWS)
        notice = (
            "whose 'utterance_id' counts in another order than its rows: --map turn=utterance_id sorts them"
        )
        assert f"1 dialogue {notice}" in notices_of(file)
        assert texts(file, map={"turn": "utterance_id"})["q"][-2:] == ["Nine.", "Ten."]

    def test_are_not_negative_or_broken_numbers(self, tmp_path: Path) -> None:
        for cell in ("-1", "1.5"):
            file = written(tmp_path / "t.csv", f"dialogue_id,turn,text\nq,{cell},Hi.\n")
            with pytest.raises(InputError, match="is not a number"):
                load(file)


def test_the_text_of_a_part_may_be_an_object(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": {"value": "Hi.", "annotations": []}}]
    page = {"object": "list", "data": [{"role": "user", "content": parts}], "has_more": False}
    file = written(tmp_path / "t.jsonl", "\n".join([json.dumps(page)] * 2))
    assert said(file, map={"turns": "data"})["0"] == [("user", "Hi.")]
    assert said(file, map={"turns": "data"})["1"] == [("user", "Hi.")]


class TestRowsThatNameAParent:
    CASES = "Id,ParentId,CommentBody\n11,c1,Hi.\n12,c2,Is it open?\n13,c1,Hello.\n14,c2,Yes.\n"

    def test_rows_are_grouped_by_their_parent_if_no_parent_is_a_row(self, tmp_path: Path) -> None:
        file = written(tmp_path / "cases.csv", self.CASES)
        assert texts(file) == {"c1": ["Hi.", "Hello."], "c2": ["Is it open?", "Yes."]}
        assert notices_of(file)[0].endswith(
            "'ParentId' never names a row of the file, so rows with the same 'ParentId' form a dialogue"
        )

    def test_rows_with_missing_parents_are_counted(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "id,parent_id,text\n1,,Hi.\n2,1,Hello.\n3,9,Yes.\n")
        assert texts(file) == {"1": ["Hi.", "Hello."], "3": ["Yes."]}
        assert (
            "1 message that begins a dialogue, because the message that it answers is missing"
            in notices_of(file)
        )


class TestAColumnOfUnixTimes:
    ROWS: ClassVar = [(1700000300, "Yes."), (1700000200, "Is it open?"), (1700000100, "Hi.")]

    @pytest.mark.parametrize("unit", [1, 1000])
    def test_a_column_of_unix_times_with_an_unknown_name_is_reported(self, tmp_path: Path, unit: int) -> None:
        rows = "".join(f"1,{time * unit},20,{text}\n" for time, text in self.ROWS)
        file = written(tmp_path / "t.csv", f"threadid,moment,likes,message\n{rows}")
        notice = "these look like times: moment; name the right one with --map time=NAME"
        assert any(line.endswith(notice) for line in notices_of(file))
        assert texts(file, map={"time": "moment"}) == {"1": ["Hi.", "Is it open?", "Yes."]}

    def test_rows_of_a_forum_are_ordered_by_dateline(self, tmp_path: Path) -> None:
        rows = "".join(
            f"{9 - at},1,{7 * (at < 2)},{time},{text}\n" for at, (time, text) in enumerate(self.ROWS)
        )
        file = written(tmp_path / "t.csv", f"postid,threadid,parentid,dateline,pagetext\n{rows}")
        assert texts(file) == {"1": ["Hi.", "Is it open?", "Yes."]}
        assert not any("missing" in line for line in notices_of(file))


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


class TestATranscriptInOneCell:
    TALK = "Agent: Hello.\nCustomer: My parcel is late.\nIt should be here.\nAgent: Which number?"
    TURNS: ClassVar = [
        ("Agent", "Hello."),
        ("Customer", "My parcel is late. It should be here."),
        ("Agent", "Which number?"),
    ]

    @pytest.mark.parametrize(
        ("keys", "named"),
        [
            (("call_id", "transcript"), {}),
            (("id", "dialogue"), {}),
            (("id", "dialogue"), {"text": "dialogue"}),
            (("id", "talk"), {"text": "talk"}),
            (("id", "talk"), {"turns": "talk"}),
        ],
    )
    def test_a_transcript_in_one_cell_is_split_into_its_turns(
        self, tmp_path: Path, keys: tuple[str, str], named: dict[str, str]
    ) -> None:
        rows = [dict(zip(keys, (f"c{at}", self.TALK), strict=True)) for at in range(3)]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file, map=named) == {f"c{at}": self.TURNS for at in range(3)}
        notice = f"{keys[1]!r} contains whole transcripts, whose lines are read as turns"
        assert any(line.endswith(notice) for line in load(file, map=named)[1].notices.lines())

    def test_names_between_number_signs_are_read(self, tmp_path: Path) -> None:
        talk = "#Person1#: Hello.\n#Person2#: Hi.\n#Person1#: Is it late?"
        rows = [{"id": at, "dialogue": talk} for at in (1, 2)]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file)["1"][0] == ("#Person1#", "Hello.")

    @pytest.mark.parametrize(
        "rows",
        [
            [{"ticket_id": 1, "text": TALK}, {"ticket_id": 1, "text": TALK}],
            [{"ticket_id": 1, "text": TALK}, {"ticket_id": 2, "text": "Hi."}],
            [{"ticket_id": 1, "text": "Name: Ann\nOrder: 7"}, {"ticket_id": 2, "text": "Name: Bo\nOrder: 8"}],
        ],
    )
    def test_a_cell_is_one_turn_if_other_rows_show_that_it_is_a_message(
        self, tmp_path: Path, rows: list[dict[str, Any]]
    ) -> None:
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert sum(map(len, said(file).values())) == 2

    def test_cells_that_may_be_transcripts_without_names_are_reported(self, tmp_path: Path) -> None:
        rows = "".join(f'{at},"Hi.\nHello."\n' for at in range(3))
        notice = "all 3 dialogues have one turn of several lines; if their texts are whole transcripts, write"
        assert any(
            notice in line for line in notices_of(written(tmp_path / "t.csv", f"call_id,text\n{rows}"))
        )


def wrapped(kind: str, text: str) -> dict[str, Any]:
    """A message as LangChain's memory writes it."""
    return {"type": kind, "data": {"content": text, "type": kind, "additional_kwargs": {}}}


def printed_by_numpy(values: Any) -> str:
    return str(np.array(values, dtype=object))


class TestListsInCells:
    TALK: ClassVar = [
        {"role": "user", "content": 'It\'s "late".\nIs it open?'},
        {"role": "bot", "content": "Don't know, [maybe]."},
    ]
    TURNS: ClassVar = [("user", 'It\'s "late".\nIs it open?'), ("bot", "Don't know, [maybe].")]

    def table(self, folder: Path, column: str, *cells: str) -> Path:
        rows = pd.DataFrame({"conversation_id": [f"c{at}" for at in range(len(cells))], column: cells})
        rows.to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"

    @pytest.mark.parametrize("printed", [json.dumps, str, printed_by_numpy])
    @pytest.mark.parametrize(
        ("column", "named"),
        [
            ("messages", {}),
            ("conversation", {}),
            ("content", {}),
            ("conversation", {"text": "conversation"}),
            ("talk", {"text": "talk"}),
            ("talk", {"turns": "talk"}),
        ],
    )
    def test_are_decoded_whatever_program_printed_them(
        self, tmp_path: Path, printed: Any, column: str, named: dict[str, str]
    ) -> None:
        file = self.table(tmp_path, column, printed(self.TALK), printed(self.TALK))
        assert said(file, map=named) == {"c0": self.TURNS, "c1": self.TURNS}

    def test_of_texts_are_turns(self, tmp_path: Path) -> None:
        file = self.table(tmp_path, "dialog", str(np.array(["It's late.", 'A "B".'])), "['Hi.', 'Ho.']")
        assert texts(file) == {"c0": ["It's late.", 'A "B".'], "c1": ["Hi.", "Ho."]}

    def test_that_are_cut_off_are_refused(self, tmp_path: Path) -> None:
        whole = json.dumps(self.TALK)
        records, _ = load(self.table(tmp_path, "messages", whole, whole[:-9], whole))
        assert len(records) == 3
        assert refused(records) == [
            "t.csv:3 item 1: the list in 'messages' can't be decoded: it may be cut off"
        ]

    def test_are_texts_if_they_are_messages_among_others(self, tmp_path: Path) -> None:
        rows = "1,Ann,\"['Hi.']\"\n1,Bo,What is that?\n2,Ann,Hi.\n"
        file = written(tmp_path / "t.csv", f"conversation_id,speaker,text\n{rows}")
        assert texts(file) == {"1": ["['Hi.']", "What is that?"], "2": ["Hi."]}

    def test_are_texts_if_users_write_texts_and_a_bot_sends_objects(self, tmp_path: Path) -> None:
        rows = [
            {"session_id": "s", "speaker": "bot", "text": '{"card": {"title": "Hi."}}'},
            {"session_id": "s", "speaker": "user", "text": "Hello."},
            {"session_id": "s", "speaker": "bot", "text": '{"card": {"title": "Bye."}}'},
        ]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert texts(file) == {"s": [row["text"] for row in rows]}

    def test_may_be_single_messages_of_langchain(self, tmp_path: Path) -> None:
        messages = [wrapped("system", "Be brief."), wrapped("human", "Hi."), wrapped("ai", "Hello.")]
        rows = [{"session_id": "s", "message": json.dumps(one)} for one in messages]
        pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
        assert said(tmp_path / "t.csv") == {"s": [("human", "Hi."), ("ai", "Hello.")]}

    def test_need_no_other_column_but_other_tables_do(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="the table lacks the columns text"):
            load(written(tmp_path / "t.csv", "conversation_id,messages\n1,2\n"))


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


class TestRowsOfOverlappingExports:
    def test_rows_that_repeat_a_row_and_its_id_are_omitted(self, tmp_path: Path) -> None:
        rows = "1,10,Ann,Hi.\n1,11,Bo,Hi.\n1,10,Ann,Hi.\n1,12,Ann,Hi.\n"
        file = written(tmp_path / "t.csv", f"ticket_id,comment_id,speaker,text\n{rows}")
        assert said(file) == {"1": [("Ann", "Hi."), ("Bo", "Hi."), ("Ann", "Hi.")]}
        assert notices_of(file) == ["1 row left out, as another row has the same id and content"]

    def test_rows_that_repeat_the_id_of_a_person_are_kept(self, tmp_path: Path) -> None:
        rows = "1,u1,Ok.\n1,u1,Ok.\n1,u1,Bye.\n"
        file = written(tmp_path / "t.csv", f"ticket_id,uid,text\n{rows}")
        assert texts(file) == {"1": ["Ok.", "Ok.", "Bye."]}


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


def test_a_spreadsheet_is_refused_with_advice(tmp_path: Path) -> None:
    file = written(tmp_path / "tickets.xlsx", b"PK\x03\x04" + b"x" * 100)
    with pytest.raises(InputError, match=r"looks like a spreadsheet: save it as CSV"):
        load(file)


class TestRowsWithTwoMessages:
    ROWS = "session_id,user_message,bot_response\n1,Hi.,Hello.\n1,Is it late?,No.\n"

    def test_rows_with_two_messages_are_refused_with_advice(self, tmp_path: Path) -> None:
        with pytest.raises(
            InputError, match="'user_message' and 'bot_response' look like two messages in one row"
        ):
            load(written(tmp_path / "t.csv", self.ROWS))

    def test_the_other_message_is_reported_if_the_user_names_one(self, tmp_path: Path) -> None:
        lines = notices_of(written(tmp_path / "t.csv", self.ROWS), map={"text": "user_message"})
        assert any("'bot_response' looks like the other message of each row" in line for line in lines)

    def test_rows_with_a_text_and_a_user_do_not_have_two_messages(self, tmp_path: Path) -> None:
        rows = "session_id,user,text,response\n1,Ann,Hi.,1\n1,Bo,Ho.,2\n"
        assert notices_of(written(tmp_path / "t.csv", rows)) == []


def transcript(path: Path) -> tuple[list[list[tuple[str, str]]], list[str]]:
    """Return the dialogues and the refused items of a transcript."""
    records = list(get_loader("transcript").read([path], LoadOptions()))
    talks = [[(one.speaker, one.text) for one in r.utterances] for r in records if isinstance(r, Dialogue)]
    return talks, refused(records)


class TestSubtitles:
    VTT = """WEBVTT

NOTE recorded on Monday

3f2b-0
00:00:03.120 --> 00:00:07.120
<v Ann Lee>Is the rye bread
fresh?</v>

3f2b-1
00:00:08.120 --> 00:00:12.120 align:start
<v.loud Bo><i>Yes.</i></v>
"""
    SRT = """1
00:00:03,120 --> 00:00:07,120
Ann Lee: Is the rye bread
fresh?

2
00:00:08,120 --> 00:00:12,120
Bo: Yes.
"""

    @pytest.mark.parametrize("text", [VTT, SRT, VTT.replace("\n", "\r\n"), "\ufeff" + SRT])
    def test_subtitles_with_names_are_one_dialogue(self, tmp_path: Path, text: str) -> None:
        talks, _ = transcript(written(tmp_path / "call.vtt", text))
        assert talks == [[("Ann Lee", "Is the rye bread fresh?"), ("Bo", "Yes.")]]

    def test_subtitles_are_recognised_by_their_first_lines(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="looks like a file for the loader 'transcript'"):
            load(written(tmp_path / "call.srt", self.SRT))


class TestAHeaderAboveATranscript:
    def test_a_header_is_refused_and_the_turns_are_read(self, tmp_path: Path) -> None:
        text = "Call ID: 7\nDate: 2025-11-03\nAgent: Kim\n\n[00:05] Ann: Hi.\n[00:07] Kim: Hello.\n"
        talks, lines = transcript(written(tmp_path / "call.txt", text))
        assert talks == [[("Ann", "Hi."), ("Kim", "Hello.")]]
        assert len(lines) == 1 and "its lines look like a header and not like turns" in lines[0]

    def test_names_that_speak_again_are_not_a_header(self, tmp_path: Path) -> None:
        talks, _ = transcript(written(tmp_path / "call.txt", "Time: I heal.\nAnn: Do you?\nTime: Always.\n"))
        assert len(talks) == 1


class TestMeetings:
    TURNS: ClassVar = [("Lee, Ann", "Is it fresh? Note: rye."), ("Bo", "Yes."), ("Lee, Ann", "Good.")]
    BLOCKS = """Weekly sync
November 14, 2025, 2:02PM

Lee, Ann   0:03
Is it fresh?
Note: rye.

Bo   0:10
Yes.

Lee, Ann   1:02:03
Good.

Transcribed by https://otter.ai
"""
    ZOOM = (
        "14:00:10 From Lee, Ann to Everyone:\r\n\tIs it fresh?\r\n\tNote: rye.\r\n"
        "14:00:12 From Bo to Lee, Ann(Direct Message):\r\n\tYes.\r\n"
        '14:00:13 From Bo to Everyone:\r\n\tReacted to "Is it..." with 👍\r\n'
        "14:00:20 From Lee, Ann to Everyone:\r\n\tGood.\r\n"
    )
    OLD_ZOOM = (
        "14:00:10\t From  Lee, Ann : Is it fresh? Note: rye.\n14:00:12\t From  Bo to  Everyone : Yes.\n"
        "14:00:20\t From  Lee, Ann : Good.\n"
    )

    @pytest.mark.parametrize("text", [BLOCKS, "\ufeff" + BLOCKS.replace("\n", "\r\n"), ZOOM, OLD_ZOOM])
    def test_are_one_dialogue(self, tmp_path: Path, text: str) -> None:
        assert transcript(written(tmp_path / "t.txt", text)) == ([self.TURNS], [])

    @pytest.mark.parametrize("text", [BLOCKS, ZOOM])
    def test_are_known_by_their_beginning(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(InputError, match="looks like a file for the loader 'transcript'"):
            load(written(tmp_path / "t.txt", text))

    def test_count_what_nobody_said(self, tmp_path: Path) -> None:
        options = LoadOptions()
        list(get_loader("transcript").read([written(tmp_path / "t.txt", self.BLOCKS)], options))
        list(get_loader("transcript").read([written(tmp_path / "u.txt", self.ZOOM)], options))
        assert set(options.notices.lines()) == {
            "2 lines above the first turn left out",
            "1 program line left out",
            "1 reaction left out",
        }

    def test_are_not_sentences_that_end_with_a_time(self, tmp_path: Path) -> None:
        text = "Ann: We meet at 10:30\nBo: Or later,\nsay at 11:30\nif you like.\n"
        talks, _ = transcript(written(tmp_path / "t.txt", text))
        assert talks == [[("Ann", "We meet at 10:30"), ("Bo", "Or later, say at 11:30 if you like.")]]


class TestTurnsOfATranscript:
    @pytest.mark.parametrize(
        "turns",
        [
            "[00:00:05 - 00:00:20] Ann: Hi.\n[00:00:21 - 00:00:25] Bo: Yes: no.\n",
            "00:05 --> 00:20 Ann: Hi.\n00:21 --> 00:25 Bo: Yes: no.\n",
            "- **Ann** (00:05): Hi.\n- **Bo** (00:21): Yes: no.\n",
            "* **Ann:** Hi.\n* **Bo:** Yes: no.\n",
            "## Call 1\n\nAnn: Hi.\nBo: Yes: no.\n\n## Call 2\n",
        ],
    )
    def test_may_have_ranges_of_times_or_be_markdown(self, tmp_path: Path, turns: str) -> None:
        assert transcript(written(tmp_path / "t.txt", turns)) == ([[("Ann", "Hi."), ("Bo", "Yes: no.")]], [])

    def test_may_contain_lists(self, tmp_path: Path) -> None:
        talks, _ = transcript(
            written(tmp_path / "t.txt", "Ann: I need:\n- Price: low\n# 1 of all\nBo: Ok.\n")
        )
        assert talks == [[("Ann", "I need: - Price: low # 1 of all"), ("Bo", "Ok.")]]


class TestTranscriptsOfGoogleMeet:
    TURNS: ClassVar = [("Ann Lee", "Is it fresh?"), ("Bo", "Yes: rye."), ("Ann Lee", "Good.")]
    TIMES = """\ufeffNotes
Bread - Transcript
00:00:00

Ann Lee: Is it fresh?
Bo: Yes: rye.

00:05:12

Ann Lee: Good.

Transcription ended after 00:06:20

This editable transcript was computer generated and might contain errors. People can also change the text \
after it was created.
"""
    PEOPLE = (
        "Bread - Transcript\nAttendees\nAnn Lee, Bo\nTranscript\n"
        "Ann Lee: Is it fresh?\nBo: Yes: rye.\n\nAnn Lee: Good.\n"
    )
    SUBTITLES = (
        "0:00:05.120,0:00:08.120\nAnn Lee: Is it\nfresh?\n\n0:00:09.000,0:00:10.500\nBo: Yes: rye.\n\n"
        "0:00:15.000,0:00:18.000\nAnn Lee: Good.\n"
    )

    @pytest.mark.parametrize("text", [TIMES, PEOPLE, SUBTITLES, TIMES.replace("\n", "\r\n")])
    def test_are_one_dialogue(self, tmp_path: Path, text: str) -> None:
        assert transcript(written(tmp_path / "t.txt", text)) == ([self.TURNS], [])

    def test_count_what_nobody_said(self, tmp_path: Path) -> None:
        options = LoadOptions()
        list(get_loader("transcript").read([written(tmp_path / "t.txt", self.TIMES)], options))
        assert options.notices.lines() == [
            "2 lines above the first turn left out",
            "2 headings left out",
            "2 program lines left out",
        ]

    def test_are_not_transcripts_with_a_title_only(self, tmp_path: Path) -> None:
        text = "Transcript\n\nAnn: Hi.\nBo: Ho.\n\nAnn: Is it late?\nBo: No.\n"
        talks, _ = transcript(written(tmp_path / "t.txt", text))
        assert len(talks) == 2


class TestTranscriptsWithNamesAboveTheTexts:
    TURNS: ClassVar = [("Ann Lee", "Is it fresh?"), ("Bo", "Yes. Bye"), ("Ann Lee", "Good."), ("Bo", "Ok.")]
    NAMES = "Ann Lee\nIs it fresh?\n\nBo\nYes.\n\nBye\n\nAnn Lee\nGood.\n\nBo\nOk.\n"

    @pytest.mark.parametrize(
        "text",
        [
            NAMES.replace("\n\nBye", "\nBye"),
            "Ann Lee (00:05):\nIs it fresh?\n\nBo (00:07):\nYes.\n\nBye\n\nAnn Lee (00:09):\nGood.\n\n"
            "Bo (1:00:11):\nOk.\n",
            "[00:05] Ann Lee\nIs it fresh?\n[00:07] Bo:\nYes.\nBye\n[00:09] Ann Lee\nGood.\n"
            "[00:11] Bo\nOk.\n",
        ],
    )
    def test_are_one_dialogue(self, tmp_path: Path, text: str) -> None:
        assert transcript(written(tmp_path / "t.txt", text)) == ([self.TURNS], [])

    MARKED = "**Ann Lee:**\nIs it fresh?\n\n**Bo:**\n\nYes.\n\nBye\n\n**Ann Lee:**\nGood.\n\n**Bo:**\nOk.\n"

    @pytest.mark.parametrize(
        "text", [MARKED, MARKED.replace("**", ""), re.sub(r"\*\*(.*):\*\*", r"## \1", MARKED)]
    )
    def test_may_be_marked_and_have_paragraphs(self, tmp_path: Path, text: str) -> None:
        assert transcript(written(tmp_path / "t.txt", text)) == ([self.TURNS], [])

    @pytest.mark.parametrize("head", ["{}:", "**{}:**", "{} (00:05):"])
    def test_are_several_dialogues_if_blank_lines_separate_dialogues(self, tmp_path: Path, head: str) -> None:
        names = [head.format(name) for name in ("Ann", "Bo")]
        talk = f"{names[0]}\nHi.\n{names[1]}\nHo.\n"
        talks, _ = transcript(written(tmp_path / "t.txt", f"{talk}\n{talk}\n{talk}"))
        assert talks == [[("Ann", "Hi."), ("Bo", "Ho.")]] * 3

    def test_may_be_copied_from_the_windows_of_slack_and_teams(self, tmp_path: Path) -> None:
        slack = "Ann Lee  9:01 AM\nIs it fresh?\nBo  9:02 AM\nYes.\n9:03\nBye\n" + (
            "Ann Lee  9:05 AM\nGood.\nBo  9:06 AM\nOk.\n"
        )
        teams = "[14/11/2025 09:01] Ann Lee\nIs it fresh?\n\n[14/11/2025 09:02] Bo\nYes.\n\nBye\n\n" + (
            "[14/11/2025 09:03] Ann Lee\nGood.\n\n[14/11/2025 09:04] Bo\nOk.\n"
        )
        for text in (slack, teams):
            assert transcript(written(tmp_path / "t.txt", text)) == ([self.TURNS], [])

    def test_may_have_paragraphs_after_the_beginning(self, tmp_path: Path) -> None:
        begin = "Ann Lee\nHi.\n\nBo\nHo.\n\n" * 4_000
        talks, _ = transcript(written(tmp_path / "t.txt", begin + self.NAMES))
        assert talks[0][-4:] == self.TURNS

    @pytest.mark.parametrize(
        "text",
        [
            "[00:05] Yes\n[00:07] Okay\n[00:08] Good\n",
            "Roses Are Red\nand violets blue\n\nSugar\nis sweet\n\nAnd So\nare you\n\nRoses\nare red\n",
        ],
    )
    def test_are_not_texts_without_names(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(InputError, match="does not begin with a name"):
            transcript(written(tmp_path / "t.txt", text))


class TestTimesBeforeNames:
    @pytest.mark.parametrize(
        "text",
        [
            "[0.0s] Ann: Hi.\n[72.5s] Bo: Yes: no.\n",
            "( 12s ) Ann: Hi.\n( 1m 5s ) Bo: Yes: no.\n",
            "0:00 Ann: Hi.\n62:05 Bo: Yes: no.\n",
            "2025-11-14 09:01:12 | Ann | Hi.\n2025-11-14 09:02 | Bo | Yes: no.\n",
            "*** Ann joined the chat ***\n[09:00] Ann: Hi.\n*** Bo has left ***\n[09:01] Bo: Yes: no.\n",
        ],
    )
    def test_may_be_offsets_or_columns(self, tmp_path: Path, text: str) -> None:
        assert transcript(written(tmp_path / "t.txt", text)) == ([[("Ann", "Hi."), ("Bo", "Yes: no.")]], [])

    def test_a_header_of_one_line_is_no_turn(self, tmp_path: Path) -> None:
        text = "Conversation started on: Friday, November 14, 2025\n---\nAnn: Hi.\nBo: Ho.\n"
        talks, lines = transcript(written(tmp_path / "t.txt", text))
        assert talks == [[("Ann", "Hi."), ("Bo", "Ho.")]] and "look like a header" in lines[0]


class TestATranscriptWithATimeInEachTurn:
    @pytest.mark.parametrize("times", [("[00:07]", "[00:15]"), ("[7.0s]", "[15.0s]"), ("0:07", "0:15")])
    def test_is_continued_by_lines_without_a_time(self, tmp_path: Path, times: tuple[str, str]) -> None:
        first, last = times
        text = f"{first} Ann: He gave me\ntwo hives: one was empty.\n{last} Bo: Empty?\n"
        talks, _ = transcript(written(tmp_path / "t.txt", text))
        assert talks == [[("Ann", "He gave me two hives: one was empty."), ("Bo", "Empty?")]]

    @pytest.mark.parametrize(
        "text",
        [
            # Only the first turn has a time.
            "[00:07] Ann: Hi.\nBo: Ho.\nCy: Ha.\nBo: He.\n",
            # A time was forgotten.
            "[00:07] Ann: Hi.\nBo: Ho.\n[00:09] Cy: Ha.\n[00:10] Bo: He.\n",
            # The first turn has no time.
            "Ann: Hi.\n[00:08] Bo: Ho.\n[00:09] Cy: Ha.\n[00:10] Bo: He.\n",
        ],
    )
    def test_is_not_assumed_if_turns_lack_times(self, tmp_path: Path, text: str) -> None:
        talks, _ = transcript(written(tmp_path / "t.txt", text))
        assert talks == [[("Ann", "Hi."), ("Bo", "Ho."), ("Cy", "Ha."), ("Bo", "He.")]]


class TestRemarksThatBelongToNoTurn:
    TEXT = (
        "[START OF RECORDING]\n[00:07] Ann: Hello.\n[laughs]\n[00:30] [phone rings]\n00:31 (laughter)\n"
        "[00:33] Bo: Hi.\n[inaudible 00:40]\n[00:50] Ann: Bye.\n\n[END OF RECORDING]\n[Ende der Aufnahme]\n"
    )
    TURNS: ClassVar = [("Ann", "Hello. [laughs]"), ("Bo", "Hi. [inaudible 00:40]"), ("Ann", "Bye.")]
    COUNTED: ClassVar = {"2 remarks left out", "3 program lines left out"}

    def test_are_omitted_from_a_transcript_and_counted(self, tmp_path: Path) -> None:
        file, options = written(tmp_path / "t.txt", self.TEXT), LoadOptions()
        assert transcript(file) == ([self.TURNS], [])
        list(get_loader("transcript").read([file], options))
        assert set(options.notices.lines()) == self.COUNTED

    def test_are_omitted_from_a_transcript_in_a_cell(self, tmp_path: Path) -> None:
        rows = [{"id": str(at), "transcript": self.TEXT} for at in (1, 2)]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file) == {"1": self.TURNS, "2": self.TURNS}
        assert {"4 remarks left out", "6 program lines left out"} <= set(notices_of(file))


class TestTranscriptsInCellsOfOtherPrograms:
    TURNS: ClassVar = [("Kim N", "Hello. How are you?"), ("Ann", "It's late."), ("Kim N", "Yes.")]
    SALESFORCE = (
        '<p align="center">Chat Started: Friday, November 14, 2025, 09:02:11 (+0000)</p>'
        '<p align="center">Agent Kim N</p>( 12s ) Kim N: Hello. How are you?<br>'
        "( 1m 5s ) Ann: It&#39;s late.<br>( 1h 2m 3s ) Kim N: Yes.<br>"
    )
    COPILOT = "Kim N says: Hello. How are you?;Ann says: It's late.;Kim N says: Yes.;"
    CLOCKS = "Kim N (10:22): Hello. How are you?\nAnn (10:23): It's late.\nKim N (10:25): Yes."

    @pytest.mark.parametrize("text", [SALESFORCE, COPILOT, CLOCKS])
    @pytest.mark.parametrize("column", ["Body", "ChatTranscript"])
    @pytest.mark.parametrize("suffix", ["csv", "json"])
    def test_are_split_into_turns(self, tmp_path: Path, text: str, column: str, suffix: str) -> None:
        rows = pd.DataFrame({"Id": ["c1", "c2"], "Name": ["0001", "0002"], column: [text, text]})
        file = tmp_path / f"t.{suffix}"
        rows.to_csv(file, index=False) if suffix == "csv" else rows.to_json(file, orient="records")
        assert said(file) == {"c1": self.TURNS, "c2": self.TURNS}
        assert ("4 system lines left out" in notices_of(file)) == (text == self.SALESFORCE)

    def test_are_not_texts_that_mention_html(self, tmp_path: Path) -> None:
        talk = "Ann: Is it <br> or <br/>?\nBo: The first: <br>\nAnn: Good.\nBo: Ok."
        rows = [{"id": at, "transcript": talk} for at in (1, 2)]
        file = written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)))
        assert said(file)["1"][0] == ("Ann", "Is it <br> or <br/>?")

    def test_of_the_bot_framework_are_its_messages(self, tmp_path: Path) -> None:
        activities = [
            {"type": "trace", "from": {"id": "b", "role": 0}, "timestamp": 1763110860},
            {"type": "message", "from": {"id": "u", "role": 1}, "timestamp": 1763110861, "text": "Hi."},
            {"type": "message", "from": {"id": "b", "role": 0}, "timestamp": 1763110862, "text": "Hello."},
        ]
        cells = json.dumps({"activities": activities})
        rows = pd.DataFrame({"conversationtranscriptid": ["c1", "c2"], "content": [cells, cells]})
        rows.to_csv(tmp_path / "t.csv", index=False)
        assert said(tmp_path / "t.csv") == {id: [("user", "Hi."), ("bot", "Hello.")] for id in ("c1", "c2")}
        assert "2 service messages left out" in notices_of(tmp_path / "t.csv")


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


class TestColumnsOfForums:
    @pytest.mark.parametrize("column", ["post_username", "poster", "post_author", "posterName", "poster_id"])
    def test_name_the_speaker(self, tmp_path: Path, column: str) -> None:
        file = written(tmp_path / "t.csv", f"topic_id,{column},post_text\n1,Ann,Hi.\n1,Bo,Ho.\n")
        assert said(file) == {"1": [("Ann", "Hi."), ("Bo", "Ho.")]}

    def test_prefer_a_character_to_the_picture_on_a_poster(self, tmp_path: Path) -> None:
        rows = "scene_id,poster,character,text\n1,https://x.org/1.jpg,Ann,Hi.\n"
        assert said(written(tmp_path / "t.csv", rows)) == {"1": [("Ann", "Hi.")]}


class TestNumbersOfMessages:
    @pytest.mark.parametrize("column", ["utt_no", "utt_idx", "utterance_no", "msg_index", "msg_idx"])
    def test_without_gaps_are_turn_numbers(self, tmp_path: Path, column: str) -> None:
        file = written(
            tmp_path / "t.csv", f"dialogue_id,{column},text\n1,10,J\n" + self.rows(range(9, 0, -1))
        )
        assert texts(file) == {"1": list("ABCDEFGHIJ")}

    @pytest.mark.parametrize("column", ["sequence_id", "seq", "seq_no", "idx", "msg_no", "message_number"])
    def test_with_gaps_order_the_rows(self, tmp_path: Path, column: str) -> None:
        file = written(tmp_path / "t.csv", f"dialogue_id,{column},text\n" + self.rows([5, 10, 2, 9]))
        assert texts(file) == {"1": ["B", "E", "I", "J"]}
        assert f"1 dialogue whose rows were put in the order of {column!r}" in notices_of(file)

    def test_that_are_texts_leave_the_order(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "dialogue_id,sequence_id,text\n1,x9,Hi.\n1,x8,Ho.\n")
        assert texts(file) == {"1": ["Hi.", "Ho."]}

    def rows(self, numbers: Iterable[int]) -> str:
        return "".join(f"1,{number},{chr(64 + number)}\n" for number in numbers)


class TestOwnMessages:
    @pytest.mark.parametrize(
        ("columns", "rows", "speakers"),
        [
            ("handle,is_from_me", ["Bo,1", "Bo,0"], ["Me", "Bo"]),
            ("is_from_me", ["1", "0"], ["Me", "Other"]),
            ("Type,Sender Name", ["Outgoing,", "Incoming,Bo"], ["Me", "Bo"]),
            ("sender,is_from_me", ["Ann,1", "Bo,0"], ["Ann", "Bo"]),
            ("direction", ["outgoing", "incoming"], ["outgoing", "incoming"]),
        ],
    )
    def test_are_of_the_owner_and_not_of_the_other_person(
        self, tmp_path: Path, columns: str, rows: list[str], speakers: list[str]
    ) -> None:
        lines = "".join(f"7,{row},Text.\n" for row in rows)
        file = written(tmp_path / "t.csv", f"chat_id,{columns},text\n{lines}")
        assert said(file) == {"7": [(name, "Text.") for name in speakers]}

    def test_are_counted(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "chat_id,handle,is_from_me,text\n7,Bo,1,Hi.\n7,Bo,0,Ho.\n")
        assert notices_of(file) == ["1 turn with the speaker 'Me', as 'is_from_me' says"]
        assert said(file, map={"speaker": "handle"}) == {"7": [("Bo", "Hi."), ("Bo", "Ho.")]}


def chat(path: Path, loader: str) -> tuple[list[tuple[str, str]], set[str], list[str]]:
    """Return the turns of a chat, the notices and the refused items."""
    options = LoadOptions()
    records = list(get_loader(loader).read([path], options))
    turns = [(one.speaker, one.text) for r in records if isinstance(r, Dialogue) for one in r.utterances]
    return turns, {line for line in options.notices.lines() if "dates are" not in line}, refused(records)


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


class TestAdviceAboutOtherShapes:
    def test_a_table_without_a_header_is_named_so(self, tmp_path: Path) -> None:
        rows = "14/11/2025,09:01:12 AM,Ann,Hi.\n14/11/2025,09:02:12 AM,Bo,Ho.\n"
        with pytest.raises(
            InputError, match="put a line with names such as dialogue,time,speaker,text above"
        ):
            load(written(tmp_path / "t.csv", rows))
        header = "date,time,speaker,text\n"
        assert said(written(tmp_path / "t.csv", header + rows), map={"dialogue": ""}) == {
            "0": [("Ann", "Hi."), ("Bo", "Ho.")]
        }

    def test_a_list_beside_a_text_is_named(self, tmp_path: Path) -> None:
        segments = [{"speaker": "A", "text": "Hi."}, {"speaker": "B", "text": "Ho."}]
        file = written(tmp_path / "t.json", json.dumps({"text": "Hi. Ho.", "segments": segments}))
        with pytest.raises(InputError, match="name it with --map turns=segments"):
            load(file)
        assert said(file, map={"turns": "segments"}) == {"0": [("A", "Hi."), ("B", "Ho.")]}

    def test_words_and_signs_of_a_transcript_are_joined(self, tmp_path: Path) -> None:
        elements = [{"type": "text", "value": "Hi"}, {"type": "punct", "value": "."}]
        talk = {"monologues": [{"speaker": 0, "elements": elements}, {"speaker": 1, "elements": elements}]}
        assert said(written(tmp_path / "t.json", json.dumps(talk))) == {"0": [("0", "Hi."), ("1", "Hi.")]}

    def test_names_of_speakers_come_before_their_ids(self, tmp_path: Path) -> None:
        file = written(
            tmp_path / "t.csv", "dialogue,speaker_id,speaker_name,text\n1,7,Ann,Hi.\n1,8,Ann,Ho.\n"
        )
        assert said(file) == {"1": [("Ann", "Hi."), ("Ann (2)", "Ho.")]}

    def test_emoji_of_teams_are_kept(self, tmp_path: Path) -> None:
        body = '<p>Yes! <emoji id="smile" alt="🙂" title="Smile"></emoji></p>'
        talk = [{"from": "Ann", "body": {"contentType": "html", "content": body}} for _ in range(2)]
        file = written(tmp_path / "t.json", json.dumps([{"id": "c", "messages": talk}]))
        assert texts(file) == {"c": ["Yes! 🙂", "Yes! 🙂"]}

    def test_photos_in_tables_of_kakaotalk_are_left_out(self, tmp_path: Path) -> None:
        rows = "2025-11-14 09:01:00,Ann,Hi.\n2025-11-14 09:02:00,Bo,사진\n"
        file = written(tmp_path / "t.csv", f"Date,User,Message\n{rows}")
        assert texts(file, map={"dialogue": ""}) == {"0": ["Hi."]}
        assert "1 media placeholder left out" in notices_of(file, map={"dialogue": ""})
