"""Tests of `facts`: clause types, negation, tense and nouns of a graph, from graph, lexicon and text."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.amr.facts import (
    NAMES,
    TABLES,
    Analysis,
    Facts,
    analyse,
    discourse_facts,
    facts,
    facts_fingerprint,
)
from graphneg.amr.penman import format_graph, parse_graph
from graphneg.discourse import read_graph
from graphneg.english.lexicon import english
from graphneg.english.words import table_rows
from graphneg.hashing import fingerprint
from graphneg.ingest.discourse import DiscourseRows, layer_of
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import AmrGraph, Dialogue, GraphText, LexiconEntry
from graphneg.store.dialogues import StoredTurn
from tests.graphs import natural


def facts_of(penman: str, text: str = "") -> list[Facts]:
    return facts(parse_graph(penman), text)


@pytest.mark.parametrize(
    ("penman", "clause"),
    [
        ("(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))", "statement"),
        ("(l / like-01 :ARG0 (y / you) :polarity (a / amr-unknown))", "question"),
        ("(g / go-02 :mode imperative :ARG0 (y / you))", "order"),
        ("(h / hope-01 :ARG0 (i / i) :ARG1 (r / rain-01))", "wish"),
        ("(t / thank-01 :ARG1 (y / you))", "formula"),
        ("(s / say-01 :ARG0 (h / he) :ARG1 (r / rain-01))", "report"),
        ("(t / tea :mod (g / green))", "fragment"),
        ("(d / doctor :domain (s / she))", "statement"),
        ("(d / do-02 :ARG0 (i / i))", "answer"),
        ("(b / beautiful :domain (i / it) :mode expressive)", "exclamation"),
    ],
)
def test_the_type_of_a_clause(penman: str, clause: str) -> None:
    assert facts_of(penman)[0]["clause_type"] == clause


@pytest.mark.parametrize(
    ("penman", "place"),
    [
        # "I like tea." "She likes tea." "It's snowing." "This is boring."
        ("(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))", "anywhere"),
        ("(l / like-01 :ARG0 (s / she) :ARG1 (t / tea))", "nearby"),
        ("(s / snow-01 :ARG1 (i / it))", "next"),
        ("(b / boring :domain (t / this))", "next"),
        # "There's a snowman." has a noun. "This dress is beautiful." "This way is beautiful."
        ("(b / be-located-at-91 :ARG1 (s / snowman))", "anywhere"),
        ("(b / beautiful-02 :ARG1 (d / dress :mod (t / this)))", "anywhere"),
        ("(b / beautiful-02 :ARG1 (w / way :mod (t / this)))", "nearby"),
        # "That's right." "It's okay." "Here it is."
        ("(r / right-06 :ARG1 (t / that))", None),
        ("(o / okay-04 :ARG1 (i / it))", None),
        ("(f / fine-02 :ARG1 (t / that) :mod (y / yes))", None),
        ("(b / be-located-at-91 :ARG1 (i / it) :ARG2 (h / here))", None),
    ],
)
def test_where_a_sentence_can_be_repeated(penman: str, place: str | None) -> None:
    assert facts_of(penman)[0].get("repeatable") == place


def test_each_of_two_main_clauses_can_be_repeated_alone() -> None:
    # "I'm tired, but she works."
    found = facts_of(
        "(c / contrast-01 :ARG1 (t / tire-01 :ARG1 (i / i)) :ARG2 (w / work-01 :ARG0 (s / she)))"
    )
    assert [facts.get("repeatable") for facts in found] == [None, "anywhere", None, "next", None]


def test_clauses_below_conjunctions_and_multi_sentence_are_found() -> None:
    sentence = "(a / and :op1 (s / sing-01 :ARG0 (i / i)) :op2 (d / dance-01))"
    found = facts_of(f"(m / multi-sentence :snt1 {sentence})")
    assert [one.get("clause_type") for one in found] == [None, None, "statement", None, "statement"]
    assert [one.get("clause_head") for one in found] == [None, None, 2, 2, 4]
    assert [one["sentence_top"] for one in found] == [0, 1, 1, 1, 1]


WAITING = "(w / wait-01 :ARG1 (m / man :mod (o / old)) :ARG2 (b / bus))"


@pytest.mark.parametrize(
    ("penman", "portable"),
    [
        (WAITING, True),
        (f"(c / cause-01 :ARG0 (s / snow-01) :ARG1 {WAITING})", True),
        (f"(c / cause-01 :ARG1 {WAITING})", False),
        (f"(x / obligate-01 :ARG2 {WAITING})", True),
        ("(p / possible-01 :ARG1 (n / neighbor :mod (o / old) :poss (y / you)))", False),
        ("(d / do-02 :ARG0 (n / neighbor :mod (o / old) :poss (y / you)))", False),
    ],
)
def test_a_clause_that_refers_to_an_earlier_statement_is_not_context_free(
    penman: str, portable: bool
) -> None:
    assert facts_of(penman)[0].get("context_free", False) == portable


def test_a_reported_clause_is_no_main_clause() -> None:
    found = facts_of("(s / say-01 :ARG0 (h / he) :ARG1 (l / leave-11 :ARG0 h))")
    assert (
        found[0].get("main_clause")
        and found[2]["clause_type"] == "statement"
        and "main_clause" not in found[2]
    )


@pytest.mark.parametrize(
    ("penman", "negated", "denied_by"),
    [
        ("(l / like-01 :polarity - :ARG0 (i / i))", True, 1),
        ("(l / like-01 :ARG0 (n / nobody))", True, None),
        ("(o / obligate-01 :ARG2 (g / go-02 :polarity - :ARG0 (i / i)))", True, 2),
        ("(t / think-01 :ARG1 (g / go-02 :polarity - :ARG0 (i / i)))", True, None),
        ("(l / like-01 :ARG0 (i / i))", None, None),
    ],
)
def test_negated_clauses_are_found(penman: str, negated: bool | None, denied_by: int | None) -> None:
    head = facts_of(penman)[0]
    assert (head.get("negated"), head.get("negation_position")) == (negated, denied_by)


def test_tense_comes_from_the_text_and_a_date_from_the_graph() -> None:
    head = facts_of("(w / walk-01 :ARG0 (i / i))", "I walked.")[0]
    assert head["tense"] == "past" and head["undated_event"] and "time_bound" not in head
    dated = facts_of("(w / walk-01 :ARG0 (i / i) :time (y / yesterday))", "I'll walk.")
    assert dated[0]["tense"] == "future" and dated[0]["time_bound"] and "undated_event" not in dated[0]
    assert dated[2]["temporal"]


@pytest.mark.parametrize(
    ("quantity", "temporal"),
    [("temporal-quantity :quant 2 :unit (w", True), ("monetary-quantity :quant 2 :unit (d", None)],
)
def test_only_units_of_temporal_quantities_are_temporal(quantity: str, temporal: bool | None) -> None:
    facts = facts_of(f"(c / cost-01 :ARG1 (i / it) :ARG2 (q / {quantity} / thing)))")
    assert facts[-1].get("temporal") == temporal


def test_nouns_have_an_argument_type_and_a_phrase() -> None:
    found = facts_of("(b / buy-01 :ARG0 (i / i) :ARG1 (h / hat :mod (r / red)))")
    assert (found[2]["coarse_kind"], found[2]["argument_type"], found[2]["phrase"]) == (
        "thing",
        "thing",
        "hat red",
    )
    assert "argument_type" not in facts_of("(c / call-01 :ARG1 (h / hat))")[1]
    assert facts_of("(p / play-01 :ARG1 (g / guitar))")[1]["argument_type"].endswith(" play-01")


def test_a_lexicon_of_the_user_changes_the_facts() -> None:
    graph = parse_graph("(a / ack-01 :ARG0 (i / i))")
    own = english().extended([LexiconEntry("class", ("formula", "ack-01"))])
    assert facts(graph)[0]["clause_type"] == "statement"
    assert facts(graph, "", own)[0]["clause_type"] == "formula"


@given(st.sampled_from(natural()))
def test_facts_are_the_same_after_a_graph_is_written_and_read(graph: AmrGraph) -> None:
    found = facts(graph)
    assert facts(parse_graph(format_graph(graph))) == found
    assert len(found) == len(graph.nodes)
    for node, known in zip(graph.nodes, found, strict=True):
        assert set(known) <= set(NAMES)
        json.dumps(known)
        head = known.get("clause_head")
        assert head is None or (
            head <= node.position <= graph.nodes[head].subtree_last and "clause_type" in found[head]
        )
        for name in ("negation_position", "question_position", "imperative_position"):
            assert known.get(name) is None or node.position < known[name] <= node.subtree_last


@given(st.sampled_from(natural()))
def test_the_discourse_layer_reads_the_same_from_its_own_facts(graph: AmrGraph) -> None:
    whole = analyse(graph, "", english())
    few = discourse_facts(whole.view, whole.clauses)
    read = [read_graph(whole.view, whole.clauses, known, "") for known in (whole.facts, few)]
    assert read[0].clauses == read[1].clauses and read[0].mentions == read[1].mentions


# FACTS_VERSION

RECORDED = (
    "4a7b16ce4b3ec8c717acd6992aea9d5f",
    "e8fa147c86c98ee8a13f9a5407113f43",
    "258c9eec6877bed8841307fb4544246f",
)
"""`facts_fingerprint`, and the fingerprints of the facts and the discourse layers of the bundled corpus."""
FACTS = """
import sys
opened = set()
sys.addaudithook(lambda event, given: event == "open" and opened.add(str(given[0])))
from tests.amr.test_facts import facts_of_the_bundled_corpus, layers_of_the_bundled_corpus
from graphneg.ingest.rows import opposite_row, term_row
from graphneg.english.lexicon import english, usable_antonyms
from graphneg.model import Opposite
facts_of_the_bundled_corpus(), layers_of_the_bundled_corpus()
term_row("dog", english()), list(usable_antonyms("old", {"young": 1.0}, {}, english()))
opposite_row(Opposite("old", "young", "Antonym", 1.0, "test"), english())
# The tables in graphneg.amr are for alignment; no module that computes facts imports it.
read = sorted(name.rpartition("/graphneg/")[2] for name in opened if name.endswith(".tsv"))
print(*(name for name in read if name.startswith("english/")))
"""


def facts_of_the_bundled_corpus() -> str:
    blocks = files("graphneg.data.everyday").joinpath("graphs.amr").read_text("utf-8").split("\n\n")
    graphs = [parse_graph(block) for block in blocks if "(" in block]
    texts = [dict(line[4:].split(" ", 1) for line in graph.metadata).get("snt", "") for graph in graphs]
    return fingerprint([facts(graph, text) for graph, text in zip(graphs, texts, strict=True)])


def layers_of_the_bundled_corpus() -> str:
    rows = DiscourseRows()
    records = list(get_loader("everyday").read([], LoadOptions()))
    penmans = {one.id: one.penman for one in records if isinstance(one, GraphText)}
    for dialogue in (one for one in records if isinstance(one, Dialogue)):
        turns: list[StoredTurn] = []
        analyses: dict[str, Analysis] = {}
        for said in dialogue.utterances:
            id, penman = f"{dialogue.id}#{said.turn}", penmans.get(f"{dialogue.id}#{said.turn}")
            if penman is not None:
                analyses[f"{id}@penman"] = analyse(parse_graph(penman, f"{id}@penman"), said.text, english())
            turns.append(StoredTurn(said.turn, said.speaker, said.text, f"{id}@penman" if penman else None))
        rows.add(layer_of(dialogue.id, turns, [], analyses, english()))
    return fingerprint([rows.clauses, rows.heads, rows.entities, rows.mentions, rows.relations])


def test_the_version_of_facts_is_raised_when_facts_change() -> None:
    now = (facts_fingerprint(), facts_of_the_bundled_corpus(), layers_of_the_bundled_corpus())
    if now[0] == RECORDED[0]:
        assert now[1:] == RECORDED[1:], "facts have changed: raise FACTS_VERSION, and set RECORDED anew"
    assert now == RECORDED, f"tables or FACTS_VERSION have changed: set RECORDED to {now}"


def test_facts_are_computed_from_the_tables_in_the_fingerprint() -> None:
    found = subprocess.run([sys.executable, "-c", FACTS], capture_output=True, text=True, check=True).stdout
    assert found.split() == [f"english/{name}" for name in sorted(TABLES)]


def test_rows_of_a_table_change_the_fingerprint_and_blank_lines_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = facts_fingerprint()

    def fingerprint_with(row: list[str]) -> str:
        def rows(package: str, name: str) -> list[list[str]]:
            return [*table_rows(package, name), row]

        monkeypatch.setattr("graphneg.amr.facts.table_rows", rows)
        facts_fingerprint.cache_clear()
        return facts_fingerprint()

    try:
        assert fingerprint_with([""]) == before
        assert fingerprint_with(["class", "kit", "umbrella"]) != before
    finally:
        facts_fingerprint.cache_clear()
