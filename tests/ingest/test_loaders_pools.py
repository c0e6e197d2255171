"""Tests of the loaders of sentences: text files, PropBank and WordNet."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.tokens import detokenize, sentences
from graphneg.english.words import content_lemmas
from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.rows import mood_of, sentence_row
from graphneg.model import Record, Rejected, Sentence
from graphneg.store.connection import Store
from tests.servers import wipe

DOG = "02084071 05 n 02 dog 0 hound 0 001 @ 02083346 n 0000"
BREATHE = "00001740 29 v 01 breathe 0 000 01 + 02 00"
SYNSETS = f"""\
  1 This software and database is being provided to you
{DOG} | a tame animal; "the dog slept in the barn all day"; "a big dog"
{BREATHE} | draw air into; "I can breathe better up here"; "Air is food"- A. Poet
"""
FRAMES = """<?xml version="1.0"?>
<frameset><predicate lemma="sip"><roleset id="sip.01" name="drink">
<roles><role n="0" descr="drinker"/></roles>
<example name="one"><text>she did n't sip *PRO* her well - earned tea , did she ?</text></example>
<example name="two"><text> </text></example>
</roleset></predicate></frameset>
"""


def load(loader: str, path: Path, **options: str) -> list[Record]:
    return list(get_loader(loader).read([path], LoadOptions(**options)))


def texts(records: list[Record]) -> list[str]:
    return [one.text for one in records if isinstance(one, Sentence)]


@pytest.fixture
def synsets(tmp_path: Path) -> Path:
    path = tmp_path / "data.noun"
    path.write_text(SYNSETS, encoding="utf-8")
    return path


class TestText:
    def test_a_text_gives_the_sentences_of_each_line(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("It rained. Dr. Hill stayed in.\n\nNobody came.\n", encoding="utf-8")
        assert load("text", path) == [
            Sentence("notes/1.0", "It rained.", "notes"),
            Sentence("notes/1.1", "Dr. Hill stayed in.", "notes"),
            Sentence("notes/3.0", "Nobody came.", "notes"),
        ]

    def test_a_text_can_have_another_name(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("It rained.\n", encoding="utf-8")
        assert load("text", path, corpus="diary") == [Sentence("diary/1.0", "It rained.", "diary")]

    def test_invalid_sentences_and_bytes_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_bytes(b"It rained.\n" + b"long " * 500 + b"\n\xff\xfe bytes\n")
        refused = [one for one in load("text", path) if isinstance(one, Rejected)]
        assert [one.place.rpartition(":")[2] for one in refused] == ["2", "3"]

    def test_another_file_type_is_refused(self, synsets: Path) -> None:
        with pytest.raises(InputError, match="looks like a file for the loader 'wordnet'"):
            load("text", synsets)


class TestWordNet:
    def test_wordnet_gives_the_examples_of_glosses(self, synsets: Path) -> None:
        assert load("wordnet", synsets.parent) == [
            Sentence("wordnet/data.noun/02084071.0", "The dog slept in the barn all day.", "wordnet"),
            Sentence("wordnet/data.noun/02084071.1", "A big dog.", "wordnet"),
            Sentence("wordnet/data.noun/00001740.0", "I can breathe better up here.", "wordnet"),
        ]

    def test_a_line_that_is_not_a_synset_is_refused(self, synsets: Path) -> None:
        synsets.write_text(SYNSETS + "not a synset\n", encoding="utf-8")
        *_, last = load("wordnet", synsets)
        assert isinstance(last, Rejected) and last.place.endswith("data.noun:4")

    def test_wordnet_needs_data_files_in_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no data files of WordNet"):
            load("wordnet", tmp_path)


class TestPropBank:
    def test_tokens_of_propbank_examples_are_joined(self, tmp_path: Path) -> None:
        path = tmp_path / "sip.xml"
        path.write_text(FRAMES, encoding="utf-8")
        [one] = load("propbank_examples", path)
        assert one == Sentence(
            "propbank_examples/sip.0", "She didn't sip her well-earned tea, did she?", "propbank_examples"
        )

    def test_a_broken_file_is_refused_with_its_line(self, tmp_path: Path) -> None:
        (tmp_path / "sip.xml").write_text(FRAMES, encoding="utf-8")
        (tmp_path / "sup.xml").write_text(FRAMES.replace("</roles>", ""), encoding="utf-8")
        records = load("propbank_examples", tmp_path)
        [refused] = [one for one in records if isinstance(one, Rejected)]
        assert "sup.xml:6" in refused.place and len(texts(records)) == 1

    def test_entities_of_xml_are_not_expanded(self, tmp_path: Path) -> None:
        path = tmp_path / "sip.xml"
        entity = '<!DOCTYPE frameset [<!ENTITY e "boom">]>'
        path.write_text(FRAMES.replace("<frameset>", f"{entity}<frameset>"), encoding="utf-8")
        [refused] = load("propbank_examples", path)
        assert isinstance(refused, Rejected) and "entity" in refused.reason


class TestSentenceFacts:
    @pytest.mark.parametrize(
        ("text", "row"),
        [
            (
                "We ran to the old houses.",
                {"words": 6, "content": 3, "person": 1, "finite": True, "mood": "statement"},
            ),
            ("Did your children sleep?", {"person": 2, "mood": "question", "opening": "did"}),
            ("The roof of the barn!", {"person": 3, "finite": False, "mood": "exclamation"}),
            ("You’re right, I left.", {"opening": "you're right"}),
            ("I see the barn, too.", {"opening": "i"}),
            ("He dont know the way.", {"plain": False}),
            ("Mr. Ode took the the bus.", {"plain": False}),
            ("Mr. Ode took the bus.", {"plain": True, "terms": ["ode", "take", "bus"]}),
        ],
    )
    def test_facts_of_a_sentence_follow_its_forms(self, text: str, row: dict[str, object]) -> None:
        found = sentence_row(Sentence("own/1", text, "own"))
        assert {name: found[name] for name in row} == row

    def test_facts_do_not_depend_on_spaced_clitics(self) -> None:
        assert content_lemmas("I don ’ t like Ann ' s hats.") == content_lemmas("I don’t like Ann's hats.")
        assert detokenize("He ca n't go , can he ?") == "He can't go, can he?"

    def test_several_sentences_are_split_and_their_mood_is_found(self) -> None:
        assert list(sentences("Is it 8 a.m. already? No.")) == ["Is it 8 a.m. already?", "No."]
        assert mood_of("He asked why?”") == "question"


class TestInTheStore:
    def test_sentences_mention_terms_which_count_them(self, store: Store, tmp_path: Path) -> None:
        wipe(store)
        graph = DialogueGraph(store)
        path = tmp_path / "notes.txt"
        path.write_text("The boats sank.\nA boat is wood.\nYes, you did.\n", encoding="utf-8")
        report = graph.load("text", path)
        assert report.written["sentences"] == 3
        rows = graph.cypher(
            "MATCH (s:Sentence)-[m:MENTIONS]->(t:Term) "
            "RETURN s.id AS id, t.text AS term, m.score AS score, t.sentences AS count ORDER BY id, term"
        )
        assert [tuple(row.values()) for row in rows] == [
            ("notes/1.0", "boat", 0.5, 2),
            ("notes/1.0", "sink", 0.5, 1),
            ("notes/2.0", "boat", 0.5, 2),
            ("notes/2.0", "wood", 0.5, 1),
        ]

    def test_loading_again_changes_nothing(self, store: Store, tmp_path: Path) -> None:
        graph = DialogueGraph(store)
        path = tmp_path / "notes.txt"
        path.write_text("The boats sank.\nA boat is steel.\n", encoding="utf-8")
        report = graph.load("text", path)
        assert report.present["sentences"] == 1 and report.rejections == 1
        [row] = graph.cypher("MATCH (t:Term {text: 'boat'}) RETURN t.sentences AS count")
        assert row["count"] == 2
