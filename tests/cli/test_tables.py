"""Tests of the tables and JSON lines that commands print on standard output."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from graphneg.cli.tables import figures_table, plain_table, shortage_table, show


def printed(table: Table, width: int = 60) -> list[str]:
    """Return the printed lines of a table, stripped."""
    console = Console(file=StringIO(), width=width)
    console.print(table)
    assert isinstance(console.file, StringIO)
    return [line.strip() for line in console.file.getvalue().splitlines() if line.strip()]


def test_a_plain_table_has_a_title_on_the_left_and_one_rule() -> None:
    title, header, rule, row = printed(
        plain_table("edit", "text", rows=[("polarity_flip", "I don't.")], title="Edits")
    )
    assert (title, header.split(), row.split()) == (
        "Edits",
        ["edit", "text"],
        ["polarity_flip", "I", "don't."],
    )
    assert set(rule) == {"─"}


def test_long_names_are_wrapped_and_numbers_are_not() -> None:
    names = ["a-very-long-name-of-some-corpus", "short"]
    rows = [(name, f"{figure:,}") for name, figure in zip(names, (1, 1234567), strict=True)]
    lines = printed(figures_table("corpus", "dialogues", rows=rows), width=24)
    assert any(line.endswith("1,234,567") for line in lines)
    assert len({len(line) for line in lines if line.endswith(("1", "7", "dialogues"))} - {0}) >= 1
    assert "".join(line.split()[0] for line in lines[2:-1]) == names[0]


def test_values_are_printed_as_json_lines_or_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    read: list[int] = []

    def values() -> Iterator[dict[str, Any]]:
        for number in (1, 2):
            read.append(number)
            yield {"word": "café", "number": number}

    show(True, values(), plain_table("word"))
    assert capsys.readouterr().out == '{"word": "café", "number": 1}\n{"word": "café", "number": 2}\n'
    show(False, values(), plain_table("word"), plain_table("number"))
    assert capsys.readouterr().out.split() == ["word", "────", "number", "──────"]
    assert read == [1, 2]


def test_the_row_of_a_category_omits_the_figures_of_its_source() -> None:
    spread = SimpleNamespace(minimum=0.1, median=0.25, maximum=0.9)
    figures = {"contexts": 1200, "contexts_lacking": 3, "requested": 2400, "drawn": 2397}
    source: Any = SimpleNamespace(name="edits", category="", similarity=spread, **figures)
    category: Any = SimpleNamespace(name="edits", category="C-ent", similarity=None, **figures)
    *_, first, second = printed(shortage_table([source, category]), width=120)
    assert first.split() == ["edits", "1,200", "3", "2,400", "2,397", "0.10", "0.25", "0.90"]
    assert second.split() == ["C-ent", "1,200", "2,397"]
