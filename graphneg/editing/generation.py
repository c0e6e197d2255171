"""From dialogues in the store to negatives: propose, pick, apply, read back, decode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any

from neo4j import ManagedTransaction

from graphneg import __version__
from graphneg.amr.penman import format_graph
from graphneg.decoders.base import Decoder
from graphneg.editing.picking import Pick, Plan, Proposals, pick
from graphneg.editing.proposals import Donors, propose
from graphneg.editing.recipes import RECIPES, Recipe
from graphneg.editing.transforms import Transform
from graphneg.editing.variants import Variant, edited_utterances, negative_of, read_variants, write_variants
from graphneg.errors import InputError
from graphneg.ingest.rows import GraphRows, amr_id, digest
from graphneg.model import AmrGraph, Decoded, Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import Finished, NegativeStream, Written
from graphneg.records.summary import Summary
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    GraphCache,
    Selection,
    StoredDialogue,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
)
from graphneg.store.statements import cypher_text, run
from graphneg.workers import ahead, fewer_collections

# From dialogues in the store to negatives: propose, pick, apply, read back, decode.


MAX_WAVES = 4


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a plan, how many negatives of each dialogue, which dialogues."""

    plan: Plan
    transforms: Mapping[str, Transform]
    per_dialogue: int = 1
    selection: Selection = field(default_factory=Selection)
    batch: int = 200

    def __post_init__(self) -> None:
        missing = [name for name in self.plan.recipe.transforms if name not in self.transforms]
        if missing:
            known = ", ".join(self.transforms)
            raise InputError(f"no transform is called {missing[0]!r}; there are: {known}")
        if self.per_dialogue < 1 or self.batch < 1:
            raise InputError("at least one negative of each dialogue, and one dialogue in a batch, please")


@dataclass(frozen=True, slots=True)
class _Wave:
    """Picks for some slots of a batch, and by id the variants that were made of them."""

    picks: Sequence[Pick]
    variants: Mapping[str, Variant]


class _Batch:
    """Dialogues at work: what was made of each, and which slots were tried."""

    def __init__(self, dialogues: Sequence[StoredDialogue], request: Request) -> None:
        self.dialogues = dialogues
        self._wanted = request.per_dialogue
        self._made: dict[str, list[Negative]] = {one.id: [] for one in dialogues if one.graphs}
        self._tried = dict.fromkeys(self._made, 0)
        self._seen: set[tuple[str, ...]] = set()

    def open_slots(self) -> dict[str, range]:
        """New slots for each dialogue that still lacks negatives; they count as tried."""
        slots: dict[str, range] = {}
        for id, made in self._made.items():
            if len(made) < self._wanted:
                first = self._tried[id]
                self._tried[id] += self._wanted - len(made)
                slots[id] = range(first, self._tried[id])
        return slots

    def keep(self, one: Pick, negative: Negative) -> str | None:
        """Take a negative in, or say why not."""
        texts = (one.dialogue.id, *(turn["text"] for turn in negative.context), negative.response)
        if texts in self._seen:
            return "duplicate: an earlier negative of the dialogue reads the same"
        self._seen.add(texts)
        self._made[one.dialogue.id].append(negative)
        return None

    def negatives(self) -> list[Negative]:
        return [negative for made in self._made.values() for negative in made]


class Generator:
    """Makes the negatives of a request, batch by batch, in the order of dialogues.

    What gives no negative is counted in ``summary`` with its reason: ``no-site``, a decoder's
    code, ``duplicate``, ``ill-formed``. Where a decoder refuses, other edits of the dialogue are
    tried, up to four times as many as were asked for.
    """

    def __init__(
        self,
        store: Store,
        request: Request,
        decoder: Decoder,
        summary: Summary | None = None,
        progress: Progress | None = None,
        graph_cache: GraphCache | None = None,
    ) -> None:
        self.summary = summary or Summary()
        self._store = store
        self._request = request
        self._decoder = decoder
        self._progress = progress or NoProgress()
        self._graph_cache = graph_cache or GraphCache(store)
        self._donors = Donors(store)
        self._writing = Lock()

    def run(self, skip: int = 0) -> Iterator[Finished]:
        """Yield each batch when its variants are in the store; ``skip`` dialogues are done already.

        The next batches are edited while this one is decoded.

        Raises:
            StoreError: the store is gone.
            TransformError: a transform's query fails.
        """
        selection = self._request.selection
        self._progress.start("negatives", count_dialogues(self._store, selection), "dialogues")
        self._progress.advance(skip)
        ids = dialogue_ids(self._store, selection, skip)
        batches = iter(lambda: list(islice(ids, self._request.batch)), [])
        done = skip
        with fewer_collections():
            for batch, wave in ahead(self._begin, batches):
                negatives = self._finish(batch, wave)
                done += len(batch.dialogues)
                self._progress.advance(len(batch.dialogues))
                yield Finished(done, negatives)
        self._progress.finish()

    def _begin(self, ids: Sequence[str]) -> tuple[_Batch, _Wave]:
        batch = _Batch(read_dialogues(self._store, ids), self._request)
        return batch, self._wave(batch)

    def _finish(self, batch: _Batch, wave: _Wave) -> list[Negative]:
        """The negatives of a batch: from its first picks, then from further ones for those refused."""
        for dialogue in batch.dialogues:
            if not dialogue.graphs:
                self.summary.skip("no-graph: no turn of the dialogue has an AMR graph", dialogue.id)
        for number in range(MAX_WAVES):
            wave = self._wave(batch) if number else wave
            if not wave.picks:
                break
            for one, result in self._results(wave):
                refused = result if isinstance(result, str) else batch.keep(one, result)
                if refused is not None:
                    self.summary.skip(refused, one.id)
                elif isinstance(result, Negative):
                    self.summary.add(result)
        return batch.negatives()

    def _wave(self, batch: _Batch) -> _Wave:
        """Picks for the slots that are open, written to the store and read back from it."""
        slots = batch.open_slots()
        if not slots:
            return _Wave((), {})
        plan = self._request.plan
        picks = pick(plan, batch.dialogues, slots, self._ask)
        with self._writing:
            write_variants(self._store, plan, picks)
        ids = [one.id for one in picks if one.edits]
        found = read_variants(self._store, self._graph_cache, ids, batch.dialogues)
        return _Wave(picks, {variant.id: variant for variant in found})

    def _results(self, wave: _Wave) -> Iterator[tuple[Pick, Negative | str]]:
        """Each slot's negative, or why there is none."""
        plan, variants = self._request.plan, wave.variants
        texts = self._decode(wave.picks, variants)
        for one in wave.picks:
            variant = variants.get(one.id)
            if variant is None:
                yield one, "no-site: no transform of the recipe applies"
                continue
            for _ in range(max(1, len(variant.graphs))):
                self.summary.check([variant.fault] if variant.fault else [])
            refused = variant.fault or next(
                (d.reason for d in texts[one.id].values() if d.text is None), None
            )
            if refused is not None:
                yield one, refused
                continue
            decoded = {turn: answer.text or "" for turn, answer in texts[one.id].items()}
            yield one, negative_of(plan, one, variant, decoded, self._decoder.name)

    def _ask(self, name: str, dialogues: Sequence[StoredDialogue]) -> Proposals:
        return propose(self._store, self._request.transforms[name], dialogues, self._donors)

    def _decode(
        self, picks: Sequence[Pick], variants: Mapping[str, Variant]
    ) -> dict[str, dict[int, Decoded]]:
        """Decode all edited turns of a wave at once; the answers by variant and turn."""
        items = [
            (one.id, turn, utterance)
            for one in picks
            if one.id in variants
            for turn, utterance in edited_utterances(one.dialogue, variants[one.id]).items()
        ]
        answers = self._decoder.decode([utterance for _, _, utterance in items])
        found: dict[str, dict[int, Decoded]] = {one.id: {} for one in picks}
        for (id, turn, _), answer in zip(items, answers, strict=True):
            found[id][turn] = answer
        return found


# One negative looked at closely, and edited graphs written out for exploring.


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
    variant = read_variants(store, GraphCache(store), [id])[0]
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
    variants = read_variants(store, GraphCache(store), ids)
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


# Negatives to be made by edits: a stream that can be iterated, written, or turned into a data frame.


class Negatives(NegativeStream):
    """The negatives of a request. Each use makes them anew; ``summary`` tells of the last one."""

    def __init__(
        self,
        store: Store,
        request: Request,
        decoder: Decoder,
        progress: Progress | None = None,
        decoder_options: Mapping[str, Any] | None = None,
        graph_cache: GraphCache | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._request = request
        self._decoder = decoder
        self._graph_cache = graph_cache or GraphCache(store)
        self._progress = progress or NoProgress()
        self._decoder_options = {name: repr(value) for name, value in (decoder_options or {}).items()}

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        generator = Generator(
            self._store, self._request, self._decoder, self.summary, self._progress, self._graph_cache
        )
        return generator.run(skip)

    def settings(self) -> dict[str, Any]:
        """What the output depends on; the batch is not part of it."""
        plan, selection = self._request.plan, self._request.selection
        recipe = plan.recipe
        return {
            "version": __version__,
            "store": self._store.description,
            "recipe": [recipe.name, recipe.groups, recipe.least, recipe.most],
            "queries": [self._request.transforms[name].query for name in recipe.transforms],
            "target": plan.target,
            "seed": plan.seed,
            "per_dialogue": self._request.per_dialogue,
            "selection": [selection.corpora, selection.splits, selection.limit],
            "decoder": [self._decoder.name, self._decoder_options],
        }
