"""Tests of `read_pairs`: sampling, held-out texts, resuming a stream, and invalid input."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.datasets.groups import read_groups
from graphneg.datasets.pair_sampler import Mix, Pair, PairSampler
from graphneg.datasets.pairs import Pairs, read_pairs
from graphneg.errors import InputError
from graphneg.model import Negative, Original, Turn
from graphneg.records.files import write_parquet
from tests.pair_samples import anyhow, right, some, written, wrong

seeds, epochs = st.integers(0, 99), st.integers(0, 5)
few = settings(max_examples=25, suppress_health_check=list(HealthCheck))
MIX = Mix(2, {"edits": 2, "overlap": 1, "random": 1})


def has_both(records: list[Negative]) -> bool:
    return {"edits", "overlap"} <= {record.recipe for record in records}


class TestProperties:
    @few
    @given(anyhow, seeds, epochs)
    def test_streamed_pairs_equal_those_drawn_in_memory(
        self, records: list[Negative], seed: int, epoch: int
    ) -> None:
        assume(has_both(records))
        expected, lacking = PairSampler(read_groups([records]), MIX, seed).drawn(epoch)
        pairs, counted = read_pairs(records, mix=MIX, seed=seed).draw(epoch)
        assert list(pairs) == list(expected) and counted == lacking

    @few
    @given(anyhow, seeds, st.data())
    def test_a_resumed_stream_yields_exactly_the_rest(
        self, records: list[Negative], seed: int, data: st.DataObject
    ) -> None:
        whole = [*(stream := read_pairs(records, seed=seed)), *stream]
        stopped = read_pairs(records, seed=seed)
        place = data.draw(st.integers(0, len(whole) - 1))
        first = _take(stopped, place)
        state = json.loads(json.dumps(stopped.state_dict()))
        resumed = read_pairs(records, seed=seed)
        resumed.load_state_dict(state)
        assert [*first, *_take(resumed, len(whole) - place)] == whole

    @few
    @given(anyhow, seeds)
    def test_all_negatives_of_a_context_are_drawn_over_the_epochs(
        self, records: list[Negative], seed: int
    ) -> None:
        assume(has_both(records))
        pairs = read_pairs(records, mix=Mix(1, {"edits": 1, "overlap": 1}), seed=seed)
        drawn = {pair.response for epoch in range(5) for pair in pairs.epoch(epoch) if not pair.label}
        assert drawn == {record.response for record in records if not record.label}

    @few
    @given(anyhow, seeds, st.data())
    def test_held_out_texts_are_never_drawn(
        self, records: list[Negative], seed: int, data: st.DataObject
    ) -> None:
        texts = sorted({record.response for record in records})
        held = set(data.draw(st.lists(st.sampled_from(texts), min_size=1)))
        assume(any(record.label and record.response not in held for record in records))
        pairs = read_pairs(records, seed=seed, held_out=[text.upper().replace(" ", "  ") for text in held])
        assert not held & {pair.response for epoch in range(3) for pair in pairs.epoch(epoch)}


def _take(pairs: Pairs, amount: int) -> list[Pair]:
    """Return the next `amount` pairs, from several epochs if necessary."""
    found: list[Pair] = []
    while len(found) < amount:
        for pair in pairs:
            found.append(pair)
            if len(found) == amount:
                break
    return found


class TestDrawing:
    def test_the_default_mix_draws_one_response_of_each_source(self) -> None:
        counts = Counter((pair.context, pair.source) for pair in read_pairs(some(3)))
        assert set(counts.values()) == {1} and {source for _, source in counts} == {
            "reference",
            "edits",
            "overlap",
        }

    def test_the_weight_of_a_category_precedes_that_of_its_source(self) -> None:
        mix = Mix(
            1, {"edits": 1, "overlap": 1}, {"reference": 2.0, "edits": 3.0, "C-cont": 0.5, "overlap": 4.0}
        )
        weights = {pair.source: pair.weight for pair in read_pairs(some(), mix=mix)}
        assert weights == {"reference": 2.0, "edits": 0.5, "overlap": 4.0}

    def test_a_function_makes_other_negatives_for_each_epoch(self) -> None:
        def made(seed: int) -> list[Negative]:
            return [wrong(context, f"Made by {seed}.", "made") for context in range(3)]

        pairs = read_pairs(some(3), made, mix=Mix(1, {"made": 1}), seed=7)
        drawn = [{pair.response for pair in pairs.epoch(epoch) if not pair.label} for epoch in (0, 1, 0)]
        assert drawn == [{"Made by 7."}, {"Made by 8."}, {"Made by 7."}]

    def test_jsonl_parquet_and_objects_give_the_same_pairs(self, tmp_path: Path) -> None:
        jsonl, parquet = written(some(), tmp_path / "some.jsonl"), tmp_path / "some.parquet"
        write_parquet(some(), parquet)
        pairs = list(read_pairs(some()))
        assert list(read_pairs(jsonl)) == pairs == list(read_pairs(parquet))

    def test_a_negative_of_an_edited_dialogue_keeps_the_edited_context(self) -> None:
        turns = (Turn("A", "I like tea."),)
        edited = replace(
            wrong(0, "Me too."),
            context=(Turn("A", "I hate tea."),),
            original=Original(turns, None),
        )
        contexts = {pair.label: pair.context for pair in read_pairs([edited])}
        assert contexts == {1: ("I like tea.",), 0: ("I hate tea.",)}

    def test_the_pairs_of_an_epoch_can_be_pickled(self) -> None:
        pairs = read_pairs(some())
        assert list(pickle.loads(pickle.dumps(pairs.epoch(1)))) == list(pairs.epoch(1))

    def test_a_cache_is_reused_until_its_file_changes(self, tmp_path: Path) -> None:
        path, cache = written(some(), tmp_path / "some.jsonl"), tmp_path / "cache"
        first = list(read_pairs(path, cache=cache))
        [kept] = cache.iterdir()
        stamp = (kept / "groups.jsonl").stat().st_mtime_ns
        assert list(read_pairs(path, cache=cache)) == first
        assert (kept / "groups.jsonl").stat().st_mtime_ns == stamp
        written(some(2), path)
        assert len(list(read_pairs(path, cache=cache))) < len(first) and len(list(cache.iterdir())) == 2


class TestUnusable:
    def test_negatives_that_are_all_empty_or_right_are_counted_in_the_error(self) -> None:
        records = [right(0, "Yes."), wrong(0, " ", "blank"), wrong(0, "YES .", "blank")]
        with pytest.raises(InputError, match="no negatives of 'blank'; available: none; 2 of the responses"):
            list(read_pairs(records, mix=Mix(1, {"blank": 1})))


class TestHeldOut:
    def test_texts_of_a_held_out_split_are_left_out_of_other_splits(self) -> None:
        records = [right(0, "Yes."), wrong(0, "Perhaps not."), right(1, "perhaps  NOT.", "test"), *some(2)]
        pairs, lacking = read_pairs(records, held_out_splits=["test"]).draw(0)
        assert "Perhaps not." not in {pair.response for pair in pairs} and lacking.held_out == 1
        assert not any("own/test" in pair.id for pair in pairs)

    def test_an_unknown_split_is_refused(self) -> None:
        with pytest.raises(InputError, match="there are no negatives of the split 'tset'; available: train"):
            list(read_pairs(some(), held_out_splits=["tset"]))


class TestLengthAndRepr:
    def test_the_length_is_that_of_the_next_epoch(self) -> None:
        made = [wrong(0, "Made 0.", "made"), wrong(1, "Made 1.", "made")]
        pairs = read_pairs(some(3), lambda seed: made[:seed], mix=Mix(1, {"made": 1}), seed=1)
        assert len(pairs) == 4 == len(list(pairs))
        assert len(pairs) == 5 == len(list(pairs))

    def test_the_repr_names_sources_mix_and_seed_without_reading_files(self, tmp_path: Path) -> None:
        pairs = read_pairs(tmp_path / "none.jsonl", some(), mix=MIX, seed=3)
        what = f"{tmp_path}/none.jsonl, negatives, edits=2 overlap=1 random=1, seed 3"
        assert repr(pairs) == f"<Pairs: {what}, at epoch 0, pair 0>"
        assert "each source=1" in repr(read_pairs(lambda seed: some()))


class TestWrongInput:
    @pytest.mark.parametrize("name", ["held_out", "held_out_splits"])
    def test_a_string_in_place_of_a_list_is_refused(self, name: str) -> None:
        with pytest.raises(InputError, match=rf"{name} takes a list: {name}=\['test'\], not {name}='test'"):
            read_pairs(some(), **{name: "test"})

    def test_a_context_without_a_correct_response_is_named(self, tmp_path: Path) -> None:
        path = written([*some(2), wrong(7, "No.")], tmp_path / "some.jsonl")
        complaint = "own/train/7#2: no correct response; a context needs"
        for read in (lambda: list(read_pairs(path)), lambda: read_groups([path])):
            with pytest.raises(InputError, match=complaint):
                read()

    def test_an_invalid_label_is_refused_with_its_line(self, tmp_path: Path) -> None:
        path = written([right(0, "Yes."), replace(wrong(0, "No."), label=2)], tmp_path / "some.jsonl")
        for read in (lambda: list(read_pairs(path)), lambda: read_groups([path])):
            with pytest.raises(InputError, match=r"some.jsonl, line 2: the label is 2, but must be 1"):
                read()

    def test_a_state_of_other_pairs_is_refused(self) -> None:
        state = read_pairs(some(), seed=1).state_dict()
        with pytest.raises(InputError, match="this state belongs to other pairs"):
            read_pairs(some(), seed=2).load_state_dict(state)
        with pytest.raises(InputError, match="not the state of a stream of pairs"):
            read_pairs(some()).load_state_dict({"step": 1})

    def test_no_sources_and_no_file_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no negatives to make pairs from"):
            read_pairs()
        with pytest.raises(InputError, match="can't be read"):
            list(read_pairs(tmp_path / "nowhere.jsonl"))
