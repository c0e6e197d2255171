"""Tests of collecting contradictions: follow-up questions, responses, judgements and agreement."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replace_struct

from graphneg.errors import InputError
from graphneg.evaluation.review.contradiction_labels import labelled_responses, review_of
from graphneg.evaluation.review.exchange import key_path, read_key
from graphneg.evaluation.review.items import ReviewSet
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgement, Judgements
from graphneg.evaluation.review.questions import load_questions
from graphneg.generators.base import Candidate, Context, Generator
from graphneg.ingest.labelled import read_labelled
from graphneg.nn.language_models import CausalLM
from graphneg.nn.models import load_causal
from graphneg.scorers.collection import (
    CollectedResponse,
    ContextChoice,
    FileResponses,
    LanguageModelReplies,
    collect_contexts,
    collect_responses,
    read_contexts_file,
    read_dialogues_file,
    read_responses_file,
    write_responses,
)
from graphneg.scorers.followups import FollowUp, best, followups, fqness, written
from graphneg.statistics import fleiss_kappa
from tests.cli_runs import Run
from tests.contradiction_samples import followup
from tests.tiny_lm import causal_folder

DIALOGUES = [
    [
        "I have a red coat.",
        "It is cold outside.",
        "There is rice.",
        "Where is your coat?",
        "Behind the door.",
    ],
    ["Did you feed the cat?", "It had some fish.", "Who gave it the fish?", "I did."],
    ["Good morning.", "Hello.", "It is cold."],
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    return load_causal(causal_folder(tmp_path_factory.mktemp("lm")), device="cpu")


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    lines = [{"id": str(at), "turns": texts} for at, texts in enumerate(DIALOGUES)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def log_probability(model: CausalLM, given: str, text: str) -> float:
    """Return the log probability of `text` after `given`, with one run of the model for each token."""
    import torch

    read, said = (model.tokenizer(one, add_special_tokens=False)["input_ids"] for one in (given, text))
    total = 0.0
    for place, token in enumerate(said):
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([[*read, *said[:place]]])).logits[0, -1]
        total += float(logits.log_softmax(dim=0)[token])
    return total


class TestFQness:
    def test_it_is_the_ratio_of_exact_probabilities(self, small: CausalLM) -> None:
        one = followup()
        near = log_probability(small, "A: My coat is red.\nB:", " Where is my coat?")
        far = log_probability(
            small, "B: It is cold.\nA: There is rice in the kitchen.\nB:", " Where is my coat?"
        )
        [found] = fqness(small, [one])
        assert found.log_fqness == pytest.approx(near - far, abs=1e-3)

    def test_fqness_does_not_depend_on_the_batch(self, small: CausalLM) -> None:
        three = [followup(), replace(followup(), referent=2), followup()]
        found = [one.log_fqness for one in fqness(small, three)]
        alone = [fqness(small, [one])[0].log_fqness for one in three]
        assert found == pytest.approx(alone, abs=1e-4)

    def test_contexts_end_in_a_question_of_the_other_speaker(self, chats: Path) -> None:
        found = list(followups(read_dialogues_file(chats)))
        assert [(one.context.dialogue[-1], one.context.turn, one.referent) for one in found] == [
            ("0", 4, 2),
            ("0", 4, 0),
            ("1", 3, 1),
        ]
        assert [turn.text for turn in found[1].shortened_context] == DIALOGUES[0][:1]
        assert [turn.text for turn in found[1].without_referent] == DIALOGUES[0][1:3]

    def test_max_turns_back_limits_the_referents(self, chats: Path) -> None:
        assert len(list(followups(read_dialogues_file(chats), max_turns_back=1))) == 2

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(-9, 9)), max_size=20))
    def test_the_best_come_from_different_dialogues(self, rows: Sequence[tuple[int, int, float]]) -> None:
        scored = [replace(_of(f"d{dialogue}", turn), log_fqness=score) for dialogue, turn, score in rows]
        found = best(scored, 3, per_dialogue=1)
        assert len({one.context.dialogue for one in found}) == len(found) <= 3
        assert [one.log_fqness for one in found] == sorted((o.log_fqness for o in found), reverse=True)
        if found:
            assert found[0].log_fqness == max(one.log_fqness for one in scored)


def _of(dialogue: str, turn: int) -> FollowUp:
    context = followup().context
    return FollowUp(replace(context, id=f"{dialogue}#{turn}", dialogue=dialogue), 0)


class InterruptedModel:
    """Score `stop` times, and then raise KeyboardInterrupt."""

    longest = None

    def __init__(self, stop: int) -> None:
        self.left = stop

    def score(self, texts: Sequence[str], given: Sequence[str] | None = None) -> list[float]:
        if self.left <= 0:
            raise KeyboardInterrupt
        self.left -= 1
        return [len(one) / 10 for one in given or texts]

    def target_tokens(self, text: str) -> list[int]:
        return [0] * (len(text.split()) + 1)


class TestCollecting:
    def test_collected_contexts_are_sorted_and_read_back(self, chats: Path, small: CausalLM) -> None:
        out = chats.with_name("contexts.jsonl")
        found = collect_contexts(read_dialogues_file(chats), small, out)
        assert read_contexts_file(out) == found
        assert {one.context.dialogue[-1] for one in found} == {"0", "1"}
        assert [path.name for path in chats.parent.iterdir() if "scores" in path.name] == []
        with pytest.raises(InputError, match="the file already exists"):
            collect_contexts(read_dialogues_file(chats), small, out)

    def test_a_stopped_run_is_continued(self, tmp_path: Path) -> None:
        contexts = [_of(f"d{n}", 4).context for n in range(40)]
        whole = collect_contexts(
            contexts, InterruptedModel(9), tmp_path / "whole.jsonl", ContextChoice(top=9)
        )
        with pytest.raises(KeyboardInterrupt):
            collect_contexts(contexts, InterruptedModel(2), tmp_path / "out.jsonl", ContextChoice(top=9))
        assert not (tmp_path / "out.jsonl").exists()
        assert (
            collect_contexts(contexts, InterruptedModel(3), tmp_path / "out.jsonl", ContextChoice(top=9))
            == whole
        )

    def test_dialogues_without_questions_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no context ends in a question"):
            collect_contexts([], InterruptedModel(1), tmp_path / "out.jsonl")
        assert list(tmp_path.iterdir()) == []

    def test_responses_come_from_generators_and_files(self, small: CausalLM, tmp_path: Path) -> None:
        given = tmp_path / "given.jsonl"
        given.write_text(json.dumps({"id": "own/all/1#4", "response": "I have no coat."}), encoding="utf-8")
        out = tmp_path / "responses.jsonl"
        some = [replace(followup(), log_fqness=1.5)]
        generators = [
            FileResponses("people", given),
            FixedGenerator("same"),
            FixedGenerator("twin"),
            LanguageModelReplies("small", small),
        ]
        amount = collect_responses(some, generators, out, per_context=2)
        found = read_responses_file(out)
        assert amount == len(found)
        assert [(one.generator, one.response) for one in found][:2] == [
            ("people", "I have no coat."),
            ("same", "It is here."),
        ]
        assert "twin" not in {one.generator for one in found}
        assert not any(name in one.id for one in found for name in ("people", "same"))

    def test_an_invalid_line_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "given.jsonl"
        path.write_text('{"id": "a", "response": "b"}\n{"id": "a"}', encoding="utf-8")
        with pytest.raises(InputError, match=r"given\.jsonl:2"):
            FileResponses("people", path)


class FixedGenerator(Generator):
    """Respond "It is here." to every context."""

    def __init__(self, name: str) -> None:
        self.name = name

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        return [[Candidate("It is here.", ())] for _ in contexts]


def responded() -> list[CollectedResponse]:
    return [
        CollectedResponse(
            f"own/all/1#4~{n}", replace(followup(), log_fqness=0.5), f"g{n % 2}", f'No, "coat" {n},\nnone.'
        )
        for n in range(4)
    ]


VOTES = {"own/all/1#4~0": "110", "own/all/1#4~1": "000", "own/all/1#4~2": "010", "own/all/1#4~3": "111"}


def judged_copies(sheet: Path, votes: Mapping[str, str]) -> list[Path]:
    """Write three copies of a sheet, filled in by the annotators ann, ben and cleo."""
    ids = {row: item.id for row, item in enumerate(read_key(key_path(sheet)).items, 1)}
    copies = [sheet.with_name(f"{name}.csv") for name in ("ann", "ben", "cleo")]
    for at, path in enumerate(copies):
        rows = list(csv.DictReader(sheet.open(newline="", encoding="utf-8")))
        for row in rows:
            row["contradictory"] = votes[ids[int(row["row"])]][at]
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    return copies


def judgements(set: ReviewSet, votes: Mapping[str, str]) -> list[Judgement]:
    return [
        Judgement(row, name, {"contradictory": "yes" if votes[item.id][at] == "1" else "no"})
        for row, item in enumerate(set.items, 1)
        for at, name in enumerate(("ann", "ben", "cleo"))
    ]


class TestJudging:
    def test_the_label_is_the_majority_and_one_vote_of_three_is_dropped(self, tmp_path: Path) -> None:
        asked = review_of(responded())
        assert asked.annotators == 3 and {item.source for item in asked.items} == {"g0", "g1"}
        said = judgements(asked, VOTES)
        decided = Judgement(1, ADJUDICATOR, {"contradictory": "no"})
        found = labelled_responses(responded(), asked, [*said, decided])
        assert [(one.label, one.generator, one.contradicted_text) for one in found] == [
            (1, "g0", "My coat is red."),
            (0, "g1", "My coat is red."),
            (1, "g1", "My coat is red."),
        ]
        write_responses(found, tmp_path / "labelled.jsonl")
        assert [one.votes for one in read_labelled([tmp_path / "labelled.jsonl"])] == [2, 0, 3]

    def test_judgements_of_other_responses_or_people_are_refused(self) -> None:
        asked = review_of(responded())
        said = judgements(asked, VOTES)
        with pytest.raises(InputError, match="is not among the responses"):
            labelled_responses(responded()[:3], asked, said)
        few = review_of(responded()[:3])
        with pytest.raises(InputError, match="has no judgements"):
            labelled_responses(responded(), few, judgements(few, VOTES))
        with pytest.raises(InputError, match=r"row 4 \(.*\): expected 3 annotators but found 2"):
            labelled_responses(responded(), asked, said[:-1])
        usable = replace_struct(asked, questions=load_questions("usable"))
        with pytest.raises(InputError, match="usable: labels need exactly one question"):
            labelled_responses(responded(), usable, said)


class TestAgreement:
    def test_kappa_of_a_hand_worked_example(self) -> None:
        # 10 subjects, 14 raters and 5 categories: the example of Wikipedia's article on Fleiss' kappa
        counts = [
            (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
            (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
        ]  # fmt: skip
        ratings = [[category for category, n in enumerate(row) for _ in range(n)] for row in counts]
        assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)

    def test_full_agreement_is_1_and_splits_are_below(self) -> None:
        assert fleiss_kappa([(0, 0, 0), (1, 1, 1)]) == 1 == fleiss_kappa([(0, 0, 0)])
        assert fleiss_kappa([(0, 1, 0), (1, 0, 1)]) < 0


class TestCommands:
    def test_from_dialogues_to_labelled_responses(
        self, run: Run, chats: Path, small: CausalLM, tmp_path: Path
    ) -> None:
        contexts, responses, sheet, out = (
            tmp_path / name for name in ("c.jsonl", "r.jsonl", "labels.csv", "labelled.jsonl")
        )
        own = ("contradictions", "contexts", "--file", chats, "--model", small.path, "--device", "cpu")
        ended = run(*own, "-o", contexts, "--top", "5")
        assert ended.status == 0, ended.err
        assert run(*own, "-o", contexts).status == 2
        given = tmp_path / "given.jsonl"
        lines = [{"id": one.context.id, "response": "No."} for one in read_contexts_file(contexts)]
        given.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        ended = run(
            "contradictions", "responses", contexts, "--from-file", f"people={given}", "-o", responses
        )
        assert ended.status == 0 and "2 responses to 2 contexts" in ended.err
        ended = run("contradictions", "annotate", responses, "-o", sheet)
        assert ended.status == 0 and "2 responses to label; " in ended.err
        ended = run("contradictions", "export", responses, sheet, "-o", out)
        assert ended.status == 2 and "no row is filled in" in ended.err and not out.exists()
        first, second = (one.id for one in read_responses_file(responses))
        copies = judged_copies(sheet, {first: "110", second: "001"})
        told = run("annotate", "--read", *copies[:1], "--read", copies[1], "--key", key_path(sheet), "--json")
        assert json.loads(told.out)["agreement"][0]["annotators"] == 2, told.err
        ended = run("contradictions", "export", responses, *copies, "--key", key_path(sheet), "-o", out)
        assert ended.status == 0 and "1 contradictory, 0 consistent; the others were left out" in ended.err, (
            ended.err
        )
        assert [one.generator for one in read_labelled([out])] == ["people"]

        kept = tmp_path / "labels.sqlite"
        ended = run("contradictions", "annotate", responses, "-o", kept)
        assert ended.status == 0 and f"graphneg serve --judgements {kept}" in ended.err
        assert run("contradictions", "annotate", responses, "-o", kept).status == 2
        with Judgements.open(kept) as judged:
            for name in ("ann", "ben", "cleo"):
                while (row := judged.next_row(name)) is not None:
                    judged.judge(row, name, {"contradictory": "yes"})
        ended = run("contradictions", "export", responses, kept, "-o", out, "--overwrite")
        assert ended.status == 0 and "2 contradictory, 0 consistent" in ended.err, ended.err

    def test_a_source_of_responses_is_required(self, run: Run, tmp_path: Path) -> None:
        ended = run("contradictions", "responses", tmp_path / "c.jsonl", "-o", tmp_path / "r.jsonl")
        assert ended.status == 2 and "give at least one source of responses" in ended.err


def test_the_prompt_names_the_speakers() -> None:
    assert written(followup().shortened_context, "B") == "A: My coat is red.\nB:"
