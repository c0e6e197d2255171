"""Tests of the split of contexts into training and test data, and of leakage between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.datasets.groups import LabelledContext
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import (
    Data,
    LeakageFilter,
    context_dialogues,
    read_data,
    response_dialogues,
)
from graphneg.model import Dialogue, Rejected, Response, Utterance

ONE = LabelledContext("own/train/1", ("Shall we?", "When?"), ("Now.", "At six."), {"adversarial": ("Fish.",)})
OTHER = LabelledContext(
    "own/test/2", ("Where?",), ("Here.",), {"adversarial": ("Eggs.",), "random": ("Bread.",)}
)


def dialogue(*texts: str, responses: tuple[Response, ...] = ()) -> Dialogue:
    said = tuple(Utterance(at, "AB"[at % 2], text) for at, text in enumerate(texts))
    return Dialogue("chat/all/1", "chat", "all", said, responses)


def line(at: int) -> str:
    answers = {"positive_responses": ["Yes."], "adversarial_negative_responses": ["No."]}
    return json.dumps({"id": at, "context": [f"Question {at}?"], "random_negative_responses": [], **answers})


class TestSplit:
    @pytest.fixture(scope="class")
    def file(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        path = tmp_path_factory.mktemp("split") / "all.json"
        path.write_text("\n".join(map(line, range(20))))
        return path

    @settings(max_examples=15)
    @given(share=st.floats(0.06, 0.94), seed=st.integers(0, 3))
    def test_parts_hold_every_context_once(self, file: Path, share: float, seed: int) -> None:
        data = read_data(file, split=share, split_seed=seed)
        names = [context.id.rpartition("/")[2] for context in (*data.train, *data.test)]
        assert sorted(map(int, names)) == list(range(20))
        assert len(data.train) == int(share * 20)

    def test_a_larger_training_share_contains_the_smaller_one(self, file: Path) -> None:
        small, large = (read_data(file, split=share).train for share in (0.3, 0.6))
        assert large[: len(small)] == small

    def test_a_part_without_contexts_is_refused(self, file: Path) -> None:
        with pytest.raises(InputError, match=r"20 contexts can't be split at 0\.01"):
            read_data(file, split=0.01)


class TestTexts:
    def test_texts_of_the_test_and_written_negatives_are_forbidden(self) -> None:
        data = Data((ONE,), (OTHER,))
        assert data.tested == ["Here."]
        assert data.adversarial_texts == LeakageFilter(data.adversarial_texts).forbidden
        assert len(data.forbidden - data.adversarial_texts) == 2, "here, bread"

    def test_the_fingerprint_is_that_of_the_contexts(self) -> None:
        data = Data((ONE,), (OTHER,))
        assert data.fingerprint == Data((ONE,), (OTHER,)).fingerprint
        assert data.fingerprint != Data((OTHER,), (ONE,)).fingerprint


class TestDialogues:
    def test_generators_get_a_dialogue_for_each_context(self) -> None:
        [whole] = context_dialogues([ONE])
        assert [turn.text for turn in whole.utterances] == ["Shall we?", "When?", "Now."]
        assert [(answer.turn, answer.text) for answer in whole.responses] == [(1, "At six.")]

    def test_recipes_get_a_dialogue_for_each_correct_response(self) -> None:
        first, second = response_dialogues([ONE])
        assert (first.id, second.id) == ("own/train/1", "own/train/1/1")
        assert [second.utterances[-1].text, second.responses] == ["At six.", ()]


class TestLeakage:
    def kept(self, *records: Dialogue | Rejected, known: tuple[str, ...] = ()) -> list[object]:
        return list(LeakageFilter(Data((ONE,), (OTHER,)).forbidden, known).remove_leaks(records))

    def test_a_dialogue_is_cut_before_a_forbidden_text(self) -> None:
        [cut] = self.kept(dialogue("Hello?", "Hi.", " HERE. ", "Bye."))
        assert isinstance(cut, Dialogue) and [turn.text for turn in cut.utterances] == ["Hello?", "Hi."]

    def test_a_single_turn_is_kept_only_with_an_answer(self) -> None:
        answer = Response(0, "Fine.", 1, "human")
        assert self.kept(dialogue("Hello?", "Here.")) == []
        assert len(self.kept(dialogue("Hello?", "Here.", responses=(answer,)))) == 1

    def test_contexts_to_learn_from_and_refused_records_are_left_out(self) -> None:
        assert self.kept(dialogue("Hello?", "Hi."), Rejected("a:1", "odd"), known=("chat/all/1",)) == []
