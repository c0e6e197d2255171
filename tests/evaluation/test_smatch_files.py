"""Tests of Smatch and its sub-scores on files, compared with the package `smatch` and with hand counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("smatch", reason="Smatch needs the evaluation extra")

from graphneg.amr.smatch import MEASURES, Tally, measured, score
from graphneg.errors import InputError
from graphneg.evaluation.smatch_files import evaluate_smatch

GOLD = """
# ::id one
(l / like-01
   :polarity -
   :ARG0 (p / person
            :name (n / name :op1 "Anna"))
   :ARG1 (t / train-01
            :ARG1 p))

# ::id two
(g / go-02
   :ARG0 (i / i)
   :mod (o / only))
"""
PREDICTED = """
# ::id two
(g / go-03
   :ARG0 (i / i)
   :mod (o / only))

# ::id one
(l / like-01
   :ARG0 (p / person
            :name (n / name :op1 "Anna"))
   :ARG1 (t / train-01
            :ARG0 p))
"""


def files(folder: Path, gold: str = GOLD, predicted: str = PREDICTED) -> tuple[Path, Path]:
    (folder / "gold.amr").write_text(gold)
    (folder / "predicted.amr").write_text(predicted)
    return folder / "gold.amr", folder / "predicted.amr"


def without_ids(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("# ::id"))


class TestScores:
    @pytest.fixture(scope="class")
    def f1(self, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
        found = evaluate_smatch(*files(tmp_path_factory.mktemp("scores")))
        assert (found.pairs, found.paired_by, found.unreadable) == (2, "id", [])
        return {name: round(one.micro.f1, 4) for name, one in found.measures.items()}

    def test_scores_equal_those_of_amr_evaluation(self, f1: dict[str, float]) -> None:
        assert list(f1) == list(MEASURES)

    def test_scores_count_triples(self, f1: dict[str, float]) -> None:
        """Gold has 11 + 6 triples, predictions 10 + 6; role, sense and negation differ, so 14 match."""
        assert f1["Smatch"] == round(2 * 14 / (17 + 16), 4)

    def test_scores_without_labels_differ_by_the_sense_and_the_negation(self, f1: dict[str, float]) -> None:
        assert f1["unlabelled"] == round(2 * 15 / (17 + 16), 4)

    def test_scores_without_senses_differ_by_the_role_and_the_negation(self, f1: dict[str, float]) -> None:
        assert f1["no senses"] == round(2 * 15 / (17 + 16), 4)

    def test_scores_of_labels_compare_sets(self, f1: dict[str, float]) -> None:
        assert f1["concepts"] == round(6 / 7, 4)
        assert (f1["named entities"], f1["negation"]) == (1.0, 0.0)

    def test_reentrancy_and_srl_are_matched_separately(self, f1: dict[str, float]) -> None:
        """The re-entrant person has two parents (3 concepts, 2 roles); a sense and a role differ."""
        assert f1["reentrancy"] == round(4 / 5, 4)
        assert f1["SRL"] == round(2 * 7 / (9 + 9), 4)

    def test_scores_of_graphs_against_themselves_are_one(self, tmp_path: Path) -> None:
        found = evaluate_smatch(*files(tmp_path, GOLD, GOLD))
        assert {one.micro.f1 for one in found.measures.values()} == {1.0}
        assert {one.macro.f1 for one in found.measures.values()} == {1.0}

    def test_scores_agree_with_the_program_of_the_package(self, tmp_path: Path) -> None:
        gold, predicted = files(tmp_path, without_ids(GOLD), without_ids(PREDICTED))
        program = Path(sys.executable).with_name("smatch.py")
        said = subprocess.run(
            [sys.executable, program, "--significant", "4", "--pr", "-f", predicted, gold],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = evaluate_smatch(gold, predicted)
        assert found.paired_by == "order"
        assert [float(line.split()[-1]) for line in said.splitlines()] == [
            round(value, 4) for value in found.measures["Smatch"].micro
        ]

    def test_scores_depend_on_the_seed_and_not_on_the_number_of_processes(self, tmp_path: Path) -> None:
        gold, predicted = files(tmp_path, without_ids(GOLD) * 20, without_ids(PREDICTED) * 20)
        one, three = (evaluate_smatch(gold, predicted, seed=3, processes=n) for n in (1, 3))
        assert one == three


class TestIntervals:
    def test_intervals_of_equal_pairs_are_points(self) -> None:
        found = measured([Tally(1, 2, 2)] * 10, 200, 0)
        assert found.micro_interval == found.macro_interval == (0.5, 0.5)

    def test_intervals_contain_the_score_and_narrow_with_more_pairs(self) -> None:
        few, many = (measured([Tally(2, 2, 2), Tally(0, 2, 2)] * n, 500, 0) for n in (5, 500))
        for found in (few, many):
            low, high = found.micro_interval
            assert low <= found.micro.f1 <= high
        assert many.micro_interval[1] - many.micro_interval[0] < 0.1 < few.micro_interval[1]

    def test_intervals_omit_pairs_without_anything_to_find(self) -> None:
        found = measured([Tally(0, 0, 0), Tally(1, 1, 1)], 100, 0)
        assert (found.pairs, found.macro.f1, found.micro_interval) == (1, 1.0, (1.0, 1.0))

    def test_no_pairs_have_empty_intervals(self) -> None:
        assert measured([], 100, 0).micro == score(Tally(0, 0, 0)) == (0.0, 0.0, 0.0)


class TestWrongInput:
    def test_an_unreadable_graph_is_named_and_a_predicted_one_counts(self, tmp_path: Path) -> None:
        gold = "(a / and)\n\n(b / be\n   :mod (c / cat)\n\n(d / do-02)\n"
        found = evaluate_smatch(*files(tmp_path, gold, "(a / and)\n\n(b / be)\n\n(d / do-02 :ARG0)\n"))
        places = [Path(one.place).name for one in found.unreadable]
        assert places == ["gold.amr:4", "predicted.amr:5"]
        assert found.pairs == 2
        assert found.measures["Smatch"].micro.recall == 0.5

    @pytest.mark.parametrize(
        ("predicted", "message"),
        [
            ("# ::id one\n(a / and)\n", "1 of 2 ids of .*gold.amr are missing, such as 'two'"),
            ("(a / and)\n", "gold.amr has 2 graphs and .*predicted.amr 1"),
            ("# a comment\n", "there is no PENMAN graph in this file"),
        ],
    )
    def test_files_that_do_not_match_are_refused(self, tmp_path: Path, predicted: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            evaluate_smatch(*files(tmp_path, GOLD, predicted))

    def test_a_missing_file_gives_a_one_line_error(self, tmp_path: Path) -> None:
        gold, _ = files(tmp_path)
        with pytest.raises(InputError, match=r"none.amr: can't be read: No such file"):
            evaluate_smatch(gold, tmp_path / "none.amr")


class TestTheCommand:
    def program(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [Path(sys.executable).with_name("graphneg"), "evaluate", "smatch", *arguments]
        return subprocess.run([*map(str, command)], capture_output=True, text=True)

    def test_the_command_prints_a_table_and_unreadable_graphs(self, tmp_path: Path) -> None:
        done = self.program(*files(tmp_path, GOLD, PREDICTED.replace('"Anna"))', '"Anna")')))
        assert done.returncode == 0
        assert "Smatch" in done.stdout and "reentrancy" in done.stdout
        assert (
            "predicted.amr" in done.stderr and "2 pairs compared, by id; 1 graph can't be read" in done.stderr
        )

    def test_the_command_prints_json(self, tmp_path: Path) -> None:
        done = self.program(*files(tmp_path), "--json", "--resamples", "10")
        found = json.loads(done.stdout)
        assert found["measures"]["Smatch"]["micro"].keys() == {"precision", "recall", "f1", "interval"}
        assert (found["pairs"], found["resamples"]) == (2, 10)

    def test_files_of_different_length_give_a_one_line_error(self, tmp_path: Path) -> None:
        done = self.program(*files(tmp_path, GOLD, "(a / and)\n"))
        assert done.returncode == 2
        assert done.stderr.startswith("error: ") and len(done.stderr.splitlines()) == 1
