"""A crowd: four processes that write and four that read share a store for an hour.

Nothing may be lost, no error come that trying again would have taken, and memory stay flat.

``python -m benchmarks.crowd NUMBER KIND TARGET FILE SECONDS`` is one of the processes: it prints what it did.
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
DIALOGUES = 40
LOOK = "MATCH (d:Dialogue {corpus: $corpus}) RETURN count(d) AS amount"
GRAPHS = (
    "MATCH (d:Dialogue {corpus: $corpus})-[:HAS_TURN]->()-[:MEANS]->(a:Amr) "
    "WHERE EXISTS { (a)-[:TOP]->() } RETURN count(a) AS amount"
)
TRACES = "MATCH (v:Variant)-[:VARIANT_OF]->(:Dialogue {id: $dialogue}) RETURN count(v) AS amount"


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
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
        f"while {READERS} others read. `lost`: acknowledged work that is missing at the end. Memory is the "
        "largest resident set of such a process, after a fifth of the time and at the end.",
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
    """Work until the time is over; print the rounds, the errors, what is lost, and the memory."""
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
            if passed < float(seconds) / 5 or not early:
                early = own.memory_info().rss / 2**20
        lost = worker.lost()
    late = own.memory_info().rss / 2**20
    print(json.dumps({"done": done, "errors": errors, "lost": lost, "early": early, "late": late}))


class Writer:
    """Loads a corpus a round, parses it, makes negatives of it and adds it to the shift graph."""

    def __init__(self, graph: DialogueGraph, number: int, file: Path) -> None:
        self._graph, self._number = graph, number
        self._text = file.read_text(encoding="utf-8")
        self._file = file.with_name(f"crowd{number}.jsonl")
        self._acknowledged: list[tuple[str, Mapping[str, Any], int]] = []

    def round(self, number: int) -> None:
        """One round; what is acknowledged is noted at once."""
        corpora = sorted({json.loads(line)["corpus"] for line in self._text.splitlines()})
        own = {corpus: f"w{self._number}-{number}-{corpus}" for corpus in corpora}
        dialogues = [json.loads(line) for line in self._text.splitlines()]
        for dialogue in dialogues:
            dialogue["id"] = dialogue["id"].replace(dialogue["corpus"], own[dialogue["corpus"]], 1)
            dialogue["corpus"] = own[dialogue["corpus"]]
        for turn in (turn for dialogue in dialogues[::2] for turn in dialogue["turns"]):
            turn["amr"] = None
        self._file.write_text("".join(json.dumps(one) + "\n" for one in dialogues), encoding="utf-8")
        self._graph.load("dialogues", self._file)
        self._graph.parse(ToyParser(), corpora=[*own.values()])
        for corpus in own.values():
            mine = [one for one in dialogues if one["corpus"] == corpus]
            graphs = sum(turn["amr"] is not None for one in mine for turn in one["turns"])
            self._acknowledged.append((LOOK, {"corpus": corpus}, len(mine)))
            self._acknowledged.append((GRAPHS, {"corpus": corpus}, graphs))
            made = list(self._graph.negatives("deam", corpora=[corpus], limit=10, seed=number))
            for dialogue in {negative.dialogue for negative in made}:
                self._acknowledged.append((TRACES, {"dialogue": dialogue}, 1))
            self._graph.shift(Letters(), keywords="rake", corpora=[corpus])

    def lost(self) -> int:
        """How much of what was acknowledged is not there."""
        asked = ((self._graph.cypher(query, **of), least) for query, of, least in self._acknowledged)
        return sum(next(iter(rows))["amount"] < least for rows, least in asked)


class Reader:
    """Asks what people ask."""

    def __init__(self, graph: DialogueGraph, number: int) -> None:
        asks: tuple[Callable[[], Any], ...] = (
            graph.info,
            lambda: list(graph.cypher("MATCH (d:Dialogue)-[:HAS_TURN]->(u) RETURN d.id, u.text LIMIT 2000")),
            lambda: list(graph.cypher("MATCH (t:Term)<-[:LEXEME]-(n) RETURN t.text, count(n) AS n LIMIT 50")),
            lambda: list(graph.explore("hubs")),
        )
        self._asks = asks[number % len(asks) :] + asks[: number % len(asks)]

    def round(self, number: int) -> None:
        self._asks[number % len(self._asks)]()

    def lost(self) -> int:
        return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
