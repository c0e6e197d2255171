"""Facts about what a store holds already: computed again when the lexicon, or graphneg, has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neo4j import ManagedTransaction

from graphneg.amr.facts import NAMES, facts
from graphneg.english.lexicon import Lexicon
from graphneg.ingest.lexicon import finish, judge_antonyms, stored_lexicon, write_terms
from graphneg.ingest.rows import Row, term_of, term_row
from graphneg.model import LexiconEntry
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_graphs
from graphneg.store.opening import apply_schema, finish_upgrade
from graphneg.store.statements import cypher_text, run

GRAPHS = 200
TERMS = 2_000
OF_TEXTS = frozenset({"past-form", "future-form"})
"""Classes of words that are looked for in texts, where graphs have none of them."""


def upgrade(store: Store, progress: Progress | None = None) -> int:
    """Compute all that graphneg computes anew, and mark the store with this schema; returns the graphs done.

    Graphs are written batch by batch, each with a note of how far the upgrade is: stopped at any moment,
    the same call goes on from there. What was loaded is not changed.

    Raises:
        StoreError: the store is gone.
    """
    apply_schema(store)
    progress, lexicon = progress or NoProgress(), stored_lexicon(store)
    [state] = store.read(cypher_text("upgrade/state"))
    after, done = state["after"] or "", 0
    progress.start("graphs", store.read(cypher_text("upgrade/count"), after=after)[0]["graphs"], "graphs")
    while ids := _page(store, "upgrade/graphs", after, GRAPHS):
        _write_facts(store, ids, lexicon, ids[-1])
        after, done = ids[-1], done + len(ids)
        progress.advance(len(ids))
    progress.finish()
    for words in _pages(store, "upgrade/terms"):
        store.write(lambda tx, words=words: _write_words(tx, words, lexicon))
    finish_upgrade(store)
    return done


def refresh(store: Store, entries: Sequence[LexiconEntry]) -> None:
    """Compute anew what follows from these entries of the lexicon.

    Raises:
        StoreError: the store is gone.
    """
    lexicon, concepts = stored_lexicon(store), set[str]()
    for entry in entries:
        concepts.update(entry.cells[1].split() if entry.table == "class" else ())
    words = {word for entry in entries if entry.table != "class" for word in _words(entry)}
    terms = {concept: term_of(concept) for concept in concepts}
    whole = None in terms.values() or any(entry.cells[0].lstrip("-") in OF_TEXTS for entry in entries)
    words.update(term for term in terms.values() if term is not None)
    store.write(lambda tx: _write_words(tx, sorted(words), lexicon))
    if whole:
        for ids in _pages(store, "upgrade/graphs"):
            _write_facts(store, ids, lexicon)
        return
    rows = store.read(cypher_text("upgrade/graphs_of_words"), words=sorted(words))
    ids = sorted(row["id"] for row in rows)
    for start in range(0, len(ids), GRAPHS):
        _write_facts(store, ids[start : start + GRAPHS], lexicon)


def _words(entry: LexiconEntry) -> tuple[str, ...]:
    return entry.cells[:2] if entry.table == "opposite" else entry.cells[1:]


def _page(store: Store, name: str, after: str, limit: int) -> list[str]:
    return [row["id"] for row in store.read(cypher_text(name), after=after, limit=limit)]


def _pages(store: Store, name: str) -> Iterator[list[str]]:
    after = ""
    while page := _page(store, name, after, TERMS if name.endswith("terms") else GRAPHS):
        yield page
        after = page[-1]


def _write_facts(store: Store, ids: Sequence[str], lexicon: Lexicon, note: str | None = None) -> None:
    """Write the facts about these graphs; ``note`` is how far an upgrade is with them."""
    texts = {row["id"]: row["text"] or "" for row in store.read(cypher_text("upgrade/texts"), ids=list(ids))}
    rows: list[Row] = [
        {
            "amr": graph.id,
            "facts": [
                {name: known.get(name) for name in NAMES}
                for known in facts(graph, texts.get(graph.id, ""), lexicon)
            ],
        }
        for graph in read_graphs(store, list(ids))
    ]

    def write(tx: ManagedTransaction) -> None:
        run(tx, "upgrade/facts", graphs=rows)
        if note is not None:
            run(tx, "upgrade/note", after=note)

    store.write(write)


def _write_words(tx: ManagedTransaction, words: Sequence[str], lexicon: Lexicon) -> None:
    """Write what the lexicon knows of words, of their frames and of their opposites."""
    run(tx, "upgrade/forget_moves", words=list(words))
    finish(write_terms(tx, words, lexicon))
    blank = {"form": None, "classes": None, "goods": None}
    run(tx, "upgrade/words", terms=[blank | term_row(word, lexicon) for word in words])
    frames = [row["id"] for row in run(tx, "lexicon/frames_of", words=list(words))]
    run(tx, "upgrade/frames", frames=[{"id": id, "classes": sorted(lexicon.of(id))} for id in frames])
    judge_antonyms(tx, words, lexicon)
