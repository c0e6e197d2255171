"""Test recovery: kill commands and their servers with ``kill -9`` at random moments.

The commands load, parse, make negatives, run a generator, and build the shift graph. After a kill, no
acknowledged write may be lost, and no item may be stored only in part. The next run of the command must give
the same result as a run without a kill.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus import Corpus, bundled, write_jsonl
from benchmarks.instances import Host
from benchmarks.results import Goal, Result, Table, verdict
from benchmarks.sizes import Sizes
from graphneg.dialogue_graph import DialogueGraph
from tests.killable import PARSED, SHIFTED, Run
from tests.killed_servers import Embedded, Neo4j, Server
from tests.servers import wipe
from tests.shift_samples import edges, replies
from tests.unfinished import acknowledged

DIALOGUES = 30
"""Number of dialogues that a command works on."""
ON_NEO4J = 4
"""Divisor for the number of kills on Neo4j, because Neo4j takes longer to start than the embedded store."""
OF_SERVERS = 5
"""Every fifth kill also ends the server. The other kills end only the command."""
LOOK = {
    "Dialogue": "MATCH (n:Dialogue) OPTIONAL MATCH (n)-[:HAS_TURN]->(u) OPTIONAL MATCH (u)-[:NEXT]->(v) "
    "RETURN n.id AS id, n.digest AS digest, count(DISTINCT u) AS size, count(v) AS ties",
    "Amr": "MATCH (n:Amr)<-[:MEANS]-() OPTIONAL MATCH (m:AmrNode {amr: n.id}) "
    "OPTIONAL MATCH (m)-[r:ROLE]->() "
    "RETURN n.id AS id, n.digest AS digest, count(DISTINCT m) AS size, count(DISTINCT r) AS ties",
    "Variant": "MATCH (n:Variant) OPTIONAL MATCH (n)-[:APPLIED]->(e:Edit) OPTIONAL MATCH (e)-[:AT]->(m) "
    "RETURN n.id AS id, n.digest AS digest, count(DISTINCT e) AS size, count(m) AS ties",
}
"""Queries, keyed by label, that return all dialogues, graphs or variants. Each row has the id and the digest
of an item, and the numbers of its parts and of their relationships."""
LOOSE = (
    "MATCH (n:Edit) WHERE NOT EXISTS { (:Variant)-[:APPLIED]->(n) } RETURN count(n) AS amount",
    "MATCH (n:Amr) WHERE NOT EXISTS { ()-[:MEANS]->(n) } RETURN count(n) AS amount",
)
"""Queries that count edits without a variant, and graphs without an utterance. After a kill, there must
be none of them."""
FORGET = {
    "load": ("Dialogue", "Utterance", "Response", "Amr", "AmrNode", "Clause", "Entity"),
    "parse": ("Amr", "AmrNode", "Parse", "Clause", "Entity"),
    "negatives": ("Variant", "Edit"),
    "generate": (),
    "shift": (),
}
"""Labels of the nodes that a command makes, keyed by command. The nodes are deleted before its next run."""
KEYS = {
    "AmrNode": "n.amr",
    "Clause": "n.dialogue",
    "Entity": "n.dialogue",
    "Utterance": "split(n.id, '#')[0]",
    "Response": "split(n.id, '#')[0]",
}
"""Cypher expressions, keyed by label, for the id of the dialogue or graph to which a node ``n`` belongs. For
nodes with other labels, this id is ``n.id``."""

Whole = dict[tuple[str, str], tuple[Any, ...]]


@dataclass(slots=True)
class Count:
    """Counts of the kills of one command, and of the faults that they caused.

    Attributes:
        command: Name of the command.
        kills: Number of kills.
        of_server: Number of kills of the server.
        lost: Number of kills that lost an acknowledged write.
        half: Number of kills that left an item half written.
        other: Number of completed runs with a different result than a run without a kill.
    """

    command: str
    kills: int = 0
    of_server: int = 0
    lost: int = 0
    half: int = 0
    other: int = 0


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Kill each command several times and count the faults.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    host.close()
    folder = host.directory / f"kills-{host.kind}"
    folder.mkdir()
    if host.kind == "neo4j":
        server = Neo4j(folder / "server")
        each = max(1, sizes.kills // ON_NEO4J // len(FORGET))
        with closing(_Stopped(server.stop)):
            counts = [_killed(server, name, each, folder) for name in FORGET]
    else:
        each = max(1, sizes.kills // len(FORGET))
        counts = [_killed(Embedded(folder / "server"), name, each, folder) for name in FORGET]
    table = Table(
        "Kills",
        f"A command that works on {DIALOGUES} dialogues is ended by `kill -9` at a random time. Each fifth "
        "time, its server is ended as well. Then the command runs again. The last columns count three "
        "kinds of faults: acknowledged work was lost, something was half written, or the second run gave "
        "another result than an undisturbed run.",
        ("server", "command", "kills", "of the server", "lost", "half there", "other result"),
        tuple(
            (host.name, one.command, *map(str, (one.kills, one.of_server, one.lost, one.half, one.other)))
            for one in counts
        ),
    )
    kills, bad = sum(one.kills for one in counts), sum(one.lost + one.half + one.other for one in counts)
    goal = Goal(f"{kills} kills that lose or leave a half", host.name, str(bad), "0", verdict(not bad))
    return Result((table,), (goal,))


@dataclass
class _Stopped:
    close: Callable[[], None]


def _killed(server: Server, command: str, kills: int, folder: Path) -> Count:
    job = _KilledCommand(server, command, folder)
    count, moments = Count(command), random.Random(f"{command} {server.target.partition('//')[0]}")
    while count.kills < kills:
        run = job.start_command()
        # The command may end before its kill. Such a run is not counted as a kill, but its result must be
        # right.
        if run.ended_within(moments.uniform(0, 0.9 * job.seconds)):
            run.finish()
            count.other += job.result() != job.expected
            job.delete_results()
            continue
        count.kills += 1
        if count.kills % OF_SERVERS == 0:
            count.of_server += 1
            server.kill()
            run.kill()
            job.reopen()
        else:
            run.kill()
            server.settle(job.store)
        lost, half = job.faults_after_kill(run.acknowledged)
        count.lost += lost
        count.half += half
    job.start_command().finish()
    count.other += job.result() != job.expected
    job.store.close()
    return count


class _KilledCommand:
    """A command with its expected result and its duration."""

    def __init__(self, server: Server, command: str, folder: Path) -> None:
        """Run the command twice without a kill to learn its result and duration."""
        self._server, self._command = server, command
        self.store = server.open()
        wipe(self.store)
        graph = DialogueGraph(self.store)
        graph.load("everyday")
        corpus = write_jsonl(bundled().several(DIALOGUES, "copy"), folder / "killed.jsonl")
        if command == "parse":
            corpus.write_text("".join(map(_without_graphs, corpus.read_text().splitlines(keepends=True))))
        if command != "load":
            graph.load("dialogues", corpus)
        self.file = corpus if command == "load" else folder / f"{command}.jsonl"
        self._base = self._digests_of_items()
        # In the second run the server is warm, as in the runs that are killed.
        for _ in range(2):
            run = self.start_command()
            run.finish()
            self.seconds, self.expected = run.seconds, self.result()
            self.delete_results()

    def start_command(self) -> Run:
        return Run(self._server.target, self._server.environment, self._command, self.file)

    def reopen(self) -> None:
        self.store.close()
        self.store = self._server.open()

    def result(self) -> tuple[Whole, dict[tuple[str, str], int], bytes]:
        """Return what the command has written: stored items, edges of the shift graph, and its file."""
        return self._digests_of_items(), edges(self.store), self._written(self.file)

    def faults_after_kill(self, received: int) -> tuple[bool, bool]:
        """Compare the store and the output file after a kill with the expected result.

        Args:
            received: Number of items that the command acknowledged before the kill.

        Returns:
            Whether an acknowledged write is lost, and whether an item is half written.
        """
        whole, _, written = self.expected
        found = self._digests_of_items()
        halves = [(key, value, whole.get(key)) for key, value in found.items() if whole.get(key) != value]
        half = bool(halves) or not self._has_no_loose_items() or edges(self.store) != replies(self.store)
        lost = bool(self._base.keys() - found.keys()) or self._count_acknowledged(found) < received
        if self._command in ("negatives", "generate"):
            if self.file.exists():
                # The command renames the file to its final name when the file is complete. So a file with
                # this name must have the whole expected content.
                lost = lost or self._written(self.file) != written
            else:
                lost = lost or not written.startswith(acknowledged(self.file))
        if lost or half:
            gone, kept = len(self._base.keys() - found.keys()), self._count_acknowledged(found)
            what = f"{gone} gone, {kept} of {received}"
            print(f"{self._command}: lost {lost}, half {half}: {what}, {halves[:2]}", file=sys.stderr)
        return lost, half

    def delete_results(self) -> None:
        if self._command == "shift":
            for kind in ("SHIFTS_TO", "FOCUS", "PERSPECTIVE", "MENTIONS"):
                self.store.query_write(f"MATCH ()-[r:{kind}]->() DELETE r")
            self.store.query_write("MATCH (d:Dialogue) REMOVE d.shifts")
        ids = {id for _, id in self._base}
        for label in FORGET[self._command]:
            keep = KEYS.get(label, "n.id")
            self.store.query_write(
                f"MATCH (n:{label}) WHERE NOT coalesce({keep}, '') IN $ids DETACH DELETE n", {"ids": [*ids]}
            )
        if self._command in ("negatives", "generate"):
            for file in self.file.parent.glob(f"*{self.file.name}*"):
                file.unlink()

    def _digests_of_items(self) -> Whole:
        """Return digest and size, keyed by label and id, of items that must be stored whole or not at all."""
        return {
            (label, row["id"]): (row["digest"], row["size"], row["ties"])
            for label, query in LOOK.items()
            for row in self.store.read(query)
        }

    def _has_no_loose_items(self) -> bool:
        return not any(self.store.read(query)[0]["amount"] for query in LOOSE)

    def _count_acknowledged(self, found: Iterable[tuple[str, str]]) -> int:
        """Return the number of items of the kind that the command acknowledges."""
        if self._command == "load":
            return sum(label == "Dialogue" and id.startswith("copy") for label, id in found)
        query = {"parse": PARSED, "shift": SHIFTED}.get(self._command)
        return self.store.read(query)[0]["amount"] if query else 0

    @staticmethod
    def _written(file: Path) -> bytes:
        return file.read_bytes() if file.exists() else b""


def _without_graphs(line: str) -> str:
    dialogue = json.loads(line)
    for turn in dialogue["turns"]:
        turn["amr"] = None
    return json.dumps(dialogue) + "\n"
