"""Define the options and the base class of generators that prompt a language model.

`WritingOptions` contains the options that all these generators have, and loads their models. The writer is a
local or served model that writes the texts. The judge is a local model that scores the texts.
`WritingGenerator` is the base class of the generators. It counts rejected texts by reason, never returns two
nearly equal texts in a run, and estimates the requests that a run would send to a model server.

A subclass implements `WritingGenerator.write_candidates`. For each context, this method returns a `Gap`: the
context, the number of candidates that are needed, and the candidates that the model wrote. In this example,
the second candidate is not returned, because it is nearly equal to the first::

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
"""Key of the ranker's score in the scores of a record. It is also the reason code for rejecting a text whose
ranker score is too high."""

_MODEL_OPTIONS = (
    "model",
    "gguf_file",
    "judge",
    "ranker",
    "device",
    "offline",
    "batch_size",
    "served",
    "route",
)
"""Names of the options that name or configure models. `WritingOptions.settings` leaves them out, because
`WritingGenerator.models` describes the loaded models instead."""
KEYWORD_BIAS = 3.0
"""Default bias that is added to the logits of requested words if the model was not trained to use them."""
END = "\n"
"""Stop sequence for prompts that ask for a single line."""
MIN_WORDS = 5
"""Minimum number of words in a generated text. The model cannot end a text before this number is reached."""
_ANSWERS_REASON = {ANSWERS: "the score of the judge is too high: the text may be an answer"}
UNJUDGED = "no judge: unlikely or fitting texts are not rejected; name a judge with --option judge=MODEL"
"""Message to the user if no model judges the generated texts of a run."""


class AnswerScorer(Protocol):
    """The interface of a model that scores how well responses answer contexts. All rankers implement it."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score how likely each response is to be a correct answer to its context.

        Args:
            contexts: For each context, the texts of its turns, oldest first.
            responses: One response per context.

        Returns:
            One score from 0 to 1 per response.
        """
        ...


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """A ranker with a name, so that the settings of a run can say which ranker was used.

    Attributes:
        name: Name of the ranker.
        ranker: Model that scores the responses.
    """

    name: str
    ranker: AnswerScorer

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """Score how likely each response is to be a correct answer to its context.

        Args:
            contexts: For each context, the texts of its turns, oldest first.
            responses: One response per context.

        Returns:
            One score from 0 to 1 per response.
        """
        return self.ranker.score(contexts, responses)


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """Options of all generators that prompt a language model.

    Attributes:
        model: Path or id of the language model that writes the texts; with ``served``, the name of the model
            on the server.
        gguf_file: Name of the GGUF file in the model's folder, as in `graphneg.nn.models.load_causal`; None
            for a model in another format.
        device: Device that runs local models; ``auto`` uses a GPU if there is one.
        offline: Whether to load models without network access.
        served: Settings for the server that runs the model: a `graphneg.nn.serving.ServerSettings`, or a
            mapping with its fields. None for a local model.
        route: ``chat`` to prompt the model through a chat API, ``completion`` to let it continue the prompt.
            With None, a served model uses ``chat``, and a local model ``completion``.
        temperature: Temperature for sampling from the model, above 0.
        keyword_bias: Bias that is added to the logits of requested words, 0 or more. By default (None), it is
            0 for a local model that was trained for the task, and 3 for any other local model. Served models
            ignore it.
        max_words: Maximum number of words in a generated text.
        judge: Path or id of a causal language model that scores the texts. By default (None), a local causal
            model that writes the texts also judges them.
        max_perplexity: Highest accepted perplexity of a text after its history (see
            `graphneg.generators.text_filters.Bounds`).
        max_perplexity_alone: Highest accepted perplexity of a text without its history.
        max_token_loss: Highest accepted loss of a single token of a text, in nats.
        ranker: Ranker (`graphneg.rankers.base.Ranker`) that scores how well a text answers its context. Texts
            with high scores are rejected, because they may be correct answers. None to accept texts
            regardless of such scores. `DialogueGraph.generate` also accepts the path or id of a ranker.
        max_score: Highest accepted ranker score, from 0 to 1.

    Raises:
        InputError: A number is out of range, the route is unknown, or the settings of the server are invalid.
    """

    min_words: ClassVar[int] = MIN_WORDS
    """Minimum number of words in a generated text."""

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
        """Check the values of the options before models are loaded, because loading may take a minute."""
        if self.temperature <= 0 or (self.keyword_bias or 0.0) < 0:
            raise InputError("temperature must be above 0, keyword_bias at least 0")
        if self.max_words < self.min_words:
            raise InputError(f"max_words must be at least {self.min_words}, not {self.max_words}")
        if self.route not in (None, "chat", "completion"):
            raise InputError(f"unknown route {self.route!r}; choose one of chat, completion")
        # The property `bounds` creates a `Bounds`, which raises an error if a ``max_`` option is invalid.
        _ = self.bounds
        if self.served is not None:
            serving_of(self.served)

    def settings(self) -> dict[str, Any]:
        """Return the options that determine the output, as JSON values.

        Options that name or configure models are left out: `WritingGenerator.models` describes the models.
        """
        added = {} if self.served is None else dict(serving_of(self.served).parameters)
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _MODEL_OPTIONS}
        return {**own, "parameters": added}

    @property
    def bounds(self) -> Bounds:
        """The highest accepted losses of a text, from the three ``max_`` options for losses."""
        return Bounds(self.max_perplexity, self.max_perplexity_alone, self.max_token_loss)

    @property
    def lengths(self) -> range:
        """The allowed numbers of words in a text, from ``min_words`` to ``max_words``."""
        return range(self.min_words, self.max_words + 1)

    def keyword_bias_of(self, trained: bool) -> float:
        """Return the bias to add to the logits of requested words.

        Args:
            trained: Whether the model was trained for the task of the generator.

        Returns:
            The option ``keyword_bias`` if it is set. Otherwise 0 for a trained model, and `KEYWORD_BIAS` for
            any other model.
        """
        untrained = 0.0 if trained else KEYWORD_BIAS
        return untrained if self.keyword_bias is None else self.keyword_bias

    def load(self, name: str, load: Callable[..., LanguageModel]) -> tuple[Writer, PerplexityFilter | None]:
        """Load the model that writes the texts (the writer) and the model that judges them.

        The judge is loaded first, so that a missing judge is reported before a large writer is loaded.
        The writer uses bfloat16 if its CUDA device supports it.

        Args:
            name: Name of the generator, for error messages.
            load: Function that loads a local writer by its path or id.

        Returns:
            The writer and the judge. If the option ``judge`` is not set and the writer is a local causal
            model, the same model is also the judge. With any other writer, there is no judge (None).

        Raises:
            GeneratorError: The option ``model`` is not set.
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
            # If the option `judge` is not set, the model that writes the texts also scores them, provided
            # that it is a local causal model.
            reader = reader or model
        return writer, PerplexityFilter(reader, self.bounds) if isinstance(reader, CausalLM) else None


def _calculate_in_bfloat16(model: LanguageModel) -> None:
    """Convert a model to bfloat16 if its CUDA device supports this number format in hardware."""
    import torch

    if model.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        model.model.to(torch.bfloat16)


@dataclass(slots=True)
class Gap:
    """A context with missing candidates, and the candidates that the model has written for it so far.

    Attributes:
        context: Context for which the candidates are written.
        reason: Code of the reason for which the last text was rejected; empty if no text was rejected.
        wanted: Number of candidates that are needed.
        candidates: Candidates written so far, sorted with the best first.
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
        refused: Number of rejected texts, keyed by the code of the reason.
        writer: Language model that writes the texts.
        judge: Filter that scores the texts; None to accept texts regardless of their losses.
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
            reasons: Reason codes that only the subclass uses, each with a sentence that explains it.
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
    def write_candidates(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """Write candidates for contexts.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Number of candidates that are needed per context.
            seed: Seed for all random choices.

        Returns:
            `Gap` objects in the order of ``contexts``. Some generators return one object per context, others
            ``per_context`` objects per context. The candidates in each object are sorted from best to worst.
        """

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Return candidates for each context, without near duplicates of earlier texts in the run.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices.

        Returns:
            One list of candidates per context, in the order of ``contexts``.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._without_answers(contexts, per_context, seed):
            own: list[Candidate] = []
            for one in gap.candidates:
                # Mark a text as used only if it is returned. If the model wrote more texts than needed, the
                # others can still be returned for other contexts.
                if len(own) < gap.wanted and self.is_new(gap, one.text):
                    own.append(one)
            given[gap.context.id] += own
            self.leave_out(gap.reason, gap.context.id, gap.wanted - len(own))
        return [given[context.id] for context in contexts]

    def choice(self, per_context: int) -> Mapping[str, Any]:
        """Return the settings with which candidates are chosen when the shards of a run are merged.

        Args:
            per_context: Maximum number of candidates per context.

        Returns:
            Name and options of the chooser; see `graphneg.generators.deferred_choice.choosing`.
        """
        return {"by": BY_NEW_TEXTS, "most": per_context}

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[Draft]:
        """Return all candidates for each context, even if two contexts have candidates with the same text.

        Which of these candidates is kept is decided when the shards of the run are merged.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Number of candidates that are needed per context.
            seed: Seed for all random choices.

        Returns:
            One draft (a list of candidates) per context, in the order of ``contexts``.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._without_answers(contexts, per_context, seed):
            given[gap.context.id] += gap.candidates
            self.leave_out(gap.reason, gap.context.id, gap.wanted - len(gap.candidates))
        return [Draft(given[context.id]) for context in contexts]

    def _without_answers(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """Write candidates for the contexts, and drop those that the ranker rates as correct answers.

        Returns:
            The `Gap` objects that `write_candidates` returned, each with the candidates that are left.
        """
        gaps = self.write_candidates(contexts, per_context, seed)
        if self._ranker is None:
            return gaps
        pairs = [(gap, one) for gap in gaps for one in gap.candidates]
        turns = [[turn.text for turn in gap.context.turns] for gap, _ in pairs]
        scores = self._ranker.score(turns, [one.text for _, one in pairs]) if pairs else []
        for gap in gaps:
            gap.candidates = []
        for (gap, one), score in zip(pairs, scores, strict=True):
            # A candidate with label 1 is meant to be a correct answer, so a high score is no reason to reject
            # it.
            is_answer = one.label == 0 and score > self._max_score
            if self.accept(gap, ANSWERS if is_answer else None):
                gap.candidates.append(replace(one, scores={**one.scores, ANSWERS: float(score)}))
        return gaps

    def begin(self, resumed: Iterable[Negative], progress: Progress) -> None:
        """Prepare a run, or prepare to resume an interrupted run.

        Args:
            resumed: Negatives that the interrupted run has written. Their texts are not returned again.
            progress: Not used, because the preparation takes little time.
        """
        self._said = NearDuplicates()
        # Add the texts that the interrupted run has written, so that no near-duplicate of them is returned.
        for negative in resumed:
            self._said.add(negative.response)

    @property
    def models(self) -> dict[str, object]:
        """Descriptions of the models that write, judge and rank the texts; a part of `settings`."""
        judge, ranker = self.judge and str(self.judge.model.path), self._ranker
        named = None if ranker is None else str(getattr(ranker, "name", type(ranker).__name__))
        return {**settings_of_writer(self.writer), "judge": judge, "ranker": named}

    def notes(self) -> list[str]:
        """Return the messages of the language model, and a warning if no judge scores the texts."""
        return [*self.writer.notes(), *([UNJUDGED] if self.judge is None else [])]

    def accept(self, gap: Gap, reason: str | None) -> bool:
        """Return whether a text is accepted. If it is rejected, count the rejection under its reason.

        Args:
            gap: Context for which the text was written. If the text is rejected, the attribute ``reason`` is
                set.
            reason: Code of the reason to reject the text; None to accept the text.

        Returns:
            True if ``reason`` is None.
        """
        if reason is not None:
            self.refused[reason] += 1
            gap.reason = reason
        return reason is None

    def is_new(self, gap: Gap, text: str) -> bool:
        """Return whether a text differs from all earlier texts in the run, and remember the text.

        Call this method in the order of the contexts, so that the result does not depend on the batch size.

        Args:
            gap: Context for which the text was written. If the text is not new, the attribute ``reason`` is
                set.
            text: Text that is about to be returned as a candidate.

        Returns:
            True if no earlier text in the run is nearly equal to the text.
        """
        return self.accept(gap, None if self._said.add(text) else "said-before")

    def estimate(
        self, batches: Iterable[Sequence[Context]], per_context: int, seed: int
    ) -> CountingWriter | None:
        """Count the requests that a run would send to a server.

        Args:
            batches: All contexts of the run, in batches.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices of the run.

        Returns:
            The counts of requests and tokens; None if the model is local.
        """
        if not isinstance(self.writer, ServedWriter):
            return None
        counting = self.writer.counting()
        for contexts in batches:
            counting.begin()
            self._copy_with_writer(counting).generate(contexts, per_context, seed)
        return counting

    def prefetch(self, contexts: Sequence[Context], per_context: int, seed: int) -> None:
        """Prefetch answers for later contexts: send the first requests, and put the answers into the cache.

        Args:
            contexts: Contexts that a later call of `generate` will get.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices of the run.
        """
        if isinstance(self.writer, ServedWriter):
            # `_PrefetchWriter` raises `_AnswersCached` when the first requests are answered, which ends
            # `generate`. Later requests depend on these answers, so they cannot be sent in advance.
            with suppress(_AnswersCached):
                self._copy_with_writer(_PrefetchWriter(self.writer)).generate(contexts, per_context, seed)

    def _copy_with_writer(self, writer: Any) -> WritingGenerator:
        """Return a copy of this generator with another writer, without a ranker and with counts of 0."""
        other = copy.copy(self)
        # The copied generator only counts requests or sends them in advance. It returns no texts that a
        # ranker could score, so it needs no ranker.
        other.writer, other.refused, other._said, other._ranker = writer, Counter(), NearDuplicates(), None
        # The missing candidates of this generator were copied, too. Only this generator must report them, so
        # clear the list in the copy.
        other.missing()
        return other


class _AnswersCached(Exception):
    """Raised to end `generate` as soon as the answers to its first requests are in the cache."""


@dataclass(frozen=True, slots=True)
class _PrefetchWriter:
    """A writer that sends only the first requests of `generate` to the server, to get the answers early.

    When these requests are answered, it raises `_AnswersCached`, which ends `generate`. The answers stay in
    the cache, where the next call of `generate` finds them.
    """

    writer: ServedWriter

    @property
    def name(self) -> str:
        """The name of the model on the server."""
        return self.writer.name

    def complete(self, prompts: Sequence[Prompt], n: int = 1, **asked: Any) -> NoReturn:
        """Send requests for prompts to the server, wait for the answers, and raise `_AnswersCached`.

        Args:
            prompts: Prompts to send.
            n: Number of texts to write per prompt.
            asked: Further arguments for `Writer.complete`.

        Raises:
            _AnswersCached: Always.
        """
        self.writer.complete(prompts, n, **asked)
        raise _AnswersCached
