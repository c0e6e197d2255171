"""Read the shift graph as a networkx graph, as a file, or as likelihoods of perspectives.

P(p | f) is the likelihood that a reply that takes up the focus ``f`` shifts to the perspective ``p``. If a
focus occurs only a few times, its counts alone are not enough to estimate the likelihoods. Therefore the
counts are smoothed with two distributions (Dirichlet smoothing). P2(p | f) is the distribution over
perspectives that are reached from ``f`` over two edges of the graph. P(p) is the frequency of ``p`` after any
focus::

    P(p | f) = (n(f, p) + STRENGTH * (BACK_OFF * P2(p | f) + (1 - BACK_OFF) * P(p))) / (n(f) + STRENGTH)

Here, ``n(f)`` is the number of shifts from ``f``, and ``n(f, p)`` is the number of shifts from ``f`` to
``p``. `BACK_OFF` is 0 if shifts over two edges are ignored.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from graphneg.editing.export import write_graphml
from graphneg.errors import InputError
from graphneg.json_input import json_line
from graphneg.records.runs import atomic_file, check_new, check_output
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

if TYPE_CHECKING:
    import networkx

SUFFIXES = (".graphml", ".parquet", ".jsonl")
"""Suffixes of the formats in which `export_shifts` can write a file."""
STRENGTH = 50.0
"""Weight of the smoothing, in observed pairs. With 50, the smoothing counts as much as 50 observed pairs."""
BACK_OFF = 0.3
"""Fraction of the smoothing that uses P2, the distribution over two edges."""
WAYS = 400
"""Maximum number of perspectives of a focus from which second edges are followed. The most frequent
perspectives are used."""
KEPT = 20_000
"""Maximum number of terms whose shifts are cached. Likelihoods are cached for a quarter of this number."""

Edge = tuple[str, str, int]
Key = TypeVar("Key")
Kept = TypeVar("Kept")


def read_edges(store: Store, corpora: Sequence[str] = ()) -> list[Edge]:
    """Return the edges of the shift graph, each with the number of replies that make this shift.

    Args:
        store: Store with a shift graph.
        corpora: Names of the corpora whose shifts to include; empty for the whole graph.

    Returns:
        Sorted triples of the keyword that replies take up (focus), the keyword to which they shift
        (perspective), and the count.

    Raises:
        InputError: There is no shift graph, or it has no edges from these corpora.
    """
    counts = Counter[tuple[str, str]]()
    if corpora:
        # The query returns separate rows for utterances and for responses, so add up their counts.
        for row in store.stream(cypher_text("shift/edges_of_corpora"), corpora=list(corpora)):
            counts[row["focus"], row["perspective"]] += row["count"]
    else:
        for row in store.stream(cypher_text("shift/edges")):
            for text, count in row["neighbours"]:
                counts[row["focus"], text] = count
    if not counts:
        of = f" of {', '.join(corpora)}" if corpora else ""
        raise InputError(f"there is no shift graph{of} in the {store.description}: run graphneg shift build")
    return sorted((focus, perspective, count) for (focus, perspective), count in counts.items())


def shift_graph(store: Store, corpora: Sequence[str] = ()) -> networkx.DiGraph[str]:
    """Return the shift graph as a networkx graph.

    Args:
        store: Store with a shift graph.
        corpora: Names of the corpora whose shifts to include; empty for the whole graph.

    Returns:
        A graph whose nodes are keywords and whose edges have the attribute ``count``.
    """
    return _graph(read_edges(store, corpora))


def export_shifts(store: Store, out: Path, corpora: Sequence[str] = (), *, overwrite: bool = False) -> int:
    """Write the shift graph to a file. The suffix of the file determines the format.

    In a ``.graphml`` file, nodes are keywords, and edges have the attribute ``count``. A ``.parquet`` or
    ``.jsonl`` file has a row for each edge with the fields ``focus``, ``perspective`` and ``count``. The file
    is written under a temporary name and renamed when it is complete.

    Args:
        store: Store with a shift graph.
        out: File to write.
        corpora: Names of the corpora whose shifts to include; empty for the whole graph.
        overwrite: Whether to replace an existing file.

    Returns:
        The number of edges in the file.
    """
    check_output(out, SUFFIXES)
    check_new(out, overwrite)
    edges = read_edges(store, corpora)
    rows = [dict(zip(("focus", "perspective", "count"), edge, strict=True)) for edge in edges]
    with atomic_file(out) as unfinished:
        if out.suffix == ".graphml":
            write_graphml(_graph(edges), unfinished)
        elif out.suffix == ".parquet":
            import pyarrow
            from pyarrow import parquet

            parquet.write_table(pyarrow.Table.from_pylist(rows), unfinished)
        else:
            lines = (json_line(row) + "\n" for row in rows)
            unfinished.write_text("".join(lines), encoding="utf-8")
    return len(edges)


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The probabilities of perspectives (keywords of a reply), given a focus (a keyword of the post).

    Attributes:
        counts: Number of shifts from the focus to each perspective.
        known: Likelihoods of all perspectives that can be reached from the focus.
        ranked: The perspectives in ``known``, sorted by likelihood, highest first.
    """

    counts: Mapping[str, int]
    known: Mapping[str, float]
    ranked: tuple[str, ...]
    rest: float
    """Factor for ``prior``: ``rest * prior[p]`` is the likelihood of a perspective ``p`` that cannot be
    reached from the focus."""
    prior: Mapping[str, float]
    """P(p): for each perspective, the fraction of all shifts in the graph that end at it."""

    def of(self, perspective: str) -> float:
        """Return the likelihood of a perspective.

        Args:
            perspective: Text of any keyword, even if it cannot be reached from the focus.

        Returns:
            The likelihood, from 0 to 1.
        """
        found = self.known.get(perspective)
        return self.rest * self.prior.get(perspective, 0.0) if found is None else found


class ShiftGraph:
    """The shift graph of a store, which counts how often replies shift the topic from one keyword to another.

    The shifts from a keyword are read from the store when they are needed, and then cached.
    """

    def __init__(self, store: Store) -> None:
        """Initialize the object without reading the shift graph.

        Args:
            store: Store with a shift graph.
        """
        self._store = store
        self._shifts: OrderedDict[str, Mapping[str, int]] = OrderedDict()
        self._likelihoods: OrderedDict[tuple[str, int], Likelihoods] = OrderedDict()

    @cached_property
    def prior(self) -> Mapping[str, float]:
        """P(p): for each perspective, the fraction of all shifts that end at it, highest fraction first."""
        rows = self._store.read(cypher_text("shift/candidates_prior"))
        counts = {row["perspective"]: int(row["count"]) for row in rows}
        total = sum(counts.values())
        return {text: counts[text] / total for text in sorted(counts, key=lambda text: (-counts[text], text))}

    def from_each(self, terms: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
        """Return how often replies shift the topic from given keywords to each other keyword.

        Args:
            terms: Texts of the keywords (foci).

        Returns:
            For each focus, the number of shifts to each other keyword (perspective), highest number first. A
            term without shifts has an empty mapping.
        """
        found = {term: self._shifts.get(term, {}) for term in sorted(set(terms))}
        missing = [term for term in found if term not in self._shifts]
        rows = self._store.read(cypher_text("shift/candidates"), foci=missing) if missing else ()
        for row in rows:
            ordered = sorted(row["shifts"], key=lambda shift: (-shift[1], shift[0]))
            found[row["focus"]] = {text: int(count) for text, count in ordered}
        # Terms without shifts are cached as well, so that they are not queried again.
        _keep(self._shifts, found, KEPT)
        return found

    def likelihoods(self, foci: Iterable[str], hops: int) -> Mapping[str, Likelihoods]:
        """Return, for each focus, how likely a reply shifts the topic to each other keyword (perspective).

        Args:
            foci: Texts of foci, the keywords that a reply takes up.
            hops: Maximum number of edges to follow from a focus, 1 or 2. With 2, P2 (the distribution over
                perspectives that are two edges away) is also used for smoothing.

        Returns:
            The likelihoods for each focus that has shifts, keyed by the focus.
        """
        asked = sorted(set(foci))
        missing = [focus for focus in asked if (focus, hops) not in self._likelihoods]
        found = {(focus, hops): self._likelihoods[focus, hops] for focus in set(asked) - set(missing)}
        shifts = self.from_each(missing)
        ways = {focus: list(shifts[focus])[: WAYS if hops > 1 else 0] for focus in missing}
        onward = self.from_each(term for some in ways.values() for term in some)
        for focus in missing:
            # Paths of two edges lead from the focus over another keyword (`way`): coffee -> cake -> birthday.
            # Keep only keywords from which a second edge starts.
            leading = [way for way in ways[focus] if onward[way]]
            found[focus, hops] = self._smoothed(shifts[focus], leading, onward)
        _keep(self._likelihoods, found, KEPT // 4)
        return {focus: found[focus, hops] for focus in asked if found[focus, hops].counts}

    def _smoothed(
        self, counts: Mapping[str, int], ways: list[str], onward: Mapping[str, Mapping[str, int]]
    ) -> Likelihoods:
        """Return smoothed probabilities of the perspectives to which replies shift from one focus.

        Args:
            counts: Number of shifts from the focus to each perspective.
            ways: Perspectives in the middle of paths of two edges: *cake* in coffee -> cake -> birthday.
            onward: For each perspective in ``ways``, the number of shifts from it to each perspective.
        """
        prior, total = self.prior, sum(counts.values())
        share = BACK_OFF if ways else 0.0
        # `rest` is the weight of P(p) in the formula of the module docstring: STRENGTH * (1 - BACK_OFF) /
        # (n(f) + STRENGTH).
        rest = STRENGTH * (1 - share) / (total + STRENGTH)
        mass: dict[str, float] = dict(counts)
        taken = sum(counts[way] for way in ways)
        for way in ways:
            leads = onward[way]
            # P2(p | focus) sums over shifts focus -> way -> p. Each `way` is weighted by how often replies
            # shift to it from the focus.
            weight = STRENGTH * share * counts[way] / taken / sum(leads.values())
            for text, count in leads.items():
                mass[text] = mass.get(text, 0.0) + weight * count
        known = {text: own / (total + STRENGTH) + rest * prior.get(text, 0.0) for text, own in mass.items()}
        ranked = tuple(sorted(known, key=lambda text: (-known[text], text)))
        return Likelihoods(counts, known, ranked, rest, prior)


def _graph(edges: Sequence[Edge]) -> networkx.DiGraph[str]:
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(sorted({end for edge in edges for end in edge[:2]}))
    graph.add_weighted_edges_from(edges, weight="count")
    return graph


def _keep(kept: OrderedDict[Key, Kept], used: Mapping[Key, Kept], room: int) -> None:
    """Add entries to a cache, and remove the least recently used entries until at most ``room`` are left."""
    for key, value in used.items():
        kept[key] = value
        kept.move_to_end(key)
    while len(kept) > room:
        kept.popitem(last=False)
