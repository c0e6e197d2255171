"""Tests that the discourse layer of any dialogue is consistent and deterministic."""

from __future__ import annotations

from collections.abc import Iterator

from graphneg.amr.facts import analyse
from graphneg.discourse import DiscourseLayer, SpokenTurn, discourse_layer, read_graph
from graphneg.english.lexicon import english
from tests.discourse.dialogues import layer
from tests.graphs import natural


def natural_layers() -> Iterator[DiscourseLayer]:
    """Yield the layers of dialogues of six sentences of a book, with two more as responses."""
    every = natural()[:800]
    for number, graphs in enumerate(every[at : at + 8] for at in range(0, len(every) - 7, 8)):
        turns: list[SpokenTurn] = []
        for turn, graph in enumerate(graphs):
            text = dict(line[4:].split(" ", 1) for line in graph.metadata if " " in line[4:]).get("snt", "")
            analysis = analyse(graph, text, english())
            read = read_graph(analysis.view, analysis.clauses, analysis.facts, text)
            turns.append(SpokenTurn(f"d{number}#{turn}", turn, "AB"[turn % 2], f"d{number}#{turn}@p", read))
        last = len(turns) - 3
        yield discourse_layer(f"d{number}", turns[: last + 1], {last: turns[last + 1 :]}, "AB", english())


def test_relations_and_mentions_refer_to_nodes_of_the_layer() -> None:
    for found in natural_layers():
        clauses = [one.id for one in found.clauses]
        entities = [one.id for one in found.entities]
        assert len(clauses) == len(set(clauses)) and len(entities) == len(set(entities))
        places = {id: at for at, id in enumerate(clauses)}
        for later, earlier in (*found.repeats, *found.contradicts, *found.answers):
            assert places[later] > places[earlier]
        mentioned = {id for references in found.references.values() for id in references.values()}
        assert mentioned == set(entities)


def test_the_layer_is_deterministic() -> None:
    assert [str(one) for one in natural_layers()] == [str(one) for one in natural_layers()]


def test_ids_begin_with_the_id_of_the_dialogue() -> None:
    found = layer(
        [("I sing.", "(s / sing-01 :ARG0 (i / i))"), ("You sing.", "(s / sing-01 :ARG0 (y / you))")]
    )
    assert [one.id for one in found.clauses] == ["d#0@p/0", "d#1@p/0"]
    assert [(one.id, one.name) for one in found.entities] == [("d#e0", "A")]
