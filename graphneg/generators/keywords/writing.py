"""Texts by a causal language model, one for each request.

Requests (a prompt, and words that the text should have) go in, texts of one line come out. The solved
examples before a request are the same for all of them. They are read once, and what the model keeps of them
(its keys and values) stands before each batch; a prompt that several requests have is read once, too. So a
text costs its own tokens. Words that are asked for are drawn in (`graphneg.nn.generation`), and a text ends
with the sentence that holds them. Nothing here is about keywords of a context: whatever is asked of a model
in this way can use it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from graphneg.english.tokens import words_of
from graphneg.errors import GeneratorError, InputError, ModelError
from graphneg.generators.base import check_options
from graphneg.generators.text_filters import Bounds, says
from graphneg.nn.batching import in_batches, padded
from graphneg.nn.generation import KeywordBias, Sampling, generate, item_seed, processors
from graphneg.nn.language_models import CausalLM, Written
from graphneg.nn.models import load_causal

Tokens = Sequence[int]
Decode = Callable[[Tokens], str]

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"”]?$")
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "etc", "a.m", "p.m"})
BATCH = 32
PULL = 3.0
"""How strongly words are drawn in by a model that was not trained to reply with them."""
END = "\n"
"""What ends a text: requests ask for one line."""
_NO_LIMIT = 100_000


Options = TypeVar("Options", bound="WritingOptions")


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """What all generators take that let a language model write.

    ``model`` is the path or id of a language model (``gguf_file``, ``device`` and ``offline`` as
    `graphneg.nn.models.load_causal` takes them). ``temperature`` and ``pull`` (how strongly words that are
    asked for are drawn in; None: by 3, or not at all for a model that was trained for it) say how texts are
    drawn; ``surprise``, ``alone`` and ``worst`` which are kept (`Bounds`) of what the ``judge`` finds,
    another causal language model by path or id.
    """

    model: str | Path | None = None
    gguf_file: str | None = None
    device: str = "auto"
    offline: bool = False
    temperature: float = 0.7
    pull: float | None = None
    judge: str | Path | None = None
    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0

    @property
    def bounds(self) -> Bounds:
        """Which losses of a text pass."""
        return Bounds(self.surprise, self.alone, self.worst)

    def pull_of(self, trained: bool) -> float:
        """How strongly words are drawn in where a model was trained for its task, or was not."""
        untrained = 0.0 if trained else PULL
        return untrained if self.pull is None else self.pull

    def load_judge(self) -> CausalLM | None:
        """The model that reads what was written, where another one than the writer is named."""
        if self.judge is None:
            return None
        return load_causal(self.judge, device=self.device, offline=self.offline)


def options_of(kind: type[Options], name: str, options: Mapping[str, Any]) -> Options:
    """The options of the generator ``name``.

    Raises:
        GeneratorError: there is no such option, or no model is named.
        InputError: a number is out of range: before a model is read, which may take a minute.
    """
    check_options(name, options, [field.name for field in fields(kind)])
    if not options.get("model"):
        raise GeneratorError(f"{name} needs a model: option model=PATH_OR_ID, a language model")
    return kind(**options)


class SentenceEnd:
    """A stopping criterion: a text ends with the first sentence that completes it.

    It is complete with ``least`` words and all of the row's ``keywords``. ``lengths`` has the number of
    tokens of each row that has ended so, None of the others.
    """

    def __init__(self, keywords: Sequence[Sequence[str]], start: int, least: int, decode: Decode) -> None:
        self.lengths: list[int | None] = [None] * len(keywords)
        self._keywords = keywords
        self._start = start
        self._least = least
        self._decode = decode

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """A bool tensor of shape (rows,): True where the row's text has ended."""
        import torch

        for row, tokens in enumerate(input_ids):
            text = tokens[self._start :].tolist()
            if self.lengths[row] is None and self._complete(self._decode(text), self._keywords[row]):
                self.lengths[row] = len(text)
        return torch.tensor([length is not None for length in self.lengths], device=input_ids.device)

    def _complete(self, text: str, keywords: Sequence[str]) -> bool:
        complete = ends_sentence(text) and len(words_of(text)) >= self._least
        return complete and all(says(text, keyword) for keyword in keywords)


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


@dataclass(frozen=True, slots=True)
class Style:
    """How texts are drawn.

    ``pull`` is what is added to the logit of a missing word's next token at first (0: words are not pulled),
    ``longest`` the most tokens of a text, which ends with the first sentence that leaves it ``least`` words
    or more, all that are wanted among them. Raises `InputError` for values out of range.
    """

    search: Sampling = field(default_factory=lambda: Sampling(temperature=0.8, top_p=0.9))
    pull: float = 3.0
    longest: int = 32
    least: int = 5

    def __post_init__(self) -> None:
        if self.pull < 0:
            raise InputError(f"pull {self.pull}: must not be below 0")
        if self.longest < 1:
            raise InputError(f"longest {self.longest}: a text has at least one token")


class Writer:
    """Answers requests with texts of one line, drawn from a causal language model.

    ``examples`` stand before each request; they may be empty.
    """

    def __init__(self, model: CausalLM, examples: str = "", style: Style | None = None) -> None:
        self.model = model
        self.examples = examples
        self.style = style or Style()

    def write(self, requests: Sequence[TextRequest], seed: int) -> list[Written]:
        """One text for each request, in order, up to the end of a line or of a sentence.

        A text depends on the request and ``seed``, not on the other requests. A request that is too
        long for the model loses its beginning.

        Raises:
            ModelError: memory does not suffice for one request alone, or the examples fill the model.
        """
        room = self._room()
        items = [
            _Item(place, request, self._tokens(request.prompt)[-room:])
            for place, request in enumerate(requests)
        ]
        texts = [Written("", False)] * len(items)
        longest_first = sorted(items, key=lambda item: (-len(item.tokens), item.place))
        for item, text in in_batches(longest_first, BATCH, lambda batch: self._run(batch, seed)):
            if text is None:
                raise ModelError(f"{self.model.path}: memory does not suffice for request {item.request.id}")
            texts[item.place] = text
        return texts

    def _room(self) -> int:
        """Tokens that a request may have."""
        if self.model.longest is None:
            return _NO_LIMIT
        room = self.model.longest - len(self._shown) - self.style.longest
        if room < 1:
            raise ModelError(
                f"{self.model.path}: reads {self.model.longest} tokens, too few for the examples"
            )
        return room

    @cached_property
    def _shown(self) -> list[int]:
        """The examples' tokens."""
        return self.model.source_tokens(self.examples) if self.examples else []

    def _tokens(self, text: str) -> list[int]:
        """The text's tokens; without examples before it, with those special ones that begin a text."""
        if self.examples:
            return list(self.model.tokenizer(text, add_special_tokens=False)["input_ids"])
        return self.model.source_tokens(text)

    @cached_property
    def _prefix(self) -> _Prefix:
        import torch

        if not self.examples:
            return _Prefix([], None)
        read = torch.tensor([self._shown], device=self.model.device)
        with torch.inference_mode():
            return _Prefix(self._shown, self.model.model(input_ids=read, use_cache=True).past_key_values)

    def _run(self, batch: Sequence[_Item], seed: int) -> list[Written]:
        rows, start = self._prompted(batch)
        keywords = [item.request.words for item in batch]
        seeds = [item_seed(seed, item.request.id, 0) for item in batch]
        complete = SentenceEnd(keywords, start, self.style.least, self.model.decode)
        found = generate(
            self.model.model,
            rows,
            [*self._bias(keywords, start), *processors(self.style.search, seeds)],
            [complete],
            max_new_tokens=self.style.longest,
            eos_token_id=sorted(self._ends),
            pad_token_id=self._pad,
        )
        return [
            self._text(sequence[start:], end) for sequence, end in zip(found, complete.lengths, strict=True)
        ]

    def _prompted(self, batch: Sequence[_Item]) -> tuple[dict[str, Any], int]:
        """The rows for ``generate``, with what the model keeps of them, and their number of tokens.

        Each prompt is read once, but for its last token, however many of the batch have it.
        """
        import torch

        prompts = list(dict.fromkeys(tuple(item.tokens) for item in batch))
        places = torch.tensor([prompts.index(tuple(item.tokens)) for item in batch], device=self.model.device)
        read = self._prefix.before(padded(prompts, self._pad, "left", self.model.device))
        ids, mask, past = read["input_ids"], read["attention_mask"], read.get("past_key_values")
        done = 0 if past is None else len(self._prefix.tokens)
        if ids.shape[1] > done + 1:
            with torch.inference_mode():
                past = self.model.model(
                    input_ids=ids[:, done:-1],
                    attention_mask=mask[:, :-1],
                    position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[:, done:-1],
                    past_key_values=past,
                    use_cache=True,
                ).past_key_values
        rows = {"input_ids": ids[places], "attention_mask": mask[places]}
        if past is not None:
            past.batch_select_indices(places)
            rows["past_key_values"] = past
        return rows, ids.shape[1]

    def _bias(self, keywords: Sequence[Sequence[str]], start: int) -> list[KeywordBias]:
        if not self.style.pull:
            return []
        ends = sorted(self._ends)
        return [KeywordBias(self.model, keywords, says, strength=self.style.pull, ends=ends, start=start)]

    def _text(self, tokens: Sequence[int], end: int | None) -> Written:
        """The text up to ``end``, or to the token that ends it; finished where there is one."""
        if end is None:
            end = next((place + 1 for place, token in enumerate(tokens) if token in self._ends), None)
        return Written(" ".join(self.model.decode(tokens[:end]).split(END)[0].split()), end is not None)

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The end token, and every token that holds a line break."""
        tokenizer = self.model.tokenizer
        pieces = tokenizer.batch_decode([[number] for number in range(len(tokenizer))])
        return frozenset({tokenizer.eos_token_id, *(n for n, text in enumerate(pieces) if END in text)})

    @property
    def _pad(self) -> int:
        return self.model.tokenizer.pad_token_id


class _Item(NamedTuple):
    place: int
    request: TextRequest
    tokens: list[int]


class _Prefix(NamedTuple):
    """The examples as tokens, and the model's keys and values of them (of one row)."""

    tokens: list[int]
    cache: Any

    def before(self, rows: Mapping[str, Any]) -> dict[str, Any]:
        """The rows with the examples before each, and a copy of what is known of them for all rows."""
        import torch

        if self.cache is None:
            return dict(rows)
        count = rows["input_ids"].shape[0]
        own = torch.tensor([self.tokens], device=rows["input_ids"].device).expand(count, -1)
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(count)
        return {
            "input_ids": torch.cat([own, rows["input_ids"]], 1),
            "attention_mask": torch.cat([torch.ones_like(own), rows["attention_mask"]], 1),
            "past_key_values": cache,
        }
