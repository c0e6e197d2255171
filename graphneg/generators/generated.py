"""Negatives that a generator makes: a stream that can be iterated, written, or turned into a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphneg import __version__
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import (
    BATCH,
    Beginning,
    Candidate,
    Context,
    Generator,
    Noting,
    Refusing,
    Settled,
    Slow,
    Turn,
    TurnEdit,
    WantedContexts,
    context_batches,
)
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.records.resumable import Finished, NegativeStream, Written
from graphneg.store.connection import Store
from graphneg.store.dialogues import count_dialogues

TOO_FEW = "too-few: the generator gave fewer candidates than were asked for"
NO_CONTEXT = "no-context: no turn stands before a response"


@dataclass(frozen=True, slots=True)
class Generation:
    """What is asked for: how many negatives of each context, of which contexts.

    ``batch`` dialogues are read at a time; where it is None, as many as suit the generator.
    """

    per_context: int = 1
    seed: int = 0
    wanted: WantedContexts = field(default_factory=WantedContexts)
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.per_context < 1 or (self.batch is not None and self.batch < 1):
            raise InputError("at least one negative of each context, and one dialogue in a batch, please")


class Generated(NegativeStream):
    """The negatives of a generator. Each use makes them anew; ``summary`` tells of the last one.

    What is missing is counted there: ``too-few``, or the generator's own reason, for each candidate that a
    context lacks, ``no-context`` for each dialogue without one.
    """

    def __init__(
        self,
        store: Store,
        generator: Generator,
        generation: Generation,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._generator = generator
        self._generation = generation
        self._progress = progress or NoProgress()

    @property
    def notes(self) -> Sequence[str]:
        """What the generator has to say: a condition that is off, say."""
        return self._generator.notes() if isinstance(self._generator, Noting) else ()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        generator, asked = self._generator, self._generation
        if isinstance(generator, Beginning):
            generator.begin(written(), self._progress)
        total = count_dialogues(self._store, asked.wanted.selection)
        self._progress.start(f"negatives, {generator.name}", total, "dialogues")
        self._progress.advance(skip)
        done = skip
        own = generator.batch if isinstance(generator, Slow) else BATCH
        for part in context_batches(self._store, asked.wanted, asked.batch or own, skip):
            for id in part.without:
                self.summary.skip(NO_CONTEXT, id)
            negatives = list(self._negatives(part.contexts))
            done += part.dialogues
            self._progress.advance(part.dialogues)
            yield Finished(done, negatives)
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        asked = self._generation
        selection = asked.wanted.selection
        generator = self._generator
        return {
            "version": __version__,
            "store": self._store.description,
            "generator": generator.name,
            "options": dict(generator.settings()) if isinstance(generator, Settled) else {},
            "per_context": asked.per_context,
            "seed": asked.seed,
            "selection": [selection.corpora, selection.splits, selection.limit],
            "places": asked.wanted.places,
        }

    def _negatives(self, contexts: Sequence[Context]) -> Iterator[Negative]:
        name, asked = self._generator.name, self._generation
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
            if not isinstance(self._generator, Refusing):
                for _ in range(asked.per_context - len(candidates)):
                    self.summary.skip(TOO_FEW, context.id)
        if isinstance(self._generator, Refusing):
            for reason, id in self._generator.left_out():
                self.summary.skip(reason, id)


def negative_of(context: Context, candidate: Candidate, name: str, seed: int, slot: int) -> Negative:
    """A candidate as a negative.

    Of a response, the one edit names the generator, and ``details`` say what it was made of: ``source`` is
    the edit's node, others its ``before`` (``keyword: tea; ...``). Of an edited dialogue, there is an edit
    for each turn that was edited, and ``original`` has the turns as they were.
    """
    turns = context.turns if candidate.context is None else candidate.context
    right = context.positives[0] if context.positives else None
    if candidate.context is not None and candidate.text == right:
        right = None
    return Negative(
        id=f"{context.id}~{name}.{seed}.{slot}",
        corpus=context.corpus,
        split=context.split,
        dialogue=context.dialogue,
        turn=context.turn,
        context=_said(turns),
        response=candidate.text,
        label=candidate.label,
        original={"context": _said(context.turns) if turns != context.turns else None, "response": right},
        categories=list(candidate.categories),
        recipe=name,
        target="response" if candidate.context is None else "dialogue",
        seed=seed,
        decoder="",
        edits=list(_edits(context, candidate, name)),
        amr={},
        scores=dict(candidate.scores),
    )


def _edits(context: Context, candidate: Candidate, name: str) -> Iterator[dict[str, Any]]:
    made = candidate.turn_edits or (_whole(context, candidate),)
    for category in candidate.categories:
        for one in made:
            yield {
                "turn": one.turn,
                "transform": name,
                "category": category,
                "node": one.source,
                "before": one.before,
                "after": one.after,
            }


def _whole(context: Context, candidate: Candidate) -> TurnEdit:
    details = dict(candidate.details)
    source = details.pop("source", None)
    made_of = "; ".join(f"{key}: {value}" for key, value in details.items())
    return TurnEdit(context.turn, made_of or None, candidate.text, source)


def _said(turns: Sequence[Turn]) -> list[dict[str, str]]:
    return [{"speaker": turn.speaker, "text": turn.text} for turn in turns]
