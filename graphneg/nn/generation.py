"""Text generation: in go a model, rows of tokens and a search (beams or sampling), out come tokens.

A text depends on its own seed, not on what else is in its batch: sampling is greedy search under Gumbel
noise, which each row draws from a generator of its own. The largest of ``logit + Gumbel noise`` is
distributed as a draw from the softmax (the Gumbel-max trick). `KeywordBias` draws keywords into a text
(Pascual et al. 2021, "A Plug-and-Play Method for Controlled Text Generation", Findings of EMNLP).
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
"""After so many tokens the bias is twice as strong, after as many again thrice."""

Tokens = Sequence[int]
Says = Callable[[str, str], bool]
"""Whether a text (first) says a keyword (second)."""


@dataclass(frozen=True, slots=True)
class Beams:
    """Beam search; one beam is greedy search. Raises `InputError` for a width below 1."""

    width: int = 1

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"beams: width {self.width} must be at least 1")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Texts are drawn. ``top_k`` 0 and ``top_p`` 1 leave all tokens in.

    ``draws`` is how often a caller that can refuse a text (a decoder) draws it before it gives up.
    Raises `InputError` for values out of range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    draws: int = 4

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise InputError(f"sampling temperature {self.temperature}: must be above 0")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"sampling top_k {self.top_k}, top_p {self.top_p}: must be >= 0 and in (0, 1]")
        if self.draws < 1:
            raise InputError(f"sampling draws {self.draws}: must be at least 1")


Search = Beams | Sampling


def item_seed(seed: int, id: str, draw: int) -> int:
    """The seed of one draw for one item: 32 bits of a hash, so that all backends take it.

    >>> item_seed(0, "own/test/1#2", 0) == item_seed(0, "own/test/1#2", 1)
    False
    """
    digest = hashlib.sha256(f"{seed}\0{id}\0{draw}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def processors(search: Search, seeds: Sequence[int]) -> list[Any]:
    """The logits processors that make greedy or beam search what ``search`` says; a seed for each row."""
    if isinstance(search, Beams):
        return []
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper

    chain: list[Any] = [TemperatureLogitsWarper(float(search.temperature))]
    if search.top_k:
        chain.append(TopKLogitsWarper(search.top_k))
    if search.top_p < 1:
        chain.append(Nucleus(float(search.top_p)))
    return [*chain, GumbelNoise(seeds)]


class Nucleus:
    """A logits processor: the likeliest tokens that together have ``top_p`` stay (Holtzman et al., 2020).

    What transformers' own does by sorting the whole vocabulary, from its likeliest few hundred tokens
    where these suffice: a vocabulary of 50,000 took as long to sort as a small model to run.
    """

    def __init__(self, top_p: float) -> None:
        self._top_p = top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary), minus infinity for the tokens that go."""
        import torch

        total = scores.logsumexp(-1, keepdim=True)
        size = min(512, scores.shape[-1])
        values = scores.topk(size, -1).values
        shares = (values - total).exp()
        if bool((shares.sum(-1) < self._top_p).any()):
            values = scores.sort(-1, descending=True).values
            shares = (values - total).exp()
        before = shares.cumsum(-1) - shares
        inside = (before < self._top_p).sum(-1, keepdim=True).clamp(min=1)
        return scores.masked_fill(scores < values.gather(-1, inside - 1), -torch.inf)


class GumbelNoise:
    """Standard Gumbel noise, each row's from a generator of its own: the batch does not matter.

    As a logits processor it adds noise to the scores, so that greedy search samples. ``dtype`` names the
    type that is drawn in; float64 leaves no ties.
    """

    def __init__(self, seeds: Sequence[int], dtype: str = "float32") -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._dtype: Any = getattr(torch, dtype)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores``: float tensor of shape (rows, vocabulary); the result has the same."""
        return scores + self.draw(scores.shape[-1]).to(scores.device)

    def draw(self, size: int) -> Any:
        """A tensor of shape (rows, ``size``): minus the logarithm of a standard exponential variable."""
        import torch

        exponential = [
            torch.empty(size, dtype=self._dtype).exponential_(generator=item) for item in self._generators
        ]
        return -torch.stack(exponential).log()


def posterior(logits: Any, observed: Any, noise: Any) -> Any:
    """Noise under which ``observed`` is chosen, distributed as the noise is given that it was.

    ``logits`` and ``noise`` (standard Gumbel, 64 bits) have the shape (items, tokens), ``observed`` (int64)
    the shape (items,); so has the result that of ``logits``. A choice under other logits with that noise is
    the counterfactual one (Oberst and Sontag 2019, section 3.2; CAPT, Ou et al. 2022, equations 1 to 3).

    Drawn top-down, as in Maddison et al. (2014): the largest of ``logits + noise`` is Gumbel distributed
    around the logsumexp of the logits, whichever token it belongs to; it is given to the observed one. The
    others are Gumbel variables around their logits, cut off below it. A token of logit minus infinity was
    no choice, and keeps its noise.
    """
    import torch

    chosen = observed[:, None]
    highest = torch.logsumexp(logits, dim=-1, keepdim=True) + noise.gather(-1, chosen)
    below = -torch.logaddexp(-highest, -(logits + noise))
    values = below.scatter(-1, chosen, highest)
    return torch.where(logits == -torch.inf, noise, values - logits)


def generate(
    model: Any, rows: Mapping[str, Any], chain: Sequence[Any], stops: Sequence[Any] = (), **settings: Any
) -> list[list[int]]:
    """The sequences that transformers' ``generate`` gives, as lists of token numbers.

    ``rows`` has ``input_ids`` and ``attention_mask`` of shape (items, tokens); ``chain`` holds logits
    processors, ``stops`` stopping criteria. ``settings`` are laid over the model's own for this call;
    whatever these say of drawing is left out. A beam search goes on after the first finished beams, which
    would prefer short texts that broke off.
    """
    import torch
    from transformers import LogitsProcessorList, StoppingCriteriaList

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
    """A causal model one token at a time, for decoding that ``generate`` has no word for.

    ``logits`` are those of the next token, of shape (items, vocabulary), in 64 bits. Prompts are padded on
    their left.

    ``longest`` is how many tokens the model reads. Items whose text is over go on with tokens of no
    meaning beside the others, at the last position where they have no further one.
    """

    def __init__(self, model: Any, rows: Mapping[str, Any], longest: int | None) -> None:
        self._model = model
        self._last = None if longest is None else longest - 1
        self._mask = rows["attention_mask"]
        self._positions = (self._mask.cumsum(-1) - 1).clamp(min=0)
        self._past: Any = None
        self.logits: Any = None
        self._run(rows["input_ids"])

    def take(self, tokens: Any) -> None:
        """Go on behind each item's next token (int64 tensor of shape (items,))."""
        import torch

        self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], dim=1)
        self._positions = (self._positions[:, -1:] + 1).clamp(max=self._last)
        self._run(tokens[:, None])

    def _run(self, tokens: Any) -> None:
        read = {"input_ids": tokens, "attention_mask": self._mask, "position_ids": self._positions}
        self._past, self.logits = _step(self._model, self._past, read)


class Seq2SeqSteps:
    """As `CausalSteps`, of a decoder; its encoder reads the sources once."""

    def __init__(self, model: Any, rows: Mapping[str, Any]) -> None:
        import torch

        self._model = model
        self._mask = rows["attention_mask"]
        self._past: Any = None
        self.logits: Any = None
        with torch.inference_mode():
            self._states = model.get_encoder()(input_ids=rows["input_ids"], attention_mask=self._mask)
        start = model.generation_config.decoder_start_token_id
        if start is None:
            start = model.config.decoder_start_token_id
        self.take(torch.full_like(rows["input_ids"][:, 0], start))

    def take(self, tokens: Any) -> None:
        """See `CausalSteps.take`."""
        read = {"attention_mask": self._mask, "decoder_input_ids": tokens[:, None]}
        self._past, self.logits = _step(self._model, self._past, {"encoder_outputs": self._states, **read})


def _step(model: Any, past: Any, read: Mapping[str, Any]) -> tuple[Any, Any]:
    """The model's keys and values after a step, and the logits of the token behind it."""
    import torch

    with torch.inference_mode():
        output = model(**read, **as_cache(model, past), use_cache=True)
    return output.past_key_values, output.logits[:, -1].double()


@dataclass(slots=True)
class KeywordBias:
    """Biases rows of logits toward the keywords of each row, in any of their inflected forms.

    ``keywords`` are each row's; ``strength`` is what is added to a logit at the beginning of a text (0
    changes nothing), ``ends`` are the tokens that end a text. A row's text begins behind ``start`` tokens.
    """

    model: Any
    keywords: Sequence[Sequence[str]]
    says: Says
    _: KW_ONLY
    strength: float
    ends: Sequence[int]
    start: int = 0
    _tokens: dict[str, list[Tokens]] = field(default_factory=dict[str, list[Tokens]], init=False)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary) for ``input_ids`` of shape (rows, tokens)."""
        return self.biased([row[self.start :].tolist() for row in input_ids], scores)

    def biased(self, texts: Sequence[Tokens], logits: Any) -> Any:
        """``logits`` of shape (rows, vocabulary) for each row's text so far."""
        if not self.strength:
            return logits
        biased = logits.clone()
        for row, (text, keywords) in enumerate(zip(texts, self.keywords, strict=True)):
            strength = self.strength * (1 + len(text) / DOUBLED)
            said = self.model.decode(text)
            missing = [form for item in keywords if not self.says(said, item) for form in self._forms(item)]
            tokens = next_tokens(text, missing)
            for token in set(tokens):
                biased[row, token] += strength
            if tokens:
                biased[row, list(self.ends)] -= strength
        return biased

    def _forms(self, keyword: str) -> list[Tokens]:
        """A keyword's forms as tokens inside a sentence."""
        if keyword not in self._tokens:
            tokenizer = self.model.tokenizer
            self._tokens[keyword] = [
                list(tokenizer(f" {form}", add_special_tokens=False)["input_ids"])
                for form in forms_of(keyword)
            ]
        return self._tokens[keyword]


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """A logits processor that multiplies probabilities: those of each row's ``sequences`` of tokens.

    The last token of a sequence gets its weight where the tokens before it have just been written; 0 forbids
    it. A row's text begins behind ``start`` tokens."""

    sequences: Sequence[Sequence[tuple[Tokens, float]]]
    start: int = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary) for ``input_ids`` of shape (rows, tokens)."""
        weighted = scores.clone()
        for row, weights in enumerate(self.sequences):
            text = input_ids[row, self.start :].tolist() if weights else []
            added = [
                (last, log(weight) if weight else -inf)
                for (*before, last), weight in weights
                if text[len(text) - len(before) :] == before
            ]
            if added:
                tokens, terms = zip(*added, strict=True)
                weighted[row].index_add_(0, input_ids.new_tensor(tokens), scores.new_tensor(terms))
        return weighted


@dataclass(slots=True)
class TextEnd:
    """A stopping criterion: a row's text has ended as soon as ``is_over`` says so of it (None: never).

    Texts begin behind ``start`` tokens. ``lengths`` has the number of tokens of each row that has ended so,
    None of the others.
    """

    is_over: Sequence[Callable[[str], bool] | None]
    start: int
    decode: Callable[[Tokens], str]
    lengths: list[int | None] = field(init=False)

    def __post_init__(self) -> None:
        self.lengths = [None] * len(self.is_over)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """A bool tensor of shape (rows,): True where the row's text has ended."""
        import torch

        for row, tokens in enumerate(input_ids):
            written = tokens[self.start :].tolist()
            is_over = self.is_over[row]
            if self.lengths[row] is None and is_over is not None and is_over(self.decode(written)):
                self.lengths[row] = len(written)
        return torch.tensor([length is not None for length in self.lengths], device=input_ids.device)


def next_tokens(text: Tokens, words: Sequence[Tokens]) -> list[int]:
    """The token that each missing word needs next: its first, or the one that goes on.

    >>> next_tokens([5, 7], [[7, 8], [5], [9]])
    [8, 9]
    """
    needed: list[int] = []
    text = list(text)
    for word in map(list, words):
        size = len(word)
        if not word or any(text[at : at + size] == word for at in range(len(text) - size + 1)):
            continue
        begun = next((n for n in range(size - 1, 0, -1) if text[-n:] == word[:n]), 0)
        needed.append(word[begun])
    return needed


@lru_cache(maxsize=4096)
def forms_of(keyword: str) -> tuple[str, ...]:
    """A keyword, and the same with its last word in other forms; a name has none.

    >>> forms_of("blue ticket"), forms_of("Jim")
    (('blue ticket', 'blue ticketed', 'blue ticketing', 'blue tickets'), ('Jim',))
    """
    from lemminflect import getAllInflections

    first, _, last = keyword.rpartition(" ")
    if not last.islower():
        return (keyword,)
    by_tag: Mapping[str, Sequence[str]] = getAllInflections(last)
    others = {form for forms in by_tag.values() for form in forms} - {last}
    return tuple(f"{first} {form}".strip() for form in (last, *sorted(others)))


def as_cache(model: Any, past: Any) -> dict[str, Any]:
    """Keys and values by the name that a model takes them by: transformers 5.23 has another one."""
    return {"cache" if _has_cache(type(model)) else "past_key_values": past}


@lru_cache
def _has_cache(kind: type[Any]) -> bool:
    return "cache" in signature(kind.forward).parameters
