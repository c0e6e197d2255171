"""Store planned edits as variants, read edited graphs back, and make negatives of both.

`write_variants` stores edit plans. `read_variants` and `planned_variants` apply edits to the original graphs,
which never change. `negative_of` combines a variant and the texts of a decoder to a record:

    plan:      add :polarity - to node 0 of everyday/train/12#5@penman
    variant:   (h / have-03 ...) becomes (h / have-03 :polarity - ...)
    negative:  "I have an umbrella in the car." becomes "I do not have an umbrella in the car."
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
"""Maximum number of rows in one transaction."""
SHOWN_BRANCHES = 6
"""Maximum number of branches that the description of a node shows."""


@dataclass(frozen=True, slots=True)
class EditedGraph:
    """One graph of a variant, before and after its edits.

    Attributes:
        before: Graph as it is in the store.
        after: Graph under the edits.
        edits: The edits in their order.
    """

    before: AmrGraph
    after: AmrGraph
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """The edited graphs of a dialogue.

    Attributes:
        id: Id of the negative.
        graphs: Edited graphs by id.
        sources: Graphs that subtrees are copied from, by id.
        fault: Why the variant cannot be used (``ill-formed: ...``, ``unchanged: ...``), or None.
        donors: Utterances of other dialogues that subtrees are copied from, by graph id.
    """

    id: str
    graphs: Mapping[str, EditedGraph]
    sources: Mapping[str, AmrGraph]
    fault: str | None = None
    donors: Mapping[str, StoredTurn] = field(default_factory=dict[str, StoredTurn])

    @property
    def borrowed(self) -> list[str]:
        """The ids of the graphs of other dialogues among the sources."""
        own = f"{self.id.rpartition('~')[0].rpartition('#')[0]}#"
        return [amr for amr in self.sources if not amr.startswith(own)]


def write_variants(store: Store, settings: EditSettings, plans: Sequence[EditPlan]) -> None:
    """Write plans as variants, a batch in each transaction.

    Variants that the store holds already are not written again. A variant of the same id with other edits is
    replaced, for example when a graph was parsed anew.

    Args:
        store: Store with the dialogues.
        settings: Recipe, target and seed of the plans.
        plans: Plans; those without edits are skipped.
    """
    planned = [plan for plan in plans if plan.edits]
    for group in in_transactions(planned, MAX_ROWS, lambda plan: 1 + len(plan.edits)):
        _write(store, settings, group)


def read_variants(store: Store, graph_cache: GraphCache, ids: Sequence[str]) -> list[Variant]:
    """Return stored variants, their edits applied to the original graphs.

    Args:
        store: Store with the variants.
        graph_cache: Cache of original graphs.
        ids: Ids of variants; those that the store does not hold are left out.

    Returns:
        The variants in the order of ``ids``.
    """
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
    """Return variants whose edits are known already, applied to the original graphs.

    Args:
        store: Store with the graphs.
        graph_cache: Cache of original graphs.
        edits: Edits by id of the variant.
        dialogues: Dialogues with the digests of their graphs, which tell when a cached graph is out of date.

    Returns:
        The variants in the order of ``edits``.
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
    """Apply edits to their graphs. A graph that is malformed or unchanged makes the variant unusable."""
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
        # For example, a swap of two equal subtrees.
        if after.nodes == before.nodes and after.mentions == before.mentions:
            return Variant(id, {}, {}, "unchanged: the edits do not change the graph")
        edited[amr] = EditedGraph(before, after, tuple(own))
        sources |= {edit.from_amr: graphs[edit.from_amr] for edit in own if edit.from_amr is not None}
    return Variant(id, edited, sources)


def _write(store: Store, settings: EditSettings, plans: Sequence[EditPlan]) -> None:
    """Write the plans of one transaction."""
    shared: Row = {"recipe": settings.recipe.name, "seed": settings.seed, "target": settings.target}
    variants: dict[str, Row] = {}
    edits: dict[str, list[Row]] = {}
    for plan in plans:
        row: Row = {"dialogue": plan.dialogue.id, "id": plan.id, "turn": plan.turn, "slot": plan.slot}
        variants[plan.id] = shared | row | {"digest": digest([list(edit) for edit in plan.edits])}
        edits[plan.id] = []
        for step, edit in enumerate(plan.edits):
            # The node that the edit is linked to. An edit of a copied subtree counts nodes in the original.
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
    """Write variants in one transaction: skip those in the store, replace those with other edits."""
    stale: list[str] = []
    there: set[str] = set()
    for row in run(tx, "edit/stored", ids=list(variants)):
        same = row["digest"] == variants[row["id"]]["digest"]
        (there.add if same else stale.append)(row["id"])
    # The variant of an older graph has the same id and other edits.
    if stale:
        run(tx, "edit/forget", ids=sorted(stale))
    new = [id for id in sorted(variants) if id not in there]
    if not new:
        return
    run(tx, "edit/apply", variants=[variants[id] for id in new])
    rows = [row for id in new for row in edits[id]]
    # Two statements, because an edit with a source is linked to two nodes.
    plain = [row for row in rows if "from_amr" not in row]
    grafts = [row for row in rows if "from_amr" in row]
    written = run(tx, "edit/apply_edits", edits=plain)[0]["edits"] if plain else 0
    written += run(tx, "edit/apply_grafts", edits=grafts)[0]["edits"] if grafts else 0
    # An edit whose node does not exist matches nothing and writes no row.
    if written != len(rows):
        _refuse_missing(tx, rows)


def _refuse_missing(tx: ManagedTransaction, rows: Sequence[Row]) -> None:
    """Raise an error that names an edit whose node, or the node that it copies, does not exist."""
    ends = [(row, row["at"], row["at_k"]) for row in rows]
    ends += [(row, row["from_amr"], row["from_k"]) for row in rows if "from_amr" in row]
    amrs = sorted({amr for _, amr, _ in ends})
    found = run(tx, "read/nodes", parts=[amrs])
    sizes = Counter(amrs[row[0]] for record in found for row in record["nodes"])
    for row, amr, k in ends:
        if k is None or not 0 <= k < sizes[amr]:
            raise TransformError(f"{row['transform']}: there is no node {k} in graph {amr}")


def edited_utterances(dialogue: StoredDialogue, variant: Variant) -> dict[int, EditedUtterance]:
    """Return the edited turns of a variant for a decoder.

    Args:
        dialogue: Dialogue of the variant.
        variant: Variant without a fault.

    Returns:
        The edited utterances by turn, in the order of turns.
    """
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
    """Return the record of a variant and its decoded texts.

    Args:
        settings: Recipe, target and seed.
        plan: Plan that the variant was made from.
        variant: Variant without a fault.
        texts: Decoded texts by turn; a turn without one keeps its original text.
        decoder: Name of the decoder.

    Returns:
        A record with label 0. The original context and response are kept where they changed.
    """
    dialogue, at = plan.dialogue, plan.turn
    context = [turn for turn in dialogue.turns if turn.turn < at]
    response = texts.get(at, _turn(dialogue, at).text)
    # The scores are those of the texts and graphs after the edits.
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
    """Return a dialogue without edits in the form of a negative.

    Args:
        dialogue: Dialogue whose last turn becomes the response.

    Returns:
        A record with label 1 and no edits.
    """
    last = dialogue.turns[-1].turn
    return _unedited(dialogue, f"{dialogue.id}#{last}", last, label=1)


def _unedited(dialogue: StoredDialogue, id: str, at: int, label: int) -> Negative:
    """Return the record of a dialogue up to a turn, without edits."""
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
    """Return a turn of a dialogue by its number."""
    return next(turn for turn in dialogue.turns if turn.turn == at)


def edit_records(dialogue: StoredDialogue, variant: Variant) -> Iterator[dict[str, Any]]:
    """Yield a record for each site of a variant, as it appears under ``edits`` of a negative.

    Args:
        dialogue: Dialogue of the variant.
        variant: Variant without a fault.

    Yields:
        Maps of turn, transform, category, node (Dewey address), and the node before and after the edits.
    """
    turns = {turn.amr: turn.turn for turn in dialogue.turns if turn.amr is not None}
    for amr in sorted(variant.graphs, key=turns.__getitem__):
        edited = variant.graphs[amr]
        # Where each node of the original graph is in the edited one.
        places = overlaid(edited.before, edited.edits, variant.sources)[1]
        sites: dict[tuple[str, str], list[Edit]] = {}
        for edit in edited.edits:
            sites.setdefault((edit.transform, edit.site), []).append(edit)
        for (transform, _), group in sites.items():
            # Edits of a copied subtree are visible in the graft that copied it.
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
    """Return the Dewey address of a node, as in AMR alignments: ``1`` is the top, ``1.2`` its second branch.

    Args:
        graph: Graph of the node.
        k: Number of the node.

    Returns:
        The address.
    """
    steps: list[str] = []
    node = graph.nodes[k]
    while node.up is not None:
        steps.append(str(node.pos + 1))
        node = graph.nodes[node.up]
    return ".".join(["1", *reversed(steps)])


def describe(graph: AmrGraph, k: int) -> str:
    """Return a node with its direct branches.

    Args:
        graph: Graph of the node.
        k: Number of the node.

    Returns:
        A text such as ``(like-01 :ARG0 i :polarity -)``, with at most `SHOWN_BRANCHES` branches. Constants
        are returned as they are.
    """
    node = graph.nodes[k]
    branches = [(child.pos, child.role, child.label) for child in graph.children(k)]
    branches += [(m.pos, m.role, graph.nodes[m.target].label) for m in graph.mentions if m.up == k]
    branches.sort()
    parts = [node.label, *(f":{role} {label}" for _, role, label in branches[:SHOWN_BRANCHES])]
    if len(branches) > SHOWN_BRANCHES:
        parts.append("...")
    return f"({' '.join(parts)})" if node.concept is not None else node.label


def _shown(edited: EditedGraph, edit: Edit, places: Mapping[tuple[str, int], int]) -> tuple[str, str]:
    """Return the node that an edit changes, before and after; for a dropped node, its parent."""
    before, after = edited.before, edited.after
    k = max(edit.k, 0)
    # A dropped node is not in the edited graph: show its parent, which loses a branch.
    if edit.op == "drop":
        k = before.nodes[k].up or 0
    shown = describe(before, k)
    # A graft in the node's place: show the copied subtree.
    if edit.op == "graft" and edit.role is None:
        place = places.get((edit.from_amr or "", edit.from_k or 0))
    else:
        place = places.get((edit.amr, k))
    # A wrapped node is shown with the new node above it.
    if edit.k == -1 or (place is not None and edit.op == "wrap"):
        place = 0 if edit.k in (-1, 0) or place is None else after.nodes[place].up
    return shown, "" if place is None else describe(after, place)


def _said(turn: StoredTurn, text: str | None = None) -> dict[str, str]:
    """Return a turn as records hold it."""
    return {"speaker": turn.speaker, "text": turn.text if text is None else text}
