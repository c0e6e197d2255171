"""The counterfactual reply: what the model would have said under another perspective, all else equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.english.tokens import one_line
from graphneg.errors import InputError, ModelError
from graphneg.nn.batching import in_batches
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.generation import GumbelNoise, item_seed, posterior
from graphneg.nn.keyword_bias import KeywordBias, forms_of
from graphneg.nn.language_models import CausalLM, LanguageModel, Seq2SeqLM
from graphneg.progress import Progress
from graphneg.shift.candidates import all_replies
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

# An exchange: the turns of a context, the perspective of its reply, and the reply.
#
# One way of writing it down serves training and decoding.


TURNS = 3
"""How many turns before the reply are read: the post, and what led to it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """``turns`` are texts of two speakers in turn, the post last. ``perspective`` is a keyword's key."""

    turns: tuple[str, ...]
    perspective: str
    response: str


def prompt(turns: Sequence[str], perspective: str) -> str:
    """What a model reads before the reply.

    >>> print(prompt(["It is hungry.", "Did you feed the cat?"], "fish"))
    B: It is hungry.
    A: Did you feed the cat?
    B (fish):
    """
    read = turns[-TURNS:]
    lines = [f"{'BA'[(len(read) - place) % 2]}: {one_line(text)}" for place, text in enumerate(read)]
    return "\n".join([*lines, f"B ({perspective}):"])


def reply(text: str) -> str:
    """What a model writes behind the prompt.

    >>> reply("Yes,  some fish.")
    ' Yes, some fish.'
    """
    return " " + one_line(text)


def example(exchange: Exchange) -> Example:
    """The exchange as a pair to learn."""
    return Example(prompt(exchange.turns, exchange.perspective), reply(exchange.response))


# Replies that say their perspective: the keyword is drawn in while it is missing.
#
# A model that was not trained to reply with a perspective hardly minds it. Drawing in is a part of
# the distribution that the reply is decoded from, and the same on both sides: with the observed
# perspective put back, the observed reply still comes out.


Tokens = Sequence[int]
_WORD = re.compile(r"\w+")


def _says(text: str, perspective: str) -> bool:
    """Whether a reply says its perspective, the keyword's last word in any form."""
    said = _padded(text)
    return any(_padded(form) in said for form in forms_of(perspective))


def _padded(text: str) -> str:
    """The words of a text in lower case, each between spaces."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


# The counterfactual reply: what the model would have said under another perspective, all else equal.
#
# Abduction, action and prediction go token by token, side by side. One copy of the model is told
# the observed reply under the observed perspective; its logits say what the noise must have been.
# The other writes under the substitute, with the same noise. Both make the same calculations on
# tensors of the same shape: with the observed perspective put back, the same floating-point
# numbers, and therefore the observed reply, token for token.


LONGEST_PROMPT = 256


@dataclass(frozen=True, slots=True)
class Question:
    """What would the reply be, had its perspective been ``substitute``?

    ``id`` and a seed decide the noise that the observed reply leaves open.
    """

    id: str
    observed: Exchange
    substitute: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The counterfactual reply; ``finished`` if it came to an end before the limit.

    ``kept`` is the share of the observed reply's tokens that stand at the same place in it.
    """

    text: str
    finished: bool
    kept: float


@dataclass(frozen=True, slots=True)
class _Sides:
    """A question in tokens: the prompts with both perspectives, and the observed reply."""

    place: int
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
) -> list[Answer]:
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
    sides = [_sides(model, shown, place, question, seed, longer) for place, question in enumerate(questions)]
    answers: list[Answer] = [Answer("", False, 0.0)] * len(sides)

    def run(batch: Sequence[_Sides]) -> list[list[int]]:
        return _side_by_side(model, batch, pull, temperature, longer)

    for one, tokens in in_batches(sorted(sides, key=_by_length), model.batch_size, run):
        if tokens is None:
            raise ModelError(f"{model.path}: memory does not suffice for {questions[one.place].id} alone")
        answers[one.place] = _answer(model, one, tokens)
    return answers


class _Shown:
    """What stands before each prompt, in tokens, and how replies end behind it."""

    def __init__(self, model: CausalLM | Seq2SeqLM, examples: Sequence[Exchange]) -> None:
        self._model = model
        text = "".join(f"{prompt(one.turns, one.perspective)}{reply(one.response)}\n" for one in examples)
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
    model: CausalLM | Seq2SeqLM, shown: _Shown, place: int, question: Question, seed: int, longer: int
) -> _Sides:
    observed = question.observed
    target = shown.target(reply(observed.response))
    room = LONGEST_PROMPT + len(shown.tokens)
    if model.longest is not None:
        room = min(room, model.longest - len(target) - longer)
    if room <= len(shown.tokens):
        raise ModelError(
            f"{model.path}: reads {model.longest} tokens, too few for {question.id}, "
            f"whose reply has {len(target)}"
        )
    actual, other = (
        shown.source(prompt(observed.turns, perspective), room)
        for perspective in (observed.perspective, question.substitute)
    )
    return _Sides(
        place,
        item_seed(seed, question.id, 0),
        actual,
        other,
        target,
        observed.perspective,
        question.substitute,
    )


def _by_length(sides: _Sides) -> tuple[int, int]:
    return -len(sides.actual) - len(sides.observed), sides.place


def _side_by_side(
    model: CausalLM | Seq2SeqLM,
    batch: Sequence[_Sides],
    pull: float,
    temperature: float,
    longer: int,
) -> list[list[int]]:
    """The counterfactual tokens of each item, its end token too where it came to one."""
    import torch

    end = batch[0].end
    width = max(len(prompt) for one in batch for prompt in (one.actual, one.other))
    actual = model.steps([one.actual for one in batch], width)
    other = model.steps([one.other for one in batch], width)
    gumbel = GumbelNoise([one.seed for one in batch], "float64")
    to_observed = KeywordBias(model, [[one.perspective] for one in batch], _says, strength=pull, ends=[end])
    to_substitute = KeywordBias(model, [[one.substitute] for one in batch], _says, strength=pull, ends=[end])
    told = max(len(one.observed) for one in batch)
    written: list[list[int]] = [[] for _ in batch]
    for step in range(told + longer):
        noise = gumbel.draw(other.logits.shape[-1]).to(other.logits.device)
        observed = [one.observed[step] if step < len(one.observed) else end for one in batch]
        given = torch.tensor(observed, device=noise.device)
        if step < told:
            known = torch.tensor([step < len(one.observed) for one in batch], device=noise.device)
            expected = to_observed.biased([one.observed[:step] for one in batch], actual.logits)
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
    for tokens, token, one in zip(written, chosen, batch, strict=True):
        if not _has_ended(tokens, one, end, longer):
            tokens.append(token)
        ended = ended and _has_ended(tokens, one, end, longer)
    return ended


def _has_ended(tokens: Tokens, one: _Sides, end: int, longer: int) -> bool:
    return tokens[-1:] == [end] or len(tokens) >= len(one.observed) + longer


def _answer(model: CausalLM | Seq2SeqLM, sides: _Sides, tokens: list[int]) -> Answer:
    finished = tokens[-1:] == [sides.end]
    same = sum(one == other for one, other in zip(sides.observed, tokens, strict=False))
    return Answer(model.decode(tokens), finished, same / len(sides.observed))


# Exchanges that a model is shown which was not trained to reply with a given perspective.


TASK = "graphneg_task"
"""The entry of a model's configuration that says what it was trained for."""

REPLY_WITH_PERSPECTIVE = "reply-with-perspective"

EXAMPLES = (
    Exchange(("I can't find my keys anywhere.",), "jacket", "Did you look in your jacket?"),
    Exchange(("Shall we eat out tonight?",), "soup", "I would rather stay and finish the soup."),
    Exchange(("My sister moves to Rome in May.",), "language", "Does she speak the language well?"),
    Exchange(("How was the match?",), "rain", "We lost, and the rain never stopped."),
)


def is_trained(model: LanguageModel) -> bool:
    """Whether a model was trained to reply with a given perspective (`train_replies`)."""
    return getattr(model.model.config, TASK, None) == REPLY_WITH_PERSPECTIVE


def examples_for(model: LanguageModel) -> tuple[Exchange, ...]:
    """What is shown to a model: nothing, if it was trained or is no causal one."""
    return EXAMPLES if isinstance(model, CausalLM) and not is_trained(model) else ()


# Training a model to reply with a given perspective, on the dialogues of a store.


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
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` to reply to a post with a perspective, and save it into ``out``.

    ``arguments`` are those of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: no reply has a perspective, or ``out`` is taken.
    """
    examples = [example(one) for one in exchanges_of(store, selection)]
    if not examples:
        raise InputError("no reply in the store has a perspective: graphneg shift build finds them")
    setattr(model.model.config, TASK, REPLY_WITH_PERSPECTIVE)
    return fine_tune(model, examples, out, seed=seed, progress=progress, **arguments)
