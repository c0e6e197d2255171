"""Test concurrent use: four processes write to one store and four read from it, for an hour.

No acknowledged write may be lost, no error may occur that a retry would have avoided, and the memory of the
processes must hardly grow.

``python -m benchmarks.crowd NUMBER KIND TARGET FILE SECONDS`` starts one of the processes. At the end, the
process prints its number of rounds, its errors, the number of lost writes, and its memory as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

import graphneg
from benchmarks.corpus import Corpus, write_jsonl
from benchmarks.instances import Host, Instance
from benchmarks.memory import ROOT, WANTED
from benchmarks.results import Goal, Result, Table, verdict
from benchmarks.sizes import Sizes
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import GraphnegError
from tests.shift_samples import Letters
from tests.toy_parser import ToyParser

WRITERS = READERS = 4
"""Number of processes that write, and number of processes that read."""
DIALOGUES = 40
"""Number of dialogues that a writer loads per round."""
LOOK = "MATCH (d:Dialogue {corpus: $corpus}) RETURN count(d) AS amount"
"""Query that counts the dialogues of a corpus."""
GRAPHS = (
    "MATCH (d:Dialogue {corpus: $corpus})-[:HAS_TURN]->()-[:MEANS]->(a:Amr) "
    "WHERE EXISTS { (a)-[:TOP]->() } RETURN count(a) AS amount"
)
"""Query that counts the graphs of a corpus that have a top node."""
TRACES = "MATCH (v:Variant)-[:VARIANT_OF]->(:Dialogue {id: $dialogue}) RETURN count(v) AS amount"
"""Query that counts the stored variants of a dialogue."""


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Run writing and reading processes concurrently, and check their reports.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    instance = host.fresh()
    file = write_jsonl(corpus.several(DIALOGUES, "copy"), host.directory / "crowd.jsonl")
    began = [
        _begun(instance, number, kind, file, sizes.crowd)
        for kind, amount in (("write", WRITERS), ("read", READERS))
        for number in range(amount)
    ]
    reports = [json.loads(process.communicate()[0]) for process in began]
    rows = tuple(
        (
            instance.name,
            kind,
            f"{sizes.crowd / 60:.0f}",
            f"{sum(report['done'] for report in some):,}",
            str(sum(len(report["errors"]) for report in some)),
            f"{sum(report['lost'] for report in some)}",
            f"{max(report['early'] for report in some):.0f}",
            f"{max(report['late'] for report in some):.0f}",
        )
        for kind, some in (("write", reports[:WRITERS]), ("read", reports[WRITERS:]))
    )
    table = Table(
        "A crowd on one store",
        f"{WRITERS} processes load dialogues, parse them, make negatives and build the shift graph, "
        f"while {READERS} other processes read. `lost`: acknowledged work that is missing at the end. The "
        "columns in MB show the resident set of the largest of these processes, after a fifth of the time "
        "and at the end.",
        ("server", "who", "minutes", "rounds", "errors", "lost", "MB, a fifth", "MB, the end"),
        rows,
    )
    errors = [error for report in reports for error in report["errors"]]
    for error, amount in Counter(errors).items():
        print(f"{amount} times: {error}", file=sys.stderr)
    bad = len(errors) + sum(report["lost"] for report in reports)
    grown = max(report["late"] - report["early"] for report in reports)
    what = f"{WRITERS} writers and {READERS} readers, {sizes.crowd / 60:.0f} minutes"
    return Result(
        (table,),
        (
            Goal(f"{what}: errors, losses", instance.name, str(bad), "0", verdict(not bad)),
            Goal(
                f"{what}: memory",
                instance.name,
                f"{grown:+.0f} MB",
                f"<= {WANTED:.0f} MB",
                verdict(grown <= WANTED),
            ),
        ),
    )


def _begun(instance: Instance, number: int, kind: str, file: Path, seconds: float) -> subprocess.Popen[str]:
    arguments = (str(number), kind, instance.target, str(file), str(seconds))
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.crowd", *arguments],
        cwd=ROOT,
        env={**os.environ, **instance.environment},
        stdout=subprocess.PIPE,
        text=True,
    )


def main(number: str, kind: str, target: str, file: str, seconds: str) -> None:
    """Work until the time is over, then print the report of this process.

    Args:
        number: Number of the process among the writers or among the readers, from 0.
        kind: ``write`` or ``read``.
        target: Address of the store.
        file: JSON Lines file of the dialogues to load.
        seconds: Duration of the work in seconds.
    """
    began, own = time.monotonic(), psutil.Process()
    done, errors, early = 0, list[str](), 0.0
    with graphneg.open(target) as graph:
        worker = Writer(graph, int(number), Path(file)) if kind == "write" else Reader(graph, int(number))
        while (passed := time.monotonic() - began) < float(seconds):
            try:
                worker.round(done)
                done += 1
            except GraphnegError as error:
                errors.append(f"{kind}: {str(error)[:300]}")
            # After a fifth of the time, caches are full: further growth counts as a leak.
            if passed < float(seconds) / 5 or not early:
                early = own.memory_info().rss / 2**20
        lost = worker.lost()
    late = own.memory_info().rss / 2**20
    print(json.dumps({"done": done, "errors": errors, "lost": lost, "early": early, "late": late}))


class Writer:
    """A process that writes: each round loads, parses and edits a corpus and adds it to the shift graph."""

    def __init__(self, graph: DialogueGraph, number: int, file: Path) -> None:
        """Initialize a writer with the dialogues of a file."""
        self._graph, self._number = graph, number
        self._text = file.read_text(encoding="utf-8")
        self._file = file.with_name(f"crowd{number}.jsonl")
        self._acknowledged: list[tuple[str, Mapping[str, Any], int]] = []

    def round(self, number: int) -> None:
        """Run one round and record the writes that the store acknowledges.

        Args:
            number: Number of the round. It is part of the dialogues' ids, so that each round writes new
                dialogues.
        """
        corpora = sorted({json.loads(line)["corpus"] for line in self._text.splitlines()})
        copy_names = {corpus: f"w{self._number}-{number}-{corpus}" for corpus in corpora}
        dialogues = [json.loads(line) for line in self._text.splitlines()]
        for dialogue in dialogues:
            dialogue["id"] = dialogue["id"].replace(dialogue["corpus"], copy_names[dialogue["corpus"]], 1)
            dialogue["corpus"] = copy_names[dialogue["corpus"]]
        # Every second dialogue has no graphs, so that the round has something to parse.
        for turn in (turn for dialogue in dialogues[::2] for turn in dialogue["turns"]):
            turn["amr"] = None
        self._file.write_text("".join(json.dumps(one) + "\n" for one in dialogues), encoding="utf-8")
        self._graph.load("dialogues", self._file)
        self._graph.parse(ToyParser(), corpora=[*copy_names.values()])
        for corpus in copy_names.values():
            corpus_dialogues = [one for one in dialogues if one["corpus"] == corpus]
            graphs = sum(turn["amr"] is not None for one in corpus_dialogues for turn in one["turns"])
            self._acknowledged.append((LOOK, {"corpus": corpus}, len(corpus_dialogues)))
            self._acknowledged.append((GRAPHS, {"corpus": corpus}, graphs))
            made = list(self._graph.negatives("deam", corpora=[corpus], limit=10, seed=number))
            for dialogue in {negative.dialogue for negative in made}:
                self._acknowledged.append((TRACES, {"dialogue": dialogue}, 1))
            self._graph.shift(Letters(), keywords="rake", corpora=[corpus])

    def lost(self) -> int:
        """Return how many acknowledged writes are missing in the store."""
        asked = ((self._graph.cypher(query, **of), least) for query, of, least in self._acknowledged)
        return sum(next(iter(rows))["amount"] < least for rows, least in asked)


class Reader:
    """A process that reads: it runs typical queries in turn."""

    def __init__(self, graph: DialogueGraph, number: int) -> None:
        """Initialize a reader; its number decides which query comes first."""
        asks: tuple[Callable[[], Any], ...] = (
            graph.info,
            lambda: list(graph.cypher("MATCH (d:Dialogue)-[:HAS_TURN]->(u) RETURN d.id, u.text LIMIT 2000")),
            lambda: list(graph.cypher("MATCH (t:Term)<-[:LEXEME]-(n) RETURN t.text, count(n) AS n LIMIT 50")),
            lambda: list(graph.explore("hubs")),
        )
        self._asks = asks[number % len(asks) :] + asks[: number % len(asks)]

    def round(self, number: int) -> None:
        """Run one query.

        Args:
            number: Number of the round.
        """
        self._asks[number % len(self._asks)]()

    def lost(self) -> int:
        """Return 0, because a reader writes nothing."""
        return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
