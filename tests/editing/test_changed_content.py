"""Tests that a stopped run starts again if the content of the store has changed in the meantime."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.progress import Progress
from graphneg.records.resumable import NegativeStream
from graphneg.store.connection import Store
from tests.interrupting import StopsAt
from tests.servers import wipe, write_past_graphneg
from tests.speller import Speller

TEXT = "MATCH (n:Utterance) SET n.text = 'Changed: ' + n.text"
CHANGES = [
    TEXT,
    "MATCH (n:AmrNode {concept: 'i'}) SET n.concept = 'we'",
    "MATCH (:AmrNode)-[n:ROLE {role: 'ARG1'}]->(:AmrNode) SET n.role = 'ARG2'",
    "MATCH (a:Term) WITH a ORDER BY a.text LIMIT 1 CREATE (a)-[:SHIFTS_TO {count: 7}]->(a)",
    "MATCH (n:Response) SET n.text = 'Changed: ' + n.text",
    "MATCH (:Term)-[n:OPPOSITE]->(:Term) DELETE n",
    "MATCH (n:AmrNode) WHERE n.clause_type = 'statement' SET n.clause_type = 'order'",
    "MATCH (n:AmrNode) REMOVE n.repeatable",
    "MATCH (n:AmrNode) SET n.classes = []",
    "MATCH (n:AmrNode) SET n.start = 0, n.end = 1",
    "MATCH (:AmrNode)-[n:LEXEME]->(:Term) DELETE n",
    "MATCH (n:Dialogue) SET n.order = 'z' + n.order",
    "MATCH (n:Amr) WHERE n.id CONTAINS '/train/1' SET n.foreign = true",
]


@pytest.fixture(scope="module")
def dialogues(store: Store) -> Generator[DialogueGraph]:
    """Load the bundled corpus on each server. Each test makes one more change to it."""
    wipe(store)
    graph = DialogueGraph(store)
    graph.load("everyday")
    yield graph
    wipe(store)


@pytest.mark.parametrize(("change", "is_ours"), [(TEXT, True), *((change, False) for change in CHANGES)])
def test_a_restarted_run_gives_the_bytes_of_a_new_one(
    dialogues: DialogueGraph, tmp_path: Path, change: str, is_ours: bool
) -> None:
    def stream(progress: Progress | None = None) -> NegativeStream:
        return dialogues.negatives("all", decoder=Speller(), batch=3, limit=9, progress=progress)

    out, fresh = tmp_path / "out.jsonl", tmp_path / "fresh.jsonl"
    with pytest.raises(KeyboardInterrupt):
        stream(StopsAt(6)).to_jsonl(out)
    if is_ours:
        dialogues.cypher_write(change)
    else:
        write_past_graphneg(dialogues.store, change)
    resumed = stream()
    resumed.to_jsonl(out)
    assert "has changed since the run was started" in (resumed.resumed.discarded or "")
    # A new DialogueGraph has an empty graph cache, so it reads the changed graphs.
    DialogueGraph(dialogues.store).negatives("all", decoder=Speller(), batch=3, limit=9).to_jsonl(fresh)
    assert out.read_bytes() == fresh.read_bytes()
