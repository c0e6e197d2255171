"""Tests that a verb is replaced only by one that takes the same complements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphneg.decoders.base import get_decoder
from tests.decoders.surface.test_decoder import decode, edited, place

AWAKE = ("She stayed awake.", "(s / stay-01 :ARG1 (s2 / she) :ARG3 (a / awake-02 :ARG1 s2))")
GAVE = ("He gave me a map.", "(g / give-01 :ARG0 (h / he) :ARG1 (m / map) :ARG2 (i / i))")
GAVE_IT = ("He gave a map to me.", GAVE[1])
BROUGHT = ("Ann brought a cake.", "(b / bring-01 :ARG0 (a / ann) :ARG1 (c / cake))")
DRINK = ("We need a cook.", "(n / need-01 :ARG0 (w / we) :ARG1 (c / cook-01))")
TRIES = ("They try to sleep.", "(t / try-01 :ARG0 (t2 / they) :ARG1 (s / sleep-01 :ARG0 t2))")


@pytest.mark.parametrize(
    ("said", "label", "concept", "why"),
    [
        (AWAKE, "stay-01", "go-02", "adjective"),
        (GAVE, "give-01", "receive-01", "dative"),
        (GAVE_IT, "give-01", "arrive-01", "object"),
        (TRIES, "try-01", "eat-01", "infinitive"),
        (DRINK, "cook-01", "arrive-01", "is a verb"),
    ],
)
def test_a_verb_that_does_not_fit_its_complements_is_refused(
    said: tuple[str, str], label: str, concept: str, why: str
) -> None:
    answer = decode(said, {"op": "set", "position": place(said[1], label), "concept": concept})
    assert answer.startswith("no-form:")
    assert why in answer


@pytest.mark.parametrize(
    ("said", "label", "concept", "expected"),
    [
        (BROUGHT, "bring-01", "take-01", "Ann took a cake."),
        (AWAKE, "stay-01", "become-01", "She became awake."),
        (TRIES, "try-01", "refuse-01", "They refuse to sleep."),
    ],
)
def test_a_verb_that_fits_its_complements_is_inserted(
    said: tuple[str, str], label: str, concept: str, expected: str
) -> None:
    assert decode(said, {"op": "set", "position": place(said[1], label), "concept": concept}) == expected


@pytest.mark.parametrize(
    ("text", "penman", "edit"),
    [
        ("Here you are.", "(b / be-located-at-91 :ARG1 (y / you) :ARG2 (h / here))",
         {"op": "add", "role": "polarity", "value": "-", "position": 0}),
        ("Maybe I will go.", "(p / possible-01 :ARG1 (g / go-02 :ARG0 (i / i)))",
         {"op": "add", "role": "polarity", "concept": "amr-unknown", "position": 0}),
    ],
)  # fmt: skip
def test_sentences_without_a_negation_or_question_are_refused(
    text: str, penman: str, edit: dict[str, object]
) -> None:
    assert decode((text, penman), edit).partition(":")[0] in {"unsupported-edit", "unclear-clause"}


@pytest.mark.parametrize(
    ("text", "penman", "k", "person", "expected"),
    [
        ("How much would it be ?", "(c / cost-01 :ARG1 (i / it) :ARG2 (a / amr-unknown))", 1, "they",
         "How much would they be ?"),
        ("You like tea , don ’ t you ?", "(l / like-01 :ARG0 (y / you) :ARG1 (t / tea))", 1, "i",
         "I like tea , don ’ t I ?"),
    ],
)  # fmt: skip
def test_a_pronoun_after_an_auxiliary_is_a_subject(
    text: str, penman: str, k: int, person: str, expected: str
) -> None:
    assert decode((text, penman), {"op": "set", "position": k, "concept": person}) == expected


def test_a_number_inside_a_word_is_refused() -> None:
    said = ("It is a ten-minute drive.", "(d / drive-01 :duration (t / temporal-quantity :quant 10))")
    item = edited(said, {"op": "set", "position": 2, "value": "30"})
    before = replace(item.before, spans={2: (3, 4)})
    answer = get_decoder("surface").decode([replace(item, before=before)])[0]
    assert answer.text is None
    assert (answer.reason or "").startswith("no-form: the number is a part of the word 'ten-minute'")


def test_a_time_word_is_not_inserted_into_a_list() -> None:
    said = ("It trains arms , mainly hands and feet . Are you ready ?",
            "(t / train-01 :ARG0 (i / it) :ARG1 (a / arm))")  # fmt: skip
    edit = {"op": "add", "position": 0, "role": "time", "concept": "yesterday"}
    assert "yesterday and" not in decode(said, edit)
