"""Tests of annotation sheets: they hide the source, and filled ones give results."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Literal

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.drawing import PEOPLE, sample_review
from graphneg.evaluation.review.exchange import (
    FORMS,
    key_path,
    read_judgements,
    write_blank_sheet,
    write_judgements,
)
from graphneg.evaluation.review.items import FORMAT, Item, ReviewSet
from graphneg.evaluation.review.judgements import Judgement, Judgements
from graphneg.evaluation.review.results import Results
from tests.cli_runs import command_line
from tests.review_samples import COLUMNS, RIGHT, USABLE, filled, read, small_set

FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d")


class TestTheSheet:
    def test_a_sheet_does_not_name_its_sources(self, sources: tuple[list[str], Path], tmp_path: Path) -> None:
        files, human = sources
        write_blank_sheet(sample_review(files, [human], each=6).set, tmp_path / "sheet.csv")
        with (tmp_path / "sheet.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert tuple(rows[0]) == COLUMNS and len(rows) == 18
        assert [row["row"] for row in rows] == [str(at) for at in range(1, 19)]
        for row in rows:  # the names of speakers do not reveal the source
            assert [line[:3] for line in row["context"].split("\n")] == ["A: ", "B: "]
            assert not any(row[name] for name in ("grammatical", "sensible", "verdict"))

    def test_existing_sheets_are_not_overwritten(
        self, sources: tuple[list[str], Path], tmp_path: Path
    ) -> None:
        drawn = sample_review(sources[0], each=2)
        write_blank_sheet(drawn.set, tmp_path / "sheet.csv")
        with pytest.raises(InputError, match="the file already exists"):
            write_blank_sheet(drawn.set, tmp_path / "sheet.csv")
        write_blank_sheet(drawn.set, tmp_path / "sheet.csv", overwrite=True)

    @pytest.mark.parametrize(
        "text", ['=HYPERLINK("http://a")', "+1", "-2+3", "@SUM(A1)", "\uff1d1", "'=1", "''@", "\t=1"]
    )
    def test_no_cell_is_a_formula_and_reading_gives_the_text_back(self, text: str, tmp_path: Path) -> None:
        item = Item("hard", "i", (("Ann", "Hi."),), text)
        set = ReviewSet(FORMAT, 0, small_set().questions, (item,))
        judgement = Judgement(1, "=cmd|' /C calc'!A0", USABLE, text)
        write_judgements(Results(set, [judgement]), tmp_path / "judged.csv")
        write_blank_sheet(set, tmp_path / "sheet.csv")
        for path in (tmp_path / "judged.csv", tmp_path / "sheet.csv"):
            with path.open(newline="", encoding="utf-8") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            assert not [cell for cell in cells if cell.lstrip()[:1] in FORMULA_SIGNS]
        assert read_judgements(set, tmp_path / "judged.csv") == [judgement]

    def test_label_studio_gets_tasks_that_nobody_judged(self, tmp_path: Path) -> None:
        set = small_set()
        key = write_blank_sheet(set, tmp_path / "tasks.json")
        tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
        assert len(tasks) == len(set.items) and not any(task["annotations"] for task in tasks)
        assert "source" not in (tmp_path / "tasks.json").read_text(encoding="utf-8")
        assert "<Choices" in (tmp_path / "tasks.xml").read_text(encoding="utf-8")
        # Annotations of a task in Label Studio are matched by the key of the task.
        write_judgements(Results(set, [Judgement(2, "ann", USABLE)]), tmp_path / "filled.json")
        tasks[1]["annotations"] = json.loads((tmp_path / "filled.json").read_text("utf-8"))[1]["annotations"]
        (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
        assert len(read(tmp_path / "export.json", key).labels) == 1

    def test_a_suffix_that_names_no_form_of_sheet_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"sheet\.xlsx: a sheet must be a \.csv file, or a \.json file"):
            write_blank_sheet(small_set(), tmp_path / "sheet.xlsx")
        assert not list(tmp_path.iterdir())


class TestReading:
    @pytest.fixture
    def sheet(self, sources: tuple[list[str], Path], tmp_path: Path) -> Path:
        """Return a sheet in which all rows but the last one are filled in."""
        files, human = sources
        write_blank_sheet(sample_review(files, [human], each=6).set, tmp_path / "sheet.csv")
        return filled(tmp_path / "sheet.csv", grammatical="Yes", sensible="y", verdict="WRONG")

    def test_shares_come_by_source_and_by_transform(self, sheet: Path) -> None:
        found = read(sheet)
        assert [line.name for line in found.sources] == ["edits", "hard", PEOPLE]
        assert [line.name for line in found.transforms] == ["polarity_flip"]
        assert len(found.labels) == 17 and found.unfilled == 1
        full = next(line for line in found.sources if line.read == 6)
        assert (
            full.shares["usable"].value == full.shares["grammatical"].value == 1
            and full.shares["right"].value == 0
        )
        assert full.shares["usable"].low == pytest.approx(
            0.6097, abs=1e-4
        )  # lower limit of the Wilson interval for 6 of 6

    def test_usable_is_grammatical_and_sensible_and_wrong(self, sheet: Path) -> None:
        for faulty in ({"grammatical": "no"}, {"sensible": "n"}, {"verdict": "arguable"}):
            good = {"grammatical": "yes", "sensible": "yes", "verdict": "w"}
            found = read(filled(sheet, **{**good, **faulty}))
            assert all(line.shares["usable"].value == 0 for line in found.sources)
            is_arguable = faulty.get("verdict") == "arguable"
            assert all(line.shares["arguable"].value == is_arguable for line in found.sources)

    def test_an_unknown_answer_is_named_with_its_line(self, sheet: Path) -> None:
        with pytest.raises(InputError, match=r"sheet\.csv:2: verdict is 'so-so'; write wrong or arg"):
            read(filled(sheet, verdict="so-so"))

    def test_the_key_must_be_there_and_be_one(self, sheet: Path) -> None:
        key = key_path(sheet)
        kept = key.rename(key.with_name("kept.json"))
        with pytest.raises(InputError, match=r"sheet\.key\.json: there is no such key file; .* --key"):
            read(sheet)
        assert len(read(sheet, kept).labels) == 17
        key.write_text("[]", encoding="utf-8")
        with pytest.raises(InputError, match="not the key of a sheet"):
            read(sheet)

    def test_texts_must_be_those_that_were_drawn(self, sheet: Path) -> None:
        with pytest.raises(InputError, match="row 1 has a different context or response than the key"):
            read(filled(sheet, response="Other."))

    def test_rows_that_were_cut_off_are_unfilled(self, sheet: Path) -> None:
        whole = sheet.read_text(encoding="utf-8").splitlines(keepends=True)
        sheet.write_text("".join(whole[: 1 + 2 * 5]), encoding="utf-8")
        found = read(sheet)
        assert len(found.labels) == 5 and found.unfilled == 13

    def test_an_empty_sheet_is_answered_with_the_expected_values(self, sheet: Path) -> None:
        with pytest.raises(InputError, match="no row is filled in; write yes or no"):
            read(filled(sheet, verdict=""))


class TestSheetsThatASpreadsheetProgramSaved:
    """Excel writes semicolons in many countries, and tabs as "text"."""

    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    @pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    def test_cells_are_separated_by_commas_semicolons_or_tabs(
        self, separator: str, quoting: Literal[0, 1], tmp_path: Path
    ) -> None:
        item = Item("hard", "i", (("Ann", "Hi; Bo, come."),), "=1;\t2, so")
        set = ReviewSet(FORMAT, 0, small_set().questions, (item,))
        judgement = Judgement(1, "Bo", USABLE, "a; b, c")
        write_judgements(Results(set, [judgement]), tmp_path / "judged.csv")
        with (tmp_path / "judged.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        with (tmp_path / "saved.csv").open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file, delimiter=separator, quoting=quoting).writerows(rows)
        assert read_judgements(set, tmp_path / "saved.csv") == [judgement]

    @pytest.mark.parametrize("separator", [",", ";"])
    def test_rows_without_text_are_skipped(self, separator: str, tmp_path: Path) -> None:
        set = small_set()
        judgement = Judgement(2, "Bo", USABLE)
        write_judgements(Results(set, [judgement]), tmp_path / "judged.csv")
        with (tmp_path / "judged.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        blank = [""] * len(rows[0])
        with (tmp_path / "saved.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=separator).writerows([*rows, blank, [" ", *blank[1:]], blank[:2]])
        assert read_judgements(set, tmp_path / "saved.csv") == [judgement]

    def test_another_separator_is_refused_with_the_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "saved.csv"
        path.write_text("row|context|response|grammatical|sensible|verdict\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"no column row, .*separated by commas, semicolons or tabs"):
            read_judgements(small_set(), path)


class TestTheCommand:
    def test_draws_and_reads(
        self, sources: tuple[list[str], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run, (files, human) = command_line(capfd), sources
        out = tmp_path / "sheet.csv"
        drawn = run("annotate", *files, "--human", human, "--n", "20", "-o", out)
        assert drawn.status == 0 and "32 rows to judge" in drawn.err
        assert "edits: 12 fewer negatives than the 20 requested" in drawn.err
        told = run("annotate", "--read", filled(out, grammatical="no", sensible="yes", verdict="right"))
        assert told.status == 0 and "1 row not filled" in told.err
        assert "usable" in told.out and "polarity_flip" in told.out and "100%" in told.out
        as_json = json.loads(run("annotate", "--read", out, "--json").out)
        assert {line["name"] for line in as_json["sources"]} == {"hard", "edits", PEOPLE}

    def test_draws_or_reads(self, capfd: pytest.CaptureFixture[str]) -> None:
        run = command_line(capfd)
        assert run("annotate", "a.jsonl").status == 2
        assert run("annotate", "a.jsonl", "--read", "sheet.csv").status == 2

    def test_the_command_reads_sheets_and_files_of_judgements(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run = command_line(capfd)
        set = small_set()
        write_blank_sheet(set, tmp_path / "ann.csv")
        (tmp_path / "ben.csv").write_bytes((tmp_path / "ann.csv").read_bytes())
        filled(tmp_path / "ann.csv", grammatical="y", sensible="y", verdict="w")
        filled(tmp_path / "ben.csv", grammatical="y", sensible="y", verdict="r")
        told = run("annotate", "--read", tmp_path / "ann.csv", "--read", tmp_path / "ben.csv", "--json")
        assert told.status == 0, told.err
        found = json.loads(told.out)
        assert found["disagreements"] == 5 and found["agreement"][0]["alpha"] == 1.0
        with Judgements.create(tmp_path / "j.sqlite", set) as judged:
            judged.judge(1, "ann", USABLE)
        told = run("annotate", "--read", tmp_path / "j.sqlite", "-o", tmp_path / "j.jsonl")
        assert told.status == 0 and "1 row read; the judgements are in" in told.err.replace("\n", " ")
        assert json.loads((tmp_path / "j.jsonl").read_text(encoding="utf-8"))["answers"] == USABLE

    @pytest.mark.parametrize("suffix", list(FORMS))
    def test_takes_answers_into_a_review(
        self, suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run, set = command_line(capfd), small_set()
        review, sent = tmp_path / "j.sqlite", tmp_path / f"sent{suffix}"
        some = [Judgement(1, "ann", RIGHT), Judgement(2, "ben", USABLE, 'so "so"')]
        write_judgements(Results(set, some), sent)
        with Judgements.create(review, set) as judged:
            judged.judge(1, "ann", USABLE)
            judged.judge(3, "cleo", USABLE)
        told = run("annotate", "--read", sent, "--into", review, "--json")
        assert told.status == 0 and "2 judgements imported" in told.err
        assert json.loads(told.out)["read"] == 3
        with Judgements.open(review) as judged:
            found = [(one.row, one.annotator, one.answers, one.comment) for one in judged.all()]
        assert found == [(1, "ann", RIGHT, ""), (2, "ben", USABLE, 'so "so"'), (3, "cleo", USABLE, "")]

    def test_answers_are_imported_completely_or_not_at_all(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run, set, review = command_line(capfd), small_set(), tmp_path / "j.sqlite"
        Judgements.create(review, set).close()
        good, broken, twice = (tmp_path / name for name in ("good.jsonl", "broken.jsonl", "twice.csv"))
        write_judgements(Results(set, [Judgement(1, "ann", USABLE)]), good)
        write_judgements(Results(set, [Judgement(1, "ann", RIGHT)]), twice)
        broken.write_text(good.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
        into = ("--into", review)
        for faulty, message in (
            (broken, "broken.jsonl:2: not JSON"),
            (twice, "row 1 from ann is already in"),
        ):
            told = run("annotate", "--read", good, "--read", faulty, *into)
            assert told.status == 2 and message in told.err.replace("\n", " ")
        for wrong in (into, ("--read", good, *into, "--key", good)):
            assert run("annotate", *wrong).status == 2
        assert run("annotate", "--read", good, "--into", tmp_path / "none.sqlite").status == 2
        assert not (tmp_path / "none.sqlite").exists()
        with Judgements.open(review) as judged:
            assert not judged.all()
