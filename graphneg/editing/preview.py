"""One edit by a transform on a dialogue of the store, with nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from graphneg.amr.overlay import apply_edits
from graphneg.decoders.base import Decoder, get_decoder
from graphneg.editing.picking import Pick, Plan, Proposals, pick
from graphneg.editing.proposals import propose
from graphneg.editing.recipes import recipe_of
from graphneg.editing.transforms import Transform
from graphneg.editing.variants import EditedGraph, Variant, edited_utterances, negative_of, with_donors
from graphneg.model import Edit, Negative
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection, StoredDialogue, dialogue_ids, read_dialogues

LOOKED_AT = 100


def preview(store: Store, transform: Transform) -> Negative | None:
    """The first negative that the transform makes of the store's first dialogues, if any.

    Raises:
        TransformError: the transform's query fails, or proposes what is no edit.
    """
    plan = Plan(recipe_of([transform.name]), "response", 0)
    dialogues = read_dialogues(store, list(islice(dialogue_ids(store, Selection()), LOOKED_AT)))

    def ask(_: str, asked: Sequence[StoredDialogue]) -> Proposals:
        return propose(store, transform, asked)

    graph_cache, decoder = GraphCache(store), get_decoder("surface")
    picks = pick(plan, dialogues, {dialogue.id: range(1) for dialogue in dialogues}, ask)
    made = (_made(plan, one, _variant(store, one, graph_cache), decoder) for one in picks if one.edits)
    return next((negative for negative in made if negative is not None), None)


def _made(plan: Plan, one: Pick, variant: Variant, decoder: Decoder) -> Negative | None:
    utterances = edited_utterances(one.dialogue, variant)
    texts: dict[int, str] = {}
    for turn, answer in zip(utterances, decoder.decode(list(utterances.values())), strict=True):
        if answer.text is None:
            return None
        texts[turn] = answer.text
    return negative_of(plan, one, variant, texts, decoder.name)


def _variant(store: Store, one: Pick, graph_cache: GraphCache) -> Variant:
    by_graph: dict[str, list[Edit]] = {}
    for edit in one.edits:
        by_graph.setdefault(edit.amr, []).append(edit)
    sources = graph_cache.get(edit.from_amr for edit in one.edits if edit.from_amr is not None)
    edited = {
        amr: EditedGraph(before, apply_edits(before, by_graph[amr], sources), tuple(by_graph[amr]))
        for amr, before in graph_cache.get(by_graph).items()
    }
    return with_donors(store, [Variant(one.id, edited, sources)])[0]
