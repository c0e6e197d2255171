"""Tests of contradiction data: labelled responses, leaving one generator out, measures, generated pairs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.evaluation.cross_validation import leave_one_out
from graphneg.evaluation.detection import evaluate_detection
from graphneg.ingest.labelled import JudgedResponse, labelled_lines, read_labelled
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Original, Rejected, Response, Turn
from graphneg.nn.embedders import get_embedder
from graphneg.records.files import write_jsonl
from graphneg.scorers.edited_contradictions import Sentences, graph_made, read_made
from graphneg.scorers.paraphrases import denies, reword_denial
from tests.contradiction_samples import apart, labelled, responses
from tests.negative_samples import EXAMPLE

SHARED = Path(__file__).parents[3] / "shared" / "data" / "rgm_contradiction" / "indomain.jsonl"
LINE = {
    "utterances": ["I sold my boat.", "Where do you sail now?", "I have never had a boat."],
    "speakers": ["A", "B", "A"],
    "annotation_target_pair": [0, 2],
    "rgm_name": "small",
    "contradictory_label_count": 3,
}


def file_of(folder: Path, *lines: object) -> Path:
    path = folder / "labelled.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


class TestLabelledResponses:
    def test_two_votes_make_a_contradiction_and_one_vote_is_dropped(self, tmp_path: Path) -> None:
        lines = [{**LINE, "contradictory_label_count": votes} for votes in range(4)]
        found = read_labelled([file_of(tmp_path, *lines)])
        assert [(one.votes, one.label) for one in found] == [(0, 0), (2, 1), (3, 1)]
        assert (
            found[0].contradicted_text == "I sold my boat."
            and found[0].response == "I have never had a boat."
        )

    def test_labelled_responses_are_read_back(self, tmp_path: Path) -> None:
        path = tmp_path / "labelled.jsonl"
        path.write_text("\n".join(labelled_lines(labelled())), encoding="utf-8")
        assert [replace(one, id="") for one in read_labelled([path])] == [
            replace(one, id="") for one in labelled()
        ]

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"contradictory_label_count": 4}, "4, but must be from 0 to 3"),
            ({"contradictory_label_count": True}, "True, but must be from 0 to 3"),
            ({"annotation_target_pair": [2, 2]}, "is not an earlier utterance and the last one"),
            ({"annotation_target_pair": [0, 1]}, "is not an earlier utterance and the last one"),
            ({"annotation_target_pair": 0}, "is not a pair of utterance indices"),
            ({"speakers": ["A"]}, '1 "speakers", but 3 "utterances"'),
            ({"utterances": ["one"]}, "a context and a response are required"),
            ({"utterances": ["I sail.", " ", "No."]}, "utterance 1 is empty"),
            ({"utterances": ["I sail.", "When?", "[[TBA]]"]}, "its text was not published"),
            ({"rgm_name": ""}, "not a name"),
        ],
    )
    def test_a_bad_line_is_refused_with_its_place(
        self, tmp_path: Path, change: dict[str, object], reason: str
    ) -> None:
        path = file_of(tmp_path, LINE, {**LINE, **change})
        with pytest.raises(InputError) as refused:
            read_labelled([path])
        assert str(refused.value).startswith(f"{path}:2: ") and reason in str(refused.value)
        *_, last = get_loader("rgm_contradiction").read([path], LoadOptions())
        assert isinstance(last, Rejected)
        assert last.place == f"{path}:2" and reason in last.reason

    def test_the_loader_gives_contradictory_responses_label_0(self, tmp_path: Path) -> None:
        lines = [{**LINE, "contradictory_label_count": votes} for votes in (3, 0, 1)]
        path = file_of(tmp_path, *lines)
        wrong, right, neither = get_loader("rgm-contradiction").read([path], LoadOptions())
        assert isinstance(wrong, Dialogue) and isinstance(right, Dialogue)
        assert wrong.responses == (Response(1, "I have never had a boat.", 0, "small"),)
        assert right.responses[0].label == 1
        assert [one.speaker for one in wrong.utterances] == ["A", "B"]
        assert isinstance(neither, Rejected) and "1 of 3 annotators" in neither.reason

    @pytest.mark.skipif(not SHARED.exists(), reason="no published responses here")
    def test_the_published_responses_are_read_whole(self) -> None:
        found = read_labelled([SHARED])
        assert len(found) == 600 and sum(one.label == 1 for one in found) == 300
        for fold in leave_one_out(found):
            assert len(fold.test) == 200 and len(fold.train) > 350


class TestLeavingOneGeneratorOut:
    @given(st.lists(responses, max_size=25))
    def test_training_and_test_texts_are_disjoint(self, some: list[JudgedResponse]) -> None:
        try:
            folds = leave_one_out(some)
        except InputError:
            return
        for fold in folds:
            contexts = {tuple(map(match_key, one.context)) for one in fold.test}
            tested = {match_key(text) for one in fold.test for text in (one.contradicted_text, one.response)}
            assert {one.generator for one in fold.test} == {fold.generator}
            for one in fold.train:
                assert one.generator != fold.generator
                assert tuple(map(match_key, one.context)) not in contexts
                assert not {match_key(one.contradicted_text), match_key(one.response)} & tested
            assert len(fold.train) + len(fold.test) + fold.leaked == len(some)

    def test_each_generator_is_tested_once(self) -> None:
        assert [fold.generator for fold in leave_one_out(apart())] == ["eggs", "six", "twelve"]

    def test_a_single_generator_is_refused(self) -> None:
        with pytest.raises(InputError, match="at least two generators, not 1"):
            leave_one_out([one for one in apart() if one.generator == "six"])

    def test_shared_contexts_leave_nothing_to_train_on(self) -> None:
        with pytest.raises(InputError, match="nothing to train on without six"):
            leave_one_out(labelled())


class TestMeasures:
    def test_figures_are_those_of_a_hand_worked_example(self) -> None:
        some = [replace(apart()[0], votes=votes) for votes in (3, 2, 3, 0, 0)]
        found = evaluate_detection(some, [0.9, 0.8, 0.2, 0.6, 0.1], resamples=50)
        [one] = found.generators
        assert (one.responses, one.contradictory) == (5, 3)
        assert one.accuracy.value == pytest.approx(3 / 5)
        assert one.balanced_accuracy.value == pytest.approx((2 / 3 + 1 / 2) / 2)
        assert one.f1.value == pytest.approx(2 * 2 / (3 + 3))
        assert one.auc.value == pytest.approx(5 / 6)
        assert one.accuracy.low <= one.accuracy.value <= one.accuracy.high

    def test_the_mean_gives_generators_equal_weight(self) -> None:
        some = apart()
        scores = [0.9 if one.label == (one.generator != "six") else 0.1 for one in some]
        found = evaluate_detection(some, scores, resamples=20)
        assert [one.accuracy.value for one in found.generators] == [0, 1, 1]
        assert found.mean.accuracy.value == pytest.approx(2 / 3)
        assert found.mean.responses == len(some)

    def test_the_same_seed_gives_the_same_intervals(self) -> None:
        scores = [0.1 * (place % 10) for place in range(len(apart()))]
        assert evaluate_detection(apart(), scores, resamples=30) == evaluate_detection(
            apart(), scores, resamples=30
        )

    @pytest.mark.parametrize(
        ("amount", "reason"),
        [(3, "one for each response in order, but found 3"), (None, "all responses have the same label")],
    )
    def test_unmeasurable_scores_are_refused(self, amount: int | None, reason: str) -> None:
        some = apart() if amount else [one for one in apart() if one.label]
        with pytest.raises(InputError, match=reason):
            evaluate_detection(some, [0.5] * (amount or len(some)))


def edited(turn: int, transform: str, before: str, after: str, id: str = "1") -> object:
    """Return a negative in which the text of one turn was edited from `before` to `after`."""
    texts = ["I keep bees in my garden.", "Really? How many?", "Some thousands, I think.", "That is a lot."]
    texts[turn] = before
    turns = tuple(Turn("AB"[at % 2], text) for at, text in enumerate(texts))
    changed = tuple(Turn(one.speaker, after) if at == turn else one for at, one in enumerate(turns))
    return msgspec.structs.replace(
        EXAMPLE,
        id=f"own/all/{id}#4~{transform}",
        dialogue=f"own/all/{id}",
        turn=4,
        context=changed,
        response="They are gentle.",
        original=Original(turns, "They are gentle."),
        edits=(msgspec.structs.replace(EXAMPLE.edits[0], turn=turn, transform=transform),),
    )


NEGATED = edited(0, "polarity_flip", "I keep bees in my garden.", "I do not keep bees in my garden.")
AGAINST_ITSELF = edited(
    2, "self_contradiction", "Some thousands, I think.", "Some thousands, I think. I do not keep bees.", "2"
)


DENIES = re.compile(r"\b(not|never|wish|would love|yet)\b|n't")


def twins(made: list[JudgedResponse]) -> list[tuple[JudgedResponse, JudgedResponse]]:
    """Return pairs of a contradictory response and its consistent counterpart."""
    assert [one.label for one in made] == [1, 0] * (len(made) // 2)
    return list(zip(made[::2], made[1::2], strict=True))


class TestGraphMadeResponses:
    def test_an_edited_sentence_contradicts_the_original(self) -> None:
        [one] = Sentences([NEGATED, NEGATED]).contradictions
        assert one.earlier == one.sentence == "I keep bees in my garden."
        assert one.contradiction == "I do not keep bees in my garden."
        assert one.other == "Some thousands, I think."

    def test_an_added_contradiction_refers_to_an_earlier_turn_of_the_speaker(self) -> None:
        [one] = Sentences([AGAINST_ITSELF]).contradictions
        assert one.earlier == "I keep bees in my garden."
        assert one.contradiction == "I do not keep bees."
        assert one.other == "Some thousands, I think."

    def test_questions_and_other_edits_give_no_contradiction(self) -> None:
        asked = edited(0, "polarity_flip", "Do you keep bees here?", "Do you not keep bees here?")
        renamed = edited(0, "entity_swap", "I keep bees in my garden.", "I keep hens in my garden.")
        assert list(Sentences([asked, renamed]).contradictions) == []

    @given(st.integers(0, 50))
    def test_restated_pairs_share_their_context(self, seed: int) -> None:
        for wrong, right in twins(graph_made([NEGATED, AGAINST_ITSELF], kinds=["restated"], seed=seed)):
            assert wrong.contradicted_text == right.contradicted_text
            assert ("Some thousands, I think." in wrong.response) == ("Some thousands" in right.response)
            assert DENIES.search(wrong.response) is None or DENIES.search(right.response) is None
            told = right if DENIES.search(right.contradicted_text) else wrong
            assert DENIES.search(told.response)

    @given(st.integers(0, 50))
    def test_agreed_pairs_differ_in_the_earlier_utterance_only(self, seed: int) -> None:
        for wrong, right in twins(graph_made([NEGATED], kinds=["agreed"], seed=seed)):
            assert wrong.response == right.response
            assert bool(DENIES.search(wrong.contradicted_text)) != bool(
                DENIES.search(right.contradicted_text)
            )

    @given(st.integers(0, 50))
    def test_elsewhere_pairs_contradict_another_statement(self, seed: int) -> None:
        bread = edited(0, "polarity_flip", "I bake my own bread.", "I do not bake my own bread.", "3")
        for wrong, right in twins(graph_made([NEGATED, bread], kinds=["elsewhere"], seed=seed)):
            said, other = ("bees", "bread") if "bees" in wrong.contradicted_text else ("bread", "bees")
            assert wrong.contradicted_text == right.contradicted_text
            assert said in wrong.response and other not in wrong.response
            assert other in right.response and said not in right.response

    @given(st.integers(0, 50))
    def test_crossed_pairs_deny_one_statement_and_affirm_another(self, seed: int) -> None:
        bread = edited(0, "polarity_flip", "I bake my own bread.", "I do not bake my own bread.", "3")
        for pair in twins(graph_made([NEGATED, bread], kinds=["crossed"], seed=seed)):
            for one in pair:
                assert "bees" in one.response and "bread" in one.response
                assert sum(map(denies, re.split(r"(?<=[.!]) ", one.response))) == 1

    @given(st.integers(0, 50))
    def test_the_same_seed_gives_the_same_balanced_pairs(self, seed: int) -> None:
        made = graph_made([NEGATED, AGAINST_ITSELF], seed=seed)
        assert made == graph_made([NEGATED, AGAINST_ITSELF], seed=seed)
        assert sum(one.label == 1 for one in made) == len(made) / 2 == 2

    def test_an_embedder_finds_wordings_of_other_speakers(self) -> None:
        others = [
            edited(2, "polarity_flip", text, "I am tall.", str(at))
            for at, text in enumerate(("I never had any bees.", "My bees like the garden."), 4)
        ]
        made = [
            one
            for seed in range(20)
            for one in graph_made(
                [NEGATED, *others], kinds=["restated"], seed=seed, embedder=get_embedder("glove-50d")
            )
        ]
        assert any("I never had any bees." in one.response for one in made if one.label == 1)
        assert any("My bees like the garden." in one.response for one in made if one.label == 0)

    @pytest.mark.parametrize(
        ("sentence", "denied", "affirmed"),
        [
            ("Well, I do not keep bees .", "Well, I have never kept bees.", "Well, I keep bees."),
            ("i didn't swim!", "i wish i had swum!", "i swam!"),
            ("we are not tall.", "we would love to be tall.", "we have always been tall."),
            ("I can't swim.", "I wish I could swim.", "I can swim."),
            ("We haven't seen it.", "We haven't seen it yet.", "We have already seen it."),
        ],
    )
    def test_denials_and_affirmations_are_reworded(self, sentence: str, denied: str, affirmed: str) -> None:
        found = reword_denial(sentence)
        assert found and denied in found.denied and affirmed in found.affirmed
        assert not set(found.denied) & set(found.affirmed)

    @pytest.mark.parametrize(
        "sentence", ["It is not far.", "I do not only sing.", "I sing.", "Do I not sing?"]
    )
    def test_other_sentences_are_not_reworded(self, sentence: str) -> None:
        assert reword_denial(sentence) is None

    def test_a_time_expression_prevents_the_perfect(self) -> None:
        found = reword_denial("I did not swim last week.")
        assert found and found.affirmed == ("I swam last week.", "I did swim last week.")

    def test_files_without_contradictions_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "negatives.jsonl"
        write_jsonl([EXAMPLE], path)
        assert [one.label for one in read_made([path])] == [1, 0]
        write_jsonl([msgspec.structs.replace(EXAMPLE, label=1)], path)
        with pytest.raises(InputError, match="no contradictions; make some"):
            read_made([path])
