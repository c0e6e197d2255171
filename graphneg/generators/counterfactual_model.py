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
from operator import eq
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
from graphneg.nn.batching import longest_first
from graphneg.nn.fine_tuning import TrainingReport
from graphneg.nn.generation import GumbelNoise, KeywordBias, Sampling, forms_of, item_seed, posterior
from graphneg.nn.language_models import CausalLM, LanguageModel
from graphneg.nn.writers import Constraints, GenerationSettings, Prompt, Writer
from graphneg.shift.candidates import all_replies
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

LONGEST_PROMPT = 256
_LONGEST_REPLY = 48
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
    """A question in tokens: the prompts with both perspectives, and the observed reply. The reply's last
    token ends replies: the model's own, or a line break behind examples."""

    question: Question
    actual: list[int]
    other: list[int]
    observed: list[int]


def counterfactuals(
    model: LanguageModel,
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
    shown = model.source_tokens(_shown(examples)) if examples else []
    sides = [_sides(model, shown, question, longer) for question in questions]

    def run(batch: Sequence[_Sides]) -> list[CounterfactualReply]:
        replies: list[CounterfactualReply] = []
        written = _side_by_side(model, batch, seed, pull, temperature, longer)
        for tokens, observed in zip(written, (item.observed for item in batch), strict=True):
            same = sum(token == other for token, other in zip(observed, tokens, strict=False))
            finished = tokens[-1:] == observed[-1:]
            replies.append(CounterfactualReply(model.decode(tokens), finished, same / len(observed)))
        return replies

    return longest_first(
        sides,
        lambda item: len(item.actual) + len(item.observed),
        model.batch_size,
        run,
        f"{model.path}: a question",
    )


def other_replies(
    writer: Writer, questions: Sequence[Question], *, seed: int = 0, temperature: float = 1.0
) -> list[CounterfactualReply]:
    """A reply with the substitute for each question, in order, by a writer whose probabilities nobody sees.

    Nothing of the observed reply is put back: it is a reply to the same turns, by examples, and no more.
    """
    settings = GenerationSettings(Sampling(temperature), _LONGEST_REPLY, _shown(PERSPECTIVE_EXAMPLES))
    prompts = [Prompt(perspective_prompt(one.observed.turns, one.substitute), one.id) for one in questions]
    held = [Constraints((one.substitute,)) for one in questions]
    written = writer.complete(prompts, seed=seed, stop=["\n"], constraints=held, settings=settings)
    replies: list[CounterfactualReply] = []
    for question, [reply] in zip(questions, written, strict=True):
        observed = question.observed.response.split()
        same = sum(map(eq, observed, reply.text.split()))
        replies.append(CounterfactualReply(reply.text, reply.finished, same / max(1, len(observed))))
    return replies


def _shown(examples: Sequence[Exchange]) -> str:
    """Solved examples, a reply a line."""
    return "".join(f"{pair.source}{pair.target}\n" for pair in map(perspective_example, examples))


def _sides(model: LanguageModel, shown: list[int], question: Question, longer: int) -> _Sides:
    """The question in tokens, ``shown`` before its prompts; one that is too long loses its beginning."""
    observed = question.observed
    if shown:
        target = model.tokenizer(answer(observed.response) + "\n", add_special_tokens=False)["input_ids"]
    else:
        target = model.target_tokens(answer(observed.response))
    room = LONGEST_PROMPT
    if model.longest is not None:
        room = min(room, model.longest - len(shown) - len(target) - longer)
    if room < 1:
        raise ModelError(
            f"{model.path}: reads {model.longest} tokens, too few for {question.id}, "
            f"whose reply has {len(target)}"
        )
    actual, other = (
        [*shown, *model.source_tokens(perspective_prompt(observed.turns, perspective))[-room:]]
        for perspective in (observed.perspective, question.substitute)
    )
    return _Sides(question, actual, other, target)


def _side_by_side(
    model: LanguageModel,
    batch: Sequence[_Sides],
    seed: int,
    pull: float,
    temperature: float,
    longer: int,
) -> list[list[int]]:
    """The counterfactual tokens of each item, its end token too where it ended."""
    import torch

    def is_open(tokens: Sequence[int], item: _Sides) -> bool:
        return tokens[-1:] != item.observed[-1:] and len(tokens) < len(item.observed) + longer

    end = batch[0].observed[-1]
    width = max(len(prompt) for item in batch for prompt in (item.actual, item.other))
    actual = model.steps([item.actual for item in batch], width)
    other = model.steps([item.other for item in batch], width)
    gumbel = GumbelNoise([item_seed(seed, item.question.id, 0) for item in batch], "float64")
    perspectives = [[item.question.observed.perspective] for item in batch]
    substitutes = [[item.question.substitute] for item in batch]
    to_observed, to_substitute = (
        KeywordBias(model, keywords, _says, strength=pull, ends=[end])
        for keywords in (perspectives, substitutes)
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
        for tokens, token, item in zip(written, chosen.tolist(), batch, strict=True):
            if is_open(tokens, item):
                tokens.append(token)
        if not any(map(is_open, written, batch)):
            break
        if step + 1 < told:
            actual.take(given)
        other.take(chosen)
    return written


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
