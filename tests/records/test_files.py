"""Tests of negatives as JSON Lines, Parquet, pandas and datasets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from graphneg.errors import InputError
from graphneg.model import EditedPenman, Negative
from graphneg.records.files import (
    check_destination,
    from_row,
    negative_from_json,
    negative_to_json,
    read_jsonl,
    read_parquet,
    to_dataset,
    to_pandas,
    write_jsonl,
    write_parquet,
)
from graphneg.records.resumable import ResumableWriter
from tests.negative_samples import EXAMPLE, in_one_folder, negatives, some

# JSON


def test_json_has_the_documented_keys_in_the_documented_order():
    record = json.loads(negative_to_json(EXAMPLE))
    assert " ".join(record) == (
        "id corpus split dialogue turn context response speaker label original categories recipe target seed "
        "decoder edits amr scores error_type evidence distance frame pair proved"
    )
    assert list(record["original"]) == ["context", "response"]
    assert list(record["evidence"]) == ["turn", "words"]
    assert list(record["edits"][0]) == ["turn", "transform", "category", "node", "before", "after"]


def test_json_does_not_escape_letters():
    assert "café" in negative_to_json(EXAMPLE)


def test_equal_negatives_give_equal_lines():
    graphs = {"10": EditedPenman("a", "b"), "9": EditedPenman("a", "b")}
    one = replace(EXAMPLE, amr=graphs, scores={"b": 1, "a": 2.0})
    other = replace(EXAMPLE, amr=dict(reversed(graphs.items())), scores={"a": 2, "b": 1.0})
    assert negative_to_json(one) == negative_to_json(other)
    assert list(json.loads(negative_to_json(one))["amr"]) == ["9", "10"]


@given(negatives)
def test_json_is_read_back_unchanged(negative: Negative):
    line = negative_to_json(negative)
    assert "\n" not in line
    assert negative_from_json(line) == negative
    assert negative_to_json(negative_from_json(line)) == line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turn": "2"}, "turn: Expected `int`, got `str`"),
        ({"label": True}, "label: Expected `int`, got `bool`"),
        ({"response": None}, "response: Expected `str`, got `null`"),
        ({"response": "half \ud83d"}, "response: half of a surrogate pair"),
        ({"target": "context"}, "target: Invalid enum value 'context'"),
        ({"context": "A: hello"}, "context: Expected `array`"),
        ({"context": [{"speaker": "A"}]}, r"context\[0\]: Object missing required field `text`"),
        ({"original": {"response": None}}, "original: Object missing required field `context`"),
        (
            {"edits": [{**asdict(EXAMPLE.edits[0]), "op": "add"}]},
            r"edits\[0\]: Object contains unknown field `op`",
        ),
        ({"amr": {"first": {"before": "a", "after": "b"}}}, "key in amr: Expected `str` matching regex"),
        ({"amr": {"9" * 5000: {"before": "a", "after": "b"}}}, "key in amr: Expected `str` matching regex"),
        ({"scores": {"nli": float("nan")}}, "scores, nli: nan is not a number that JSON can hold"),
        ({"scores": {"nli": 10**400}}, "scores.*: Number out of range"),
        ({"evidence": {"turn": 1}}, "evidence: Object missing required field `words`"),
        ({"proved": "yes"}, r"proved: Expected `bool \| null`, got `str`"),
        ({"seed": 2**63}, "seed: Expected `int` <= 9223372036854775807"),
    ],
)
def test_invalid_values_are_refused_with_the_id(change: dict, message: str):
    with pytest.raises(InputError, match=message) as caught:
        negative_to_json(replace(EXAMPLE, **change))
    assert EXAMPLE.id in str(caught.value)


@pytest.mark.parametrize(
    "line", ["", "[]", "{", '{"id": 1}', "null", "[" * 100_000, "1" * 5000, '{"scores": NaN}']
)
def test_invalid_lines_are_refused_with_their_place(line: str):
    with pytest.raises(InputError, match=r"out\.jsonl, line 3"):
        negative_from_json(line, "out.jsonl, line 3")


def test_an_older_record_without_a_speaker_is_read():
    record = json.loads(negative_to_json(EXAMPLE))
    del record["speaker"]
    assert negative_from_json(json.dumps(record)) == replace(EXAMPLE, speaker="")


NEW = ("error_type", "evidence", "distance", "frame", "pair", "proved")


def test_records_of_before_have_no_error_type_evidence_pair_or_proof(tmp_path: Path):
    import pyarrow.parquet as pq

    record = json.loads(negative_to_json(EXAMPLE))
    old = replace(EXAMPLE, **dict.fromkeys(NEW))
    assert negative_from_json(json.dumps({k: v for k, v in record.items() if k not in NEW})) == old
    write_parquet([EXAMPLE], tmp_path / "new.parquet")
    pq.write_table(pq.read_table(tmp_path / "new.parquet").drop_columns(list(NEW)), tmp_path / "old.parquet")
    assert list(read_parquet(tmp_path / "old.parquet")) == [old]


# Files


@in_one_folder
@given(st.lists(negatives, max_size=4))
def test_jsonl_and_parquet_are_read_back_unchanged(tmp_path: Path, some_negatives: list[Negative]):
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


def test_invalid_files_are_refused(tmp_path: Path):
    (tmp_path / "text.parquet").write_text("no parquet")
    (tmp_path / "latin.jsonl").write_bytes("café".encode("latin-1"))
    with pytest.raises(InputError, match=r"text\.parquet: can't be read as Parquet"):
        list(read_parquet(tmp_path / "text.parquet"))
    with pytest.raises(InputError, match=r"latin\.jsonl, line 1: not UTF-8"):
        list(read_jsonl(tmp_path / "latin.jsonl"))
    with pytest.raises(InputError, match="can't be read: No such file"):
        list(read_jsonl(tmp_path / "none.jsonl"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.csv", r"unknown suffix '\.csv'; use \.jsonl or \.parquet, or - for standard output"),
        ("out", "no suffix; use"),
        ("missing/out.jsonl", "missing does not exist; create it first"),
        ("file.jsonl/out.jsonl", "is not a folder"),
        ("folder.jsonl", "this is a folder"),
        ("/dev/null/out.jsonl", "is not a folder"),
    ],
)
def test_an_invalid_destination_is_refused_at_once(tmp_path: Path, name: str, message: str):
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


_WRITES = """
import sys
from pathlib import Path
from graphneg.errors import GraphnegError
from graphneg.private_files import cache_folder
from graphneg.records.files import check_destination
from graphneg.records.runs import atomic_file
def write(path):
    with atomic_file(path) as file:
        file.write_text("x")
folder = Path(sys.argv[1])
actions = (check_destination, folder / "a.jsonl"), (write, folder / "a.amr"), (cache_folder, "models")
for action, given in actions:
    try:
        action(given)
    except (GraphnegError, OSError) as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="permissions of POSIX, and setpriv of Linux")
def test_a_folder_without_permission_is_named_with_advice(tmp_path: Path):
    folder = tmp_path / "fixed"
    folder.mkdir(mode=0o500)
    # Root may write anywhere, so drop its capabilities.
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if drop and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to give up the rights of root")
    command = [*drop, sys.executable, "-c", _WRITES, str(folder)]
    environment = os.environ | {"XDG_CACHE_HOME": str(folder)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    chosen, written, cached = ended.stdout.splitlines()
    assert chosen == f"{folder}/a.jsonl: no permission to write in {folder}; name another"
    assert "Permission denied" in written and written.endswith(
        "name a file in a folder that you may write to"
    )
    assert "set XDG_CACHE_HOME to a folder that you may write to" in cached


# Tables


def test_a_data_frame_has_a_row_for_each_negative():
    table = to_pandas(some(3))
    assert list(table["dialogue"]) == ["own/test/0", "own/test/1", "own/test/2"]
    assert str(table["turn"].dtype) == "int64"
    assert (str(table["distance"].dtype), str(table["proved"].dtype)) == ("Int64", "boolean")
    assert to_pandas([replace(EXAMPLE, distance=None)])["distance"].isna().all()
    assert table["amr"][0]["2"]["before"] == EXAMPLE.amr["2"].before
    assert list(to_pandas([]).columns) == list(table.columns)


def test_a_dataset_has_typed_features_and_can_be_read_back(tmp_path: Path):
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
