"""Generate text with a transformers model, by beam search or sampling, with constraints on the text.

A sampled text depends on its own seed, but not on the other texts in its batch. For this purpose, sampling is
implemented as a greedy search over logits to which Gumbel noise is added, and each row of a batch has its own
random number generator for the noise. The results have exactly the same distribution as in ordinary sampling:
the token with the largest ``logit + noise`` is distributed like a token that is sampled from the softmax
(Gumbel-max trick).

`KeywordBias` makes keywords more likely until a text contains them (Pascual et al. 2021, "A Plug-and-Play
Method for Controlled Text Generation", Findings of EMNLP). `posterior` samples the noise for counterfactual
texts (CAPT, Ou et al. 2022).

Example:
    Sample two texts, each with its own seed::

        chain = processors(Sampling(temperature=0.8, top_p=0.9), [1, 2])
        sequences = generate(model, rows, chain, max_new_tokens=32)
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from inspect import signature
from math import inf, log
from typing import Any

from graphneg.errors import InputError

DOUBLED = 12
"""Number of generated tokens after which the keyword bias is twice as large as at the beginning. The bias
grows linearly, so that it is three times as large after twice as many tokens."""

Tokens = Sequence[int]
Says = Callable[[str, str], bool]
"""Type of a function that returns whether a text (first argument) contains a keyword (second argument) or one
of its inflected forms."""


@dataclass(frozen=True, slots=True)
class Beams:
    """Settings for beam search. A beam search with a width of 1 is a greedy search.

    Attributes:
        width: Number of beams, at least 1.

    Raises:
        InputError: The width is below 1.
    """

    width: int = 1

    def __post_init__(self) -> None:
        """Check that the width is at least 1."""
        if self.width < 1:
            raise InputError(f"the beam width must be at least 1, not {self.width}")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings for random sampling.

    Attributes:
        temperature: Number by which the logits are divided, above 0.
        top_k: Number of most likely tokens from which to sample; 0 for all tokens.
        top_p: Total probability of the most likely tokens from which to sample (nucleus sampling), above 0;
            1 for all tokens.
        max_samples: Maximum number of samples for one text. Callers that reject unsuitable texts, such as
            decoders, sample up to this number of times.

    Raises:
        InputError: A value is out of range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    max_samples: int = 4

    def __post_init__(self) -> None:
        """Check that all values are in range."""
        if self.temperature <= 0:
            raise InputError(f"sampling temperature must be above 0, not {self.temperature}")
        if self.top_k < 0:
            raise InputError(f"sampling top_k must be at least 0, not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise InputError(f"sampling top_p must be above 0 and at most 1, not {self.top_p}")
        if self.max_samples < 1:
            raise InputError(f"sampling max_samples must be at least 1, not {self.max_samples}")


Search = Beams | Sampling


def item_seed(seed: int, id: str, draw: int) -> int:
    """Return the seed for one of the samples of an item.

    Args:
        seed: The seed of the run.
        id: The id of the item, such as a prompt.
        draw: The index of the sample among the samples of the item, from 0.

    Returns:
        The first 32 bits of a hash of the arguments. All backends accept seeds of this size.

    >>> item_seed(0, "own/test/1#2", 0) == item_seed(0, "own/test/1#2", 1)
    False
    """
    digest = hashlib.sha256(f"{seed}\0{id}\0{draw}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def processors(search: Search, seeds: Sequence[int]) -> list[Any]:
    """Return the logits processors that make a greedy search equivalent to sampling.

    Args:
        search: The search settings.
        seeds: A seed for each row.

    Returns:
        The logits processors, in the order in which they are applied. For a beam search, the list is empty.
    """
    if isinstance(search, Beams):
        return []
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper

    # Apply the processors in the same order as in transformers: temperature, top-k, top-p.
    chain: list[Any] = [TemperatureLogitsWarper(float(search.temperature))]
    if search.top_k:
        chain.append(TopKLogitsWarper(search.top_k))
    if search.top_p < 1:
        chain.append(Nucleus(float(search.top_p)))
    return [*chain, GumbelNoise(seeds)]


class Nucleus:
    """A logits processor for nucleus sampling (Holtzman et al. 2020).

    `Nucleus` keeps the smallest set of most likely tokens whose total probability reaches ``top_p``. The
    corresponding processor of transformers sorts the whole vocabulary. With 50,000 tokens, sorting takes as
    long as the forward pass of a small model. `Nucleus` is faster, because it first looks only at the 512
    most likely tokens. It sorts the whole vocabulary only if the total probability of these 512 tokens is
    below ``top_p``.

    Args:
        top_p: The total probability of the tokens to keep, above 0 and below 1.
    """

    def __init__(self, top_p: float) -> None:
        self._top_p = top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Set the logits of the tokens that are not kept to minus infinity.

        Args:
            input_ids: Ignored.
            scores: Logits of shape (rows, vocabulary).

        Returns:
            The changed logits, of the same shape.
        """
        import torch

        # The softmax needs the logits of the whole vocabulary, although only the 512 most likely tokens are
        # looked at. Otherwise, the probabilities of these tokens (`shares`) would be too high.
        total = scores.logsumexp(-1, keepdim=True)
        size = min(512, scores.shape[-1])
        values = scores.topk(size, -1).values
        shares = (values - total).exp()
        if bool((shares.sum(-1) < self._top_p).any()):
            # The total probability of the 512 most likely tokens is below `top_p`, so all tokens are sorted.
            values = scores.sort(-1, descending=True).values
            shares = (values - total).exp()
        # A token is kept if the total probability of the more likely tokens is below `top_p`. This is always
        # true for the most likely token.
        before = shares.cumsum(-1) - shares
        inside = (before < self._top_p).sum(-1, keepdim=True).clamp(min=1)
        return scores.masked_fill(scores < values.gather(-1, inside - 1), -torch.inf)


class GumbelNoise:
    """Draws standard Gumbel noise for several rows, with a separate random number generator for each row.

    The noise of a row therefore does not depend on the other rows in its batch. An instance can be used as a
    logits processor, which adds the noise to the logits. This turns a greedy search into sampling.

    Args:
        seeds: A seed for each row.
        dtype: The name of the torch type of the random numbers, such as ``float64``. With float64, two
            numbers are practically never equal.
    """

    def __init__(self, seeds: Sequence[int], dtype: str = "float32") -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._dtype: Any = getattr(torch, dtype)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Add noise to logits.

        Args:
            input_ids: Ignored.
            scores: Logits of shape (rows, vocabulary).

        Returns:
            Logits of the same shape.
        """
        # The noise is drawn on the CPU, because the same seed gives different numbers on other devices.
        return scores + self.draw(scores.shape[-1]).to(scores.device)

    def draw(self, size: int) -> Any:
        """Draw noise for each row.

        Args:
            size: Number of values for each row.

        Returns:
            A tensor of shape (rows, ``size``).
        """
        import torch

        exponential = [
            torch.empty(size, dtype=self._dtype).exponential_(generator=item) for item in self._generators
        ]
        # Convert exponential numbers into Gumbel noise: if E has a standard exponential distribution, -log(E)
        # has a standard Gumbel distribution.
        return -torch.stack(exponential).log()


def posterior(logits: Any, observed: Any, noise: Any) -> Any:
    """Sample Gumbel noise with which a model would choose the given tokens.

    Suppose that each token was chosen because it had the largest ``logit + noise``. The chosen token is
    known, but the noise is not. This function samples noise from its posterior distribution, that is, noise
    with which the same token is chosen. If this noise is then added to other logits, the token with the
    largest sum is the counterfactual choice: the token that would have been chosen with these logits (Oberst
    and Sontag 2019, section 3.2; CAPT, Ou et al. 2022, equations 1 to 3).

    The noise is sampled top-down, as in Maddison et al. (2014). First, the maximum of ``logits + noise`` is
    sampled and assigned to the observed token. The maximum has a Gumbel distribution around the logsumexp of
    the logits, whichever token it belongs to. Then the sums of logit and noise of the other tokens are
    sampled from Gumbel distributions around their logits, truncated at the maximum. If the logit of a token
    is minus infinity, the token could not be chosen, so its noise is not changed.

    Args:
        logits: Float64 tensor of shape (items, tokens).
        observed: The tokens that were chosen, int64 tensor of shape (items,).
        noise: Standard Gumbel noise from which the result is computed, float64 tensor of shape (items,
            tokens).

    Returns:
        Noise from the posterior distribution, float64 tensor of shape (items, tokens).
    """
    import torch

    chosen = observed[:, None]
    # The observed token must have the maximum of logits + noise. The distribution of the maximum does not
    # depend on the observed token: it is standard Gumbel noise plus the logsumexp of the logits.
    highest = torch.logsumexp(logits, dim=-1, keepdim=True) + noise.gather(-1, chosen)
    # For all tokens that were not chosen, logit + noise must be below the maximum. The formula
    # -log(exp(-maximum) + exp(-value)) converts a value from a Gumbel distribution into a value from the same
    # distribution truncated at the maximum.
    below = -torch.logaddexp(-highest, -(logits + noise))
    values = below.scatter(-1, chosen, highest)
    return torch.where(logits == -torch.inf, noise, values - logits)


def generate(
    model: Any, rows: Mapping[str, Any], chain: Sequence[Any], stops: Sequence[Any] = (), **settings: Any
) -> list[list[int]]:
    """Run transformers' ``generate`` with reproducible settings.

    The sampling settings in the model's configuration are ignored. ``early_stopping`` is off by default: a
    beam search does not stop as soon as enough beams are finished, because the first finished beams are often
    short, incomplete texts.

    Args:
        model: A transformers model.
        rows: ``input_ids`` and ``attention_mask`` of shape (items, tokens).
        chain: Logits processors, in the order in which they are applied.
        stops: Stopping criteria.
        **settings: Generation settings, such as ``max_new_tokens``, which override the settings of the model.

    Returns:
        The token ids of each sequence, as ``generate`` returns them.
    """
    import torch
    from transformers import LogitsProcessorList, StoppingCriteriaList

    # Change the settings in a copy of the model's configuration. Reset the sampling settings, because the
    # logits processors with Gumbel noise already do the sampling.
    config = copy.deepcopy(model.generation_config)
    plain = {"temperature": 1.0, "top_k": 50, "top_p": 1.0, "max_length": None, "num_return_sequences": 1}
    config.update(**{**plain, "do_sample": False, "early_stopping": False, **settings})
    with torch.inference_mode():
        sequences = model.generate(
            **rows,
            generation_config=config,
            logits_processor=LogitsProcessorList(chain),
            stopping_criteria=StoppingCriteriaList(stops),
        )
    return sequences.tolist()


class CausalSteps:
    """Runs a causal model one token at a time, for decoding methods that ``generate`` does not offer.

    Prompts must be padded on the left. All items of a batch get a new token in each step. If the text of an
    item is finished, the caller may pass any token for this item and must ignore its logits. Token positions
    do not increase beyond the maximum that the model can read.

    Args:
        model: A causal transformers model.
        rows: ``input_ids`` and ``attention_mask`` of shape (items, tokens).
        longest: Maximum number of tokens that the model reads; None for no limit.

    Attributes:
        logits: The logits of the next token, float64 tensor of shape (items, vocabulary).
    """

    def __init__(self, model: Any, rows: Mapping[str, Any], longest: int | None) -> None:
        """Run the model on the prompts."""
        self._model = model
        self._last = None if longest is None else longest - 1
        self._mask = rows["attention_mask"]
        # Rows are padded on the left, so positions are counted from the first real token.
        self._positions = (self._mask.cumsum(-1) - 1).clamp(min=0)
        self._past: Any = None
        self.logits: Any = None
        self._run(rows["input_ids"])

    def take(self, tokens: Any) -> None:
        """Append a token to each text of the batch, and compute the logits of the next token.

        Args:
            tokens: The tokens to append, an int64 tensor of shape (texts,).
        """
        import torch

        # Finished texts get a token, too, because all rows must have the same length.
        self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], dim=1)
        self._positions = (self._positions[:, -1:] + 1).clamp(max=self._last)
        self._run(tokens[:, None])

    def _run(self, tokens: Any) -> None:
        read = {"input_ids": tokens, "attention_mask": self._mask, "position_ids": self._positions}
        self._past, self.logits = _step(self._model, self._past, read)


class Seq2SeqSteps:
    """Runs a sequence-to-sequence model one token at a time, like `CausalSteps` for causal models.

    The encoder runs only once, when the instance is created.

    Args:
        model: A sequence-to-sequence transformers model.
        rows: ``input_ids`` and ``attention_mask`` of the sources, of shape (items, tokens).

    Attributes:
        logits: The logits of the next token, float64 tensor of shape (items, vocabulary).
    """

    def __init__(self, model: Any, rows: Mapping[str, Any]) -> None:
        """Encode the sources, and compute the logits of the first token."""
        import torch

        self._model = model
        self._mask = rows["attention_mask"]
        self._past: Any = None
        self.logits: Any = None
        with torch.inference_mode():
            self._states = model.get_encoder()(input_ids=rows["input_ids"], attention_mask=self._mask)
        start = model.generation_config.decoder_start_token_id
        # In older models, the start token is missing in the generation configuration, so read it from the
        # main configuration.
        if start is None:
            start = model.config.decoder_start_token_id
        self.take(torch.full_like(rows["input_ids"][:, 0], start))

    def take(self, tokens: Any) -> None:
        """Append a token to each text of the batch, and compute the logits of the next token.

        Args:
            tokens: The tokens to append, an int64 tensor of shape (texts,).
        """
        read = {"attention_mask": self._mask, "decoder_input_ids": tokens[:, None]}
        self._past, self.logits = _step(self._model, self._past, {"encoder_outputs": self._states, **read})


def _step(model: Any, past: Any, read: Mapping[str, Any]) -> tuple[Any, Any]:
    """Run a model on new tokens, and return its key-value cache and the logits of the next token."""
    import torch

    with torch.inference_mode():
        output = model(**read, **as_cache(model, past), use_cache=True)
    # The logits at the last position predict the next token. `posterior` needs them in float64.
    return output.past_key_values, output.logits[:, -1].double()


@dataclass(slots=True)
class KeywordBias:
    """A logits processor that makes keywords more likely until the text contains them.

    A keyword is missing if the text contains none of its inflected forms. For each form of a missing keyword,
    a bias is added to the logit of the token that begins or continues this form. The bias grows with the
    length of the text. While a keyword is missing, the same bias is subtracted from the logits of the tokens
    that end the text.

    Attributes:
        model: The language model, whose tokenizer is used.
        keywords: For each text of the batch, the keywords that it should contain.
        contains_keyword: A function that returns whether a text contains a keyword or one of its inflected
        forms.
        strength: The bias at the beginning of a text; it grows with the length of the text. 0 means no bias.
        ends: The tokens that end a text.
        start: Index of the first generated token in each row. The tokens before it are not checked.
    """

    model: Any
    keywords: Sequence[Sequence[str]]
    contains_keyword: Says
    _: KW_ONLY
    strength: float
    ends: Sequence[int]
    start: int = 0
    _tokens: dict[str, list[Tokens]] = field(default_factory=dict[str, list[Tokens]], init=False)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return logits to which the bias for missing keywords is added.

        Args:
            input_ids: Token ids of shape (rows, tokens), including the tokens before the generated text.
            scores: Logits of shape (rows, vocabulary).

        Returns:
            The biased logits, of the same shape.
        """
        return self.biased([row[self.start :].tolist() for row in input_ids], scores)

    def biased(self, texts: Sequence[Tokens], logits: Any) -> Any:
        """Return logits to which the bias for keywords that are missing in the given texts is added.

        Args:
            texts: The tokens that were generated so far, for each row.
            logits: Logits of shape (rows, vocabulary).

        Returns:
            The biased logits, of the same shape.
        """
        if not self.strength:
            return logits
        biased = logits.clone()
        for row, (text, keywords) in enumerate(zip(texts, self.keywords, strict=True)):
            strength = self.strength * (1 + len(text) / DOUBLED)
            # Search for keywords in the decoded text and not among the tokens, because an inflected form of a
            # keyword has different tokens.
            said = self.model.decode(text)
            missing = [
                form
                for item in keywords
                if not self.contains_keyword(said, item)
                for form in self._forms(item)
            ]
            tokens = next_tokens(text, missing)
            for token in set(tokens):
                biased[row, token] += strength
            # Subtract the bias from the logits of the end tokens, because a text should not end while a
            # keyword is missing.
            if tokens:
                biased[row, list(self.ends)] -= strength
        return biased

    def _forms(self, keyword: str) -> list[Tokens]:
        """Return the tokens of each inflected form of a keyword inside a sentence."""
        if keyword not in self._tokens:
            tokenizer = self.model.tokenizer
            self._tokens[keyword] = [
                # In many tokenizers, " tea" inside a sentence and "tea" at its start are different tokens, so
                # put a space before the inflected form.
                list(tokenizer(f" {form}", add_special_tokens=False)["input_ids"])
                for form in forms_of(keyword)
            ]
        return self._tokens[keyword]


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """A logits processor that multiplies the probabilities of given tokens by weights.

    Attributes:
        sequences: For each row, token sequences with their weights. If the text so far ends with all tokens
            of a sequence except its last token, the probability of this last token is multiplied by the
            weight. A weight of 0 forbids the last token.
        start: Index of the first generated token in each row. The tokens before it are not checked.
    """

    sequences: Sequence[Sequence[tuple[Tokens, float]]]
    start: int = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Multiply the probabilities of tokens by their weights, by adding log weights to their logits.

        Args:
            input_ids: Token ids of shape (rows, tokens), including the tokens before the generated text.
            scores: Logits of shape (rows, vocabulary).

        Returns:
            The changed logits, of the same shape.
        """
        weighted = scores.clone()
        for row, weights in enumerate(self.sequences):
            # Converting a tensor into a list is slow, so convert only texts for which words have weights.
            text = input_ids[row, self.start :].tolist() if weights else []
            added = [
                # Adding the logarithm of a weight to a logit multiplies the probability by the weight.
                (last, log(weight) if weight else -inf)
                for (*before, last), weight in weights
                if text[len(text) - len(before) :] == before
            ]
            if added:
                tokens, terms = zip(*added, strict=True)
                # If several weighted sequences of tokens end with the same token, index_add_ adds all their
                # terms to the logit of this token.
                weighted[row].index_add_(0, input_ids.new_tensor(tokens), scores.new_tensor(terms))
        return weighted


@dataclass(slots=True)
class TextEnd:
    """A stopping criterion that ends a row as soon as its text meets a condition.

    Attributes:
        is_over: For each row, a function that returns whether a text meets the condition; None if the row has
            no condition.
        start: Index of the first generated token in each row. The tokens before it are not checked.
        decode: A function that converts tokens into text.
        lengths: For each row that this criterion has ended, the number of tokens in its text; None for other
            rows.
    """

    is_over: Sequence[Callable[[str], bool] | None]
    start: int
    decode: Callable[[Tokens], str]
    lengths: list[int | None] = field(init=False)

    def __post_init__(self) -> None:
        """Set the lengths of all texts to None, because no text has ended yet."""
        self.lengths = [None] * len(self.is_over)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Return which rows have ended, and store the lengths of their texts.

        Args:
            input_ids: Token ids of shape (rows, tokens).
            scores: Ignored.
            **_: Ignored.

        Returns:
            A bool tensor of shape (rows,).
        """
        import torch

        for row, tokens in enumerate(input_ids):
            written = tokens[self.start :].tolist()
            is_over = self.is_over[row]
            # If the end of a text has been found, do not decode its row again: the row only receives padding
            # until all other texts have ended, too.
            if self.lengths[row] is None and is_over is not None and is_over(self.decode(written)):
                self.lengths[row] = len(written)
        return torch.tensor([length is not None for length in self.lengths], device=input_ids.device)


def next_tokens(text: Tokens, words: Sequence[Tokens]) -> list[int]:
    """Return, for each word that a text does not contain, the token to generate next.

    Args:
        text: The tokens of the text so far.
        words: The tokens of each word.

    Returns:
        One token for each word that is missing. If the text ends with the first tokens of the word, the next
        token of the word; otherwise, the first token of the word.

    >>> next_tokens([5, 7], [[7, 8], [5], [9]])
    [8, 9]
    """
    needed: list[int] = []
    text = list(text)
    for word in map(list, words):
        size = len(word)
        if not word or any(text[at : at + size] == word for at in range(len(text) - size + 1)):
            continue
        # Count how many of the word's first tokens are already at the end of the text. The text [5, 7] ends
        # with the first token of the word [7, 8], so 8 is needed next.
        begun = next((n for n in range(size - 1, 0, -1) if text[-n:] == word[:n]), 0)
        needed.append(word[begun])
    return needed


@lru_cache(maxsize=4096)
def forms_of(keyword: str) -> tuple[str, ...]:
    """Return the inflected forms of a keyword. In a phrase, only the last word is inflected.

    Args:
        keyword: A word, a phrase or a name.

    Returns:
        The keyword itself, followed by its other forms. A name, which is capitalized, has no other forms.

    >>> forms_of("blue ticket"), forms_of("Jim")
    (('blue ticket', 'blue ticketed', 'blue ticketing', 'blue tickets'), ('Jim',))
    """
    from lemminflect import getAllInflections

    first, _, last = keyword.rpartition(" ")
    # A word with a capital letter, such as "Jim", is a name and is not inflected.
    if not last.islower():
        return (keyword,)
    by_tag: Mapping[str, Sequence[str]] = getAllInflections(last)
    others = {form for forms in by_tag.values() for form in forms} - {last}
    return tuple(f"{first} {form}".strip() for form in (last, *sorted(others)))


def as_cache(model: Any, past: Any) -> dict[str, Any]:
    """Return the key-value cache as a keyword argument, under the name that a model expects.

    Args:
        model: A transformers model.
        past: The key-value cache; None for an empty cache.

    Returns:
        A dictionary with one entry, whose key is ``past_key_values``, or ``cache`` since transformers 5.23.
    """
    return {"cache" if _has_cache(type(model)) else "past_key_values": past}


@lru_cache
def _has_cache(kind: type[Any]) -> bool:
    """Return whether the ``forward`` method of a model class has a parameter ``cache``."""
    return "cache" in signature(kind.forward).parameters
