"""Tests of the kinds of nouns (person, food, place, ...), in WordNet's files and in a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.english.lexicon import english
from graphneg.english.noun_kinds import OTHER, kind_of
from graphneg.store.connection import Store
from tests.servers import wipe
from tests.transform_runs import dialogue, load
from tools.noun_kinds import noun_kinds

DATA = """\
  1 a comment line of the files
00000001 03 n 01 thing 0 000 | all there is
00000002 05 n 01 animal 0 001 @ 00000001 n 0000 | what moves by itself
00000003 05 n 01 dog 0 001 @ 00000002 n 0000 | it barks
00000004 19 n 01 rain 0 001 @ 00000001 n 0000 | it falls
00000005 24 n 01 half 0 001 @ 00000001 n 0000 | one of two
"""
INDEX = """\
dog n 1 1 @ 1 1 00000003
rain n 1 1 @ 1 1 00000004
half n 1 1 @ 1 1 00000005
run n 1 1 @ 1 1 00000004
"""
SENSES = """\
dog%1:05:00:: 00000003 1 9
rain%1:19:00:: 00000004 1 2
run%1:19:00:: 00000004 1 1
run%2:38:00:: 00000009 1 5
"""


@pytest.mark.parametrize(
    ("word", "kind"),
    [("sister", "person"), ("kitchen", "place"), ("cheese", "food"), ("apple-pie", "food"), ("week", "time")],
)
def test_the_kind_of_a_noun(word: str, kind: str) -> None:
    assert kind_of(word) == kind


@pytest.mark.parametrize("word", ["quickly", "run", "unheard-of", ""])
def test_words_that_are_rarely_nouns_have_no_kind(word: str) -> None:
    assert kind_of(word) == OTHER


def test_kinds_come_from_hypernyms_or_lexicographer_files(tmp_path: Path) -> None:
    for name, text in (("data.noun", DATA), ("index.noun", INDEX), ("index.sense", SENSES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = ["dog", "rain", "half", "run", "cat"]
    assert noun_kinds(tmp_path, words) == {"dog": "animal", "rain": "matter"}


def test_nodes_and_terms_of_a_store_have_a_kind(embedded: Store) -> None:
    wipe(embedded)
    load(embedded, [dialogue("(f / feed-01 :ARG0 (i / i) :ARG1 (d / dog))")])
    nodes = embedded.read("MATCH (n:AmrNode) RETURN n.concept AS concept, n.kind AS kind ORDER BY n.position")
    assert [(row["concept"], row["kind"]) for row in nodes] == [
        ("feed-01", None),
        ("i", OTHER),
        ("dog", "animal"),
    ]
    [term] = embedded.read("MATCH (t:Term {text: 'dog'}) RETURN t.kind AS kind")
    assert term["kind"] == "animal"


def test_antonyms_have_the_kinds_of_nouns_they_modify() -> None:
    modified_kinds_of = english().modified_kinds
    assert (
        modified_kinds_of("old", "young")
        == modified_kinds_of("young", "old")
        == ["animal", "person", "plant"]
    )
    assert modified_kinds_of("meet", "pass") == [] and modified_kinds_of("tall", "purple") is None
