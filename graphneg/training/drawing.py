"""Pairs for one epoch: how many right and wrong responses of each context, drawn by hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.training.groups import Answer, Group

RANDOM = "random"
"""A source that is always there: right responses of other contexts."""
_TRIES = 20


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
    groups bring a source of that name themselves, theirs are taken.
    """

    positives: int = 1
    negatives: Mapping[str, int] = field(default_factory=lambda: {RANDOM: 1})

    def __post_init__(self) -> None:
        if self.positives < 1 or not self.negatives or min(self.negatives.values()) < 1:
            raise InputError("a mix needs at least one right and one wrong response of each context")


@dataclass(slots=True)
class Lacking:
    """Contexts that have fewer than asked for, and how many responses that are: by source."""

    contexts: Counter[str] = field(default_factory=Counter[str])
    responses: Counter[str] = field(default_factory=Counter[str])
    held_out: int = 0


class Drawing:
    """Draws the pairs of an epoch from groups: the same seed and epoch give the same pairs in the same order.

    Of each context other negatives come up in each epoch, until all have been drawn. A response whose
    text is in ``held_out`` is never drawn. What is lacking is counted, never made up for.

    Raises:
        InputError: no group has a right response, or a source is not there at all.
    """

    def __init__(self, groups: Sequence[Group], mix: Mix, seed: int, held_out: Collection[str] = ()) -> None:
        self._held_out = {plain(text) for text in held_out}
        self._mix = mix
        self._seed = seed
        self._groups = [one for one in groups if self._allowed(one.positives)]
        if not self._groups:
            raise InputError("no context has a right response to learn from")
        self._own_random = any(RANDOM in _names(answer) for one in groups for answer in one.negatives)
        self._check_sources()

    def epoch(self, epoch: int) -> tuple[list[Pair], Lacking]:
        """The pairs of an epoch, shuffled, and what was lacking."""
        lacking = Lacking()
        pairs = [pair for group in self._groups for pair in self._of(group, epoch, lacking)]
        lacking.held_out = sum(
            plain(answer.text) in self._held_out
            for group in self._groups
            for answer in (*group.positives, *group.negatives)
        )
        return sorted(pairs, key=lambda pair: number(self._seed, "pair", str(epoch), pair.id)), lacking

    def _of(self, group: Group, epoch: int, lacking: Lacking) -> Iterator[Pair]:
        positives = self._turns(group, "positive", self._allowed(group.positives), self._mix.positives, epoch)
        for answer in positives:
            yield _pair(group, answer, 1)
        for name, amount in self._mix.negatives.items():
            if name == RANDOM and not self._own_random:
                found = list(self._random(group, amount, epoch))
            else:
                some = [one for one in self._allowed(group.negatives) if name in _names(one)]
                found = self._turns(group, name, some, amount, epoch)
            if len(found) < amount:
                lacking.contexts[name] += 1
                lacking.responses[name] += amount - len(found)
            for answer in found:
                yield _pair(group, answer, 0)

    def _turns(
        self, group: Group, name: str, answers: Sequence[Answer], amount: int, epoch: int
    ) -> list[Answer]:
        """``amount`` of the answers, the next ones in each epoch, round and round."""
        order = sorted(answers, key=lambda one: number(self._seed, "answer", group.id, name, one.text))
        start = epoch * amount
        return [order[(start + i) % len(order)] for i in range(min(amount, len(order)))]

    def _random(self, group: Group, amount: int, epoch: int) -> Iterator[Answer]:
        """Right responses of other contexts, none that fits this one too."""
        taken = {plain(answer.text) for answer in group.positives}
        for k in range(amount * _TRIES):
            draw = number(self._seed, "random", group.id, str(epoch), str(k))
            other = self._groups[draw % len(self._groups)]
            some = self._allowed(other.positives)
            text = some[(draw // len(self._groups)) % len(some)].text
            if other is not group and plain(text) not in taken:
                taken.add(plain(text))
                yield Answer(text, RANDOM)
                amount -= 1
                if not amount:
                    return

    def _allowed(self, answers: Sequence[Answer]) -> list[Answer]:
        if not self._held_out:
            return list(answers)
        return [one for one in answers if plain(one.text) not in self._held_out]

    def _check_sources(self) -> None:
        known = {name for one in self._groups for answer in one.negatives for name in _names(answer)}
        for name in self._mix.negatives:
            if name not in known and name != RANDOM:
                there = ", ".join(sorted(known - {""})) or "none"
                raise InputError(f"no negatives of {name!r}; there are: {there}")


def plain(text: str) -> str:
    """A text as it is compared: case and white space do not count.

    >>> plain(" Oh,  really? ")
    'oh, really?'
    """
    return " ".join(text.casefold().split())


def _names(answer: Answer) -> tuple[str, str]:
    return answer.source, answer.category


def _pair(group: Group, answer: Answer, label: int) -> Pair:
    context = group.context if answer.context is None else answer.context
    id = f"{group.id}~{label}{answer.source}~{answer.text}"
    return Pair(id, context, answer.text, label, answer.source, answer.category)
