"""What a predictor of substitute perspectives is, and how one is had by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from graphneg.errors import ModelError
from graphneg.plugins import Plugins
from graphneg.shift.candidates import Focus, Post

PLUGINS = Plugins(
    kind="predictor",
    group="graphneg.predictors",
    built_in={
        "frequency": "graphneg.shift.prediction.frequency:FrequencyPredictor",
        "embedding": "graphneg.shift.prediction.embedding:EmbeddingPredictor",
        "seq2seq": "graphneg.shift.prediction.seq2seq:Seq2SeqPredictor",
        "causal": "graphneg.shift.prediction.causal:CausalPredictor",
    },
    error=ModelError,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The candidate of a subset that a predictor takes; ``score`` is comparable within a post."""

    text: str
    score: float


@runtime_checkable
class Predictor(Protocol):
    """Takes one substitute of each subset of a focus's candidates."""

    @property
    def name(self) -> str:
        """The name under which it is found."""
        ...

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        """One candidate of each subset, in order. Higher scores are better."""
        ...


class Guarded:
    """A predictor whose answers are checked: one for each subset, and one of the subset."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    @property
    def name(self) -> str:
        return self._predictor.name

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        choices = self._predictor.choose(post, focus, subsets)
        fits = len(choices) == len(subsets) and all(
            choice.text in subset for choice, subset in zip(choices, subsets, strict=True)
        )
        if not fits:
            raise ModelError(
                f"predictor {self.name} must choose one candidate of each of {len(subsets)} subsets of "
                f"{focus.text!r}, in order; it chose {len(choices)}: "
                f"{', '.join(choice.text for choice in choices[:5])}"
            )
        return choices


def predictor_names() -> list[str]:
    """Every predictor that ``get_predictor`` knows, installed ones included."""
    return PLUGINS.names()


def get_predictor(name: str, **options: Any) -> Predictor:
    """The predictor of that name, made with the options it takes.

    Packages add predictors by an entry point in the group ``graphneg.predictors``.

    Raises:
        ModelError: no such predictor, it does not take these options, or its model can't be had.
    """
    made: Predictor = PLUGINS.make(name, options)
    return guarded(made)


def guarded(predictor: Predictor) -> Predictor:
    """The predictor with its answers checked; one that is guarded already stays as it is."""
    return predictor if isinstance(predictor, Guarded) else Guarded(predictor)
