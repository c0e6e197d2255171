"""Tests of the scores of decoded texts: against references, and by parsing them back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("smatch", reason="Smatch needs the evaluation extra")
pytest.importorskip("sacrebleu", reason="BLEU and chrF need the evaluation extra")

from graphneg.amr.penman import parse_graph
from graphneg.errors import InputError
from graphneg.evaluation.decoding import check_packages, read_graph_text_pairs, score_texts
from graphneg.model import Decoded
from graphneg.parsers.round_trip import RoundTrip

GRAPHS = [
    parse_graph("(l / like-01 :ARG0 (i / i) :ARG1 (t / train :ARG1-of (s / slow-05)))"),
    parse_graph("(s / sing-01 :ARG0 (b / bird) :location (g / garden))"),
]
TEXTS = ["I like slow trains very much.", "Birds sing in the garden."]
REFERENCES = [(text,) for text in TEXTS]


@pytest.fixture(scope="module")
def trip() -> Iterator[RoundTrip]:
    with RoundTrip() as trip:
        yield trip


def test_references_score_1_up_to_parser_errors(trip: RoundTrip) -> None:
    scores = score_texts([Decoded(text) for text in TEXTS], GRAPHS, REFERENCES, trip)
    assert (scores.bleu, scores.chrf) == (pytest.approx(100), pytest.approx(100))
    assert 0.8 < scores.smatch.micro.f1 < 1.0  # the parser makes no node for "very much"
    assert (scores.pairs, scores.reasons) == (2, {})


def test_a_text_that_is_missing_counts_as_an_empty_one(trip: RoundTrip) -> None:
    scores = score_texts([Decoded(TEXTS[0]), Decoded(None, "no-form: why")], GRAPHS, REFERENCES, trip)
    whole = score_texts([Decoded(text) for text in TEXTS], GRAPHS, REFERENCES, trip)
    assert scores.bleu < whole.bleu and scores.chrf < whole.chrf
    assert scores.smatch.micro.recall < whole.smatch.micro.recall
    assert scores.reasons == {"no-form": 1}


def test_any_of_several_references_will_do(trip: RoundTrip) -> None:
    several = [("Slow trains please me.", TEXTS[0]), (TEXTS[1],)]
    scores = score_texts([Decoded(text) for text in TEXTS], GRAPHS, several, trip)
    assert scores.bleu == pytest.approx(100)


def test_pairs_are_read_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "some.amr"
    file.write_text(
        "# ::id a\n# ::snt Birds sing.\n(s / sing-01 :ARG0 (b / bird))\n\n# ::id b\n(g / go-01)\n"
    )
    with pytest.raises(InputError, match=r"some\.amr:5: the graph has no text: add"):
        read_graph_text_pairs(file)
    file.write_text("# ::snt Birds sing.\n(s / sing-01\n   :ARG0 (b / bird)\n")
    with pytest.raises(InputError, match=r"some\.amr:\d: line \d, column"):
        read_graph_text_pairs(file)
    file.write_text("# ::id a\n# ::snt Birds sing.\n(s / sing-01 :ARG0 (b / bird))\n")
    assert [(graph.id, text) for graph, text in read_graph_text_pairs(file)] == [("a", "Birds sing.")]


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(InputError, match=r"need sacrebleu: pip install 'graphneg\[evaluation\]'"):
        check_packages()
