"""The shift graph as others read it: neighbours, networkx, files, likelihoods, posts and replies."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from graphneg.errors import InputError
from graphneg.records.runs import atomic_file
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
from graphneg.store.statements import cypher_text

if TYPE_CHECKING:
    import networkx


# The shift graph as others read it: neighbours, networkx, GraphML, Parquet, JSON Lines.


SUFFIXES = (".graphml", ".parquet", ".jsonl")
Edge = tuple[str, str, int]


def neighbours(store: Store, foci: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """What replies move to from each focus, with counts: the highest first, then in the order of texts.

    A focus that is not in the graph has none.
    """
    found: dict[str, list[tuple[str, int]]] = {focus: [] for focus in foci}
    for row in store.read(cypher_text("shift/neighbours"), foci=list(found)):
        found[row["focus"]] = _ranked([(text, count) for text, count in row["neighbours"]])
    return found


def read_edges(store: Store, corpora: Sequence[str] = ()) -> list[Edge]:
    """The edges (focus, perspective, count), sorted; of some corpora, or of all that is in the store.

    Raises:
        InputError: there are none.
    """
    edges = sorted(_edges_of(store, corpora) if corpora else _edges(store))
    if not edges:
        of = f" of {', '.join(corpora)}" if corpora else ""
        raise InputError(f"there is no shift graph{of} in the {store.description}: graphneg shift build")
    return edges


def shift_graph(store: Store, corpora: Sequence[str] = ()) -> networkx.DiGraph[str]:
    """The graph: keywords as nodes, ``count`` on its edges.

    Raises:
        InputError: there is none.
    """
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    edges = read_edges(store, corpora)
    graph.add_nodes_from(sorted({end for edge in edges for end in edge[:2]}))
    graph.add_weighted_edges_from(edges, weight="count")
    return graph


def export_shifts(store: Store, out: Path, corpora: Sequence[str] = ()) -> int:
    """Write the shift graph in the form that the suffix names; returns the number of its edges.

    ``.graphml`` has keywords as nodes and ``count`` on edges; ``.parquet`` and ``.jsonl`` have one edge a
    row: ``focus``, ``perspective``, ``count``. The file is there when it is complete.

    Raises:
        InputError: another suffix, no such folder, the file can't be written, or there is no graph.
    """
    check_export(out)
    edges = read_edges(store, corpora)
    with atomic_file(out) as unfinished:
        _write(unfinished, out.suffix, edges)
    return len(edges)


def check_export(out: Path) -> None:
    """Raises `InputError` where nothing can be exported to that place."""
    if out.suffix not in SUFFIXES:
        raise InputError(f"{out}: the suffix must be one of {', '.join(SUFFIXES)}")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out}: the folder {out.absolute().parent} is not there; make it first")


def _edges(store: Store) -> Iterator[Edge]:
    for row in store.stream(cypher_text("shift/edges")):
        for text, count in row["neighbours"]:
            yield row["focus"], text, count


def _edges_of(store: Store, corpora: Sequence[str]) -> Iterator[Edge]:
    counts = Counter[tuple[str, str]]()
    for query in ("shift/edges_by_utterances", "shift/edges_by_responses"):
        for row in store.stream(cypher_text(query), corpora=list(corpora)):
            counts[row["focus"], row["perspective"]] += row["count"]
    for (focus, perspective), count in counts.items():
        yield focus, perspective, count


def _ranked(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Servers sort texts beyond ASCII by rules of their own."""
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _write(out: Path, suffix: str, edges: Sequence[Edge]) -> None:
    if suffix == ".graphml":
        _write_graphml(out, edges)
    elif suffix == ".parquet":
        _write_parquet(out, edges)
    else:
        with out.open("w", encoding="utf-8") as lines:
            for focus, perspective, count in edges:
                row = {"focus": focus, "perspective": perspective, "count": count}
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_graphml(out: Path, edges: Sequence[Edge]) -> None:
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_weighted_edges_from(edges, weight="count")
    networkx.write_graphml(graph, out)


def _write_parquet(out: Path, edges: Sequence[Edge]) -> None:
    import pyarrow
    from pyarrow import parquet

    names = ("focus", "perspective", "count")
    columns = [pyarrow.array([edge[at] for edge in edges]) for at in range(3)]
    parquet.write_table(pyarrow.table(columns, names=list(names)), out)


# Posts and replies as the store holds them.


PAGE = 20_000
Kind = Literal["utterances", "responses"]


@dataclass(frozen=True, slots=True)
class Said:
    """A text of a dialogue: an utterance, or a response to one of its turns."""

    id: str
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Pair:
    """A post, and a reply to it: the next utterance, or a response that fits."""

    post: Said
    reply: Said


@dataclass(frozen=True, slots=True)
class DialoguePairs:
    """The texts of a dialogue, in order, and its pairs."""

    id: str
    texts: tuple[Said, ...]
    pairs: tuple[Pair, ...]


def waiting_dialogues(store: Store, selection: Selection) -> Iterator[str]:
    """Ids of the dialogues that are not in the shift graph yet, in their order, in flat memory."""
    after, left = "", selection.limit
    while left is None or left > 0:
        limit = PAGE if left is None else min(PAGE, left)
        page = store.read(cypher_text("shift/waiting"), after=after, limit=limit, **_conditions(selection))
        for row in page:
            yield row["id"]
        if len(page) < limit:
            return
        after = page[-1]["order"]
        left = None if left is None else left - len(page)


def count_dialogues(store: Store, selection: Selection) -> tuple[int, int]:
    """How many dialogues there are, and how many of them wait."""
    row = store.read(cypher_text("shift/count_waiting"), **_conditions(selection))[0]
    return row["dialogues"], row["waiting"]


def has_replies(store: Store, selection: Selection) -> bool:
    """Whether any utterance or response is a reply."""
    return bool(store.read(cypher_text("shift/any_reply"), **_conditions(selection)))


def read_pairs(store: Store, ids: Sequence[str]) -> list[DialoguePairs]:
    """The texts and pairs of these dialogues, in this order."""
    turns = {row["id"]: row["turns"] for row in store.read(cypher_text("shift/turns"), ids=list(ids))}
    responses = {
        row["id"]: row["responses"] for row in store.read(cypher_text("shift/responses"), ids=list(ids))
    }
    return [_pairs(id, turns[id], responses.get(id, [])) for id in ids if id in turns]


def _pairs(id: str, turns: list[list[Any]], responses: list[list[Any]]) -> DialoguePairs:
    said = [(turn, Said(at, text, "utterances")) for turn, at, text in sorted(turns)]
    answers = [(turn, Said(at, text, "responses")) for turn, at, text in sorted(responses)]
    posts = dict(said)
    pairs = [Pair(post, reply) for (_, post), (_, reply) in pairwise(said)]
    pairs += [Pair(posts[turn], reply) for turn, reply in answers]
    return DialoguePairs(id, tuple(one for _, one in (*said, *answers)), tuple(pairs))


def _conditions(selection: Selection) -> dict[str, Any]:
    return {"corpora": list(selection.corpora), "splits": list(selection.splits)}


# How likely a reply moves to a perspective, from a focus: counts of the shift graph with back-off.
#
# A focus that was seen a few times says little of its own. Its counts are smoothed by where its
# perspectives lead in turn (two hops), and those by what replies move to anywhere:
#
#     P(p | f) = (n(f, p) + STRENGTH * (BACK_OFF * P2(p | f) + (1 - BACK_OFF) * P(p))) / (n(f) + STRENGTH)
#
# (Dirichlet smoothing; with one hop, ``BACK_OFF`` is 0.)


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
