"""Make negatives again from the edits in the store, and show what a transform would make.

The store keeps the edits of each negative that was made by editing graphs. `explain` and `stored_negatives`
apply these edits to the dialogues again:

    everyday/train/12#5   B: I have an umbrella in the car.
    stored edit           add :polarity - to have-03
    negative              B: I do not have an umbrella in the car.

`materialize` writes the edited graphs to the store as separate graphs, so that they can be explored with
queries. `preview` makes a single negative with a transform for inspection, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import msgspec
from neo4j import ManagedTransaction

from graphneg.amr.penman import format_graph
from graphneg.decoders.base import Decoder, get_decoder
from graphneg.editing.decoding import decode_turns
from graphneg.editing.planning import EditPlan, EditSettings, editable, plan_edits, refusal_reason
from graphneg.editing.proof import Prover, Verdict
from graphneg.editing.proposals import propose
from graphneg.editing.recipes import RECIPES, Recipe, recipe_of
from graphneg.editing.transforms import Transform, load_transforms
from graphneg.editing.variants import (
    Variant,
    edited_utterances,
    negative_from_variant,
    planned_variants,
    read_variants,
)
from graphneg.errors import InputError
from graphneg.ids import natural_order
from graphneg.ingest.lexicon import finish, stored_lexicon, write_terms
from graphneg.ingest.rows import GraphRows, amr_id, digest
from graphneg.model import AmrGraph, Negative
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection, dialogue_ids, read_dialogues
from graphneg.store.statements import cypher_text, run

PREVIEWED = 100
"""Maximum number of dialogues that `preview` tries to edit. It stops after its first negative."""
REPLAY_BATCH = 200
"""Number of negatives that `stored_negatives` decodes in one batch."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A negative that was made again from the edits in the store.

    Attributes:
        negative: The negative. Turns that the decoder refused have their original text.
        refused: The decoder's reason for each edited turn without a decoded text, keyed by turn number.
    """

    negative: Negative
    refused: dict[int, str]


def explain(store: Store, id: str, decoder: Decoder) -> Explanation:
    """Make one negative again from its edits in the store.

    Args:
        store: Store that contains the edits of the negative.
        id: Id of the negative.
        decoder: Decoder that turns edited graphs into text.

    Returns:
        The negative, with the decoder's reasons for turns without a decoded text.

    Raises:
        InputError: The store contains no edits for this id, or the edits no longer fit the dialogue.
    """
    [found] = _again(store, GraphCache(store), [id], decoder)
    if isinstance(found, str):
        raise InputError(f"{id}: {found}")
    return found


def stored_negatives(store: Store, decoder: Decoder, progress: Progress | None = None) -> Iterator[Negative]:
    """Yield the negatives whose edits are in the store, in the order of their ids.

    A negative is skipped if its edits no longer fit the dialogue, or if the decoder refuses one of its turns.

    Args:
        store: Store that contains the edits of negatives.
        decoder: Decoder that turns edited graphs into text.
        progress: Progress display, which is advanced by the number of negatives tried.

    Yields:
        The negatives.
    """
    ids = sorted((row["id"] for row in store.read(cypher_text("edit/every"))), key=natural_order)
    graph_cache, bar = GraphCache(store), progress or NoProgress()
    bar.start("negatives of the store", len(ids), "negatives")
    for start in range(0, len(ids), REPLAY_BATCH):
        batch = ids[start : start + REPLAY_BATCH]
        for found in _again(store, graph_cache, batch, decoder):
            if not isinstance(found, str) and not found.refused:
                yield found.negative
        bar.advance(len(batch))
    bar.finish()


def variants_digest(store: Store) -> str:
    """Return a digest of the edits of all negatives in a store.

    Args:
        store: Store that may contain edits of negatives.

    Returns:
        The digest; an empty string if the store contains no edits.
    """
    rows = store.read(cypher_text("edit/every"))
    return digest(sorted((row["id"], row["digest"]) for row in rows)) if rows else ""


def materialize(store: Store, ids: Sequence[str]) -> int:
    """Write the edited graphs of negatives to the store as separate graphs.

    Args:
        store: Store that contains the edits of the negatives.
        ids: Ids of the negatives.

    Returns:
        The number of edited graphs that were not in the store before.

    Raises:
        InputError: The store contains no edits for one of the ids.
    """
    variants = read_variants(store, GraphCache(store), ids)
    unknown = sorted(set(ids) - {variant.id for variant in variants})
    if unknown:
        raise InputError(f"{unknown[0]}: this store has no negative with this id")
    return sum(store.write_derived(lambda tx, one=variant: _materialize(tx, one)) for variant in variants)


def preview(store: Store, transform: Transform) -> Negative | None:
    """Return the first negative that a transform makes from the first dialogues in a store.

    Nothing is written to the store.

    Args:
        store: Store with dialogues.
        transform: Transform to try.

    Returns:
        The negative, or None if the first `PREVIEWED` dialogues give no negative.
    """
    settings = EditSettings(recipe_of([transform.name]), transform.target or "response", 0)
    read = read_dialogues(store, list(islice(dialogue_ids(store, Selection()), PREVIEWED)))
    dialogues = [editable(dialogue) for dialogue in read if refusal_reason(dialogue, settings.target) is None]
    slots = {dialogue.id: range(1) for dialogue in dialogues}
    plans = plan_edits(settings, dialogues, slots, lambda _, asked: propose(store, transform, asked))
    graph_cache, decoder = GraphCache(store), get_decoder("surface")
    for plan in plans:
        for variant in planned_variants(store, graph_cache, {plan.id: plan.edits} if plan.edits else {}):
            if variant.fault is None:
                [made] = _realised([(settings, plan, variant)], decoder)
                if not made.refused:
                    return made.negative
    return None


def _again(
    store: Store, graph_cache: GraphCache, ids: Sequence[str], decoder: Decoder
) -> Iterator[Explanation | str]:
    """Apply the stored edits of negatives to their dialogues again.

    Yields:
        For each id, an explanation with the negative, or the reason why the negative cannot be made.
    """
    described = {row["id"]: row for row in store.read(cypher_text("edit/described"), ids=list(ids))}
    known = [id for id in ids if id in described]
    of = sorted({described[id]["dialogue"] for id in known})
    dialogues = {dialogue.id: dialogue for dialogue in read_dialogues(store, of)}
    variants = {variant.id: variant for variant in read_variants(store, graph_cache, known)}
    planned: list[tuple[EditSettings, EditPlan, Variant]] = []
    prover = Prover(stored_lexicon(store), load_transforms())
    for id, variant in variants.items():
        if variant.fault is None:
            row = described[id]
            recipe = RECIPES.get(row["recipe"], Recipe(row["recipe"], "", (), 1, 1, "response"))
            edits = tuple(edit for edited in variant.graphs.values() for edit in edited.edits)
            plan = EditPlan(id, dialogues[row["dialogue"]], row["slot"], row["turn"], edits)
            planned.append((EditSettings(recipe, row["target"], row["seed"]), plan, variant))
    verdicts = prover.verdicts([plan for _, plan, _ in planned], graph_cache)
    made: dict[str, Explanation] = {}
    for one in _realised(planned, decoder):
        proved = verdicts.get(one.negative.id, Verdict()).proved
        made[one.negative.id] = replace(one, negative=msgspec.structs.replace(one.negative, proved=proved))
    for id in ids:
        if id not in variants:
            # A generator such as ``overlap`` stores no edits, so the ids of its negatives are unknown here.
            yield (
                "this store has no negative with this id; the ids are in the output file, and only negatives "
                "that were made by editing graphs can be explained"
            )
        else:
            yield made[id] if id in made else variants[id].fault or ""


def _realised(
    planned: Sequence[tuple[EditSettings, EditPlan, Variant]], decoder: Decoder
) -> Iterator[Explanation]:
    """Decode edited graphs into negatives. If the decoder refuses a turn, its reason is returned as well."""
    edited = {variant.id: edited_utterances(plan.dialogue, variant) for _, plan, variant in planned}
    decoded = decode_turns(edited, decoder)
    for settings, plan, variant in planned:
        answers = {turn: one.decoded for turn, one in decoded[variant.id].items()}
        texts = {turn: answer.text for turn, answer in answers.items() if answer.text is not None}
        refused = {turn: answer.reason or "" for turn, answer in answers.items() if answer.text is None}
        yield Explanation(negative_from_variant(settings, plan, variant, texts, decoder.name), refused)


def _materialize(tx: ManagedTransaction, variant: Variant) -> int:
    """Write the edited graphs of one negative. Return the number of graphs that were not stored before."""
    graphs: dict[str, AmrGraph] = {}
    for amr, edited in variant.graphs.items():
        utterance = amr.rpartition("@")[0]
        id = amr_id(f"{variant.id}@{utterance.rpartition('#')[2]}", "graphneg")
        # The edited graph gets a new id and new comment lines, because the comment lines of the original
        # graph do not apply to it.
        after = edited.after
        graphs[id] = AmrGraph(id, after.nodes, after.mentions, (f"# ::id {id}",))
    # Write only the edited graphs that are not in the store yet.
    there = {row["id"] for row in run(tx, "load/stored_graphs", ids=list(graphs))}
    lexicon = stored_lexicon(tx)
    rows = GraphRows(lexicon)
    for id, graph in graphs.items():
        if id not in there:
            rows.add(graph, variant.id, "graphneg", digest(format_graph(graph)))
    if rows.amrs:
        lexemes = rows.lexeme_rows()
        finish(write_terms(tx, rows.lexemes, lexicon))
        run(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles)
        run(tx, "edit/materialize", amrs=rows.amrs)
    return len(rows.amrs)
