"""Read dialogues and graphs from a store, in pages.

A `Selection` says which dialogues to read. `dialogue_ids` yields their ids, `read_dialogues` returns their
turns, `read_responses` their responses, and `GraphCache` their AMR graphs, which it keeps for a while.

Example:
    Read the first dialogue of a split with its graphs::

        [id] = dialogue_ids(store, Selection(splits=["test"], limit=1))
        [dialogue] = read_dialogues(store, [id])
        graphs = GraphCache(store).get(dialogue.graphs, dialogue.digests)
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
"""Number of dialogue ids that are read at a time."""
PART = 50
"""Number of graphs that the server collects into one record. A record for each node would be slower."""
KEPT_NODES = 100_000
"""Number of AMR nodes that a `GraphCache` keeps by default."""
_NO_DIGESTS: Mapping[str, str | None] = {}


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """An utterance, as transforms see it.

    Attributes:
        turn: The number of the turn in its dialogue, from 0.
        speaker: The speaker's name.
        text: The text of the utterance.
        amr: The id of its AMR graph; None if it has none.
        digest: The digest of the content of its graph, if one is stored.
        foreign: Whether the text is hardly English.
    """

    turn: int
    speaker: str
    text: str
    amr: str | None
    digest: str | None = None
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class StoredDialogue:
    """A dialogue of the store.

    Attributes:
        id: The id of the dialogue.
        corpus: The name of its corpus.
        split: The name of its split, such as ``train``.
        turns: Its turns, in order.
    """

    id: str
    corpus: str
    split: str
    turns: tuple[StoredTurn, ...]

    @property
    def digests(self) -> dict[str, str | None]:
        """The digest of each of its graphs, by graph id."""
        return {turn.amr: turn.digest for turn in self.turns if turn.amr is not None}

    @property
    def graphs(self) -> list[str]:
        """The ids of its graphs, in the order of the turns."""
        return [turn.amr for turn in self.turns if turn.amr is not None]

    def parameter(self) -> dict[str, Any]:
        """Return the entry for this dialogue in the parameter ``$dialogues`` of a transform."""
        # Transforms edit graphs, so turns without a graph are left out.
        turns = [
            {"turn": turn.turn, "speaker": turn.speaker, "amr": turn.amr}
            for turn in self.turns
            if turn.amr is not None
        ]
        return {"id": self.id, "turns": turns}


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of dialogues.

    Attributes:
        corpora: Names of corpora; all corpora if empty.
        splits: Names of splits; all splits if empty.
        limit: Maximum number of dialogues; None for no limit.
        with_graphs: Whether to leave out dialogues without any AMR graph.
        shard: Take only this shard of the dialogues that the other conditions select.

    Raises:
        InputError: ``corpora`` or ``splits`` is a string instead of a list of strings.
    """

    corpora: Sequence[str] = ()
    splits: Sequence[str] = ()
    limit: int | None = None
    with_graphs: bool = False
    shard: Shard | None = None

    def __post_init__(self) -> None:
        """Convert the names to tuples, and refuse a single string."""
        # The class is frozen, so its attributes can only be set in this way.
        for name in ("corpora", "splits"):
            object.__setattr__(self, name, tuple(listed(name, getattr(self, name))))

    def __str__(self) -> str:
        """Return the selection in words.

        >>> str(Selection()), str(Selection(("everyday",), ("train", "test"), 40))
        ('all dialogues', 'the first 40 dialogues of everyday, train, test')
        """
        first = "all" if self.limit is None else f"the first {self.limit:,}"
        names = (*self.corpora, *self.splits)
        part = "" if self.shard is None else f", shard {self.shard}"
        return f"{first} dialogues" + f" of {', '.join(names)}" * bool(names) + part

    def conditions(self) -> dict[str, Any]:
        """Return the parameters of the queries that select dialogues. They do not include the limit."""
        return {"corpora": list(self.corpora), "splits": list(self.splits), "with_graphs": self.with_graphs}


def count_dialogues(store: Store, selection: Selection) -> int:
    """Count the selected dialogues.

    Args:
        store: An open store.
        selection: The dialogues.

    Returns:
        The number of dialogues. For a shard it is an estimate, since the server cannot compute the shards.
    """
    count = store.read(cypher_text("read/count"), **selection.conditions())[0]["dialogues"]
    count = count if selection.limit is None else min(count, selection.limit)
    # Each of N shards has about one N-th of the dialogues, rounded up.
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
    """Yield the ids of the selected dialogues in the order of the corpus, in constant memory.

    Args:
        store: An open store.
        selection: The dialogues.
        skip: Number of dialogues to leave out at the start.
        after: The ``order`` of the last of these dialogues, if it is known. It then decides where to start,
            even if dialogues have been added before that place.
        statement: The name of the shipped query that selects a page of ids.
        page: Number of ids that are read at a time.

    Yields:
        The ids.
    """
    if (shard := selection.shard) is not None:
        # With a limit, the shard is a part of the first `limit` dialogues, so counting starts at the first
        # one.
        whole, start = replace(selection, shard=None), after if selection.limit is None else ""
        # Whether a dialogue belongs to a shard is decided by a hash of its id, which the server cannot
        # compute.
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
    """Yield the pages of a query for dialogues, in the order of the corpus."""
    left = selection.limit
    while left is None or left > 0:
        limit = page if left is None else min(page, left)
        rows = store.read(cypher_text(statement), after=after, limit=limit, **selection.conditions())
        yield rows
        # A short page is the last one.
        if len(rows) < limit:
            return
        after = rows[-1]["order"]
        left = None if left is None else left - len(rows)


def outlines(store: Store, selection: Selection) -> Iterator[list[Record]]:
    """Yield pages of the selected dialogues in their order, with their stored digests.

    Args:
        store: An open store.
        selection: The dialogues; its shard is ignored.

    Yields:
        The rows of the query ``read/outline``, with the columns ``id``, ``order``, ``digest`` and ``graphs``.
    """
    yield from _pages(store, selection, "read/outline")


class Reads(Protocol):
    """A store or a transaction that answers queries."""

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Return all rows of a query."""
        ...


def read_dialogues(store: Reads, ids: Sequence[str]) -> list[StoredDialogue]:
    """Read dialogues by id.

    Args:
        store: A store or a transaction.
        ids: The ids of the dialogues.

    Returns:
        The dialogues, in the order of the ids. Unknown ids are left out.
    """
    dialogues: dict[str, StoredDialogue] = {}
    for row in store.read(cypher_text("read/turns"), ids=list(ids)):
        # An utterance may have several graphs. The gold graph of the corpus ("penman") is preferred to those
        # of parsers.
        said = sorted(row["turns"], key=lambda turn: (turn[0], turn[4] != "penman", turn[4] or ""))
        turns: dict[int, StoredTurn] = {}
        for turn, speaker, text, amr, _, digest, foreign in said:
            # The first row of a turn has the preferred graph.
            turns.setdefault(turn, StoredTurn(turn, speaker, text, amr, digest, foreign is True))
        whole = tuple(turns.values())
        dialogues[row["id"]] = StoredDialogue(row["id"], row["corpus"], row["split"], whole)
    return [dialogues[id] for id in ids if id in dialogues]


class Said(Protocol):
    """Anything that a speaker says."""

    @property
    def speaker(self) -> str:
        """The name of the speaker."""
        ...


def answering(turns: Sequence[Said]) -> str:
    """Guess who speaks next: the last speaker other than the speaker of the last turn.

    Args:
        turns: The turns so far, at least one.

    Returns:
        The name of the speaker. If only one speaker has spoken, it is "B" after "A", and otherwise "A".

    >>> hi, hello = StoredTurn(0, "A", "Hi.", None), StoredTurn(1, "B", "Hello.", None)
    >>> answering([hi, hello]), answering([hi])
    ('A', 'B')
    """
    last = turns[-1].speaker
    others = [turn.speaker for turn in turns if turn.speaker != last]
    if others:
        return others[-1]
    # So far only one speaker has spoken, so the other one has no name yet.
    return "B" if last == "A" else "A"


class StoredResponse(NamedTuple):
    """A response to a turn of a dialogue.

    Attributes:
        id: The id of the response.
        turn: The number of the turn that it answers.
        text: Its text.
        label: 1 if it is a right response, 0 if it is a wrong one.
        source: Where the response comes from.
    """

    id: str
    turn: int
    text: str
    label: int
    source: str


def read_responses(store: Store, ids: Sequence[str]) -> dict[str, list[StoredResponse]]:
    """Read the responses of dialogues.

    Args:
        store: A store or a transaction.
        ids: The ids of the dialogues.

    Returns:
        The responses by dialogue id, in the order of turns and numbers: ``d#3/r9`` comes before ``d#3/r10``.
    """
    return {
        row["id"]: sorted(
            (StoredResponse(*response) for response in row["responses"]),
            # By length first, because "d#3/r10" would come before "d#3/r9" otherwise.
            key=lambda response: (response.turn, len(response.id), response.id),
        )
        for row in store.read(cypher_text("read/responses"), ids=list(ids))
    }


class GraphCache:
    """AMR graphs by id, read from the store once and kept while there is room.

    Several threads may share a cache. While one of them reads from the store, the others can get the graphs
    that are kept.

    Args:
        store: An open store.
        kept: Maximum number of AMR nodes to keep. The graphs that were used longest ago are dropped first.
    """

    def __init__(self, store: Store, kept: int = KEPT_NODES) -> None:
        """Initialize an empty cache."""
        self._store = store
        self._kept = kept
        self._nodes = 0
        self._lock = Lock()
        self._graphs: OrderedDict[str, tuple[AmrGraph, str | None]] = OrderedDict()

    def get(self, ids: Iterable[str], digests: Mapping[str, str | None] = _NO_DIGESTS) -> dict[str, AmrGraph]:
        """Return graphs by id.

        Args:
            ids: The ids of the graphs.
            digests: The current digests of graphs, by id. A kept graph with another digest is read again.

        Returns:
            The graphs, by id.

        Raises:
            StoreError: A graph is not in the store.
        """
        needed = sorted(set(ids))
        with self._lock:
            kept = {id: self._graphs[id] for id in needed if id in self._graphs}
        # A graph whose current digest is unknown counts as unchanged.
        graphs = {id: graph for id, (graph, digest) in kept.items() if digest == digests.get(id, digest)}
        missing = [id for id in needed if id not in graphs]
        graphs |= {graph.id: graph for graph in read_graphs(self._store, missing)} if missing else {}
        for id in missing:
            if id not in graphs:
                raise StoreError(f"graph {id} is not in the store (any more)")
        with self._lock:
            for id, graph in graphs.items():
                # Insert each graph anew, so that the graphs that were used last are dropped last.
                before = self._graphs.pop(id, None)
                self._nodes += len(graph.nodes) - (len(before[0].nodes) if before else 0)
                self._graphs[id] = (graph, digests.get(id))
            while self._nodes > self._kept:
                self._nodes -= len(self._graphs.popitem(last=False)[1][0].nodes)
        return graphs


def read_graphs(store: Reads, ids: Sequence[str]) -> Iterator[AmrGraph]:
    """Read graphs without their metadata lines.

    Args:
        store: A store or a transaction.
        ids: The ids of the graphs.

    Yields:
        The graphs, in no particular order.
    """
    mentions: defaultdict[str, list[Mention]] = defaultdict(list)
    for id, row in in_parts(store, "read/reentrancies", "mentions", ids):
        start, end, role, inverted, pos, align, role_align = row
        # PENMAN writes an inverted reentrancy such as ":ARG0-of" under the node at which its edge ends.
        up, target = (end, start) if inverted else (start, end)
        mentions[id].append(Mention(up, f"{role}-of" if inverted else role, pos, target, align, role_align))
    nodes: defaultdict[str, list[list[Any]]] = defaultdict(list)
    for id, row in in_parts(store, "read/nodes", "nodes", ids):
        nodes[id].append(row)
    for id, rows in nodes.items():
        rows.sort(key=itemgetter(0))
        # Columns 10 and 11 are the first and the last token of the node's span.
        spans = {row[0]: (row[10], row[11]) for row in rows if row[10] is not None}
        ordered = sorted(mentions[id], key=itemgetter(0, 2)) if id in mentions else ()
        yield AmrGraph(id, tuple(map(_node, rows)), tuple(ordered), (), spans)


def in_parts(
    store: Reads, statement: str, column: str, ids: Sequence[str]
) -> Iterator[tuple[str, list[Any]]]:
    """Run a query that collects rows for many ids into one record.

    Args:
        store: A store or a transaction.
        statement: The name of the shipped query.
        column: The column that holds the rows.
        ids: The ids, which are sent in parts of `PART`.

    Yields:
        An id and one of its rows.
    """
    parts = [list(ids[start : start + PART]) for start in range(0, len(ids), PART)]
    for record in store.read(cypher_text(statement), parts=parts):
        part = parts[record["part"]]
        for row in record[column]:
            yield part[row[0]], row[1:]


def read_whole_graphs(store: Store, ids: Sequence[str]) -> list[AmrGraph]:
    """Read graphs with their metadata lines, exactly as they were loaded.

    Args:
        store: An open store.
        ids: The ids of the graphs.

    Returns:
        The graphs, in the order of the ids. Unknown ids are left out.
    """
    rows = store.read(cypher_text("read/metadata"), amrs=list(ids))
    metadata = {row["amr"]: tuple(row["metadata"] or ()) for row in rows}
    graphs = {graph.id: graph for graph in read_graphs(store, ids)}
    return [replace(graphs[id], metadata=metadata[id]) for id in ids if id in graphs]


def _node(row: list[Any]) -> AmrNode:
    """Return a node of a graph, interning its strings, since most of them occur in thousands of graphs."""
    k, last, var, concept, value, up, role, pos, align, role_align, _, _ = row
    var, concept, value, role = (word and intern(word) for word in (var, concept, value, role))
    return AmrNode(k, last, var, concept, value, up, role, pos, align, role_align)
