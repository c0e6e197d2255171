"""Find contexts that occur in several dialogues, and collect the correct replies to all their copies.

Corpora overlap. The same dialogue may be loaded twice, be tokenized in two ways, or appear in two splits. A
reply that is correct for one copy of a context is correct for the other copies, so it must not be used as a
negative for any of them:

    own/1:    Hello, a table for two tonight.   ->  At what time will you come?
    other/7:  hello , a table for two tonight ! ->  For which hour ?             (correct for own/1, too)

Two contexts are copies if they share nearly all words, and if their last turns share nearly all words, too.
The last turn is compared separately because "Yes." and "No." at the end of the same context need different
replies.

`copied_contexts` reads the store twice, in pages. The first pass computes a MinHash signature (70 bytes) for
each context. The second pass reads only those dialogues that have a context whose signature partly equals the
signature of a context from another dialogue. The store of a shard has a snapshot that contains the result for
the whole corpus, so nothing is computed there.
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
from graphneg.store.corpus_data import COPIES, corpus_rows
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    StoredResponse,
    dialogue_ids,
    read_dialogues,
    read_responses,
)

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray

_PAGE = 500
"""Number of dialogues that are read at a time."""
_COMPARED = 64
"""Maximum number of other contexts with which a context is compared for each band (part) of its signature.
The limit is needed for corpora made from templates, where thousands of contexts have an equal band.
"""
_MASK, _MIX = (1 << 64) - 1, 0x9E3779B97F4A7C15
"""Constants for hashing sets of words: a mask of 64 bits, and the fractional part of the golden ratio as a
64-bit number."""
ContextKey = tuple[str, int]
"""A context, given by the id of its dialogue and the index of the turn that replies to the context."""


class CopiedContexts:
    """The contexts that occur in several dialogues, with the correct replies to all their copies.

    Args:
        replies: The correct replies to all copies of a context, keyed by the dialogue id and the turn index
            of the reply.
    """

    def __init__(self, replies: Mapping[ContextKey, tuple[str, ...]]) -> None:
        self._replies = replies

    def replies(self, dialogue: str, turn: int) -> tuple[str, ...]:
        """Return the correct replies to a context and to its copies.

        Args:
            dialogue: The id of the dialogue.
            turn: The index of the turn that follows the context.

        Returns:
            The texts of the replies, sorted; empty if the context has no copy.
        """
        return self._replies.get((dialogue, turn), ())

    def rows(self) -> list[Any]:
        """Return the replies as rows for a snapshot, which is a file of data about the whole corpus.

        A row consists of two lists: replies, and the contexts for which these replies are correct. A context
        is a dialogue id and a turn index.
        """
        places: defaultdict[tuple[str, ...], list[ContextKey]] = defaultdict(list)
        for place, texts in self._replies.items():
            places[texts].append(place)
        return sorted([list(texts), sorted(map(list, some))] for texts, some in places.items())


def copied_contexts(store: Store) -> CopiedContexts:
    """Find the contexts of a store that occur in several dialogues, exactly or nearly.

    Args:
        store: An open store.

    Returns:
        The contexts that occur more than once, with the correct replies to all their copies.
    """
    rows = corpus_rows(store, COPIES, lambda: _find_copies(store).rows())
    return CopiedContexts(
        {(id, turn): replies for texts, places in rows for replies in [tuple(texts)] for id, turn in places}
    )


def _find_copies(store: Store) -> CopiedContexts:
    """Find the contexts that occur in several dialogues of a store.

    Args:
        store: The store, which must contain the whole corpus, not only a shard.

    Returns:
        The contexts that occur more than once, with the correct replies to all their copies.
    """
    # First pass: compute the signatures of all contexts.
    signatures = _Signatures()
    for dialogue, answers in _dialogues_with_replies(store, dialogue_ids(store, Selection())):
        signatures.add(dialogue, answers)
    wanted = signatures.similar_contexts()
    # Second pass: read the contexts that may have copies, and group contexts with the same words.
    classes: dict[tuple[int, int], _SameWords] = {}
    for dialogue, answers in _dialogues_with_replies(store, iter(sorted(wanted))):
        for turn, context in _contexts_with_replies(dialogue, answers):
            if turn in wanted[dialogue.id]:
                key = context.key
                if (same := classes.get(key)) is None:
                    same = classes[key] = _SameWords(
                        frozenset(context.whole.words), context.last, context.bands()
                    )
                same.replies.update(answers[turn])
                same.places.append((dialogue.id, turn))
    _link_similar(classes)
    found: dict[ContextKey, tuple[str, ...]] = {}
    for same in classes.values():
        # Keep only contexts with copies in at least two dialogues. If all copies are in one dialogue, their
        # replies are turns of this dialogue, which generators never use as negatives for it.
        replies = tuple(sorted(same.replies.union(*(other.replies for other in same.near))))
        if len({id for each in (same, *same.near) for id, _ in each.places}) > 1:
            found.update(dict.fromkeys(same.places, replies))
    return CopiedContexts(found)


class _SameWords:
    """A set of contexts that have the same words. ``near`` lists other sets with nearly the same words."""

    def __init__(self, words: frozenset[int], last: frozenset[int], bands: Sequence[int]) -> None:
        self.words, self.last, self.bands = words, last, bands
        self.replies: set[str] = set()
        self.places: list[ContextKey] = []
        self.near: list[_SameWords] = []


class _ContextSoFar:
    """A context that grows turn by turn, with the words of the whole context and of its last turn."""

    def __init__(self) -> None:
        self.whole, self.last = Signature(), frozenset[int]()
        self._sum = 0

    def add(self, text: str) -> None:
        self.last = word_hashes(text)
        # `_sum` is a hash of the set of words in the context. Each word counts once, so add only the hashes
        # of words that did not occur in the context before.
        self._sum += _hash_of_set(self.last - self.whole.words)
        self.whole.add(self.last)

    @property
    def key(self) -> tuple[int, int]:
        """A hash of the words of the whole context, and a hash of the words of its last turn."""
        return self._sum & _MASK, _hash_of_set(self.last) & _MASK

    def bands(self) -> list[int]:
        """Return a hash for each band (part) of the MinHash signatures of the context and its last turn."""
        last = Signature()
        last.add(self.last)
        # Combine a band of the whole context with the same band of its last turn, so that two contexts have
        # the same hash only if both bands are equal.
        pairs = zip(self.whole.bands(), last.bands(), strict=True)
        return [crc32(b"%d %d" % pair) for pair in pairs]


def _hash_of_set(words: Iterable[int]) -> int:
    """Combine the hashes of words into one hash, which does not depend on the order of the words."""
    return sum(word * (word ^ _MIX) for word in words)


class _Signatures:
    """The MinHash bands of all contexts. Arrays save memory, because there can be millions of contexts."""

    def __init__(self) -> None:
        self._bands, self._dialogues, self._turns = array("L"), array("L"), array("L")
        self._ids: list[str] = []

    def add(self, dialogue: StoredDialogue, answers: Mapping[int, Sequence[str]]) -> None:
        for turn, context in _contexts_with_replies(dialogue, answers):
            self._bands.extend(context.bands())
            self._dialogues.append(len(self._ids))
            self._turns.append(turn)
        self._ids.append(dialogue.id)

    def similar_contexts(self) -> dict[str, set[int]]:
        """Find contexts that are probably nearly equal to a context of another dialogue.

        Two contexts are found if a band (a part of their MinHash signatures) is the same.

        Returns:
            The indices of the turns that follow these contexts, keyed by dialogue id.
        """
        import numpy as np

        found: defaultdict[str, set[int]] = defaultdict(set)
        if not len(self._turns):
            return found
        dialogues = np.frombuffer(self._dialogues, dtype=np.uint64)
        meets: NDArray[bool_] = np.zeros(len(dialogues), dtype=bool)
        for values in np.frombuffer(self._bands, dtype=np.uint64).reshape(-1, BANDS).T:
            # Locality-sensitive hashing: contexts with the same value in a band of their signatures may be
            # copies. Sort the contexts by this value, and look for equal values from different dialogues.
            order = np.argsort(values, kind="stable")
            starts = np.flatnonzero(np.concatenate([[True], np.diff(values[order]) != 0]))
            sorted_dialogues = dialogues[order]
            several = np.minimum.reduceat(sorted_dialogues, starts) != np.maximum.reduceat(
                sorted_dialogues, starts
            )
            meets[order] |= np.repeat(several, np.diff(np.append(starts, len(order))))
        for at in np.flatnonzero(meets).tolist():
            found[self._ids[self._dialogues[at]]].add(self._turns[at])
        return found


def _dialogues_with_replies(
    store: Store, ids: Iterator[str]
) -> Iterator[tuple[StoredDialogue, dict[int, list[str]]]]:
    """Yield each dialogue with the correct replies to its contexts, keyed by the turn index of the reply."""
    while page := list(islice(ids, _PAGE)):
        responses = read_responses(store, page)
        for dialogue in read_dialogues(store, page):
            yield dialogue, _correct_replies(dialogue, responses.get(dialogue.id, ()))


def _correct_replies(dialogue: StoredDialogue, responses: Iterable[StoredResponse]) -> dict[int, list[str]]:
    """Return the texts of all turns but the first, and of responses with label 1, keyed by turn index."""
    answers: defaultdict[int, list[str]] = defaultdict(list)
    for turn in dialogue.turns[1:]:
        answers[turn.turn].append(turn.text)
    for response in responses:
        if response.label == 1:
            answers[response.turn + 1].append(response.text)
    return answers


def _contexts_with_replies(
    dialogue: StoredDialogue, answers: Mapping[int, Sequence[str]]
) -> Iterator[tuple[int, _ContextSoFar]]:
    """Yield the turn index of each reply, and the words of its context (the turns before it).

    The same context object is yielded each time, and then extended. So use it before the next iteration.
    """
    context, said = _ContextSoFar(), iter(dialogue.turns)
    held = next(said, None)
    for turn in sorted(answers):
        while held is not None and held.turn < turn:
            context.add(held.text)
            held = next(said, None)
        # Skip a context whose last turn has no words, since it cannot be compared.
        if context.last:
            yield turn, context


def _link_similar(classes: Mapping[tuple[int, int], _SameWords]) -> None:
    """Link each set of contexts with the same words to the sets of contexts with nearly the same words."""
    buckets: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for key, same in classes.items():
        for band in enumerate(same.bands):
            buckets[band].append(key)
    linked: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    for _, keys in sorted(buckets.items()):
        keys.sort()
        for at, key in enumerate(keys):
            for other in keys[at + 1 : at + 1 + _COMPARED]:
                # If the signatures of two sets of contexts agree in several bands, the pair is found several
                # times. Compare the two sets only once.
                if (key, other) in linked:
                    continue
                linked.add((key, other))
                one, two = classes[key], classes[other]
                if are_near(one.last, two.last) and are_near(one.words, two.words):
                    one.near.append(two)
                    two.near.append(one)
