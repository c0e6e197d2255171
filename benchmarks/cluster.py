"""What a cluster adds: writers at once on one Neo4j, actors beside a slow server, memory of a large corpus.

``python -m benchmarks.cluster`` prints all three; ``... writers``, ``... actors`` and ``... memory`` one.
``... load TARGET FILE`` is one of the writers: it loads when its standard input ends, and prints the seconds.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.corpus import bundled, write_jsonl
from benchmarks.instances import Host, Instance
from benchmarks.results import Table, table_text
from graphneg.dialogue_graph import DialogueGraph
from graphneg.pipeline import Actors, Load, Pipeline, run_pipeline
from graphneg.progress import NoProgress
from graphneg.store.opening import open_store
from tests.stub_model import stub_model

WRITERS = 4
DIALOGUES = 1_000
BLOCKS, CONTEXTS = 8, 240
SECONDS = 0.01
AMOUNTS = (1, 2, 4)
SIZES = (10_000, 200_000)


def writers(dialogues: int = DIALOGUES) -> Table:
    """Four corpora loaded into one Neo4j, one after another and at once."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host("neo4j", Path(folder))
        try:
            found = {at_once: _loads(host, Path(folder), dialogues, at_once) for at_once in (False, True)}
        finally:
            host.close()
    rows = tuple(
        (
            f"{WRITERS} at once" if at_once else "one after another",
            f"{seconds:.1f}",
            f"{WRITERS * dialogues / seconds:,.0f}",
            f"{found[False][0] / seconds:.2f}",
            f"{there:,} of {WRITERS * dialogues:,}",
        )
        for at_once, (seconds, there) in found.items()
    )
    about = f"{WRITERS} corpora of {dialogues:,} dialogues with graphs, a process each, into one Neo4j."
    return Table("Writers", about, ("writers", "seconds", "dialogues/s", "times the rate", "there"), rows)


def _loads(host: Host, folder: Path, dialogues: int, at_once: bool) -> tuple[float, int]:
    """Seconds that the loads take together, and how many dialogues are there then."""
    instance, corpus = host.fresh(), bundled()
    files = [
        write_jsonl(corpus.several(dialogues, f"writer{n}-"), folder / f"{n}.jsonl") for n in range(WRITERS)
    ]
    ready = [_writer(instance, file) for file in files]
    seconds = 0.0
    for some in [ready] if at_once else [[one] for one in ready]:
        began = time.monotonic()
        for process in some:
            assert process.stdin is not None
            process.stdin.close()
        assert all(process.wait() == 0 for process in some)
        seconds += time.monotonic() - began
    [row] = instance.store.read("MATCH (d:Dialogue) RETURN count(d) AS amount")
    return seconds, row["amount"]


def _writer(instance: Instance, file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.cluster", "load", instance.target, str(file)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env={**os.environ, **instance.environment})
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def load(target: str, file: str) -> None:
    """What a writer does."""
    with DialogueGraph(open_store(target)) as graph:
        print("ready", flush=True)
        sys.stdin.read()
        graph.load("dialogues", file)


class _Blocks(NoProgress):
    """When each block of negatives was done."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._label = ""

    def start(self, label: str, total: int | None, unit: str) -> None:
        self._label = label

    def advance(self, amount: int) -> None:
        if self._label == "negatives" and amount:
            self.times.append(time.monotonic())


def actors(contexts: int = CONTEXTS, amounts: Sequence[int] = AMOUNTS) -> Table:
    """`pneg` of a served model that answers in 10 ms, one question of each actor at a time: this process, and
    actors on a cluster of this machine. The rate is that between the first and the last block."""
    from graphneg.ray import run_on
    from tests.ray_cluster import cluster_of

    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder, stub_model(Path(folder) / "stub", seconds=SECONDS) as url:
        place = Path(folder)
        made = partial(_pipeline, place, url, _chats(place / "chats.jsonl", contexts))
        alone, expected = _rate(made(1, "alone"), run_pipeline, place)
        rows.append(("this process", f"{alone:.1f}", "1.00", "yes"))
        with cluster_of(1, num_cpus=max(amounts)):
            for amount in amounts:
                rate, digest = _rate(made(amount, f"by{amount}"), run_on, place)
                share, same = rate / (alone * amount), "yes" if digest == expected else "no"
                rows.append((f"{amount} actors", f"{rate:.1f}", f"{share:.2f}", same))
    about = f"{contexts} contexts in {BLOCKS} blocks, {SECONDS * 1000:.0f} ms an answer."
    columns = ("by", "contexts/s", "of so many times this process", "ids alike")
    return Table("Actors beside a slow server", about, columns, tuple(rows))


def _chats(path: Path, amount: int) -> Path:
    turns = ["Did you find the garden gloves on day {n}?", "Yes, behind shelf {n}.", "I looked there twice."]
    chats = ({"id": str(n), "turns": [{"text": turn.format(n=n)} for turn in turns]} for n in range(amount))
    path.write_text("".join(json.dumps(chat) + "\n" for chat in chats))
    return path


def _pipeline(folder: Path, url: str, chats: Path, amount: int, name: str) -> Pipeline:
    served = {"base_url": url, "concurrency": 1, "cache": str(folder / f"{name}.answers")}
    return Pipeline(
        write=str(folder / f"{name}.jsonl"),
        load=(Load("dialogues", (str(chats),), "b", "all"),),
        store=str(folder / f"{name}-store"),
        generate={"generator": "pneg", "model": "stub", "served": served},
        blocks=BLOCKS,
        makers=Actors(amount),
    )


def _rate(pipeline: Pipeline, run: Callable[..., object], folder: Path) -> tuple[float, list[str]]:
    """Contexts a second, and the ids of what was made; a stub gives no text twice."""
    bar = _Blocks()
    with open_store(pipeline.store):  # its server is up
        run(pipeline, progress=bar)
    amount = pipeline.makers.amount
    first = bar.times[min(amount, len(bar.times) - 1) - 1]
    lines = Path(pipeline.write).read_text().splitlines()
    done = (len(bar.times) - amount) / BLOCKS * len(lines)
    return done / (bar.times[-1] - first), sorted(json.loads(line)["id"] for line in lines)


def memory(sizes: Sequence[int] = SIZES) -> Table:
    """The largest resident set of a process that reads so many dialogues and sorts them into blocks."""
    rows = tuple((f"{size:,}", *_sorted(size)) for size in sizes)
    return Table("Memory", "A corpus sorted into 100 blocks.", ("dialogues", "peak MB", "seconds"), rows)


def _sorted(size: int) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.cluster", "sort", str(size)]
    return iter(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def sort(size: str) -> None:
    """What that process does: prints megabytes and seconds."""
    from graphneg.pipeline import sort_records

    with tempfile.TemporaryDirectory() as folder:
        chats = _chats(Path(folder) / "chats.jsonl", int(size))
        began = time.monotonic()
        loads = (Load("dialogues", (str(chats),), "b", "all"),)
        sort_records(Pipeline(write="-", load=loads, blocks=100), Path(folder) / "records", lambda _: None)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{peak:.0f} {time.monotonic() - began:.1f}")


PARTS: Mapping[str, Callable[[], Table]] = {"writers": writers, "actors": actors, "memory": memory}
CHILDREN: Mapping[str, Callable[..., None]] = {"load": load, "sort": sort}


def main() -> None:
    """Measure what was asked for."""
    name, *rest = sys.argv[1:] or [""]
    if name in CHILDREN:
        CHILDREN[name](*rest)
        return
    for part in [PARTS[name]] if name else PARTS.values():
        print(table_text(part()), flush=True)


if __name__ == "__main__":
    main()
