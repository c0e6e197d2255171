"""Forward and backward perplexity of a response and what stands before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import NamedTuple

from graphneg.language_models.model import LanguageModel

FORWARD = "forward_perplexity"
BACKWARD = "backward_perplexity"
"""The names of the scores in records."""

_LARGEST_LOSS = 50.0


class Pair(NamedTuple):
    """A context (its turns' texts, the first one first) and a response to it."""

    context: tuple[str, ...]
    response: str


class Perplexities(NamedTuple):
    """``forward``: of the response after its context; ``backward``: of the last turn given the response."""

    forward: float
    backward: float

    def scores(self) -> Mapping[str, float]:
        """As records hold them."""
        return {FORWARD: self.forward, BACKWARD: self.backward}


@dataclass(frozen=True, slots=True)
class Bidirectional:
    """Scores pairs by two language models, which may be one and the same.

    ``forward`` has learned to answer, ``backward`` to tell what was answered: a model trained on
    responses and the turns before them, or one that reads from the end (``direction`` ``backward``).
    A plain model serves as both.
    """

    forward: LanguageModel
    backward: LanguageModel

    def score(self, pairs: Sequence[Pair]) -> list[Perplexities]:
        """The perplexities of each pair, in order; the models run batches of like length.

        Raises:
            ModelError: memory does not suffice for one pair alone.
        """
        responses = self.forward.score(
            [_answer(pair.response) for pair in pairs], [before(pair.context) for pair in pairs]
        )
        posts = self.backward.score(
            [_answer(pair.context[-1]) for pair in pairs],
            [_behind(pair.response, self.backward) for pair in pairs],
        )
        return [Perplexities(_perplexity(f), _perplexity(b)) for f, b in zip(responses, posts, strict=True)]


def before(context: Sequence[str]) -> str:
    """What stands before a response: the turns, two speakers in turn, and the name of who is next.

    >>> print(before(["Is it far?", "No."]))
    A: Is it far?
    B: No.
    A:
    """
    said = [f"{'AB'[place % 2]}: {_one_line(text)}" for place, text in enumerate(context)]
    return "\n".join([*said, f"{'AB'[len(context) % 2]}:"])


def behind(response: str) -> str:
    """What a model reads that shall tell the turn before a response.

    >>> print(behind("No."))
    B: No.
    This answers A:
    """
    return f"B: {_one_line(response)}\nThis answers A:"


def _behind(response: str, model: LanguageModel) -> str:
    return f"\nB: {_one_line(response)}" if model.direction == "backward" else behind(response)


def _answer(text: str) -> str:
    return f" {_one_line(text)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _perplexity(loss: float) -> float:
    """The exponential of a loss in nats a token, no larger than a file can hold."""
    return exp(min(loss, _LARGEST_LOSS))
