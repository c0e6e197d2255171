"""Make negatives from dialogues in the store, in five steps: propose, plan, apply, decode, check.

The input is an `EditRequest` (a recipe, the number of negatives, a selection of dialogues) and a decoder. The
output is `graphneg.model.Negative` records, batch by batch. While one batch is decoded, other threads edit
the next batches. An example of one negative:

    everyday/train/12#5   B: I have an umbrella in the car.
    recipe "polarity_flip" add :polarity - to have-03
    negative              B: I do not have an umbrella in the car.

`preview` and `explain` make a single negative for inspection. `materialize` writes edited graphs to the store
as separate graphs, so that they can be explored with queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

import msgspec
from neo4j import ManagedTransaction

from graphneg import __version__
from graphneg.amr.penman import format_graph
from graphneg.decoders.base import Decoder, get_decoder
from graphneg.editing.context_twins import changes_other_words
from graphneg.editing.planning import (
    EditPlan,
    EditSettings,
    Proposals,
    Taken,
    editable,
    plan_edits,
    refusal_reason,
    refused_statements,
)
from graphneg.editing.proof import Prover, Verdict, copied_clause, graphs_before
from graphneg.editing.proposals import Donors, Proposal, UnknownFrameCounter, propose
from graphneg.editing.recipes import RECIPES, Recipe, Target, recipe_of
from graphneg.editing.transforms import Transform, load_transforms
from graphneg.editing.twins import Kind, PlannedTwin, planned_twins, possible_twins, twin_id, twin_of
from graphneg.editing.variants import (
    Variant,
    edited_utterances,
    negative_from_variant,
    planned_variants,
    read_variants,
    write_variants,
)
from graphneg.english.grammar import checker_version, new_error
from graphneg.english.lexicon import english
from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import match_key, sentences
from graphneg.english.words import content_lemmas, word_class
from graphneg.errors import InputError
from graphneg.hashing import with_model_digests
from graphneg.ids import natural_order
from graphneg.ingest.lexicon import finish, stored_lexicon, write_terms
from graphneg.ingest.rows import GraphRows, amr_id, digest
from graphneg.model import AmrGraph, Decoded, EditedUtterance, Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import NegativeBatch, NegativeStream, Written
from graphneg.shards import Shard
from graphneg.store.connection import Store
from graphneg.store.contents import content_digest
from graphneg.store.copied_contexts import CopiedContexts, copied_contexts
from graphneg.store.corpus_data import check_selection, shared_content
from graphneg.store.dialogues import (
    GraphCache,
    Selection,
    StoredDialogue,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
    read_responses,
)
from graphneg.store.statements import cypher_text, run
from graphneg.workers import collect_garbage_rarely, prefetch_map

PREVIEWED = 100
"""Maximum number of dialogues that `preview` tries to edit. It stops after its first negative."""
REPLAY_BATCH = 200
"""Number of negatives that `stored_negatives` decodes in one batch."""
MAX_ROUNDS = 12
"""Maximum number of planning rounds for a batch of dialogues. Later rounds replace refused negatives."""
# Codes of the decoder's reasons that concern the repeated statement, not the reply frame.
_REASONS_OF_STATEMENTS = frozenset({"unclear-clause", "unsupported-edit", "already-negative", "no-alignment"})
NO_TOPIC = word_class("words-of-talk") | word_class("vague-words")
"""Lemmas that do not tell the topic of a text."""


@dataclass(frozen=True, slots=True)
class _Wave:
    """One planning round for a batch of dialogues.

    Attributes:
        plans: The planned edits of each attempt to make a negative.
        variants: The edited graphs of the planned negatives, keyed by the id of the negative.
        twins: The twins that could be made of each negative, the preferred one first, keyed by the id of the
            negative.
        no_twins: The reasons why negatives have no twin, keyed by the id of the negative.
    """

    plans: Sequence[EditPlan] = ()
    variants: Mapping[str, Variant] = field(default_factory=dict[str, Variant])
    twins: Mapping[str, Sequence[_EditedTwin]] = field(default_factory=dict[str, "Sequence[_EditedTwin]"])
    no_twins: Mapping[str, str] = field(default_factory=dict[str, str])


class _EditedTwin(NamedTuple):
    """A twin with its edited graphs, which are None if the twin is the unedited dialogue."""

    kind: Kind
    variant: Variant | None


class _DecodedTurn(NamedTuple):
    """An edited turn with the result of the decoder: a text, or the reason why there is no text."""

    utterance: EditedUtterance
    decoded: Decoded


@dataclass(frozen=True, slots=True)
class _Made:
    """A negative with its twin, if a twin was requested."""

    negative: Negative
    twin: Negative | None = None


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A request for negatives.

    Attributes:
        settings: Recipe, target and seed.
        transforms: Transforms, keyed by name. All transforms of the recipe must be among them.
        per_dialogue: Number of negatives to make from each dialogue.
        selection: Dialogues from which to make negatives.
        batch: Number of dialogues to edit at a time. The batch size does not change the negatives.
        twins: Whether to make the twin of each negative, which is its correct counterpart: "So you like tea?"
            for "So you don't like tea?". A negative without a twin is refused.
        proved: Whether to refuse a negative unless the discourse layer shows its error, for example that it
            contradicts an earlier clause.
    """

    settings: EditSettings
    transforms: Mapping[str, Transform]
    per_dialogue: int = 1
    selection: Selection = field(default_factory=Selection)
    batch: int = 200
    twins: bool = False
    proved: bool = False

    def __post_init__(self) -> None:
        """Check that the recipe's transforms exist and that ``per_dialogue`` and ``batch`` are positive."""
        missing = [name for name in self.settings.recipe.transforms if name not in self.transforms]
        if missing:
            known = ", ".join(self.transforms)
            raise InputError(f"no transform named {missing[0]!r}; choose one of {known}")
        if self.per_dialogue < 1 or self.batch < 1:
            raise InputError("the number of negatives per dialogue and the batch size must be at least 1")


def default_target(recipe: Recipe, transforms: Mapping[str, Transform]) -> Target:
    """Return the default target of a recipe.

    Args:
        recipe: Recipe that edits graphs.
        transforms: Known transforms, keyed by name.

    Returns:
        The target in the headers of the recipe's transforms, if all headers state the same target; otherwise
        the attribute ``target`` of the recipe.
    """
    targets: list[Target | None] = [
        transforms[name].target for name in recipe.transforms if name in transforms
    ]
    return (targets[0] if len(set(targets)) == 1 else None) or recipe.target


class Negatives(NegativeStream):
    """The negatives of a request, as a stream that can be iterated, written to a file and resumed.

    Each iteration makes all negatives again; ``summary`` describes the last iteration. If an edit is refused,
    other edits of the dialogue are tried, in at most `MAX_ROUNDS` rounds. A negative that could not be made
    is counted in ``summary`` with a reason. Usually this is the reason why the first attempt failed
    (``no-site``, a code of the decoder, ``ungrammatical``, ``duplicate``, ``ill-formed``). If the dialogue
    cannot be edited at all, `refusal_reason` gives the reason.
    """

    def __init__(
        self,
        store: Store,
        request: EditRequest,
        decoder: Decoder,
        progress: Progress | None = None,
        decoder_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Initialize the stream.

        Args:
            store: Store with the dialogues. The edits of the negatives are also written to this store.
            request: Settings for the negatives and the dialogues from which to make them.
            decoder: Decoder that turns edited graphs into text.
            progress: Progress display, which is advanced by the number of finished dialogues.
            decoder_options: Options with which the decoder was made. A run can be resumed only with the same
                options.
        """
        super().__init__()
        self._store = store
        self._request = request
        self._decoder = decoder
        self._graph_cache = GraphCache(store)
        self._progress = progress or NoProgress()
        self._decoder_options = {
            name: repr(with_model_digests(value)) for name, value in (decoder_options or {}).items()
        }
        self._donors = Donors(store)
        self._frames = UnknownFrameCounter(store)
        self._prover = Prover(english(), request.transforms)
        self._writing = Lock()
        self._copied: CopiedContexts | None = None

    @property
    def notes(self) -> Sequence[str]:
        """Messages about unknown PropBank frames that the edits of the last run have introduced."""
        return self._frames.notes()

    def run(self, skip: int, written: Written = tuple[Negative, ...]) -> Iterator[NegativeBatch]:
        """Make the negatives batch by batch.

        The edits of a batch are written to the store before its negatives are yielded. While one batch is
        decoded, the next batches are edited.

        Args:
            skip: Number of dialogues to skip because an earlier run has finished them.
            written: Function that returns the negatives of the skipped dialogues. It is not called, because
                negatives that are made by edits do not depend on negatives of other dialogues.

        Yields:
            The negatives of each batch, with the number of dialogues that are finished so far.
        """
        self._store.check_facts()
        # Empty the caches of graphs and of donors (utterances to copy from). Another program may have changed
        # nodes since the last run, and the digests of graphs do not show this.
        self._graph_cache, self._donors = GraphCache(self._store), Donors(self._store)
        self._prover = Prover(stored_lexicon(self._store), self._request.transforms)
        selection = self._request.selection
        check_selection(self._store, selection)
        self._progress.start("negatives", count_dialogues(self._store, selection), "dialogues")
        self._progress.advance(skip)
        ids = dialogue_ids(self._store, selection, skip, self.resumed.last)
        batches = iter(lambda: list(islice(ids, self._request.batch)), [])
        done = skip
        self._frames.forget()
        self._copied = copied_contexts(self._store)
        # Reduce garbage collections: a batch creates many small objects, which are all needed until the batch
        # is finished, so collections would take time and free nothing.
        with collect_garbage_rarely():
            for batch, wave in prefetch_map(self._begin, batches):
                negatives = self._finish(batch, wave)
                done += len(batch.ids)
                self._progress.advance(len(batch.ids))
                yield NegativeBatch(done, negatives, natural_order(batch.ids[-1]))
        self._progress.finish()

    def settings(self) -> dict[str, Any]:
        """Return the settings that determine the output. A run can be resumed only with the same settings.

        The batch size is not among these settings, because it does not change the output.

        Returns:
            The settings as JSON values, keyed by name.
        """
        plan, selection = self._request.settings, self._request.selection
        recipe = plan.recipe
        return {
            "version": __version__,
            "store": self._store.description,
            "recipe": [
                recipe.name,
                recipe.groups,
                dict(recipe.weights),
                recipe.min_groups,
                recipe.max_groups,
            ],
            "queries": [self._request.transforms[name].identity for name in recipe.transforms],
            "target": plan.target,
            "seed": plan.seed,
            "candidates": plan.sites,
            "per_dialogue": self._request.per_dialogue,
            "twins": self._request.twins,
            "proved": self._request.proved,
            "selection": [selection.corpora, selection.splits, selection.limit],
            "decoder": [self._decoder.name, self._decoder_options],
            "grammar": checker_version(),
        }

    @property
    def shard(self) -> Shard | None:
        """The shard (part of the corpus) from which negatives are made; None for the whole corpus."""
        return self._request.selection.shard

    def shared_content(self) -> str:
        """Return a digest that is the same for all shards of a run.

        Returns:
            A digest of the content of the whole corpus.
        """
        return shared_content(self._store, self._request.selection)

    def content_digest(self) -> str:
        """Return a digest of the selected dialogues and graphs; variants in the store do not change it."""
        return content_digest(self._store, self._request.selection)

    @property
    def description(self) -> str:
        """A description for messages, with the recipe, the negatives per dialogue and the store."""
        recipe, amount = self._request.settings.recipe.name, self._request.per_dialogue
        return (
            f"{recipe}, {amount} of each dialogue, {self._request.selection} in the {self._store.description}"
        )

    def _begin(self, ids: Sequence[str]) -> tuple[_Batch, _Wave]:
        """Read the dialogues of a batch, and run the first planning round."""
        dialogues = read_dialogues(self._store, ids)
        batch = _Batch(ids, dialogues, self._request, self._right_replies(dialogues))
        return batch, self._wave(batch)

    def _right_replies(self, dialogues: Sequence[StoredDialogue]) -> dict[tuple[str, int], NearTexts]:
        """Return all correct alternatives to each turn, keyed by dialogue id and turn number."""
        responses = read_responses(self._store, [dialogue.id for dialogue in dialogues])
        found: dict[tuple[str, int], NearTexts] = {}
        for dialogue in dialogues:
            loaded = [one for one in responses.get(dialogue.id, ()) if one.label == 1]
            for turn in dialogue.turns:
                texts = [one.text for one in loaded if one.turn + 1 == turn.turn]
                # If the same context occurs several times in the corpus, each reply to this context is
                # correct.
                if self._copied is not None:
                    texts += self._copied.replies(dialogue.id, turn.turn)
                if texts:
                    found[dialogue.id, turn.turn] = NearTexts([*texts, turn.text])
        return found

    def _finish(self, batch: _Batch, wave: _Wave) -> list[Negative]:
        """Return the negatives of a batch, after further planning rounds that replace refused negatives."""
        for number in range(MAX_ROUNDS):
            # The caller passes the first round, which was planned while the previous batch was decoded.
            wave = self._wave(batch) if number else wave
            if not wave.plans:
                break
            for plan, result in self._results(wave):
                refused = result if isinstance(result, str) else batch.keep(plan, result)
                if refused is not None:
                    batch.refused[plan.dialogue.id].append((refused, plan.id))
                    batch.exclude(plan, refused)
                elif isinstance(result, _Made):
                    self.summary.add(result.negative)
                    self.summary.twins += result.twin is not None
        for reason, id in batch.missing():
            self.summary.skip(reason, id)
        return [
            record
            for made in batch.made.values()
            for one in made
            for record in ((one.negative,) if one.twin is None else (one.negative, one.twin))
        ]

    def _wave(self, batch: _Batch) -> _Wave:
        """Run one planning round: plan edits for new attempts, store the edits, and apply them to graphs."""
        # The random choices of an attempt depend on its number (its slot). With the same number, a refused
        # attempt would fail again, so the next attempt gets a new number.
        slots = batch.open_slots()
        if not slots:
            return _Wave()
        request, settings = self._request, self._request.settings

        def ask(name: str, dialogues: Sequence[StoredDialogue]) -> Proposals:
            transform = self._request.transforms[name]
            if settings.recipe.skips(transform.target, settings.target):
                return {}
            # Keep the proposed edits of each dialogue, because later planning rounds need them again.
            known = batch.proposals[name]
            new = [dialogue for dialogue in dialogues if dialogue.id not in known]
            if new:
                known.update(dict.fromkeys((dialogue.id for dialogue in new), ()))
                for id, found in propose(self._store, transform, new, self._donors).items():
                    known[id] = _with_twins(batch.by_id[id], found, settings) if request.twins else found
            return {dialogue.id: known[dialogue.id] for dialogue in dialogues}

        plans = plan_edits(settings, batch.dialogues, slots, ask, batch.taken)
        # Batches are edited in several threads. The lock lets only one of them write at a time.
        with self._writing:
            self._frames.count(edit for plan in plans for edit in plan.edits)
            write_variants(self._store, settings, plans)
        edits = {plan.id: plan.edits for plan in plans if plan.edits}
        twins: dict[str, list[PlannedTwin]] = {}
        no_twins: dict[str, str] = {}
        for plan in plans if request.twins else ():
            if not plan.edits:
                continue
            found = planned_twins(settings, plan)
            if isinstance(found, str):
                no_twins[plan.id] = found
            else:
                twins[plan.id] = found
                edits |= {_variant_id(plan.id, twin.kind): twin.edits for twin in found if twin.edits}
        variants = {
            variant.id: variant
            for variant in planned_variants(self._store, self._graph_cache, edits, batch.dialogues)
        }
        edited = {
            id: [_EditedTwin(twin.kind, variants.get(_variant_id(id, twin.kind))) for twin in some]
            for id, some in twins.items()
        }
        return _Wave(plans, variants, edited, no_twins)

    def _results(self, wave: _Wave) -> Iterator[tuple[EditPlan, _Made | str]]:
        """Decode the edited graphs of a planning round into negatives and their twins.

        Yields:
            Each plan with the negative that was made from it, or with the reason why none could be made.
        """
        refused = {plan.id: self._refusal(plan, wave) for plan in wave.plans}
        dialogues = {plan.id: plan.dialogue for plan in wave.plans if refused[plan.id] is None}
        asked = {id: edited_utterances(dialogues[id], wave.variants[id]) for id in dialogues}
        for plan in wave.plans:
            for kind, variant in wave.twins.get(plan.id, ()) if plan.id in dialogues else ():
                if variant is not None and variant.fault is None:
                    turns = edited_utterances(plan.dialogue, variant)
                    # A context twin has the response of its negative, so only its context is written.
                    if kind == "context":
                        turns.pop(plan.turn, None)
                    asked[variant.id] = turns
        # Pass all edited turns of the round to the decoder in one call, so that the decoder can batch them.
        utterances = [utterance for turns in asked.values() for utterance in turns.values()]
        answers = iter([one for _, one in zip(utterances, self._decoder.decode(utterances), strict=True)])
        decoded = {
            id: {
                turn: _DecodedTurn(utterance, answer)
                for (turn, utterance), answer in zip(turns.items(), answers, strict=False)
            }
            for id, turns in asked.items()
        }
        # The check takes time, and the decoder refuses about half of the composed replies, such as *So you
        # don't like tea?*. Check only negatives for which the decoder returned a text.
        written = [
            plan
            for plan in wave.plans
            if plan.id in dialogues and all(one.decoded.text is not None for one in decoded[plan.id].values())
        ]
        verdicts = _verdicts(self._prover, self._graph_cache, written)
        for plan in wave.plans:
            variant, reason = wave.variants.get(plan.id), refused[plan.id]
            # Count the graphs that were checked for well-formedness. If a graph is malformed, its variant has
            # a `fault` and no graphs. Count one graph for such a variant.
            for _ in range(0 if variant is None else max(1, len(variant.graphs))):
                self.summary.check([variant.fault] if variant is not None and variant.fault else [])
            if variant is None or reason is not None:
                yield plan, reason or ""
            else:
                verdict = verdicts.get(plan.id, Verdict())
                yield plan, self._records_of(plan, wave, variant, decoded, verdict)

    def _refusal(self, plan: EditPlan, wave: _Wave) -> str | None:
        """Return why a planned negative is refused before it is decoded; None if it is not refused."""
        variant = wave.variants.get(plan.id)
        if variant is None:
            return "no-site: no transform of the recipe applies"
        if variant.fault is not None:
            return variant.fault
        if plan.id in wave.no_twins:
            return wave.no_twins[plan.id]
        faults = [
            None if twin.variant is None else twin.variant.fault for twin in wave.twins.get(plan.id, ())
        ]
        return f"no-twin: {faults[0]}" if faults and all(faults) else None

    def _records_of(
        self,
        plan: EditPlan,
        wave: _Wave,
        variant: Variant,
        decoded: Mapping[str, Mapping[int, _DecodedTurn]],
        verdict: Verdict,
    ) -> _Made | str:
        """Build the records of a negative and its twin from decoded turns, or return why there are none."""
        texts, reason = _texts(decoded[plan.id])
        reason = reason or _off_topic(plan, variant, texts)
        if reason is not None:
            return reason
        if self._request.proved and not verdict.proved:
            return "unproved: the discourse layer does not show the error"
        negative = negative_from_variant(self._request.settings, plan, variant, texts, self._decoder.name)
        negative = msgspec.structs.replace(negative, proved=verdict.proved)
        if not self._request.twins:
            return _Made(negative)
        negative = msgspec.structs.replace(negative, pair=negative.id)
        reasons: list[str] = []
        for twin in wave.twins[plan.id]:
            found = self._twin(plan, negative, twin, decoded, verdict)
            if not isinstance(found, str):
                return _Made(negative, found)
            reasons.append(found)
        return f"no-twin: {reasons[0]}"

    def _twin(
        self,
        plan: EditPlan,
        negative: Negative,
        twin: _EditedTwin,
        decoded: Mapping[str, Mapping[int, _DecodedTurn]],
        verdict: Verdict,
    ) -> Negative | str:
        """Build the record of a twin, or return why it cannot be made."""
        settings, variant = self._request.settings, twin.variant
        if variant is None:
            return twin_of(settings, plan, negative, None, {})
        if variant.fault is not None:
            return variant.fault
        texts, reason = _texts(decoded[variant.id])
        if reason is not None:
            return reason
        if twin.kind == "reply" and verdict.contradicted is not None:
            return f"the twin would contradict turn {verdict.contradicted}"
        if twin.kind == "context":
            reason = _context_refusal(self._prover, self._graph_cache, plan, variant, texts)
            if reason is not None:
                return reason
            texts[plan.turn] = negative.response
        return twin_of(settings, plan, negative, variant, texts)


def _variant_id(id: str, kind: Kind) -> str:
    """Return the id of the edited graphs of a twin. Several kinds of twins may be tried, so add the kind."""
    return f"{twin_id(id)}.{kind}"


def _with_twins(
    dialogue: StoredDialogue, proposals: Sequence[Proposal], settings: EditSettings
) -> Sequence[Proposal]:
    """Return the proposals that can have a twin, and prefer those whose context can be edited.

    Without the preference, few twins would have an edited context, because few statements can be edited.
    If no proposal can have a twin, all proposals are returned, and the negative is refused with the reason
    ``no-twin``.
    """
    numbers = {turn.graph_id: turn.turn for turn in dialogue.turns}
    last = dialogue.turns[-1].turn

    def kinds(proposal: Proposal) -> frozenset[Kind]:
        response = numbers[next(iter(proposal.graphs))] if settings.target == "response" else last
        return possible_twins(settings.seed, dialogue, response, proposal.edits)

    known = [(one, kinds(one)) for one in proposals]
    found = [one for one, some in known if "context" in some] or [one for one, some in known if some]
    return found or proposals


def _context_refusal(
    prover: Prover, graph_cache: GraphCache, plan: EditPlan, variant: Variant, texts: Mapping[int, str]
) -> str | None:
    """Return why the context of a twin would not be consistent; None if it would be."""
    copied = copied_clause(plan.dialogue, plan.edits)
    if copied is None:
        return "the negative repeats no clause"
    source = copied.source_turn
    if changes_other_words(source.text, texts[source.turn], copied.changes):
        return "the edit changes other words of the statement, too"
    graphs = graph_cache.get(set(graphs_before(plan.dialogue, copied)), plan.dialogue.digests)
    edited = variant.graphs[source.graph_id or ""].after
    return prover.check_context(plan.dialogue, copied, graphs, edited)


def _verdicts(prover: Prover, graph_cache: GraphCache, plans: Sequence[EditPlan]) -> dict[str, Verdict]:
    """Look for a proof of the error of each negative in the discourse layer.

    A proof is, for example, that the reply contradicts an earlier clause. Negatives are left out if their
    transforms declare no relation that proves the error.

    Returns:
        The verdicts, keyed by the id of the negative.
    """
    copied = {
        plan.id: found
        for plan in plans
        if (found := copied_clause(plan.dialogue, plan.edits)) is not None
        and prover.declared_relations(found)
    }
    checked = [plan for plan in plans if plan.id in copied]
    needed = {id for plan in checked for id in graphs_before(plan.dialogue, copied[plan.id])}
    digests = {id: digest for plan in checked for id, digest in plan.dialogue.digests.items()}
    graphs = graph_cache.get(needed, digests) if needed else {}
    return {plan.id: prover.check(plan.dialogue, copied[plan.id], graphs) for plan in checked}


def _texts(turns: Mapping[int, _DecodedTurn]) -> tuple[dict[int, str], str | None]:
    """Return decoded texts, keyed by turn number, and why they are refused (None if they are not)."""
    texts = {turn: one.decoded.text or "" for turn, one in turns.items()}
    reason = next((one.decoded.reason for one in turns.values() if one.decoded.text is None), None)
    return texts, reason or _ungrammatical(turns)


def _ungrammatical(turns: Mapping[int, _DecodedTurn]) -> str | None:
    """Return why decoded texts are refused, or None if none of them has a new grammatical error.

    The unedited text may contain an error, such as "Sure, I loves curry." An error in the decoded text is
    ignored if the unedited text contains it, or if a text from which words were copied contains it.
    """
    for utterance, decoded in turns.values():
        text = decoded.text or ""
        error = new_error(text, (utterance.text, *utterance.source_texts.values()))
        if error is not None:
            return f"ungrammatical: {text!r} ({error})"
    return None


def _off_topic(plan: EditPlan, variant: Variant, texts: Mapping[int, str]) -> str | None:
    """Return why a text that contains a sentence of another dialogue is refused, or None if it is kept.

    The text must share a content word with the turns before it. Greetings and vague words do not count: after
    "Good morning, sir.", the statement "I had a good time, sir" is off-topic.
    """
    if not variant.donors:
        return None
    for edited in variant.graphs.values():
        if any(edit.from_amr in variant.donors for edit in edited.edits):
            turn = next(turn.turn for turn in plan.dialogue.turns if turn.graph_id == edited.edits[0].amr)
            before = [texts.get(one.turn, one.text) for one in plan.dialogue.turns if one.turn < turn]
            said = {lemma for text in before for lemma in content_lemmas(text)}
            if said.isdisjoint({*content_lemmas(texts[turn])} - NO_TOPIC):
                return f"off-topic: {texts[turn]!r} shares no content word with its context"
    return None


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


def variants_digest(store: Store) -> str:
    """Return a digest of the edits of all negatives in a store.

    Args:
        store: Store that may contain edits of negatives.

    Returns:
        The digest; an empty string if the store contains no edits.
    """
    rows = store.read(cypher_text("edit/every"))
    return digest(sorted((row["id"], row["digest"]) for row in rows)) if rows else ""


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
    verdicts = _verdicts(prover, graph_cache, [plan for _, plan, _ in planned])
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


class _Batch:
    """A batch of dialogues with the negatives made so far, the attempts, and the reasons for failures.

    The attempts to make a negative from a dialogue are numbered. Such a number is called a slot.
    """

    def __init__(
        self,
        ids: Sequence[str],
        dialogues: Sequence[StoredDialogue],
        request: EditRequest,
        right: Mapping[tuple[str, int], NearTexts],
    ) -> None:
        self.ids, self.dialogues = ids, list(map(editable, dialogues))
        self.by_id = {dialogue.id: dialogue for dialogue in self.dialogues}
        self._right = right
        self._amount = request.per_dialogue
        judged = {dialogue.id: refusal_reason(dialogue, request.settings.target) for dialogue in dialogues}
        self.made: dict[str, list[_Made]] = {id: [] for id, reason in judged.items() if reason is None}
        self.refused = {id: [(reason, id)] * self._amount if reason else [] for id, reason in judged.items()}
        self._tried = dict.fromkeys(self.made, 0)
        self._seen: set[tuple[str, ...]] = set()
        self.taken: Taken = defaultdict(set)
        self._failures: set[tuple[str | int, ...]] = set()
        # The proposals of each transform, keyed by dialogue id.
        self.proposals: defaultdict[str, dict[str, Sequence[Proposal]]] = defaultdict(dict)

    def open_slots(self) -> dict[str, range]:
        """Return the slots (attempt numbers) to try next: one per missing negative, keyed by dialogue id."""
        slots: dict[str, range] = {}
        for id, made in self.made.items():
            if len(made) < self._amount:
                first = self._tried[id]
                self._tried[id] += self._amount - len(made)
                slots[id] = range(first, self._tried[id])
        return slots

    def exclude(self, plan: EditPlan, reason: str) -> None:
        """Exclude the statement that a refused reply repeats, if it was refused for the same reason before.

        In other reply frames, the decoder would refuse it again, so that the attempts could be used up before
        all other statements of the dialogue are tried.

        Args:
            plan: The plan of the refused reply.
            reason: Why the reply was refused.
        """
        if reason.partition(":")[0] in _REASONS_OF_STATEMENTS:
            for statement in refused_statements(plan):
                failure = (plan.dialogue.id, plan.turn, *statement, reason)
                if failure in self._failures:
                    self.taken[plan.dialogue.id].add(statement)
                self._failures.add(failure)

    def missing(self) -> Iterator[tuple[str, str]]:
        """Yield the reason for each missing negative, with the id of the negative or of the dialogue.

        The id is that of the dialogue if the dialogue cannot be edited at all.
        """
        for id, refused in self.refused.items():
            yield from refused[: self._amount - len(self.made.get(id, ()))]

    def keep(self, plan: EditPlan, made: _Made) -> str | None:
        """Keep a negative and its twin unless the negative is a correct response or a duplicate.

        Returns:
            None if the negative was kept, otherwise the reason why it was refused.
        """
        negative = made.negative
        if self._is_right(plan, negative):
            return "right-response: the text repeats a correct response of its context"
        original = negative.original.response or negative.response
        kept = {*map(match_key, sentences(original))}
        wrong = [text for text in sentences(negative.response) if match_key(text) not in kept]
        texts = [*(turn.text for turn in negative.context), negative.response]
        # A negative is a duplicate if an earlier negative of the dialogue has the same context and response,
        # or if the edited sentences of both responses are the same.
        read = {(plan.dialogue.id, *some) for some in (texts, wrong) if some}
        if not self._seen.isdisjoint(read):
            return "duplicate: an earlier negative of the dialogue has the same text"
        self._seen |= read
        self.made[plan.dialogue.id].append(made)
        return None

    def _is_right(self, plan: EditPlan, negative: Negative) -> bool:
        """Return whether the response is a known correct response to its context or to an equal context."""
        right = self._right.get((plan.dialogue.id, plan.turn))
        # A correct response to the original context may be wrong in an edited context, so accept it there.
        if right is None or negative.original.context is not None:
            return False
        own = {*plan.dialogue.graphs, None}
        # If a sentence was copied from another dialogue, refuse a response that is nearly equal to a correct
        # response. Other edited responses may be wrong because of a single word, so refuse them only if they
        # are equal to a correct response.
        if any(edit.from_amr not in own for edit in plan.edits):
            return negative.response in right
        return right.has_equal(negative.response)


def _realised(
    planned: Sequence[tuple[EditSettings, EditPlan, Variant]], decoder: Decoder
) -> Iterator[Explanation]:
    """Decode edited graphs into negatives. If the decoder refuses a turn, its reason is returned as well."""
    turns = [edited_utterances(plan.dialogue, variant) for _, plan, variant in planned]
    asked = [utterance for some in turns for utterance in some.values()]
    answers = iter([answer for _, answer in zip(asked, decoder.decode(asked), strict=True)])
    for (settings, plan, variant), utterances in zip(planned, turns, strict=True):
        own = dict(zip(utterances, answers, strict=False))
        texts = {turn: answer.text for turn, answer in own.items() if answer.text is not None}
        refused = {turn: answer.reason or "" for turn, answer in own.items() if answer.text is None}
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
    # Graphs that an earlier call has written are not written again.
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
