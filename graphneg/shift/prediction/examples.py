"""What language models read and write to predict perspectives, and examples of it from a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphneg.editing.originals import Selection
from graphneg.hashing import number
from graphneg.language_models import Example
from graphneg.shift.candidates import Reply, Splitting, all_replies
from graphneg.shift.likelihood import Shifts
from graphneg.store import Store


def source_with_candidates(post: str, focus: str, candidates: Sequence[str]) -> str:
    """What a sequence-to-sequence model reads (CAPT: post, focus and candidates).

    >>> source_with_candidates("Some tea?", "tea", ["milk", "cup"])
    'post: Some tea? focus: tea perspectives: milk, cup'
    """
    return f"post: {_one_line(post)} focus: {focus} perspectives: {', '.join(candidates)}"


def source_without_candidates(post: str, focus: str) -> str:
    """What a causal model reads; it writes the perspective behind it, after a space.

    >>> source_without_candidates("Some tea?", "tea")
    'Post: Some tea?\\nFocus: tea\\nThe reply is about:'
    """
    return f"Post: {_one_line(post)}\nFocus: {focus}\nThe reply is about:"


def target_of_causal(perspective: str) -> str:
    """A perspective as a causal model writes it."""
    return f" {perspective}"


def seq2seq_examples(
    store: Store,
    selection: Selection | None = None,
    *,
    splitting: Splitting | None = None,
    limit: int | None = None,
) -> list[Example]:
    """Posts with foci and the subset of candidates that the reply's perspective is in.

    ``limit`` takes so many of all, chosen by the seed of ``splitting``.
    """
    splitting = splitting or Splitting()
    shifts = Shifts(store)
    found: list[tuple[str, Example]] = []
    for _, replies in all_replies(store, selection or Selection()):
        paired = list(_paired(replies))
        reached = shifts.from_each(focus for _, focus, _ in paired)
        for reply, focus, perspective in paired:
            for subset in splitting.split(focus, list(reached[focus])):
                if perspective in subset:
                    source = source_with_candidates(reply.turns[-1], focus, subset)
                    found.append((reply.id, Example(source, perspective)))
    return _some(found, limit, splitting.seed)


def causal_examples(
    store: Store, selection: Selection | None = None, *, limit: int | None = None, seed: int = 0
) -> list[Example]:
    """Posts with foci, and the perspectives of their replies; ``limit`` of them, chosen by ``seed``."""
    found = [
        (reply.id, Example(source_without_candidates(reply.turns[-1], focus), target_of_causal(perspective)))
        for _, replies in all_replies(store, selection or Selection())
        for reply, focus, perspective in _paired(replies)
    ]
    return _some(found, limit, seed)


def _paired(replies: Sequence[Reply]) -> Iterator[tuple[Reply, str, str]]:
    """The replies that the shift graph was made of, each with its focus and its perspective."""
    for reply in replies:
        if reply.focus is not None and reply.perspective is not None:
            yield reply, reply.focus, reply.perspective


def _some(found: list[tuple[str, Example]], limit: int | None, seed: int) -> list[Example]:
    if limit is not None and limit < len(found):
        mixed = sorted(found, key=lambda one: (number(seed, "examples", one[0]), one[0]))
        found = mixed[:limit]
    return [example for _, example in found]


def _one_line(text: str) -> str:
    return " ".join(text.split())
