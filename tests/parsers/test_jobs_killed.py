"""Tests that after kill -9 during parsing, no graph is incomplete and the next run finishes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_whole_graphs
from tests.killed_servers import Server
from tests.servers import wipe
from tests.toy_parser import ToyParser, install

ROOT = Path(__file__).parents[2]
DIALOGUES, TURNS = 60, 8
TEXTS = DIALOGUES * TURNS
KILLS = 4
PATIENCE = 120
CODE = (
    "import sys; import graphneg.parsers.jobs as parsing; parsing.BATCH = 4; "
    "from graphneg.cli import main; main(sys.argv[1:])"
)

pytestmark = pytest.mark.slow


def text(dialogue: int, turn: int) -> str:
    """Return a text for a turn. Dialogues 23 apart can have equal texts."""
    return f"Line {chr(97 + dialogue % 23)} {chr(97 + turn)} has {'many ' * (dialogue % 5)}words."


@pytest.fixture
def store(server: Server, tmp_path: Path) -> Generator[Store]:
    """Return a store of dialogues without graphs."""
    file = tmp_path / "d.jsonl"
    dialogues = [
        {"id": str(d), "split": "all", "turns": [{"text": text(d, t)} for t in range(TURNS)]}
        for d in range(DIALOGUES)
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in dialogues))
    with server.open() as store:
        wipe(store)
        DialogueGraph(store).load("dialogues", file)
        yield store


@pytest.fixture
def environment(server: Server, tmp_path: Path) -> dict[str, str]:
    install(tmp_path / "installed")
    paths = os.pathsep.join([str(tmp_path / "installed"), str(ROOT)])
    return {**os.environ, **server.environment, "PYTHONPATH": paths}


def parse(server: Server, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CODE, "--store", server.target, "parse", "--parser", "toy"]
    return subprocess.Popen([*command, "--processes", "2"], env=environment, stderr=subprocess.PIPE)


def finished(process: subprocess.Popen[bytes]) -> str:
    _, output = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    return output.decode()


def count(store: Store) -> int:
    return store.read("MATCH (a:Amr) RETURN count(a) AS graphs")[0]["graphs"]


def wait_for(store: Store, graphs: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while count(store) < graphs and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def count_whole_graphs(store: Store) -> int:
    """Return the number of graphs; assert that all are complete and that the cache has their texts."""
    rows = store.read(
        "MATCH (u:Utterance)-[:MEANS]->(a:Amr)-[:TOP]->(:AmrNode) RETURN a.id AS id, u.text AS text"
    )
    texts = {row["id"]: row["text"] for row in rows}
    assert len(texts) == len(rows) == count(store)
    graphs = read_whole_graphs(store, sorted(texts))
    assert len(graphs) == len(texts)
    expected = ToyParser().parse_batch([texts[graph.id] for graph in graphs])
    for graph, parsed in zip(graphs, expected, strict=True):
        assert parsed.graph is not None
        assert (graph.nodes, graph.spans) == (parsed.graph.nodes, parsed.graph.spans)
    nodes = Counter(row["amr"] for row in store.read("MATCH (n:AmrNode) RETURN n.amr AS amr"))
    assert nodes == Counter({graph.id: len(graph.nodes) for graph in graphs})
    remembered = store.read("MATCH (p:Parse) RETURN count(p) AS texts")[0]["texts"]
    assert remembered == len(set(texts.values()))
    return len(graphs)


@pytest.mark.long_on_neo4j
def test_parsing_is_completed_after_the_process_was_killed_repeatedly(
    server: Server, store: Store, environment: dict[str, str]
) -> None:
    for kill in range(1, KILLS + 1):
        process = parse(server, environment)
        wait_for(store, kill * TEXTS // (KILLS + 1), process)
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        server.settle(store)
        assert 0 < count_whole_graphs(store) < TEXTS
        assert not psutil.wait_procs(
            [one for one in workers if "serve()" in "".join(cmdline(one))], PATIENCE
        )[1]
    output = finished(parse(server, environment))
    assert count_whole_graphs(store) == TEXTS
    assert "toy 1" in output
    assert "0 graphs of 0 texts" in finished(parse(server, environment))


@pytest.mark.long_on_neo4j
def test_parsing_is_completed_after_the_server_was_killed(
    server: Server, store: Store, environment: dict[str, str]
) -> None:
    process = parse(server, environment)
    wait_for(store, TEXTS // 3, process)
    server.kill()
    process.kill()
    process.communicate()
    store.close()
    with server.open() as again:
        assert count_whole_graphs(again) < TEXTS
        finished(parse(server, environment))
        assert count_whole_graphs(again) == TEXTS


def cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []
