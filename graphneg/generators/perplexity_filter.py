"""How likely a language model finds a text that was written: alone, and after some turns.

Texts and the turns before them go in; the losses of those that are within `Bounds` come out. The request that
asked for a text is not read, nor the words that it was to have: told of a word, a small model finds any
sentence likely that says it. What is unlikely both ways is mostly no sentence, or none that makes sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import NamedTuple

from graphneg.english.detokenize import closed_up
from graphneg.errors import InputError
from graphneg.generators.base import Turn
from graphneg.generators.prompts import turns_before
from graphneg.nn.language_models import CausalLM


class TextLosses(NamedTuple):
    """Mean losses of a text (nats a token): ``alone``, and ``after`` turns, where there are any, else again.

    ``worst`` is the loss of its least likely token after them.
    """

    alone: float
    after: float
    worst: float

    @property
    def mean(self) -> float:
        """The mean of both: texts are ranked by it."""
        return (self.alone + self.after) / 2

    @property
    def perplexity(self) -> float:
        """The exponential of `mean`."""
        return exp(min(self.mean, 50.0))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which losses pass: perplexities of at most ``alone`` and ``surprise`` (after turns), and no token
    of a loss over ``worst``. Raises `InputError` for values that nothing could have."""

    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0

    def __post_init__(self) -> None:
        if self.surprise <= 1 or self.alone <= 1 or self.worst <= 0:
            raise InputError(
                f"surprise {self.surprise}, alone {self.alone}, worst {self.worst}: "
                "perplexities are above 1, losses above 0"
            )

    def hold(self, losses: TextLosses) -> bool:
        """Whether losses are within them."""
        return (
            losses.after <= log(self.surprise)
            and losses.alone <= log(self.alone)
            and losses.worst <= self.worst
        )


class PerplexityFilter:
    """Reads texts with a causal language model, and lets those pass that are within ``bounds``."""

    def __init__(self, model: CausalLM, bounds: Bounds | None = None) -> None:
        self.model = model
        self.bounds = bounds or Bounds()

    def read(
        self, texts: Sequence[str], histories: Sequence[Sequence[Turn] | None]
    ) -> list[TextLosses | None]:
        """The losses of each text after its history (None where there is none); None of one that fails.

        Raises:
            ModelError: memory does not suffice for one text.
        """
        said = [f" {closed_up(text)}" for text in texts]
        alone = self.model.score_tokens(said, ["\n"] * len(said))
        passing = [at for at, losses in enumerate(alone) if _mean(losses) <= log(self.bounds.alone)]
        shown = [(at, history) for at in passing if (history := histories[at]) is not None]
        after = self.model.score_tokens(
            [said[at] for at, _ in shown], [turns_before(history) for _, history in shown]
        )
        behind = dict(zip((at for at, _ in shown), after, strict=True))
        found: list[TextLosses | None] = [None] * len(texts)
        for at in passing:
            tokens = behind.get(at, alone[at])
            losses = TextLosses(_mean(alone[at]), _mean(tokens), round(max(tokens), 3))
            found[at] = losses if self.bounds.hold(losses) else None
        return found

    def after(self, texts: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[float]:
        """The mean loss of each text after its history."""
        said = [f" {closed_up(text)}" for text in texts]
        return self.model.score(said, [turns_before(history) for history in histories])


def _mean(losses: Sequence[float]) -> float:
    """Rounded: the last digits depend on what else is in a batch. Infinite for a text without words."""
    return round(sum(losses) / len(losses), 3) if losses else inf
