"""Share the machinery of generators that prompt a language model.

`WritingOptions` holds the options of all such generators and loads their models: a writer, which may be local
or served, and a judge, which scores what was written. A `WritingGenerator` counts refused texts by reason,
never returns nearly the same text twice, and predicts the requests that a run would send to a server. A
subclass implements `WritingGenerator.written`, which fills gaps with candidates::

    gap      context "d#3", two candidates wanted
    written  "The ladder is in the shed.", "The ladder is in our shed.", "I fell off it."
    given    "The ladder is in the shed.", "I fell off it."

The second text is not given, because it is nearly the same as the first.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

from graphneg.english.near_duplicates import NearDuplicates
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import BATCH, SLOW_BATCH, Candidate, Context, Draft, Generator
from graphneg.generators.drafts import BY_NEW_TEXTS
from graphneg.generators.text_filters import REASONS, Bounds, PerplexityFilter
from graphneg.model import Negative
from graphneg.nn.answers import PROBLEMS
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.nn.models import load_causal
from graphneg.nn.served import CountingWriter, ServedWriter
from graphneg.nn.serving import Serving, serving_of
from graphneg.nn.writers import LocalWriter, Prompt, Route, Writer, settings_of_writer
from graphneg.progress import Progress

Model = TypeVar("Model", bound=LanguageModel)
ANSWERS = "answers"
"""Name of the ranker's score, and code of its refusals."""

_OF_MODELS = ("model", "gguf_file", "judge", "ranker", "device", "offline", "batch_size", "served", "route")
"""Options that name or configure models; `WritingGenerator.models` reports them instead."""
PULL = 3.0
"""Default logit bias toward requested words, for models that were not trained to use them."""
END = "\n"
"""Stop string of prompts that ask for one line."""
LEAST_WORDS = 5
"""Minimum number of words of a text. A sentence end before that does not stop the writer."""
_ANSWERS_REASON = {ANSWERS: "the score of the judge is too high: the text may be an answer"}
UNJUDGED = "no judge: texts are not refused as surprising or fitting; name a judge with --option judge=MODEL"
"""Message for runs without a judge."""


class AnswerScorer(Protocol):
    """The interface of a model that scores how well responses answer contexts; any ranker has it."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score responses.

        Args:
            contexts: Texts of the turns of each context.
            responses: One response per context.

        Returns:
            Scores from 0 to 1, shape (pairs,).
        """
        ...


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """A ranker with a name that settings can show.

    Attributes:
        name: Name of the ranker.
        ranker: The ranker.
    """

    name: str
    ranker: AnswerScorer

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score responses with the ranker.

        Args:
            contexts: Texts of the turns of each context.
            responses: One response per context.

        Returns:
            Scores from 0 to 1, shape (pairs,).
        """
        return self.ranker.score(contexts, responses)


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """The options of all generators that prompt a language model.

    Attributes:
        model: Path or id of the language model, or with ``served`` its name on the server.
        gguf_file: Name of the GGUF file in the model's folder, as in `graphneg.nn.models.load_causal`.
        device: Device of local models; ``auto`` uses a GPU if there is one.
        offline: Whether to load models without network access.
        served: Server of the model: a `graphneg.nn.serving.Serving`, or a mapping of its options. None for a
            local model.
        route: Use the ``chat`` API or the ``completion`` API. None: chat for a served model, completion for a
            local one.
        temperature: Sampling temperature, above 0.
        pull: Logit bias toward requested words, 0 or more. None: 3 for a local model that was not trained for
            the task, 0 for one that was. A served model cannot be biased.
        words: Maximum number of words of a text.
        judge: Path or id of a causal language model that scores the texts. None: the writer itself, if it is
            a local causal model.
        surprise: Highest perplexity after the history (see `graphneg.generators.text_filters.Bounds`).
        alone: Highest perplexity without a history.
        worst: Highest loss of a single token, in nats.
        ranker: Ranker (`graphneg.rankers.base.Ranker`) that refuses texts as possible answers.
            `DialogueGraph.generate` also accepts its path or id.
        max_score: Highest ranker score of a text that passes, from 0 to 1.

    Raises:
        InputError: A number is out of range.
    """

    least_words: ClassVar[int] = LEAST_WORDS
    """Minimum number of words of a text."""

    model: str | Path | None = None
    gguf_file: str | None = None
    device: str = "auto"
    offline: bool = False
    served: Serving | Mapping[str, Any] | None = None
    route: Route | None = None
    temperature: float = 0.7
    pull: float | None = None
    words: int = 24
    judge: str | Path | None = None
    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0
    ranker: AnswerScorer | None = None
    max_score: float = 0.5

    def __post_init__(self) -> None:
        """Check the options before a model is loaded, which may take a minute."""
        if self.temperature <= 0 or (self.pull or 0.0) < 0:
            raise InputError("temperature must be above 0, pull at least 0")
        if self.words < self.least_words:
            raise InputError(f"words {self.words}: a text has {self.least_words} words at least")
        if self.route not in (None, "chat", "completion"):
            raise InputError(f"route {self.route!r}: choose one of chat, completion")
        # Building the object checks its values.
        _ = self.bounds
        if self.served is not None:
            serving_of(self.served)

    def settings(self) -> dict[str, Any]:
        """Return the options that the output depends on, without the models."""
        added = {} if self.served is None else dict(serving_of(self.served).parameters)
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _OF_MODELS}
        return {**own, "parameters": added}

    @property
    def bounds(self) -> Bounds:
        """The highest losses of a text that passes."""
        return Bounds(self.surprise, self.alone, self.worst)

    @property
    def lengths(self) -> range:
        """The allowed numbers of words of a text."""
        return range(self.least_words, self.words + 1)

    def pull_of(self, trained: bool) -> float:
        """Return the logit bias toward requested words.

        Args:
            trained: Whether the model was trained for its task.

        Returns:
            ``pull`` if it is set, else the default.
        """
        untrained = 0.0 if trained else PULL
        return untrained if self.pull is None else self.pull

    def load(self, name: str, load: Callable[..., LanguageModel]) -> tuple[Writer, PerplexityFilter | None]:
        """Load the writer and the judge.

        The judge is loaded first, because the writer may be large and loading it would be wasted if the judge
        cannot be found. On a CUDA device that supports it, the writer runs in bfloat16.

        Args:
            name: Name of the generator, for error messages.
            load: Function that loads a local model.

        Returns:
            The writer, and the judge or None. Without a ``judge``, a local causal model judges its own texts.

        Raises:
            GeneratorError: No model is named.
        """
        if not self.model:
            raise GeneratorError(f"{name} needs a model: option model=PATH_OR_ID, a language model")
        reader: LanguageModel | None = None
        if self.judge is not None:
            reader = load_causal(self.judge, device=self.device, offline=self.offline)
        if self.served is not None:
            writer: Writer = ServedWriter(str(self.model), serving_of(self.served), self.route or "chat")
        else:
            model = load(self.model, gguf_file=self.gguf_file, device=self.device, offline=self.offline)
            _calculate_in_bfloat16(model)
            writer = LocalWriter(model, self.route or "completion")
            # A local causal model can judge its own texts.
            reader = reader or model
        return writer, PerplexityFilter(reader, self.bounds) if isinstance(reader, CausalLM) else None


def _calculate_in_bfloat16(model: LanguageModel) -> None:
    """Convert a model to bfloat16 if its device supports that natively."""
    import torch

    if model.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        model.model.to(torch.bfloat16)


@dataclass(slots=True)
class Gap:
    """Candidates of a context that are to be written.

    Attributes:
        context: The context.
        reason: Code of the reason why the last refused text was refused.
        amount: Number of candidates wanted.
        candidates: Candidates found so far, best first.
    """

    context: Context
    reason: str = ""
    amount: int = 1
    candidates: list[Candidate] = field(default_factory=list[Candidate])


class WritingGenerator(Generator):
    """Base class of generators that prompt a language model.

    A text that was given before is not given again, so candidates depend on earlier ones.

    Attributes:
        refused: Number of refused texts by reason.
        writer: Language model that writes.
        judge: Filter that scores the texts, or None.
        batch: Number of dialogues per batch.
    """

    depends_on_earlier = True
    prefetches = True

    def __init__(
        self,
        reasons: Mapping[str, str],
        options: WritingOptions,
        writer: Writer,
        judge: PerplexityFilter | None,
    ) -> None:
        """Initialize the generator.

        Args:
            reasons: A sentence for each reason code of the subclass.
            options: Options of the generator.
            writer: Language model that writes.
            judge: Filter that scores the texts. If None, no text is refused because of its loss.
        """
        self.reasons = {**REASONS, **PROBLEMS, **_ANSWERS_REASON, **reasons}
        self._ranker, self._max_score = options.ranker, options.max_score
        self.refused: Counter[str] = Counter()
        self.writer = writer
        self.judge = judge
        # A server answers many prompts at a time. A local model is slow, so its output is saved after few
        # dialogues.
        self.batch = BATCH if isinstance(writer, ServedWriter) else SLOW_BATCH
        self._said = NearDuplicates()

    @abstractmethod
    def written(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """Write candidates for contexts.

        Args:
            contexts: Contexts to generate for.
            per_context: Number of candidates wanted per context.
            seed: Seed of all random choices.

        Returns:
            The gaps in the order of the contexts, each with its candidates, best first.
        """

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Return candidates for each context. No two of a run are nearly the same.

        Args:
            contexts: Contexts to generate for.
            per_context: Maximum number of candidates per context.
            seed: Seed of all random choices.

        Returns:
            One list of candidates per context, in order.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._wrong(contexts, per_context, seed):
            own: list[Candidate] = []
            for one in gap.candidates:
                # Candidates beyond the amount wanted stay available to other contexts.
                if len(own) < gap.amount and self.is_new(gap, one.text):
                    own.append(one)
            given[gap.context.id] += own
            self.leave_out(gap.reason, gap.context.id, gap.amount - len(own))
        return [given[context.id] for context in contexts]

    def choice(self, per_context: int) -> Mapping[str, Any]:
        """Return how a merge of shards chooses among drafts.

        Args:
            per_context: Maximum number of candidates per context.

        Returns:
            Name and options of the chooser; see `graphneg.generators.drafts.choosing`.
        """
        return {"by": BY_NEW_TEXTS, "most": per_context}

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[Draft]:
        """Return all candidates of each context, including those that other contexts have.

        Args:
            contexts: Contexts to generate for.
            per_context: Number of candidates wanted per context.
            seed: Seed of all random choices.

        Returns:
            One draft per context, in order.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._wrong(contexts, per_context, seed):
            given[gap.context.id] += gap.candidates
            self.leave_out(gap.reason, gap.context.id, gap.amount - len(gap.candidates))
        return [Draft(given[context.id]) for context in contexts]

    def _wrong(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """Return the gaps without candidates that the ranker scores as answers."""
        gaps = self.written(contexts, per_context, seed)
        if self._ranker is None:
            return gaps
        pairs = [(gap, one) for gap in gaps for one in gap.candidates]
        turns = [[turn.text for turn in gap.context.turns] for gap, _ in pairs]
        scores = self._ranker.score(turns, [one.text for _, one in pairs]) if pairs else []
        for gap in gaps:
            gap.candidates = []
        for (gap, one), score in zip(pairs, scores, strict=True):
            # Candidates with label 1 are meant to be answers.
            is_answer = one.label == 0 and score > self._max_score
            if self.passes(gap, ANSWERS if is_answer else None):
                gap.candidates.append(replace(one, scores={**one.scores, ANSWERS: float(score)}))
        return gaps

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """Start or resume a run.

        Args:
            given: Negatives of the interrupted run; their texts are not given again.
            progress: Not used.
        """
        self._said = NearDuplicates()
        # A resumed run must not repeat what it gave before.
        for negative in given:
            self._said.add(negative.response)

    @property
    def models(self) -> dict[str, object]:
        """The models that write and judge, for `settings`."""
        judge, ranker = self.judge and str(self.judge.model.path), self._ranker
        named = None if ranker is None else str(getattr(ranker, "name", type(ranker).__name__))
        return {**settings_of_writer(self.writer), "judge": judge, "ranker": named}

    def notes(self) -> list[str]:
        """Return messages for the user."""
        return [*self.writer.notes(), *([UNJUDGED] if self.judge is None else [])]

    def passes(self, gap: Gap, reason: str | None) -> bool:
        """Return whether there is no reason to refuse a text, and count the reason if there is one.

        Args:
            gap: Gap that the text was written for.
            reason: Code of the reason, or None.

        Returns:
            Whether the text passes.
        """
        if reason is not None:
            self.refused[reason] += 1
            gap.reason = reason
        return reason is None

    def is_new(self, gap: Gap, text: str) -> bool:
        """Return whether no text given so far is nearly the same, and remember the text.

        Call it in the order of the contexts, so that the result does not depend on the batch size.

        Args:
            gap: Gap that the text was written for.
            text: The text.

        Returns:
            Whether the text is new.
        """
        return self.passes(gap, None if self._said.add(text) else "said-before")

    def estimate(
        self, batches: Iterable[Sequence[Context]], per_context: int, seed: int
    ) -> CountingWriter | None:
        """Count the requests that a run would send to a server.

        Args:
            batches: The contexts of the run.
            per_context: Maximum number of candidates per context.
            seed: Seed of the run.

        Returns:
            The counts; None if the model is local.
        """
        if not isinstance(self.writer, ServedWriter):
            return None
        counting = self.writer.counting()
        for contexts in batches:
            counting.begin()
            self._with(counting).generate(contexts, per_context, seed)
        return counting

    def prefetch(self, contexts: Sequence[Context], per_context: int, seed: int) -> None:
        """Request the drafts of later contexts, so that `generate` finds the answers in the cache.

        Args:
            contexts: Contexts that come later.
            per_context: Maximum number of candidates per context.
            seed: Seed of the run.
        """
        if isinstance(self.writer, ServedWriter):
            # `generate` is left as soon as its first requests are answered, because later ones depend on the
            # answers.
            with suppress(_Fetched):
                self._with(_Drafts(self.writer)).generate(contexts, per_context, seed)

    def _with(self, writer: Any) -> WritingGenerator:
        """Return a copy with another writer and its own counts."""
        other = copy.copy(self)
        # The ranker is not asked while requests are counted or sent ahead.
        other.writer, other.refused, other._said, other._ranker = writer, Counter(), NearDuplicates(), None
        # The copy must not share the list of missing candidates.
        other.left_out()
        return other


class _Fetched(Exception):
    """Raised when the first requests are answered, to leave `generate` early."""


@dataclass(frozen=True, slots=True)
class _Drafts:
    """A writer that sends the first requests, discards the answers and stops."""

    writer: ServedWriter

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.writer.name

    def complete(self, prompts: Sequence[Prompt], n: int = 1, **asked: Any) -> NoReturn:
        """Send the requests and raise `_Fetched`.

        Args:
            prompts: The prompts.
            n: Number of texts per prompt.
            asked: Further arguments of the writer.

        Raises:
            _Fetched: Always.
        """
        self.writer.complete(prompts, n, **asked)
        raise _Fetched
