"""Tests of parsing lines of a file, of the report, and of the process pool."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graphneg.amr.penman import parse_graph
from graphneg.errors import InputError, ParserError
from graphneg.model import AmrGraph
from graphneg.parsers import jobs
from graphneg.parsers.base import Parsed, checked, readable_text, warning_code
from graphneg.parsers.jobs import ParseReport, decoded_lines, open_pool, parse_lines, sentences_of
from graphneg.parsers.stored import NewGraph, ParseScope, PendingText, parse_row
from graphneg.progress import NoProgress
from tests.toy_parser import ToyParser


def blocks(lines: Sequence[str], report: ParseReport | None = None) -> list[str]:
    with open_pool(ToyParser()) as pool:
        return list(parse_lines(pool, lines, report or ParseReport(pool.source)))


class TestLines:
    def test_each_line_gives_a_block(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jobs, "BATCH", 2)
        texts = ["Dogs bark.", "", "nothing here", "a\x00b", "Cats sleep."]
        told: list[tuple[str, str]] = []
        report = ParseReport(
            "toy 1", on_warning=lambda text, warning: told.append((text, warning_code(warning)))
        )
        made = blocks(texts, report)
        assert [block.splitlines()[0] for block in made] == [
            "# ::snt Dogs bark.", "# ::snt", "# ::snt nothing here", "# ::snt a\ufffdb", "# ::snt Cats sleep."
        ]  # fmt: skip
        graphs = [parse_graph(block).top.concept for block in made]
        assert graphs == ["speak-01", "amr-empty", "amr-unintelligible", "speak-01", "speak-01"]
        assert (report.parsed, report.graphs, report.failed) == (5, 4, 1)
        assert told == [("line 2", "empty"), ("line 3", "no-graph"), ("line 4", "characters")]
        assert report.seconds > 0

    def test_byte_order_marks_are_removed_and_invalid_bytes_kept(self) -> None:
        stream = [b"\xef\xbb\xbfone\r\n", b"t\xffwo\n", b"three"]
        assert list(decoded_lines(stream, NoProgress())) == ["one", "t\udcffwo", "three"]

    def test_no_lines_give_no_blocks(self) -> None:
        assert blocks([]) == []


class TestAReport:
    def test_a_report_has_three_examples_of_each_warning(self) -> None:
        report = ParseReport("toy 1")
        for n in range(9):
            report.warn(str(n), ["long: more", "odd: so"])
        assert report.warnings == {"long": 9, "odd": 9}
        assert [text for text, _ in report.examples["long"]] == ["0", "1", "2"]

    def test_a_report_has_a_summary_line(self) -> None:
        report = ParseReport("toy 1", parsed=2, reused=1, graphs=3, replaced=2, sentences=4000, seconds=2.0)
        assert report.summary() == (
            "toy 1: 3 graphs of 3 texts, 4,000 sentences in 2.0 s (2,000/s); 1 reused, 2 replaced"
        )
        assert ParseReport("toy 1").summary() == "toy 1: 0 graphs of 0 texts, 0 sentences in 0.0 s"

    def test_sentences_are_counted_by_roles(self) -> None:
        assert sentences_of(parse_graph("(m / multi-sentence :snt1 (a / a) :snt2 (b / b) :mod (c / c))")) == 2
        assert sentences_of(parse_graph("(m / multi-sentence)")) == sentences_of(parse_graph("(a / a)")) == 1


class TestAPool:
    def test_tags_of_batches_are_returned(self) -> None:
        with open_pool(ToyParser()) as pool:
            found = list(pool.parse_tagged([("a", ["Dogs bark."]), ("b", []), ("c", ["No.", "Yes."])]))
        assert [(tag, len(answers)) for tag, answers in found] == [("a", 1), ("b", 0), ("c", 2)]
        assert pool.source == "toy 1"

    def test_an_unknown_parser_is_refused(self) -> None:
        with pytest.raises(ParserError, match="no parser named 'none'"):
            open_pool("none")

    def test_checked_graphs_have_their_penman_text(self) -> None:
        first, second = checked(ToyParser()).parse_batch(["Hi.", " "])
        for parsed in (first, second):
            assert parsed.graph is not None and parse_graph(parsed.penman or "").nodes == parsed.graph.nodes


class TestWhatIsStored:
    def test_invalid_scopes_are_refused(self) -> None:
        with pytest.raises(InputError, match="kinds must be one or more of utterances, responses, not empty"):
            ParseScope(kinds=())
        with pytest.raises(InputError, match="unknown value 'drop' of existing; choose one of keep, replace"):
            ParseScope(existing="drop")  # type: ignore[arg-type]

    def test_a_cached_parse_omits_missing_spans_and_warnings(self) -> None:
        graph = parse_graph("(g / go-02 :ARG0 (i / i))")
        plain = parse_row("k", "toy 1", Parsed(graph, (), "(g / go-02)"))
        assert set(plain) == {"id", "source", "penman"}
        spanned = AmrGraph("", graph.nodes, spans={1: (0, 1), 0: (1, 2)})
        row = parse_row("k", "toy 1", Parsed(spanned, ("long: so",), "(g / go-02)"))
        assert (row["spans"], row["warnings"]) == ([0, 1, 2, 1, 0, 1], ["long: so"])

    def test_a_graph_larger_than_a_transaction_does_not_fit(self) -> None:
        graph, text = parse_graph("(g / go-02 :ARG0 (i / i))"), PendingText("utterances", "u", "I go.", ())
        small = NewGraph(graph, text, Parsed(graph, (), "(g / go-02)"), None)
        large = NewGraph(graph, text, Parsed(graph, (), "x" * 5_000_000), None)
        assert small.rows == 7 and small.fits and not large.fits


def test_readable_text_keeps_tabs_and_line_breaks() -> None:
    assert readable_text("a\tb\nc\x07") == "a\tb\nc\ufffd"
