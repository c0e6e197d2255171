"""A clause is denied and affirmed: where *not* stands, and what else a negation changes."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.operations.negation import affirm, negate
from tests.decoders.surface.sentences import changed

SANG = "(a / and :op1 (s / sing-01 :ARG0 (i / i)) :op2 (d / dance-01 :ARG0 i))"
PUT = "(p / put-01 :ARG0 (h / he) :ARG1 (i / it))"
SEE = "(s / see-01 :ARG0 (y / you) :ARG1 (i / it))"
LIKE = "(l / like-01 :ARG0 (y / you) :ARG1 (f / fish))"
NOT_LIKE = "(l / like-01 :polarity - :ARG0 (y / you) :ARG1 (f / fish))"


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("How beautiful you are!", "(b / beautiful-02 :ARG1 (y / you))", "You are not beautiful!"),
        ("He put it there.", PUT, "He did not put it there."),
        ("They put it there.", PUT.replace("he", "they"), "They do not put it there."),
        ("You must have seen it.", SEE, "You cannot have seen it."),
        ("You'd seen it.", SEE, "You hadn't seen it."),
        ("You'll see it.", SEE, "You won't see it."),
        ("You always see it.", SEE, "You do not always see it."),
        ("Let's go.", "(l / let-01 :ARG1 (g / go-02 :ARG0 (w / we)))", "Let's not go."),
        ("There is a way.", "(w / way)", "There is no way."),
        ("A queer idea!", "(i / idea :mod (q / queer))", "No queer idea!"),
        ("Queer ideas!", "(i / idea :mod (q / queer))", "Not queer ideas!"),
        (
            "Everybody likes fish.",
            "(l / like-01 :ARG0 (e / everybody) :ARG1 (f / fish))",
            "Not everybody likes fish.",
        ),
        ("You like some fish and a cake.", LIKE, "You do not like any fish or a cake."),
        ("You like some fish but a cake.", LIKE, "You do not like any fish but a cake."),
    ],
)
def test_not_stands_where_english_puts_it(text: str, graph: str, expected: str) -> None:
    assert changed(negate, text, graph, "go-02" if "go-02" in graph else 0) == expected


def test_what_and_joins_to_a_denied_clause_stays_affirmed() -> None:
    assert changed(negate, "I sang and danced.", SANG, "sing-01") == "I did not sing but danced."
    assert changed(negate, "I sang and also danced.", SANG, "sing-01") == "unclear-clause"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You like fish, don't you?", "You don't like fish, do you?"),
        ("You like fish, do you?", "You do not like fish, do you?"),
        ("You like fish, doesn't she?", "You don't like fish, doesn't she?"),
    ],
)
def test_a_question_tag_turns_with_the_clause_that_it_asks_about(text: str, expected: str) -> None:
    assert changed(negate, text, LIKE) == expected


@pytest.mark.parametrize("text", ["Let's see it.", "Come on, like fish.", "Look out!", "Just like fish."])
def test_a_call_is_no_order_that_could_be_denied(text: str) -> None:
    assert changed(negate, text, LIKE) in ("unsupported-edit", "unclear-clause")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She might see it.", "She will not see it."),
        ("He said she might see it.", "He said she would not see it."),
        ("They may have seen it.", "They cannot have seen it."),
        ("She might be seeing it.", "She will not be seeing it."),
        ("She might be able to see it.", "She will not be able to see it."),
        ("You may see it.", "You may not see it."),
        ("You may have it.", "You will not have it."),
        ("I could see it.", "I could not see it."),
        ("I could use it.", "unsupported-edit"),
        ("I might as well see it.", "unsupported-edit"),
        ("Maybe later she sees it.", "unclear-clause"),
        ("Some of them saw it.", "None of them saw it."),
        ("Some boys saw it.", "No boys saw it."),
        ("Somebody saw it.", "Nobody saw it."),
        ("Maybe we see it.", "We do not see it."),
        ("So she perhaps saw it.", "So she did not see it."),
    ],
)
def test_what_may_be_so_or_is_of_some_is_denied_by_what_is_not_so(text: str, expected: str) -> None:
    assert changed(negate, text, SEE) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You like neither fish nor cheese.", "You like both fish and cheese."),
        ("You do not like fish either.", "You like fish too."),
        ("You like no one.", "You like someone."),
        ("You can no longer like fish.", "You can still like fish."),
        ("You won't like fish.", "You will like fish."),
        ("You don't like it much.", "You like it a lot."),
        ("You do not like much fish.", "You like a lot of fish."),
        ("You left without liking fish.", "You left while liking fish."),
        ("You hardly like fish.", "You like fish."),
        ("You don't like fish, do you?", "You like fish, don't you?"),
        ("Don't like fish.", "Like fish."),
        ("There is no more fish.", "unclear-clause"),
        ("You do not like anything but fish.", "unclear-clause"),
        ("Yes, you do not like fish.", "unclear-clause"),
    ],
)
def test_what_a_negation_brought_along_goes_with_it(text: str, expected: str) -> None:
    assert changed(affirm, text, NOT_LIKE, 1) == expected


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("It is careless.", "careful-02", "It is careful."),
        ("It is unhappy.", "happy-01", "It is happy."),
        ("It is impossible.", "possible-01", "It is possible."),
        ("It is red.", "blue-01", "no-alignment"),
    ],
)
def test_a_negative_word_becomes_its_positive(text: str, concept: str, expected: str) -> None:
    assert changed(affirm, text, f"(x / {concept} :polarity - :ARG1 (i / it))", 1) == expected


@pytest.mark.parametrize(
    "text",
    ["You saw it.", "You will see it.", "You can see it.", "You have seen it.", "See it!", "You'd see it."],
)
def test_a_negation_that_was_put_in_can_be_taken_out_again(text: str) -> None:
    denied = changed(negate, text, SEE)
    assert "not" in denied or "n't" in denied
    again = changed(affirm, denied, SEE.replace(" :ARG0", " :polarity - :ARG0"), 1)
    assert again == text.replace("'d", " would")
