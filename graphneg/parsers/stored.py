"""Read texts that need a graph from a store, and write their graphs to the store.

`read_pending` yields the texts that have no graph yet. `read_parses` looks up texts in the store's cache of
parses from earlier runs. `write_graphs` writes graphs in batches. For each batch, one transaction writes the
graphs and their cache rows. Therefore a graph is never stored only in part, and a run that was killed can be
completed by running it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from neo4j import ManagedTransaction

from graphneg.amr.penman import parse_graph
from graphneg.errors import InputError, StoreError
from graphneg.ingest.batches import MAX_BYTES, MAX_ROWS
from graphneg.ingest.discourse import dialogue_of, write_discourse
from graphneg.ingest.lexicon import finish, stored_lexicon, write_terms
from graphneg.ingest.rows import GOLD, GraphRows, Row, graph_digest
from graphneg.ingest.writing import MAX_DIALOGUE_BYTES
from graphneg.model import AmrGraph
from graphneg.parsers.base import Parsed
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, count_dialogues, dialogue_ids
from graphneg.store.statements import cypher_text, run


def read_parses(store: Store, keys: Iterable[str]) -> dict[str, Parsed]:
    """Return parses of earlier runs from the store's cache.

    Args:
        store: The store to read from.
        keys: Keys of the parses. The key of a parse is a digest of the parser's name, its version and the
            text.

    Returns:
        The cached parses, keyed by these digests. Keys that are not in the cache are left out.
    """
    rows = store.read(cypher_text("parse/remembered"), ids=sorted(set(keys)))
    return {row["id"]: parse_from_row(**row) for row in rows}


def parse_from_row(
    penman: str, spans: Sequence[int] | None = None, warnings: Sequence[str] | None = None, **_: Any
) -> Parsed:
    """Rebuild a parse from its row in the store's cache, which `parse_row` created.

    Args:
        penman: The graph in PENMAN notation.
        spans: Flat list of triples: node index, index of the first token, index after the last token.
        warnings: Warnings of the parser about the text.
        **_: Other columns of the row; they are ignored.

    Returns:
        The parse, with its graph, spans and warnings.
    """
    numbers = iter(spans or ())
    by_node = {k: (start, end) for k, start, end in zip(numbers, numbers, numbers, strict=True)}
    return Parsed(replace(parse_graph(penman), spans=by_node), tuple(warnings or ()), penman)


def parse_row(key: str, source: str, parsed: Parsed) -> Row:
    """Return the row that stores a parse in the cache, from which later runs can reuse it.

    Args:
        key: Key of the parse in the cache: a digest of the parser's name, its version and the text.
        source: Name and version of the parser.
        parsed: The parse, including its PENMAN text.

    Returns:
        The row as a dict, which can be passed to the query ``parse/remember``.
    """
    row: Row = {"id": key, "source": source, "penman": parsed.penman}
    if parsed.graph is not None and parsed.graph.spans:
        # Neo4j cannot store a nested list as a property, so the spans are flattened.
        row["spans"] = [number for k, span in sorted(parsed.graph.spans.items()) for number in (k, *span)]
    if parsed.warnings:
        row["warnings"] = list(parsed.warnings)
    return row


TextKind = Literal["utterances", "responses"]
Existing = Literal["keep", "replace"]
KINDS: tuple[TextKind, ...] = ("utterances", "responses")
EXISTING: tuple[Existing, ...] = ("keep", "replace")

_DIALOGUES = 50
"""Number of dialogues to read per query."""


@dataclass(frozen=True, slots=True)
class ParseScope:
    """The selection of texts to parse: the texts of the given dialogues that need a graph.

    Attributes:
        selection: The dialogues whose texts are parsed.
        kinds: The kinds of texts to parse: ``utterances``, ``responses`` or both.
        existing: ``keep`` skips each text that has a graph. ``replace`` also parses texts whose graphs come
            from other parsers or from other versions of this parser. A gold graph is never replaced.
    """

    selection: Selection = field(default_factory=Selection)
    kinds: tuple[TextKind, ...] = ("utterances",)
    existing: Existing = "keep"

    def __post_init__(self) -> None:
        """Check that ``kinds`` and ``existing`` have allowed values."""
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise InputError(
                f"kinds must be one or more of {', '.join(KINDS)}, not {', '.join(self.kinds) or 'empty'}"
            )
        if self.existing not in EXISTING:
            raise InputError(
                f"unknown value {self.existing!r} of existing; choose one of {', '.join(EXISTING)}"
            )


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text that needs a graph.

    Attributes:
        kind: Kind of the text: ``utterances`` or ``responses``.
        id: Id of the utterance or response.
        text: The text of the utterance or response.
        replaces: Ids of the existing graphs that the new graph will replace.
    """

    kind: TextKind
    id: str
    text: str
    replaces: tuple[str, ...]


def count_pending(store: Store, scope: ParseScope, parser: str) -> int:
    """Count the texts that need a graph.

    Args:
        store: The store that contains the texts.
        scope: The selection of texts to parse.
        parser: Name and version of the parser, with which the store marks the graphs of this parser.

    Returns:
        The number of texts; an estimate if only a shard of the dialogues is selected.
    """
    shard = scope.selection.shard
    whole = replace(scope.selection, shard=None)
    conditions: dict[str, Any] = {
        "corpora": list(scope.selection.corpora),
        "splits": list(scope.selection.splits),
        "limit": max(1, count_dialogues(store, whole)),
        "any": scope.existing == "keep",
        "kept": [GOLD, parser],
    }
    count = sum(
        store.read(cypher_text(f"parse/count_{kind}"), **conditions)[0]["texts"] for kind in scope.kinds
    )
    # For a shard of the dialogues, estimate the number as an even share of all texts. This is accurate enough
    # for a progress display.
    return count if shard is None else -(-count // shard.amount)


def read_pending(store: Store, scope: ParseScope, parser: str) -> Iterator[PendingText]:
    """Yield the texts that need a graph, dialogue by dialogue, in constant memory.

    Args:
        store: The store that contains the texts.
        scope: The selection of texts to parse.
        parser: Name and version of the parser, with which the store marks the graphs of this parser.

    Yields:
        The texts, in the order of the dialogues and of the turns within each dialogue.
    """
    ids = dialogue_ids(store, scope.selection)
    while page := list(islice(ids, _DIALOGUES)):
        by_dialogue: dict[str, list[PendingText]] = {}
        for kind in scope.kinds:
            for row in store.read(cypher_text(f"parse/{kind}"), ids=page):
                by_dialogue.setdefault(row["id"], []).extend(
                    _pending_texts(kind, row["texts"], scope, parser)
                )
        for id in page:
            yield from by_dialogue.get(id, ())


def _pending_texts(
    kind: TextKind, rows: list[list[Any]], scope: ParseScope, parser: str
) -> Iterator[PendingText]:
    """Yield the texts of a dialogue that need a graph, in turn order."""
    texts: dict[tuple[int, str, str], dict[str, str]] = {}
    for turn, id, text, amr, source in rows:
        graphs = texts.setdefault((turn, id, text), {})
        if amr is not None:
            graphs[amr] = source
    for (_, id, text), graphs in sorted(texts.items(), key=lambda item: item[0]):
        # A gold graph, or a graph from the same version of this parser, is never replaced.
        stays = graphs if scope.existing == "keep" else {GOLD, parser} & set(graphs.values())
        if not stays:
            yield PendingText(kind, id, text, tuple(sorted(graphs)))


_NODE_BYTES = 300
"""Estimated memory in bytes per node or relationship in a transaction."""
_MEANINGS: dict[TextKind, str] = {"utterances": "load/meanings", "responses": "load/response_meanings"}


@dataclass(frozen=True, slots=True)
class NewGraph:
    """A graph to write to the store.

    Attributes:
        graph: The graph with the id under which it is stored.
        of: The text that the graph belongs to.
        parsed: The result of the parser, which also contains the warnings.
        note: The cache row for the parse, for reuse by later runs; ``None`` if the parse must not be reused.
    """

    graph: AmrGraph
    of: PendingText
    parsed: Parsed
    note: Row | None

    @property
    def rows(self) -> int:
        """The approximate number of nodes and relationships to write."""
        return 3 + 2 * len(self.graph.nodes) + len(self.graph.mentions)

    @property
    def bytes(self) -> int:
        """The approximate number of bytes that are sent to the server to write the graph."""
        return 3 * len(self.parsed.penman or "") + _NODE_BYTES * self.rows

    @property
    def fits(self) -> bool:
        """Whether the graph is small enough for one transaction."""
        return self.bytes <= MAX_DIALOGUE_BYTES


def write_graphs(store: Store, graphs: Sequence[NewGraph], source: str) -> Iterator[tuple[int, int]]:
    """Write graphs to a store, in several transactions of limited size.

    Args:
        store: The store to write to.
        graphs: The graphs to write, each with the text that it belongs to.
        source: Name and version of the parser, with which the graphs are marked.

    Yields:
        After each transaction, how many graphs it wrote, and how many of these replaced an existing graph.
    """
    for batch in _batches(graphs):
        yield store.write(lambda tx, batch=batch: _write(tx, batch, source))


def _batches(graphs: Sequence[NewGraph]) -> Iterator[list[NewGraph]]:
    """Split graphs into batches that do not exceed the maximum rows and bytes of a transaction."""
    batch: list[NewGraph] = []
    rows = size = 0
    for new in graphs:
        if batch and (rows + new.rows > MAX_ROWS or size + new.bytes > MAX_BYTES):
            yield batch
            batch, rows, size = [], 0, 0
        batch.append(new)
        rows, size = rows + new.rows, size + new.bytes
    if batch:
        yield batch


def _write(tx: ManagedTransaction, batch: Sequence[NewGraph], source: str) -> tuple[int, int]:
    """Write the graphs of a batch, and add their parses to the parse cache, in one transaction."""
    # The driver may have retried the transaction, or another process may have written the same graphs. Do not
    # write the graphs that are already stored.
    stored = run(tx, "load/stored_graphs", ids=[new.graph.id for new in batch])
    there = {row["id"] for row in stored} - {id for new in batch for id in new.of.replaces}
    missing = [new for new in batch if new.graph.id not in there]
    replaced = sum(bool(new.of.replaces) for new in missing)
    if replaced:
        _forget(tx, sorted({id for new in missing for id in new.of.replaces}))
    lexicon = stored_lexicon(tx)
    rows, by_kind = GraphRows(lexicon), dict[TextKind, list[Row]]()
    for new in missing:
        written = graph_digest(new.parsed.penman or "")
        rows.add(new.graph, new.of.id, source, written, new.of.text, new.parsed.warnings)
        by_kind.setdefault(new.of.kind, []).append(rows.amrs[-1])
    if missing:
        lexemes = rows.lexeme_rows()
        finish(write_terms(tx, rows.lexemes, lexicon))
        run(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles)
    for kind, amrs in by_kind.items():
        tied = run(tx, _MEANINGS[kind], amrs=amrs)[0]["amrs"]
        # If a text was deleted in the meantime, its graph would belong to no text. Raise an error, which
        # rolls back the transaction.
        if tied != len(amrs):
            raise StoreError(
                f"{len(amrs) - tied} {kind} were removed while their graphs were written; run the command "
                "again"
            )
    write_discourse(tx, {dialogue_of(new.of.id) for new in missing}, rows.analyses, lexicon)
    notes = {new.note["id"]: new.note for new in batch if new.note is not None}
    if notes:
        run(tx, "parse/remember", parses=[notes[id] for id in sorted(notes)])
    return len(missing), replaced


def _forget(tx: ManagedTransaction, amrs: Sequence[str]) -> None:
    """Delete graphs, and also the edited copies (variants) of the dialogues that have the graphs."""
    # An edited copy refers to nodes of the deleted graphs, so it must be deleted, too.
    variants = sorted(row["variant"] for row in run(tx, "parse/edited", amrs=amrs))
    if variants:
        edited = sorted(row["amr"] for row in run(tx, "parse/materialized", ids=variants))
        run(tx, "parse/forget", amrs=edited)
        run(tx, "edit/forget", ids=variants)
    run(tx, "parse/forget", amrs=amrs)
