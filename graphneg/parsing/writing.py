"""Writes parsed graphs to a store: in batches, each in one transaction, none of it twice.

A graph is there entirely or not at all, with the note of its text, so a run that was killed is
completed by running it again. Where a graph takes the place of another parser's, the negatives
that were made of its dialogue go with the old one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neo4j import ManagedTransaction

from graphneg.errors import StoreError
from graphneg.loading.rows import GraphRows, Row, digest
from graphneg.loading.writing import MAX_BYTES, MAX_DIALOGUE_BYTES, MAX_ROWS
from graphneg.model import AmrGraph
from graphneg.parsing.waiting import Kind
from graphneg.store import Store
from graphneg.store.running import run

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
