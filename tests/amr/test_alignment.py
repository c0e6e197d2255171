"""Tests of the alignment of graph nodes to words: `buy-01` to "bought" in "She bought three mice"."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.amr.alignment import align, get_aligner
from graphneg.amr.penman import parse_graph
from graphneg.english.tokens import tokenize
from graphneg.errors import DecoderError


def words_by_label(text: str, penman: str, aligner: str = "rules") -> dict[str, str]:
    graph = parse_graph(penman)
    tokens = [token.text for token in tokenize(text)]
    spans = get_aligner(aligner)(graph, tokens)
    return {graph.nodes[k].label: " ".join(tokens[start:end]) for k, (start, end) in spans.items()}


@pytest.mark.parametrize(
    ("raw", "tokenised"),
    [
        ("I don't know, sir.", "I do n't know , sir ."),
        ('"We\'ll see," she said.', '" We \'ll see , " she said .'),
        ("You can't say Mr. Hill isn't here!", "You ca n't say Mr. Hill is n't here !"),
    ],
)
def test_raw_and_tokenised_text_give_the_same_tokens(raw: str, tokenised: str) -> None:
    assert [token.text for token in tokenize(raw)] == [token.text for token in tokenize(tokenised)]


@given(st.text(max_size=80))
def test_tokens_keep_their_offsets_and_omit_only_white_space(text: str) -> None:
    tokens = tokenize(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert "".join(token.text for token in tokens) == "".join(text.split()) or any(
        character.isspace() for token in tokens for character in token.text
    )


def test_inflected_verbs_and_nouns_align_by_lemma() -> None:
    found = words_by_label("She bought three mice", "(b / buy-01 :ARG0 (s / she) :ARG1 (m / mouse :quant 3))")
    assert found == {"buy-01": "bought", "she": "She", "mouse": "mice", "3": "three"}


def test_negation_aligns_with_its_contracted_word() -> None:
    found = words_by_label("He won't wait.", "(w / wait-01 :polarity - :ARG1 (h / he))")
    assert found["-"] == "n't"


def test_adjective_and_polarity_both_align_to_a_word_with_a_negative_prefix() -> None:
    found = words_by_label("It was unfair.", "(f / fair-01 :polarity - :ARG1 (i / it))")
    assert found["fair-01"] == found["-"] == "unfair"


def test_modals_align_with_their_frames() -> None:
    text, penman = "We must hurry", "(o / obligate-01 :ARG2 (h / hurry-01 :ARG0 (w / we)))"
    assert words_by_label(text, penman)["obligate-01"] == "must"


def test_person_and_frame_both_align_to_an_agent_noun() -> None:
    found = words_by_label("The teacher left.", "(l / leave-11 :ARG0 (p / person :ARG0-of (t / teach-01)))")
    assert found["person"] == found["teach-01"] == "teacher"


def test_nominalised_verbs_align_by_derivation() -> None:
    penman = "(s / surprise-01 :ARG0 (d / decide-01 :ARG0 (h / he)) :ARG1 (w / we))"
    assert words_by_label("His decision surprised us.", penman)["decide-01"] == "decision"


def test_name_and_entity_both_align_to_all_words_of_a_name() -> None:
    penman = '(c / city :name (n / name :op1 "New" :op2 "York"))'
    found = words_by_label("New York", penman)
    assert found["city"] == found["name"] == "New York"


def test_numbers_in_words_align_with_their_value() -> None:
    assert words_by_label("twenty-one days", "(d / day :quant 21)")["21"] == "twenty-one"


def test_a_node_aligns_to_the_equal_word_that_is_nearer_to_its_neighbours() -> None:
    graph = parse_graph(
        "(a / and :op1 (r / red :domain (c / car :poss (i / i))) :op2 (f / fast :domain (c2 / car)))"
    )
    tokens = ["my", "car", "is", "red", "and", "that", "car", "is", "fast"]
    spans = align(graph, tokens)
    cars = [spans[node.position] for node in graph.nodes if node.concept == "car"]
    assert cars == [(1, 2), (6, 7)]


def test_alignments_stated_in_the_graph_are_kept() -> None:
    graph = parse_graph("(l / like-01~e.1 :ARG0 (i / i~e.0))")
    if not graph.spans:
        pytest.skip("the codec keeps alignment marks out of spans")
    assert align(graph, ["I", "like"]) == {0: (1, 2), 1: (0, 1)}


@given(st.lists(st.text(min_size=1, max_size=8), max_size=30))
def test_alignment_never_fails_for_an_unrelated_text(tokens: list[str]) -> None:
    graph = parse_graph(
        '(w / want-01 :ARG0 (p / person :name (n / name :op1 "Jo")) :ARG1 (d / dog :quant 2))'
    )
    spans = align(graph, tokens)
    assert all(0 <= start < end <= len(tokens) for start, end in spans.values())


def test_an_unknown_aligner_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DecoderError, match="rules, rbw"):
        get_aligner("magic")


@pytest.mark.skipif(importlib.util.find_spec("amrlib") is None, reason="amrlib is not installed")
def test_the_aligner_of_amrlib_can_be_selected() -> None:
    found = words_by_label("She bought a car", "(b / buy-01 :ARG0 (s / she) :ARG1 (c / car))", "rbw")
    assert found["buy-01"] == "bought"


@pytest.mark.skipif(importlib.util.find_spec("spacy") is None, reason="spaCy is not installed")
def test_inflections_need_no_spacy_and_the_lemminflect_extension_of_spacy_still_works() -> None:
    code = (
        "import sys; from graphneg.english.words import inflections, readings\n"
        "print(inflections('see', 'VERB')['VBD'], readings('mice')['NOUN'], 'spacy' in sys.modules)\n"
        "import lemminflect, spacy\n"
        "print(lemminflect.getInflection('see', 'VBD'), spacy.tokens.Token.has_extension('inflect'))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["('saw',) ('mouse',) False", "('saw',) True"]
