"""Tests of the loaders on randomly mutated files: every item is read, or refused with its place."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.model import Dialogue, Rejected
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids, read_dialogues
from tests.ingest.test_loaders_pools import FRAMES, SYNSETS
from tests.loader_samples import CASES, DATA, load, written
from tests.servers import wipe

IN_A_STORE = int(os.environ.get("GRAPHNEG_MUTATED_FILES", "400"))
"""So many files; a release is tried with 20,000."""

mutations = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), st.integers(0, 1 << 16), st.integers(0, 7)),
        st.tuples(st.just("cut"), st.integers(0, 1 << 16), st.integers(1, 200)),
        st.tuples(st.just("truncate"), st.integers(0, 1 << 16), st.just(0)),
        st.tuples(st.just("double"), st.integers(0, 1 << 16), st.integers(1, 200)),
        st.tuples(
            st.just("insert"),
            st.integers(0, 1 << 16),
            st.sampled_from([b"\0", b"\xff", b'"', b"[", b"}", b"\n", b"(", b"\t"]),
        ),
        st.tuples(st.just("encode"), st.just(0), st.sampled_from(["latin-1", "utf-16", "cp037", "utf-7"])),
    ),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, changes: list[tuple[str, int, object]]) -> bytes:
    for kind, at, detail in changes:
        at %= len(data) + 1
        if kind == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << int(str(detail)))]) + data[at + 1 :]
        elif kind == "cut":
            data = data[:at] + data[at + int(str(detail)) :]
        elif kind == "truncate":
            data = data[:at]
        elif kind == "double":
            data = data[: at + int(str(detail))] + data[at:]
        elif isinstance(detail, bytes):
            data = data[:at] + detail + data[at:]
        elif kind == "encode":
            data = data.decode("utf-8", "replace").encode(str(detail), "replace")
    return data


class TestMutatedFiles:
    @pytest.mark.parametrize(("loader", "name"), CASES)
    @settings(max_examples=150, suppress_health_check=list(HealthCheck))
    @given(changes=mutations)
    def test_every_item_is_read_or_refused_with_a_place(
        self,
        loader: str,
        name: str,
        changes: list[tuple[str, int, object]],
        tmp_path_factory: pytest.TempPathFactory,
    ):
        file = tmp_path_factory.getbasetemp() / f"mutated-{Path(name).name}"
        assert_read_or_refused(loader, written(file, mutated((DATA / name).read_bytes(), changes)))

    @pytest.mark.slow
    def test_ten_thousand_mutated_dialogue_files_are_read_or_refused(self, tmp_path: Path):
        source = random.Random("mutated dialogue files")
        cases = [(loader, name) for loader, name in CASES if loader not in NO_DIALOGUES]
        for number in range(10_000):
            loader, name = cases[number % len(cases)]
            changes = [_change(source) for _ in range(source.randint(1, 6))]
            file = written(tmp_path / Path(name).name, mutated((DATA / name).read_bytes(), changes))
            assert_read_or_refused(loader, file)


NO_DIALOGUES = ("penman", "conceptnet", "propbank")


def _change(source: random.Random) -> tuple[str, int, object]:
    kind = source.choice(["flip"] * 6 + ["cut", "double", "insert", "truncate", "encode"])
    details: dict[str, object] = {
        "insert": source.randbytes(1),
        "encode": source.choice(["latin-1", "utf-16", "utf-16-le", "cp037", "utf-7"]),
        "flip": source.randrange(8),
    }
    return kind, source.randrange(1 << 16), details.get(kind, source.randint(1, 100))


def assert_read_or_refused(loader: str, file: Path) -> None:
    try:
        records = load(loader, file)
    except InputError as error:
        assert str(file) in str(error)
        return
    assert all(str(file) in one.place and one.reason for one in records if isinstance(one, Rejected))
    for one in records:
        if isinstance(one, Dialogue):
            assert all(turn.text.strip() for turn in one.utterances)
            json.dumps([turn.text for turn in one.utterances], ensure_ascii=False).encode()


def originals() -> dict[tuple[str, str], bytes]:
    """Return a valid file of each format, by loader and file name."""
    rows = [{"dialogue": "rain", "turn": turn, "text": "It rains." * turn} for turn in (1, 2)]
    chats = [{"id": "rain", "messages": [{"role": "user", "content": "It rains."}]}]
    messages = (DATA / "messages.json").read_bytes()
    judged = {
        "utterances": ["I have a cat.", "What is it called?", "I have no cat."],
        "annotation_target_pair": [0, 2],
        "contradictory_label_count": 3,
        "speakers": ["A", "B", "A"],
        "rgm_name": "m",
    }
    files = {(loader, name): (DATA / name).read_bytes() for loader, name in CASES}
    for number, table in enumerate(map(pa.Table.from_pylist, (rows, chats))):
        stream, parquet = io.BytesIO(), io.BytesIO()
        with pa.ipc.new_stream(stream, table.schema) as out:
            out.write_table(table)
        pq.write_table(table, parquet)
        files["dialogues", f"{number}.arrow"] = stream.getvalue()
        files["dialogues", f"{number}.parquet"] = parquet.getvalue()
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as out:
        out.write(messages)
    return files | {
        ("dialogues", "messages.json.zst"): packed.getvalue().to_pybytes(),
        ("dialogues", "messages.json.gz"): gzip.compress(messages),
        ("text", "notes.txt"): b"It rained all day.\nNobody came to the park.\n",
        ("lexicon", "words.tsv"): b"class\tdrink-verbs\tsip-01\nopposite\tsteep\tgentle\t-\n",
        ("wordnet", "data.noun"): SYNSETS.encode(),
        ("propbank_examples", "sip.xml"): FRAMES.encode(),
        ("rgm_contradiction", "judged.jsonl"): (json.dumps(judged) + "\n").encode() * 2,
    }


@pytest.mark.slow
@pytest.mark.long_on_neo4j
def test_mutated_files_of_every_loader_are_written_to_a_store_or_refused(
    store: Store, tmp_path: Path
) -> None:
    source, graph, cases = random.Random("in a store"), DialogueGraph(store), list(originals().items())
    wipe(store)
    written_files = 0
    for number in range(IN_A_STORE):
        (loader, name), data = cases[number % len(cases)]
        changes = [_change(source) for _ in range(source.randint(1, 4))]
        file = written(tmp_path / Path(name).name, mutated(data, changes))
        try:
            report = graph.load(loader, file, name=f"c{number}")
        except InputError as error:
            assert str(file) in str(error) and "\n" not in str(error)
            continue
        written_files += bool(report.written.total())
        assert all(one.place and one.reason for one in report.rejected)
    assert written_files > IN_A_STORE / 10
    ids = list(dialogue_ids(store, Selection()))
    assert [one.id for one in read_dialogues(store, ids)] == ids
    wipe(store)
