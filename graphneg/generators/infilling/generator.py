"""The generator mask-and-fill: texts with blanks, filled for another context (Gupta et al. 2021,
"Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation", section 3.1).

Right responses, what was said in the context and responses that BM25 finds for it get blanks; a language
model fills them for the history of another dialogue, without the words that stood there. What comes out
keeps words of the context and says something else. *Departures:* function words may come again; a right
response has to become less likely after its context than it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from graphneg.english.tokens import closed_up, match_key, spaced_as, words_of
from graphneg.english.words import content_lemmas, readings
from graphneg.errors import InputError, listed
from graphneg.generators.base import UNRELATED, Candidate, Context, options_of
from graphneg.generators.infilling.layouts import Filling, Layout, WholeText, fill, layout_of
from graphneg.generators.infilling.masks import VERSIONS, MaskedText, masked_versions
from graphneg.generators.keywords.requests import Histories
from graphneg.generators.retrieval import Bm25Generator
from graphneg.generators.text_filters import FUNCTION_WORDS, PerplexityFilter, alike, refusal
from graphneg.generators.writing import Gap, WritingGenerator, WritingOptions
from graphneg.hashing import shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.model import Negative
from graphneg.nn.embedders import BUNDLED
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_either
from graphneg.nn.vectors import StaticVectors
from graphneg.nn.writers import Constraints, GenerationSettings, Writer
from graphneg.progress import Progress
from graphneg.records.scores import CLASH, clash
from graphneg.store.connection import Store

Source = Literal["responses", "context", "retrieved"]
NEW_WORDS = 2
"""So many content words of a text are others than before, at least."""
NEAR, NEAR_WEIGHT = 10, 0.01
"""So many words near one that stood in a blank are so much less likely."""
LONGEST, LONGEST_WHOLE = 40, 160
"""So many tokens have answers at most, and texts that are written anew with their history."""
_REASONS = {
    "no-blanks": "no text of the context or for it can have blanks",
    "no-history": "the store holds no other dialogue",
    "unfilled": "the model did not fill each blank",
    "same-words": "a blank was filled with a word that stood in it",
    "little-new": "fewer than two content words are other ones",
    "no-word": "a blank was filled with what is no English word",
    "copies-example": "the text repeats what the model was shown",
    "like-a-positive": "the text is nearly a right response",
    "no-clash": "the text says no word of the context",
    "fits": "the text is hardly less likely after the context than the right response that it was",
}


@dataclass(frozen=True, slots=True)
class MaskAndFillOptions(WritingOptions):
    """What the generator takes beside `WritingOptions`.

    Texts are of the ``sources``: right ``responses``, the turns of the ``context``, and responses that BM25
    has ``retrieved`` for it; so many ``texts`` of each, with blanks in ``versions`` ways, each filled
    ``drafts`` times. ``top_p`` bounds what is drawn from. Of all, the ``best`` are kept by the model's score,
    or as many as are asked for. A right response's loss after its context must rise by ``apart`` nats a
    token; no text's own loss may rise by more than ``rougher``: filled well, it reads as well as before.
    ``vectors`` are static word vectors that tell which words are near.

    Raises:
        InputError: a number is out of range, or there is no such source.
    """

    least_words: ClassVar[int] = 4

    alone: float = 100.0
    """People's own words, which stay in a text, surprise a model more than what it writes itself."""
    sources: Sequence[str] = get_args(Source)
    texts: int = 2
    versions: int = VERSIONS
    drafts: int = 1
    best: int = 5
    top_p: float = 0.9
    apart: float = 0.3
    rougher: float = 0.0
    vectors: str | Path = BUNDLED

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        WritingOptions.__post_init__(self)
        if min(self.texts, self.versions, self.drafts, self.best) < 1:
            raise InputError("texts, versions, drafts and best: at least 1 each")
        strange = [name for name in self.kinds if name not in get_args(Source)]
        if strange or not self.kinds:
            raise InputError(f"sources {strange or []}: choose some of {', '.join(get_args(Source))}")
        _ = self.search

    @property
    def kinds(self) -> tuple[str, ...]:
        """The sources, by name."""
        return tuple(listed("sources", self.sources))

    @property
    def search(self) -> Sampling:
        """How answers are drawn."""
        return Sampling(self.temperature, top_p=self.top_p)


class Original(NamedTuple):
    """A text that gets blanks: which source it is of, and the ``node`` that has it in the store."""

    kind: str
    text: str
    node: str


@dataclass(slots=True, kw_only=True)
class _Draft(Filling):
    """A text of a context with blanks, to be filled once for another history."""

    asked: _Asked
    original: Original


@dataclass(slots=True)
class _Asked(Gap):
    """A context, and the texts that may be given."""

    texts: list[_Draft] = field(default_factory=list[_Draft])


class MaskAndFillGenerator(WritingGenerator):
    """Fills blanks by a writer in its model's ``layout``. ``histories`` are of the store, which BM25 searches
    where texts are to be ``retrieved``."""

    name = "mask-and-fill"

    def __init__(
        self,
        options: MaskAndFillOptions,
        writer: Writer,
        judge: PerplexityFilter | None,
        histories: Histories,
        bank: Bm25Generator | None,
    ) -> None:
        super().__init__(_REASONS, options, writer, judge)
        self._options = options
        self._histories = histories
        self._bank = bank
        self._layout: Layout = layout_of(writer)
        self._vectors = StaticVectors(options.vectors)
        whole = isinstance(self._layout, WholeText)
        self._manner = GenerationSettings(options.search, LONGEST_WHOLE if whole else LONGEST, logprobs=True)

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """See `graphneg.generators.base.Generator`; what is retrieved from is read anew."""
        WritingGenerator.begin(self, given, progress)
        if self._bank is not None:
            self._bank.begin()

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        own = {**self._options.settings(), **self.models, "layout": self._layout.name}
        return {**own, "sources": list(self._options.kinds), "vectors": self._vectors.name}

    def written(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[_Asked]:
        """See `graphneg.generators.writing.WritingGenerator`: what the model finds likeliest comes first.

        Raises:
            GeneratorError: the store has no right response.
            ModelError: memory does not suffice for one text, or a server does not answer as it should.
            StoreError: the store is gone.
        """
        asked = [_Asked(context, "no-blanks", per_context) for context in contexts]
        drafts = self._masked(asked, seed)
        fill(self.writer, self._layout, drafts, self._manner, seed=seed, constraints=self._held)
        passing = [draft for draft in drafts if self.passes(draft.asked, self._refusal(draft))]
        for draft, scores in self._judged(passing):
            own = [other.text for other in draft.asked.texts]
            nearly = any(alike(words_of(draft.text), words_of(other)) for other in own)
            if self.passes(draft.asked, "like-another" if nearly else None):
                draft.asked.texts.append(draft)
                draft.asked.candidates.append(self._candidate(draft, scores))
        for each in asked:
            each.candidates = each.candidates[: max(self._options.best, per_context)]
        return asked

    def _masked(self, asked: Sequence[_Asked], seed: int) -> list[_Draft]:
        """All texts of these contexts that get blanks, as often as they do, each for a history of its own."""
        found: list[tuple[_Asked, Original, MaskedText, str]] = []
        for each, originals in zip(asked, self._originals([one.context for one in asked], seed), strict=True):
            for nth, original in enumerate(originals):
                id = f"{each.context.id}/{nth}"
                for way, masked in enumerate(
                    masked_versions(original.text, seed, id, self._options.versions)
                ):
                    found += [
                        (each, original, masked, f"{id}/{way}/{n}") for n in range(self._options.drafts)
                    ]
        contexts, ids = [each.context for each, *_ in found], [id for *_, id in found]
        drafts: list[_Draft] = []
        for (each, original, masked, id), shown in zip(
            found, self._histories.of(contexts, ids, seed), strict=True
        ):
            if self.passes(each, "no-history" if shown is None else None) and shown is not None:
                drafts.append(_Draft(shown.turns, masked, id, asked=each, original=original))
        return drafts

    def _originals(self, contexts: Sequence[Context], seed: int) -> Iterator[list[Original]]:
        """The texts of each context that get blanks, of each source so many, each once."""
        kinds, most = self._options.kinds, self._options.texts
        retrieved: Sequence[Sequence[Candidate]] = [()] * len(contexts)
        if self._bank is not None:
            retrieved = self._bank.generate(contexts, most, seed)
        for context, similar in zip(contexts, retrieved, strict=True):
            rights = [Original("responses", text, context.id) for text in context.positives]
            said = [
                Original("context", turn.text, utterance_id(context.dialogue, number))
                for number, turn in enumerate(context.turns)
            ]
            found = [Original("retrieved", one.text, one.details["source"]) for one in similar]
            sources = [
                shuffled(rights, seed, "responses", context.id)[:most],
                said[::-1][:most],
                found,
            ]
            texts = [one for source in sources for one in source if one.kind in kinds]
            yield list({match_key(one.text): one for one in reversed(texts)}.values())[::-1]

    def _held(self, draft: Filling) -> Constraints:
        """What stood in the blanks that are filled now is forbidden, but function words; what is near it
        hardly ever comes. Where a model writes the whole text, words that it shows have to stay."""
        masked, first = draft.masked, len(draft.given)
        at_once = self._layout.at_once
        taken = masked.answers[first:] if at_once is None else masked.answers[first : first + at_once]
        gone = {word for answer in taken for word in words_of(answer) if word not in FUNCTION_WORDS}
        near = {other for word in sorted(gone) for other, _ in self._vectors.neighbours(word, NEAR)}
        weights = {**dict.fromkeys(sorted(near), NEAR_WEIGHT), **dict.fromkeys(sorted(gone), 0.0)}
        if isinstance(self._layout, WholeText):
            shown = {word for turn in draft.turns for word in words_of(turn.text)}
            shown.update(word for part in masked.parts for word in words_of(part))
            weights = {word: weight for word, weight in weights.items() if word not in shown}
        return Constraints(weights={**weights, **dict.fromkeys(self._layout.forbidden, 0.0)})

    def _refusal(self, draft: _Draft) -> str | None:
        """Why a text is not to be given, as a name; None where it may be."""
        if draft.failed:
            return "unfilled"
        gone = {word for answer in draft.masked.answers for word in words_of(answer)} - FUNCTION_WORDS
        answered = {word for answer in draft.given for word in words_of(answer)} - FUNCTION_WORDS
        if gone & answered:
            return "same-words"
        if any(word.isalpha() and not readings(word) and word not in self._vectors for word in answered):
            return "no-word"
        if len({*content_lemmas(draft.text)} - {*content_lemmas(closed_up(draft.original.text))}) < NEW_WORDS:
            return "little-new"
        context, own = draft.asked.context, match_key(draft.original.text)
        others = replace(
            context,
            positives=tuple(text for text in context.right if match_key(text) != own),
            copies={},
            turns=tuple(turn for turn in context.turns if match_key(turn.text) != own),
        )
        reason = refusal(draft.text, (), others, self._options.lengths)
        return reason or (None if clash([turn.text for turn in context.turns], draft.text) else "no-clash")

    def _judged(self, drafts: Sequence[_Draft]) -> list[tuple[_Draft, dict[str, float]]]:
        """The drafts that pass the judge, with their scores, the likeliest first."""
        found: list[tuple[_Draft, dict[str, float]]] = [
            (one, {"infilling": round(one.loss / len(one.given), 3)}) for one in drafts
        ]
        if self.judge is not None:
            texts, originals = [one.text for one in drafts], [one.original.text for one in drafts]
            losses = self.judge.beside(texts, originals, self._options.rougher)
            read = zip(found, losses, strict=True)
            found = [
                (one, {**scores, "perplexity": loss.perplexity})
                for (one, scores), loss in read
                if self.passes(one.asked, None if loss else "surprising") and loss is not None
            ]
            found = list(self._apart(found, self.judge))
        return sorted(found, key=lambda item: (item[1]["infilling"], item[0].id))

    def _apart(
        self, found: Sequence[tuple[_Draft, dict[str, float]]], judge: PerplexityFilter
    ) -> Iterator[tuple[_Draft, dict[str, float]]]:
        """Those that are no right response any more: less likely after the context than it was."""
        rights = [(one, scores) for one, scores in found if one.original.kind == "responses"]
        turns = [one.asked.context.turns for one, _ in rights]
        now = judge.after([one.text for one, _ in rights], turns)
        before = judge.after([one.original.text for one, _ in rights], turns)
        pairs = zip(rights, now, before, strict=True)
        risen = {id(one): after.mean - was.mean for (one, _), after, was in pairs}
        for one, scores in found:
            apart = risen.get(id(one))
            if apart is None:
                yield one, scores
            elif self.passes(one.asked, "fits" if apart < self._options.apart else None):
                yield one, {**scores, "apart": apart}

    def _candidate(self, draft: _Draft, scores: Mapping[str, float]) -> Candidate:
        turns = [turn.text for turn in draft.asked.context.turns]
        details = {"source": draft.original.node, "blanks": draft.masked.marked}
        said = {**scores, CLASH: clash(turns, draft.text)}
        return Candidate(spaced_as(draft.text, turns), (UNRELATED,), said, details)


def mask_and_fill(store: Store, **options: Any) -> MaskAndFillGenerator:
    """The generator ``mask-and-fill``, with `MaskAndFillOptions`.

    Raises:
        GeneratorError: no model is named, there is no such option, or BM25 is not installed.
        InputError: a number is out of range.
        ModelError: the model can't be had, or fills no blanks.
    """
    chosen = options_of(MaskAndFillOptions, "mask-and-fill", options)
    bank = Bm25Generator(store) if "retrieved" in chosen.kinds else None
    writer, judge = chosen.load("mask-and-fill", load_either)
    return MaskAndFillGenerator(chosen, writer, judge, Histories(store), bank)
