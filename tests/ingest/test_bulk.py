"""Tests of bulk loads: a database made by `neo4j-admin import` equals one that was loaded directly."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.ingest.bulk import INDEX, BulkFiles
from graphneg.progress import NoProgress
from graphneg.store.connection import Store
from tests.cli_runs import Run
from tests.servers import Neo4jServer, NoServerError, launched, run_import, wipe

ODD = [
    {
        "id": "odd/1",
        "mood": "grim",
        "tags": ["a;b", 'say "no"', "", "c,d"],
        "turns": [
            {"text": 'A "quote", a comma;\nand a line\r\nor two \\ "', "speaker": "A", "rank": 3},
            {"text": "  é 漢 \u2028 😀\tend ", "speaker": "", "rank": 2.5, "amr": '(b / boat :name "x\\"y")'},
            {"text": "''", "speaker": "A", "rank": "high", "seen": True},
        ],
    },
    {"id": "odd/2", "mood": 3, "extra": {"deep": [1]}, "turns": [{"text": "Hm."}, {"text": "No."}]},
]
GRAPHS = """
# ::id own/all/odd/2#1
# ::note ""
(n / no)

# ::snt Nobody said this.
(s / say-01 :polarity - :ARG0 (n / nobody))
"""
Load = Callable[..., Any]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bulk-data")
    (folder / "lexicon.tsv").write_text("class\tclosed\tgrim\nmove\ttime\tdawn\tdusk\n")
    (folder / "odd.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ODD))
    (folder / "late.amr").write_text(GRAPHS)
    (folder / "data.noun").write_text(WORDNET)
    return folder


WORDNET = (
    "  1 This software and database is being provided to you\n"
    '00001740 03 n 01 boat 0 000 | a small craft; "the boat sank in a storm"  \n'
    '00001930 03 n 01 fish 0 000 | a swimmer; "he caught a fish from the boat"  \n'
)


def load_all(load: Load, files: Path) -> list[str]:
    return [
        load("lexicon", files / "lexicon.tsv").summary(),
        load("everyday").summary(),
        load("dialogues", files / "odd.jsonl", name="own", split="all").summary(),
        load("penman", files / "late.amr").summary(),
        load("wordnet", files / "data.noun").summary(),
        load("everyday").summary(),
    ]


@pytest.fixture(scope="module")
def bulk(files: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("bulk") / "import"
    said: list[str] = []

    def load(corpus: str, *paths: Path, **options: Any) -> Any:
        with BulkFiles(folder) as target:  # opened anew for each load, as by a new process
            return target.load(corpus, *paths, **options)

    said = load_all(load, files)
    return folder, said


@pytest.fixture(scope="module")
def imported(
    bulk: tuple[Path, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Generator[Neo4jServer]:
    directory = tmp_path_factory.mktemp("imported") / "neo4j"
    try:
        run_import(bulk[0] / "import.sh", directory)
        with launched(directory, "1g") as server:
            yield server
    except NoServerError as reason:
        pytest.skip(f"no Neo4j: {reason}")


KEY = "coalesce(n.id, n.text)"
NODES = f"""
MATCH (n)
WHERE NOT n:ContentVersion  // a bulk import writes no content version
RETURN labels(n) AS labels, {KEY} AS id, properties(n) AS properties
"""
RELATIONSHIPS = f"""
MATCH (n)-[r]->(m)
RETURN {KEY} AS start, labels(n) AS of, type(r) AS type, {KEY.replace("n.", "m.")} AS end,
       properties(r) AS properties
"""
INDEXES = "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state RETURN *"


def content(store: Store, query: str) -> list[str]:
    return sorted(json.dumps(row.data(), sort_keys=True) for row in store.read(query))


def test_an_imported_database_equals_a_loaded_one(
    bulk: tuple[Path, list[str]], files: Path, imported: Neo4jServer, neo4j: Store
) -> None:
    wipe(neo4j)
    loaded = load_all(DialogueGraph(neo4j).load, files)
    assert bulk[1] == loaded
    with imported.open() as store:
        for query in (NODES, RELATIONSHIPS, INDEXES):
            assert content(store, query) == content(neo4j, query)
        again = load_all(DialogueGraph(store).load, files)
    assert all("loaded nothing new" in line for line in again)


def test_a_stopped_bulk_load_is_continued(tmp_path: Path, files: Path, bulk: tuple[Path, list[str]]) -> None:
    folder = tmp_path / "import"

    class Stopped(Exception):
        pass

    class Bar:
        def start(self, what: str, total: int | None, unit: str) -> None:
            if what == "files":
                raise Stopped

        def advance(self, amount: int = 1) -> None:
            pass

        def finish(self) -> None:
            pass

    with BulkFiles(folder) as target, pytest.raises(Stopped):
        target.load("everyday", progress=Bar())
    assert not (folder / "import.sh").exists()
    with BulkFiles(folder) as target:
        assert "loaded nothing new" in target.load("everyday").summary()
    with BulkFiles(tmp_path / "other") as target:
        target.load("everyday")
    for file in sorted((tmp_path / "other").glob("*[!x]")):
        if file.suffix in {".csv", ".sh"}:
            assert file.read_bytes() == (folder / file.name).read_bytes()


def test_a_lexicon_comes_before_the_graphs(tmp_path: Path, files: Path) -> None:
    with BulkFiles(tmp_path / "import") as target:
        target.load("everyday")
        with pytest.raises(InputError, match="a bulk load must begin with the lexicon"):
            target.load("lexicon", files / "lexicon.tsv")


def test_wrong_usage_is_one_line_of_error(tmp_path: Path, run: Run) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    wrong = run("load", "everyday", "--bulk", str(tmp_path / "full"))
    assert (wrong.status, "the folder contains other files" in wrong.err) == (2, True)
    both = run("--store", str(tmp_path / "store"), "load", "everyday", "--bulk", str(tmp_path / "new"))
    assert (both.status, "remove --store" in both.err) == (2, True)
    assert not (tmp_path / "new").exists()
    with BulkFiles(tmp_path / "busy"):
        taken = run("load", "everyday", "--bulk", str(tmp_path / "busy"))
    assert (taken.status, "another run is writing this file" in taken.err) == (1, True)
    done = run("load", "everyday", "--bulk", str(tmp_path / "good"))
    assert (done.status, f"sh {tmp_path}/good/import.sh" in done.err.replace("\n", "")) == (0, True)


def test_files_that_the_user_adds_are_kept(tmp_path: Path, files: Path) -> None:
    folder = tmp_path / "import"
    with BulkFiles(folder) as target:
        target.load("dialogues", files / "odd.jsonl")
        target.finish(NoProgress())
    for name in ("notes.csv", "Dialogue-notes.csv", "Dialogue.99.csv"):
        (folder / name).write_text("precious")
    with BulkFiles(folder) as target:
        target.finish(NoProgress())
    assert (folder / "notes.csv").read_text() == (folder / "Dialogue-notes.csv").read_text() == "precious"
    assert not (folder / "Dialogue.99.csv").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs of POSIX")
@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "text"])
def test_an_index_that_is_none_is_one_clear_error(tmp_path: Path, kind: str) -> None:
    folder, precious = tmp_path / "import", tmp_path / "precious.sqlite"
    folder.mkdir()
    with closing(sqlite3.connect(precious)) as database:
        database.execute("CREATE TABLE mine (x)")
    before, index = precious.read_bytes(), folder / INDEX
    {
        "link": lambda: index.symlink_to(precious),
        "fifo": lambda: os.mkfifo(index),
        "folder": index.mkdir,
        "text": lambda: index.write_text("no database"),
    }[kind]()
    with pytest.raises(InputError, match=r"bulk\.index"):
        BulkFiles(folder)
    assert precious.read_bytes() == before and os.path.lexists(index)


def test_a_damaged_index_is_one_clear_error(tmp_path: Path, files: Path) -> None:
    folder = tmp_path / "import"
    with BulkFiles(folder) as target:
        target.load("dialogues", files / "odd.jsonl")
    content = bytearray((folder / INDEX).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (folder / INDEX).write_bytes(content)
    with pytest.raises(InputError, match=r"bulk\.index: damaged"), BulkFiles(folder) as target:
        target.load("dialogues", files / "odd.jsonl")
