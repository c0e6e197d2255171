"""What other code computed in a store is computed anew in place, and a domain's words are loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphneg
from graphneg.amr.facts import NAMES
from graphneg.dialogue_graph import DialogueGraph
from graphneg.ingest import lexicon as stored_facts
from graphneg.ingest.loader import LoadOptions, LoadReport
from graphneg.ingest.validation import Grouping
from graphneg.ingest.writing import write_records
from graphneg.loaders.lexicon import Loader
from graphneg.store.connection import Store
from graphneg.store.opening import SCHEMA_VERSION, ensure_schema, facts_fingerprint
from tests.cli_runs import Run
from tests.servers import wipe

EVERYTHING = (
    "MATCH (n) WHERE NOT n:GraphnegSchema AND NOT n:ContentVersion "
    "RETURN labels(n)[0] AS label, properties(n) AS held",
    "MATCH (a)-[r:ALTERNATIVE]->(b) RETURN a.text AS a, r.scale AS scale, b.text AS b",
    "MATCH (a)-[r:ANTONYM]->(b) RETURN a.text AS a, r.used_as AS used_as, r.modified_kinds AS kinds, "
    "coalesce(b.id, b.text) AS b",
)
DOWNGRADE = (
    f"MATCH (n:AmrNode) SET n.repeats = null, {', '.join(f'n.{name} = null' for name in NAMES)}",
    "MATCH (t:Term) SET t.form = null, t.classes = null, t.physical_object = null, "
    "t.frames = null, t.antonyms = null",
    "MATCH (a:Amr) SET a.foreign = true",
    "MATCH (f:Frame) SET f.classes = null",
    "MATCH (:Term)-[m:ALTERNATIVE]->(:Term) DELETE m",
    "MATCH (:Term)-[a:ANTONYM]->() DELETE a",
    "MATCH (s:GraphnegSchema) SET s.facts = 'of other code'",
)


@pytest.fixture
def everyday(store: Store) -> Iterator[DialogueGraph]:
    """A store with the bundled corpus; the schema's version is this one's again at the end."""
    wipe(store)
    graph = DialogueGraph(store)
    graph.load("everyday")
    yield graph
    store.query_write(
        f"MATCH (s:GraphnegSchema) SET s.version = {SCHEMA_VERSION}, s.facts = $facts, s.upgraded_to = null",
        {"facts": facts_fingerprint()},
    )
    wipe(store)


def content(store: Store) -> list[list[str]]:
    """All that a store holds, in an order of its own."""
    return [
        sorted(json.dumps(row.data(), sort_keys=True) for row in store.read(query)) for query in EVERYTHING
    ]


def load_words(store: Store, table: Path) -> LoadReport:
    records = Loader().read([table], LoadOptions())
    return write_records(store, records, LoadReport("lexicon"), Grouping("words", "all", 8))


def make_old(store: Store) -> None:
    for statement in DOWNGRADE:
        store.query_write(statement)


def test_what_an_older_graphneg_computed_is_computed_anew_in_place(everyday: DialogueGraph) -> None:
    store = everyday.store
    before = content(store)
    make_old(store)
    assert everyday.upgrade() > 100
    ensure_schema(store)
    assert content(store) == before


def test_a_stopped_upgrade_goes_on(everyday: DialogueGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    store = everyday.store
    before = content(store)
    make_old(store)
    monkeypatch.setattr(stored_facts, "GRAPHS", 20)
    write, written = stored_facts._write_facts, list[int]()

    def stopped(*arguments: object) -> None:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(1)
        write(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(stored_facts, "_write_facts", stopped)
    with pytest.raises(KeyboardInterrupt):
        everyday.upgrade()
    monkeypatch.setattr(stored_facts, "_write_facts", write)
    graphs = store.read("MATCH (a:Amr) RETURN count(a) AS graphs")[0]["graphs"]
    assert everyday.upgrade() == graphs - 40
    assert content(store) == before


def test_words_of_a_domain_change_what_is_known(everyday: DialogueGraph, tmp_path: Path) -> None:
    table = tmp_path / "own.tsv"
    table.write_text("class\tkit\tumbrella\nmove\ttime\tmonday\tfriday\nclass\tkit\nopposite\tgood\tbad\t-\n")
    report = load_words(everyday.store, table)
    assert report.written["lexicon entries"] == 3
    assert [one.place for one in report.rejected] == [f"{table}:3"]
    store = everyday.store
    rows = store.read("MATCH (n:AmrNode {concept: 'umbrella'}) RETURN DISTINCT n.classes AS classes")
    assert [row["classes"] for row in rows] == [["kit"]]
    assert not store.read("MATCH (:Term {text: 'good'})-[a:ANTONYM]->(x:Term {text: 'bad'}) RETURN a.used_as")
    moved = store.read("MATCH (:Term {text: 'monday'})-[:ALTERNATIVE]->(x:Term) RETURN x.text AS text")
    assert [row["text"] for row in moved] == ["friday"]
    assert load_words(everyday.store, table).present["lexicon entries"] == 3


def test_a_current_store_is_left_as_it_is(everyday: DialogueGraph) -> None:
    make_old(everyday.store)
    everyday.upgrade()
    everyday.store.query_write("MATCH (n:AmrNode) SET n.clause_type = 'by hand'")
    assert everyday.upgrade() is None
    clauses = everyday.store.read("MATCH (n:AmrNode) RETURN DISTINCT n.clause_type AS clause")
    assert [row["clause"] for row in clauses] == ["by hand"]


def test_facts_of_other_code_or_tables_are_computed_anew(everyday: DialogueGraph) -> None:
    before = content(everyday.store)
    everyday.store.query_write("MATCH (n:AmrNode) SET n.clause_type = 'by other code'")
    everyday.store.query_write("MATCH (s:GraphnegSchema) SET s.facts = 'other'")
    assert everyday.upgrade()
    assert content(everyday.store) == before


def test_a_stopped_upgrade_of_a_current_schema_goes_on(everyday: DialogueGraph) -> None:
    last = everyday.store.read("MATCH (a:Amr) RETURN max(a.id) AS id")[0]["id"]
    everyday.store.query_write("MATCH (s:GraphnegSchema) SET s.upgraded_to = $last", {"last": last})
    assert everyday.upgrade() == 0
    assert everyday.upgrade() is None


def test_the_command_upgrades(run: Run, everyday_path: Path) -> None:
    with graphneg.open(everyday_path) as graph:
        make_old(graph.store)
    assert "upgraded" in run("--store", str(everyday_path), "upgrade").err
    assert run("--store", str(everyday_path), "upgrade").err == "the store is current: nothing to do\n"


@pytest.fixture
def everyday_path(tmp_path: Path) -> Path:
    with graphneg.open(tmp_path / "store") as graph:
        graph.load("everyday")
    return tmp_path / "store"
