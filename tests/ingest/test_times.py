"""Tests of the times of messages: formats, the order of rows, and ambiguous dates such as 3/4/24."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from graphneg.errors import InputError
from graphneg.ingest.loader import DateOrder, LoadOptions
from graphneg.ingest.times import parse_time
from tests.ingest.test_chats import read
from tests.ingest.test_dialogue_files import lines, load, said
from tests.loader_samples import written

DAY = 86_400
UNDECIDED = (
    "1 dialogue kept in the order of its rows, as its dates can be read with the day or the month first: "
    "--date-order day or --date-order month says which"
)
CONTRADICTORY = (
    "some dates begin with the day, others with the month, so dates with slashes or hyphens are not used; "
    "--date-order day or --date-order month says which is meant"
)


def table(folder: Path, *times: str) -> Path:
    """Write a table of one dialogue with these times; the text of each row is its number."""
    rows = [f'1,A,"{time}",{number}\n' for number, time in enumerate(times)]
    return written(folder / "t.csv", "dialogue,speaker,time,text\n" + "".join(rows))


def order(file: Any, **options: Any) -> str:
    return "".join(text for _, text in said(file, **options)["1"])


def notices(file: Path, **options: Any) -> list[str]:
    return [line.removeprefix(f"{file}: ") for line in load(file, **options)[1].notices.lines()]


@pytest.mark.parametrize(
    ("text", "order", "seconds"),
    [
        ("1/2/1970", "month", DAY),
        ("2/1/1970 0:00:00", "day", DAY),
        ("02-01-1970 00:01", "day", DAY + 60),
        ("1/2/1970 3:05 PM", "month", DAY + 15 * 3600 + 300),
        ("01/02/1970, 12:05:00\u202fam", "month", DAY + 300),
        ("1/13/70", "month", 12 * DAY + 36525 * DAY),
        ("02.01.1970 00:01", None, DAY + 60),
        ("02.01.1970 00:01", "month", DAY + 60),
        ("1970/01/02 00:01", None, DAY + 60),
        ("Jan 2, 1970 3:05 PM", None, DAY + 15 * 3600 + 300),
        ("Friday, January 2, 1970 12:05 AM", None, DAY + 300),
        ("2 Jan 1970 00:01 PST", None, DAY + 60 + 8 * 3600),
        ("1970-01-02T01:01:00+01:00", None, DAY + 60),
        (1_700_000_000, None, 1_700_000_000),
        (1_700_000_000_000, None, 1_700_000_000),
        ("1700000000000000", None, 1_700_000_000),
        ("26/11/2026", "month", None),
        ("11/26/2026 25:00", "month", None),
        ("1/2/1970 15:05 PM", "month", None),
        ("70-01-02", "day", None),
        ("2 Jan 1970 00:01 XYZ", None, None),
        ("Part 1234 abc", None, None),
    ],
)
def test_the_seconds_of_a_time(text: Any, order: DateOrder | None, seconds: float | None) -> None:
    assert parse_time(text, order) == seconds


class TestTheOrderOfRows:
    @pytest.mark.parametrize(
        "times",
        [
            ("11/26/2026 3:05 PM", "11/26/2026 9:05 AM"),
            ("26.11.2026 15:05", "25.12.2025 16:00"),
            ("26/11/2026", "25/12/2025"),
            ("2026-11-26T10:00:00+02:00", "2026-11-26T07:30:00Z"),
            ("2026-11-26 10:00", "2026-11-26 09:00"),
            ("1700000002", "1700000001000"),
            ("Nov 26, 2026 3:05 PM", "Nov 26, 2026 9:05 AM"),
        ],
    )
    def test_rows_are_ordered_by_their_times_in_every_format(
        self, tmp_path: Path, times: tuple[str, str]
    ) -> None:
        assert order(table(tmp_path, *times)) == "10"
        assert order(table(tmp_path, *times[::-1])) == "01"

    def test_rows_of_equal_times_are_reversed_if_the_newest_come_first(self, tmp_path: Path) -> None:
        newest = ("12/2/2026", "12/2/2026", "11/30/2026", "11/30/2026")
        assert order(table(tmp_path, *newest)) == "3210"
        mixed = ("11/30/2026", "12/2/2026", "11/30/2026", "12/2/2026")
        assert order(table(tmp_path, *mixed)) == "0213"

    def test_rows_of_equal_times_take_the_order_of_the_other_dialogues(self, tmp_path: Path) -> None:
        for times, found in ((("12/2/2026", "12/1/2026"), "10"), (("12/1/2026", "12/2/2026"), "01")):
            file = table(tmp_path, "11/30/2026", "11/30/2026")
            file.write_text(file.read_text() + "".join(f"2,A,{time},x\n" for time in times))
            assert order(file, date_order="month") == found
            messages = [
                [{"text": str(at), "time": time} for at, time in enumerate(of)]
                for of in (["1/1/2026"] * 2, times)
            ]
            talks = [{"id": str(at), "messages": of} for at, of in enumerate(messages, 1)]
            assert order(talks, date_order="month") == found

    def test_rows_without_times_keep_the_order_of_the_file(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "dialogue,speaker,text\n1,A,2\n1,A,1\n1,A,0\n")
        assert order(file) == "210" and notices(file) == []

    def test_rows_are_ordered_by_separate_columns_for_date_and_time(self, tmp_path: Path) -> None:
        rows = "1,A,11/26/2026,3:05 PM,0\n1,A,11/26/2026,9:05 AM,1\n"
        assert order(written(tmp_path / "t.csv", "dialogue,speaker,Date,Time,text\n" + rows)) == "10"

    def test_messages_of_an_object_are_ordered_by_time_but_turns_are_not(self, tmp_path: Path) -> None:
        messages = [{"role": "A", "content": str(at), "sent_at": f"{9 - at}/26/2026"} for at in range(3)]
        assert order([{"id": 1, "messages": messages}]) == "210"
        assert order(iter([{"id": 1, "messages": messages}])) == "210"
        assert order([{"id": 1, "turns": messages}]) == "012"
        file = written(tmp_path / "t.jsonl", lines([{"id": 1, "messages": messages}]))
        assert notices(file) == [
            "dates are read as month/day/year",
            "read as turns=messages, speaker=role, text=content, time=sent_at",
            "1 dialogue whose turns were put in the order of 'sent_at'",
        ]


class TestATimeColumn:
    @pytest.mark.parametrize(
        "name",
        [
            "Created at (UTC)", "Sent (UTC)", "Sent On", "dateCreated", "message_created_at", "received_at",
            "Comment created - Timestamp", "Event Timestamp", "utc_time", "epoch", "when", "Uhrzeit",
        ],
    )  # fmt: skip
    def test_a_time_column_has_one_of_many_names_and_is_reported(self, tmp_path: Path, name: str) -> None:
        file = written(
            tmp_path / "t.csv", f"dialogue,speaker,{name},text\n1,A,2026-11-26,1\n1,A,2026-11-25,0\n"
        )
        assert order(file) == "01"
        assert notices(file)[0] == f"read as time={name}"

    def test_a_time_column_of_another_name_is_reported_as_a_candidate(self, tmp_path: Path) -> None:
        rows = "dialogue,speaker,stamp,count,text\n1,A,2026-11-26,7,0\n1,A,2026-11-25,8,1\n"
        file = written(tmp_path / "t.csv", rows)
        assert notices(file) == [
            "no time column, so the order of the file is kept; these look like times: stamp; "
            "name the right one with --map time=NAME"
        ]
        assert notices(file, map={"time": ""}) == []
        assert order(file, map={"time": "stamp"}) == "10"


class TestADateThatCanBeReadInTwoWays:
    TIMES = ("03/04/2026", "04/03/2026")

    def test_an_ambiguous_date_is_read_like_the_other_dates_of_the_file(self, tmp_path: Path) -> None:
        for other, found, parts in (("26/02/2026", "210", "day/month"), ("02/26/2026", "201", "month/day")):
            file = table(tmp_path, *self.TIMES, other)
            assert order(file) == found
            assert notices(file)[0] == f"dates are read as {parts}/year"

    def test_an_ambiguous_date_is_read_like_the_dates_of_other_dialogues(self, tmp_path: Path) -> None:
        frame = pd.DataFrame(
            {
                "dialogue": [1, 1, 2],
                "speaker": "A",
                "date": [*self.TIMES, "26/02/2026"],
                "text": list("012"),
            }
        )
        assert order(frame) == "10"

        def rows() -> Iterator[Any]:
            yield from frame.to_dict("records")

        assert order(rows()) == "10"

    def test_unresolved_dates_keep_the_order_of_the_rows_and_are_counted(self, tmp_path: Path) -> None:
        file = table(tmp_path, *self.TIMES)
        assert order(file) == "01" and notices(file) == [UNDECIDED]
        assert order(file, date_order="day") == "10"
        assert order(file, date_order="month") == "01"

    def test_an_ambiguous_date_orders_the_rows_if_both_readings_agree(self, tmp_path: Path) -> None:
        file = table(tmp_path, "03/04/2026 10:05", "03/04/2026 10:00")
        assert order(file) == "10"
        assert notices(file) == ["1 dialogue whose rows were put in the order of 'time'"]

    def test_dates_are_not_used_if_the_dates_of_the_file_are_contradictory(self, tmp_path: Path) -> None:
        file = table(tmp_path, "26/11/2026", "11/25/2026")
        assert order(file) == "01"
        assert notices(file) == [
            CONTRADICTORY,
            "1 dialogue kept in the order of its rows, because its times can't be read",
        ]

    def test_date_order_must_be_day_or_month(self) -> None:
        with pytest.raises(InputError, match="date_order 'year': must be one of day, month"):
            LoadOptions(date_order="year")  # type: ignore[arg-type]


class TestTranscripts:
    @pytest.mark.parametrize(
        ("times", "found"),
        [
            (("[00:15]", "[00:10]", "[00:05]"), "210"),
            (("00:10:05", "00:10:05", "00:10:00"), "012"),
            (("3:05 PM", "1:05 PM", "11:05 AM"), "210"),
            (("23:58", "00:01", "00:03"), "012"),
            (("23:58", "00:01", "00:01"), "012"),
            (("00:05", "00:10", "00:07"), "012"),
            (("00:15", "", "00:05"), "012"),
            (("2026-11-26 15:05", "2026-11-25 15:05", "2026-11-26 15:01"), "120"),
            (("2026-11-26 15:05", "15:01", "14:00"), "012"),
        ],
    )
    def test_turns_are_put_in_order_of_time_only_if_their_times_require_it(
        self, tmp_path: Path, times: tuple[str, ...], found: str
    ) -> None:
        text = "".join(f"{time} Ann: {at}\n" for at, time in enumerate(times))
        [talk], _, told = read("transcript", written(tmp_path / "t.txt", text))
        assert "".join(one.text for one in talk.utterances) == found
        assert {one.speaker for one in talk.utterances} == {"Ann"}
        moved = "1 dialogue whose turns were put in the order of their times"
        assert told == ([moved] if found != "012" else [])

    def test_transcripts_of_whatsapp_take_the_order_of_dates_from_the_user(self, tmp_path: Path) -> None:
        file = written(tmp_path / "chat.txt", "03/04/2026, 21:04 - Ann: Hi.\n03/04/2026, 21:05 - Bo: Ho.\n")
        for date_order, began in (("day", "2026-04-03"), ("month", "2026-03-04")):
            [talk], _, _ = read("whatsapp", file, date_order=date_order)
            assert str(talk.attributes["began"]).startswith(began)
