"""Tests of replacing a word, with changes to the words around it, and of refused replacements."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.operations.words import is_adjectival, is_nominal, set_concept, set_value
from graphneg.decoders.surface.refusal_rules import apply_rules, refusals
from graphneg.english.words import word_class
from tests.decoders.surface.sentences import changed, node, sentence

BOUGHT = "(b / buy-01 :ARG0 (s / she) :ARG1 (h / hat :quant 2 :mod (r / red)))"


@pytest.mark.parametrize(
    ("concept", "wanted", "expected"),
    [
        ("buy-01", "sell-01", "She sold two red hats."),
        ("red", "old", "She bought two old hats."),
        ("hat", "umbrella", "She bought two red umbrellas."),
    ],
)
def test_the_new_word_has_the_form_of_the_old_one(concept: str, wanted: str, expected: str) -> None:
    said = sentence("She bought two red hats.", BOUGHT)
    set_concept(said, node(said, concept), wanted)
    assert said.finish() == expected


def test_a_noun_agrees_with_its_number() -> None:
    said = sentence("She bought two red hats.", BOUGHT)
    set_value(said, node(said, "2"), "1")
    assert said.finish() == "She bought one red hat."


@pytest.mark.parametrize(
    ("text", "graph", "concept", "wanted", "code"),
    [
        ("I fell asleep.", "(f / fall-01 :ARG1 (i / i) :ARG2 (a / asleep))", "asleep", "awake", "no-form"),
        ("I made friends.", "(m / make-01 :ARG0 (i / i) :ARG1 (f / friend))", "friend", "doctor", "no-form"),
        ("She is in New York.", "(n / new-01 :ARG1 (s / she))", "new-01", "old", "kind-mismatch"),
        ("She bought a hat.", "(b / buy-01 :ARG0 (s / she) :ARG1 (h / hat))", "hat", "doctor", ""),
        ("My sister left.", "(l / leave-11 :ARG0 (s / sister))", "sister", "kitchen", "kind-mismatch"),
    ],
)
def test_words_that_do_not_fit_the_context_are_refused(
    text: str, graph: str, concept: str, wanted: str, code: str
) -> None:
    said = sentence(text, graph)
    if not code:
        set_concept(said, node(said, concept), wanted)
        return
    with pytest.raises(RealisationError) as refused:
        set_concept(said, node(said, concept), wanted)
    assert refused.value.code == code


def test_frames_can_be_nominal_or_adjectival() -> None:
    assert is_nominal("walk-01", "walk") and not is_nominal("receive-01", "receive")
    assert not is_adjectival("close-01", "close")


def test_a_rule_needs_all_its_conditions() -> None:
    with pytest.raises(RealisationError, match="kind-mismatch: 'You guys' is one phrase"):
        apply_rules(sentence("You guys left."), "pronoun", 0, courteous=False, supposed=False, greets=False)
    apply_rules(sentence("You left."), "pronoun", 0, courteous=False, supposed=False, greets=False)


def test_given_facts_override_the_words_of_the_sentence() -> None:
    said = sentence("You left.")
    with pytest.raises(RealisationError, match="'You guys' is one phrase"):
        apply_rules(
            said, "pronoun", 0, after=Token("guys", "NNS"), courteous=False, supposed=False, greets=False
        )


def test_each_rule_has_a_code_and_conditions() -> None:
    codes = {
        "no-form",
        "kind-mismatch",
        "unclear-clause",
        "unsupported-edit",
        "already-negative",
        "unchanged",
    }
    rules = [rule for rules in refusals().values() for rule in rules]
    assert rules and all(rule.code in codes and rule.conditions and rule.message for rule in rules)
    assert "trees" not in word_class("people")


@pytest.mark.parametrize(
    ("text", "graph", "concept", "wanted", "expected"),
    [
        ("ANYONE can come.", "(c / come-01 :ARG1 (a / anyone))", "anyone", "everyone", "Everyone can come."),
        ("He can swim.", "(p / possible-01 :ARG1 (s / swim-01 :ARG0 (h / he)))", "possible-01", "unlikely",
         "He is unlikely to swim."),
        ("He spoke slowly.", "(s / speak-01 :manner (s2 / slow))", "slow", "quick", "He spoke quickly."),
        ("She is happier.", "(h / happy-01 :ARG1 (s / she))", "happy-01", "sad-02", "She is sadder."),
        ("We need water.", "(n / need-01 :ARG1 (w / water))", "water", "wig", "We need a wig."),
        ("We drink water.", "(d / drink-01 :ARG1 (w / water))", "water", "soup", "We drink soup."),
        ("He took it away.", "(t / take-away-05 :ARG1 (i / it))", "take-away-05", "bring-01",
         "He brought it."),
        ("We left on Monday.", "(l / leave-11 :time (d / date-entity :weekday (m / monday)))",
         "monday", "friday", "We left on Friday."),
    ],
)  # fmt: skip
def test_articles_particles_and_endings_follow_a_new_word(
    text: str, graph: str, concept: str, wanted: str, expected: str
) -> None:
    assert changed(set_concept, text, graph, concept, wanted) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("32", "She bought thirty-two red hats."), ("100", "She bought one hundred red hats."),
     ("4000", "She bought 4000 red hats."), ("-", "unsupported-edit")],
)  # fmt: skip
def test_numbers_are_written_in_the_style_of_the_text(value: str, expected: str) -> None:
    assert changed(set_value, "She bought two red hats.", BOUGHT, "2", value) == expected


def test_a_clock_time_is_written_in_the_style_of_the_text() -> None:
    graph = '(l / leave-11 :ARG0 (i / it) :time (d / date-entity :time "2:00"))'
    assert changed(set_value, "It leaves at two.", graph, '"2:00"', '"7:00"') == "It leaves at seven."


@pytest.mark.parametrize(("value", "expected"), [("2", "The second bus left."), ("22", "no-form")])
def test_ordinals_are_written_as_words_or_refused(value: str, expected: str) -> None:
    graph = "(l / leave-11 :ARG0 (b / bus :ord (o / ordinal-entity :value 1)))"
    assert changed(set_value, "The first bus left.", graph, "1", value) == expected


@pytest.mark.parametrize(
    ("text", "graph", "at", "concept", "expected"),
    [
        ("It is bigger.", "(h / have-degree-91 :ARG1 (i / it) :ARG2 (b / big) :ARG3 (m / more))",
         "big", "small", "It is smaller."),
        ("It is cheaper.", "(h / have-degree-91 :ARG1 (i / it) :ARG2 (c / cheap-02) :ARG3 (m / more))",
         "cheap-02", "expensive", "It is more expensive."),
        ("It is less expensive.", "(e / expensive :degree (l / less) :domain (i / it))",
         "less", "more", "It is more expensive."),
        ("It is bigger.", "(h / have-degree-91 :ARG1 (i / it) :ARG2 (b / big) :ARG3 (m / more))",
         "more", "less", "no-alignment"),
    ],
)  # fmt: skip
def test_a_new_adjective_gets_the_degree_of_the_old_one(
    text: str, graph: str, at: str, concept: str, expected: str
) -> None:
    assert changed(set_concept, text, graph, at, concept) == expected
