"""Tests that loading words of a domain updates the antonyms and facts that depend on them."""

from __future__ import annotations

from pathlib import Path

from graphneg.dialogue_graph import DialogueGraph
from graphneg.store.connection import Store
from tests.servers import wipe

WORDS = "class\tkit\tumbrella\nmove\ttime\tmonday\tfriday\nclass\tkit\nopposite\tgood\tbad\t-\n"


def test_words_of_a_domain_change_what_is_known(store: Store, tmp_path: Path) -> None:
    wipe(store)
    graph = DialogueGraph(store)
    graph.load("everyday")
    table = tmp_path / "own.tsv"
    table.write_text(WORDS)
    report = graph.load("lexicon", table)
    assert report.written["lexicon entries"] == 3
    assert [one.place for one in report.rejected] == [f"{table}:3"]
    rows = store.read("MATCH (n:AmrNode {concept: 'umbrella'}) RETURN DISTINCT n.classes AS classes")
    assert [row["classes"] for row in rows] == [["kit"]]
    assert not store.read("MATCH (:Term {text: 'good'})-[a:ANTONYM]->(x:Term {text: 'bad'}) RETURN a.used_as")
    # The antonyms were loaded before the lexicon, which must update them.
    edges = store.read(
        "MATCH (:Term {text: 'good'})-[o:OPPOSITE]-(:Term {text: 'bad'}) RETURN o.modified_kinds AS kinds"
    )
    assert [row["kinds"] for row in edges] == [[]]
    moved = store.read("MATCH (:Term {text: 'monday'})-[:ALTERNATIVE]->(x:Term) RETURN x.text AS text")
    assert [row["text"] for row in moved] == ["friday"]
    assert graph.load("lexicon", table).present["lexicon entries"] == 3
    wipe(store)
