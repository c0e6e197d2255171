"""Sample pairs of a context and a response from groups, reproducibly for each epoch.

A group is a context with correct and wrong responses. A `Mix` says how many correct and wrong responses of
each kind to draw per context and epoch. `PairSampler` draws these responses. It uses hashes of the seed and
the texts instead of a random number generator, so that it draws the same responses on every machine::

    group    d#2: 1 correct response, 5 negatives of "deam"
    mix      positives 1, negatives {"deam": 2, "random": 1}
    epoch 0  d#2: correct, deam 1, deam 2, random
    epoch 1  d#2: correct, deam 3, deam 4, another random

`Epochs` puts the pairs into the order for training. All pairs of a context are next to each other, so that a
batch contains correct and wrong responses to the same context. With this order, MiniLM learns more from 2,800
pairs than from 10,000 pairs in random order. The contexts in a batch have similar lengths. `shortages`
reports how many responses an epoch lacks.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from graphneg.datasets.groups import RANDOM, REFERENCE, Answer, Group
from graphneg.english.near_duplicates import NearTexts, are_near, word_hashes
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import TWIN

if TYPE_CHECKING:
    from numpy import int32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

_TRIES = 20
"""Maximum number of draws per random negative. If no drawn response is suitable, the random negative counts
as missing."""
_WINDOW = 16
"""Number of consecutive batches (a window) within which contexts are sorted by length."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Pair:
    """A context with one response.

    Attributes:
        id: Id of the pair. It consists of the group id, the label, the source and the text of the response.
        context: Texts of the turns, oldest first.
        response: Text of the response.
        label: 1 for a correct response, 0 for a wrong response.
        source: Name of the recipe, generator or kind of negatives from which the response comes.
        category: First error category of a wrong response; empty if it has no error category.
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
    """The number of correct and wrong responses to draw per context and epoch.

    Attributes:
        positives: Number of correct responses.
        negatives: Number of wrong responses, keyed by source, error category or transform. ``random`` draws
            records with the source ``random`` or, if there are none, correct responses to other contexts.
            ``twin`` draws twins. A twin is made like a negative, but without the error: "So you like tea?" is
            the twin of "So you don't like tea?". The twins of drawn negatives come before other twins.
        weights: Weights of pairs in the loss, keyed by transform, error category or source. If several keys
            match a pair, a transform takes precedence over a category, and a category over a source.
            ``reference`` is the source of correct responses. The default weight is 1.

    Raises:
        InputError: A number of responses is below 1, or a weight is below 0.
    """

    positives: int = 1
    negatives: Mapping[str, int] = field(default_factory=lambda: {RANDOM: 1})
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        """Check that each number of responses is at least 1, and that no weight is negative."""
        if self.positives < 1 or not self.negatives.keys() - {TWIN}:
            raise InputError("a mix needs at least one correct and one wrong response of each context")
        for name, amount in self.negatives.items():
            if amount < 1:
                raise InputError(
                    "a mix needs at least one correct and one wrong response of each context; "
                    f"it has {amount} of {name!r}"
                )
        for name, weight in self.weights.items():
            if weight < 0:
                raise InputError(f"weights must be at least 0; that of {name!r} is {weight:g}")


@dataclass(slots=True)
class Shortfall:
    """Counts of the responses that an epoch lacks or does not use.

    Attributes:
        contexts: Number of contexts with too few responses, keyed by the name in the mix.
        responses: Number of missing responses, keyed by the name in the mix.
        held_out: Number of responses that were left out because their texts are held out.
        unusable: Number of responses that `graphneg.datasets.groups.without_unusable` dropped.
        unused: Number of wrong responses that no name in the mix selects, keyed by source.
    """

    contexts: Counter[str] = field(default_factory=Counter[str])
    responses: Counter[str] = field(default_factory=Counter[str])
    held_out: int = 0
    unusable: int = 0
    unused: Counter[str] = field(default_factory=Counter[str])


class Draw(NamedTuple):
    """A pair of a context and a response, represented by indices instead of texts.

    Attributes:
        group: Index of the group whose context is used.
        response_group: Index of the group whose response is used. It differs from ``group`` only for a random
            negative.
        response_index: Index of a correct response in ``positives``; for a wrong response, -1 minus its index
            in ``negatives``.
        name: Name in the mix for which the response was drawn.
    """

    group: int
    response_group: int
    response_index: int
    name: str

    @property
    def label(self) -> int:
        """The label of the pair: 1 if the response is a correct response to the context, otherwise 0."""
        return int(self.response_index >= 0 and self.group == self.response_group)


class PairSampler:
    """Draws the pairs of each epoch from groups. A group is a context with its responses.

    The same seed and epoch give the same pairs in the same order. Each epoch draws negatives of a context
    that earlier epochs have not drawn, until all its negatives have been used. If there are too few
    responses, the missing responses are counted and not replaced.

    Attributes:
        groups: Contexts with their correct and wrong responses.
        mix: Number of responses of each kind to draw per context.
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
            groups: Contexts with their correct and wrong responses.
            mix: Number of responses of each kind to draw per context.
            seed: Seed for drawing responses.
            wanted: Function that returns whether to use a group; None to use all groups. Random negatives are
                also drawn only from the groups that are used.
            left_out: Number of held-out responses that were removed from ``groups``. It is only copied into
                reports.
            unusable: Number of responses that were removed from ``groups`` because they are useless for
                training. It is only copied into reports and error messages.

        Raises:
            InputError: No group has a correct response, or a name in the mix does not occur in the groups.
        """
        self.groups = groups
        self.mix = mix
        self._seed = seed
        self._left_out, self._unusable = left_out, unusable
        self._kept = array("L")
        self._unused: Counter[str] = Counter()
        known: set[str] = set()
        for index, group in enumerate(groups):
            # Collect all names of sources, transforms and categories. A name in the mix that is not among
            # them is an error, which is reported below.
            known.update(name for answer in group.negatives for name in answer.names)
            twins = sum(answer.source == TWIN for answer in group.positives)
            known.update([TWIN] * (twins > 0))
            if len(group.positives) > twins and (wanted is None or wanted(group)):
                self._kept.append(index)
                if twins and TWIN not in mix.negatives:
                    self._unused[TWIN] += twins
                self._unused.update(
                    answer.source
                    for answer in group.negatives
                    if mix.negatives.keys().isdisjoint(answer.names)
                )
        if not self._kept:
            raise InputError("nothing to train on: no context has a correct response")
        for name in mix.negatives:
            if name not in known and name != RANDOM:
                there = ", ".join(sorted(known - {""})) or "none"
                dropped = (
                    f"; {unusable:,} of the responses can't be used: they are empty or equal to a correct one"
                    if unusable
                    else ""
                )
                raise InputError(f"no negatives of {name!r}; available: {there}{dropped}")
        # If records with the source "random" exist, they are drawn instead of responses to other contexts.
        self._own_random = RANDOM in known
        self.contexts = len(self._kept)
        borrows = RANDOM in mix.negatives and not self._own_random
        # Random negatives are correct responses to other contexts. But several groups may have the same
        # context, such as "Hello!". Find these groups: their responses are correct for all of them.
        self._copies = _copies(groups, self._kept) if borrows else {}

    def drawn(self, epoch: int) -> tuple[EpochPairs, Shortfall]:
        """Draw the pairs of an epoch.

        Args:
            epoch: The epoch number, from 0.

        Returns:
            The pairs in random order (12 bytes of memory per pair), and the counts of missing responses.
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
            draws.extend((draw.group, draw.response_group, draw.response_index))
            # `Pairs.load_state_dict` continues at a stored position only if the digest of the pairs is still
            # the same. The id of a pair lacks its weight and its context, so add these to the digest.
            facts = "\0".join((pair.id, str(pair.weight), *pair.context, ""))
            digest.update(facts.encode("utf-8", "surrogatepass"))
            sources[pair.source] += 1
            right += pair.label
        # Sort the pairs by hash, which gives a random order that is the same on every machine.
        order = numpy.argsort(numpy.frombuffer(keys, dtype=numpy.uint64), kind="stable")
        table: NDArray[int32] = numpy.frombuffer(draws, dtype=numpy.int32).reshape(-1, 3)[order]
        return EpochPairs(self, table, sources, right, digest.hexdigest()), shortfall

    def draws(self, epoch: int, shortfall: Shortfall) -> Iterator[Draw]:
        """Draw the pairs of an epoch, one context after the other.

        Args:
            epoch: The epoch number, from 0.
            shortfall: Counter of missing responses, which is updated while the pairs are drawn.

        Returns:
            An iterator over the pairs, represented by indices.
        """
        return (draw for index in self._kept for draw in self.draws_of(index, epoch, shortfall))

    def shuffled(self, epoch: int) -> list[int]:
        """Return the indices of the groups to draw from, in a random order that depends on the epoch.

        Args:
            epoch: The epoch number, from 0.

        Returns:
            Indices in the attribute `groups`.
        """
        name = str(epoch)
        return sorted(self._kept, key=lambda index: number(self._seed, "group", name, self.groups[index].id))

    def pair(self, draw: Draw) -> Pair:
        """Convert a pair of indices into a pair of texts.

        Args:
            draw: Indices of the context and the response.

        Returns:
            The pair with its texts and its weight.
        """
        group = self.groups[draw.group]
        other = group if draw.response_group == draw.group else self.groups[draw.response_group]
        answer = (
            other.positives[draw.response_index]
            if draw.response_index >= 0
            else other.negatives[-1 - draw.response_index]
        )
        # A random negative is a correct response to another context, so change its source to "random".
        if other is not group:
            answer = Answer(answer.text, RANDOM)
        context = group.context if answer.context is None else answer.context
        id = f"{group.id}~{draw.label}{answer.source}~{answer.text}"
        weights = self.mix.weights
        # Weights can be given for transforms, categories and sources. If several apply, use the most specific
        # weight: `names` lists the transforms of the response first, then its category and its source.
        weight = next((weights[name] for name in answer.names if name in weights), 1.0)
        return Pair(id, context, answer.text, draw.label, answer.source, answer.category, weight)

    def draws_of(self, index: int, epoch: int, shortfall: Shortfall) -> Iterator[Draw]:
        """Draw responses of one group: first correct responses, then wrong responses.

        Args:
            index: Index of the group.
            epoch: The epoch number, from 0.
            shortfall: Counter of missing responses, which is updated while the pairs are drawn.

        Yields:
            Pairs of the group's context and a response, represented by indices.
        """
        group = self.groups[index]
        right, wrong = _references(group), list(enumerate(group.negatives))
        for slot in self._turns(group.id, "positive", right, self.mix.positives, epoch):
            yield Draw(index, index, slot, REFERENCE)
        drawn = self._wrong(group, wrong, epoch)
        for name, amount in self.mix.negatives.items():
            if name == RANDOM and not self._own_random:
                result = list(self._random(index, group, amount, epoch))
            elif name == TWIN:
                pairs = {
                    pair for slots in drawn.values() for slot in slots for pair in group.negatives[slot].pairs
                }
                result = [Draw(index, index, slot, TWIN) for slot in self._twins(group, pairs, amount, epoch)]
            else:
                result = [Draw(index, index, -1 - slot, name) for slot in drawn[name]]
            # If there are too few responses, only count the missing ones. If some responses were drawn twice
            # instead, the mix would have other proportions.
            if len(result) < amount:
                shortfall.contexts[name] += 1
                shortfall.responses[name] += amount - len(result)
            yield from result

    def _wrong(self, group: Group, wrong: Sequence[tuple[int, Answer]], epoch: int) -> dict[str, list[int]]:
        """Draw as many negatives of a context as the mix requires for an epoch.

        Returns:
            The indices of the drawn negatives in ``group.negatives``, keyed by the name in the mix. No index
            occurs twice, even if a negative matches several names.
        """
        # A name in the mix may be a source, an error category or a transform. List the negatives for each
        # name: the name "deam" gets all negatives of the recipe `deam`.
        matching = {
            name: [(slot, item) for slot, item in wrong if name in item.names] for name in self.mix.negatives
        }
        drawn: dict[str, list[int]] = {}
        taken: set[int] = set()
        # A negative may match several names in the mix, for example its source and its transform, but is
        # drawn only once. So first serve the name that has the fewest negatives to choose from.
        for name in sorted(matching, key=lambda name: len(matching[name])):
            amount = self.mix.negatives[name]
            drawn[name] = self._turns(group.id, name, matching[name], amount, epoch, taken)
            taken.update(drawn[name])
        return drawn

    def _twins(self, group: Group, pairs: Set[str], amount: int, epoch: int) -> list[int]:
        """Return the indices in ``group.positives`` of up to ``amount`` twins to use in an epoch.

        A twin is the correct counterpart of a negative. The two are a minimal pair and share its id. Twins
        with an id in ``pairs`` (the minimal pairs of the drawn negatives) come before all other twins.
        """
        twins = [(slot, answer) for slot, answer in enumerate(group.positives) if answer.source == TWIN]
        own = [item for item in twins if not pairs.isdisjoint(item[1].pairs)]
        first = self._turns(group.id, TWIN, own, amount, epoch)
        return first + self._turns(group.id, TWIN, twins, amount - len(first), epoch, first)

    def _turns(
        self,
        id: str,
        name: str,
        answers: Sequence[tuple[int, Answer]],
        amount: int,
        epoch: int,
        taken: Collection[int] = (),
    ) -> list[int]:
        """Return the indices of up to ``amount`` of the responses in ``answers``, to use in an epoch.

        The responses are sorted by hash. Each epoch starts where the previous epoch stopped; after the last
        response, it continues with the first. Indices in ``taken`` are skipped.
        """
        order = sorted(answers, key=lambda item: number(self._seed, "answer", id, name, item[1].text))
        start = epoch * amount % max(1, len(order))
        turned = (slot for slot, _ in order[start:] + order[:start])
        return list(islice((slot for slot in turned if slot not in taken), amount))

    def _random(self, index: int, group: Group, amount: int, epoch: int) -> Iterator[Draw]:
        """Yield random negatives for a context: correct responses to other contexts.

        A response is rejected if it is nearly equal to a correct response to this context, or to a correct
        response in another group with the same context. It is also rejected if its own context is nearly
        equal to this context.
        """
        # Other groups may have the same context as this group. Their correct responses are correct for this
        # group, too.
        copies = [self.groups[at] for at in self._copies.get(index, ()) if at != index]
        right = NearTexts(answer.text for each in (group, *copies) for answer in each.positives)
        words = word_hashes("\n".join(group.context))
        taken: set[str] = set()
        for k in range(amount * _TRIES):
            # Choose another context, and one of its correct responses, at random. One hash determines both:
            # its remainder selects the context, and its quotient selects the response.
            draw = number(self._seed, "random", group.id, str(epoch), str(k))
            other = self._kept[draw % self.contexts]
            some = _references(self.groups[other])
            slot, answer = some[(draw // self.contexts) % len(some)]
            text = answer.text
            key = match_key(text)
            if other != index and key not in taken and text not in right:
                # A reply to a nearly equal context may also be a correct reply to this context, so do not use
                # it as a negative.
                if are_near(words, word_hashes("\n".join(self.groups[other].context))):
                    continue
                taken.add(key)
                yield Draw(index, other, slot, RANDOM)
                amount -= 1
                if not amount:
                    return


def _references(group: Group) -> list[tuple[int, Answer]]:
    """Return each correct response of a group with its index. Leave out twins, which belong to negatives."""
    return [(slot, answer) for slot, answer in enumerate(group.positives) if answer.source != TWIN]


def _copies(groups: Sequence[Group], kept: Iterable[int]) -> dict[int, list[int]]:
    """Find groups whose contexts are equal.

    Returns:
        A mapping from the index of a group to the indices of all groups with the same context, including
        itself. A group whose context occurs only once is left out.
    """
    # Map the hash of each context to the index of its group. Use a list of indices only if several groups
    # have the same context: there may be millions of contexts, and as many lists would need much memory.
    places: dict[int, int | list[int]] = {}
    for index in kept:
        key = number(0, "context", *map(match_key, groups[index].context))
        # Compare contexts by their hashes, which takes less memory. Different spellings of a context have the
        # same hash.
        there = places.setdefault(key, index)
        if isinstance(there, list):
            there.append(index)
        elif there != index:
            places[key] = [there, index]
    return {at: some for some in places.values() if isinstance(some, list) for at in some}


def rotate(items: Sequence[Item], size: int, epoch: int) -> list[Item]:
    """Return the items to use in an epoch. Successive epochs go through all items in turn.

    Args:
        items: All items.
        size: Number of items per epoch.
        epoch: The epoch number, from 0.

    Returns:
        ``size`` items, or all items if there are fewer.

    Example:
        >>> rotate("abc", 2, 0), rotate("abc", 2, 1)
        (['a', 'b'], ['c', 'a'])
    """
    return [items[(epoch * size + i) % len(items)] for i in range(min(size, len(items)))]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EpochPairs(Sequence[Pair]):
    """The pairs of an epoch, which are created when they are accessed.

    Attributes:
        sampler: Sampler that drew the pairs.
        table: The fields of each `Draw` except ``name``, shape (pairs, 3).
        sources: Number of pairs, keyed by source.
        right: Number of pairs with a correct response.
        digest: Digest of all pairs. Two epochs with the same digest have the same pairs.
    """

    sampler: PairSampler
    table: NDArray[int32]
    sources: Mapping[str, int]
    right: int
    digest: str

    def grouped_by_context(self) -> EpochPairs:
        """Return a copy in which all pairs with the same context are next to each other.

        Returns:
            The reordered pairs. The contexts are in the order of their first pairs before the change.
        """
        import numpy

        _, first, inverse = numpy.unique(self.table[:, 0], return_index=True, return_inverse=True)
        # The sort is stable, so the pairs of a context keep their order.
        order = numpy.argsort(first[inverse], kind="stable")
        return replace(self, table=self.table[order])

    def __len__(self) -> int:
        """Return the number of pairs in the epoch."""
        return len(self.table)

    def __repr__(self) -> str:
        """Return a text with the total number of pairs, and the number of pairs from each source."""
        made_of = ", ".join(f"{amount:,} {source}" for source, amount in sorted(self.sources.items()))
        return f"<EpochPairs: {len(self):,}, of these {made_of}>"

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | Sequence[Pair]:
        """Return the pair at an index, or the pairs of a slice."""
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(len(self)))]
        group, other, slot = self.table[index]
        return self.sampler.pair(Draw(int(group), int(other), int(slot), ""))


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics on how similar wrong responses are to correct responses.

    The similarity of a wrong response is its cosine with the most similar correct response to the same
    context, from -1 to 1.

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
    """A row of a report on how many responses an epoch uses, and how many are missing.

    The row counts the responses for one name in the mix, such as the source ``deam``. If ``category`` is not
    empty, the row counts only the responses with this error category.

    Attributes:
        name: Name in the mix: a source, error category or transform.
        category: Error category of the counted responses; empty if the row counts all responses for the name.
        contexts: Number of contexts that are used; in a row with a category, only contexts with a counted
            response.
        contexts_lacking: Number of contexts with too few responses.
        requested: Number of responses that the mix asks for.
        drawn: Number of responses that were drawn.
        similarity: Similarity of the drawn responses to correct responses; None if no response was drawn.
    """

    name: str
    category: str
    contexts: int
    contexts_lacking: int
    requested: int
    drawn: int
    similarity: Spread | None


def shortages(sampler: PairSampler, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
    """Report how many of the requested wrong responses an epoch has, and how many are missing.

    Args:
        sampler: Sampler that draws the pairs.
        epoch: The epoch number, from 0.
        embedder: Embedder with which similarities are computed. Its vectors must have length 1. None for the
            word vectors that come with graphneg.

    Returns:
        For each name in the mix, a row for all its responses, followed by a row for each error category among
        these responses.
    """
    if embedder is None:
        from graphneg.nn.embedders import BUNDLED, get_embedder

        embedder = get_embedder(BUNDLED)
    shortfall = Shortfall()
    similarities: defaultdict[tuple[str, str], array[float]] = defaultdict(lambda: array("f"))
    contexts: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    wrong = (draw for draw in sampler.draws(epoch, shortfall) if not draw.label)
    # Embed texts in batches, so that memory use does not depend on the number of texts.
    while some := list(islice(wrong, 500)):
        pairs = [sampler.pair(draw) for draw in some]
        right = [[item.text for _, item in _references(sampler.groups[draw.group])] for draw in some]
        texts = list(dict.fromkeys([*(pair.response for pair in pairs), *chain.from_iterable(right)]))
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        for draw, pair, fitting in zip(some, pairs, right, strict=True):
            # The similarity of a wrong response is its highest cosine with a correct response.
            similarity = max(float(vectors[pair.response] @ vectors[text]) for text in fitting)
            for key in {(draw.name, ""), (draw.name, pair.category)}:
                similarities[key].append(similarity)
                contexts[key].add(draw.group)
    rows: list[Shortage] = []
    for name, amount in sampler.mix.negatives.items():
        asked, short = amount * sampler.contexts, shortfall.contexts[name]
        spread = _cosine_statistics(similarities[name, ""])
        got = asked - shortfall.responses[name]
        rows.append(Shortage(name, "", sampler.contexts, short, asked, got, spread))
        for (other, category), part in sorted(similarities.items()):
            # The negatives of a source such as "deam" have several error categories. Add a row for each
            # category. If the name in the mix is itself a category, such as "C-ent", the row above already
            # counts all its responses.
            if other == name and category not in ("", name):
                size = len(contexts[other, category])
                rows.append(Shortage(name, category, size, 0, len(part), len(part), _cosine_statistics(part)))
    return rows


def _cosine_statistics(values: Sequence[float]) -> Spread | None:
    return Spread(len(values), min(values), median(values), max(values)) if values else None


Draws = Callable[[int], tuple[EpochPairs, Shortfall]]
"""Type of a function that takes the number of an epoch, and returns the pairs of this epoch and the numbers
of missing responses."""


class Epochs:
    """The pairs of all epochs, in the order in which they are used for training.

    The pairs of an epoch are drawn when its first pair is accessed. Within windows of `_WINDOW` batches,
    contexts are sorted by length, so that a batch needs little padding. Memory contains only the draws of one
    epoch and the pairs of one window at a time.

    Attributes:
        sources: Number of pairs in all epochs, keyed by the source of the response.
        shortfall: Counts of the responses that the first epoch lacks or does not use.
        first: Number of pairs in the first epoch.
        balance: Number of wrong responses per correct response in the first epoch.
    """

    def __init__(self, draws: Draws, epochs: int, batch: int) -> None:
        """Count the pairs of all epochs. For this, each epoch is drawn once.

        Args:
            draws: Function that draws the pairs of an epoch.
            epochs: Number of epochs.
            batch: Number of pairs per batch.
        """
        self._draws = draws
        self._batch, self._size = batch, batch * _WINDOW
        # Draw each epoch once to count its pairs. Training starts with the first epoch, so keep the pairs of
        # this epoch in memory.
        first, self.shortfall = draws(0)
        self.first, self._digest = len(first), first.digest
        self.balance = (self.first - first.right) / max(1, first.right)
        self._epoch, self._pairs = 0, first.grouped_by_context()
        self._window, self._sorted = -1, list[Pair]()
        self.sources: Counter[str] = Counter()
        self._starts = [0]
        for epoch in range(epochs):
            pairs = first if epoch == 0 else draws(epoch)[0]
            self.sources.update(pairs.sources)
            self._starts.append(self._starts[-1] + len(pairs))

    def facts(self) -> list[Any]:
        """Return a digest of the first epoch, and the number of pairs from each source.

        A training run is resumed only if these values are the same.
        """
        return [self._digest, sorted(self.sources.items())]

    def sources_of(self, amount: int) -> Counter[str]:
        """Count from which sources the first ``amount`` training pairs come.

        For a training run that stopped early, the result shows which responses the model has read.

        Args:
            amount: Number of pairs that the run used, counted from the first pair.

        Returns:
            The number of these pairs, keyed by source.
        """
        if amount >= len(self):
            return self.sources
        return Counter(self[index].source for index in range(amount))

    def __len__(self) -> int:
        """Return the number of pairs in all epochs."""
        return self._starts[-1]

    def __getitem__(self, index: int) -> Pair:
        """Return the pair at an index in the order for training."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        epoch = bisect_right(self._starts, index) - 1
        # Training reads the pairs in order, so only the current epoch is kept in memory.
        if epoch != self._epoch:
            self._pairs = self._draws(epoch)[0].grouped_by_context()
            self._epoch, self._window = epoch, -1
        window, within = divmod(index - self._starts[epoch], self._size)
        if window != self._window:
            start = window * self._size
            pairs = self._pairs[start : start + self._size]
            # Sort the pairs by the length of their contexts, so that a batch needs little padding.
            pairs = sorted(pairs, key=lambda pair: sum(map(len, pair.context)))
            batches = [pairs[at : at + self._batch] for at in range(0, len(pairs), self._batch)]
            # Shuffle the batches by sorting them by a hash. Otherwise, training would first see all short
            # contexts and then all long contexts.
            batches.sort(key=lambda some: number(0, "batch", some[0].id))
            self._sorted, self._window = [pair for some in batches for pair in some], window
        return self._sorted[within]
