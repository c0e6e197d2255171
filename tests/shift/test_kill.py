"""Tests that the counts of the shift graph are exact after kill -9 and with two concurrent builds."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.corpus import store_records
from graphneg.dialogue_graph import DialogueGraph
from graphneg.store.connection import Store
from tests.killed_servers import Server
from tests.servers import wipe
from tests.shift_samples import Capitals, Letters, edges, many, mentions, replies

ROOT = Path(__file__).parents[2]
DIALOGUES, KILLS = 120, 4
REPLIES = 4 * DIALOGUES
PATIENCE = 120
CODE = """
import sys
import time
from graphneg import open
from graphneg.shift import build
from tests.shift_samples import Capitals, Letters

class SlowCapitals(Capitals):
    # Without a pause, a build may end before a busy machine has killed it.
    def extract(self, texts):
        time.sleep(0.05)
        return super().extract(texts)

build.BATCH = 2
open(sys.argv[1]).shift(Letters(), keywords=SlowCapitals())
"""

pytestmark = pytest.mark.slow


def start_build(server: Server) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **server.environment, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", CODE, server.target], env=environment)


def count_done(store: Store) -> int:
    return store.read("MATCH (d:Dialogue) WHERE d.shifts IS NOT NULL RETURN count(d) AS done")[0]["done"]


def kill_during_work(process: subprocess.Popen[bytes], store: Store, delay: float) -> None:
    before, deadline = count_done(store), time.monotonic() + PATIENCE
    while count_done(store) == before:
        assert process.poll() is None and time.monotonic() < deadline
    time.sleep(delay)
    process.kill()
    process.wait()


@pytest.mark.long_on_neo4j
def test_a_killed_build_has_exact_counts_and_is_completed(server: Server) -> None:
    with server.open() as store:
        wipe(store)
        store_records(store, list(many(DIALOGUES)))
        DialogueGraph(store).shift(Letters(), keywords=Capitals())
        whole = edges(store), mentions(store)
        wipe(store)
        store_records(store, list(many(DIALOGUES)))
        delays = random.Random("shift")
        for _ in range(KILLS):
            kill_during_work(start_build(server), store, delays.uniform(0, 0.02))
            server.settle(store)
            assert edges(store) == replies(store)
        assert 0 < count_done(store) < DIALOGUES
        assert start_build(server).wait(PATIENCE) == 0
        assert (edges(store), mentions(store)) == whole


def test_two_concurrent_builds_write_each_reply_once(server: Server) -> None:
    with server.open() as store:
        wipe(store)
        store_records(store, list(many(DIALOGUES)))
        both = [start_build(server), start_build(server)]
        assert [each.wait(PATIENCE) for each in both] == [0, 0]
        assert count_done(store) == DIALOGUES
        assert edges(store) == replies(store)
        assert sum(edges(store).values()) == REPLIES
        written = store.read("MATCH (:Term)-[s:SHIFTS_TO]->(:Term) RETURN count(s) AS edges")
        assert written[0]["edges"] == len(edges(store))
        assert len(mentions(store)) == len({(id, text) for id, text, _ in mentions(store)})
