"""Texts by a causal language model, one for each request, and what generators share that let one write.

Requests (a prompt, and words that the text should have) go in, texts of one line come out. The solved
examples before a request are the same for all of them. They are read once, and what the model keeps of them
(its keys and values) stands before each batch; a prompt that several requests have is read once, too. So a
text costs its own tokens. Words that are asked for are drawn in (`graphneg.nn.generation`), and a text ends
with the sentence that holds them.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from graphneg.english.tokens import words_of
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import SLOW_BATCH, Candidate, Context, ShortfallCounter
from graphneg.generators.text_filters import REASONS, Bounds, says
from graphneg.nn.batching import longest_first, padded
from graphneg.nn.generation import KeywordBias, Sampling, generate, item_seed, processors
from graphneg.nn.language_models import CausalLM, LanguageModel, Written
from graphneg.nn.models import load_causal

Tokens = Sequence[int]
Model = TypeVar("Model", bound=LanguageModel)

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"”]?$")
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "etc", "a.m", "p.m"})
_NO_LIMIT = 100_000
_OF_MODELS = ("model", "gguf_file", "judge", "device", "offline", "batch_size")
BATCH = 32
PULL = 3.0
"""How strongly words are drawn in by a model that was not trained to reply with them."""
SEARCH = Sampling(temperature=0.8, top_p=0.9)
END = "\n"
"""What ends a text: requests ask for one line."""
LEAST_WORDS = 5
"""A sentence that leaves a text fewer words does not end it."""


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """What all generators take that let a language model write.

    ``model`` is the path or id of a language model (``gguf_file``, ``device`` and ``offline`` as
    `graphneg.nn.models.load_causal` takes them). ``temperature`` and ``pull`` (how strongly words that are
    asked for are drawn in; None: by 3, or not at all for a model that was trained for it) say how texts are
    drawn, and ``words`` how many they have at most; ``surprise``, ``alone`` and ``worst`` which are kept
    (`Bounds`) of what the ``judge`` finds, another causal language model by path or id.

    Raises:
        InputError: a number is out of range.
    """

    least_words: ClassVar[int] = LEAST_WORDS

    model: str | Path | None = None
    gguf_file: str | None = None
    device: str = "auto"
    offline: bool = False
    temperature: float = 0.7
    pull: float | None = None
    words: int = 24
    judge: str | Path | None = None
    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0

    def __post_init__(self) -> None:
        """Refuse what is out of range before a model is read, which may take a minute."""
        if self.temperature <= 0 or (self.pull or 0.0) < 0:
            raise InputError("temperature must be above 0, pull not below 0")
        if self.words < self.least_words:
            raise InputError(f"words {self.words}: a text has {self.least_words} words at least")
        _ = self.bounds

    def settings(self) -> dict[str, Any]:
        """What the output depends on beside the models, by name."""
        return {name: value for name, value in asdict(self).items() if name not in _OF_MODELS}

    @property
    def bounds(self) -> Bounds:
        """Which losses of a text pass."""
        return Bounds(self.surprise, self.alone, self.worst)

    def pull_of(self, trained: bool) -> float:
        """How strongly words are drawn in where a model was trained for its task, or was not."""
        untrained = 0.0 if trained else PULL
        return untrained if self.pull is None else self.pull

    def load(self, name: str, load: Callable[..., Model]) -> tuple[Model, CausalLM | Model]:
        """The writer of the generator ``name``, and what reads its texts: itself where no judge is named.

        The judge is loaded first: the writer may be large, and would be read in vain where there is no judge.

        Raises:
            GeneratorError: no model is named.
            ModelError: one of them can't be read.
        """
        if not self.model:
            raise GeneratorError(f"{name} needs a model: option model=PATH_OR_ID, a language model")
        judge = None
        if self.judge is not None:
            judge = load_causal(self.judge, device=self.device, offline=self.offline)
        model = load(self.model, gguf_file=self.gguf_file, device=self.device, offline=self.offline)
        return model, judge or model


@dataclass(slots=True)
class Gap:
    """Candidates of a context that are still to be written: those there are, why the last text is none."""

    context: Context
    reason: str = ""
    candidates: list[Candidate] = field(default_factory=list[Candidate])


class WritingGenerator(ShortfallCounter):
    """The part of a generator that refuses what a model wrote: ``refused`` counts texts by why."""

    batch = SLOW_BATCH

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__({**REASONS, **reasons})
        self.refused: Counter[str] = Counter()

    def passes(self, gap: Gap, reason: str | None) -> bool:
        """Whether there is no reason to refuse a text for a gap; a reason is counted."""
        if reason is not None:
            self.refused[reason] += 1
            gap.reason = reason
        return reason is None


@dataclass(slots=True)
class SentenceEnd:
    """A stopping criterion: a text ends with the first sentence that completes it.

    It is complete with ``least`` words and all of the row's ``keywords``. ``lengths`` has the number of
    tokens of each row that has ended so, None of the others.
    """

    keywords: Sequence[Sequence[str]]
    start: int
    least: int
    decode: Callable[[Tokens], str]
    lengths: list[int | None] = field(init=False)

    def __post_init__(self) -> None:
        self.lengths = [None] * len(self.keywords)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """A bool tensor of shape (rows,): True where the row's text has ended."""
        import torch

        for row, tokens in enumerate(input_ids):
            written = tokens[self.start :].tolist()
            if self.lengths[row] is None:
                text = self.decode(written)
                complete = ends_sentence(text) and len(words_of(text)) >= self.least
                if complete and all(says(text, keyword) for keyword in self.keywords[row]):
                    self.lengths[row] = len(written)
        return torch.tensor([length is not None for length in self.lengths], device=input_ids.device)


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does: not with an abbreviation, or a number that may go on.

    >>> [ends_sentence(text) for text in ("He is late.", "Ask Mr.", "It costs 3.")]
    [True, False, False]
    """
    if not _SENTENCE_END.search(text):
        return False
    return text.split()[-1].rstrip('.!?"”').lower() not in _ABBREVIATED


class TextRequest(NamedTuple):
    """One text that is asked for: its ``id`` decides what is drawn, ``words`` should be in it."""

    id: str
    prompt: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Writer:
    """Answers requests with texts of one line, drawn from a causal language model.

    ``examples`` stand before each request; they may be empty. ``pull`` is what is added to the logit of a
    missing word's next token at first (0: words are not pulled), ``longest`` the most tokens of a text, which
    ends with the first sentence that leaves it five words or more, all that are wanted among them.
    """

    model: CausalLM
    examples: str = ""
    search: Sampling = SEARCH
    pull: float = PULL
    longest: int = 32

    def write(self, requests: Sequence[TextRequest], seed: int) -> list[Written]:
        """One text for each request, in order, up to the end of a line or of a sentence.

        A text depends on the request and ``seed``, not on the other requests. A request that is too
        long for the model loses its beginning.

        Raises:
            ModelError: memory does not suffice for one request alone, or the examples fill the model.
        """
        room = (self.model.longest or _NO_LIMIT) - len(self._shown) - self.longest
        if room < 1:
            raise ModelError(
                f"{self.model.path}: reads {self.model.longest} tokens, too few for the examples"
            )
        special = not self.examples  # without examples before it, a text begins as the model's texts do
        prompts = [
            self.model.source_tokens(request.prompt)[-room:]
            if special
            else self.model.tokenizer(request.prompt, add_special_tokens=False)["input_ids"][-room:]
            for request in requests
        ]
        items = list(zip(requests, prompts, strict=True))
        what, run = f"{self.model.path}: a request", partial(self._run, seed=seed)
        return longest_first(items, lambda item: len(item[1]), BATCH, run, what)

    @cached_property
    def _shown(self) -> list[int]:
        """The examples' tokens."""
        return self.model.source_tokens(self.examples) if self.examples else []

    def _run(self, batch: Sequence[tuple[TextRequest, Tokens]], seed: int) -> list[Written]:
        rows = self._rows([prompt for _, prompt in batch])
        start = rows["input_ids"].shape[1]
        keywords = [request.words for request, _ in batch]
        seeds = [item_seed(seed, request.id, 0) for request, _ in batch]
        complete = SentenceEnd(keywords, start, LEAST_WORDS, self.model.decode)
        ends = sorted(self.model.end_tokens(END))
        bias = KeywordBias(self.model, keywords, says, strength=self.pull, ends=ends, start=start)
        sequences = generate(
            self.model.model,
            rows,
            [bias, *processors(self.search, seeds)],
            [complete],
            max_new_tokens=self.longest,
            eos_token_id=ends,
            pad_token_id=self.model.tokenizer.pad_token_id,
        )
        texts: list[Written] = []
        for sequence, end in zip(sequences, complete.lengths, strict=True):
            tokens = sequence[start:]
            if end is None:
                end = next((at + 1 for at, token in enumerate(tokens) if token in ends), None)
            line = self.model.decode(tokens[:end]).split(END)[0]
            texts.append(Written(" ".join(line.split()), end is not None))
        return texts

    def _rows(self, prompts: Sequence[Tokens]) -> dict[str, Any]:
        """What ``generate`` reads: examples and prompts, and what the model keeps of all but the last token.
        The examples are read once, and of a batch each prompt once, however many requests have it."""
        import torch

        model, device = self.model.model, self.model.device
        distinct = list(dict.fromkeys(map(tuple, prompts)))
        read = padded(distinct, self.model.tokenizer.pad_token_id, "left", device)
        shown = torch.tensor(self._shown, dtype=torch.long, device=device).expand(len(distinct), -1)
        ids = torch.cat([shown, read["input_ids"]], 1)
        mask = torch.cat([torch.ones_like(shown), read["attention_mask"]], 1)
        past = copy.deepcopy(self._past)
        if past is not None:
            past.batch_repeat_interleave(len(distinct))
        unread = slice(len(self._shown), -1)
        if ids[:, unread].shape[1]:
            with torch.inference_mode():
                past = model(
                    input_ids=ids[:, unread],
                    attention_mask=mask[:, :-1],
                    position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[:, unread],
                    past_key_values=past,
                    use_cache=True,
                ).past_key_values
        which = torch.tensor([distinct.index(tuple(prompt)) for prompt in prompts], device=device)
        rows = {"input_ids": ids[which], "attention_mask": mask[which]}
        if past is None:
            return rows
        past.batch_select_indices(which)
        return {**rows, "past_key_values": past}

    @cached_property
    def _past(self) -> Any:
        """The model's keys and values of the examples (one row); None without examples."""
        import torch

        if not self._shown:
            return None
        with torch.inference_mode():
            read = torch.tensor([self._shown], device=self.model.device)
            return self.model.model(input_ids=read, use_cache=True).past_key_values
