"""Substitutes of reply perspectives: candidates, split and predicted, for replies of a store.

The result of one reply is a ranked list; that of a corpus is a file of JSON lines, resumable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphneg.editing.originals import Selection
from graphneg.progress import NoProgress, Progress
from graphneg.shift.candidates import Post, Reach, Reply, Splitting, all_replies, posts
from graphneg.shift.likelihood import Shifts
from graphneg.shift.prediction import Predictor
from graphneg.store import Store


@dataclass(frozen=True, slots=True)
class Substitute:
    """A perspective that a reply could have moved to, from which focus; higher scores are better."""

    focus: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Substitutes:
    """The substitutes of one reply, the best first; no two have the same text."""

    reply: Reply
    ranked: tuple[Substitute, ...]


def ranked_substitutes(post: Post, predictor: Predictor, splitting: Splitting) -> tuple[Substitute, ...]:
    """What the predictor takes of each subset of each focus, the best first (CAPT, Algorithm 1).

    A perspective that is taken for several foci stands once, with its best score; of equal ones the
    first focus, which is the most salient, counts.
    """
    best: dict[str, Substitute] = {}
    for focus in post.foci:
        subsets = splitting.split(focus.text, focus.candidates)
        for choice in predictor.choose(post, focus, subsets):
            before = best.get(choice.text)
            if before is None or choice.score > before.score:
                best[choice.text] = Substitute(focus.text, choice.text, choice.score)
    return tuple(sorted(best.values(), key=lambda one: (-one.score, one.text)))


def substitutes_of(
    shifts: Shifts,
    replies: Sequence[Reply],
    predictor: Predictor,
    *,
    reach: Reach | None = None,
    splitting: Splitting | None = None,
) -> list[Substitutes]:
    """The substitutes of each reply, in order; empty where no keyword before it leads anywhere."""
    splitting = splitting or Splitting()
    seen = posts(shifts, replies, reach or Reach())
    return [
        Substitutes(reply, ranked_substitutes(post, predictor, splitting))
        for reply, post in zip(replies, seen, strict=True)
    ]
