"""Tests that negations, questions and other facts of the rules survive any revision of the graph."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.parser import DependencyParser
from tests.parsers.one_line import parsed_line


@dataclass(frozen=True)
class KeepsTops:
    """Delete all nodes except the top of each sentence."""

    version: str = "forgetful"

    def revise(self, draft: GraphDraft) -> None:
        for k in range(len(draft.nodes)):
            if k not in draft.tops.values():
                draft.drop(k)


@dataclass(frozen=True)
class DeletesAll:
    """Delete all nodes."""

    version: str = "wiping"

    def revise(self, draft: GraphDraft) -> None:
        for k in range(len(draft.nodes)):
            draft.drop(k)
        draft.tops.clear()


def _parse(reviser: KeepsTops | DeletesAll, text: str) -> str:
    return parsed_line(DependencyParser(revisers=(reviser,)), text)


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
    assert kept in _parse(KeepsTops(), text)


def test_the_subject_of_lets_is_we() -> None:
    graph = DependencyParser().parse_batch(["Let's go to the beach."])[0].graph
    assert graph is not None
    assert [node.concept for node in graph.nodes if node.concept in {"we", "you"}] == ["we"]


def test_a_reflexive_verb_keeps_both_roles() -> None:
    text = parsed_line(DependencyParser(), "He hurt himself.")
    assert ":ARG0" in text
    assert ":ARG1" in text


@pytest.mark.parametrize("text", ["I'm from Lima.", "She is from Peru.", "We're from the bank."])
def test_the_subject_of_be_from_is_kept(text: str) -> None:
    assert re.search(r"be-from-91 :ARG1 \(\w / (i|she|we)\)", parsed_line(DependencyParser(), text))


def test_a_deleted_pronoun_is_restored() -> None:
    assert "(s / sing-01 :ARG0 (h / he)" in _parse(KeepsTops(), "He sings.")


def test_a_modal_is_above_all_coordinated_verbs() -> None:
    graph = parsed_line(DependencyParser(), "You can't eat or drink here.")
    assert graph.startswith("(p / possible-01 :ARG1 (o / or :op1 (e / eat-01")
    assert graph.count("possible-01") == graph.count(":polarity -") == 1


def test_leave_is_no_leaf() -> None:
    assert "leaf" not in parsed_line(DependencyParser(), "My leave starts on Monday.")


def test_a_quantity_modifies_its_noun() -> None:
    graph = parsed_line(DependencyParser(), "I need three pounds of flour.")
    assert ":ARG1 (f / flour :quant (m / mass-quantity" in graph


def test_how_many_is_a_question() -> None:
    assert ":quant (a / amr-unknown)" in parsed_line(DependencyParser(), "How many people are coming?")


def test_each_sentence_keeps_a_node() -> None:
    graph = _parse(DeletesAll(), "OK. Sit down. I'll get it.")
    assert [f":snt{n}" in graph for n in (1, 2, 3, 4)] == [True, True, True, False]


def test_the_version_contains_those_of_the_revisers() -> None:
    assert "+forgetful+" in DependencyParser(revisers=(KeepsTops(),)).version


@pytest.mark.parametrize("text", ["She sat down.", "The car broke down yesterday.", "Please stand up."])
def test_a_particle_of_a_phrasal_frame_is_no_direction(text: str) -> None:
    assert ":direction" not in parsed_line(DependencyParser(), text)
