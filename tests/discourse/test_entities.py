"""Tests of coreference: mentions of a person or thing are one entity unless that is ambiguous."""

from __future__ import annotations

from tests.discourse.dialogues import Said, chain, layer, turns_of

HAVE = "(h / have-03 :ARG0 (i / i) :ARG1 {})".format
HELLO: Said = ("Hello.", "(h / hello)")
CAR: Said = ("I have a red car.", HAVE("(c / car :mod (r / red))"))


def test_i_and_you_are_the_speakers() -> None:
    found = layer(
        [
            ("I like you.", "(l / like-01 :ARG0 (i / i) :ARG1 (y / you))"),
            ("You like me.", "(l / like-01 :ARG0 (y / you) :ARG1 (i / i))"),
        ]
    )
    assert chain(found, "A") == [(0, "d#0@p.1"), (1, "d#1@p.1")]
    assert chain(found, "B") == [(0, "d#0@p.2"), (1, "d#1@p.2")]
    assert {one.kind for one in found.entities} == {"speaker"}


def test_you_is_not_resolved_among_three_speakers() -> None:
    ask = ("You like tea.", "(l / like-01 :ARG0 (y / you))")
    assert layer([ask, HELLO, HELLO], speakers="ABC").entities == []


def test_we_is_the_speaker_with_others() -> None:
    we = ("We sing.", "(s / sing-01 :ARG0 (w / we))")
    found = layer([we, we, we])
    assert [(one.kind, one.name, one.number) for one in found.entities] == [
        ("speakers", "A", "plural"),
        ("speakers", "B", "plural"),
    ]
    assert turns_of(found, "A") == [0, 2]


def test_a_definite_noun_refers_to_the_entity_with_its_head() -> None:
    found = layer([CAR, ("Is the car fast?", "(f / fast-02 :polarity (a / amr-unknown) :ARG1 (c / car))")])
    assert turns_of(found, "car") == [0, 1]


def test_an_indefinite_noun_is_a_new_entity() -> None:
    found = layer([CAR, ("I have a car.", HAVE("(c / car)"))])
    assert "car" not in {one.name for one in found.entities}


def test_a_noun_with_another_modifier_is_a_new_entity() -> None:
    found = layer(
        [CAR, ("I see the blue car.", "(s / see-01 :ARG0 (i / i) :ARG1 (c / car :mod (b / blue)))")]
    )
    assert "car" not in {one.name for one in found.entities}


def test_equal_nouns_of_the_same_owner_are_one_entity() -> None:
    mine = ("My car is fast.", "(f / fast-02 :ARG1 (c / car :poss (i / i)))")
    yours = ("Is your car fast?", "(f / fast-02 :ARG1 (c / car :poss (y / you)) :polarity (a / amr-unknown))")
    assert turns_of(layer([mine, yours]), "car") == [0, 1]
    assert "car" not in {one.name for one in layer([mine, mine]).entities}


def test_a_noun_with_two_possible_antecedents_is_not_resolved() -> None:
    a_car = ("I have a car.", HAVE("(c / car)"))
    found = layer([a_car, a_car, ("The car is fast.", "(f / fast-02 :ARG1 (c / car))")])
    assert "car" not in {one.name for one in found.entities}


ANNA = '(p / person :name (n / name :op1 "Anna"))'
ANNA_KURT = '(p / person :name (n / name :op1 "Anna" :op2 "Kurt"))'


def test_a_full_name_and_its_first_part_are_one_person() -> None:
    found = layer(
        [
            ("I met Anna Kurt.", f"(m / meet-02 :ARG0 (i / i) :ARG1 {ANNA_KURT})"),
            ("Anna sings.", f"(s / sing-01 :ARG0 {ANNA})"),
        ]
    )
    assert turns_of(found, "Anna Kurt") == [0, 1]


def test_a_vocative_names_the_other_speaker() -> None:
    found = layer(
        [
            ("Hello, Anna.", f"(h / hello :vocative {ANNA})"),
            ("I sing.", "(s / sing-01 :ARG0 (i / i))"),
            ("Anna sings.", f"(s / sing-01 :ARG0 {ANNA})"),
        ]
    )
    assert turns_of(found, "B") == [0, 1, 2]


def test_i_am_anna_names_the_speaker() -> None:
    found = layer(
        [("I'm Anna.", f"{ANNA[:-1]} :domain (i / i))"), ("Anna sings.", f"(s / sing-01 :ARG0 {ANNA})")]
    )
    assert turns_of(found, "A") == [0, 0, 1]


def test_he_refers_to_the_only_possible_man() -> None:
    met = "(m / meet-02 :ARG0 (i / i) :ARG1 {})".format
    doctor = ("I met a doctor.", met("(d / doctor)"))
    he = ("He sings.", "(s / sing-01 :ARG0 (h / he))")
    assert turns_of(layer([doctor, he, he]), "doctor") == [0, 1, 2]
    both = ("I met a doctor and a lawyer.", met("(a / and :op1 (d / doctor) :op2 (l / lawyer))"))
    assert [one.name for one in layer([both, he]).entities] == ["A"]


def test_she_does_not_refer_to_a_man() -> None:
    met = ("I met my uncle.", "(m / meet-02 :ARG0 (i / i) :ARG1 (u / uncle :poss i))")
    she = ("She sings.", "(s / sing-01 :ARG0 (s2 / she))")
    found = layer([met, she, she])
    assert [(one.name, one.gender) for one in found.entities] == [("A", None), ("she", "female")]


def test_him_does_not_refer_to_the_subject_of_its_verb() -> None:
    found = layer(
        [("My uncle saw him.", "(s / see-01 :ARG0 (u / uncle :poss (i / i)) :ARG1 (h / he))"), HELLO]
    )
    assert [one.name for one in found.entities] == ["A"]


def test_it_refers_to_a_noun_that_fits_its_verb() -> None:
    soup = ("I made the soup.", "(m / make-01 :ARG0 (i / i) :ARG1 (s / soup))")
    eat = ("I ate it.", "(e / eat-01 :ARG0 (i / i) :ARG1 (i2 / it))")
    miss = ("I missed it.", "(m / miss-02 :ARG0 (i / i) :ARG1 (i2 / it))")
    assert turns_of(layer([soup, eat]), "soup") == [0, 1]
    assert "soup" not in {one.name for one in layer([soup, miss]).entities}


def test_a_noun_that_is_mentioned_once_is_no_entity() -> None:
    assert [one.name for one in layer([CAR, HELLO]).entities] == ["A"]


def test_coreference_does_not_cross_responses() -> None:
    fast = ("The car is fast.", "(f / fast-02 :ARG1 (c / car))")
    found = layer([HELLO], [CAR, fast, ("I have a car. The car is fast.", TWO)])
    assert [one.id for one in found.entities] == ["d#0/r0/e0", "d#0/r2/e0", "d#0/r2/e1"]
    assert found.references["d#0/r1@p"] == {}


TWO = f"(m / multi-sentence :snt1 {HAVE('(c / car)')} :snt2 (f / fast-02 :ARG1 (c2 / car)))"
