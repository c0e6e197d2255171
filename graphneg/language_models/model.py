"""What causal and sequence-to-sequence models share: tokens, batches, generation, scores.

A model reads a *source* (a prompt, a post, what was said before) and writes a *target*. Both are
turned into tokens apart, in training, scoring and generating alike, so that a target's tokens are
the same wherever it stands.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from graphneg.decoders.t5.batching import in_batches
from graphneg.decoders.t5.sampling import item_seed
from graphneg.errors import InputError, ModelError
from graphneg.language_models.search import Beams, Search, processors

Tokens = Sequence[int]
Found = TypeVar("Found")
Direction = Literal["forward", "backward"]
DIRECTION = "graphneg_direction"
"""The entry of a model's configuration that says in which direction it reads."""

# Tokenizers without a limit of their own say so by a number of this size or more.
_NO_LIMIT = 100_000
_log = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """A transformers model on its device, its tokenizer, and where they are from."""

    model: Any
    tokenizer: Any
    place: Path
    direction: Direction


class Written(NamedTuple):
    """A generated text; ``finished`` if it came to an end before the limit."""

    text: str
    finished: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A source and a target as tokens; ``place`` is their number among those asked for."""

    place: int
    source: Tokens
    target: Tokens


class LanguageModel(ABC):
    """A model with its tokenizer. ``model`` and ``tokenizer`` are transformers' own.

    ``longest`` is how many tokens the model can read at once, None where there is no limit.
    ``batch_size`` is how many texts run together; it is halved where memory runs out.
    """

    batch_size = 16

    def __init__(self, loaded: Loaded) -> None:
        self.model = loaded.model
        self.tokenizer = loaded.tokenizer
        self.place = loaded.place
        self.direction: Direction = loaded.direction

    @property
    def device(self) -> Any:
        """The torch device that the model is on."""
        return self.model.device

    @property
    def longest(self) -> int | None:
        config = self.model.config
        limits = [
            getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None),
            self.tokenizer.model_max_length,
        ]
        return min((limit for limit in limits if limit and limit < _NO_LIMIT), default=None)

    # What the two kinds do differently

    @abstractmethod
    def source_tokens(self, text: str) -> list[int]:
        """The tokens of what is read, with the special ones that the model expects."""

    @abstractmethod
    def target_tokens(self, text: str) -> list[int]:
        """The tokens of a text that the model writes, its end token too."""

    @abstractmethod
    def losses(self, batch: Sequence[Item]) -> list[float]:
        """The mean negative log-likelihood (nats a token) of each target given its source."""

    @abstractmethod
    def _generated(self, batch: Sequence[Tokens], chain: list[Any], **settings: Any) -> list[list[int]]:
        """New tokens only, of each source, by transformers' ``generate``."""

    # What they have in common

    def score(self, texts: Sequence[str], given: Sequence[str] | None = None) -> list[float]:
        """The mean negative log-likelihood of each text, in nats a token (lower: more likely).

        ``given`` has, for each text, what was read before it; its own tokens are not counted. A
        backward model reads both from their ends: ``given`` is then what comes behind the text. The
        exponential is the perplexity. A text without words scores infinity. What is longer than the
        model reads loses the far end of ``given`` first; a text that is too long itself is scored as far
        as the model reads, and a warning counts such texts.

        Raises:
            InputError: ``given`` has another length than ``texts``.
            ModelError: memory does not suffice for one text alone.
        """
        return self._read(texts, given, self.losses, float("inf"))

    def generate(
        self,
        prompts: Sequence[str],
        search: Search | None = None,
        *,
        seed: int = 0,
        ids: Sequence[str] | None = None,
        max_new_tokens: int = 64,
        end: str | None = None,
    ) -> list[str]:
        """One text for each prompt, in order; the prompts themselves are not repeated.

        See `write`, which also says whether a text came to its end.
        """
        written = self.write(prompts, search, seed=seed, ids=ids, max_new_tokens=max_new_tokens, end=end)
        return [one.text for one in written]

    def write(
        self,
        prompts: Sequence[str],
        search: Search | None = None,
        *,
        seed: int = 0,
        ids: Sequence[str] | None = None,
        max_new_tokens: int = 64,
        end: str | None = None,
    ) -> list[Written]:
        """One text for each prompt, in order.

        ``search`` is greedy where it is not given. A drawn text depends on ``seed`` and its id alone
        (the prompt, where ``ids`` are not given), not on its batch. A text ends with the model's end
        token, or before the character ``end``. Prompts that leave no room for ``max_new_tokens`` lose
        their beginning, and a warning counts them.

        Raises:
            InputError: ``ids`` has another length than ``prompts``.
            ModelError: memory does not suffice for one prompt alone.
        """
        search = search or Beams()
        names = ids if ids is not None else prompts
        if len(names) != len(prompts):
            raise InputError(f"{len(prompts)} prompts, but {len(names)} ids")
        items = [Item(place, self.source_tokens(prompt), ()) for place, prompt in enumerate(prompts)]
        items = self._with_room(items, max_new_tokens)
        ends = self._end_tokens(end)

        def run(batch: Sequence[Item]) -> list[Written]:
            seeds = [item_seed(seed, names[item.place], 0) for item in batch]
            width = search.width if isinstance(search, Beams) else 1
            found = self._generated(
                [item.source for item in batch],
                processors(search, seeds),
                num_beams=width,
                max_new_tokens=max_new_tokens,
                eos_token_id=sorted(ends),
            )
            return [self._text(tokens, ends, end) for tokens in found]

        texts: list[Written] = [Written("", False)] * len(items)
        for item, written in in_batches(sorted(items, key=_by_length), self.batch_size, run):
            if written is None:
                raise ModelError(f"{self.place}: memory does not suffice for prompt {item.place} alone")
            texts[item.place] = written
        return texts

    def decode(self, tokens: Tokens) -> str:
        """The text of tokens, without special ones and white space around it."""
        ordered = list(tokens) if self.direction == "forward" else list(reversed(tokens))
        text = self.tokenizer.decode(ordered, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text.strip()

    def save(self, folder: str | Path) -> None:
        """Write model and tokenizer into a folder that the loading functions read."""
        setattr(self.model.config, DIRECTION, self.direction)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def ordered(self, tokens: list[int]) -> list[int]:
        """A text's tokens in the order in which this model reads."""
        return tokens if self.direction == "forward" else tokens[::-1]

    def _read(
        self,
        texts: Sequence[str],
        given: Sequence[str] | None,
        run: Callable[[Sequence[Item]], Sequence[Found]],
        nothing: Found,
    ) -> list[Found]:
        """What ``run`` finds of each text behind what is given, ``nothing`` of one without words."""
        sources = given if given is not None else [""] * len(texts)
        if len(sources) != len(texts):
            raise InputError(f"{len(texts)} texts to score, but {len(sources)} texts given before them")
        pairs = enumerate(zip(sources, texts, strict=True))
        items = [self._fitted(place, source, text) for place, (source, text) in pairs]
        found = [nothing] * len(items)
        scorable = [item for item in items if item.target and texts[item.place].strip()]
        longest_first = sorted(scorable, key=_by_length)
        for item, one in in_batches(longest_first, self.batch_size, run):
            if one is None:
                raise ModelError(f"{self.place}: memory does not suffice for text {item.place} alone")
            found[item.place] = one
        return found

    def _fitted(self, place: int, source: str, text: str) -> Item:
        return fitted(Item(place, self.source_tokens(source), self._scored_tokens(text)), self.longest)

    def _scored_tokens(self, text: str) -> list[int]:
        """A text's tokens as they count for its score."""
        return self.target_tokens(text)

    def _with_room(self, items: list[Item], new: int) -> list[Item]:
        room = None if self.longest is None else self.longest - new
        if room is not None and room < 1:
            raise InputError(f"max_new_tokens {new}: {self.place} reads {self.longest} tokens at most")
        cut = [item for item in items if room is not None and len(item.source) > room]
        if cut and room is not None:
            _log.warning("%d of %d prompts were too long and lost their beginning", len(cut), len(items))
        return [Item(item.place, item.source[-room:] if room else item.source, ()) for item in items]

    def _end_tokens(self, end: str | None) -> set[int]:
        """The end token, and all that hold the character ``end``."""
        known = self.model.generation_config.eos_token_id
        own = {self.tokenizer.eos_token_id, *(known if isinstance(known, list) else [known])} - {None}
        if end is None:
            return own
        return own | {number for number, text in enumerate(self._pieces) if end in text}

    @cached_property
    def _pieces(self) -> list[str]:
        """The text of each token of the vocabulary."""
        return self.tokenizer.batch_decode([[number] for number in range(len(self.tokenizer))])

    def _text(self, tokens: list[int], ends: set[int], end: str | None) -> Written:
        """The text up to the first end token; of one that holds more than the end, the part before it."""
        stop = next((place for place, token in enumerate(tokens) if token in ends), None)
        if stop is None:
            return Written(self.decode(tokens), False)
        text = self.decode(tokens[: stop + 1])
        return Written(text if end is None else text.split(end)[0].strip(), True)


def direction_of(config: Any) -> Direction:
    """The direction in which a model was trained to read; ``forward`` where it does not say."""
    return "backward" if getattr(config, DIRECTION, "forward") == "backward" else "forward"


def fitted(item: Item, limit: int | None) -> Item:
    """The item within a limit of tokens: the source loses its beginning, then the target its end."""
    if limit is None or len(item.source) + len(item.target) <= limit:
        return item
    target = item.target[: limit - 1]
    if len(target) < len(item.target):
        _log.warning("text %d has %d tokens; the first %d count", item.place, len(item.target), len(target))
    return Item(item.place, item.source[-(limit - len(target)) :], target)


def _by_length(item: Item) -> tuple[int, int]:
    return -len(item.source) - len(item.target), item.place
