"""An exchange: the turns of a context, the perspective of its reply, and the reply.

One way of writing it down serves training, scoring and decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphneg.generators.base import Turn
from graphneg.language_models import Example

TURNS = 3
"""How many turns before the reply are read: the post, and what led to it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """``turns`` end with the post; ``speaker`` gives the reply. ``perspective`` is a keyword's key."""

    turns: tuple[Turn, ...]
    speaker: str
    perspective: str
    response: str


def prompt(turns: Sequence[Turn], speaker: str, perspective: str) -> str:
    """What a model reads before the reply.

    >>> print(prompt([Turn("Ann", "Did you feed the cat?")], "Tom", "fish"))
    A: Did you feed the cat?
    B (fish):
    """
    lines = [f"{'B' if turn.speaker == speaker else 'A'}: {_one_line(turn.text)}" for turn in turns[-TURNS:]]
    return "\n".join([*lines, f"B ({perspective}):"])


def reply(text: str) -> str:
    """What a model writes behind the prompt.

    >>> reply("Yes,  some fish.")
    ' Yes, some fish.'
    """
    return " " + _one_line(text)


def example(exchange: Exchange) -> Example:
    """The exchange as a pair to learn."""
    return Example(prompt(exchange.turns, exchange.speaker, exchange.perspective), reply(exchange.response))


def _one_line(text: str) -> str:
    return " ".join(text.split())
