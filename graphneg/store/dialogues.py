"""Read dialogues and graphs from a store, in pages.

A `Selection` specifies which dialogues to read. `dialogue_ids` yields their ids, `read_dialogues` returns
their turns, and `read_responses` returns their responses. A `GraphCache` reads and caches their AMR graphs.

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

from graphneg.errors import StoreError, checked_list
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.shards import Shard
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

PAGE = 2_000
"""Number of dialogue ids that are read at a time."""
PART = 50
"""Number of graphs whose nodes the server returns in one record. One record for each node would be slower."""
KEPT_NODES = 100_000
"""Default number of AMR nodes that a `GraphCache` keeps."""
_NO_DIGESTS: Mapping[str, str | None] = {}


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn of a stored dialogue: an utterance and the id of its graph.

    Attributes:
        turn: The index of the turn in its dialogue, starting at 0.
        speaker: The name of the speaker.
        text: The text of the utterance.
        graph_id: The id of the turn's AMR graph; None if the turn has no graph.
        digest: The stored digest of the graph's content; None if no digest is stored.
        foreign: Whether most of the text is not English.
    """

    turn: int
    speaker: str
    text: str
    graph_id: str | None
    digest: str | None = None
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class StoredDialogue:
    """A dialogue, as it was read from a store.

    Attributes:
        id: The id of the dialogue.
        corpus: The name of the corpus that contains the dialogue.
        split: The name of the split that contains the dialogue, such as ``train``.
        turns: The turns of the dialogue, in order.
    """

    id: str
    corpus: str
    split: str
    turns: tuple[StoredTurn, ...]

    @property
    def digests(self) -> dict[str, str | None]:
        """The stored digests of the dialogue's graphs, keyed by graph id."""
        return {turn.graph_id: turn.digest for turn in self.turns if turn.graph_id is not None}

    @property
    def graphs(self) -> list[str]:
        """The ids of the dialogue's graphs, in the order of the turns."""
        return [turn.graph_id for turn in self.turns if turn.graph_id is not None]

    def parameter(self) -> dict[str, Any]:
        """Return the id and the turns of the dialogue, as an item of the query parameter ``$dialogues``."""
        # Leave out turns without a graph, because transforms edit graphs.
        turns = [
            {"turn": turn.turn, "speaker": turn.speaker, "amr": turn.graph_id}
            for turn in self.turns
            if turn.graph_id is not None
        ]
        return {"id": self.id, "turns": turns}


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of dialogues by corpus, split and shard.

    Attributes:
        corpora: Names of corpora; all corpora if empty.
        splits: Names of splits; all splits if empty.
        limit: Maximum number of dialogues; None for no limit.
        with_graphs: Whether to select only dialogues that have at least one AMR graph.
        shard: The part of the selected dialogues to read; None for all of them. The other conditions are
            applied before the dialogues are divided into shards.

    Raises:
        InputError: ``corpora`` or ``splits`` is a string instead of a list of strings.
    """

    corpora: Sequence[str] = ()
    splits: Sequence[str] = ()
    limit: int | None = None
    with_graphs: bool = False
    shard: Shard | None = None

    def __post_init__(self) -> None:
        """Convert the lists ``corpora`` and ``splits`` into tuples. Refuse a string in place of a list."""
        # Use object.__setattr__, because the attributes of a frozen class cannot be assigned.
        for name in ("corpora", "splits"):
            object.__setattr__(self, name, tuple(checked_list(name, getattr(self, name))))

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
        """Return the query parameters for the corpora, the splits and ``with_graphs``."""
        return {"corpora": list(self.corpora), "splits": list(self.splits), "with_graphs": self.with_graphs}


def count_dialogues(store: Store, selection: Selection) -> int:
    """Count the selected dialogues.

    Args:
        store: An open store.
        selection: The selected dialogues.

    Returns:
        The number of dialogues. For a shard, this is an estimate, because the server cannot compute which
        dialogues belong to the shard.
    """
    count = store.read(cypher_text("read/count"), **selection.conditions())[0]["dialogues"]
    count = count if selection.limit is None else min(count, selection.limit)
    # A shard is one of N parts, so its estimated size is the number of dialogues divided by N, rounded up.
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
        selection: The selected dialogues.
        skip: Number of dialogues to skip at the start.
        after: The property ``order`` of the last dialogue to skip; empty if it is not known. Prefer it to
            ``skip``, which is wrong if dialogues were added in the meantime. If both are given, ``after``
            determines the first dialogue, and ``skip`` is only subtracted from the limit.
        statement: The name of the shipped query that selects a page of ids.
        page: Number of ids that are read at a time.

    Yields:
        The ids of the dialogues.
    """
    if (shard := selection.shard) is not None:
        # With a limit, the shard is a part of the first `limit` dialogues of the corpus. To count these
        # dialogues, start at the first dialogue of the corpus and not at `after`.
        whole, start = replace(selection, shard=None), after if selection.limit is None else ""
        # Filter the ids here and not in the query: a hash of the id decides which shard a dialogue belongs
        # to, and the server cannot compute this hash.
        ids = dialogue_ids(store, whole, after=start, statement=statement, page=page)
        yield from islice(filter(shard.contains, ids), 0 if start else skip, None)
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
    """Run a query with one row per dialogue, and yield its rows in pages, in the order of the corpus."""
    left = selection.limit
    while left is None or left > 0:
        limit = page if left is None else min(page, left)
        rows = store.read(cypher_text(statement), after=after, limit=limit, **selection.conditions())
        yield rows
        # A page with fewer rows than requested is the last one.
        if len(rows) < limit:
            return
        after = rows[-1]["order"]
        left = None if left is None else left - len(rows)


def digest_pages(store: Store, selection: Selection) -> Iterator[list[Record]]:
    """Yield pages of rows with the stored digests of the selected dialogues, in the order of the corpus.

    Args:
        store: An open store.
        selection: The selected dialogues. The shard of the selection is ignored.

    Yields:
        A page of rows of the query ``read/outline``, with the columns ``id``, ``order``, ``digest`` and
        ``graphs``.
    """
    yield from _pages(store, selection, "read/outline")


class QueryRunner(Protocol):
    """A store or a transaction that can run read queries."""

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Run a query and return all rows of its result.

        Args:
            query: The text of the query.
            **parameters: The values of its parameters.

        Returns:
            All rows of the result.
        """
        ...


def read_dialogues(store: QueryRunner, ids: Sequence[str]) -> list[StoredDialogue]:
    """Read the dialogues with the given ids.

    Args:
        store: A store or a transaction.
        ids: The ids of the dialogues.

    Returns:
        The dialogues, in the order of the ids. Unknown ids are left out.
    """
    dialogues: dict[str, StoredDialogue] = {}
    for row in store.read(cypher_text("read/turns"), ids=list(ids)):
        # Sort the rows of a turn with several graphs so that the gold graph of the corpus ("penman") comes
        # before the graphs of parsers.
        rows_by_turn = sorted(row["turns"], key=lambda turn: (turn[0], turn[4] != "penman", turn[4] or ""))
        turns: dict[int, StoredTurn] = {}
        for turn, speaker, text, amr, _, digest, foreign in rows_by_turn:
            # A turn has a row for each of its graphs. Keep the first row, which has the gold graph if any.
            turns.setdefault(turn, StoredTurn(turn, speaker, text, amr, digest, foreign is True))
        whole = tuple(turns.values())
        dialogues[row["id"]] = StoredDialogue(row["id"], row["corpus"], row["split"], whole)
    return [dialogues[id] for id in ids if id in dialogues]


class HasSpeaker(Protocol):
    """Any object that has a speaker, such as a turn of a dialogue."""

    @property
    def speaker(self) -> str:
        """The name of the speaker."""
        ...


def next_speaker(turns: Sequence[HasSpeaker]) -> str:
    """Guess who speaks next: the most recent speaker other than the speaker of the last turn.

    Args:
        turns: The turns of the dialogue so far, at least one.

    Returns:
        The name of the next speaker. If only one speaker has spoken, the result is "B" after "A", and "A"
        after anyone else.

    >>> hi, hello = StoredTurn(0, "A", "Hi.", None), StoredTurn(1, "B", "Hello.", None)
    >>> next_speaker([hi, hello]), next_speaker([hi])
    ('A', 'B')
    """
    last = turns[-1].speaker
    others = [turn.speaker for turn in turns if turn.speaker != last]
    if others:
        return others[-1]
    # Only one speaker has spoken, so the name of the other speaker is not known. Use the name B or A.
    return "B" if last == "A" else "A"


class StoredResponse(NamedTuple):
    """A stored response to a turn of a dialogue.

    Attributes:
        id: The id of the response.
        turn: The index of the turn to which it responds.
        text: The text of the response.
        label: 1 for a correct response, 0 for a wrong one.
        source: The origin of the response, such as ``human``.
    """

    id: str
    turn: int
    text: str
    label: int
    source: str


def read_responses(store: Store, ids: Sequence[str]) -> dict[str, list[StoredResponse]]:
    """Read the responses that are stored for dialogues.

    Args:
        store: A store or a transaction.
        ids: The ids of the dialogues.

    Returns:
        A mapping from dialogue ids to responses. The responses of a dialogue are ordered by turn and then by
        the number at the end of their id: ``d#3/r9`` comes before ``d#3/r10``.
    """
    return {
        row["id"]: sorted(
            (StoredResponse(*response) for response in row["responses"]),
            # Compare the lengths of ids first, because "d#3/r10" comes before "d#3/r9" in alphabetical order.
            key=lambda response: (response.turn, len(response.id), response.id),
        )
        for row in store.read(cypher_text("read/responses"), ids=list(ids))
    }


class GraphCache:
    """Reads AMR graphs from a store and caches them.

    Several threads may share a cache. While one thread reads graphs from the store, other threads can still
    get graphs from the cache.

    Args:
        store: An open store.
        kept: Maximum number of AMR nodes in the cache. The least recently used graphs are dropped first.
    """

    def __init__(self, store: Store, kept: int = KEPT_NODES) -> None:
        self._store = store
        self._kept = kept
        self._nodes = 0
        self._lock = Lock()
        self._graphs: OrderedDict[str, tuple[AmrGraph, str | None]] = OrderedDict()

    def get(self, ids: Iterable[str], digests: Mapping[str, str | None] = _NO_DIGESTS) -> dict[str, AmrGraph]:
        """Return graphs, from the cache or from the store.

        Args:
            ids: The ids of the graphs.
            digests: The current digests of the graphs, keyed by graph id. If a cached graph has a different
                digest, the graph is read from the store again.

        Returns:
            A mapping from graph ids to graphs.

        Raises:
            StoreError: A graph is not in the store.
        """
        needed = sorted(set(ids))
        with self._lock:
            kept = {id: self._graphs[id] for id in needed if id in self._graphs}
        # If the caller gives no digest for a cached graph, assume that the graph has not changed.
        graphs = {id: graph for id, (graph, digest) in kept.items() if digest == digests.get(id, digest)}
        missing = [id for id in needed if id not in graphs]
        graphs |= {graph.id: graph for graph in read_graphs(self._store, missing)} if missing else {}
        for id in missing:
            if id not in graphs:
                raise StoreError(f"graph {id} is not in the store; it may have been deleted")
        with self._lock:
            for id, graph in graphs.items():
                # Remove each graph and insert it at the end of the dictionary. When the cache is full, graphs
                # are dropped from the beginning, so the least recently used graphs are dropped first.
                before = self._graphs.pop(id, None)
                self._nodes += len(graph.nodes) - (len(before[0].nodes) if before else 0)
                self._graphs[id] = (graph, digests.get(id))
            while self._nodes > self._kept:
                self._nodes -= len(self._graphs.popitem(last=False)[1][0].nodes)
        return graphs


def read_graphs(store: QueryRunner, ids: Sequence[str]) -> Iterator[AmrGraph]:
    """Read graphs without their metadata lines.

    Args:
        store: A store or a transaction.
        ids: The ids of the graphs.

    Yields:
        The graphs, in no particular order.
    """
    mentions: defaultdict[str, list[Mention]] = defaultdict(list)
    for id, row in collected_rows(store, "read/reentrancies", "mentions", ids):
        start, end, role, inverted, pos, align, role_align = row
        # The parent in the PENMAN notation is the start node of the edge or, if the role is written inverted
        # (":ARG0-of"), the end node.
        up, target = (end, start) if inverted else (start, end)
        mentions[id].append(Mention(up, f"{role}-of" if inverted else role, pos, target, align, role_align))
    nodes: defaultdict[str, list[list[Any]]] = defaultdict(list)
    for id, row in collected_rows(store, "read/nodes", "nodes", ids):
        nodes[id].append(row)
    for id, rows in nodes.items():
        rows.sort(key=itemgetter(0))
        # In each row, columns 10 and 11 contain the first and the last token of the node's span.
        spans = {row[0]: (row[10], row[11]) for row in rows if row[10] is not None}
        ordered = sorted(mentions[id], key=itemgetter(0, 2)) if id in mentions else ()
        yield AmrGraph(id, tuple(map(_node_of_row, rows)), tuple(ordered), (), spans)


def collected_rows(
    store: QueryRunner, statement: str, column: str, ids: Sequence[str]
) -> Iterator[tuple[str, list[Any]]]:
    """Run a query for many ids, and yield the rows of each id.

    Args:
        store: A store or a transaction.
        statement: The name of the shipped query.
        column: The result column that contains the rows, as a list.
        ids: The ids, which are sent to the server in parts of `PART` ids.

    Yields:
        Pairs of an id and one of its rows.
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


def _node_of_row(row: list[Any]) -> AmrNode:
    """Convert a row into a node. Strings are interned, since most of them occur in thousands of graphs."""
    k, last, var, concept, value, up, role, pos, align, role_align, _, _ = row
    var, concept, value, role = (word and intern(word) for word in (var, concept, value, role))
    return AmrNode(k, last, var, concept, value, up, role, pos, align, role_align)
