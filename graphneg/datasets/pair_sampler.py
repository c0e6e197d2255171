"""Sample pairs of context and response from groups, reproducibly for each epoch.

A `Mix` sets how many correct and wrong responses of each kind to draw per context and epoch. `PairSampler`
draws them; hashes of the seed and the text take the place of a random number generator, so the draws are the
same on every machine::

    group    d#2: 1 correct response, 5 negatives of "deam"
    mix      positives 1, negatives {"deam": 2, "random": 1}
    epoch 0  d#2: correct, deam 1, deam 2, random
    epoch 1  d#2: correct, deam 3, deam 4, another random

`Epochs` puts the pairs into training order. All pairs of a context stay together, so that a batch contrasts
correct and wrong responses to the same context: MiniLM learns more from 2,800 pairs in this order than from
10,000 in random order. The contexts of a batch have similar lengths. `shortages` reports how many responses
an epoch lacks.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
"""Maximum number of attempts per random negative. After that, the response counts as missing."""
_WINDOW = 16
"""Number of batches in a window. Contexts are sorted by length within a window."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Pair:
    """A context with one response.

    Attributes:
        id: Id of the pair, made from the group id, the label, the source and the text.
        context: Texts of the turns, oldest first.
        response: The response.
        label: 1 for a correct response, 0 for a wrong one.
        source: Recipe, generator or kind of negatives from which the response comes.
        category: First error category of a wrong response.
        weight: Weight of the pair in the loss.
    """

    id: str
    context: tuple[str, ...]
    response: str
    label: int
    source: str
    category: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Mix:
    """Numbers of responses to draw per context and epoch.

    Attributes:
        positives: Number of correct responses.
        negatives: Number of wrong responses by source, category or transform. ``random`` needs no records: it
            draws correct responses of other contexts, unless records with the source ``random`` exist.
        weights: Weight of a pair in the loss, by transform, category or source; if several apply, in this
            order of precedence. ``reference`` is the source of correct responses. The default weight is 1.

    Raises:
        InputError: A number of responses is below 1, or a weight is below 0.
    """

    positives: int = 1
    negatives: Mapping[str, int] = field(default_factory=lambda: {RANDOM: 1})
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.positives < 1 or not self.negatives or min(self.negatives.values()) < 1:
            raise InputError("a mix needs at least one right and one wrong response of each context")
        if min(self.weights.values(), default=1) < 0:
            raise InputError("a weight is 0 or more")


@dataclass(slots=True)
class Shortfall:
    """Counts of the responses that an epoch lacks or does not use.

    Attributes:
        contexts: For each name in the mix, the number of contexts that have too few responses of that name.
        responses: For each name in the mix, the number of missing responses.
        held_out: Number of responses that were held out.
        unusable: Number of responses that `graphneg.datasets.groups.without_unusable` dropped.
        unused: For each source, the number of wrong responses that no name in the mix selects.
    """

    contexts: Counter[str] = field(default_factory=Counter[str])
    responses: Counter[str] = field(default_factory=Counter[str])
    held_out: int = 0
    unusable: int = 0
    unused: Counter[str] = field(default_factory=Counter[str])


class Draw(NamedTuple):
    """A pair in compact form: indexes instead of texts.

    Attributes:
        group: Index of the group that provides the context.
        other: Index of the group that provides the response. It differs from ``group`` for a random negative.
        slot: For a correct response, its index in ``positives``. For a wrong one, -1 minus its index in
            ``negatives``.
        name: Name in the mix that selected the response.
    """

    group: int
    other: int
    slot: int
    name: str

    @property
    def label(self) -> int:
        """The label: 1 if the response is a correct response of this context, else 0."""
        return int(self.slot >= 0 and self.group == self.other)


class PairSampler:
    """Draw the pairs of each epoch from groups.

    The same seed and epoch give the same pairs in the same order. Successive epochs draw different negatives
    of a context, until all have been used. Missing responses are counted, never replaced by others.

    Attributes:
        groups: The groups.
        mix: Numbers of responses to draw.
        contexts: Number of groups that are used.
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
        """Initialize the sampler.

        Args:
            groups: The groups.
            mix: Numbers of responses to draw.
            seed: Seed of the draws.
            wanted: Function that returns whether to use a group; None to use all. Random negatives, too, are
                drawn from these groups only.
            left_out: Number of responses that were held out; it is only reported.
            unusable: Number of responses that were dropped as unusable; it is only reported.

        Raises:
            InputError: No group has a correct response, or a name in the mix does not occur.
        """
        self.groups = groups
        self.mix = mix
        self._seed = seed
        self._left_out, self._unusable = left_out, unusable
        self._kept = array("L")
        self._unused: Counter[str] = Counter()
        known: set[str] = set()
        for index, group in enumerate(groups):
            # Collect the names of all groups, to report a name in the mix that does not occur anywhere.
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
        # If records with the source "random" exist, they are drawn instead of responses of other contexts.
        self._own_random = RANDOM in known
        self.contexts = len(self._kept)
        borrows = RANDOM in mix.negatives and not self._own_random
        # Groups with the same context matter only if responses of other contexts are drawn as negatives.
        self._copies = _copies(groups, self._kept) if borrows else {}

    def drawn(self, epoch: int) -> tuple[EpochPairs, Shortfall]:
        """Draw the pairs of an epoch.

        Args:
            epoch: Number of the epoch, from 0.

        Returns:
            The shuffled pairs, which take 12 bytes each, and the counts of missing responses.
        """
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
            # A saved position is valid only for the same pairs, so the digest covers contexts and weights.
            facts = "\0".join((pair.id, str(pair.weight), *pair.context, ""))
            digest.update(facts.encode("utf-8", "surrogatepass"))
            sources[pair.source] += 1
            right += pair.label
        # Sorting by hash is a shuffle that gives the same order on every machine.
        order = numpy.argsort(numpy.frombuffer(keys, dtype=numpy.uint64), kind="stable")
        table: NDArray[int32] = numpy.frombuffer(draws, dtype=numpy.int32).reshape(-1, 3)[order]
        return EpochPairs(self, table, sources, right, digest.hexdigest()), shortfall

    def draws(self, epoch: int, shortfall: Shortfall) -> Iterator[Draw]:
        """Draw the pairs of an epoch, context by context.

        Args:
            epoch: Number of the epoch, from 0.
            shortfall: Receives the counts of missing responses.

        Returns:
            An iterator over the draws.
        """
        return (draw for index in self._kept for draw in self.draws_of(index, epoch, shortfall))

    def shuffled(self, epoch: int) -> list[int]:
        """Return the groups that are used, in a random order.

        Args:
            epoch: Number of the epoch, from 0. Each epoch has its own order.

        Returns:
            Indexes into `groups`.
        """
        name = str(epoch)
        return sorted(self._kept, key=lambda index: number(self._seed, "group", name, self.groups[index].id))

    def pair(self, draw: Draw) -> Pair:
        """Return the pair that a draw describes, with its texts.

        Args:
            draw: A draw.

        Returns:
            The pair.
        """
        group = self.groups[draw.group]
        other = group if draw.other == draw.group else self.groups[draw.other]
        answer = other.positives[draw.slot] if draw.slot >= 0 else other.negatives[-1 - draw.slot]
        # A correct response of another context becomes a random negative of this one.
        if other is not group:
            answer = Answer(answer.text, RANDOM)
        context = group.context if answer.context is None else answer.context
        id = f"{group.id}~{draw.label}{answer.source}~{answer.text}"
        weights = self.mix.weights
        # `names` lists transforms first, then the category and the source.
        weight = next((weights[name] for name in answer.names if name in weights), 1.0)
        return Pair(id, context, answer.text, draw.label, answer.source, answer.category, weight)

    def draws_of(self, index: int, epoch: int, shortfall: Shortfall) -> Iterator[Draw]:
        """Draw the responses of one group: correct ones, then wrong ones.

        Args:
            index: Index of the group.
            epoch: Number of the epoch, from 0.
            shortfall: Receives the counts of missing responses.

        Yields:
            The draws.
        """
        group = self.groups[index]
        right, wrong = list(enumerate(group.positives)), list(enumerate(group.negatives))
        for slot in self._turns(group.id, "positive", right, self.mix.positives, epoch):
            yield Draw(index, index, slot, REFERENCE)
        drawn = self._wrong(group, wrong, epoch)
        for name, amount in self.mix.negatives.items():
            if name == RANDOM and not self._own_random:
                result = list(self._random(index, group, amount, epoch))
            else:
                result = [Draw(index, index, -1 - slot, name) for slot in drawn[name]]
            # Missing responses are counted. Repeating others instead would change the balance of the mix.
            if len(result) < amount:
                shortfall.contexts[name] += 1
                shortfall.responses[name] += amount - len(result)
            yield from result

    def _wrong(self, group: Group, wrong: Sequence[tuple[int, Answer]], epoch: int) -> dict[str, list[int]]:
        """Return the indexes of a group's negatives to draw in an epoch, by name; each occurs once."""
        # A response may be selected by its source, its category or a transform.
        matching = {
            name: [(slot, item) for slot, item in wrong if name in item.names] for name in self.mix.negatives
        }
        drawn: dict[str, list[int]] = {}
        taken: set[int] = set()
        # If a negative matches several names, the name with the fewest negatives needs it most.
        for name in sorted(matching, key=lambda name: len(matching[name])):
            amount = self.mix.negatives[name]
            drawn[name] = self._turns(group.id, name, matching[name], amount, epoch, taken)
            taken.update(drawn[name])
        return drawn

    def _turns(
        self,
        id: str,
        name: str,
        answers: Sequence[tuple[int, Answer]],
        amount: int,
        epoch: int,
        taken: Collection[int] = (),
    ) -> list[int]:
        """Return the indexes of the answers of an epoch; successive epochs rotate through all answers.

        Answers that are already ``taken`` in this epoch are skipped.
        """
        order = sorted(answers, key=lambda item: number(self._seed, "answer", id, name, item[1].text))
        start = epoch * amount % max(1, len(order))
        turned = (slot for slot, _ in order[start:] + order[:start])
        return list(islice((slot for slot in turned if slot not in taken), amount))

    def _random(self, index: int, group: Group, amount: int, epoch: int) -> Iterator[Draw]:
        """Yield correct responses of other contexts that are wrong for this one.

        A candidate is rejected if it is nearly equal to a correct response of this context or of a group with
        the same context. It is also rejected if its own context is nearly equal to this one.
        """
        # If another group has the same context, its correct responses are correct here, too.
        copies = [self.groups[at] for at in self._copies.get(index, ()) if at != index]
        right = NearTexts(answer.text for each in (group, *copies) for answer in each.positives)
        words = word_hashes("\n".join(group.context))
        taken: set[str] = set()
        for k in range(amount * _TRIES):
            # One hash determines both the other context and one of its responses.
            draw = number(self._seed, "random", group.id, str(epoch), str(k))
            other = self._kept[draw % self.contexts]
            some = self.groups[other].positives
            slot = (draw // self.contexts) % len(some)
            text = some[slot].text
            key = match_key(text)
            if other != index and key not in taken and text not in right:
                # A reply to a nearly equal context may be correct here.
                if are_near(words, word_hashes("\n".join(self.groups[other].context))):
                    continue
                taken.add(key)
                yield Draw(index, other, slot, RANDOM)
                amount -= 1
                if not amount:
                    return


def _copies(groups: Sequence[Group], kept: Iterable[int]) -> dict[int, list[int]]:
    """Map each group to the groups with the same context, apart from spelling; omit unique contexts."""
    # There may be millions of contexts and few duplicates, so only duplicates get a list.
    places: dict[int, int | list[int]] = {}
    for index in kept:
        key = number(0, "context", *map(match_key, groups[index].context))
        # Compare contexts by their hashes, to save memory.
        there = places.setdefault(key, index)
        if isinstance(there, list):
            there.append(index)
        elif there != index:
            places[key] = [there, index]
    return {at: some for some in places.values() if isinstance(some, list) for at in some}


def rotate(items: Sequence[Item], amount: int, epoch: int) -> list[Item]:
    """Return the items of an epoch; successive epochs rotate through all items.

    Args:
        items: All items.
        amount: Number of items per epoch.
        epoch: Number of the epoch, from 0.

    Returns:
        ``amount`` items, or all items if there are fewer.

    Example:
        >>> rotate("abc", 2, 0), rotate("abc", 2, 1)
        (['a', 'b'], ['c', 'a'])
    """
    return [items[(epoch * amount + i) % len(items)] for i in range(min(amount, len(items)))]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EpochPairs(Sequence[Pair]):
    """The pairs of an epoch, created on access.

    Attributes:
        sampler: Sampler that drew the pairs.
        table: The fields ``group``, ``other`` and ``slot`` of each `Draw`, shape (pairs, 3).
        sources: Number of pairs by source.
        right: Number of pairs with a correct response.
        digest: Digest of all pairs. Two epochs with the same digest have the same pairs.
    """

    sampler: PairSampler
    table: NDArray[int32]
    sources: Mapping[str, int]
    right: int
    digest: str

    def together(self) -> EpochPairs:
        """Return the same pairs, reordered so that the pairs of a context are next to each other.

        Returns:
            The pairs. Contexts are in the order of their first pairs.
        """
        import numpy

        _, first, inverse = numpy.unique(self.table[:, 0], return_index=True, return_inverse=True)
        # The sort is stable, so the pairs of a context keep their order.
        order = numpy.argsort(first[inverse], kind="stable")
        return replace(self, table=self.table[order])

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.table)

    def __repr__(self) -> str:
        """Return the number of pairs, in total and by source."""
        made_of = ", ".join(f"{amount:,} {source}" for source, amount in sorted(self.sources.items()))
        return f"<EpochPairs: {len(self):,}, of these {made_of}>"

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | Sequence[Pair]:
        """Return a pair, or the pairs of a slice."""
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(len(self)))]
        group, other, slot = self.table[index]
        return self.sampler.pair(Draw(int(group), int(other), int(slot), ""))


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of the similarity of wrong responses to correct ones.

    The similarity of a wrong response is its cosine with the most similar correct response, from -1 to 1.

    Attributes:
        count: Number of wrong responses.
        minimum: Lowest cosine.
        median: Median cosine.
        maximum: Highest cosine.
    """

    count: int
    minimum: float
    median: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Shortage:
    """The responses that an epoch draws and lacks, for one name in the mix.

    If ``category`` is set, the row counts only the responses of that category among those of ``name``.

    Attributes:
        name: Name in the mix.
        category: Error category; empty if the row counts all responses of ``name``.
        contexts: Number of contexts.
        short: Number of contexts with too few responses.
        wanted: Number of responses that the mix asks for.
        got: Number of responses drawn.
        similarity: Similarity to the correct responses; None if nothing was drawn.
    """

    name: str
    category: str
    contexts: int
    short: int
    wanted: int
    got: int
    similarity: Spread | None


def shortages(sampler: PairSampler, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
    """Report how many responses an epoch draws and lacks.

    Args:
        sampler: Sampler of the pairs.
        epoch: Number of the epoch, from 0.
        embedder: Model that converts texts to vectors of length 1, shape (texts, dimensions). None for the
            bundled word vectors.

    Returns:
        One row per name of the mix, followed by one row per category in it.
    """
    if embedder is None:
        from graphneg.nn.embedders import BUNDLED, get_embedder

        embedder = get_embedder(BUNDLED)
    shortfall = Shortfall()
    similarities: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("f"))
    contexts: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    wrong = (draw for draw in sampler.draws(epoch, shortfall) if not draw.label)
    # Texts are embedded in batches, so that memory use does not grow with their number.
    while some := list(islice(wrong, 500)):
        pairs = [sampler.pair(draw) for draw in some]
        right = [[item.text for item in sampler.groups[draw.group].positives] for draw in some]
        texts = list(dict.fromkeys([*(pair.response for pair in pairs), *chain.from_iterable(right)]))
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        for draw, pair, fitting in zip(some, pairs, right, strict=True):
            # A negative is compared with the correct response that is most similar to it.
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
            # If the mix names a category itself, its row already counts that category.
            if other == name and category not in ("", name):
                size = len(contexts[other, category])
                rows.append(Shortage(name, category, size, 0, len(part), len(part), _spread(part)))
    return rows


def _spread(values: Sequence[float]) -> Spread | None:
    """Return the statistics of cosines; None if there are no cosines."""
    return Spread(len(values), min(values), median(values), max(values)) if values else None


Draws = Callable[[int], tuple[EpochPairs, Shortfall]]
"""A function that takes the number of an epoch, and returns its pairs and the counts of missing responses."""


class Epochs:
    """The pairs of all epochs in training order; each epoch is drawn when it is reached.

    Contexts are sorted by length within windows of `_WINDOW` batches, so that a batch needs little padding.
    Only the draws of one epoch and the pairs of one window are in memory at a time.

    Attributes:
        sources: Number of pairs by source, summed over all epochs.
        shortfall: Counts of the responses that the first epoch lacks.
        first: Number of pairs of the first epoch.
        balance: Ratio of wrong to correct responses in the first epoch.
    """

    def __init__(self, draws: Draws, epochs: int, batch: int) -> None:
        """Initialize the epochs. Each epoch is drawn once, to count its pairs.

        Args:
            draws: Function that draws the pairs of an epoch.
            epochs: Number of epochs.
            batch: Number of pairs per batch.
        """
        self._draws = draws
        self._batch, self._size = batch, batch * _WINDOW
        # Training starts with the first epoch, so its pairs are kept.
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
        """Return what identifies the training data: a digest of the first epoch, and the pairs per source."""
        return [self._digest, sorted(self.sources.items())]

    def sources_of(self, amount: int) -> Counter[str]:
        """Count the sources of the first pairs, to report what a run that stopped early has used.

        Args:
            amount: Number of pairs that were used.

        Returns:
            Number of pairs by source.
        """
        if amount >= len(self):
            return self.sources
        return Counter(self[index].source for index in range(amount))

    def __len__(self) -> int:
        """Return the number of pairs of all epochs."""
        return self._starts[-1]

    def __getitem__(self, index: int) -> Pair:
        """Return the pair at a position of the training order."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        epoch = bisect_right(self._starts, index) - 1
        # Trainers read the pairs in order, so only the current epoch is kept in memory.
        if epoch != self._epoch:
            self._pairs = self._draws(epoch)[0].together()
            self._epoch, self._window = epoch, -1
        window, within = divmod(index - self._starts[epoch], self._size)
        if window != self._window:
            start = window * self._size
            pairs = self._pairs[start : start + self._size]
            # Sort by length, so that the contexts of a batch need little padding.
            pairs = sorted(pairs, key=lambda pair: sum(map(len, pair.context)))
            batches = [pairs[at : at + self._batch] for at in range(0, len(pairs), self._batch)]
            # Shuffle the batches. Otherwise training would go from short to long contexts.
            batches.sort(key=lambda some: number(0, "batch", some[0].id))
            self._sorted, self._window = [pair for some in batches for pair in some], window
        return self._sorted[within]
