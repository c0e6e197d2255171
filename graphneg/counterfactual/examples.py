"""Exchanges that a model is shown which was not trained to reply with a given perspective."""

from __future__ import annotations

from graphneg.counterfactual.exchange import Exchange
from graphneg.language_models import CausalLM, LanguageModel

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
