"""Measure how well negatives can be recognised by their words alone, without their contexts.

A ranker that is trained on negatives can learn their typical words instead of their errors. To test this, a
logistic regression over the tf-idf weights of words and word pairs is trained to tell negatives from right
texts, and tested on texts after other contexts (cross-validation). For example, if most negatives and few
right texts contain "not", the regression separates them well. A twin is made like its negative, but without
the error, so the regression should hardly separate negatives from their twins.

The regression minimises the same function as scikit-learn's ``LogisticRegression`` with its default settings
(L2 penalty, C = 1).

Example:
    >>> from graphneg.evaluation.negatives.sampling import Text
    >>> wrong = [Text(str(at), "response", (str(at),), (), "I never swim.") for at in range(40)]
    >>> right = [Text(str(at), "response", (str(at),), (), "I swim a lot.") for at in range(40)]
    >>> wording_auc(wrong, right)
    1.0
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from graphneg.evaluation.negatives.sampling import Text
from graphneg.hashing import number
from graphneg.statistics import roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 20
"""Minimum number of texts of each kind for measuring an area under the ROC curve."""
FOLDS = 5
"""Number of parts into which the contexts are divided. Each part is tested once."""
_STEPS = 300
"""Number of gradient steps with which a regression is trained."""
# Matches a word, which may have an apostrophe inside ("don't"), or a single punctuation mark.
_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")


def tokens(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in lower case.

    Args:
        text: The text.

    Returns:
        The tokens, in text order.

    Example:
        >>> tokens("You don't swim?")
        ['you', "don't", 'swim', '?']
    """
    return _TOKEN.findall(text.lower().replace("’", "'"))


def wording_auc(wrong: Sequence[Text], right: Sequence[Text], seed: int = 0) -> float | None:
    """Return how well a classifier of words and word pairs separates wrong texts from right texts.

    Texts that follow the same original turns (`Text.original_context`) are in the same fold. Otherwise, the
    classifier could recognise a text by the names and topics of its dialogue.

    Args:
        wrong: Wrong texts.
        right: Right texts.
        seed: Seed for dividing the texts into folds.

    Returns:
        The area under the ROC curve, from 0 to 1. It is the mean over the folds, weighted by the number of
        pairs of a wrong and a right text. None if there are fewer than `FEWEST` wrong or right texts.
    """
    if min(len(wrong), len(right)) < FEWEST:
        return None
    texts = [*wrong, *right]
    is_wrong = np.arange(len(texts)) < len(wrong)
    fold = np.array([number(seed, "fold", *text.original_context) % FOLDS for text in texts])
    counts = [_features(text.text) for text in texts]
    areas: list[float] = []
    pairs: list[int] = []
    for held in range(FOLDS):
        trained, tested = np.flatnonzero(fold != held), np.flatnonzero(fold == held)
        if len(set(is_wrong[trained])) < 2 or len(set(is_wrong[tested])) < 2:
            continue
        weights = _TfIdf([counts[at] for at in trained])
        model = _trained(weights.matrix([counts[at] for at in trained]), is_wrong[trained], weights.width)
        scores = weights.matrix([counts[at] for at in tested]).times(model)
        ours, theirs = scores[is_wrong[tested]].tolist(), scores[~is_wrong[tested]].tolist()
        areas.append(roc_auc(ours, theirs))
        pairs.append(len(ours) * len(theirs))
    return float(np.average(areas, weights=pairs)) if areas else None


def _features(text: str) -> Counter[str]:
    """Return how often each word and each pair of neighbouring words occurs in a text."""
    words = tokens(text)
    return Counter([*words, *(f"{first} {second}" for first, second in pairwise(["^", *words, "$"]))])


class _Sparse:
    """A sparse matrix, as the row, the column and the value of each element that is not 0."""

    def __init__(
        self, height: int, rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        self.height, self.rows, self.columns, self.values = height, rows, columns, values

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the product of the matrix and a vector."""
        found = np.bincount(self.rows, self.values * vector[self.columns], minlength=self.height)
        return found.astype(np.float64, copy=False)

    def transposed_times(self, vector: NDArray[np.float64], width: int) -> NDArray[np.float64]:
        """Return the product of the transposed matrix, which has ``width`` rows, and a vector."""
        found = np.bincount(self.columns, self.values * vector[self.rows], minlength=width)
        return found.astype(np.float64, copy=False)


class _TfIdf:
    """Computes tf-idf weights of the words and word pairs that occur in at least two training texts."""

    def __init__(self, training: Sequence[Counter[str]]) -> None:
        texts = Counter(feature for counts in training for feature in counts)
        self._columns = {feature: at for at, feature in enumerate(sorted(f for f in texts if texts[f] > 1))}
        frequencies = np.array([texts[feature] for feature in self._columns], dtype=np.float64)
        self._idf = np.log((1 + len(training)) / (1 + frequencies)) + 1
        # The last column is 1 for each text. Its weight is the intercept of the regression.
        self.width = len(self._columns) + 1

    def matrix(self, texts: Sequence[Counter[str]]) -> _Sparse:
        """Return the tf-idf weights as a matrix with one row per text.

        Each row is scaled to length 1. Then a last column with the value 1 is added for the intercept.
        """
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for row, counts in enumerate(texts):
            known = [(self._columns[one], count) for one, count in counts.items() if one in self._columns]
            own = np.array([count * self._idf[column] for column, count in known])
            length = float(np.sqrt((own**2).sum())) or 1.0
            rows += [row] * (len(known) + 1)
            columns += [*(column for column, _ in known), self.width - 1]
            values += [*(own / length).tolist(), 1.0]
        return _Sparse(len(texts), np.array(rows), np.array(columns), np.array(values))


def _trained(matrix: _Sparse, is_wrong: NDArray[np.bool_], width: int) -> NDArray[np.float64]:
    """Train a logistic regression by accelerated gradient descent (Nesterov 1983).

    The function to minimise is half the squared length of the weights, without the intercept, plus the sum of
    the logistic losses.

    Returns:
        The weights of the columns.
    """
    penalised = np.ones(width)
    penalised[-1] = 0.0
    signs = np.where(is_wrong, 1.0, -1.0)
    # The step size is 1 / L, where L bounds the second derivative of the function to minimise. The penalty
    # contributes 1, and the losses contribute a quarter of the largest eigenvalue of X^T X (X is ``matrix``).
    rate = 1.0 / (1.0 + _largest_eigenvalue(matrix, width) / 4)
    weights = ahead = np.zeros(width)
    for step in range(_STEPS):
        margins = signs * matrix.times(ahead)
        gradient = penalised * ahead - matrix.transposed_times(signs / (1 + np.exp(margins)), width)
        following = ahead - rate * gradient
        ahead = following + step / (step + 3) * (following - weights)
        weights = following
    return weights


def _largest_eigenvalue(matrix: _Sparse, width: int) -> float:
    """Estimate the largest eigenvalue of X^T X by power iteration, where X is ``matrix``."""
    vector = np.ones(width)
    length = 1.0
    for _ in range(20):
        vector = matrix.transposed_times(matrix.times(vector), width)
        length = float(np.linalg.norm(vector)) or 1.0
        vector /= length
    # Power iteration gives a value below the eigenvalue, so add a margin of 5%.
    return 1.05 * length
