"""Tests of groups on disk: equal to those in memory, cached, and readable by other processes."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from graphneg.datasets.groups import Answer, read_groups
from graphneg.datasets.negative_dataset import NegativeDataset
from graphneg.errors import InputError
from graphneg.model import Negative
from tests.pair_samples import anyhow, right, some, written, wrong


@settings(max_examples=20)
@given(anyhow)
def test_groups_on_disk_equal_those_in_memory(records: list[Negative]) -> None:
    assert list(NegativeDataset([records]).groups(0)) == read_groups([records])


class TestGroups:
    def test_groups_have_indices_and_slices(self) -> None:
        groups, plain = NegativeDataset([some(5)]).groups(0), read_groups([some(5)])
        assert len(groups) == 5 and groups[3] == plain[3] and groups[1:4:2] == plain[1:4:2]
        assert groups[3] is groups[3]  # decoded once
        with pytest.raises(IndexError):
            groups[5]

    def test_any_text_is_read_back_unchanged(self) -> None:
        said = 'Tea? "Ja", 茶!\n\t\\ \u2028 \x00 🙂'
        [group] = NegativeDataset([[right(0, said), wrong(0, said * 2)]]).groups(0)
        assert [answer.text for answer in group.positives + group.negatives] == [said, said * 2]

    def test_pickled_groups_are_equal(self) -> None:
        dataset = NegativeDataset([some(3)], held_out=["Wrong 1 0."])
        groups = dataset.groups(0)
        again = pickle.loads(pickle.dumps(groups))
        assert list(again) == list(groups) and again.held_out == groups.held_out == 1

    def test_held_out_correct_and_wrong_responses_are_counted(self) -> None:
        groups = NegativeDataset([some(2)], held_out=["it is 1.", "WRONG 0  0.", "nobody says this"]).groups(
            0
        )
        assert groups.held_out == 2
        assert groups[0].positives == [Answer("Make it 2.", "reference")]

    def test_a_text_held_out_by_a_later_record_is_left_out_of_earlier_ones(self) -> None:
        records = [right(0, "Yes."), wrong(0, "Perhaps."), right(1, "PERHAPS.", "test")]
        [group] = NegativeDataset([records], splits=["test"]).groups(0)
        assert group.negatives == []

    def test_no_negatives_give_no_groups(self) -> None:
        assert list(NegativeDataset([[]]).groups(0)) == []

    def test_the_folder_is_deleted_with_the_data_set(self) -> None:
        dataset = NegativeDataset([some(2)])
        dataset.groups(0)
        folder = dataset.folder
        assert folder.is_dir()
        del dataset
        gc.collect()
        assert not folder.exists()


class TestEpochs:
    def test_without_functions_all_epochs_share_their_groups(self) -> None:
        dataset = NegativeDataset([some(2)])
        assert dataset.groups(0) is dataset.groups(7)

    def test_functions_are_called_for_each_epoch_and_streams_read_once(self) -> None:
        read: list[str] = []

        def stream() -> Iterator[Negative]:
            read.append("once")
            yield from some(2)

        dataset = NegativeDataset([stream(), lambda seed: [wrong(0, f"Made by {seed}.", "made")]], seed=10)
        for epoch in (0, 3, 0):
            made = [answer.text for answer in dataset.groups(epoch)[0].negatives if answer.source == "made"]
            assert made == [f"Made by {10 + epoch}."]
        assert read == ["once"]

    def test_groups_can_be_read_after_a_function_failed(self) -> None:
        def failing(seed: int) -> Iterator[Negative]:
            yield right(0, "Yes.")
            if not again:
                raise OSError("no model")

        again: list[int] = []
        dataset = NegativeDataset([failing])
        with pytest.raises(OSError, match="no model"):
            dataset.groups(0)
        again.append(1)
        assert len(dataset.groups(0)) == 1


class TestCache:
    def test_files_that_can_not_be_grouped_leave_no_cache(self, tmp_path: Path) -> None:
        path = written([wrong(0, "No.")], tmp_path / "some.jsonl")
        with pytest.raises(InputError, match="no correct response"):
            NegativeDataset([path], cache=tmp_path / "cache").groups(0)
        assert list((tmp_path / "cache").iterdir()) == []

    def test_the_cache_depends_on_the_held_out_texts(self, tmp_path: Path) -> None:
        path, cache = written(some(2), tmp_path / "some.jsonl"), tmp_path / "cache"
        counts = [
            NegativeDataset([path], held_out=h, cache=cache).groups(0).held_out for h in ((), ["It is 1."])
        ]
        assert counts == [0, 1] and len(list(cache.iterdir())) == 2

    def test_streams_are_never_cached(self, tmp_path: Path) -> None:
        NegativeDataset([some(2)], cache=tmp_path / "cache").groups(0)
        assert not (tmp_path / "cache").exists()

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"nowhere\.jsonl: can't be read: No such file"):
            NegativeDataset([tmp_path / "nowhere.jsonl"], cache=tmp_path).groups(0)
