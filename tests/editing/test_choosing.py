"""Which sites a recipe prefers and which it leaves out: silly swaps of persons, statements of other talks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.decoding import NO_TOPIC
from graphneg.editing.proposals import Donors
from graphneg.editing.recipes import Recipe
from graphneg.english.tokens import match_key
from graphneg.english.words import content_lemmas
from graphneg.store.connection import Store
from tests.loaded_dialogues import parsed


def recipe_of_one(transform: str) -> Recipe:
    """A recipe that uses only the sites for its own target, as `all` does."""
    return Recipe("one", "", ((transform,),), 1, 1, "response")


def test_persons_are_swapped_except_in_wishes_and_replies_to_offers(embedded: Store, tmp_path: Path) -> None:
    talks = {
        ("Hi. How are you?", "I caught a cold."): True,
        ("Where were you?", "I went to the bank."): True,
        ("What did you do?", "I lost my bag."): True,
        ("How may I help you?", "I lost my bag."): False,
        ("What can I do for you?", "I lost my bag."): False,
        ("Hello.", "I want to check out these books."): False,
        ("Hello.", "I would like a cup of tea."): False,
        ("I am leaving.", "Where do you want to go?"): False,
        # Responses that answer no question, or ask one, are left as they are.
        ("I am leaving.", "I lost my bag."): False,
        ("I am leaving.", "What did you buy?"): False,
        # Speakers know where they have lived, so nobody asks "Where did I live?"
        ("I am leaving.", "Where did you live?"): False,
    }
    graph = parsed(embedded, tmp_path, list(talks))
    made = {one.dialogue for one in graph.negatives(recipe_of_one("person_swap"))}
    assert made == {f"talks/all/{at:03}" for at, swapped in enumerate(talks.values()) if swapped}


STATEMENTS = [
    "My brother bought a {}.", "I sold my {} in May.", "We painted the {} last week.", "My aunt lost her {}.",
]  # fmt: skip
NOUNS = ("boat", "house", "guitar", "bicycle", "coat")


@pytest.fixture(scope="module")
def long_corpus(embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    """Dialogues in which each noun is mentioned by many others, near and far."""
    talks = [
        [
            f"Did you see the {NOUNS[at % 5]}?",
            STATEMENTS[at % 4].format(NOUNS[at % 5]).replace("last week", f"{at} days ago"),
            f"My {NOUNS[at % 5]} is new.",
            "That is nice.",
            "Really?",
        ]
        for at in range(80)
    ]
    return parsed(embedded, tmp_path_factory.mktemp("talks"), talks)


def test_donors_are_not_the_dialogues_next_to_their_takers(long_corpus: DialogueGraph) -> None:
    offers = Donors(long_corpus.store).assign("talks", "all")
    apart = [abs(int(row["taker"][-3:]) - int(row["dialogue"][-3:])) for row in offers]
    # One in twenty of the 80 dialogues are left out on each side.
    assert apart and min(apart) > 4


def test_a_sentence_of_another_dialogue_is_copied_at_most_twice_in_a_run(long_corpus: DialogueGraph) -> None:
    made = list(long_corpus.negatives(recipe_of_one("topical_statement"), per_dialogue=4))
    assert len(made) > 20
    assert max(Counter(match_key(one.response) for one in made).values()) <= 2


def test_a_statement_that_shares_only_vague_words_is_off_topic(long_corpus: DialogueGraph) -> None:
    for one in long_corpus.negatives(recipe_of_one("topical_statement"), per_dialogue=2):
        said = {lemma for turn in one.context for lemma in content_lemmas(turn.text)}
        assert said & {*content_lemmas(one.response)} - NO_TOPIC
