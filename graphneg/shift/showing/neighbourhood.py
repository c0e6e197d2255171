"""What is around a topic: the most frequent shifts from it and to it, with utterances behind each."""

from __future__ import annotations

from dataclasses import dataclass

from graphneg.exploring import explore
from graphneg.store import Store


@dataclass(frozen=True, slots=True)
class Pair:
    """A post and its reply; ``id`` is the reply's."""

    id: str
    corpus: str
    post: str
    reply: str


@dataclass(frozen=True, slots=True)
class Shift:
    """A shift of ``count`` pairs, some of which are in ``pairs``."""

    focus: str
    perspective: str
    count: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A topic and the shifts around it, the most frequent first.

    ``outgoing`` and ``incoming`` count all pairs that shift from and to the topic, ``perspectives``
    and ``foci`` all topics at the other ends; ``moves_to`` and ``comes_from`` hold as many shifts
    as were asked for. A shift from the topic to itself, of ``stays`` pairs, counts in both
    directions and stands among ``moves_to`` alone.
    """

    topic: str
    outgoing: int
    incoming: int
    perspectives: int
    foci: int
    stays: int
    opposites: tuple[str, ...]
    moves_to: tuple[Shift, ...]
    comes_from: tuple[Shift, ...]

    @property
    def more_perspectives(self) -> int:
        """How many topics the topic shifts to beside those in ``moves_to``."""
        return self.perspectives - len(self.moves_to)

    @property
    def more_foci(self) -> int:
        """How many other topics shift to the topic beside those in ``comes_from``."""
        return self.foci - bool(self.stays) - len(self.comes_from)


def neighbourhood(store: Store, topic: str, limit: int = 12, examples: int = 20) -> Neighbourhood:
    """The shifts around a topic: at most ``limit`` in each direction, each with ``examples`` pairs.

    Raises:
        InputError: the topic is not in the shift graph; the message names some that are spelled alike.
        StoreError: the store is gone.
    """
    numbers = explore(store, "topic", {"focus": topic})[0]
    rows = explore(store, "neighbourhood", {"focus": topic, "limit": limit, "examples": examples})
    shifts = [
        Shift(
            row["focus"],
            row["perspective"],
            row["count"],
            tuple(Pair(*example) for example in row["examples"]),
        )
        for row in rows
    ]
    return Neighbourhood(
        topic,
        numbers["outgoing"],
        numbers["incoming"],
        numbers["perspectives"],
        numbers["foci"],
        numbers["stays"],
        tuple(numbers["opposites"]),
        tuple(shift for shift in shifts if shift.focus == topic),
        tuple(shift for shift in shifts if shift.focus != topic),
    )
