"""Tests of negating parsed sentences and of swapping speakers: case, modals, idioms, negative words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from graphneg.amr.facts import facts
from graphneg.decoders.base import get_decoder
from graphneg.english.tokens import with_closed_clitics
from graphneg.model import AmrGraph, Edit, EditedUtterance
from graphneg.parsers.base import CheckedParser, get_parser

OTHER = {"i": "you", "you": "i"}


@cache
def parser() -> CheckedParser:
    return get_parser("dependency")


def parsed(text: str) -> AmrGraph:
    graph = parser().parse_batch([text])[0].graph
    assert graph is not None
    return AmrGraph("d#0", graph.nodes, graph.mentions)


def decoded(text: str, graph: AmrGraph, edits: Sequence[dict[str, Any]]) -> str:
    """Return the text after edits, or the code of the refusal."""
    fields = {"transform": "t", "category": "C-cont", "site": "s", "amr": "d#0"}
    made = tuple(Edit(**{**fields, **edit}) for edit in edits)
    answer = get_decoder("surface").decode([EditedUtterance("d#0", "A", text, graph, graph, made, {}, {})])[0]
    return answer.text or (answer.reason or "").partition(":")[0]


def as_other_speaker(text: str, only: str = "") -> str:
    """Return the text as the other speaker says it, or with only the pronoun `only` changed."""
    graph = parsed(text)
    said = [node for node in graph.nodes if node.concept in ({only} if only else OTHER)]
    said = said or [node for node in graph.nodes if node.concept == "we"]
    return decoded(
        text,
        graph,
        [{"op": "set", "position": n.position, "concept": OTHER.get(n.concept or "", "you")} for n in said],
    )


def with_flipped_polarity(text: str) -> str:
    """Return the text with its first clause negated, or made affirmative if it is negative."""
    graph = parsed(text)
    for node, known in zip(graph.nodes, facts(graph, text), strict=True):
        if "negation_position" in known:
            return decoded(text, graph, [{"op": "drop", "position": known["negation_position"]}])
        if "clause_type" in known and "negated" not in known and known["clause_type"] != "link":
            return decoded(
                text, graph, [{"op": "add", "position": node.position, "role": "polarity", "value": "-"}]
            )
    raise AssertionError(f"no clause in {text}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is good, for you work so hard.", "It is good, for I work so hard."),
        ("He is happy, for you always tell the truth.", "He is happy, for I always tell the truth."),
        ("They are waiting for you outside.", "They are waiting for me outside."),
        ("It is time for you to go.", "It is time for me to go."),
        ("She is taller than you are.", "She is taller than I am."),
        ("She is taller than you.", "She is taller than me."),
        ("He is nicer than you think.", "He is nicer than I think."),
        ("Like you said, it is late.", "Like I said, it is late."),
        ("He looks like you.", "He looks like me."),
        ("Everyone but you left early.", "Everyone but me left early."),
        ("He stayed, but you left early.", "He stayed, but I left early."),
        ("You and your brother live here.", "My brother and I live here."),
        ("They saw you and your brother.", "They saw me and my brother."),
        ("I don't mind you smoking.", "You don't mind me smoking."),
        ("The man you saw is here.", "The man I saw is here."),
        ("The man who saw you is here.", "The man who saw me is here."),
        ("It's you.", "It's me."),
        ("Only you know the answer.", "Only I know the answer."),
    ],
)
def test_a_pronoun_has_the_right_case(text: str, expected: str) -> None:
    assert as_other_speaker(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("May I borrow your pen?", "kind-mismatch"),
        ("May we come in?", "kind-mismatch"),
        ("Shall we look for another hotel?", "kind-mismatch"),
        ("Shall I call a taxi?", "kind-mismatch"),
        ("Where shall we meet?", "kind-mismatch"),
        ("Would you like some tea?", "kind-mismatch"),
        ("Would you mind opening the window?", "kind-mismatch"),
        ("Do you mind if I smoke?", "kind-mismatch"),
        ("We will meet you there.", "kind-mismatch"),
        # Speakers know what they do, have and like.
        ("Do you accept cards?", "kind-mismatch"),
        ("Do you have a package?", "kind-mismatch"),
        ("Are you late?", "kind-mismatch"),
        ("What do you like?", "kind-mismatch"),
        ("Yes, you're right.", "kind-mismatch"),
        ("Do you have to go?", "Do I have to go?"),
        ("How much do you pay?", "How much do I pay?"),
        ("Could you help me?", "Could I help you?"),
        ("Can I help you?", "Can you help me?"),
        ("Should I call her?", "Should you call her?"),
        ("You may go.", "I may go."),
        ("I shall return.", "You shall return."),
        ("What would you like?", "What would I like?"),
    ],
)
def test_requests_and_offers_to_oneself_are_refused(text: str, expected: str) -> None:
    assert as_other_speaker(text) == expected


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("I'll give you a prescription.", "i"),
        ("I won't give you a prescription.", "you"),
        ("I told you that she left.", "i"),
        ("Can you show me the menu?", "you"),
        ("You are taller than me.", "i"),
        ("I like your house.", "you"),
        ("I will go to you friend's room.", ""),
        ("It is in you bag.", ""),
        ("I saw you brother's car.", ""),
        ("She is in you room.", ""),
    ],
)
def test_equal_persons_and_missing_possessives_are_refused(text: str, only: str) -> None:
    assert as_other_speaker(text, only) in ("no-alignment", "kind-mismatch")


@pytest.mark.parametrize(
    "text",
    [
        "You're not kidding.",
        "Oh , you are not kidding .",
        "You can say that again.",
        "I couldn't agree more.",
        "You bet.",
        "Tell me about it.",
        "No kidding!",
        "Never mind.",
        "You never know.",
        "It's nothing.",
        "Neither do I.",
        "Me neither.",
    ],
)
def test_the_polarity_of_idioms_is_not_changed(text: str) -> None:
    assert with_flipped_polarity(text) == "unsupported-edit"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You are not kidding your mother.", "You are kidding your mother."),
        ("You can say that again tomorrow.", "You cannot say that again tomorrow."),
        ("I never agree more than once.", "I agree more than once."),
        ("He never minds the cold.", "He minds the cold."),
    ],
)
def test_words_of_idioms_in_other_sentences_are_changed(text: str, expected: str) -> None:
    assert with_flipped_polarity(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A little snow never hurt anyone.", "unclear-clause"),
        ("He never put it back.", "unclear-clause"),
        ("He never ate meat.", "He ate meat."),
        ("She never calls me.", "She calls me."),
        ("Neither of them is here.", "Both of them are here."),
        ("Neither boy came.", "Both boys came."),
        ("Neither is right.", "Both are right."),
        ("None of them is here.", "Some of them are here."),
        ("None of it is true.", "Some of it is true."),
        ("It's no better than that.", "unsupported-edit"),
        ("It's never too late.", "It's too late."),
        ("I don't like it either.", "I like it too."),
        ("I didn't see anybody there.", "I saw somebody there."),
    ],
)
def test_verbs_agree_after_a_negative_word_is_removed(text: str, expected: str) -> None:
    assert with_flipped_polarity(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Here' s the money.", "unsupported-edit"),
        ("Here ’ s the money . I'm sure .", "unsupported-edit"),
        ("Here´s the money.", "unsupported-edit"),
        ("Here's your change.", "unsupported-edit"),
        ("There's your sister.", "unsupported-edit"),
        ("Here comes the bus.", "unsupported-edit"),
        ("There goes the bus.", "unsupported-edit"),
        ("There' s a bank.", "There' s no bank."),
        ("There's a bank.", "There's no bank."),
        ("That' s my bag.", "That' s not my bag."),
        ("Let' s go.", "Let' s not go."),
        ("I' m tired.", "I' m not tired."),
        ("I don' t know.", "I know."),
    ],
)
def test_spaced_clitics_are_verbs(text: str, expected: str) -> None:
    assert with_flipped_polarity(text) == expected


def test_clitics_are_closed_without_touching_other_words() -> None:
    text = "Ann said 'd is a letter' at 5 o'clock."
    assert with_closed_clitics(text)[0] == text


@pytest.mark.parametrize(
    "concept",
    [
        "amr-unknown",
        "amr-choice",
        "multi-sentence",
        "have-rel-role-91",
        "be-located-at-91",
        "date-entity",
        "ordinal-entity",
        "temporal-quantity",
        "truth-value",
        "value-interval",
    ],
)
def test_concepts_without_words_are_refused(concept: str) -> None:
    text = "I saw a bird."
    graph = parsed(text)
    k = next(node.position for node in graph.nodes if node.concept == "bird")
    edits: list[dict[str, Any]] = [
        {"op": "set", "position": k, "concept": concept},
        {"op": "add", "position": 0, "role": "time", "concept": concept},
    ]
    assert [decoded(text, graph, [edit]) for edit in edits] == ["no-words", "no-words"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OK , got it .", "OK , got them ."),
        ("I took it home.", "I took them home."),
        ("It costs a lot.", "They cost a lot."),
        ("Is it yours?", "Are they yours?"),
        ("How long will it take me to get there?", "kind-mismatch"),
        ("It takes an hour to walk.", "kind-mismatch"),
        ("It costs a lot to live here.", "kind-mismatch"),
        ("It's 2135-3678.", "kind-mismatch"),
    ],
)
def test_an_expletive_it_is_not_replaced(text: str, expected: str) -> None:
    graph = parsed(text)
    edits = [
        {"op": "set", "position": node.position, "concept": "they"}
        for node in graph.nodes
        if node.concept == "it"
    ]
    assert decoded(text, graph, edits) == expected
