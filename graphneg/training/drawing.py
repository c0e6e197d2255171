"""Pairs for one epoch: how many right and wrong responses of each context, drawn by hash."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, overload

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.training.groups import REFERENCE, Answer, Place
from graphneg.training.held_out import HeldOut, plain

if TYPE_CHECKING:
    from numpy import int32
    from numpy.typing import NDArray

RANDOM = "random"
"""A source that is always there: right responses of other contexts."""
_TRIES = 20
_RIGHT = "positive"


@dataclass(frozen=True, slots=True)
class Pair:
    """A context (its turns, oldest first), a response, and 1 where it fits, else 0."""

    id: str
    context: tuple[str, ...]
    response: str
    label: int
    source: str
    category: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Mix:
    """How many are drawn of each context: right responses, and wrong ones of each source or category.

    ``random`` is a source that needs no negatives: right responses of other contexts. Where the
    groups bring a source of that name themselves, theirs are taken. ``weights`` say how much a pair counts,
    by category or source (``reference`` for right responses); 1 where they say nothing.
    """

    positives: int = 1
    negatives: Mapping[str, int] = field(default_factory=lambda: {RANDOM: 1})
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        if self.positives < 1 or not self.negatives or min(self.negatives.values()) < 1:
            raise InputError("a mix needs at least one right and one wrong response of each context")
        if min(self.weights.values(), default=1) < 0:
            raise InputError("a weight is 0 or more")

    def weight(self, source: str, category: str) -> float:
        """What a pair counts; a category goes before a source."""
        return self.weights.get(category, self.weights.get(source, 1.0))


@dataclass(slots=True)
class Lacking:
    """Contexts that have fewer than asked for, and how many responses that are: by source."""

    contexts: Counter[str] = field(default_factory=Counter[str])
    responses: Counter[str] = field(default_factory=Counter[str])
    held_out: int = 0


class Draw(NamedTuple):
    """One pair to be: the place of the group whose context it has, and of the group whose response.

    ``slot`` is the response's place among the right ones, or -1 less its place among the wrong ones;
    ``name`` is what the mix calls it.
    """

    group: int
    other: int
    slot: int
    name: str

    @property
    def label(self) -> int:
        return int(self.slot >= 0 and self.group == self.other)


class Drawing:
    """Draws the pairs of an epoch from groups: the same seed and epoch give the same pairs in the same order.

    Of each context other negatives come up in each epoch, until all have been drawn. A response whose
    text is in ``held_out`` is never drawn. What is lacking is counted, never made up for. ``wanted``
    chooses groups; random responses come from the chosen ones too. ``left_out`` responses were left out
    of the groups before, being held out.

    Raises:
        InputError: a group has no right response, none is left, or a source is not there at all.
    """

    def __init__(
        self,
        groups: Sequence[Place],
        mix: Mix,
        seed: int,
        held_out: Collection[str] | HeldOut = (),
        wanted: Callable[[Place], bool] | None = None,
        left_out: int = 0,
    ) -> None:
        self.groups = groups
        self.mix = mix
        self._seed = seed
        self._held_out = held_out if isinstance(held_out, HeldOut) else HeldOut(held_out)
        self._own_random = False
        self._left_out = left_out
        self._kept = array("L")
        self._look(wanted)

    def epoch(self, epoch: int) -> tuple[list[Pair], Lacking]:
        """The pairs of an epoch, shuffled, and what was lacking."""
        drawn, lacking = self.drawn(epoch)
        return list(drawn), lacking

    def drawn(self, epoch: int) -> tuple[Drawn, Lacking]:
        """As `epoch`, but each pair is made when it is looked at: 12 bytes are kept of it."""
        import numpy

        lacking = Lacking(held_out=self._left_out)
        keys, draws = array("Q"), array("i")
        digest = hashlib.blake2b(digest_size=16)
        sources: Counter[str] = Counter()
        for draw in self.draws(epoch, lacking):
            pair = self.pair(draw)
            keys.append(number(self._seed, "pair", str(epoch), pair.id))
            draws.extend((draw.group, draw.other, draw.slot))
            facts = "\0".join((pair.id, str(pair.weight), *pair.context, ""))
            digest.update(facts.encode("utf-8", "surrogatepass"))
            sources[pair.source] += 1
        order = numpy.argsort(numpy.frombuffer(keys, dtype=numpy.uint64), kind="stable")
        table: NDArray[int32] = numpy.frombuffer(draws, dtype=numpy.int32).reshape(-1, 3)[order]
        return Drawn(self, table, sources, digest.hexdigest()), lacking

    def draws(self, epoch: int, lacking: Lacking) -> Iterator[Draw]:
        """What an epoch draws, context by context; what is ``lacking`` is counted on the way."""
        for place in self._kept:
            yield from self.draws_of(place, epoch, lacking)

    @property
    def contexts(self) -> int:
        """How many groups are drawn from."""
        return len(self._kept)

    def shuffled(self, epoch: int) -> list[int]:
        """The places of the groups that are drawn from, in an order of the epoch's own."""
        return sorted(
            self._kept, key=lambda place: number(self._seed, "group", str(epoch), self.groups[place].id)
        )

    def pair(self, draw: Draw) -> Pair:
        """The pair that was drawn."""
        group = self.groups[draw.group]
        other = group if draw.other == draw.group else self.groups[draw.other]
        answer = other.positives[draw.slot] if draw.slot >= 0 else other.negatives[-1 - draw.slot]
        if other is not group:
            answer = Answer(answer.text, RANDOM)
        context = group.context if answer.context is None else answer.context
        id = f"{group.id}~{draw.label}{answer.source}~{answer.text}"
        weight = self.mix.weight(answer.source, answer.category)
        return Pair(id, context, answer.text, draw.label, answer.source, answer.category, weight)

    def draws_of(self, place: int, epoch: int, lacking: Lacking) -> Iterator[Draw]:
        """What an epoch draws of one group: right responses, then wrong ones."""
        group = self.groups[place]
        right, wrong = self._allowed(group.positives), self._allowed(group.negatives)
        for slot in self._turns(group.id, _RIGHT, right, self.mix.positives, epoch):
            yield Draw(place, place, slot, REFERENCE)
        for name, amount in self.mix.negatives.items():
            if name == RANDOM and not self._own_random:
                found = list(self._random(place, group, amount, epoch))
            else:
                some = [(slot, one) for slot, one in wrong if name in _names(one)]
                slots = self._turns(group.id, name, some, amount, epoch)
                found = [Draw(place, place, -1 - slot, name) for slot in slots]
            if len(found) < amount:
                lacking.contexts[name] += 1
                lacking.responses[name] += amount - len(found)
            yield from found

    def _turns(
        self, id: str, name: str, answers: Sequence[tuple[int, Answer]], amount: int, epoch: int
    ) -> list[int]:
        """``amount`` of the answers, the next ones in each epoch, round and round."""
        order = sorted(answers, key=lambda one: number(self._seed, "answer", id, name, one[1].text))
        start = epoch * amount
        return [order[(start + i) % len(order)][0] for i in range(min(amount, len(order)))]

    def _random(self, place: int, group: Place, amount: int, epoch: int) -> Iterator[Draw]:
        """Right responses of other contexts, none that fits this one too."""
        taken = {plain(answer.text) for answer in group.positives}
        for k in range(amount * _TRIES):
            draw = number(self._seed, "random", group.id, str(epoch), str(k))
            other = self._kept[draw % len(self._kept)]
            some = self._allowed(self.groups[other].positives)
            slot, answer = some[(draw // len(self._kept)) % len(some)]
            if other != place and plain(answer.text) not in taken:
                taken.add(plain(answer.text))
                yield Draw(place, other, slot, RANDOM)
                amount -= 1
                if not amount:
                    return

    def _allowed(self, answers: Sequence[Answer]) -> list[tuple[int, Answer]]:
        return [(slot, one) for slot, one in enumerate(answers) if one.text not in self._held_out]

    def _look(self, wanted: Callable[[Place], bool] | None) -> None:
        """Which groups can be drawn from, and which sources there are."""
        known: set[str] = set()
        for place, group in enumerate(self.groups):
            right, wrong = group.positives, group.negatives
            known.update(name for answer in wrong for name in _names(answer))
            allowed = len(self._allowed(right))
            if wanted is not None and not wanted(group):
                continue
            self._left_out += len(right) + len(wrong) - allowed - len(self._allowed(wrong))
            if allowed:
                self._kept.append(place)
        if not self._kept:
            raise InputError("no context has a right response to learn from")
        self._own_random = RANDOM in known
        for name in self.mix.negatives:
            if name not in known and name != RANDOM:
                there = ", ".join(sorted(known - {""})) or "none"
                raise InputError(f"no negatives of {name!r}; there are: {there}")


class Drawn(Sequence[Pair]):
    """The pairs of an epoch in their order, made when they are looked at: any place costs the same.

    ``sources`` counts them, and ``digest`` is the same for the same pairs.
    """

    def __init__(
        self, drawing: Drawing, table: NDArray[int32], sources: Mapping[str, int], digest: str
    ) -> None:
        self._drawing = drawing
        self._table = table
        self.sources = sources
        self.digest = digest

    @property
    def right(self) -> int:
        """How many of them are right."""
        table = self._table
        return int(((table[:, 2] >= 0) & (table[:, 0] == table[:, 1])).sum())

    def together(self) -> Drawn:
        """The same pairs, those of a context together, contexts in the order of their first pairs."""
        import numpy

        _, first, inverse = numpy.unique(self._table[:, 0], return_index=True, return_inverse=True)
        order = numpy.argsort(first[inverse], kind="stable")
        return Drawn(self._drawing, self._table[order], self.sources, self.digest)

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | Sequence[Pair]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        group, other, slot = self._table[place]
        return self._drawing.pair(Draw(int(group), int(other), int(slot), ""))


def _names(answer: Answer) -> tuple[str, str]:
    return answer.source, answer.category
