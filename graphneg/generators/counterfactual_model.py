"""Compute counterfactual replies: what a language model would have said with a different perspective.

The perspective of a reply is the keyword that the reply is about. The method follows the three steps of CAPT
(Ou et al. 2022, equations 1 to 3) for each token. It uses the Gumbel-max trick: sampling a token is the same
as adding Gumbel noise to the logits and taking the argmax.

1. Abduction: infer noise with which the model would have produced the observed reply from a prompt with the
   observed perspective.
2. Action: replace the perspective in the prompt with another keyword (the substitute).
3. Prediction: decode a reply to the new prompt with the same noise.

For example, with the observed perspective *fish* and the substitute *milk*::

    B: It is hungry.
    A: Did you feed the cat?
    B (fish): Yes, some fish.          observed
    B (milk): Yes, some milk.          counterfactual

Both prompts pass through the same operations on tensors of the same shape. Therefore, if the substitute is
the same as the observed perspective, all floating-point values are equal, and the result is the observed
reply.

A model that was not trained to reply with a given perspective tends to ignore the perspective. For such a
model, a bias (``keyword_bias``) is added to the logits of the perspective's tokens until the reply contains
the perspective. The bias is used for both the observed and the new reply.
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
"""Maximum number of tokens in a prompt, without the solved examples. A longer prompt is truncated at its
beginning."""
_LONGEST_REPLY = 48
"""Maximum number of tokens in a reply from a served model."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model: what would a reply have been with a different perspective?

    Attributes:
        id: Id of the question. The new reply may be longer than the observed reply. The noise for its
            additional tokens is sampled with this id and the seed.
        observed: The observed reply with its perspective and the turns before it.
        substitute: Keyword that replaces the perspective of the observed reply.
    """

    id: str
    observed: Exchange
    substitute: str


@dataclass(frozen=True, slots=True)
class CounterfactualReply:
    """A model's reply to the same turns as an observed reply, with a different perspective.

    Attributes:
        text: Text of the reply.
        finished: Whether the model ended the reply before the token limit was reached.
        unchanged_fraction: Fraction of the observed reply's tokens that this reply has at the same positions,
            from 0 to 1.
    """

    text: str
    finished: bool
    unchanged_fraction: float


@dataclass(frozen=True, slots=True)
class _TokenIds:
    """The token ids of an observed reply, and of the prompts with its own keyword and with a new keyword."""

    question: Question
    observed_prompt: list[int]
    substitute_prompt: list[int]
    observed: list[int]


def counterfactuals(
    model: LanguageModel,
    questions: Sequence[Question],
    *,
    examples: Sequence[Exchange] = (),
    seed: int = 0,
    temperature: float = 1.0,
    longer: int = 16,
    keyword_bias: float = 0.0,
) -> list[CounterfactualReply]:
    """Return what each observed reply would have been if it had moved to another keyword (its substitute).

    Args:
        model: Local language model that writes the replies.
        questions: Observed replies, each with a substitute for its perspective.
        examples: Solved examples at the beginning of the prompt, for a causal model that was not trained for
            this task. With examples, replies end at a line break.
        seed: Seed for the noise that cannot be inferred from the observed reply.
        temperature: Sampling temperature for both the observed and the new reply; above 0.
        longer: Maximum number of tokens by which a reply may be longer than the observed reply. The noise for
            these additional tokens is sampled.
        keyword_bias: Strength of the bias toward a perspective that the reply does not contain yet; 0 for no
            bias. The bias is added to the logit of the perspective's next token, for both the observed and
            the new reply. It grows with the length of the reply.

    Returns:
        One reply per question, in the order of ``questions``.

    Raises:
        InputError: ``temperature`` is not above 0, or ``keyword_bias`` is below 0.
    """
    if temperature <= 0:
        raise InputError(f"temperature must be above 0, not {temperature}")
    if keyword_bias < 0:
        raise InputError(f"keyword_bias must be at least 0, not {keyword_bias}")
    shown = model.source_tokens(_examples_text(examples)) if examples else []
    sides = [_token_ids(model, shown, question, longer) for question in questions]

    def run(batch: Sequence[_TokenIds]) -> list[CounterfactualReply]:
        replies: list[CounterfactualReply] = []
        written = _decode(model, batch, seed, keyword_bias, temperature, longer)
        for tokens, observed in zip(written, (item.observed for item in batch), strict=True):
            # Tokens are compared position by position. If the new reply has an additional token, hardly any
            # tokens after it are at the same positions as in the observed reply.
            same = sum(token == other for token, other in zip(observed, tokens, strict=False))
            finished = tokens[-1:] == observed[-1:]
            replies.append(CounterfactualReply(model.decode(tokens), finished, same / len(observed)))
        return replies

    return longest_first(
        sides,
        lambda item: len(item.observed_prompt) + len(item.observed),
        model.batch_size,
        run,
        f"{model.path}: a question",
    )


def other_replies(
    writer: Writer, questions: Sequence[Question], *, seed: int = 0, temperature: float = 1.0
) -> list[CounterfactualReply]:
    """Prompt a model on a server to write replies with other keywords (substitutes).

    The replies are not counterfactual. A counterfactual reply is computed with the noise that is inferred
    from the reply in the store (the observed reply). This requires the logits of the model, which a server
    does not return. The model therefore only writes a new reply to the same turns, with the substitute.

    Args:
        writer: Model on a server.
        questions: Observed replies, each with a substitute for its keyword.
        seed: Seed for sampling.
        temperature: Sampling temperature; above 0.

    Returns:
        One reply per question, in the order of ``questions``. The fraction
        `CounterfactualReply.unchanged_fraction` is computed from words instead of tokens.
    """
    settings = GenerationSettings(Sampling(temperature), _LONGEST_REPLY, _examples_text(PERSPECTIVE_EXAMPLES))
    prompts = [Prompt(perspective_prompt(one.observed.turns, one.substitute), one.id) for one in questions]
    held = [Constraints((one.substitute,)) for one in questions]
    written = writer.complete(prompts, seed=seed, stop=["\n"], constraints=held, settings=settings)
    replies: list[CounterfactualReply] = []
    for question, [reply] in zip(questions, written, strict=True):
        observed = question.observed.response.split()
        same = sum(map(eq, observed, reply.text.split()))
        replies.append(CounterfactualReply(reply.text, reply.finished, same / max(1, len(observed))))
    return replies


def _examples_text(examples: Sequence[Exchange]) -> str:
    """Return solved examples as text for the beginning of a prompt. A line break follows each reply."""
    return "".join(f"{pair.source}{pair.target}\n" for pair in map(perspective_example, examples))


def _token_ids(model: LanguageModel, shown: list[int], question: Question, longer: int) -> _TokenIds:
    """Tokenize an observed reply, the prompt with its own keyword, and the prompt with the new keyword."""
    observed = question.observed
    # If the prompt contains solved examples, the reply ends at a line break. A trained model ends it with an
    # end token instead.
    if shown:
        target = model.tokenizer(answer(observed.response) + "\n", add_special_tokens=False)["input_ids"]
    else:
        target = model.target_tokens(answer(observed.response))
    room = LONGEST_PROMPT
    if model.longest is not None:
        # The model can read a limited number of tokens: these must suffice for the examples, the prompt and
        # the longest possible reply.
        room = min(room, model.longest - len(shown) - len(target) - longer)
    if room < 1:
        raise ModelError(
            f"{model.path}: the model reads {model.longest} tokens, too few for {question.id}, whose reply "
            f"has {len(target)} tokens"
        )
    actual, other = (
        [*shown, *model.source_tokens(perspective_prompt(observed.turns, perspective))[-room:]]
        for perspective in (observed.perspective, question.substitute)
    )
    return _TokenIds(question, actual, other, target)


def _decode(
    model: LanguageModel,
    batch: Sequence[_TokenIds],
    seed: int,
    keyword_bias: float,
    temperature: float,
    longer: int,
) -> list[list[int]]:
    """Return the tokens of each new reply. The last one is the end token, if the model ended the reply."""
    import torch

    def is_open(tokens: Sequence[int], item: _TokenIds) -> bool:
        return tokens[-1:] != item.observed[-1:] and len(tokens) < len(item.observed) + longer

    end = batch[0].observed[-1]
    # Pad all prompts to the same width. The model then computes with tensors of the same shape for the
    # observed and the new keyword, so that equal prompts get exactly equal logits.
    width = max(len(prompt) for item in batch for prompt in (item.observed_prompt, item.substitute_prompt))
    actual = model.steps([item.observed_prompt for item in batch], width)
    other = model.steps([item.substitute_prompt for item in batch], width)
    # Use float64, because two tokens then practically never have the same sum of logit and noise. So exactly
    # one token has the highest sum.
    gumbel = GumbelNoise([item_seed(seed, item.question.id, 0) for item in batch], "float64")
    perspectives = [[item.question.observed.perspective] for item in batch]
    substitutes = [[item.question.substitute] for item in batch]
    to_observed, to_substitute = (
        KeywordBias(model, keywords, _says, strength=keyword_bias, ends=[end])
        for keywords in (perspectives, substitutes)
    )
    observed_steps = max(len(item.observed) for item in batch)
    written: list[list[int]] = [[] for _ in batch]
    for step in range(observed_steps + longer):
        # Abduction: compute noise with which the model writes the observed token after the prompt with the
        # observed keyword. After the end of the observed reply, there is no token from which noise could be
        # inferred, so sample the noise.
        noise = gumbel.draw(other.logits.shape[-1]).to(other.logits.device)
        observed = [item.observed[step] if step < len(item.observed) else end for item in batch]
        given = torch.tensor(observed, device=noise.device)
        if step < observed_steps:
            known = torch.tensor([step < len(item.observed) for item in batch], device=noise.device)
            expected = to_observed.biased([item.observed[:step] for item in batch], actual.logits)
            abduced = posterior(expected / temperature, given, noise)
            noise = torch.where(known[:, None], abduced, noise)
        # Prediction: add the same noise to the logits for the prompt that contains the substitute.
        biased = to_substitute.biased(written, other.logits)
        chosen = (biased / temperature + noise).argmax(dim=-1)
        for tokens, token, item in zip(written, chosen.tolist(), batch, strict=True):
            if is_open(tokens, item):
                tokens.append(token)
        if not any(map(is_open, written, batch)):
            break
        if step + 1 < observed_steps:
            # After the prompt with the observed keyword, let the model read the tokens of the observed reply,
            # even where it would have chosen other tokens (teacher forcing).
            actual.take(given)
        other.take(chosen)
    return written


def examples_for(model: LanguageModel) -> tuple[Exchange, ...]:
    """Return the solved examples with which prompts to a model should begin.

    Args:
        model: Local language model that should write replies with a given perspective.

    Returns:
        `PERSPECTIVE_EXAMPLES` for a causal model that was not trained for this task; otherwise an empty
        tuple.
    """
    untrained = isinstance(model, CausalLM) and not is_trained(model, REPLY_WITH_PERSPECTIVE)
    return PERSPECTIVE_EXAMPLES if untrained else ()


def exchanges_of(store: Store, selection: Selection | None = None) -> Iterator[Exchange]:
    """Yield all replies in a store whose perspective is known.

    Args:
        store: Store that contains dialogues and the perspectives that ``graphneg shift build`` found.
        selection: Dialogues to read; None for all dialogues of the store.

    Yields:
        Replies, each with its perspective and the turns before it.
    """
    for _, replies in all_replies(store, selection or Selection()):
        for reply in replies:
            if reply.perspective is not None:
                yield Exchange(reply.turns, reply.perspective, reply.text)


def train_counterfactual_replies(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    selection: Selection | None = None,
    seed: int = 0,
    **arguments: Any,
) -> TrainingReport:
    """Train a model to reply to a context with a given perspective.

    Args:
        model: Model to train.
        store: Store that contains dialogues and the perspectives that ``graphneg shift build`` found.
        out: Folder to save the trained model in.
        selection: Dialogues to learn from; None for all dialogues of the store.
        seed: Seed for the training.
        arguments: Further arguments for transformers' ``TrainingArguments`` or for
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report with the losses of the training.

    Raises:
        InputError: The store has no reply with a known perspective.
    """
    examples = [perspective_example(exchange) for exchange in exchanges_of(store, selection)]
    if not examples:
        raise InputError("no reply in the store has a perspective: run graphneg shift build")
    return train_for(REPLY_WITH_PERSPECTIVE, model, examples, out, seed=seed, **arguments)


def _says(text: str, perspective: str) -> bool:
    """Return whether a text contains a keyword (``perspective``), whose last word may be inflected."""
    said = spaced_words(text)
    return any(spaced_words(form) in said for form in forms_of(perspective))


def spaced_words(text: str) -> str:
    """Return the words of a text in lower case, with a single space before and after each.

    A keyword can then be searched for as ``f" {keyword} "``, which does not match inside longer words.

    Args:
        text: Text in which keywords will be searched for.

    Returns:
        The words as one string, separated and surrounded by single spaces.

    Example:
        >>> spaced_words("Yes, some fish.")
        ' yes some fish '
    """
    return f" {' '.join(_WORD.findall(text.lower()))} "
