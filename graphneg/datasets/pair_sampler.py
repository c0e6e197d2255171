"""The pair sampler: groups of right and wrong responses in, pairs for each epoch out, drawn by hash.

A `Mix` says how many of what each context gives. `Epochs` puts the pairs of all epochs in the order in which
a trainer sees them: all of a context together, so that a batch tells right from wrong where all else is the
same (at 2,800 pairs MiniLM learns more of it than at 10,000 in an order of chance), and contexts of like
length in a batch. `shortages` counts what an epoch has too few of.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from graphneg.datasets.groups import RANDOM, REFERENCE, Answer, Group
from graphneg.english.near_duplicates import NearTexts, are_near, word_hashes
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.hashing import number

if TYPE_CHECKING:
    from numpy import int32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

_TRIES = 20
_WINDOW = 16
Item = TypeVar("Item")


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
    """How many are drawn of each context: right responses, and wrong ones by source, category or transform.

    ``random`` is a source that needs no negatives: right responses of other contexts. Where the
    groups bring a source of that name themselves, theirs are taken. ``weights`` say how much a pair counts,
    by transform before category before source (``reference`` for right responses); 1 where they say nothing.
    """

    positives: int = 1
    negatives: Mapping[str, int] = field(default_factory=lambda: {RANDOM: 1})
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        if self.positives < 1 or not self.negatives or min(self.negatives.values()) < 1:
            raise InputError("a mix needs at least one right and one wrong response of each context")
        if min(self.weights.values(), default=1) < 0:
            raise InputError("a weight is 0 or more")


@dataclass(slots=True)
class Shortfall:
    """Contexts that have fewer than asked for, and how many responses that are: by source.

    Of edited dialogues: dialogues, and their versions. ``held_out`` counts what was held out, ``unusable``
    the responses that `graphneg.datasets.groups.usable` left out, ``unused`` by source the wrong ones that
    the mix calls by none of their names.
    """

    contexts: Counter[str] = field(default_factory=Counter[str])
    responses: Counter[str] = field(default_factory=Counter[str])
    held_out: int = 0
    unusable: int = 0
    unused: Counter[str] = field(default_factory=Counter[str])


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
        """1 for a right response of the context, else 0."""
        return int(self.slot >= 0 and self.group == self.other)


class PairSampler:
    """Draws the pairs of an epoch from groups: the same seed and epoch give the same pairs in the same order.

    Of each context other negatives come up in each epoch, until all have been drawn. A shortfall is counted,
    never made up for. ``wanted`` chooses groups, ``contexts`` in all; random responses come from them alone.
    ``left_out`` responses were left out of the groups before, being held out, and ``unusable`` ones.

    Raises `InputError`: no group has a right response, or a source is not there at all.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        mix: Mix,
        seed: int,
        wanted: Callable[[Group], bool] | None = None,
        left_out: int = 0,
        unusable: int = 0,
    ) -> None:
        self.groups = groups
        self.mix = mix
        self._seed = seed
        self._left_out, self._unusable = left_out, unusable
        self._kept = array("L")
        self._unused: Counter[str] = Counter()
        known: set[str] = set()
        for index, group in enumerate(groups):
            known.update(name for answer in group.negatives for name in answer.names)
            if group.positives and (wanted is None or wanted(group)):
                self._kept.append(index)
                self._unused.update(
                    answer.source
                    for answer in group.negatives
                    if mix.negatives.keys().isdisjoint(answer.names)
                )
        if not self._kept:
            raise InputError("no context has a right response to learn from")
        for name in mix.negatives:
            if name not in known and name != RANDOM:
                there = ", ".join(sorted(known - {""})) or "none"
                raise InputError(f"no negatives of {name!r}; there are: {there}")
        self._own_random = RANDOM in known
        self.contexts = len(self._kept)
        borrows = RANDOM in mix.negatives and not self._own_random
        self._copies = _copies(groups, self._kept) if borrows else {}

    def drawn(self, epoch: int) -> tuple[EpochPairs, Shortfall]:
        """The pairs of an epoch, shuffled, and its `Shortfall`; 12 bytes are kept of each pair."""
        import numpy

        shortfall = Shortfall(held_out=self._left_out, unusable=self._unusable, unused=self._unused.copy())
        keys, draws = array("Q"), array("i")
        digest = hashlib.blake2b(digest_size=16)
        sources: Counter[str] = Counter()
        right = 0
        for draw in self.draws(epoch, shortfall):
            pair = self.pair(draw)
            keys.append(number(self._seed, "pair", str(epoch), pair.id))
            draws.extend((draw.group, draw.other, draw.slot))
            facts = "\0".join((pair.id, str(pair.weight), *pair.context, ""))
            digest.update(facts.encode("utf-8", "surrogatepass"))
            sources[pair.source] += 1
            right += pair.label
        order = numpy.argsort(numpy.frombuffer(keys, dtype=numpy.uint64), kind="stable")
        table: NDArray[int32] = numpy.frombuffer(draws, dtype=numpy.int32).reshape(-1, 3)[order]
        return EpochPairs(self, table, sources, right, digest.hexdigest()), shortfall

    def draws(self, epoch: int, shortfall: Shortfall) -> Iterator[Draw]:
        """What an epoch draws, context by context; what is ``shortfall`` is counted on the way."""
        return (draw for index in self._kept for draw in self.draws_of(index, epoch, shortfall))

    def shuffled(self, epoch: int) -> list[int]:
        """The places of the groups that are drawn from, in an order of the epoch's own."""
        name = str(epoch)
        return sorted(self._kept, key=lambda index: number(self._seed, "group", name, self.groups[index].id))

    def pair(self, draw: Draw) -> Pair:
        """The pair that was drawn."""
        group = self.groups[draw.group]
        other = group if draw.other == draw.group else self.groups[draw.other]
        answer = other.positives[draw.slot] if draw.slot >= 0 else other.negatives[-1 - draw.slot]
        if other is not group:
            answer = Answer(answer.text, RANDOM)
        context = group.context if answer.context is None else answer.context
        id = f"{group.id}~{draw.label}{answer.source}~{answer.text}"
        weights = self.mix.weights
        weight = next((weights[name] for name in answer.names if name in weights), 1.0)
        return Pair(id, context, answer.text, draw.label, answer.source, answer.category, weight)

    def draws_of(self, index: int, epoch: int, shortfall: Shortfall) -> Iterator[Draw]:
        """What an epoch draws of one group: right responses, then wrong ones."""
        group = self.groups[index]
        right, wrong = list(enumerate(group.positives)), list(enumerate(group.negatives))
        for slot in self._turns(group.id, "positive", right, self.mix.positives, epoch):
            yield Draw(index, index, slot, REFERENCE)
        for name, amount in self.mix.negatives.items():
            if name == RANDOM and not self._own_random:
                result = list(self._random(index, group, amount, epoch))
            else:
                some = [(slot, item) for slot, item in wrong if name in item.names]
                slots = self._turns(group.id, name, some, amount, epoch)
                result = [Draw(index, index, -1 - slot, name) for slot in slots]
            if len(result) < amount:
                shortfall.contexts[name] += 1
                shortfall.responses[name] += amount - len(result)
            yield from result

    def _turns(
        self, id: str, name: str, answers: Sequence[tuple[int, Answer]], amount: int, epoch: int
    ) -> list[int]:
        """The places of ``amount`` of the answers."""
        order = sorted(answers, key=lambda item: number(self._seed, "answer", id, name, item[1].text))
        return [slot for slot, _ in in_turn(order, amount, epoch)]

    def _random(self, index: int, group: Group, amount: int, epoch: int) -> Iterator[Draw]:
        """Yield right responses of other contexts, none that fits this one too.

        What nearly says a right response fits, and so does what answers a copy of the context, or nearly one.
        """
        copies = [self.groups[at] for at in self._copies.get(index, ()) if at != index]
        right = NearTexts(answer.text for each in (group, *copies) for answer in each.positives)
        words = word_hashes("\n".join(group.context))
        taken: set[str] = set()
        for k in range(amount * _TRIES):
            draw = number(self._seed, "random", group.id, str(epoch), str(k))
            other = self._kept[draw % self.contexts]
            some = self.groups[other].positives
            slot = (draw // self.contexts) % len(some)
            text = some[slot].text
            key = match_key(text)
            if other != index and key not in taken and text not in right:
                if are_near(words, word_hashes("\n".join(self.groups[other].context))):
                    continue
                taken.add(key)
                yield Draw(index, other, slot, RANDOM)
                amount -= 1
                if not amount:
                    return


def _copies(groups: Sequence[Group], kept: Iterable[int]) -> dict[int, list[int]]:
    """Return the groups whose contexts say the same in whatever writing, by the place of each of them."""
    places: dict[int, int | list[int]] = {}  # one place for each of millions, a list for the few copies
    for index in kept:
        key = number(0, "context", *map(match_key, groups[index].context))
        there = places.setdefault(key, index)
        if isinstance(there, list):
            there.append(index)
        elif there != index:
            places[key] = [there, index]
    return {at: some for some in places.values() if isinstance(some, list) for at in some}


def in_turn(items: Sequence[Item], amount: int, epoch: int) -> list[Item]:
    """``amount`` of the items, or all if there are fewer: the next ones in each epoch, round and round.

    >>> in_turn("abc", 2, 0), in_turn("abc", 2, 1)
    (['a', 'b'], ['c', 'a'])
    """
    return [items[(epoch * amount + i) % len(items)] for i in range(min(amount, len(items)))]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EpochPairs(Sequence[Pair]):
    """The pairs of an epoch in their order, made when they are looked at: any place costs the same.

    ``table`` has a row of each pair's `Draw`: group, other, slot. ``sources`` counts the pairs, ``right``
    the right ones, and ``digest`` is the same for the same pairs.
    """

    sampler: PairSampler
    table: NDArray[int32]
    sources: Mapping[str, int]
    right: int
    digest: str

    def together(self) -> EpochPairs:
        """The same pairs, those of a context together, contexts in the order of their first pairs."""
        import numpy

        _, first, inverse = numpy.unique(self.table[:, 0], return_index=True, return_inverse=True)
        order = numpy.argsort(first[inverse], kind="stable")
        return replace(self, table=self.table[order])

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        made_of = ", ".join(f"{amount:,} {source}" for source, amount in sorted(self.sources.items()))
        return f"<EpochPairs: {len(self):,}, of these {made_of}>"

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | Sequence[Pair]:
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(len(self)))]
        group, other, slot = self.table[index]
        return self.sampler.pair(Draw(int(group), int(other), int(slot), ""))


@dataclass(frozen=True, slots=True)
class Spread:
    """Similarities of wrong responses to the right response that each is most like, from -1 to 1."""

    count: int
    minimum: float
    median: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Shortage:
    """What an epoch draws of one source or category of the mix.

    ``contexts`` of all have too few (``short``); ``wanted`` and ``got`` count responses. A row with a
    ``category`` is a part of the row of its ``name``: it says how many of that category there are.
    """

    name: str
    category: str
    contexts: int
    short: int
    wanted: int
    got: int
    similarity: Spread | None


def shortages(sampler: PairSampler, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
    """A row for each source or category that the mix names, and below it one for each category in it.

    ``embedder`` turns responses into vectors (shape (texts, dimensions), each of length 1); without one,
    the word vectors that graphneg comes with.
    """
    if embedder is None:
        from graphneg.nn.embedders import BUNDLED, get_embedder

        embedder = get_embedder(BUNDLED)
    shortfall = Shortfall()
    similarities: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("f"))
    contexts: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    wrong = (draw for draw in sampler.draws(epoch, shortfall) if not draw.label)
    while some := list(islice(wrong, 500)):
        pairs = [sampler.pair(draw) for draw in some]
        right = [[item.text for item in sampler.groups[draw.group].positives] for draw in some]
        texts = list(dict.fromkeys([*(pair.response for pair in pairs), *chain.from_iterable(right)]))
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        for draw, pair, fitting in zip(some, pairs, right, strict=True):
            similarity = max(float(vectors[pair.response] @ vectors[text]) for text in fitting)
            for key in {(draw.name, ""), (draw.name, pair.category)}:
                similarities[key].append(similarity)
                contexts[key].add(draw.group)
    rows: list[Shortage] = []
    for name, amount in sampler.mix.negatives.items():
        asked, short = amount * sampler.contexts, shortfall.contexts[name]
        spread = _spread(similarities[name, ""])
        got = asked - shortfall.responses[name]
        rows.append(Shortage(name, "", sampler.contexts, short, asked, got, spread))
        for (other, category), part in sorted(similarities.items()):
            if other == name and category not in ("", name):
                size = len(contexts[other, category])
                rows.append(Shortage(name, category, size, 0, len(part), len(part), _spread(part)))
    return rows


def _spread(values: Sequence[float]) -> Spread | None:
    return Spread(len(values), min(values), median(values), max(values)) if values else None


Draws = Callable[[int], tuple[EpochPairs, Shortfall]]
"""The pairs of an epoch, by its number, and its `Shortfall`."""


class Epochs:
    """The pairs of all epochs one after the other, each epoch drawn when it is reached.

    Inside windows of some batches, batches are of contexts of like length. One epoch's draws are held at a
    time, and the pairs of one window. ``sources`` counts the pairs of all epochs, `sources_of` those of
    the beginning. Of the first epoch, ``shortfall`` is what it lacked, ``first`` how many pairs it has, and
    ``balance`` how many wrong ones for each right one.
    """

    def __init__(self, draws: Draws, epochs: int, batch: int) -> None:
        self._draws = draws
        self._batch, self._size = batch, batch * _WINDOW
        first, self.shortfall = draws(0)
        self.first, self._digest = len(first), first.digest
        self.balance = (self.first - first.right) / max(1, first.right)
        self._epoch, self._pairs = 0, first.together()
        self._window, self._sorted = -1, list[Pair]()
        self.sources: Counter[str] = Counter()
        self._starts = [0]
        for epoch in range(epochs):
            pairs = first if epoch == 0 else draws(epoch)[0]
            self.sources.update(pairs.sources)
            self._starts.append(self._starts[-1] + len(pairs))

    def facts(self) -> list[Any]:
        """What decides a run: the first epoch's pairs, and how many there are of each source."""
        return [self._digest, sorted(self.sources.items())]

    def sources_of(self, amount: int) -> Counter[str]:
        """The first ``amount`` pairs, counted by source: what a run that stopped early has learned from."""
        if amount >= len(self):
            return self.sources
        return Counter(self[index].source for index in range(amount))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> Pair:
        if not 0 <= index < len(self):
            raise IndexError(index)
        epoch = bisect_right(self._starts, index) - 1
        if epoch != self._epoch:
            self._pairs = self._draws(epoch)[0].together()
            self._epoch, self._window = epoch, -1
        window, within = divmod(index - self._starts[epoch], self._size)
        if window != self._window:
            start = window * self._size
            pairs = self._pairs[start : start + self._size]
            pairs = sorted(pairs, key=lambda pair: sum(map(len, pair.context)))
            batches = [pairs[at : at + self._batch] for at in range(0, len(pairs), self._batch)]
            batches.sort(key=lambda some: number(0, "batch", some[0].id))  # in no order of their lengths
            self._sorted, self._window = [pair for some in batches for pair in some], window
        return self._sorted[within]
