"""Measure how work is distributed: concurrent writers, Ray actors, the overhead of Ray, and memory.

``python -m benchmarks.cluster [PART...] [--quick] [--out DATA]`` runs the named parts, or all parts. The
tables of a part are merged into the file DATA as soon as the part is measured. The parts start this module
again as child processes: ``... load TARGET FILE`` loads a file when its standard input is closed, and ``...
sort SIZE`` sorts SIZE dialogues into blocks and merges the negatives of the blocks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple, Self

import psutil

from benchmarks.corpus import bundled, write_jsonl
from benchmarks.instances import Host, Instance
from benchmarks.process import peak_megabytes
from benchmarks.report import keep
from benchmarks.results import Goal, Result, Table, goals_text, table_text, verdict
from graphneg.dialogue_graph import DialogueGraph
from graphneg.ids import natural_order
from graphneg.ingest.blocks import Load, block_records, sort_records
from graphneg.merging import merge
from graphneg.model import Dialogue, Negative, Original, Rejected, Turn
from graphneg.pipeline import Actors, Parse, Pipeline, run_pipeline
from graphneg.records.files import to_record
from graphneg.records.shards import RECORDS, Header, ShardBatch, open_shard, write_batches
from graphneg.shards import Shard
from graphneg.store.opening import open_store
from tests.stub_model import answered, stub_model

WRITERS = 4
"""Number of concurrent writers."""
BLOCKS = 8
"""Number of blocks into which a pipeline divides its dialogues."""
SORTED = 100
"""Number of blocks in the measurement of memory."""
SECONDS = 0.01
"""Seconds that the stub of a served model takes per answer."""
SATURATED = 0.8
"""If more than this share of the cores is busy, further actors cannot be faster, so there is no goal."""
LEAST_RATE, LEAST_EFFICIENCY, MOST_OVERHEAD, MOST_MEMORY = 1.5, 0.9, 0.15, 1.15
"""Goals: minimum speed-up of concurrent writers, minimum efficiency of actors, maximum overhead of Ray, and
maximum ratio of the memory for many dialogues to the memory for few dialogues."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """The numbers of dialogues and actors to measure with.

    Attributes:
        dialogues: Number of dialogues per writer.
        contexts: Number of contexts for which a slow model server writes responses.
        parsed: Number of dialogues that actors parse and edit.
        edited: Number of dialogues with graphs to edit, with and without Ray.
        actors: Numbers of actors to compare, 1 first.
        sizes: Two numbers of dialogues for the measurement of memory, the smaller one first.
    """

    dialogues: int = 1_000
    contexts: int = 3_840
    parsed: int = 2_400
    edited: int = 12_000
    actors: tuple[int, ...] = (1, 2, 4)
    sizes: tuple[int, int] = (10_000, 200_000)


QUICK = Amounts(dialogues=40, contexts=96, parsed=80, edited=80, actors=(1, 2), sizes=(200, 2_000))


def writers(amounts: Amounts) -> Result:
    """Load four corpora into one Neo4j, first one after another and then concurrently.

    Args:
        amounts: The numbers of dialogues and actors to measure with.

    Returns:
        A table, a goal for the speed-up, and a goal that all dialogues are stored.
    """
    dialogues = amounts.dialogues
    with tempfile.TemporaryDirectory() as folder:
        host = Host("neo4j", Path(folder))
        try:
            found = {
                at_once: _load_together(host, Path(folder), dialogues, at_once) for at_once in (False, True)
            }
        finally:
            host.close()
    rows = tuple(
        (
            f"{WRITERS} at once" if at_once else "one after another",
            f"{seconds:.1f}",
            f"{WRITERS * dialogues / seconds:,.0f}",
            f"{found[False][0] / seconds:.2f}",
            f"{busy:.2f}",
            f"{there:,} of {WRITERS * dialogues:,}",
        )
        for at_once, (seconds, busy, there) in found.items()
    )
    about = f"{WRITERS} corpora of {dialogues:,} dialogues with graphs are loaded into one Neo4j, "
    about += "each by one process."
    columns = ("writers", "seconds", "dialogues/s", "times the rate", "cores busy", "there")
    gain = found[False][0] / found[True][0]
    all_there = all(there == WRITERS * dialogues for *_, there in found.values())
    return Result(
        (Table("Four writers on one Neo4j", about, columns, rows),),
        (
            _least("four writers at once to one after another", gain, LEAST_RATE, "Neo4j"),
            Goal("what four writers load is there", "Neo4j", rows[1][-1], "all", verdict(all_there)),
        ),
    )


def _least(what: str, measured: float, least: float, server: str = "-") -> Goal:
    return Goal(what, server, f"{measured:.2f}", f">= {least}", verdict(measured >= least))


def _most(what: str, measured: float, most: float) -> Goal:
    return Goal(what, "-", f"{measured:.2f}", f"<= {most}", verdict(measured <= most))


def _load_together(host: Host, folder: Path, dialogues: int, at_once: bool) -> tuple[float, float, int]:
    """Return the seconds of loading, the mean number of busy cores, and the number of stored dialogues."""
    instance, corpus = host.fresh(), bundled()
    files = [
        write_jsonl(corpus.several(dialogues, f"writer{n}-"), folder / f"{n}.jsonl") for n in range(WRITERS)
    ]
    ready = [_writer(instance, file) for file in files]
    seconds, idle = 0.0, psutil.cpu_times().idle
    for some in [ready] if at_once else [[one] for one in ready]:
        began = time.monotonic()
        for process in some:
            assert process.stdin is not None
            process.stdin.close()
        assert all(process.wait() == 0 for process in some)
        seconds += time.monotonic() - began
    busy = (os.cpu_count() or 1) - (psutil.cpu_times().idle - idle) / seconds
    [row] = instance.store.read("MATCH (d:Dialogue) RETURN count(d) AS amount")
    return seconds, busy, row["amount"]


def _writer(instance: Instance, file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.cluster", "load", instance.target, str(file)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env={**os.environ, **instance.environment})
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def load(target: str, file: str) -> None:
    """Load a file as one of several writers, as soon as standard input is closed.

    Args:
        target: Address of the store.
        file: JSON Lines file of dialogues.
    """
    with DialogueGraph(open_store(target)) as graph:
        # Each writer opens the store and then waits, so that the start of its process is not measured.
        print("ready", flush=True)
        sys.stdin.read()
        graph.load("dialogues", file)


class _Observation(NamedTuple):
    """An observation of how far a running pipeline has got.

    Attributes:
        at: Time in seconds, by the monotonic clock.
        amount: Number of finished items.
        idle: Idle time of all cores together since the system started, in seconds.
    """

    at: float
    amount: int
    idle: float


class _ProgressRecorder(Thread):
    """A thread that counts finished items every 50 ms."""

    def __init__(self, count: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self.seen: list[_Observation] = []
        self._count, self._over = count, Event()

    def run(self) -> None:
        while not self._over.wait(0.05):
            self.seen.append(_Observation(time.monotonic(), self._count(), psutil.cpu_times().idle))

    def rate(self, first: int, last: int) -> tuple[float, float]:
        """Return the rate of finished items and the mean number of busy cores, over a part of the run.

        Args:
            first: Number of finished items at which the part begins.
            last: Number of finished items at which the part ends. If fewer items were finished, the part ends
                with the last of them.

        Returns:
            Items per second, and the mean number of busy cores.
        """
        most = min(last, max(look.amount for look in self.seen))
        began = next(look for look in self.seen if look.amount >= first)
        ended = next(look for look in self.seen if look.amount >= most)
        seconds = ended.at - began.at
        busy = (os.cpu_count() or 1) - (ended.idle - began.idle) / seconds
        return (ended.amount - began.amount) / seconds, busy

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def servers(amounts: Amounts) -> Result:
    """Run `pneg` with a served model that takes 10 ms per answer, in this process and with Ray actors.

    Each actor sends one request at a time, so the rate should grow linearly with the number of actors.

    Args:
        amounts: The numbers of dialogues and actors to measure with.

    Returns:
        A table, and a goal for each number of actors that does not saturate the machine.
    """
    from graphneg.ray import run_on
    from tests.ray_cluster import cluster_of

    with tempfile.TemporaryDirectory() as folder:
        chats = _chats(Path(folder) / "chats.jsonl", amounts.contexts)
        alone, busy, expected = _answer_rate(Path(folder), chats, 1, "alone", run_pipeline)
        first = alone
        rows, goals = [("this process", f"{alone:.1f}", "1.00", f"{busy:.2f}", "yes")], list[Goal]()
        with cluster_of(0, num_cpus=max(amounts.actors)):
            for amount in amounts.actors:
                rate, busy, ids = _answer_rate(Path(folder), chats, amount, f"by{amount}", run_on)
                # The efficiency is relative to one actor, not to this process, because one actor has the
                # overhead of Ray, too.
                first = first if amount > 1 else rate
                share, alike = rate / (first * amount), "yes" if ids == expected else "no"
                name = "1 actor" if amount == 1 else f"{amount} actors"
                rows.append((name, f"{rate:.1f}", f"{rate / alone:.2f}", f"{busy:.2f}", alike))
                # On a saturated machine, the cores limit the rate, not the number of actors.
                if amount > 1 and busy < SATURATED * (os.cpu_count() or 1):
                    goals.append(
                        _least(f"{amount} actors beside a slow server, of linear", share, LEAST_EFFICIENCY)
                    )
    about = (
        f"Negatives are made for {amounts.contexts:,} contexts, which are divided into {BLOCKS} blocks. "
        f"The model server takes {SECONDS * 1000:.0f} ms for each answer."
    )
    columns = ("by", "answers/s", "times this process", "cores busy", "ids alike")
    return Result((Table("Actors beside a slow server", about, columns, tuple(rows)),), tuple(goals))


def _chats(path: Path, amount: int) -> Path:
    turns = ["Did you find the garden gloves on day {n}?", "Yes, behind shelf {n}.", "I looked there twice."]
    with path.open("w") as file:
        for n in range(amount):
            chat = {"id": str(n), "turns": [{"text": turn.format(n=n)} for turn in turns]}
            file.write(json.dumps(chat) + "\n")
    return path


def _answer_rate(
    folder: Path, chats: Path, amount: int, name: str, run: Callable[..., object]
) -> tuple[float, float, list[str]]:
    """Return the answers per second, the mean number of busy cores, and the sorted ids of the negatives."""
    with stub_model(stub := folder / f"{name}-stub", seconds=SECONDS) as url:
        served = {"base_url": url, "concurrency": 1, "cache": str(folder / f"{name}.answers")}
        pipeline = Pipeline(
            write=str(folder / f"{name}.jsonl"),
            load=(Load("dialogues", (str(chats),), "b", "all"),),
            store=str(folder / f"{name}-store"),
            generate={"generator": "pneg", "model": "stub", "served": served},
            blocks=BLOCKS,
            negative_workers=Actors(amount),
        )
        with open_store(pipeline.store), _ProgressRecorder(lambda: len(answered(stub))) as watch:
            run(pipeline)
        total = len(answered(stub))
    lines = Path(pipeline.write).read_text().splitlines()
    # During the middle half of the answers, all actors have started and none has finished.
    return *watch.rate(total // 4, 3 * total // 4), sorted(json.loads(line)["id"] for line in lines)


def cores(amounts: Amounts) -> Result:
    """Parse and edit dialogues on this machine with several numbers of Ray actors.

    Args:
        amounts: The numbers of dialogues and actors to measure with.

    Returns:
        A table with a row for each number of actors.
    """
    from graphneg.ray import run_on
    from tests.ray_cluster import cluster_of

    with tempfile.TemporaryDirectory() as folder:
        chats = _chats(Path(folder) / "chats.jsonl", amounts.parsed)
        parsing = {"parse": Parse()}
        rows, found = list[tuple[str, ...]](), dict[int, float]()
        expected = _run_in_blocks(Path(folder), chats, "alone", run_pipeline, 1, **parsing).content
        with cluster_of(0, num_cpus=2 * max(amounts.actors)):
            for amount in amounts.actors:
                pools = {"parse_workers": Actors(amount), "negative_workers": Actors(amount)}
                ran = _run_in_blocks(Path(folder), chats, f"by{amount}", run_on, amount, **parsing, **pools)
                found[amount] = ran.rate
                alike = "yes" if ran.content == expected else "no"
                times = f"{ran.rate / found[1]:.2f}"
                rows.append((f"{amount}", f"{ran.rate:.1f}", times, f"{ran.busy:.2f}", alike))
    about = (
        f"{amounts.parsed:,} dialogues of three turns, divided into {BLOCKS} blocks, are parsed and edited "
        f"on {os.cpu_count()} cores. The number of actors that parse equals the number of actors that edit."
    )
    columns = ("actors of each kind", "dialogues/s", "times one", "cores busy", "bytes alike")
    return Result((Table("Actors on cores", about, columns, tuple(rows)),))


def overhead(amounts: Amounts) -> Result:
    """Measure the overhead of Ray: edit graphs in this process without Ray, and then with one Ray actor.

    Args:
        amounts: The numbers of dialogues and actors to measure with.

    Returns:
        A table, and a goal for the time with Ray divided by the time without Ray.
    """
    from graphneg.ray import run_on
    from tests.ray_cluster import cluster_of

    with tempfile.TemporaryDirectory() as folder:
        given = write_jsonl(bundled().several(amounts.edited, "o-"), Path(folder) / "given.jsonl")
        alone = _run_in_blocks(Path(folder), given, "alone", run_pipeline, 1)
        with cluster_of(0, num_cpus=2):
            by_ray = _run_in_blocks(Path(folder), given, "ray", run_on, 1, negative_workers=Actors(1))
    rows = tuple(
        (name, f"{ran.seconds:.1f}", f"{ran.rate:.1f}", "yes" if ran.content == alone.content else "no")
        for name, ran in (("one process", alone), ("Ray, one actor", by_ray))
    )
    about = (
        f"Negatives are made for {amounts.edited:,} dialogues with graphs. The dialogues are divided into "
        f"{BLOCKS} blocks, and each block has a separate store."
    )
    columns = ("by", "seconds", "dialogues/s once begun", "bytes alike")
    goals = (_most("Ray's time to one process's", by_ray.seconds / alone.seconds, 1 + MOST_OVERHEAD),)
    return Result((Table("Ray beside one process", about, columns, rows),), goals)


class _RunResult(NamedTuple):
    """The measurements of one run of a pipeline.

    Attributes:
        seconds: Seconds of the whole run.
        rate: Dialogues per second, not counting the time until the first blocks are finished.
        busy: Mean number of busy cores in the same time.
        content: The bytes of the output file.
    """

    seconds: float
    rate: float
    busy: float
    content: bytes


def _run_in_blocks(
    folder: Path, given: Path, name: str, run: Callable[..., object], actors: int, **more: Any
) -> _RunResult:
    """Run and measure a pipeline that edits dialogues in blocks, each block in a separate store."""
    pipeline = Pipeline(
        write=str(folder / f"{name}.jsonl"),
        load=(Load("dialogues", (str(given),)),),
        negatives={"recipe": "contradiction"},
        blocks=BLOCKS,
        **more,
    )
    began = time.monotonic()
    with _ProgressRecorder(lambda: len(list(folder.glob(f"{name}.jsonl.blocks/*/*-of-{BLOCKS}")))) as watch:
        run(pipeline, on_rejected=_refuse)
    seconds = time.monotonic() - began
    with open(given, "rb") as file:
        dialogues = sum(1 for _ in file)
    # The start of the actors is not measured: the measurement begins when there are as many finished blocks
    # as actors.
    rate, busy = watch.rate(actors, BLOCKS)
    return _RunResult(seconds, rate * dialogues / BLOCKS, busy, Path(pipeline.write).read_bytes())


def _refuse(one: Rejected) -> None:
    raise AssertionError(f"this should have been read: {one}")


def memory(amounts: Amounts) -> Result:
    """Measure the peak memory of a process that sorts dialogues into blocks and merges negatives.

    Args:
        amounts: The numbers of dialogues and actors to measure with.

    Returns:
        A table, and a goal: the memory must hardly grow with the number of dialogues.
    """
    rows = tuple((f"{size:,}", *_sorted(size)) for size in amounts.sizes)
    about = f"One process sorts a corpus into {SORTED} blocks and merges the negatives of {SORTED} blocks."
    table = Table("Memory of a pipeline", about, ("dialogues", "peak MB", "seconds"), rows)
    few, many = (float(row[1]) for row in rows)
    goal = _most("memory of a pipeline, many dialogues to few", many / few, MOST_MEMORY)
    return Result((table,), (goal,))


def _sorted(size: int) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.cluster", "sort", str(size)]
    return iter(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def sort(size: str) -> None:
    """Sort dialogues into blocks, merge a negative per dialogue, and print peak megabytes and seconds.

    Args:
        size: Number of dialogues.
    """
    with tempfile.TemporaryDirectory() as folder:
        chats, out = _chats(Path(folder) / "chats.jsonl", int(size)), Path(folder) / "negatives.jsonl"
        began = time.monotonic()
        loads = (Load("dialogues", (str(chats),), "b", "all"),)
        sort_records(loads, SORTED, Path(folder) / "records", lambda _: None)
        shards = [Shard(index, SORTED) for index in range(1, SORTED + 1)]
        merge([_write_block(shard, Path(folder) / "records", out) for shard in shards], out)
        print(f"{peak_megabytes():.0f} {time.monotonic() - began:.1f}")


def _write_block(shard: Shard, records: Path, out: Path) -> Path:
    """Write a block with one negative per dialogue, whose response is the last turn of the dialogue."""
    dialogues = (one for one in block_records(records, shard) if isinstance(one, Dialogue))
    items = ((natural_order(one.id), to_record(_as_negative(one))) for one in dialogues)
    with open_shard(out, Header(str(shard), RECORDS, {}, ""), "") as writer:
        write_batches(writer, (ShardBatch(0, some) for some in iter(lambda: list(islice(items, 500)), [])))
    return shard.file(out)


def _as_negative(one: Dialogue) -> Negative:
    *before, last = one.utterances
    context = tuple(Turn(turn.speaker, turn.text) for turn in before)
    return Negative(
        id=one.id, corpus=one.corpus, split=one.split, dialogue=one.id, turn=last.turn, context=context,
        response=last.text, label=0, original=Original(None, last.text), categories=(), recipe="",
        target="response", seed=0, decoder="", edits=(), amr={}, scores={},
    )  # fmt: skip


PARTS: Mapping[str, Callable[[Amounts], Result]] = {
    "memory": memory,
    "overhead": overhead,
    "cores": cores,
    "servers": servers,
    "writers": writers,
}
CHILDREN: Mapping[str, Callable[..., None]] = {"load": load, "sort": sort}


def main() -> None:
    """Run the parts that the command line names, or do the work of a child process."""
    if sys.argv[1:2] and sys.argv[1] in CHILDREN:
        CHILDREN[sys.argv[1]](*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_const", dest="amounts", const=QUICK, default=Amounts())
    parser.add_argument(
        "--out", type=Path, help="data file to merge the tables into: docs/data/benchmarks.json"
    )
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        began = time.monotonic()
        result = PARTS[part](asked.amounts)
        print(f"{part} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        print(goals_text(result.goals), *map(table_text, result.tables), sep="\n", flush=True)
        if asked.out:
            keep(asked.out, result.tables, result.goals)


if __name__ == "__main__":
    main()
