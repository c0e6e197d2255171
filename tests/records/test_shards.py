"""Tests of shards: each dialogue is in one of them, and their merge equals the file of a single run."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from graphneg.errors import InputError
from graphneg.generators.deferred_choice import SentenceChooser, choose_from_draft, choosing, pack_draft
from graphneg.ids import natural_order
from graphneg.merging import merge
from graphneg.records.resumable import NegativeBatch, NegativeStream, Written
from graphneg.records.shards import Header, ShardBatch, open_shard, read_shards, write_batches
from graphneg.shards import Shard
from tests.interrupting import interrupt
from tests.negative_samples import EXAMPLE

IDS = st.lists(st.integers(0, 300).map(lambda n: f"c/test/{n}"), unique=True, max_size=40)
AMOUNTS = st.integers(1, 6)


class Stream(NegativeStream):
    """Yield two negatives for each dialogue whose number is not divisible by 5, in batches of 3 dialogues."""

    def __init__(self, ids: Sequence[str], shard: Shard | None = None, seed: int = 0, stop: int = -1) -> None:
        super().__init__()
        self._ids = [id for id in sorted(ids, key=natural_order) if shard is None or shard.contains(id)]
        self._shard, self._seed, self._stop, self._content = shard, seed, stop, len(ids)

    @property
    def shard(self) -> Shard | None:
        return self._shard

    def settings(self) -> Mapping[str, Any]:
        return {"seed": self._seed, "store": f"of {self._shard}"}

    def content_digest(self) -> str:
        return str(self._content)

    def run(self, skip: int, written: Written) -> Iterator[NegativeBatch]:
        for start in range(skip, len(self._ids), 3):
            if start >= self._stop >= 0:
                interrupt()
            part = self._ids[start : start + 3]
            made = [
                replace(EXAMPLE, id=f"{id}#1~s.{slot}", dialogue=id)
                for id in part
                for slot in (0, 1)
                if int(id[7:]) % 5
            ]
            for one in made:
                self.summary.add(one)
            yield NegativeBatch(start + len(part), made, natural_order(part[-1]))


def write_shards(folder: Path, ids: Sequence[str], amount: int, **options: Any) -> list[Path]:
    """Write all shards; return their files."""
    out = folder / "out.jsonl"
    shards = [Shard(index, amount) for index in range(1, amount + 1)]
    for shard in shards:
        Stream(ids, shard, **options).to_shard(out, overwrite=True)
    return [shard.file(out) for shard in shards]


@given(IDS, AMOUNTS)
def test_each_dialogue_is_in_one_shard(ids: list[str], amount: int) -> None:
    shards = [Shard(index, amount) for index in range(1, amount + 1)]
    assert [sum(shard.contains(id) for shard in shards) for id in ids] == [1] * len(ids)


def test_shards_have_similar_sizes_and_are_deterministic() -> None:
    held = [id for id in (f"c/test/{n}" for n in range(4_000)) if Shard(1, 4).contains(id)]
    assert 900 < len(held) < 1_100
    assert held[:4] == ["c/test/4", "c/test/5", "c/test/7", "c/test/8"]


@pytest.mark.parametrize("places", [[2, 1], [1, 1], ["b", "a"], ["a", 1], [1, 10**25]])
def test_a_shard_with_unsorted_places_is_refused(tmp_path: Path, places: list[Any]) -> None:
    [file] = write_shards(tmp_path, ["c/test/1"], 1)
    header, line, _ = file.read_bytes().splitlines(keepends=True)
    items = json.loads(line)[1]
    content = header + b"".join(json.dumps([place, items]).encode() + b"\n" for place in places)
    end = {"places": 2, "items": 2 * len(items), "digest": hashlib.sha256(content).hexdigest()}
    file.write_bytes(content + json.dumps(end).encode() + b"\n")
    with pytest.raises(InputError, match=r"out\.jsonl\.1-of-1.*line 3") as told:
        merge([file], tmp_path / "merged.jsonl")
    assert "\n" not in str(told.value) and not (tmp_path / "merged.jsonl").exists()


@pytest.mark.parametrize("text", ["0/4", "5/4", "1/0", "3", "1/4/2", "a/b", "-1/4", "1 of 4", ""])
def test_an_invalid_shard_option_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"shard .*(but found|choose one of|must be at least 1)") as told:
        Shard.parse(text)
    assert told.value.status == 2
    assert "\n" not in str(told.value)


@settings(max_examples=20)
@given(ids=IDS, amount=AMOUNTS, order=st.randoms(use_true_random=False))
def test_the_merge_is_the_file_of_one_run(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], amount: int, order: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    one, merged = folder / "one.jsonl", folder / "merged.jsonl"
    Stream(ids).to_jsonl(one)
    files = write_shards(folder, ids, amount)
    order.shuffle(files)
    assert merge(files, merged).items == sum(2 for id in ids if int(id[7:]) % 5)
    assert merged.read_bytes() == one.read_bytes()


def test_the_merge_as_parquet_is_the_file_of_one_run(tmp_path: Path) -> None:
    ids = [f"c/test/{n}" for n in range(30)]
    Stream(ids).to_parquet(tmp_path / "one.parquet")
    merge(write_shards(tmp_path, ids, 3), tmp_path / "merged.parquet")
    assert (tmp_path / "merged.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()


def test_a_resumed_shard_gives_the_same_bytes(tmp_path: Path) -> None:
    ids, shard, out = [f"c/test/{n}" for n in range(60)], Shard(2, 3), tmp_path / "out.jsonl"
    Stream(ids, shard).to_shard(out)
    whole = shard.file(out).read_bytes()
    shard.file(out).unlink()
    with pytest.raises(KeyboardInterrupt):
        Stream(ids, shard, stop=6).to_shard(out)
    assert not shard.file(out).exists()
    with pytest.raises(InputError, match="is unfinished"):
        read_shards([shard.file(out)])
    again = Stream(ids, shard)
    assert again.to_shard(out).negatives == again.summary.negatives > 0
    assert again.resumed.dialogues == 6
    assert shard.file(out).read_bytes() == whole
    assert Stream(ids, shard).to_shard(out).negatives == again.summary.negatives


def test_a_merged_file_is_complete_and_another_file_is_not_replaced(tmp_path: Path) -> None:
    files, out = write_shards(tmp_path, ["c/test/1", "c/test/2"], 2), tmp_path / "merged.jsonl"
    assert not merge(files, out).was_complete
    assert merge(files, out).was_complete
    out.write_text("mine\n")
    with pytest.raises(InputError, match="the file already exists"):
        merge(files, out)
    assert merge(files, out, overwrite=True).items == 4


def _refused(files: Sequence[Path], told: str) -> None:
    with pytest.raises(InputError, match=told) as refusal:
        merge(files, files[0].parent / "merged.jsonl")
    assert "\n" not in str(refusal.value)
    assert not (files[0].parent / "merged.jsonl").exists()


def test_shards_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    ids = [f"c/test/{n}" for n in range(20)]
    folders = [tmp_path / name for name in ("a", "b", "c", "d")]
    for folder in folders:
        folder.mkdir()
    files = write_shards(folders[0], ids, 3)
    _refused(files[:2], "missing: shard 3/3")
    _refused([*files, files[1]], "shard 2/3 is given twice")
    _refused([*files[:2], write_shards(folders[1], ids, 3, seed=7)[2]], "seed is 0 in one and 7 in the other")
    _refused(
        [*files[:2], write_shards(folders[2], ids[1:], 3)[2]], "different dialogues, graphs or snapshots"
    )
    _refused([files[0], write_shards(folders[3], ids, 2)[1]], "parts of 3 and of 2")
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"id": "d"}) + "\n")
    _refused([other, *files], "not the file of a shard")
    _refused([tmp_path / "none.jsonl", *files], "can't be read")
    with pytest.raises(InputError, match=r"use \.jsonl or \.parquet"):
        merge(files, tmp_path / "merged.amr")


def test_an_incomplete_copy_is_refused(tmp_path: Path) -> None:
    files = write_shards(tmp_path, [f"c/test/{n}" for n in range(20)], 2)
    lines = files[0].read_bytes().splitlines(keepends=True)
    files[0].write_bytes(b"".join(lines[:-1]))
    _refused(files, "is incomplete")
    files[0].write_bytes(b"".join([*lines[:3], *lines[4:]]))
    _refused(files, "was changed or damaged")
    files[0].write_bytes(b"".join(lines)[: len(lines[0]) + len(lines[1]) // 2])
    _refused(files, "is incomplete")
    files[0].write_bytes(b"".join(lines) + lines[-1])
    _refused(files, "was changed or damaged")


def test_a_changed_copy_is_refused(tmp_path: Path) -> None:
    files = write_shards(tmp_path, [f"c/test/{n}" for n in range(20)], 2)
    whole = files[0].read_bytes()
    assert whole.count(b"test") > 9
    for changed in (whole.replace(b"test", b"tent", 1), whole[::-1].replace(b"tset", b"tnet", 1)[::-1]):
        files[0].write_bytes(changed)
        _refused(files, "was changed or damaged|don't belong together")


def test_a_merged_file_of_older_shards_is_not_complete(tmp_path: Path) -> None:
    files, out = write_shards(tmp_path, [f"c/test/{n}" for n in range(9)], 1), tmp_path / "merged.jsonl"
    merge(files, out)
    lines = files[0].read_bytes().replace(b"test/1", b"test/7").splitlines(keepends=True)
    end = {**json.loads(lines.pop()), "digest": hashlib.sha256(b"".join(lines)).hexdigest()}
    files[0].write_bytes(b"".join([*lines, json.dumps(end).encode(), b"\n"]))
    with pytest.raises(InputError, match="from other content"):
        merge(files, out)


@pytest.mark.parametrize("folder", [".", "..", "/"])
def test_a_folder_is_refused_as_a_shard(folder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder, not the file of a shard"):
        merge([folder], tmp_path / "merged.jsonl")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_refused_as_a_shard(device: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        merge([device], tmp_path / "merged.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        b'{"shard": "1/1", "kind": "records", "settings": {}, "content": "", "content": "x"}',
        b"[" * 100_000,
        b'{"shard": "1/1", "kind": 3}',
        b"\xff\xfe{}",
        b'{"shard": "1/1", "kind": "records", "settings": {"seed": NaN}, "content": ""}',
        b"",
    ],
)
def test_a_damaged_header_is_refused(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl.1-of-1").write_bytes(line + b"\n")
    _refused([tmp_path / "out.jsonl.1-of-1"], "not the file of a shard")


def test_a_header_with_a_billion_shards_is_refused_at_once(tmp_path: Path) -> None:
    header, file = Header("7/999999999", "records", {}, ""), tmp_path / "out.jsonl.1"
    file.write_text(json.dumps(asdict(header)) + "\n")
    _refused([file], "missing: shard 1/999999999, 2/999999999, 3/999999999 and 999,999,995 more")


@pytest.mark.parametrize(
    ("choice", "item"),
    [
        ({"by": "new texts"}, {}),
        ({"by": "new texts", "most": 1, "more": 2}, {}),
        *(({"by": "new texts", "most": 1}, item) for item in (None, "x", {}, {"whole": 3, "others": [4]})),
        ({"by": "sentences", "max_uses": 1, "max_word_share": None}, {"facts": {}}),
        ({"by": "sentences", "max_uses": 1, "max_word_share": None}, {"facts": {"sentences": [[]]}}),
    ],
)
def test_a_draft_of_another_program_is_refused(tmp_path: Path, choice: dict[str, Any], item: Any) -> None:
    if isinstance(item, dict) and "facts" in item:
        item |= {"whole": {"id": "d#1~a.0.0", "response": "Yes."}, "others": []}
    lines = [asdict(Header("1/1", "drafts", {}, "", choice)), ["d", [item]]]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    end = {"places": 1, "items": 1, "digest": hashlib.sha256(text.encode()).hexdigest()}
    file = tmp_path / "out.jsonl.1-of-1"
    file.write_text(text + json.dumps(end) + "\n")
    _refused([file], "no draft of this version of graphneg")


TERMS = st.frozensets(st.sampled_from("abcdef"), max_size=3)


class ListedSentence:
    def __init__(self, distance: float, chance: int, key: str, terms: frozenset[str], shared: frozenset[str]):
        self.distance, self.chance, self.key, self.terms = distance, chance, key, terms
        self.shared = shared & terms


ITEMS = st.builds(
    ListedSentence, st.floats(-9, 9), st.integers(0, 2**64 - 1), st.sampled_from("vwxyz"), TERMS, TERMS
)
LISTS = st.lists(st.lists(ITEMS, max_size=5), max_size=3)


@given(st.lists(LISTS, max_size=8), st.sampled_from([None, 1, 2]), st.sampled_from([None, 0.0, 0.2]))
def test_choosing_from_merged_drafts_equals_choosing_in_one_run(
    contexts: list[list[list[ListedSentence]]], max_uses: int | None, max_word_share: float | None
) -> None:
    at_once = SentenceChooser(max_uses, max_word_share)
    later = choosing({"by": "sentences", "max_uses": max_uses, "max_word_share": max_word_share})
    for lists in contexts:
        items = [item for listed in lists for item in listed]
        facts = {
            "sentences": [[item.key, sorted(item.terms), sorted(item.shared)] for item in items],
            "lists": [[[items.index(item), item.distance, item.chance] for item in some] for some in lists],
        }
        expected = [items.index(item) for _, item in at_once.choose(lists)]
        assert later([item.key for item in items], json.loads(json.dumps(facts))) == expected


def test_records_chosen_from_a_draft_are_renumbered() -> None:
    records = [{"id": f"d#1~a.0.{n}", "response": text, "seed": 0} for n, text in enumerate("xyz")]
    item = json.loads(json.dumps(pack_draft(records, {"n": 1})))
    assert len(item["others"][0]) == 2
    back = choose_from_draft(
        item, lambda texts, facts: [1, 2] if texts == list("xyz") and facts == {"n": 1} else []
    )
    assert back == [{**records[1], "id": "d#1~a.0.0"}, {**records[2], "id": "d#1~a.0.1"}]


def test_empty_shards_can_be_merged(tmp_path: Path) -> None:
    header = Header("1/1", "records", {}, "")
    with open_shard(tmp_path / "out.jsonl", header, "") as writer:
        assert write_batches(writer, [ShardBatch(5, [])]) == 0
    assert merge([tmp_path / "out.jsonl.1-of-1"], tmp_path / "out.jsonl").items == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""
