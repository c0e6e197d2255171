"""Tests of text preparation for spaCy, which keeps character offsets, and of dependency trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.errors import ParserError
from graphneg.parsers.dependency.text import (
    class_of,
    clause_form,
    join_contractions,
    load_model,
    model_version,
    pieces,
    read_words,
    readable,
    resolve_model,
    signature,
)
from tests.parsers.rules.trees import tree

TEXTS = st.text(st.sampled_from("aI n't’‘ sm.!?\n\"x\ud800\x00é"), max_size=60)


class TestAText:
    @given(TEXTS, st.integers(1, 20))
    def test_pieces_add_up_to_the_text(self, text: str, longest: int) -> None:
        cuts = list(pieces(text, longest))
        assert "".join(piece for _, piece in cuts) == text
        assert all(text[at : at + len(piece)] == piece and len(piece) <= longest for at, piece in cuts)

    @given(TEXTS)
    def test_readable_text_has_the_same_length(self, text: str) -> None:
        assert len(readable(text)) == len(text)
        assert readable(readable(text)) == readable(text)
        assert readable(text).isprintable()

    @given(TEXTS)
    def test_tightened_text_keeps_character_offsets(self, text: str) -> None:
        tight, places = join_contractions(text)
        assert places is None or (len(places) == len(tight) and all(0 <= k < len(text) for k in places))
        assert places is not None or len(tight) == len(text)

    @pytest.mark.parametrize(
        ("text", "tight"),
        [
            ("I ca n ' t go", "I ca n't go"),
            ("we ' Ll see", "we'll see"),
            ("at 5 p . m .", "at 5 p.m."),
            ("Mr . Wu", "Mr. Wu"),
            ("the dogs ' house", "the dogs ' house"),
        ],
    )
    def test_spaced_contractions_are_joined(self, text: str, tight: str) -> None:
        assert join_contractions(text)[0] == tight


class TestAModel:
    def test_a_missing_model_is_named(self) -> None:
        with pytest.raises(ParserError, match="there is no spaCy model 'xx_none', neither a package nor a"):
            resolve_model("xx_none")

    def test_a_model_folder_needs_a_parser(self, tmp_path: Path) -> None:
        import spacy

        spacy.blank("en").to_disk(tmp_path / "blank")
        with pytest.raises(ParserError, match="has no parser and no tagger"):
            load_model(str(tmp_path / "blank"))
        (tmp_path / "empty").mkdir()
        with pytest.raises(ParserError, match="can't be loaded as a spaCy model"):
            load_model(str(tmp_path / "empty"))
        assert model_version(str(tmp_path / "empty")) == "empty"

    def test_the_version_is_known_before_loading(self) -> None:
        assert model_version(resolve_model(None)).startswith("en_core_web_")


class TestATree:
    def test_words_have_offsets_in_the_original_text(self) -> None:
        text = "Oh. I ca n ' t sing."
        tight, places = join_contractions(text)
        words = read_words(load_model(None)(tight), 0, places)
        forms = ["Oh", ".", "I", "ca", "' t", "sing", "."]
        assert [text[word.start : word.end] for word in words] == forms
        assert {word.sentence for word in words} == {0, 1}
        assert all(word.parent is word or word in word.parent.children() for word in words)

    def test_words_have_neighbours_and_children(self) -> None:
        dogs, chase, cats = tree("Dogs/NNS/nsubj/1 chase/VBP/ROOT/1 cats/NNS/dobj/1")
        assert (dogs.previous, dogs.following, cats.following) == (None, chase, None)
        assert chase.child("dobj") is cats and chase.child_word("nsubj", "dogs") is dogs
        assert chase.children() == [dogs, cats] and chase.subtree() == [dogs, chase, cats]

    @pytest.mark.parametrize(
        ("text", "predicate", "argument", "form"),
        [
            ("Dogs/NNS/nsubj/1 bark/VBP/ROOT/1", 1, 0, "nsubj"),
            ("sit/VB/ROOT/0 on/IN/prep/0 chairs/NNS/pobj/1", 0, 2, "prep_on"),
            ("come/VB/ROOT/0 over/IN/prep/0", 0, 1, "prep_over"),
            ("seen/VBN/ROOT/0 by/IN/agent/0 dogs/NNS/pobj/1", 0, 2, "agent"),
            ("big/JJ/amod/1 dogs/NNS/ROOT/1", 0, 1, "up_amod"),
            ("Dogs/NNS/nsubj/1 are/VBP/ROOT/1 big/JJ/acomp/1", 2, 0, "cop_subj"),
            ("Dogs/NNS/nsubj/1 seem/VBP/ROOT/1 big/JJ/acomp/1", 2, 0, None),
            ("Dogs/NNS/nsubj/1 bark/VBP/ROOT/1", 0, 1, None),
        ],
    )
    def test_the_signature_of_two_words(
        self, text: str, predicate: int, argument: int, form: str | None
    ) -> None:
        words = tree(text)
        assert signature(words[predicate], words[argument]) == form

    @pytest.mark.parametrize(
        ("text", "form"),
        [
            ("if/IN/mark/1 rains/VBZ/advcl/2 stay/VB/ROOT/2", "advcl_if"),
            ("to/TO/aux/1 go/VB/xcomp/2 want/VB/ROOT/2", "xcomp_to"),
            ("he/PRP/nsubj/1 went/VBD/ccomp/2 think/VB/ROOT/2", "ccomp_vbd"),
        ],
    )
    def test_the_form_of_a_clause_includes_its_marker(self, text: str, form: str) -> None:
        assert clause_form(tree(text)[1]) == form

    def test_word_classes_of_tags(self) -> None:
        words = tree("the/DT/det/1 dog/NN/ROOT/1 ran/VBD/dep/1 fast/RB/dep/1 red/JJ/dep/1")
        assert [class_of(word) for word in words] == ["dt", "n", "v", "r", "j"]
