"""Tests of grafts: a phrase replaces another one, with the right forms, cases and articles."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.operations.grafts import graft
from tests.decoders.surface.sentences import changed, node, sentence

OWL = ("I saw an old owl.", "(s / see-01 :ARG0 (i / i) :ARG1 (o / owl :mod (o2 / old)))")
OWLS = ("I took an owl from an old owl.", OWL[1])
CAT = ("We have a big cat.", "(h / have-03 :ARG0 (w / we) :ARG1 (c / cat :mod (b / big)))")
CATS = ("We have big cats.", CAT[1])
HERS = ("We have her cat.", "(h / have-03 :ARG0 (w / we) :ARG1 (c / cat :poss (s / she)))")
TIRED = ("She is tired.", "(t / tire-01 :ARG1 (s / she))")
SWIM = ("I swim.", "(s / swim-01 :ARG0 (i / i))")
THERE = ("There is an owl.", "(o / owl)")
SEEN = ("An owl sees me.", "(s / see-01 :ARG0 (o / owl) :ARG1 (i / i))")
FERN = ("The fern is nearly dead.", "(f / fern :ARG1-of (n / near-02))")
OLD_MAN = (
    "I know the man who is old.",
    "(k / know-01 :ARG0 (i / i) :ARG1 (m / man :domain-of (o / old)))",
)
Said = tuple[str, str]


def grafted(said: Said, at: str, source: Said, label: str) -> str:
    source_sentence = sentence(*source)
    return changed(lambda of, k: graft(of, k, source_sentence, node(source_sentence, label), 1), *said, at)


@pytest.mark.parametrize(
    ("said", "at", "source", "label", "expected"),
    [
        (OWL, "owl", CAT, "cat", "I saw a big cat."),
        (OWL, "i", CAT, "cat", "A big cat saw an old owl."),
        (OWL, "owl", CAT, "we", "I saw us."),
        (OWL, "owl", OLD_MAN, "man", "I saw the man who is old."),
        (OWL, "old", CAT, "big", "I saw a big owl."),
        (OWL, "see-01", CAT, "have-03", "We have a big cat."),
        (OWL, "see-01", CAT, "cat", "I had a big cat."),
        (HERS, "she", OWL, "owl", "We have an old owl's cat."),
        (HERS, "she", OWL, "i", "We have my cat."),
        (TIRED, "tire-01", OWL, "owl", "She is an old owl."),
        (TIRED, "tire-01", OWL, "old", "She is old."),
        (TIRED, "tire-01", SWIM, "swim-01", "She is swimming."),
        (THERE, "owl", CATS, "cat", "There are big cats."),
        (SEEN, "owl", CATS, "cat", "Big cats see me."),
    ],
)
def test_a_phrase_replaces_another_one(said: Said, at: str, source: Said, label: str, expected: str) -> None:
    assert grafted(said, at, source, label) == expected


@pytest.mark.parametrize(
    ("said", "at", "source", "label", "code"),
    [
        (OWL, "owl", CAT, "big", "no-form"),
        (OWL, "owl", OWL, "owl", "unchanged"),
        (OWL, "owl", FERN, "fern", "unclear-clause"),
        (OWL, "old", CAT, "we", "no-form"),
        (("Take it easy.", "(t / take-01 :ARG1 (i / it))"), "it", CAT, "cat", "kind-mismatch"),
        (
            ("I took an owl from an old owl.", OWL[1]),
            "owl",
            ("I saw an owl.", OWL[1]),
            "owl",
            "kind-mismatch",
        ),
    ],
)
def test_unchanged_and_ungrammatical_grafts_are_refused(
    said: Said, at: str, source: Said, label: str, code: str
) -> None:
    assert grafted(said, at, source, label) == code
