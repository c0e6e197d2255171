"""Trains where the polarity of *no* stands: on the noun, or on what the noun does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.denial import denials, features
from graphneg.parsers.dependency.learned.network import Model
from graphneg.parsers.dependency.training.bags import stored, vocabulary
from graphneg.parsers.dependency.training.gold import GoldGraph

STEPS, PENALTY, LEAST = 12, 1.5, 1e-4
_NO = re.compile(r"\bno\b", re.IGNORECASE)


def has_no(text: str) -> bool:
    """Whether a sentence has the word *no*."""
    return _NO.search(text) is not None


def lessons(draft: Draft, gold: GoldGraph) -> Iterator[tuple[list[str], bool]]:
    """Each *no* that stands beside a subject: its features, and whether the verb is denied."""
    denied = {gold.nodes[head].token for head, role, _ in gold.arcs if role == "polarity"}
    for found in denials(draft.words):
        if (found.verb in denied) != (found.noun in denied):
            yield features(draft.words, found), found.verb in denied


def train_denial(drafts: Sequence[Draft], golds: Sequence[GoldGraph]) -> Model:
    """Fits a logistic regression with an L2 penalty, by Newton's steps on the weights of the lessons."""
    found = [one for draft, gold in zip(drafts, golds, strict=True) for one in lessons(draft, gold)]
    known = vocabulary((bag for bag, _ in found), 1)
    rows = np.zeros((len(found), len(known)), np.float64)
    for row, (bag, _) in enumerate(found):
        rows[row, [known[feature] for feature in bag]] = 1
    right = np.array([verb for _, verb in found], np.float64)
    alike = rows @ rows.T
    shares = np.zeros(len(found))
    for _ in range(STEPS if len(found) else 0):
        odds = alike @ shares
        guess = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        unsure = np.maximum(guess * (1 - guess), LEAST)
        shares = np.linalg.solve(alike + np.diag(PENALTY / unsure), odds + (right - guess) / unsure)
    weights = rows.T @ shares
    return stored(Model({"denial": known}, {"denial": weights[:, None].astype(np.float32)}))
