"""Tests of broken tables: an error or refusal with its line, and no dialogue with a missing row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.ingest.delimited import LONGEST_CELL, DelimitedRow, certain_cells, read_rows
from graphneg.ingest.sheets import read_sheet
from graphneg.model import Rejected
from tests.ingest.test_dialogue_files import load, refused, said
from tests.loader_samples import written

HEADER = "dialogue,speaker,text\n"
LONG = "x" * (LONGEST_CELL + 1)


def rows(text: str, separator: str = ",", *, quoted: bool = True) -> list[DelimitedRow | Rejected]:
    lines = [(f"f:{number}", line) for number, line in enumerate(text.split("\n"), 1)]
    return list(read_rows(lines, separator, quoted=quoted))


CELLS = st.text(st.sampled_from('ab,";\t é'), max_size=5)


@given(table=st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5))
def test_what_python_writes_is_read_back(table: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    assert [row.cells for row in rows(text.getvalue()) if isinstance(row, DelimitedRow)] == table


def test_an_unclosed_quotation_mark_affects_only_its_row() -> None:
    found = rows('a,"Hi.\nb,Ho.\nc,"Hum\n\nd,"so, ""so""\nand so"')
    assert [(row.place, row.cells, bool(row.fault)) for row in found if isinstance(row, DelimitedRow)] == [
        ("f:1", ["a"], True),
        ("f:2", ["b", "Ho."], False),
        ("f:3", ["c"], True),
        ("f:5", ["d", 'so, "so"\nand so'], False),
    ]


@pytest.mark.parametrize(
    ("line", "separator", "cells"),
    [
        ('7,"Ann, B.",so "odd" it is', ",", ["7", "Ann, B."]),
        ('"a ""b""";c;"open', ";", ['a "b"', "c"]),
        ("a,b,c", ",", ["a", "b"]),
        ('"a"b,c', ",", []),
        ("|x", "|", [""]),
    ],
)
def test_cells_before_a_fault_are_certain(line: str, separator: str, cells: list[str]) -> None:
    assert certain_cells(line, separator) == cells


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (f"dialogue,speaker,text,{LONG}", r"t.{}:1: the header can't be read: a cell is longer than 131,072"),
        (f"dialogue,speaker,text,{'x' * 2000}", "t.{}:1: a column of the header has 2,000 characters"),
        ('dialogue,speaker,te"xt\0,text', r"t.{}:1: the header can't be read: a NUL character"),
        ("dialogue,speaker,text,text", "t.{}:1: a column occurs twice in the header"),
    ],
)
def test_an_invalid_header_is_an_error(tmp_path: Path, header: str, reason: str, ending: str) -> None:
    text = header + "\na,Ann,Hi.,1\n"
    text = text.replace(",", "\t") if ending == "tsv" else text
    with pytest.raises(InputError, match=reason.format(ending)):
        load(written(tmp_path / f"t.{ending}", text))


def test_a_header_with_a_bad_quotation_mark_is_one_error(tmp_path: Path) -> None:
    for header in ('dialogue,"speaker"x,text\n', '"dialogue,speaker,text\n'):
        with pytest.raises(InputError, match=r"t.csv:1: the header can't be read: not CSV"):
            load(written(tmp_path / "t.csv", header + "a,Ann,Hi.\n"))


def test_a_broken_row_refuses_its_dialogue(tmp_path: Path) -> None:
    lines = [
        "a,Ann,Hi.",
        "b,Ann,Hello.",
        "a,Bo,Yes.",
        'b,"Bo"x,No.',
        "c,Ann,One.",
        f"c,Bo,{LONG}",
        "d,Ann,Good.",
    ]
    records, _ = load(written(tmp_path / "t.csv", HEADER + "\n".join(lines)))
    assert [one.id for one in records if hasattr(one, "utterances")] == ["t/all/a", "t/all/d"]
    found = "\n".join(refused(records))
    assert "t.csv:5 not CSV: ',' expected after '\"'" in found
    assert "t.csv:7 a cell is longer than 131,072 characters" in found
    assert f"t.csv:3 dialogue 'b': the row at {tmp_path}/t.csv:5 can't be read" in found


@pytest.mark.parametrize("line", [b"\xff,Bo,Yes.", b'"never, closed', b"\0"])
def test_a_row_without_a_dialogue_refuses_its_neighbours(tmp_path: Path, line: bytes) -> None:
    text = HEADER.encode() + "a,Ann,Hé é.\na,Bo,Yes.\n".encode() + line + b"\nb,Ann,Hi.\nc,Ann,Ho.\n"
    records, _ = load(written(tmp_path / "t.csv", text))
    assert [one.id for one in records if hasattr(one, "utterances")] == ["t/all/c"]
    assert len(refused(records)) == 3


def test_line_ends_may_be_mixed(tmp_path: Path) -> None:
    text = 'dialogue,speaker,text\r\na,Ann,"Hi\r\nyou."\ra,Bo,Ho.\nb,Ann,Hum.\r'
    found = said(written(tmp_path / "t.csv", text))
    assert found == {"a": [("Ann", "Hi\nyou."), ("Bo", "Ho.")], "b": [("Ann", "Hum.")]}
    assert said(written(tmp_path / "mac.csv", HEADER.replace("\n", "\r") + "a;b,Ann,Hi.\ra;b,Bo,Ho.\r")) == {
        "a;b": [("Ann", "Hi."), ("Bo", "Ho.")]
    }


class TestASheet:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (f"row,{LONG}\n1,x\n", "s.csv:1: a cell is longer than 131,072 characters"),
            ('row,"ans"wer\n1,x\n', "s.csv:1: not CSV: ',' expected after"),
            ("row,answer,answer\n1,x,y\n", "s.csv:1: the column 'answer' occurs twice in the header"),
            ("row\n1\n", "s.csv:1: no column answer; see there"),
            ("", "s.csv:1: no column row, answer; see there"),
            ("row,answer\n1\n", "s.csv:2: 1 cells, but the header has 2"),
            ('row,answer\n1,"x\n', "s.csv:2: not CSV: unexpected end of data inside quotation marks"),
            ("row,answer\n1,a\0b\n", "s.csv:2: a NUL character"),
        ],
    )
    def test_a_broken_sheet_gives_one_error_with_its_line(
        self, tmp_path: Path, text: str, reason: str
    ) -> None:
        with pytest.raises(InputError, match=reason):
            list(read_sheet(written(tmp_path / "s.csv", text), ("row", "answer"), "see there"))

    def test_rows_have_the_lines_that_they_begin_on(self, tmp_path: Path) -> None:
        file = written(tmp_path / "s.csv", 'row,answer\r\n1,"a\r\nb"\r\n2,c\r\n')
        assert list(read_sheet(file, ("row", "answer"), "")) == [
            (f"{file}:2", {"row": "1", "answer": "a\nb"}),
            (f"{file}:4", {"row": "2", "answer": "c"}),
        ]
