"""What language models say of candidates, weighed with what the shift graph counts."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from graphneg.shift.candidates import Post
from graphneg.shift.prediction.base import Choice
from graphneg.shift.prediction.frequency import likelihood

_LEAST = 1e-12


def best_of(post: Post, scores: Mapping[str, float], prior: float) -> Choice:
    """The best candidate by ``score + prior * log P(p | post)``; of equal ones the first by name."""
    weighed = {text: score + prior * log_likelihood(post, text) for text, score in scores.items()}
    text = min(weighed, key=lambda one: (-weighed[one], one))
    return Choice(text, weighed[text])


def log_likelihood(post: Post, perspective: str) -> float:
    """``log P(perspective | post)`` of the counts, finite for what was never seen, too."""
    return log(max(likelihood(post, perspective), _LEAST))
