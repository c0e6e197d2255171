"""Run transforms on small dialogues, and return the edited graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import format_graph
from graphneg.editing.proposals import Proposal, paired, propose
from graphneg.editing.transforms import load_transforms
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import AmrGraph, Dialogue, Edit, Record, Utterance
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, read_dialogues

SHIFTS = (
    """
    MATCH (u:Utterance)-[:MEANS]->(a:Amr)
    MATCH (n:AmrNode {amr: a.id})-[:LEXEME]->(w:Term)
    WHERE (n.role IN ['ARG0', 'ARG1', 'ARG2'] OR n.frame)
      AND NOT n.concept IN ['i', 'you', 'he', 'she', 'it', 'we', 'they', 'that', 'this']
    WITH DISTINCT u, w
    CREATE (u)-[:MENTIONS {score: 0.5}]->(w)
    """,
    """
    MATCH (post:Utterance)-[:NEXT]->(reply:Utterance)
    MATCH (post)-[:MENTIONS]->(k:Term)
    WITH reply, k, k.text AS key
    ORDER BY key
    WITH reply, collect(k) AS keys
    MATCH (reply)-[:MENTIONS]->(w:Term)
    WITH reply, keys, w, w.text AS word, CASE w.kind WHEN 'other' THEN 1 ELSE 0 END AS verbal
    ORDER BY verbal, word
    WITH reply, keys, collect(w) AS words
    WITH reply, keys[0] AS focus, words[0] AS perspective
    CREATE (reply)-[:FOCUS]->(focus)
    CREATE (reply)-[:PERSPECTIVE]->(perspective)
    """,
    """
    MATCH (post:Utterance)-[:NEXT]->(reply:Utterance)
    MATCH (post)-[:MENTIONS]->(k:Term)
    MATCH (reply)-[:MENTIONS]->(w:Term)
    WITH k, w, count(*) AS amount
    CREATE (k)-[:SHIFTS_TO {count: amount}]->(w)
    """,
)
"""Cypher statements that build a shift graph without a keyword extractor: all main words are keywords, and
each keyword of a post is linked to each keyword of the reply."""

TRANSFORMS = load_transforms()
NAMES = sorted(TRANSFORMS)


def load(store: Store, records: Iterable[Record]) -> None:
    report = write_records(store, records, LoadReport("test"), GraphDialogues("prince", "all", 8))
    assert report.rejections == 0, report.rejected


def shift(store: Store) -> None:
    """Build the shift graph of the loaded dialogues, unless there is one already."""
    if not store.read("MATCH (:Term)-[s:SHIFTS_TO]->(:Term) RETURN count(s) AS edges")[0]["edges"]:
        for statement in SHIFTS:
            store.write(lambda tx, text=statement: tx.run(text).consume())


def dialogue(*penmans: str) -> Dialogue:
    """Return a dialogue whose utterances, by two alternating speakers, have the given graphs."""
    digest = hashlib.sha256("\n".join(penmans).encode()).hexdigest()[:16]
    turns = [Utterance(turn, "AB"[turn % 2], "...", penman) for turn, penman in enumerate(penmans)]
    return Dialogue(f"own/test/{digest}", "own", "test", tuple(turns))


def edit_lists(proposals: Sequence[Proposal]) -> Iterator[tuple[Proposal, tuple[Edit, ...]]]:
    """Yield each proposal with the edits of its own graph.

    A proposal with a ``swap_pool`` swaps its subtree with that of the first possible partner; without a
    partner, it is left out.
    """
    for one in proposals:
        if one.swap_pool is None:
            yield one, one.edits
            continue
        fit = (
            o
            for o in proposals
            if o.swap_pool == one.swap_pool and o.content != one.content and not o.graphs & one.graphs
        )
        partner = next(fit, None)
        if partner is not None:
            yield one, paired(one, partner)[:1]


def applied(edits: Sequence[Edit], graphs: Mapping[str, AmrGraph]) -> AmrGraph:
    return apply_edits(graphs[edits[0].amr], edits, graphs)


def line(graph: AmrGraph) -> str:
    return " ".join(format_graph(AmrGraph("", graph.nodes, graph.mentions)).split())


def results(store: Store, name: str, *penmans: str) -> list[str]:
    """Return the edited graphs that a transform makes from a dialogue, as sorted lines ``TURN: GRAPH``."""
    own = dialogue(*penmans)
    load(store, [own])
    [stored] = read_dialogues(store, [own.id])
    graphs = GraphCache(store).get(stored.graphs)
    turns = {turn.graph_id: turn.turn for turn in stored.turns}
    proposals = propose(store, TRANSFORMS[name], [stored]).get(own.id, [])
    lists = (edits for _, edits in edit_lists(proposals))
    return sorted(f"{turns[edits[0].amr]}: {line(applied(edits, graphs))}" for edits in lists)
