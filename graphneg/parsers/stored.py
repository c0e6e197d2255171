"""Parses and the store: what was parsed before, what is pending, and writing what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from neo4j import ManagedTransaction

from graphneg.amr.penman import parse_graph
from graphneg.errors import InputError, StoreError
from graphneg.ingest.rows import GOLD, GraphRows, Row, digest
from graphneg.ingest.writing import MAX_BYTES, MAX_DIALOGUE_BYTES, MAX_ROWS
from graphneg.model import AmrGraph
from graphneg.parsers.pool import ParsedText
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, count_dialogues, dialogue_ids
from graphneg.store.statements import cypher_text, run

# What was parsed before: in the store by text and parser, and in this run what is not written yet.


def text_id(source: str, text: str) -> str:
    """The key of a text as parsed by ``source``."""
    return digest([source, text])


def read_parses(store: Store, ids: Iterable[str]) -> dict[str, ParsedText]:
    """What the store remembers, by key."""
    return {
        row["id"]: ParsedText(
            _graph(row["penman"], row["spans"]), row["penman"], tuple(row["warnings"] or ())
        )
        for row in store.read(cypher_text("parse/remembered"), ids=sorted(set(ids)))
    }


def parse_row(id: str, source: str, parsed: ParsedText) -> Row:
    """A row of ``parse/remember``."""
    row: Row = {"id": id, "source": source, "penman": parsed.penman}
    if parsed.graph is not None and parsed.graph.spans:
        row["spans"] = [number for k, span in sorted(parsed.graph.spans.items()) for number in (k, *span)]
    if parsed.warnings:
        row["warnings"] = list(parsed.warnings)
    return row


def _graph(penman: str, spans: Sequence[int] | None) -> AmrGraph:
    numbers: Sequence[int] = spans or ()
    found = {numbers[i]: (numbers[i + 1], numbers[i + 2]) for i in range(0, len(numbers), 3)}
    return replace(parse_graph(penman), spans=found)


@dataclass(slots=True)
class _Claim:
    uses: int
    parsed: ParsedText | None = None


class Claims:
    """Texts on their way through the parser, so that none goes through it twice at a time.

    A batch claims its texts when it is read and frees them when it is written.
    """

    def __init__(self) -> None:
        self._claims: dict[str, _Claim] = {}

    def claim(self, ids: Iterable[str]) -> list[str]:
        """Which of these keys no batch has claimed yet."""
        new: list[str] = []
        for id in ids:
            known = self._claims.get(id)
            if known is None:
                self._claims[id] = _Claim(1)
                new.append(id)
            else:
                known.uses += 1
        return new

    def settle(self, parsed: Mapping[str, ParsedText]) -> None:
        """The parser's answers, by key."""
        for id, one in parsed.items():
            self._claims[id].parsed = one

    def answer(self, id: str) -> ParsedText:
        parsed = self._claims[id].parsed
        if parsed is None:
            raise LookupError(f"text {id} is claimed and not parsed")
        return parsed

    def free(self, ids: Iterable[str]) -> None:
        for id in ids:
            claim = self._claims[id]
            claim.uses -= 1
            if not claim.uses:
                del self._claims[id]


# Which texts of a store wait for a graph.


Kind = Literal["utterances", "responses"]
Existing = Literal["keep", "replace"]
KINDS: tuple[Kind, ...] = ("utterances", "responses")
EXISTING: tuple[Existing, ...] = ("keep", "replace")

_DIALOGUES = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which texts are parsed: those of the selected dialogues that have no graph.

    With ``existing`` ``replace`` also those whose graphs are all of other parsers, or of other
    versions of this one; never those with a gold graph.
    """

    selection: Selection = field(default_factory=Selection)
    kinds: tuple[Kind, ...] = ("utterances",)
    existing: Existing = "keep"

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise InputError(f"parse {', '.join(self.kinds) or 'nothing'}: choose of {', '.join(KINDS)}")
        if self.existing not in EXISTING:
            raise InputError(f"existing graphs {self.existing!r}: choose one of {', '.join(EXISTING)}")

    def keeps(self, source: str, parser: str) -> bool:
        """Whether a graph of that source stays, and its text needs no other."""
        return self.existing == "keep" or source in (GOLD, parser)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A text that waits: ``id`` is its utterance or response, ``replaces`` the graphs that will go."""

    kind: Kind
    id: str
    text: str
    replaces: tuple[str, ...]


def count_waiting(store: Store, wanted: Wanted, parser: str) -> int:
    """How many texts wait. ``parser`` is the source that the parser's graphs are marked with."""
    conditions: dict[str, Any] = {
        "corpora": list(wanted.selection.corpora),
        "splits": list(wanted.selection.splits),
        "limit": max(1, count_dialogues(store, wanted.selection)),
        "any": wanted.existing == "keep",
        "kept": [GOLD, parser],
    }
    return sum(
        store.read(cypher_text(f"parse/count_{kind}"), **conditions)[0]["texts"] for kind in wanted.kinds
    )


def read_waiting(store: Store, wanted: Wanted, parser: str) -> Iterator[Waiting]:
    """The texts that wait, dialogue by dialogue in their order, in flat memory."""
    ids = dialogue_ids(store, wanted.selection)
    while page := list(islice(ids, _DIALOGUES)):
        found: dict[str, list[Waiting]] = {}
        for kind in wanted.kinds:
            for row in store.read(cypher_text(f"parse/{kind}"), ids=page):
                found.setdefault(row["id"], []).extend(_waiting(kind, row["texts"], wanted, parser))
        for id in page:
            yield from found.get(id, ())


def _waiting(kind: Kind, rows: list[list[Any]], wanted: Wanted, parser: str) -> Iterator[Waiting]:
    texts: dict[tuple[int, str, str], list[Sequence[Any]]] = {}
    for turn, id, text, amr, source in rows:
        graphs = texts.setdefault((turn, id, text), [])
        if amr is not None:
            graphs.append((amr, source))
    for (_, id, text), graphs in sorted(texts.items()):
        if not any(wanted.keeps(source, parser) for _, source in graphs):
            yield Waiting(kind, id, text, tuple(sorted(amr for amr, _ in graphs)))


# Writes parsed graphs to a store: in batches, each in one transaction, none of it twice.
#
# A graph is there entirely or not at all, with the note of its text, so a run that was killed is
# completed by running it again. Where a graph takes the place of another parser's, the negatives
# that were made of its dialogue go with the old one.


_NODE_BYTES = 300
_MEANINGS: dict[Kind, str] = {"utterances": "load/meanings", "responses": "parse/response_meanings"}


@dataclass(frozen=True, slots=True)
class Ready:
    """A graph to write: ``of`` is the utterance or response, ``note`` the row that remembers its text."""

    kind: Kind
    of: str
    graph: AmrGraph
    penman: str
    warnings: tuple[str, ...]
    replaces: tuple[str, ...]
    note: Row | None

    @property
    def rows(self) -> int:
        return 3 + 2 * len(self.graph.nodes) + len(self.graph.mentions)

    @property
    def bytes(self) -> int:
        return 3 * len(self.penman) + _NODE_BYTES * self.rows


@dataclass(frozen=True, slots=True)
class Written:
    """What a transaction did: new graphs, and how many of them took another's place."""

    graphs: int
    replaced: int


def fits(one: Ready) -> bool:
    """Whether the graph fits in a transaction."""
    return one.bytes <= MAX_DIALOGUE_BYTES


def write_graphs(store: Store, ready: Sequence[Ready], source: str) -> Iterator[Written]:
    """Write graphs that are marked with ``source``; yields what each transaction did, once it is done."""
    for batch in _batches(ready):
        yield store.write(lambda tx, batch=batch: _write(tx, batch, source))


def _batches(ready: Sequence[Ready]) -> Iterator[list[Ready]]:
    batch: list[Ready] = []
    rows = size = 0
    for one in ready:
        if batch and (rows + one.rows > MAX_ROWS or size + one.bytes > MAX_BYTES):
            yield batch
            batch, rows, size = [], 0, 0
        batch.append(one)
        rows, size = rows + one.rows, size + one.bytes
    if batch:
        yield batch


def _write(tx: ManagedTransaction, batch: Sequence[Ready], source: str) -> Written:
    """One transaction; what another attempt or process wrote stays."""
    stored = run(tx, "load/stored_graphs", ids=[one.graph.id for one in batch])
    old = {id for one in batch for id in one.replaces}
    there = {row["id"] for row in stored} - old
    new = [one for one in batch if one.graph.id not in there]
    replaced = _forget(tx, [one for one in new if one.replaces])
    rows, kinds = GraphRows(), dict[Kind, list[Row]]()
    for one in new:
        rows.add(one.graph, one.of, source, digest(one.penman))
        if one.warnings:
            rows.amrs[-1]["properties"]["warnings"] = list(one.warnings)
        kinds.setdefault(one.kind, []).append(rows.amrs[-1])
    if new:
        lexemes = rows.lexeme_rows()
        run(tx, "load/terms", terms=[row["text"] for row in lexemes])
        run(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles)
    for kind, amrs in kinds.items():
        tied = run(tx, _MEANINGS[kind], amrs=amrs)[0]["amrs"]
        if tied != len(amrs):
            raise StoreError(f"{len(amrs) - tied} {kind} went while their graphs were written; run again")
    notes = {one.note["id"]: one.note for one in batch if one.note is not None}
    if notes:
        run(tx, "parse/remember", parses=[notes[id] for id in sorted(notes)])
    return Written(len(new), replaced)


def _forget(tx: ManagedTransaction, new: Sequence[Ready]) -> int:
    """Remove the graphs that others take the place of, and the variants of their dialogues."""
    if not new:
        return 0
    amrs = sorted({id for one in new for id in one.replaces})
    variants = sorted(row["variant"] for row in run(tx, "parse/edited", amrs=amrs))
    if variants:
        edited = sorted(row["amr"] for row in run(tx, "parse/materialized", ids=variants))
        run(tx, "parse/forget", amrs=edited)
        run(tx, "edit/forget", ids=variants)
    run(tx, "parse/forget", amrs=amrs)
    return len(new)
