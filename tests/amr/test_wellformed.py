"""Tests of the defects that `check` finds in AMR graphs: one example of each code."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.amr.penman import parse_graph
from graphneg.amr.wellformed import CODES, Defect, check, check_file
from graphneg.errors import InputError
from tests.graphs import bundled

DEFECTIVE = {
    "duplicate-edge": "(w / want-01 :ARG0 (b / boy) :ARG1 b :ARG1 b)",
    "double-polarity": "(w / want-01 :polarity - :polarity -)",
    "double-mode": "(w / want-01 :mode imperative :mode expressive)",
    "constant-inverted": "(w / want-01 :ARG0-of 1)",
    "self-mention": "(w / want-01 :ARG1 w)",
    "undefined-variable": "(w / want-01 :ARG0 b2)",
    "name-without-op": "(c / city :name (n / name :mod (o / old)))",
    "snt-order": "(m / multi-sentence :snt1 (a / a) :snt3 (b / b))",
    "op-order": "(a / and :op1 (a2 / a) :op1 (b / b))",
    "unknown-frame": "(w / wantt-01 :ARG0 (b / boy))",
    "malformed-role": "(w / want-01 :ARG.0 (b / boy))",
}

SOUND = [
    "(a / and :op2 (c / come-01))",
    "(a / and :op1 (b / boy) :op2 b)",
    "(m / multi-sentence :snt2 (a / a) :snt1 (b / b))",
    '(n / name :op1 "x" :op2 "b2")',
    "(t / thing :li a :value b :quant 3 :polarity -)",
    "(w / want-01 :polarity (a / amr-unknown) :mod (o / only :polarity -))",
    "(t / team :consist-of (p / person) :ARG0-of (w / win-01))",
]


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_a_graph_that_shows_it_alone(code: str) -> None:
    [defect] = check(parse_graph(DEFECTIVE[code]), {"want-01", "come-01"})
    assert defect.code == code
    assert defect.message


@pytest.mark.parametrize("text", SOUND)
def test_graphs_that_follow_the_guidelines_have_no_defect(text: str) -> None:
    assert check(parse_graph(text)) == []


def test_defects_are_listed_in_the_order_of_their_nodes() -> None:
    graph = parse_graph("(a / and :op3 (w / want-01 :polarity - :polarity - :ARG1 w) :op3 (n / name))")
    assert [(defect.position, defect.code) for defect in check(graph)] == [
        (0, "op-order"), (1, "double-polarity"), (1, "self-mention"), (4, "name-without-op"),
    ]  # fmt: skip


def test_a_message_names_the_node_and_its_role() -> None:
    assert check(parse_graph("(m / multi-sentence :snt2 (a / a))")) == [
        Defect("snt-order", 0, "multi-sentence has :snt2")
    ]


def test_frames_are_checked_only_against_an_inventory() -> None:
    graph = parse_graph("(w / wantt-01 :ARG0 (p / person :ARG0-of (h / have-org-role-91)))")
    assert check(graph) == []
    assert [d.message for d in check(graph, {"have-org-role-91"})] == [
        "wantt-01 is not in the frame inventory"
    ]


def test_the_bundled_graphs_have_no_defect() -> None:
    assert {graph.id: check(graph) for graph in bundled() if check(graph)} == {}


class TestFiles:
    def test_each_defect_comes_with_file_line_and_id(self, tmp_path: Path) -> None:
        file = tmp_path / "graphs.amr"
        file.write_bytes(
            b"\xef\xbb\xbf# ::id one\r\n(w / want-01\r\n"
            b"   :ARG0 (b / boy\r\n      :polarity - :polarity -))\r\n\r\n"
            b"# ::id two ::date today\r\n(c / cat\r\n   :mod (c / cute))\r\n\r\n(d / dog)\r\n"
        )
        found = [(d.file, d.line, d.id, d.code) for d in check_file(file)]
        assert found == [
            (str(file), 3, "one", "double-polarity"),
            (str(file), 8, "two", "duplicate-variable"),
        ]

    def test_a_sound_file_has_none(self, tmp_path: Path) -> None:
        file = tmp_path / "graphs.amr"
        file.write_text("(d / dog)\n")
        assert list(check_file(file)) == []

    @pytest.mark.parametrize(
        ("content", "reason"), [(b"", "no PENMAN graph"), (b"# only notes\n", "no PENMAN graph"),
                                (b"(c / caf\xe9)", "not UTF-8 at byte 8")],
    )  # fmt: skip
    def test_a_file_that_is_not_penman_is_an_error(self, content: bytes, reason: str, tmp_path: Path) -> None:
        file = tmp_path / "graphs.amr"
        file.write_bytes(content)
        with pytest.raises(InputError, match=reason):
            list(check_file(file))

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="can't be read: No such file"):
            list(check_file(tmp_path / "none.amr"))

    def test_a_device_is_not_read(self) -> None:
        with pytest.raises(InputError, match="/dev/zero: not a regular file"):
            list(check_file("/dev/zero"))
