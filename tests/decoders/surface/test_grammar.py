"""Tests that parsed sentences are grammatical after edits, or that the edit is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoders.surface.test_set_phrases import decoded, parsed


def edited(text: str, *edits: dict[str, Any], at: str = "") -> str:
    """Return the text after edits at the first node labelled `at` (or the top), or the refusal code."""
    graph = parsed(text)
    k = next(node.position for node in graph.nodes if node.label == at) if at else 0
    return decoded(text, graph, [{"position": k, **edit} for edit in edits])


def negated(text: str) -> str:
    return edited(text, {"op": "add", "role": "polarity", "value": "-"})


def asked(text: str) -> str:
    return edited(text, {"op": "add", "role": "mode", "value": "interrogative"})


def timed(text: str, time: str, at: str = "") -> str:
    return edited(text, {"op": "add", "role": "time", "concept": time}, at=at)


def replaced(text: str, old: str, new: str) -> str:
    return edited(text, {"op": "set", "concept": new}, at=old)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("She's seen by him.", "Is she seen by him?"),
        ("She's lost her keys.", "Has she lost her keys?"),
        ("It's made of wood.", "Is it made of wood?"),
        ("It's been fun.", "Has it been fun?"),
        ("It's closed today.", "Is it closed today?"),
    ],
)
def test_the_clitic_s_is_has_only_before_a_perfect(text: str, question: str) -> None:
    assert asked(text) == question


def test_a_passive_keeps_its_participle_in_another_tense() -> None:
    assert timed("It was seen.", "tomorrow") == "It will be seen tomorrow."
    assert timed("She's lost her keys.", "yesterday") == "She lost her keys yesterday."


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Always go home.", "Do not always go home."),
        ("Please always tell me.", "Please do not always tell me."),
        ("I like tea, too.", "I do not like tea, either."),
        ("I saw some birds, some cats and a dog.", "I did not see any birds, any cats or a dog."),
    ],
)
def test_a_negation_reaches_the_whole_clause(text: str, denied: str) -> None:
    assert negated(text) == denied


def test_am_is_not_contracted_with_not() -> None:
    assert replaced("You aren't late.", "you", "i") == "I am not late."
    assert replaced("Why aren't you late?", "you", "i") == "Why aren't I late?"


@pytest.mark.parametrize(
    ("text", "time", "expected"),
    [
        ("I could see it and tell her.", "yesterday", "I could have seen it and told her yesterday."),
        ("She sings and he dances.", "yesterday", "unclear-clause"),
        ("I sang, and he danced.", "tomorrow", "I will sing tomorrow, and he danced."),
        ("Thank you for coming.", "tomorrow", "unsupported-edit"),
    ],
)
def test_joined_verbs_share_a_tense(text: str, time: str, expected: str) -> None:
    first = next((node.label for node in parsed(text).nodes if node.label in ("see-01", "sing-01")), "")
    assert timed(text, time, at=first) == expected


def test_the_night_before_is_last_night() -> None:
    assert replaced("We will meet tomorrow night.", "tomorrow", "yesterday") == "We met last night."


def test_thanks_are_neither_denied_nor_asked() -> None:
    assert negated("Thank you.") == asked("Thank you very much.") == "unsupported-edit"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("It was a moving story.", "move-01", "excite-01", "It was an exciting story."),
        ("It's a little cold.", "little", "big", "no-form"),
        ("I saw a little dog.", "little", "big", "I saw a big dog."),
        ("I'm waiting for his arrival.", "arrive-01", "depart-01", "I'm waiting for his departure."),
        ("They ran out of milk.", "run-02", "drink-01", "no-form"),
        ("I failed that exam twice.", "fail-01", "succeed-01", "no-form"),
    ],
)
def test_a_new_word_takes_a_form_that_exists(text: str, old: str, new: str, expected: str) -> None:
    assert replaced(text, old, new) == expected


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("He loves his dog.", "he", "girl", "The girl loves her dog."),
        ("The girl loves her dog.", "girl", "boy", "The boy loves his dog."),
        ("I like his car.", "he", "king", "I like the king's car."),
    ],
)
def test_pronouns_follow_the_sex_of_a_new_noun(text: str, old: str, new: str, expected: str) -> None:
    assert replaced(text, old, new) == expected


def test_nobody_agrees_with_himself() -> None:
    def agreed(text: str) -> str:
        return edited(
            text,
            {"op": "wrap", "concept": "agree-01"},
            {"op": "add", "position": -1, "role": "ARG0", "concept": "i"},
        )

    assert (agreed("I stayed."), agreed("He stayed.")) == ("kind-mismatch", "I agree that he stayed.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes two hours to get there.", "kind-mismatch"),
        ("It's getting late.", "kind-mismatch"),
        ("It's five o'clock.", "kind-mismatch"),
        ("It was quite sunny.", "kind-mismatch"),
        ("It's nice meeting you.", "kind-mismatch"),
        ("It's no use crying.", "kind-mismatch"),
        ("It's been years since we met.", "kind-mismatch"),
        ("It's empty.", "They're empty."),
        ("It's ten years old.", "They're ten years old."),
        ("It takes batteries.", "They take batteries."),
    ],
)
def test_only_an_it_that_refers_to_something_changes(text: str, expected: str) -> None:
    assert replaced(text, "it", "they") == expected


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("You'd better send it by air.", "send-03", "You'd better not send it by air."),
        ("I waited for you, and look at it now.", "look-01", "unclear-clause"),
        ("I can sing and dance.", "dance-01", "I can sing and not dance."),
        ("Buy me a coffee, and I won't say a word.", "word-01", "already-negative"),
        ("The full one would kill me.", "kill-01", "The full one would not kill me."),
    ],
)
def test_incomplete_negations_are_refused(text: str, at: str, expected: str) -> None:
    assert edited(text, {"op": "add", "role": "polarity", "value": "-"}, at=at) == expected


def test_one_after_an_adjective_is_a_noun() -> None:
    assert asked("The old ones are here.") == "Are the old ones here?"


def test_polite_regret_keeps_its_speaker() -> None:
    assert replaced("I'm afraid I threw it away.", "i", "you") == "kind-mismatch"
    assert replaced("I'm afraid of dogs.", "i", "you") == "You're afraid of dogs."
