"""Tests of the tables of the dependency parser: counting gold graphs, frames, and the shipped tables."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.parsers.dependency.lexicon import DELETED, ParserLexicon, load_lexicon
from graphneg.parsers.dependency.text import load_model
from tools.parser_tables import GraphCounts, count_graphs, letters, read_graphs, write_counts, write_frames

GRAPHS = """
# ::id 1
# ::snt The baker gave the boy a roll .
(g / give-01
   :ARG0 (p / person
      :ARG0-of (b / bake-01))
   :ARG1 (r / roll)
   :ARG2 (b2 / boy))

# ::id 2
# ::snt The boy did not sleep .
(s / sleep-01
   :polarity -
   :ARG0 (b / boy))
"""
ROLESET = """<frameset><predicate lemma="wave"><roleset id="wave.01" name="move back and forth">
  <aliases><alias pos="v">wave</alias><alias pos="n">wave</alias></aliases>
  <roles><role descr="waver" f="PAG" n="0"/><role descr="thing" f="PPT" n="1"/></roles>
  <usagenotes><usage resource="AMR" version="2019" inuse="+"/></usagenotes>
  <example name="one"><text>The girl waves a flag .</text><propbank><rel relloc="2">waves</rel>
    <arg type="ARG0" start="0" end="1">The girl</arg><arg type="ARG1" start="3" end="4">a flag</arg>
  </propbank></example>
</roleset><roleset id="wave.02"><broken></roleset></predicate></frameset>
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> GraphCounts:
    file = tmp_path_factory.mktemp("gold") / "gold.amr"
    file.write_text(GRAPHS, encoding="utf-8")
    found = GraphCounts()
    count_graphs(load_model(None), read_graphs([file], ()), 3, found)
    return found


def test_words_are_counted_with_their_concepts(counts: GraphCounts) -> None:
    assert counts.concepts["give", "v", "give-01"] == 3
    assert counts.concepts["boy", "n", "boy"] == 6
    assert counts.concepts["the", "dt", DELETED] == 9


def test_roles_are_counted_with_their_dependency_relations(counts: GraphCounts) -> None:
    assert counts.roles["F", "give-01", "dobj", "ARG1"] == 3
    assert counts.roles["S", "v", "nsubj", "ARG0"] >= 3
    assert counts.roles["S", "v", "neg", "polarity"] == 3


def test_written_tables_can_be_read(counts: GraphCounts, tmp_path: Path) -> None:
    write_counts(counts, tmp_path)
    lexicon = ParserLexicon()
    lexicon.add_concepts(line.split("\t") for line in (tmp_path / "concepts.tsv").read_text().splitlines())
    lexicon.add_roles(line.split("\t") for line in (tmp_path / "roles.tsv").read_text().splitlines())
    assert lexicon.best_concept("give", "v") == "give-01"
    scores = lexicon.role_scores("give-01", "v", "dobj", "roll")
    assert max(scores, key=lambda role: scores[role]) == "ARG1"


def test_test_sentences_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "gold.amr"
    file.write_text(GRAPHS, encoding="utf-8")
    left = read_graphs([file], {letters("The boy did not sleep.")})
    assert [graph.top.concept for graph in left] == ["give-01"]


def test_frames_have_roles_aliases_and_counted_examples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "wave.xml"
    source.write_text(ROLESET, encoding="utf-8")
    assert write_frames([source], load_model(None), tmp_path / "frames.tsv") == 1
    assert "not well-formed XML" in capsys.readouterr().out
    row = (tmp_path / "frames.tsv").read_text(encoding="utf-8").rstrip("\n").split("\t")
    assert row[:4] == ["wave-01", "0:PAG 1:PPT", "v:wave n:wave", "1"]
    assert set(row[4].split()) == {"nsubj=0:1", "dobj=1:1"}


def test_the_shipped_tables_contain_common_frames() -> None:
    lexicon = load_lexicon()
    assert lexicon.frames["give-01"].functions == {"0": "PAG", "1": "PPT", "2": "GOL"}
    assert "give-up-07" in lexicon.candidates("give_up", "v")
    assert lexicon.frames["be-located-at-91"].functions
