"""Right responses of a store's contexts, from which wrong ones are taken for other contexts.

A bank holds at most ``most`` texts. Where a store has more, those are kept whose hash is lowest: the same on
every server, and in flat memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from graphneg.editing.originals import Selection
from graphneg.errors import GeneratorError
from graphneg.generators.base import Candidate, Context
from graphneg.generators.contexts import WantedContexts, read_contexts
from graphneg.hashing import number
from graphneg.store import Store

MOST = 100_000
"""Some 20 MB of texts."""
CATEGORY = "C-follow"


class Entry(NamedTuple):
    """One right response. ``id`` is the place that it answers at, in ``dialogue``."""

    id: str
    text: str
    dialogue: str


class Bank:
    """The right responses of a store, each text once, in an order that chance decides.

    ``corpora`` chooses whose; all, where empty.

    Raises:
        GeneratorError: ``most`` is no amount, or the store has no right response.
    """

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        check_amount("most", most)
        self.entries = _lowest(_entries(store, corpora), most)
        if not self.entries:
            raise GeneratorError(
                "no right response in the store to take wrong ones from; load dialogues with replies first"
            )

    def __len__(self) -> int:
        return len(self.entries)

    def around(self, place: int) -> Iterator[Entry]:
        """All of them from a place on, once round."""
        start = place % len(self.entries)
        yield from self.entries[start:]
        yield from self.entries[:start]


class Fitting:
    """What can't be a wrong response of a context: what fits it, what is said in it, what was given already.

    >>> from graphneg.generators.base import Turn
    >>> context = Context("d#1", "c", "test", "d", 1, (Turn("A", "Hello?"),), "B", ("Hi!",))
    >>> Fitting(context).may_give(Entry("e#1", "hi!", "e"))
    False
    """

    def __init__(self, context: Context) -> None:
        self._dialogue = context.dialogue
        self._texts = {plain(text) for text in context.positives}
        self._texts.update(plain(turn.text) for turn in context.turns)

    def may_give(self, entry: Entry) -> bool:
        """Whether it is of another dialogue, and not said or given already; it counts as given then."""
        return entry.dialogue != self._dialogue and self.is_new(entry.text)

    def is_new(self, text: str) -> bool:
        """Whether a text fits nowhere here; it counts as given then."""
        key = plain(text)
        if key in self._texts:
            return False
        self._texts.add(key)
        return True


def plain(text: str) -> str:
    """A text as it is compared: case and white space do not count."""
    return " ".join(text.casefold().split())


def said(context: Context) -> str:
    """The turns of a context as one text."""
    return " ".join(turn.text for turn in context.turns)


def candidate_of(entry: Entry, **scores: float) -> Candidate:
    return Candidate(entry.text, (CATEGORY,), scores, {"source": entry.id})


def check_amount(name: str, value: object) -> None:
    """Raises `GeneratorError` where an option is no whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise GeneratorError(f"{name} is a whole number from 1, not {value!r}")


def _entries(store: Store, corpora: Sequence[str]) -> Iterator[Entry]:
    wanted = WantedContexts(Selection(tuple(corpora)), "every")
    for context in read_contexts(store, wanted):
        for text in context.positives:
            yield Entry(context.id, text, context.dialogue)


def _lowest(entries: Iterable[Entry], most: int) -> list[Entry]:
    """The ``most`` texts of lowest hash, lowest first; of equal texts the first entry."""
    heap: list[tuple[int, str, Entry]] = []
    kept: set[str] = set()
    for entry in entries:
        key = plain(entry.text)
        if key in kept or not key:
            continue
        item = (-number(0, "bank", key), key, entry)
        if len(heap) < most:
            heapq.heappush(heap, item)
        elif item[0] > heap[0][0]:
            kept.discard(heapq.heapreplace(heap, item)[1])
        else:
            continue
        kept.add(key)
    return [entry for _, _, entry in sorted(heap, key=lambda item: (-item[0], item[1]))]
