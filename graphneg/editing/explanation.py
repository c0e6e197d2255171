"""One negative looked at closely, and edited graphs written out for exploring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neo4j import ManagedTransaction

from graphneg.decoders import Decoder
from graphneg.editing.originals import Originals, read_dialogues
from graphneg.editing.picking import Pick, Plan
from graphneg.editing.records import edited_utterances, negative_of
from graphneg.editing.variants import Variant, read_variants
from graphneg.errors import InputError
from graphneg.loading.rows import GraphRows, amr_id, digest
from graphneg.model import AmrGraph, Negative
from graphneg.penman_codec import format_graph
from graphneg.recipes import RECIPES, Recipe
from graphneg.store import Store, cypher_text
from graphneg.store.running import run


@dataclass(frozen=True, slots=True)
class Explanation:
    """A negative as it was made; ``refused`` has, by turn, why a decoder gave no text."""

    negative: Negative
    refused: dict[int, str]


def explain(store: Store, id: str, decoder: Decoder) -> Explanation:
    """Make one negative again from the edits that the store holds.

    Raises:
        InputError: the store holds no edits under this id, or they fit the dialogue no more.
    """
    found = store.read(cypher_text("edit/described"), id=id)
    if not found:
        raise InputError(
            f"{id}: no negative of this id was made from this store; ids stand in the output file"
        )
    row = found[0]
    dialogue = read_dialogues(store, [row["dialogue"]])[0]
    variant = read_variants(store, Originals(store), [id])[0]
    if variant.fault is not None:
        raise InputError(f"{id}: {variant.fault}")
    recipe = RECIPES.get(row["recipe"], Recipe(row["recipe"], "", (), 1, 1, "response"))
    utterances = edited_utterances(dialogue, variant)
    answers = decoder.decode(list(utterances.values()))
    texts = {turn: a.text for turn, a in zip(utterances, answers, strict=True) if a.text is not None}
    refused = {turn: a.reason or "" for turn, a in zip(utterances, answers, strict=True) if a.text is None}
    one = Pick(id, dialogue, row["slot"], row["turn"], ())
    return Explanation(
        negative_of(Plan(recipe, row["target"], row["seed"]), one, variant, texts, decoder.name), refused
    )


def materialize(store: Store, ids: Sequence[str]) -> int:
    """Write the edited graphs of variants as AmrNodes of their own; returns how many are new."""
    variants = read_variants(store, Originals(store), ids)
    unknown = sorted(set(ids) - {variant.id for variant in variants})
    if unknown:
        raise InputError(f"{unknown[0]}: no negative of this id was made from this store")
    return sum(store.write(lambda tx, one=variant: _materialize(tx, one)) for variant in variants)


def _materialize(tx: ManagedTransaction, variant: Variant) -> int:
    graphs: dict[str, AmrGraph] = {}
    for amr, edited in variant.graphs.items():
        utterance = amr.rpartition("@")[0]
        id = amr_id(f"{variant.id}@{utterance.rpartition('#')[2]}", "graphneg")
        after = edited.after
        graphs[id] = AmrGraph(id, after.nodes, after.mentions, (f"# ::id {id}",))
    there = {row["id"] for row in run(tx, "load/stored_graphs", ids=list(graphs))}
    rows = GraphRows()
    for id, graph in graphs.items():
        if id not in there:
            rows.add(graph, variant.id, "graphneg", digest(format_graph(graph)))
    if rows.amrs:
        lexemes = rows.lexeme_rows()
        run(tx, "load/terms", terms=[row["text"] for row in lexemes])
        run(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles)
        run(tx, "edit/materialize", amrs=rows.amrs)
    return len(rows.amrs)
