"""How texts are searched for: beams, sampling with noise of each item's own, words that are drawn in."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from graphneg.errors import InputError

# How texts are searched for: beams, or drawing with each item's own noise.


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

    Raises `InputError` for values out of range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise InputError(f"sampling temperature {self.temperature}: must be above 0")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"sampling top_k {self.top_k}, top_p {self.top_p}: must be >= 0 and in (0, 1]")


Search = Beams | Sampling
_LIKELIEST = 512


def processors(search: Search, seeds: Sequence[int]) -> list[Any]:
    """The logits processors that make greedy or beam search what ``search`` says.

    Drawing is greedy search under Gumbel noise, which each item draws from its own seed, so that
    an item's text does not depend on what else is in its batch.
    """
    if isinstance(search, Beams):
        return []
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper

    pass

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
        size = min(_LIKELIEST, scores.shape[-1])
        values = scores.topk(size, -1).values
        shares = (values - total).exp()
        if bool((shares.sum(-1) < self._top_p).any()):
            values = scores.sort(-1, descending=True).values
            shares = (values - total).exp()
        before = shares.cumsum(-1) - shares
        inside = (before < self._top_p).sum(-1, keepdim=True).clamp(min=1)
        return scores.masked_fill(scores < values.gather(-1, inside - 1), -torch.inf)


# One call of transformers' ``generate``, its settings laid over the model's own for that call.


def generate(
    model: Any, rows: Mapping[str, Any], chain: list[Any], stops: Sequence[Any] = (), **settings: Any
) -> list[list[int]]:
    """The sequences that ``generate`` gives, as lists of token numbers.

    ``rows`` has ``input_ids`` and ``attention_mask`` of shape (items, tokens); ``chain`` holds
    logits processors, ``stops`` stopping criteria. Whatever the model's own configuration says of
    drawing is left out.
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


# Words that a text is to say, drawn in: their next tokens are made more likely while they are missing.
#
# Pascual et al. (2021, "A Plug-and-Play Method for Controlled Text Generation"). Who decodes decides when
# a word is missing; here are the logits.


DOUBLED = 12
"""After so many tokens words are pulled twice as strongly."""


def pull_in(
    logits: Any,
    texts: Sequence[Sequence[int]],
    missing: Sequence[Sequence[Sequence[int]]],
    strength: float,
    ends: Sequence[int],
) -> Any:
    """``logits`` (rows, vocabulary) with the next tokens of missing words raised, and the end lowered.

    ``texts`` are each row's tokens up to here, ``missing`` the words that each row still lacks, in
    tokens. The pull begins with ``strength`` and is twice that after `DOUBLED` tokens, thrice after as
    many again: first a sentence finds its own way to the word, at last it must.
    """
    pulled = logits.clone()
    for row, (text, words) in enumerate(zip(texts, missing, strict=True)):
        tokens = next_tokens(text, words)
        stronger = strength * (1 + len(text) / DOUBLED)
        for token in set(tokens):
            pulled[row, token] += stronger
        if tokens:
            pulled[row, list(ends)] -= stronger
    return pulled


def next_tokens(text: Sequence[int], words: Sequence[Sequence[int]]) -> list[int]:
    """The token that each missing word needs next: its first, or the one that goes on.

    >>> next_tokens([5, 7], [[7, 8], [5], [9]])
    [8, 9]
    """
    found: list[int] = []
    for word in words:
        if not word or _holds(text, word):
            continue
        begun = next((n for n in range(len(word) - 1, 0, -1) if list(text[-n:]) == list(word[:n])), 0)
        found.append(word[begun])
    return found


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
    found = {form for forms in by_tag.values() for form in forms} - {last}
    return tuple(f"{first} {form}".strip() for form in (last, *sorted(found)))


def _holds(text: Sequence[int], word: Sequence[int]) -> bool:
    size = len(word)
    return any(list(text[at : at + size]) == list(word) for at in range(len(text) - size + 1))


# A model one token at a time: what it expects next, given what it was told so far.
#
# For decoding that transformers' ``generate`` has no word for: two prompts under the same noise.


class Steps(Protocol):
    """``logits`` are those of the next token, of shape (items, vocabulary), in 64 bits."""

    logits: Any

    def take(self, tokens: Any) -> None:
        """Each item's next token is the given one (int64 tensor of shape (items,)); go on behind it."""
        ...


class CausalSteps:
    """Steps of a causal model behind prompts that are padded on their left.

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
        self._run(rows["input_ids"], self._positions)

    def take(self, tokens: Any) -> None:
        """See `Steps.take`."""
        import torch

        self._mask = torch.cat([self._mask, torch.ones_like(self._mask[:, :1])], dim=1)
        self._positions = (self._positions[:, -1:] + 1).clamp(max=self._last)
        self._run(tokens[:, None], self._positions)

    def _run(self, tokens: Any, positions: Any) -> None:
        import torch

        with torch.inference_mode():
            found = self._model(
                input_ids=tokens,
                attention_mask=self._mask,
                position_ids=positions,
                past_key_values=self._past,
                use_cache=True,
            )
        self._past = found.past_key_values
        self.logits = found.logits[:, -1].double()


class Seq2SeqSteps:
    """Steps of a decoder; its encoder reads the sources once."""

    def __init__(self, model: Any, rows: Mapping[str, Any]) -> None:
        import torch

        self._model = model
        self._mask = rows["attention_mask"]
        self._past: Any = None
        self.logits: Any = None
        with torch.inference_mode():
            self._read = model.get_encoder()(input_ids=rows["input_ids"], attention_mask=self._mask)
        start = model.generation_config.decoder_start_token_id
        if start is None:
            start = model.config.decoder_start_token_id
        self.take(torch.full_like(rows["input_ids"][:, 0], start))

    def take(self, tokens: Any) -> None:
        """See `Steps.take`."""
        import torch

        with torch.inference_mode():
            found = self._model(
                encoder_outputs=self._read,
                attention_mask=self._mask,
                decoder_input_ids=tokens[:, None],
                past_key_values=self._past,
                use_cache=True,
            )
        self._past = found.past_key_values
        self.logits = found.logits[:, -1].double()


# Gumbel noise of a categorical choice: before anything is known, and after what was chosen.
#
# A choice among tokens with logits ``l`` is ``argmax(l + u)``, where each ``u`` is standard Gumbel
# noise (the Gumbel-Max trick). Once the choice is observed, the noise has another distribution;
# a choice under other logits ``l'`` with that noise, ``argmax(l' + u)``, is the counterfactual one.
# It is the observed one again where ``l'`` is ``l``. From Oberst and Sontag (2019), section 3.2,
# and CAPT (Ou et al., 2022), equations 1 to 3; the posterior is drawn top-down as in Maddison et al.
# (2014). All tensors are in 64 bits, where ties are out of the question.


class GumbelSource:
    """Standard Gumbel noise, each item's from a generator of its own: the batch does not matter."""

    def __init__(self, seeds: Sequence[int]) -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def draw(self, size: int) -> Any:
        """A tensor of shape (items, ``size``); each call draws anew."""
        import torch

        waits = [
            torch.empty(size, dtype=torch.float64).exponential_(generator=generator)
            for generator in self._generators
        ]
        return -torch.stack(waits).log()


def posterior(logits: Any, observed: Any, noise: Any) -> Any:
    """Noise under which ``observed`` is chosen, distributed as the noise is given that it was.

    ``logits`` and ``noise`` (standard Gumbel) have the shape (items, tokens), ``observed`` (int64) the shape
    (items,); so has the result that of ``logits``. The largest of ``logits + noise`` is Gumbel
    distributed around the logsumexp of the logits, whichever token it belongs to; it is given to
    the observed one. The others are Gumbel variables around their logits, cut off below it. A
    token of logit minus infinity was no choice, and keeps its noise.
    """
    import torch

    place = observed[:, None]
    highest = torch.logsumexp(logits, dim=-1, keepdim=True) + noise.gather(-1, place)
    below = -torch.logaddexp(-highest, -(logits + noise))
    values = below.scatter(-1, place, highest)
    return torch.where(logits == -torch.inf, noise, values - logits)


# Sampling that gives each item the same text whatever the batch it is in.
#
# A generator's state shared by a batch would make a text depend on its neighbours. Here each
# item has a generator of its own, seeded by hash, and the Gumbel-max trick turns drawing into
# an argmax: the largest of ``logit + Gumbel noise`` is distributed as a draw from the softmax.


@dataclass(frozen=True, slots=True)
class SamplingSampling:
    """How texts are drawn. ``top_k`` 0 and ``top_p`` 1 leave all tokens in.

    ``draws`` is how often an item is drawn before it is given up, where a draw is empty,
    cut off or the original text. Raises `InputError` for values out of range.
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


def item_seed(seed: int, id: str, draw: int) -> int:
    """The seed of one draw for one item: 32 bits of a hash, so that all backends take it.

    >>> item_seed(0, "own/test/1#2", 0) == item_seed(0, "own/test/1#2", 1)
    False
    """
    digest = hashlib.sha256(f"{seed}\0{id}\0{draw}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


class GumbelNoise:
    """A logits processor that adds each row's own Gumbel noise; greedy search then samples.

    The noise is minus the logarithm of a standard exponential variable.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores``: float tensor of shape (items, vocabulary); the result has the same."""
        import torch

        size = scores.shape[-1]
        waits = torch.stack([torch.empty(size).exponential_(generator=each) for each in self._generators])
        return scores - waits.log().to(scores.device)
