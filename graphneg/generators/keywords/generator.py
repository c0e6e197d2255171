"""Write wrong responses that contain keywords of a context (``key-context``, ``key-sem``, ``key-sentence``).

``key-context`` and ``key-sem`` follow Gupta et al. (2021, "Synthesizing Adversarial Negative Responses for
Robust Response Ranking and Evaluation", section 3.2). A language model writes a reply that contains keywords
of the context, but its prompt shows the history of another dialogue. ``key-sem`` also replaces some of the
keywords by similar words. ``key-sentence`` does not ask for a reply, but for an everyday sentence with a
keyword::

    context    A: Did you bring the tickets for the concert?
    other      A: I am rather tired tonight.
    prompt     A: I am rather tired tonight. / Words: tickets / B:
    negative   B: Then give your tickets to my sister.

The model writes several texts for each negative that is needed. Malformed texts are rejected. The most likely
of the other texts becomes the negative, unless it is also likely after the context itself. Such a text might
be a correct answer, so the next text is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.english.tokens import imitate_spacing, one_line, words_of
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import UNRELATED, Candidate, Context, options_of
from graphneg.generators.keywords.requests import (
    Histories,
    History,
    Words,
    drawn,
    keywords_of,
    replace_by_neighbours,
)
from graphneg.generators.prompted_generation import END, MIN_WORDS, Gap, WritingGenerator, WritingOptions
from graphneg.generators.prompts import (
    EXAMPLE_TEXTS,
    REPLY_EXAMPLES,
    REPLY_WITH_WORDS,
    SENTENCE_EXAMPLES,
    is_trained,
    reply_request,
    sentence_request,
)
from graphneg.generators.text_filters import (
    LaterLosses,
    PerplexityFilter,
    TextLosses,
    have_nearly_same_words,
    refusal,
)
from graphneg.model import Turn
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_causal
from graphneg.nn.writers import Constraints, GenerationSettings, LocalWriter, Prompt, Writer
from graphneg.shift.keywords import Keyword, get_extractor
from graphneg.store.connection import Store

if TYPE_CHECKING:
    from graphneg.nn.vectors import StaticVectors

_REASONS = {
    "no-keywords": "the context has no keywords",
    "no-history": "the store contains no other dialogue",
    "copies-example": "the text repeats text of the prompt",
    "like-a-positive": "the text is nearly identical to a correct response",
    "fits": "the text fits the context as well as the history that it was written for",
}

LONGEST = 32
"""Maximum number of tokens in a text that the model writes."""
Ask = Callable[[Sequence[Turn], Sequence[str]], str]
"""Type of a function that builds a prompt from two arguments: the turns of a history, and keywords."""


@dataclass(frozen=True, slots=True)
class KeywordOptions(WritingOptions):
    """Options of the keyword generators, in addition to those of `WritingOptions`.

    Attributes:
        keywords: Name of the keyword extractor, for example ``rake`` or ``yake``.
        language: Language of the contexts, as a code such as ``en``.
        spacy_model: Name of a spaCy model, for keyword extractors that need such a model.
        min_keywords: Minimum number of keywords in a prompt.
        max_keywords: Maximum number of keywords in a prompt.
        top_p: Nucleus sampling: probability mass of the tokens to sample from, above 0 and at most 1.
        drafts: Number of texts that the model writes for one prompt.
        max_draws: Maximum number of prompts for a negative. Keywords are drawn again for each prompt. Another
            prompt is sent only if no text for the previous prompt was accepted.
        min_loss_gap: Minimum loss gap of an accepted text, in nats per token. The gap is the mean loss of the
            text after the context, minus its mean loss after the history in its prompt. A text with a small
            gap may be a correct answer to the context.
        max_strangest_loss: Highest accepted mean loss of a text's three least likely tokens after the
            context, in nats. In nonsense, these tokens are less likely than in a sensible text that does not
            fit the context.

    Raises:
        InputError: A number is out of range.
    """

    keywords: str = "rake"
    language: str = "en"
    spacy_model: str | None = None
    min_keywords: int = 1
    max_keywords: int = 1
    top_p: float = 0.9
    drafts: int = 8
    max_draws: int = 4
    min_loss_gap: float = 0.6
    max_strangest_loss: float = 6.5

    def __post_init__(self) -> None:
        """Check that the options have valid values."""
        WritingOptions.__post_init__(self)
        if not 1 <= self.min_keywords <= self.max_keywords:
            raise InputError(
                f"min_keywords must be from 1 to max_keywords, {self.max_keywords}, not {self.min_keywords}"
            )
        if self.drafts < 1 or self.max_draws < 1:
            raise InputError(
                f"drafts and max_draws must be at least 1, not {self.drafts} and {self.max_draws}"
            )
        _ = self.search

    @property
    def search(self) -> Sampling:
        """The settings for sampling from the language model: temperature and ``top_p``."""
        return Sampling(self.temperature, top_p=self.top_p)


@dataclass(slots=True)
class _PendingNegative(Gap):
    """A negative for which no text has been accepted yet.

    ``at`` is the index of its context in the batch. ``words`` are the keywords in the last prompt for this
    negative. ``texts`` are the well-formed texts that the model wrote for it, each with its losses, sorted
    with the most likely text first.
    """

    id: str = ""
    at: int = 0
    keywords: Sequence[Keyword] = ()
    history: History | None = None
    words: tuple[Words, ...] = ()
    texts: list[tuple[str, TextLosses | None]] = field(default_factory=list[tuple[str, TextLosses | None]])

    @property
    def said(self) -> tuple[str, ...]:
        """The keywords in the last prompt, each as one string."""
        return tuple(" ".join(words) for words in self.words)


class KeywordGenerator(WritingGenerator):
    """Generate negatives by prompting a language model to use keywords of the context."""

    def __init__(
        self,
        name: str,
        options: KeywordOptions,
        writer: Writer,
        ask: Ask,
        *,
        examples: str = "",
        keyword_bias: float = 0.0,
        judge: PerplexityFilter | None = None,
        histories: Histories | None = None,
        vectors: StaticVectors | None = None,
    ) -> None:
        """Initialize the generator.

        Args:
            name: Name of the generator.
            options: Options of the generator.
            writer: Language model that writes the texts.
            ask: Function that builds a prompt from the turns of a history and from keywords.
            examples: Text with solved examples at the beginning of each prompt; empty for no examples.
            keyword_bias: Bias that is added to the logits of the keywords' tokens, 0 or more.
            judge: Filter that scores the texts; None to accept texts regardless of their losses.
            histories: Source of the histories (first turns of other dialogues) that prompts show; None for
                prompts without a history.
            vectors: Word vectors for replacing keywords by similar words; None to replace no keywords.
        """
        super().__init__(_REASONS, options, writer, judge)
        self.name = name
        self._options = options
        self._ask = ask
        self._manner = GenerationSettings(options.search, LONGEST, examples)
        self._pull = keyword_bias
        self._histories = histories
        self._vectors = vectors
        self._extractor = get_extractor(options.keywords, options.language, options.spacy_model)

    def write_candidates(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> list[_PendingNegative]:
        """Write texts for the negatives that each context needs.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Number of negatives that are needed per context.
            seed: Seed for all random choices.

        Returns:
            One object per negative, in the order of the contexts, with at most one candidate. A negative is
            left out if its context has no keywords, or if the store has no other dialogue for its prompt.
        """
        all_pending = self._pending_negatives(contexts, per_context, seed)
        for draw in range(self._options.max_draws):
            unfilled = [pending for pending in all_pending if not pending.candidates]
            self._write(unfilled, draw, seed)
            self._fill(unfilled, all_pending)
        return all_pending

    def settings(self) -> Mapping[str, object]:
        """Return everything that determines the output: the options, and descriptions of the models."""
        return {
            **self._options.settings(),
            **self.models,
            "examples": self._manner.few_shot_text,
            "extractor": self._extractor.name,
            "vectors": self._vectors and self._vectors.name,
            "keyword_bias": self._pull,
        }

    def _pending_negatives(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> list[_PendingNegative]:
        """Return the negatives to write, with the keywords and the history for their prompts.

        A history is the beginning of another dialogue. Negatives without keywords or without a history are
        reported as missing.
        """
        all_pending: list[_PendingNegative] = []
        texts = [context.text for context in contexts]
        found = keywords_of(self._extractor, texts, self._options.language)
        for at, (context, keywords) in enumerate(zip(contexts, found, strict=True)):
            # A context such as "Oh, thank you!" contains no keyword, so no prompt can be built for it.
            if not keywords:
                self.leave_out("no-keywords", context.id, per_context)
                continue
            # The keywords and the history of a negative are drawn at random from the seed and the negative's
            # id. They therefore do not depend on the other contexts in the batch.
            ids = [f"{context.id}/{n:03}" for n in range(per_context)]
            all_pending += [_PendingNegative(context, id=id, at=at, keywords=keywords) for id in ids]
        if self._histories is None:
            return all_pending
        shown = self._histories.get(
            [pending.context for pending in all_pending], [pending.id for pending in all_pending], seed
        )
        for pending, history in zip(all_pending, shown, strict=True):
            pending.history = history
            self.leave_out("no-history", pending.context.id, int(history is None))
        return [pending for pending in all_pending if pending.history is not None]

    def _write(self, all_pending: Sequence[_PendingNegative], draw: int, seed: int) -> None:
        """Let the model write texts for each missing negative. Add usable texts to ``texts``, best first."""
        prompts: list[Prompt] = []
        for pending in all_pending:
            # The keywords are chosen by this id. It contains the number of the attempt, so that each attempt
            # uses other keywords.
            id = f"{pending.id}/{draw}"
            between = (self._options.min_keywords, self._options.max_keywords)
            pending.words = drawn(pending.keywords, between, seed, id, pending.context.text)
            if self._vectors is not None:
                pending.words = replace_by_neighbours(self._vectors.neighbours, pending.words, seed, id)
            asked = self._ask(pending.history.turns if pending.history else (), pending.said)
            prompts.append(Prompt(asked, id))
        written = self.writer.complete(
            prompts,
            self._options.drafts,
            seed=seed,
            stop=[END],
            constraints=[Constraints(pending.said, self._pull, MIN_WORDS) for pending in all_pending],
            settings=self._manner,
        )
        # The model may write the same text twice for a negative. A dict with the index of the negative and
        # the text as its key contains the text once, so that it is scored once.
        whole: dict[tuple[int, str], _PendingNegative] = {}
        for number, (pending, drafts) in enumerate(zip(all_pending, written, strict=True)):
            for draft in drafts:
                text = one_line(draft.text)
                reason = refusal(text, pending.words, pending.context, self._options.lengths, EXAMPLE_TEXTS)
                # If the model reached the token limit, the text is incomplete.
                if not draft.finished:
                    reason = "unfinished"
                if self.accept(pending, draft.problem or reason):
                    whole[number, text] = pending
        for ((_, text), pending), losses in zip(whole.items(), self._losses(whole), strict=True):
            if self.judge is None or self.accept(pending, None if losses else "surprising"):
                pending.texts.append((text, losses))
        for pending in all_pending:
            pending.texts.sort(key=lambda draft: draft[1].mean if draft[1] else 0.0)

    def _losses(self, texts: Mapping[tuple[int, str], _PendingNegative]) -> Sequence[TextLosses | None]:
        """Return the losses of each text, both alone and after the history in its prompt.

        Args:
            texts: The negative for which each text was written, keyed by the index of the negative and the
                text.

        Returns:
            The losses of each text, in the order of ``texts``. None for each text that the judge rejects, and
            for all texts if there is no judge.
        """
        if self.judge is None:
            return [None] * len(texts)
        histories = [pending.history and pending.history.turns for pending in texts.values()]
        return self.judge.read([text for _, text in texts], histories)

    def _fill(self, unfilled: Sequence[_PendingNegative], all_pending: Sequence[_PendingNegative]) -> None:
        """Choose a text for each negative: the most likely text that is a wrong response to the context.

        A text is rejected for three reasons. It may be a correct response, because its loss after the context
        is hardly higher than after the history in its prompt (the beginning of another dialogue). It may be
        nonsense after the context. Or it nearly equals another candidate for the context.
        """
        # Each iteration tries one text for each missing negative, so that the judge scores them in one batch.
        while contenders := [pending for pending in unfilled if pending.texts]:
            best = [pending.texts.pop(0) for pending in contenders]
            after: Sequence[LaterLosses | None] = [None] * len(best)
            if self._histories is not None and self.judge is not None:
                turns = [pending.context.turns for pending in contenders]
                after = self.judge.after([text for text, _ in best], turns)
            for pending, (text, losses), loss in zip(contenders, best, after, strict=True):
                given = [each for other in all_pending if other.at == pending.at for each in other.candidates]
                # Reject a text that is nearly equal to another candidate for the same context.
                nearly = any(
                    have_nearly_same_words(words_of(text), words_of(candidate.text)) for candidate in given
                )
                details, scores = {"keywords": ", ".join(pending.said)}, dict[str, float]()
                if pending.history is not None:
                    details["source"] = pending.history.id
                if losses is not None:
                    scores["perplexity"] = losses.perplexity
                reason = "like-another" if nearly else None
                if loss is not None and losses is not None:
                    scores["apart"] = loss.mean - losses.in_context
                    reason = reason or self._rejection_after_context(scores["apart"], loss)
                if self.accept(pending, reason):
                    spaced = imitate_spacing(text, [turn.text for turn in pending.context.turns])
                    pending.candidates.append(Candidate(spaced, (UNRELATED,), scores, details))
                    pending.texts.clear()

    def _rejection_after_context(self, min_loss_gap: float, loss: LaterLosses) -> str | None:
        """Return why a text is rejected as a wrong response to the context; None if it is accepted.

        Args:
            min_loss_gap: The mean loss of the text after the context, minus its mean loss after the history
                (the turns of another dialogue) for which it was written.
            loss: Losses of the text after the context.

        Returns:
            ``fits`` if the text may be a correct response, ``surprising`` if it may be nonsense, otherwise
            None.
        """
        if min_loss_gap < self._options.min_loss_gap:
            return "fits"
        return "surprising" if loss.strangest > self._options.max_strangest_loss else None


def key_context(store: Store, **options: Any) -> KeywordGenerator:
    """Create ``key-context``, which writes replies with keywords of the context for other dialogues.

    The options are the fields of `KeywordOptions`.

    Args:
        store: Store that contains the dialogues.
        options: Fields of `KeywordOptions`, as keyword arguments.

    Returns:
        The new generator.
    """
    return _generator("key-context", options, Histories(store))


def key_sem(store: Store, *, vectors: str | Path | None = None, **options: Any) -> KeywordGenerator:
    """Create ``key-sem``, which works like ``key-context`` but replaces some keywords by similar words.

    Each keyword is replaced with probability 0.5. ``vectors`` is a file or folder of static word vectors;
    Gupta et al. (2021) use GloVe. The other options are the fields of `KeywordOptions`.

    Args:
        store: Store that contains the dialogues.
        vectors: File or folder of static word vectors. This option is required: None raises an error.
        options: Fields of `KeywordOptions`, as keyword arguments.

    Returns:
        The new generator.
    """
    return _generator("key-sem", options, Histories(store), vectors)


def key_sentence(store: Store, **options: Any) -> KeywordGenerator:
    """Create ``key-sentence``, which writes everyday sentences (not replies) with keywords of the context.

    The options are the fields of `KeywordOptions`.

    Args:
        store: Not used.
        options: Fields of `KeywordOptions`, as keyword arguments.

    Returns:
        The new generator.
    """
    return _generator("key-sentence", options)


def _generator(
    name: str,
    options: Mapping[str, Any],
    histories: Histories | None = None,
    vectors: str | Path | None = None,
) -> KeywordGenerator:
    """Create a generator that writes replies, or single sentences if ``histories`` is None."""
    chosen, near = options_of(KeywordOptions, name, options), None
    if name == "key-sem":
        if vectors is None:
            raise GeneratorError(
                "key-sem needs word vectors: set the option vectors=PATH, for example to a GloVe file"
            )
        from graphneg.nn.vectors import StaticVectors

        near = StaticVectors(vectors)
    writer, judge = chosen.load(name, load_causal)
    local = writer.model if isinstance(writer, LocalWriter) else None
    # graphneg can train models to write replies with keywords, but not single sentences with keywords.
    # Therefore prompts for sentences always contain solved examples.
    trained = histories is not None and local is not None and is_trained(local, REPLY_WITH_WORDS)
    examples = SENTENCE_EXAMPLES if histories is None else "" if trained else REPLY_EXAMPLES
    ask: Ask = reply_request if histories else lambda _, words: sentence_request(words)
    return KeywordGenerator(
        name,
        chosen,
        writer,
        ask,
        examples=examples,
        keyword_bias=chosen.keyword_bias_of(trained),
        judge=judge,
        histories=histories,
        vectors=near,
    )
