"""Maintain the lexicon of a store and the data that depend on it: terms, antonyms and facts about graphs.

The lexicon of a store is graphneg's own lexicon, extended by the entries that were loaded into the store.
When entries are loaded, `refresh` recomputes the data that depend on them.

For example, a user loads the line ``class<TAB>medicine<TAB>aspirin``. The term "aspirin" then gets the class
``medicine``, and the facts about all graphs with this word are recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from neo4j import ManagedTransaction, Record

from graphneg.amr.facts import NAMES, facts
from graphneg.english.lexicon import Lexicon, english, usable_antonyms
from graphneg.english.words import is_foreign
from graphneg.ingest.discourse import dialogue_of, write_discourse
from graphneg.ingest.rows import Row, digest, scale_rows, term_of, term_row
from graphneg.model import LexiconEntry
from graphneg.store.connection import Store
from graphneg.store.dialogues import QueryRunner, read_graphs
from graphneg.store.statements import RunningStatement, cypher_text, in_transactions, run, send

T = TypeVar("T")
ROWS = 5_000
"""Maximum number of rows in one statement about words."""
GRAPHS = 200
"""Number of graphs in a transaction."""
TEXT_CLASSES = frozenset({"past-form", "future-form"})
"""Word classes whose words are looked up in the texts of utterances, because graphs do not contain them.

AMR has no tense: only the text shows that "We went home" is about the past.
"""


class Target(QueryRunner, Protocol):
    """The destination of a load: a store, or the folder of a bulk load."""

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function in one write transaction.

        Args:
            work: Function that runs statements in the transaction. It may be called again after a conflict,
                so it must be idempotent.

        Returns:
            The value that the function returns.
        """
        ...

    def write_derived(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function in one write transaction that does not change the content version.

        Args:
            work: Function that runs statements in the transaction. It must be idempotent.

        Returns:
            The value that the function returns.
        """
        ...

    def change_version(self, transaction: ManagedTransaction) -> None:
        """Mark the content of the store as changed, in the same transaction that changes it.

        Args:
            transaction: The open write transaction.
        """
        ...


@dataclass(frozen=True, slots=True)
class DerivedRecords:
    """A store for loading records that are derived from its own content, such as sentences of its dialogues.

    Loading such records does not mark the content as changed, so results that depend on it stay valid.

    Attributes:
        store: The wrapped store.
    """

    store: Store

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Return all rows of a query.

        Args:
            query: The Cypher text.
            **parameters: Values of the query's parameters.

        Returns:
            All rows of the result.
        """
        return self.store.read(query, **parameters)

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function in one write transaction, as `Store.write_derived` does.

        Args:
            work: Function that runs statements in the transaction. It must be idempotent.

        Returns:
            The value that the function returns.
        """
        return self.store.write_derived(work)

    def write_derived(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Run a function in one write transaction, as `write` does.

        Args:
            work: Function that runs statements in the transaction. It must be idempotent.

        Returns:
            The value that the function returns.
        """
        return self.write(work)

    def change_version(self, transaction: ManagedTransaction) -> None:
        """Do nothing, so that results that depend on the content of the store stay valid.

        Args:
            transaction: The open write transaction.
        """


def stored_lexicon(source: QueryRunner | ManagedTransaction) -> Lexicon:
    """Return the lexicon of a store.

    Args:
        source: The store, or an open transaction on it.

    Returns:
        graphneg's own lexicon, extended by the entries in the store.
    """
    is_open = not isinstance(source, ManagedTransaction)
    rows = source.read(cypher_text("lexicon/entries")) if is_open else run(source, "lexicon/entries")
    entries = (LexiconEntry(row["table"], tuple(row["cells"])) for row in rows)
    return english().extended(entries) if rows else english()


def entry_rows(entries: Iterable[LexiconEntry]) -> list[Row]:
    """Convert lexicon entries into rows, which are parameters of a Cypher statement.

    An entry of the table ``class`` may name several concepts, and becomes one row per concept. If two entries
    define the same thing, such as the opposites of a pair, only the last entry is kept.

    Args:
        entries: The entries to convert, in the order in which they were loaded.

    Returns:
        The rows, sorted by id.
    """
    rows: dict[str, Row] = {}
    for table, cells in ((entry.table, list(entry.cells)) for entry in entries):
        for item in [[cells[0], concept] for concept in cells[1].split()] if table == "class" else [cells]:
            # A new entry replaces the stored entry with the same id. So compute the id without the cells that
            # a new entry may change, such as the third cell of a row in the table "move". The entry "class
            # -NAME" removes a concept that "class NAME" has added, so compute its id without the minus sign.
            of_table = {"class": [item[0].lstrip("-"), item[-1]], "move": item[:2]}
            id = digest([table, of_table.get(table, sorted(item[:2]))])
            rows[id] = {"id": id, "table": table, "cells": item}
    return [rows[id] for id in sorted(rows)]


def write_terms(tx: ManagedTransaction, texts: Iterable[str], lexicon: Lexicon) -> list[RunningStatement]:
    """Send the statements that create terms, and that connect terms on a scale, such as days of the week.

    Args:
        tx: The open transaction.
        texts: The lemmas and phrases to write as terms.
        lexicon: The lexicon of the store.

    Returns:
        The statements. Pass them to `finish`, which waits for their results.
    """
    known = sorted(set(texts))
    moves = scale_rows(known, lexicon)
    # Sort the terms, so that concurrent transactions lock them in the same order and cannot deadlock.
    known = sorted({*known, *(row["to"] for row in moves)})
    sent = [send(tx, "load/terms", terms=[term_row(text, lexicon) for text in known])]
    return [*sent, send(tx, "load/moves", moves=moves)] if moves else sent


def finish(sent: Iterable[RunningStatement]) -> None:
    """Wait until the server has run the statements that were sent to it.

    Args:
        sent: The statements.
    """
    for statement in sent:
        statement.finish()


def judge_antonyms(tx: ManagedTransaction, terms: Iterable[str], lexicon: Lexicon) -> None:
    """Recompute which antonyms can replace a term in a graph, after antonym edges have changed.

    A new edge between "hot" and "cold" affects both words. The result is therefore also recomputed for the
    antonyms of the given terms.

    Args:
        tx: The open transaction.
        terms: The lemmas whose antonym edges are new or have changed.
        lexicon: The lexicon of the store.
    """
    own = sorted(set(terms))
    # Whether an antonym is usable depends on the weights of all antonym edges of the word.
    # A new edge can therefore change the result for the words at both of its ends.
    near = {row["other"] for row in _in_parts(tx, "lexicon/antonyms_of", own)}
    weights: dict[str, dict[str, float]] = {}
    for row in _in_parts(tx, "lexicon/antonyms_of", sorted({*own, *near})):
        weights.setdefault(row["word"], {})[row["other"]] = row["weight"]
    lemmas = sorted({*weights, *(other for others in weights.values() for other in others)})
    frames: dict[str, list[tuple[str, list[str]]]] = {}
    for row in _in_parts(tx, "lexicon/frames_of", lemmas):
        frames.setdefault(row["lemma"], []).append((row["id"], row["roles"]))
    for known in frames.values():
        known.sort()
    judged = [
        antonym
        for word in sorted(weights)
        for antonym in usable_antonyms(word, weights[word], frames, lexicon)
    ]
    for part in in_transactions(sorted(weights), ROWS):
        run(tx, "lexicon/forget_antonyms", words=part)
    for is_frame, name in ((False, "lexicon/antonyms"), (True, "lexicon/antonym_frames")):
        rows = [antonym._asdict() for antonym in judged if antonym.is_frame == is_frame]
        for part in in_transactions(rows, ROWS):
            run(tx, name, antonyms=part)


def _in_parts(tx: ManagedTransaction, name: str, words: Sequence[str]) -> Iterator[Row]:
    for part in in_transactions(words, ROWS):
        for record in run(tx, name, words=part):
            yield record.data()


def refresh(store: Target, entries: Sequence[LexiconEntry]) -> None:
    """Recompute the properties of terms, graphs and dialogues that depend on new entries of the lexicon.

    Args:
        store: The store, in which the entries have already been written.
        entries: The new entries.
    """
    lexicon, terms, words = stored_lexicon(store), set[str | None](), set[str]()
    pairs = {entry.cells[:2] for entry in entries if entry.table == "opposite"}
    for entry in entries:
        # The cells of an entry depend on its table: ("medicine", "aspirin ibuprofen") in "class", ("time",
        # "monday", "tuesday") in "move", ("mild", "spicy") in "opposite".
        if entry.table == "class":
            terms.update(map(term_of, entry.cells[1].split()))
        else:
            words.update(entry.cells[:2] if entry.table == "opposite" else entry.cells[1:])
    words.update(term for term in terms if term is not None)
    store.write(lambda tx: _write_words(tx, sorted(words), pairs, lexicon))
    # Recompute only the graphs that contain a word of the new entries. Two kinds of entries affect graphs
    # that cannot be looked up, so that all graphs are recomputed: entries about structural concepts such as
    # "and", which are not stored as terms, and entries about words in the texts of utterances, which are not
    # indexed.
    if None in terms or any(entry.cells[0].lstrip("-") in TEXT_CLASSES for entry in entries):
        batches = _graph_pages(store)
    else:
        rows = store.read(cypher_text("lexicon/graphs_of_words"), words=sorted(words))
        batches = in_transactions(sorted(row["id"] for row in rows), GRAPHS)
    for ids in batches:
        _write_facts(store, ids, lexicon)
        dialogues = {dialogue_of(id) for id in ids}
        store.write(lambda tx, dialogues=dialogues: write_discourse(tx, dialogues, {}, lexicon))


def _graph_pages(store: QueryRunner) -> Iterator[list[str]]:
    after, query = "", cypher_text("read/graph_ids")
    while page := [row["id"] for row in store.read(query, after=after, limit=GRAPHS)]:
        yield page
        # Continue after the last id instead of at an offset, because rows may change in the meantime.
        after = page[-1]


def _write_facts(store: Target, ids: Sequence[str], lexicon: Lexicon) -> None:
    """Recompute the facts about graphs (such as tenses), and write them as properties of their nodes."""
    texts = {row["id"]: row["text"] or "" for row in store.read(cypher_text("lexicon/texts"), ids=list(ids))}
    rows: list[Row] = [
        {
            "amr": graph.id,
            "foreign": is_foreign(texts.get(graph.id, "")) or None,
            "facts": [
                # A None value removes a property that no longer applies.
                {name: known.get(name) for name in NAMES}
                for known in facts(graph, texts.get(graph.id, ""), lexicon)
            ],
        }
        for graph in read_graphs(store, list(ids))
    ]

    store.write(lambda tx: run(tx, "lexicon/facts", graphs=rows))


def _write_words(
    tx: ManagedTransaction, words: Sequence[str], pairs: Iterable[Sequence[str]], lexicon: Lexicon
) -> None:
    """Write the data that depend on the lexicon: properties of words, frames, antonyms and opposites.

    Args:
        tx: The open transaction.
        words: The words whose data are written.
        pairs: The pairs of words for which the lexicon has a new entry of the table ``opposite``.
        lexicon: The lexicon of the store.
    """
    run(tx, "lexicon/forget_moves", words=list(words))
    finish(write_terms(tx, words, lexicon))
    run(tx, "lexicon/words", terms=[term_row(word, lexicon) for word in words])
    frames = [row["id"] for row in run(tx, "lexicon/frames_of", words=list(words))]
    run(tx, "lexicon/frames", frames=[{"id": id, "classes": sorted(lexicon.classes_of(id))} for id in frames])
    # ConceptNet may contain a pair in either direction, so update both directions.
    edges = sorted({edge for one, other in pairs for edge in ((one, other), (other, one))})
    rows = [
        {"start": start, "end": end, "modified_kinds": lexicon.modified_kinds(start, end)}
        for start, end in edges
    ]
    run(tx, "lexicon/opposites", opposites=rows)
    judge_antonyms(tx, words, lexicon)
