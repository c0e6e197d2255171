"""Tests of the rules that link concepts: copulas, coordination, degrees, shared arguments, quotations."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.parser import write_draft
from graphneg.parsers.dependency.rules.concepts import write_concepts
from graphneg.parsers.dependency.rules.copulas import resolve_copulas, resolve_futures
from graphneg.parsers.dependency.rules.entities import write_degrees
from graphneg.parsers.dependency.rules.linking import groups, write_coordination
from graphneg.parsers.dependency.rules.state import RuleState, head_of, quoted_words
from tests.parsers.rules.trees import arcs, labels, state_of, tree


def arcs_of_text(text: str) -> set[tuple[str, str, str]]:
    """Return the arcs that all rules together write."""
    words = tree(text)
    state = state_of(text)
    return arcs(RuleState(write_draft(" ".join(word.text for word in words), words), words, state.lexicon))


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("She/PRP/nsubj/1 is/VBZ/ROOT/1 tall/JJ/acomp/1", 2),
        ("She/PRP/nsubj/1 is/VBZ/ROOT/1 here/RB/advmod/1", 1),
        ("It/PRP/nsubj/1 is/VBZ/ROOT/1 going/VBG/xcomp/1", 2),
    ],
)
def test_a_copula_is_replaced_by_its_predicate(text: str, proxy: int) -> None:
    state = state_of(text)
    resolve_copulas(state)
    assert state.node_owner(1) == proxy
    assert labels(state) == (["be-located-at-91"] if proxy == 1 else [])


def test_going_to_is_replaced_by_its_verb() -> None:
    state = state_of("is/VBZ/aux/1 going/VBG/ROOT/1 to/TO/aux/3 rain/VB/xcomp/1")
    resolve_futures(state)
    assert state.node_owner(1) == 3


def test_conjuncts_are_grouped_under_their_conjunction() -> None:
    state = state_of("eggs/NNS/ROOT/0 ,/,/punct/0 ham/NN/conj/0 and/CC/cc/2 tea/NN/conj/2")
    write_concepts(state)
    assert groups(state) == [[0, 2, 4]]
    assert write_coordination(state) == {0: [0, 2, 4]}
    assert arcs(state) == {("and", "op1", "egg"), ("and", "op2", "ham"), ("and", "op3", "tea")}


def test_a_comparative_has_a_degree() -> None:
    state = state_of("taller/JJR/ROOT/0 than/IN/prep/0 trees/NNS/pobj/1")
    write_concepts(state)
    write_degrees(state)
    assert {("have-degree-91", "ARG3", "more"), ("have-degree-91", "ARG4", "tree")} <= arcs(state)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/DT/det/1 man/NN/ROOT/1 in/IN/prep/1 hats/NNS/pobj/2", ("wear-01", "ARG1", "hat")),
        ("the/DT/det/2 second/JJ/amod/2 dog/NN/ROOT/2", ("dog", "ord", "ordinal-entity")),
        ("dogs/NNS/ROOT/0 that/WDT/nsubj/2 sleep/VBP/relcl/0", ("sleep-01", "ARG0", "dog")),
        (
            "He/PRP/nsubj/1 slept/VBD/ROOT/1 because/IN/mark/4 it/PRP/nsubj/4 rained/VBD/advcl/1",
            ("cause-01", "ARG0", "rain-01"),
        ),
        (
            "He/PRP/nsubj/1 slept/VBD/ROOT/1 before/IN/mark/4 it/PRP/nsubj/4 rained/VBD/advcl/1",
            ("before", "op1", "rain-01"),
        ),
        ("He/PRP/nsubj/1 wants/VBZ/ROOT/1 to/TO/aux/3 sleep/VB/xcomp/1", ("sleep-01", "ARG0", "he")),
        (
            "He/PRP/nsubj/1 told/VBD/ROOT/1 her/PRP/dobj/1 to/TO/aux/4 sleep/VB/xcomp/1",
            ("sleep-01", "ARG0", "she"),
        ),
        ("But/CC/cc/2 he/PRP/nsubj/2 slept/VBD/ROOT/2", ("contrast-01", "ARG2", "sleep-01")),
        ("So/RB/advmod/2 he/PRP/nsubj/2 slept/VBD/ROOT/2", ("cause-01", "ARG1", "sleep-01")),
    ],
)
def test_the_arcs_of_a_sentence(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in arcs_of_text(text)


def test_a_reflexive_pronoun_refers_to_the_subject() -> None:
    found = arcs_of_text("Dogs/NNS/nsubj/1 wash/VBP/ROOT/1 themselves/PRP/dobj/1")
    assert {(role, dep) for _, role, dep in found} == {("ARG0", "dog"), ("ARG1", "dog")}


def test_i_in_a_quotation_refers_to_its_speaker() -> None:
    found = arcs_of_text(
        "\"/``/punct/2 I/PRP/nsubj/2 slept/VBD/ccomp/5 \"/''/punct/5 he/PRP/nsubj/5 said/VBD/ROOT/5"
    )
    assert {("say-01", "ARG0", "he"), ("say-01", "ARG1", "sleep-01"), ("sleep-01", "ARG0", "he")} <= found


def test_the_head_of_a_phrase_depends_on_no_word_in_it() -> None:
    words = tree("New/NNP/compound/1 York/NNP/pobj/2 in/IN/ROOT/2")
    assert head_of(words[:2]).text == "York" and head_of(words).text == "in"


def test_a_quotation_ends_at_its_closing_mark() -> None:
    words = tree("he/PRP/ROOT/0 :/:/punct/0 \"/``/punct/0 go/VB/ccomp/0 \"/''/punct/0 now/RB/advmod/0")
    assert quoted_words(words) == {3}
