"""Make negatives from dialogues in the store, in five steps: propose, plan, apply, decode, check.

The input is an `EditRequest` (a recipe, the number of negatives, a selection of dialogues) and a decoder. The
output is `graphneg.model.Negative` records, batch by batch. While one batch is decoded, other threads edit
the next batches. An example of one negative:

    everyday/train/12#5   B: I have an umbrella in the car.
    recipe "polarity_flip" add :polarity - to have-03
    negative              B: I do not have an umbrella in the car.

`graphneg.editing.twins` makes the twins of negatives. `graphneg.editing.replay` makes negatives again from
the edits in the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any

import msgspec

from graphneg import __version__
from graphneg.decoders.base import Decoder
from graphneg.editing.decoding import DecodedTurns, checked_texts, decode_turns, off_topic
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
from graphneg.editing.proof import Prover, Verdict
from graphneg.editing.proposals import Proposal, QueryData, UnknownFrameCounter, propose
from graphneg.editing.recipes import Recipe, Target
from graphneg.editing.transforms import Transform
from graphneg.editing.twins import PlannedTwins, proposals_with_twins
from graphneg.editing.variants import (
    Variant,
    edited_utterances,
    negative_from_variant,
    planned_variants,
    write_variants,
)
from graphneg.english.grammar import checker_version
from graphneg.english.lexicon import english
from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import match_key, sentences
from graphneg.errors import InputError
from graphneg.hashing import with_model_digests
from graphneg.ids import natural_order
from graphneg.ingest.lexicon import stored_lexicon
from graphneg.model import Negative
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
from graphneg.workers import collect_garbage_rarely, prefetch_map

MAX_ROUNDS = 12
"""Maximum number of planning rounds for a batch of dialogues. Later rounds replace refused negatives."""
# Codes of reasons for which a decoder refuses to repeat a statement, whatever the reply frame is.
_REASONS_OF_STATEMENTS = frozenset({"unclear-clause", "unsupported-edit", "already-negative", "no-alignment"})


@dataclass(frozen=True, slots=True)
class _Wave:
    """One planning round for a batch of dialogues.

    Attributes:
        plans: The planned edits of each attempt to make a negative.
        variants: The edited graphs of the planned negatives and their twins, keyed by the id of the variant.
            The id of a negative is also that of its variant.
        twins: The twins that could be made of the negatives.
    """

    plans: Sequence[EditPlan]
    variants: Mapping[str, Variant]
    twins: PlannedTwins


@dataclass(frozen=True, slots=True)
class _Made:
    """The record of a negative and, if requested, of its twin (a similar reply without the error)."""

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
        self._query_data = QueryData(store)
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
        self._graph_cache, self._query_data = GraphCache(self._store), QueryData(self._store)
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
        """Return a digest of the selected dialogues and graphs. Edits of negatives do not change it."""
        return content_digest(self._store, self._request.selection)

    @property
    def description(self) -> str:
        """A description for messages, with the recipe, the negatives per dialogue and the store."""
        recipe, amount = self._request.settings.recipe.name, self._request.per_dialogue
        return (
            f"{recipe}, {amount} of each dialogue, {self._request.selection} in the {self._store.description}"
        )

    def _begin(self, ids: Sequence[str]) -> tuple[_Batch, _Wave | None]:
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
                # If a context occurs several times in the corpus, the replies to all its occurrences are
                # correct.
                if self._copied is not None:
                    texts += self._copied.replies(dialogue.id, turn.turn)
                if texts:
                    found[dialogue.id, turn.turn] = NearTexts([*texts, turn.text])
        return found

    def _finish(self, batch: _Batch, wave: _Wave | None) -> list[Negative]:
        """Return the negatives of a batch, after further planning rounds that replace refused negatives."""
        for number in range(MAX_ROUNDS):
            # Plan a new round, except for the first one: `_begin` planned it (as `wave`) while the previous
            # batch was decoded.
            wave = self._wave(batch) if number else wave
            if wave is None:
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

    def _wave(self, batch: _Batch) -> _Wave | None:
        """Run one planning round: plan edits for new attempts, store the edits, and apply them to graphs.

        Returns:
            The planned negatives; None if all negatives are made.
        """
        # The random choices of an attempt depend on its number (its slot). With the same number, a refused
        # attempt would fail again, so the next attempt gets a new number.
        slots = batch.open_slots()
        if not slots:
            return None
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
                for id, found in propose(self._store, transform, new, self._query_data).items():
                    known[id] = (
                        proposals_with_twins(batch.by_id[id], found, settings) if request.twins else found
                    )
            return {dialogue.id: known[dialogue.id] for dialogue in dialogues}

        plans = plan_edits(settings, batch.dialogues, slots, ask, batch.taken)
        # Batches are edited in several threads. The lock lets only one of them write at a time.
        with self._writing:
            self._frames.count(edit for plan in plans for edit in plan.edits)
            write_variants(self._store, settings, plans)
        twins = PlannedTwins(settings, plans if request.twins else (), self._prover, self._graph_cache)
        edits = {plan.id: plan.edits for plan in plans if plan.edits} | twins.edits()
        variants = planned_variants(self._store, self._graph_cache, edits, batch.dialogues)
        return _Wave(plans, {variant.id: variant for variant in variants}, twins)

    def _results(self, wave: _Wave) -> Iterator[tuple[EditPlan, _Made | str]]:
        """Decode the edited graphs of a planning round into negatives and their twins.

        Yields:
            Each plan with the negative that was made from it, or with the reason why none could be made.
        """
        refused = {plan.id: self._refusal(plan, wave) for plan in wave.plans}
        dialogues = {plan.id: plan.dialogue for plan in wave.plans if refused[plan.id] is None}
        asked = {id: edited_utterances(dialogues[id], wave.variants[id]) for id in dialogues}
        for plan in wave.plans:
            if plan.id in dialogues:
                asked |= wave.twins.utterances(plan, wave.variants)
        decoded = decode_turns(asked, self._decoder)
        # The check whether a negative contains the intended error takes time. The decoder refuses about half
        # of the composed replies, such as *So you don't like tea?*. So check only negatives for which the
        # decoder returned a text.
        written = [
            plan
            for plan in wave.plans
            if plan.id in dialogues and all(one.decoded.text is not None for one in decoded[plan.id].values())
        ]
        verdicts = self._prover.verdicts(written, self._graph_cache)
        for plan in wave.plans:
            variant, reason = wave.variants.get(plan.id), refused[plan.id]
            # Count the graphs that were checked for defects. A variant (the edited graphs of a negative) with
            # a malformed graph has a `fault` and no graphs, so count it as one graph.
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
        return wave.twins.refusal(plan.id, wave.variants)

    def _records_of(
        self,
        plan: EditPlan,
        wave: _Wave,
        variant: Variant,
        decoded: Mapping[str, DecodedTurns],
        verdict: Verdict,
    ) -> _Made | str:
        """Build the records of a negative and its twin from decoded turns, or return why there are none."""
        texts, reason = checked_texts(decoded[plan.id])
        reason = reason or off_topic(plan, variant, texts)
        if reason is not None:
            return reason
        if self._request.proved and not verdict.proved:
            return "unproved: the discourse layer does not show the error"
        negative = negative_from_variant(self._request.settings, plan, variant, texts, self._decoder.name)
        negative = msgspec.structs.replace(negative, proved=verdict.proved)
        if not self._request.twins:
            return _Made(negative)
        negative = msgspec.structs.replace(negative, pair=negative.id)
        twin = wave.twins.record(plan, negative, wave.variants, decoded, verdict)
        return twin if isinstance(twin, str) else _Made(negative, twin)


class _Batch:
    """A batch of dialogues, with the negatives made so far, and the attempts that failed with their reasons.

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
        # The proposed edits, keyed by the name of the transform and by dialogue id.
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
        """Exclude a statement from further replies if two replies that repeat it fail for the same reason.

        The decoder would refuse the statement in all other reply frames, too. Without this exclusion, replies
        with this statement could use up all attempts before any other statement of the dialogue is tried.

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
        """Yield the reason for each missing negative, with the id of the negative.

        If the dialogue cannot be edited at all, the id is that of the dialogue.
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
        # After an edited context, a response that was correct may be wrong. So do not refuse it if the
        # context was edited.
        if right is None or negative.original.context is not None:
            return False
        own = {*plan.dialogue.graphs, None}
        # If a sentence was copied from another dialogue, refuse a response that is nearly equal to a correct
        # response. Other edited responses may be wrong because of a single word, so refuse them only if they
        # are equal to a correct response.
        if any(edit.from_amr not in own for edit in plan.edits):
            return negative.response in right
        return right.has_equal(negative.response)
