"""Tests of ``graphneg parse`` on a store and on files, with valid and wrong input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import graphneg
from graphneg.amr.penman import iter_blocks, metadata, parse_graph
from graphneg.amr.wellformed import check
from tests.toy_parser import install

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]

WRONG_TEXTS = {
    "empty": b"",
    "white space": b" \t ",
    "control characters": b"a\x00b \x07\x1b[31mred",
    "no UTF-8": b"caf\xe9 \xed\xa0\x80 \xff",
    "not English": "我不喜欢茶。 Ich mag keinen Tee! Чай?".encode(),
    "emoji and markup": "<b>No</b> 😀👍🏽 &amp; \\begin{x} #tag @you".encode(),
    "brackets and quotes": b'((( "" :ARG0 / ~e.1 \\" )) :',
    "100,000 characters": b"I like it and " * 7143,
    "one word of 20,000 letters": b"a" * 20_000,
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install a package that registers the parser `toy`; return its folder."""
    folder = tmp_path_factory.mktemp("installed")
    install(folder)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """Return a function that runs ``graphneg`` in an empty folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J")}
    environment["PYTHONPATH"] = os.pathsep.join([str(installed), str(ROOT)])

    def once(*arguments: str | Path, given: bytes | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("graphneg")), *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, input=given, capture_output=True)
        return subprocess.CompletedProcess(
            command, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return once


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store of three utterances without graphs."""
    file = tmp_path / "d.jsonl"
    turns = [{"text": "I like tea."}, {"text": "There is nothing."}, {"text": "Then I don't want any."}]
    file.write_text(json.dumps({"id": "a", "split": "all", "turns": turns}))
    with graphneg.open(tmp_path / "store") as graph:
        graph.load("dialogues", file)
    return tmp_path / "store"


def read(text: str) -> list[tuple[str, str]]:
    """Return the text and the top label of each graph; assert that all graphs are well formed."""
    found: list[tuple[str, str]] = []
    for line, block in iter_blocks(text):
        graph = parse_graph(block, first_line=line)
        assert check(graph) == []
        found.append((metadata(graph.metadata).get("snt", ""), graph.top.label))
    return found


class TestAStore:
    def test_parsed_dialogues_give_negatives(self, run: Run, store: Path, tmp_path: Path) -> None:
        before = run("--store", store, "negatives", "-o", tmp_path / "none.jsonl")
        assert "run graphneg parse" in before.stderr
        done = run("--store", store, "parse")
        assert done.returncode == 0, done.stderr
        assert "3 graphs of 3 texts" in done.stderr and "dependency" in done.stderr
        run("--store", store, "negatives", "--recipe", "all", "-o", tmp_path / "out.jsonl")
        [negative] = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
        assert negative["edits"]

    def test_warnings_are_counted_by_code(self, run: Run, store: Path) -> None:
        done = run("--store", store, "parse", "--parser", "toy")
        assert done.returncode == 0
        assert "no-graph: 1, d/all/a#1 first: there is nothing" in done.stderr
        assert "1 text got no graph" in done.stderr
        assert "graphs of" in run("--store", store, "parse", "--parser", "toy", "--again").stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--parser", "none"], "no parser named 'none'; choose one of amrlib, dependency, toy"),
            (["--parser", "toy", "--model", "missing"], "missing: there is no such directory"),
            (["--model", "en_core_web_none"], "en_core_web_none"),
            (["--model", "."], "spaCy model"),
            (["--parser", "amrlib"], "the amrlib parser needs --model DIR"),
            (["--parser", "amrlib", "--model", "missing"], "missing: there is no such directory"),
            (["--parser", "amrlib", "--model", "."], "no amrlib_meta.json found"),
            (["--device", "cpu"], "'device'"),
        ],
    )
    def test_an_unavailable_parser_ends_with_2_and_creates_no_store(
        self, run: Run, tmp_path: Path, arguments: list[str], message: str
    ) -> None:
        done = run("--store", "fresh", "parse", *arguments)
        assert done.returncode == 2
        assert message in done.stderr and "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert not (tmp_path / "fresh").exists()

    def test_a_selection_without_dialogues_is_refused(self, run: Run, store: Path) -> None:
        done = run("--store", store, "parse", "--parser", "toy", "--corpus", "other")
        assert done.returncode == 1
        assert "no dialogues of other" in done.stderr

    def test_invalid_combinations_with_text_are_refused(self, run: Run) -> None:
        assert run("parse", "--text", "-").returncode == 2
        assert run("parse", "--text", "-", "-o", "-", "--again").returncode == 2


class TestAFile:
    def test_each_line_of_a_file_becomes_a_graph(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbfI like tea.\r\nThere is nothing.\nThank you.\n")
        done = run("parse", "--parser", "toy", "--text", "in.txt", "-o", "out.amr")
        assert done.returncode == 0, done.stderr
        assert read((tmp_path / "out.amr").read_text()) == [
            ("I like tea.", "speak-01"),
            ("There is nothing.", "amr-unintelligible"),
            ("Thank you.", "speak-01"),
        ]
        assert "# ::warning no-graph: there is nothing" in (tmp_path / "out.amr").read_text()
        assert "2 graphs of 3 texts" in done.stderr
        assert [file.name for file in tmp_path.iterdir() if "tmp" in file.name] == []

    def test_standard_input_and_output_can_be_used(self, run: Run) -> None:
        done = run("parse", "--text", "-", "-o", "-", given=b"I like tea.\nNo, I don't.")
        assert done.returncode == 0, done.stderr
        assert [text for text, _ in read(done.stdout)] == ["I like tea.", "No, I don't."]

    def test_odd_texts_become_graphs_and_counted_warnings(self, run: Run) -> None:
        lines = b"\n".join(WRONG_TEXTS.values())
        done = run("parse", "--text", "-", "-o", "-", given=lines)
        assert done.returncode == 0, done.stderr
        assert len(read(done.stdout)) == len(WRONG_TEXTS)
        assert "empty: 2, line 1 first" in done.stderr
        assert "characters: 2, line 3 first" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--text", "none.txt", "-o", "out.amr"], "none.txt: can't be read: No such file"),
            (["--text", "in.txt", "-o", "none/out.amr"], "none/out.amr: the folder none does not exist"),
        ],
    )
    def test_a_missing_file_is_one_line_of_error(
        self, run: Run, tmp_path: Path, arguments: list[str], message: str
    ) -> None:
        (tmp_path / "in.txt").write_text("Yes.")
        done = run("parse", "--parser", "toy", *arguments)
        assert done.returncode == 1
        assert message in done.stderr and len(done.stderr.strip().splitlines()) == 1

    def test_a_stopped_run_leaves_no_output(self, installed: Path, tmp_path: Path) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
        command = [Path(sys.executable).with_name("graphneg"), "parse", "--parser", "toy", "--text", "-"]
        process = subprocess.Popen(
            [*map(str, command), "-o", "out.amr"],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(b"Yes.\n" * 50_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        assert process.returncode == 130, said
        assert b"run the command again" in said
        assert list(tmp_path.iterdir()) == []
