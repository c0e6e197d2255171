"""Wrong responses that a language model writes around keywords of a context.

Contexts go in, texts with keywords of them come out that do not answer them. ``key-context`` and ``key-sem``
are those of Gupta et al. (2021, "Synthesizing Adversarial Negative Responses for Robust Response Ranking and
Evaluation", section 3.2): a reply with keywords of the context, written for the history of another dialogue.
``key-sentence`` asks for an everyday sentence with one or two of them, and for no reply at all.

Several texts are written for each response. What is broken is thrown out; of the rest the likeliest is kept,
unless it is likely after the context itself as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.english.tokens import one_line, spaced_as, words_of
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import UNRELATED, Candidate, Context, Turn, options_of
from graphneg.generators.keywords.requests import (
    Histories,
    History,
    Words,
    drawn,
    keywords_of,
    with_neighbours,
)
from graphneg.generators.prompts import (
    EXAMPLE_TEXTS,
    REPLY_EXAMPLES,
    REPLY_WITH_WORDS,
    SENTENCE_EXAMPLES,
    is_trained,
    reply_request,
    sentence_request,
)
from graphneg.generators.text_filters import LaterLosses, PerplexityFilter, TextLosses, alike, refusal
from graphneg.generators.writing import END, LEAST_WORDS, Gap, WritingGenerator, WritingOptions
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_causal
from graphneg.nn.writers import Constraints, GenerationSettings, LocalWriter, Prompt, Writer
from graphneg.shift.keywords import Keyword, get_extractor
from graphneg.store.connection import Store

if TYPE_CHECKING:
    from graphneg.nn.vectors import StaticVectors

_REASONS = {
    "no-keywords": "the context has no keyword to write about",
    "no-history": "the store holds no other dialogue",
    "copies-example": "the text repeats what the model was shown",
    "like-a-positive": "the text is nearly a right response",
    "fits": "the text answers the context no worse than the history that it was written for",
}

LONGEST = 32
"""So many tokens has a text at most."""
Ask = Callable[[Sequence[Turn], Sequence[str]], str]
"""Makes a prompt of a history and words."""


@dataclass(frozen=True, slots=True)
class KeywordOptions(WritingOptions):
    """What all generators of this kind take beside `WritingOptions`.

    ``keywords`` is the extractor, for a ``language``, with a ``spacy_model``. ``least`` and ``most`` keywords
    go into a text; ``top_p`` bounds what is drawn from. ``drafts`` texts are written at a time, all with the
    same keywords, and if none of them is kept as many with others, ``draws`` times in all. A text's loss
    after the context must be ``apart`` nats a token higher than after the history that it was written for:
    else it may answer. The mean loss of its three least likely tokens there is ``strange`` at most: what
    makes no sense has more of them than what is out of place.
    """

    keywords: str = "rake"
    language: str = "en"
    spacy_model: str | None = None
    least: int = 1
    most: int = 1
    top_p: float = 0.9
    drafts: int = 8
    draws: int = 4
    apart: float = 0.6
    strange: float = 6.5

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        WritingOptions.__post_init__(self)
        if not 1 <= self.least <= self.most:
            raise InputError(f"keywords from {self.least} to {self.most}: the first must be 1 or more")
        if self.drafts < 1 or self.draws < 1:
            raise InputError(f"drafts {self.drafts}, draws {self.draws}: each text is written at least once")
        _ = self.search

    @property
    def search(self) -> Sampling:
        """How texts are drawn."""
        return Sampling(self.temperature, top_p=self.top_p)


@dataclass(slots=True)
class _Slot(Gap):
    """One response to be written for the context number ``at``, and its texts with the ``words`` of a draw.
    ``texts`` are those that may be kept, the likeliest first, with what the judge found."""

    id: str = ""
    at: int = 0
    keywords: Sequence[Keyword] = ()
    history: History | None = None
    words: tuple[Words, ...] = ()
    texts: list[tuple[str, TextLosses | None]] = field(default_factory=list[tuple[str, TextLosses | None]])

    @property
    def said(self) -> tuple[str, ...]:
        """Each keyword of the draw as a text."""
        return tuple(" ".join(words) for words in self.words)


class KeywordGenerator(WritingGenerator):
    """Writes responses around keywords.

    ``ask`` makes the request from a history and words; ``examples`` stand before it. ``pull`` is how strongly
    words are drawn in, the ``judge`` reads what was written. Without ``histories`` none is shown, without
    ``vectors`` keywords stay as they are.
    """

    def __init__(
        self,
        name: str,
        options: KeywordOptions,
        writer: Writer,
        ask: Ask,
        *,
        examples: str = "",
        pull: float = 0.0,
        judge: PerplexityFilter | None = None,
        histories: Histories | None = None,
        vectors: StaticVectors | None = None,
    ) -> None:
        super().__init__(_REASONS, options, writer, judge)
        self.name = name
        self._options = options
        self._ask = ask
        self._manner = GenerationSettings(options.search, LONGEST, examples)
        self._pull = pull
        self._histories = histories
        self._vectors = vectors
        self._extractor = get_extractor(options.keywords, options.language, options.spacy_model)

    def written(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[_Slot]:
        """See `graphneg.generators.writing.WritingGenerator`: a gap for each response.

        Raises:
            ModelError: memory does not suffice for one text.
            StoreError: the store is gone.
        """
        slots = self._slots(contexts, per_context, seed)
        for draw in range(self._options.draws):
            unfilled = [slot for slot in slots if not slot.candidates]
            self._write(unfilled, draw, seed)
            self._fill(unfilled, slots)
        return slots

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {
            **self._options.settings(),
            **self.models,
            "examples": self._manner.shown,
            "extractor": self._extractor.name,
            "vectors": self._vectors and self._vectors.name,
            "pull": self._pull,
        }

    def _slots(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[_Slot]:
        """The responses that can be written; the others are left out."""
        slots: list[_Slot] = []
        texts = [context.text for context in contexts]
        found = keywords_of(self._extractor, texts, self._options.language)
        for at, (context, keywords) in enumerate(zip(contexts, found, strict=True)):
            if not keywords:
                self.leave_out("no-keywords", context.id, per_context)
                continue
            ids = [f"{context.id}/{n:03}" for n in range(per_context)]
            slots += [_Slot(context, id=id, at=at, keywords=keywords) for id in ids]
        if self._histories is None:
            return slots
        shown = self._histories.of([slot.context for slot in slots], [slot.id for slot in slots], seed)
        for slot, history in zip(slots, shown, strict=True):
            slot.history = history
            self.leave_out("no-history", slot.context.id, int(history is None))
        return [slot for slot in slots if slot.history is not None]

    def _write(self, slots: Sequence[_Slot], draw: int, seed: int) -> None:
        """Write texts for each slot, and note those that may be kept, the likeliest first."""
        prompts: list[Prompt] = []
        for slot in slots:
            id = f"{slot.id}/{draw}"  # another draw has other keywords, if there are any
            between = (self._options.least, self._options.most)
            slot.words = drawn(slot.keywords, between, seed, id, slot.context.text)
            if self._vectors is not None:
                slot.words = with_neighbours(self._vectors.neighbours, slot.words, seed, id)
            asked = self._ask(slot.history.turns if slot.history else (), slot.said)
            prompts.append(Prompt(asked, id))
        written = self.writer.complete(
            prompts,
            self._options.drafts,
            seed=seed,
            stop=[END],
            constraints=[Constraints(slot.said, self._pull, LEAST_WORDS) for slot in slots],
            settings=self._manner,
        )
        whole: dict[tuple[int, str], _Slot] = {}
        for number, (slot, drafts) in enumerate(zip(slots, written, strict=True)):
            for draft in drafts:
                text = one_line(draft.text)
                reason = refusal(text, slot.words, slot.context, self._options.lengths, EXAMPLE_TEXTS)
                if not draft.finished:
                    reason = "unfinished"
                if self.passes(slot, draft.problem or reason):
                    whole[number, text] = slot
        for ((_, text), slot), losses in zip(whole.items(), self._losses(whole), strict=True):
            if self.judge is None or self.passes(slot, None if losses else "surprising"):
                slot.texts.append((text, losses))
        for slot in slots:
            slot.texts.sort(key=lambda draft: draft[1].mean if draft[1] else 0.0)

    def _losses(self, texts: Mapping[tuple[int, str], _Slot]) -> Sequence[TextLosses | None]:
        """What the judge finds of each text, after the history that it was written for."""
        if self.judge is None:
            return [None] * len(texts)
        histories = [slot.history and slot.history.turns for slot in texts.values()]
        return self.judge.read([text for _, text in texts], histories)

    def _fill(self, unfilled: Sequence[_Slot], slots: Sequence[_Slot]) -> None:
        """Give each slot its likeliest text that does not fit its context, nor is strange there, nor is like
        another slot's. A text fits whose loss after its context is hardly higher than after the history it
        was written for."""
        while contenders := [slot for slot in unfilled if slot.texts]:
            best = [slot.texts.pop(0) for slot in contenders]
            after: Sequence[LaterLosses | None] = [None] * len(best)
            if self._histories is not None and self.judge is not None:
                turns = [slot.context.turns for slot in contenders]
                after = self.judge.after([text for text, _ in best], turns)
            for slot, (text, losses), loss in zip(contenders, best, after, strict=True):
                given = [each for other in slots if other.at == slot.at for each in other.candidates]
                nearly = any(alike(words_of(text), words_of(candidate.text)) for candidate in given)
                details, scores = {"keywords": ", ".join(slot.said)}, dict[str, float]()
                if slot.history is not None:
                    details["source"] = slot.history.id
                if losses is not None:
                    scores["perplexity"] = losses.perplexity
                reason = "like-another" if nearly else None
                if loss is not None and losses is not None:
                    scores["apart"] = loss.mean - losses.after
                    reason = reason or self._misplaced(scores["apart"], loss)
                if self.passes(slot, reason):
                    spaced = spaced_as(text, [turn.text for turn in slot.context.turns])
                    slot.candidates.append(Candidate(spaced, (UNRELATED,), scores, details))
                    slot.texts.clear()

    def _misplaced(self, apart: float, loss: LaterLosses) -> str | None:
        """Why a text is not wrong in the right way after its context, as a name; None where it is."""
        if apart < self._options.apart:
            return "fits"
        return "surprising" if loss.strangest > self._options.strange else None


def key_context(store: Store, **options: Any) -> KeywordGenerator:
    """``key-context``: a reply with keywords of the context, for the history of another dialogue."""
    return _generator("key-context", options, Histories(store))


def key_sem(store: Store, *, vectors: str | Path | None = None, **options: Any) -> KeywordGenerator:
    """``key-sem``: as ``key-context``, each keyword replaced with probability 0.5 by a near word.

    ``vectors`` is a file or folder of static word vectors, GloVe's in the paper.
    """
    return _generator("key-sem", options, Histories(store), vectors)


def key_sentence(store: Store, **options: Any) -> KeywordGenerator:
    """``key-sentence``: an everyday sentence with one or two keywords of the context, no reply at all."""
    return _generator("key-sentence", options)


def _generator(
    name: str,
    options: Mapping[str, Any],
    histories: Histories | None = None,
    vectors: str | Path | None = None,
) -> KeywordGenerator:
    """It writes replies to ``histories``, or sentences where there are none."""
    chosen, near = options_of(KeywordOptions, name, options), None
    if name == "key-sem":
        if vectors is None:
            raise GeneratorError("key-sem needs word vectors: option vectors=PATH, a GloVe file for example")
        from graphneg.nn.vectors import StaticVectors

        near = StaticVectors(vectors)
    writer, judge = chosen.load(name, load_causal)
    local = writer.model if isinstance(writer, LocalWriter) else None
    trained = histories is not None and local is not None and is_trained(local, REPLY_WITH_WORDS)
    examples = SENTENCE_EXAMPLES if histories is None else "" if trained else REPLY_EXAMPLES
    ask: Ask = reply_request if histories else lambda _, words: sentence_request(words)
    return KeywordGenerator(
        name,
        chosen,
        writer,
        ask,
        examples=examples,
        pull=chosen.pull_of(trained),
        judge=judge,
        histories=histories,
        vectors=near,
    )
