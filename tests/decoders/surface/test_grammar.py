"""Parsed sentences stay grammatical under edits, or are refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoders.surface.test_set_phrases import decoded, parsed


def edited(text: str, *edits: dict[str, Any], at: str = "") -> str:
    """The text after edits at the first node with a label, or at the top; or the code of the refusal."""
    graph = parsed(text)
    k = next(node.k for node in graph.nodes if node.label == at) if at else 0
    return decoded(text, graph, [{"k": k, **edit} for edit in edits])


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
    assert replaced("Aren't you late?", "you", "i") == "Aren't I late?"
