"""Tests of edits that change a clause: negation, question, order, time, a new predicate, deletion."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphneg.decoders.surface.analysis.sentence import SentenceDraft, is_tag_pronoun, question_tag
from graphneg.decoders.surface.draft import RealisationError
from graphneg.decoders.surface.operations import affirmation, mood, negation, tense
from graphneg.decoders.surface.operations.embedding import wrap
from graphneg.decoders.surface.operations.grafts import graft
from graphneg.decoders.surface.operations.removal import drop
from graphneg.decoders.surface.refusals import refuse_affirmation
from tests.decoders.surface.sentences import node, sentence

LIKE = "(l / like-01 :ARG0 (y / you) :ARG1 (f / fish))"
COOK = "(c / cook-01 :ARG0 (y / you) :ARG1 (f / fish))"
WENT = "(g / go-02 :ARG0 (h / he) :ARG4 (t / town) :time (y / yesterday))"
Change = Callable[[SentenceDraft, int], None]


@pytest.mark.parametrize(
    ("text", "graph", "change", "expected"),
    [
        ("You like fish.", LIKE, negation.negate, "You do not like fish."),
        ("You like fish, don't you?", LIKE, negation.negate, "You don't like fish, do you?"),
        ("Cook fish.", COOK, negation.negate, "Do not cook fish."),
        ("You still like fish.", LIKE, negation.negate, "You no longer like fish."),
        ("You like fish.", LIKE, mood.to_question, "Do you like fish?"),
        ("Do you like fish?", LIKE, mood.to_statement, "You like fish."),
        ("He went to town yesterday.", WENT, mood.to_question, "Did he go to town yesterday?"),
        ("You like fish.", LIKE, mood.to_imperative, "Like fish."),
        ("He went to town yesterday.", WENT, mood.to_imperative, "Let him go to town yesterday."),
        ("Cook fish.", COOK, mood.from_imperative, "You cook fish."),
    ],
)
def test_the_clause_of_a_node_changes(text: str, graph: str, change: Change, expected: str) -> None:
    said = sentence(text, graph)
    change(said, 0)
    assert said.finish() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You don't like fish.", "You like fish."),
        ("He does not like any fish.", "He likes some fish."),
        ("You never like fish.", "You like fish."),
        ("You don't like fish at all.", "You like fish."),
    ],
)
def test_a_negation_is_removed(text: str, expected: str) -> None:
    said = sentence(text, "(l / like-01 :polarity - :ARG0 (y / you) :ARG1 (f / fish))")
    affirmation.affirm(said, 1)
    assert said.finish() == expected


@pytest.mark.parametrize("text", ["You can't wait.", "I'm afraid not.", "He did not call until noon."])
def test_set_phrases_keep_their_negation(text: str) -> None:
    said = sentence(text)
    index = next(index for index, token in enumerate(said.tokens) if token.tag == "NEG")
    with pytest.raises(RealisationError, match="unsupported-edit"):
        refuse_affirmation(said, index)


def test_a_clause_with_never_is_negative_already() -> None:
    with pytest.raises(RealisationError, match="already-negative"):
        negation.negate(sentence("You never like fish.", LIKE), 0)


def test_a_tag_asks_about_its_subject() -> None:
    said = sentence("You like fish, don't you?", LIKE)
    group = said.predicate(0)
    assert group is not None and question_tag(said, group) is not None
    assert [is_tag_pronoun(said, token) for token in said.tokens if token.lower == "you"] == [False, True]


@pytest.mark.parametrize(
    ("time", "expected"),
    [("tomorrow", "You will like fish tomorrow."), ("yesterday", "You liked fish yesterday.")],
)
def test_an_added_time_fits_the_tense(time: str, expected: str) -> None:
    said = sentence("You like fish.", LIKE)
    tense.add_time(said, 0, time)
    assert said.finish() == expected


def test_another_time_changes_the_tense() -> None:
    said = sentence("He went to town yesterday.", WENT)
    tense.set_time(said, node(said, "yesterday"), "tomorrow")
    assert said.finish() == "He will go to town tomorrow."


@pytest.mark.parametrize(
    ("concept", "expected"),
    [("yesterday", "He went to town."), ("he", "Someone went to town yesterday.")],
)
def test_a_dropped_subtree_can_leave_a_pronoun(concept: str, expected: str) -> None:
    said = sentence("He went to town yesterday.", WENT)
    drop(said, node(said, concept))
    assert said.finish() == expected


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("You like fish.", "doubt-01", "I doubt that you like fish."),
        ("Cook fish.", "order-01", "I order you to cook fish."),
        ("You like fish.", "possible-01", "It is possible that you like fish."),
    ],
)
def test_a_predicate_is_added_above_the_clause(text: str, concept: str, expected: str) -> None:
    said = sentence(text, COOK if text.startswith("Cook") else LIKE)
    wrap(said, concept, "i")
    assert said.finish() == expected


def test_a_phrase_replaces_another_one() -> None:
    said = sentence("He went to town yesterday.", WENT)
    men = "(l / like-01 :ARG0 (m / man :mod (o / old)) :ARG1 (f / fish))"
    source = sentence("The old men like fish.", men)
    graft(said, node(said, "he"), source, node(source, "man"), 1)
    assert said.finish() == "The old men went to town yesterday."
