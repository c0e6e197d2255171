"""What the learned parts can't know survives them, whatever they do to a draft."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.amr.penman import format_graph
from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.parser import DependencyParser


@dataclass(frozen=True)
class Forgetful:
    """A reviser that leaves each sentence its top, and nothing else."""

    version: str = "forgetful"

    def revise(self, draft: GraphDraft) -> None:
        for k in range(len(draft.nodes)):
            if k not in draft.tops.values():
                draft.drop(k)


@dataclass(frozen=True)
class Wiping:
    """A reviser that leaves nothing."""

    version: str = "wiping"

    def revise(self, draft: GraphDraft) -> None:
        for k in range(len(draft.nodes)):
            draft.drop(k)
        draft.tops.clear()


def _parse(reviser: Forgetful | Wiping, text: str) -> str:
    return _read(DependencyParser(revisers=(reviser,)), text)


def _read(parser: DependencyParser, text: str) -> str:
    graph = parser.parse_batch([text])[0].graph
    assert graph is not None
    return " ".join(format_graph(graph).split())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("He doesn't sing.", "(s / sing-01 :ARG0 (h / he) :polarity -)"),
        ("What happened?", "amr-unknown"),
        ("Sit down, please.", ":polite +"),
        ("Yes, I know.", ":mod (y / yes)"),
    ],
)
def test_negations_questions_courtesies_and_answers_are_kept(text: str, kept: str) -> None:
    assert kept in _parse(Forgetful(), text)


def test_we_do_what_is_proposed() -> None:
    graph = DependencyParser().parse_batch(["Let's go to the beach."])[0].graph
    assert graph is not None
    assert [node.concept for node in graph.nodes if node.concept in {"we", "you"}] == ["we"]


def test_who_does_it_to_himself_keeps_both_roles() -> None:
    text = _read(DependencyParser(), "He hurt himself.")
    assert ":ARG0" in text
    assert ":ARG1" in text


@pytest.mark.parametrize("text", ["I'm from Lima.", "She is from Peru.", "We're from the bank."])
def test_who_is_from_somewhere_is_not_lost(text: str) -> None:
    assert re.search(r"be-from-91 :ARG1 \(\w / (i|she|we)\)", _read(DependencyParser(), text))


def test_a_person_comes_back_where_the_rules_had_him() -> None:
    assert "(s / sing-01 :ARG0 (h / he)" in _parse(Forgetful(), "He sings.")


def test_one_modal_stands_over_all_that_it_holds_for() -> None:
    graph = _read(DependencyParser(), "You can't eat or drink here.")
    assert graph.startswith("(p / possible-01 :ARG1 (o / or :op1 (e / eat-01")
    assert graph.count("possible-01") == graph.count(":polarity -") == 1


def test_leave_is_no_leaf() -> None:
    assert "leaf" not in _read(DependencyParser(), "My leave starts on Monday.")


def test_an_amount_is_taken_for_what_it_is_of() -> None:
    graph = _read(DependencyParser(), "I need three pounds of flour.")
    assert ":ARG1 (f / flour :quant (m / mass-quantity" in graph


def test_how_many_stays_a_question() -> None:
    assert ":quant (a / amr-unknown)" in _read(DependencyParser(), "How many people are coming?")


def test_each_sentence_keeps_a_node() -> None:
    graph = _parse(Wiping(), "OK. Sit down. I'll get it.")
    assert [f":snt{n}" in graph for n in (1, 2, 3, 4)] == [True, True, True, False]


def test_the_version_names_the_revisers() -> None:
    assert "+forgetful+" in DependencyParser(revisers=(Forgetful(),)).version


@pytest.mark.parametrize("text", ["She sat down.", "The car broke down yesterday.", "Please stand up."])
def test_a_particle_that_is_in_the_frames_name_is_no_direction(text: str) -> None:
    assert ":direction" not in _read(DependencyParser(), text)
