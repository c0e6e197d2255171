"""Tests of DEAM's four baselines: turn-shuffle, speaker-swap, insertion and replacement."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.datasets.groups import read_groups
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import GeneratorError
from graphneg.generators.base import Context, get_generator
from graphneg.generators.dialogue_baselines import DialogueBaseline, insertion, speaker_swap, turn_shuffle
from graphneg.model import Negative, Turn
from graphneg.records.files import read_jsonl
from graphneg.store.connection import Store
from tests.loaded_dialogues import loaded

NAMES = ("turn-shuffle", "speaker-swap", "insertion", "replacement")
DIALOGUES = [
    ["Is it open?", "Until six.", "And on Sunday?", "Closed."],
    ["One pear.", "Here you are.", "Thanks.", "Bye."],
    ["Who sings?", "My sister does.", "She is good!", "She is, isn't she?", "Very."],
    ["No pears?", "Plums."],
    ["No.", "no.", "NO."],
    ["Alone."],
]
UNUSED: Store = None  # pyright: ignore[reportAssignmentType]


@pytest.fixture(scope="module")
def graph(store: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    lines = [
        {"id": f"talk/all/{k}", "corpus": "talk", "split": "all", "turns": turns}
        for k, turns in enumerate(DIALOGUES)
    ]
    return loaded(store, tmp_path_factory.mktemp("talks"), "talks", lines)


def texts(one: Negative) -> list[str]:
    return [*(turn.text for turn in one.context), one.response]


def original_texts(one: Negative) -> list[str]:
    return DIALOGUES[int(one.dialogue.rpartition("/")[2])]


class TestOnServers:
    @pytest.mark.parametrize("name", NAMES)
    def test_edited_dialogues_differ_from_the_original_and_each_other(
        self, graph: DialogueGraph, name: str
    ) -> None:
        made = list(graph.generate(name, per_context=3))
        said = [(one.dialogue, tuple(texts(one))) for one in made]
        assert len(set(said)) == len(said) > 5
        for one in made:
            assert texts(one) != original_texts(one)
            assert (one.target, one.label, one.recipe) == ("dialogue", 0, name)
            for edit in one.edits:
                assert texts(one)[edit.turn] == edit.after != edit.before

    @pytest.mark.parametrize("name", NAMES)
    def test_the_same_seed_gives_the_same_for_every_batch_size(self, graph: DialogueGraph, name: str) -> None:
        once = [texts(one) for one in graph.generate(name, per_context=2, seed=3)]
        assert once == [texts(one) for one in graph.generate(name, per_context=2, seed=3, batch=1)]
        assert once != [texts(one) for one in graph.generate(name, per_context=2, seed=4)]

    def test_the_correct_responses_are_those_of_the_originals(self, graph: DialogueGraph) -> None:
        groups = read_groups([graph.generate("replacement", per_context=4)])
        for one in groups:
            right = [*one.context, *(answer.text for answer in one.positives)]
            assert right in DIALOGUES

    def test_inserted_utterances_come_from_other_dialogues(self, graph: DialogueGraph) -> None:
        for name in ("insertion", "replacement"):
            for one in graph.generate(name, per_context=3):
                [edit] = one.edits
                dialogue, turn = str(edit.node).split("#")
                assert dialogue != one.dialogue
                assert DIALOGUES[int(dialogue.rpartition("/")[2])][int(turn)] == edit.after

    def test_dialogues_that_can_not_be_edited_are_counted(self, graph: DialogueGraph) -> None:
        made = graph.generate("turn-shuffle", per_context=2)
        kept = Counter(one.dialogue for one in made)
        assert kept["talk/all/3"] == 1 and "talk/all/4" not in kept
        assert made.summary.skipped == {"same": 3, "no-context": 2}

    def test_records_are_written_and_read(self, graph: DialogueGraph, tmp_path: Path) -> None:
        graph.generate("insertion").to_jsonl(tmp_path / "out.jsonl")
        made = list(read_jsonl(tmp_path / "out.jsonl"))
        assert [len(texts(one)) - len(original_texts(one)) for one in made] == [1] * len(made)
        assert all(edit.before is None for one in made for edit in one.edits)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8), st.integers(0, 99))
def test_reordered_turns_keep_the_sequence_of_speakers(said: list[str], seed: int) -> None:
    turns = [Turn("AB"[k % 2], text) for k, text in enumerate(said)]
    context = Context("t/a/1#9", "t", "a", "t/a/1", len(said), tuple(turns), "AB"[len(said) % 2], ("g",))
    whole = [*turns, Turn(context.speaker, "g")]
    own = insertion(UNUSED, utterance="own")
    for generator in (turn_shuffle(UNUSED), speaker_swap(UNUSED), own):
        for one in edited_dialogues(generator, context, seed):
            assert [turn.speaker for turn in one] == [turn.speaker for turn in whole]
            assert sorted(turn.text for turn in one) == sorted(turn.text for turn in whole)
            if generator.name == "speaker-swap":
                changed = {new.speaker for new, old in zip(one, whole, strict=True) if new != old}
                assert len(changed) == 1


def edited_dialogues(generator: DialogueBaseline, context: Context, seed: int) -> list[list[Turn]]:
    [found] = generator.generate([context], 3, seed)
    assert len(found) + len(generator.missing()) == 3
    return [[*(one.context or ()), Turn(context.speaker, one.text)] for one in found]


def test_insertion_takes_own_or_other_utterances_only() -> None:
    with pytest.raises(GeneratorError, match="choose one of other, own"):
        get_generator("insertion", UNUSED, utterance="mine")
