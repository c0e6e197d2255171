"""Tests of coherence scorers: windows, scores, training and commands."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.errors import InputError, ModelError
from graphneg.evaluation.correlation import RatedItem
from graphneg.model import Negative, Original, Turn
from graphneg.records.files import write_jsonl
from graphneg.scorers.coherence import DialogueVersions, WindowSplitter, dialogues_of, read_dialogues
from tests.cli_runs import Run
from tests.interrupting import StopsAt
from tests.negative_samples import EXAMPLE
from tests.tiny_ranker import encoder_folder

TALKS = (
    ("shall we swim", "when", "at six"),
    ("where is the cat", "in the garden", "who ate the bread"),
    ("who ate the bread", "you did", "where is the dog"),
    ("is the dog in the kitchen", "in the garden", "you ate now"),
)


def record(
    dialogue_number: int, *turns: str, edited: int | None = None, category: str = "C-cont"
) -> Negative:
    """Return a record of a dialogue; the turn number `edited` becomes "fish twelve eggs"."""
    said = tuple(Turn("AB"[k % 2], text) for k, text in enumerate(turns))
    one = replace(
        EXAMPLE,
        id=f"own/all/{dialogue_number}#2~{category}.{edited}",
        dialogue=f"own/all/{dialogue_number}",
        context=said[:-1],
        response=turns[-1],
        original=Original(None, None),
        edits=(),
        categories=(),
        recipe="",
        target="dialogue",
        label=1,
    )
    if edited is None:
        return one
    wrong = tuple(
        Turn(turn.speaker, "fish twelve eggs") if k == edited else turn for k, turn in enumerate(said)
    )
    return replace(
        one,
        context=wrong[:-1],
        response=wrong[-1].text,
        original=Original(said[:-1], turns[-1]),
        edits=(replace(EXAMPLE.edits[0], turn=edited, category=category),),
        categories=(category,),
        recipe="deam",
        label=0,
    )


def records() -> list[Negative]:
    return [record(k, *turns, edited=e) for k, turns in enumerate(TALKS) for e in (0, 1, 2)]


def turns_of(*texts: str) -> list[Turn]:
    return [Turn("AB"[k % 2], text) for k, text in enumerate(texts)]


class TestWindows:
    @given(st.lists(st.integers(1, 10), min_size=1, max_size=30), st.integers(10, 40), st.integers(0, 4))
    def test_windows_cover_all_turns_and_fit(self, lengths: list[int], room: int, overlap: int) -> None:
        windows = WindowSplitter(room, overlap).windows(lengths)
        assert windows[0].start == 0 and windows[-1].stop == len(lengths)
        assert all(sum(lengths[turn] for turn in window) <= room for window in windows)
        for one, after in pairwise(windows):
            assert one.start < after.start <= one.stop < after.stop

    @given(st.lists(st.integers(1, 10), min_size=1, max_size=30), st.integers(10, 40))
    def test_all_windows_are_maximal(self, lengths: list[int], room: int) -> None:
        for window in WindowSplitter(room).all(lengths):
            assert window.stop == len(lengths) or sum(lengths[window.start : window.stop + 1]) > room
            assert sum(lengths[turn] for turn in window) <= room

    def test_a_short_dialogue_is_one_window(self) -> None:
        assert len(WindowSplitter(30).windows([5] * 6)) == len(WindowSplitter(30).all([5] * 6)) == 1

    def test_a_negative_overlap_is_refused(self) -> None:
        with pytest.raises(InputError, match="overlap must be at least 0, not -1"):
            WindowSplitter(10, -1)


class TestDialogues:
    def test_edited_dialogues_have_their_original_and_edited_turns(self) -> None:
        [one] = dialogues_of([record(0, *TALKS[0], edited=1)]).dialogues
        assert [turn.text for turn in one.original] == list(TALKS[0])
        [edited] = one.edited
        assert [turn.text for turn in edited.turns] == ["shall we swim", "fish twelve eggs", "at six"]
        assert [turn.speaker for turn in edited.turns] == ["A", "B", "A"]
        assert (edited.edited, edited.names) == ({1}, {"deam", "C-cont"})

    def test_records_with_edited_responses_only_are_refused(self, tmp_path: Path) -> None:
        one = replace(EXAMPLE, target="response")
        write_jsonl([one], tmp_path / "a.jsonl")
        with pytest.raises(InputError, match="no edited dialogues in these files"):
            read_dialogues([tmp_path / "a.jsonl"])
        assert dialogues_of([one, *records()]).responses == 1

    def test_label_2_is_refused(self) -> None:
        with pytest.raises(InputError, match="the label is 2"):
            dialogues_of([replace(EXAMPLE, label=2)])


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    return encoder_folder(tmp_path_factory.mktemp("encoder"))


SETTINGS: dict[str, Any] = {"epochs": 25, "learning_rate": 5e-3, "per_device_train_batch_size": 8}


@pytest.fixture(scope="module")
def trained(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from graphneg.scorers.coherence import CoherenceScorer
    from graphneg.training.coherence import train_coherence

    folder = tmp_path_factory.mktemp("scorer") / "scorer"
    report = train_coherence(
        CoherenceScorer.new(encoder, dropout=0.0), read(), folder, mix={"deam": 2}, **SETTINGS
    )
    assert report.windows == {"original": 200, "deam": 200} and report.steps == 50
    assert not report.shortfall.responses
    return folder


def read() -> list[DialogueVersions]:
    return dialogues_of(records()).dialogues


class TestScorer:
    def test_edited_dialogues_score_lower(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        scorer = CoherenceScorer.from_pretrained(trained)
        good, bad = scorer.score(
            [turns_of("who ate the bread", "you did"), turns_of("fish twelve", "fish eggs")]
        )
        assert 0 <= bad < 0.3 and 0.7 < good <= 1
        assert scorer.categories == ("C-cont",)

    def test_a_saved_scorer_is_loaded_by_transformers(self, trained: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(trained)
        assert model.config.num_labels == 1 and model.config.graphneg["kind"] == "coherence"
        assert AutoTokenizer.from_pretrained(trained).sep_token == "[SEP]"

    def test_long_dialogues_are_split_into_windows_of_turns(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        turns = turns_of(*(text for one in TALKS for text in one), "fish twelve eggs", "fish", "eggs")
        scorer = CoherenceScorer.from_pretrained(trained)
        encoded = scorer.encode_turns(turns)
        windows = scorer.window_splitter.windows(scorer.lengths(encoded))
        assert len(windows) > 2 and scorer.cut_turns == 0
        assert all(len(scorer.tokens(encoded, one)) <= scorer.max_tokens == 24 for one in windows)
        worst = CoherenceScorer.from_pretrained(trained, over="minimum", batch=1)
        parts = [scorer.score([turns[one.start : one.stop]])[0] for one in windows]
        assert worst.score([turns]) == [pytest.approx(min(parts), abs=1e-3)]
        assert scorer.score([turns]) == [pytest.approx(sum(parts) / len(parts), abs=1e-3)]

    def test_turns_longer_than_a_window_are_counted(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        scorer = CoherenceScorer.from_pretrained(trained)
        assert len(scorer.score([turns_of("fish " * 40, "eggs"), turns_of("you did")])) == 2
        assert scorer.cut_turns == 1

    def test_speaker_names_do_not_matter(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        scorer = CoherenceScorer.from_pretrained(trained)
        named = scorer.encode_turns([Turn("User", "fish"), Turn("System", "eggs")])
        assert named == scorer.encode_turns([Turn("agent_1", "fish"), Turn("agent_2", "eggs")])
        assert named == scorer.encode_turns([Turn("", "fish"), Turn("", "eggs")])

    def test_other_models_and_empty_dialogues_are_refused(self, encoder: Path, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        with pytest.raises(ModelError, match="BertModel, not a coherence scorer"):
            CoherenceScorer.from_pretrained(encoder)
        with pytest.raises(InputError, match="dialogue 2 of 2 has no turns"):
            CoherenceScorer.from_pretrained(trained).score([turns_of("fish"), []])


class TestTraining:
    def test_a_resumed_training_gives_the_same_model(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer
        from graphneg.training.coherence import train_coherence

        settings = {**SETTINGS, "epochs": 20, "save_steps": 10}
        with pytest.raises(KeyboardInterrupt):
            train_coherence(
                CoherenceScorer.new(encoder), read(), tmp_path / "a", progress=StopsAt(15), **settings
            )
        with pytest.raises(
            InputError, match="the folder contains an unfinished run with other examples or settings"
        ):
            train_coherence(CoherenceScorer.new(encoder), read(), tmp_path / "a", seed=1, **settings)
        stopped, whole = CoherenceScorer.new(encoder), CoherenceScorer.new(encoder)
        train_coherence(stopped, read(), tmp_path / "a", **settings)
        train_coherence(whole, read(), tmp_path / "b", **settings)
        some = [turns_of("shall we swim", "fish"), turns_of("where is the cat", "at six")]
        assert stopped.score(some) == pytest.approx(whole.score(some), abs=1e-6)
        with pytest.raises(InputError, match="the folder already contains a model"):
            train_coherence(stopped, read(), tmp_path / "a", **settings)
        train_coherence(stopped, read(), tmp_path / "a", overwrite=True, epochs=1)

    def test_windows_contain_the_edited_turns(self) -> None:
        from graphneg.training.coherence import WindowSampler  # pyright: ignore[reportPrivateUsage]

        picks = WindowSampler(read(), {"deam": 3}, 0, ()).epoch(0)
        assert len(picks) == 24
        for version, own in zip(picks[::2], picks[1::2], strict=True):
            assert (version.label, own.label) == (0, 1)
            assert (version.edited_turns, version.number) == (own.edited_turns, own.number)
            both = zip(version.turns, own.turns, strict=True)
            assert {k for k, (edited, said) in enumerate(both) if edited != said} == own.edited_turns

    def test_twins_are_coherent_dialogues_if_the_mix_names_them(self) -> None:
        from graphneg.training.coherence import WindowSampler

        twin = replace(record(0, *TALKS[0], edited=1), id="p.twin", recipe="twin", label=1, pair="p")
        dialogues = dialogues_of([*records(), twin]).dialogues
        assert [one.id for item in dialogues for one in item.twins] == ["p.twin"]
        picks = WindowSampler(dialogues, {"deam": 1, "twin": 1}, 0, ()).epoch(0)
        assert [(pick.label, pick.source) for pick in picks if pick.source == "twin"] == [(1, "twin")]
        unasked = WindowSampler(dialogues, {"deam": 1}, 0, ())
        assert not [pick for pick in unasked.epoch(0) if pick.source == "twin"]
        assert unasked.shortfall.unused["twin"] == 1
        with pytest.raises(InputError, match="at least one edited version"):
            WindowSampler(dialogues, {"twin": 1}, 0, ())

    def test_held_out_dialogues_are_left_out(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer
        from graphneg.training.coherence import train_coherence

        held_out = ["Is the DOG in  the kitchen", "where is the cat"]
        report = train_coherence(
            CoherenceScorer.new(encoder),
            read(),
            tmp_path / "a",
            mix={"C-cont": 5},
            epochs=1,
            held_out=held_out,
        )
        assert report.shortfall.held_out == 3 and report.windows["original"] == 9
        assert (report.shortfall.contexts["C-cont"], report.shortfall.responses["C-cont"]) == (3, 6)

    def test_invalid_training_data_are_refused(self, encoder: Path, tmp_path: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer
        from graphneg.training.coherence import train_coherence

        scorer = CoherenceScorer.new(encoder)
        with pytest.raises(InputError, match="no edited dialogues of 'C-ent'; available: C-cont, deam"):
            train_coherence(scorer, read(), tmp_path / "a", mix={"C-ent": 1})
        with pytest.raises(InputError, match="nothing to train on: all dialogues share turns"):
            train_coherence(scorer, read()[3:], tmp_path / "a", held_out=[TALKS[3][0]])
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize(
        ("epochs", "arguments", "told"),
        [
            (0, {}, "epochs must be at least 1, not 0"),
            (1, {"max_steps": 5}, "max_steps: epochs set the length of a run"),
        ],
    )
    def test_epochs_and_max_steps_are_checked(
        self, epochs: int, arguments: dict[str, Any], told: str
    ) -> None:
        from graphneg.nn.training import check_epochs

        check_epochs(1, {"learning_rate": 1e-3})
        with pytest.raises(InputError, match=told):
            check_epochs(epochs, arguments)


class TestCommands:
    def test_a_scorer_is_trained_and_correlated_with_ratings(
        self, run: Run, encoder: Path, trained: Path, tmp_path: Path
    ) -> None:
        write_jsonl([*records(), replace(EXAMPLE, target="response")], tmp_path / "edits.jsonl")
        out = tmp_path / "scorer"
        ended = run("train", "coherence", tmp_path / "edits.jsonl", "--model", encoder, "-o", out,
                    "--epochs", "1", "--mix", "C-cont=1")  # fmt: skip
        assert ended.status == 0 and "deam 4, original 4" in ended.err and "categories: C-cont" in ended.err
        assert "1 record edit no dialogue" in ended.err
        lines = [("who ate the bread", 5), ("fish twelve eggs", 1), ("where is the cat", 4), ("fish", 2)]
        rated = [{"context": f"User: {text}\nSystem: you did", "coherent": n} for text, n in lines]
        (tmp_path / "rated.json").write_text(json.dumps(rated))
        ended = run("evaluate", "correlation", tmp_path / "rated.json", "--model", trained, "--model", out,
                    "--resamples", "20", "--json")  # fmt: skip
        found = json.loads(ended.out)
        assert ended.status == 0 and found["scorers"][0]["correlations"][0]["spearman"]["value"] > 0.5
        assert found["differences"][0]["second"] == str(out)

    def test_wrong_usage_ends_with_2(self, run: Run, encoder: Path, trained: Path, tmp_path: Path) -> None:
        rated = tmp_path / "rated.json"
        rated.write_text(json.dumps([{"context": "User: fish", "coherent": 1}]))
        for arguments, told in (
            (("evaluate", "correlation", rated, "--model", encoder), "BertModel gives no scores"),
            (("evaluate", "correlation", rated), "give --model or --scores"),
            (("train", "coherence", rated, "--model", encoder, "-o", tmp_path / "x"), "rated.json"),
        ):
            ended = run(*arguments)
            assert ended.status == 2 and told in " ".join(ended.err.split())
        write_jsonl(records(), tmp_path / "edits.jsonl")
        ended = run("train", "coherence", tmp_path / "edits.jsonl", "--model", encoder, "-o", trained)
        assert ended.status == 2 and "the folder already contains a model" in ended.err


class TestBenchmark:
    def test_deam_without_one_transform_is_a_recipe(self) -> None:
        from benchmarks.coherence import recipe_without
        from graphneg.editing.recipes import get_recipe

        without = recipe_without("coreference_swap")
        assert (without.name, without.max_groups) == ("deam-without-coreference_swap", 3)
        assert set(without.transforms) == set(get_recipe("deam").transforms) - {"coreference_swap"}
        assert recipe_without("antonym_substitution").max_groups == 4

    def test_the_result_compares_deam_with_its_baselines(self) -> None:
        pytest.importorskip("scipy")
        from benchmarks.coherence import ANY, COHERENT, OVERALL, RATINGS, Setting, Trained, result_of

        people = [1.0, 2.0, 3.0, 2.0, 1.0, 3.0]
        rated = [
            RatedItem(f"{name}:{k}", (Turn("User", "Hi."),), None, {COHERENT: one, OVERALL: one})
            for name in RATINGS
            for k, one in enumerate(people)
        ]
        runs = [
            Trained("deam", 9, 0.1, 1.0, people * 3, {ANY: (0.75, 4)}),
            Trained("insertion", 9, 0.1, 1.0, [*reversed(people)] * 3, {ANY: (0.5, 4)}),
        ]
        result = result_of(runs, rated, Setting())
        [table, apart], [goal] = result.tables, result.goals
        assert goal.verdict == "met" and goal.measured == "+1.000"
        assert [len(row) for row in table.rows] == [len(table.columns)] * 2
        assert apart.rows[0] == ("deam", "any", "4", "0.750")
