"""The counterfactual reply: what the model would have said under another perspective, all else equal.

Questions (an observed exchange, and a substitute for its perspective) go in, replies come out. Abduction,
action and prediction go token by token, side by side. One copy of the model is told the observed reply under
the observed perspective; its logits say what the noise must have been. The other writes under the substitute,
with the same noise. Both make the same calculations on tensors of the same shape: with the observed
perspective put back, the same floating-point numbers, and therefore the observed reply, token for token.

A model that was not trained to reply with a perspective hardly minds it, so the keyword is drawn in while it
is missing. That is a part of the distribution that the reply is decoded from, the same on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.errors import InputError, ModelError
from graphneg.generators.prompts import (
    PERSPECTIVE_EXAMPLES,
    REPLY_WITH_PERSPECTIVE,
    Exchange,
    answer,
    is_trained,
    perspective_example,
    perspective_prompt,
    train_for,
)
from graphneg.nn.batching import in_batches
from graphneg.nn.fine_tuning import TrainingReport
from graphneg.nn.generation import GumbelNoise, KeywordBias, forms_of, item_seed, posterior
from graphneg.nn.language_models import CausalLM, LanguageModel, Seq2SeqLM
from graphneg.shift.candidates import all_replies
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

LONGEST_PROMPT = 256
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """What would the reply be, had its perspective been ``substitute``?

    ``id`` and a seed decide the noise that the observed reply leaves open.
    """

    id: str
    observed: Exchange
    substitute: str


@dataclass(frozen=True, slots=True)
class CounterfactualReply:
    """The counterfactual reply; ``finished`` if it came to an end before the limit.

    ``kept`` is the share of the observed reply's tokens that stand at the same place in it.
    """

    text: str
    finished: bool
    kept: float


@dataclass(frozen=True, slots=True)
class _Sides:
    """A question in tokens: the prompts with both perspectives, and the observed reply."""

    index: int
    seed: int
    actual: list[int]
    other: list[int]
    observed: list[int]
    perspective: str
    substitute: str

    @property
    def end(self) -> int:
        """The token that ends replies: of the model, or a line break behind examples."""
        return self.observed[-1]


def counterfactuals(
    model: CausalLM | Seq2SeqLM,
    questions: Sequence[Question],
    *,
    examples: Sequence[Exchange] = (),
    seed: int = 0,
    temperature: float = 1.0,
    longer: int = 16,
    pull: float = 0.0,
) -> list[CounterfactualReply]:
    """An answer to each question, in order.

    ``examples`` are shown to a causal model that was not trained for this; replies then end with their
    line. ``temperature`` divides the logits on both sides. A reply may be ``longer`` tokens longer
    than the observed one; behind its end the noise is new. Turns before a reply lose their beginning
    where they have more than 256 tokens. ``pull`` draws the perspective in where a reply lacks it, on
    both sides alike: it is added to the logits of the keyword's next token, more and more.

    Raises:
        InputError: the temperature is not above 0, or the pull is below it.
        ModelError: memory does not suffice for one question alone, or the model reads too few tokens.
    """
    if temperature <= 0:
        raise InputError(f"temperature {temperature}: must be above 0")
    if pull < 0:
        raise InputError(f"pull {pull}: must not be below 0")
    shown = _Shown(model, examples)
    sides = [_sides(model, shown, index, question, seed, longer) for index, question in enumerate(questions)]
    answers: list[CounterfactualReply] = [CounterfactualReply("", False, 0.0)] * len(sides)

    def run(batch: Sequence[_Sides]) -> list[list[int]]:
        return _side_by_side(model, batch, pull, temperature, longer)

    for item, tokens in in_batches(sorted(sides, key=_by_length), model.batch_size, run):
        if tokens is None:
            raise ModelError(f"{model.path}: memory does not suffice for {questions[item.index].id} alone")
        answers[item.index] = _answer(model, item, tokens)
    return answers


class _Shown:
    """What stands before each prompt, in tokens, and how replies end behind it."""

    def __init__(self, model: CausalLM | Seq2SeqLM, examples: Sequence[Exchange]) -> None:
        self._model = model
        pairs = map(perspective_example, examples)
        text = "".join(f"{pair.source}{pair.target}\n" for pair in pairs)
        self.tokens = model.source_tokens(text) if examples else []

    def source(self, text: str, room: int) -> list[int]:
        """The tokens of a prompt behind what is shown; it loses its beginning where there is no room."""
        tokens = self._model.source_tokens(text)
        return [*self.tokens, *tokens[-max(1, room - len(self.tokens)) :]]

    def target(self, text: str) -> list[int]:
        """The tokens of a reply, the one that ends it last."""
        if not self.tokens:
            return self._model.target_tokens(text)
        return self._model.tokenizer(text + "\n", add_special_tokens=False)["input_ids"]


def _sides(
    model: CausalLM | Seq2SeqLM, shown: _Shown, index: int, question: Question, seed: int, longer: int
) -> _Sides:
    observed = question.observed
    target = shown.target(answer(observed.response))
    room = LONGEST_PROMPT + len(shown.tokens)
    if model.longest is not None:
        room = min(room, model.longest - len(target) - longer)
    if room <= len(shown.tokens):
        raise ModelError(
            f"{model.path}: reads {model.longest} tokens, too few for {question.id}, "
            f"whose reply has {len(target)}"
        )
    actual, other = (
        shown.source(perspective_prompt(observed.turns, perspective), room)
        for perspective in (observed.perspective, question.substitute)
    )
    own_seed = item_seed(seed, question.id, 0)
    return _Sides(index, own_seed, actual, other, target, observed.perspective, question.substitute)


def _by_length(sides: _Sides) -> tuple[int, int]:
    return -len(sides.actual) - len(sides.observed), sides.index


def _side_by_side(
    model: CausalLM | Seq2SeqLM,
    batch: Sequence[_Sides],
    pull: float,
    temperature: float,
    longer: int,
) -> list[list[int]]:
    """The counterfactual tokens of each item, its end token too where it ended."""
    import torch

    end = batch[0].end
    width = max(len(prompt) for item in batch for prompt in (item.actual, item.other))
    actual = model.steps([item.actual for item in batch], width)
    other = model.steps([item.other for item in batch], width)
    gumbel = GumbelNoise([item.seed for item in batch], "float64")
    to_observed = KeywordBias(model, [[item.perspective] for item in batch], _says, strength=pull, ends=[end])
    to_substitute = KeywordBias(
        model, [[item.substitute] for item in batch], _says, strength=pull, ends=[end]
    )
    told = max(len(item.observed) for item in batch)
    written: list[list[int]] = [[] for _ in batch]
    for step in range(told + longer):
        noise = gumbel.draw(other.logits.shape[-1]).to(other.logits.device)
        observed = [item.observed[step] if step < len(item.observed) else end for item in batch]
        given = torch.tensor(observed, device=noise.device)
        if step < told:
            known = torch.tensor([step < len(item.observed) for item in batch], device=noise.device)
            expected = to_observed.biased([item.observed[:step] for item in batch], actual.logits)
            abduced = posterior(expected / temperature, given, noise)
            noise = torch.where(known[:, None], abduced, noise)
        biased = to_substitute.biased(written, other.logits)
        chosen = (biased / temperature + noise).argmax(dim=-1)
        if _all_ended(written, chosen.tolist(), batch, end, longer):
            break
        if step + 1 < told:
            actual.take(given)
        other.take(chosen)
    return written


def _all_ended(
    written: list[list[int]], chosen: Sequence[int], batch: Sequence[_Sides], end: int, longer: int
) -> bool:
    """Write each item's token, unless the item has ended; True where all have."""
    ended = True
    for tokens, token, item in zip(written, chosen, batch, strict=True):
        if not _has_ended(tokens, item, end, longer):
            tokens.append(token)
        ended = ended and _has_ended(tokens, item, end, longer)
    return ended


def _has_ended(tokens: Sequence[int], item: _Sides, end: int, longer: int) -> bool:
    return tokens[-1:] == [end] or len(tokens) >= len(item.observed) + longer


def _answer(model: CausalLM | Seq2SeqLM, sides: _Sides, tokens: list[int]) -> CounterfactualReply:
    finished = tokens[-1:] == [sides.end]
    same = sum(token == other for token, other in zip(sides.observed, tokens, strict=False))
    return CounterfactualReply(model.decode(tokens), finished, same / len(sides.observed))


def examples_for(model: LanguageModel) -> tuple[Exchange, ...]:
    """What is shown to a model: nothing, if it was trained or is no causal one."""
    untrained = isinstance(model, CausalLM) and not is_trained(model, REPLY_WITH_PERSPECTIVE)
    return PERSPECTIVE_EXAMPLES if untrained else ()


def exchanges_of(store: Store, selection: Selection | None = None) -> Iterator[Exchange]:
    """The replies of dialogues whose perspective is known, in the order of the store."""
    for _, replies in all_replies(store, selection or Selection()):
        for reply in replies:
            if reply.perspective is not None:
                yield Exchange(reply.turns, reply.perspective, reply.text)


def train_replies(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    selection: Selection | None = None,
    seed: int = 0,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` to reply to a post with a perspective, and save it into ``out``.

    ``arguments`` are those of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: no reply has a perspective, or ``out`` is taken.
    """
    examples = [perspective_example(exchange) for exchange in exchanges_of(store, selection)]
    if not examples:
        raise InputError("no reply in the store has a perspective: graphneg shift build finds them")
    return train_for(REPLY_WITH_PERSPECTIVE, model, examples, out, seed=seed, **arguments)


def _says(text: str, perspective: str) -> bool:
    """Whether a reply says its perspective, the keyword's last word in any form."""
    said = spaced_words(text)
    return any(spaced_words(form) in said for form in forms_of(perspective))


def spaced_words(text: str) -> str:
    """The words of a text in lower case, each between spaces."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
