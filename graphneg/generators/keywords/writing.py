"""Texts by a causal language model, one for each request: the part that knows models.

The solved examples before a request are the same for all of them. They are read once, and
what the model keeps of them (its keys and values) stands before each batch, so that a request costs
its own tokens. Words that are wanted are pulled: as long as one is missing, its next token is
made more likely (Pascual et al., 2021, "A Plug-and-Play Method for Controlled Text Generation").

Nothing here is about keywords of a context: whatever is asked of a model in this way, filling
a gap in a sentence too, can use it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.decoders.t5.batching import in_batches
from graphneg.decoders.t5.sampling import item_seed
from graphneg.errors import InputError, ModelError
from graphneg.language_models.model import Written
from graphneg.language_models.padding import padded
from graphneg.language_models.pulling import pull_in
from graphneg.language_models.running import generate
from graphneg.language_models.search import Sampling, processors

if TYPE_CHECKING:
    from graphneg.language_models.causal import CausalLM

BATCH = 32
END = "\n"
"""What ends a text: requests ask for one line."""

_NO_LIMIT = 100_000


class Request(NamedTuple):
    """One text that is wanted: its ``id`` decides what is drawn, ``words`` should be in it."""

    id: str
    prompt: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Style:
    """How texts are drawn.

    ``pull`` is what is added to the logit of a missing word's next token at first (0: words are not pulled),
    ``longest`` the most tokens of a text. Raises `InputError` for values out of range.
    """

    search: Sampling = field(default_factory=lambda: Sampling(temperature=0.8, top_p=0.9))
    pull: float = 3.0
    longest: int = 32

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

    def write(self, requests: Sequence[Request], seed: int) -> list[Written]:
        """One text for each request, in order, up to the end of a line.

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
                raise ModelError(f"{self.model.place}: memory does not suffice for request {item.request.id}")
            texts[item.place] = text
        return texts

    def _room(self) -> int:
        """Tokens that a request may have."""
        if self.model.longest is None:
            return _NO_LIMIT
        room = self.model.longest - len(self._shown) - self.style.longest
        if room < 1:
            raise ModelError(
                f"{self.model.place}: reads {self.model.longest} tokens, too few for the examples"
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
        prefix = self._prefix
        rows = padded([item.tokens for item in batch], self._pad, "left", self.model.device)
        width = rows["input_ids"].shape[1]
        start = len(prefix.tokens) + width
        found = generate(
            self.model.model,
            prefix.before(rows),
            self._chain(batch, seed, start),
            max_new_tokens=self.style.longest,
            eos_token_id=sorted(self._ends),
            pad_token_id=self._pad,
        )
        return [self._text(sequence[start:]) for sequence in found]

    def _chain(self, batch: Sequence[_Item], seed: int, start: int) -> list[Any]:
        """The logits processors: missing words are pulled, then texts are drawn with their own seeds."""
        seeds = [item_seed(seed, item.request.id, 0) for item in batch]
        drawing = processors(self.style.search, seeds)
        if not self.style.pull:
            return drawing
        wanted = [[self._word(word) for word in item.request.words] for item in batch]
        return [Pull(wanted, start, self.style.pull, sorted(self._ends)), *drawing]

    def _text(self, tokens: Sequence[int]) -> Written:
        """The text up to the first line break or end of all; finished where there is one."""
        stop = next((place for place, token in enumerate(tokens) if token in self._ends), None)
        text = self.model.decode(tokens if stop is None else tokens[: stop + 1])
        return Written(text.split(END)[0].strip(), stop is not None)

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The end token, and every token that holds a line break."""
        tokenizer = self.model.tokenizer
        pieces = tokenizer.batch_decode([[number] for number in range(len(tokenizer))])
        return frozenset({tokenizer.eos_token_id, *(n for n, text in enumerate(pieces) if END in text)})

    @property
    def _pad(self) -> int:
        return self.model.tokenizer.pad_token_id

    def _word(self, word: str) -> list[int]:
        """The tokens of a word inside a sentence."""
        return list(self.model.tokenizer(f" {word}", add_special_tokens=False)["input_ids"])


class Pull:
    """A logits processor that makes missing words more likely, and the end less while one is missing.

    ``wanted`` has the words of each row of the batch, as tokens; a row's text begins behind
    ``start`` tokens. `pull_in` says how strong the pull is.
    """

    def __init__(
        self, wanted: Sequence[Sequence[Sequence[int]]], start: int, strength: float, ends: Sequence[int]
    ) -> None:
        self._wanted = wanted
        self._start = start
        self._strength = strength
        self._ends = list(ends)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary), with the next tokens of missing words raised."""
        texts: list[list[int]] = [row[self._start :].tolist() for row in input_ids]
        return pull_in(scores, texts, self._wanted, self._strength, self._ends)


class _Item(NamedTuple):
    place: int
    request: Request
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
