"""Tests of all transforms on the Little Prince: well-formed graphs, and the same sites on all servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphneg.amr.wellformed import check
from graphneg.editing.proposals import propose
from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import AmrGraph, Edit
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    GraphCache,
    Selection,
    StoredDialogue,
    StoredTurn,
    dialogue_ids,
    read_dialogues,
)
from tests.servers import wipe
from tests.transform_runs import NAMES, TRANSFORMS, applied, dialogue, edit_lists, line, load, shift

SHARED = Path(__file__).parents[3] / "shared" / "data"
LITTLE_PRINCE = [SHARED / "amr_little_prince" / f"lpp-{part}.txt" for part in ("train", "dev")]
DIALOGUES = 178


@pytest.fixture(scope="module")
def prince(store: Store) -> Store:
    """Return a store with the Little Prince in dialogues of eight turns, ConceptNet and PropBank."""
    fill(store)
    return store


def fill(store: Store) -> None:
    missing = [path.name for path in LITTLE_PRINCE if not path.exists()]
    if missing:
        pytest.skip(f"no {', '.join(missing)} in {SHARED}")
    if len(everything(store)) == DIALOGUES and store.read("MATCH (f:Frame {id: 'like-01'}) RETURN f.id"):
        shift(store)
        return
    wipe(store)
    for loader, paths in (
        ("penman", LITTLE_PRINCE),
        ("conceptnet", [SHARED / "conceptnet" / "assertions-en-opposites.csv.gz"]),
        ("propbank", [SHARED / "propbank" / "propbank-frames-3.4.tar.gz"]),
    ):
        records = get_loader(loader).read(paths, LoadOptions())
        write_records(store, records, LoadReport(loader), GraphDialogues("prince", "all", 8))
    shift(store)


def everything(store: Store) -> list[StoredDialogue]:
    return read_dialogues(store, list(dialogue_ids(store, Selection(corpora=("prince",)))))


def defects_of(name: str, store: Store, dialogues: Sequence[StoredDialogue], kept: GraphCache) -> list[str]:
    """Return new defects of, and missing changes in, the graphs that a transform makes."""
    found: list[str] = []
    for proposals in propose(store, TRANSFORMS[name], dialogues).values():
        for one, edits in edit_lists(proposals):
            graphs = kept.get({id for edit in edits for id in (edit.amr, edit.from_amr) if id is not None})
            before, after = graphs[edits[0].amr], applied(edits, graphs)
            new = Counter(d.code for d in check(after)) - Counter(d.code for d in check(before))
            found += [f"{one.transform} {one.site}: {code}" for code in new]
            if line(after) == line(before):
                found.append(f"{one.transform} {one.site}: unchanged")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_site_gives_a_well_formed_graph_that_differs(prince: Store, name: str) -> None:
    assert defects_of(name, prince, everything(prince), GraphCache(prince)) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_edits_of_any_sequence_of_graphs_are_well_formed(prince: Store, data: st.DataObject) -> None:
    known = everything(prince)
    turns = [turn for one in known[:40] for turn in one.turns]
    several = st.lists(st.sampled_from(turns), min_size=1, max_size=6, unique_by=lambda turn: turn.graph_id)
    drawn = data.draw(several)
    speakers = data.draw(st.lists(st.sampled_from("ABC"), min_size=len(drawn), max_size=len(drawn)))
    said = tuple(StoredTurn(n, speakers[n], turn.text, turn.graph_id) for n, turn in enumerate(drawn))
    mixed = StoredDialogue("mixed", "own", "test", said)
    kept = GraphCache(prince)
    assert [defect for name in NAMES for defect in defects_of(name, prince, [mixed], kept)] == []


RARE = {
    "asked_claim", "modality_claim", "person_claim", "quantifier_claim", "quantity_claim", "question_claim",
    "request_claim", "role_claim", "tense_claim", "thing_claim", "time_claim",
}  # fmt: skip
"""Transforms that need a request, or a short statement with a time, a number, a plan or certain words. A
novel has few of them."""


@pytest.mark.slow
def test_both_servers_propose_the_same(embedded: Store, neo4j: Store) -> None:
    for store in (embedded, neo4j):
        fill(store)
    dialogues = everything(embedded)
    assert dialogues == everything(neo4j)
    for name in NAMES:
        first, second = (propose(store, TRANSFORMS[name], dialogues) for store in (embedded, neo4j))
        assert first == second, name
        fewest = len(dialogues) / (15 if name in RARE else 3)
        assert len(first) > fewest, f"{name} finds too little"


@pytest.mark.parametrize("name", NAMES)
def test_proposals_do_not_depend_on_the_batch(prince: Store, name: str) -> None:
    dialogues = everything(prince)[:12]
    together = propose(prince, TRANSFORMS[name], dialogues)
    backwards = propose(prince, TRANSFORMS[name], dialogues[::-1])
    alone = {id: found for one in dialogues for id, found in propose(prince, TRANSFORMS[name], [one]).items()}
    assert together == backwards == alone


def triples(graph: AmrGraph) -> Counter[tuple[str, str, str]]:
    """Return the triples of a graph, which do not depend on the order of branches."""
    nodes = graph.nodes
    names = [node.var or node.value or "" for node in nodes]
    found = Counter((names[n.position], "instance", n.concept) for n in nodes if n.concept is not None)
    found.update((names[n.parent], n.role or "", names[n.position]) for n in nodes if n.parent is not None)
    found.update((names[m.parent], m.role, names[m.target]) for m in graph.mentions)
    return found


def frees_a_modal(graph: AmrGraph, edit: Edit) -> bool:
    """Return whether an edit removes the negation below a modal: "must not go" becomes "must go".

    The negation of "must go" is "need not go", so negating twice does not restore the original.
    """
    above = graph.nodes[graph.nodes[edit.position].parent or 0]
    modal = graph.nodes[above.parent or 0].concept
    return edit.op == "drop" and modal in {"possible-01", "obligate-01", "recommend-01", "permit-01"}


def test_negating_twice_restores_the_original(prince: Store) -> None:
    negate = TRANSFORMS["polarity_flip"]
    dialogues = everything(prince)[:30]
    graphs = GraphCache(prince).get([id for one in dialogues for id in one.graphs])
    found = [site for sites in propose(prince, negate, dialogues).values() for site in sites]
    sites = [site for site in found if not frees_a_modal(graphs[site.edits[0].amr], site.edits[0])]
    turned = [applied(site.edits, graphs) for site in sites]
    twice = [dialogue(line(graph)) for graph in turned]
    load(prince, {one.id: one for one in twice}.values())
    again = propose(prince, negate, read_dialogues(prince, sorted({one.id for one in twice})))
    for site, graph, own in zip(sites, turned, twice, strict=True):
        [back] = read_dialogues(prince, [own.id])
        edited = GraphCache(prince).get(back.graphs)
        known = [triples(applied(one.edits, edited)) for one in again.get(own.id, ())]
        assert triples(graphs[site.edits[0].amr]) in known, line(graph)
