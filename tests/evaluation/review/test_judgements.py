"""Tests of the file of judgements: order of items, skipping, undoing and durability."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.evaluation.review.judgements import ADJUDICATOR, RESERVATION_SECONDS, Judgements
from graphneg.evaluation.review.results import results_of
from tests.review_samples import RIGHT, USABLE, small_set


class TestJudgements:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "j.sqlite"

    def test_each_annotator_has_another_order(self) -> None:
        set = small_set(items=30)
        assert set.order("ann") == set.order("ann") != set.order("ben")
        assert sorted(set.order("ann")) == list(range(1, 31))

    def test_a_session_can_be_continued(self, path: Path) -> None:
        with Judgements.create(path, small_set()) as judged:
            order = judged.set.order("ann")
            assert judged.next_row("ann") == order[0] == judged.next_row("ann")
            judged.judge(order[0], "ann", USABLE, " so ")
            assert judged.next_row("ann") == order[1]
        with Judgements.open(path) as again:
            assert again.set == small_set()
            assert again.next_row("ann") == order[1]
            assert [(one.row, one.comment) for one in again.all()] == [(order[0], "so")]

    def test_what_was_skipped_comes_last_and_undo_brings_back(self, path: Path) -> None:
        with Judgements.create(path, small_set(items=3)) as judged:
            first, second, third = judged.set.order("ann")
            judged.skip(first, "ann")
            judged.judge(second, "ann", USABLE, "kept")
            assert judged.next_row("ann") == third
            assert judged.undo("ann") == second == judged.next_row("ann")
            assert judged.comment(second, "ann") == "kept" and not judged.all()
            for row in (second, third):
                judged.judge(row, "ann", USABLE)
            assert judged.next_row("ann") == first
            judged.judge(first, "ann", USABLE)
            assert judged.next_row("ann") is None and judged.progress_of("ann").open == 0
            assert judged.undo("ben") is None

    def test_each_item_is_judged_by_the_requested_number_of_annotators(self, path: Path) -> None:
        with Judgements.create(path, small_set(annotators=2, gold=1)) as judged:
            for name in ("ann", "ben", "cleo", "dora"):
                while (row := judged.next_row(name)) is not None:
                    judged.judge(row, name, USABLE)
            counts = [len(said) for said in results_of(judged.set, judged.all()).by_row.values()]
        # All four annotators judge the gold item, and two each of the other items.
        assert counts == [4, 2, 2, 2, 2, 2]

    def test_a_shown_item_is_reserved_for_some_time(self, path: Path) -> None:
        with Judgements.create(path, small_set(annotators=1, items=1)) as judged:
            judged.now = lambda: 1000.0
            assert judged.next_row("ann") == 1 and judged.next_row("ben") is None
            judged.now = lambda: 1001.0 + RESERVATION_SECONDS
            assert judged.next_row("ben") == 1

    def test_gold_items_measure_an_annotator(self, path: Path) -> None:
        with Judgements.create(path, small_set(gold=2)) as judged:
            judged.judge(1, "ann", USABLE)
            judged.judge(2, "ann", RIGHT)
            judged.judge(3, "ann", RIGHT)
            assert judged.progress_of("ann") == (3, 0, 3, 5, 6)

    def test_two_open_files_see_each_other(self, path: Path) -> None:
        with Judgements.create(path, small_set(annotators=1)) as one, Judgements.open(path) as other:
            rows = {one.next_row("ann"), other.next_row("ben")}
            assert len(rows) == 2
            one.judge(3, "ann", USABLE)
            assert [judgement.row for judgement in other.all()] == [3]

    @pytest.mark.parametrize(
        ("row", "answers", "message"),
        [
            (9, USABLE, "there is no row 9; the rows are numbered 1 to 6"),
            (1, {"grammatical": "yes"}, "row 1: the question sensible is not answered"),
            (1, {**USABLE, "verdict": "bad"}, "verdict is 'bad'; write wrong or arguable or right"),
            (1, {**USABLE, "more": "x"}, "there is no question 'more'"),
        ],
    )
    def test_wrong_answers_are_refused(
        self, path: Path, row: int, answers: dict[str, str], message: str
    ) -> None:
        with Judgements.create(path, small_set()) as judged:
            with pytest.raises(InputError, match=message):
                judged.judge(row, "ann", answers)
            assert not judged.all()

    @pytest.mark.parametrize("name", ["", "  ", "a" * 61, "a/b", "<b>", ADJUDICATOR])
    def test_names_are_plain(self, path: Path, name: str) -> None:
        with (
            Judgements.create(path, small_set()) as judged,
            pytest.raises(InputError, match="is not a valid name"),
        ):
            judged.next_row(name)

    @pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
    def test_a_deleted_file_takes_no_judgement(self, path: Path, how: str) -> None:
        with Judgements.create(path, small_set()) as judged:
            order = judged.set.order("ann")
            judged.judge(order[0], "ann", USABLE)
            if how == "removed":
                path.unlink()
            else:
                path.rename(path.with_name("moved"))
            if how == "replaced":
                path.write_bytes(path.with_name("moved").read_bytes())
            with pytest.raises(InputError, match="was removed, moved or replaced while it was open"):
                judged.judge(order[1], "ann", USABLE)
            if how == "moved":
                path.with_name("moved").rename(path)
                judged.judge(order[1], "ann", USABLE)
                assert len(judged.all()) == 2

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            (
                "INSERT INTO judgement VALUES ('abc', 'ann', 'shown', '{}', '', 1, 99)",
                "'abc' is not",
            ),
            (
                "INSERT INTO judgement VALUES (7.5, 'ann', 'skipped', '{}', '', 1, 99)",
                "'7.5' is not",
            ),
            ("INSERT INTO judgement VALUES (999, 'ann', 'shown', '{}', '', 1, 99)", "999"),
            (
                "CREATE TRIGGER lost BEFORE INSERT ON judgement BEGIN SELECT raise(IGNORE); END",
                "contains the trigger or view 'lost'",
            ),
        ],
    )
    def test_what_another_program_wrote_is_checked(self, path: Path, statement: str, reason: str) -> None:
        Judgements.create(path, small_set()).close()
        with closing(sqlite3.connect(path)) as other, other:
            other.execute(statement)
        with pytest.raises(InputError, match=reason):
            Judgements.open(path)

    def test_a_copy_of_the_file_alone_has_all_acknowledged_judgements(self, path: Path) -> None:
        copy = path.with_name("copy.sqlite")
        with Judgements.create(path, small_set()) as judged:
            for row in judged.set.order("ann"):
                judged.judge(row, "ann", USABLE)
                # Copy only this file, as after a crash in which the files beside it are lost.
                copy.write_bytes(path.read_bytes())
                with Judgements.open(copy) as copied:
                    assert copied.all() == judged.all()

    def test_a_file_with_a_write_ahead_log_is_converted(self, path: Path) -> None:
        with Judgements.create(path, small_set()) as judged:
            judged.judge(1, "ann", USABLE)
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA journal_mode = WAL")
            other.execute("UPDATE judgement SET comment = 'in the log'")
            other.commit()
            with pytest.raises(InputError, match=r"locked|another program keeps it open"):
                Judgements.open(path)
        with Judgements.open(path) as judged:
            assert judged.comment(1, "ann") == "in the log"
            assert [file.name for file in path.parent.iterdir()] == [path.name]

    def test_other_files_are_refused(self, path: Path) -> None:
        with pytest.raises(InputError, match="there is no such file of judgements"):
            Judgements.open(path)
        path.write_text("no database, but a text that is long enough to be taken for one" * 50)
        with pytest.raises(InputError, match=r"j\.sqlite: not a file of judgements, or damaged"):
            Judgements.open(path)
        with pytest.raises(InputError, match="the file already exists"):
            Judgements.create(path, small_set())
