"""Tests of the loaders of transcripts, WhatsApp, Slack and Discord."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Rejected

Said = list[list[tuple[str, str]]]


def read(loader: str, path: Path, **options: Any) -> tuple[list[Dialogue], list[Rejected], list[str]]:
    """Return the dialogues, refused items and notices of a load."""
    told = LoadOptions(**options)
    records = list(get_loader(loader).read([path], told))
    dialogues = [one for one in records if isinstance(one, Dialogue)]
    return dialogues, [one for one in records if isinstance(one, Rejected)], told.notices.lines()


def said(dialogues: list[Dialogue]) -> Said:
    return [[(turn.speaker, turn.text) for turn in one.utterances] for one in dialogues]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str, name: str = "chat.txt") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


class TestTranscripts:
    def test_a_line_is_a_turn_and_a_blank_line_ends_a_dialogue(self, file: Callable[[str], Path]) -> None:
        path = file("Ann: Is it 10:30?\nBo: Yes: it is\n   and more.\n\n\nAnn: Hi.\n- - -\nCy: No.")
        dialogues, refused, _ = read("transcript", path)
        assert said(dialogues) == [
            [("Ann", "Is it 10:30?"), ("Bo", "Yes: it is and more.")],
            [("Ann", "Hi.")],
            [("Cy", "No.")],
        ]
        assert [one.id for one in dialogues] == ["chat/all/0", "chat/all/1", "chat/all/2"] and not refused

    @pytest.mark.parametrize(
        ("line", "turn"),
        [
            ("Dr. Ann Lee (agent): Good.", ("Dr. Ann Lee (agent)", "Good.")),
            ("**Speaker 2:** Fine.", ("Speaker 2", "Fine.")),
            ("[00:01:15] AGENT: Hello.", ("AGENT", "Hello.")),
            ("Ann Lee (00:01:15): Hello.", ("Ann Lee", "Hello.")),
            ("12:01 - Zoë-Marie : Salut.", ("Zoë-Marie", "Salut.")),
            ("安娜：你好", ("安娜", "你好")),
            ("O'Neil & Sons:  Yes", ("O'Neil & Sons", "Yes")),
            ("Dr. Maria van der Berg: Yes", ("Dr. Maria van der Berg", "Yes")),
            (
                "Customer Service Representative Number 2: Yes",
                ("Customer Service Representative Number 2", "Yes"),
            ),
            ("O'Neil-Smith, Jr.: Yes", ("O'Neil-Smith, Jr.", "Yes")),
            ("ANN, on the phone: Yes", ("ANN", "Yes")),
            ("Ann (cont'd): Yes", ("Ann", "Yes")),
            ("Ann Lee [laughs] (00:01:15): Yes", ("Ann Lee", "Yes")),
            ("Bo (quietly): Yes", ("Bo", "Yes")),
        ],
    )
    def test_many_spellings_of_speaker_names_are_read(
        self, file: Callable[[str], Path], line: str, turn: tuple[str, str]
    ) -> None:
        dialogues, _, _ = read("transcript", file(f"{line}\nBo: Yes."))
        assert said(dialogues) == [[turn, ("Bo", "Yes.")]]

    def test_a_sentence_with_a_colon_is_not_a_name(self, file: Callable[[str], Path]) -> None:
        path = file("Ann: I told him this:\nHe said it twice, you know: never again.\nhttp://x.org is it.")
        [[turn]] = said(read("transcript", path)[0])
        assert turn == (
            "Ann",
            "I told him this: He said it twice, you know: never again. http://x.org is it.",
        )

    def test_removed_remarks_and_lines_that_may_be_turns_are_counted(
        self, file: Callable[[str], Path]
    ) -> None:
        path = file(
            "Ann: Hi.\nAnn (cont'd): So?\nBo [laughs]: No.\nsaid the man, laughing: no.\nand 10:30 it was."
        )
        dialogues, _, notices = read("transcript", path)
        assert [speaker for speaker, _ in said(dialogues)[0]] == ["Ann", "Ann", "Bo"]
        assert set(notices) == {
            "2 turns with a remark after the name left out of it",
            "1 line with a colon after its first words read as the continuation of a turn",
        }

    def test_a_dialogue_that_begins_without_a_name_is_refused_and_the_others_are_read(
        self, file: Callable[[str], Path]
    ) -> None:
        dialogues, [refused], _ = read("transcript", file("Ann: Hi.\n\nno name here\nAnn: x\n\nBo: Ho."))
        assert said(dialogues) == [[("Ann", "Hi.")], [("Bo", "Ho.")]]
        assert (
            refused.place.endswith("chat.txt:3")
            and "does not begin with a name and a colon" in refused.reason
        )

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("Ann: Hi.\n\nBo: Ho.\n\nAnn: Bye.\n", "3 of 3 dialogues have one turn"),
            ("Ann: Hi.\n\nBo: Ho.\n\nAnn: So?\nBo: No.\n", "2 of 3 dialogues have one turn"),
            ("Ann: Hi.\nBo: Ho.\n\nAnn: Bye.\n", ""),
            ("Ann: Hi.\n", ""),
        ],
    )
    def test_blank_lines_between_turns_are_reported_with_advice(
        self, file: Callable[[str], Path], text: str, told: str
    ) -> None:
        notices = read("transcript", file(text))[2]
        assert [line[: len(told)] for line in notices] == ([told] if told else [])
        assert all("remove them" in line and "---" in line for line in notices)

    def test_prompts_and_tools_are_left_out_and_counted(self, file: Callable[[str], Path]) -> None:
        path = file("System: You are a bot.\nUser: Hi.\nTool: {}\nAssistant: Ho.")
        dialogues, _, notices = read("transcript", path)
        assert said(dialogues) == [[("User", "Hi."), ("Assistant", "Ho.")]]
        assert notices == ["1 system message kept out of the turns", "1 tool message kept out of the turns"]


IOS_DE = """[31.12.23, 21:04:11] Silvester: \u200eNachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.
[31.12.23, 21:04:12] Änne: Kommst du heute?
[31.12.23, 21:05:02] Bo Müller: Ja! Ich bringe
Salat mit:

- Gurken
\u200e[31.12.23, 21:06:00] Bo Müller: \u200e<Anhang: 00000012-PHOTO-2023-12-31.jpg>
\u200e[31.12.23, 21:06:20] Bo Müller: So sieht er aus \u200e<Anhang: 00000013-PHOTO-2023-12-31.jpg>
\u200e[31.12.23, 21:06:30] Bo Müller: \u200eBild weggelassen
[31.12.23, 21:07:00] ~\u202fCarla: ok 👍
[01.01.24, 12:00:00] Änne: Frohes Neues!
[01.01.24, 12:00:30] Änne: \u200eDiese Nachricht wurde gelöscht.
"""
ANDROID_US = """12/1/23, 9:05\u202fPM - Messages and calls are end-to-end encrypted. Tap to learn more.
12/1/23, 9:05\u202fPM - Ann: Are you coming?
12/1/23, 9:06\u202fPM - Ann: <Media omitted>
12/1/23, 11:59\u202fPM - Bo: See https://x.org: it's there
12/2/23, 12:01\u202fAM - Bo: IMG-20231202-WA0001.jpg (file attached)
this is the cake
12/2/23, 12:02\u202fAM - Ann changed the subject to “Trip: Rome”
12/2/23, 12:03\u202fAM - Bo: This message was deleted
12/2/23, 12:04\u202fAM - +1 (555) 010-9999: Yum
"""
TWO = [("Ann", "Hello."), ("Bo", "Hi: you!")]
LOCALES = {
    "iOS, United States": "[12/31/23, 11:59:10\u202fPM] Ann: Hello.\n[1/1/24, 12:03:00\u202fAM] Bo: Hi: you!",
    "iOS, ISO": "[2023-12-31, 23:59:10] Ann: Hello.\n[2024-01-01, 00:03:00] Bo: Hi: you!",
    "Android, Great Britain": "31/12/2023, 23:59 - Ann: Hello.\n01/01/2024, 00:03 - Bo: Hi: you!",
    "Android, Germany": "31.12.23, 23:59 - Ann: Hello.\n01.01.24, 00:03 - Bo: Hi: you!",
    "Android, France": "31/12/2023 à 23:59 - Ann: Hello.\n01/01/2024 à 00:03 - Bo: Hi: you!",
    "Android, Mexico": "31/12/2023, 11:59 p. m. - Ann: Hello.\n1/1/2024, 12:03 a. m. - Bo: Hi: you!",
    "Android, Finland": "31.12.2023 klo 23.59 - Ann: Hello.\n1.1.2024 klo 0.03 - Bo: Hi: you!",
    "Android, Sweden": "2023-12-31 23:59 - Ann: Hello.\n2024-01-01 00:03 - Bo: Hi: you!",
    "Android, Taiwan": "2023/12/31 下午11:59 - Ann: Hello.\n2024/1/1 上午12:03 - Bo: Hi: you!",
    "Android, Korea": "2023년 12월 31일 오후 11:59, Ann : Hello.\n2024년 1월 1일 오전 12:03, Bo : Hi: you!",
    "Android, Hungary": "2023. 12. 31. 23:59 - Ann: Hello.\n2024. 01. 01. 0:03 - Bo: Hi: you!",
    "Android, Bulgaria": "31.12.2023 г., 23:59 ч. - Ann: Hello.\n1.01.2024 г., 0:03 ч. - Bo: Hi: you!",
    "Android, Egypt": "\u200f٣١\u200f/١٢\u200f/٢٠٢٣, ٢٣:٥٩ - Ann: Hello.\n"
    "\u200f١\u200f/١\u200f/٢٠٢٤, ٠:٠٣ - Bo: Hi: you!",
}


class TestWhatsApp:
    def test_an_export_of_ios_in_german(self, file: Callable[[str], Path]) -> None:
        dialogues, refused, notices = read("whatsapp", file(IOS_DE))
        assert said(dialogues) == [
            [
                ("Änne", "Kommst du heute?"),
                ("Bo Müller", "Ja! Ich bringe\nSalat mit:\n\n- Gurken"),
                ("Bo Müller", "So sieht er aus"),
                ("Carla", "ok 👍"),
            ],
            [("Änne", "Frohes Neues!")],
        ]
        assert [one.id for one in dialogues] == ["chat/all/2023-12-31T2104", "chat/all/2024-01-01T1200"]
        assert not refused and notices[0].endswith("chat.txt: dates are read as day/month/year")
        assert set(notices[1:]) == {
            "1 system line left out", "3 media placeholders left out", "1 deleted message left out",
        }  # fmt: skip

    def test_an_export_of_android_in_english(self, file: Callable[[str], Path]) -> None:
        [dialogue], refused, notices = read("whatsapp", file(ANDROID_US))
        assert said([dialogue]) == [
            [
                ("Ann", "Are you coming?"),
                ("Bo", "See https://x.org: it's there"),
                ("Bo", "this is the cake"),
                ("+1 (555) 010-9999", "Yum"),
            ]
        ]
        assert not refused and notices[0].endswith("dates are read as month/day/year")
        assert dialogue.attributes == {"began": "2023-12-01T21:05:00"}

    @pytest.mark.parametrize(
        ("line", "kept", "told"),
        [
            ("Trip: Rome 2024: \u200eMessages and calls are end-to-end encrypted.", "", "system line"),
            ("Trip: Rome: \u200eAnn added Bo", "", "media placeholder"),
            ("Bo: Call me: \u200e+1 (555) 010-9999", "Call me: +1 (555) 010-9999", ""),
            ("Bo: Our cake \u200eimage omitted", "Our cake", "media placeholder"),
            ("Bo: report.pdf • \u200e3 pages \u200edocument omitted", "", "media placeholder"),
            ("Bo: \u200ePOLL:\n\u200eWhere?\n\u200eOPTION: Rome (2 votes)", "", "poll"),
        ],
    )
    def test_lines_with_a_system_mark_of_ios_are_left_out(
        self, file: Callable[[str], Path], line: str, kept: str, told: str
    ) -> None:
        path = file(f"[13/1/24, 21:04:11] Ann: Hi.\n[13/1/24, 21:05:00] {line}\n")
        [dialogue], refused, notices = read("whatsapp", path)
        assert [turn.text for turn in dialogue.utterances] == ["Hi.", *filter(None, [kept])] and not refused
        assert notices[1:] == ([f"1 {told} left out"] if told else [])

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("Bo Lee changed the subject to: Trip: Rome", "system line"),
            ("Bo hat den Betreff geändert zu: Reise: Rom", "system line"),
            ("This group was added to the community: Trips", "system line"),
            ("Bo: Missed video call", "system line"),
            ("Bo: Verpasster Sprachanruf", "system line"),
            ("Bo: Waiting for this message. This may take a while.", "system line"),
            ("Bo: This message was deleted by admin Ann", "deleted message"),
            ("Bo: null", "media placeholder"),
            ("Bo: live location shared", "media placeholder"),
            ("Bo: location: https://maps.google.com/?q=1,2", "media placeholder"),
            ("Bo: POLL:\nWhere?\nOPTION: Rome (2 votes)\nOPTION: Oslo (1 vote)", "poll"),
        ],
    )
    def test_system_messages_without_a_mark_are_left_out(
        self, file: Callable[[str], Path], line: str, told: str
    ) -> None:
        path = file(f"13/1/24, 21:04 - Ann: Hi.\n13/1/24, 21:05 - {line}\n")
        [dialogue], refused, notices = read("whatsapp", path)
        assert said([dialogue]) == [[("Ann", "Hi.")]] and not refused
        assert notices[1:] == [f"1 {told} left out"]

    @pytest.mark.parametrize(
        "text", ["Null", "I changed the subject: sorry", "Missed video call from you!", "POLL: who comes?"]
    )
    def test_similar_messages_of_people_are_kept(self, file: Callable[[str], Path], text: str) -> None:
        path = file(f"13/1/24, 21:04 - Ann: {text}\n")
        assert said(read("whatsapp", path)[0]) == [[("Ann", text)]]

    @pytest.mark.parametrize("text", LOCALES.values(), ids=LOCALES)
    def test_dates_of_many_countries_are_read(self, file: Callable[[str], Path], text: str) -> None:
        [dialogue], refused, _ = read("whatsapp", file(text))
        assert said([dialogue]) == [TWO] and not refused
        assert dialogue.id == "chat/all/2023-12-31T2359"

    @pytest.mark.parametrize(
        ("dates", "told"),
        [
            (["1/2/23", "2/2/23", "13/2/23"], "day/month/year"),
            (["1/2/23", "1/13/23"], "month/day/year"),
            (["1/2/23", "2/2/23", "3/2/23", "1/3/23"], "day/month/year"),
            (["2/1/23", "2/2/23", "2/3/23", "3/1/23"], "month/day/year"),
            (["23/11/9", "23/11/31", "23/12/1"], "year/month/day"),
        ],
    )
    def test_day_and_month_are_read_in_the_order_that_makes_times_increase(
        self, file: Callable[[str], Path], dates: list[str], told: str
    ) -> None:
        path = file("".join(f"{date}, 10:00 - Ann: Hi.\n" for date in dates))
        assert read("whatsapp", path)[2][0].endswith(f"dates are read as {told}")

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("21:05 - Bo: I am here", "day/month/year"),
            ("21:05 - Am Lang: Hi.", "day/month/year"),
            ("9:05 pm - Bo: Hi.", "month/day/year"),
        ],
    )
    def test_am_and_pm_indicate_the_order_of_dates_only_in_the_time(
        self, file: Callable[[str], Path], said: str, told: str
    ) -> None:
        path = file(f"03/04/24, {said}\n")
        assert read("whatsapp", path)[2] == [f"{path}: dates are read as {told}"]

    def test_a_date_that_does_not_exist_refuses_its_dialogue(self, file: Callable[[str], Path]) -> None:
        path = file("1.2.23, 10:00 - Ann: Hi.\n31.2.23, 10:01 - Bo: Ho.\n20.3.23, 10:00 - Ann: Hm.\n")
        dialogues, refused, _ = read("whatsapp", path)
        assert said(dialogues)[-1] == [("Ann", "Hm.")]
        assert "not a valid time" in refused[0].reason and refused[0].place.endswith(":2")


class TestGaps:
    @pytest.mark.parametrize(("gap", "sizes"), [(6.0, [2, 1]), (0.5, [1, 1, 1]), (100.0, [3])])
    def test_a_pause_longer_than_the_gap_ends_a_dialogue(
        self, file: Callable[[str], Path], gap: float, sizes: list[int]
    ) -> None:
        path = file("31.12.23, 10:00 - A: x\n31.12.23, 11:00 - B: y\n1.1.24, 10:00 - A: z\n")
        assert [len(one.utterances) for one in read("whatsapp", path, gap=gap)[0]] == sizes

    def test_dialogues_that_begin_in_the_same_minute_have_different_names(
        self, file: Callable[[str], Path]
    ) -> None:
        path = file("31.12.23, 10:00 - A: x\n1.1.24, 10:00 - B: y\n31.12.23, 10:00 - A: z\n")
        names = [one.id for one in read("whatsapp", path)[0]]
        assert names == ["chat/all/2023-12-31T1000", "chat/all/2024-01-01T1000", "chat/all/2023-12-31T1000-2"]

    @pytest.mark.parametrize("gap", [0.0, -1.0, float("nan")])
    def test_an_invalid_gap_is_refused(self, gap: float) -> None:
        with pytest.raises(InputError, match="must be above 0 hours"):
            LoadOptions(gap=gap)


DAY = 86_400
BEGAN = 1_715_936_400


def slack(at: float, user: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": f"{BEGAN + at:.6f}", **more}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    users = [
        {"id": "U1", "name": "ann", "profile": {"display_name": "Ann", "real_name": "Ann Lee"}},
        {"id": "U2", "name": "bo", "real_name": "Bo M.", "profile": {"display_name": ""}},
    ]
    thread = f"{BEGAN:.6f}"
    days = {
        "general/2024-05-17": [
            slack(-9, "U1", "<@U1> has joined", subtype="channel_join"),
            slack(0, "U1", "Hi <@U2>, see <https://x.org|this> &amp; <#C1|random>", thread_ts=thread),
            slack(60, "U2", "Lunch?"),
            {
                "type": "message",
                "subtype": "bot_message",
                "text": "Done",
                "ts": f"{BEGAN + 70}",
                "username": "ci",
            },
            slack(80, "U1", "", files=[{"id": "F1"}]),
            slack(90, "U9", "Sure, <!here>!", user_profile={"display_name": "Cy"}),
        ],
        "general/2024-05-18": [
            slack(DAY, "U2", "I have read it.", thread_ts=thread),
            slack(DAY + 60, "U2", "Morning."),
        ],
        "quiet/2024-05-18": [slack(DAY, "U1", "<@U1> has joined", subtype="channel_join")],
    }
    for name, messages in days.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.json").write_text(json.dumps(messages))
    (tmp_path / "users.json").write_text(json.dumps(users))
    (tmp_path / "channels.json").write_text("[]")
    return tmp_path


class TestSlack:
    def test_threads_are_separate_dialogues_and_the_rest_is_divided_at_pauses(self, workspace: Path) -> None:
        dialogues, refused, notices = read("slack", workspace)
        assert {one.id: said([one])[0] for one in dialogues} == {
            "slack/all/general-2024-05-17T0901": [("Bo M.", "Lunch?"), ("Cy", "Sure, @here!")],
            "slack/all/general-2024-05-18T0901": [("Bo M.", "Morning.")],
            "slack/all/general-thread-1715936400.000000": [
                ("Ann", "Hi @Bo M., see this & #random"),
                ("Bo M.", "I have read it."),
            ],
        }
        assert not refused and set(notices) == {
            "2 system lines left out", "1 bot message left out", "1 media placeholder left out",
        }  # fmt: skip

    def test_texts_in_blocks_and_of_forwarded_messages_are_read(self, tmp_path: Path) -> None:
        line = [
            {"type": "text", "text": "Hi "},
            {"type": "user", "user_id": "U1"},
            {"type": "text", "text": " & co"},
        ]
        more = [{"type": "link", "url": "https://x.org", "text": "this"}, {"type": "emoji", "name": "smile"}]
        sections = [{"type": "rich_text_section", "elements": part} for part in (line, more)]
        block = {"type": "section", "text": {"type": "mrkdwn", "text": "*Bye*"}}
        messages = [
            slack(0, "U1", "", blocks=[{"type": "rich_text", "elements": sections}, block]),
            slack(1, "U2", "", attachments=[{"text": "Look &amp; see", "fallback": "Look"}]),
            slack(2, "U2", "", blocks=[{"type": "image", "image_url": "x"}]),
        ]
        (tmp_path / "2024-05-17.json").write_text(json.dumps(messages))
        dialogues, _, notices = read("slack", tmp_path)
        assert said(dialogues) == [[("U1", "Hi @U1 & co\nthis:smile:\n*Bye*"), ("U2", "Look & see")]]
        assert set(notices) == {
            "1 forwarded message read as a turn of the person who forwarded it",
            "1 media placeholder left out",
        }

    def test_two_users_of_one_name_are_distinguished_and_one_user_has_one_name(self, tmp_path: Path) -> None:
        messages = [
            slack(0, "U1", "Hi <@U3>."),
            slack(1, "U2", "Ho.", user_profile={"display_name": "Sam"}),
            slack(2, "U1", "So?", user_profile={"display_name": "Sam"}),
            slack(3, "U3", "No.", user_profile={"display_name": "Cy"}),
        ]
        (tmp_path / "2024-05-17.json").write_text(json.dumps(messages))
        dialogues, _, notices = read("slack", tmp_path)
        expected = [("Sam", "Hi @Cy."), ("Sam (2)", "Ho."), ("Sam", "So?"), ("Cy", "No.")]
        assert said(dialogues) == [expected]
        assert notices == ["1 dialogue with several people of one name, who are told apart by numbers"]

    def test_a_channel_is_read_by_itself(self, workspace: Path) -> None:
        assert len(read("slack", workspace / "general")[0]) == 3

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("<html>", "neither a JSON array nor a JSON object"),
            ('[{"type": "message", "user": "U1", "te', "the value is not closed"),
            (
                '[{"type": "message", "user": "U1", "text": "x", "ts": "soon"}]',
                "the time 'soon' is not one of Slack",
            ),
            ('[{"type": "message", "text": "x", "ts": "1715936400.1"}]', "the message has no author"),
            ("[7]", "the message is not a JSON object"),
        ],
    )
    def test_a_damaged_day_is_reported_with_its_line(self, workspace: Path, content: str, told: str) -> None:
        (workspace / "general" / "2024-05-19.json").write_text(content)
        dialogues, refused, _ = read("slack", workspace)
        assert len(dialogues) == 2 and "2024-05-19.json:1" in refused[0].place
        assert re.search(told, refused[0].reason)

    def test_other_folders_are_refused(self, workspace: Path, tmp_path: Path) -> None:
        (tmp_path / "none").mkdir()
        for path, told in (
            (tmp_path / "none", "contains no Slack channel"),
            (workspace / "users.json", "name its folder"),
        ):
            with pytest.raises(InputError, match=told):
                read("slack", path)
        (workspace / "users.json").write_text("[{]")
        with pytest.raises(InputError, match=r"users.json:1: "):
            read("slack", workspace)


def discord(number: int, content: str, author: str, **more: Any) -> dict[str, Any]:
    at = f"2024-05-17T10:0{number}:00.123+02:00"
    given = {"id": str(number), "type": "Default", "timestamp": at, "content": content}
    return given | {"author": {"id": author, "name": author, "isBot": False}} | more


class TestDiscord:
    def export(self, *messages: dict[str, Any]) -> str:
        head = {"guild": {"id": "1"}, "channel": {"id": "2", "name": "help"}}
        return json.dumps({**head, "messages": messages, "messageCount": len(messages)}, indent=1)

    def test_messages_of_people_are_read_and_the_rest_is_counted(self, file: Callable[..., Path]) -> None:
        path = file(
            self.export(
                discord(0, "Hello <:wave:123>", "ann"),
                discord(1, "Hi.", "bo", type="Reply", reference={"messageId": "0"}),
                discord(2, "Pinned a message.", "bo", type="ChannelPinnedMessage"),
                discord(3, "", "bo", attachments=[{"url": "x.png"}]),
                discord(4, "beep", "bot") | {"author": {"name": "bot", "isBot": True}},
                discord(5, "Bye.", "bo") | {"author": {"name": "bo", "nickname": "Bobo"}},
            ),
            "help.json",
        )
        [dialogue], refused, notices = read("discord", path)
        assert said([dialogue]) == [[("ann", "Hello :wave:"), ("bo", "Hi."), ("Bobo", "Bye.")]]
        assert dialogue.id == "help/all/2024-05-17T0800" and not refused
        assert notices == ["1 system line left out", "1 media placeholder left out", "1 bot message left out"]

    def test_two_people_with_the_same_nickname_are_distinguished(self, file: Callable[..., Path]) -> None:
        authors = [{"id": id, "name": f"sam{id}", "nickname": "Sam"} for id in ("1", "2", "1")]
        given = [discord(at, "Hi.", "x") | {"author": author} for at, author in enumerate(authors)]
        dialogues, _, _ = read("discord", file(self.export(*given), "help.json"))
        assert [speaker for speaker, _ in said(dialogues)[0]] == ["Sam", "Sam (2)", "Sam"]

    def test_a_forwarded_message_is_read(self, file: Callable[..., Path]) -> None:
        path = file(self.export(discord(0, "", "ann", forwardedMessage={"content": "Look!"})), "help.json")
        dialogues, _, notices = read("discord", path)
        assert said(dialogues) == [[("ann", "Look!")]]
        assert notices == ["1 forwarded message read as a turn of the person who forwarded it"]

    def test_a_truncated_file_loses_only_its_last_dialogue(self, file: Callable[..., Path]) -> None:
        later = discord(1, "Hi.", "bo", timestamp="2024-06-01T10:00:00+00:00")
        text = self.export(discord(0, "Hello", "ann"), later, discord(2, "Ho", "ann"))
        dialogues, refused, _ = read("discord", file(text[: text.rindex('"Ho"')], "help.json"))
        assert said(dialogues) == [[("ann", "Hello")]] and len(refused) == 2


REVERSED = "1 file read in reverse order, because the newest messages come first"


class TestNewestFirst:
    """A file with the newest messages first gives the same dialogues as one in the usual order."""

    def test_whatsapp(self, file: Callable[[str], Path]) -> None:
        lines = [f"{day}/4/24, 10:0{minute} - {who}: {day} {minute}\n" for day in (1, 3, 13)
                 for minute, who in ((0, "Ann"), (0, "Bo"), (1, "Ann"))]  # fmt: skip
        usual, _, _ = read("whatsapp", file("".join(lines)))
        newest, refused, notices = read("whatsapp", file("".join(reversed(lines))))
        assert newest == usual and len(usual) == 3 and not refused
        assert notices == [f"{file('')}: dates are read as day/month/year", REVERSED]

    @pytest.mark.parametrize(
        ("dates", "told"),
        [
            (["1/3/23", "3/2/23", "2/2/23", "1/2/23"], "day/month"),
            (["3/1/23", "2/3/23", "2/2/23"], "month/day"),
        ],
    )
    def test_dates_of_whatsapp_are_read_in_the_order_that_makes_times_decrease(
        self, file: Callable[[str], Path], dates: list[str], told: str
    ) -> None:
        path = file("".join(f"{date}, 10:00 - Ann: Hi.\n" for date in dates))
        assert read("whatsapp", path)[2][0].endswith(f"dates are read as {told}/year")

    def test_discord(self, file: Callable[..., Path]) -> None:
        said = [discord(number, f"Hi {number}.", "ann" if number % 2 else "bo") for number in range(5)]
        said += [discord(6, "Ho.", "bo", timestamp="2024-06-01T10:00:00+00:00")]
        usual, _, _ = read("discord", file(json.dumps({"messages": said}), "help.json"))
        newest, _, notices = read("discord", file(json.dumps({"messages": said[::-1]}), "help.json"))
        assert newest == usual and [len(one.utterances) for one in usual] == [5, 1]
        assert notices == [REVERSED]

    def test_slack_within_each_day(self, workspace: Path) -> None:
        usual, _, _ = read("slack", workspace)
        days = sorted((workspace / "general").glob("*.json"))
        for day in days:
            day.write_text(json.dumps(json.loads(day.read_text())[::-1]))
        newest, _, notices = read("slack", workspace)
        assert newest == usual
        assert "2 files read in reverse order, because the newest messages come first" in notices

    def test_newest_first_is_recognised_despite_some_late_messages(self, file: Callable[[str], Path]) -> None:
        times = [*range(40, 20, -1), 22, *range(20, 10, -1)]
        lines = [f"1/4/24, 10:{time} - Ann: {number}\n" for number, time in enumerate(times)]
        [newest], _, _ = read("whatsapp", file("".join(lines)))
        assert [turn.text for turn in newest.utterances] == [str(number) for number in range(30, -1, -1)]
        [usual], _, notices = read("whatsapp", file("".join(reversed(lines))))
        assert usual == newest and REVERSED not in notices

    def test_a_line_that_cannot_be_read_refuses_the_same_dialogue(self, file: Callable[[str], Path]) -> None:
        lines = ["13.4.24, 10:00 - Ann: Hi.\n", "31.4.24, 10:01 - Bo: Ho.\n", "13.4.24, 10:02 - Ann: Hm.\n",
                 "14.5.24, 10:00 - Ann: Hi.\n", "15.5.24, 10:00 - Bo: Ho.\n"]  # fmt: skip
        usual, refused, _ = read("whatsapp", file("".join(lines)))
        newest, others, _ = read("whatsapp", file("".join(reversed(lines))))
        assert newest == usual and len(usual) == 2 and len(others) == len(refused) == 2


@pytest.mark.parametrize("loader", ["transcript", "whatsapp", "discord"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html>\n<html><body>Ann: Hi.</body></html>", "looks like an HTML page"),
        (bytes(range(256)) * 8, "is not a file for the loader"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"PK\x03\x04rest", "a ZIP archive: unpack it first"),
        (b"\n\n \n", "is empty: there is nothing to load"),
        (b'{"messages": [', "is not a file for the loader"),
    ],
)
def test_a_wrong_file_gives_a_one_line_error(loader: str, tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "given.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told) as raised:
        read(loader, path)
    assert "\n" not in str(raised.value) and "given.txt" in str(raised.value)


def test_another_loader_names_the_loader_for_a_chat(file: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="looks like a file for the loader 'whatsapp'"):
        read("transcript", file(ANDROID_US))


@pytest.mark.parametrize(
    "text", ["Ann: Hi.\nBo: Ho.\n\nAnn: Bye.\n", "[00:05] Ann Lee: Hi.\nand more\n**Bo:** Ho."]
)
def test_another_loader_names_the_loader_for_a_transcript(file: Callable[..., Path], text: str) -> None:
    with pytest.raises(InputError, match="which the loader 'transcript' reads"):
        read("dialogues", file(text))


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("dialogue,author_id,author_name,text\nc,1,Sam,a\nc,2,Sam,b\nc,1,Sam,c\n", ["Sam", "Sam (2)", "Sam"]),
        ("dialogue,sender_id,sender,text\nc,7,user,a\nc,7,bot,b\n", ["user", "bot"]),
        ("dialogue,message_id,name,text\nc,1,Sam,a\nc,2,Sam,b\n", ["Sam", "Sam"]),
    ],
)
def test_people_of_one_name_in_a_table_are_distinguished_by_their_ids(
    file: Callable[..., Path], text: str, speakers: list[str]
) -> None:
    [dialogue], _, notices = read("dialogues", file(text, "chats.csv"))
    assert [turn.speaker for turn in dialogue.utterances] == speakers
    assert any("told apart" in line for line in notices) == ("Sam (2)" in speakers)


def test_people_of_one_name_in_a_list_of_turns_are_distinguished_by_their_ids(
    file: Callable[..., Path],
) -> None:
    turns = [{"sender": {"id": id, "name": "Sam"}, "text": "Hi."} for id in (1, 2)]
    [dialogue], _, _ = read("dialogues", file(json.dumps([{"id": 7, "messages": turns}]), "chats.json"))
    assert [turn.speaker for turn in dialogue.utterances] == ["Sam", "Sam (2)"]


IRSSI = """--- Log opened Wed Dec 31 23:57:01 2025
23:57 -!- ann [~ann@host.example] has joined #rye
23:58 <@ann> Is it fresh?
23:59 < bo_> Yes: <b>very</b>.
23:59  * bo_ waves
--- Day changed Thu Jan 01 2026
00:01 <[carl]> Good.
"""
WEECHAT = """2025-12-31 23:57:00\t-->\tann (~a@host) has joined #rye
2025-12-31 23:58:00\t@ann\tIs it fresh?
2025-12-31 23:59:00\tbo_\tYes: <b>very</b>.
2025-12-31 23:59:10\t *\tbo_ waves
2026-01-01 00:01:00\t[carl]\tGood.
"""
HEXCHAT = """**** BEGIN LOGGING AT Wed Dec 31 23:57:00 2025

Dec 31 23:57:10 *\tann (~a@host) has joined
Dec 31 23:58:00 <ann>\tIs it fresh?
Dec 31 23:59:00 <bo_>\tYes: <b>very</b>.
Jan 01 00:01:00 <[carl]>\tGood.
"""
UBUNTU = """=== ann [~ann@host.example] has joined #rye
[23:58] <ann> Is it fresh?
[23:59] <bo_> Yes: <b>very</b>.
[00:01] <[carl]> Good.
"""


class TestIrc:
    @pytest.mark.parametrize(
        ("text", "name", "counts"),
        [
            (IRSSI, "rye.log", {"3 system lines left out", "1 action left out"}),
            (WEECHAT, "rye.weechatlog", {"1 system line left out", "1 action left out"}),
            (HEXCHAT, "rye.log", {"1 system line left out", "1 action left out"}),
            (UBUNTU, "2025-12-31-#rye.txt", {"1 system line left out"}),
        ],
    )
    def test_logs_of_all_programs_say_the_same(
        self, file: Callable[..., Path], text: str, name: str, counts: set[str]
    ) -> None:
        dialogues, refused, notices = read("irc", file(text, name))
        turns = [("ann", "Is it fresh?"), ("bo_", "Yes: <b>very</b>."), ("[carl]", "Good.")]
        assert (said(dialogues), refused, set(notices)) == ([turns], [], counts)
        assert dialogues[0].id.endswith("2025-12-31T2358")

    def test_the_day_changes_at_midnight_but_not_at_the_end_of_summer_time(
        self, file: Callable[..., Path]
    ) -> None:
        text = "[02:50] <ann> A.\n[02:10] <bo> B.\n[23:00] <ann> C.\n[08:00] <bo> D.\n"
        dialogues, _, _ = read("irc", file(text, "20251026.log"))
        assert [one.id[-15:] for one in dialogues] == [
            "2025-10-26T0250",
            "2025-10-26T2300",
            "2025-10-27T0800",
        ]

    def test_a_log_without_a_date_is_reported(self, file: Callable[..., Path]) -> None:
        path = file("[02:50] <ann> A.\n", "rye.log")
        assert read("irc", path)[2] == [f"{path}: neither the lines nor the name of the file have a date"]

    def test_a_time_that_does_not_exist_costs_its_dialogue(self, file: Callable[..., Path]) -> None:
        _, refused, _ = read("irc", file("[02:50] <ann> A.\n[99:10] <bo> B.\n", "20251026.log"))
        assert any("not a valid time" in one.reason for one in refused)

    @pytest.mark.parametrize("text", [IRSSI, WEECHAT, HEXCHAT, UBUNTU])
    def test_a_log_is_known_by_its_beginning(self, file: Callable[..., Path], text: str) -> None:
        with pytest.raises(InputError, match="looks like a file for the loader 'irc'"):
            read("transcript", file(text, "2025-12-31.txt"))


LINE = """[LINE] Chat history with Bo
Saved on: 2025/11/16 10:00

2025/11/14(Fri)
{0}Ann\tAre you coming?
{1}Bo\t"Yes! ""Maybe"":
I'll bring a salad."
{1}Bo\t[Sticker]
{1}Bo unsent a message.

2025/11/15(Sat)
{0}Bo\t"Ok"
"""


class TestLine:
    @pytest.mark.parametrize(
        "times",
        [
            ("22:01\t", "22:03\t"),
            ("10:01 PM\t", "10:03 PM\t"),
            ("午後10:01\t", "午後10:03\t"),
            ("오후 10:01\t", "오후 10:03\t"),
        ],
    )
    def test_a_chat_is_split_at_pauses(self, file: Callable[..., Path], times: tuple[str, str]) -> None:
        dialogues, refused, notices = read("line", file(LINE.format(*times)))
        assert said(dialogues) == [
            [("Ann", "Are you coming?"), ("Bo", 'Yes! "Maybe":\nI\'ll bring a salad.')],
            [("Bo", '"Ok"')],
        ]
        assert [one.id[-15:] for one in dialogues] == ["2025-11-14T2201", "2025-11-15T2201"]
        assert refused == []
        assert set(notices) == {"3 system lines left out", "1 media placeholder left out"}

    def test_a_chat_is_known_by_its_beginning(self, file: Callable[..., Path]) -> None:
        with pytest.raises(InputError, match="looks like a file for the loader 'line'"):
            read("whatsapp", file(LINE.format("22:01\t", "22:03\t")))
