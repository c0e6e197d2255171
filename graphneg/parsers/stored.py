"""Read pending texts from a store, and write their graphs.

`read_pending` yields the texts without a graph. `read_parses` returns what the store remembers of a text from
earlier runs. `write_graphs` writes graphs in batches, each in one transaction, together with the row that
remembers the parse. A graph is in the store completely or not at all, so a run that was killed is completed
by running it again.
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
from graphneg.ingest.echoes import dialogue_of, write_echoes
from graphneg.ingest.lexicon import finish, stored_lexicon, write_terms
from graphneg.ingest.rows import GOLD, GraphRows, Row, digest
from graphneg.ingest.writing import MAX_DIALOGUE_BYTES
from graphneg.model import AmrGraph
from graphneg.parsers.base import Parsed
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, count_dialogues, dialogue_ids
from graphneg.store.statements import cypher_text, run


def read_parses(store: Store, keys: Iterable[str]) -> dict[str, Parsed]:
    """Return the parses that the store remembers.

    Args:
        store: The store.
        keys: Digests of parser, version and text.

    Returns:
        Parses by key; unknown keys are missing.
    """
    rows = store.read(cypher_text("parse/remembered"), ids=sorted(set(keys)))
    return {row["id"]: remembered_parse(**row) for row in rows}


def remembered_parse(
    penman: str, spans: Sequence[int] | None = None, warnings: Sequence[str] | None = None, **_: Any
) -> Parsed:
    """Rebuild a parse from the row that `parse_row` made.

    Args:
        penman: The graph.
        spans: Flat list of node index, first token and token behind the last.
        warnings: Warnings of the parse.
        **_: Other columns of the row, which are ignored.

    Returns:
        The parse.
    """
    numbers = iter(spans or ())
    by_node = {k: (start, end) for k, start, end in zip(numbers, numbers, numbers, strict=True)}
    return Parsed(replace(parse_graph(penman), spans=by_node), tuple(warnings or ()), penman)


def parse_row(key: str, source: str, parsed: Parsed) -> Row:
    """Return the row that remembers a parse.

    Args:
        key: Digest of parser, version and text.
        source: Name and version of the parser.
        parsed: The parse, with its PENMAN text.

    Returns:
        A row for the statement ``parse/remember``.
    """
    row: Row = {"id": key, "source": source, "penman": parsed.penman}
    if parsed.graph is not None and parsed.graph.spans:
        # Properties cannot hold nested lists, so the spans are flattened.
        row["spans"] = [number for k, span in sorted(parsed.graph.spans.items()) for number in (k, *span)]
    if parsed.warnings:
        row["warnings"] = list(parsed.warnings)
    return row


TextKind = Literal["utterances", "responses"]
Existing = Literal["keep", "replace"]
KINDS: tuple[TextKind, ...] = ("utterances", "responses")
EXISTING: tuple[Existing, ...] = ("keep", "replace")

_DIALOGUES = 50
"""Number of dialogues to read at a time."""


@dataclass(frozen=True, slots=True)
class ParseScope:
    """Which texts to parse: those of the selected dialogues that have no graph.

    Attributes:
        selection: The dialogues.
        kinds: Which texts of them: ``utterances``, ``responses`` or both.
        existing: ``keep`` skips every text that has a graph. ``replace`` also parses texts whose graphs come
            from other parsers or versions. A gold graph is never replaced.
    """

    selection: Selection = field(default_factory=Selection)
    kinds: tuple[TextKind, ...] = ("utterances",)
    existing: Existing = "keep"

    def __post_init__(self) -> None:
        """Check the values."""
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise InputError(f"parse {', '.join(self.kinds) or 'nothing'}: choose from {', '.join(KINDS)}")
        if self.existing not in EXISTING:
            raise InputError(f"existing graphs {self.existing!r}: choose one of {', '.join(EXISTING)}")


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text to parse.

    Attributes:
        kind: ``utterances`` or ``responses``.
        id: Id of its utterance or response.
        text: The text.
        replaces: Ids of the graphs that its new graph will replace.
    """

    kind: TextKind
    id: str
    text: str
    replaces: tuple[str, ...]


def count_pending(store: Store, scope: ParseScope, parser: str) -> int:
    """Count the pending texts.

    Args:
        store: The store.
        scope: Which texts to parse.
        parser: Name and version of the parser, as its graphs are marked.

    Returns:
        The number; of a shard an estimate.
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
    # The number is for the progress display, so an even share of the total is exact enough.
    return count if shard is None else -(-count // shard.amount)


def read_pending(store: Store, scope: ParseScope, parser: str) -> Iterator[PendingText]:
    """Yield the pending texts, dialogue by dialogue, in constant memory.

    Args:
        store: The store.
        scope: Which texts to parse.
        parser: Name and version of the parser, as its graphs are marked.

    Yields:
        The texts, in dialogue order.
    """
    ids = dialogue_ids(store, scope.selection)
    while page := list(islice(ids, _DIALOGUES)):
        by_dialogue: dict[str, list[PendingText]] = {}
        for kind in scope.kinds:
            for row in store.read(cypher_text(f"parse/{kind}"), ids=page):
                by_dialogue.setdefault(row["id"], []).extend(_pending(kind, row["texts"], scope, parser))
        for id in page:
            yield from by_dialogue.get(id, ())


def _pending(kind: TextKind, rows: list[list[Any]], scope: ParseScope, parser: str) -> Iterator[PendingText]:
    """Yield the pending texts of a dialogue, in turn order."""
    texts: dict[tuple[int, str, str], dict[str, str]] = {}
    for turn, id, text, amr, source in rows:
        graphs = texts.setdefault((turn, id, text), {})
        if amr is not None:
            graphs[amr] = source
    for (_, id, text), graphs in sorted(texts.items(), key=lambda item: item[0]):
        # A gold graph, or one of this parser and version, is never replaced.
        stays = graphs if scope.existing == "keep" else {GOLD, parser} & set(graphs.values())
        if not stays:
            yield PendingText(kind, id, text, tuple(sorted(graphs)))


_NODE_BYTES = 300
"""Estimated memory per node or relationship in a transaction."""
_MEANINGS: dict[TextKind, str] = {"utterances": "load/meanings", "responses": "parse/response_meanings"}


@dataclass(frozen=True, slots=True)
class NewGraph:
    """A graph to write.

    Attributes:
        graph: The graph.
        of: The text that it belongs to.
        parsed: The parse that it comes from.
        note: The row that remembers the parse; ``None`` if it is not to be reused.
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
        """The approximate size of the transaction in bytes."""
        return 3 * len(self.parsed.penman or "") + _NODE_BYTES * self.rows

    @property
    def fits(self) -> bool:
        """Whether the graph fits in one transaction."""
        return self.bytes <= MAX_DIALOGUE_BYTES


def write_graphs(store: Store, graphs: Sequence[NewGraph], source: str) -> Iterator[tuple[int, int]]:
    """Write graphs in transactions of limited size.

    Args:
        store: The store.
        graphs: The graphs.
        source: Name and version of the parser, with which they are marked.

    Yields:
        After each transaction the number of new graphs, and how many of them replaced another graph.
    """
    for batch in _batches(graphs):
        yield store.write(lambda tx, batch=batch: _write(tx, batch, source))


def _batches(graphs: Sequence[NewGraph]) -> Iterator[list[NewGraph]]:
    """Yield batches within the limits of rows and bytes per transaction."""
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
    """Write a batch in one transaction."""
    # The driver may retry the transaction, and another process may have written the same graphs. These stay
    # as they are.
    stored = run(tx, "load/stored_graphs", ids=[new.graph.id for new in batch])
    there = {row["id"] for row in stored} - {id for new in batch for id in new.of.replaces}
    missing = [new for new in batch if new.graph.id not in there]
    replaced = sum(bool(new.of.replaces) for new in missing)
    if replaced:
        _forget(tx, sorted({id for new in missing for id in new.of.replaces}))
    lexicon = stored_lexicon(tx)
    rows, by_kind = GraphRows(lexicon), dict[TextKind, list[Row]]()
    for new in missing:
        rows.add(new.graph, new.of.id, source, digest(new.parsed.penman), new.of.text)
        if new.parsed.warnings:
            rows.amrs[-1]["properties"]["warnings"] = list(new.parsed.warnings)
        by_kind.setdefault(new.of.kind, []).append(rows.amrs[-1])
    if missing:
        lexemes = rows.lexeme_rows()
        finish(write_terms(tx, rows.lexemes, lexicon))
        run(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles)
    for kind, amrs in by_kind.items():
        tied = run(tx, _MEANINGS[kind], amrs=amrs)[0]["amrs"]
        # A text that was deleted in the meantime would leave its graph without an owner.
        if tied != len(amrs):
            raise StoreError(
                f"{len(amrs) - tied} {kind} were removed while their graphs were written; run again"
            )
    write_echoes(tx, {dialogue_of(new.of.id) for new in missing}, rows.said, lexicon)
    notes = {new.note["id"]: new.note for new in batch if new.note is not None}
    if notes:
        run(tx, "parse/remember", parses=[notes[id] for id in sorted(notes)])
    return len(missing), replaced


def _forget(tx: ManagedTransaction, amrs: Sequence[str]) -> None:
    """Remove graphs, and the variants that were made from their dialogues."""
    # A variant refers to nodes of the removed graphs, so it cannot be kept.
    variants = sorted(row["variant"] for row in run(tx, "parse/edited", amrs=amrs))
    if variants:
        edited = sorted(row["amr"] for row in run(tx, "parse/materialized", ids=variants))
        run(tx, "parse/forget", amrs=edited)
        run(tx, "edit/forget", ids=variants)
    run(tx, "parse/forget", amrs=amrs)
