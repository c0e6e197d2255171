"""Tests of pairs as Hugging Face datasets, data frames, triplets, tuples and a torch data loader."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from msgspec.structs import replace

from graphneg.datasets.pair_sampler import Mix
from graphneg.datasets.pairs import Pairs, read_pairs
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.model import Original, Turn
from tests.pair_samples import right, some, wrong

MIX = Mix(2, {"edits": 2, "overlap": 1}, {"edits": 0.5})


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return read_pairs(some(400), mix=MIX)


class TestDatasets:
    pytest.importorskip("datasets")

    def test_a_dataset_holds_the_pairs_of_an_epoch(self, pairs: Pairs) -> None:
        dataset: Any = pairs.to_dataset(epoch=1)
        assert dataset.column_names == ["context", "response", "label", "category", "weight"]
        assert list(dataset) == [
            {
                "context": list(pair.context),
                "response": pair.response,
                "label": pair.label,
                "category": pair.category,
                "weight": pair.weight,
            }
            for pair in pairs.epoch(1)
        ]

    def test_a_separator_makes_one_text_of_a_context(self, pairs: Pairs) -> None:
        row: Any = pairs.to_dataset(separator=" [SEP] ")[0]
        assert row["context"] == " [SEP] ".join(pairs.epoch(0)[0].context)

    def test_an_iterable_dataset_streams_the_same_rows(self, pairs: Pairs) -> None:
        assert list(pairs.to_iterable_dataset(epoch=1)) == list(pairs.to_dataset(epoch=1))

    def test_an_iterable_dataset_can_be_resumed(self, pairs: Pairs) -> None:
        stream: Any = pairs.to_iterable_dataset()
        rows = iter(stream)
        first = [next(rows) for _ in range(1_234)]
        state = json.loads(json.dumps(stream.state_dict()))
        resumed: Any = pairs.to_iterable_dataset()
        resumed.load_state_dict(state)
        assert first + list(resumed) == list(pairs.to_dataset())


class TestDataFrames:
    def test_a_frame_holds_the_rows_of_the_dataset(self, pairs: Pairs) -> None:
        pytest.importorskip("datasets")
        frame: Any = pairs.to_pandas(epoch=1, separator=" ")
        assert frame.to_dict("records") == list(pairs.to_dataset(1, " "))


class TestTuples:
    pytest.importorskip("datasets")

    def test_each_negative_gives_a_triplet(self, pairs: Pairs) -> None:
        rows: Any = pairs.triplets()
        assert rows.column_names == ["anchor", "positive", "negative"]
        drawn = {(pair.context, pair.response) for pair in pairs.epoch(0) if not pair.label}
        assert {(tuple(row["anchor"].split("\n")), row["negative"]) for row in rows} == drawn
        assert len(rows) == len(drawn)

    def test_each_correct_response_gives_a_tuple_with_all_negatives(self, pairs: Pairs) -> None:
        rows: Any = pairs.tuples(3)
        assert rows.column_names == ["anchor", "positive", "negative_1", "negative_2", "negative_3"]
        drawn = {(pair.context, pair.response) for pair in pairs.epoch(0) if pair.label}
        assert {(tuple(row["anchor"].split("\n")), row["positive"]) for row in rows} == drawn

    def test_contexts_with_too_few_negatives_are_counted(self) -> None:
        records = [*some(3), right(9, "It is."), wrong(9, "It is not.")]
        rows: Any = read_pairs(records, mix=MIX).tuples(3)
        assert not any("9" in anchor for anchor in rows["anchor"])
        assert rows.info.description == "1 contexts have fewer than 3 negatives and are left out"

    def test_a_negative_with_an_edited_context_is_refused(self) -> None:
        said = (Turn("A", "Is it not 9?"), Turn("B", "No, more than 9."))
        edited = replace(
            wrong(9, "It is.", "deam"),
            context=said,
            original=Original(right(9, "").context, None),
        )
        pairs = read_pairs([*some(3), right(9, "It is."), edited], mix=Mix(1, {"deam": 1}))
        for rows in (pairs.triplets, lambda: pairs.tuples(1)):
            with pytest.raises(InputError, match=r"own/train/9#2: a negative of 'deam' edits the context"):
                rows()
        assert not list(pairs._dataset.folder.glob("*.arrow"))  # pyright: ignore[reportPrivateUsage]
        kept = {pair.label: (pair.context, pair.response) for pair in pairs.epoch(0) if "/9#" in pair.id}
        assert kept[0] == (("Is it not 9?", "No, more than 9."), "It is.")

    def test_a_twin_with_an_edited_context_is_in_pairs_but_not_in_rows(self) -> None:
        own, said = right(9, "It is."), (Turn("A", "Is it 9?"), Turn("B", "No, less than 9."))
        no = "So it's less?"
        twin = replace(
            own, id="p.twin", recipe="twin", pair="p", response=no, context=said,
            original=Original(own.context, "It is."),
        )  # fmt: skip
        records = [*some(3), own, replace(wrong(9, no), pair="p"), twin]
        pairs = read_pairs(records, mix=Mix(1, {"edits": 1, "twin": 1}))
        rows: Any = pairs.triplets()
        [row] = [row for row in rows if "9" in row["anchor"]]
        assert (row["positive"], row["negative"]) == ("It is.", no)
        found = {(pair.context, pair.label) for pair in pairs.epoch(0) if pair.response == no}
        texts = [tuple(turn.text for turn in turns) for turns in (own.context, said)]
        assert found == {(texts[0], 0), (texts[1], 1)}

    @pytest.mark.parametrize("text", ["it  is 10 !", "“It is 10!”", "", "  "])
    def test_no_row_has_equal_or_empty_texts(self, text: str) -> None:
        records = [*some(3), right(9, '"It is 10!"' if "“" in text else "It is 10!"), wrong(9, text)]
        records += [wrong(9, "It was 11."), wrong(9, "It is 10.")]
        pairs = read_pairs(records, mix=Mix(1, {"edits": 4}))
        rows: Any = pairs.triplets()
        assert any("9" in anchor for anchor in rows["anchor"])
        for row in rows:
            assert match_key(row["positive"]) != match_key(row["negative"]) != ""
        assert pairs.draw(0)[1].unusable == 1

    def test_more_negatives_than_the_mix_draws_are_refused(self, pairs: Pairs) -> None:
        with pytest.raises(InputError, match="4 negatives per row: the mix draws 3 per context"):
            pairs.tuples(4)


class TestLoader:
    pytest.importorskip("torch")

    @pytest.mark.parametrize("workers", [0, 1])
    def test_batches_keep_the_order_of_the_pairs(self, pairs: Pairs, workers: int) -> None:
        batches = list(pairs.to_dataloader(64, num_workers=workers))
        assert [text for batch in batches for text in batch["response"]] == [
            pair.response for pair in pairs.epoch(0)
        ]
        assert batches[0]["label"].shape == batches[0]["weight"].shape == (64,)

    def test_a_loader_can_start_at_any_pair(self, pairs: Pairs) -> None:
        [batch] = pairs.to_dataloader(64, start=len(pairs.epoch(0)) - 5, collate=list)
        assert batch == list(pairs.epoch(0))[-5:]


class TestShortages:
    def test_missing_negatives_are_counted_by_source_and_category(self) -> None:
        records = [*some(3), right(9, "It is more."), wrong(9, "It is more or less.")]
        rows = {(row.name, row.category): row for row in read_pairs(records, mix=MIX).shortages()}
        edits, overlap = rows["edits", ""], rows["overlap", ""]
        assert (edits.contexts, edits.contexts_lacking, edits.requested, edits.drawn) == (4, 1, 8, 7)
        assert (overlap.contexts, overlap.contexts_lacking, overlap.requested, overlap.drawn) == (4, 1, 4, 3)
        assert rows["edits", "C-cont"].drawn == 7 and edits.similarity is not None
        spread = edits.similarity
        assert spread.count == 7 and -1 <= spread.minimum <= spread.median <= spread.maximum <= 1.001
        assert spread.maximum > 0.8

    def test_the_table_has_a_line_for_each_source_and_category(self) -> None:
        from rich.console import Console

        from graphneg.cli.tables import shortage_table

        text = StringIO()
        Console(width=120, file=text).print(shortage_table(read_pairs(some(), mix=MIX).shortages()))
        assert all(word in text.getvalue() for word in ("edits", "C-ent", "too few"))
