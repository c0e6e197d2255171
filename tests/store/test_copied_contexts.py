"""Tests of repeated contexts: the reply to a copy of a context is also correct for the context."""

from __future__ import annotations

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.near_duplicates import NearTexts
from graphneg.store.connection import Store
from graphneg.store.copied_contexts import copied_contexts
from tests.loaded_dialogues import loaded

TURNS = {
    "a": ["Hi, is this seat taken?", "No, please sit down.", "Thanks, my feet hurt.", "Have you walked far?"],
    "b": [
        "hi , is this seat taken ?",
        "No , please sit down .",
        "Thanks , my feet hurt .",
        "New shoes , I suppose ?",
    ],
    "c": ["Hi, is this seat taken?", "Yes, I'm afraid.", "Then I'll stand over there.", "Sorry about that."],
    "d": [
        "My kettle whistles all night.",
        "Take the lid off, then.",
        "I never thought of that.",
        "You're welcome.",
    ],
    "e": ["The ferry leaves at noon.", "We had better run.", "I can see it already.", "Wave at the captain!"],
    "f": [
        "Who painted the barn?",
        "My cousins did it in June.",
        "It looks splendid from here.",
        "I'll tell them.",
    ],
}


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    lines = [
        {"id": f"own/test/{id}", "corpus": "own", "split": "test", "turns": turns}
        for id, turns in TURNS.items()
    ]
    lines[3]["responses"] = [{"turn": 2, "text": "Glad to help!", "label": 1}]
    return loaded(store, tmp_path_factory.mktemp("copies"), "own", lines)


def correct_replies(id: str, turn: int) -> set[str]:
    """Return the replies of all dialogues that are equal to this one before the turn."""
    copies = {1: "abc", 2: "ab", 3: "ab"}[turn] if id in "abc" and (id != "c" or turn == 1) else id
    return {TURNS[copy][turn] for copy in copies}


class TestCopiedContexts:
    def test_replies_of_copies_are_found_by_place(self, graph: DialogueGraph) -> None:
        copied = copied_contexts(graph.store)
        for id in "ab":
            assert set(copied.replies(f"own/test/{id}", 3)) == correct_replies(id, 3)
        assert set(copied.replies("own/test/c", 1)) == correct_replies("a", 1)
        assert copied.replies("own/test/c", 3) == copied.replies("own/test/d", 3) == ()

    def test_rows_for_a_snapshot_hold_each_text_once(self, graph: DialogueGraph) -> None:
        rows = copied_contexts(graph.store).rows()
        assert rows == sorted(rows)
        assert {tuple(place) for _, places in rows for place in places} >= {
            ("own/test/a", 3),
            ("own/test/b", 3),
        }


@pytest.mark.parametrize("name", ["random", "bm25", "semi-hard", "overlap"])
def test_no_reply_of_a_copy_is_given_as_wrong(graph: DialogueGraph, name: str) -> None:
    options = {"anecdotes": True} if name == "overlap" else {}
    made = list(graph.generate(name, per_context=8, places="every", **options))
    assert made
    for negative in made:
        right = NearTexts(correct_replies(negative.dialogue[-1], negative.turn))
        assert negative.response not in right, (negative.id, negative.response)


def test_an_utterance_of_a_copy_replaces_none(graph: DialogueGraph) -> None:
    for negative in graph.generate("replacement", per_context=8):
        [edit] = negative.edits
        if turn := edit.turn:
            assert edit.after not in NearTexts(correct_replies(negative.dialogue[-1], turn))
