"""``frequency``: what replies moved to most often from the post's keywords; no model."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.shift.candidates import Focus, Post
from graphneg.shift.prediction.base import Choice

REPEAT = 0.02
"""What it adds for a reply to take up a keyword of the post itself, as a probability."""


class FrequencyPredictor:
    """Ranks by P(p | f), summed over the foci of the post, each weighed by its salience."""

    name = "frequency"

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        choices: list[Choice] = []
        for subset in subsets:
            scored = [(-likelihood(post, one), one) for one in subset]
            score, text = min(scored)
            choices.append(Choice(text, -score))
        return choices


def likelihood(post: Post, perspective: str) -> float:
    """P(perspective | post), as the mean over the foci by salience, and a bonus for repeated keywords."""
    salience = total = 0.0
    for focus in post.foci:
        salience += focus.salience
        total += focus.salience * focus.likelihoods.of(perspective)
    return total / salience + REPEAT * post.keywords.get(perspective, 0.0)
