"""What models say of sampled texts: closeness, fluency, and whether a ranker takes them for right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphneg.embedding import Embedder
from graphneg.evaluation.negatives.texts import Text
from graphneg.language_models.model import LanguageModel
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker

_CHUNK = 64
_Values = Mapping[Text, float]


@dataclass(frozen=True, slots=True)
class Models:
    """Who is asked. ``embedder`` gives vectors, ``lm`` likelihoods, ``judge`` scores from 0 to 1.

    ``lm_name`` and ``judge_name`` are what a report calls them.
    """

    embedder: Embedder
    lm: LanguageModel | None = None
    judge: Ranker | None = None
    lm_name: str = "a language model"
    judge_name: str = "a ranker"


@dataclass(frozen=True, slots=True)
class Scores:
    """By text: cosines with the context and with what is right there, nats a token, the judge's score.

    A text is left out where there is nothing to compare it with, or nobody to ask.
    """

    to_context: _Values = field(default_factory=dict[Text, float])
    to_right: _Values = field(default_factory=dict[Text, float])
    loss: _Values = field(default_factory=dict[Text, float])
    judged: _Values = field(default_factory=dict[Text, float])


def score(texts: Sequence[Text], models: Models, progress: Progress | None = None) -> Scores:
    """Ask the models about each text once.

    Raises:
        ModelError: memory does not suffice for one text alone.
    """
    bar = progress or NoProgress()
    once = list(dict.fromkeys(texts))
    contexts = [text for text in once if text.context]
    rights = [text for text in once if text.right is not None]
    lm, judge = models.lm, models.judge
    return Scores(
        to_context=_asked("closeness to contexts", contexts, _cosines(models.embedder, _context), bar),
        to_right=_asked("closeness to right responses", rights, _cosines(models.embedder, _right), bar),
        loss=_finite(_asked("fluency", once, _losses(lm), bar)) if lm is not None else {},
        judged=_asked("judging", contexts, _judged(judge), bar) if judge is not None else {},
    )


_Ask = Callable[[Sequence[Text]], Sequence[float]]


def _asked(label: str, texts: Sequence[Text], ask: _Ask, bar: Progress) -> dict[Text, float]:
    bar.start(label, len(texts), "texts")
    found: dict[Text, float] = {}
    for some in _chunks(texts):
        found.update(zip(some, ask(some), strict=True))
        bar.advance(len(some))
    bar.finish()
    return found


def _cosines(embedder: Embedder, other: Callable[[Text], str]) -> _Ask:
    def ask(some: Sequence[Text]) -> list[float]:
        vectors = embedder.embed([text.text for text in some])
        others = embedder.embed([other(text) for text in some])
        return (vectors * others).sum(axis=1).tolist()

    return ask


def _context(text: Text) -> str:
    return " ".join(text.context)


def _right(text: Text) -> str:
    return text.right or ""


def _losses(lm: LanguageModel) -> _Ask:
    return lambda some: lm.score([text.text for text in some])


def _judged(judge: Ranker) -> _Ask:
    return lambda some: judge.score([text.context for text in some], [text.text for text in some])


def _finite(losses: Mapping[Text, float]) -> dict[Text, float]:
    """A text without words has no likelihood."""
    return {text: loss for text, loss in losses.items() if math.isfinite(loss)}


def _chunks(texts: Sequence[Text]) -> Iterator[Sequence[Text]]:
    return (texts[at : at + _CHUNK] for at in range(0, len(texts), _CHUNK))
