"""Training a language model to reply with given words, on the dialogues of a store.

Gupta et al. (2021, section 3.2) train it on the right response, its own history and its
own keywords; what is wrong about a generated response comes from showing another history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from graphneg.counterfactual.examples import TASK
from graphneg.errors import InputError, ModelError
from graphneg.generators.base import Context
from graphneg.generators.keywords.choosing import Amount, drawn, keywords_of
from graphneg.generators.keywords.prompts import reply_request
from graphneg.generators.keywords.screening import Limits, refusal
from graphneg.generators.keywords.spacing import closed_up
from graphneg.language_models.causal import CausalLM
from graphneg.language_models.model import LanguageModel
from graphneg.language_models.training import Example, TrainingReport, fine_tune
from graphneg.progress import Progress
from graphneg.shift.keywords import KeywordExtractor

REPLY_WITH_WORDS = "reply-with-words"
_BATCH = 500


def is_trained(model: LanguageModel) -> bool:
    """Whether a model was trained by `train_replies`: then it needs no examples."""
    return getattr(model.model.config, TASK, None) == REPLY_WITH_WORDS


def reply_pairs(
    contexts: Iterable[Context], extractor: KeywordExtractor, amount: Amount | None = None, seed: int = 0
) -> Iterator[Example]:
    """The request for each right response, with keywords of its own, and the response.

    Responses without a keyword are left out, and so is what would be refused of a model: what it should
    not write, it should not learn. Memory is flat.
    """
    amount = amount or Amount()
    pairs = ((one, f"{one.id}/{n}", text) for one in contexts for n, text in enumerate(one.positives))
    while part := list(islice(pairs, _BATCH)):
        found = keywords_of(extractor, [text for _, _, text in part])
        for (context, id, text), keywords in zip(part, found, strict=True):
            wanted = drawn(keywords, amount, seed, id, text)
            reply = closed_up(text)
            if wanted and refusal(reply, wanted, replace(context, positives=()), Limits()) is None:
                words = [" ".join(each) for each in wanted]
                yield Example(reply_request(context.turns, words), f" {reply}")


def train_replies(
    model: LanguageModel,
    contexts: Iterable[Context],
    extractor: KeywordExtractor,
    out: str | Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` on the contexts' right responses, and save it for ``key-context`` and ``key-sem``.

    ``arguments`` are those of transformers' ``TrainingArguments``.

    Raises:
        InputError: no context has a right response with a keyword, or ``out`` is taken.
        ModelError: the model is no causal one.
    """
    if not isinstance(model, CausalLM):
        raise ModelError(f"{model.place}: key-context and key-sem need a causal language model")
    examples = list(reply_pairs(contexts, extractor, seed=seed))
    if not examples:
        raise InputError("no context has a right response with a keyword, so there is nothing to learn")
    setattr(model.model.config, TASK, REPLY_WITH_WORDS)
    return fine_tune(model, examples, out, seed=seed, progress=progress, **arguments)
