"""Tests of the round trip: a decoded text is parsed, and its graph compared with the original."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("smatch", reason="Smatch needs the evaluation extra")

from graphneg.amr.penman import parse_graph
from graphneg.amr.smatch import Tally, score
from graphneg.errors import ParserError
from graphneg.parsers.round_trip import RoundTrip

LIKES = parse_graph("(l / like-01 :ARG0 (i / i) :ARG1 (t / train))")
DENIES = parse_graph("(l / like-01 :polarity - :ARG0 (i / i) :ARG1 (t / train))")


@pytest.fixture(scope="module")
def trip() -> Iterator[RoundTrip]:
    with RoundTrip() as trip:
        yield trip


def test_a_correct_text_has_f1_1(trip: RoundTrip) -> None:
    assert [score(tally).f1 for tally in trip.tallies([(LIKES, "I like trains.")])] == [1.0]


def test_closer_texts_have_higher_scores(trip: RoundTrip) -> None:
    pairs = [(DENIES, text) for text in ("I do not like trains.", "I like trains.", "Birds sing.")]
    best, other, worst = (score(tally).f1 for tally in trip.tallies(pairs))
    assert best == 1.0 > other > worst


def test_a_missing_text_matches_nothing(trip: RoundTrip) -> None:
    assert trip.tallies([(LIKES, None), (LIKES, "")]) == [Tally(0, 0, 6)] * 2
    assert trip.tallies([]) == []


def test_scores_do_not_depend_on_the_batch(trip: RoundTrip) -> None:
    pairs = [(graph, text) for graph in (LIKES, DENIES) for text in ("I like it.", "Trains like me.", "No.")]
    together = trip.tallies(pairs * 40)
    assert together == [trip.tallies([pair])[0] for pair in pairs] * 40


def test_an_unknown_parser_is_refused() -> None:
    with pytest.raises(ParserError, match="no parser named 'none'"):
        RoundTrip("none")
