"""How likely a reply moves to a perspective, from a focus: counts of the shift graph with back-off.

A focus that was seen a few times says little of its own. Its counts are smoothed by where its
perspectives lead in turn (two hops), and those by what replies move to anywhere:

    P(p | f) = (n(f, p) + STRENGTH * (BACK_OFF * P2(p | f) + (1 - BACK_OFF) * P(p))) / (n(f) + STRENGTH)

(Dirichlet smoothing; with one hop, ``BACK_OFF`` is 0.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from graphneg.store import Store, cypher_text

Key = TypeVar("Key")
Kept = TypeVar("Kept")

STRENGTH = 50.0
BACK_OFF = 0.3
WAYS = 400
"""A second hop starts from so many perspectives of a focus, the commonest."""
KEPT = 20_000
"""So many terms' shifts, and a quarter as many foci, are kept in memory."""


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """P(p | f) of one focus. ``counts`` are its shifts; ``known`` are all that it
    reaches, ``ranked`` the same, the likeliest first."""

    counts: Mapping[str, int]
    known: Mapping[str, float]
    ranked: tuple[str, ...]
    rest: float
    """The share of the corpus's own frequencies in this focus: what ``prior`` is weighed with."""
    prior: Mapping[str, float]

    def of(self, perspective: str) -> float:
        """P(p | f), also of what the focus does not reach."""
        found = self.known.get(perspective)
        return self.rest * self.prior.get(perspective, 0.0) if found is None else found


class Shifts:
    """The shift graph of a store, read as it is asked for and kept while there is room."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shifts: OrderedDict[str, Mapping[str, int]] = OrderedDict()
        self._likelihoods: OrderedDict[tuple[str, int], Likelihoods] = OrderedDict()

    @cached_property
    def prior(self) -> Mapping[str, float]:
        """The share of all shifts that lead to each perspective, the commonest first."""
        rows = self._store.read(cypher_text("shift/candidates_prior"))
        counts = {row["perspective"]: int(row["count"]) for row in rows}
        total = sum(counts.values())
        return {text: counts[text] / total for text in sorted(counts, key=lambda text: (-counts[text], text))}

    def from_each(self, terms: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        """The perspectives of each focus with their counts, the commonest first; empty for dead ends."""
        wanted = sorted(set(terms))
        missing = [term for term in wanted if term not in self._shifts]
        found = {term: self._shifts[term] for term in wanted if term in self._shifts}
        if missing:
            rows = self._store.read(cypher_text("shift/candidates"), foci=missing)
            read = {row["focus"]: _ordered(row["shifts"]) for row in rows}
            found |= {term: read.get(term, {}) for term in missing}
        _keep(self._shifts, found, KEPT)
        return found

    def likelihoods(self, foci: Iterable[str], hops: int) -> Mapping[str, Likelihoods]:
        """P(p | f) of each focus that leads somewhere."""
        wanted = sorted(set(foci))
        missing = [focus for focus in wanted if (focus, hops) not in self._likelihoods]
        found = {(focus, hops): self._likelihoods[focus, hops] for focus in set(wanted) - set(missing)}
        shifts = self.from_each(missing)
        ways = {focus: list(shifts[focus])[: WAYS if hops > 1 else 0] for focus in missing}
        onward = self.from_each(term for some in ways.values() for term in some)
        for focus in missing:
            leading = [way for way in ways[focus] if onward[way]]
            found[focus, hops] = self._smoothed(shifts[focus], leading, onward)
        _keep(self._likelihoods, found, KEPT // 4)
        return {focus: found[focus, hops] for focus in wanted if found[focus, hops].counts}

    def _smoothed(
        self, counts: Mapping[str, int], ways: list[str], onward: Mapping[str, Mapping[str, int]]
    ) -> Likelihoods:
        prior, total = self.prior, sum(counts.values())
        share = BACK_OFF if ways else 0.0
        rest = STRENGTH * (1 - share) / (total + STRENGTH)
        mass: dict[str, float] = dict(counts)
        taken = sum(counts[way] for way in ways)
        for way in ways:
            leads = onward[way]
            weight = STRENGTH * share * counts[way] / taken / sum(leads.values())
            for text, count in leads.items():
                mass[text] = mass.get(text, 0.0) + weight * count
        known = {text: one / (total + STRENGTH) + rest * prior.get(text, 0.0) for text, one in mass.items()}
        ranked = tuple(sorted(known, key=lambda text: (-known[text], text)))
        return Likelihoods(counts, known, ranked, rest, prior)


def _ordered(shifts: list[list[Any]]) -> dict[str, int]:
    """Perspectives with their counts, the commonest first."""
    return {text: int(count) for text, count in sorted(shifts, key=lambda one: (-one[1], one[0]))}


def _keep(kept: OrderedDict[Key, Kept], used: Mapping[Key, Kept], room: int) -> None:
    """Keep what was used last."""
    for key, one in used.items():
        kept[key] = one
        kept.move_to_end(key)
    while len(kept) > room:
        kept.popitem(last=False)
