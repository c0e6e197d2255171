"""Tests of adding and removing a negation: the position of "not", and words that change with it."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.operations.affirmation import affirm
from graphneg.decoders.surface.operations.negation import negate
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
def test_the_position_of_not(text: str, graph: str, expected: str) -> None:
    assert changed(negate, text, graph, "go-02" if "go-02" in graph else 0) == expected


def test_a_clause_joined_by_and_is_not_negated() -> None:
    assert changed(negate, "I sang and danced.", SANG, "sing-01") == "I did not sing but danced."
    assert changed(negate, "I sang and also danced.", SANG, "sing-01") == "unclear-clause"


def joined(verb: str, *operands: str, subject: str = "i", role: str = "ARG1") -> str:
    """Return the graph of a clause whose object is coordinated with "and"."""
    inner = " ".join(f":op{at} (o{at} / {one})" for at, one in enumerate(operands, 1))
    return f"(v / {verb} :ARG0 (s / {subject}) :{role} (a / and {inner}))"


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        (
            "He has a fever and a sore throat.",
            joined("have-03", "fever", "throat :mod (x / sore)", subject="he"),
            "He does not have a fever or a sore throat.",
        ),
        ("I like tea and coffee.", joined("like-01", "tea", "coffee"), "I do not like tea or coffee."),
        (
            "I bought bread, milk and six eggs.",
            joined("buy-01", "bread", "milk", "egg :quant 6"),
            "I did not buy bread, milk or six eggs.",
        ),
        (
            "She can play the piano and the violin very well.",
            joined("play-11", "piano", "violin", subject="she", role="ARG2"),
            "She cannot play the piano or the violin very well.",
        ),
        (
            "We looked for your keys and your wallet.",
            joined("look-01", "key :poss (y / you)", "wallet :poss y", subject="we"),
            "We did not look for your keys or your wallet.",
        ),
        ("I have seen Anna and Tom.", joined("see-01", 'person :name (n / name :op1 "Anna")',
         'person :name (m / name :op1 "Tom")'), "I have not seen Anna or Tom."),
        ("Bring the plates and the glasses.", joined("bring-01", "plate", "glass", subject="you"),
         "Do not bring the plates or the glasses."),
        ("I like tea and coffee, but I hate milk.",
         "(c / contrast-01 :ARG1 (l / like-01 :ARG0 (i / i) :ARG1 (a / and :op1 (t / tea) :op2 (f / coffee)))"
         " :ARG2 (h / hate-01 :ARG0 i :ARG1 (m / milk)))", "I do not like tea or coffee, but I hate milk."),
        # Objects that belong together ("salt and pepper") keep "and".
        ("I need salt and pepper.", joined("need-01", "salt", "pepper"), "I do not need salt and pepper."),
        ("He ate fish and chips.", joined("eat-01", "fish", "chip"), "He did not eat fish and chips."),
        ("I like both tea and coffee.", joined("like-01", "tea", "coffee"),
         "I do not like both tea and coffee."),
        ("I chose between the tea and the coffee.", joined("choose-01", "tea", "coffee", role="ARG3"),
         "I did not choose between the tea and the coffee."),
        ("I mixed the oil and the vinegar.", joined("mix-01", "oil", "vinegar"),
         "I did not mix the oil and the vinegar."),
        ("I tied the cup and the plate together.", joined("tie-01", "cup", "plate"),
         "I did not tie the cup and the plate together."),
        # Subjects, modifiers and clauses keep "and".
        ("They and we like it.",
         "(l / like-01 :ARG0 (a / and :op1 (t / they) :op2 (w / we)) :ARG1 (e / it))",
         "They and we do not like it."),
        ("I like black and white photos.",
         "(l / like-01 :ARG0 (i / i) :ARG1 (p / photo :mod (a / and :op1 (b / black) :op2 (w / white))))",
         "I do not like black and white photos."),
        ("I like tea and Tom likes coffee.",
         "(a / and :op1 (l / like-01 :ARG0 (i / i) :ARG1 (t / tea)) :op2 (m / like-01 :ARG0 (o / tom) :ARG1"
         " (c / coffee)))", "I do not like tea and Tom likes coffee."),
        ("I like to swim and dance.", joined("like-01", "swim-01", "dance-01"),
         "I do not like to swim and dance."),
    ],
)  # fmt: skip
def test_negated_objects_are_joined_by_or(text: str, graph: str, expected: str) -> None:
    label = "like-01" if "like-01" in graph else 0
    assert changed(negate, text, graph, label) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You like fish, don't you?", "You don't like fish, do you?"),
        ("You like fish, do you?", "You do not like fish, do you?"),
        ("You like fish, doesn't she?", "You don't like fish, doesn't she?"),
    ],
)
def test_a_question_tag_changes_with_its_clause(text: str, expected: str) -> None:
    assert changed(negate, text, LIKE) == expected


@pytest.mark.parametrize("text", ["Let's see it.", "Come on, like fish.", "Look out!", "Just like fish."])
def test_fixed_exclamations_are_not_negated(text: str) -> None:
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
def test_possibility_and_some_are_negated_as_not_and_none(text: str, expected: str) -> None:
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
def test_words_that_depend_on_a_negation_change_with_it(text: str, expected: str) -> None:
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
def test_a_negative_word_becomes_positive(text: str, concept: str, expected: str) -> None:
    assert changed(affirm, text, f"(x / {concept} :polarity - :ARG1 (i / it))", 1) == expected


@pytest.mark.parametrize(
    "text",
    ["You saw it.", "You will see it.", "You can see it.", "You have seen it.", "See it!", "You'd see it."],
)
def test_an_added_negation_can_be_removed(text: str) -> None:
    denied = changed(negate, text, SEE)
    assert "not" in denied or "n't" in denied
    again = changed(affirm, denied, SEE.replace(" :ARG0", " :polarity - :ARG0"), 1)
    assert again == text.replace("'d", " would")
