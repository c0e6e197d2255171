"""Kill commands and servers at random times: acknowledged data is kept, and a new run completes it."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.corpus import bundled, write_jsonl
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import StoreError
from graphneg.records.resumable import checkpoint_path
from graphneg.store.connection import Store
from tests.killable import Run
from tests.killed_servers import Server
from tests.servers import wipe
from tests.unfinished import acknowledged

DIALOGUES = 12
PROCESS_KILLS = 8
SERVER_KILLS = 2
"""Both ``load`` and ``negatives`` are killed 8 times, and the server twice: 20 kills on each server."""

Content = dict[str, set[str]]
"""Rows of a store, keyed by the id of a dialogue or variant. Either all rows of an id are stored, or none."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file of dialogues that repeat the bundled graphs."""
    dialogues = bundled().several(DIALOGUES, "copy")
    return write_jsonl(dialogues, tmp_path_factory.mktemp("corpus") / "dialogues.jsonl")


@dataclass
class Uninterrupted:
    """The results and durations of commands that run to their end."""

    loaded: Content
    load_seconds: float
    made: Content
    made_seconds: float
    negatives: bytes


@pytest.fixture(scope="module")
def uninterrupted(server: Server, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    """Run each command to its end."""
    out = tmp_path_factory.mktemp("negatives") / "negatives.jsonl"
    with server.open() as store:
        wipe(store)
        DialogueGraph(store).load("everyday")
        for _ in range(2):  # The second, faster run is measured: the later runs have a warm server too.
            forget_dialogues(store)
            out.unlink(missing_ok=True)
            loading = run_on(server, "load", corpus)
            loading.finish()
            loaded = content(store)
            making = run_on(server, "negatives", out)
            making.finish()
        return Uninterrupted(loaded, loading.seconds, content(store), making.seconds, out.read_bytes())


NODES = ("Dialogue", "Utterance", "Amr", "AmrNode", "Clause", "Entity", "Variant")
EDGES = ("HAS_TURN", "NEXT", "MEANS", "TOP", "ROLE", "LEXEME", "VARIANT_OF")
EDGES += ("HAS_CLAUSE", "HEAD", "REPEATS", "CONTRADICTS", "ANSWERS", "REFERS_TO")
ROWS = [
    f"MATCH (n:{label}) RETURN n.id AS id, labels(n) AS kind, properties(n) AS properties" for label in NODES
]
ROWS += [
    f"MATCH (a)-[r:{kind}]->(b) "
    "RETURN a.id AS id, coalesce(b.id, b.text) AS other, type(r) AS kind, properties(r) AS properties"
    for kind in EDGES
]
ROWS += [
    "MATCH (a:Variant)-[r:APPLIED]->(e:Edit)-[at]->(b:AmrNode) "
    "RETURN a.id AS id, b.id AS other, r.step AS step, type(at) AS kind, properties(e) AS properties"
]
LOOSE = "MATCH (e:Edit) WHERE NOT EXISTS { (:Variant)-[:APPLIED]->(e) } RETURN count(e) AS edits"


def content(store: Store) -> Content:
    """Return the dialogues, graphs and variants of a store."""
    assert store.read(LOOSE)[0]["edits"] == 0
    found: Content = {}
    for query in ROWS:
        for row in store.read(query):
            whole: str = row["id"] if "~" in row["id"] else row["id"].partition("#")[0]
            found.setdefault(whole, set()).add(json.dumps(row.data(), sort_keys=True))
    return found


def checked_content(store: Store, expected: Content) -> Content:
    """Return the content of a store, after a check that no dialogue or variant is incomplete."""
    found = content(store)
    assert found.keys() <= expected.keys()
    for key, rows in found.items():
        assert (key, expected[key] - rows, rows - expected[key]) == (key, set(), set())
    return found


def run_on(server: Server, command: str, file: Path) -> Run:
    return Run(server.target, server.environment, command, file)


def kill_times(seed: str, seconds: float) -> Generator[float]:
    """Yield random times to kill at, up to 80 % of the duration."""
    source = random.Random(seed)
    while True:
        yield source.uniform(0, 0.8 * seconds)


def names(file: Path) -> list[str]:
    return [item["id"] for item in map(json.loads, file.read_text().splitlines())]


def acknowledged_negatives(out: Path) -> set[str]:
    """Return the ids of the negatives that an unfinished file has up to its last checkpoint, if any."""
    if not checkpoint_path(out).exists():
        return set()
    lines = acknowledged(out).splitlines()
    assert len(lines) == json.loads(checkpoint_path(out).read_bytes())["negatives"]
    return {json.loads(line)["id"] for line in lines}


def forget_dialogues(store: Store) -> None:
    forget_variants(store)
    for label in ("Dialogue", "Utterance", "Amr", "AmrNode", "Clause", "Entity"):
        store.query_write(f"MATCH (n:{label}) DETACH DELETE n")


def forget_variants(store: Store) -> None:
    for label in ("Variant", "Edit"):
        store.query_write(f"MATCH (n:{label}) DETACH DELETE n")


class TestALoad:
    @pytest.mark.parametrize("victim", ["process", "server"])
    def test_that_was_killed_is_completed_by_running_it_again(
        self, server: Server, uninterrupted: Uninterrupted, corpus: Path, victim: str
    ) -> None:
        order = names(corpus)
        times = kill_times(f"load {victim}", uninterrupted.load_seconds)
        kills, store = 0, server.open()
        forget_dialogues(store)
        while kills < (PROCESS_KILLS if victim == "process" else SERVER_KILLS):
            run = run_on(server, "load", corpus)
            if run.ended_within(next(times)):
                run.finish()
                assert content(store) == uninterrupted.loaded
                forget_dialogues(store)
                continue
            kills += 1
            store = kill_victim(server, store, run, victim)
            found = checked_content(store, uninterrupted.loaded)
            assert set(order[: run.acknowledged]) <= found.keys()
        run_on(server, "load", corpus).finish()
        assert content(store) == uninterrupted.loaded
        store.close()


def test_a_server_that_was_killed_is_told_of_within_30_seconds(server: Server) -> None:
    with server.open() as store:
        server.kill()
        for ask in (store.read, store.query_write):
            began = time.monotonic()
            with pytest.raises(StoreError, match="all acknowledged writes are kept"):
                ask("RETURN 1")
            assert time.monotonic() - began < 30
    server.open().close()  # Start the server again for the next test.


class TestMakingNegatives:
    @pytest.mark.long_on_neo4j
    @pytest.mark.parametrize("victim", ["process", "server"])
    def test_that_was_killed_is_completed_by_running_it_again(
        self, server: Server, uninterrupted: Uninterrupted, corpus: Path, tmp_path: Path, victim: str
    ) -> None:
        run_on(server, "load", corpus).finish()
        times = kill_times(f"negatives {victim}", uninterrupted.made_seconds)
        kills, store, out = 0, server.open(), tmp_path / "negatives.jsonl"
        forget_variants(store)
        while kills < (PROCESS_KILLS if victim == "process" else SERVER_KILLS):
            run = run_on(server, "negatives", out)
            if run.ended_within(next(times)):
                run.finish()
                assert (content(store), out.read_bytes()) == (uninterrupted.made, uninterrupted.negatives)
                forget_variants(store)
                out.unlink()
                continue
            kills += 1
            store = kill_victim(server, store, run, victim)
            found = checked_content(store, uninterrupted.made)
            assert uninterrupted.loaded.keys() <= found.keys()
            if out.exists():
                assert (found, out.read_bytes()) == (uninterrupted.made, uninterrupted.negatives)
            else:
                assert acknowledged_negatives(out) <= found.keys()
        run_on(server, "negatives", out).finish()
        assert content(store) == uninterrupted.made
        assert out.read_bytes() == uninterrupted.negatives
        store.close()


def kill_victim(server: Server, store: Store, run: Run, victim: str) -> Store:
    """Kill the process, or the server and then the process. Return an open store."""
    if victim == "process":
        run.kill()
        server.settle(store)
        return store
    server.kill()
    run.kill()
    store.close()
    return server.open()
