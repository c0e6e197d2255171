"""Kill -9 at any moment: what was acknowledged is there, nothing is half there, the next run completes it."""

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
from graphneg.records.resumable import part_note
from graphneg.store.connection import Store
from tests.killable import Run
from tests.killed_servers import Server
from tests.servers import wipe
from tests.unfinished import acknowledged

DIALOGUES = 12
PROCESS_KILLS = 8
SERVER_KILLS = 2
"""Kills of each kind, of a load and of making negatives: 2 * (8 + 2) = 20 on each server."""

Content = dict[str, set[str]]
"""What a store holds: rows by what must be there as a whole, a dialogue with its graphs or a variant."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled graphs as dialogues, copied, in a file."""
    dialogues = bundled().several(DIALOGUES, "copy")
    return write_jsonl(dialogues, tmp_path_factory.mktemp("corpus") / "dialogues.jsonl")


@dataclass
class Undisturbed:
    """What a command leaves behind that nobody kills, and how long it takes."""

    loaded: Content
    load_seconds: float
    made: Content
    made_seconds: float
    negatives: bytes


@pytest.fixture(scope="module")
def undisturbed(server: Server, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Each command from beginning to end."""
    out = tmp_path_factory.mktemp("negatives") / "negatives.jsonl"
    with server.open() as store:
        wipe(store)
        DialogueGraph(store).load("everyday")
        for _ in range(2):  # the second time the server is warm, as it will be for those that are killed
            forget_dialogues(store)
            out.unlink(missing_ok=True)
            loading = run_on(server, "load", corpus)
            loading.finish()
            loaded = content(store)
            making = run_on(server, "negatives", out)
            making.finish()
        return Undisturbed(loaded, loading.seconds, content(store), making.seconds, out.read_bytes())


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
    """All that a store holds of dialogues, graphs and variants."""
    assert store.read(LOOSE)[0]["edits"] == 0
    found: Content = {}
    for query in ROWS:
        for row in store.read(query):
            whole: str = row["id"] if "~" in row["id"] else row["id"].partition("#")[0]
            found.setdefault(whole, set()).add(json.dumps(row.data(), sort_keys=True))
    return found


def judged(store: Store, expected: Content) -> Content:
    """What a store holds, all of it whole."""
    found = content(store)
    assert found.keys() <= expected.keys()
    for key, rows in found.items():
        assert (key, expected[key] - rows, rows - expected[key]) == (key, set(), set())
    return found


def run_on(server: Server, command: str, file: Path) -> Run:
    return Run(server.target, server.environment, command, file)


def moments(seed: str, seconds: float) -> Generator[float]:
    """Times to strike at, between the beginning and most of the way to the end."""
    source = random.Random(seed)
    while True:
        yield source.uniform(0, 0.8 * seconds)


def names(file: Path) -> list[str]:
    return [item["id"] for item in map(json.loads, file.read_text().splitlines())]


def acknowledged_negatives(out: Path) -> set[str]:
    """Ids of the negatives that the last checkpoint of an unfinished file covers, if there is one yet."""
    if not part_note(out).exists():
        return set()
    lines = acknowledged(out).splitlines()
    assert len(lines) == json.loads(part_note(out).read_bytes())["negatives"]
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
        self, server: Server, undisturbed: Undisturbed, corpus: Path, victim: str
    ) -> None:
        order = names(corpus)
        times = moments(f"load {victim}", undisturbed.load_seconds)
        kills, store = 0, server.open()
        forget_dialogues(store)
        while kills < (PROCESS_KILLS if victim == "process" else SERVER_KILLS):
            run = run_on(server, "load", corpus)
            if run.ended_within(next(times)):
                run.finish()
                assert content(store) == undisturbed.loaded
                forget_dialogues(store)
                continue
            kills += 1
            store = struck(server, store, run, victim)
            found = judged(store, undisturbed.loaded)
            assert set(order[: run.acknowledged]) <= found.keys()
        run_on(server, "load", corpus).finish()
        assert content(store) == undisturbed.loaded
        store.close()


def test_a_server_that_was_killed_is_told_of_within_30_seconds(server: Server) -> None:
    with server.open() as store:
        server.kill()
        for ask in (store.read, store.query_write):
            began = time.monotonic()
            with pytest.raises(StoreError, match="all acknowledged writes are kept"):
                ask("RETURN 1")
            assert time.monotonic() - began < 30
    server.open().close()  # and runs again for the next test


class TestMakingNegatives:
    @pytest.mark.long_on_neo4j
    @pytest.mark.parametrize("victim", ["process", "server"])
    def test_that_was_killed_is_completed_by_running_it_again(
        self, server: Server, undisturbed: Undisturbed, corpus: Path, tmp_path: Path, victim: str
    ) -> None:
        run_on(server, "load", corpus).finish()
        times = moments(f"negatives {victim}", undisturbed.made_seconds)
        kills, store, out = 0, server.open(), tmp_path / "negatives.jsonl"
        forget_variants(store)
        while kills < (PROCESS_KILLS if victim == "process" else SERVER_KILLS):
            run = run_on(server, "negatives", out)
            if run.ended_within(next(times)):
                run.finish()
                assert (content(store), out.read_bytes()) == (undisturbed.made, undisturbed.negatives)
                forget_variants(store)
                out.unlink()
                continue
            kills += 1
            store = struck(server, store, run, victim)
            found = judged(store, undisturbed.made)
            assert undisturbed.loaded.keys() <= found.keys()
            if out.exists():
                assert (found, out.read_bytes()) == (undisturbed.made, undisturbed.negatives)
            else:
                assert acknowledged_negatives(out) <= found.keys()
        run_on(server, "negatives", out).finish()
        assert content(store) == undisturbed.made
        assert out.read_bytes() == undisturbed.negatives
        store.close()


def struck(server: Server, store: Store, run: Run, victim: str) -> Store:
    """Kill the process, or the server and then the process that lost it; returns a store to look into."""
    if victim == "process":
        run.kill()
        server.settle(store)
        return store
    server.kill()
    run.kill()
    store.close()
    return server.open()
