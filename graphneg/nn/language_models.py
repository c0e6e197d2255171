"""Score texts and generate tokens with causal and sequence-to-sequence language models.

A model reads a *source* (for example a prompt or the previous turns) and writes a *target*. Source and target
are always tokenized separately, so that a target has the same tokens in training, scoring and generation. A
causal model gets source and target as one sequence. A sequence-to-sequence model has an encoder for the
source and a decoder for the target.

`graphneg.nn.models` loads models, and `graphneg.nn.writers` generates texts with them.

Example:
    Compare two replies by their losses in nats per token. The model considers the reply with the lower loss
    more likely::

        model = load_causal("gpt2")
        model.score(["I like tea.", "Tea like I."], given=["What do you drink? ", "What do you drink? "])
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
"""The key in a model's configuration that stores the direction in which the model reads texts."""
_NOT_LEARNED = -100
"""The label of tokens that the loss must ignore. torch's cross-entropy ignores this label by default."""

# If a tokenizer has no limit on the input length, it reports a huge number as its limit. A reported limit of
# at least this many tokens is therefore treated as no limit.
_NO_LIMIT = 100_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TokenPair:
    """A tokenized pair of a source and a target.

    Attributes:
        number: The index of the pair in the caller's list. The results are returned in the order of this
            list.
        source: The tokens that the model reads.
        target: The tokens that the model writes.
    """

    number: int
    source: Tokens
    target: Tokens


class LanguageModel(ABC):
    """A language model with its tokenizer.

    Args:
        model: The transformers model.
        tokenizer: The tokenizer of the model. It must have a padding token.
        path: The folder or file of the model.

    Attributes:
        batch_size: Maximum number of texts in a batch. If memory runs out, smaller batches are used.
        direction: ``forward``, or ``backward`` for a model that reads and writes texts from right to left.
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
        """The torch device of the model."""
        return self.model.device

    @property
    def longest(self) -> int | None:
        """The maximum number of tokens that the model reads at once; None if there is no limit."""
        config = self.model.config
        limits = [
            # GPT-2 stores its maximum number of tokens as n_positions, most other models store it as
            # max_position_embeddings.
            getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None),
            self.tokenizer.model_max_length,
        ]
        return min((limit for limit in limits if limit and limit < _NO_LIMIT), default=None)

    @abstractmethod
    def source_tokens(self, text: str) -> list[int]:
        """Tokenize a source and add the special tokens that the model expects.

        Args:
            text: The source text, such as a prompt.

        Returns:
            The tokens of the source, at least one token.
        """

    @abstractmethod
    def target_tokens(self, text: str) -> list[int]:
        """Tokenize a target and append the end token.

        Args:
            text: The target text, which the model learns or scores.

        Returns:
            The tokens of the target.
        """

    @abstractmethod
    def token_losses(self, batch: Sequence[TokenPair]) -> list[list[float]]:
        """Return the negative log-likelihood of each token of each target, given its source.

        Args:
            batch: Pairs of a source and a target.

        Returns:
            For each target, a list with the loss of each token in nats.
        """

    def losses(self, batch: Sequence[TokenPair]) -> list[float]:
        """Return the mean negative log-likelihood of each target, given its source.

        Args:
            batch: Pairs of a source and a target.

        Returns:
            The loss of each target in nats per token.
        """
        return [sum(losses) / len(losses) for losses in self.token_losses(batch)]

    @abstractmethod
    def generated(
        self, batch: Sequence[Tokens], chain: list[Any], *, shown: Tokens = (), **settings: Any
    ) -> list[list[int]]:
        """Generate tokens with the method ``generate`` of transformers.

        Args:
            batch: The tokens of each source.
            chain: Logits processors, in the order in which they are applied.
            shown: Tokens that are put before each source, such as few-shot examples.
            **settings: Generation settings, as in `graphneg.nn.generation.generate`.

        Returns:
            The tokens that were generated for each source.
        """

    @abstractmethod
    def steps(self, sources: Sequence[Tokens], width: int) -> CausalSteps | Seq2SeqSteps:
        """Return an object with which the caller can generate one token at a time.

        Args:
            sources: The tokens of each source text.
            width: Number of tokens to which source texts are padded, unless one is longer.

        Returns:
            An object that contains the logits of the first token to generate. Its method ``take`` appends a
            token and computes the next logits.
        """

    @abstractmethod
    def text_start(self, batch: Sequence[Tokens], shown: Tokens = ()) -> int:
        """Return the index of the first generated token in the model's output for a batch.

        The index is the same for all texts of a batch.

        Args:
            batch: The tokens of each source text.
            shown: Tokens that are put before each source text, such as few-shot examples.

        Returns:
            The index, from 0.
        """

    def score(self, texts: Sequence[str], sources: Sequence[str] | None = None) -> list[float]:
        """Return the mean negative log-likelihood of each text, in nats per token.

        A lower score means a more likely text. The exponential of a score is the perplexity. The score of an
        empty text is infinity. If source and text together are too long for the model, the source is
        truncated at the end that is farther from the text. If even the text alone is too long, the text is
        truncated as well, and a warning is logged. Raises `ModelError` if memory runs out even for a single
        text.

        Args:
            texts: The texts to score.
            sources: The source of each text, which the model reads first and which is not scored; None for no
                sources. For a backward model, which reads from right to left, the source is the text that
                follows the scored text.

        Returns:
            The score of each text.
        """
        return self._apply_in_batches(texts, sources, self.losses, float("inf"))

    def decode(self, tokens: Tokens) -> str:
        """Convert tokens into text, without special tokens and surrounding white space.

        Args:
            tokens: Tokens in the order in which the model reads them.

        Returns:
            The text.
        """
        return self.raw_text(tokens).strip()

    def raw_text(self, tokens: Tokens, kept: Collection[str] = ()) -> str:
        """Convert tokens into text, with surrounding white space and, if requested, some special tokens.

        Args:
            tokens: Tokens in the order in which the model reads them.
            kept: Special tokens to keep in the text. All other special tokens are removed.

        Returns:
            The text.
        """
        # A backward model generates the last token first, so reverse its tokens.
        ordered = list(tokens) if self.direction == "forward" else list(reversed(tokens))
        marks = dict(zip(self.tokenizer.convert_tokens_to_ids(list(kept)), kept, strict=True)) if kept else {}
        pieces: list[str] = []
        # A character may consist of several tokens, so consecutive ordinary tokens are decoded together.
        for mark, run in groupby(ordered, marks.get):
            plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
            pieces.append(mark or self.tokenizer.decode(list(run), **plain))
        return "".join(pieces)

    def save(self, folder: str | Path) -> None:
        """Save the model and its tokenizer, so that the functions in `graphneg.nn.models` can load them.

        Args:
            folder: The folder to write to.
        """
        # Store the direction in which the model reads texts in its configuration, for loading it again.
        setattr(self.model.config, DIRECTION, self.direction)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def ordered(self, tokens: list[int]) -> list[int]:
        """Return the tokens of a text in the order in which the model reads them.

        Args:
            tokens: The tokens in the order of the text.

        Returns:
            The same tokens; in reverse order if the model reads from right to left.
        """
        return tokens if self.direction == "forward" else tokens[::-1]

    def _apply_in_batches(
        self,
        texts: Sequence[str],
        given: Sequence[str] | None,
        run: Callable[[Sequence[TokenPair]], Sequence[Result]],
        nothing: Result,
    ) -> list[Result]:
        """Return the result of ``run`` for each text. An empty text is not run and gets ``nothing``.

        Raises:
            InputError: There are not as many sources (``given``) as texts.
        """
        sources = given if given is not None else [""] * len(texts)
        if len(sources) != len(texts):
            raise InputError(
                f"expected {len(texts)} preceding texts, one for each text to score, but found {len(sources)}"
            )
        items: list[TokenPair] = []
        for number, (source, text) in enumerate(zip(sources, texts, strict=True)):
            item = self._fitted(number, self.source_tokens(source), self._scored_tokens(text))
            # Skip texts that have no tokens or contain only white space.
            if item.target and text.strip():
                items.append(item)
        results = longest_first(items, _length, self.batch_size, run, f"{self.path}: a text")
        scores = dict(zip((item.number for item in items), results, strict=True))
        return [scores.get(number, nothing) for number in range(len(texts))]

    def _fitted(self, number: int, source: Tokens, target: Tokens) -> TokenPair:
        """Return a source and a target, truncated so that both together fit into the model's input length."""
        limit = self.longest
        if limit is not None and len(source) + len(target) > limit:
            # The model predicts the first target token from the token before it, so leave room for one source
            # token.
            if len(target) >= limit:
                _log.warning(
                    "text %d has %d tokens; only the first %d are scored", number, len(target), limit - 1
                )
                target = target[: limit - 1]
            source = source[-(limit - len(target)) :]
        return TokenPair(number, source, target)

    def _scored_tokens(self, text: str) -> list[int]:
        """Return the tokens to score in a text. This class scores all tokens, including the end token."""
        return self.target_tokens(text)

    def end_tokens(self, end: str | None) -> set[int]:
        """Return the tokens that end a text.

        Args:
            end: A character that also ends a text, such as a line break; None if no character does.

        Returns:
            The end tokens of the model, and all tokens that contain ``end``.
        """
        # ``eos_token_id`` may be a list, because some models, such as Llama 3, have several end tokens.
        known = self.model.generation_config.eos_token_id
        own = {self.tokenizer.eos_token_id, *(known if isinstance(known, list) else [known])} - {None}
        if end is None:
            return own
        return own | {number for number, text in enumerate(self._token_texts) if end in text}

    @cached_property
    def _token_texts(self) -> list[str]:
        """The text of each token in the vocabulary, in the order of the token ids."""
        return self.tokenizer.batch_decode([[number] for number in range(len(self.tokenizer))])


def _length(item: TokenPair) -> int:
    return len(item.source) + len(item.target)


class CausalLM(LanguageModel):
    """A causal language model such as GPT-2 or Llama, as loaded by `graphneg.nn.models.load_causal`."""

    _shown: tuple[tuple[int, ...], Any] = ((), None)

    def source_tokens(self, text: str) -> list[int]:
        """Tokenize a prompt.

        Args:
            text: The prompt; it may be empty.

        Returns:
            The tokens of the prompt. An empty prompt is represented by the beginning-of-text token alone,
            because a model must read at least one token.
        """
        tokens = self.ordered(self.tokenizer(text, verbose=False)["input_ids"]) if text else []
        # If the tokenizer has no beginning-of-text token, its end-of-text token is used, because in training
        # a new text begins after it.
        begin = self.tokenizer.bos_token_id
        return tokens or [self.tokenizer.eos_token_id if begin is None else begin]

    def target_tokens(self, text: str) -> list[int]:
        """Tokenize a target, and append the end token. See `LanguageModel.target_tokens`.

        Args:
            text: The target text, which the model learns or scores.

        Returns:
            The tokens of the target.
        """
        return [*self._scored_tokens(text), self.tokenizer.eos_token_id]

    def token_losses(self, batch: Sequence[TokenPair]) -> list[list[float]]:
        """Return the loss of each token of each target. See `LanguageModel.token_losses`."""
        import torch
        from torch.nn.functional import cross_entropy

        # Rows are padded on the right, where padding does not change the losses, because a causal model does
        # not look at later tokens.
        rows = padded([[*item.source, *item.target] for item in batch], self._pad, "right", self.device)
        losses: list[list[float]] = []
        with torch.inference_mode():
            logits = self.model(**rows).logits
            for row, item in enumerate(batch):
                first, end = len(item.source), len(item.source) + len(item.target)
                # The logits at a position predict the next token. So the logits for the target begin one
                # position before the target.
                target, expected = rows["input_ids"][row, first:end], logits[row, first - 1 : end - 1]
                losses.append(cross_entropy(expected.float(), target, reduction="none").tolist())
        return losses

    def score_tokens(self, texts: Sequence[str], given: Sequence[str] | None = None) -> list[list[float]]:
        """Return the negative log-likelihood of each token of each text.

        Args:
            texts: The texts to score.
            given: The source of each text, as in `score`.

        Returns:
            For each text, a list with the loss of each token in nats; an empty list for an empty text.
        """
        return self._apply_in_batches(texts, given, self.token_losses, [])

    def steps(self, sources: Sequence[Tokens], width: int) -> CausalSteps:
        """Return an object that generates one token at a time. See `LanguageModel.steps`."""
        rows = padded(sources, self._pad, "left", self.device, width)
        return CausalSteps(self.model, rows, self.longest)

    def _scored_tokens(self, text: str) -> list[int]:
        return self.ordered(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def text_start(self, batch: Sequence[Tokens], shown: Tokens = ()) -> int:
        """Return the index of the first generated token. See `LanguageModel.text_start`."""
        return len(shown) + max(map(len, batch))

    def generated(
        self, batch: Sequence[Tokens], chain: list[Any], *, shown: Tokens = (), **settings: Any
    ) -> list[list[int]]:
        """Generate tokens. See `LanguageModel.generated`.

        Except in a beam search, a key-value cache avoids repeated work: the tokens ``shown`` are processed
        again only if they differ from the ``shown`` tokens of the previous call, and a source that occurs
        several times in a batch is processed only once.

        Args:
            batch: The tokens of each source.
            chain: Logits processors, in the order in which they are applied.
            shown: Tokens that are put before each source, such as few-shot examples.
            **settings: Generation settings, as in `graphneg.nn.generation.generate`.

        Returns:
            The tokens that were generated for each source.
        """
        if settings.get("num_beams", 1) > 1:
            rows = padded([[*shown, *source] for source in batch], self._pad, "left", self.device)
        else:
            rows = self._rows(batch, tuple(shown))
        sequences = generate(self.model, rows, chain, pad_token_id=self._pad, **settings)
        start = self.text_start(batch, shown)
        return [sequence[start:] for sequence in sequences]

    def _rows(self, batch: Sequence[Tokens], shown: tuple[int, ...]) -> dict[str, Any]:
        """Return the inputs for ``generate``, with a key-value cache for tokens that several rows share."""
        import torch

        distinct = list(dict.fromkeys(map(tuple, batch)))
        # A key-value cache saves work only if several rows begin with the same tokens or are equal.
        # Otherwise, return the tokens without a cache.
        if not shown and len(distinct) == len(batch):
            return padded(batch, self._pad, "left", self.device)
        read = padded(distinct, self._pad, "left", self.device)
        before = torch.tensor(shown, dtype=torch.long, device=self.device).expand(len(distinct), -1)
        ids = torch.cat([before, read["input_ids"]], 1)
        mask = torch.cat([torch.ones_like(before), read["attention_mask"]], 1)
        # The model extends a cache in place, so pass a copy of the stored cache.
        past = copy.deepcopy(self._key_value_cache_of(shown))
        if past is not None:
            # All source texts follow the same few-shot examples (`shown`). Copy the key-value cache of these
            # examples to the row of each distinct source text.
            past.batch_repeat_interleave(len(distinct))
        # `generate` needs at least one token that is not in the cache, so leave out the last token of each
        # source.
        unread = slice(len(shown), -1)
        if ids[:, unread].shape[1]:
            with torch.inference_mode():
                past = self.model(
                    input_ids=ids[:, unread],
                    attention_mask=mask[:, :-1],
                    # There is padding between the few-shot examples (`shown`) and the prompt. Count only the
                    # real tokens, so that padding does not shift their positions.
                    position_ids=(mask.cumsum(-1) - 1).clamp(min=0)[:, unread],
                    **as_cache(self.model, past),
                    use_cache=True,
                ).past_key_values
        # Rows with the same source text share one computation. Copy its key-value cache to each of the rows.
        which = torch.tensor([distinct.index(tuple(source)) for source in batch], device=self.device)
        rows = {"input_ids": ids[which], "attention_mask": mask[which]}
        if past is None:
            return rows
        past.batch_select_indices(which)
        return {**rows, **as_cache(self.model, past)}

    def _key_value_cache_of(self, shown: tuple[int, ...]) -> Any:
        """Return the key-value cache for the tokens before each source; None if there are no such tokens."""
        import torch

        # Store the cache for the next call. A cache can be large, so store only the most recent one.
        if shown and self._shown[0] != shown:
            with torch.inference_mode():
                read = torch.tensor([shown], device=self.device)
                self._shown = (shown, self.model(input_ids=read, use_cache=True).past_key_values)
        return self._shown[1] if shown else None


class Seq2SeqLM(LanguageModel):
    """A sequence-to-sequence model such as BART or T5, as loaded by `graphneg.nn.models.load_seq2seq`."""

    def source_tokens(self, text: str) -> list[int]:
        """Tokenize a source. See `LanguageModel.source_tokens`.

        Args:
            text: The source text, which the encoder reads.

        Returns:
            The tokens of the source, at least one token.
        """
        tokens = self.tokenizer(text, verbose=False)["input_ids"]
        # The encoder needs at least one token, so an empty text is represented by the end token.
        return tokens or [self.tokenizer.eos_token_id]

    def target_tokens(self, text: str) -> list[int]:
        """Tokenize a target, and append the end token. See `LanguageModel.target_tokens`.

        Args:
            text: The target text, which the model learns or scores.

        Returns:
            The tokens of the target.
        """
        tokens = self.tokenizer(text_target=text, verbose=False)["input_ids"]
        end = self.tokenizer.eos_token_id
        # Some tokenizers add the end token themselves. It must not be added twice.
        return tokens if tokens[-1:] == [end] else [*tokens, end]

    def token_losses(self, batch: Sequence[TokenPair]) -> list[list[float]]:
        """Return the loss of each token of each target. See `LanguageModel.token_losses`."""
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
        """Return an object that generates one token at a time. See `LanguageModel.steps`."""
        rows = padded(sources, self._pad, "right", self.device, width)
        return Seq2SeqSteps(self.model, rows)

    def text_start(self, batch: Sequence[Tokens], shown: Tokens = ()) -> int:
        """Return 1, because the decoder's start token precedes the text. See `LanguageModel.text_start`."""
        return 1

    def generated(
        self, batch: Sequence[Tokens], chain: list[Any], *, shown: Tokens = (), **settings: Any
    ) -> list[list[int]]:
        """Generate tokens. See `LanguageModel.generated`.

        Args:
            batch: The tokens of each source.
            chain: Logits processors, in the order in which they are applied.
            shown: Tokens that are put before each source, such as few-shot examples.
            **settings: Generation settings, as in `graphneg.nn.generation.generate`.

        Returns:
            The tokens that were generated for each source.
        """
        rows = padded([[*shown, *source] for source in batch], self._pad, "right", self.device)
        sequences = generate(self.model, rows, chain, **settings)
        return [sequence[self.text_start(batch) :] for sequence in sequences]


def collated(model: LanguageModel, items: Sequence[TokenPair]) -> Mapping[str, Any]:
    """Convert pairs of a source and a target into a training batch.

    Args:
        model: The model to train.
        items: Pairs of a source and a target.

    Returns:
        ``input_ids``, ``attention_mask`` and ``labels``, each of shape (items, tokens). For a causal model,
        each row is a source followed by its target, and the loss ignores the source. For a
        sequence-to-sequence model, the rows are the sources, and the labels are the targets.
    """
    # Create the tensors on the CPU. The trainer later moves each batch to the model's device.
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
    """Convert targets into a tensor of labels of shape (items, tokens). The loss ignores padding."""
    rows = padded(targets, pad, "right", device)
    return rows["input_ids"].masked_fill(rows["attention_mask"] == 0, _NOT_LEARNED)
