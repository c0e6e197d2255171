"""Tests that a store loaded from the export of another one has the same content."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError, StoreError
from graphneg.ingest.exported import DIALOGUE_PROPERTIES, HEADER, stored_attributes
from graphneg.ingest.rows import attributes_row
from graphneg.merging import merge
from graphneg.store import opening
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.servers import wipe
from tests.toy_parser import ToyParser

EVERYTHING = (
    "MATCH (n) WHERE NOT n:GraphnegSchema AND NOT n:ContentVersion AND NOT n:Parse "
    "AND NOT n:Variant AND NOT n:Edit RETURN labels(n)[0] AS label, properties(n) AS held",
    "MATCH (a)-[r]->(b) WHERE NOT a:Variant AND NOT a:Edit RETURN coalesce(a.id, a.text) AS a, "
    "type(r) AS type, properties(r) AS held, coalesce(b.id, b.text) AS b",
)
OWN = [
    {
        "id": 7,
        "topic": "pets",
        "ratings": [1, 2.5],
        "turns": [
            {"speaker": "Ann", "text": "My dog sleeps.", "mood": "glad"},
            {"speaker": "Bo", "text": "It runs.", "amr": "# ::note x\n(r / run-02~e.1 :ARG0 (i / it))"},
        ],
        "responses": [
            {"turn": 1, "text": "Mine does, too.", "label": 1, "source": "human"},
            {
                "turn": 0,
                "text": "I run.",
                "label": 0,
                "source": "adversarial",
                "amr": "(r / run-02 :ARG0 (i / i))",
            },
        ],
    }
]
WORDS = """class\tkit\tumbrella
class\t-physical-object\tcar
class\tpast-form\tsleeps
move\ttime\tmonday\tfriday
opposite\tgood\tbad\t-
opposite\thot\tcold\tfood drink
"""


class SpanParser(ToyParser):
    """Add spans and a warning to the graphs of the toy parser."""

    def parse_batch(self, texts: Any) -> Any:
        from dataclasses import replace

        parsed = super().parse_batch(texts)
        return [
            one
            if one.graph is None
            else replace(one, graph=replace(one.graph, spans={0: (0, 1)}), warnings=("language: no",))
            for one in parsed
        ]


def content(store: Store) -> list[list[str]]:
    return [
        sorted(json.dumps(row.data(), sort_keys=True) for row in store.read(query)) for query in EVERYTHING
    ]


@pytest.fixture(scope="module")
def full(
    loaded_everyday: Path, tmp_path_factory: pytest.TempPathFactory
) -> Generator[tuple[DialogueGraph, Path]]:
    """Return a store with all kinds of loaded and parsed data, and the file of its export."""
    folder = tmp_path_factory.mktemp("full")
    shutil.copytree(loaded_everyday, folder / "store")
    with DialogueGraph(open_store(folder / "store")) as graph:
        graph.load("dialogues", OWN, name="own")
        (folder / "words.tsv").write_text(WORDS)
        graph.load("lexicon", folder / "words.tsv")
        (folder / "book.amr").write_text("(s / sing-01 :ARG0 (b / bird))\n")  # a graph without a text
        graph.load("penman", folder / "book.amr")
        (folder / "lines.txt").write_text("I like the sea a lot.\nThe train was late again.\n")
        graph.load("text", folder / "lines.txt")
        graph.parse(SpanParser(), of=("utterances", "responses"))
        graph.export(folder / "all.jsonl", format="dialogues")
        yield graph, folder / "all.jsonl"


def made(graph: DialogueGraph, out: Path) -> bytes:
    graph.negatives("all", seed=3).to_jsonl(out)
    return out.read_bytes()


def test_a_store_that_is_loaded_from_an_export_has_the_same_content(
    full: tuple[DialogueGraph, Path], store: Store, tmp_path: Path
) -> None:
    wipe(store)
    graph, file = full
    other = DialogueGraph(store)
    report = other.load("dialogues", file)
    assert not report.rejections and not report.notices.lines()
    assert content(store) == content(graph.store)
    other.export(tmp_path / "again.jsonl", format="dialogues")
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
    assert made(other, tmp_path / "b.jsonl") == made(graph, tmp_path / "a.jsonl") != b""
    assert not other.load("dialogues", file).written.total()
    assert not other.load("everyday").written.total()
    wipe(store)


def test_shards_of_an_export_are_merged_to_the_export(
    full: tuple[DialogueGraph, Path], tmp_path: Path
) -> None:
    graph, file = full
    for shard in ("1/3", "2/3", "3/3"):
        graph.export(tmp_path / "part.jsonl", format="dialogues", shard=shard)
    merge(sorted(tmp_path.glob("part.jsonl.*-of-3")), tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_bytes() == file.read_bytes()


def test_a_damaged_line_is_refused_with_its_place(
    full: tuple[DialogueGraph, Path], embedded: Store, tmp_path: Path
) -> None:
    wipe(embedded)
    [dialogue] = [line for line in full[1].read_text().splitlines() if '"own/all/7"' in line]
    strange = json.dumps({**json.loads(dialogue), "id": "own/all/8", "mood": 1})
    file = tmp_path / "some.jsonl.gz"
    lines = [json.dumps(HEADER), dialogue, dialogue, strange, '{"frame": {"id": 3}}', '{"other": 1}']
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    report = DialogueGraph(embedded).load("dialogues", file, name="mine", split="test")
    assert report.written["dialogues"] == 1
    assert [one.place for one in report.rejected] == [f"{file}:{number}" for number in (3, 4, 5, 6)]
    [row] = embedded.read("MATCH (d:Dialogue) RETURN d.id AS id, d.topic AS topic")
    assert (row["id"], row["topic"]) == ("mine/test/7", "pets")
    with pytest.raises(InputError, match="--clean"):
        DialogueGraph(embedded).load("dialogues", file, clean=True)
    (tmp_path / "later.jsonl").write_text('{"graphneg_export": 9, "graphneg": "9.1"}\n')
    with pytest.raises(InputError, match=r"graphneg 9\.1 wrote it .*upgrade graphneg"):
        DialogueGraph(embedded).load("dialogues", tmp_path / "later.jsonl")
    wipe(embedded)


def test_a_store_of_an_older_version_is_refused_and_can_be_exported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "dialogues.jsonl"
    with DialogueGraph(open_store(old)) as graph:
        graph.load("dialogues", OWN, name="own")
        graph.export(tmp_path / "before.jsonl", format="dialogues")
    with monkeypatch.context() as later:
        later.setattr(opening, "SCHEMA_VERSION", opening.SCHEMA_VERSION + 1)
        refused = run("--store", old, "info")
        assert refused.status == 1 and refused.err.count("\n") == 1
        assert "`graphneg export dialogues.jsonl --format dialogues`" in refused.err
        assert "`graphneg load dialogues dialogues.jsonl`" in refused.err
        with pytest.raises(StoreError):
            open_store(old)
        assert run("--store", old, "export", file, "--format", "dialogues").status == 0
        assert run("--store", new, "load", "dialogues", file).status == 0
        assert "own" in run("--store", new, "info").out
    assert file.read_bytes() == (tmp_path / "before.jsonl").read_bytes()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["topic", "turns", "text", "id", "attributes", "shifts", "Mood", "é"]), VALUES
    )
)
def test_attributes_are_read_back_from_the_properties_of_a_node(attributes: dict[str, Any]) -> None:
    stored = {**attributes_row(attributes), "id": "a/b/1", "order": "a/b/01", "shifts": True, "pooled": True}
    assert stored_attributes(stored, DIALOGUE_PROPERTIES) == attributes
