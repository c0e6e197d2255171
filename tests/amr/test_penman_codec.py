"""Tests of the PENMAN codec: graphs are written as they were read, malformed ones refused by line."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import penman
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.amr.penman import (
    MAX_DEPTH,
    format_graph,
    is_inverted,
    iter_blocks,
    metadata,
    parse_graph,
    parse_located,
    token_span,
)
from graphneg.errors import PenmanError
from graphneg.model import AmrGraph

SHARED = Path(__file__).parents[3] / "shared" / "data"
CORPORA = ["amr_little_prince/lpp-train.txt", "amr_little_prince/lpp-dev.txt"]
PARTS = ("dev", "test", "train")
CORPORA += [f"sick_silver_amr/main/{side}.{part}.amr" for side in ("src", "tgt") for part in PARTS]

ROUND_TRIPS = {
    "a node alone": "(c / chapter)",
    "a constant": "(c / chapter :mod 1)",
    "a string": '(n / name :op1 "True")',
    "a string with spaces": '(n / name :op1 "True Stories from Nature")',
    "a string with escapes": r'(n / name :op1 "a \"quoted\" \\ word")',
    "a string with brackets, a slash, a colon and a hash": '(n / name :op1 "(a / b :c #d) ~e.1")',
    "an empty string": '(n / name :op1 "")',
    "a string as a concept": '(n / "a concept" :mod (o / odd))',
    "a symbol with a hash inside": "(c / c#-language)",
    "symbols with punctuation": "(d / date-entity :time 12.30 :op1 a,b :op2 + :op4 <x>&'y'|[z]{}!?*=%$@^`;)",
    "letters beyond ASCII": '(x / café :op1 "Über 日本 🙂" :rôle (ж / жить))',
    "white space beyond ASCII in a string": '(n / name :op1 "a\u00a0b\u2028c\x85d\x1ce")',
    "alignments of concepts, mentions, constants and roles":
        "(w / want-01~e.1 :ARG0~e.0 (b / boy~e.0) :ARG1 (g / go-02~e.3,4 :ARG0 b~5 :quant 2~e.7 :mod~8 -))",
    "a mention behind its definition": "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))",
    "a mention before its definition": "(w / want-01 :ARG1 (g / go-02 :ARG0 b) :ARG0 (b / boy))",
    "a mention of the top": "(w / want-01 :ARG1 (g / go-02 :cause w))",
    "a node that mentions itself": "(w / want-01 :ARG1 w)",
    "inverse roles": "(b / boy :ARG0-of (w / want-01 :ARG1 (g / go-02 :ARG0 b)) :ARG1-of w)",
    "roles that only look inverse":
        "(t / team :consist-of (p / person) :prep-out-of 3 :prep-on-behalf-of (y / you))",
    "their inverses": "(p / person :consist-of-of (t / team))",
    "one role many times": "(a / and :op1 (x / x) :op1 (x2 / x) :op1 x :op1 1 :op1 1)",
    "a string that reads like a variable": '(b / boy :mod "b" :mod b2)',
    "a variable that reads like a constant": "(- / minus :polarity - :quant 1 :mod (1 / one))",
    "a comment line": "# a plain comment\n(c / chapter)",
    "metadata": "# ::id lpp.1 ::date today\n# ::snt Chapter 1 .\n(c / chapter :mod 1)",
    "odd comment lines": "#\n##  ::snt  two  spaces \t\n# ::empty\n# ::tok ( / \" ~e.1 : )\n(c / chapter)",
    "comment lines with white space beyond ASCII":
        "# ::snt one\u2028two\x85three\x0bfour\x1cfive\u00a0\n(c / chapter)",
}  # fmt: skip

REFUSALS = {
    "no text": ("", "no-graph", 1, 1),
    "comments alone": ("# ::id 1\n# ::snt a", "no-graph", 2, 1),
    "no bracket": ("chapter", "syntax", 1, 1),
    "a bracket that never closes": ("(c / chapter\n   :mod (o / old)", "unclosed", 2, 17),
    "a bracket too many": ("(c / chapter))", "trailing-text", 1, 14),
    "a second graph behind the first": ("(c / chapter)\n  (d / dog)", "trailing-text", 2, 3),
    "no variable": ("(/ chapter)", "syntax", 1, 2),
    "no concept": ("(c)", "no-concept", 1, 2),
    "a slash without a concept": ("(c / :mod 1)", "no-concept", 1, 4),
    "nothing at all in brackets": ("()", "syntax", 1, 2),
    "two concepts": ("(c / chapter / book)", "duplicate-instance", 1, 14),
    "a second concept further on": ("(c / chapter :mod 1 / book)", "duplicate-instance", 1, 21),
    "a role without a target": ("(c / chapter\n   :mod )", "dangling-role", 2, 4),
    "a role before a role": ("(c / chapter :mod :quant 1)", "dangling-role", 1, 14),
    "a role without a name": ("(c / chapter : 1)", "empty-role", 1, 14),
    "a variable introduced twice": ("(c / chapter\n   :mod (c / cat))", "duplicate-variable", 2, 10),
    "words without a role": ("(c / chapter one)", "syntax", 1, 14),
    "a string that never closes": ('(n / name :op1 "True)', "syntax", 1, 16),
    "an alignment without a number": ("(c / chapter~e.)", "syntax", 1, 13),
    "two alignments": ("(c / chapter~e.1~e.2)", "syntax", 1, 17),
    "an alignment of a node": ("(c / chapter :mod (o / old)~e.1)", "syntax", 1, 28),
    "a comment inside": ("(c / chapter\n# ::snt x\n   :mod 1)", "syntax", 2, 1),
    "a comment behind": ("(c / chapter)\n# done", "trailing-text", 2, 1),
    "a lone surrogate": ('(n / name :op1 "a\ud800")', "not-unicode", 1, 18),
    "too many brackets": ("".join(f"(x{n} / x :y " for n in range(10_000)), "too-deep", 1, None),
}  # fmt: skip


def graphs_of(text: str) -> Iterator[str]:
    return (block for _, block in iter_blocks(text))


def assert_sound(graph: AmrGraph) -> None:
    """Assert that nodes are numbered in written order, subtrees are ranges, and branches have no gaps."""
    places: dict[int, list[int]] = {}
    for at, node in enumerate(graph.nodes):
        assert node.position == at
        assert (node.parent is None) == (node.role is None) == (at == 0)
        assert (node.concept is None) == (node.var is None) == (node.value is not None)
        if node.parent is not None:
            assert node.parent < at <= graph.nodes[node.parent].subtree_last
            places.setdefault(node.parent, []).append(node.branch)
        assert node.subtree_last == max([at, *(child.subtree_last for child in graph.children(at))])
    for mention in graph.mentions:
        assert graph.nodes[mention.target].concept is not None
        places.setdefault(mention.parent, []).append(mention.branch)
    assert all(sorted(taken) == list(range(len(taken))) for taken in places.values())


class TestRoundTrips:
    @pytest.mark.parametrize("text", ROUND_TRIPS.values(), ids=list(ROUND_TRIPS))
    def test_a_graph_is_written_as_it_was_read(self, text: str) -> None:
        graph = parse_graph(text, "an id")
        assert_sound(graph)
        assert graph.id == "an id"
        written = format_graph(graph)
        assert parse_graph(written, "an id") == graph
        assert format_graph(parse_graph(written)) == written

    @pytest.mark.parametrize("name", ROUND_TRIPS)
    def test_the_penman_package_reads_the_same_from_both(self, name: str) -> None:
        text = ROUND_TRIPS[name]
        for character in "\u2028\x85\x0b\x1c":  # the penman package splits lines at these
            text = text.replace(character, "_")
        assert penman.parse(format_graph(parse_graph(text))).node == penman.parse(text).node

    @pytest.mark.parametrize("corpus", CORPORA)
    def test_a_corpus_is_written_as_it_was_read(self, corpus: str) -> None:
        if not (SHARED / corpus).exists():
            pytest.skip(f"{corpus} is not on this machine")
        logging.getLogger("penman").setLevel(logging.ERROR)
        count = 0
        for text in graphs_of((SHARED / corpus).read_text(encoding="utf-8")):
            graph = parse_graph(text)
            written = format_graph(graph)
            before, after = penman.parse(text), penman.parse(written)
            assert (after.node, after.metadata) == (before.node, before.metadata)
            if corpus.startswith("amr_little_prince"):
                assert penman.interpret(after).triples == penman.interpret(before).triples
            assert penman.format(after) == penman.format(before)
            assert list(graph.metadata) == [line for line in text.split("\n") if line.startswith("#")]
            count += 1
        assert count == (SHARED / corpus).read_text(encoding="utf-8").count("\n(")

    def test_line_ends_of_windows_and_old_macs_are_read(self) -> None:
        text = "# ::id 1\n(w / want-01\n   :ARG0 (b / boy)\n   :polarity -)"
        for ending in ("\r\n", "\r"):
            assert format_graph(parse_graph(text.replace("\n", ending))) == text

    def test_white_space_between_tokens_makes_no_difference(self) -> None:
        tidy = parse_graph('(w / want-01 :ARG0 (b / boy) :op1 "a" :mod -)')
        assert parse_graph('(w/want-01:ARG0(b/boy):op1"a":mod -)') == tidy
        assert parse_graph('\n\n\t(w\n/\n\nwant-01\n\n:ARG0\t(b / boy)\v\f:op1 "a"\n:mod - \n)\n\n') == tidy

    def test_the_deepest_graph_that_is_read_is_written_too(self) -> None:
        text = "".join(f"(x{n} / x :y " for n in range(MAX_DEPTH - 1)) + "(z / z)" + ")" * (MAX_DEPTH - 1)
        assert parse_graph(format_graph(parse_graph(text))) == parse_graph(text)

    def test_a_broad_graph_is_read_in_linear_time(self) -> None:
        def seconds(branches: int) -> float:
            text = "(a / and " + " ".join(f":op{n} (x{n} / x :mod a)" for n in range(1, branches + 1)) + ")"
            began = time.process_time()
            graph = parse_graph(text)
            assert (len(graph.nodes), len(graph.mentions)) == (branches + 1, branches)
            return time.process_time() - began

        # 8 times the branches take about 8 times as long in linear time, and 64 times in quadratic time.
        assert min(seconds(20_000) for _ in range(3)) < 24 * min(seconds(2_500) for _ in range(3))

    letters = st.characters(exclude_categories=["Cs"], exclude_characters=' \t\r\n\v\f"()/:~#\\')
    words = st.text(letters, min_size=1, max_size=6)
    strings = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\\\r\n'), max_size=8)

    @given(
        concepts=st.lists(words, min_size=1, max_size=12),
        ups=st.lists(st.integers(0, 11), min_size=12, max_size=12),
        roles=st.lists(words, min_size=12, max_size=12),
        constants=st.lists(st.tuples(st.integers(0, 11), words, strings), max_size=4),
        mentions=st.lists(st.tuples(st.integers(0, 11), words, st.integers(0, 11)), max_size=6),
        notes=st.lists(strings, max_size=3),
    )
    @settings(max_examples=300)
    def test_any_graph_of_any_characters_is_written_as_it_was_read(
        self,
        concepts: list[str],
        ups: list[int],
        roles: list[str],
        constants: list[tuple[int, str, str]],
        mentions: list[tuple[int, str, int]],
        notes: list[str],
    ) -> None:
        size = len(concepts)
        below: list[list[str]] = [[] for _ in concepts]
        for up, role, target in mentions:
            below[up % size].append(f":{role} v{target % size}")
        for up, role, text in constants:
            below[up % size].append(f':{role} "{text}"')
        for k in range(size - 1, 0, -1):
            below[ups[k] % k].append(f":{roles[k]} (v{k} / {concepts[k]} {' '.join(below[k])})")
        text = "\n".join([*(f"# {note}" for note in notes), f"(v0 / {concepts[0]} {' '.join(below[0])})"])
        graph = parse_graph(text)
        assert_sound(graph)
        assert len(graph.mentions) == len(mentions)
        assert graph.metadata == tuple(f"# {note}" for note in notes)
        assert parse_graph(format_graph(graph)) == graph


class TestRefusals:
    @pytest.mark.parametrize(("text", "code", "line", "column"), REFUSALS.values(), ids=list(REFUSALS))
    def test_a_malformed_graph_is_refused_with_its_place(
        self, text: str, code: str, line: int, column: int | None
    ) -> None:
        with pytest.raises(PenmanError) as caught:
            parse_graph(text)
        error = caught.value
        assert (error.code, error.line) == (code, line)
        assert column is None or error.column == column
        assert str(error) == f"line {error.line}, column {error.column}: {error.message} [{code}]"

    def test_line_numbers_count_from_the_start_of_the_file(self) -> None:
        with pytest.raises(PenmanError, match=r"^line 42, column 4: "):
            parse_graph("# ::id 1\n(c / chapter\n   :mod )", first_line=40)

    def test_a_carriage_return_is_a_line_end_in_error_positions(self) -> None:
        with pytest.raises(PenmanError) as caught:
            parse_graph("# one\u2028line\r\n(c / chapter\r   :mod )")
        assert (caught.value.line, caught.value.column) == (3, 4)


class TestBlocks:
    def test_graphs_need_no_blank_line_between_them(self) -> None:
        text = "# ::id 1\n(a / a)\n# ::id 2\n(b / b\n   :mod (c / c))\n(d / d) (e / e)\n"
        assert list(iter_blocks(text)) == [
            (1, "# ::id 1\n(a / a)"),
            (3, "# ::id 2\n(b / b\n   :mod (c / c))"),
            (6, "(d / d)"),
            (6, " (e / e)"),
        ]

    def test_blank_lines_inside_a_graph_keep_it_whole(self) -> None:
        [(line, block)] = iter_blocks("\n\n(a / a\n\n   :mod (b / b))\n\n")
        assert line == 3
        assert parse_graph(block) == parse_graph("(a / a :mod (b / b))")

    def test_an_unclosed_graph_does_not_affect_the_next_one(self) -> None:
        text = "# ::id 1\n(a / a\n   :mod (b / b)\n\n# ::id 2\n(c / c)\n(d / d\n(e / e)"
        blocks = list(iter_blocks(text))
        assert [line for line, _ in blocks] == [1, 5, 7, 8]
        codes = []
        for line, block in blocks:
            try:
                parse_graph(block, first_line=line)
                codes.append("")
            except PenmanError as error:
                codes.append(error.code)
        assert codes == ["unclosed", "", "unclosed", ""]

    def test_brackets_in_strings_are_ignored(self) -> None:
        text = '(n / name :op1 ")" :op2 "(" :op3 "\\")")\n(b / b)'
        assert [line for line, _ in iter_blocks(text)] == [1, 2]

    def test_comments_without_a_graph_are_skipped_unless_they_announce_one(self) -> None:
        text = "# AMR release; (generated today)\n\n# ::id 1\n(a / a)\n\n# ::id 2\n# ::snt lost\n\n"
        text += "# ::id 3\n(b / b)\n# end"
        assert [line for line, _ in iter_blocks(text)] == [3, 6, 9]

    def test_lines_can_be_passed_one_by_one_with_any_ending(self) -> None:
        lines = ["# ::id 1\r\n", "(a / a\r\n", "   :mod 1)\r\n", "\r\n", "(b / b)"]
        assert list(iter_blocks(iter(lines))) == [(1, "# ::id 1\n(a / a\n   :mod 1)"), (5, "(b / b)")]

    def test_no_character_is_lost(self) -> None:
        text = '# ::snt one\u2028two\x85three\n(a / a\n   :op1 "b\u2028c")'
        assert [block for _, block in iter_blocks(text)] == [text]


class TestParts:
    def test_each_node_knows_its_line(self) -> None:
        text = "# ::id 1\n(w / want-01\n   :ARG0 (b / boy)\n   :ARG1 b\n   :mod 1)"
        graph, lines = parse_located(text, "", 10)
        assert [(node.label, line) for node, line in zip(graph.nodes, lines, strict=True)] == [
            ("want-01", 11), ("boy", 12), ("1", 14),
        ]  # fmt: skip

    def test_a_subtree_is_a_range_of_nodes(self) -> None:
        graph = parse_graph("(a / a :x (b / b :y (c / c) :z 1) :w (d / d :v b))")
        assert [node.label for node in graph.subtree(1)] == ["b", "c", "1"]
        assert [node.label for node in graph.children(0)] == ["b", "d"]

    def test_spans_follow_alignments(self) -> None:
        graph = parse_graph("(a / a~e.3 :x (b / b~2,5) :y 1~e.7 :z (c / c))")
        assert graph.spans == {0: (3, 4), 1: (2, 6), 2: (7, 8)}
        assert token_span(None) is None

    def test_metadata_is_read_by_key(self) -> None:
        lines = ["# ::id a.1 ::date  x  y ::new", "#::snt What :: is std::cout ? ", "# note", "# ::id a.2"]
        assert metadata(lines) == {"id": "a.2", "date": "x  y", "new": "", "snt": "What :: is std::cout ?"}

    @pytest.mark.parametrize(
        ("role", "inverted"),
        [("ARG0", False), ("ARG0-of", True), ("consist-of", False), ("consist-of-of", True),
         ("prep-out-of", False), ("prep-on-behalf-of", False), ("part-of", True), ("of", False)],
    )  # fmt: skip
    def test_inverse_roles_differ_from_roles_that_end_in_of(self, role: str, inverted: bool) -> None:
        assert is_inverted(role) is inverted
