"""Tests of the loader of dialogue files: equal dialogues in any file format and with any known keys."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Record, Rejected
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_dialogues
from tests.loader_samples import written
from tests.servers import wipe

CHATS: dict[str, list[tuple[str, str]]] = {
    "bus": [("user", "When does the last bus go?"), ("assistant", "At half past eleven.")],
    "tea": [("user", "Is there tea?"), ("assistant", "Yes, “green” tea."), ("user", "It’s fine.")],
}
ROWS = [
    {"dialogue": name, "turn": turn, "speaker": speaker, "text": text}
    for name, turns in CHATS.items()
    for turn, (speaker, text) in enumerate(turns)
]
MESSAGES = [
    {"id": name, "messages": [{"role": who, "content": text} for who, text in turns]}
    for name, turns in CHATS.items()
]
SHARED = [
    {"id": name, "conversations": [{"from": who, "value": text} for who, text in turns]}
    for name, turns in CHATS.items()
]


def load(*given: Any, **options: Any) -> tuple[list[Record], LoadOptions]:
    told = LoadOptions(**options)
    return list(get_loader("dialogues").read(given, told)), told


def said(*given: Any, **options: Any) -> dict[str, list[tuple[str, str]]]:
    """Return speakers and texts by the last part of the dialogue id; assert that nothing is refused."""
    records, _ = load(*given, **options)
    assert [one for one in records if isinstance(one, Rejected)] == []
    return {
        one.id.split("/", 2)[2]: [(turn.speaker, turn.text) for turn in one.utterances]
        for one in records
        if isinstance(one, Dialogue)
    }


def refused(records: list[Record]) -> list[str]:
    return [f"{r.place.rpartition('/')[2]} {r.reason}" for r in records if isinstance(r, Rejected)]


def table(separator: str = ",", quoting: Any = csv.QUOTE_MINIMAL, **columns: str) -> str:
    """Return `ROWS` as a table; `columns` renames its columns."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, quoting=quoting)
    writer.writerow([columns.get(name, name) for name in ROWS[0]])
    writer.writerows(row.values() for row in ROWS)
    return text.getvalue()


def lines(values: list[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


FILES: dict[str, str | bytes] = {
    "messages.jsonl": lines(MESSAGES),
    "messages.json": json.dumps(MESSAGES, indent=2),
    "one-line.json": json.dumps(MESSAGES),
    "sharegpt.jsonl": lines(SHARED),
    "sharegpt.json": json.dumps(SHARED),
    "by-name.json": json.dumps({one["id"]: {"messages": one["messages"]} for one in MESSAGES}, indent=1),
    "in-data.json": json.dumps({"version": "1", "data": MESSAGES}, indent=1).replace('"version": "1",', ""),
    "messages-by-name.json": json.dumps({one["id"]: one["messages"] for one in MESSAGES}, indent=1),
    "rows.jsonl": lines(ROWS),
    "rows.json": json.dumps(ROWS),
    "rows.csv": table(),
    "rows.txt": table(),
    "bom.csv": "\ufeff" + table(),
    "excel.csv": "sep=;\r\n" + table(";").replace("\n", "\r\n"),
    "semicolons.csv": table(";"),
    "bars.csv": table("|"),
    "carets.csv": table("^"),
    "all-quoted.csv": table(quoting=csv.QUOTE_ALL),
    "tabs.tsv": table("\t"),
    "tabs.csv": table("\t"),
    "utf-16.csv": table().encode("utf-16"),
    "windows.csv": table(";").encode("cp1252"),
    "macintosh.csv": table(";").encode("mac_roman"),
    "windows.jsonl": lines(MESSAGES).encode("cp1252"),
    "utf-16.jsonl": lines(SHARED).encode("utf-16"),
    "named.csv": table(dialogue="conv_id", turn="utterance_idx", speaker="Role", text="Utterance"),
    "camel.csv": table(dialogue="conversationId", turn="Turn No.", speaker="from", text="content"),
}


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_it_is(tmp_path: Path, name: str, packed: str) -> None:
    text = FILES[name]
    data = text.encode() if isinstance(text, str) else text
    path = tmp_path / f"{name}{packed}"
    if packed == ".zst":
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(data)
    else:
        written(path, gzip.compress(data) if packed else data)
    assert said(path) == CHATS


def test_quotes_of_excel_and_plain_quotation_marks_are_distinguished(tmp_path: Path) -> None:
    head = "dialogue\tturn\ttext\n"
    excel = written(tmp_path / "excel.txt", head + 'a\t0\t"He said ""no""\tand left"\na\t1\t"two\nlines"\n')
    assert [text for _, text in said(excel)["a"]] == ['He said "no"\tand left', "two\nlines"]
    plain = written(tmp_path / "plain.txt", head + 'a\t0\t"No", he said\na\t1\tA "good" one\n')
    assert [text for _, text in said(plain)["a"]] == ['"No", he said', 'A "good" one']


@pytest.mark.parametrize("begin", [0, 1])
def test_turn_numbers_begin_at_zero_or_one_and_rows_may_be_in_any_order(tmp_path: Path, begin: int) -> None:
    rows = "".join(f"a,{turn + begin},{turn}\n" for turn in (2, 0, 1))
    assert [text for _, text in said(written(tmp_path / "t.csv", f"dialogue,turn,text\n{rows}"))["a"]] == [
        "0",
        "1",
        "2",
    ]
    turns = [{"turn": turn + begin, "text": str(turn)} for turn in (1, 0)]
    found = said([{"id": "a", "turns": turns}])
    assert [text for _, text in found["a"]] == ["0", "1"]


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (["0", "2"], "expected turn 1 but found '2' at {}:3"),
        (["2", "3"], "expected turn 0 but found '2' at {}:2"),
        (["1", "1"], "expected turn 2 but found '1' at {}:3"),
        (
            ["first", "1"],
            "turn 'first' at {}:2 is not a number; use --map turn= to order by time or by the rows",
        ),
    ],
)
def test_missing_or_invalid_turn_numbers_are_refused(tmp_path: Path, turns: list[str], reason: str) -> None:
    rows = "".join(f"a,{turn},x\n" for turn in turns) + "b,0,y\n"
    file = written(tmp_path / "t.csv", f"dialogue,turn,text\n{rows}")
    records, _ = load(file)
    assert refused(records) == [f"t.csv:2 dialogue 'a': {reason.format(file)}"]
    assert len(said(file, map={"turn": ""})) == 2


def test_rows_keep_the_lines_that_they_begin_on(tmp_path: Path) -> None:
    head = "Turn,dialogue,speaker,TEXT,split,,\n"
    rows = '\n0,a,A,"two\nlines",dev,,\n1,a,,ok,dev,,\n0,b,A,x,,,\n1,b,A,y,dev,,\n0, ,A,z,,,\n0,c,A,z,,,\n'
    rows += '0,d,A,"open'
    first, *others = load(written(tmp_path / "t.csv", head + rows))[0]
    assert isinstance(first, Dialogue) and first.place == f"{tmp_path}/t.csv:3" and first.split == "dev"
    assert [turn.speaker for turn in first.utterances] == ["A", "B"]
    assert refused(others) == [
        f"t.csv:6 dialogue 'b': the row at {tmp_path}/t.csv:7 has a different split",
        "t.csv:8 dialogue '': the column 'dialogue' is empty",
        "t.csv:10 not CSV: unexpected end of data inside quotation marks",
    ]


class TestNames:
    def test_a_field_may_be_read_from_any_given_column(self, tmp_path: Path):
        text = table(dialogue="ticket", text="said", speaker="who", turn="no")
        fields = {"dialogue": "ticket", "text": "said", "speaker": "who", "turn": "no"}
        assert said(written(tmp_path / "t.csv", text), map=fields) == CHATS
        values = [
            {"name": name, "log": [{"who": who, "said": text} for who, text in turns]}
            for name, turns in CHATS.items()
        ]
        fields = {"dialogue": "name", "turns": "log", "text": "said", "speaker": "who"}
        assert said(written(tmp_path / "t.jsonl", lines(values)), map=fields) == CHATS

    def test_recognised_columns_are_reported(self, tmp_path: Path):
        rows = written(tmp_path / "t.csv", table(dialogue="conv_id", text="utterance"))
        assert load(rows)[1].notices.lines() == [f"{rows}: read as dialogue=conv_id, text=utterance"]
        values = written(tmp_path / "t.jsonl", lines(MESSAGES))
        assert load(values)[1].notices.lines() == [
            f"{values}: read as turns=messages, speaker=role, text=content"
        ]
        assert load(written(tmp_path / "u.csv", table()))[1].notices.lines() == []

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            (
                {"words": "text"},
                "--map words=text: unknown field 'words'; choose one of dialogue, turn, speaker, text",
            ),
            (
                {"text": "words"},
                r"t.csv:1: --map text=words: there is no such key or column; available: 'dialogue'",
            ),
        ],
    )
    def test_unknown_fields_and_columns_are_refused(self, tmp_path: Path, given: dict[str, str], reason: str):
        with pytest.raises(InputError, match=reason):
            load(written(tmp_path / "t.csv", table()), map=given)

    def test_unknown_keys_are_listed(self, tmp_path: Path):
        good = {"id": "a", "turns": ["Hi."]}
        odd = [
            {"id": "b", "history": ["Hi."]},
            {"id": "c", "turns": [{"speaker": "A", "quote": "Hi."}]},
            {"id": "d", "turns": {"speaker": ["A"], "text": ["Hi.", "Ho."]}},
        ]
        records, _ = load(written(tmp_path / "t.jsonl", lines([good, *odd])))
        assert refused(records) == [
            "t.jsonl:2 item 1: the object has no turns (turns, messages, conversations, conversation, "
            "dialogue, dialog, utterances, log, posts, comments, ...); its keys are 'id', 'history'",
            "t.jsonl:3 item 2: turns[0] lacks 'text'; it has 'quote': name the text with --map text=NAME",
            "t.jsonl:4 item 3: turns is not a list",
        ]

    def test_rows_without_a_dialogue_are_an_error_unless_mapped(self, tmp_path: Path):
        rows = [{"text": "Hi.", "booking": 1}, {"text": "Ho.", "booking": 2}]
        file = written(tmp_path / "t.jsonl", lines(rows))
        with pytest.raises(InputError, match=r"t.jsonl:1: the table lacks the columns dialogue; .*'booking'"):
            load(file)
        assert len(said(file, map={"dialogue": "booking"})) == 2
        assert said(file, map={"dialogue": ""}) == {"0": [("A", "Hi."), ("B", "Ho.")]}

    def test_messages_alone_are_one_dialogue(self, tmp_path: Path):
        messages = MESSAGES[1]["messages"]
        for text in (json.dumps(messages), json.dumps({"messages": messages}, indent=1), lines(messages)):
            assert said(written(tmp_path / "t.json", text)) == {"0": CHATS["tea"]}
        assert said(written(tmp_path / "t.json", '["Hi.",\n"Ho."]')) == {"0": [("A", "Hi."), ("B", "Ho.")]}
        assert len(said(written(tmp_path / "t.json", '[["Hi."], ["Ho.", "Hum."]]'))) == 2
        assert len(said(written(tmp_path / "t.jsonl", '["Hi."]\n["Ho.", "Hum."]\n'))) == 2

    def test_splits_are_keys_of_a_document(self, tmp_path: Path):
        file = written(tmp_path / "t.json", json.dumps({"train": MESSAGES[:1], "test": MESSAGES[1:]}))
        assert [one.id for one in load(file)[0] if isinstance(one, Dialogue)] == [
            "t/train/bus",
            "t/test/tea",
        ]

    def test_messages_in_parts_and_other_keys_are_kept(self, tmp_path: Path):
        parts = [{"type": "text", "text": "Look."}, {"type": "text", "text": "A swan."}]
        message = {"role": "user", "content": parts, "when": 3}
        (one,), _ = load([{"messages": [message], "model": "m"}])
        assert isinstance(one, Dialogue) and one.attributes == {"model": "m"}
        assert (one.utterances[0].text, one.utterances[0].attributes) == ("Look. A swan.", {"when": 3})


class TestTables:
    """Parquet and Arrow files, saved data sets, lists, data frames and iterables."""

    @pytest.mark.parametrize("rows", [ROWS, MESSAGES, SHARED], ids=["rows", "messages", "conversations"])
    def test_parquet_arrow_and_saved_data_sets_are_read(self, tmp_path: Path, rows: list[dict[str, Any]]):
        datasets = pytest.importorskip("datasets")
        data = pa.Table.from_pylist(rows)
        pq.write_table(data, tmp_path / "chats-00000-of-00001.parquet")
        with pa.ipc.new_file(str(tmp_path / "chats.arrow"), data.schema) as file:
            file.write_table(data)
        made = datasets.Dataset.from_list(rows)
        made.save_to_disk(str(tmp_path / "saved"))
        datasets.DatasetDict(train=made).save_to_disk(str(tmp_path / "several"))
        for name in ("chats-00000-of-00001.parquet", "chats.arrow", "saved", "several"):
            assert said(tmp_path / name) == CHATS
        (first, *_), _ = load(tmp_path / "several")
        assert isinstance(first, Dialogue) and first.id == "several/train/bus"
        assert first.place is not None and first.place.endswith("train/data-00000-of-00001.arrow:row 1")
        assert said(made) == said(made.to_iterable_dataset()) == said(datasets.DatasetDict(dev=made)) == CHATS

    @pytest.mark.parametrize("rows", [ROWS, MESSAGES, SHARED], ids=["rows", "messages", "conversations"])
    def test_lists_frames_and_iterables_are_read(self, rows: list[dict[str, Any]]):
        assert said(rows) == said(iter(rows)) == said(pd.DataFrame(rows)) == CHATS
        arrow = pa.Table.from_pylist(rows).to_pandas()
        assert said(arrow) == said({"test": arrow}) == CHATS

    def test_numbers_and_missing_values_of_tables_are_read(self):
        frame = pd.DataFrame(
            {"dialogue": [1.0, 1.0], "turn": [1.0, 2.0], "text": ["Hi.", "Ho."], "speaker": [0, 1]}
        )
        frame["mood"], frame["at"] = [None, "glad"], [pd.NaT, pd.Timestamp("2026-01-02")]
        (one,), _ = load(frame, corpus="own", split="dev")
        assert isinstance(one, Dialogue) and one.id == "own/dev/1"
        assert [(turn.speaker, dict(turn.attributes)) for turn in one.utterances] == [
            ("0", {}),
            ("1", {"mood": "glad", "at": "2026-01-02T00:00:00"}),
        ]

    def test_columns_may_be_missing_in_the_first_row(self, tmp_path: Path):
        rows = [{"dialogue": "a", "text": "Hi.", "speaker": None}, {"dialogue": "a", "text": "Ho."}]
        rows[1]["speaker"] = "Bo"
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
        del rows[0]["speaker"]
        for given in (tmp_path / "t.parquet", rows, pd.DataFrame(rows), written(tmp_path / "t", lines(rows))):
            assert said(given) == {"a": [("A", "Hi."), ("Bo", "Ho.")]}

    def test_turns_by_columns_are_read(self):
        turns = {"speaker": ["0", "1"], "utterance": ["Hi.", "Ho."]}
        assert said([{"dialogue_id": "a", "turns": turns}]) == {"a": [("0", "Hi."), ("1", "Ho.")]}

    def test_columns_of_bytes_are_omitted_and_reported(self, tmp_path: Path):
        rows = [row | {"image": {"bytes": b"\xff\xd8", "path": None}} for row in ROWS]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
        records, options = load(tmp_path / "t.parquet")
        assert len(records) == 2
        assert options.notices.lines() == [f"{tmp_path}/t.parquet: left out columns with binary data: image"]

    def test_damaged_and_unsupported_inputs_give_a_one_line_error(self, tmp_path: Path):
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "t.parquet")
        cut = written(tmp_path / "cut.parquet", (tmp_path / "t.parquet").read_bytes()[:-40])
        with pytest.raises(InputError, match=r"cut\.parquet is not a file for the loader 'dialogues'"):
            load(cut)
        with pytest.raises(InputError, match=r"can't read 'int': pass a path, a list of dicts"):
            load(3)
        with pytest.raises(InputError, match="the loader 'text' reads files, not a 'list'"):
            list(get_loader("text").read([ROWS], LoadOptions()))  # type: ignore[list-item]
        with pytest.raises(InputError, match=r"is a directory, but was not written by save_to_disk"):
            load(tmp_path)
        state = written(tmp_path / "state.json", '{"_data_files": [{"filename": "../../../etc/passwd"}]}')
        with pytest.raises(InputError, match=rf"{state.parent}/passwd: there is no such file"):
            load(tmp_path)
        written(state, "[]")
        with pytest.raises(InputError, match=r"state.json: not written by save_to_disk"):
            load(tmp_path)

    def test_a_value_outside_json_refuses_its_row(self):
        rows = [{"id": "a", "turns": ["Hi."]}, {"id": "b", "turns": ["Ho."], "x": {1, 2}}]
        records, _ = load(rows)
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["dialogues/all/a"]
        assert refused(records) == [
            "data:row 2 a value of the type 'set', which is not a text, number, list or object"
        ]


class TestEncodings:
    def test_a_guessed_encoding_is_reported_and_a_given_one_used(self, tmp_path: Path):
        file = written(tmp_path / "t.csv", table().encode("cp1252"))
        told = load(file)[1].notices.lines()
        assert told == [f"{file}: not UTF-8, read as cp1252; if that is wrong, set --encoding"]
        records, options = load(file, encoding="latin-1")
        assert isinstance(records[1], Dialogue) and "\x93green\x94" in records[1].utterances[1].text
        assert options.notices.lines() == []
        file = written(tmp_path / "t.jsonl", lines(MESSAGES).encode("utf-16-le"))
        assert said(file, encoding="utf-16-le") == CHATS

    def test_texts_that_are_not_western_are_guessed(self, tmp_path: Path):
        text = "こんにちは、元気ですか。今日はいい天気ですね。"
        file = written(tmp_path / "t.csv", f"dialogue,text\na,{text}\n".encode("cp932"))
        assert said(file) == {"a": [("A", text)]}

    @pytest.mark.parametrize("name", ["no-such-codec", "base64"])
    def test_an_unknown_encoding_is_refused(self, tmp_path: Path, name: str):
        with pytest.raises(InputError, match=f"--encoding {name}: not a text encoding"):
            load(written(tmp_path / "t.csv", table()), encoding=name)


class TestSafety:
    def test_pipes_and_devices_are_refused_without_waiting(self, tmp_path: Path):
        os.mkfifo(tmp_path / "pipe.jsonl")
        for path in (tmp_path / "pipe.jsonl", Path("/dev/zero")):
            for loader in ("dialogues", "text", "propbank", "penman", "conceptnet", "lexicon"):
                with pytest.raises(InputError, match=f"{path} is a pipe or a device"):
                    list(get_loader(loader).read([path], LoadOptions()))

    @pytest.mark.parametrize("name", ["x" * 300, "\0"])
    def test_invalid_paths_give_a_one_line_error(self, tmp_path: Path, name: str):
        for loader in ("dialogues", "text", "propbank", "penman", "conceptnet", "wordnet", "dailydialog"):
            with pytest.raises(InputError, match=r"can't be read|no such file"):
                list(get_loader(loader).read([tmp_path / name], LoadOptions()))

    @pytest.mark.parametrize("packed", ["gz", "zst"])
    def test_an_endless_line_is_refused_in_little_memory(self, tmp_path: Path, packed: str):
        good = b'{"id": "%d", "turns": ["Hi."]}\n'
        path = tmp_path / f"t.jsonl.{packed}"
        with pa.CompressedOutputStream(str(path), {"gz": "gzip", "zst": "zstd"}[packed]) as out:
            out.write(good % 1)
            for _ in range(64):
                out.write(b"x" * (1 << 20))
            out.write(b"\n" + good % 2)
        assert path.stat().st_size < 1 << 20
        tracemalloc.start()
        records, _ = load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/1", "t/all/2"]
        assert refused(records) == [f"t.jsonl.{packed}:2 the line is longer than 4,194,304 bytes"]
        assert peak < 40_000_000


def test_loaded_dialogues_are_exported_with_their_attributes(store: Store, tmp_path: Path) -> None:
    wipe(store)
    graph = DialogueGraph(store)
    file = written(tmp_path / "own.csv", table(";", text="utterance").encode("cp1252"))
    report = graph.load("dialogues", str(file))
    assert report.written["dialogues"] == 2 and len(report.notices.lines()) == 2
    assert graph.load("dialogues", MESSAGES, name="own").present["dialogues"] == 2
    for stored in read_dialogues(store, ["own/all/bus", "own/all/tea"]):
        assert [(turn.speaker, turn.text) for turn in stored.turns] == CHATS[stored.id.split("/")[-1]]
    wipe(store)


class TestDocumentsOfPandas:
    @pytest.mark.parametrize("orient", ["columns", "split", "index", "table", "records"])
    @pytest.mark.parametrize("indent", [None, 1])
    def test_every_orient_with_column_names_is_read(
        self, tmp_path: Path, orient: Any, indent: int | None
    ) -> None:
        pd.DataFrame(ROWS).to_json(tmp_path / "t.json", orient=orient, indent=indent)
        assert said(tmp_path / "t.json") == CHATS

    @pytest.mark.parametrize("orient", ["columns", "split"])
    def test_a_too_large_document_is_refused_and_a_usable_orient_is_suggested(
        self, tmp_path: Path, orient: Any
    ) -> None:
        rows = [{"dialogue": number, "turn": 0, "text": "Hi. " * 1000} for number in range(1300)]
        pd.DataFrame(rows).to_json(tmp_path / "t.json", orient=orient)
        with pytest.raises(
            InputError, match=r"more than 4 MiB: write the table row by row.*orient='records'"
        ):
            load(tmp_path / "t.json")

    @pytest.mark.parametrize("orient", ["columns", "split", "index", "table", "records"])
    def test_a_document_without_a_text_column_has_its_columns_listed(
        self, tmp_path: Path, orient: Any
    ) -> None:
        pd.DataFrame([{"dialogue": 1, "words": "Hi."}]).to_json(tmp_path / "t.json", orient=orient)
        with pytest.raises(InputError, match=r"its keys are .*'dialogue', 'words'"):
            load(tmp_path / "t.json")

    @pytest.mark.parametrize(
        "rows",
        [
            [["c1", "ann", "Is it far?"], ["c1", "bob", "No."], ["c2", "ann", "Hi."]],
            [["c1", 0, "ann", "Hi."], ["c1", 1, "bob", "Ho."]],
            [[1, "Hi."], [1, None]],
        ],
    )
    @pytest.mark.parametrize("form", ["json", "jsonl", "rows"])
    def test_a_document_without_column_names_gives_one_error_with_advice(
        self, tmp_path: Path, rows: list[list[Any]], form: str
    ) -> None:
        given: Any = rows
        if form != "rows":
            given = tmp_path / f"t.{form}"
            given.write_text(lines(rows) if form == "jsonl" else pd.DataFrame(rows).to_json(orient="values"))
        with pytest.raises(InputError, match=r"without the names of its columns.*orient='records'") as error:
            load(given)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize(
        "turns",
        [
            [["Hi.", "Ho."], ["Hi.", "Hm."]],
            [["yes", "no"]],
            [["Hi.", "a", "b"], ["Ho.", "a", "c"]],
            [["a"]] * 3,
        ],
    )
    def test_lists_of_turns_are_not_taken_for_documents_of_pandas(self, turns: list[list[str]]) -> None:
        assert [[text for _, text in talk] for talk in said(turns).values()] == turns

    def test_a_large_document_of_the_orient_table_is_read_row_by_row(self, tmp_path: Path) -> None:
        rows = [{"dialogue": number, "speaker": "A", "text": "Hi. " * 1000} for number in range(1100)]
        pd.DataFrame(rows).to_json(tmp_path / "t.json", orient="table")
        records, options = load(tmp_path / "t.json")
        assert len(records) == 1100 and refused(records) == [] and options.notices.lines() == []


class TestKeysBesideTheDialogues:
    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize("entries", [ROWS, MESSAGES])
    def test_keys_with_single_values_are_omitted_and_named(
        self, tmp_path: Path, entries: list[Any], indent: int | None
    ) -> None:
        document = {"version": "1.0", "next": None, "results": entries}
        file = written(tmp_path / "t.json", json.dumps(document, indent=indent))
        assert said(file) == CHATS
        assert (
            f"{file}: left out the keys 'version', 'next', which contain no dialogues"
            in load(file)[1].notices.messages
        )

    def test_keys_with_objects_are_left_out_and_every_dialogue_is_read(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.json", json.dumps({"meta": {"count": 5}, "payload": ROWS}))
        records, options = load(file)
        assert len([one for one in records if isinstance(one, Dialogue)]) == len(CHATS)
        assert refused(records) == []
        assert f"{file}: left out the keys 'meta', which contain no dialogues" in options.notices.messages

    def test_a_single_pair_of_prompt_and_response_is_not_a_dialogue(self, tmp_path: Path) -> None:
        file = written(tmp_path / "t.jsonl", '{"prompt": "Name a bird.", "response": "A swan."}\n')
        with pytest.raises(
            InputError, match="the object has neither turns nor rows; its keys are 'prompt', 'response'"
        ):
            load(file)

    def test_a_row_without_text_refuses_the_dialogue_after_it(self, tmp_path: Path) -> None:
        rows = [{"dialogue": 1, "speaker": "A"}] + [{"dialogue": d, "text": "Hi."} for d in (1, 2)]
        records, _ = load(written(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows))))
        assert [one.id for one in records if isinstance(one, Dialogue)] == ["t/all/2"]
        assert len(refused(records)) == 2

    def test_the_keys_may_be_in_one_line_of_any_length(self, tmp_path: Path) -> None:
        rows = [{"dialogue": number, "speaker": "A", "text": "Hi. " * 1000} for number in range(1300)]
        for document in (rows, {"data": rows}):
            file = written(tmp_path / "t.json", json.dumps(document))
            assert len(said(file)) == 1300
