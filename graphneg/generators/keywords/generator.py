"""Wrong responses that a language model writes around keywords of a context.

Contexts go in, texts with keywords of them come out that do not answer them. ``key-context`` and ``key-sem``
are those of Gupta et al. (2021, "Synthesizing Adversarial Negative Responses for Robust Response Ranking and
Evaluation", section 3.2): a reply with keywords of the context, written for the history of another dialogue.
``key-sentence`` asks for an everyday sentence with one or two of them, and for no reply at all.

Several texts are written for each response. What is broken is thrown out; of the rest the likeliest is kept,
unless it is likely after the context itself as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.english.detokenize import spaced_as
from graphneg.english.tokens import words_of
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import SLOW_BATCH, UNRELATED, Candidate, Context, Shortfall, Turn
from graphneg.generators.keywords.requests import (
    Amount,
    Attempt,
    Histories,
    Material,
    Replacing,
    Slot,
    with_neighbours,
)
from graphneg.generators.keywords.writing import Style, TextRequest, Writer, WritingOptions, options_of
from graphneg.generators.prompts import (
    REPLY_WITH_WORDS,
    example_texts,
    is_trained,
    reply_examples,
    reply_request,
    sentence_examples,
    sentence_request,
)
from graphneg.generators.text_filters import (
    REASONS,
    Limits,
    PerplexityFilter,
    TextLosses,
    alike,
    refusal,
)
from graphneg.nn.generation import Sampling
from graphneg.nn.language_models import CausalLM
from graphneg.nn.models import load_causal
from graphneg.shift.keywords import get_extractor
from graphneg.store.connection import Store

if TYPE_CHECKING:
    from graphneg.nn.vectors import StaticVectors

_REASONS = {
    **REASONS,
    "no-keywords": "the context has no keyword to write about",
    "no-history": "the store holds no other dialogue",
    "copies-example": "the text repeats what the model was shown",
    "like-a-positive": "the text is nearly a right response",
    "fits": "the text answers the context no worse than the history that it was written for",
}

Prompt = Callable[[Sequence[Turn], Sequence[str]], str]
"""Makes a prompt of a history and words."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which texts are kept, and out of how many.

    ``drafts`` texts are written at a time, all with the same keywords, and if none of them is kept as many
    with others, ``draws`` times in all. A text must be within ``limits``, and its loss after the context
    ``apart`` nats a token higher than after the history that it was written for.
    """

    limits: Limits = field(default_factory=Limits)
    drafts: int = 8
    draws: int = 4
    apart: float = 0.3

    def __post_init__(self) -> None:
        if self.drafts < 1 or self.draws < 1:
            raise InputError(f"drafts {self.drafts}, draws {self.draws}: each text is written at least once")


class _Text(NamedTuple):
    """A text that may be kept, what it was written with, and how likely it is."""

    attempt: Attempt
    text: str
    losses: TextLosses


@dataclass(slots=True)
class _Gap:
    """A slot that is not filled yet: the texts that may fill it, what does, or why the last text did not."""

    slot: Slot
    context: Context
    texts: list[_Text] = field(default_factory=list[_Text])
    candidate: Candidate | None = None
    reason: str = ""


class KeywordGenerator(Shortfall):
    """Writes responses around keywords. ``refused`` counts texts by why they were refused.

    ``prompt`` makes the request from a history and words. The ``judge`` reads what was written; where none is
    given, the writer's own model does. ``made_of`` is what the output depends on beside rules.
    """

    batch = SLOW_BATCH

    def __init__(
        self,
        name: str,
        material: Material,
        writer: Writer,
        prompt: Prompt,
        *,
        judge: PerplexityFilter | None = None,
        rules: Rules | None = None,
        made_of: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(_REASONS)
        self.name = name
        self.refused: Counter[str] = Counter()
        self._material = material
        self._writer = writer
        self._prompt = prompt
        self._judge = judge or PerplexityFilter(writer.model)
        self._rules = rules or Rules()
        self._made_of = dict(made_of or {})

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """At most ``per_context`` candidates for each context, in order.

        Raises:
            ModelError: memory does not suffice for one text.
            StoreError: the store is gone.
        """
        slots, missing = self._material.slots(contexts, per_context, seed)
        for reason, at in missing:
            self.leave_out(reason, contexts[at].id)
        gaps = [_Gap(slot, contexts[slot.context]) for slot in slots]
        for draw in range(self._rules.draws):
            unfilled = [gap for gap in gaps if gap.candidate is None]
            self._write(unfilled, draw, seed)
            self._fill(unfilled, gaps)
        found: list[dict[str, Candidate]] = [{} for _ in contexts]
        for gap in gaps:
            if gap.candidate is None:
                self.leave_out(gap.reason, gap.context.id)
            else:
                found[gap.slot.context][gap.slot.id] = gap.candidate
        return [[candidate for _, candidate in sorted(some.items())] for some in found]

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {
            **self._made_of,
            "model": str(self._writer.model.path),
            "judge": str(self._judge.model.path),
            "bounds": repr(self._judge.bounds),
            "examples": self._writer.examples,
            "extractor": self._material.extractor.name,
            "amount": repr(self._material.amount),
            "rules": repr(self._rules),
            "style": repr(self._writer.style),
        }

    def _refuse(self, gap: _Gap, reason: str) -> None:
        self.refused[reason] += 1
        gap.reason = reason

    def _write(self, unfilled: Sequence[_Gap], draw: int, seed: int) -> None:
        """Write texts for each slot; those that may be kept are its ``texts`` then, the likeliest first."""
        attempts = [self._material.attempt(gap.slot, draw, seed) for gap in unfilled]
        drafts = range(self._rules.drafts)
        requests = [
            TextRequest(f"{attempt.id}/{n}", prompt, attempt.words)
            for attempt in attempts
            for prompt in [self._prompt(attempt.slot.turns, attempt.words)]
            for n in drafts
        ]
        written = iter(self._writer.write(requests, seed))
        whole: dict[tuple[int, str], None] = {}
        for at, (gap, attempt) in enumerate(zip(unfilled, attempts, strict=True)):
            for _ in drafts:
                text, finished = next(written)
                shown = (attempt.keywords, gap.context, self._rules.limits, example_texts())
                reason = refusal(text, *shown) if finished else "unfinished"
                if reason is None:
                    whole[at, text] = None
                else:
                    self._refuse(gap, reason)
        histories = [attempts[at].slot.turns or None for at, _ in whole]
        losses = self._judge.read([text for _, text in whole], histories)
        for (at, text), found in zip(whole, losses, strict=True):
            if found is None:
                self._refuse(unfilled[at], "surprising")
            else:
                unfilled[at].texts.append(_Text(attempts[at], text, found))
        for gap in unfilled:
            gap.texts.sort(key=lambda text: text.losses.mean)

    def _fill(self, unfilled: Sequence[_Gap], gaps: Sequence[_Gap]) -> None:
        """Give each slot its likeliest text that does not fit its context, nor is like another slot's."""
        while contenders := [gap for gap in unfilled if gap.texts]:
            best = [gap.texts.pop(0) for gap in contenders]
            for gap, text, apart in zip(contenders, best, self._apart(contenders, best), strict=True):
                others = [
                    words_of(other.candidate.text)
                    for other in gaps
                    if other.candidate is not None and other.slot.context == gap.slot.context
                ]
                if any(alike(words_of(text.text), other) for other in others):
                    self._refuse(gap, "like-another")
                elif apart is not None and apart < self._rules.apart:
                    self._refuse(gap, "fits")
                else:
                    gap.candidate = _candidate(text, apart, gap.context)
                    gap.texts.clear()

    def _apart(self, contenders: Sequence[_Gap], texts: Sequence[_Text]) -> list[float | None]:
        """By how much the loss of each text is higher after its context than after its history."""
        if self._material.histories is None:
            return [None] * len(texts)
        after = self._judge.after([text.text for text in texts], [gap.context.turns for gap in contenders])
        return [loss - text.losses.after for loss, text in zip(after, texts, strict=True)]


def _candidate(text: _Text, apart: float | None, context: Context) -> Candidate:
    history = text.attempt.slot.history
    details = {"keywords": ", ".join(text.attempt.words)}
    scores = {"perplexity": text.losses.perplexity}
    if history is not None:
        details["source"] = history.id
    if apart is not None:
        scores["apart"] = apart
    said = spaced_as(text.text, [turn.text for turn in context.turns])
    return Candidate(said, (UNRELATED,), scores, details)


@dataclass(frozen=True, slots=True)
class KeywordOptions(WritingOptions):
    """What all generators of this kind take beside `WritingOptions`.

    ``keywords`` is the extractor, for a ``language``, with a ``spacy_model``. ``least`` and ``most`` keywords
    go into a text, which has at most ``words`` words. ``top_p`` bounds what is drawn from; ``drafts``,
    ``draws`` and ``apart`` say which texts are kept (`Rules`).
    """

    keywords: str = "rake"
    language: str = "en"
    spacy_model: str | None = None
    least: int = 1
    most: int = 1
    words: int = 24
    top_p: float = 0.9
    drafts: int = 8
    draws: int = 4
    apart: float = 0.3

    def __post_init__(self) -> None:
        _ = self.rules, self.bounds, self.style(False), Amount(self.least, self.most)

    @property
    def rules(self) -> Rules:
        """Which texts are kept."""
        return Rules(Limits(most=self.words), self.drafts, self.draws, self.apart)

    def style(self, trained: bool) -> Style:
        """How texts are drawn from a model that was trained for its task, or was not."""
        return Style(Sampling(self.temperature, top_p=self.top_p), self.pull_of(trained))


def key_context(store: Store, **options: Any) -> KeywordGenerator:
    """``key-context``: a reply with keywords of the context, for the history of another dialogue."""
    return _replies("key-context", store, options_of(KeywordOptions, "key-context", options), None)


def key_sem(store: Store, *, vectors: str | Path | None = None, **options: Any) -> KeywordGenerator:
    """``key-sem``: as ``key-context``, each keyword replaced with probability 0.5 by a near word.

    ``vectors`` is a file or folder of static word vectors, GloVe's in the paper.
    """
    chosen = options_of(KeywordOptions, "key-sem", options)
    if vectors is None:
        raise GeneratorError("key-sem needs word vectors: option vectors=PATH, a GloVe file for example")
    from graphneg.nn.vectors import StaticVectors

    return _replies("key-sem", store, chosen, StaticVectors(vectors))


def key_sentence(store: Store, **options: Any) -> KeywordGenerator:
    """``key-sentence``: an everyday sentence with one or two keywords of the context, no reply at all."""
    chosen = options_of(KeywordOptions, "key-sentence", options)
    judge, model = _models(chosen)
    writer = Writer(model, sentence_examples(), chosen.style(False))
    return KeywordGenerator(
        "key-sentence",
        _material(chosen),
        writer,
        lambda _, words: sentence_request(words),
        judge=judge,
        rules=chosen.rules,
    )


def _replies(
    name: str, store: Store, chosen: KeywordOptions, vectors: StaticVectors | None
) -> KeywordGenerator:
    judge, model = _models(chosen)
    trained = is_trained(model, REPLY_WITH_WORDS)
    return KeywordGenerator(
        name,
        _material(chosen, Histories(store), None if vectors is None else partial(with_neighbours, vectors)),
        Writer(model, "" if trained else reply_examples(), chosen.style(trained)),
        reply_request,
        judge=judge,
        rules=chosen.rules,
        made_of={} if vectors is None else {"vectors": vectors.name},
    )


def _models(chosen: KeywordOptions) -> tuple[PerplexityFilter, CausalLM]:
    """The judge and the writer, which reads its own texts where no judge is named.

    The judge is loaded first: the writer may be a large model, to be read in vain where there is no judge.
    """
    judge = chosen.load_judge()
    model = load_causal(
        chosen.model or "", gguf_file=chosen.gguf_file, device=chosen.device, offline=chosen.offline
    )
    return PerplexityFilter(judge or model, chosen.bounds), model


def _material(
    chosen: KeywordOptions, histories: Histories | None = None, replacing: Replacing | None = None
) -> Material:
    extractor = get_extractor(chosen.keywords, chosen.language, chosen.spacy_model)
    return Material(extractor, Amount(chosen.least, chosen.most), histories, replacing, chosen.language)
