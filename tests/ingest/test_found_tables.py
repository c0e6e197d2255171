"""Tests of tables as users have them: spreadsheets, forums, lists and transcripts in cells, odd columns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from tests.ingest.found_files import notices_of, texts, wrapped
from tests.ingest.test_dialogue_files import load, refused, said
from tests.loader_samples import written


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
        file = written(tmp_path / "t.json", json.dumps({"text": "Hi. Ho.", "pieces": segments}))
        with pytest.raises(InputError, match="name it with --map turns=pieces"):
            load(file)
        assert said(file, map={"turns": "pieces"}) == {"0": [("A", "Hi."), ("B", "Ho.")]}

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


class TestEmptyColumns:
    @pytest.mark.parametrize(
        ("header", "rows", "speakers"),
        [
            ("topic_id,poster_id,post_username,post_text", ["7,42,,Hi.", "7,43,Guest,Ho."], ["42", "Guest"]),
            (
                "conversation_id,author,author_email,body",
                ["7,,ann@x.org,Hi.", "7,Bo,x@y.org,Ho."],
                ["ann@x.org", "Bo"],
            ),
            ("thread_id,OwnerUserId,OwnerDisplayName,Body", ["7,5,,Hi.", "7,,user9,Ho."], ["5", "user9"]),
        ],
    )
    def test_of_speakers_are_filled_from_the_other_column_of_the_person(
        self, tmp_path: Path, header: str, rows: list[str], speakers: list[str]
    ) -> None:
        file = written(tmp_path / "t.csv", "\n".join([header, *rows]))
        assert [speaker for speaker, _ in said(file)["7"]] == speakers
        assert any("1 turn with the speaker of" in line for line in notices_of(file))

    def test_of_speakers_are_not_filled_from_the_agent_of_the_ticket(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "ticket_id,author,agent,body\n7,,Bo,Hi.\n7,Bo,Bo,Ho.\n")
        assert said(file) == {"7": [("A", "Hi."), ("Bo", "Ho.")]}

    @pytest.mark.parametrize(
        "header", ["chat_id,conversation_id,text", "turn,conversation_id,text", "text,conversation_id,body"]
    )
    def test_are_not_used_if_they_are_empty_in_all_rows(self, tmp_path: Path, header: str) -> None:
        file = written(tmp_path / "t.csv", f"{header}\n,7,Hi.\n,7,Ho.\n")
        assert texts(file) == {"7": ["Hi.", "Ho."]}

    def test_are_used_if_one_row_has_a_value(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "text,conversation_id,body\n,7,Hi.\nHo.,7,\n")
        assert texts(file) == {"7": ["Ho."]}


class TestHintsForMissingColumns:
    @pytest.mark.parametrize(
        ("header", "row", "hint", "map"),
        [
            (
                "roomId,personEmail,text",
                "7,a@x.org,Hi there.",
                "--map dialogue=roomId;",
                {"dialogue": "roomId"},
            ),
            (
                "id,group_id,user_id,text",
                "1,7,3,Hi there.",
                "--map dialogue=group_id;",
                {"dialogue": "group_id"},
            ),
            ("conversation_id,Author,Extract", "7,Ann,Hi there.", "--map text=Extract$", {"text": "Extract"}),
        ],
    )
    def test_name_the_columns_that_may_be_meant(
        self, tmp_path: Path, header: str, row: str, hint: str, map: dict[str, str]
    ) -> None:
        file = written(tmp_path / "t.csv", f"{header}\n{row}\n")
        with pytest.raises(InputError, match=hint):
            load(file)
        assert texts(file, map=map) == {"7": ["Hi there."]}

    @pytest.mark.parametrize(
        ("header", "rows", "hint"),
        [
            # The first cell of a time is longer than the texts, and an address or an id than the first text.
            (
                "通話ID,いつ,だれ,ことば",
                "T1,2025/11/14 9:00:00,店員,はい。\nT1,2025/11/14 9:02:00,客,変更したいのですが。",
                "ことば",
            ),
            ("ref,when,page,said1", "7,Fri 14 Nov 2025 09:00,https://x.org/abcdefghijk,Hi there.", "said1"),
            (
                "ref,token,remark1",
                "7,cafe-7be1-aaaabbbbccccdddd,Yes.\n7,cafe-7be1-aaaabbbbccccddde,No way.",
                "remark1",
            ),
            # The column "team" repeats one long cell, and the texts differ.
            (
                "ref,team,remark1",
                "".join(
                    f"7,Support of all of Europe,It is {w}.\n"
                    for w in ("red", "too late", "on the table", "rather odd")
                ),
                "remark1",
            ),
            ("ref,count", "7,12\n7,13", "NAME"),
        ],
    )
    def test_of_a_text_do_not_name_times_ids_addresses_or_numbers(
        self, tmp_path: Path, header: str, rows: str, hint: str
    ) -> None:
        file = written(tmp_path / "t.csv", f"{header}\n{rows}\n")
        with pytest.raises(InputError, match=f"--map text={hint}(?:$|;)"):
            load(file)

    @pytest.mark.parametrize("column", ["AuthorID", "user_id", "memberNo", "Client ID"])
    def test_of_a_dialogue_do_not_name_persons(self, tmp_path: Path, column: str) -> None:
        column = column.replace("memberNo", "member_key")
        file = written(tmp_path / "t.csv", f"{column},Author,Content\n101,ann,Hi.\n102,bo,Ho.\n101,ann,Ok.\n")
        with pytest.raises(InputError, match="--map dialogue=NAME; if all rows are one dialogue"):
            load(file)

    @pytest.mark.parametrize("loader", ["discord", "whatsapp"])
    def test_name_the_loader_of_tables(self, tmp_path: Path, loader: str) -> None:
        file = written(
            tmp_path / "t.csv", '"AuthorID","Author","Date","Content"\n"101","ann","2025-11-14","Hi."\n'
        )
        with pytest.raises(
            InputError, match="the header of a table, which the loader 'dialogues' reads: --map"
        ):
            list(get_loader(loader).read([file], LoadOptions()))

    def test_say_what_to_do_with_a_column_for_each_comment(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "Issue key,Comment,Comment\nS-1,Hi.,Ho.\n")
        with pytest.raises(InputError, match="if each column 'Comment' is a message, write one row"):
            load(file)


@pytest.mark.parametrize("header", ["conv,who,said", "call_sid,who,said", "conversation_sid,who,StrContent"])
def test_short_names_of_columns_are_known(tmp_path: Path, header: str) -> None:
    file = written(tmp_path / "t.csv", f"{header}\n7,Ann,Hi.\n7,Bo,Ho.\n")
    assert said(file) == {"7": [("Ann", "Hi."), ("Bo", "Ho.")]}


def test_times_may_have_hours_of_one_digit(tmp_path: Path) -> None:
    rows = "7,2025-11-14 10:01,Ho.\n7,2025-11-14 9:59,Hi.\n7,2025-11-14 10:02:03,Hello.\n"
    file = written(tmp_path / "t.csv", f"conversation_id,time,text\n{rows}")
    assert texts(file) == {"7": ["Hi.", "Ho.", "Hello."]}


def test_pictures_of_wechat_are_left_out(tmp_path: Path) -> None:
    rows = "7,1,0,Hi.\n7,3,1,<msg><img/></msg>\n7,10000,1,Bo joined\n"
    file = written(tmp_path / "t.csv", f"chat_id,Type,IsSender,StrContent\n{rows}")
    assert texts(file) == {"7": ["Hi."]}


class TestLongCells:
    @pytest.mark.parametrize("header", ["ticket_id,text,by", "text,by,ticket_id"])
    @pytest.mark.parametrize("line", ["x" * 70 + "\n", "x" * 131_073, 'He said ""no"".\n'])
    def test_cost_only_their_dialogue(self, tmp_path: Path, header: str, line: str) -> None:
        long = f'"{line * 20_000}"' if len(line) < 100 else line
        turns = [("a", "Hi.", "Ann"), ("a", "Ho.", "Bo"), ("b", "Look:", "Ann"), ("b", long, "Bo")]
        turns += [("b", "Yes.", "Ann"), ("c", '"Is it\nlate?"', "Ann"), ("c", "No.", "Bo")]
        names: tuple[str, ...] = ("ticket_id", "text", "by")
        rows: list[dict[str, str]] = [dict(zip(names, turn, strict=True)) for turn in turns]
        body = "".join(",".join(row[name] for name in header.split(",")) + "\n" for row in rows)
        records, _ = load(written(tmp_path / "t.csv", f"{header}\n{body}"))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/a", "t/all/c"]
        reasons = refused(records)
        assert reasons[0] == "t.csv:5 a cell is longer than 131,072 characters"
        assert len(reasons) == 2 and "dialogue 'b'" in reasons[1]


class TestTextsWithTags:
    ROWS = (
        "id,parent,by,text\n1,,ann,Which one?<p>I&#x27;d say SQLite.\n"
        '2,1,bo,"His <i>own</i>, see <a href=""https://x.org"" rel=""nofollow"">this</a>.<p>Ok?"\n'
        "3,2,ann,If a<b: no.\n"
    )

    def test_are_reported_and_lose_them_with_clean(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", self.ROWS)
        assert "2 texts with HTML tags kept: --clean removes them" in notices_of(file)
        assert said(file, clean=True) == {
            "1": [
                ("ann", "Which one?\nI'd say SQLite."),
                ("bo", "His own, see this.\nOk?"),
                ("ann", "If a<b: no."),
            ]
        }
        assert "2 texts with HTML tags removed" in notices_of(file, clean=True)

    def test_that_people_may_have_typed_are_not_reported(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "dialogue_id,speaker,text\n1,ann,I like <b>rye</b>.\n1,bo,Ok.\n")
        assert not any("HTML" in line for line in notices_of(file))
        assert said(file, clean=True)["1"][0] == ("ann", "I like rye.")

    @pytest.mark.parametrize("text", ["It is <p> I mean.", "a <b and b> c", "Press <Enter> or <i>.", "2 < 3"])
    def test_are_not_changed_without_tags(self, tmp_path: Path, text: str) -> None:
        file = written(tmp_path / "t.csv", f"dialogue_id,speaker,text\n1,ann,{text}\n1,bo,Ok.\n")
        assert said(file, clean=True) == {"1": [("ann", text), ("bo", "Ok.")]}
        assert not any("HTML" in line for line in notices_of(file))


class TestIdsThatBeginAgain:
    SCRIPT = (
        "text,speaker,season,episode,scene\nHi.,Ross,1,1,1\nHo.,Joey,1,1,1\nYes.,Ross,1,2,1\nNo.,Joey,1,2,2\n"
    )

    def test_contain_the_season_and_the_episode(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", self.SCRIPT)
        found = {"1-1-1": ["Hi.", "Ho."], "1-2-1": ["Yes."], "1-2-2": ["No."]}
        assert texts(file, map={"dialogue": "scene"}) == found

    def test_are_suggested(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", self.SCRIPT)
        with pytest.raises(InputError, match="--map dialogue=scene or --map dialogue=episode"):
            load(file)

    def test_contain_the_folder(self, tmp_path: Path) -> None:
        rows = "folder,dialogueID,date,from,to,text\n"
        rows += "3,1.tsv,2008-04-23T14:55:00.000Z,ann,,Hi.\n4,1.tsv,2008-04-23T14:56:00.000Z,bo,,Ho.\n"
        assert texts(written(tmp_path / "t.csv", rows)) == {"3-1.tsv": ["Hi."], "4-1.tsv": ["Ho."]}

    def test_of_unreadable_rows_reject_the_dialogues_beside_them(self, tmp_path: Path) -> None:
        rows = "dialogueID,text,folder\na,Hi.,3\na,Ho.\na,Yes.,3\na,No.,4\n"
        records, _ = load(written(tmp_path / "t.csv", rows))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/4-a"]
