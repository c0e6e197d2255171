"""Tests of the relations REPEATS, CONTRADICTS and ANSWERS between clauses."""

from __future__ import annotations

import pytest

from tests.discourse.dialogues import Said, layer

TEA: Said = ("I like tea.", "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))")
NO_TEA: Said = ("I don't like tea.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))")
YOUR_TEA: Said = ("You like tea.", "(l / like-01 :ARG0 (y / you) :ARG1 (t / tea))")
YOUR_NO_TEA: Said = ("You don't like tea.", "(l / like-01 :polarity - :ARG0 (y / you) :ARG1 (t / tea))")
HATE_TEA: Said = ("I hate tea.", "(h / hate-01 :ARG0 (i / i) :ARG1 (t / tea))")
HELLO: Said = ("Hello.", "(h / hello)")


def repeats(*turns: Said) -> bool:
    return bool(layer(turns).repeats)


def contradicts(*turns: Said) -> bool:
    return bool(layer(turns).contradicts)


def test_a_claim_about_the_same_person_is_a_repetition() -> None:
    assert repeats(TEA, HELLO, TEA)
    assert repeats(TEA, YOUR_TEA)
    assert not repeats(TEA, TEA)
    assert not repeats(TEA, HELLO, NO_TEA)


def test_a_claim_with_more_or_fewer_arguments_is_no_repetition() -> None:
    works = ("I work.", "(w / work-01 :ARG0 (i / i))")
    at_a_bank = ("I work at a bank.", "(w / work-01 :ARG0 (i / i) :ARG2 (b / bank))")
    assert not repeats(works, HELLO, at_a_bank)
    assert not repeats(at_a_bank, HELLO, works)


def test_clauses_with_little_content_are_no_repetitions() -> None:
    see = ("I see.", "(s / see-01 :ARG0 (i / i))")
    assert not repeats(see, HELLO, see)


def test_a_question_can_be_asked_again() -> None:
    asked = ("Do you like tea?", "(l / like-01 :polarity (a / amr-unknown) :ARG0 (y / you) :ARG1 (t / tea))")
    assert repeats(asked, HELLO, asked)
    assert not repeats(asked, TEA)


def test_the_opposite_polarity_contradicts() -> None:
    assert contradicts(TEA, HELLO, NO_TEA)
    assert contradicts(NO_TEA, HELLO, TEA)
    assert contradicts(TEA, YOUR_NO_TEA)
    assert not contradicts(TEA, NO_TEA)


def test_an_opposite_predicate_contradicts() -> None:
    assert contradicts(TEA, HELLO, HATE_TEA)
    assert not contradicts(NO_TEA, HELLO, HATE_TEA)


@pytest.mark.parametrize(
    ("kind", "found"),
    [("person", True), ("soup", False)],
)
def test_antonyms_depend_on_the_modified_noun(kind: str, found: bool) -> None:
    old = (f"The {kind} is elderly.", f"(e / elderly :domain (k / {'she' if kind == 'person' else kind}))")
    young = (
        f"The {kind} is youthful.",
        f"(y / youthful :domain (k / {'she' if kind == 'person' else kind}))",
    )
    assert contradicts(old, HELLO, young) == found


@pytest.mark.parametrize(
    "other",
    [
        # A narrower denial
        (
            "I don't like tea on Fridays.",
            "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea) :time (f / friday))",
        ),
        # Another time
        ("I didn't like tea.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))"),
        # A guess
        (
            "I think I don't like tea.",
            "(t2 / think-01 :ARG0 (i / i) :ARG1 (l / like-01 :polarity - :ARG0 i :ARG1 (t / tea)))",
        ),
        # A question
        (
            "Why don't I like tea?",
            "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea) "
            ":ARG1-of (c / cause-01 :ARG0 (a / amr-unknown)))",
        ),
        # Somebody else's words
        (
            "He said that I don't like tea.",
            "(s / say-01 :ARG0 (h / he) :ARG1 (l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea)))",
        ),
        # Another modality
        (
            "I can't like tea.",
            "(p / possible-01 :polarity - :ARG1 (l / like-01 :ARG0 (i / i) :ARG1 (t / tea)))",
        ),
        # Something unknown
        ("I don't like that.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / that))"),
        # Another thing
        ("I don't like soup.", "(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (s / soup))"),
    ],
)
def test_clauses_that_can_both_be_true_do_not_contradict(other: Said) -> None:
    assert not contradicts(TEA, HELLO, other)


def test_a_wider_denial_contradicts() -> None:
    often = ("I often drink tea.", "(d / drink-01 :ARG0 (i / i) :ARG1 (t / tea) :frequency (o / often))")
    never = ("I don't drink tea.", "(d / drink-01 :polarity - :ARG0 (i / i) :ARG1 (t / tea))")
    assert contradicts(often, HELLO, never)


MY_DOG: Said = ("I walk my dog.", "(w / walk-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))")
SOLD: Said = ("I sold my dog.", "(s / sell-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))")
NO_DOG: Said = ("I don't have a dog.", "(h / have-03 :polarity - :ARG0 (i / i) :ARG1 (d / dog))")
NO_RED_DOG: Said = (
    "I don't have a red dog.",
    "(h / have-03 :polarity - :ARG0 (i / i) :ARG1 (d / dog :mod (r / red)))",
)


def test_to_have_no_dog_contradicts_claims_about_my_dog() -> None:
    assert contradicts(MY_DOG, HELLO, NO_DOG)
    assert contradicts(NO_DOG, HELLO, MY_DOG)
    assert not contradicts(MY_DOG, NO_DOG)
    assert not contradicts(SOLD, HELLO, NO_DOG)
    assert not contradicts(MY_DOG, HELLO, NO_RED_DOG)


ASKED: Said = ("Do you sing?", "(s / sing-01 :polarity (a / amr-unknown) :ARG0 (y / you))")
WHERE: Said = ("Where do you sing?", "(s / sing-01 :ARG0 (y / you) :location (a / amr-unknown))")


@pytest.mark.parametrize(
    ("question", "reply", "answered"),
    [
        (ASKED, ("Yes.", "(y / yes)"), True),
        (ASKED, ("Of course.", "(o / of-course)"), True),
        (ASKED, ("I sing at home.", "(s / sing-01 :ARG0 (i / i) :location (h / home))"), True),
        (WHERE, ("In a bar.", "(b / bar)"), True),
        (WHERE, ("Sure.", "(s / sure-02)"), False),
        (ASKED, ("I don't know.", "(k / know-01 :polarity - :ARG0 (i / i))"), False),
        (ASKED, ("Why do you ask?", "(c / cause-01 :ARG0 (a / amr-unknown) :ARG1 (a2 / ask-01))"), False),
        (ASKED, ("I see.", "(s / see-01 :ARG0 (i / i))"), False),
        (ASKED, ("Thank you.", "(t / thank-01 :ARG1 (y / you))"), False),
        (("Oh?", "(o / oh :polarity (a / amr-unknown))"), TEA, False),
    ],
)
def test_only_fitting_replies_answer_a_question(question: Said, reply: Said, answered: bool) -> None:
    assert bool(layer([question, reply]).answers) == answered


def test_only_the_next_turn_of_another_speaker_answers() -> None:
    yes = ("Yes.", "(y / yes)")
    assert not layer([ASKED, yes], speakers="A").answers
    assert layer([ASKED, HELLO, yes]).answers == []


def test_responses_are_related_to_the_turns_before_them() -> None:
    found = layer([TEA, HELLO], [NO_TEA, TEA, NO_TEA])
    assert found.contradicts == [("d#1/r0@p/0", "d#0@p/0"), ("d#1/r2@p/0", "d#0@p/0")]
    assert found.repeats == [("d#1/r1@p/0", "d#0@p/0")]
