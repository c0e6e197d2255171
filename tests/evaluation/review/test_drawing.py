"""Tests of drawing the items of a review."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from graphneg.errors import InputError
from graphneg.evaluation.review.drawing import PEOPLE, sample_review
from graphneg.records.files import write_jsonl
from tests.negative_samples import EXAMPLE
from tests.review_samples import generated


class TestDrawing:
    def test_every_source_gives_as_many(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        drawn = sample_review(files, [human], each=3)
        names = [row.source for row in drawn.set.items]
        assert sorted(names) == sorted(["hard", "edits", PEOPLE] * 3)
        assert not drawn.too_few

    def test_contexts_that_all_have_come_first(self, sources: tuple[list[str], Path]) -> None:
        files, human = sources
        drawn = sample_review(files, [human], each=4)
        places = {
            name: {row.context_key for row in drawn.set.items if row.source == name}
            for name in ("hard", PEOPLE)
        }
        assert places["hard"] == places[PEOPLE] and len(places["hard"]) == 4

    def test_every_context_has_an_item_before_one_has_two(self, sources: tuple[list[str], Path]) -> None:
        drawn = sample_review([], [sources[1]], each=9)
        assert (
            len({row.context_key for row in drawn.set.items}) == 6
            and len({row.id for row in drawn.set.items}) == 9
        )

    def test_items_depend_on_the_seed_and_their_order_hides_the_source(
        self, sources: tuple[list[str], Path]
    ) -> None:
        files, human = sources
        one, again, other = (sample_review(files, [human], each=6, seed=seed) for seed in (1, 1, 2))
        assert one == again and one.set != other.set
        names = [row.source for row in one.set.items]
        assert names != sorted(names)

    def test_what_is_missing_and_left_out_is_counted(self, tmp_path: Path) -> None:
        some = [*generated("hard", 2), replace(EXAMPLE, label=1), replace(EXAMPLE, target="dialogue")]
        write_jsonl(some, tmp_path / "hard.jsonl")
        drawn = sample_review([str(tmp_path / "hard.jsonl")], each=5)
        assert drawn.too_few == {"hard": 3} and drawn.left_out == 2

    def test_sources_need_different_names(self, sources: tuple[list[str], Path]) -> None:
        files, _ = sources
        with pytest.raises(
            InputError, match="there is already a source named hard; choose another name with NAME="
        ):
            sample_review([files[0], files[0]])
        assert {row.source for row in sample_review([files[0], f"b={files[0]}"]).set.items} == {"hard", "b"}

    def test_files_without_wrong_responses_are_refused(self, tmp_path: Path) -> None:
        write_jsonl([replace(EXAMPLE, label=1)], tmp_path / "right.jsonl")
        with pytest.raises(InputError, match=r"right\.jsonl: the file has no wrong response"):
            sample_review([str(tmp_path / "right.jsonl")])
        with pytest.raises(InputError, match="nothing to judge"):
            sample_review([])
