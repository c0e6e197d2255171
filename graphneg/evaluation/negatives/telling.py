"""How easily negatives are told from right responses without reading the context for its meaning.

A ranker that is trained on negatives which one cue tells apart learns that cue. As an area under the
ROC curve: 0.5 tells nothing, 1.0 tells all. Word lists as cues: Gururangan et al. 2018, "Annotation
Artifacts in Natural Language Inference Data", section 3.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from graphneg.evaluation.negatives.histogram import Histogram, area
from graphneg.evaluation.negatives.texts import Text
from graphneg.hashing import number

FEWEST, TELLING = 20, 5
"""Texts on either side without which a cue says nothing, and words that a report names."""
_TOKEN = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")
_STEP = 0.01


def told(wrong: Histogram, right: Histogram) -> float | None:
    """How well one number tells wrong from right texts, whichever has more of it; none of too few texts."""
    if min(wrong.total, right.total) < FEWEST:
        return None
    above = area(wrong, right)
    return max(above, 1 - above)


def told_by_words(wrong: Sequence[Text], right: Sequence[Text], seed: int = 0) -> float | None:
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
    return area(wrong_scores, right_scores)


def telling_words(wrong: Sequence[Text], right: Sequence[Text], most: int = TELLING) -> tuple[str, ...]:
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
