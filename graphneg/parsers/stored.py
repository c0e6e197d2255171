"""Parses and the store: what was parsed before, what is pending, and writing what is new.

In: a store and a `ParseScope`. Out: its texts without a graph, what is remembered of them, and graphs written
in batches, each in one transaction. A graph is there entirely or not at all, with the note of its text, so
a run that was killed is completed by running it again.
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
    """What the store remembers of texts, by key."""
    rows = store.read(cypher_text("parse/remembered"), ids=sorted(set(keys)))
    return {row["id"]: remembered_parse(**row) for row in rows}


def remembered_parse(
    penman: str, spans: Sequence[int] | None = None, warnings: Sequence[str] | None = None, **_: Any
) -> Parsed:
    """The parse of which `parse_row` made a row."""
    numbers = iter(spans or ())
    by_node = {k: (start, end) for k, start, end in zip(numbers, numbers, numbers, strict=True)}
    return Parsed(replace(parse_graph(penman), spans=by_node), tuple(warnings or ()), penman)


def parse_row(key: str, source: str, parsed: Parsed) -> Row:
    """A row of ``parse/remember``."""
    row: Row = {"id": key, "source": source, "penman": parsed.penman}
    if parsed.graph is not None and parsed.graph.spans:
        row["spans"] = [number for k, span in sorted(parsed.graph.spans.items()) for number in (k, *span)]
    if parsed.warnings:
        row["warnings"] = list(parsed.warnings)
    return row


TextKind = Literal["utterances", "responses"]
Existing = Literal["keep", "replace"]
KINDS: tuple[TextKind, ...] = ("utterances", "responses")
EXISTING: tuple[Existing, ...] = ("keep", "replace")

_DIALOGUES = 50


@dataclass(frozen=True, slots=True)
class ParseScope:
    """Which texts are parsed: those of the selected dialogues that have no graph.

    With ``existing`` ``replace`` also those whose graphs are all of other parsers, or of other
    versions of this one; never those with a gold graph.
    """

    selection: Selection = field(default_factory=Selection)
    kinds: tuple[TextKind, ...] = ("utterances",)
    existing: Existing = "keep"

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise InputError(f"parse {', '.join(self.kinds) or 'nothing'}: choose of {', '.join(KINDS)}")
        if self.existing not in EXISTING:
            raise InputError(f"existing graphs {self.existing!r}: choose one of {', '.join(EXISTING)}")


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text without a graph: ``id`` is its utterance or response, ``replaces`` the graphs that will go."""

    kind: TextKind
    id: str
    text: str
    replaces: tuple[str, ...]


def count_pending(store: Store, scope: ParseScope, parser: str) -> int:
    """How many texts are pending; of a shard, about how many.

    ``parser`` is the source that the parser's graphs are marked with.
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
    return count if shard is None else -(-count // shard.amount)


def read_pending(store: Store, scope: ParseScope, parser: str) -> Iterator[PendingText]:
    """The pending texts, dialogue by dialogue in their order, in flat memory."""
    ids = dialogue_ids(store, scope.selection)
    while page := list(islice(ids, _DIALOGUES)):
        by_dialogue: dict[str, list[PendingText]] = {}
        for kind in scope.kinds:
            for row in store.read(cypher_text(f"parse/{kind}"), ids=page):
                by_dialogue.setdefault(row["id"], []).extend(_pending(kind, row["texts"], scope, parser))
        for id in page:
            yield from by_dialogue.get(id, ())


def _pending(kind: TextKind, rows: list[list[Any]], scope: ParseScope, parser: str) -> Iterator[PendingText]:
    """The texts of a dialogue, in the order of its turns, that have no graph that stays."""
    texts: dict[tuple[int, str, str], dict[str, str]] = {}
    for turn, id, text, amr, source in rows:
        graphs = texts.setdefault((turn, id, text), {})
        if amr is not None:
            graphs[amr] = source
    for (_, id, text), graphs in sorted(texts.items(), key=lambda item: item[0]):
        stays = graphs if scope.existing == "keep" else {GOLD, parser} & set(graphs.values())
        if not stays:
            yield PendingText(kind, id, text, tuple(sorted(graphs)))


_NODE_BYTES = 300
_MEANINGS: dict[TextKind, str] = {"utterances": "load/meanings", "responses": "parse/response_meanings"}


@dataclass(frozen=True, slots=True)
class NewGraph:
    """A graph to write, the text that it is of, and the row that remembers the parse, if one is to."""

    graph: AmrGraph
    of: PendingText
    parsed: Parsed
    note: Row | None

    @property
    def rows(self) -> int:
        """How many nodes and relationships it makes, about."""
        return 3 + 2 * len(self.graph.nodes) + len(self.graph.mentions)

    @property
    def bytes(self) -> int:
        """How much memory its transaction takes, about."""
        return 3 * len(self.parsed.penman or "") + _NODE_BYTES * self.rows

    @property
    def fits(self) -> bool:
        """Whether it fits in a transaction."""
        return self.bytes <= MAX_DIALOGUE_BYTES


def write_graphs(store: Store, graphs: Sequence[NewGraph], source: str) -> Iterator[tuple[int, int]]:
    """Write graphs that are marked with ``source``.

    Yields for each transaction, once it is done, how many graphs are new and how many of them took another's
    place.
    """
    for batch in _batches(graphs):
        yield store.write(lambda tx, batch=batch: _write(tx, batch, source))


def _batches(graphs: Sequence[NewGraph]) -> Iterator[list[NewGraph]]:
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
    """One transaction; what another attempt or process wrote stays."""
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
        if tied != len(amrs):
            raise StoreError(f"{len(amrs) - tied} {kind} went while their graphs were written; run again")
    write_echoes(tx, {dialogue_of(new.of.id) for new in missing}, rows.said, lexicon)
    notes = {new.note["id"]: new.note for new in batch if new.note is not None}
    if notes:
        run(tx, "parse/remember", parses=[notes[id] for id in sorted(notes)])
    return len(missing), replaced


def _forget(tx: ManagedTransaction, amrs: Sequence[str]) -> None:
    """Remove graphs, and the variants of their dialogues."""
    variants = sorted(row["variant"] for row in run(tx, "parse/edited", amrs=amrs))
    if variants:
        edited = sorted(row["amr"] for row in run(tx, "parse/materialized", ids=variants))
        run(tx, "parse/forget", amrs=edited)
        run(tx, "edit/forget", ids=variants)
    run(tx, "parse/forget", amrs=amrs)
