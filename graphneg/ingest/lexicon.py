"""The lexicon of a store: writes terms with what it knows of them, and judges antonyms as they are loaded.

A store's lexicon is graphneg's own and the entries that were loaded into the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from neo4j import ManagedTransaction, Record

from graphneg.english.antonyms import judge
from graphneg.english.lexicon import Lexicon, english
from graphneg.ingest.rows import Row, digest, move_rows, term_row
from graphneg.model import LexiconEntry
from graphneg.store.connection import Store
from graphneg.store.statements import Sent, cypher_text, run, send

ROWS = 5_000
_T = TypeVar("_T")


def stored_lexicon(store: Store) -> Lexicon:
    """The lexicon of a store.

    Raises:
        StoreError: the store is gone.
    """
    return _extended(store.read(cypher_text("lexicon/entries")))


def lexicon_in(tx: ManagedTransaction) -> Lexicon:
    """The lexicon of the store that a transaction works on."""
    return _extended(run(tx, "lexicon/entries"))


def _extended(rows: Sequence[Record]) -> Lexicon:
    if not rows:
        return english()
    return english().extended(LexiconEntry(row["table"], tuple(row["cells"])) for row in rows)


def entry_rows(entries: Iterable[LexiconEntry]) -> list[Row]:
    """One row for each class of a concept, move of a word, and pair; the newest of one key counts."""
    rows: dict[str, Row] = {}
    for entry in entries:
        for cells in _items(entry):
            of = {"class": [cells[0].lstrip("-"), cells[-1]], "move": cells[:2]}.get(entry.table)
            id = digest([entry.table, of or sorted(cells[:2])])
            rows[id] = {"id": id, "table": entry.table, "cells": cells}
    return [rows[id] for id in sorted(rows)]


def _items(entry: LexiconEntry) -> Iterator[list[str]]:
    if entry.table != "class":
        yield list(entry.cells)
        return
    for concept in entry.cells[1].split():
        yield [entry.cells[0], concept]


def write_terms(tx: ManagedTransaction, texts: Iterable[str], lexicon: Lexicon) -> list[Sent]:
    """Send the statements that make sure that terms are there, with those that they move to."""
    known = sorted(set(texts))
    moves = move_rows(known, lexicon)
    known = sorted({*known, *(row["to"] for row in moves)})
    sent = [send(tx, "load/terms", terms=[term_row(text, lexicon) for text in known])]
    return [*sent, send(tx, "load/moves", moves=moves)] if moves else sent


def finish(sent: Iterable[Sent]) -> None:
    """Wait until the server is done with what was sent."""
    for one in sent:
        one.finish()


def judge_antonyms(tx: ManagedTransaction, terms: Iterable[str], lexicon: Lexicon) -> None:
    """Judge the antonyms of these terms, and of all that are antonyms of one of them, anew."""
    own = sorted(set(terms))
    near = {row["other"] for row in _in_parts(tx, "lexicon/antonyms_of", own)}
    words = sorted({*own, *near})
    weights: dict[str, dict[str, float]] = {}
    for row in _in_parts(tx, "lexicon/antonyms_of", words):
        weights.setdefault(row["word"], {})[row["other"]] = row["weight"]
    lemmas = sorted({*weights, *(other for others in weights.values() for other in others)})
    frames: dict[str, list[tuple[str, list[str]]]] = {}
    for row in _in_parts(tx, "lexicon/frames_of", lemmas):
        frames.setdefault(row["lemma"], []).append((row["id"], row["roles"]))
    for known in frames.values():
        known.sort()
    judged = [one for word in sorted(weights) for one in judge(word, weights[word], frames, lexicon)]
    for part in _parts(sorted(weights)):
        run(tx, "lexicon/forget_antonyms", words=part)
    for is_frame, name in ((False, "lexicon/antonyms"), (True, "lexicon/antonym_frames")):
        rows = [one._asdict() for one in judged if one.is_frame == is_frame]
        for part in _parts(rows):
            run(tx, name, antonyms=part)


def _in_parts(tx: ManagedTransaction, name: str, words: Sequence[str]) -> Iterator[Row]:
    for part in _parts(words):
        for record in run(tx, name, words=part):
            yield record.data()


def _parts(rows: Sequence[_T]) -> Iterator[list[_T]]:
    for start in range(0, len(rows), ROWS):
        yield list(rows[start : start + ROWS])
