"""Tests of the parser interface: checked answers, odd texts, and finding parsers by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphneg.amr.penman import format_graph, parse_graph
from graphneg.decoders.base import decoder_names, get_decoder
from graphneg.errors import DecoderError, ParserError
from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.base import LONGEST_TEXT, Parsed, checked, get_parser, parser_names
from tests.toy_parser import ToyParser, install

GOOD = "(l / like-01 :ARG0 (i / i))"


class FixedAnswers:
    """Return the same answers for any texts, and remember the texts."""

    name, version = "fixed", "1"

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.texts: list[str] = []

    def parse_batch(self, texts: Sequence[str]) -> Sequence[Any]:
        self.texts += texts
        return self.answers


def parse_one(answer: Any, text: str = "A text.") -> Parsed:
    [parsed] = checked(FixedAnswers(answer)).parse_batch([text])
    return parsed


class TestAnAnswer:
    @pytest.mark.parametrize("answer", [GOOD, parse_graph(GOOD), Parsed(parse_graph(GOOD))])
    def test_an_answer_can_be_a_graph_or_penman(self, answer: Any) -> None:
        parsed = parse_one(answer)
        assert parsed.graph is not None and format_graph(parsed.graph) == format_graph(parse_graph(GOOD))
        assert parsed.warnings == ()

    def test_warnings_and_spans_of_an_answer_are_kept(self) -> None:
        graph = AmrGraph("", parse_graph(GOOD).nodes, spans={0: (1, 2)})
        parsed = parse_one(Parsed(graph, ("truncated: 3 of 9 tokens were not read",)))
        assert parsed.warnings == ("truncated: 3 of 9 tokens were not read",)
        assert parsed.graph is not None and parsed.graph.spans == {0: (1, 2)}

    @pytest.mark.parametrize(
        ("answer", "warning"),
        [
            (None, "no-graph: the parser returned no graph"),
            (Parsed(None), "no-graph: the parser returned no graph"),
            (Parsed(None, ("out-of-memory: too long",)), "out-of-memory: too long"),
            ("(l / like-01", "ill-formed: line 1, column 6"),
            ("", "ill-formed: "),
            ("(l / like-01 :polarity - :polarity -)", "ill-formed: like-01 has :polarity - 2 times"),
            (AmrGraph("", (AmrNode(0, 5, "l", "like-01", None, None, None, 0),)), "ill-formed: "),
            (AmrGraph("", (AmrNode(0, 0, "a b", "like-01", None, None, None, 0),)), "ill-formed: "),
        ],
    )
    def test_an_unusable_answer_becomes_a_warning(self, answer: Any, warning: str) -> None:
        parsed = parse_one(answer)
        assert parsed.graph is None
        assert parsed.warnings[0].startswith(warning)

    def test_an_answer_of_another_type_is_an_error(self) -> None:
        with pytest.raises(ParserError, match="answered with a int"):
            parse_one(42)

    @pytest.mark.parametrize("answers", [[], [GOOD], [GOOD] * 3])
    def test_each_text_needs_an_answer(self, answers: list[str]) -> None:
        with pytest.raises(ParserError, match=rf"answered {len(answers)} of 2 texts"):
            checked(FixedAnswers(*answers)).parse_batch(["One.", "Two."])


class TestAText:
    @pytest.mark.parametrize("text", ["", " ", "\n\t "])
    def test_an_empty_text_is_not_parsed(self, text: str) -> None:
        parser = FixedAnswers(GOOD)
        first, second = checked(parser).parse_batch([text, "Words."])
        assert parser.texts == ["Words."]
        assert first.graph is not None and first.graph.top.concept == "amr-empty"
        assert first.warnings == ("empty: the text has no words",)
        assert second.warnings == ()

    def test_control_characters_are_replaced(self) -> None:
        parser = FixedAnswers(GOOD)
        [parsed] = checked(parser).parse_batch(["a\x00b \ud83d ok\nü"])
        assert parser.texts == ["a�b � ok\nü"]
        assert parsed.warnings == ("characters: 2 control characters or lone surrogates were read as U+FFFD",)

    def test_a_foreign_text_gives_a_warning(self) -> None:
        told = [
            parsed.warnings
            for parsed in checked(FixedAnswers(GOOD, GOOD)).parse_batch(["Ich bin zu müde.", "Hi."])
        ]
        assert told == [("language: few words of the text are English, so it is not edited",), ()]


class TestFinding:
    def test_shipped_and_installed_parsers_are_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert {"amrlib", "dependency"} <= set(parser_names())
        install(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        assert "toy" in parser_names()
        assert get_parser("toy", version="7").version == "7"

    def test_an_unknown_name_lists_the_known_ones(self) -> None:
        with pytest.raises(ParserError, match="no parser named 'none'; choose one of amrlib, dependency"):
            get_parser("none")

    def test_an_unknown_option_is_refused(self) -> None:
        with pytest.raises(ParserError, match=r"dependency takes no option 'beams'; it takes model"):
            get_parser("dependency", beams=4)

    def test_a_parser_object_needs_only_parse_batch(self) -> None:
        class Bare:
            def parse_batch(self, texts: Sequence[str]) -> list[str]:
                return [GOOD for _ in texts]

        parser = checked(Bare())  # type: ignore[arg-type]
        assert (parser.name, parser.version) == ("Bare", "")
        with pytest.raises(ParserError, match="object is not a parser: it has no parse_batch"):
            checked(object())  # type: ignore[arg-type]

    def test_a_checked_parser_is_not_wrapped_again(self) -> None:
        parser = checked(ToyParser())
        assert checked(parser) is parser  # type: ignore[arg-type]

    def test_decoders_are_found_by_name(self) -> None:
        assert {"surface", "t5"} <= set(decoder_names())
        with pytest.raises(DecoderError, match="no decoder named 'none'"):
            get_decoder("none")


def test_a_too_long_text_is_not_parsed() -> None:
    parser = FixedAnswers(GOOD)
    fits, long = checked(parser).parse_batch(["a" * LONGEST_TEXT, "It rains. " * 120_000])
    assert fits.graph is not None and len(parser.texts) == 1
    assert long.graph is None
    assert long.warnings == (
        "too-long: 1,200,000 characters; texts of more than 5,000 are neither parsed nor edited",
    )
