"""Tests that the queries of shipped transforms contain no word lists or regular expressions."""

from __future__ import annotations

import re

import pytest

from graphneg.editing.transforms import load_transforms

TRANSFORMS = load_transforms()
MOST_WORDS = 6
STRINGS = re.compile(r"\[\s*'[^']*'(?:\s*,\s*'[^']*')*\s*\]")
COLLECTED_NODES = re.compile(r"\bcollect\(\s*(?:DISTINCT\s+)?(?:n|p)\s*\)|\bcollect\(\{[^}]*: n\b")


@pytest.mark.parametrize("name", sorted(TRANSFORMS))
def test_a_transform_holds_no_list_of_words_and_no_regular_expression(name: str) -> None:
    query = TRANSFORMS[name].query
    assert "=~" not in query
    assert max((found.count("'") // 2 for found in STRINGS.findall(query)), default=0) <= MOST_WORDS


@pytest.mark.parametrize("name", sorted(TRANSFORMS))
def test_a_transform_collects_the_nodes_of_a_graph_once(name: str) -> None:
    assert len(COLLECTED_NODES.findall(TRANSFORMS[name].query)) <= 1
