"""Another verb takes the place of one only where it takes what follows."""

from __future__ import annotations

import pytest

from tests.test_surface import decode, place

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
def test_a_verb_that_does_not_take_what_follows_is_refused(
    said: tuple[str, str], label: str, concept: str, why: str
) -> None:
    answer = decode(said, {"op": "set", "k": place(said[1], label), "concept": concept})
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
def test_a_verb_that_takes_what_follows_stands_there(
    said: tuple[str, str], label: str, concept: str, expected: str
) -> None:
    assert decode(said, {"op": "set", "k": place(said[1], label), "concept": concept}) == expected
