"""An exchange: the turns of a context, the perspective of its reply, and the reply.

One way of writing it down serves training and decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphneg.language_models import Example

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
    lines = [f"{'BA'[(len(read) - place) % 2]}: {_one_line(text)}" for place, text in enumerate(read)]
    return "\n".join([*lines, f"B ({perspective}):"])


def reply(text: str) -> str:
    """What a model writes behind the prompt.

    >>> reply("Yes,  some fish.")
    ' Yes, some fish.'
    """
    return " " + _one_line(text)


def example(exchange: Exchange) -> Example:
    """The exchange as a pair to learn."""
    return Example(prompt(exchange.turns, exchange.perspective), reply(exchange.response))


def _one_line(text: str) -> str:
    return " ".join(text.split())
