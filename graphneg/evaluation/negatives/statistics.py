"""Compute the statistics of one line of the report, and the strength of cues.

The input is a pool of counted and sampled texts, and models: an embedder and, optionally, a language model
and a ranker. A cue is a property that separates negatives from right responses by itself. Its strength is an
area under the ROC curve. A ranker that is trained on negatives with a strong cue learns that cue. Words as
cues: Gururangan et al. (2018), "Annotation Artifacts in Natural Language Inference Data", section 3.

Example:
    >>> from graphneg.evaluation.negatives.sampling import Text
    >>> wrong = [Text("1", "response", (), (), text) for text in ("I never swim.", "I never ski.")]
    >>> right = [Text("2", "response", (), (), "I ski.")]
    >>> cue_words(wrong, right)
    ('never',)
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
"""The minimum number of texts on each side for a cue, and the number of words that a report names."""
THRESHOLD = 0.5
"""The judge's scores at or above this threshold count as right."""
# Texts per call of a model.
_CHUNK = 64
# Rounding of model scores in histograms.
_STEP = 0.01
# Words with inner apostrophes ("don't"), and single punctuation marks.
_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")

_Asked = Callable[[Sequence[Text]], Sequence[float]]
Scores = Mapping[str, Mapping[Text, float]]
"""Scores of texts, by name of the score and text.

``to_context`` and ``to_right`` are cosines with the context and the right response, ``loss`` is the mean loss
per token in nats, and ``judged`` is the judge's score. A text without a context, without a right response, or
without a finite score is missing.
"""


@dataclass(frozen=True, slots=True)
class Models:
    """The models that score texts.

    Attributes:
        embedder: Embeds texts for cosines.
        lm: Computes the loss of texts.
        judge: Scores responses from 0 to 1.
        lm_name: The name of the language model in the report.
        judge_name: The name of the judge in the report.
    """

    embedder: Embedder
    lm: LanguageModel | None = None
    judge: Ranker | None = None
    lm_name: str = "a language model"
    judge_name: str = "a ranker"


def load_models(embedder: str, lm: str | None, judge: str | None, offline: bool = False) -> Models:
    """Load models by name.

    A missing model raises `ModelError`.

    Args:
        embedder: The name of word vectors or of an encoder.
        lm: The name of a causal language model, or None.
        judge: The name of a ranker, or None.
        offline: Do not download models.

    Returns:
        The models.
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
    """Score each text once with every model.

    A model that runs out of memory with a single text raises `ModelError`.

    Args:
        texts: The texts. Duplicates are scored once.
        models: The models.
        progress: Receives progress updates.

    Returns:
        The scores by name and text.
    """
    bar = progress or NoProgress()
    # The line of all negatives and the lines of its categories share texts.
    every = list(dict.fromkeys(texts))
    in_context = [text for text in every if text.context]
    with_right = [text for text in every if text.right is not None]
    embedder, lm, judge = models.embedder, models.lm, models.judge

    def cosines(some: Sequence[Text], others: Sequence[str]) -> list[float]:
        """Return the cosines of texts with other texts; embeddings have length 1."""
        return (embedder.embed([text.text for text in some]) * embedder.embed(others)).sum(axis=1).tolist()

    def ask(label: str, texts: list[Text], model: _Asked) -> dict[Text, float]:
        """Score texts in chunks and drop scores that are not finite."""
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
    """Statistics of some texts.

    A value is None if there is nothing to compare with or no model was given.

    Attributes:
        texts: Number of texts.
        sampled: Number of texts in the sample that models scored.
        words: Words per text.
        shared: Content words per text that the context has, too.
        like_right: Overlap of content words with the right response, 0 to 1.
        to_context: Cosine with the context, on the sample.
        to_right: Cosine with the right response, on the sample.
        perplexity: Perplexity, on the sample. Its mean is the exponential of the mean loss.
        judged_right: Share of the sample that the judge takes for right.
        questions: Share of questions.
        first_person: Share of texts in the first person.
        second_person: Share of texts in the second person.
        third_person: Share of texts in the third person.
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
    """An example of a negative.

    Attributes:
        id: The id of the record.
        context: The last turns of the context.
        text: The wrong text.
        right: The original text in its place, if known.
    """

    id: str
    context: tuple[str, ...]
    text: str
    right: str | None


@dataclass(frozen=True, slots=True)
class CategoryLine:
    """Statistics of the negatives of one source and category.

    Attributes:
        source: The generator or recipe.
        category: The error category, or ``all``.
        target: ``response`` or ``dialogue``.
        negatives: Number of negatives.
        figures: Statistics of their texts.
        again: Number of texts that repeat a negative of the same context.
        elsewhere: Number of texts that occur under several contexts.
        equal_to_right: Number of texts that equal a right response of their context.
        words_ratio: Mean number of words, divided by that of right responses.
        perplexity_ratio: Mean perplexity, divided by that of right responses.
        cue_words: Words that are more frequent in negatives than in right responses.
        cue_auc: Area under the ROC curve of each cue, or None with too few texts.
        examples: Some of the negatives.
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
        """The name of the line, such as ``overlap (C-follow)``, or the source alone for all categories."""
        return self.source if self.category == ALL else f"{self.source} ({self.category})"

    @property
    def compared_with(self) -> str:
        """The name of the right texts that the line is compared with."""
        return "right responses" if self.target == RESPONSE else "the original turns"


class Sampled:
    """A pool of texts together with the scores of its sample.

    Attributes:
        pool: The pool.
        texts: The texts of the sample.
        histograms: Histograms of the scores, by name.
    """

    def __init__(self, pool: TextPool, scores: Scores) -> None:
        """Initialize the histograms.

        Args:
            pool: The pool.
            scores: The scores of the texts of all pools.
        """
        self.pool = pool
        self.texts = tuple(pool.sample.items())
        values = {name: [of[text] for text in self.texts if text in of] for name, of in scores.items()}
        self._judged = values.get("judged", [])
        self.histograms = {
            name: Histogram(values.get(name, ()), _STEP) for name in ("to_context", "to_right", "loss")
        }

    def figures(self, threshold: float) -> Figures | None:
        """Return the statistics of the pool.

        Args:
            threshold: The judge's scores at or above this threshold count as right.

        Returns:
            The statistics, or None for a pool without texts.
        """
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
            # exp() is monotonic, so the quartiles of the loss give those of the perplexity.
            perplexity=None if loss is None else Distribution(*map(exp, astuple(loss))),
            judged_right=right / len(self._judged) if self._judged else None,
            questions=pool.questions / pool.texts,
            first_person=pool.persons[1] / pool.texts,
            second_person=pool.persons[2] / pool.texts,
            third_person=pool.persons[3] / pool.texts,
        )


def cue_aucs(wrong: Sampled, right: Sampled) -> dict[str, float | None]:
    """Return the strength of each cue.

    Args:
        wrong: Wrong texts.
        right: Right texts.

    Returns:
        The area under the ROC curve by cue, rounded to four digits, or None with fewer than `FEWEST` texts on
        a side.
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
        # A numeric cue works in either direction, so 0.3 is as strong as 0.7.
        areas[cue] = None if above is None else round(max(above, 1 - above), 4)
    words = words_cue_auc(wrong.texts, right.texts)
    return {**areas, "words": None if words is None else round(words, 4)}


def words_cue_auc(wrong: Sequence[Text], right: Sequence[Text], seed: int = 0) -> float | None:
    """Return how well a bag of words separates wrong from right texts.

    A naive Bayes classifier over the words of a text is trained and tested in a two-fold cross-validation.
    The folds are split by context.

    Args:
        wrong: Wrong texts.
        right: Right texts.
        seed: Seed of the split.

    Returns:
        The area under the ROC curve, or None with fewer than `FEWEST` texts on a side. A value below 0.5
        means that the words of one half mislead in the other half.
    """
    if min(len(wrong), len(right)) < FEWEST:
        return None
    sides: list[tuple[list[frozenset[str]], list[frozenset[str]]]] = [([], []), ([], [])]
    for halves, texts in zip(sides, (wrong, right), strict=True):
        for text in texts:
            # Split by context, so that no test text follows a context of the training half.
            halves[number(seed, "half", *text.place) % 2].append(_tokens(text.text))
    scores = [Histogram(step=_STEP) for _ in sides]
    # Train on one half and test on the other.
    for held, learned in ((0, 1), (1, 0)):
        ours, theirs = (Counter(chain.from_iterable(halves[learned])) for halves in sides)
        n, m = (len(halves[learned]) + 1 for halves in sides)
        # Log odds of wrong against right, smoothed by one text with half of each word. "" is an unseen word.
        odds = {
            word: log((ours[word] + 0.5) / n) - log((theirs[word] + 0.5) / m) for word in ("", *ours, *theirs)
        }
        for histogram, halves in zip(scores, sides, strict=True):
            for words in halves[held]:
                histogram.add(sum(odds.get(word, odds[""]) for word in words))
    return histogram_auc(*scores)


def cue_words(wrong: Sequence[Text], right: Sequence[Text], most: int = CUE_WORDS) -> tuple[str, ...]:
    """Return the words that are most characteristic of wrong texts.

    Args:
        wrong: Wrong texts.
        right: Right texts.
        most: Maximum number of words.

    Returns:
        The words with the largest difference between their shares of wrong and of right texts, largest first.
    """
    if not wrong or not right:
        return ()
    counts = [Counter(word for text in texts for word in _tokens(text.text)) for texts in (wrong, right)]
    more = {
        word: count / len(wrong) - counts[1][word] / len(right)
        for word, count in counts[0].items()
        # A word that occurs once, or a punctuation mark, is no cue to report.
        if count > 1 and any(map(str.isalnum, word))
    }
    ordered = sorted(more, key=lambda word: (-more[word], word))
    return tuple(word for word in ordered[:most] if more[word] > 0)


def _tokens(text: str) -> frozenset[str]:
    """Return the lower-case tokens of a text."""
    return frozenset(_TOKEN.findall(text.lower()))
