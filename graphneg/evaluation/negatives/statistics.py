"""The figures of one line: what negatives, or right responses, are like, and what models say of them.

In: counted texts and their samples, and models: word vectors, a language model, a ranker. Out: `Figures`,
and the cues that alone tell negatives from right responses, each as an area under the ROC curve: a ranker
that is trained on negatives which one cue tells apart learns that cue. Words as cues: Gururangan et al.
2018, "Annotation Artifacts in Natural Language Inference Data", section 3.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from graphneg.evaluation.negatives.sampling import (
    ALL,
    RESPONSE,
    Distribution,
    Histogram,
    Text,
    TextPool,
    histogram_auc,
)
from graphneg.hashing import number
from graphneg.nn.embedders import Embedder
from graphneg.nn.language_models import LanguageModel
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


def load_models(embedder: str, lm: str | None, judge: str | None, offline: bool = False) -> Models:
    """Models by name: word vectors or an encoder, a causal language model, a ranker.

    Raises:
        ModelError: there is no such model.
    """
    from graphneg.nn.embedders import get_embedder, is_static
    from graphneg.nn.models import load_causal
    from graphneg.rankers.base import load_ranker

    options = {} if is_static(embedder) else {"offline": offline}
    return Models(
        get_embedder(embedder, **options),
        None if lm is None else load_causal(lm, offline=offline),
        None if judge is None else load_ranker(judge, offline=offline),
        lm or "",
        judge or "",
    )


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
    every = list(dict.fromkeys(texts))
    in_context = [text for text in every if text.context]
    with_right = [text for text in every if text.right is not None]
    embedder, lm, judge = models.embedder, models.lm, models.judge

    def to_context(some: Sequence[Text]) -> list[float]:
        return _cosines(embedder, some, [" ".join(text.context) for text in some])

    def to_right(some: Sequence[Text]) -> list[float]:
        return _cosines(embedder, some, [text.right or "" for text in some])

    scores = Scores(
        _asked("closeness to contexts", in_context, to_context, bar),
        _asked("closeness to right responses", with_right, to_right, bar),
    )
    if lm is not None:
        losses = _asked("fluency", every, lambda some: lm.score([text.text for text in some]), bar)
        of_words = {text: loss for text, loss in losses.items() if math.isfinite(loss)}
        scores = replace(scores, loss=of_words)
    if judge is not None:
        judged = _asked(
            "judging",
            in_context,
            lambda some: judge.score([text.context for text in some], [text.text for text in some]),
            bar,
        )
        scores = replace(scores, judged=judged)
    return scores


def _asked(
    label: str, texts: Sequence[Text], ask: Callable[[Sequence[Text]], Sequence[float]], bar: Progress
) -> dict[Text, float]:
    """What ``ask`` says of each text, some at a time."""
    bar.start(label, len(texts), "texts")
    answers: dict[Text, float] = {}
    for at in range(0, len(texts), _CHUNK):
        some = texts[at : at + _CHUNK]
        answers.update(zip(some, ask(some), strict=True))
        bar.advance(len(some))
    bar.finish()
    return answers


def _cosines(embedder: Embedder, some: Sequence[Text], others: Sequence[str]) -> list[float]:
    return (embedder.embed([text.text for text in some]) * embedder.embed(others)).sum(axis=1).tolist()


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
    words: Distribution
    shared: Distribution
    like_right: Distribution | None
    to_context: Distribution | None
    to_right: Distribution | None
    perplexity: Distribution | None
    judged_right: float | None
    questions: float
    first_person: float
    second_person: float
    third_person: float


@dataclass(frozen=True, slots=True)
class NegativeExample:
    """A negative to read: the context's last turns, what is said, what was said in truth."""

    id: str
    context: tuple[str, ...]
    text: str
    right: str | None


@dataclass(frozen=True, slots=True)
class CategoryLine:
    """A generator's negatives of one category, or of ``all``.

    ``again`` counts texts said before to the same context, ``elsewhere`` those that stand under another
    context too, ``equal_to_right`` those that are a right response of theirs. ``words_ratio`` and
    ``perplexity_ratio`` are means against those of right responses. ``cue_auc`` has, for each cue, the
    area under the ROC curve by which it alone tells negatives from right responses; ``cue_words`` stand
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
    cue_words: tuple[str, ...] = ()
    cue_auc: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    examples: tuple[NegativeExample, ...] = ()

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

    pool: TextPool
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


def sampled(pool: TextPool, scores: Scores) -> Sampled:
    """The pool's sample with its scores."""
    texts = tuple(pool.sample.items())
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


def _perplexity(loss: Distribution | None) -> Distribution | None:
    if loss is None:
        return None
    return Distribution(exp(loss.mean), exp(loss.lower), exp(loss.median), exp(loss.upper))


FEWEST, CUE_WORDS = 20, 5
"""Texts on either side without which a cue says nothing, and words that a report names."""
_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")


def cue_auc(wrong: Histogram, right: Histogram) -> float | None:
    """How well one number tells wrong from right texts, whichever has more of it; none of too few texts."""
    if min(wrong.total, right.total) < FEWEST:
        return None
    above = histogram_auc(wrong, right)
    return max(above, 1 - above)


def words_cue_auc(wrong: Sequence[Text], right: Sequence[Text], seed: int = 0) -> float | None:
    """How well a bag of words tells wrong from right texts: naive Bayes over the words that stand in a text.

    The contexts are parted in two by hash, and each half is told by what the other half teaches: below 0.5
    the words of one half mislead in the other. None of too few texts.
    """
    if min(len(wrong), len(right)) < FEWEST:
        return None
    wrong_halves, right_halves = _halves(wrong, seed), _halves(right, seed)
    wrong_scores, right_scores = Histogram(step=_STEP), Histogram(step=_STEP)
    for held, learned in ((0, 1), (1, 0)):
        weights = _Weights(wrong_halves[learned], right_halves[learned])
        for scores, halves in ((wrong_scores, wrong_halves), (right_scores, right_halves)):
            for words in halves[held]:
                scores.add(weights.of(words))
    return histogram_auc(wrong_scores, right_scores)


def cue_words(wrong: Sequence[Text], right: Sequence[Text], most: int = CUE_WORDS) -> tuple[str, ...]:
    """The words that stand in a larger share of wrong texts than of right ones, by that difference."""
    if not wrong or not right:
        return ()
    counts = [Counter(word for text in texts for word in _tokens(text.text)) for texts in (wrong, right)]
    more = {
        word: count / len(wrong) - counts[1][word] / len(right)
        for word, count in counts[0].items()
        if count > 1 and any(map(str.isalnum, word))
    }
    ordered = sorted(more, key=lambda word: (-more[word], word))
    return tuple(word for word in ordered[:most] if more[word] > 0)


class _Weights:
    """Log odds of a word in wrong against right texts, one text of each added."""

    def __init__(self, *sides: Sequence[frozenset[str]]) -> None:
        self._counts = [Counter(word for words in texts for word in words) for texts in sides]
        self._texts = [len(texts) for texts in sides]

    def of(self, words: Iterable[str]) -> float:
        """The log odds of a text with these words."""
        return sum(self._odds(0, word) - self._odds(1, word) for word in words)

    def _odds(self, side: int, word: str) -> float:
        return math.log((self._counts[side][word] + 0.5) / (self._texts[side] + 1))


def _halves(texts: Sequence[Text], seed: int) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The words of each text, in two parts by its context."""
    halves: tuple[list[frozenset[str]], list[frozenset[str]]] = ([], [])
    for text in texts:
        halves[number(seed, "half", *text.place) % 2].append(_tokens(text.text))
    return halves


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.lower()))
