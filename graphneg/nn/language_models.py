"""Causal and sequence-to-sequence language models: texts in, scores out, or tokens of new texts.

A model reads a *source* (a prompt, a post, what was said before) and writes a *target*. Both are turned into
tokens apart, in training, scoring and generating alike, so that a target's tokens are the same wherever it
stands. A causal model's target is written behind its source, in one row; a sequence-to-sequence model has an
encoder for the source and a decoder for the target. `graphneg.nn.models` loads them, and
`graphneg.nn.writers` lets them write.
"""

from __future__ import annotations

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeVar

from graphneg.errors import InputError
from graphneg.nn.batching import longest_first, padded
from graphneg.nn.generation import CausalSteps, Seq2SeqSteps, as_cache, generate

Tokens = Sequence[int]
Result = TypeVar("Result")
Direction = Literal["forward", "backward"]
DIRECTION = "graphneg_direction"
"""The entry of a model's configuration that says in which direction it reads."""
_NOT_LEARNED = -100

# Tokenizers without a limit of their own say so by a number of this size or more.
_NO_LIMIT = 100_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A source and a target as tokens; ``number`` is theirs among those asked for."""

    number: int
    source: Tokens
    target: Tokens


class LanguageModel(ABC):
    """A model with its tokenizer. ``model`` and ``tokenizer`` are transformers' own.

    ``longest`` is how many tokens the model can read at once, None where there is no limit.
    ``batch_size`` is how many texts run together; it is halved where memory runs out.
    """

    batch_size = 16

    def __init__(self, model: Any, tokenizer: Any, path: Path) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.path = path
        self._pad: int = tokenizer.pad_token_id
        turned = getattr(model.config, DIRECTION, "forward") == "backward"
        self.direction: Direction = "backward" if turned else "forward"

    @property
    def device(self) -> Any:
        """The torch device that the model is on."""
        return self.model.device

    @property
    def longest(self) -> int | None:
        """How many tokens the model reads at once; None where there is no limit."""
        config = self.model.config
        limits = [
            getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None),
            self.tokenizer.model_max_length,
        ]
        return min((limit for limit in limits if limit and limit < _NO_LIMIT), default=None)

    @abstractmethod
    def source_tokens(self, text: str) -> list[int]:
        """The tokens of what is read, with the special ones that the model expects."""

    @abstractmethod
    def target_tokens(self, text: str) -> list[int]:
        """The tokens of a text that the model writes, its end token too."""

    @abstractmethod
    def token_losses(self, batch: Sequence[Request]) -> list[list[float]]:
        """The negative log-likelihood (nats) of each token of each target, given its source."""

    def losses(self, batch: Sequence[Request]) -> list[float]:
        """The mean negative log-likelihood (nats a token) of each target given its source."""
        return [sum(losses) / len(losses) for losses in self.token_losses(batch)]

    @abstractmethod
    def generated(
        self, batch: Sequence[Tokens], chain: list[Any], *, shown: Tokens = (), **settings: Any
    ) -> list[list[int]]:
        """New tokens only, of each source, by transformers' ``generate``, as
        `graphneg.nn.generation.generate` takes settings. The tokens ``shown`` stand before each source."""

    @abstractmethod
    def steps(self, sources: Sequence[Tokens], width: int) -> CausalSteps | Seq2SeqSteps:
        """The model before its first token behind each source; rows are padded to ``width`` tokens."""

    @abstractmethod
    def text_start(self, batch: Sequence[Tokens], shown: Tokens = ()) -> int:
        """Behind how many tokens of a row the new ones begin where ``generated`` writes for such a batch."""

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

    def decode(self, tokens: Tokens) -> str:
        """The text of tokens, without special ones and white space around it."""
        return self.raw_text(tokens).strip()

    def raw_text(self, tokens: Tokens, kept: Collection[str] = ()) -> str:
        """The text of tokens, without special ones but those that are ``kept``."""
        ordered = list(tokens) if self.direction == "forward" else list(reversed(tokens))
        marks = dict(zip(self.tokenizer.convert_tokens_to_ids(list(kept)), kept, strict=True)) if kept else {}
        pieces: list[str] = []
        for mark, run in groupby(ordered, marks.get):
            plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
            pieces.append(mark or self.tokenizer.decode(list(run), **plain))
        return "".join(pieces)

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
        run: Callable[[Sequence[Request]], Sequence[Result]],
        nothing: Result,
    ) -> list[Result]:
        """What ``run`` finds of each text behind what is given, ``nothing`` of one without words."""
        sources = given if given is not None else [""] * len(texts)
        if len(sources) != len(texts):
            raise InputError(f"{len(texts)} texts to score, but {len(sources)} texts given before them")
        items: list[Request] = []
        for number, (source, text) in enumerate(zip(sources, texts, strict=True)):
            item = self._fitted(number, self.source_tokens(source), self._scored_tokens(text))
            if item.target and text.strip():
                items.append(item)
        results = longest_first(items, _length, self.batch_size, run, f"{self.path}: a text")
        scores = dict(zip((item.number for item in items), results, strict=True))
        return [scores.get(number, nothing) for number in range(len(texts))]

    def _fitted(self, number: int, source: Tokens, target: Tokens) -> Request:
        """What the model can read: the source loses its beginning, then the target its end."""
        limit = self.longest
        if limit is not None and len(source) + len(target) > limit:
            if len(target) >= limit:
                _log.warning("text %d has %d tokens; the first %d count", number, len(target), limit - 1)
                target = target[: limit - 1]
            source = source[-(limit - len(target)) :]
        return Request(number, source, target)

    def _scored_tokens(self, text: str) -> list[int]:
        """A text's tokens as they count for its score."""
        return self.target_tokens(text)

    def end_tokens(self, end: str | None) -> set[int]:
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


def _length(item: Request) -> int:
    return len(item.source) + len(item.target)


class CausalLM(LanguageModel):
    """GPT-2, Llama and their like. Made by `graphneg.nn.models.load_causal`."""

    _shown: tuple[tuple[int, ...], Any] = ((), None)

    def source_tokens(self, text: str) -> list[int]:
        """Tokens of a prompt; where there would be none, the token that begins texts."""
        tokens = self.ordered(self.tokenizer(text, verbose=False)["input_ids"]) if text else []
        begin = self.tokenizer.bos_token_id
        return tokens or [self.tokenizer.eos_token_id if begin is None else begin]

    def target_tokens(self, text: str) -> list[int]:
        """The text's tokens and the end token."""
        return [*self._scored_tokens(text), self.tokenizer.eos_token_id]

    def token_losses(self, batch: Sequence[Request]) -> list[list[float]]:
        """See `LanguageModel.token_losses`."""
        import torch
        from torch.nn.functional import cross_entropy

        rows = padded([[*item.source, *item.target] for item in batch], self._pad, "right", self.device)
        losses: list[list[float]] = []
        with torch.inference_mode():
            logits = self.model(**rows).logits
            for row, item in enumerate(batch):
                first, end = len(item.source), len(item.source) + len(item.target)
                target, expected = rows["input_ids"][row, first:end], logits[row, first - 1 : end - 1]
                losses.append(cross_entropy(expected.float(), target, reduction="none").tolist())
        return losses

    def score_tokens(self, texts: Sequence[str], given: Sequence[str] | None = None) -> list[list[float]]:
        """As `score`, but the negative log-likelihood of each token; of a text without words, none."""
        return self._read(texts, given, self.token_losses, [])

    def steps(self, sources: Sequence[Tokens], width: int) -> CausalSteps:
        """See `LanguageModel.steps`."""
        rows = padded(sources, self._pad, "left", self.device, width)
        return CausalSteps(self.model, rows, self.longest)

    def _scored_tokens(self, text: str) -> list[int]:
        return self.ordered(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def text_start(self, batch: Sequence[Tokens], shown: Tokens = ()) -> int:
        """See `LanguageModel.text_start`."""
        return len(shown) + max(map(len, batch))

    def generated(
        self, batch: Sequence[Tokens], chain: list[Any], *, shown: Tokens = (), **settings: Any
    ) -> list[list[int]]:
        """See `LanguageModel.generated`. What is ``shown`` is read once, as long as it is the same, and of a
        batch each source once, however often it is there."""
        if settings.get("num_beams", 1) > 1:
            rows = padded([[*shown, *source] for source in batch], self._pad, "left", self.device)
        else:
            rows = self._rows(batch, tuple(shown))
        sequences = generate(self.model, rows, chain, pad_token_id=self._pad, **settings)
        start = self.text_start(batch, shown)
        return [sequence[start:] for sequence in sequences]

    def _rows(self, batch: Sequence[Tokens], shown: tuple[int, ...]) -> dict[str, Any]:
        """What ``generate`` reads, with the model's keys and values of all but the last token of what several
        rows have in common."""
        import torch

        distinct = list(dict.fromkeys(map(tuple, batch)))
        if not shown and len(distinct) == len(batch):
            return padded(batch, self._pad, "left", self.device)
        read = padded(distinct, self._pad, "left", self.device)
        before = torch.tensor(shown, dtype=torch.long, device=self.device).expand(len(distinct), -1)
        ids = torch.cat([before, read["input_ids"]], 1)
        mask = torch.cat([torch.ones_like(before), read["attention_mask"]], 1)
        past = copy.deepcopy(self._keys_of(shown))
        if past is not None:
            past.batch_repeat_interleave(len(distinct))
        unread = slice(len(shown), -1)
        if ids[:, unread].shape[1]:
            with torch.inference_mode():
                past = self.model(
                    input_ids=ids[:, unread],
                    attention_mask=mask[:, :-1],
                    position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[:, unread],
                    **as_cache(self.model, past),
                    use_cache=True,
                ).past_key_values
        which = torch.tensor([distinct.index(tuple(source)) for source in batch], device=self.device)
        rows = {"input_ids": ids[which], "attention_mask": mask[which]}
        if past is None:
            return rows
        past.batch_select_indices(which)
        return {**rows, **as_cache(self.model, past)}

    def _keys_of(self, shown: tuple[int, ...]) -> Any:
        """The model's keys and values of what is shown (one row), kept from the last time; None of
        nothing."""
        import torch

        if shown and self._shown[0] != shown:
            with torch.inference_mode():
                read = torch.tensor([shown], device=self.device)
                self._shown = (shown, self.model(input_ids=read, use_cache=True).past_key_values)
        return self._shown[1] if shown else None


class Seq2SeqLM(LanguageModel):
    """BART, T5 and their like. Made by `graphneg.nn.models.load_seq2seq`."""

    def source_tokens(self, text: str) -> list[int]:
        """See `LanguageModel.source_tokens`."""
        tokens = self.tokenizer(text, verbose=False)["input_ids"]
        return tokens or [self.tokenizer.eos_token_id]

    def target_tokens(self, text: str) -> list[int]:
        """See `LanguageModel.target_tokens`."""
        tokens = self.tokenizer(text_target=text, verbose=False)["input_ids"]
        end = self.tokenizer.eos_token_id
        return tokens if tokens[-1:] == [end] else [*tokens, end]

    def token_losses(self, batch: Sequence[Request]) -> list[list[float]]:
        """See `LanguageModel.token_losses`."""
        import torch
        from torch.nn.functional import cross_entropy

        rows = padded([item.source for item in batch], self._pad, "right", self.device)
        labels = _labels([item.target for item in batch], self._pad, self.device)
        losses: list[list[float]] = []
        with torch.inference_mode():
            logits = self.model(**rows, labels=labels).logits
            for row, item in enumerate(batch):
                end = len(item.target)
                expected = logits[row, :end].float()
                losses.append(cross_entropy(expected, labels[row, :end], reduction="none").tolist())
        return losses

    def steps(self, sources: Sequence[Tokens], width: int) -> Seq2SeqSteps:
        """See `LanguageModel.steps`."""
        rows = padded(sources, self._pad, "right", self.device, width)
        return Seq2SeqSteps(self.model, rows)

    def text_start(self, batch: Sequence[Tokens], shown: Tokens = ()) -> int:
        """See `LanguageModel.text_start`: a decoder's rows begin with one token of no meaning."""
        return 1

    def generated(
        self, batch: Sequence[Tokens], chain: list[Any], *, shown: Tokens = (), **settings: Any
    ) -> list[list[int]]:
        """See `LanguageModel.generated`."""
        rows = padded([[*shown, *source] for source in batch], self._pad, "right", self.device)
        sequences = generate(self.model, rows, chain, **settings)
        return [sequence[self.text_start(batch) :] for sequence in sequences]


def collated(model: LanguageModel, items: Sequence[Request]) -> Mapping[str, Any]:
    """A batch to learn from: ``input_ids``, ``attention_mask`` and ``labels`` of shape (items, tokens).

    A causal model's row is source and target, of which only the target has labels; a
    sequence-to-sequence model's rows are the sources, its labels the targets.
    """
    pad = model.tokenizer.pad_token_id
    if isinstance(model, CausalLM):
        rows = padded([[*item.source, *item.target] for item in items], pad, "right", "cpu")
        labels = rows["input_ids"].masked_fill(rows["attention_mask"] == 0, _NOT_LEARNED)
        for row, item in enumerate(items):
            labels[row, : len(item.source)] = _NOT_LEARNED
        return {**rows, "labels": labels}
    rows = padded([item.source for item in items], pad, "right", "cpu")
    return {**rows, "labels": _labels([item.target for item in items], pad, "cpu")}


def _labels(targets: Sequence[Tokens], pad: int, device: Any) -> Any:
    """Targets of shape (items, tokens), what fills them up not learned."""
    rows = padded(targets, pad, "right", device)
    return rows["input_ids"].masked_fill(rows["attention_mask"] == 0, _NOT_LEARNED)
