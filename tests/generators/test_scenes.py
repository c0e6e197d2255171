"""Tests of `Scenes`, which decides whether a sentence of the pool is about another topic than a context."""

from __future__ import annotations

import pytest

from graphneg.english.words import content_lemmas
from graphneg.generators.base import Context
from graphneg.generators.overlap.pool import pool_dialogues
from graphneg.generators.overlap.scenes import Scenes, TopicFilter
from graphneg.generators.overlap.target_profile import PoolSentence, terms_of
from graphneg.model import Turn
from graphneg.store.connection import Store
from tests.loaded_dialogues import loaded

TALKS = {
    "bank": ["I want to open a savings account at this bank.", "Then fill in the form for the account."],
    "bank-2": ["I want to open a savings account at this bank.", "Then fill in the form for the account."],
    "loan": ["The bank will pay the loan into your account.", "How much interest do I pay on the loan?"],
    "boat": ["My uncle painted his old boat last summer.", "The river was full of ducks and swans."],
    "cook": ["I opened the oven and the cake had burned.", "Bake the next one with less sugar and butter."],
}


@pytest.fixture(scope="module")
def scenes(embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> Scenes:
    told = [
        {"id": f"own/test/{name}", "corpus": "own", "split": "test", "turns": turns}
        for name, turns in TALKS.items()
    ]
    loaded(embedded, tmp_path_factory.mktemp("scenes"), "chats", told)
    pool_dialogues(embedded)
    return Scenes(embedded, 0.4)


def topic_filter(scenes: Scenes, name: str) -> TopicFilter:
    turns = tuple(Turn("A", text) for text in TALKS[name])
    context = Context(f"own/test/{name}#9", "own", "test", f"own/test/{name}", 9, turns, "B")
    terms = terms_of(context, lambda _: 1, max_overlap_frequency=100)
    return scenes.other_scene_filter(context.dialogue, [turn.text for turn in turns], terms)


def sentence(text: str, of: str = "") -> PoolSentence:
    dialogue = f"own/test/{of}" if of else ""
    return PoolSentence(0, text, text, frozenset(content_lemmas(text)), False, False, dialogue)


def is_off_topic(scenes: Scenes, context: str, text: str, of: str = "") -> bool:
    said = frozenset(term for turn in TALKS[context] for term in content_lemmas(turn))
    told = sentence(text, of)
    return topic_filter(scenes, context).accepts(told, told.terms & said)


def test_sentences_of_a_dialogue_with_the_same_content_are_on_topic(scenes: Scenes) -> None:
    assert (
        scenes.conversation_id("own/test/bank")
        == scenes.conversation_id("own/test/bank-2")
        != scenes.conversation_id("own/test/loan")
    )
    assert not is_off_topic(scenes, "bank", "My uncle painted the kitchen cupboard.", of="bank-2")


def test_sentences_about_other_things_are_off_topic(scenes: Scenes) -> None:
    assert is_off_topic(scenes, "bank", "I opened the oven and the cake had burned.", of="cook")
    assert is_off_topic(scenes, "bank", "My sister fills the kettle every morning.")


def test_a_sentence_that_repeats_the_context_is_on_topic(scenes: Scenes) -> None:
    assert not is_off_topic(scenes, "bank", "My uncle can fill in the form for the swans.")


def test_a_sentence_without_other_content_words_is_on_topic(scenes: Scenes) -> None:
    assert not is_off_topic(scenes, "bank", "I want to open it.")
