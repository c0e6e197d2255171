"""What the command line says where its user is wrong: one line that tells what to do, and status 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_runs import Run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.txt"], "use .jsonl or .parquet"),
        (["-o", "none/out.jsonl"], "the folder none does not exist; make it first"),
        (["-o", "out.jsonl", "--recipe", "none"], "no recipe is called 'none'"),
        (["-o", "out.jsonl", "--transform", "none"], "no transform is called 'none'"),
        (["-o", "out.jsonl", "--corpus", "none"], "no dialogues of none"),
        (["-o", "out.jsonl", "--split", "test", "--limit", "3"], "no dialogues of test with AMR graphs"),
        (["-o", "out.jsonl", "--decoder", "none"], "no decoder named 'none'"),
        (["-o", "out.jsonl", "--model", "x"], "surface takes no option 'model'; it takes aligner"),
        (["-o", "out.jsonl", "--decoder", "t5"], "the t5 decoder needs a model"),
    ],
)
def test_a_wrong_choice_of_negatives(
    run: Run,
    everyday: Path,
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("negatives", *arguments, "--store", everyday)
    assert ended.status == 1
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command", [["info"], ["negatives", "-o", "out.jsonl"], ["export", "out.jsonl"], ["cypher", "RETURN 1"]]
)
def test_a_store_that_is_not_there_is_not_made_by_looking_into_it(
    run: Run, command: list[str], tmp_path: Path
) -> None:
    ended = run(*command, "--store", tmp_path / "none")
    assert ended.status == 1
    assert "there is no store at" in ended.err and "graphneg load CORPUS makes one" in ended.err
    assert not (tmp_path / "none").exists()


def test_an_export_of_nothing_is_told(run: Run, everyday: Path, tmp_path: Path) -> None:
    ended = run("export", tmp_path / "out.jsonl", "--corpus", "none", "--store", everyday)
    assert ended.status == 1
    assert "no dialogues of none" in ended.err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_query_in_a_file_that_is_not_there(run: Run, everyday: Path) -> None:
    ended = run("cypher", "none.cypher", "--store", everyday)
    assert ended.status == 1
    assert ended.err == "error: none.cypher: can't be read: No such file or directory\n"


def test_lines_that_can_not_be_read_are_told_with_what_is_wrong(
    run: Run, everyday: Path, tmp_path: Path
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"id": "a", "turns": ["Hello.\n{"id": "b"}\n{"id": "c", "turns": "x"}\n')
    table = tmp_path / "own.csv"
    table.write_text('dialogue,turn,speaker,text\na,0,A,"Hello.\n')
    said = run("load", "dialogues", path, table, "--store", everyday).err.splitlines()
    assert said[1:] == [
        f"  {path}:1: not JSON: Unterminated string at column 23",
        f"  {path}:2: item 1: the dialogue lacks 'turns'",
        f"  {path}:3: item 2: turns is not a list",
        f"  {table}:2: not CSV: unexpected end of data inside quotation marks",
    ]
