"""Tests of finding the verb group and the phrase that express a node of the graph."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.analysis.phrases import phrase
from graphneg.decoders.surface.draft import RealisationError
from tests.decoders.surface.sentences import node, sentence

BARN = "(f / fall-01 :ARG1 (r / roof :part-of (b / barn :mod (o / old))) :time (y / yesterday))"
TIRED = "(t / tire-01 :ARG1 (s / she :mod (a / all)) :degree (v / very))"


@pytest.mark.parametrize(
    ("concept", "kind", "words"),
    [
        ("roof", "nominal", "The roof of the old barn"),
        ("barn", "nominal", "the old barn"),
        ("old", "modifier", "old"),
        ("fall-01", "clause", "The roof of the old barn fell yesterday"),
        ("yesterday", "adverb", "yesterday"),
    ],
)
def test_a_subtree_is_said_by_a_phrase(concept: str, kind: str, words: str) -> None:
    said = sentence("The roof of the old barn fell yesterday.", BARN)
    span = phrase(said, node(said, concept))
    assert (span.kind, " ".join(token.text for token in said.tokens[span.start : span.end])) == (kind, words)


def test_an_adjective_is_asserted_by_its_copula() -> None:
    said = sentence("She is very tired.", TIRED)
    group = said.predicate(node(said, "tire-01"))
    assert group is not None and said.tokens[group.main].text in ("is", "tired")


def test_a_node_without_words_has_no_phrase() -> None:
    said = sentence("She is very tired.", TIRED)
    with pytest.raises(RealisationError, match="no-alignment"):
        phrase(said, node(said, "all"))


def test_bounds_end_behind_the_mark() -> None:
    said = sentence("It rained. We stayed in. Nobody came.")
    start, end = said.sentence_bounds(4)
    assert [token.text for token in said.tokens[start:end]] == ["We", "stayed", "in", "."]
