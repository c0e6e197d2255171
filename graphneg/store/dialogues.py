"""Dialogues and graphs as the store holds them, read in pages and kept for a while.

In: which dialogues (a `Selection`), or ids. Out: dialogues with their turns, responses, and graphs.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from sys import intern
from threading import Lock
from typing import Any, NamedTuple, Protocol

from neo4j import Record

from graphneg.errors import StoreError, listed
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.shards import Shard
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

PAGE = 2_000
PART = 50
KEPT_NODES = 100_000
_NO_DIGESTS: Mapping[str, str | None] = {}


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One utterance as editing sees it: ``amr`` is its graph's id, ``digest`` the graph's own; ``foreign``:
    it is hardly English."""

    turn: int
    speaker: str
    text: str
    amr: str | None
    digest: str | None = None
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class StoredDialogue:
    """A dialogue of the store with its turns in order."""

    id: str
    corpus: str
    split: str
    turns: tuple[StoredTurn, ...]

    @property
    def digests(self) -> dict[str, str | None]:
        """What each of its graphs says, by graph id."""
        return {turn.amr: turn.digest for turn in self.turns if turn.amr is not None}

    @property
    def graphs(self) -> list[str]:
        """The ids of its graphs, in the order of turns."""
        return [turn.amr for turn in self.turns if turn.amr is not None]

    def parameter(self) -> dict[str, Any]:
        """What a transform's ``$dialogues`` holds for it."""
        turns = [
            {"turn": turn.turn, "speaker": turn.speaker, "amr": turn.amr}
            for turn in self.turns
            if turn.amr is not None
        ]
        return {"id": self.id, "turns": turns}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which dialogues: of these corpora and splits (all, where empty), at most ``limit``.

    ``with_graphs`` leaves out those of which no turn has an AMR graph. Of what is so selected, a ``shard``
    takes its own.

    Raises `InputError`: corpora or splits are a single text.
    """

    corpora: Sequence[str] = ()
    splits: Sequence[str] = ()
    limit: int | None = None
    with_graphs: bool = False
    shard: Shard | None = None

    def __post_init__(self) -> None:
        for name in ("corpora", "splits"):
            object.__setattr__(self, name, tuple(listed(name, getattr(self, name))))

    def __str__(self) -> str:
        """In words.

        >>> str(Selection()), str(Selection(("everyday",), ("train", "test"), 40))
        ('all dialogues', 'the first 40 dialogues of everyday, train, test')
        """
        first = "all" if self.limit is None else f"the first {self.limit:,}"
        names = (*self.corpora, *self.splits)
        part = "" if self.shard is None else f", shard {self.shard}"
        return f"{first} dialogues" + f" of {', '.join(names)}" * bool(names) + part

    def conditions(self) -> dict[str, Any]:
        """The parameters of queries that select dialogues; the limit is not one of them."""
        return {"corpora": list(self.corpora), "splits": list(self.splits), "with_graphs": self.with_graphs}


def count_dialogues(store: Store, selection: Selection) -> int:
    """How many dialogues are selected; of a shard about how many, as no server can tell."""
    count = store.read(cypher_text("read/count"), **selection.conditions())[0]["dialogues"]
    count = count if selection.limit is None else min(count, selection.limit)
    return count if selection.shard is None else -(-count // selection.shard.amount)


def dialogue_ids(
    store: Store,
    selection: Selection,
    skip: int = 0,
    after: str = "",
    *,
    statement: str = "read/dialogues",
    page: int = PAGE,
) -> Iterator[str]:
    """Ids in the corpus's natural order, in flat memory; ``skip`` leaves out the first ones.

    Where the place of the last of those is known (its ``order``), they are the ones up to ``after``, however
    many there are by now. The shipped ``statement`` selects them, ``page`` at a time.
    """
    if (shard := selection.shard) is not None:
        whole, start = replace(selection, shard=None), after if selection.limit is None else ""
        ids = dialogue_ids(store, whole, after=start, statement=statement, page=page)
        yield from islice(filter(shard.holds, ids), 0 if start else skip, None)
        return
    if after and selection.limit is not None:
        selection = replace(selection, limit=max(0, selection.limit - skip))
    skip = 0 if after else skip
    for rows in _pages(store, selection, statement, page, after):
        yield from (row["id"] for row in rows[skip:])
        skip = max(0, skip - len(rows))


def _pages(
    store: Store, selection: Selection, statement: str, page: int = PAGE, after: str = ""
) -> Iterator[list[Record]]:
    """The rows of a statement that takes pages of dialogues, in their order."""
    left = selection.limit
    while left is None or left > 0:
        limit = page if left is None else min(page, left)
        rows = store.read(cypher_text(statement), after=after, limit=limit, **selection.conditions())
        yield rows
        if len(rows) < limit:
            return
        after = rows[-1]["order"]
        left = None if left is None else left - len(rows)


def outlines(store: Store, selection: Selection) -> Iterator[list[Record]]:
    """Yield pages of the selected dialogues in their order, with the digests stored with them.

    Args:
        store: An open store.
        selection: Which dialogues; its shard is ignored.

    Yields:
        The rows of ``read/outline``: id, order, digest, graphs.
    """
    yield from _pages(store, selection, "read/outline")


class Reads(Protocol):
    """A store, or a transaction, that answers queries."""

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """All rows of a query."""
        ...


def read_dialogues(store: Reads, ids: Sequence[str]) -> list[StoredDialogue]:
    """The dialogues of these ids, in this order."""
    dialogues: dict[str, StoredDialogue] = {}
    for row in store.read(cypher_text("read/turns"), ids=list(ids)):
        # Of an utterance's graphs, a gold one (``penman``) comes before a parser's.
        said = sorted(row["turns"], key=lambda turn: (turn[0], turn[4] != "penman", turn[4] or ""))
        turns: dict[int, StoredTurn] = {}
        for turn, speaker, text, amr, _, digest, foreign in said:
            turns.setdefault(turn, StoredTurn(turn, speaker, text, amr, digest, foreign is True))
        whole = tuple(turns.values())
        dialogues[row["id"]] = StoredDialogue(row["id"], row["corpus"], row["split"], whole)
    return [dialogues[id] for id in ids if id in dialogues]


class Said(Protocol):
    """What somebody says."""

    @property
    def speaker(self) -> str:
        """Who says it."""
        ...


def answering(turns: Sequence[Said]) -> str:
    """Who speaks next where nobody says: the last one who is not the last speaker.

    >>> hi, hello = StoredTurn(0, "A", "Hi.", None), StoredTurn(1, "B", "Hello.", None)
    >>> answering([hi, hello]), answering([hi])
    ('A', 'B')
    """
    last = turns[-1].speaker
    others = [turn.speaker for turn in turns if turn.speaker != last]
    if others:
        return others[-1]
    return "B" if last == "A" else "A"


class StoredResponse(NamedTuple):
    """A response to the turn ``turn`` of a dialogue; ``label`` is 1 where it is a right one."""

    id: str
    turn: int
    text: str
    label: int
    source: str


def read_responses(store: Store, ids: Sequence[str]) -> dict[str, list[StoredResponse]]:
    """By dialogue, its responses in the order of turns and numbers: ``d#3/r10`` stands behind ``d#3/r9``."""
    return {
        row["id"]: sorted(
            (StoredResponse(*response) for response in row["responses"]),
            key=lambda response: (response.turn, len(response.id), response.id),
        )
        for row in store.read(cypher_text("read/responses"), ids=list(ids))
    }


class GraphCache:
    """Graphs by id, read from the store once and kept while there is room (for ``kept`` nodes).

    Threads may share it; while one reads from the store, others find what is kept.
    """

    def __init__(self, store: Store, kept: int = KEPT_NODES) -> None:
        self._store = store
        self._kept = kept
        self._nodes = 0
        self._lock = Lock()
        self._graphs: OrderedDict[str, tuple[AmrGraph, str | None]] = OrderedDict()

    def get(self, ids: Iterable[str], digests: Mapping[str, str | None] = _NO_DIGESTS) -> dict[str, AmrGraph]:
        """The graphs of these ids.

        What is kept is read again where ``digests`` knows that the store holds another graph by now.

        Raises `StoreError`: one of them is not in the store.
        """
        needed = sorted(set(ids))
        with self._lock:
            kept = {id: self._graphs[id] for id in needed if id in self._graphs}
        graphs = {id: graph for id, (graph, digest) in kept.items() if digest == digests.get(id, digest)}
        missing = [id for id in needed if id not in graphs]
        graphs |= {graph.id: graph for graph in read_graphs(self._store, missing)} if missing else {}
        for id in missing:
            if id not in graphs:
                raise StoreError(f"graph {id} is not in the store (any more)")
        with self._lock:
            for id, graph in graphs.items():
                before = self._graphs.pop(id, None)
                self._nodes += len(graph.nodes) - (len(before[0].nodes) if before else 0)
                self._graphs[id] = (graph, digests.get(id))
            while self._nodes > self._kept:
                self._nodes -= len(self._graphs.popitem(last=False)[1][0].nodes)
        return graphs


def read_graphs(store: Reads, ids: Sequence[str]) -> Iterator[AmrGraph]:
    """The graphs of these ids, without their comment lines, in no particular order."""
    mentions: defaultdict[str, list[Mention]] = defaultdict(list)
    for id, row in in_parts(store, "read/reentrancies", "mentions", ids):
        start, end, role, inverted, pos, align, role_align = row
        up, target = (end, start) if inverted else (start, end)
        mentions[id].append(Mention(up, f"{role}-of" if inverted else role, pos, target, align, role_align))
    nodes: defaultdict[str, list[list[Any]]] = defaultdict(list)
    for id, row in in_parts(store, "read/nodes", "nodes", ids):
        nodes[id].append(row)
    for id, rows in nodes.items():
        rows.sort(key=itemgetter(0))
        spans = {row[0]: (row[10], row[11]) for row in rows if row[10] is not None}
        ordered = sorted(mentions[id], key=itemgetter(0, 2)) if id in mentions else ()
        yield AmrGraph(id, tuple(map(_node, rows)), tuple(ordered), (), spans)


def in_parts(
    store: Reads, statement: str, column: str, ids: Sequence[str]
) -> Iterator[tuple[str, list[Any]]]:
    """The rows that a statement collects for ids, many ids to a record; each with its id."""
    parts = [list(ids[start : start + PART]) for start in range(0, len(ids), PART)]
    for record in store.read(cypher_text(statement), parts=parts):
        part = parts[record["part"]]
        for row in record[column]:
            yield part[row[0]], row[1:]


def read_whole_graphs(store: Store, ids: Sequence[str]) -> list[AmrGraph]:
    """The graphs of these ids with their comment lines, in this order: exactly what was loaded."""
    rows = store.read(cypher_text("read/metadata"), amrs=list(ids))
    metadata = {row["amr"]: tuple(row["metadata"] or ()) for row in rows}
    graphs = {graph.id: graph for graph in read_graphs(store, ids)}
    return [replace(graphs[id], metadata=metadata[id]) for id in ids if id in graphs]


def _node(row: list[Any]) -> AmrNode:
    """A node whose words are shared with those of other graphs."""
    k, last, var, concept, value, up, role, pos, align, role_align, _, _ = row
    var, concept, value, role = (word and intern(word) for word in (var, concept, value, role))
    return AmrNode(k, last, var, concept, value, up, role, pos, align, role_align)
