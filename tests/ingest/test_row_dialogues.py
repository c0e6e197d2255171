"""Tests of tables with one message per row in any order: grouping, order, speakers and ids."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.ingest.fields import NAMES, plain_names
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.spill import RowStore, Threads, is_interleaved
from graphneg.ingest.times import parse_time
from graphneg.ingest.values import id_text
from graphneg.model import Dialogue, Rejected
from tests.ingest.test_dialogue_files import lines, load, refused, said
from tests.loader_samples import written


def texts(*given: Any, **options: Any) -> dict[str, str]:
    """Return each dialogue as ``Ann: Hi. / Bo: Ho.``, by the last part of its id."""
    found = said(*given, **options)
    return {id: " / ".join(f"{speaker}: {text}" for speaker, text in turns) for id, turns in found.items()}


def notices(*given: Any, **options: Any) -> list[str]:
    """Return the notices of a load, without file names."""
    return [line.rpartition(".csv: ")[2] for line in load(*given, **options)[1].notices.lines()]


class TestExports:
    """Exports of ConvoKit, Reddit, Twitter, help desks and forums."""

    def test_rows_of_convokit_are_grouped_and_ordered_by_time(self, tmp_path: Path) -> None:
        rows = [
            ("u1", "c1", "Who took my umbrella?", "ann", None, 10),
            ("u4", "c2", "Is the pool open?", "cid", None, 11),
            ("u2", "c1", "Your sister did.", "bob", "u1", 12),
            ("u5", "c2", "Not before June.", "dee", "u4", 14),
            ("u3", "c1", "I have none.", "ann", "u2", 13),
            ("u6", "c1", "It was me.", "eve", "u1", 15),
            ("u7", "c2", "A pity.", "cid", "gone", 16),
        ]
        keys = ("id", "conversation_id", "text", "speaker", "reply_to", "timestamp")
        file = written(
            tmp_path / "utterances.jsonl", lines([dict(zip(keys, row, strict=True)) for row in rows])
        )
        assert texts(file) == {
            "c1": "ann: Who took my umbrella? / bob: Your sister did. / ann: I have none. / eve: It was me.",
            "c2": "cid: Is the pool open? / dee: Not before June. / cid: A pity.",
        }
        assert sorted(load(file)[1].notices.lines()[1:]) == [
            "1 dialogue with several replies to one message, kept as a single sequence of turns",
            "1 turn kept although the message that it answers is missing",
        ]

    def test_rows_of_reddit_are_grouped_by_their_post(self, tmp_path: Path) -> None:
        keys = ("id", "author", "body", "link_id", "parent_id", "created_utc")
        rows = [
            ("d1", "dan", "Does the ferry run?", "t3_p2", "t3_p2", 1),
            ("c2", "bob", "At the mill.", "t3_p1", "t1_c1", 5),
            ("d2", "eve", "It is too windy.", "t3_p2", "t1_d1", 3),
            ("c1", "ann", "Where is rye sold?", "t3_p1", "t3_p1", 5),
        ]
        file = written(tmp_path / "RC.jsonl", lines([dict(zip(keys, row, strict=True)) for row in rows]))
        assert texts(file) == {
            "t3_p2": "dan: Does the ferry run? / eve: It is too windy.",
            "t3_p1": "ann: Where is rye sold? / bob: At the mill.",
        }
        assert load(file)[1].notices.lines()[1:] == [
            "1 dialogue whose rows were put in the order of 'created_utc' and 'parent_id'"
        ]

    def test_rows_of_twitter_are_grouped_by_their_replies(self, tmp_path: Path) -> None:
        text = (
            "tweet_id,author_id,inbound,created_at,text,response_tweet_id,in_response_to_tweet_id\n"
            "1,AirHelp,False,Tue Oct 31 22:10:47 +0000 2017,Which flight?,2,3.0\n"
            "2,115712,True,Tue Oct 31 22:11:45 +0000 2017,To Lima.,,1\n"
            "3,115712,True,Tue Oct 31 22:08:27 +0000 2017,My bag is lost.,1,\n"
            "9,ShopHelp,False,Tue Oct 31 22:05:00 +0000 2017,Thanks!,,8\n"
        )
        file = written(tmp_path / "twcs.csv", text)
        assert texts(file) == {
            "3": "115712: My bag is lost. / AirHelp: Which flight? / 115712: To Lima.",
            "9": "ShopHelp: Thanks!",
        }
        assert notices(file)[1] == "no dialogue column, so messages that answer each other form a dialogue"

    @pytest.mark.parametrize(
        ("header", "rows", "found"),
        [
            (
                "Ticket ID,Comment ID,Author Name,Author Role,Created At,Comment Body",
                [
                    "7,1,Ann,end-user,2024-01-05 10:00:00 UTC,It is stuck.",
                    "8,2,Bob,end-user,2024-01-05 10:01:00 UTC,I am locked out.",
                    "7,3,Sue,agent,2024-01-05 10:02:00 UTC,Open the lid.",
                ],
                {"7": "Ann: It is stuck. / Sue: Open the lid.", "8": "Bob: I am locked out."},
            ),
            (
                "conversation_id,part_type,author_type,created_at,body",
                [
                    "7,comment,user,1700000001,Hi.",
                    "7,comment,admin,1700000002,Ho.",
                    "7,note,admin,1700000003,Hm.",
                ],
                {"7": "user: Hi. / admin: Ho."},
            ),
            (
                "id,topic_id,post_number,username,created_at,reply_to_post_number,raw",
                [
                    "12,4,4,ann,2020-01-01T10:05:00.000Z,2,It works.",
                    "11,4,2,bob,2020-01-01T10:02:00.000Z,,Use pip.",
                    "10,5,1,cid,2020-01-01T10:01:00.000Z,,Is there a Mac build?",
                    "9,4,1,ann,2020-01-01T10:00:00.000Z,,How do I install it?",
                ],
                {
                    "4": "ann: How do I install it? / bob: Use pip. / ann: It works.",
                    "5": "cid: Is there a Mac build?",
                },
            ),
            (
                "message_tree_id,message_id,parent_id,role,text,created_date",
                [
                    "m1,m2,m1,assistant,A grain.,2023-02-05T14:24:50.98+00:00",
                    "m1,m1,,prompter,What is rye?,2023-02-05T14:23:50.98+00:00",
                ],
                {"m1": "prompter: What is rye? / assistant: A grain."},
            ),
            (
                "Gespräch,Sprecher,Nachricht",
                ["1,Anna,Hallo.", "1,Bert,Ja?"],
                {"1": "Anna: Hallo. / Bert: Ja?"},
            ),
        ],
        ids=["zendesk", "intercom", "discourse", "oasst", "german"],
    )
    def test_tables_need_no_map_of_fields(
        self, tmp_path: Path, header: str, rows: list[str], found: dict[str, str]
    ) -> None:
        assert texts(written(tmp_path / "t.csv", "\n".join([header, *rows]))) == found

    def test_objects_need_no_map_of_fields(self) -> None:
        turns = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}]
        expected = "user: Hi. / assistant: Ho."
        assert texts([{"conversation_hash": "f1", "model": "m", "conversation": turns, "turn": 1}]) == {
            "f1": expected
        }
        assert texts([{"conversation_id": "f2", "conversation": turns}]) == {"f2": expected}
        people = [{"sender": {"id": 3, "name": "Ann"}, "body": "Hi."}, {"sender": {"id": 4}, "body": "Ho."}]
        assert texts([{"_id": {"$oid": "5f"}, "messages": people}]) == {"5f": "Ann: Hi. / 4: Ho."}


class TestOrder:
    def test_turns_are_ordered_by_number_then_time_then_row(self, tmp_path: Path) -> None:
        head = "dialogue,speaker,{},text\n"
        newest = "a,A,2024-01-02,3\nb,B,2024-01-02,x\na,A,2024-01-01,2\na,A,2024-01-01,1\n"
        assert texts(written(tmp_path / "t.csv", head.format("date") + newest))["a"] == "A: 1 / A: 2 / A: 3"
        unknown = "a,A,yesterday,1\na,A,today,2\n"
        file = written(tmp_path / "t.csv", head.format("date") + unknown)
        assert texts(file)["a"] == "A: 1 / A: 2"
        assert notices(file) == [
            "read as time=date",
            "1 dialogue kept in the order of its rows, because its times can't be read",
        ]

    def test_a_reply_never_precedes_the_message_that_it_answers(self, tmp_path: Path) -> None:
        rows = "a,A,4,3,four\na,A,3,2,three\na,A,1,,one\na,A,5,1,five\na,A,2,1,two\n"
        file = written(tmp_path / "t.csv", "dialogue,speaker,id,reply_to,text\n" + rows)
        assert texts(file)["a"] == "A: one / A: five / A: two / A: three / A: four"

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ("a,A,1,2,x\nb,B,9,,y\na,A,2,1,z\n", "dialogue 'a': the replies form a cycle"),
            ("a,A,1,,x\nb,B,9,,y\na,A,1,1,z\na,A,2,1,z\n", "dialogue 'a': two rows have the id '1': "),
        ],
    )
    def test_a_contradictory_order_refuses_the_dialogue(self, tmp_path: Path, rows: str, reason: str) -> None:
        records, _ = load(written(tmp_path / "t.csv", "dialogue,speaker,id,reply_to,text\n" + rows))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/b"]
        assert reason in refused(records)[0]

    def test_messages_that_reply_to_each_other_in_a_circle_have_no_order(self, tmp_path: Path) -> None:
        records, _ = load(written(tmp_path / "t.csv", "id,reply_to,speaker,text\n1,2,A,x\n2,1,B,y\n3,,A,z\n"))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/3"]
        assert len(refused(records)) == 2 and "replies form a cycle" in refused(records)[0]

    def test_numbered_turns_have_no_gaps_in_any_order_of_rows(self, tmp_path: Path) -> None:
        rows = "a,0,x\nb,0,y\nc,1,z\na,2,x\nb,1,y\nc,2,z\n"
        records, _ = load(written(tmp_path / "t.csv", "dialogue,turn,text\n" + rows))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/b", "t/all/c"]
        assert refused(records) == [
            f"t.csv:2 dialogue 'a': expected turn 1 but found '2' at {tmp_path}/t.csv:5"
        ]

    @pytest.mark.parametrize(
        ("rows", "accepted"),
        [
            # The unreadable row ("!") may be turn 0 of b, because c is numbered from 0.
            ("a0 a1 ! b1 b2 c0", ["c"]),
            ("! b1 b2 c0", ["c"]),
            ("a0 c0 ! b1 b2 a1 c1", ["a"]),
            # Nothing is missing in b.
            ("a0 a1 ! b0 b1 c0", ["b", "c"]),
            ("a1 a2 ! b1 b2 c1", ["b", "c"]),
            ("! b1 b2 c1", ["b", "c"]),
        ],
    )
    def test_numbered_turns_do_not_start_after_an_unreadable_turn(
        self, tmp_path: Path, rows: str, accepted: list[str]
    ) -> None:
        written_rows = [
            "{" if row == "!" else json.dumps({"dialogue": row[0], "turn": int(row[1]), "text": "Hi."})
            for row in rows.split()
        ]
        records, _ = load(written(tmp_path / "t.jsonl", "\n".join(written_rows)))
        found = sorted(one.id for one in records if isinstance(one, Dialogue))
        assert found == [f"t/all/{name}" for name in accepted]


@given(
    names=st.lists(st.sampled_from("abc"), max_size=12),
    once=st.booleans(),
    kind=st.sampled_from(["rows", "frame", "file"]),
)
def test_the_order_of_rows_changes_nothing(
    names: list[str], once: bool, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows: list[dict[str, Any]] = [
        {"dialogue": name, "speaker": "A", "text": f"{name}{number}"} for number, name in enumerate(names)
    ]
    expected = {
        name: " / ".join(f"A: {row['text']}" for row in rows if row["dialogue"] == name)
        for name in dict.fromkeys(names)
    }
    if not rows:
        return
    if kind == "file":
        given: Any = written(tmp_path_factory.getbasetemp() / "any.jsonl", lines(rows))
    else:
        given = pd.DataFrame(rows) if kind == "frame" else iter(rows) if once else rows
    assert texts(given) == expected


class TestRowsInAnotherOrder:
    @pytest.mark.parametrize(
        ("table", "told"),
        [
            ("dialogue,turn,text\n1,2,Ho.\n1,1,Hi.\n2,1,Hi.\n", ["1 dialogue turn"]),
            ("dialogue,date,text\n1,9,Ho.\n1,8,Hi.\n2,9,Ho.\n2,8,Hi.\n", ["2 dialogues date"]),
            ("dialogue,date,text\n1,8,Hi.\n1,9,Ho.\n", []),
        ],
    )  # fmt: skip
    def test_reordered_rows_are_counted_with_the_column_that_orders_them(
        self, tmp_path: Path, table: str, told: list[str]
    ) -> None:
        file = written(tmp_path / "t.csv", table)
        found = notices(file, map={"speaker": ""})
        expected = ["{} {} whose rows were put in the order of '{}'".format(*one.split()) for one in told]
        assert [line for line in found if "order" in line] == expected


class TestSpeakers:
    @pytest.mark.parametrize(
        ("dialogue", "speaker"), [("Ticket #", "Commenter"), ("Ticket No.", "nick"), ("Thread", "Spoken by")]
    )
    def test_columns_of_speakers_and_dialogues_have_many_names(
        self, tmp_path: Path, dialogue: str, speaker: str
    ) -> None:
        file = written(tmp_path / "t.csv", f"{dialogue},{speaker},text\n1,Ann,Hi.\n2,Bo,Ho.\n")
        assert texts(file) == {"1": "Ann: Hi.", "2": "Bo: Ho."}

    def test_speakers_without_a_column_are_assumed_with_one_notice(self, tmp_path: Path) -> None:
        rows = "".join(f"{number},Ann,glad,Hi.\n{number},Bo,sad,Ho.\n" for number in range(3))
        rows = rows.replace("Hi.\n", "Hi.,all,\n").replace("Ho.\n", "Ho.,all,\n")
        file = written(tmp_path / "t.csv", "dialogue,answerer,mood,text,split,amr\n" + rows)
        assert texts(file)["0"] == "A: Hi. / B: Ho."
        assert notices(file) == [
            "no speaker column, so the speakers A and B are assumed; unused columns: answerer, mood; "
            "name the right one with --map speaker=NAME"
        ]
        assert texts(file, map={"speaker": "answerer"})["0"] == "Ann: Hi. / Bo: Ho."
        assert notices(file, map={"speaker": "answerer"}) == notices(file, map={"speaker": ""}) == []

    def test_speakers_without_a_key_in_the_turns_are_assumed_with_a_notice(self) -> None:
        told = load([{"id": 1, "turns": [{"text": "Hi.", "x": 1}, {"text": "Ho."}]}])[1].notices.lines()
        assert told == [
            "data: no speaker column, so the speakers A and B are assumed; unused columns: x; "
            "name the right one with --map speaker=NAME"
        ]
        assert load([{"id": 1, "turns": ["Hi.", "Ho."]}])[1].notices.lines() == []

    @pytest.mark.parametrize(
        "table",
        [
            "dialogue,public,text\n1,yes,a\n1,no,N\n1,yes,b\n1,no,N\n1,yes,c\n",
            "dialogue,text\n1,a\n1,\n1,b\n1,[deleted]\n1,c\n",
        ],
    )
    def test_assumed_speakers_alternate_over_the_kept_rows(self, tmp_path: Path, table: str) -> None:
        file = written(tmp_path / "t.csv", table)
        assert texts(file) == {"1": "A: a / B: b / A: c"}
        assert "unused" not in str(notices(file))

    def test_turns_without_a_speaker_are_counted(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.csv", "dialogue,speaker,text\n1,Ann,Hi.\n1,,Ho.\n")
        assert notices(file) == ["1 turn without a speaker assigned to A or B"]

    def test_two_turns_in_a_row_by_one_speaker_are_both_kept(self, tmp_path: Path) -> None:
        text = (
            "conversation_id,author_type,message\n7,customer,Hi.\n7,agent,Ho.\n7,agent,Hm.\n7,customer,Bye.\n"
        )
        assert texts(written(tmp_path / "t.csv", text)) == {
            "7": "customer: Hi. / agent: Ho. / agent: Hm. / customer: Bye."
        }

    def test_a_column_of_names_is_preferred_to_a_column_of_roles(self, tmp_path: Path) -> None:
        text = "dialogue,author_type,author_name,text\n1,agent,Sue,Hi.\n1,agent,Tom,Ho.\n"
        assert texts(written(tmp_path / "t.csv", text))["1"] == "Sue: Hi. / Tom: Ho."

    def test_each_column_name_means_one_field(self) -> None:
        # "conversation" can be the id of a dialogue or its turns, and "message" a text or the turns.
        shared = {"dialogue", "dialog", "conversation", "transcript"}
        names = [name for field in NAMES for name in NAMES[field] if name not in shared]
        assert len(names) == len(set(names)) and list(plain_names(names)) == names


class TestIds:
    @pytest.mark.parametrize("id", [7, 7.0, "7.0", "7.000", " 7 "])
    @pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "frame", "rows"])
    def test_a_whole_number_is_the_same_id_in_every_form(self, tmp_path: Path, id: Any, form: str) -> None:
        rows = [{"dialogue": id, "speaker": "A", "text": "Hi."}]
        given: Any = rows
        if form == "jsonl":
            given = written(tmp_path / "t.jsonl", lines([{"id": id, "turns": ["Hi."]}]))
        elif form == "csv":
            given = tmp_path / "t.csv"
            pd.DataFrame(rows).to_csv(given, index=False)
        elif form == "parquet":
            given = tmp_path / "t.parquet"
            pq.write_table(pa.Table.from_pylist(rows), given)
        elif form == "frame":
            given = pd.DataFrame(rows)
        assert list(texts(given)) == ["7"]

    def test_given_ids_are_never_replaced(self) -> None:
        ids = [1.0, 7.5, 2.0, True, [1], 1e300, " ", 3]
        records, options = load([{"id": id, "turns": ["Hi."]} for id in ids])
        assert [one.id for one in records if isinstance(one, Dialogue)] == [
            f"dialogues/all/{id}" for id in ("1", "7.5", "2", "3")
        ]
        assert [reason.partition(": ")[2] for reason in refused(records)] == [
            "the id 'True' is neither a text nor a number",
            "the id '[1]' is neither a text nor a number",
            "the id 1e+300 is a float whose last digits are lost: give ids as text",
            "id is empty",
        ]
        assert options.notices.lines() == [
            "data: ids that are whole numbers are read as integers: 1.0 becomes 1"
        ]

    @pytest.mark.parametrize("once", [False, True])
    def test_generated_ids_differ_from_all_given_ids(self, once: bool) -> None:
        values = [
            {"turns": ["Hi."]},
            {"turns": ["Ha."]},
            {"id": "1", "turns": ["Ho."]},
            {"id": 0.0, "turns": ["Hm."]},
        ]
        assert list(texts(iter(values) if once else values)) == ["unnamed-0", "unnamed-1", "1", "0"]
        assert list(texts([{"turns": ["Hi."]}, {"turns": ["Ho."]}])) == ["0", "1"]

    @pytest.mark.parametrize("ids", [(7, 8, 7.0), ("7", "8", "7.0"), ("7.0", "8", "7"), ("7", "8", 7.0)])
    def test_ids_in_different_spellings_are_one_dialogue(self, ids: tuple[Any, ...]) -> None:
        rows = [{"dialogue": id, "text": "Hi."} for id in ids]
        records, options = load(rows)
        found = {one.id: len(one.utterances) for one in records if isinstance(one, Dialogue)}
        assert (found, refused(records)) == ({"dialogues/all/7": 2, "dialogues/all/8": 1}, [])
        notice = "ids that are whole numbers are read as integers: 7.0 becomes 7"
        assert any(notice in line for line in options.notices.lines())

    @given(number=st.integers(-(2**53) + 1, 2**53 - 1))
    def test_ids_of_floats_lose_no_digit(self, number: int) -> None:
        assert id_text(float(number)) == id_text(number) == id_text(f"{number}.0") == str(number)


@given(keys=st.lists(st.integers(0, 200), max_size=300))
def test_scattered_keys_are_found(keys: list[int]) -> None:
    runs = [key for at, key in enumerate(keys) if not at or keys[at - 1] != key]
    assert is_interleaved(keys) == (len(set(runs)) < len(runs))


@given(rows=st.lists(st.tuples(st.text(max_size=2), st.integers()), max_size=20))
def test_a_row_store_gives_back_what_it_was_given(rows: list[tuple[str, int]]) -> None:
    store = RowStore()
    for key, row in rows:
        store.add(key, row)
    expected: dict[str, list[int]] = {}
    for key, row in rows:
        expected.setdefault(key, []).append(row)
    assert [(key, list(found)) for key, found in store.groups()] == list(expected.items())


@given(above=st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_the_first_message_of_a_thread_is_found(above: list[int]) -> None:
    threads = Threads()
    for id, answered in enumerate(above):
        threads.add(str(id), str(answered) if answered != id else None)
    for id in range(10):
        at, steps = id, 0
        while above[at] != at and steps < 10:
            at, steps = above[at], steps + 1
        assert threads.first(str(id)) == (None if steps == 10 else str(at))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01 00:01:00 UTC", 60),
        ("1970-01-01 01:01:00 +0100", 60),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 60),
        ("Thu Jan 01 00:01:00 +0000 1970", 60),
        ({"$date": "1970-01-01T00:01:00.000Z"}, 60),
        ("60.5", 60.5),
        (60, 60),
        (None, None),
        (float("nan"), None),
        ("10:05", None),
        ("03/04/2024", None),
        ("Jan 1, 1970 10:10 PM", 79_800),
    ],
)
def test_plain_times_are_read(text: Any, seconds: float | None) -> None:
    assert parse_time(text) == seconds


def test_scattered_rows_take_little_memory(tmp_path: Path) -> None:
    def rows() -> Iterator[str]:
        for turn in range(20):
            for dialogue in range(3_000):
                yield (
                    json.dumps({"dialogue": dialogue, "speaker": "A", "text": f"{turn} " + "words " * 40})
                    + "\n"
                )

    file = tmp_path / "t.jsonl"
    with file.open("w") as stream:
        stream.writelines(rows())
    tracemalloc.start()
    loaded = get_loader("dialogues").read([file], LoadOptions())
    turns = [len(one.utterances) for one in loaded if not isinstance(one, Rejected)]  # type: ignore[union-attr]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert turns == [20] * 3_000
    assert file.stat().st_size > 15_000_000 and peak < 12_000_000
