"""One word for another, where the words around it allow it: lexical and the rules of refusals."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.lexical import is_adjectival, is_nominal, set_concept, set_value
from graphneg.decoders.surface.sentence import RealisationError, refusals
from graphneg.english.words import word_class
from tests.decoders.surface.sentences import node, sentence

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
    assert said.text() == expected


def test_a_number_takes_its_noun_along() -> None:
    said = sentence("She bought two red hats.", BOUGHT)
    set_value(said, node(said, "2"), "1")
    assert said.text() == "She bought one red hat."


@pytest.mark.parametrize(
    ("text", "graph", "concept", "wanted", "code"),
    [
        ("I fell asleep.", "(f / fall-01 :ARG1 (i / i) :ARG2 (a / asleep))", "asleep", "awake", "no-form"),
        ("She is in New York.", "(n / new-01 :ARG1 (s / she))", "new-01", "old", "kind-mismatch"),
        ("She bought a hat.", "(b / buy-01 :ARG0 (s / she) :ARG1 (h / hat))", "hat", "doctor", ""),
        ("My sister left.", "(l / leave-11 :ARG0 (s / sister))", "sister", "kitchen", "kind-mismatch"),
    ],
)
def test_what_the_words_around_do_not_allow_is_refused(
    text: str, graph: str, concept: str, wanted: str, code: str
) -> None:
    said = sentence(text, graph)
    if not code:
        set_concept(said, node(said, concept), wanted)
        return
    with pytest.raises(RealisationError) as refused:
        set_concept(said, node(said, concept), wanted)
    assert refused.value.code == code


def test_frames_tell_nouns_and_adjectives() -> None:
    assert is_nominal("walk-01", "walk") and not is_nominal("receive-01", "receive")
    assert not is_adjectival("close-01", "close")


def test_a_rule_needs_all_its_conditions() -> None:
    with pytest.raises(RealisationError, match="kind-mismatch: You guys goes together"):
        sentence("You guys left.").refuse("pronoun", 0)
    sentence("You left.").refuse("pronoun", 0)


def test_what_is_known_stands_in_the_place_of_the_words_there() -> None:
    said = sentence("You left.")
    with pytest.raises(RealisationError, match="You guys goes together"):
        said.refuse("pronoun", 0, after=Token("guys", "NNS"))


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
