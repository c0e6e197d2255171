"""Store planned edits as variants, apply them to graphs, and build the records of negatives.

A variant is the edited copy of a dialogue; the store contains only its edits. `write_variants` stores planned
edits. `read_variants` reads stored edits and applies them; `planned_variants` applies edits that the caller
passes. The original graphs in the store never change. `negative_from_variant` combines the edited graphs with
the decoded texts into a record:

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

import msgspec
from neo4j import ManagedTransaction

from graphneg.amr.overlay import apply_edits, apply_edits_unchecked
from graphneg.amr.penman import format_graph
from graphneg.discourse.reading import SENTENCE_ENDS
from graphneg.editing.planning import EditPlan, EditSettings
from graphneg.editing.proof import CopiedClause, copied_clause
from graphneg.editing.proposals import utterances_of_graphs
from graphneg.english.tokens import tokenize
from graphneg.errors import TransformError
from graphneg.ingest.rows import Row, digest
from graphneg.model import (
    AmrGraph,
    Edit,
    EditedPenman,
    EditedUtterance,
    EditRecord,
    Evidence,
    Negative,
    Original,
    Turn,
)
from graphneg.records.scores import CONTEXT_OVERLAP, SELECTIONAL_FIT, context_overlap, selectional_fit
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, StoredDialogue, StoredTurn, collected_rows
from graphneg.store.statements import in_transactions, run

MAX_ROWS = 5_000
"""Maximum number of variants and edits that one transaction writes."""
SHOWN_BRANCHES = 6
"""Maximum number of branches in the description of a node, such as ``(like-01 :ARG0 i ...)``."""


@dataclass(frozen=True, slots=True)
class EditedGraph:
    """One graph of a variant, before and after its edits.

    Attributes:
        before: The graph as it is in the store.
        after: The graph after the edits.
        edits: The edits in the order in which they were applied.
    """

    before: AmrGraph
    after: AmrGraph
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """The edited graphs of one negative.

    Attributes:
        id: Id of the negative.
        graphs: The edited graphs, keyed by graph id.
        sources: The graphs from which subtrees were copied, keyed by graph id.
        fault: The reason why the variant cannot be used (``ill-formed: ...``, ``unchanged: ...``); None if
            the variant can be used.
        donors: The utterances of other dialogues from which subtrees were copied, keyed by graph id.
    """

    id: str
    graphs: Mapping[str, EditedGraph]
    sources: Mapping[str, AmrGraph]
    fault: str | None = None
    donors: Mapping[str, StoredTurn] = field(default_factory=dict[str, StoredTurn])

    @property
    def borrowed(self) -> list[str]:
        """The ids of the graphs of other dialogues from which subtrees were copied."""
        own = f"{self.id.rpartition('~')[0].rpartition('#')[0]}#"
        return [amr for amr in self.sources if not amr.startswith(own)]


def write_variants(store: Store, settings: EditSettings, plans: Sequence[EditPlan]) -> None:
    """Write plans to the store as variants, many in each transaction.

    A variant that the store contains already is not written again. A stored variant with the same id but
    different edits or another target is replaced. The edits differ, for example, if the graphs were parsed
    again.

    Args:
        store: Store with the dialogues.
        settings: Recipe, target and seed of the plans.
        plans: Planned edits of negatives; plans without edits are skipped.
    """
    planned = [plan for plan in plans if plan.edits]
    for group in in_transactions(planned, MAX_ROWS, lambda plan: 1 + len(plan.edits)):
        _write(store, settings, group)


def read_variants(store: Store, graph_cache: GraphCache, ids: Sequence[str]) -> list[Variant]:
    """Read the stored edits of negatives (variants), and apply them to the original graphs.

    Args:
        store: Store with the variants.
        graph_cache: Cache for the original graphs.
        ids: Ids of the variants. Ids that the store does not contain are skipped.

    Returns:
        The variants in the order of ``ids``.
    """
    steps: dict[str, list[list[Any]]] = {}
    for id, row in collected_rows(store, "edit/variant", "edits", ids):
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
    """Apply the edits of variants to the original graphs.

    Args:
        store: Store with the original graphs.
        graph_cache: Cache for the original graphs.
        edits: Lists of edits, keyed by the id of the variant.
        dialogues: Dialogues with the current digests of their graphs. A cached graph with a different digest
            is out of date and is read again.

    Returns:
        The variants in the order of ``edits``.
    """
    digests = {id: digest for dialogue in dialogues for id, digest in dialogue.digests.items()}
    used = (amr for some in edits.values() for edit in some for amr in (edit.amr, edit.from_amr))
    graphs = graph_cache.get({amr for amr in used if amr is not None}, digests)
    variants = [_variant(id, some, graphs) for id, some in edits.items()]
    said = utterances_of_graphs(store, (amr for variant in variants for amr in variant.borrowed))
    return [
        replace(variant, donors={amr: said[amr] for amr in variant.borrowed}) if variant.borrowed else variant
        for variant in variants
    ]


def _variant(id: str, edits: Sequence[Edit], graphs: Mapping[str, AmrGraph]) -> Variant:
    """Apply the edits of one variant.

    Returns:
        The variant. If the edits make a graph ill-formed or do not change it, the variant has no graphs, and
        its ``fault`` contains the reason.
    """
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
        # Reject edits that change nothing, such as a swap of two equal subtrees.
        if after.nodes == before.nodes and after.mentions == before.mentions:
            return Variant(id, {}, {}, "unchanged: the edits do not change the graph")
        edited[amr] = EditedGraph(before, after, tuple(own))
        sources |= {edit.from_amr: graphs[edit.from_amr] for edit in own if edit.from_amr is not None}
    return Variant(id, edited, sources)


def _write(store: Store, settings: EditSettings, plans: Sequence[EditPlan]) -> None:
    """Write the edits of plans to the store, in one transaction."""
    shared: Row = {"recipe": settings.recipe.name, "seed": settings.seed, "target": settings.target}
    variants: dict[str, Row] = {}
    edits: dict[str, list[Row]] = {}
    for plan in plans:
        row: Row = {"dialogue": plan.dialogue.id, "id": plan.id, "turn": plan.turn, "slot": plan.slot}
        # The id of a variant does not contain the target. Add the target to the digest, so that a run with
        # another target replaces the stored variant.
        content = [settings.target, plan.turn, [list(edit) for edit in plan.edits]]
        variants[plan.id] = shared | row | {"digest": digest(content)}
        edits[plan.id] = []
        for step, edit in enumerate(plan.edits):
            # The node to which the edit is linked in the store. If the edit changes a copied subtree, its
            # node index refers to the graph from which the subtree was copied.
            tie: Row = {
                "variant": plan.id,
                "step": step,
                "at": edit.copy_of or edit.amr,
                "at_position": max(edit.position, 0),
            }
            given = {name: value for name, value in edit._asdict().items() if value is not None}
            edits[plan.id].append(tie | given)
    store.write_derived(lambda tx: _write_new(tx, variants, edits))


def _write_new(
    tx: ManagedTransaction, variants: Mapping[str, Row], edits: Mapping[str, Sequence[Row]]
) -> None:
    """Write variants (the edits of negatives) that are not in the store yet.

    If the store contains a variant with the same id but different edits, replace it.
    """
    stale: list[str] = []
    there: set[str] = set()
    for row in run(tx, "edit/stored", ids=list(variants)):
        same = row["digest"] == variants[row["id"]]["digest"]
        (there.add if same else stale.append)(row["id"])
    # Delete stored variants with the same id but other edits: they were planned on older graphs.
    if stale:
        run(tx, "edit/forget", ids=sorted(stale))
    new = [id for id in sorted(variants) if id not in there]
    if not new:
        return
    run(tx, "edit/apply", variants=[variants[id] for id in new])
    rows = [row for id in new for row in edits[id]]
    # An edit that copies a subtree is also linked to the root of this subtree, so edits of this kind are
    # written with a separate statement.
    plain = [row for row in rows if "from_amr" not in row]
    grafts = [row for row in rows if "from_amr" in row]
    written = run(tx, "edit/apply_edits", edits=plain)[0]["edits"] if plain else 0
    written += run(tx, "edit/apply_grafts", edits=grafts)[0]["edits"] if grafts else 0
    # If the node of an edit does not exist, the statement writes nothing for this edit and reports no error.
    # So compare the number of edits written with the number of rows passed.
    if written != len(rows):
        _refuse_missing(tx, rows)


def _refuse_missing(tx: ManagedTransaction, rows: Sequence[Row]) -> None:
    """Raise an error for the first edit whose target node or copied node does not exist."""
    ends = [(row, row["at"], row["at_position"]) for row in rows]
    ends += [(row, row["from_amr"], row["from_position"]) for row in rows if "from_amr" in row]
    amrs = sorted({amr for _, amr, _ in ends})
    found = run(tx, "read/nodes", parts=[amrs])
    sizes = Counter(amrs[row[0]] for record in found for row in record["nodes"])
    for row, amr, k in ends:
        if k is None or not 0 <= k < sizes[amr]:
            raise TransformError(f"{row['transform']}: there is no node {k} in graph {amr}")


def edited_utterances(dialogue: StoredDialogue, variant: Variant) -> dict[int, EditedUtterance]:
    """Return the edited turns of a variant in the form that decoders accept.

    Args:
        dialogue: The dialogue of the variant.
        variant: A variant whose edited graphs are usable (its ``fault`` is None).

    Returns:
        The edited utterances, keyed by turn number, in the order of the turns.
    """
    by_amr = {turn.graph_id: turn for turn in dialogue.turns if turn.graph_id is not None}
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


def negative_from_variant(
    settings: EditSettings, plan: EditPlan, variant: Variant, texts: Mapping[int, str], decoder: str
) -> Negative:
    """Build the record of a negative from a variant and its decoded texts.

    Args:
        settings: Recipe, target and seed.
        plan: The plan from which the variant was made.
        variant: A variant whose edited graphs are usable (its ``fault`` is None).
        texts: Decoded texts, keyed by turn number. A turn without a decoded text keeps its original text.
        decoder: Name of the decoder.

    Returns:
        A record with label 0. If the context was changed, the record also contains the original context; if
        the response was changed, it contains the original response.
    """
    dialogue, at = plan.dialogue, plan.turn
    context = [turn for turn in dialogue.turns if turn.turn < at]
    response = texts.get(at, _turn(dialogue, at).text)
    # Compute the scores on the texts and graphs after the edits.
    clashes = context_overlap([texts.get(turn.turn, turn.text) for turn in context], response)
    fits = [selectional_fit(edited.after) for edited in variant.graphs.values()]
    edits = tuple(edit_records(dialogue, variant))
    before = unedited(dialogue, plan.id, at, label=0)
    copied = copied_clause(dialogue, plan.edits)
    transforms = {edit.transform for edit in edits}
    return msgspec.structs.replace(
        before,
        context=tuple(Turn(turn.speaker, texts.get(turn.turn, turn.text)) for turn in context),
        response=response,
        original=Original(
            before.context if any(turn.turn in texts for turn in context) else None,
            before.response if at in texts else None,
        ),
        categories=tuple(sorted({edit.category for edit in edits if edit.category is not None})),
        recipe=settings.recipe.name,
        target=settings.target,
        seed=settings.seed,
        decoder=decoder,
        edits=edits,
        scores={CONTEXT_OVERLAP: round(clashes, 4), SELECTIONAL_FIT: round(min(fits, default=1.0), 4)},
        amr={
            str(turn.turn): EditedPenman(format_graph(edited.before), format_graph(edited.after))
            for turn in dialogue.turns
            if (edited := variant.graphs.get(turn.graph_id or "")) is not None
        },
        error_type=transforms.pop() if len(transforms) == 1 else None,
        evidence=_evidence(variant, copied) if copied is not None else None,
        distance=copied.turn - copied.source_turn.turn if copied is not None else None,
        frame=copied.edit.frame if copied is not None else None,
    )


def _evidence(variant: Variant, copied: CopiedClause) -> Evidence:
    """Return the earlier sentence that a reply repeats, or the whole turn if the sentence is unknown."""
    text, graph = copied.source_turn.text, variant.sources[copied.source_turn.graph_id or ""]
    tokens = tokenize(text)
    span = graph.spans.get(copied.node)
    # The position of the sentence is unknown if the node is aligned with no token, or with a token outside of
    # the text. Then return the whole turn.
    if span is None or not 0 <= span[0] < len(tokens):
        return Evidence(copied.source_turn.turn, text.strip())
    first = last = span[0]
    while first and tokens[first - 1].text not in SENTENCE_ENDS:
        first -= 1
    while last + 1 < len(tokens) and tokens[last].text not in SENTENCE_ENDS:
        last += 1
    return Evidence(copied.source_turn.turn, text[tokens[first].start : tokens[last].end])


def positive_of(dialogue: StoredDialogue) -> Negative:
    """Build the record of an unedited dialogue, in the same form as the record of a negative.

    Args:
        dialogue: The dialogue. Its last turn becomes the response.

    Returns:
        A record with label 1 and no edits.
    """
    last = dialogue.turns[-1].turn
    return unedited(dialogue, f"{dialogue.id}#{last}", last, label=1)


def unedited(dialogue: StoredDialogue, id: str, at: int, label: int) -> Negative:
    """Return the record of an unedited dialogue.

    Args:
        dialogue: The dialogue.
        id: The id of the record.
        at: The number of the turn that is the response.
        label: The label of the record.

    Returns:
        The record, without a recipe.
    """
    return Negative(
        id=id,
        corpus=dialogue.corpus,
        split=dialogue.split,
        dialogue=dialogue.id,
        turn=at,
        context=tuple(Turn(turn.speaker, turn.text) for turn in dialogue.turns if turn.turn < at),
        response=_turn(dialogue, at).text,
        speaker=_turn(dialogue, at).speaker,
        label=label,
        original=Original(None, None),
        categories=(),
        recipe="",
        target="dialogue",
        seed=0,
        decoder="",
        edits=(),
        amr={},
        scores={},
    )


def _turn(dialogue: StoredDialogue, at: int) -> StoredTurn:
    """Return the turn with the turn number ``at``."""
    return next(turn for turn in dialogue.turns if turn.turn == at)


def edit_records(dialogue: StoredDialogue, variant: Variant) -> Iterator[EditRecord]:
    """Yield a description of each edited site of a variant, for the field ``edits`` of the negative.

    Args:
        dialogue: The dialogue of the variant.
        variant: A variant whose edited graphs are usable (its ``fault`` is None).

    Yields:
        The descriptions. Their ``before`` and ``after`` show the edited node with its branches.
    """
    turns = {turn.graph_id: turn.turn for turn in dialogue.turns if turn.graph_id is not None}
    for amr in sorted(variant.graphs, key=turns.__getitem__):
        edited = variant.graphs[amr]
        # Map each original or copied node to its index in the edited graph.
        places = apply_edits_unchecked(edited.before, edited.edits, variant.sources)[1]
        sites: dict[tuple[str, str], list[Edit]] = {}
        for edit in edited.edits:
            sites.setdefault((edit.transform, edit.site), []).append(edit)
        for (transform, _), group in sites.items():
            # Leave out edits that change a copied subtree: the description of the edit that copies it
            # contains the changed copy.
            shown = [_shown(edited, edit, places) for edit in group if edit.copy_of is None]
            yield EditRecord(
                turn=turns[amr],
                transform=transform,
                category=group[0].category,
                node=address(edited.before, max(group[0].position, 0)),
                before="; ".join(dict.fromkeys(before for before, _ in shown)),
                after="; ".join(dict.fromkeys(after for _, after in shown)),
            )


def address(graph: AmrGraph, k: int) -> str:
    """Return the Dewey address of a node, as in AMR alignments: ``1`` is the top, ``1.2`` its second branch.

    Args:
        graph: The graph that contains the node.
        k: The index of the node in the graph, from 0.

    Returns:
        The numbers of the branches from the top to the node, separated by dots.
    """
    steps: list[str] = []
    node = graph.nodes[k]
    while node.parent is not None:
        steps.append(str(node.branch + 1))
        node = graph.nodes[node.parent]
    return ".".join(["1", *reversed(steps)])


def describe(graph: AmrGraph, k: int) -> str:
    """Return a description of a node and its direct branches.

    Args:
        graph: The graph that contains the node.
        k: The index of the node in the graph, from 0.

    Returns:
        A text such as ``(like-01 :ARG0 i :polarity -)``, with at most `SHOWN_BRANCHES` branches. For a
        constant, the constant itself.
    """
    node = graph.nodes[k]
    branches = [(child.branch, child.role, child.label) for child in graph.children(k)]
    branches += [(m.branch, m.role, graph.nodes[m.target].label) for m in graph.mentions if m.parent == k]
    branches.sort()
    parts = [node.label, *(f":{role} {label}" for _, role, label in branches[:SHOWN_BRANCHES])]
    if len(branches) > SHOWN_BRANCHES:
        parts.append("...")
    return f"({' '.join(parts)})" if node.concept is not None else node.label


def _shown(edited: EditedGraph, edit: Edit, places: Mapping[tuple[str, int], int]) -> tuple[str, str]:
    """Describe the node that an edit changes, before and after the edit."""
    before, after = edited.before, edited.after
    k = max(edit.position, 0)
    # A dropped node is not in the edited graph, so describe its parent.
    if edit.op == "drop":
        k = before.nodes[k].parent or 0
    shown = describe(before, k)
    # An edit with the operation ``graft`` and without a role replaces the node by a copied subtree. Describe
    # the top of this subtree as the node after the edit.
    if edit.op == "graft" and edit.role is None:
        place = places.get((edit.from_amr or "", edit.from_position or 0))
    else:
        place = places.get((edit.amr, k))
    # The operation ``say`` replaces the whole graph, so show the graph from its top node.
    if edit.op == "say":
        place = 0
    # After ``wrap``, show the new node above the edited one.
    if edit.position == -1 or (place is not None and edit.op == "wrap"):
        place = 0 if edit.position in (-1, 0) or place is None else after.nodes[place].parent
    return shown, "" if place is None else describe(after, place)
