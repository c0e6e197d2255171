"""Compute the statistics of each row of the report, and the strength of cues.

A row of the report is a group of negatives with the same source and error category. Statistics are computed
from the counted and sampled texts of the group (`TextPool`) and from the scores of models: an embedder and,
optionally, a language model and a ranker.

A cue is a property, such as length, by which negatives can be told apart from correct responses even without
reading the contexts. The strength of a cue is measured as an area under the ROC curve (AUC). A ranker that is
trained on negatives with a strong cue learns to detect this cue. Single words can be cues as well: see
section 3 of Gururangan et al. (2018), "Annotation Artifacts in Natural Language Inference Data".

Example:
    >>> from graphneg.evaluation.negatives.sampling import Text
    >>> wrong = [Text("1", "response", (), (), text) for text in ("I never swim.", "I never ski.")]
    >>> right = [Text("2", "response", (), (), "I ski.")]
    >>> cue_words(wrong, right)
    ('never',)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from math import exp, isfinite

from graphneg.evaluation.negatives.sampling import (
    ALL,
    RESPONSE,
    Distribution,
    Histogram,
    Text,
    TextPool,
    histogram_auc,
)
from graphneg.evaluation.negatives.wording import FEWEST, tokens, wording_auc
from graphneg.nn.embedders import Embedder
from graphneg.nn.language_models import LanguageModel
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker

CUE_WORDS = 5
"""Maximum number of words that a report lists as cues."""
THRESHOLD = 0.5
"""Default threshold: the judge accepts a response as correct if its score is at or above this threshold."""
# Number of texts that a model scores in one call.
_CHUNK = 64
# Scores of models are rounded to multiples of this step in histograms.
_STEP = 0.01
_Asked = Callable[[Sequence[Text]], Sequence[float]]
Scores = Mapping[str, Mapping[Text, float]]
"""The scores of texts, keyed by the name of the score and then by the text.

``to_context`` is the cosine with the context, ``to_right`` the cosine with the right text for the same turn,
``loss`` the mean loss per token in nats, and ``judged`` the score that the judge gives. A text is missing if
it has no context or no right text with which to compare it, or if its score is not finite.
"""


@dataclass(frozen=True, slots=True)
class Models:
    """The models that score texts.

    Attributes:
        embedder: The embedder, from whose vectors the cosine similarities of texts are computed.
        lm: The language model that computes the loss of texts; None to skip this score.
        judge: The ranker that scores responses from 0 (wrong) to 1 (correct); None to skip this score.
        lm_name: The name of the language model, to be shown in the report.
        judge_name: The name of the judge, to be shown in the report.
    """

    embedder: Embedder
    lm: LanguageModel | None = None
    judge: Ranker | None = None
    lm_name: str = "a language model"
    judge_name: str = "a ranker"


def load_models(embedder: str, lm: str | None, judge: str | None, offline: bool = False) -> Models:
    """Load the models that score texts.

    Raises `ModelError` if a model is missing.

    Args:
        embedder: The name of word vectors, or the name or path of an encoder.
        lm: The name or path of a causal language model, or None for no language model.
        judge: The name or path of a ranker, or None for no judge.
        offline: Whether to use only local files, without downloading models.

    Returns:
        The loaded models with their names.
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

    Raises `ModelError` if a model runs out of memory for a single text.

    Args:
        texts: The texts with their contexts. Duplicates are scored once.
        models: The models that score the texts.
        progress: Progress display, which is advanced by the number of texts that each model has scored.

    Returns:
        The scores, keyed by the name of the score and then by the text.
    """
    bar = progress or NoProgress()
    # Score each text only once, although it occurs in two rows of the report: in the row for its own category
    # and in the row for all categories.
    every = list(dict.fromkeys(texts))
    in_context = [text for text in every if text.context]
    with_right = [text for text in every if text.original is not None]
    embedder, lm, judge = models.embedder, models.lm, models.judge

    def cosines(some: Sequence[Text], others: Sequence[str]) -> list[float]:
        """Return the cosine for each pair of texts: the dot product, because all vectors have length 1."""
        return (embedder.embed([text.text for text in some]) * embedder.embed(others)).sum(axis=1).tolist()

    def ask(label: str, texts: list[Text], model: _Asked) -> dict[Text, float]:
        """Return the scores of the texts by a model. Leave out scores that are infinite or not a number."""
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
            "similarity to contexts",
            in_context,
            lambda some: cosines(some, [" ".join(text.context) for text in some]),
        ),
        "to_right": ask(
            "similarity to correct responses",
            with_right,
            lambda some: cosines(some, [text.original or "" for text in some]),
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
    """The statistics of a group of texts.

    A value is None if it needs a model that was not given, or if the texts have no contexts or no right texts
    to compare them with. Right texts are correct responses, or turns before they were edited.

    Attributes:
        texts: Number of texts.
        sampled: Number of texts in the sample, which models score.
        words: Number of words per text.
        shared: Number of content words per text that also occur in the context.
        like_right: Overlap of content words with the right text for the same turn, from 0 to 1.
        to_context: Cosine with the context, on the sample.
        to_right: Cosine with the right text for the same turn, on the sample.
        perplexity: Perplexity, on the sample. Its mean is the exponential of the mean loss.
        judged_right: Share of the sample that the judge accepts as correct.
        questions: Share of texts that are questions.
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
    """An example of a negative in the report.

    Attributes:
        id: The id of the record.
        context: The last turns of the context.
        text: The wrong text.
        right: The original text that the edit has replaced, or None if the original text is not known.
    """

    id: str
    context: tuple[str, ...]
    text: str
    right: str | None


@dataclass(frozen=True, slots=True)
class CategoryLine:
    """A row of the report: the statistics of the negatives of one source and category.

    Attributes:
        source: The name of the generator or recipe.
        category: The error category, or ``all`` for the negatives of all categories.
        target: The part of the dialogue that may be edited: ``response`` or ``dialogue``.
        negatives: Number of negatives.
        figures: Statistics of the wrong texts of these negatives.
        again: Number of texts that repeat an earlier negative of the same context.
        elsewhere: Number of texts that occur after several contexts.
        equal_to_right: Number of texts that equal a right text with the same context.
        words_ratio: Mean number of words in wrong texts, divided by the mean in right texts.
        perplexity_ratio: Mean perplexity of wrong texts, divided by the mean perplexity of right texts.
        cue_words: Words that are more frequent in wrong texts than in right texts, sorted by the difference
            from largest to smallest.
        cue_auc: The areas under the ROC curve, keyed by cue. The value is None if there are too few texts to
            measure the cue.
        twins_auc: The area under the ROC curve for telling the negatives from their twins by words and word
            pairs. None if too few of them have a twin.
        examples: Examples of the negatives.
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
    twins_auc: float | None = None
    examples: tuple[NegativeExample, ...] = ()

    @property
    def name(self) -> str:
        """The source and the error category, such as ``overlap (C-follow)``, or only the source."""
        return self.source if self.category == ALL else f"{self.source} ({self.category})"

    @property
    def compared_with(self) -> str:
        """The texts with which negatives are compared: "correct responses" or "the original turns"."""
        return "correct responses" if self.target == RESPONSE else "the original turns"


class ScoredPool:
    """The counts of a group of texts, such as a row of the report, with the scores of the sampled texts.

    Attributes:
        pool: The counts and the sample of the group.
        texts: The texts in the sample.
        histograms: Histograms of the scores, keyed by the name of the score.
    """

    def __init__(self, pool: TextPool, scores: Scores) -> None:
        """Collect the scores of the sampled texts in histograms.

        Args:
            pool: The counts and the sample of the group of texts.
            scores: The scores of sampled texts. Texts that are not in the sample of this group are ignored.
        """
        self.pool = pool
        self.texts = tuple(pool.sample.items())
        values = {name: [of[text] for text in self.texts if text in of] for name, of in scores.items()}
        self._judged = values.get("judged", [])
        self.histograms = {
            name: Histogram(values.get(name, ()), _STEP) for name in ("to_context", "to_right", "loss")
        }

    def figures(self, threshold: float) -> Figures | None:
        """Return the statistics of the texts, as the report shows them.

        Args:
            threshold: The judge accepts a response as correct if its score is at or above this threshold.

        Returns:
            The statistics, or None if there are no texts.
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
            # Perplexity is exp(loss). Since exp() is monotonic, the quartiles of the perplexity are exp() of
            # the quartiles of the loss.
            perplexity=None if loss is None else Distribution(*map(exp, astuple(loss))),
            judged_right=right / len(self._judged) if self._judged else None,
            questions=pool.questions / pool.texts,
            first_person=pool.persons[1] / pool.texts,
            second_person=pool.persons[2] / pool.texts,
            third_person=pool.persons[3] / pool.texts,
        )


def cue_aucs(wrong: ScoredPool, right: ScoredPool) -> dict[str, float | None]:
    """Return the strength of each cue by which wrong texts can be told apart from right texts.

    Args:
        wrong: Statistics and scores of wrong texts.
        right: Statistics and scores of right texts.

    Returns:
        The areas under the ROC curve, rounded to four digits and keyed by cue. An area is None if there are
        fewer than `FEWEST` wrong texts or right texts.
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
        # A cue with AUC 0.3 is as strong as a cue with AUC 0.7. For example, negatives may be shorter than
        # correct responses (0.3) or longer (0.7).
        areas[cue] = None if above is None else round(max(above, 1 - above), 4)
    return {**areas, "words": _rounded(wording_auc(wrong.texts, right.texts))}


def twins_auc(wrong: Sequence[Text], twins: Mapping[str, Text]) -> float | None:
    """Return how well negatives can be told from their twins by their words alone.

    A twin is made like its negative, but without the error.

    Args:
        wrong: Texts of negatives. Texts without a twin are ignored.
        twins: Texts of twins, keyed by the id of the minimal pair.

    Returns:
        The area under the ROC curve, rounded to four digits; None if too few of the texts have a twin.
    """
    paired = [text for text in wrong if text.pair in twins]
    return _rounded(wording_auc(paired, [twins[text.pair or ""] for text in paired]))


def _rounded(area: float | None) -> float | None:
    return None if area is None else round(area, 4)


def cue_words(wrong: Sequence[Text], right: Sequence[Text], most: int = CUE_WORDS) -> tuple[str, ...]:
    """Return the words that are most characteristic of wrong texts.

    Args:
        wrong: Texts of negatives.
        right: Correct responses or original turns, with which the negatives are compared.
        most: Maximum number of words.

    Returns:
        The words, sorted from most to least characteristic. For each word, the share of texts in ``right``
        with the word is subtracted from the share in ``wrong``. The words with the largest differences are
        the most characteristic.
    """
    if not wrong or not right:
        return ()
    counts = [Counter(word for text in texts for word in set(tokens(text.text))) for texts in (wrong, right)]
    more = {
        word: count / len(wrong) - counts[1][word] / len(right)
        for word, count in counts[0].items()
        # Do not report punctuation marks, or words that occur in only one wrong text.
        if count > 1 and any(map(str.isalnum, word))
    }
    ordered = sorted(more, key=lambda word: (-more[word], word))
    return tuple(word for word in ordered[:most] if more[word] > 0)
