"""Tests of keyword extraction by YAKE and RAKE: "three red foxes" gives "red fox", "fox" and "red"."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.errors import InputError
from graphneg.ingest.rows import term_of
from graphneg.parsers.base import get_parser
from graphneg.shift.keywords import EXTRACTORS, MAX_WORDS, KeywordExtractor, get_extractor

WORDS = [
    "I",
    "the",
    "red",
    "boats",
    "don't",
    "sail",
    "well-known",
    "T-shirts",
    "3rd",
    "...",
    "Anna's",
    "\n",
    "—",
]


@pytest.fixture(scope="module")
def yake() -> KeywordExtractor:
    return get_extractor("yake")


@pytest.fixture(scope="module")
def rake() -> KeywordExtractor:
    return get_extractor("rake")


def keys(extractor: KeywordExtractor, text: str) -> set[str]:
    return {one.text for one in extractor.extract([text])[0]}


class TestYake:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("We saw three red foxes yesterday.", {"red fox", "fox", "red", "yesterday"}),
            (
                "My brother repairs wooden bicycles.",
                {"wooden bicycle", "bicycle", "brother", "repair", "wooden"},
            ),
            ("Is your train ticket expensive?", {"train ticket", "train", "ticket", "expensive"}),
        ],
    )
    def test_keywords_of_a_short_sentence(
        self, yake: KeywordExtractor, text: str, expected: set[str]
    ) -> None:
        assert keys(yake, text) == expected

    @pytest.mark.parametrize("text", ["", "Oh, yes!", "Not at all.", "12:30", "😀", "Why is that?"])
    def test_a_text_without_content_words_has_no_keywords(self, yake: KeywordExtractor, text: str) -> None:
        assert keys(yake, text) == set()

    def test_phrases_contain_no_verbs_or_days(self, yake: KeywordExtractor) -> None:
        found = keys(yake, "Our cousins visit castles and start work tomorrow.")
        assert {"visit", "cousin", "castle", "work", "tomorrow"} <= found
        assert not found & {"cousin visit", "visit castle", "work tomorrow"}

    def test_keywords_keep_their_original_words(self, yake: KeywordExtractor) -> None:
        [found] = yake.extract(["We saw three Red foxes yesterday."])
        assert ("Red", "foxes") in {one.words for one in found if one.text == "red fox"}

    def test_keywords_are_sorted_by_score(self, yake: KeywordExtractor) -> None:
        [found] = yake.extract(["The violin teacher lost her violin, and the violin was new."])
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)

    def test_a_missing_package_is_answered_with_the_extra_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "yake", None)
        with pytest.raises(InputError, match=r"graphneg\[keywords\].*--keywords rake"):
            get_extractor("yake")


class TestRake:
    def test_the_score_of_a_phrase_sums_degree_over_frequency(self, rake: KeywordExtractor) -> None:
        [found] = rake.extract(["The stone bridge is old. The bridge has a gate."])
        scores = {one.text: one.score for one in found}
        assert scores["stone bridge"] == pytest.approx(3.5 / 4.5)  # degree/frequency: stone 2/1, bridge 3/2
        assert scores["bridge"] == pytest.approx(1.5 / 2.5)
        assert scores["gate"] == pytest.approx(0.5)

    def test_stop_words_and_punctuation_end_a_phrase(self, rake: KeywordExtractor) -> None:
        found = keys(rake, "Green apples, ripe pears and the plum jam.")
        assert found == {"green apple", "ripe pear", "plum jam"}


class TestAnyExtractor:
    @settings(max_examples=60)
    @given(text=st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)))
    @pytest.mark.parametrize("name", EXTRACTORS)
    def test_scores_and_lengths_are_in_bounds(self, name: str, text: str) -> None:
        [found] = get_extractor(name).extract([text])
        assert all(0 < one.score <= 1 for one in found)
        assert all(1 <= len(one.words) <= MAX_WORDS and one.text == one.text.lower() for one in found)
        assert len({one.text for one in found}) == len(found)

    @pytest.mark.parametrize("name", EXTRACTORS)
    def test_keywords_do_not_depend_on_other_texts(self, name: str) -> None:
        texts = ["My brother repairs old bicycles.", "", "Is your train ticket expensive?"]
        extractor = get_extractor(name)
        assert extractor.extract(texts) == [extractor.extract([text])[0] for text in texts]

    def test_keywords_equal_the_terms_of_graph_concepts(self, yake: KeywordExtractor) -> None:
        text = "Two children bought the cheapest tickets."
        graph = get_parser("dependency").parse_batch([text])[0].graph
        assert graph is not None
        terms = {term_of(node.concept) for node in graph.nodes if node.concept}
        assert {"child", "buy", "ticket", "cheap"} <= terms
        assert {"child", "ticket"} <= keys(yake, text)
        assert {key for key in keys(yake, text) if " " not in key} <= terms

    @pytest.mark.parametrize("name", EXTRACTORS)
    def test_a_language_without_a_model_gives_a_note(self, name: str) -> None:
        extractor = get_extractor(name, "fr")
        assert "no spaCy model for 'fr'" in extractor.notes[0]
        assert "voiture rouge" in keys(extractor, "Je veux une voiture rouge.")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("textrank",), "choose one of yake, rake"),
            (("rake", "xx-none"), "language 'xx-none' is not known"),
            (("rake", "en", "no_such_model"), "no spaCy model 'no_such_model'"),
            (("rake", "de", "en_core_web_sm"), "is for the language 'en', not 'de'"),
        ],
    )
    def test_unavailable_extractors_and_languages_are_refused(
        self, arguments: tuple[str, ...], message: str
    ) -> None:
        with pytest.raises(InputError, match=message) as raised:
            get_extractor(*arguments)
        assert "\n" not in str(raised.value)
