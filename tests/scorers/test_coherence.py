"""Coherence scorers: how dialogues are cut, what is learned, what is kept, and what is refused."""

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


def record(place: int, *turns: str, edited: int | None = None, category: str = "C-cont") -> Negative:
    """A dialogue of TALKS; where a turn is ``edited`` it says something about fish."""
    said = tuple(Turn("AB"[k % 2], text) for k, text in enumerate(turns))
    one = replace(
        EXAMPLE,
        id=f"own/all/{place}#2~{category}.{edited}",
        dialogue=f"own/all/{place}",
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


def talk(*texts: str) -> list[Turn]:
    return [Turn("AB"[k % 2], text) for k, text in enumerate(texts)]


class TestWindows:
    @given(st.lists(st.integers(1, 10), min_size=1, max_size=30), st.integers(10, 40), st.integers(0, 4))
    def test_hold_all_turns_and_fit(self, lengths: list[int], room: int, overlap: int) -> None:
        windows = WindowSplitter(room, overlap).windows(lengths)
        assert windows[0].start == 0 and windows[-1].stop == len(lengths)
        assert all(sum(lengths[turn] for turn in window) <= room for window in windows)
        for one, after in pairwise(windows):
            assert one.start < after.start <= one.stop < after.stop

    @given(st.lists(st.integers(1, 10), min_size=1, max_size=30), st.integers(10, 40))
    def test_that_can_be_made_longer_are_none_of_all(self, lengths: list[int], room: int) -> None:
        for window in WindowSplitter(room).all(lengths):
            assert window.stop == len(lengths) or sum(lengths[window.start : window.stop + 1]) > room
            assert sum(lengths[turn] for turn in window) <= room

    def test_of_a_short_dialogue_are_one(self) -> None:
        assert len(WindowSplitter(30).windows([5] * 6)) == len(WindowSplitter(30).all([5] * 6)) == 1

    def test_share_no_negative_number_of_turns(self) -> None:
        with pytest.raises(InputError, match="overlap must be at least 0, not -1"):
            WindowSplitter(10, -1)


class TestDialogues:
    def test_come_with_their_originals_and_the_turns_that_were_edited(self) -> None:
        [one] = dialogues_of([record(0, *TALKS[0], edited=1)]).dialogues
        assert [turn.text for turn in one.original] == list(TALKS[0])
        [edited] = one.edited
        assert [turn.text for turn in edited.turns] == ["shall we swim", "fish twelve eggs", "at six"]
        assert [turn.speaker for turn in edited.turns] == ["A", "B", "A"]
        assert (edited.edited, edited.names) == ({1}, {"deam", "C-cont"})

    def test_are_none_where_only_responses_were_edited(self, tmp_path: Path) -> None:
        one = replace(EXAMPLE, target="response")
        write_jsonl([one], tmp_path / "a.jsonl")
        with pytest.raises(InputError, match="no edited dialogues in these files"):
            read_dialogues([tmp_path / "a.jsonl"])
        assert dialogues_of([one, *records()]).responses == 1

    def test_have_a_label_of_two(self) -> None:
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
    def test_tells_edited_dialogues_from_others(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        scorer = CoherenceScorer.from_pretrained(trained)
        good, bad = scorer.score([talk("who ate the bread", "you did"), talk("fish twelve", "fish eggs")])
        assert 0 <= bad < 0.3 and 0.7 < good <= 1
        assert scorer.categories == ("C-cont",)

    def test_is_a_classifier_that_transformers_loads(self, trained: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(trained)
        assert model.config.num_labels == 1 and model.config.graphneg["kind"] == "coherence"
        assert AutoTokenizer.from_pretrained(trained).sep_token == "[SEP]"

    def test_cuts_long_dialogues_by_turns(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        turns = talk(*(text for one in TALKS for text in one), "fish twelve eggs", "fish", "eggs")
        scorer = CoherenceScorer.from_pretrained(trained)
        encoded = scorer.encode_turns(turns)
        windows = scorer.cutter.windows(scorer.lengths(encoded))
        assert len(windows) > 2 and scorer.cut_turns == 0
        assert all(len(scorer.tokens(encoded, one)) <= scorer.max_tokens == 24 for one in windows)
        worst = CoherenceScorer.from_pretrained(trained, over="minimum", batch=1)
        parts = [scorer.score([turns[one.start : one.stop]])[0] for one in windows]
        assert worst.score([turns]) == [pytest.approx(min(parts), abs=1e-3)]
        assert scorer.score([turns]) == [pytest.approx(sum(parts) / len(parts), abs=1e-3)]

    def test_counts_turns_that_are_longer_than_a_window(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        scorer = CoherenceScorer.from_pretrained(trained)
        assert len(scorer.score([talk("fish " * 40, "eggs"), talk("you did")])) == 2
        assert scorer.cut_turns == 1

    def test_marks_speakers_in_the_order_in_which_they_come_up(self, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        scorer = CoherenceScorer.from_pretrained(trained)
        named = scorer.encode_turns([Turn("User", "fish"), Turn("System", "eggs")])
        assert named == scorer.encode_turns([Turn("agent_1", "fish"), Turn("agent_2", "eggs")])
        assert named == scorer.encode_turns([Turn("", "fish"), Turn("", "eggs")])

    def test_is_no_other_model_and_reads_no_empty_dialogue(self, encoder: Path, trained: Path) -> None:
        from graphneg.scorers.coherence import CoherenceScorer

        with pytest.raises(ModelError, match="BertModel, not a coherence scorer"):
            CoherenceScorer.from_pretrained(encoder)
        with pytest.raises(InputError, match="dialogue 2 of 2 has no turns"):
            CoherenceScorer.from_pretrained(trained).score([talk("fish"), []])


class TestTraining:
    def test_goes_on_from_its_checkpoint_to_the_same_model(self, encoder: Path, tmp_path: Path) -> None:
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
        some = [talk("shall we swim", "fish"), talk("where is the cat", "at six")]
        assert stopped.score(some) == pytest.approx(whole.score(some), abs=1e-6)
        with pytest.raises(InputError, match="the folder already contains a model"):
            train_coherence(stopped, read(), tmp_path / "a", **settings)
        train_coherence(stopped, read(), tmp_path / "a", overwrite=True, epochs=1)

    def test_shows_dialogues_at_the_places_where_their_versions_are_edited(self) -> None:
        from graphneg.training.coherence import WindowSampler  # pyright: ignore[reportPrivateUsage]

        picks = WindowSampler(read(), {"deam": 3}, 0, ()).epoch(0)
        assert len(picks) == 24
        for version, own in zip(picks[::2], picks[1::2], strict=True):
            assert (version.label, own.label) == (0, 1)
            assert (version.places, version.number) == (own.places, own.number)
            both = zip(version.turns, own.turns, strict=True)
            assert {k for k, (edited, said) in enumerate(both) if edited != said} == own.places

    def test_leaves_out_what_is_held_out(self, encoder: Path, tmp_path: Path) -> None:
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

    def test_refuses_what_it_cannot_learn_from(self, encoder: Path, tmp_path: Path) -> None:
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
    def test_is_as_long_as_its_epochs(self, epochs: int, arguments: dict[str, Any], told: str) -> None:
        from graphneg.nn.training import check_epochs

        check_epochs(1, {"learning_rate": 1e-3})
        with pytest.raises(InputError, match=told):
            check_epochs(epochs, arguments)


class TestCommands:
    def test_train_a_scorer_and_correlate_it_with_people(
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

    def test_end_with_2_where_they_are_used_wrongly(
        self, run: Run, encoder: Path, trained: Path, tmp_path: Path
    ) -> None:
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
    def test_leaves_transforms_out_of_deam_one_by_one(self) -> None:
        from benchmarks.coherence import recipe_without
        from graphneg.editing.recipes import get_recipe

        without = recipe_without("coreference_swap")
        assert (without.name, without.max_groups) == ("deam-without-coreference_swap", 3)
        assert set(without.transforms) == set(get_recipe("deam").transforms) - {"coreference_swap"}
        assert recipe_without("antonym_substitution").max_groups == 4

    def test_tells_whether_deam_is_ahead_of_its_baselines(self) -> None:
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
