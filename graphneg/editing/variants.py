"""Variants: planned edits written to the store, edited graphs read back, and both as negatives.

Edit plans go in; `write_variants` stores them, `read_variants` gives the original graphs under their edits,
and `negative_of` makes a record of a variant and the texts that a decoder gave it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from neo4j import ManagedTransaction

from graphneg.amr.overlay import apply_edits, overlaid
from graphneg.amr.penman import format_graph
from graphneg.editing.planning import EditPlan, EditSettings
from graphneg.editing.proposals import said_by
from graphneg.errors import TransformError
from graphneg.ingest.rows import Row, digest
from graphneg.model import AmrGraph, Edit, EditedUtterance, Negative
from graphneg.records.scores import CLASH, FIT, clash, fit
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, StoredDialogue, StoredTurn, in_parts
from graphneg.store.statements import in_transactions, run

MAX_ROWS = 5_000
SHOWN_BRANCHES = 6


@dataclass(frozen=True, slots=True)
class EditedGraph:
    """One graph of a variant, before and after its edits."""

    before: AmrGraph
    after: AmrGraph
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """An edited dialogue as the store holds it: by graph id, the graphs that are edited.

    ``donors`` are the utterances of other dialogues that it copies from, by graph id.
    ``fault`` says why it is no use (``ill-formed: ...``, ``unchanged: ...``), where it is none.
    """

    id: str
    graphs: Mapping[str, EditedGraph]
    sources: Mapping[str, AmrGraph]
    fault: str | None = None
    donors: Mapping[str, StoredTurn] = field(default_factory=dict[str, StoredTurn])

    @property
    def borrowed(self) -> list[str]:
        """The graphs of other dialogues among its sources."""
        own = f"{self.id.rpartition('~')[0].rpartition('#')[0]}#"
        return [amr for amr in self.sources if not amr.startswith(own)]


def write_variants(store: Store, settings: EditSettings, plans: Sequence[EditPlan]) -> None:
    """Write plans as variants, whole batches in one transaction; the same ones are not written twice.

    A variant of the same id with other edits (a graph was parsed anew, say) gives way to the new one.
    """
    planned = [plan for plan in plans if plan.edits]
    for group in in_transactions(planned, MAX_ROWS, lambda plan: 1 + len(plan.edits)):
        _write(store, settings, group)


def read_variants(store: Store, graph_cache: GraphCache, ids: Sequence[str]) -> list[Variant]:
    """The variants of these ids, in this order: the original graphs under the edits that the store holds."""
    steps: dict[str, list[list[Any]]] = {}
    for id, row in in_parts(store, "edit/variant", "edits", ids):
        steps.setdefault(id, []).append(row)
    edits = {
        id: [Edit(*row[1:]) for row in sorted(steps[id], key=itemgetter(0))] for id in ids if id in steps
    }
    return planned_variants(store, graph_cache, edits)


def planned_variants(
    store: Store,
    graph_cache: GraphCache,
    edits: Mapping[str, Sequence[Edit]],
    dialogues: Sequence[StoredDialogue] = (),
) -> list[Variant]:
    """As `read_variants`, under edits that are known already, by the variants' ids.

    ``dialogues`` know which of their graphs were replaced since ``graph_cache`` kept them.
    """
    digests = {id: digest for dialogue in dialogues for id, digest in dialogue.digests.items()}
    used = (amr for some in edits.values() for edit in some for amr in (edit.amr, edit.from_amr))
    graphs = graph_cache.get({amr for amr in used if amr is not None}, digests)
    variants = [_variant(id, some, graphs) for id, some in edits.items()]
    said = said_by(store, (amr for variant in variants for amr in variant.borrowed))
    return [
        replace(variant, donors={amr: said[amr] for amr in variant.borrowed}) if variant.borrowed else variant
        for variant in variants
    ]


def _variant(id: str, edits: Sequence[Edit], graphs: Mapping[str, AmrGraph]) -> Variant:
    by_graph: dict[str, list[Edit]] = {}
    for edit in edits:
        by_graph.setdefault(edit.amr, []).append(edit)
    edited: dict[str, EditedGraph] = {}
    sources: dict[str, AmrGraph] = {}
    for amr, own in by_graph.items():
        before = graphs[amr]
        try:
            after = apply_edits(before, own, graphs)
        except TransformError as error:
            return Variant(id, {}, {}, f"ill-formed: {error}")
        if after.nodes == before.nodes and after.mentions == before.mentions:
            return Variant(id, {}, {}, "unchanged: the edits leave the graph as it is")
        edited[amr] = EditedGraph(before, after, tuple(own))
        sources |= {edit.from_amr: graphs[edit.from_amr] for edit in own if edit.from_amr is not None}
    return Variant(id, edited, sources)


def _write(store: Store, settings: EditSettings, plans: Sequence[EditPlan]) -> None:
    shared: Row = {"recipe": settings.recipe.name, "seed": settings.seed, "target": settings.target}
    variants: dict[str, Row] = {}
    edits: dict[str, list[Row]] = {}
    for plan in plans:
        row: Row = {"dialogue": plan.dialogue.id, "id": plan.id, "turn": plan.turn, "slot": plan.slot}
        variants[plan.id] = shared | row | {"digest": digest([list(edit) for edit in plan.edits])}
        edits[plan.id] = []
        for step, edit in enumerate(
            plan.edits
        ):  # tied to the node that it works at, of the graph it counts in
            tie: Row = {
                "variant": plan.id,
                "step": step,
                "at": edit.copy_of or edit.amr,
                "at_k": max(edit.k, 0),
            }
            given = {name: value for name, value in edit._asdict().items() if value is not None}
            edits[plan.id].append(tie | given)
    store.write_derived(lambda tx: _write_new(tx, variants, edits))


def _write_new(
    tx: ManagedTransaction, variants: Mapping[str, Row], edits: Mapping[str, Sequence[Row]]
) -> None:
    """One transaction: what is there already stays, what is there with other edits goes first."""
    stale: list[str] = []
    there: set[str] = set()
    for row in run(tx, "edit/stored", ids=list(variants)):
        same = row["digest"] == variants[row["id"]]["digest"]
        (there.add if same else stale.append)(row["id"])
    if stale:
        run(tx, "edit/forget", ids=sorted(stale))
    new = [id for id in sorted(variants) if id not in there]
    if not new:
        return
    run(tx, "edit/apply", variants=[variants[id] for id in new])
    rows = [row for id in new for row in edits[id]]
    plain = [row for row in rows if "from_amr" not in row]
    grafts = [row for row in rows if "from_amr" in row]
    written = run(tx, "edit/apply_edits", edits=plain)[0]["edits"] if plain else 0
    written += run(tx, "edit/apply_grafts", edits=grafts)[0]["edits"] if grafts else 0
    if written != len(rows):
        _refuse_missing(tx, rows)


def _refuse_missing(tx: ManagedTransaction, rows: Sequence[Row]) -> None:
    """Name an edit that works at a node, or copies one, that is not there."""
    ends = [(row, row["at"], row["at_k"]) for row in rows]
    ends += [(row, row["from_amr"], row["from_k"]) for row in rows if "from_amr" in row]
    amrs = sorted({amr for _, amr, _ in ends})
    found = run(tx, "read/nodes", parts=[amrs])
    sizes = Counter(amrs[row[0]] for record in found for row in record["nodes"])
    for row, amr, k in ends:
        if k is None or not 0 <= k < sizes[amr]:
            raise TransformError(f"{row['transform']}: there is no node {k} in graph {amr}")


def edited_utterances(dialogue: StoredDialogue, variant: Variant) -> dict[int, EditedUtterance]:
    """What a decoder has to realise, by turn."""
    by_amr = {turn.amr: turn for turn in dialogue.turns if turn.amr is not None}
    said = {**by_amr, **variant.donors} if variant.donors else by_amr
    found: dict[int, EditedUtterance] = {}
    for amr, edited in variant.graphs.items():
        turn = by_amr[amr]
        sources = {
            edit.from_amr: variant.sources[edit.from_amr]
            for edit in edited.edits
            if edit.from_amr is not None
        }
        found[turn.turn] = EditedUtterance(
            f"{variant.id}@{turn.turn}",
            turn.speaker,
            turn.text,
            edited.before,
            edited.after,
            edited.edits,
            sources,
            {source: said[source].text for source in sources},
        )
    return dict(sorted(found.items()))


def negative_of(
    settings: EditSettings, plan: EditPlan, variant: Variant, texts: Mapping[int, str], decoder: str
) -> Negative:
    """The record of a variant whose edited turns were decoded to ``texts`` (by turn)."""
    dialogue, at = plan.dialogue, plan.turn
    context = [turn for turn in dialogue.turns if turn.turn < at]
    response = texts.get(at, _turn(dialogue, at).text)
    clashes = clash([texts.get(turn.turn, turn.text) for turn in context], response)
    fits = [fit(edited.after) for edited in variant.graphs.values()]
    edits = list(edit_records(dialogue, variant))
    return replace(
        _unedited(dialogue, plan.id, at, label=0),
        context=[_said(turn, texts.get(turn.turn, turn.text)) for turn in context],
        response=response,
        original={
            "context": [_said(turn) for turn in context] if any(t.turn in texts for t in context) else None,
            "response": _turn(dialogue, at).text if at in texts else None,
        },
        categories=sorted({edit["category"] for edit in edits}),
        recipe=settings.recipe.name,
        target=settings.target,
        seed=settings.seed,
        decoder=decoder,
        edits=edits,
        scores={CLASH: round(clashes, 4), FIT: round(min(fits, default=1.0), 4)},
        amr={
            str(turn.turn): {"before": format_graph(edited.before), "after": format_graph(edited.after)}
            for turn in dialogue.turns
            if (edited := variant.graphs.get(turn.amr or "")) is not None
        },
    )


def positive_of(dialogue: StoredDialogue) -> Negative:
    """The dialogue as it is, in the same shape: label 1, no edits."""
    last = dialogue.turns[-1].turn
    return _unedited(dialogue, f"{dialogue.id}#{last}", last, label=1)


def _unedited(dialogue: StoredDialogue, id: str, at: int, label: int) -> Negative:
    """The record of a dialogue up to a turn, as it is."""
    return Negative(
        id=id,
        corpus=dialogue.corpus,
        split=dialogue.split,
        dialogue=dialogue.id,
        turn=at,
        context=[_said(turn) for turn in dialogue.turns if turn.turn < at],
        response=_turn(dialogue, at).text,
        speaker=_turn(dialogue, at).speaker,
        label=label,
        original={"context": None, "response": None},
        categories=[],
        recipe="",
        target="dialogue",
        seed=0,
        decoder="",
        edits=[],
        amr={},
    )


def _turn(dialogue: StoredDialogue, at: int) -> StoredTurn:
    return next(turn for turn in dialogue.turns if turn.turn == at)


def edit_records(dialogue: StoredDialogue, variant: Variant) -> Iterator[dict[str, Any]]:
    """One record a site: the turn, the node's address, the node before and after."""
    turns = {turn.amr: turn.turn for turn in dialogue.turns if turn.amr is not None}
    for amr in sorted(variant.graphs, key=turns.__getitem__):
        edited = variant.graphs[amr]
        places = overlaid(edited.before, edited.edits, variant.sources)[1]
        sites: dict[tuple[str, str], list[Edit]] = {}
        for edit in edited.edits:
            sites.setdefault((edit.transform, edit.site), []).append(edit)
        for (transform, _), group in sites.items():
            shown = [_shown(edited, edit, places) for edit in group if edit.copy_of is None]
            yield {
                "turn": turns[amr],
                "transform": transform,
                "category": group[0].category,
                "node": address(edited.before, max(group[0].k, 0)),
                "before": "; ".join(dict.fromkeys(before for before, _ in shown)),
                "after": "; ".join(dict.fromkeys(after for _, after in shown)),
            }


def address(graph: AmrGraph, k: int) -> str:
    """The Dewey address of a node: ``1`` is the top, ``1.2`` its second branch (as in AMR alignments)."""
    steps: list[str] = []
    node = graph.nodes[k]
    while node.up is not None:
        steps.append(str(node.pos + 1))
        node = graph.nodes[node.up]
    return ".".join(["1", *reversed(steps)])


def describe(graph: AmrGraph, k: int) -> str:
    """A node with what stands directly under it: ``(like-01 :ARG0 i :polarity -)``."""
    node = graph.nodes[k]
    branches = [(child.pos, child.role, child.label) for child in graph.children(k)]
    branches += [(m.pos, m.role, graph.nodes[m.target].label) for m in graph.mentions if m.up == k]
    branches.sort()
    parts = [node.label, *(f":{role} {label}" for _, role, label in branches[:SHOWN_BRANCHES])]
    if len(branches) > SHOWN_BRANCHES:
        parts.append("...")
    return f"({' '.join(parts)})" if node.concept is not None else node.label


def _shown(edited: EditedGraph, edit: Edit, places: Mapping[tuple[str, int], int]) -> tuple[str, str]:
    """The node that an edit changes, before and after; of a dropped leaf, the node above."""
    before, after = edited.before, edited.after
    k = max(edit.k, 0)
    if edit.op == "drop":
        k = before.nodes[k].up or 0
    shown = describe(before, k)
    if edit.op == "graft" and edit.role is None:
        place = places.get((edit.from_amr or "", edit.from_k or 0))
    else:
        place = places.get((edit.amr, k))
    if edit.k == -1 or (place is not None and edit.op == "wrap"):
        place = 0 if edit.k in (-1, 0) or place is None else after.nodes[place].up
    return shown, "" if place is None else describe(after, place)


def _said(turn: StoredTurn, text: str | None = None) -> dict[str, str]:
    return {"speaker": turn.speaker, "text": turn.text if text is None else text}
