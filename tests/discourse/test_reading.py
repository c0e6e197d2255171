"""Tests of the properties of clauses (type, polarity, modality, tense) and nouns (definiteness)."""

from __future__ import annotations

import pytest

from graphneg.discourse import ClauseReading, Mention
from tests.discourse.dialogues import reading

RAIN = "(r / rain-01)"


def clause(text: str, penman: str) -> ClauseReading:
    [found] = reading(text, penman).clauses
    return found


def noun(text: str, penman: str, head: str) -> Mention:
    [found] = [one for one in reading(text, penman).mentions if one.head == head]
    return found


@pytest.mark.parametrize(
    ("text", "penman", "type"),
    [
        ("I like tea.", "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))", "statement"),
        ("I hope it rains.", f"(h / hope-01 :ARG0 (i / i) :ARG1 {RAIN})", "statement"),
        ("Do you like tea?", "(l / like-01 :polarity (a / amr-unknown) :ARG0 (y / you))", "question"),
        ("Go!", "(g / go-02 :mode imperative :ARG0 (y / you))", "request"),
        ("Thank you.", "(t / thank-01 :ARG1 (y / you))", "exclamation"),
        ("A good idea.", "(i / idea :ARG1-of (g / good-02))", "fragment"),
    ],
)
def test_the_type_of_a_clause(text: str, penman: str, type: str) -> None:
    assert clause(text, penman).type == type


@pytest.mark.parametrize(
    ("text", "penman", "negative", "modality", "hedged"),
    [
        ("I go.", "(g / go-02 :ARG0 (i / i))", False, "none", False),
        ("I don't go.", "(g / go-02 :polarity - :ARG0 (i / i))", True, "none", False),
        ("I never go.", "(g / go-02 :ARG0 (i / i) :time (n / never))", True, "none", False),
        ("Nobody goes.", "(g / go-02 :ARG0 (n / nobody))", True, "none", False),
        (
            "I can't go.",
            "(p / possible-01 :polarity - :ARG1 (g / go-02 :ARG0 (i / i)))",
            True,
            "possible",
            False,
        ),
        (
            "I must go.",
            "(o / obligate-01 :ARG1 (i / i) :ARG2 (g / go-02 :ARG0 i))",
            False,
            "obligatory",
            False,
        ),
        ("I should go.", "(r / recommend-01 :ARG1 (g / go-02 :ARG0 (i / i)))", False, "recommended", False),
        ("I may go.", "(p / permit-01 :ARG1 (g / go-02 :ARG0 (i / i)))", False, "permitted", False),
        ("I want to go.", "(w / want-01 :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 i))", False, "wanted", False),
        ("I want tea.", "(w / want-01 :ARG0 (i / i) :ARG1 (t / tea))", False, "none", False),
        (
            "I think he goes.",
            "(t / think-01 :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 (h / he)))",
            False,
            "none",
            True,
        ),
        (
            "I don't think he goes.",
            "(t / think-01 :polarity - :ARG0 (i / i) :ARG1 (g / go-02 :ARG0 (h / he)))",
            True,
            "none",
            True,
        ),
        ("Maybe he goes.", "(g / go-02 :ARG0 (h / he) :mod (m / maybe))", False, "none", True),
        (
            "He thinks I go.",
            "(t / think-01 :ARG0 (h / he) :ARG1 (g / go-02 :ARG0 (i / i)))",
            False,
            "none",
            False,
        ),
    ],
)
def test_polarity_modality_and_hedges(
    text: str, penman: str, negative: bool, modality: str, hedged: bool
) -> None:
    found = clause(text, penman)
    assert (found.negative, found.modality, found.hedged) == (negative, modality, hedged)


def test_the_core_of_a_clause_is_below_modals_and_opinions() -> None:
    penman = "(t / think-01 :ARG0 (i / i) :ARG1 (p / possible-01 :ARG1 (g / go-02 :ARG0 i)))"
    found = clause("I think I can go.", penman)
    assert (found.head, found.core) == (0, 3)


def test_only_speech_of_others_is_reported() -> None:
    he, me = (
        reading("...", f"(s / say-01 :ARG0 ({by[0]} / {by}) :ARG1 (l / leave-11 :ARG0 (b / bus)))").clauses
        for by in ("he", "i")
    )
    assert [one.reported for one in he] == [False, True]
    assert [one.reported for one in me] == [False, False]


def test_a_contrast_is_not_reported_speech() -> None:
    penman = "(c / contrast-01 :ARG2 (l / late :domain (i / i)))"
    assert not clause("But I'm late.", penman).reported


def test_each_sentence_has_its_own_tense() -> None:
    penman = (
        "(m / multi-sentence :snt1 (w / walk-01 :ARG0 (i / i)) :snt2 (t / hunger-01 :ARG1 i) "
        ":snt3 (s / sleep-01 :ARG0 i))"
    )
    found = reading("I walked. I am hungry. I will sleep.", penman).clauses
    assert [one.tense for one in found] == ["past", "present", "future"]


def test_a_question_has_the_role_that_it_asks_for() -> None:
    assert clause("Where do you go?", "(g / go-02 :ARG0 (y / you) :ARG4 (a / amr-unknown))").asked == (
        "ARG4",
    )


@pytest.mark.parametrize(
    ("text", "penman", "definiteness", "number"),
    [
        (
            "I see the old car.",
            "(s / see-01 :ARG0 (i / i) :ARG1 (c / car :mod (o / old)))",
            "definite",
            "singular",
        ),
        (
            "I see an old car.",
            "(s / see-01 :ARG0 (i / i) :ARG1 (c / car :mod (o / old)))",
            "indefinite",
            "singular",
        ),
        (
            "I see your car.",
            "(s / see-01 :ARG0 (i / i) :ARG1 (c / car :poss (y / you)))",
            "definite",
            "singular",
        ),
        ("I see two cars.", "(s / see-01 :ARG0 (i / i) :ARG1 (c / car :quant 2))", "indefinite", "plural"),
        ("I see cars.", "(s / see-01 :ARG0 (i / i) :ARG1 (c / car))", "bare", "plural"),
        ("", "(s / see-01 :ARG0 (i / i) :ARG1 (c / car))", "bare", ""),
        ("The man likes cars.", "(l / like-01 :ARG0 (m / man) :ARG1 (c / car))", "bare", "plural"),
    ],
)
def test_definiteness_and_number_of_a_noun(text: str, penman: str, definiteness: str, number: str) -> None:
    found = noun(text, penman, "car")
    assert (found.definiteness, found.number) == (definiteness, number)


def test_a_relative_has_an_owner() -> None:
    penman = (
        "(s / sing-01 :ARG0 (p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (s2 / sister))))"
    )
    found = noun("My sister sings.", penman, "sister")
    assert (found.position, found.owner, found.gender) == (1, 3, "female")


def test_times_vague_nouns_and_an_empty_it_are_no_mentions() -> None:
    said = [
        ("The day is long.", "(l / long-03 :ARG1 (d / day))"),
        ("The thing is green.", "(g / green-02 :ARG1 (t / thing))"),
        ("It rains.", "(r / rain-01 :ARG1 (i / it))"),
    ]
    assert [reading(*one).mentions for one in said] == [(), (), ()]
