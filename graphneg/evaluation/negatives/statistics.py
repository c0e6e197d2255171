"""The figures of one line: what negatives, or right responses, are like, and what models say of them.

In: counted texts and their samples, and models: word vectors, a language model, a ranker. Out: `Figures`,
and the cues that alone tell negatives from right responses, each as an area under the ROC curve: a ranker
that is trained on negatives which one cue tells apart learns that cue. Words as cues: Gururangan et al.
2018, "Annotation Artifacts in Natural Language Inference Data", section 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import chain
from math import exp, isfinite, log

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

FEWEST, CUE_WORDS = 20, 5
"""Texts on either side without which a cue says nothing, and words that a report names."""
THRESHOLD = 0.5
"""A judge's score from here on says: right."""
_CHUNK = 64
_STEP = 0.01
_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")

_Asked = Callable[[Sequence[Text]], Sequence[float]]
Scores = Mapping[str, Mapping[Text, float]]
"""By name, then by text: cosines ``to_context`` and ``to_right``, the ``loss`` (nats a token), the judge's
score (``judged``). A text is left out where there is nothing to compare it with, or nobody to ask."""


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

    Raises `ModelError`: there is no such model.
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


def score(texts: Sequence[Text], models: Models, progress: Progress | None = None) -> Scores:
    """Ask the models about each text once.

    Raises `ModelError`: memory does not suffice for one text alone.
    """
    bar = progress or NoProgress()
    every = list(dict.fromkeys(texts))
    in_context = [text for text in every if text.context]
    with_right = [text for text in every if text.right is not None]
    embedder, lm, judge = models.embedder, models.lm, models.judge

    def cosines(some: Sequence[Text], others: Sequence[str]) -> list[float]:
        return (embedder.embed([text.text for text in some]) * embedder.embed(others)).sum(axis=1).tolist()

    def ask(label: str, texts: list[Text], model: _Asked) -> dict[Text, float]:
        bar.start(label, len(texts), "texts")
        answers: dict[Text, float] = {}
        for start in range(0, len(texts), _CHUNK):
            some = texts[start : start + _CHUNK]
            answers.update(zip(some, model(some), strict=True))
            bar.advance(len(some))
        bar.finish()
        return {text: answer for text, answer in answers.items() if isfinite(answer)}

    scores = {
        "to_context": ask(
            "closeness to contexts",
            in_context,
            lambda some: cosines(some, [" ".join(text.context) for text in some]),
        ),
        "to_right": ask(
            "closeness to right responses",
            with_right,
            lambda some: cosines(some, [text.right or "" for text in some]),
        ),
    }
    if lm is not None:
        scores["loss"] = ask("fluency", every, lambda some: lm.score([text.text for text in some]))
    if judge is not None:
        scores["judged"] = ask(
            "judging",
            in_context,
            lambda some: judge.score([text.context for text in some], [text.text for text in some]),
        )
    return scores


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


class Sampled:
    """A pool, the ``texts`` of its sample, and histograms of their scores by name."""

    def __init__(self, pool: TextPool, scores: Scores) -> None:
        self.pool = pool
        self.texts = tuple(pool.sample.items())
        values = {name: [of[text] for text in self.texts if text in of] for name, of in scores.items()}
        self._judged = values.get("judged", [])
        self.histograms = {
            name: Histogram(values.get(name, ()), _STEP) for name in ("to_context", "to_right", "loss")
        }

    def figures(self, threshold: float) -> Figures | None:
        """The figures; nothing of no texts."""
        pool, words, shared = self.pool, self.pool.words.spread(), self.pool.shared.spread()
        if words is None or shared is None:
            return None
        loss = self.histograms["loss"].spread()
        right = sum(judged >= threshold for judged in self._judged)
        return Figures(
            texts=pool.texts,
            sampled=len(self.texts),
            words=words,
            shared=shared,
            like_right=pool.like_right.spread(),
            to_context=self.histograms["to_context"].spread(),
            to_right=self.histograms["to_right"].spread(),
            perplexity=None if loss is None else Distribution(*map(exp, astuple(loss))),
            judged_right=right / len(self._judged) if self._judged else None,
            questions=pool.questions / pool.texts,
            first_person=pool.persons[1] / pool.texts,
            second_person=pool.persons[2] / pool.texts,
            third_person=pool.persons[3] / pool.texts,
        )


def cue_aucs(wrong: Sampled, right: Sampled) -> dict[str, float | None]:
    """How well each cue alone tells wrong from right texts, to four digits; none of too few texts.

    That is an area under the ROC curve: of one number whichever side has more of it.
    """
    pairs = {
        "length": (wrong.pool.words, right.pool.words),
        "overlap": (wrong.pool.shared, right.pool.shared),
        "similarity": (wrong.histograms["to_context"], right.histograms["to_context"]),
        "fluency": (wrong.histograms["loss"], right.histograms["loss"]),
    }
    areas: dict[str, float | None] = {}
    for cue, (ours, theirs) in pairs.items():
        above = histogram_auc(ours, theirs) if min(ours.total, theirs.total) >= FEWEST else None
        areas[cue] = None if above is None else round(max(above, 1 - above), 4)
    words = words_cue_auc(wrong.texts, right.texts)
    return {**areas, "words": None if words is None else round(words, 4)}


def words_cue_auc(wrong: Sequence[Text], right: Sequence[Text], seed: int = 0) -> float | None:
    """How well a bag of words tells wrong from right texts: naive Bayes over the words that stand in a text.

    The contexts are parted in two by hash, and each half is told by what the other half teaches: below 0.5
    the words of one half mislead in the other. None of too few texts.
    """
    if min(len(wrong), len(right)) < FEWEST:
        return None
    sides: list[tuple[list[frozenset[str]], list[frozenset[str]]]] = [([], []), ([], [])]
    for halves, texts in zip(sides, (wrong, right), strict=True):
        for text in texts:
            halves[number(seed, "half", *text.place) % 2].append(_tokens(text.text))
    scores = [Histogram(step=_STEP) for _ in sides]
    for held, learned in ((0, 1), (1, 0)):
        ours, theirs = (Counter(chain.from_iterable(halves[learned])) for halves in sides)
        n, m = (len(halves[learned]) + 1 for halves in sides)
        odds = {  # of wrong against right, one text of each added; "" is for a word that was not seen
            word: log((ours[word] + 0.5) / n) - log((theirs[word] + 0.5) / m) for word in ("", *ours, *theirs)
        }
        for histogram, halves in zip(scores, sides, strict=True):
            for words in halves[held]:
                histogram.add(sum(odds.get(word, odds[""]) for word in words))
    return histogram_auc(*scores)


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


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.lower()))
