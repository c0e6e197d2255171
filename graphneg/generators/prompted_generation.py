"""Provide the common parts of generators that prompt a language model.

`WritingOptions` contains the options of all such generators and loads their models. The writer is a local or
served model that writes the texts. The judge is a local model that scores them. `WritingGenerator` is the
base class of the generators. It counts rejected texts by reason, never returns two nearly equal texts in a
run, and estimates the requests that a run would send to a server.

A subclass implements `WritingGenerator.written`. For each context, this method returns a `Gap`: the context,
the number of candidates that are needed, and the candidates that the model wrote. In this example, the second
candidate is not returned, because it is nearly equal to the first::

    gap       context "d#3", two candidates wanted
    written   "The ladder is in the shed.", "The ladder is in our shed.", "I fell off it."
    returned  "The ladder is in the shed.", "I fell off it."
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
from graphneg.generators.deferred_choice import BY_NEW_TEXTS
from graphneg.generators.text_filters import REASONS, Bounds, PerplexityFilter
from graphneg.model import Negative
from graphneg.nn.answers import PROBLEMS
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.nn.models import load_causal
from graphneg.nn.served import CountingWriter, ServedWriter
from graphneg.nn.serving import ServerSettings, serving_of
from graphneg.nn.writers import LocalWriter, Prompt, Route, Writer, settings_of_writer
from graphneg.progress import Progress

Model = TypeVar("Model", bound=LanguageModel)
ANSWERS = "answers"
"""Name of the ranker's score in a record, and reason code for rejecting a text with a high score."""

_OF_MODELS = ("model", "gguf_file", "judge", "ranker", "device", "offline", "batch_size", "served", "route")
"""Options that name or configure models. They are not part of the settings of a run, because
`WritingGenerator.models` describes the loaded models."""
KEYWORD_BIAS = 3.0
"""Default bias on the logits of requested words, for a model that was not trained to use given words."""
END = "\n"
"""Stop sequence for prompts that ask for a single line."""
MIN_WORDS = 5
"""Minimum number of words in a text. The model may not end a text that has fewer words."""
_ANSWERS_REASON = {ANSWERS: "the score of the judge is too high: the text may be an answer"}
UNJUDGED = "no judge: unlikely or fitting texts are not rejected; name a judge with --option judge=MODEL"
"""Message to the user if a run has no judge."""


class AnswerScorer(Protocol):
    """The interface of a model that scores how well responses answer contexts. All rankers implement it."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score responses.

        Args:
            contexts: Texts of the turns, for each context.
            responses: One response per context.

        Returns:
            Scores from 0 to 1, shape (pairs,).
        """
        ...


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """A ranker with a name. The settings of a run contain the name.

    Attributes:
        name: Name of the ranker.
        ranker: The ranker.
    """

    name: str
    ranker: AnswerScorer

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score responses with the ranker.

        Args:
            contexts: Texts of the turns, for each context.
            responses: One response per context.

        Returns:
            Scores from 0 to 1, shape (pairs,).
        """
        return self.ranker.score(contexts, responses)


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """Options of all generators that prompt a language model.

    Attributes:
        model: Path or id of the language model that writes the texts; with ``served``, the name of the model
            on the server.
        gguf_file: Name of the GGUF file in the model's folder, as in `graphneg.nn.models.load_causal`.
        device: Device of local models; ``auto`` uses a GPU if there is one.
        offline: Whether to load models without network access.
        served: Server that runs the model: a `graphneg.nn.serving.ServerSettings`, or a mapping with the
            options of such settings. None for a local model.
        route: ``chat`` to use the chat API, ``completion`` to use the completion API. By default (None), a
            served model uses the chat API, and a local model the completion API.
        temperature: Sampling temperature, above 0.
        keyword_bias: Bias that is added to the logits of requested words, 0 or more. By default (None), it is
            0 for a local model that was trained for the task, and 3 for any other local model. Served models
            ignore it.
        max_words: Maximum number of words in a text.
        judge: Path or id of a causal language model that scores the texts. By default (None), a local causal
            writer judges its own texts.
        max_perplexity: Highest accepted perplexity of a text after its history (see
            `graphneg.generators.text_filters.Bounds`).
        max_perplexity_alone: Highest accepted perplexity of a text without a history.
        max_token_loss: Highest accepted loss of a single token, in nats.
        ranker: Ranker (`graphneg.rankers.base.Ranker`) that scores how well a text answers its context. Texts
            with high scores are rejected, because they may be correct answers. None for no ranker.
            `DialogueGraph.generate` also accepts the path or id of a ranker.
        max_score: Highest accepted ranker score, from 0 to 1.

    Raises:
        InputError: A number is out of range, the route is unknown, or the settings of the server are invalid.
    """

    min_words: ClassVar[int] = MIN_WORDS
    """Minimum number of words in a text."""

    model: str | Path | None = None
    gguf_file: str | None = None
    device: str = "auto"
    offline: bool = False
    served: ServerSettings | Mapping[str, Any] | None = None
    route: Route | None = None
    temperature: float = 0.7
    keyword_bias: float | None = None
    max_words: int = 24
    judge: str | Path | None = None
    max_perplexity: float = 14.0
    max_perplexity_alone: float = 40.0
    max_token_loss: float = 11.0
    ranker: AnswerScorer | None = None
    max_score: float = 0.5

    def __post_init__(self) -> None:
        """Check the options before models are loaded, because loading may take a minute."""
        if self.temperature <= 0 or (self.keyword_bias or 0.0) < 0:
            raise InputError("temperature must be above 0, keyword_bias at least 0")
        if self.max_words < self.min_words:
            raise InputError(f"max_words must be at least {self.min_words}, not {self.max_words}")
        if self.route not in (None, "chat", "completion"):
            raise InputError(f"unknown route {self.route!r}; choose one of chat, completion")
        # Creating the bounds checks their values.
        _ = self.bounds
        if self.served is not None:
            serving_of(self.served)

    def settings(self) -> dict[str, Any]:
        """Return the options that determine the output, except options that name or configure models.

        `WritingGenerator.models` describes the models instead.
        """
        added = {} if self.served is None else dict(serving_of(self.served).parameters)
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _OF_MODELS}
        return {**own, "parameters": added}

    @property
    def bounds(self) -> Bounds:
        """The highest accepted losses of a text."""
        return Bounds(self.max_perplexity, self.max_perplexity_alone, self.max_token_loss)

    @property
    def lengths(self) -> range:
        """The allowed numbers of words in a text."""
        return range(self.min_words, self.max_words + 1)

    def keyword_bias_of(self, trained: bool) -> float:
        """Return the logit bias toward requested words.

        Args:
            trained: Whether the model was trained for the task of the generator.

        Returns:
            ``keyword_bias`` if it is set, otherwise the default.
        """
        untrained = 0.0 if trained else KEYWORD_BIAS
        return untrained if self.keyword_bias is None else self.keyword_bias

    def load(self, name: str, load: Callable[..., LanguageModel]) -> tuple[Writer, PerplexityFilter | None]:
        """Load the writer and the judge.

        The judge is loaded first, so that a missing judge is reported before a large writer is loaded.
        The writer uses bfloat16 if its CUDA device supports it.

        Args:
            name: Name of the generator, for error messages.
            load: Function that loads a local model.

        Returns:
            The writer and the judge. If no ``judge`` is named and the writer is a local causal model, the
            writer's model is also the judge. With any other writer, there is no judge (None).

        Raises:
            GeneratorError: No model is given.
        """
        if not self.model:
            raise GeneratorError(f"{name} needs a language model: set the option model=PATH_OR_ID")
        reader: LanguageModel | None = None
        if self.judge is not None:
            reader = load_causal(self.judge, device=self.device, offline=self.offline)
        if self.served is not None:
            writer: Writer = ServedWriter(str(self.model), serving_of(self.served), self.route or "chat")
        else:
            model = load(self.model, gguf_file=self.gguf_file, device=self.device, offline=self.offline)
            _calculate_in_bfloat16(model)
            writer = LocalWriter(model, self.route or "completion")
            # If no judge is named, a local causal model judges its own texts.
            reader = reader or model
        return writer, PerplexityFilter(reader, self.bounds) if isinstance(reader, CausalLM) else None


def _calculate_in_bfloat16(model: LanguageModel) -> None:
    """Convert a model to bfloat16 if its device supports that in hardware."""
    import torch

    if model.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        model.model.to(torch.bfloat16)


@dataclass(slots=True)
class Gap:
    """A context that needs candidates, with the candidates that the model wrote for it.

    Attributes:
        context: The context.
        reason: Code of the reason for the last rejection of a text.
        wanted: Number of candidates that are needed.
        candidates: Candidates written so far, best first.
    """

    context: Context
    reason: str = ""
    wanted: int = 1
    candidates: list[Candidate] = field(default_factory=list[Candidate])


class WritingGenerator(Generator):
    """Base class of generators that prompt a language model.

    A text is returned only once in a run, so the candidates for a context depend on the candidates for
    earlier contexts.

    Attributes:
        refused: Number of rejected texts by reason.
        writer: Language model that writes the texts.
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
            reasons: Explanation of each reason code of the subclass, as a sentence.
            options: Options of the generator.
            writer: Language model that writes the texts.
            judge: Filter that scores the texts; None to accept texts regardless of their losses.
        """
        self.reasons = {**REASONS, **PROBLEMS, **_ANSWERS_REASON, **reasons}
        self._ranker, self._max_score = options.ranker, options.max_score
        self.refused: Counter[str] = Counter()
        self.writer = writer
        self.judge = judge
        # A server answers many prompts at the same time, so large batches are faster. A local model is slow,
        # so small batches are used: the output is then saved more often.
        self.batch = BATCH if isinstance(writer, ServedWriter) else SLOW_BATCH
        self._said = NearDuplicates()

    @abstractmethod
    def written(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """Write candidates for contexts.

        Args:
            contexts: Contexts to generate for.
            per_context: Number of candidates that are needed per context.
            seed: Seed for all random choices.

        Returns:
            One gap per context, in order. The candidates of each gap are sorted, best first.
        """

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Return candidates for each context, without near duplicates of earlier texts in the run.

        Args:
            contexts: Contexts to generate for.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices.

        Returns:
            One list of candidates per context, in order.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._wrong(contexts, per_context, seed):
            own: list[Candidate] = []
            for one in gap.candidates:
                # Candidates beyond the number needed are not marked as used, so that other contexts can still
                # use them.
                if len(own) < gap.wanted and self.is_new(gap, one.text):
                    own.append(one)
            given[gap.context.id] += own
            self.leave_out(gap.reason, gap.context.id, gap.wanted - len(own))
        return [given[context.id] for context in contexts]

    def choice(self, per_context: int) -> Mapping[str, Any]:
        """Return the settings by which candidates are chosen from drafts when shards are merged.

        Args:
            per_context: Maximum number of candidates per context.

        Returns:
            Name and options of a chooser; see `graphneg.generators.deferred_choice.choosing`.
        """
        return {"by": BY_NEW_TEXTS, "most": per_context}

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[Draft]:
        """Return all candidates of each context, even if other contexts have the same texts.

        The duplicates are removed when shards are merged.

        Args:
            contexts: Contexts to generate for.
            per_context: Number of candidates that are needed per context.
            seed: Seed for all random choices.

        Returns:
            One draft per context, in order.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._wrong(contexts, per_context, seed):
            given[gap.context.id] += gap.candidates
            self.leave_out(gap.reason, gap.context.id, gap.wanted - len(gap.candidates))
        return [Draft(given[context.id]) for context in contexts]

    def _wrong(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """Return the gaps, without candidates that the ranker rates as correct answers."""
        gaps = self.written(contexts, per_context, seed)
        if self._ranker is None:
            return gaps
        pairs = [(gap, one) for gap in gaps for one in gap.candidates]
        turns = [[turn.text for turn in gap.context.turns] for gap, _ in pairs]
        scores = self._ranker.score(turns, [one.text for _, one in pairs]) if pairs else []
        for gap in gaps:
            gap.candidates = []
        for (gap, one), score in zip(pairs, scores, strict=True):
            # A candidate with label 1 is meant to be a correct answer, so do not reject it for a high score.
            is_answer = one.label == 0 and score > self._max_score
            if self.passes(gap, ANSWERS if is_answer else None):
                gap.candidates.append(replace(one, scores={**one.scores, ANSWERS: float(score)}))
        return gaps

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """Prepare a run, or prepare to resume an interrupted run.

        Args:
            given: Negatives that the interrupted run has written. Their texts are not returned again.
            progress: Not used.
        """
        self._said = NearDuplicates()
        # A resumed run must not repeat texts that the interrupted run has written.
        for negative in given:
            self._said.add(negative.response)

    @property
    def models(self) -> dict[str, object]:
        """The names of the models that write, judge and rank, for `settings`."""
        judge, ranker = self.judge and str(self.judge.model.path), self._ranker
        named = None if ranker is None else str(getattr(ranker, "name", type(ranker).__name__))
        return {**settings_of_writer(self.writer), "judge": judge, "ranker": named}

    def notes(self) -> list[str]:
        """Return the writer's messages to the user, and a further message if there is no judge."""
        return [*self.writer.notes(), *([UNJUDGED] if self.judge is None else [])]

    def passes(self, gap: Gap, reason: str | None) -> bool:
        """Return whether there is no reason to reject a text. If there is a reason, count it.

        Args:
            gap: Gap for which the text was written.
            reason: Code of the reason to reject the text, or None.

        Returns:
            True if the text is accepted.
        """
        if reason is not None:
            self.refused[reason] += 1
            gap.reason = reason
        return reason is None

    def is_new(self, gap: Gap, text: str) -> bool:
        """Return whether a text is not a near duplicate of an earlier text in the run. Remember the text.

        Call this method in the order of the contexts, so that the result does not depend on the batch size.

        Args:
            gap: Gap for which the text was written.
            text: The text.

        Returns:
            True if no earlier text in the run is nearly equal.
        """
        return self.passes(gap, None if self._said.add(text) else "said-before")

    def estimate(
        self, batches: Iterable[Sequence[Context]], per_context: int, seed: int
    ) -> CountingWriter | None:
        """Count the requests that a run would send to a server.

        Args:
            batches: Contexts of the run, in batches.
            per_context: Maximum number of candidates per context.
            seed: Seed for the run.

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
        """Send the first requests for later contexts, so that `generate` finds their answers in the cache.

        Args:
            contexts: Contexts of a later call of `generate`.
            per_context: Maximum number of candidates per context.
            seed: Seed for the run.
        """
        if isinstance(self.writer, ServedWriter):
            # Further requests depend on the answers to the first requests, so only the first requests can be
            # sent in advance. `_Drafts` raises an exception when they are answered, which ends `generate`.
            with suppress(_Fetched):
                self._with(_Drafts(self.writer)).generate(contexts, per_context, seed)

    def _with(self, writer: Any) -> WritingGenerator:
        """Return a copy of this generator with another writer, no ranker and empty counts."""
        other = copy.copy(self)
        # The copy only counts requests or sends them in advance, so it needs no ranker.
        other.writer, other.refused, other._said, other._ranker = writer, Counter(), NearDuplicates(), None
        # The record of missing candidates was copied from this generator. `missing` clears the copy.
        other.missing()
        return other


class _Fetched(Exception):
    """Raised by `_Drafts` to end `generate` when the first requests have been answered."""


@dataclass(frozen=True, slots=True)
class _Drafts:
    """A writer for `prefetch`: sends the first requests to a server and then raises `_Fetched`.

    The server's answers are not used here, but they are now in the cache.
    """

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
            asked: Further arguments of `Writer.complete`.

        Raises:
            _Fetched: Always.
        """
        self.writer.complete(prompts, n, **asked)
        raise _Fetched
