"""Run a generator over the contexts of a store and stream the negatives.

`Generated` reads the contexts that a `Generation` selects, calls the generator for one batch of contexts
after another, and converts each candidate into a `graphneg.model.Negative`. The stream of negatives can be
iterated over, written to a file or converted into a table. Its summary counts the missing negatives by
reason. For example, a context, a candidate for it and the resulting negative are::

    Context     "everyday/train/1#2" with A: "Is it far?" B: "No."
    Candidate   "The far side of the moon is dark."
    Negative    id "everyday/train/1#2~overlap.0.0", response "The far side of the moon is dark.", label 0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from graphneg import __version__
from graphneg.editing.transforms import CATEGORIES
from graphneg.english.tokens import match_key
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import (
    BATCH,
    Candidate,
    Context,
    ContextBatch,
    ContextSelection,
    Generator,
    TurnEdit,
    context_batches,
    generator_errors,
)
from graphneg.generators.deferred_choice import DRAFTS, pack_draft
from graphneg.ids import natural_order
from graphneg.model import EditRecord, Negative, Original
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import to_record
from graphneg.records.resumable import NegativeBatch, NegativeStream, Written
from graphneg.records.shards import Header, ShardBatch
from graphneg.shards import Shard
from graphneg.store.connection import Store
from graphneg.store.contents import texts_digest
from graphneg.store.copied_contexts import copied_contexts
from graphneg.store.corpus_data import check_selection, shared_content
from graphneg.store.dialogues import count_dialogues
from graphneg.workers import prefetch_map

PREFETCHED = 2
"""Number of batches for which `Generator.prefetch` is called in advance. With two batches, the model server
always has prompts to answer while the prompts of the next batch are built."""
TOO_FEW = "too-few: the generator returned fewer candidates than requested"
"""Reason that is recorded for a missing candidate if the generator gives no reason."""
EMPTY = "empty: the text has no words"
RIGHT = "right-response: the text repeats a correct response of its context"
COPY = "copies-context: the text repeats the last turn of the context"
TOO_MANY = "too-many: the generator returned more candidates than requested"
"""Reasons for which `usable_candidates` drops a candidate of any generator."""
NO_CONTEXT = "no-context: no turn precedes the response"
"""Reason that is recorded for the missing candidates of a dialogue without a context."""


@dataclass(frozen=True, slots=True)
class Generation:
    """Settings for a run: how many negatives to generate, and for which contexts.

    Attributes:
        per_context: Number of negatives to generate per context.
        seed: Seed for all random choices.
        contexts: Selection of the contexts for which negatives are generated.
        batch: Number of dialogues per batch; None for the generator's own batch size.

    Raises:
        InputError: ``per_context`` or ``batch`` is below 1.
    """

    per_context: int = 1
    seed: int = 0
    contexts: ContextSelection = field(default_factory=ContextSelection)
    batch: int | None = None

    def __post_init__(self) -> None:
        """Check that ``per_context`` and ``batch`` are at least 1."""
        if self.per_context < 1 or (self.batch is not None and self.batch < 1):
            raise InputError("the number of negatives per context and the batch size must be at least 1")


class Generated(NegativeStream):
    """A stream of the negatives that a generator makes.

    Each iteration over the stream generates the negatives again. ``summary`` describes the last iteration and
    counts the missing negatives by reason: ``no-context`` if a dialogue has no context, otherwise the reason
    given by the generator, or ``too-few`` if the generator gives no reason. ``summary`` also counts the
    candidates that `usable_candidates` drops.
    """

    def __init__(
        self, store: Store, generator: Generator, generation: Generation, progress: Progress | None = None
    ) -> None:
        """Initialize the stream. Nothing is read before the first iteration.

        Args:
            store: Store that contains the dialogues.
            generator: Generator that makes the negatives.
            generation: Settings for the run, such as the number of negatives per context.
            progress: Progress display, which counts the finished dialogues; None for no display.
        """
        super().__init__()
        self._store = store
        self._generator = generator
        self._generation = generation
        self._progress = progress or NoProgress()

    @property
    def notes(self) -> Sequence[str]:
        """The generator's messages for the user, for example that an optional check is not active."""
        return self._generator.notes()

    def run(self, skip: int, written: Written) -> Iterator[NegativeBatch]:
        """Generate negatives for one batch of dialogues after another.

        Args:
            skip: Number of dialogues that an interrupted run has already finished.
            written: Function that returns the negatives that the interrupted run has written.

        Yields:
            For each batch, its negatives, and the number of dialogues finished so far.
        """
        self._store.check_facts()
        # The candidates of some generators depend on earlier negatives. Therefore the generator gets the
        # negatives that the interrupted run has already written.
        with self._named():
            self._generator.begin(written(), self._progress)
        for done, part in self._context_batches(skip):
            yield NegativeBatch(done, list(self._negatives(part.contexts)), part.last)

    @property
    def shard(self) -> Shard | None:
        """The shard whose dialogues are used; None for all dialogues."""
        return self._generation.contexts.selection.shard

    def shard_header(self, content: str | None = None) -> Header:
        """Return the header for the output file of a shard.

        Args:
            content: Digest of the store content that all shards have in common; None to compute the digest.

        Returns:
            The header. If candidates are chosen only when the shards are merged, the file contains drafts:
            lists of candidates for each context. Then the field ``kind`` is ``drafts``, and the field
            ``choice`` contains the settings for choosing.
        """
        header, choice = super().shard_header(content), self._generator.choice(self._generation.per_context)
        return header if choice is None else replace(header, kind=DRAFTS, choice=choice)

    def run_shard(self, skip: int) -> Iterator[ShardBatch]:
        """Generate the items for the output file of one shard.

        An item is a negative. If the generator makes drafts (see `graphneg.generators.deferred_choice`), an
        item is a draft: all candidates for a context, some of which are chosen when the shards are merged.

        Args:
            skip: Number of dialogues of the shard that an interrupted run has already finished.

        Yields:
            For each batch, its items, and the number of dialogues finished so far.

        Raises:
            GeneratorError: The candidates depend on the candidates of earlier contexts, but the generator
                makes no drafts.
        """
        generator, asked = self._generator, self._generation
        if generator.choice(asked.per_context) is None:
            # Earlier contexts may be in other shards. Their candidates are not known here, so a generator
            # that needs them cannot run on a shard.
            if generator.depends_on_earlier:
                raise GeneratorError(
                    f"generator {generator.name} depends on its earlier output and makes no drafts: make its "
                    "negatives in one run, without a shard"
                )
            yield from super().run_shard(skip)
            return
        # `begin` takes the negatives that an interrupted run has written, so that they are not made again.
        # Pass none here: `drafts` returns all candidates, whatever was written before.
        with self._named():
            generator.begin((), self._progress)
        for done, part in self._context_batches(skip):
            with self._named():
                made = generator.drafts(part.contexts, asked.per_context, asked.seed) if part.contexts else ()
            items: list[tuple[str, Any]] = []
            for context, draft in zip(part.contexts, made, strict=True):
                records = [
                    to_record(negative_from_candidate(context, candidate, generator.name, asked.seed, slot))
                    for slot, candidate in enumerate(draft.candidates)
                ]
                if records:
                    items.append((natural_order(context.dialogue), pack_draft(records, draft.facts)))
            for reason, id in generator.missing():
                self.summary.skip(reason, id)
            yield ShardBatch(done, items, part.last)

    def _named(self) -> AbstractContextManager[None]:
        """Return a context manager that adds the generator's name to errors that the generator raises."""
        return generator_errors(self._generator.name, self._generator)

    def _context_batches(self, skip: int) -> Iterator[tuple[int, ContextBatch]]:
        """Yield batches of contexts, starting after the first ``skip`` dialogues.

        Each batch is paired with the number of dialogues up to its end, including the skipped dialogues.
        """
        generator, asked = self._generator, self._generation
        check_selection(self._store, asked.contexts.selection)
        total = count_dialogues(self._store, asked.contexts.selection)
        self._progress.start(f"negatives, {generator.name}", total, "dialogues")
        self._progress.advance(skip)
        done = skip
        batch = asked.batch or generator.batch
        copied = copied_contexts(self._store)
        parts = context_batches(self._store, asked.contexts, batch, skip, self.resumed.last, copied)
        if generator.prefetches:
            # Prepare the prompts of the next batch while a server answers the prompts of this batch.
            parts = prefetch_map(lambda part: _prefetched(part, generator, asked), parts, PREFETCHED)
        for part in parts:
            for id in part.without:
                # This dialogue has no context, so all ``per_context`` negatives for it are missing.
                for _ in range(asked.per_context):
                    self.summary.skip(NO_CONTEXT, id)
            done += part.dialogues
            yield done, part
            self._progress.advance(part.dialogues)
        self._progress.finish()

    def estimate(self) -> Any:
        """Count the requests that the generator would send to a server.

        Returns:
            A `graphneg.nn.served.CountingWriter` with the counts, which do not include requests whose answers
            are cached; None if the generator uses no server.
        """
        asked = self._generation
        copied = copied_contexts(self._store)
        parts = context_batches(self._store, asked.contexts, asked.batch or BATCH, copied=copied)
        with self._named():
            return self._generator.estimate((part.contexts for part in parts), asked.per_context, asked.seed)

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that determine the output. They do not include the batch size."""
        asked, selection = self._generation, self._generation.contexts.selection
        return {
            "version": __version__,
            "store": self._store.description,
            "generator": self._generator.name,
            # Include the options of the generator, because an interrupted run can only be resumed with the
            # same options.
            "options": dict(self._generator.settings()),
            "per_context": asked.per_context,
            "seed": asked.seed,
            "selection": [selection.corpora, selection.splits, selection.limit],
            "places": asked.contexts.places,
        }

    def shared_content(self) -> str:
        """Return a digest of the content that all shards of a run share. It is equal for all shards."""
        return shared_content(self._store, self._generation.contexts.selection)

    def content_digest(self) -> str:
        """Return a digest of the store's content, without data that generators write to the store."""
        return texts_digest(self._store, self._generation.contexts.selection)

    @property
    def description(self) -> str:
        """A short description of the run for messages to the user."""
        amount, selection = self._generation.per_context, self._generation.contexts.selection
        return (
            f"{self._generator.name}, {amount} of each context, {selection} in the {self._store.description}"
        )

    def _negatives(self, contexts: Sequence[Context]) -> Iterator[Negative]:
        """Yield the negatives for a batch of contexts, and count how many negatives are missing."""
        name, asked = self._generator.name, self._generation
        with self._named():
            answers = self._generator.generate(contexts, asked.per_context, asked.seed) if contexts else ()
        left_out = self._generator.missing()
        explained = Counter(id for _, id in left_out)
        _require_list(answers, name)
        if len(answers) != len(contexts):
            raise GeneratorError(
                f"generator {name} answered {len(answers)} of {len(contexts)} contexts; "
                "it must give one list for each, in order"
            )
        for context, candidates in zip(contexts, answers, strict=True):
            usable, dropped = usable_candidates(context, candidates, asked.per_context, name)
            for slot, candidate in enumerate(usable):
                negative = negative_from_candidate(context, candidate, name, asked.seed, slot)
                self.summary.add(negative)
                yield negative
            for reason in dropped:
                self.summary.skip(reason, context.id)
            # If the generator gave no reason for a missing candidate, the reason is ``too-few``.
            for _ in range(asked.per_context - len(candidates) - explained[context.id]):
                self.summary.skip(TOO_FEW, context.id)
        for reason, id in left_out:
            self.summary.skip(reason, id)
        for feature, is_met in self._generator.target_features():
            self.summary.count_feature(feature, is_met)


def _require_list(value: Any, name: str) -> None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise GeneratorError(
            f"generator {name} returned a {type(value).__name__}; generate(contexts, per_context, seed) must "
            "return one list of candidates for each context, in order"
        )


def _prefetched(part: ContextBatch, generator: Generator, asked: Generation) -> ContextBatch:
    """Let the generator prefetch answers for a batch of contexts. Return the batch, unchanged."""
    with generator_errors(generator.name, generator):
        generator.prefetch(part.contexts, asked.per_context, asked.seed)
    return part


def usable_candidates(
    context: Context, candidates: Sequence[Candidate], per_context: int, name: str
) -> tuple[list[Candidate], list[str]]:
    """Drop candidates that are not wrong responses to the context, and candidates beyond the maximum.

    Raises `GeneratorError` if an item is not a `Candidate` whose text is a string and whose categories are
    known.

    A candidate is dropped if it has no words, equals a correct response or repeats the last turn. Two kinds
    of candidates may equal a correct response or the last turn: a candidate that edits earlier turns, because
    one of these turns is wrong, and a candidate with label 1, which is meant to be correct.

    Args:
        context: Context for which the candidates were made.
        candidates: Candidates in the order in which the generator returned them.
        per_context: Maximum number of usable candidates.
        name: Name of the generator, for error messages.

    Returns:
        A list of the usable candidates, and a list with one reason (``code: sentence``) for each dropped
        candidate.
    """
    _require_list(candidates, name)
    right = set(map(match_key, context.correct_responses))
    last = match_key(context.turns[-1].text) if context.turns else ""
    usable: list[Candidate] = []
    dropped: list[str] = []
    for candidate in candidates:
        _require_candidate(candidate, name)
        key = match_key(candidate.text)
        compared = candidate.context is None and candidate.label == 0
        if not key:
            dropped.append(EMPTY)
        elif compared and key in right:
            dropped.append(RIGHT)
        elif compared and key == last:
            dropped.append(COPY)
        elif len(usable) == per_context:
            dropped.append(TOO_MANY)
        else:
            usable.append(candidate)
    return usable, dropped


def _require_candidate(value: Any, name: str) -> None:
    if not isinstance(value, Candidate):
        raise GeneratorError(
            f"generator {name} returned a {type(value).__name__} as a candidate; "
            "a candidate is a graphneg.generators.Candidate(text, categories)"
        )
    text: Any = value.text
    categories: Any = value.categories
    if not isinstance(text, str):
        raise GeneratorError(f"generator {name}: the text of a candidate must be a string, not {text!r}")
    if isinstance(categories, str):
        raise GeneratorError(
            f"generator {name}: the categories of a candidate are a tuple, ({categories!r},), "
            f"not {categories!r}"
        )
    for category in categories:
        if category not in CATEGORIES:
            raise GeneratorError(
                f"generator {name}: category {category!r} is not one of {', '.join(CATEGORIES)}"
            )


def negative_from_candidate(
    context: Context, candidate: Candidate, name: str, seed: int, slot: int
) -> Negative:
    """Convert a candidate into a negative.

    If only the response is new, the negative has one edit per error category. The edit says where the
    response comes from: ``transform`` is the name of the generator, ``node`` is the ``source`` in the
    candidate's ``provenance``, and ``before`` lists the rest of the provenance as text, such as ``keywords:
    tea``.

    If the generator edited the whole dialogue, the negative has one edit per edited turn and category. Its
    ``original`` contains the turns as they were before the edits.

    Args:
        context: Context for which the candidate was made.
        candidate: Candidate to convert.
        name: Name of the generator.
        seed: Seed for the random choices of the run.
        slot: Index of the candidate among the candidates for the context.

    Returns:
        The negative.
    """
    turns = context.turns if candidate.context is None else candidate.context
    # Store the original turns of the context only if the generator edited the context.
    before = None if turns == context.turns else context.turns
    right = context.positives[0] if context.positives else None
    # If the generator edited only earlier turns, the response is still the correct response of the dialogue.
    # It has not replaced another response, so store no original response.
    if candidate.context is not None and candidate.text == right:
        right = None
    details = dict(candidate.provenance)
    source = details.pop("source", None)
    made_of = "; ".join(f"{key}: {value}" for key, value in details.items())
    whole = TurnEdit(context.turn, made_of or None, candidate.text, source)
    return Negative(
        id=f"{context.id}~{name}.{seed}.{slot}",
        corpus=context.corpus,
        split=context.split,
        dialogue=context.dialogue,
        turn=context.turn,
        context=turns,
        response=candidate.text,
        speaker=candidate.speaker or context.speaker,
        label=candidate.label,
        original=Original(before, right),
        categories=candidate.categories,
        recipe=name,
        target="response" if candidate.context is None else "dialogue",
        seed=seed,
        decoder="",
        edits=tuple(
            EditRecord(edit.turn, name, category, edit.source, edit.before, edit.after)
            # An `EditRecord` has one error category, but a candidate may have several. So make one record per
            # edit and category.
            for category in candidate.categories
            for edit in candidate.turn_edits or (whole,)
        ),
        amr={},
        scores=dict(candidate.scores),
    )
