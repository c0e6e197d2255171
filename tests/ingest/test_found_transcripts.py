"""Tests of transcripts as users have them: subtitles, meetings, names above the texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from tests.ingest.found_files import chat, notices_of, transcript
from tests.ingest.test_dialogue_files import load, said
from tests.loader_samples import written


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
            # One turn has no time.
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


class TestLinesOfCallRecorders:
    @pytest.mark.parametrize(
        ("line", "kind"),
        [
            ("[00:00:57] *** HOLD MUSIC 00:45 ***", "system line"),
            ("*** CALL TRANSFERRED ***", "system line"),
            ("[00:57] -- CALL ON HOLD --", "system line"),
            ("[00:00:57] <Hold music>", "system line"),
            ("-- END OF CALL --", "program line"),
            ("=== End of transcript ===", "program line"),
        ],
    )
    def test_are_no_turns(self, tmp_path: Path, line: str, kind: str) -> None:
        file = written(
            tmp_path / "t.txt", f"[00:00:48] AGENT: One moment.\n{line}\n[00:01:42] CALLER: Thanks.\n"
        )
        options = LoadOptions()
        [talk] = get_loader("transcript").read([file], options)
        assert isinstance(talk, Dialogue)
        assert [one.text for one in talk.utterances] == ["One moment.", "Thanks."]
        assert list(options.notices.lines()) == [f"1 {kind} left out"]

    @pytest.mark.parametrize("line", ["-- well, you know --", "*** five stars", "<please hold the line>"])
    def test_are_not_found_in_what_people_say(self, tmp_path: Path, line: str) -> None:
        file = written(tmp_path / "t.txt", f"AGENT: One moment.\n{line}\nCALLER: Thanks.\n")
        assert transcript(file) == ([[("AGENT", f"One moment. {line}"), ("CALLER", "Thanks.")]], [])


class TestNamesWithNumbersOfTurns:
    @pytest.mark.parametrize("names", [["T1", "C1", "T2", "C2"], ["T 1", "C 2", "T 3", "C 4"]])
    def test_are_the_names_of_two_speakers(self, tmp_path: Path, names: list[str]) -> None:
        said = ["Hi.", "Hello.", "Why?", "Because."]
        lines = [f"{name}: {text}" for name, text in zip(names, said, strict=True)]
        talks, _ = transcript(written(tmp_path / "t.txt", "\n".join(lines)))
        assert talks == [list(zip("TCTC", said, strict=True))]

    @pytest.mark.parametrize(
        "names",
        [
            ["Speaker 1", "Speaker 2", "Speaker 1", "Speaker 2"],
            ["M1", "P1", "P2", "P3"],
            ["P1", "P2", "P3", "P4"],
            ["T1", "C1", "T2", "C9"],
        ],
    )
    def test_are_kept_if_they_may_be_people(self, tmp_path: Path, names: list[str]) -> None:
        talks, _ = transcript(written(tmp_path / "t.txt", "\n".join(f"{name}: Hi." for name in names)))
        assert [[who for who, _ in talk] for talk in talks] == [names]


class TestDepositions:
    TURNS: ClassVar = [
        ("Q", "Where do you work?"),
        ("A", "At the bakery, since May or June."),
        ("MR. SMITH", "Objection."),
        ("Q", "Did you see it?"),
        ("A", "Yes: it was white."),
    ]

    @pytest.mark.parametrize(
        "text",
        [
            "EXAMINATION BY MR. HALL:\n\nQ.  Where do you work?\nA.  At the bakery, since May\nor June.\n"
            "MR. SMITH:  Objection.\nBY MR. HALL:\nQ. Did you see it?\n\n(Recess taken.)\n\n"
            "A. Yes: it was white.\n",
            " 1             EXAMINATION\n 2   BY MR. HALL:\n 3   Q   Where do you work?\n"
            " 4   A   At the bakery, since May\n 5       or June.\n 6       MR. SMITH: Objection.\n 7\n"
            " 8   Q   Did you see it?\n 9   A   Yes: it was white.\n",
        ],
    )
    def test_consist_of_questions_and_answers(self, tmp_path: Path, text: str) -> None:
        assert transcript(written(tmp_path / "t.txt", text)) == ([self.TURNS], [])

    def test_have_a_dialogue_for_each_examination(self, tmp_path: Path) -> None:
        text = "EXAMINATION\nQ. Why?\nA. Rain.\nCROSS-EXAMINATION BY MS. LEE:\nQ. When?\nA. At noon.\n"
        talks, _ = transcript(written(tmp_path / "t.txt", text))
        assert talks == [[("Q", "Why?"), ("A", "Rain.")], [("Q", "When?"), ("A", "At noon.")]]

    def test_are_not_lists(self, tmp_path: Path) -> None:
        text = "Ann: The plan:\nA. Buy bread.\nB. Eat it.\nBo: Q. and A. are my cats.\n"
        talks, _ = transcript(written(tmp_path / "t.txt", text))
        assert talks == [[("Ann", "The plan: A. Buy bread. B. Eat it."), ("Bo", "Q. and A. are my cats.")]]


class TestMedia:
    """Placeholders for pictures and sound are no turns, in whatever brackets a program writes them."""

    PLACEHOLDERS = (
        "[image]", "<image>", "(image)", "[Voice message]", "[voice message 0:12]", "[photo]", "[3 photos]",
        "[sticker]", "[video call]", "[file: x.pdf]", "[File: report (1).pdf]", "[IMG_2041.jpg]",
        "<Media omitted>", "<Medien ausgeschlossen>", "[Bild]", "(Foto)", "[写真]", "[图片]",
        '[Image "https://x.org/a.png"]',
    )  # fmt: skip
    TALK = (
        "[laughs]", "[location]", "[Name]", "photo", "(Photo, right?)", "(file 3 is the one)",
        "[see document]", "(media circus)", "Image: a cat", "[inaudible]", "(I saw a photo.)",
    )  # fmt: skip

    @pytest.mark.parametrize("text", PLACEHOLDERS)
    def test_a_turn_that_is_a_placeholder_is_counted_once(self, tmp_path: Path, text: str) -> None:
        path = written(tmp_path / "hotel.txt", f"Guest: Is it open?\nGuest: {text}\nMila: Yes.\n")
        options = LoadOptions()
        [talk] = [one for one in get_loader("transcript").read([path], options) if isinstance(one, Dialogue)]
        assert [one.text for one in talk.utterances] == ["Is it open?", "Yes."]
        assert list(options.notices.lines()) == ["1 media placeholder left out"]

    @pytest.mark.parametrize("text", TALK)
    def test_other_words_in_brackets_are_kept(self, tmp_path: Path, text: str) -> None:
        path = written(tmp_path / "hotel.txt", f"Guest: Is it open?\nGuest: {text}\nMila: Yes.\n")
        assert transcript(path)[0] == [[("Guest", "Is it open?"), ("Guest", text), ("Mila", "Yes.")]]

    @pytest.mark.parametrize("text", PLACEHOLDERS)
    def test_other_loaders_leave_them_out_as_well(self, tmp_path: Path, text: str) -> None:
        turns = [{"role": "user", "content": one} for one in ("Is it open?", text, f"{text}\nWhat is this?")]
        path = written(tmp_path / "talk.jsonl", json.dumps({"messages": turns}) + "\n")
        assert [text for _, text in next(iter(said(path).values()))] == ["Is it open?", "What is this?"]
        assert notices_of(path)[-1:] == ["2 media placeholders left out"]

    def test_several_placeholders_are_counted_each(self, tmp_path: Path) -> None:
        path = written(tmp_path / "talk.jsonl", json.dumps({"turns": ["Hi.", "[image] [image]", "Ho."]}))
        assert "2 media placeholders left out" in notices_of(path)

    def test_chats_leave_them_out(self, tmp_path: Path) -> None:
        lines = [
            "14.11.25, 09:01 - Ann: Hello.",
            "14.11.25, 09:02 - Bo: [Sticker]",
            "14.11.25, 09:03 - Bo: Hi.",
        ]
        turns, notices, _ = chat(written(tmp_path / "chat.txt", "\n".join(lines)), "whatsapp")
        assert turns == [("Ann", "Hello."), ("Bo", "Hi.")]
        assert notices == {"1 media placeholder left out"}

    def test_a_response_that_is_a_placeholder_is_left_out(self, tmp_path: Path) -> None:
        entry = {
            "turns": ["Hi."],
            "responses": [{"turn": 0, "text": one, "label": 1} for one in ("[photo]", "Ho.")],
        }
        path = written(tmp_path / "talk.jsonl", json.dumps(entry))
        assert "1 media placeholder left out" in notices_of(path)
