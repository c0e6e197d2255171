"""Negatives written out and read back: nothing is lost, whatever stops the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.output import (
    ResumableWriter,
    Summary,
    check_destination,
    fingerprint,
    negative_from_json,
    negative_to_json,
    read_jsonl,
    read_parquet,
    to_dataset,
    to_pandas,
    write_jsonl,
    write_parquet,
)
from graphneg.output.parquet import from_row

EXAMPLE = Negative(
    id="own/test/1#2~deam.0",
    corpus="own",
    split="test",
    dialogue="own/test/1",
    turn=2,
    context=(
        {"speaker": "A", "text": "Do you like the café?"},
        {"speaker": "B", "text": "Yes, I like it a lot."},
    ),
    response="I don't like it.",
    label=0,
    original={"context": None, "response": "I like it."},
    categories=("C-cont",),
    recipe="deam",
    target="dialogue",
    seed=7,
    decoder="surface",
    edits=(
        {
            "turn": 2,
            "transform": "negate",
            "category": "C-cont",
            "node": "1",
            "before": "(like-01 :ARG0 i)",
            "after": "(like-01 :polarity - :ARG0 i)",
        },
    ),
    amr={
        "2": {
            "before": "(l / like-01 :ARG0 (i / i))",
            "after": "(l / like-01 :polarity - :ARG0 (i / i))",
        }
    },
    scores={"nli": 0.5},
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**63), 2**63 - 1)
turns = st.fixed_dictionaries({"speaker": texts, "text": texts})
contexts = st.lists(turns, max_size=3).map(tuple)
maybe_text = st.none() | texts
edits = st.fixed_dictionaries(
    {
        "turn": numbers,
        "transform": texts,
        "category": texts,
        "node": maybe_text,
        "before": maybe_text,
        "after": maybe_text,
    }
)
graphs = st.dictionaries(
    st.integers(0, 10**6).map(str),
    st.fixed_dictionaries({"before": maybe_text, "after": maybe_text}),
    max_size=3,
)
negatives = st.builds(
    Negative,
    id=texts,
    corpus=texts,
    split=texts,
    dialogue=texts,
    turn=numbers,
    context=contexts,
    response=texts,
    label=st.integers(0, 1),
    original=st.fixed_dictionaries({"context": st.none() | contexts, "response": maybe_text}),
    categories=st.lists(texts, max_size=2).map(tuple),
    recipe=texts,
    target=st.sampled_from(["response", "dialogue"]),
    seed=numbers,
    decoder=texts,
    edits=st.lists(edits, max_size=2).map(tuple),
    amr=graphs,
    scores=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=3),
)
in_one_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)


def some(count: int) -> list[Negative]:
    return [replace(EXAMPLE, id=f"own/test/{i}#2~deam.0", dialogue=f"own/test/{i}") for i in range(count)]


# JSON


def test_json_has_the_documented_keys_in_the_documented_order():
    record = json.loads(negative_to_json(EXAMPLE))
    assert " ".join(record) == (
        "id corpus split dialogue turn context response label original categories recipe target seed "
        "decoder edits amr scores"
    )
    assert list(record["original"]) == ["context", "response"]
    assert list(record["edits"][0]) == ["turn", "transform", "category", "node", "before", "after"]


def test_json_keeps_letters_as_they_are():
    assert "café" in negative_to_json(EXAMPLE)


def test_equal_negatives_give_equal_lines_however_their_keys_are_ordered():
    graphs = {"10": {"after": "b", "before": "a"}, "9": {"before": "a", "after": "b"}}
    one = replace(EXAMPLE, amr=graphs, scores={"b": 1, "a": 2.0})
    other = replace(EXAMPLE, amr=dict(reversed(graphs.items())), scores={"a": 2, "b": 1.0})
    assert negative_to_json(one) == negative_to_json(other)
    assert list(json.loads(negative_to_json(one))["amr"]) == ["9", "10"]


@given(negatives)
def test_json_reads_back_as_the_same_negative(negative: Negative):
    line = negative_to_json(negative)
    assert "\n" not in line
    assert negative_from_json(line) == negative
    assert negative_to_json(negative_from_json(line)) == line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turn": "2"}, "turn: expected a whole number"),
        ({"label": True}, "label: expected a whole number"),
        ({"response": None}, "response: expected a text"),
        ({"response": "half \ud83d"}, "response: half of a surrogate pair"),
        ({"target": "context"}, "'context' is not one of response, dialogue"),
        ({"context": "A: hello"}, "context: expected a list"),
        ({"context": [{"speaker": "A"}]}, r"context\[0\]: the turn lacks text"),
        ({"original": {"response": None}}, "original: the original lacks context"),
        (
            {"edits": [{**EXAMPLE.edits[0], "op": "add"}]},
            r"edits\[0\]: the edit has unknown op; known are turn",
        ),
        ({"amr": {"first": {"before": "a", "after": "b"}}}, "amr: 'first' is not a turn"),
        ({"amr": {"9" * 5000: {"before": "a", "after": "b"}}}, "is not a turn"),
        ({"scores": {"nli": float("nan")}}, "scores.nli: nan is not a number that JSON can hold"),
        ({"scores": {"nli": 10**400}}, "scores.nli: a whole number too large"),
        ({"seed": 2**63}, "seed: expected a whole number of 64 bits"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_the_negative(change: dict, message: str):
    with pytest.raises(InputError, match=message) as caught:
        negative_to_json(replace(EXAMPLE, **change))
    assert EXAMPLE.id in str(caught.value)


@pytest.mark.parametrize(
    "line", ["", "[]", "{", '{"id": 1}', "null", "[" * 100_000, "1" * 5000, '{"scores": NaN}']
)
def test_what_is_no_negative_is_refused_with_its_place(line: str):
    with pytest.raises(InputError, match=r"out\.jsonl, line 3"):
        negative_from_json(line, "out.jsonl, line 3")


# Files


@in_one_folder
@given(st.lists(negatives, max_size=4))
def test_jsonl_and_parquet_read_back_as_what_was_written(tmp_path: Path, some_negatives: list[Negative]):
    assert write_jsonl(some_negatives, tmp_path / "out.jsonl") == len(some_negatives)
    assert write_parquet(some_negatives, tmp_path / "out.parquet") == len(some_negatives)
    assert list(read_jsonl(tmp_path / "out.jsonl")) == some_negatives
    assert list(read_parquet(tmp_path / "out.parquet")) == some_negatives


def test_parquet_is_typed_compressed_and_written_in_row_groups(tmp_path: Path):
    import pyarrow.parquet as pq

    write_parquet(some(4_500), tmp_path / "out.parquet")
    file = pq.ParquetFile(tmp_path / "out.parquet")
    assert file.metadata.num_row_groups == 3
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    assert str(file.schema_arrow.field("turn").type) == "int64"
    assert str(file.schema_arrow.field("amr").type) == (
        "list<element: struct<turn: int64, before: string, after: string>>"
    )
    assert list(read_parquet(tmp_path / "out.parquet")) == some(4_500)


def test_a_dash_writes_lines_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]):
    assert write_jsonl(some(2), "-") == 2
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert [negative_from_json(line) for line in lines] == some(2)


def test_a_file_is_replaced_only_when_the_new_one_is_complete(tmp_path: Path):
    def broken():
        yield from some(3)
        raise RuntimeError("the store went away")

    for out, write in [(tmp_path / "a.jsonl", write_jsonl), (tmp_path / "a.parquet", write_parquet)]:
        write(some(1), out)
        before = out.read_bytes()
        with pytest.raises(RuntimeError):
            write(broken(), out)
        assert out.read_bytes() == before


def test_a_cut_off_line_is_an_error_with_file_and_line(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    write_jsonl(some(3), out)
    out.write_bytes(out.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"out\.jsonl, line 3: not JSON"):
        list(read_jsonl(out))


def test_files_that_are_not_what_they_should_be_are_refused(tmp_path: Path):
    (tmp_path / "text.parquet").write_text("no parquet")
    (tmp_path / "latin.jsonl").write_bytes("café".encode("latin-1"))
    with pytest.raises(InputError, match=r"text\.parquet: can't be read as Parquet"):
        list(read_parquet(tmp_path / "text.parquet"))
    with pytest.raises(InputError, match=r"latin\.jsonl, after line 0: not UTF-8"):
        list(read_jsonl(tmp_path / "latin.jsonl"))
    with pytest.raises(InputError, match="can't be read: No such file"):
        list(read_jsonl(tmp_path / "none.jsonl"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.csv", r"the suffix '\.csv' says no format; use \.jsonl or \.parquet, or - for standard output"),
        ("out", "no suffix says no format"),
        ("missing/out.jsonl", "missing does not exist; make it first"),
        ("file.jsonl/out.jsonl", "is not a folder"),
        ("folder.jsonl", "a folder is in the file's place"),
        ("/dev/null/out.jsonl", "is not a folder"),
    ],
)
def test_a_destination_that_cannot_be_written_is_refused_at_once(tmp_path: Path, name: str, message: str):
    (tmp_path / "file.jsonl").touch()
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(InputError, match=message):
        check_destination(tmp_path / name)
    with pytest.raises(InputError, match=message):
        ResumableWriter(tmp_path / name, "settings")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused_at_once(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission to write"):
        check_destination(tmp_path / "out.jsonl")


# Tables


def test_pandas_has_one_row_a_negative_and_typed_numbers():
    table = to_pandas(some(3))
    assert list(table["dialogue"]) == ["own/test/0", "own/test/1", "own/test/2"]
    assert str(table["turn"].dtype) == "int64"
    assert table["amr"][0]["2"]["before"] == EXAMPLE.amr["2"]["before"]
    assert list(to_pandas([]).columns) == list(table.columns)


def test_a_dataset_has_typed_features_and_its_rows_read_back(tmp_path: Path):
    pytest.importorskip("datasets")
    dataset = to_dataset(iter(some(2_100)))
    assert len(dataset) == 2_100
    assert dataset.features["turn"].dtype == "int64"
    assert dataset.features["edits"].feature["transform"].dtype == "string"
    assert [from_row(row) for row in dataset.select(range(3))] == some(3)
    assert dataset.filter(lambda row: row["dialogue"] == "own/test/5")[0]["turn"] == 2
    dataset.save_to_disk(str(tmp_path / "saved"))


def test_a_dataset_may_be_empty():
    pytest.importorskip("datasets")
    assert len(to_dataset([])) == 0


# Resuming


def run_dialogues(
    out: Path, done: int, total: int = 10, settings: str = "s", stop: int | None = None
) -> None:
    """Two negatives a dialogue, a checkpoint every third; stops without a word where told."""
    with ResumableWriter(out, settings) as writer:
        assert writer.resumed.dialogues == done
        for number in range(done, total):
            if number == stop:
                return
            for negative in some(2):
                writer.write(replace(negative, dialogue=f"own/test/{number}"))
            if number % 3 == 2:
                writer.checkpoint(number + 1, {"seen": number + 1})
        writer.finish()


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_a_stopped_run_goes_on_and_gives_the_same_bytes(tmp_path: Path, name: str):
    (tmp_path / "once").mkdir()
    run_dialogues(tmp_path / "once" / name, 0)
    run_dialogues(tmp_path / name, 0, stop=5)
    assert not (tmp_path / name).exists()
    run_dialogues(tmp_path / name, 3, stop=8)
    run_dialogues(tmp_path / name, 6)
    assert (tmp_path / name).read_bytes() == (tmp_path / "once" / name).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"once", name}


def test_resuming_tells_what_is_done_and_gives_the_notes_back(tmp_path: Path):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert (writer.resumed.dialogues, writer.resumed.negatives) == (6, 12)
        assert writer.resumed.notes == {"seen": 6}
        assert writer.resumed.discarded is None
        assert len(list(writer.written())) == 12


def test_other_settings_start_afresh_and_say_so(tmp_path: Path):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    with ResumableWriter(tmp_path / "out.jsonl", "another seed") as writer:
        assert writer.resumed.dialogues == 0
        assert "begun with other settings" in (writer.resumed.discarded or "")
    run_dialogues(tmp_path / "out.jsonl", 0, settings="another seed")
    assert len(list(read_jsonl(tmp_path / "out.jsonl"))) == 20


def test_a_finished_file_stays_until_the_next_run_is_finished(tmp_path: Path):
    out = tmp_path / "out.jsonl"
    run_dialogues(out, 0, total=2)
    finished = out.read_bytes()
    run_dialogues(out, 0, stop=8)
    assert out.read_bytes() == finished
    run_dialogues(out, 6)
    assert len(list(read_jsonl(out))) == 20


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"fingerprint": "s"}', "\x00\x00"])
def test_an_unreadable_state_starts_afresh_and_says_so(tmp_path: Path, damage: str):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    (tmp_path / "out.jsonl.part.json").write_text(damage)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert writer.resumed.dialogues == 0
        assert "not readable" in (writer.resumed.discarded or "")


def test_a_part_shorter_than_its_checkpoint_is_not_trusted(tmp_path: Path):
    run_dialogues(tmp_path / "out.jsonl", 0, stop=8)
    os.truncate(tmp_path / "out.jsonl.part", 100)
    with ResumableWriter(tmp_path / "out.jsonl", "s") as writer:
        assert "shorter than its last checkpoint" in (writer.resumed.discarded or "")


def test_two_runs_cannot_write_the_same_file(tmp_path: Path):
    with (
        ResumableWriter(tmp_path / "out.jsonl", "s"),
        pytest.raises(InputError, match="another run is writing it"),
    ):
        ResumableWriter(tmp_path / "out.jsonl", "s")
    run_dialogues(tmp_path / "out.jsonl", 0)


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path):
    """A run that is killed a dozen times, at any moment, ends with the bytes of one never killed."""
    script = textwrap.dedent(
        """
        import sys
        from dataclasses import replace
        from graphneg.output import ResumableWriter, read_jsonl
        (example,) = read_jsonl(sys.argv[1])
        with ResumableWriter(sys.argv[2], "s") as writer:
            print("from", writer.resumed.dialogues, flush=True)
            for number in range(writer.resumed.dialogues, 600):
                for turn in range(3):
                    writer.write(replace(example, dialogue=f"own/test/{number}", turn=turn))
                if number % 5 == 4:
                    writer.checkpoint(number + 1)
                    print("done", number + 1, flush=True)
            writer.finish()
        """
    )
    write_jsonl([EXAMPLE], tmp_path / "example.jsonl")
    command = [sys.executable, "-c", script, str(tmp_path / "example.jsonl")]
    subprocess.run([*command, str(tmp_path / "once.parquet")], check=True, stdout=subprocess.DEVNULL)
    acknowledged = 0
    for _ in range(12):
        process = subprocess.Popen(
            [*command, str(tmp_path / "killed.parquet")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert int(process.stdout.readline().split()[1]) >= acknowledged
        for line in process.stdout:
            acknowledged = int(line.split()[1])
            if acknowledged % 45 == 0:
                break
        process.send_signal(signal.SIGKILL)
        for line in process.stdout:
            acknowledged = int(line.split()[1])
        process.wait()
    assert 0 < acknowledged < 600
    subprocess.run([*command, str(tmp_path / "killed.parquet")], check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "killed.parquet").read_bytes() == (tmp_path / "once.parquet").read_bytes()


def test_the_fingerprint_follows_the_settings_not_their_order():
    assert fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
    assert fingerprint({"seed": 0}) != fingerprint({"seed": 1})


# Summary


def rendered(summary: Summary) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(summary.table())
    return console.file.getvalue()  # type: ignore[attr-defined]


def filled() -> Summary:
    summary = Summary()
    for negative in some(3):
        summary.add(negative)
        summary.check([])
    summary.check(["no-top"])
    for number in range(5):
        summary.skip("no-alignment: the node has no words", f"own/test/{number}#1")
    summary.skip("no-site", "own/test/9")
    return summary


def test_the_summary_counts_by_transform_and_by_reason():
    summary = filled()
    assert summary.negatives == 3
    assert summary.transforms == {("negate", "C-cont"): 3}
    assert summary.skipped == {"no-alignment": 5, "no-site": 1}
    assert len(summary.examples["no-alignment"]) == 3
    assert (summary.graphs, summary.well_formed) == (4, 3)


def test_lengths_and_overlap_compare_only_edited_texts():
    summary = filled()
    assert summary.words_before == 3
    assert summary.words_after == 4
    assert summary.overlap == pytest.approx(3 / 4)
    turned = replace(
        EXAMPLE,
        original={
            "context": ({"speaker": "A", "text": "Do you hate the café?"}, EXAMPLE.context[1]),
            "response": None,
        },
    )
    alone = Summary()
    alone.add(turned)
    assert alone.overlap == pytest.approx(4 / 6)


def test_the_table_shows_what_was_counted():
    table = rendered(filled())
    assert "negate (C-cont)" in table
    assert "no-alignment" in table and "own/test/0#1: the node has no words" in table
    assert "75.0%" in table


def test_an_empty_summary_has_a_table_too():
    assert "negatives" in rendered(Summary())


def test_a_summary_goes_on_from_its_state():
    whole, first = filled(), Summary()
    first.add(EXAMPLE)
    first.check([])
    second = Summary.from_state(json.loads(json.dumps(first.state())))
    for negative in some(2):
        second.add(negative)
        second.check([])
    second.check(["no-top"])
    for number in range(5):
        second.skip("no-alignment: the node has no words", f"own/test/{number}#1")
    second.skip("no-site", "own/test/9")
    assert second.state() == whole.state()
    assert Summary.from_state({}).state() == Summary().state()
