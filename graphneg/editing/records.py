"""A variant and its decoded texts as a :class:`~graphneg.model.Negative`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphneg.editing.originals import StoredDialogue, Turn
from graphneg.editing.overlay import overlaid
from graphneg.editing.picking import Pick, Plan
from graphneg.editing.variants import EditedGraph, Variant
from graphneg.model import AmrGraph, Edit, EditedUtterance, Negative
from graphneg.penman_codec import format_graph

SHOWN_BRANCHES = 6


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
            {source: said[source].speaker for source in sources},
        )
    return dict(sorted(found.items()))


def negative_of(plan: Plan, one: Pick, variant: Variant, texts: Mapping[int, str], decoder: str) -> Negative:
    """The record of a variant whose edited turns were decoded to ``texts`` (by turn)."""
    dialogue, at = one.dialogue, one.turn
    before = [turn for turn in dialogue.turns if turn.turn < at]
    response = next(turn for turn in dialogue.turns if turn.turn == at)
    context_edited = any(turn.turn in texts for turn in before)
    edits = list(edit_records(dialogue, variant))
    return Negative(
        id=one.id,
        corpus=dialogue.corpus,
        split=dialogue.split,
        dialogue=dialogue.id,
        turn=at,
        context=[_said(turn, texts.get(turn.turn, turn.text)) for turn in before],
        response=texts.get(at, response.text),
        label=0,
        original={
            "context": [_said(turn, turn.text) for turn in before] if context_edited else None,
            "response": response.text if at in texts else None,
        },
        categories=sorted({edit["category"] for edit in edits}),
        recipe=plan.recipe.name,
        target=plan.target,
        seed=plan.seed,
        decoder=decoder,
        edits=edits,
        amr=dict(_graph_records(dialogue, variant)),
    )


def positive_of(dialogue: StoredDialogue) -> Negative:
    """The dialogue as it is, in the same shape: label 1, no edits."""
    last = dialogue.turns[-1]
    return Negative(
        id=f"{dialogue.id}#{last.turn}",
        corpus=dialogue.corpus,
        split=dialogue.split,
        dialogue=dialogue.id,
        turn=last.turn,
        context=[_said(turn, turn.text) for turn in dialogue.turns[:-1]],
        response=last.text,
        label=1,
        original={"context": None, "response": None},
        categories=[],
        recipe="",
        target="dialogue",
        seed=0,
        decoder="",
        edits=[],
        amr={},
    )


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


def _graph_records(dialogue: StoredDialogue, variant: Variant) -> Iterator[tuple[str, dict[str, str]]]:
    for turn in dialogue.turns:
        edited = variant.graphs.get(turn.amr or "")
        if edited is not None:
            yield str(turn.turn), {"before": format_graph(edited.before), "after": format_graph(edited.after)}


def _said(turn: Turn, text: str) -> dict[str, str]:
    return {"speaker": turn.speaker, "text": text}
