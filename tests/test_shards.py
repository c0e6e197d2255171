"""Test shards on a real store: in one store, or each in its own store with a snapshot of the others."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import graphneg
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.generators.base import UNRELATED, Candidate, Context
from graphneg.generators.base import Generator as NegativeGenerator
from graphneg.generators.pneg import PnegGenerator, PnegOptions
from graphneg.generators.prompted_generation import Gap
from graphneg.hashing import number
from graphneg.merging import merge
from graphneg.records.resumable import NegativeStream
from graphneg.scorers.choosing import SelectedNegatives, SelectionCriteria
from graphneg.shards import Shard
from graphneg.snapshots import Snapshot, check_types
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.toy_parser import ToyParser
from tests.unfinished import acknowledged

TEXTS = [
    f"{subject} {verb} {thing}."
    for subject in ("My uncle", "The teacher", "A neighbour")
    for verb in ("bought", "lost", "painted")
    for thing in ("an old boat", "two tickets")
]
SHARDS = [Shard(1, 2), Shard(2, 2)]


class Repeats(PnegGenerator):
    """A generator like pneg that chooses from eighteen texts, so most contexts repeat earlier texts."""

    name = "repeats"

    def write_candidates(self, contexts: Sequence[Context], per_context: int, seed: int) -> Any:
        return [Gap(context, "no-text", per_context, list(_texts(context, seed))) for context in contexts]

    def settings(self) -> Mapping[str, object]:
        return {}


def _texts(context: Context, seed: int) -> Iterator[Candidate]:
    for letter in "abc":
        text = TEXTS[number(seed, letter, context.id) % len(TEXTS)]
        yield Candidate(text, (UNRELATED,), {"slot": float(ord(letter))})


class Silent:
    """A language model that must not be called."""

    name = "silent"

    def complete(self, *_: object, **__: object) -> Any:
        raise AssertionError


def made(graph: DialogueGraph, name: str, **which: Any) -> NegativeStream:
    """Return the negatives of a job for all dialogues, or for one shard."""
    if name == "texts that were said before":
        silent: Any = Silent()
        generator = Repeats(PnegOptions(), [], silent, None)
        return graph.generate(generator, per_context=2, places="every", **which)
    if name in EDITS:
        return graph.negatives(**EDITS[name], per_dialogue=2, **which)
    return graph.generate(name, **GENERATORS[name], **which)


EDITS: Mapping[str, Any] = {
    "recipe all": {"recipe": "all"},
    "topical_statement": {"transforms": ["topical_statement"]},
    "perspective_substitution": {"transforms": ["perspective_substitution"]},
}
GENERATORS: Mapping[str, Any] = {
    "hard": {"per_context": 2, "anecdotes": False},
    "overlap": {"per_context": 3, "max_uses": 1},
    "random": {"seed": 3},
    "bm25": {"by": "response"},
    "semi-hard": {},
    "insertion": {"seed": 3},
    "replacement": {},
    "token-substitution": {},
}
WRITERS: Mapping[str, Any] = {
    "counterfactual": {"hops": 2, "tries": 1, "words": 8},
    "mask-and-fill": {"versions": 1, "texts": 1, "max_loss_increase": 9.0, "min_loss_gap": -9.0},
    "pneg": {"k": 1, "min_responses": 1, "max_draws": 1, "responses": 2, "max_context_gain": 1.0},
}
ANY_TEXT: Mapping[str, float] = {"max_perplexity": 1e9, "max_perplexity_alone": 1e9, "max_token_loss": 1e9}
JOBS = (*EDITS, *GENERATORS, "texts that were said before")
ALONE = ("topical_statement", "perspective_substitution", "hard", "random", "insertion", "replacement")
"""Jobs that use other dialogues than the one with the context."""


@pytest.fixture(scope="module")
def whole(everyday: Path) -> Generator[DialogueGraph]:
    """Load the bundled corpus, and build its graph of topic shifts."""
    with DialogueGraph(open_store(everyday)) as graph:
        graph.shift()
        yield graph


@pytest.fixture(scope="module")
def one_run(whole: DialogueGraph, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what a single run without shards writes for each job."""
    folder, written = tmp_path_factory.mktemp("ones"), dict[str, bytes]()
    for name in JOBS:
        made(whole, name).to_jsonl(folder / f"{name}.jsonl")
        written[name] = (folder / f"{name}.jsonl").read_bytes()
    return written


def _merged(streams: Sequence[NegativeStream], folder: Path) -> bytes:
    out = folder / "shards.jsonl"
    for stream in streams:
        stream.to_shard(out)
    files = [stream.shard.file(out) for stream in reversed(streams) if stream.shard is not None]
    merge(files, folder / "merged.jsonl")
    return (folder / "merged.jsonl").read_bytes()


@pytest.mark.parametrize("name", JOBS)
def test_shards_of_one_store_make_what_one_run_makes(
    name: str, whole: DialogueGraph, one_run: dict[str, bytes], tmp_path: Path
) -> None:
    shards = [made(whole, name, shard=Shard(index, 3), batch=7) for index in (1, 2, 3)]
    assert _merged(shards, tmp_path) == one_run[name]
    assert one_run[name]


def test_shards_at_once_of_which_one_is_killed_make_what_one_run_makes(
    whole: DialogueGraph, one_run: dict[str, bytes], everyday: Path, tmp_path: Path, run: Run
) -> None:
    """Two processes use one store. The killed one is run again."""
    out = tmp_path / "all.jsonl"
    asked = ("--store", everyday, "negatives", "--recipe", "all", "--per-dialogue", "2", "-o", out, "--shard")
    first, second = (
        subprocess.Popen([Path(sys.executable).with_name("graphneg"), *asked, str(shard)]) for shard in SHARDS
    )
    while not acknowledged(SHARDS[0].file(out)) and first.poll() is None:
        time.sleep(0.02)
    first.kill()
    first.wait()
    assert second.wait() == 0
    assert run(*asked, str(SHARDS[0])).status == 0
    merge([shard.file(out) for shard in SHARDS], out)
    assert out.read_bytes() == one_run["recipe all"]


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_shards_of_what_a_language_model_writes_are_what_one_run_writes(
    name: str, whole: DialogueGraph, smol: Path, tmp_path: Path
) -> None:
    """The model is untrained for the task, so the limits accept nearly all of its texts."""
    asked: Any = {**WRITERS[name], **ANY_TEXT, "model": smol, "device": "cpu", "limit": 4}
    whole.generate(name, **asked).to_jsonl(tmp_path / "one.jsonl")
    shards = [whole.generate(name, **asked, shard=shard, batch=2) for shard in SHARDS]
    assert _merged(shards, tmp_path) == (tmp_path / "one.jsonl").read_bytes() != b""


def test_texts_that_two_shards_give_are_given_once(one_run: dict[str, bytes]) -> None:
    texts = [json.loads(line)["response"] for line in one_run["texts that were said before"].splitlines()]
    assert len(texts) == len(set(texts)) > 10


def test_the_first_dialogues_are_those_of_all(whole: DialogueGraph, tmp_path: Path) -> None:
    whole.generate("random", limit=9).to_jsonl(tmp_path / "one.jsonl")
    shards = [whole.generate("random", limit=9, shard=shard, batch=2) for shard in SHARDS]
    assert _merged(shards, tmp_path) == (tmp_path / "one.jsonl").read_bytes()


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".amr", ".graphml"])
def test_exports_are_merged(suffix: str, whole: DialogueGraph, tmp_path: Path) -> None:
    one, out, merged = (tmp_path / f"{name}{suffix}" for name in ("one", "out", "merged"))
    amount = whole.export(one)
    assert sum(whole.export(out, shard=shard) for shard in SHARDS) == amount
    assert whole.export(out, shard=SHARDS[0]) < amount  # The complete file is kept.
    assert merge([shard.file(out) for shard in SHARDS], merged).items == amount
    assert merged.read_bytes() == one.read_bytes()


def test_contexts_are_merged(whole: DialogueGraph, tmp_path: Path) -> None:
    whole.generate("random", places="every").to_jsonl(tmp_path / "random.jsonl")
    asked: Any = {"format": "dailydialog_pp", "negatives": [tmp_path / "random.jsonl"]}
    whole.export(tmp_path / "one.json", **asked)
    for shard in SHARDS:
        whole.export(tmp_path / "out.json", shard=shard, **asked)
    merge([shard.file(tmp_path / "out.json") for shard in SHARDS], tmp_path / "merged.json")
    assert (tmp_path / "merged.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def test_what_is_selected_keeps_the_order_of_the_file(
    one_run: dict[str, bytes], tmp_path: Path, run: Run
) -> None:
    lines = one_run["recipe all"].splitlines(keepends=True)
    given, one, out = (tmp_path / name for name in ("given.jsonl", "one.jsonl", "out.jsonl"))
    given.write_bytes(b"".join(reversed(lines)))
    asked = ("select", given, "--per-context", "1")
    assert run(*asked, "-o", one).status == 0
    for index in "123":
        assert run(*asked, "-o", out, "--shard", f"{index}/3").status == 0
    assert run("shards", "merge", *sorted(tmp_path.glob("out.jsonl.*-of-3")), "-o", out).status == 0
    assert out.read_bytes() == one.read_bytes()
    with pytest.raises(InputError, match="quotas depend on all records kept"):
        SelectedNegatives(given, SelectionCriteria(quotas={"polarity_flip": 0.5}), shard="1/3")


def test_a_generator_that_remembers_and_makes_no_drafts_makes_no_shards(
    whole: DialogueGraph, tmp_path: Path
) -> None:
    class Remembers(NegativeGenerator):
        name = "remembers"
        depends_on_earlier = True

        def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
            return [[] for _ in contexts]

    with pytest.raises(graphneg.GraphnegError, match="remembers depends on its earlier output"):
        whole.generate(Remembers(), shard="1/2").to_shard(tmp_path / "out.jsonl")


def test_parses_by_shards_are_all_parses_and_none_twice(tmp_path: Path) -> None:
    turns = [{"text": "Shall we go?"}, {"text": "I can't."}]
    with graphneg.open(tmp_path / "store") as graph:
        graph.load("dialogues", [{"id": f"d{n}", "turns": turns} for n in range(9)])
        made = [graph.parse(ToyParser(), shard=f"{index}/2").graphs for index in (2, 1)]
        assert sum(made) == 18
        assert all(made)
        assert graph.parse(ToyParser()).graphs == 0


@pytest.fixture(scope="module")
def snapshot(
    whole: DialogueGraph, one_run: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Snapshot:
    return Snapshot.write(whole.store, tmp_path_factory.mktemp("snapshot") / "all.snapshot")


@pytest.fixture(scope="module")
def shard_graphs(
    snapshot: Snapshot, tmp_path_factory: pytest.TempPathFactory
) -> Generator[list[DialogueGraph]]:
    """Open a store for each shard, and load its dialogues and the snapshot."""
    graphs: list[DialogueGraph] = []
    for shard in SHARDS:
        graphs.append(graphneg.open(tmp_path_factory.mktemp("apart") / "store"))
        graphs[-1].load("everyday", shard=shard)
        graphs[-1].shift()
        snapshot.load(graphs[-1].store)
    yield graphs
    for graph in graphs:
        graph.close()


@pytest.mark.parametrize("name", ALONE)
def test_shards_with_stores_of_their_own_make_what_one_run_makes(
    name: str, shard_graphs: list[DialogueGraph], one_run: dict[str, bytes], tmp_path: Path
) -> None:
    shards = [made(graph, name, shard=shard) for graph, shard in zip(shard_graphs, SHARDS, strict=True)]
    assert _merged(shards, tmp_path) == one_run[name]


def test_the_same_store_gives_the_same_snapshot(
    whole: DialogueGraph, snapshot: Snapshot, tmp_path: Path
) -> None:
    again = Snapshot.write(whole.store, tmp_path / "again.snapshot", ["bank", "donors"])
    assert again.parts == ("donors", "bank")
    assert Snapshot.write(whole.store, tmp_path / "third.snapshot", ["donors", "bank"]).digest == again.digest
    assert again.digest != snapshot.digest
    assert Snapshot.read(snapshot.path) == snapshot


PARSE = {"id": "a#1", "source": "x", "penman": "(d / dog)"}
SENTENCE = {
    **{
        "id": "s",
        "text": "A dog.",
        "source": "x",
        "dialogue": "",
        "words": 2,
        "content": 1,
        "mood": "",
        "person": 0,
    },
    **{"opening": "a", "finite": False, "plain": True, "rank": 3, "terms": ["dog"]},
}
WRONG_ROWS = [
    *[
        ["evil", {}],
        ["shifts", 5],
        ["method", "x"],
        ["shifts", ["a", "b", 2**70]],
        ["shifts", ["a", "b", True]],
    ],
    *[["shifts", ["a", "b", "3"]], ["kinds", ["a", 1]], ["kinds", ["a", ["b"]]], ["kinds", ["a", None]]],
    *[
        ["bank", ["a", "b", "c", "d", "e"]],
        ["bank", ["a", 1, "c", 5, "e"]],
        ["bank", "text"],
        ["copies", [[1], []]],
    ],
    *[
        ["copies", [["a"], [["d", "1"]]]],
        ["answered", ["a", {}]],
        ["answered", ["a"]],
        ["donors", {"corpus": 1}],
    ],
    *[["utterances", {"key": 1, "dialogue": "d", "turn": 0, "text": "a", "corpus": "c", "split": "s"}]],
    *[
        ["excerpts", ["d", "c", "s", [[0, "A", 5]], [PARSE]]],
        ["excerpts", ["d", "c", "s", [["0", "A", "B"]], [PARSE]]],
    ],
    *[["excerpts", ["d", "c", "s", [[0, "A", "B"]], [PARSE | {"spans": ["a", 1, 2]}]]]],
    *[["excerpts", ["d", "c", "s", [[0, "A", "B"]], [PARSE | {"warnings": "no"}]]]],
    *[["sentences", SENTENCE | {name: []}] for name in SENTENCE if name != "terms"],
    ["sentences", SENTENCE | {"terms": ["a", 1]}],
    ["method", {"keywords": "a", "embedder": 7}],
]
"""Rows of a snapshot with missing columns or columns of wrong types."""


@pytest.mark.parametrize("row", WRONG_ROWS)
def test_a_row_of_a_snapshot_with_wrong_types_is_refused(row: list[Any]) -> None:
    part, content = row
    with pytest.raises((ValueError, KeyError)):
        check_types(part, [content])


@pytest.mark.parametrize("row", [WRONG_ROWS[0], WRONG_ROWS[1], WRONG_ROWS[5], WRONG_ROWS[6], WRONG_ROWS[12]])
def test_a_snapshot_with_rows_of_another_program_is_refused_in_a_line(
    row: list[Any], snapshot: Snapshot, tmp_path: Path
) -> None:
    with gzip.open(snapshot.path) as file:
        head, *rows = file.read().splitlines(keepends=True)
    facts = json.loads(head) | {"resources": {}}
    del facts["snapshot"]
    rows.insert(0, json.dumps(row).encode() + b"\n")
    # The digest is right, as another program can also compute it.
    digest = hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16)
    for line in rows:
        digest.update(line)
    with gzip.open(tmp_path / "own.snapshot", "wb") as file:
        file.write(json.dumps({"snapshot": digest.hexdigest(), **facts}).encode() + b"\n" + b"".join(rows))
    with (
        open_store(tmp_path / "store") as store,
        pytest.raises(InputError, match="are not those of a snapshot"),
    ):
        Snapshot.read(tmp_path / "own.snapshot").load(store)


def test_a_store_of_a_shard_says_what_it_can_not_do(
    shard_graphs: list[DialogueGraph], snapshot: Snapshot, tmp_path: Path, whole: DialogueGraph
) -> None:
    graph = shard_graphs[0]
    snapshot.load(graph.store)  # A second load of the same snapshot changes nothing.
    other = Snapshot.write(whole.store, tmp_path / "other.snapshot", ["bank"])
    for act, told in (
        (lambda: list(graph.negatives("deam")), "give the shard with --shard I/N"),
        (lambda: list(graph.generate("random")), "give the shard with --shard I/N"),
        (lambda: graph.export(tmp_path / "out.jsonl"), "give the shard with --shard I/N"),
        (lambda: list(graph.negatives("deam", limit=3, shard="1/2")), "remove --limit"),
        (lambda: other.load(graph.store), "already has another snapshot"),
        (lambda: Snapshot.write(graph.store, tmp_path / "third.snapshot"), "from a store with all dialogues"),
    ):
        with pytest.raises(InputError, match=told) as refusal:
            act()
        assert "\n" not in str(refusal.value)


def test_a_snapshot_that_does_not_fit_is_told_in_a_line(snapshot: Snapshot, tmp_path: Path, run: Run) -> None:
    store = ("--store", tmp_path / "store", "--keep-warm", "30")
    (tmp_path / "chats.jsonl").write_text(
        json.dumps({"id": "d", "turns": [{"text": "Hi!"}, {"text": "Hello."}]})
    )
    run(*store, "load", "dialogues", tmp_path / "chats.jsonl")
    told = run(*store, "load", "snapshot", snapshot.path)
    assert (told.status, told.err.count("\n")) == (1, 1)
    assert "load the same data into the store first" in told.err
    assert run(*store, "load", "snapshot", tmp_path / "chats.jsonl").err.count("not a snapshot") == 1
    cut = tmp_path / "cut.snapshot"
    shutil.copyfile(snapshot.path, cut)
    cut.write_bytes(cut.read_bytes()[:-5_000])
    with pytest.raises(InputError, match="is incomplete"):
        list(Snapshot.read(cut)._rows())  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("negatives", "-o", "out.jsonl", "--shard", "5/4"), "choose one of 1/4 to 4/4"),
        (("generate", "random", "-o", "out.jsonl", "--shard", "half"), "expected a shard I/N"),
        (("negatives", "-o", "-", "--shard", "1/4"), "a shard can't be written to standard output"),
        (("export", "out.amr", "--shard", "0/4"), "choose one of"),
        (("parse", "--text", "in", "-o", "out", "--shard", "1/4"), "--shard"),
        (("shards", "merge", "none.jsonl.1-of-2", "-o", "out.jsonl"), "can't be read"),
    ],
)
def test_wrong_input_is_told_in_a_line(
    arguments: tuple[str, ...],
    told: str,
    everyday: Path,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("--store", everyday, *arguments)
    assert ended.status == 2
    assert told in " ".join(ended.err.split())
    assert not list(tmp_path.iterdir())
