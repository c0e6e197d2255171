"""Tests of the score that compares texts with anecdotes, and of the bundled anecdotes."""

from __future__ import annotations

from collections import Counter

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.generators.overlap.anecdotes import features, likeness
from graphneg.generators.overlap.target_profile import words_key
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.rows import FIRST, person_of
from graphneg.model import Negative, Sentence
from graphneg.store.connection import Store
from tests.servers import wipe


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("My uncle paints.", "kin"),
        ("We went home.", "past"),
        ("He was late.", "past"),
        ("I met her two days ago.", "past-time"),
        ("He flew to Rome.", "names:1"),
        ("The bus leaves at 8.", "digits"),
        ("It rains. We stay.", "sentences"),
        ("Did you ask?", "ends:?"),
        ("Painting helps.", "first:noun"),
    ],
)
def test_features_of_the_form_of_a_text(text: str, feature: str) -> None:
    assert feature in set(features(text))


def test_nouns_are_no_features() -> None:
    boats, clouds = (set(features(f"My uncle saw the {word}.")) for word in ("boats", "cloud"))
    assert boats == clouds


def test_an_anecdote_scores_higher_than_news_prose() -> None:
    told = "Last week my friend gave me a new bike."
    prose = "Officials of Harris County, however, would not comment on the revised estimates."
    assert likeness(told) > 0 > likeness(prose)


@pytest.fixture(scope="module")
def bundled() -> list[Sentence]:
    return [one for one in get_loader("anecdotes").read([], LoadOptions()) if isinstance(one, Sentence)]


@pytest.fixture(scope="module")
def few(embedded: Store) -> DialogueGraph:
    wipe(embedded)
    graph = DialogueGraph(embedded)
    graph.load("everyday")
    return graph


@pytest.fixture(scope="module")
def overlap(few: DialogueGraph) -> list[Negative]:
    """Return what `overlap` generates before `hard` has loaded the anecdotes into the store."""
    return list(few.generate("overlap", per_context=2))


@pytest.fixture(scope="module")
def hard(few: DialogueGraph, overlap: list[Negative]) -> list[Negative]:
    return list(few.generate("hard", per_context=2))


class TestBundledAnecdotes:
    def test_there_are_20000_sentences_mostly_in_the_first_person(self, bundled: list[Sentence]) -> None:
        assert len(bundled) >= 20_000
        assert len({words_key(one.text) for one in bundled}) >= 0.99 * len(bundled)
        assert sum(person_of(one.text) == FIRST for one in bundled) >= 0.6 * len(bundled)

    def test_the_loader_takes_no_path(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        with pytest.raises(InputError, match="reads a bundled file and takes no path"):
            list(get_loader("anecdotes").read([tmp_path_factory.mktemp("any")], LoadOptions()))

    def test_they_suffice_for_all_negatives_of_fifty_dialogues(self, hard: list[Negative]) -> None:
        assert len(hard) == 100
        uses = Counter(words_key(one.response) for one in hard)
        assert sum(n > 1 for n in uses.values()) <= 0.1 * len(uses)

    def test_they_are_loaded_into_a_store_once(self, few: DialogueGraph, hard: list[Negative]) -> None:
        before = list(few.cypher("MATCH (s:Sentence) RETURN count(s) AS n"))
        again = [(one.id, one.response) for one in few.generate("hard", per_context=2)]
        assert again == [(one.id, one.response) for one in hard]
        assert list(few.cypher("MATCH (s:Sentence) RETURN count(s) AS n")) == before

    def test_overlap_does_not_use_them(
        self, few: DialogueGraph, hard: list[Negative], bundled: list[Sentence]
    ) -> None:
        texts = {one.text for one in bundled}
        conditions = {
            "min_term_frequency": None,
            "max_bridge_frequency": 1.0,
            "min_words": 3,
            "min_content_words": 1,
        }
        others = [one.response for one in few.generate("overlap", per_context=2, **conditions)]
        assert others and texts.isdisjoint(others)

    def test_overlap_gives_the_same_after_they_are_loaded(
        self, few: DialogueGraph, overlap: list[Negative], hard: list[Negative]
    ) -> None:
        assert overlap and list(few.generate("overlap", per_context=2)) == overlap
