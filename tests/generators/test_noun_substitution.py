"""Tests of noun substitution: "drank the milk" becomes "drank the tea" if the context has tea."""

from __future__ import annotations

import pytest

from graphneg.generators.base import Candidate, Context
from graphneg.generators.generated import negative_from_candidate
from graphneg.generators.overlap.noun_substitution import NounSubstitution, pool_sentence_of
from graphneg.model import Turn

MILK = "My brother drank the milk before the long drive."
PIANO = "My brother repaired the piano before the long drive."
TURNS = (Turn("A", "Do you like the tea?"), Turn("B", "I do."))
CONTEXT = Context("own/test/1#2", "own", "test", "own/test/1", 2, TURNS, "A")


def substituted(*texts: str, share: float = 1, shared: str = "drive") -> list[Candidate]:
    """Return the candidates that noun substitution makes of the sentences."""
    given = [[Candidate(text, ("C-follow",), provenance={"shared": shared}) for text in texts]]
    NounSubstitution(share).apply([CONTEXT], given, seed=0)
    return given[0]


def test_a_noun_is_replaced_by_a_fitting_noun_of_the_context() -> None:
    [tea] = substituted(MILK)
    assert tea.text == MILK.replace("milk", "tea")
    assert tea.provenance["exchanged"] == "milk > tea"
    assert pool_sentence_of(negative_from_candidate(CONTEXT, tea, "hard", 0, 0)) == MILK


def test_a_noun_is_not_replaced_if_the_verb_does_not_take_the_other() -> None:
    assert [one.text for one in substituted(PIANO)] == [PIANO]


def test_a_noun_shared_with_the_context_is_kept() -> None:
    assert [one.text for one in substituted(MILK, shared="milk")] == [MILK]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_only_the_given_share_of_sentences_is_changed(share: float) -> None:
    texts = [MILK.replace("brother", who) for who in ("uncle", "friend", "boss", "son", "sister", "teacher")]
    changed = sum(one.text not in texts for one in substituted(*texts, share=share))
    assert changed == 0 if share == 0 else 0 < changed < len(texts)
