"""Records that a pipeline sorts into blocks: they come back as they were, and no file is run."""

from __future__ import annotations

import ast
import os
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphneg.errors import InputError
from graphneg.ingest import blocks
from graphneg.ingest.blocks import Load, block_records, sort_records
from graphneg.model import (
    Dialogue,
    Frame,
    GraphText,
    LexiconEntry,
    Opposite,
    ParserGraph,
    Record,
    Rejected,
    Response,
    Sentence,
    Utterance,
)
from graphneg.shards import Shard

ODD = 'é 漢 \u2028 😀\t\n\r\0 \udcff "quoted"'
PARSED = ParserGraph("dependency", "8", "(t / tea)", {0: (0, 3), 12: (4, 9)}, ("a warning",))
ATTRIBUTES = {"rank": 2.5, "big": 10**30, "deep": [{"x": None}], "no": float("inf")}
RECORDS: list[Record] = [
    Dialogue(
        "own/all/1",
        "own",
        "all",
        (
            Utterance(
                0, "A", ODD, None, {"rank": 2.5, "big": 10**30, "deep": [{"x": None}], "no": float("inf")}
            ),
            Utterance(1, "", "Tea.", "(t / tea)", {}, (PARSED,)),
        ),
        (Response(1, "No.", 0, "own", None, (PARSED,)),),
        {"mood": "grim", ODD: True},
        "own.jsonl:1",
    ),
    GraphText("(t / tea)", "own/all/1#1", None, "own.amr:3"),
    Opposite("open", "closed", "Antonym", 1.0, "conceptnet"),
    Frame("drink-01", "drink", ("ARG0", "ARG1"), ("drinker",)),
    Sentence("s1", "It rains.", "own", None, True),
    LexiconEntry("move", ("time", "dawn", "dusk"), "lexicon.tsv:2"),
]


def sorted_into(folder: Path, records: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[Rejected]:
    """Sort records into one block, as if a loader had read them, and return what was refused."""
    told: list[Rejected] = []

    def read(_: Load) -> Iterator[Any]:
        return iter(records)

    monkeypatch.setattr(Load, "read", read)
    sort_records([Load("dialogues")], 1, folder, told.append)
    return told


def test_all_kinds_of_records_come_back_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not sorted_into(tmp_path / "records", RECORDS, monkeypatch)
    back = [*block_records(tmp_path / "records", Shard(1, 1)), *block_records(tmp_path / "records", None)]
    assert back == RECORDS
    assert repr(back) == repr(RECORDS)  # with what does not count when records are compared


def test_a_record_that_cannot_be_stored_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    bad = [
        Dialogue("own/all/2", "own", "all", (), (), {"deep": deep}),
        Dialogue("own/all/3", "own", "all", (), (), {"object": object()}),
    ]
    told = sorted_into(tmp_path / "records", [*bad, *RECORDS], monkeypatch)
    assert [one.place for one in told] == ["own/all/2", "own/all/3"]
    assert all("the record can't be stored" in one.reason for one in told)
    assert len(list(block_records(tmp_path / "records", Shard(1, 1)))) == 2


@pytest.mark.parametrize(
    ("damaged", "by"),
    [
        (rb"Tea\.", b"Pea."),
        (rb"\n", b"\n\n"),
        (rb"\A[^\n]*\n", b""),
        (rb"[^\n]*\n\Z", b""),
        (rb"\Z", b"[]"),
        (rb"(?s).*", b""),
    ],
    ids=["letter", "blank line", "first line lost", "digest lost", "longer", "empty"],
)
def test_a_damaged_file_of_records_is_refused_and_then_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bytes, by: bytes
) -> None:
    folder = tmp_path / "records"
    sorted_into(folder, RECORDS, monkeypatch)
    path = folder / "1-of-1"
    good = path.read_bytes()
    assert not sorted_into(folder, [], monkeypatch) and path.read_bytes() == good
    path.write_bytes(re.sub(damaged, by, good, count=1))
    with pytest.raises(InputError, match="or damaged"):
        list(block_records(folder, Shard(1, 1)))
    told = sorted_into(folder, RECORDS, monkeypatch)
    assert [one.reason for one in told] == ["read again, because 1-of-1 was changed or damaged"]
    assert path.read_bytes() == good


def test_the_file_of_another_block_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "records"
    sorted_into(folder, RECORDS, monkeypatch)
    (folder / "1-of-1").write_bytes((folder / "common").read_bytes())
    with pytest.raises(InputError, match="or damaged"):
        list(block_records(folder, Shard(1, 1)))


class Program:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize(
    "content",
    [
        b"PICKLE",
        b"{}",
        b"[1, 2, 3]",
        b'["Dialogue", {}]',
        b'["Nothing", {}]',
        b'[["Dialogue"], {}]',
        b'["Opposite", {"start": 1}]',
        b"[" * 100_000,
        b"\xff",
    ],
    ids=lambda content: str(content[:20]),
)
def test_a_file_of_others_is_one_clear_error_and_is_not_run(tmp_path: Path, content: bytes) -> None:
    if content == b"PICKLE":
        content = pickle.dumps(Program(tmp_path / "made"))
    (tmp_path / "common").write_bytes(content)
    with pytest.raises(InputError, match=r"common, line 1: not a record of graphneg, or damaged; remove"):
        list(block_records(tmp_path, None))
    assert not (tmp_path / "made").exists()


PICKLES = {"pickle", "shelve", "joblib", "dill"}


def test_no_file_is_unpickled() -> None:
    """Processes of one run may exchange pickled messages, but nothing that lies on a disk is pickled."""
    found = {
        file.name
        for file in Path(blocks.__file__).parents[1].rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import)
        and {"pickle", "shelve", "joblib", "dill"} & {one.name for one in node.names}
    }
    assert found == {"workers.py", "ray.py"}
