"""Find what copies of a context were answered elsewhere in the store.

Corpora overlap: the same dialogue is loaded twice, tokenised by one program and not by another, or is in two
splits. A reply that a copy of a context has is right for the context too, and no generator may give it as
wrong:

    own/1:    Hello, a table for two tonight.  ->  At what time will you come?
    other/7:  hello , a table for two tonight ! ->  For which hour ?              (also right for own/1)

A copy has nearly the same words as the context, and a last turn of nearly the same words: after "Yes."
other replies are right than after "No.". `copied_contexts` reads the store in pages: once for a MinHash
signature of each context (70 bytes), then only dialogues with a context whose signature meets that of another
dialogue. In a store of a shard, the snapshot has the result for the whole corpus.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any
from zlib import crc32

from graphneg.english.near_duplicates import BANDS, Signature, are_near, word_hashes
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    StoredResponse,
    dialogue_ids,
    read_dialogues,
    read_responses,
)
from graphneg.store.snapshots import COPIES, stored_snapshot

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

_PAGE = 500
_COMPARED = 64
"""Contexts with the same band of a signature that each is compared with: corpora made from templates have
thousands of them."""
_MASK, _MIX = (1 << 64) - 1, 0x9E3779B97F4A7C15
Place = tuple[str, int]
"""A dialogue's id and the number of the turn where a reply is due."""


class CopiedContexts:
    """Right replies of the copies of contexts, by place."""

    def __init__(self, replies: Mapping[Place, tuple[str, ...]]) -> None:
        self._replies = replies

    def replies(self, dialogue: str, turn: int) -> tuple[str, ...]:
        """Return the right replies that copies of a context have.

        Args:
            dialogue: Id of the dialogue.
            turn: Number of the turn that would answer the context.

        Returns:
            Texts, sorted; some may be replies of the context itself. Empty where there is no copy.
        """
        return self._replies.get((dialogue, turn), ())

    def rows(self) -> list[Any]:
        """Return rows for a snapshot, each with replies and the places that have them."""
        places: defaultdict[tuple[str, ...], list[Place]] = defaultdict(list)
        for place, texts in self._replies.items():
            places[texts].append(place)
        return sorted([list(texts), sorted(map(list, some))] for texts, some in places.items())


def copied_contexts(store: Store) -> CopiedContexts:
    """Find the contexts of a store that another dialogue has too, or nearly.

    Args:
        store: The store; one with a snapshot knows the copies of the whole corpus.

    Returns:
        The right replies of the copies.

    Raises:
        StoreError: The store is gone.
    """
    if (snapshot := stored_snapshot(store)) is not None:
        rows = snapshot.rows(store, COPIES)
        return CopiedContexts(
            {
                (id, turn): replies
                for texts, places in rows
                for replies in [tuple(texts)]
                for id, turn in places
            }
        )
    signatures = _Signatures()
    for dialogue, answers in _answered(store, dialogue_ids(store, Selection())):
        signatures.add(dialogue, answers)
    wanted = signatures.meeting()
    classes: dict[tuple[int, int], _Class] = {}
    for dialogue, answers in _answered(store, iter(sorted(wanted))):
        for turn, context in _growing(dialogue, answers):
            if turn in wanted[dialogue.id]:
                key = context.key
                if (same := classes.get(key)) is None:
                    same = classes[key] = _Class(
                        frozenset(context.whole.words), context.last, context.bands()
                    )
                same.replies.update(answers[turn])
                same.places.append((dialogue.id, turn))
    _link(classes)
    found: dict[Place, tuple[str, ...]] = {}
    for same in classes.values():
        replies = tuple(sorted(same.replies.union(*(other.replies for other in same.near))))
        if len({id for each in (same, *same.near) for id, _ in each.places}) > 1:
            found.update(dict.fromkeys(same.places, replies))
    return CopiedContexts(found)


class _Class:
    """Contexts with the same words: their places, their right replies, and classes with nearly the same."""

    def __init__(self, words: frozenset[int], last: frozenset[int], bands: Sequence[int]) -> None:
        self.words, self.last, self.bands = words, last, bands
        self.replies: set[str] = set()
        self.places: list[Place] = []
        self.near: list[_Class] = []


class _Growing:
    """A context that grows turn by turn, with the signatures of all its words and of its last turn's."""

    def __init__(self) -> None:
        self.whole, self.last = Signature(), frozenset[int]()
        self._sum = 0

    def add(self, text: str) -> None:
        """Take a turn in."""
        self.last = word_hashes(text)
        self._sum += _sum_of(self.last - self.whole.words)
        self.whole.add(self.last)

    @property
    def key(self) -> tuple[int, int]:
        """Two numbers: contexts are equal in them that have the same words, all and in the last turn."""
        return self._sum & _MASK, _sum_of(self.last) & _MASK

    def bands(self) -> list[int]:
        """Return the bands of both signatures, joined: contexts meet where both agree."""
        last = Signature()
        last.add(self.last)
        pairs = zip(self.whole.bands(), last.bands(), strict=True)
        return [crc32(b"%d %d" % pair) for pair in pairs]


def _sum_of(words: Iterable[int]) -> int:
    return sum(word * (word ^ _MIX) for word in words)


class _Signatures:
    """The bands of all contexts, as arrays."""

    def __init__(self) -> None:
        self._bands, self._dialogues, self._turns = array("L"), array("L"), array("L")
        self._ids: list[str] = []

    def add(self, dialogue: StoredDialogue, answers: Mapping[int, Sequence[str]]) -> None:
        """Take the contexts of a dialogue in."""
        for turn, context in _growing(dialogue, answers):
            self._bands.extend(context.bands())
            self._dialogues.append(len(self._ids))
            self._turns.append(turn)
        self._ids.append(dialogue.id)

    def meeting(self) -> dict[str, set[int]]:
        """Return the turns of the contexts that share a band with one of another dialogue, by dialogue."""
        import numpy as np

        found: defaultdict[str, set[int]] = defaultdict(set)
        if not len(self._turns):
            return found
        dialogues = np.frombuffer(self._dialogues, dtype=np.uint64)
        meets: NDArray[bool_] = np.zeros(len(dialogues), dtype=bool)
        for values in np.frombuffer(self._bands, dtype=np.uint64).reshape(-1, BANDS).T:
            order = np.argsort(values, kind="stable")
            starts = np.flatnonzero(np.concatenate([[True], np.diff(values[order]) != 0]))
            own = dialogues[order]
            several = np.minimum.reduceat(own, starts) != np.maximum.reduceat(own, starts)
            meets[order] |= np.repeat(several, np.diff(np.append(starts, len(order))))
        for at in np.flatnonzero(meets).tolist():
            found[self._ids[self._dialogues[at]]].add(self._turns[at])
        return found


def _answered(store: Store, ids: Iterator[str]) -> Iterator[tuple[StoredDialogue, dict[int, list[str]]]]:
    """Yield each dialogue with the right replies of its contexts, by the turn where they would stand."""
    while page := list(islice(ids, _PAGE)):
        responses = read_responses(store, page)
        for dialogue in read_dialogues(store, page):
            yield dialogue, _right(dialogue, responses.get(dialogue.id, ()))


def _right(dialogue: StoredDialogue, responses: Iterable[StoredResponse]) -> dict[int, list[str]]:
    answers: defaultdict[int, list[str]] = defaultdict(list)
    for turn in dialogue.turns[1:]:
        answers[turn.turn].append(turn.text)
    for response in responses:
        if response.label == 1:
            answers[response.turn + 1].append(response.text)
    return answers


def _growing(
    dialogue: StoredDialogue, answers: Mapping[int, Sequence[str]]
) -> Iterator[tuple[int, _Growing]]:
    """Yield each context that is answered, with the turn of the answer; it is one object that grows on."""
    context, said = _Growing(), iter(dialogue.turns)
    held = next(said, None)
    for turn in sorted(answers):
        while held is not None and held.turn < turn:
            context.add(held.text)
            held = next(said, None)
        if context.last:
            yield turn, context


def _link(classes: Mapping[tuple[int, int], _Class]) -> None:
    """Tell each class which others have nearly the same words."""
    buckets: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for key, same in classes.items():
        for band in enumerate(same.bands):
            buckets[band].append(key)
    linked: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for _, keys in sorted(buckets.items()):
        keys.sort()
        for at, key in enumerate(keys):
            for other in keys[at + 1 : at + 1 + _COMPARED]:
                if (key, other) in linked:
                    continue
                linked.add((key, other))
                one, two = classes[key], classes[other]
                if are_near(one.last, two.last) and are_near(one.words, two.words):
                    one.near.append(two)
                    two.near.append(one)
