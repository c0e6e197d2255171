"""Tests that clauses and entities in a store do not depend on the order in which graphs were loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.store.connection import Store
from tests.servers import wipe

GRAPHS = {
    "c/all/1#0": ("I walk my dog.", "(w / walk-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))"),
    "c/all/1#1": ("Does the dog bark?", "(b / bark-01 :polarity (a / amr-unknown) :ARG0 (d / dog))"),
    "c/all/1#2": ("I don't have a dog.", "(h / have-03 :polarity - :ARG0 (i / i) :ARG1 (d / dog))"),
    "c/all/1#1/r0": ("Yes, the dog barks.", "(b / bark-01 :ARG0 (d / dog) :mod (y / yes))"),
}
TURNS = [id for id in GRAPHS if "/r" not in id]
ROWS = (
    "MATCH (c:Clause) RETURN c.id AS id, properties(c) AS more",
    "MATCH (e:Entity) RETURN e.id AS id, properties(e) AS more",
    "MATCH (u)-[:HAS_CLAUSE]->(c)-[:HEAD]->(n) RETURN u.id AS id, c.id AS clause, n.id AS of",
    "MATCH (n:AmrNode)-[:REFERS_TO]->(e:Entity) RETURN n.id AS id, e.id AS entity",
    "MATCH (c)-[r:REPEATS|CONTRADICTS|ANSWERS]->(e) RETURN c.id AS id, type(r) AS type, e.id AS of",
)


def content(store: Store) -> list[str]:
    return sorted(json.dumps(row.data(), sort_keys=True) for query in ROWS for row in store.read(query))


def dialogue(*with_graphs: str) -> dict[str, Any]:
    def said(id: str) -> dict[str, str]:
        text, penman = GRAPHS[id]
        return {"text": text} | ({"amr": penman} if id in with_graphs else {})

    turns = [said(id) | {"speaker": "AB"[turn % 2]} for turn, id in enumerate(TURNS)]
    responses = [said("c/all/1#1/r0") | {"turn": 1, "label": 1, "source": "human"}]
    return {"id": "1", "turns": turns, "responses": responses}


Load = Callable[[DialogueGraph, Path], None]


def at_once(graph: DialogueGraph, folder: Path) -> None:
    write(folder / "all.jsonl", dialogue(*GRAPHS))
    graph.load("dialogues", folder / "all.jsonl", name="c", split="all")


def graph_by_graph(graph: DialogueGraph, folder: Path) -> None:
    write(folder / "none.jsonl", dialogue("c/all/1#1/r0"))
    graph.load("dialogues", folder / "none.jsonl", name="c", split="all")
    for id in reversed(TURNS):
        file = folder / f"{id[-1]}.amr"
        file.write_text(f"# ::id {id}\n# ::snt {GRAPHS[id][0]}\n{GRAPHS[id][1]}\n", encoding="utf-8")
        graph.load("penman", file)


def write(file: Path, *lines: dict[str, Any]) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_the_order_of_loading_does_not_matter(store: Store, tmp_path: Path) -> None:
    found: list[list[str]] = []
    for load in (at_once, graph_by_graph):
        wipe(store)
        load(DialogueGraph(store), tmp_path)
        found.append(content(store))
    assert found[0] == found[1]
    assert any('"type": "ANSWERS"' in row and "/r0" in row for row in found[0])
    assert any('"type": "CONTRADICTS"' in row for row in found[0])


def test_loading_again_changes_nothing(store: Store, tmp_path: Path) -> None:
    wipe(store)
    graph = DialogueGraph(store)
    at_once(graph, tmp_path)
    before = content(store)
    at_once(graph, tmp_path)
    assert content(store) == before


def test_new_graphs_replace_the_clauses_of_old_ones(store: Store, tmp_path: Path) -> None:
    class Parser:
        name = "fixed"
        parallel = False

        def __init__(self, version: str, penman: str) -> None:
            self.version, self._penman = version, penman

        def parse_batch(self, texts: Sequence[str]) -> list[str]:
            return [self._penman for _ in texts]

    wipe(store)
    graph = DialogueGraph(store)
    write(tmp_path / "none.jsonl", dialogue())
    graph.load("dialogues", tmp_path / "none.jsonl", name="c", split="all")
    graph.parse(Parser("1", GRAPHS[TURNS[0]][1]))
    first = content(store)
    graph.parse(Parser("2", "(r / rain-01)"), existing="replace")
    assert [row for row in content(store) if '"dog"' in row] == []
    graph.parse(Parser("1", GRAPHS[TURNS[0]][1]), existing="replace")
    assert content(store) == first


def test_an_entry_of_the_lexicon_changes_what_contradicts(store: Store, tmp_path: Path) -> None:
    wipe(store)
    graph = DialogueGraph(store)
    said = [("I buff shoes.", "buff-01"), ("Good.", ""), ("I scuff shoes.", "scuff-01")]
    turns = [
        {"speaker": "AB"[turn % 2], "text": text}
        | ({"amr": f"(x / {frame} :ARG0 (i / i) :ARG1 (s / shoe))"} if frame else {})
        for turn, (text, frame) in enumerate(said)
    ]
    write(tmp_path / "one.jsonl", {"id": "1", "turns": turns})
    graph.load("dialogues", tmp_path / "one.jsonl", name="c", split="all")
    assert graph.explore("contradictions") == []
    (tmp_path / "own.tsv").write_text("opposite\tbuff\tscuff\tclothes\n", encoding="utf-8")
    graph.load("lexicon", tmp_path / "own.tsv")
    assert [row["id"] for row in graph.explore("contradictions")] == ["c/all/1#2"]


@pytest.mark.parametrize("text", ["Ich habe keinen Hund, aber ich mag die Katze von meiner Schwester sehr."])
def test_texts_in_other_languages_have_no_clauses(store: Store, tmp_path: Path, text: str) -> None:
    wipe(store)
    write(
        tmp_path / "one.jsonl",
        {"id": "1", "turns": [{"speaker": "A", "text": text, "amr": GRAPHS[TURNS[2]][1]}]},
    )
    DialogueGraph(store).load("dialogues", tmp_path / "one.jsonl", name="c", split="all")
    assert content(store) == []
