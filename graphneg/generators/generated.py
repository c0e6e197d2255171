"""Negatives that a generator makes: a stream that can be iterated, written, or turned into a table.

A store, a generator and a `Generation` (how many, of which contexts) go in; `graphneg.model.Negative` records
come out, and a summary that counts what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphneg import __version__
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
    settings_of,
)
from graphneg.generators.drafts import DRAFTS, drafted
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import to_record
from graphneg.records.resumable import Finished, NegativeStream, Written
from graphneg.records.shards import Header, ShardBatch
from graphneg.shards import Shard, natural_order
from graphneg.store.connection import Store
from graphneg.store.contents import texts_digest
from graphneg.store.copied_contexts import copied_contexts
from graphneg.store.dialogues import count_dialogues
from graphneg.store.snapshots import check_selection, shared_content, stored_snapshot
from graphneg.workers import ahead

Prefetch = Callable[[Sequence[Context], int, int], None]
PREFETCHED = 2
"""Batches that are asked for ahead: while one is answered, the prompts of the next are made."""
TOO_FEW = "too-few: the generator gave fewer candidates than were asked for"
NO_CONTEXT = "no-context: no turn stands before a response"


@dataclass(frozen=True, slots=True)
class Generation:
    """What is asked for: how many negatives of each context, of which contexts.

    ``batch`` dialogues are read at a time; where it is None, as many as suit the generator.
    """

    per_context: int = 1
    seed: int = 0
    contexts: ContextSelection = field(default_factory=ContextSelection)
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.per_context < 1 or (self.batch is not None and self.batch < 1):
            raise InputError("at least one negative of each context, and one dialogue in a batch, please")


class Generated(NegativeStream):
    """The negatives of a generator. Each use makes them anew; ``summary`` is that of the last use.

    Each negative that is missing is counted there: ``too-few``, or the generator's own reason, where a
    context lacks one, ``no-context`` where a dialogue has none."""

    def __init__(
        self, store: Store, generator: Generator, generation: Generation, progress: Progress | None = None
    ) -> None:
        super().__init__()
        self._store = store
        self._generator = generator
        self._generation = generation
        self._progress = progress or NoProgress()

    @property
    def notes(self) -> Sequence[str]:
        """What the generator has to say: a condition that is off, say."""
        return getattr(self._generator, "notes", tuple[str, ...])()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """The batches behind the first ``skip`` dialogues, each with its negatives."""
        if (begin := getattr(self._generator, "begin", None)) is not None:
            begin(written(), self._progress)
        for done, part in self._parts(skip):
            yield Finished(done, list(self._negatives(part.contexts)), part.last)

    @property
    def shard(self) -> Shard | None:
        """The part of the dialogues that is asked for."""
        return self._generation.contexts.selection.shard

    def shard_header(self, content: str | None = None) -> Header:
        """Where the generator makes drafts, these are what the shard holds."""
        header, choice = super().shard_header(content), getattr(self._generator, "choice", None)
        if choice is None:
            return header
        return replace(header, kind=DRAFTS, choice=choice(self._generation.per_context))

    def run_shard(self, skip: int) -> Iterator[ShardBatch]:
        """Drafts, where what is given depends on the contexts before, which other shards may have.

        Raises `GeneratorError`: it does, and the generator makes no drafts.
        """
        generator, asked = self._generator, self._generation
        drafts = getattr(generator, "drafts", None)
        begin = getattr(generator, "begin", None)
        if drafts is None:
            if begin is not None and getattr(generator, "remembers", True):
                raise GeneratorError(
                    f"generator {generator.name} goes by what it gave before, and makes no drafts: make its "
                    "negatives in one run, without a shard"
                )
            yield from super().run_shard(skip)
            return
        if begin is not None:
            begin((), self._progress)
        for done, part in self._parts(skip):
            made = drafts(part.contexts, asked.per_context, asked.seed) if part.contexts else ()
            items: list[tuple[str, Any]] = []
            for context, draft in zip(part.contexts, made, strict=True):
                records = [
                    to_record(negative_of(context, candidate, generator.name, asked.seed, slot))
                    for slot, candidate in enumerate(draft.candidates)
                ]
                if records:
                    items.append((natural_order(context.dialogue), drafted(records, draft.facts)))
            self._count_missing()
            yield ShardBatch(done, items, part.last)

    def _parts(self, skip: int) -> Iterator[tuple[int, ContextBatch]]:
        """The batches behind the first ``skip`` dialogues, and how many dialogues are done with each."""
        generator, asked = self._generator, self._generation
        check_selection(stored_snapshot(self._store), asked.contexts.selection)
        total = count_dialogues(self._store, asked.contexts.selection)
        self._progress.start(f"negatives, {generator.name}", total, "dialogues")
        self._progress.advance(skip)
        done = skip
        batch = asked.batch or getattr(generator, "batch", BATCH)
        copied = copied_contexts(self._store)
        parts = context_batches(self._store, asked.contexts, batch, skip, self.resumed.last, copied)
        if (prefetch := getattr(generator, "prefetch", None)) is not None:
            parts = ahead(lambda part: _prefetched(part, prefetch, asked), parts, PREFETCHED)
        for part in parts:
            for id in part.without:
                for _ in range(asked.per_context):
                    self.summary.skip(NO_CONTEXT, id)
            done += part.dialogues
            yield done, part
            self._progress.advance(part.dialogues)
        self._progress.finish()

    def estimate(self) -> Any:
        """What a server would be asked for by a generator that asks one
        (`graphneg.nn.served.CountingWriter`); None where none is asked. What was answered before is not
        counted.

        Raises:
            StoreError: the store is gone.
        """
        generator, asked = self._generator, self._generation
        if (estimate := getattr(generator, "estimate", None)) is None:
            return None
        copied = copied_contexts(self._store)
        parts = context_batches(self._store, asked.contexts, asked.batch or BATCH, copied=copied)
        return estimate((part.contexts for part in parts), asked.per_context, asked.seed)

    def settings(self) -> Mapping[str, Any]:
        """What the output depends on; the batch is not part of it."""
        asked, selection = self._generation, self._generation.contexts.selection
        return {
            "version": __version__,
            "store": self._store.description,
            "generator": self._generator.name,
            "options": settings_of(self._generator),
            "per_context": asked.per_context,
            "seed": asked.seed,
            "selection": [selection.corpora, selection.splits, selection.limit],
            "places": asked.contexts.places,
        }

    def shared_content(self) -> str:
        """A digest of what all shards are made of: a snapshot, or what the store holds."""
        return shared_content(self._store, self._generation.contexts.selection)

    def made_of(self) -> str:
        """A digest of what the store holds, but for what making negatives writes."""
        return texts_digest(self._store, self._generation.contexts.selection)

    @property
    def asked(self) -> str:
        """What is asked for, in words."""
        amount, selection = self._generation.per_context, self._generation.contexts.selection
        return (
            f"{self._generator.name}, {amount} of each context, {selection} in the {self._store.description}"
        )

    def _negatives(self, contexts: Sequence[Context]) -> Iterator[Negative]:
        name, asked = self._generator.name, self._generation
        left_out = getattr(self._generator, "left_out", None)
        answers = self._generator.generate(contexts, asked.per_context, asked.seed) if contexts else ()
        if len(answers) != len(contexts):
            raise GeneratorError(
                f"generator {name} answered {len(answers)} of {len(contexts)} contexts; "
                "it must give one list for each, in order"
            )
        for context, candidates in zip(contexts, answers, strict=True):
            for slot, candidate in enumerate(candidates):
                negative = negative_of(context, candidate, name, asked.seed, slot)
                self.summary.add(negative)
                yield negative
            for _ in range(0 if left_out else asked.per_context - len(candidates)):
                self.summary.skip(TOO_FEW, context.id)
        self._count_missing()
        for name, is_met in getattr(self._generator, "wishes", tuple[tuple[str, bool], ...])():
            self.summary.wish(name, is_met)

    def _count_missing(self) -> None:
        """Count what the generator has left out."""
        left_out = getattr(self._generator, "left_out", None)
        for reason, id in left_out() if left_out else ():
            self.summary.skip(reason, id)


def _prefetched(part: ContextBatch, prefetch: Prefetch, asked: Generation) -> ContextBatch:
    """A batch whose drafts have been asked for."""
    prefetch(part.contexts, asked.per_context, asked.seed)
    return part


def negative_of(context: Context, candidate: Candidate, name: str, seed: int, slot: int) -> Negative:
    """A candidate as a negative.

    Of a response, the one edit names the generator, and ``details`` say what it was made of: ``source`` is
    the edit's node, others its ``before`` (``keyword: tea; ...``). Of an edited dialogue, there is an edit
    for each turn that was edited, and ``original`` has the turns as they were.
    """
    turns = context.turns if candidate.context is None else candidate.context
    before = None if turns == context.turns else [turn._asdict() for turn in context.turns]
    right = context.positives[0] if context.positives else None
    if candidate.context is not None and candidate.text == right:
        right = None
    details = dict(candidate.details)
    source = details.pop("source", None)
    made_of = "; ".join(f"{key}: {value}" for key, value in details.items())
    whole = TurnEdit(context.turn, made_of or None, candidate.text, source)
    return Negative(
        id=f"{context.id}~{name}.{seed}.{slot}",
        corpus=context.corpus,
        split=context.split,
        dialogue=context.dialogue,
        turn=context.turn,
        context=[turn._asdict() for turn in turns],
        response=candidate.text,
        speaker=candidate.speaker or context.speaker,
        label=candidate.label,
        original={"context": before, "response": right},
        categories=list(candidate.categories),
        recipe=name,
        target="response" if candidate.context is None else "dialogue",
        seed=seed,
        decoder="",
        edits=[
            {"turn": edit.turn, "transform": name, "category": category, "node": edit.source}
            | {"before": edit.before, "after": edit.after}
            for category in candidate.categories
            for edit in candidate.turn_edits or (whole,)
        ],
        amr={},
        scores=dict(candidate.scores),
    )
