"""Tests of the facts by which nouns, names, numbers and pronouns are substituted, and of the tense."""

from __future__ import annotations

from typing import Any

import pytest

from graphneg.amr.facts import facts
from graphneg.amr.penman import parse_graph
from graphneg.amr.times import tense_of
from graphneg.english.lexicon import english


def fact(penman: str, k: int, name: str) -> Any:
    return facts(parse_graph(penman))[k].get(name)


@pytest.mark.parametrize(
    ("penman", "k", "argument_type"),
    [
        ("(b / buy-01 :ARG0 (s / she) :ARG1 (c / car :quant 2))", 2, "thing"),
        ("(w / want-01 :ARG0 (y / you) :ARG1 (g / go-02 :ARG0 y))", 2, "deed"),
        ("(e / exist-01 :ARG1 (t / temporal-quantity :quant 3 :unit (d / day)))", 1, "temporal-quantity"),
        ("(b / buy-01 :ARG1 (a / and :op1 (c / car) :op2 (b2 / bike)))", 2, "vehicle"),
        ("(b / buy-01 :ARG1 (c / car :ARG1-of (d / drive-01 :ARG0 (s / she))))", 1, None),
        ("(b / buy-01 :ARG1 (t / thing :mod (a / amr-unknown)))", 1, None),
        ("(c / car :mod (r / red))", 0, None),
        ("(p / person :ARG0-of (l / light-01 :ARG1 (l2 / lamp)))", 2, None),
    ],
)
def test_the_argument_type_says_which_nouns_can_replace_an_argument(
    penman: str, k: int, argument_type: str | None
) -> None:
    assert fact(penman, k, "argument_type") == argument_type


@pytest.mark.parametrize(
    ("penman", "k", "kind"),
    [
        ("(l / like-01 :ARG0 (i / i) :ARG1 (t / tea :mod (h / hot)))", 2, "any"),
        ("(b / buy-01 :ARG0 (s / she) :ARG1 (c / car :quant 2))", 2, "thing"),
        ("(l / like-01 :ARG0 (i / i) :ARG1 (t / tea :mod (h / hot :degree (v / very))))", 2, None),
        ("(l / like-01 :ARG0 (i / i) :ARG1 (g / go-02))", 2, None),
        ("(a / arrive-01 :time (t / tomorrow))", 1, None),
    ],
)
def test_only_plain_nouns_can_be_replaced_by_nouns_of_other_dialogues(
    penman: str, k: int, kind: str | None
) -> None:
    assert fact(penman, k, "substitutable_kind") == kind


@pytest.mark.parametrize(
    ("penman", "k", "word"),
    [
        ("(b / buy-01 :ARG0 (s / she))", 0, "buy-01"),
        ("(b / buy-01 :ARG1 (c / car :mod (r / red)))", 1, "noun"),
        ("(b / buy-01 :ARG1 (c / car :mod (r / red)))", 2, "modifier"),
        ("(b / buy-01 :polarity - :ARG0 (s / she))", 0, None),
        ("(b / buy-01 :ARG0 (s / she) :ARG1 (a / amr-unknown))", 0, None),
        ("(p / person :ARG0-of (t / teach-01))", 1, None),
        ("(h / hot :degree (l / little))", 1, None),
        ("(g / good-02 :ARG1 (c / car))", 0, "good-02"),
        ("(g / good-02 :ARG1 (m / morning))", 0, None),
        ("(c / city :name (n / name :op1 \"Rome\"))", 0, None),
    ],
)  # fmt: skip
def test_a_word_can_have_an_antonym_unless_it_is_negated_or_in_a_question(
    penman: str, k: int, word: str | None
) -> None:
    assert fact(penman, k, "opposable_as") == word


@pytest.mark.parametrize(
    ("penman", "k", "names", "name"),
    [
        ('(c / city :name (n / name :op1 "New" :op2 "York"))', 1, "name city", '"New" "York"'),
        ('(p / person :wiki "Ann_X" :name (n / name :op1 "Ann"))', 0, "entity person", '"Ann"'),
        ('(p / person :wiki "Ann_X" :name (n / name :op1 "Ann"))', 2, None, None),
        ('(p / person :wiki - :name (n / name :op1 "Ann"))', 2, "name person", '"Ann"'),
        ('(p / person :wiki "Ann_X" :name (n / name :op1 "Ann") :mod (o / old))', 0, None, None),
        ('(p / person :name (n / name :op1 "?!"))', 1, None, None),
        ("(c / car :quant 2)", 1, "quant count", "2"),
        ("(t / temporal-quantity :quant 3 :unit (d / day))", 1, "quant day", "3"),
        ("(t / temporal-quantity :quant 3)", 1, "quant temporal-quantity", "3"),
        ("(o / ordinal-entity :value 2)", 1, "value ordinal-entity", "2"),
        ("(c / car :quant 2.5)", 1, None, None),
        ("(c / car :li 2)", 1, None, None),
    ],
)
def test_names_and_numbers_have_the_type_of_their_substitutes(
    penman: str, k: int, names: str | None, name: str | None
) -> None:
    assert (fact(penman, k, "entity_type"), fact(penman, k, "entity_text")) == (names, name)


def test_i_is_an_actor_or_has_another_role_but_none_in_thanks() -> None:
    assert fact("(g / go-02 :ARG0 (i / i))", 1, "person_role") == "actor"
    assert fact("(c / car :poss (i / i))", 1, "person_role") == "other"
    assert fact("(t / thank-01 :ARG0 (i / i) :ARG1 (y / you))", 1, "person_role") is None


def test_a_pronoun_lists_the_sentences_that_mention_it() -> None:
    graph = "(m / multi-sentence :snt1 (l / leave-11 :ARG0 (i / i)) :snt2 (p / pack-01 :ARG0 i))"
    assert fact(graph, 2, "pronoun_sentences") == [1, 3]
    assert fact("(p / pack-01 :ARG0 (i / i) :ARG1 (b / bag :poss i))", 1, "pronoun_sentences") == [0]


def test_it_is_an_expletive_with_verbs_of_weather() -> None:
    assert fact("(r / rain-01 :ARG0 (i / it))", 1, "expletive") is True
    assert fact("(b / break-01 :ARG1 (i / it))", 1, "expletive") is None


@pytest.mark.parametrize(
    ("graph", "at", "empty"),
    [
        ("(t / take-01 :ARG0 (i / it) :ARG1 (q / temporal-quantity :unit (h / hour)))", 1, True),
        ("(t / take-01 :ARG0 (i / it) :ARG1 (b / battery))", 1, None),
        ("(c / cost-01 :ARG1 (i / it) :ARG2 (l / lot :ARG1-of (l2 / live-01)))", 1, True),
        ('(i / it :mod (d / date-entity :time "5:00"))', 0, True),
        ("(b / before :op1 (n / now) :domain (i / it))", 2, True),
        ("(g / get-05 :ARG1 (i / it) :ARG2 (l / late))", 1, True),
        ("(g / get-05 :ARG1 (i / it) :ARG2 (r / red-02))", 1, None),
    ],
)
def test_it_is_an_expletive_with_times_and_delayed_subjects(graph: str, at: int, empty: bool | None) -> None:
    assert fact(graph, at, "expletive") is empty


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("She walked home.", "past"),
        ("She tried.", "past"),
        ("We will see.", "future"),
        ("They’ll see.", "future"),
        ("I went, and I'll go again.", "mixed"),
        ("I go.", "present"),
        ("", "present"),
        ("A red bed.", "present"),
    ],
)
def test_the_tense_of_a_text_follows_its_verb_forms(text: str, tense: str) -> None:
    assert tense_of(text, english()) == tense
