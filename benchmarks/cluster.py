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
from pathlib import Path
from threading import Event, Thread
from typing import Self

from benchmarks.corpus import bundled, write_jsonl
from benchmarks.instances import Host, Instance
from benchmarks.results import Table, table_text
from graphneg.dialogue_graph import DialogueGraph
from graphneg.pipeline import Actors, Load, Pipeline, run_pipeline
from graphneg.store.opening import open_store
from tests.stub_model import answered, stub_model

WRITERS = 4
DIALOGUES = 1_000
BLOCKS, CONTEXTS = 8, 960
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


class _Watch(Thread):
    """How many answers a stub has given, from time to time."""

    def __init__(self, stub: Path) -> None:
        super().__init__(daemon=True)
        self.seen: list[tuple[float, int]] = []
        self._stub, self._over = stub, Event()

    def run(self) -> None:
        while not self._over.wait(0.05):
            self.seen.append((time.monotonic(), len(answered(self._stub))))

    def middle(self) -> float:
        """Answers a second in the middle half of all, when each actor is at work."""
        total = self.seen[-1][1]
        (began, before), *_, (ended, after) = [
            one for one in self.seen if total / 4 <= one[1] <= 3 * total / 4
        ]
        return (after - before) / (ended - began)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def actors(contexts: int = CONTEXTS, amounts: Sequence[int] = AMOUNTS) -> Table:
    """`pneg` of a served model that answers in 10 ms, one question of each actor at a time: this process, and
    actors on a cluster of this machine."""
    from graphneg.ray import run_on
    from tests.ray_cluster import cluster_of

    with tempfile.TemporaryDirectory() as folder:
        chats = _chats(Path(folder) / "chats.jsonl", contexts)
        alone, expected = _rate(Path(folder), chats, 1, "alone", run_pipeline)
        rows = [("this process", f"{alone:.1f}", "1.00", "yes")]
        with cluster_of(0, num_cpus=max(amounts)):
            for amount in amounts:
                rate, ids = _rate(Path(folder), chats, amount, f"by{amount}", run_on)
                alike = "yes" if ids == expected else "no"
                rows.append((f"{amount} actors", f"{rate:.1f}", f"{rate / (alone * amount):.2f}", alike))
    about = f"{contexts} contexts in {BLOCKS} blocks, {SECONDS * 1000:.0f} ms an answer."
    columns = ("by", "answers/s", "of so many times this process", "ids alike")
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


def _rate(
    folder: Path, chats: Path, amount: int, name: str, run: Callable[..., object]
) -> tuple[float, list[str]]:
    """Answers a second, and the ids of what was made; a stub gives no text twice, and has some thousands."""
    with stub_model(stub := folder / f"{name}-stub", seconds=SECONDS) as url:
        pipeline = _pipeline(folder, url, chats, amount, name)
        with open_store(pipeline.store), _Watch(stub) as watch:
            run(pipeline)
    lines = Path(pipeline.write).read_text().splitlines()
    return watch.middle(), sorted(json.loads(line)["id"] for line in lines)


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
