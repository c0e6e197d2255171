"""Tests of the correlation of scores with human ratings: file formats, coefficients, comparisons."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.model import Turn

pytest.importorskip("scipy", reason="correlations need the evaluation extra")

from graphneg.errors import InputError
from graphneg.evaluation.correlation import (
    RatedItem,
    compare,
    correlate,
    length_baselines,
    qualities,
    read_ratings,
    read_scores,
    select_qualities,
    turn_texts,
)
from tests.cli_runs import Run
from tests.tiny_ranker import encoder_folder

DATA = Path(__file__).parent.parent.parent.parent / "shared" / "data"
DIALOGUE = "User: Hi.\nSystem: Hello there.\n"


def rated(*values: float) -> list[RatedItem]:
    return [
        RatedItem(f"own:{i}", (Turn("", "Hi."),), Turn("", "Oh."), {"fits": v}) for i, v in enumerate(values)
    ]


def written(folder: Path, value: object, name: str = "ratings.json") -> Path:
    (folder / name).write_text(json.dumps(value))
    return folder / name


class TestFiles:
    def test_dialogues_of_dstc9_have_a_number_a_quality(self, tmp_path: Path) -> None:
        value = [{"context": DIALOGUE, "coherent": 3, "likeable": "N/A"}]
        [one] = read_ratings([written(tmp_path, value)])
        assert one.level == "dialogue" and one.ratings == {"coherent": 3}
        assert one.turns == (Turn("User", "Hi."), Turn("System", "Hello there."))

    def test_fed_rates_turns_and_dialogues_by_several_people(self, tmp_path: Path) -> None:
        turn = {"context": DIALOGUE, "response": "System: Bye.", "annotations": {"Overall": [1, "N/A", 3]}}
        whole = {"context": DIALOGUE, "annotations": {"Coherent": [2, 2], "Depth": []}}
        one, two = read_ratings([written(tmp_path, [turn, whole])])
        assert (one.response, one.ratings) == (Turn("System", "Bye."), {"Overall": 2})
        assert (two.level, two.ratings) == ("dialogue", {"Coherent": 2})

    def test_three_files_of_lines_belong_together(self, tmp_path: Path) -> None:
        path = written(tmp_path, [{"overall": [5, 4]}, {"overall": [1, 2]}], "x_anno.json")
        (tmp_path / "x_ctx.txt").write_text("Hi.\nHow are you?\n")
        (tmp_path / "x_res.txt").write_text("Hello.\nBlue.\n")
        assert [(one.turns[0].text, one.response and one.response.text) for one in read_ratings([path])] == [
            ("Hi.", "Hello."),
            ("How are you?", "Blue."),
        ]
        (tmp_path / "x_res.txt").write_text("Hello.\n")
        with pytest.raises(InputError, match="2 ratings, 2 contexts and 1 responses"):
            read_ratings([path])
        (tmp_path / "x_res.txt").write_text("Hello.\nBlue.\n")
        with pytest.raises(InputError, match=r"x_anno\.json:1: expected an object"):
            read_ratings([written(tmp_path, [5, 1], "x_anno.json")])

    @pytest.mark.parametrize(
        ("value", "complaint"),
        [
            ({}, "expected a JSON list"),
            ([], "expected a JSON list"),
            ([{"text": "Hi."}], 'ratings.json:1: expected an object with a "context"'),
            ([{"context": DIALOGUE, "fits": 1}, {"context": " ", "fits": 1}], ":2: .* no turns"),
            ([{"context": DIALOGUE, "annotations": {"fits": ["good"]}}], ":1: .*expected numbers"),
            ([{"context": DIALOGUE, "annotations": {"fits": [float("nan")]}}], "not JSON: NaN"),
            ([{"context": DIALOGUE}], ":1: the item has no ratings"),
        ],
    )
    def test_another_shape_is_refused_with_its_place(
        self, tmp_path: Path, value: object, complaint: str
    ) -> None:
        with pytest.raises(InputError, match=complaint):
            read_ratings([written(tmp_path, value)])

    @pytest.mark.skipif(not DATA.is_dir(), reason="needs the folder of corpora")
    def test_the_published_files_are_read(self) -> None:
        dialogues = read_ratings([DATA / "dstc9" / f"chatbot{k}.json" for k in (1, 2, 3)])
        assert len(dialogues) == 1768 and "coherent" in qualities(dialogues)
        turns = read_ratings([DATA / "zhao2020_personachat" / "persona-zhao_all_anno.json"])
        assert len(turns) == 900 and {one.level for one in turns} == {"turn"}


class TestCoefficients:
    def test_scores_in_the_order_of_the_ratings_have_correlation_1(self) -> None:
        [one] = correlate([1, 2, 4, 8], rated(1, 2, 3, 4), resamples=50)
        assert one.spearman.value == one.kendall.value == pytest.approx(1)
        assert 0.9 < one.pearson.value < 1 and one.spearman.low <= 1 <= one.spearman.high

    def test_they_equal_those_of_scipy(self) -> None:
        from scipy import stats

        scores, people = [0.1, 0.5, 0.5, 0.2, 0.9, 0.7], [1, 2, 3, 1, 3, 2]
        [one] = correlate(scores, rated(*people), resamples=10)
        assert one.pearson.value == pytest.approx(stats.pearsonr(scores, people).statistic)
        assert one.spearman.value == pytest.approx(stats.spearmanr(scores, people).statistic)
        assert one.kendall.value == pytest.approx(stats.kendalltau(scores, people).statistic)

    def test_constant_scores_have_no_correlation(self) -> None:
        [one] = correlate([1, 1, 1, 1], rated(1, 2, 3, 4), resamples=10)
        assert (one.pearson.value, one.kendall.value, one.kendall.p) == (0, 0, 1)

    def test_a_better_scorer_has_a_significantly_higher_correlation(self) -> None:
        people = [float(i % 7) for i in range(70)]
        [one] = compare(people, [(i * 37 % 70) / 70 for i in range(70)], rated(*people), resamples=200)
        assert one.value > 0.5 and one.low > 0 and one.p < 0.05

    def test_the_same_seed_gives_the_same_intervals(self) -> None:
        scores, people = [0.3, 0.1, 0.9, 0.4, 0.8], rated(1, 2, 3, 2, 3)
        assert correlate(scores, people, seed=4) == correlate(scores, people, seed=4)

    def test_too_few_or_too_many_scores_are_refused(self) -> None:
        with pytest.raises(InputError, match="expected 3 scores, one for each rating in order, but found 2"):
            correlate([1, 2], rated(1, 2, 3))
        with pytest.raises(InputError, match="at least three"):
            correlate([1, 2], rated(1, 2))
        with pytest.raises(InputError, match="no quality named 'fit'; available: fits"):
            select_qualities(rated(1, 2, 3), ["fit"])


def test_the_command_compares_scorers(tmp_path: Path, run: Run) -> None:
    values = [{"context": DIALOGUE, "fits": i % 5, "odd": 5 - i % 5} for i in range(20)]
    ratings = str(written(tmp_path, values))
    (tmp_path / "a.txt").write_text("\n".join(str(i % 5) for i in range(20)))
    (tmp_path / "b.txt").write_text("\n".join(str(i) for i in range(20)))
    both = ("--scores", str(tmp_path / "a.txt"), "--scores", str(tmp_path / "b.txt"), "--resamples", "50")
    ended = run("evaluate", "correlation", ratings, *both, "--quality", "fits")
    assert ended.status == 0 and "20 rated items" in ended.err
    assert "a.txt minus b.txt" in ended.out and "odd" not in ended.out
    found = json.loads(run("evaluate", "correlation", ratings, *both, "--json").out)
    assert found["scorers"][0]["correlations"][0]["spearman"]["value"] == pytest.approx(1)
    assert [one["quality"] for one in found["differences"][0]["spearman"]] == ["fits", "odd"]


class TestCounts:
    def test_counts_are_words_of_the_rated_text_and_all_turns(self) -> None:
        said = (Turn("A", "Hi, you."), Turn("B", "Hello there."))
        response = RatedItem("own:1", said, Turn("A", "I can't come."), {"fits": 1})
        found = length_baselines([response, replace(response, response=None)])
        assert found == {"word count": [3, 4], "turn count": [3, 2]}

    def test_counts_are_listed_beside_every_scorer(self, tmp_path: Path, run: Run) -> None:
        values = [{"context": f"User: {'so ' * i}\nSystem: Oh.", "fits": i} for i in range(1, 6)]
        (tmp_path / "a.txt").write_text("3\n1\n2\n5\n4\n")
        command = ("evaluate", "correlation", written(tmp_path, values), "--scores", tmp_path / "a.txt")
        table = run(*command).out
        assert table.index("a.txt") < table.index("word count") < table.index("turn count")
        found = json.loads(run(*command, "--json").out)
        words, turns = found["counts"]
        assert (words["scores"], turns["scores"]) == ("word count", "turn count")
        assert words["correlations"][0]["spearman"]["value"] == pytest.approx(1)
        assert turns["correlations"][0]["spearman"]["value"] == 0


def test_the_command_reads_responses_with_a_ranker(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("torch")
    values = [{"context": DIALOGUE, "response": f"System: when {'now ' * i}", "fits": i} for i in range(4)]
    ranker = encoder_folder(tmp_path / "ranker", labels=1)
    words = ("--model", ranker, "--resamples", "5")
    ended = run("evaluate", "correlation", written(tmp_path, values), *words)
    assert ended.status == 0 and "turn" in ended.out
    ended = run("evaluate", "correlation", written(tmp_path, [{"context": DIALOGUE, "fits": 1}]), *words)
    assert ended.status == 2 and "ratings.json:1 is a whole dialogue" in ended.err


def test_the_command_takes_one_level_of_a_file_that_has_both(tmp_path: Path, run: Run) -> None:
    pytest.importorskip("torch")
    values: list[dict[str, object]] = []
    for i in range(4):
        values += [
            {"context": DIALOGUE, "fits": 3 - i},
            {"context": DIALOGUE, "response": f"System: when {'now ' * i}", "fits": i},
        ]
    ratings = written(tmp_path, values)
    (tmp_path / "a.txt").write_text("\n".join(str(one["fits"]) for one in values))
    ranker = encoder_folder(tmp_path / "ranker", labels=1)
    words = ("--model", ranker, "--scores", tmp_path / "a.txt", "--resamples", "5")
    ended = run("evaluate", "correlation", ratings, *words)
    assert ended.status == 2 and "leave dialogues out with --level turn" in ended.err
    ended = run("evaluate", "correlation", ratings, *words, "--level", "turn", "--json")
    assert ended.status == 0 and "4 rated items" in ended.err
    _, from_file = json.loads(ended.out)["scorers"]
    assert [one["level"] for one in from_file["correlations"]] == ["turn"]
    assert from_file["correlations"][0]["spearman"]["value"] == pytest.approx(1)
    only_whole = written(tmp_path, [value for value in values if "response" not in value])
    ended = run("evaluate", "correlation", only_whole, "--model", ranker, "--level", "turn")
    assert ended.status == 2 and "no turn has a rating" in ended.err


class TestFaults:
    @pytest.mark.parametrize(
        ("changed", "complaint"),
        [
            ({"response": 5}, '"response" is not a string'),
            ({"annotations": [1, 2]}, '"annotations" is not an object'),
            ({"annotations": {"fits": ["N/A", ""]}}, "expected numbers"),
            ({"fits": True}, "the item has no ratings"),
        ],
    )
    def test_invalid_objects_are_reported_with_their_place(
        self, tmp_path: Path, changed: dict[str, object], complaint: str
    ) -> None:
        with pytest.raises(InputError, match=rf"ratings\.json:1: .*{complaint}"):
            read_ratings([written(tmp_path, [{"context": DIALOGUE, **changed}])])

    def test_invalid_scores_are_reported_with_their_line(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.jsonl"
        path.write_text('1\n\n{"score": 0.5}\n')
        assert read_scores(path, 2) == [1, 0.5]
        path.write_text('1\n\n{"score": true}\n')
        with pytest.raises(InputError, match=r"scores\.jsonl:3: expected a number"):
            read_scores(path, 2)


class TestTexts:
    def test_texts_of_rated_dialogues_are_in_order(self, tmp_path: Path) -> None:
        path = written(tmp_path, [{"context": DIALOGUE, "response": "Bye: now.", "annotations": {"fits": 1}}])
        [rating] = read_ratings([path])
        assert rating.all_turns[-1] == Turn("System", "Bye: now.")
        assert turn_texts([path]) == ["Hi.", "Hello there.", "Bye: now."]


class TestComparing:
    @settings(max_examples=20)
    @given(st.lists(st.integers(0, 5), min_size=5, max_size=12), st.integers(0, 99))
    def test_swapping_two_scorers_inverts_the_difference(self, people: list[int], seed: int) -> None:
        first, second = [float(value) for value in people], [float(value % 3) for value in people]
        [there] = compare(first, second, rated(*first), resamples=20, seed=seed)
        [back] = compare(second, first, rated(*first), resamples=20, seed=seed)
        assert there.value == -back.value
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
        assert there.value == 0 or there.p == pytest.approx(back.p)

    def test_turn_and_dialogue_ratings_are_separate(self) -> None:
        whole = [replace(item, response=None) for item in rated(3, 2, 1)]
        turn, dialogue = correlate([1, 2, 3, 1, 2, 3], [*rated(1, 2, 3), *whole], resamples=5)
        assert (turn.level, dialogue.level) == ("turn", "dialogue")
        assert turn.kendall.value == pytest.approx(1) and dialogue.kendall.value == pytest.approx(-1)
