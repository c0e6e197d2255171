"""Quality sheets: what is drawn, that nothing in a sheet gives its source away, what is read back."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.quality_sheets import COLUMNS, PEOPLE, draw_sheet, key_path, read_verdicts
from graphneg.model import Negative
from graphneg.records.files import write_jsonl
from tests.cli_runs import command_line
from tests.negative_samples import EXAMPLE


def negative(context: int, response: str, name: str, **others: object) -> Negative:
    """A wrong response to one of the contexts that `people` has, too."""
    turns = tuple({"speaker": who, "text": f"Turn {who} of {context}."} for who in ("Ann", "Ben"))
    made = replace(EXAMPLE, id=f"{name}/{context}/{response}", context=turns, response=response)
    return replace(made, recipe=name, target="response", **others)


def generated(name: str, amount: int) -> list[Negative]:
    edit = {**EXAMPLE.edits[0], "transform": name}
    return [negative(at, f"{name} says {at}.", name, edits=(edit,), amr={}) for at in range(amount)]


def people(folder: Path, amount: int) -> Path:
    """Contexts, of which those of even number have wrong responses of people."""
    lines: list[str] = []
    for at in range(amount):
        wrong = [f"People say {at}.", f"Again {at}."] if at % 2 == 0 else []
        turns = [f"Turn Ann of {at}.", f"Turn Ben of {at}."]
        facts = {"id": at, "context": turns, "positive_responses": ["Yes."]}
        lines.append(json.dumps({**facts, "adversarial_negative_responses": wrong}))
    path = folder / "adversarial.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def sources(tmp_path: Path) -> tuple[list[str], Path]:
    """Two files of negatives, and contexts with responses of people."""
    files: list[str] = []
    for name, made in (("hard", generated("hard", 12)), ("edits", [])):
        made = made or [negative(at, f"Edited {at}.", "all") for at in range(4, 12)]
        write_jsonl(made, tmp_path / f"{name}.jsonl")
        files.append(str(tmp_path / f"{name}.jsonl"))
    return files, people(tmp_path, 12)


def filled(path: Path, **words: str) -> Path:
    """The sheet with the same words in all rows but the last."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:-1]:
        row.update(words)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    return path


class TestDrawing:
    def test_every_source_gives_as_many(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        drawn = draw_sheet(files, [human], each=3)
        names = [row.source for row in drawn.rows]
        assert sorted(names) == sorted(["hard", "edits", PEOPLE] * 3)
        assert not drawn.too_few

    def test_contexts_that_all_have_come_first(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        drawn = draw_sheet(files, [human], each=4)
        places = {name: {row.place for row in drawn.rows if row.source == name} for name in ("hard", PEOPLE)}
        assert places["hard"] == places[PEOPLE] and len(places["hard"]) == 4

    def test_a_second_one_of_a_context_comes_when_all_have_one(self, sources: tuple[list[str], Path]) -> None:
        drawn = draw_sheet([], [sources[1]], each=9)
        assert len({row.place for row in drawn.rows}) == 6 and len({row.id for row in drawn.rows}) == 9

    def test_the_seed_decides_and_the_order_tells_nothing(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        one, again, other = (draw_sheet(files, [human], each=6, seed=seed) for seed in (1, 1, 2))
        assert one == again != other
        names = [row.source for row in one.rows]
        assert names != sorted(names)

    def test_what_is_missing_and_left_out_is_counted(self, tmp_path: Path) -> None:
        some = [*generated("hard", 2), replace(EXAMPLE, label=1), replace(EXAMPLE, target="dialogue")]
        write_jsonl(some, tmp_path / "hard.jsonl")
        drawn = draw_sheet([str(tmp_path / "hard.jsonl")], each=5)
        assert drawn.too_few == {"hard": 3} and drawn.left_out == 2

    def test_sources_need_names_of_their_own(self, sources: tuple[list[str], Path]) -> None:
        files, _ = sources
        with pytest.raises(InputError, match="a source named hard is there already; write NAME="):
            draw_sheet([files[0], files[0]])
        assert {row.source for row in draw_sheet([files[0], f"b={files[0]}"]).rows} == {"hard", "b"}

    def test_files_without_wrong_responses_are_refused(self, tmp_path: Path) -> None:
        write_jsonl([replace(EXAMPLE, label=1)], tmp_path / "right.jsonl")
        with pytest.raises(InputError, match=r"right\.jsonl: no wrong response"):
            draw_sheet([str(tmp_path / "right.jsonl")])
        with pytest.raises(InputError, match="nothing to draw from"):
            draw_sheet([])


class TestTheSheet:
    def test_it_is_blind(self, sources: tuple[list[str], Path], tmp_path: Path) -> None:
        files, human = sources
        draw_sheet(files, [human], each=6).write(tmp_path / "sheet.csv")
        with (tmp_path / "sheet.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert tuple(rows[0]) == COLUMNS and len(rows) == 18
        assert [row["row"] for row in rows] == [str(at) for at in range(1, 19)]
        for row in rows:  # speakers have the same names in all sources
            assert [line[:3] for line in row["context"].split("\n")] == ["A: ", "B: "]
            assert not any(row[name] for name in ("grammatical", "sensible", "verdict"))

    def test_nothing_is_written_over(self, sources: tuple[list[str], Path], tmp_path: Path) -> None:
        drawn = draw_sheet(sources[0], each=2)
        drawn.write(tmp_path / "sheet.csv")
        with pytest.raises(InputError, match="such a file already"):
            drawn.write(tmp_path / "sheet.csv")
        drawn.write(tmp_path / "sheet.csv", overwrite=True)


class TestReading:
    @pytest.fixture
    def sheet(self, sources: tuple[list[str], Path], tmp_path: Path) -> Path:
        """A sheet in which the last row is not filled."""
        files, human = sources
        draw_sheet(files, [human], each=6).write(tmp_path / "sheet.csv")
        return filled(tmp_path / "sheet.csv", grammatical="Yes", sensible="y", verdict="WRONG")

    def test_shares_come_by_source_and_by_transform(self, sheet: Path) -> None:
        found = read_verdicts(sheet)
        assert [line.name for line in found.sources] == ["edits", "hard", PEOPLE]
        assert [line.name for line in found.transforms] == ["negate"]
        assert found.read == 17 and found.unfilled == 1
        full = next(line for line in found.sources if line.read == 6)
        assert full.usable.value == full.grammatical.value == 1 and full.right.value == 0
        assert full.usable.low == pytest.approx(0.6097, abs=1e-4)  # Wilson's for six of six

    def test_usable_is_grammatical_and_sensible_and_wrong(self, sheet: Path) -> None:
        for faulty in ({"grammatical": "no"}, {"sensible": "n"}, {"verdict": "arguable"}):
            good = {"grammatical": "yes", "sensible": "yes", "verdict": "w"}
            found = read_verdicts(filled(sheet, **{**good, **faulty}))
            assert all(line.usable.value == 0 for line in found.sources)
            is_arguable = faulty.get("verdict") == "arguable"
            assert all(line.arguable.value == is_arguable for line in found.sources)

    def test_a_strange_word_is_named_with_its_line(self, sheet: Path) -> None:
        with pytest.raises(InputError, match=r"sheet\.csv:3: verdict is 'so-so'; write wrong or arg"):
            read_verdicts(filled(sheet, verdict="so-so"))

    def test_the_key_must_be_there_and_be_one(self, sheet: Path) -> None:
        key = key_path(sheet)
        kept = key.rename(key.with_name("kept.json"))
        with pytest.raises(InputError, match=r"sheet\.key\.json: there is no such key; .* --key"):
            read_verdicts(sheet)
        assert read_verdicts(sheet, kept).read == 17
        key.write_text("[]", encoding="utf-8")
        with pytest.raises(InputError, match="no key of a sheet"):
            read_verdicts(sheet)

    def test_texts_must_be_those_that_were_drawn(self, sheet: Path) -> None:
        with pytest.raises(InputError, match="row 1 has another context or response"):
            read_verdicts(filled(sheet, response="Other."))

    def test_rows_that_were_cut_off_are_unfilled(self, sheet: Path) -> None:
        whole = sheet.read_text(encoding="utf-8").splitlines(keepends=True)
        sheet.write_text("".join(whole[: 1 + 2 * 5]), encoding="utf-8")
        found = read_verdicts(sheet)
        assert found.read == 5 and found.unfilled == 13

    def test_an_empty_sheet_says_what_to_write(self, sheet: Path) -> None:
        with pytest.raises(InputError, match="no row is filled; write yes or no"):
            read_verdicts(filled(sheet, verdict=""))


class TestTheCommand:
    def test_draws_and_reads(
        self, sources: tuple[list[str], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run, (files, human) = command_line(capfd), sources
        out = tmp_path / "sheet.csv"
        drawn = run("sheet", *files, "--human", human, "--n", "20", "-o", out)
        assert drawn.status == 0 and "32 rows to be read" in drawn.err
        assert "edits: 12 fewer than the 20 asked for" in drawn.err
        told = run("sheet", "--read", filled(out, grammatical="no", sensible="yes", verdict="right"))
        assert told.status == 0 and "1 row not filled" in told.err
        assert "usable" in told.out and "negate" in told.out and "100%" in told.out
        as_json = json.loads(run("sheet", "--read", out, "--json").out)
        assert {line["name"] for line in as_json["sources"]} == {"hard", "edits", PEOPLE}

    def test_draws_or_reads(self, capfd: pytest.CaptureFixture[str]) -> None:
        run = command_line(capfd)
        assert run("sheet", "a.jsonl").status == 2
        assert run("sheet", "a.jsonl", "--read", "sheet.csv").status == 2
