"""Tests of the surface decoder on chat: slips, asides, half sentences and spaced apostrophes."""

from __future__ import annotations

import pytest

from tests.decoders.surface.test_decoder import decode, place

NOT = {"op": "add", "role": "polarity", "value": "-", "position": 0}


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        ("That is also a fine garden here too.",
         "(g / garden :mod (f / fine) :mod (a / also) :domain (t / that))",
         "That is not a fine garden here either."),
        ("He can also sing.", "(p / possible-01 :ARG1 (s / sing-01 :ARG0 (h / he)) :mod (a / also))",
         "He cannot sing."),
        ("She likes tennis also.", "(l / like-01 :ARG0 (s / she) :ARG1 (t / tennis) :mod (a / also))",
         "She does not like tennis either."),
        ("We're completely open on Sunday.",
         "(o / open-04 :ARG0 (w / we) :time (s / sunday) :ARG1-of (c / complete-02))",
         "We're not completely open on Sunday."),
        ("They are all busy .", "(b / busy-01 :ARG1 (t / they :mod (a / all)))", "They are not all busy ."),
        ("very cool .", "(c / cool-01 :degree (v / very))", "not very cool ."),
        ("It obviously depends on you.",
         "(d / depend-01 :ARG0 (i / it) :ARG1 (y / you) :ARG1-of (o / obvious-01))",
         "It obviously does not depend on you."),
    ],
)  # fmt: skip
def test_adverbs_are_on_the_right_side_of_a_negation(text: str, penman: str, expected: str) -> None:
    assert decode((text, penman), NOT) == expected


def test_no_problem_can_not_be_made_positive() -> None:
    assert decode(
        ("OK , no problem .", "(p / problem :polarity - :mod (o / ok))"), {"op": "drop", "position": 1}
    ).startswith("unsupported-edit")


def test_the_second_verb_of_a_question_is_not_negated() -> None:
    said = (
        "Shall I come and fetch it ?",
        "(a / and :op1 (c / come-01 :ARG1 (i / i)) :op2 (f / fetch-01 :ARG0 i))",
    )
    assert decode(said, NOT | {"position": place(said[1], "fetch-01")}).startswith("unclear-clause")


def test_a_temporal_clause_takes_no_time_expression() -> None:
    said = ("That was before she moved .", "(t / that :time (b / before :op1 (m / move-01 :ARG1 (s / she))))")
    tomorrow = {"op": "add", "role": "time", "concept": "tomorrow", "position": place(said[1], "move-01")}
    assert decode(said, tomorrow).startswith("unclear-clause")


def test_a_clause_with_a_temporal_clause_takes_no_time_expression() -> None:
    said = ("She moved when she was ten .", "(m / move-01 :ARG1 (s / she) :time (a / age-01 :ARG1 s))")
    tomorrow = {"op": "add", "role": "time", "concept": "tomorrow", "position": 0}
    assert decode(said, tomorrow).startswith("unclear-clause")


def test_sometimes_is_not_negated() -> None:
    answer = decode(("I sometimes sing.", "(s / sing-01 :ARG0 (i / i) :time (s2 / sometimes))"), NOT)
    assert answer.startswith("unsupported-edit")


def test_a_plural_after_or_has_no_article() -> None:
    text = "There are no good or bad seats."
    penman = "(s / seat :polarity - :mod (o / or :op1 (g / good) :op2 (b / bad)))"
    assert decode((text, penman), {"op": "drop", "position": 1}) == "There are some good or bad seats."


@pytest.mark.parametrize(
    ("text", "penman", "label", "concept"),
    [
        ("You guys sing well.", "(s / sing-01 :ARG0 (y / you) :mod (g / guy))", "you", "i"),
        ("its awesome .", "(a / awesome :domain (i / it))", "it", "they"),
        ("its called off .", "(c / call-01 :ARG1 (i / it))", "it", "they"),
    ],
)
def test_a_pronoun_that_can_not_change_is_refused(text: str, penman: str, label: str, concept: str) -> None:
    answer = decode((text, penman), {"op": "set", "position": place(penman, label), "concept": concept})
    assert answer.startswith("kind-mismatch"), answer


def test_its_becomes_his() -> None:
    penman = "(l / like-01 :ARG0 (i / i) :ARG1 (r / roof :poss (i2 / it) :mod (n / new)))"
    edit = {"op": "set", "position": place(penman, "it"), "concept": "he"}
    assert decode(("I like its new roof.", penman), edit) == "I like his new roof."


def test_a_numbered_name_is_not_replaced() -> None:
    said = ("She is in Room Seven .", '(r / room :name (n / name :op1 "Room") :domain (s / she))')
    source = ("I saw Clara .", '(s / see-01 :ARG0 (i / i) :ARG1 (p / person :name (n / name :op1 "Clara")))')
    edit = {"op": "graft", "position": 1, "from_amr": "d#9", "from_position": 3}
    assert decode(said, edit, source=source).startswith("kind-mismatch")


@pytest.mark.parametrize(
    ("text", "penman"),
    [
        ("I don't think so.", "(t / think-01 :polarity - :ARG0 (i / i) :ARG1 (s / so))"),
        ("as long as there's no rain .", "(r / rain-01 :polarity -)"),
        ("not to wake them .", "(w / wake-01 :polarity - :ARG1 (t / they))"),
        ("It is good that they all don't .", "(g / good-02 :polarity - :ARG1 (d / do-02 :ARG0 (t / they)))"),
    ],
)
def test_an_incomplete_sentence_is_not_repeated(text: str, penman: str) -> None:
    edits = (
        {"op": "wrap", "position": 0, "role": "snt1", "concept": "multi-sentence"},
        {"op": "graft", "position": -1, "role": "snt", "from_amr": "d#9", "from_position": 0},
        {"op": "drop", "position": 1, "copy_of": "d#9"},
    )
    here = ("I am tired.", "(t / tire-01 :ARG1 (i / i))")
    assert decode(here, *edits, source=(text, penman)).startswith("unclear-clause")


def test_an_added_apostrophe_is_spaced_like_the_others() -> None:
    penman = "(t / tire-01 :ARG1 (i / i))"
    edit = {"op": "set", "position": 1, "concept": "you"}
    assert decode(("I ’ m tired .", penman), edit) == "You ’ re tired ."


@pytest.mark.parametrize(
    ("text", "penman", "expected"),
    [
        ("He likes me but not my sister.",
         "(l / like-01 :ARG0 (h / he) :ARG1 (c / contrast-01 :ARG1 (i / i) "
         ":ARG2 (s / sister :polarity - :poss i)))",
         "He likes me and my sister."),
        ("I like tea but do not drink it.",
         "(c / contrast-01 :ARG1 (l / like-01 :ARG0 (i / i) :ARG1 (t / tea)) "
         ":ARG2 (d / drink-01 :ARG0 i :ARG1 t :polarity -))",
         "I like tea and drink it."),
        ("It is cheap but not bad.",
         "(c / contrast-01 :ARG1 (c2 / cheap :domain (i / it)) :ARG2 (b / bad :polarity - :domain i))",
         "It is cheap but bad."),
        ("I cook but not often.",
         "(c / contrast-01 :ARG1 (c2 / cook-01 :ARG0 (i / i)) :ARG2 (o / often :polarity -))",
         "unclear-clause"),
        ("It is not a cat but a dog.",
         "(c / contrast-01 :ARG1 (c2 / cat :polarity - :domain (i / it)) :ARG2 (d / dog :domain i))",
         "unclear-clause"),
        ("I do not like it, but my brother does.",
         "(c / contrast-01 :ARG1 (l / like-01 :ARG0 (i / i) :ARG1 (t / it) :polarity -) "
         ":ARG2 (d / do-02 :ARG0 (b / brother :poss i)))",
         "unclear-clause"),
        ("She is not here, but the dog barks.",
         "(c / contrast-01 :ARG1 (b / be-located-at-91 :ARG1 (s / she) :ARG2 (h / here) :polarity -) "
         ":ARG2 (b2 / bark-01 :ARG0 (d / dog)))",
         "She is here, but the dog barks."),
    ],
)  # fmt: skip
def test_but_not_becomes_and_when_the_negation_is_removed(text: str, penman: str, expected: str) -> None:
    answer = decode((text, penman), {"op": "drop", "position": place(penman, "-")})
    assert answer == expected or (expected == "unclear-clause" and answer.startswith(expected))


@pytest.mark.parametrize(
    ("text", "penman", "label"),
    [
        ("He likes me but not my sister.",
         "(l / like-01 :ARG0 (h / he) :ARG1 (c / contrast-01 :ARG1 (i / i) "
         ":ARG2 (s / sister :polarity - :poss i)))",
         "like-01"),
        ("Running and gaming are my hobbies.",
         "(h / hobby :poss (i / i) :domain (a / and :op1 (r / run-02) :op2 (g / game-01)))",
         "run-02"),
    ],
)  # fmt: skip
def test_double_and_partial_negations_are_refused(text: str, penman: str, label: str) -> None:
    assert decode((text, penman), NOT | {"position": place(penman, label)}).startswith("unclear-clause")
