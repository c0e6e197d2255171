"""The figures of one line: what a generator's negatives, or right responses, are like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp

from graphneg.evaluation.negatives.histogram import Histogram, Spread
from graphneg.evaluation.negatives.pools import ALL, Pool
from graphneg.evaluation.negatives.scoring import Scores
from graphneg.evaluation.negatives.texts import RESPONSE, Text

_STEP = 0.01
THRESHOLD = 0.5
"""A judge's score from here on says: right."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of some texts.

    ``words`` counts words a text, ``shared`` content words shared with the context, ``like_right`` the
    share of content words in common with the right response, 0 to 1; these, moods and persons are of
    all ``texts``. Of the ``sampled`` ones: cosines ``to_context`` and ``to_right``, ``perplexity``
    (its mean is the exponential of the mean loss), and the share ``judged_right``. None: nothing to
    compare with, or nobody to ask.
    """

    texts: int
    sampled: int
    words: Spread
    shared: Spread
    like_right: Spread | None
    to_context: Spread | None
    to_right: Spread | None
    perplexity: Spread | None
    judged_right: float | None
    questions: float
    first_person: float
    second_person: float
    third_person: float


@dataclass(frozen=True, slots=True)
class Example:
    """A negative to read: the context's last turns, what is said, what was said in truth."""

    id: str
    context: tuple[str, ...]
    text: str
    right: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A generator's negatives of one category, or of ``all``.

    ``again`` counts texts said before to the same context, ``elsewhere`` those that stand under another
    context too, ``equal_to_right`` those that are a right response of theirs. ``words_ratio`` and
    ``perplexity_ratio`` are means against those of right responses. ``told_by`` has, for each cue, the
    area under the ROC curve by which it alone tells negatives from right responses; ``telling_words`` stand
    in more of the negatives.
    """

    source: str
    category: str
    target: str
    negatives: int
    figures: Figures
    again: int
    elsewhere: int
    equal_to_right: int
    words_ratio: float | None
    perplexity_ratio: float | None
    telling_words: tuple[str, ...] = ()
    told_by: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    examples: tuple[Example, ...] = ()

    @property
    def name(self) -> str:
        """``overlap (C-follow)``; of all categories the source alone."""
        return self.source if self.category == ALL else f"{self.source} ({self.category})"

    @property
    def compared_with(self) -> str:
        """What the right texts of this target are called."""
        return "right responses" if self.target == RESPONSE else "the turns as they were"


@dataclass(frozen=True, slots=True)
class Sampled:
    """A pool with the distributions of its sample's scores."""

    pool: Pool
    texts: tuple[Text, ...]
    to_context: Histogram
    to_right: Histogram
    loss: Histogram
    judged: tuple[float, ...]

    def figures(self, threshold: float) -> Figures | None:
        """The figures; nothing of no texts."""
        pool, words, shared = self.pool, self.pool.words.spread(), self.pool.shared.spread()
        if words is None or shared is None:
            return None
        right = sum(one >= threshold for one in self.judged)
        return Figures(
            texts=pool.texts,
            sampled=len(self.texts),
            words=words,
            shared=shared,
            like_right=pool.like_right.spread(),
            to_context=self.to_context.spread(),
            to_right=self.to_right.spread(),
            perplexity=_perplexity(self.loss.spread()),
            judged_right=right / len(self.judged) if self.judged else None,
            questions=pool.questions / pool.texts,
            first_person=pool.persons[1] / pool.texts,
            second_person=pool.persons[2] / pool.texts,
            third_person=pool.persons[3] / pool.texts,
        )


def sampled(pool: Pool, scores: Scores) -> Sampled:
    """The pool's sample with its scores."""
    texts = tuple(pool.sample.texts())
    return Sampled(
        pool,
        texts,
        _histogram(texts, scores.to_context),
        _histogram(texts, scores.to_right),
        _histogram(texts, scores.loss),
        tuple(scores.judged[text] for text in texts if text in scores.judged),
    )


def _histogram(texts: tuple[Text, ...], values: Mapping[Text, float]) -> Histogram:
    return Histogram((values[text] for text in texts if text in values), _STEP)


def _perplexity(loss: Spread | None) -> Spread | None:
    if loss is None:
        return None
    return Spread(exp(loss.mean), exp(loss.lower), exp(loss.median), exp(loss.upper))
