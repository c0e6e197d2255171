"""Tests of reading the shipped Cypher files: headers and statements."""

from __future__ import annotations

import pytest

from graphneg.store.statements import cypher_text, read_header, statements


def test_a_header_is_the_comment_lines_that_a_file_opens_with() -> None:
    text = "// hubs: topics\n// $limit (20): rows\n//   at most\n//\n// more\nRETURN 1 // not this\n// nor\n"
    assert read_header("hubs", text) == ("topics", ["$limit (20): rows at most", "", "more"])


@pytest.mark.parametrize("text", ["", "RETURN 1", "// other: topics", "/ hubs: topics", " // hubs: topics"])
def test_a_file_that_does_not_open_with_its_name_has_no_header(text: str) -> None:
    assert read_header("hubs", text) is None


def test_a_script_is_cut_into_statements_without_comments() -> None:
    assert statements("// a; b\nRETURN 1;\n\n  // c\nRETURN 2 ;\n;") == ["RETURN 1", "RETURN 2"]


def test_a_file_that_is_not_shipped_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        cypher_text("load/nothing")
