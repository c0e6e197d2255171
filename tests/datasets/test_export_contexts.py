"""Tests of exports in the format of DailyDialog++, and of the speakers of exported responses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.evaluation.ranking import read_choices
from graphneg.generators.base import Candidate, Context, Generator
from graphneg.model import Negative, Original, Turn
from graphneg.records.files import read_jsonl
from graphneg.store.connection import Store
from tests.cli_runs import Run
from tests.loaded_dialogues import loaded
from tests.negative_samples import EXAMPLE
from tests.pair_samples import written

SHOP = [
    {
        "id": "1",
        "corpus": "shop",
        "split": "train",
        "turns": [
            {"speaker": "Ann", "text": "Is it open?"},
            {"speaker": "Ann", "text": "I need pears."},
            {"speaker": "Bo", "text": "Until six."},
            {"speaker": "Ann", "text": "And on Sunday?"},
        ],
        "responses": [
            {"turn": 2, "text": "Good, I'll hurry.", "label": 1},
            {"turn": 2, "text": "Six pears are too many.", "label": 0, "source": "adversarial"},
            {"turn": 2, "text": "The bus is blue.", "label": 0, "source": "random"},
            {"turn": 3, "text": "No, we rest then.", "label": 1},
        ],
    },
    {
        "id": "2",
        "corpus": "shop",
        "split": "test",
        "turns": [
            {"speaker": "Cy", "text": "One pear."},
            {"speaker": "Di", "text": "Here."},
            {"speaker": "Cy", "text": "Thanks."},
        ],
    },
]


class BlueSkyGenerator(Generator):
    name = "blue"

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        return [[Candidate("The sky is blue.", ("C-follow",))] for _ in contexts]


@pytest.fixture(scope="module")
def graph(embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> DialogueGraph:
    return loaded(embedded, tmp_path_factory.mktemp("shop"), "shop", SHOP)


def wrong_response(text: str, at: str = "shop/train/1#2", source: str = "edits", label: int = 0) -> Negative:
    dialogue, _, turn = at.partition("#")
    context = (Turn("Ann", "Is it open?"),)
    own = {"context": context, "original": Original(None, None), "label": label}
    return replace(EXAMPLE, dialogue=dialogue, turn=int(turn), response=text, recipe=source, **own)


def read_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class TestSpeakers:
    def test_responses_of_an_export_have_the_next_speaker(self, graph: DialogueGraph, tmp_path: Path) -> None:
        graph.export(tmp_path / "shop.jsonl")
        said = {one.response: one.speaker for one in read_jsonl(tmp_path / "shop.jsonl")}
        assert said["And on Sunday?"] == said["Good, I'll hurry."] == said["The bus is blue."] == "Ann"
        assert said["No, we rest then."] == "Bo" and said["Thanks."] == "Cy"

    def test_generated_responses_have_the_next_speaker(self, graph: DialogueGraph) -> None:
        made = graph.generate(BlueSkyGenerator(), places="every", corpora=["shop"])
        assert [(one.turn, one.speaker) for one in made] == [(1, "Di"), (2, "Cy"), (3, "Ann"), (4, "Bo")]


class TestContexts:
    def test_contexts_end_where_a_response_or_negative_follows(
        self, graph: DialogueGraph, tmp_path: Path
    ) -> None:
        made = graph.generate(BlueSkyGenerator())
        made.to_jsonl(tmp_path / "blue.jsonl")
        more = written(
            [wrong_response("Two plums."), wrong_response("Yes, till six.", label=1)], tmp_path / "more.jsonl"
        )
        out = tmp_path / "contexts.json"
        files = [tmp_path / "blue.jsonl", more]
        assert graph.export(out, format="dailydialog_pp", negatives=files, splits=["train"]) == 3
        assert read_lines(out) == [
            {
                "id": "shop/train/1#2",
                "context": ["Is it open?", "I need pears."],
                "positive_responses": ["Until six.", "Yes, till six."],
                "adversarial_negative_responses": ["Two plums."],
                "random_negative_responses": [],
            },
            {
                "id": "shop/train/1#3",
                "context": ["Is it open?", "I need pears.", "Until six."],
                "positive_responses": ["And on Sunday?", "Good, I'll hurry."],
                "adversarial_negative_responses": ["Six pears are too many.", "The sky is blue."],
                "random_negative_responses": ["The bus is blue."],
            },
            {
                "id": "shop/train/1#4",
                "context": ["Is it open?", "I need pears.", "Until six.", "And on Sunday?"],
                "positive_responses": ["No, we rest then."],
                "adversarial_negative_responses": ["The sky is blue."],
                "random_negative_responses": [],
            },
        ]

    def test_exported_contexts_can_be_loaded(self, graph: DialogueGraph, tmp_path: Path) -> None:
        out = tmp_path / "contexts.json"
        graph.export(out, format="dailydialog_pp")
        [choices] = read_choices([out])
        assert choices.positives == ("And on Sunday?", "Good, I'll hurry.")
        assert choices.negatives["random"] == ("The bus is blue.",)
        assert graph.load("dailydialog_pp", out, name="again").written["dialogues"] == 1

    def test_the_command_counts_omitted_contexts(
        self, graph: DialogueGraph, tmp_path: Path, run: Run
    ) -> None:
        edited = replace(wrong_response("Here."), original=Original((), None))
        records = [wrong_response("No.", "shop/none/1#2"), edited, wrong_response("No.", "shop/test/2#0")]
        negatives = written(records, tmp_path / "more.jsonl")
        store = ("--store", str(graph.store.description).removeprefix("embedded store at "))
        out = tmp_path / "contexts.jsonl"
        command = ("export", out, "--format", "dailydialog_pp", "--negatives", negatives, "--corpus", "shop")
        ended = run(*command, *store)
        assert ended.status == 0, ended.err
        assert "1 contexts" in ended.err
        assert "left out: 2 contexts without a correct or a wrong response" in ended.err
        assert "left out: 1 negatives of edited dialogues" in ended.err
        assert "left out: 1 negatives of dialogues that are not exported" in ended.err
        written([wrong_response("Other."), *records], negatives)
        assert run(*command, *store).status == 2
        assert run(*command, *store, "--overwrite").status == 0 and len(read_lines(out)) == 2

    def test_no_file_is_written_without_a_complete_context(
        self, graph: DialogueGraph, tmp_path: Path
    ) -> None:
        with pytest.raises(InputError, match="no context has both correct and wrong responses"):
            graph.export(tmp_path / "out.json", format="dailydialog_pp", splits=["test"])
        assert not list(tmp_path.iterdir())

    def test_another_suffix_or_format_is_refused(self, graph: DialogueGraph, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"\.json or \.jsonl|\.json, \.jsonl"):
            graph.export(tmp_path / "out.parquet", format="dailydialog_pp")
        with pytest.raises(InputError, match="unknown format 'ubuntu'; choose dailydialog_pp"):
            graph.export(tmp_path / "out.json", format="ubuntu")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="only the format dailydialog_pp can contain negatives"):
            graph.export(tmp_path / "out.jsonl", negatives=["some.jsonl"])
