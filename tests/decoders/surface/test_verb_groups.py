"""Tests of finding verb groups with their auxiliaries, negations and subjects."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.analysis.verb_groups import (
    noun_phrase_end,
    noun_phrase_start,
    parse_verb_groups,
)
from tests.decoders.surface.sentences import sentence


def found(text: str) -> list[tuple[str, str, str]]:
    tokens = sentence(text).tokens
    return [
        (
            group.kind,
            " ".join(tokens[index].text for index in group.chain),
            " ".join(token.text for token in tokens[slice(*group.subject)]) if group.subject else "",
        )
        for group in parse_verb_groups(tokens)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The old man had not been seen.", [("finite", "had been seen", "The old man")]),
        ("Do you know him?", [("finite", "Do know", "you")]),
        ("Don't open it.", [("imperative", "Do open", "")]),
        ("He sat and panted.", [("finite", "sat", "He"), ("finite", "panted", "He")]),
        ("She wants to swim.", [("finite", "wants", "She"), ("infinitive", "swim", "")]),
        ("You must have seen it.", [("finite", "must have seen", "You")]),
    ],
)
def test_groups_of_a_sentence(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


def test_a_quotative_inversion_can_be_put_straight() -> None:
    draft = sentence('"Go," said the king.')
    group = next(group for group in parse_verb_groups(draft.tokens) if group.quotative)
    group.undo_quotative_inversion()
    assert [token.text for token in draft.tokens][-4:] == ["the", "king", "said", "."]


def test_a_noun_phrase_reaches_over_of() -> None:
    tokens = sentence("The roof of the old barn is red.").tokens
    assert (noun_phrase_start(tokens, 6), noun_phrase_end(tokens, 0)) == (0, 6)
