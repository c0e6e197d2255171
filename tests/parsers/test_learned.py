"""Tests of the learned parts of the dependency parser, which revise the graphs of the rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphneg.amr.penman import format_graph
from graphneg.amr.wellformed import check
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.arcs import ScoredArc, decode
from graphneg.parsers.dependency.learned.tables import draft_fragments, put_fragment, write_fragment
from graphneg.parsers.dependency.parser import DependencyParser
from graphneg.parsers.dependency.revision import learned_revisers

TEXTS = [
    "The teacher didn't give the children any homework.",
    "Why do you want to leave so early?",
    "Come in and sit down!",
    "",
    "???",
    "Ünïcödé 😀 <b>markup</b> — and so on…",
    "no " * 300,
    "I think that he said that she knew that they wanted to go.",
]


@pytest.fixture(scope="module")
def parser() -> DependencyParser:
    assert learned_revisers(), "the learned data ship in the package"
    return DependencyParser()


def written(parser: DependencyParser, texts: list[str]) -> list[str]:
    return [format_graph(one.graph) for one in parser.parse_batch(texts) if one.graph is not None]


def test_revised_graphs_are_well_formed(parser: DependencyParser) -> None:
    for text, parsed in zip(TEXTS, parser.parse_batch(TEXTS), strict=True):
        assert parsed.graph is not None, text
        assert check(parsed.graph) == [], text


def test_a_graph_does_not_depend_on_its_batch(parser: DependencyParser) -> None:
    together = written(parser, TEXTS)
    assert together == [graph for text in TEXTS for graph in written(parser, [text])]
    assert together == written(parser, TEXTS[::-1])[::-1]


def test_a_negation_survives_revision(parser: DependencyParser) -> None:
    (graph,) = written(parser, ["I do not like the dog."])
    assert re.search(r"like-01\s.*:polarity -", graph, re.DOTALL)


def test_a_multiword_concept_is_not_changed(parser: DependencyParser) -> None:
    (graph,) = written(parser, ["No one has seen the dog."])
    assert "no-one" in graph and ":polarity" not in graph


def test_the_sense_chosen_by_the_rules_is_kept(parser: DependencyParser) -> None:
    for graph in written(parser, ["I like pizza.", "Do you like it?"]):
        assert "like-01" in graph


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("She is adding salt to the soup.", "add-02"),
        ("He added that it was late.", "add-01"),
        ("Two girls are exercising in the gym.", "exercise-02"),
    ],
)
def test_a_much_likelier_sense_is_chosen(parser: DependencyParser, text: str, frame: str) -> None:
    (graph,) = written(parser, [text])
    assert frame in graph


def test_the_version_contains_that_of_the_learned_data(parser: DependencyParser) -> None:
    assert learned_revisers()[0].version in parser.version
    assert learned_revisers()[0].version not in DependencyParser(revisers=()).version


def test_the_data_are_small() -> None:
    folder = Path(__file__).parents[2] / "graphneg/parsers/dependency/data/learned"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 15 * 2**20


def test_a_replaced_fragment_reuses_nodes() -> None:
    draft = _draft()
    node = draft.concept("teacher", 0, "word")
    other = draft.concept("leave-15", 1, "word")
    draft.link(other, "ARG0", node, "subject")
    text = write_fragment(["teach-01", "person"], [(0, "ARG0", 1)])
    put_fragment(draft, 0, text, [node])
    assert draft_fragments(draft)[0][0] == text
    assert [(arc.head, arc.role) for arc in draft.arcs if arc.dep == node] == [(other, "ARG0"), (2, "ARG0")]


def test_decoding_takes_likely_arcs_and_drops_single_nodes() -> None:
    arcs = [
        ScoredArc(2.0, 0, 1, "ARG0"),
        ScoredArc(1.0, 0, 2, "ARG0"),
        ScoredArc(-1.0, 0, 2, "ARG1"),
        ScoredArc(-5.0, 0, 3, "mod"),
    ]
    taken, given_up = decode([0, 1, 2, 3], arcs, frozenset(), 0.0, -2.0)
    assert [(arc.dep, arc.role) for arc in taken] == [(1, "ARG0"), (2, "ARG1")]
    assert given_up == [3]


def test_decoding_keeps_all_nodes_of_larger_parts() -> None:
    arcs = [ScoredArc(2.0, 0, 1, "ARG0"), ScoredArc(2.0, 2, 3, "ARG1"), ScoredArc(-8.0, 0, 2, "time")]
    taken, given_up = decode([0, 1, 2, 3], arcs, frozenset(), 0.0, -2.0)
    assert len(taken) == 3 and not given_up


def _draft() -> GraphDraft:
    from graphneg.parsers.dependency.text import Word

    return GraphDraft(
        "teachers left",
        [
            Word(0, "teachers", "teachers", "teacher", "NNS", "NOUN", "nsubj", 1, 0, 8, 0),
            Word(1, "left", "left", "leave", "VBD", "VERB", "ROOT", 1, 9, 13, 0, [0]),
        ],
    )
