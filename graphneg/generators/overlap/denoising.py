"""Leaving out what is a right answer after all: a scorer of one's own names the likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.generators.overlap.choosing import Listed


class Denoiser(Protocol):
    """Tells how likely a text is a right response; a ranker trained on random negatives does."""

    name: str

    def score(self, contexts: Sequence[Context], texts: Sequence[str]) -> Sequence[float]:
        """One number for each context and its text, in order; higher: likelier a right response."""
        ...


def likeliest(
    denoiser: Denoiser, contexts: Sequence[Context], lists: Sequence[Sequence[Sequence[Listed]]], share: float
) -> list[frozenset[str]]:
    """For each context the keys of listed sentences that go: the ``share`` that the denoiser likes best.

    Raises:
        GeneratorError: it does not give one number for each text.
    """
    keyed = [list({one.key: one.sentence.text for each in some for one in each}.items()) for some in lists]
    asked = [(context, text) for context, some in zip(contexts, keyed, strict=True) for _, text in some]
    scores = denoiser.score([context for context, _ in asked], [text for _, text in asked])
    if len(scores) != len(asked):
        raise GeneratorError(f"denoiser {denoiser.name} gave {len(scores)} scores for {len(asked)} texts")
    found: list[frozenset[str]] = []
    at = 0
    for some in keyed:
        ranked = sorted(zip(scores[at : at + len(some)], some, strict=True), key=_highest_first)
        found.append(frozenset(key for _, (key, _) in ranked[: round(share * len(some))]))
        at += len(some)
    return found


def _highest_first(one: tuple[float, tuple[str, str]]) -> tuple[float, str]:
    return -one[0], one[1][0]
