"""Blank spans of texts and fill them for the history of another dialogue (``mask-and-fill``).

The generator follows Gupta et al. (2021, "Synthesizing Adversarial Negative Responses for Robust Response
Ranking and Evaluation", section 3.1). For each context, it takes the correct responses, turns of the context,
and responses that BM25 retrieves for the context. In these texts, it replaces spans by blanks. A language
model then fills the blanks, but its prompt shows the history of another dialogue instead of the context. The
model must not use the blanked words. The filled text still contains words of the context, but has a different
meaning::

    context      A: Shall we eat out?
    correct      B: I would rather stay here and finish the soup.
    blanked      B: I would rather [word] here and [phrase].
    history      A: The stairs are blocked again.
    negative     B: I would rather wait here and call the landlord.

The generator departs from the paper in two ways. The model may use blanked words that are function words. If
the text to blank was a correct response, the filled text must be less likely after the context than this
correct response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from graphneg.english.tokens import detokenize, imitate_spacing, match_key, words_of
from graphneg.english.words import content_lemmas, readings
from graphneg.errors import InputError, checked_list
from graphneg.generators.base import UNRELATED, Candidate, Context, options_of
from graphneg.generators.infilling.layouts import Filling, Layout, WholeText, fill, layout_of
from graphneg.generators.infilling.masks import VERSIONS, MaskedText, masked_versions
from graphneg.generators.keywords.requests import Histories
from graphneg.generators.prompted_generation import Gap, WritingGenerator, WritingOptions
from graphneg.generators.retrieval import Bm25Generator
from graphneg.generators.text_filters import FUNCTION_WORDS, PerplexityFilter, have_nearly_same_words, refusal
from graphneg.hashing import shuffled
from graphneg.ingest.rows import utterance_id
from graphneg.model import Negative
from graphneg.nn.embedders import BUNDLED
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_either
from graphneg.nn.vectors import StaticVectors
from graphneg.nn.writers import Constraints, GenerationSettings, Writer
from graphneg.progress import Progress
from graphneg.records.scores import CONTEXT_OVERLAP, context_overlap
from graphneg.store.connection import Store

Source = Literal["responses", "context", "retrieved"]
"""Type of the source of a text to blank: ``responses`` are the correct responses to the context, ``context``
are turns of the context, and ``retrieved`` are responses that BM25 retrieves for the context."""
NEW_WORDS = 2
"""Minimum number of content words in the filled text that the original text does not contain."""
NEAR, NEAR_WEIGHT = 10, 0.01
"""`NEAR` is the number of words most similar to a blanked word that the model should avoid as well. Their
probabilities are multiplied by `NEAR_WEIGHT`."""
LONGEST, LONGEST_WHOLE = 40, 160
"""Maximum number of tokens in an output of the model. `LONGEST` applies to models that write only the texts
for the blanks, and `LONGEST_WHOLE` to models that write the whole text."""
_REASONS = {
    "no-blanks": "neither the context nor its responses have words to blank out",
    "no-history": "the store contains no other dialogue",
    "unfilled": "the model did not fill every blank",
    "same-words": "a blank was filled with one of its original words",
    "little-new": "fewer than two content words differ from the original",
    "no-word": "a blank was filled with something other than an English word",
    "copies-example": "the text repeats text of the prompt",
    "like-a-positive": "the text is nearly identical to a correct response",
    "no-clash": "the text shares no content word with the context",
    "fits": "given the context, the text is almost as likely as the original correct response",
}


@dataclass(frozen=True, slots=True)
class MaskAndFillOptions(WritingOptions):
    """Options of the generator ``mask-and-fill``, in addition to those of `WritingOptions`.

    Attributes:
        max_perplexity_alone: Highest accepted perplexity of a filled text without the turns before it. The
            limit is higher than for other generators, because a filled text still contains words that a
            person wrote. A model assigns such words a lower probability than words that it wrote itself.
        sources: Where the texts to blank come from: ``responses`` (correct responses), ``context`` (turns of
            the context), ``retrieved`` (responses that BM25 retrieves for the context).
        texts: Maximum number of texts from each source for a context.
        versions: Maximum number of ways to blank a text. For example, "I [word] tea." and "I like [word]."
            are two versions of the same text.
        drafts: Number of times that the model fills each version.
        best: Maximum number of filled texts to keep per context, unless more candidates are requested. Spare
            texts are used if a better text was already returned for another context.
        top_p: Nucleus sampling: probability mass of the tokens to sample from, above 0 and at most 1.
        min_loss_gap: Minimum loss gap of a text that was made from a correct response, in nats per token. The
            gap is the mean loss of the filled text after the context, minus that of the correct response. A
            text with a smaller gap is rejected, because it may still be correct.
        max_loss_increase: Highest accepted increase of the mean loss without a history, from the original
            text to the filled text, in nats per token. With 0, a filled text must be at least as fluent as
            the original text.
        vectors: File or folder of static word vectors, with which the words most similar to a blanked word
            are found.

    Raises:
        InputError: A number is out of range, or a source is unknown.
    """

    min_words: ClassVar[int] = 4

    max_perplexity_alone: float = 100.0
    sources: Sequence[str] = get_args(Source)
    texts: int = 2
    versions: int = VERSIONS
    drafts: int = 1
    best: int = 5
    top_p: float = 0.9
    min_loss_gap: float = 0.3
    max_loss_increase: float = 0.0
    vectors: str | Path = BUNDLED

    def __post_init__(self) -> None:
        """Check that the options have valid values."""
        WritingOptions.__post_init__(self)
        if min(self.texts, self.versions, self.drafts, self.best) < 1:
            raise InputError("texts, versions, drafts and best must be at least 1")
        strange = [name for name in self.kinds if name not in get_args(Source)]
        if not self.kinds:
            raise InputError(f"sources must not be empty; choose from {', '.join(get_args(Source))}")
        if strange:
            raise InputError(f"unknown sources {strange}; choose from {', '.join(get_args(Source))}")
        # Check temperature and top_p by creating the sampling settings, whose constructor checks them.
        _ = self.search

    @property
    def kinds(self) -> tuple[str, ...]:
        """The option ``sources`` as a tuple: where the texts to blank come from, such as ``responses``."""
        return tuple(checked_list("sources", self.sources))

    @property
    def search(self) -> Sampling:
        """The settings for sampling from the language model: temperature and ``top_p``."""
        return Sampling(self.temperature, top_p=self.top_p)


class Original(NamedTuple):
    """A text of the store in which spans are to be replaced by blanks.

    Attributes:
        kind: Source of the text: ``responses``, ``context`` or ``retrieved``.
        text: Text without blanks.
        node: Id of the utterance or response in the store that has this text.
    """

    kind: str
    text: str
    node: str


@dataclass(slots=True, kw_only=True)
class _Draft(Filling):
    """One attempt to fill the blanks of a text, which the prompt shows after turns of another dialogue."""

    asked: _ContextFillings
    original: Original


@dataclass(slots=True)
class _ContextFillings(Gap):
    """A context and the filled texts that were accepted for it so far."""

    texts: list[_Draft] = field(default_factory=list[_Draft])


class MaskAndFillGenerator(WritingGenerator):
    """Generate negatives by blanking spans of texts and letting a language model fill them."""

    name = "mask-and-fill"

    def __init__(
        self,
        options: MaskAndFillOptions,
        writer: Writer,
        judge: PerplexityFilter | None,
        histories: Histories,
        bank: Bm25Generator | None,
    ) -> None:
        """Initialize the generator.

        Args:
            options: Options of the generator.
            writer: Language model that fills the blanks.
            judge: Filter that scores the filled texts; None to accept texts regardless of their losses.
            histories: Source of the histories (first turns of other dialogues) that the prompts show.
            bank: Generator that retrieves responses from the store with BM25; None if the source
                ``retrieved`` is not used.
        """
        super().__init__(_REASONS, options, writer, judge)
        self._options = options
        self._histories = histories
        self._bank = bank
        self._layout: Layout = layout_of(writer)
        self._vectors = StaticVectors(options.vectors)
        whole = isinstance(self._layout, WholeText)
        self._manner = GenerationSettings(options.search, LONGEST_WHOLE if whole else LONGEST, logprobs=True)

    def begin(self, resumed: Iterable[Negative], progress: Progress) -> None:
        """Prepare a run, or prepare to resume an interrupted run.

        Args:
            resumed: Negatives that the interrupted run has written. Their texts are not returned again.
            progress: Not used, because the preparation takes little time.
        """
        WritingGenerator.begin(self, resumed, progress)
        if self._bank is not None:
            self._bank.begin()

    def settings(self) -> Mapping[str, object]:
        """Return all settings that determine the output: the options, and descriptions of the models."""
        own = {**self._options.settings(), **self.models, "layout": self._layout.name}
        return {**own, "sources": list(self._options.kinds), "vectors": self._vectors.name}

    def write_candidates(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> list[_ContextFillings]:
        """Blank texts for each context, and let the model fill them.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Number of candidates that are needed per context.
            seed: Seed for all random choices.

        Returns:
            One `Gap` per context, in the order of ``contexts``. The candidates for a context are sorted by
            the model's loss for the filled blanks, lowest first.
        """
        asked = [_ContextFillings(context, "no-blanks", per_context) for context in contexts]
        drafts = self._masked(asked, seed)
        fill(self.writer, self._layout, drafts, self._manner, seed=seed, constraints=self._constraints)
        passing = [draft for draft in drafts if self.accept(draft.asked, self._refusal(draft))]
        for draft, scores in self._judged(passing):
            own = [other.text for other in draft.asked.texts]
            # A text is blanked in several ways, so two filled texts may be nearly the same. Reject the second
            # of them.
            nearly = any(have_nearly_same_words(words_of(draft.text), words_of(other)) for other in own)
            if self.accept(draft.asked, "like-another" if nearly else None):
                draft.asked.texts.append(draft)
                draft.asked.candidates.append(self._candidate(draft, scores))
        for each in asked:
            each.candidates = each.candidates[: max(self._options.best, per_context)]
        return asked

    def _masked(self, asked: Sequence[_ContextFillings], seed: int) -> list[_Draft]:
        """Return the texts with blanks, each with the turns of another dialogue that its prompt shows."""
        found: list[tuple[_ContextFillings, Original, MaskedText, str]] = []
        for each, originals in zip(asked, self._originals([one.context for one in asked], seed), strict=True):
            for nth, original in enumerate(originals):
                id = f"{each.context.id}/{nth}"
                for way, masked in enumerate(
                    masked_versions(original.text, seed, id, self._options.versions)
                ):
                    found += [
                        (each, original, masked, f"{id}/{way}/{n}") for n in range(self._options.drafts)
                    ]
        # Give each blanked text its own id. The id determines which turns of another dialogue its prompt
        # shows, and the random numbers for filling its blanks.
        contexts, ids = [each.context for each, *_ in found], [id for *_, id in found]
        drafts: list[_Draft] = []
        for (each, original, masked, id), shown in zip(
            found, self._histories.get(contexts, ids, seed), strict=True
        ):
            # If the store has no other dialogue, there are no turns for the prompt to show (`shown` is None).
            # Then reject the text for the reason "no-history".
            if self.accept(each, "no-history" if shown is None else None) and shown is not None:
                drafts.append(_Draft(shown.turns, masked, id, asked=each, original=original))
        return drafts

    def _originals(self, contexts: Sequence[Context], seed: int) -> Iterator[list[Original]]:
        """Yield the texts to blank for each context: responses and turns, without duplicates."""
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
            found = [Original("retrieved", one.text, one.provenance["source"]) for one in similar]
            sources = [
                shuffled(rights, seed, "responses", context.id)[:most],
                # Prefer the last turns of the context, because a reply to the context has more in common with
                # them.
                said[::-1][:most],
                found,
            ]
            # Of equal texts, keep the first. A dict keeps the last value of a key, so reverse the order.
            texts = [one for source in sources for one in source if one.kind in kinds]
            yield list({match_key(one.text): one for one in reversed(texts)}.values())[::-1]

    def _constraints(self, draft: Filling) -> Constraints:
        """Return constraints that forbid the blanked words, and make similar words unlikely."""
        masked, first = draft.masked, len(draft.given)
        at_once = self._layout.blanks_per_prompt
        taken = masked.answers[first:] if at_once is None else masked.answers[first : first + at_once]
        # The blanked words are forbidden, because otherwise a model would often restore the original text.
        gone = {word for answer in taken for word in words_of(answer) if word not in FUNCTION_WORDS}
        # Make the words that are most similar to the blanked words unlikely, so that "red" does not become
        # "crimson".
        near = {other for word in sorted(gone) for other, _ in self._vectors.neighbours(word, NEAR)}
        weights = {**dict.fromkeys(sorted(near), NEAR_WEIGHT), **dict.fromkeys(sorted(gone), 0.0)}
        # A model that writes the whole text has to repeat the words around the blanks, so allow these words.
        if isinstance(self._layout, WholeText):
            shown = {word for turn in draft.turns for word in words_of(turn.text)}
            shown.update(word for part in masked.parts for word in words_of(part))
            weights = {word: weight for word, weight in weights.items() if word not in shown}
        return Constraints(weights={**weights, **dict.fromkeys(self._layout.forbidden, 0.0)})

    def _refusal(self, draft: _Draft) -> str | None:
        """Return the code of the reason for rejecting a filled text, or None if the text is accepted."""
        if draft.failed:
            return "unfilled"
        gone = {word for answer in draft.masked.answers for word in words_of(answer)} - FUNCTION_WORDS
        answered = {word for answer in draft.given for word in words_of(answer)} - FUNCTION_WORDS
        # Reject a filled text if it contains any of the blanked words, even in another blank.
        if gone & answered:
            return "same-words"
        # Models sometimes write words that do not exist. Reject a text with such a word.
        if any(word.isalpha() and not readings(word) and word not in self._vectors for word in answered):
            return "no-word"
        # If hardly any content words changed, reject the text: it still has the meaning of the original text.
        if (
            len({*content_lemmas(draft.text)} - {*content_lemmas(detokenize(draft.original.text))})
            < NEW_WORDS
        ):
            return "little-new"
        context, own = draft.asked.context, match_key(draft.original.text)
        # A filled text always resembles the text that was blanked. So compare it only with the other turns of
        # the context and with the other correct responses.
        others = replace(
            context,
            positives=tuple(text for text in context.correct_responses if match_key(text) != own),
            replies_to_copies={},
            turns=tuple(turn for turn in context.turns if match_key(turn.text) != own),
        )
        reason = refusal(draft.text, (), others, self._options.lengths)
        return reason or (
            None if context_overlap([turn.text for turn in context.turns], draft.text) else "no-clash"
        )

    def _judged(self, drafts: Sequence[_Draft]) -> list[tuple[_Draft, dict[str, float]]]:
        """Return the filled texts that the judge (a perplexity filter) accepts, with their scores.

        If there is no judge, all filled texts are returned. The texts are sorted by the mean loss of the
        words that the model put into the blanks, lowest first.
        """
        found: list[tuple[_Draft, dict[str, float]]] = [
            # The score is the mean loss over the blanks, so that texts with different numbers of blanks can
            # be compared.
            (one, {"infilling": round(one.loss / len(one.given), 3)})
            for one in drafts
        ]
        if self.judge is not None:
            texts, originals = [one.text for one in drafts], [one.original.text for one in drafts]
            losses = self.judge.beside(texts, originals, self._options.max_loss_increase)
            read = zip(found, losses, strict=True)
            found = [
                (one, {**scores, "perplexity": loss.perplexity})
                for (one, scores), loss in read
                if self.accept(one.asked, None if loss else "surprising") and loss is not None
            ]
            found = list(self._without_likely_correct(found, self.judge))
        return sorted(found, key=lambda item: (item[1]["infilling"], item[0].id))

    def _without_likely_correct(
        self, found: Sequence[tuple[_Draft, dict[str, float]]], judge: PerplexityFilter
    ) -> Iterator[tuple[_Draft, dict[str, float]]]:
        """Yield the filled texts, except those that are probably still correct responses."""
        rights = [(one, scores) for one, scores in found if one.original.kind == "responses"]
        turns = [one.asked.context.turns for one, _ in rights]
        now = judge.after([one.text for one, _ in rights], turns)
        before = judge.after([one.original.text for one, _ in rights], turns)
        pairs = zip(rights, now, before, strict=True)
        # Compare the language model's loss on the filled response with its loss on the original response,
        # both after the context. If the loss hardly increased, the filled response is probably also correct,
        # so it is rejected.
        loss_increases = {id(one): after.mean - was.mean for (one, _), after, was in pairs}
        for one, scores in found:
            apart = loss_increases.get(id(one))
            if apart is None:
                yield one, scores
            elif self.accept(one.asked, "fits" if apart < self._options.min_loss_gap else None):
                yield one, {**scores, "apart": apart}

    def _candidate(self, draft: _Draft, scores: Mapping[str, float]) -> Candidate:
        turns = [turn.text for turn in draft.asked.context.turns]
        details = {"source": draft.original.node, "blanks": draft.masked.marked}
        said = {**scores, CONTEXT_OVERLAP: context_overlap(turns, draft.text)}
        return Candidate(imitate_spacing(draft.text, turns), (UNRELATED,), said, details)


def mask_and_fill(store: Store, **options: Any) -> MaskAndFillGenerator:
    """Create the generator ``mask-and-fill``, which blanks spans of texts and fills them again.

    The options are the fields of `MaskAndFillOptions`.

    Args:
        store: Store that contains the dialogues.
        options: Fields of `MaskAndFillOptions`, as keyword arguments.

    Returns:
        The new generator.
    """
    chosen = options_of(MaskAndFillOptions, "mask-and-fill", options)
    bank = Bm25Generator(store) if "retrieved" in chosen.kinds else None
    writer, judge = chosen.load("mask-and-fill", load_either)
    return MaskAndFillGenerator(chosen, writer, judge, Histories(store), bank)
