"""How likely a language model finds a text that was written: alone, and after some turns.

The request that asked for it is not read, nor the words that it was to have: told of a word, a small
model finds any sentence likely that says it. What is unlikely both ways is mostly no sentence, or
none that makes sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from graphneg.errors import InputError
from graphneg.generators.base import Turn
from graphneg.generators.keywords.prompts import turns_before
from graphneg.generators.keywords.spacing import closed_up
from graphneg.language_models.causal import CausalLM


class Reading(NamedTuple):
    """Mean losses of a text (nats a token): ``alone``, and ``after`` turns, where there are any, else again.

    ``worst`` is the loss of its least likely token after them.
    """

    alone: float
    after: float
    worst: float

    @property
    def loss(self) -> float:
        """The mean of both: texts are ranked by it."""
        return (self.alone + self.after) / 2

    @property
    def perplexity(self) -> float:
        """The exponential of `loss`."""
        return exp(min(self.loss, 50.0))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which readings pass: perplexities of at most ``alone`` and ``surprise`` (after turns), and no token
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

    def hold(self, reading: Reading) -> bool:
        """Whether a reading is within them."""
        return (
            reading.after <= log(self.surprise)
            and reading.alone <= log(self.alone)
            and reading.worst <= self.worst
        )


class Judge:
    """Reads texts with a causal language model, and lets those pass that are within ``bounds``."""

    def __init__(self, model: CausalLM, bounds: Bounds | None = None) -> None:
        self.model = model
        self.bounds = bounds or Bounds()

    def read(self, texts: Sequence[str], histories: Sequence[Sequence[Turn] | None]) -> list[Reading | None]:
        """The reading of each text after its history (None where there is none); None of one that fails.

        Raises:
            ModelError: memory does not suffice for one text.
        """
        said = [f" {closed_up(text)}" for text in texts]
        alone = self.model.score_tokens(said, ["\n"] * len(said))
        passing = [place for place, losses in enumerate(alone) if _mean(losses) <= log(self.bounds.alone)]
        shown = [(place, history) for place in passing if (history := histories[place]) is not None]
        after = self.model.score_tokens(
            [said[place] for place, _ in shown], [turns_before(history) for _, history in shown]
        )
        behind = dict(zip((place for place, _ in shown), after, strict=True))
        found: list[Reading | None] = [None] * len(texts)
        for place in passing:
            losses = behind.get(place, alone[place])
            reading = Reading(_mean(alone[place]), _mean(losses), round(max(losses), 3))
            found[place] = reading if self.bounds.hold(reading) else None
        return found

    def after(self, texts: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[float]:
        """The mean loss of each text after its history."""
        said = [f" {closed_up(text)}" for text in texts]
        return self.model.score(said, [turns_before(history) for history in histories])


def _mean(losses: Sequence[float]) -> float:
    """Rounded: the last digits depend on what else is in a batch. Infinite for a text without words."""
    return round(sum(losses) / len(losses), 3) if losses else float("inf")
