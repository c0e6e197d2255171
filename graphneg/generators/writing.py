"""What generators share that let a language model write: their options, their writer, what they refuse.

Options go in (`WritingOptions`), the writer that they name comes out: a model of this machine, or one that a
server has. A `WritingGenerator` counts the texts that it refuses by why, gives no text that nearly says what
another has said, and says beforehand what a server would be asked for."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

from graphneg.english.near_duplicates import NearDuplicates
from graphneg.errors import GeneratorError, InputError
from graphneg.generators.base import BATCH, SLOW_BATCH, Candidate, Context, ShortfallCounter
from graphneg.generators.drafts import BY_NEW_TEXTS, Draft
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

_OF_MODELS = ("model", "gguf_file", "judge", "ranker", "device", "offline", "batch_size", "served", "route")
PULL = 3.0
"""How strongly words are drawn in by a model that was not trained to reply with them."""
END = "\n"
"""What ends a text where requests ask for one line."""
LEAST_WORDS = 5
"""A sentence that leaves a text fewer words does not end it."""
_ANSWERS_REASON = {ANSWERS: "the ranker scores the text too high: it may be an answer"}
UNJUDGED = "no judge: nothing is refused as surprising, or because it fits; --option judge=MODEL names one"


class AnswerScorer(Protocol):
    """Says how well responses answer contexts, from 0 to 1: any ranker."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """A number for each context and its response, shape (pairs)."""
        ...


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """A ranker with the ``name`` that settings show."""

    name: str
    ranker: AnswerScorer

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """See `AnswerScorer`."""
        return self.ranker.score(contexts, responses)


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """What all generators take that let a language model write.

    ``model`` is the path or id of a language model (``gguf_file``, ``device`` and ``offline`` as
    `graphneg.nn.models.load_causal` takes them); or with ``served`` (a `graphneg.nn.serving.Serving`, or a
    mapping of its options) the name of one that a server has. ``route`` is ``chat`` or ``completion``; None:
    the first for served models. ``temperature`` and ``pull`` (how strongly words that are asked for are drawn
    in; None: by 3, or not at all for a model that was trained for it; a served one is only asked for them)
    say how texts are drawn, and ``words`` how many they have at most; ``surprise``, ``alone`` and ``worst``
    which are kept (`Bounds`) of what the ``judge`` finds, another causal language model by path or id; else
    the model itself, if it is here. A ``ranker`` (`graphneg.rankers.base.Ranker`) refuses texts that it
    scores over ``max_score`` as answers; `DialogueGraph.generate` also takes the path or id of one.

    Raises:
        InputError: a number is out of range.
    """

    least_words: ClassVar[int] = LEAST_WORDS

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
        """Refuse what is out of range before a model is read, which may take a minute."""
        if self.temperature <= 0 or (self.pull or 0.0) < 0:
            raise InputError("temperature must be above 0, pull not below 0")
        if self.words < self.least_words:
            raise InputError(f"words {self.words}: a text has {self.least_words} words at least")
        if self.route not in (None, "chat", "completion"):
            raise InputError(f"route {self.route!r}: choose one of chat, completion")
        _ = self.bounds
        if self.served is not None:
            serving_of(self.served)

    def settings(self) -> dict[str, Any]:
        """What the output depends on beside the models, by name."""
        added = {} if self.served is None else dict(serving_of(self.served).parameters)
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _OF_MODELS}
        return {**own, "parameters": added}

    @property
    def bounds(self) -> Bounds:
        """Which losses of a text pass."""
        return Bounds(self.surprise, self.alone, self.worst)

    @property
    def lengths(self) -> range:
        """How many words a text may have."""
        return range(self.least_words, self.words + 1)

    def pull_of(self, trained: bool) -> float:
        """How strongly words are drawn in where a model was trained for its task, or was not."""
        untrained = 0.0 if trained else PULL
        return untrained if self.pull is None else self.pull

    def load(self, name: str, load: Callable[..., LanguageModel]) -> tuple[Writer, PerplexityFilter | None]:
        """The writer of the generator ``name``, and what reads its texts: itself where no judge is named and
        it is a causal model of this machine.

        The judge is loaded first: the writer may be large, and would be read in vain where there is no judge.
        On a CUDA device that has it a writer calculates in bfloat16.

        Raises:
            GeneratorError: no model is named.
            ModelError: one of them can't be read, or it has no chat template for the route ``chat``.
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
            reader = reader or model
        return writer, PerplexityFilter(reader, self.bounds) if isinstance(reader, CausalLM) else None


def _calculate_in_bfloat16(model: LanguageModel) -> None:
    import torch

    if model.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        model.model.to(torch.bfloat16)


@dataclass(slots=True)
class Gap:
    """Candidates of a context that are to be written: how many, why the last text is none, what is there."""

    context: Context
    reason: str = ""
    amount: int = 1
    candidates: list[Candidate] = field(default_factory=list[Candidate])


class WritingGenerator(ShortfallCounter, ABC):
    """The part of a generator that has a ``writer`` and refuses what it wrote: ``refused`` counts texts by
    why.

    Without a ``judge`` (None) nothing is refused for what it is likely after, without a ranker among the
    ``options`` nothing for being an answer.
    """

    def __init__(
        self,
        reasons: Mapping[str, str],
        options: WritingOptions,
        writer: Writer,
        judge: PerplexityFilter | None,
    ) -> None:
        super().__init__({**REASONS, **PROBLEMS, **_ANSWERS_REASON, **reasons})
        self._ranker, self._max_score = options.ranker, options.max_score
        self.refused: Counter[str] = Counter()
        self.writer = writer
        self.judge = judge
        self.batch = BATCH if isinstance(writer, ServedWriter) else SLOW_BATCH
        self._said = NearDuplicates()

    @abstractmethod
    def written(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """The gaps of these contexts, in order, with the candidates for each, the best first.

        Raises:
            ModelError: memory does not suffice for one text, or a server does not answer as it should.
            StoreError: the store is gone.
        """

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """At most ``per_context`` candidates for each context, in order; none nearly says what another did.

        Raises: as `written`.
        """
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._wrong(contexts, per_context, seed):
            own: list[Candidate] = []
            for one in gap.candidates:
                if len(own) < gap.amount and self.is_new(gap, one.text):
                    own.append(one)
            given[gap.context.id] += own
            self.leave_out(gap.reason, gap.context.id, gap.amount - len(own))
        return [given[context.id] for context in contexts]

    def choice(self, per_context: int) -> Mapping[str, Any]:
        """See `graphneg.generators.base.Generator`."""
        return {"by": BY_NEW_TEXTS, "most": per_context}

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[Draft]:
        """See `graphneg.generators.base.Generator`: all candidates, whatever else was given."""
        given: dict[str, list[Candidate]] = {context.id: [] for context in contexts}
        for gap in self._wrong(contexts, per_context, seed):
            given[gap.context.id] += gap.candidates
            self.leave_out(gap.reason, gap.context.id, gap.amount - len(gap.candidates))
        return [Draft(given[context.id]) for context in contexts]

    def _wrong(self, contexts: Sequence[Context], per_context: int, seed: int) -> Sequence[Gap]:
        """The gaps, without the candidates that the ranker takes for answers though they are to be wrong."""
        gaps = self.written(contexts, per_context, seed)
        if self._ranker is None:
            return gaps
        pairs = [(gap, one) for gap in gaps for one in gap.candidates]
        turns = [[turn.text for turn in gap.context.turns] for gap, _ in pairs]
        scores = self._ranker.score(turns, [one.text for _, one in pairs]) if pairs else []
        for gap in gaps:
            gap.candidates = []
        for (gap, one), score in zip(pairs, scores, strict=True):
            is_answer = one.label == 0 and score > self._max_score
            if self.passes(gap, ANSWERS if is_answer else None):
                gap.candidates.append(replace(one, scores={**one.scores, ANSWERS: float(score)}))
        return gaps

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """See `graphneg.generators.base.Generator`: what the negatives say is not said again."""
        self._said = NearDuplicates()
        for negative in given:
            self._said.add(negative.response)

    @property
    def models(self) -> dict[str, object]:
        """What writes and what judges, for `settings`."""
        judge, ranker = self.judge and str(self.judge.model.path), self._ranker
        named = None if ranker is None else str(getattr(ranker, "name", type(ranker).__name__))
        return {**settings_of_writer(self.writer), "judge": judge, "ranker": named}

    def notes(self) -> list[str]:
        """Return what there is to tell a user after a run."""
        return [*self.writer.notes(), *([UNJUDGED] if self.judge is None else [])]

    def passes(self, gap: Gap, reason: str | None) -> bool:
        """Whether there is no reason to refuse a text for a gap; a reason is counted."""
        if reason is not None:
            self.refused[reason] += 1
            gap.reason = reason
        return reason is None

    def is_new(self, gap: Gap, text: str) -> bool:
        """Whether nothing that was given so far nearly says a text; from now on this one does.

        To be asked in the order of the contexts, so that the answer does not depend on how these come in
        calls."""
        return self.passes(gap, None if self._said.add(text) else "said-before")

    def estimate(
        self, batches: Iterable[Sequence[Context]], per_context: int, seed: int
    ) -> CountingWriter | None:
        """What a server would be asked for; None where none is asked. ``batches`` are the contexts of a run.

        Raises:
            StoreError: the store is gone.
        """
        if not isinstance(self.writer, ServedWriter):
            return None
        counting = self.writer.counting()
        for contexts in batches:
            counting.begin()
            self._with(counting).generate(contexts, per_context, seed)
        return counting

    def prefetch(self, contexts: Sequence[Context], per_context: int, seed: int) -> None:
        """Have a server write the drafts for contexts that come later: `generate` finds them among the
        answers."""
        if isinstance(self.writer, ServedWriter):
            with suppress(_Fetched):
                self._with(_Drafts(self.writer)).generate(contexts, per_context, seed)

    def _with(self, writer: Any) -> WritingGenerator:
        """This generator with another writer, and counts of its own."""
        other = copy.copy(self)
        other.writer, other.refused, other._said, other._ranker = writer, Counter(), NearDuplicates(), None
        other.left_out()
        return other


class _Fetched(Exception):
    """The drafts are here."""


@dataclass(frozen=True, slots=True)
class _Drafts:
    """A writer that answers once, to nobody."""

    writer: ServedWriter

    @property
    def name(self) -> str:
        return self.writer.name

    def complete(self, prompts: Sequence[Prompt], n: int = 1, **asked: Any) -> NoReturn:
        self.writer.complete(prompts, n, **asked)
        raise _Fetched
