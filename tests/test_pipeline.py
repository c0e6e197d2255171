"""Test that a pipeline in blocks writes the bytes of a single run, also on a cluster that loses a node."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError, StoreError
from graphneg.ingest.bulk import BulkFiles
from graphneg.model import Rejected
from graphneg.pipeline import GenerateArguments, NegativesArguments, Pipeline, read_pipeline, run_pipeline
from graphneg.progress import NoProgress
from graphneg.shards import Shard
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.poison import SLOW, UNDECODED, UNPARSED, PoisonParser, install
from tests.servers import Neo4jServer, wipe

CHATS = [
    ["I like the red car.", "My sister lost two books.", "I want tea.", "You found the train."],
    ["The old man bought a dog.", "I don't want it.", "You like tea.", "I lost my keys on Monday."],
    ["(", "\u0000\ud800", "I like trains.", "I do not like them."],
]
RECIPE: dict[str, Any] = {"recipe": "contradiction", "per_dialogue": 2}
BLOCKS = 3


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipeline") / "chats.jsonl"
    lines = (
        json.dumps({"id": f"{n}", "turns": [{"text": text} for text in CHATS[n % len(CHATS)]]}) + "\n"
        for n in range(18)
    )
    malformed = {
        "id": "malformed",
        "turns": [{"text": "I like tea.", "amr": "(l / like-01"}, {"text": "No."}],
    }
    # Each turn contains UNDECODED, so the decoder fails whichever turn is edited.
    odd = [["I want tea.", f"I want {UNPARSED}."], [f"{text} No {UNDECODED}!" for text in CHATS[0]]]
    poison = [{"id": f"p{n}", "turns": [{"text": text} for text in texts]} for n, texts in enumerate(odd)]
    more = [json.dumps(one) + "\n" for one in (malformed, {"id": "empty", "turns": []}, *poison)]
    path.write_text("".join([*lines, *more]))
    return path


@pytest.fixture(scope="module")
def expected(chats: Path, loaded_everyday: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the negatives that separate commands write in one process."""
    folder = tmp_path_factory.mktemp("one")
    shutil.copytree(loaded_everyday, folder / "store")
    with DialogueGraph(open_store(folder / "store")) as graph:
        graph.load("dialogues", chats, name="own", split="all")
        graph.parse(processes=1)
        graph.negatives(**RECIPE).to_jsonl(folder / "negatives.jsonl")
    return (folder / "negatives.jsonl").read_bytes()


def rejected_items(chats: Path) -> list[Rejected]:
    """Return the items of the file that a load rejects."""
    with BulkFiles(chats.parent / "bulk") as files:
        report = files.load("dialogues", chats, name="own", split="all")
    assert any("malformed AMR graph" in one.reason for one in report.rejected)
    return report.rejected


def written(folder: Path, chats: Path, **more: Any) -> Path:
    loads: list[dict[str, Any]] = [{"corpus": "everyday"}]
    loads += [{"corpus": "dialogues", "paths": [str(chats)], "name": "own", "split": "all"}]
    asked = {"load": loads, "parse": {}, "negatives": RECIPE, "blocks": BLOCKS} | more
    path = folder / "pipeline.yaml"
    path.write_text(json.dumps(asked | {"write": str(folder / "negatives.jsonl")}))  # JSON is YAML
    return path


class Stopping(NoProgress):
    """Count the blocks of a stage that are done at the start, and call ``act`` after the next block."""

    def __init__(self, act: Any = None, stage: str = "negatives") -> None:
        self._act, self._stage, self._at, self.first = act, stage, "", 0

    def start(self, label: str, total: int | None, unit: str) -> None:
        self._at, self._calls = label, 0

    def advance(self, amount: int) -> None:
        if self._at == self._stage:
            self._calls += 1
            if self._calls == 1:
                self.first = amount
            elif self._calls == 2 and self._act is not None:
                self._act()


def interrupt() -> None:
    raise KeyboardInterrupt


def test_blocks_with_stores_of_their_own_give_the_bytes_of_one_run(
    tmp_path: Path, chats: Path, expected: bytes
) -> None:
    pipeline, out = read_pipeline(written(tmp_path, chats)), tmp_path / "negatives.jsonl"
    refused: list[Rejected] = []
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(pipeline, progress=Stopping(interrupt), on_rejected=refused.append)
    done = list(tmp_path.glob("*.blocks/*/*-of-3"))
    assert len(done) == 1 and not out.exists()
    again = Stopping()
    run_pipeline(pipeline, progress=again, on_rejected=refused.append)
    assert again.first == 1  # The finished block was not made again.
    told = sorted(one.reason.partition(":")[0] for one in refused)
    assert told == sorted(one.reason.partition(":")[0] for one in rejected_items(chats))
    assert out.read_bytes() == expected
    assert run_pipeline(pipeline).was_complete
    assert not list(tmp_path.glob("*.blocks"))


def test_a_letter_in_the_middle_of_a_large_input_starts_the_run_again(tmp_path: Path) -> None:
    padding = json.dumps({"id": "padding", "turns": [], "note": "x" * 1_100_000})
    said = [json.dumps({"id": f"{n}", "turns": [{"text": text} for text in CHATS[n % 2]]}) for n in range(9)]
    source = tmp_path / "large.jsonl"
    source.write_text("\n".join([padding, *said, padding]))
    loads = [{"corpus": "dialogues", "paths": [str(source)], "name": "own", "split": "all"}]
    pipeline = read_pipeline(written(tmp_path, source, load=loads, blocks=2))
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(pipeline, progress=Stopping(interrupt))
    source.write_text(source.read_text().replace("dog", "cow").replace("car", "cup"))
    run_pipeline(pipeline)
    content = (tmp_path / "negatives.jsonl").read_bytes()
    assert b"cow" in content and b"dog" not in content and b"red car" not in content
    assert run_pipeline(pipeline).was_complete


def test_a_changed_transform_starts_the_run_again(tmp_path: Path, chats: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    query = "UNWIND $dialogues AS d UNWIND d.turns AS t MATCH (n:AmrNode {amr: t.amr}) WHERE n.concept IN %s"
    edit = "{amr: t.amr, position: n.position, op: 'set', concept: '%s'}"
    text = f"// mine: X.\n// category: C-cont\n{query}\nRETURN d.id AS dialogue, collect({edit}) AS edits\n"
    (folder / "mine.cypher").write_text(text % (["tea"], "milk"))
    asked = {"transforms": ["mine"], "folders": [str(folder)]}
    pipeline = read_pipeline(written(tmp_path, chats, negatives=asked))
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(pipeline, progress=Stopping(interrupt))
    (folder / "mine.cypher").write_text(text % (["tea"], "coffee"))
    run_pipeline(pipeline)
    content = (tmp_path / "negatives.jsonl").read_bytes()
    assert b"coffee" in content and b"milk" not in content
    (folder / "mine.cypher").write_text(text % (["tea"], "water"))
    with pytest.raises(InputError, match="overwrite"):
        run_pipeline(pipeline)


def test_damaged_blocks_are_made_again(tmp_path: Path, chats: Path, expected: bytes) -> None:
    pipeline, stopping = read_pipeline(written(tmp_path, chats)), Stopping(interrupt)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_pipeline(pipeline, progress=stopping)
    one, two = sorted(tmp_path.glob("*.blocks/*/*-of-3"))
    two.write_bytes(one.read_bytes())  # The digest of a copy is correct.
    one.write_bytes(one.read_bytes().replace(b"I ", b"U ", 1))
    refused: list[Rejected] = []
    run_pipeline(pipeline, on_rejected=refused.append)
    assert (tmp_path / "negatives.jsonl").read_bytes() == expected
    again = {item.place: item.reason for item in refused if "made again" in item.reason}
    assert set(again) == {"block 1/3", "block 2/3"}
    assert "was changed or damaged" in again["block 1/3"] and "contains block 1/3" in again["block 2/3"]


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_folder_or_link_in_place_of_a_block_is_refused_and_kept(
    tmp_path: Path, chats: Path, kind: str
) -> None:
    pipeline = read_pipeline(written(tmp_path, chats))
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(pipeline, progress=Stopping(interrupt))
    [block] = tmp_path.glob("*.blocks/*/*-of-3")
    precious = block.rename(tmp_path / "precious")
    if kind == "folder":
        block.mkdir()
    else:
        precious.write_text("mine")
        block.symlink_to(precious)
    with pytest.raises(InputError, match=re.escape(block.name)):
        run_pipeline(pipeline)
    assert precious.exists() and (block.is_dir() or block.is_symlink())


def test_every_argument_that_a_pipeline_may_give_has_a_type() -> None:
    methods = {NegativesArguments: DialogueGraph.negatives, GenerateArguments: DialogueGraph.generate}
    for known, method in methods.items():
        taken = set(signature(method).parameters) - {"self", "shard", "progress", "options"}
        assert set(known.__struct_fields__) == taken


@pytest.mark.parametrize("kind", ["folder", "empty folder", "link", "file", "link to a run"])
def test_a_folder_of_the_user_is_neither_used_nor_removed(
    tmp_path: Path, chats: Path, kind: str, run: Run
) -> None:
    blocks, elsewhere = tmp_path / "negatives.jsonl.blocks", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.txt").write_text("mine")
    match kind:
        case "folder":
            elsewhere.rename(blocks)
        case "empty folder":
            blocks.mkdir()
        case "link":
            (elsewhere / "graphneg-blocks").touch()
            blocks.symlink_to(elsewhere)
        case "file":
            blocks.write_text("mine")
        case _:
            blocks.mkdir()
            (blocks / "graphneg-blocks").touch()
            (blocks / ("0" * 32)).symlink_to(elsewhere)
    path = written(tmp_path, chats)
    before = sorted(tmp_path.rglob("*"))
    ended = run("run", path)
    assert ended.status == 2 and ended.err.count("\n") <= 3
    assert "did not make the folder" in " ".join(ended.err.split())
    assert sorted(tmp_path.rglob("*")) == before


def test_files_of_the_user_beside_the_blocks_are_kept(tmp_path: Path, chats: Path) -> None:
    pipeline, blocks = read_pipeline(written(tmp_path, chats)), tmp_path / "negatives.jsonl.blocks"
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(pipeline, progress=Stopping(interrupt))
    (blocks / "thesis.txt").write_text("mine")
    run_pipeline(pipeline)
    assert {path.name for path in blocks.iterdir()} == {"graphneg-blocks", "thesis.txt"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"blocks": 0}, "must be at least 1"),
        ({"blocks": 1_000_000_000}, "must be at least 1 and at most 100,000"),
        ({"negative_workers": {"count": 1_000_000_000}}, "must be at least 1 and at most 100,000"),
        ({"negatives": {"folders": 5}}, "negatives: Expected `array`, got `int` - at `$.folders`"),
        (
            {"negatives": {"transforms": [[]]}},
            "negatives: Expected `str`, got `array` - at `$.transforms[0]`",
        ),
        ({"negatives": {"transforms": "polarity_flip"}}, "negatives: Expected `array`, got `str`"),
        ({"negatives": {"recipe": [1]}}, "negatives: Expected `str`, got `array` - at `$.recipe`"),
        ({"negatives": {"seed": "x"}}, "negatives: Expected `int`, got `str` - at `$.seed`"),
        ({"negatives": {"nope": 1}}, "negatives: Object contains unknown field `nope`"),
        ({"negatives": {"shard": "1/2"}}, "negatives: the pipeline itself sets shard"),
        ({"negatives": None, "generate": {"generator": 5}}, "generate: Expected `str`, got `int`"),
        ({"load": []}, "nothing to read"),
        ({"generate": {"generator": "random"}}, "exactly one of negatives and generate"),
        ({"negatives": {"recipe": "all"}}, "give a store for all blocks, or a snapshot"),
        ({"negatives": {"recipe": "hard"}}, "give a store for all blocks, or a snapshot"),
        ({"bloks": 3}, "unknown field `bloks`"),
        ({"load": [{"corpus": "dialogues", "paths": ["gone.jsonl"]}]}, "gone.jsonl: there is no such file"),
    ],
)
def test_wrong_pipelines_are_one_line(
    tmp_path: Path, chats: Path, asked: dict[str, Any], told: str, run: Run
) -> None:
    ended = run("run", written(tmp_path, chats, **asked))
    assert ended.status == 2
    assert told in " ".join(ended.err.split())
    assert ended.err.count("\n") <= 3


def test_what_there_is_no_cluster_at_is_one_line(tmp_path: Path, chats: Path, run: Run) -> None:
    pytest.importorskip("ray")
    ended = run("run", written(tmp_path, chats), "--ray", "127.0.0.1:1")
    assert (ended.status, "no Ray cluster at 127.0.0.1:1" in ended.err) == (2, True)


@pytest.fixture(scope="module")
def poison(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Install a decoder and a parser that fail at certain words. Return a folder for ``PYTHONPATH``."""
    with pytest.MonkeyPatch.context() as patch:
        install(folder := tmp_path_factory.mktemp("poison"))
        patch.syspath_prepend(folder)
        yield folder


@pytest.fixture(scope="module")
def without(chats: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the negatives of one process for only the file. The text that ends a parser has no graph."""
    folder = tmp_path_factory.mktemp("without")
    with DialogueGraph(open_store(folder / "store")) as graph:
        graph.load("dialogues", chats, name="own", split="all")
        graph.parse(PoisonParser())
        graph.negatives(**RECIPE).to_jsonl(folder / "negatives.jsonl")
    return (folder / "negatives.jsonl").read_bytes()


def alone(folder: Path, chats: Path, **more: Any) -> Pipeline:
    """Return a pipeline that loads only the file."""
    load = {"corpus": "dialogues", "paths": [str(chats)], "name": "own", "split": "all"}
    return read_pipeline(written(folder, chats, load=[load], **more))


def check_poison(run_one: Any, folder: Path, chats: Path, expected: bytes, how: str, told: str) -> None:
    """Run a pipeline with a text that ends the parser and a text for which the decoder fails.

    The first text is reported and has no graph. The block of the second is reported after the other blocks
    are done, and a second run makes only this block once the file ``cure`` exists.
    """
    cure, refused = folder / "cure", list[Rejected]()
    decoder = {"decoder": "poison", "decoder_options": {"how": how, "cure": str(cure)}}
    parse = {"parser": "poison", "options": {"how": "exit"}}
    few = {"parse_workers": {"count": 1}, "negative_workers": {"count": 1}}
    pipeline = alone(folder, chats, negatives=RECIPE | decoder, parse=parse, blocks=2, **few)
    with pytest.raises(InputError, match=f"1 of 2 blocks failed: block ./2: {told}; the others"):
        run_one(pipeline, on_rejected=refused.append)
    assert len(list(folder.glob("*.blocks/*/*-of-2"))) == 1
    cure.touch()
    run_one(pipeline, progress=(again := Stopping()), on_rejected=refused.append)
    assert again.first == 1
    reasons = {one.reason for one in refused if UNPARSED in one.place}
    assert reasons == {"not parsed: a worker process was ended with status 3"}
    # The records differ only in the name of the decoder.
    made = (folder / "negatives.jsonl").read_bytes()
    assert made.replace(b'"poison"', b'"surface"') == expected


@pytest.mark.usefixtures("poison")
def test_poison_in_one_process_is_told_and_all_else_is_made(
    tmp_path: Path, chats: Path, without: bytes
) -> None:
    check_poison(run_pipeline, tmp_path, chats, without, "raise", "LookupError: it is nowhere")


@pytest.fixture(scope="module")
def cluster(poison: Path) -> Generator[Any]:
    pytest.importorskip("ray")
    from tests.ray_cluster import cluster_of

    with cluster_of(2, env_vars={"PYTHONPATH": str(poison)}) as running:
        yield running


@pytest.mark.long
def test_poison_on_a_cluster_is_told_and_all_else_is_made(
    cluster: Any, tmp_path: Path, chats: Path, without: bytes
) -> None:
    from graphneg.ray import run_on

    check_poison(run_on, tmp_path, chats, without, "exit", "the actor of the block ended in each attempt")


@pytest.mark.long
@pytest.mark.parametrize("stage", ["parse", "negatives"])
def test_a_node_that_goes_and_one_that_is_slow_change_nothing(
    stage: str,
    cluster: Any,
    tmp_path: Path,
    chats: Path,
    poison: Path,
    without: bytes,
    neo4j_instance: Neo4jServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one Neo4j for all blocks, a stage ends before the next one starts. Otherwise both run at once."""
    from graphneg.ray import run_on
    from tests.ray_cluster import node_arguments

    monkeypatch.setenv("NEO4J_USERNAME", neo4j_instance.username)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_instance.password)
    with neo4j_instance.open() as store:
        wipe(store)
    place = {"store": neo4j_instance.uri} if stage == "parse" else {}
    pipeline = alone(tmp_path, chats, parse={"parser": "poison"}, blocks=4, **place)
    path = {"PYTHONPATH": str(poison)}
    spare, slow = (cluster.add_node(**node_arguments(env_vars=path | more)) for more in ({}, SLOW))
    try:
        run_on(pipeline, Stopping(lambda: cluster.remove_node(spare, allow_graceful=False), stage))
    finally:
        cluster.remove_node(slow)
    assert (tmp_path / "negatives.jsonl").read_bytes() == without


@pytest.mark.long
def test_a_driver_that_was_killed_goes_on(
    cluster: Any,
    tmp_path: Path,
    chats: Path,
    expected: bytes,
    neo4j_instance: Neo4jServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from graphneg.ray import negatives

    with neo4j_instance.open() as store:
        wipe(store)
    path = written(tmp_path, chats, store=neo4j_instance.uri, negative_workers={"count": 1})
    monkeypatch.setenv("NEO4J_USERNAME", neo4j_instance.username)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_instance.password)
    driver = subprocess.Popen(
        [Path(sys.executable).with_name("graphneg"), "run", str(path), "--ray", cluster.address]
    )
    while not list(tmp_path.glob("*.blocks/*/*-of-3")):
        assert driver.poll() is None
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    again = Stopping()
    made = negatives(read_pipeline(path), cluster.address, again)
    assert again.first >= 1
    assert (tmp_path / "negatives.jsonl").read_bytes() == expected
    assert made.count() == expected.count(b"\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "content", "told"),
    [
        ("graphneg/__init__.py", "", "has no graphneg that can be imported"),
        (
            "sitecustomize.py",
            "import platform; platform.python_version = lambda: '3.9.1'",
            "Python 3.9.1, but this node has graphneg",
        ),
    ],
)
def test_a_node_with_another_graphneg_or_python_is_refused(
    cluster: Any, tmp_path: Path, chats: Path, module: str, content: str, told: str
) -> None:
    """A new process starts the pipeline: a node would also import from the paths of this process."""
    from tests.ray_cluster import node_arguments

    (tmp_path / "other" / module).parent.mkdir(parents=True)
    (tmp_path / "other" / module).write_text(content)
    other = cluster.add_node(env_vars={"PYTHONPATH": str(tmp_path / "other")}, **node_arguments())
    command = [Path(sys.executable).with_name("graphneg"), "run", str(written(tmp_path, chats))]
    try:
        ended = subprocess.run(
            [*command, "--ray", cluster.address], cwd=tmp_path, capture_output=True, text=True, check=False
        )
    finally:
        cluster.remove_node(other)
    assert ended.returncode == 2
    assert told in " ".join(ended.stderr.split())


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """Return a folder on a disk of 1 MB, which is too small for a store."""
    (folder := tmp_path / "small").mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only who may mount a file system can have a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


@pytest.mark.long
def test_a_full_disk_on_one_node_is_one_line_and_the_same_command_goes_on(
    cluster: Any, tmp_path: Path, chats: Path, poison: Path, without: bytes, small_disk: Path
) -> None:
    """A node runs two actors, so at least one of the five makers runs on the node with the small disk."""
    from graphneg.ray import run_on
    from tests.ray_cluster import node_arguments

    few = {"parse_workers": {"count": 1}, "negative_workers": {"count": 5}}
    pipeline = alone(tmp_path, chats, blocks=8, parse={"parser": "poison"}, **few)
    path = {"PYTHONPATH": str(poison), "TMPDIR": str(small_disk)}
    small = cluster.add_node(**node_arguments(env_vars=path))
    try:
        with pytest.raises(StoreError, match=r"small/.*: its disk is full: make room.*\(on the node .*\)$"):
            run_on(pipeline)
    finally:
        cluster.remove_node(small)
    assert not (tmp_path / "negatives.jsonl").exists()
    run_on(pipeline)
    assert (tmp_path / "negatives.jsonl").read_bytes() == without


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StoreError("its disk is full: make room"), StoreError),
        (OSError(28, "No space left on device", "x"), InputError),
    ],
)
def test_what_ends_a_run_says_on_which_node(error: Exception, kind: type[Exception]) -> None:
    pytest.importorskip("ray")
    from graphneg.ray import _tried  # pyright: ignore[reportPrivateUsage]

    def fail(refused: list[Rejected]) -> None:
        raise error

    told = _tried(Shard(1, 2), fail)
    assert isinstance(told, kind)
    assert re.search(r"(full|No space).* \(on the node \d+\.\d+\.\d+\.\d+\)$", str(told))
    assert str(pickle.loads(pickle.dumps(told))) == str(told)


@pytest.mark.long
def test_a_directory_is_no_store_for_several_nodes(cluster: Any, tmp_path: Path, chats: Path) -> None:
    from graphneg.ray import run_on

    pipeline = read_pipeline(written(tmp_path, chats, store=str(tmp_path / "store")))
    assert isinstance(pipeline, Pipeline)
    with pytest.raises(InputError, match="other nodes can't open a store in a directory"):
        run_on(pipeline)
