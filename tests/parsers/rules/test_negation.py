"""Tests of the rules for negation: which concept "not", "never" or "no" negates."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.rules.clauses import write_modals, write_negation
from graphneg.parsers.dependency.rules.concepts import write_concepts
from tests.parsers.rules.trees import arcs, state_of


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("She/PRP/nsubj/3 did/VBD/aux/3 not/RB/neg/3 sleep/VB/ROOT/3", {"sleep-01"}),
        ("He/PRP/nsubj/3 can/MD/aux/3 not/RB/neg/3 swim/VB/ROOT/3", {"possible-01"}),
        ("He/PRP/nsubj/3 must/MD/aux/3 not/RB/neg/3 swim/VB/ROOT/3", {"swim-01"}),
        ("They/PRP/nsubj/2 never/RB/neg/2 sleep/VBP/ROOT/2", {"sleep-01"}),
        ("No/DT/det/1 dogs/NNS/nsubj/2 sleep/VBP/ROOT/2", {"sleep-01"}),
        ("They/PRP/nsubj/1 eat/VBP/ROOT/1 no/DT/det/3 meat/NN/dobj/1", {"meat"}),
        ("tea/NN/ROOT/0 without/IN/prep/0 milk/NN/pobj/1", {"milk"}),
        ("Not/RB/preconj/2 only/RB/advmod/2 dogs/NNS/nsubj/3 sleep/VBP/ROOT/3", set[str]()),
        (
            "He/PRP/nsubj/3 is/VBZ/aux/3 not/RB/neg/3 singing/VBG/ROOT/3 and/CC/cc/3 dancing/VBG/conj/3",
            {"sing-01", "dance-01"},
        ),
    ],
)
def test_a_negative_word_negates_its_concept(text: str, denied: set[str]) -> None:
    state = state_of(text)
    for rule in (write_concepts, write_modals, write_negation):
        rule(state)
    assert {head for head, role, value in arcs(state) if (role, value) == ("polarity", "-")} == denied
