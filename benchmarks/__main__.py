"""Run benchmarks and print their tables: ``python -m benchmarks [NAME...]``.

Without names, all benchmarks in ``registry.py`` run, on Neo4j and on the embedded store. ``--out FILE`` also
merges the tables into a data file from which a page of the documentation is generated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.corpus import Corpus, little_prince
from benchmarks.instances import KINDS, Host
from benchmarks.machine import machine_rows
from benchmarks.registry import BENCHMARKS
from benchmarks.report import keep
from benchmarks.results import Goal, Result, Table, goals_text, grid, merged, table_text
from benchmarks.sizes import DEFAULT, FULL, QUICK, Sizes

ROOT = Path(__file__).parent.parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks and print their results.

    If a benchmark fails or the run is interrupted, the results of the finished benchmarks are still printed
    and written to the file that ``--out`` names.

    Args:
        arguments: Command-line arguments; None for the arguments of this process.
    """
    asked = _parser().parse_args(arguments)
    names = asked.names or list(BENCHMARKS)
    corpus = little_prince(asked.data)
    machine = machine_rows()
    results: list[Result] = []
    servers: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="graphneg-benchmarks-") as folder:
            for at, kind in enumerate(asked.servers):
                host = Host(kind, Path(folder))
                with closing(host):
                    servers.append(host.fresh().store.description.partition(" at ")[0])
                    # If the results do not depend on the server, a benchmark runs on the first server only.
                    chosen = [name for name in names if not (BENCHMARKS[name].once and at)]
                    for result in measure(host, chosen, corpus, asked.sizes):
                        results.append(result)
    # The results of finished benchmarks are kept, even if a later benchmark fails or the run is interrupted.
    finally:
        measured = [*machine, ("servers", "; ".join(servers)), ("size of the run", asked.sizes.name)]
        print(page(results, measured))
        if asked.out:
            keep(asked.out, *tables_and_goals(results), servers="; ".join(servers))


def measure(host: Host, names: Sequence[str], corpus: Corpus, sizes: Sizes) -> Iterator[Result]:
    """Run benchmarks on one kind of server, one after another, and yield their results.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        names: Names of the benchmarks to run (keys of `BENCHMARKS`).
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Yields:
        The result of each benchmark, in the order of ``names``.
    """
    for name in names:
        began = time.monotonic()
        print(f"{host.kind}: {name} ...", file=sys.stderr, flush=True)
        yield BENCHMARKS[name].run(host, corpus, sizes)
        print(f"{host.kind}: {name} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def page(results: Sequence[Result], machine: Sequence[tuple[str, str]]) -> str:
    """Return the results of a run as a Markdown page.

    Args:
        results: The results of all benchmarks.
        machine: Pairs of a name and a value that describe the machine and the run.

    Returns:
        The page: the description of the machine, then the goals, then the tables.
    """
    tables, goals = tables_and_goals(results)
    return "\n".join(
        [
            "# Benchmarks\n",
            f"{grid(('what', 'measured with'), machine)}\n",
            goals_text(goals) if goals else "",
            *map(table_text, tables),
        ]
    )


def tables_and_goals(results: Sequence[Result]) -> tuple[list[Table], list[Goal]]:
    """Collect the tables and goals of all benchmarks.

    Args:
        results: The results of all benchmarks.

    Returns:
        The tables, and the goals. Tables that have the same title are merged into one.
    """
    tables = merged(table for result in results for table in result.tables)
    return tables, [goal for result in results for goal in result.goals]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME", help=", ".join(BENCHMARKS)
    )
    parser.add_argument(
        "--servers",
        type=_kinds,
        default=list(KINDS),
        help="kinds of servers, separated by commas (default: neo4j,embedded)",
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder that contains the corpora"
    )
    parser.add_argument(
        "--out", type=Path, help="data file to merge the tables into, such as docs/data/benchmarks.json"
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "--quick", dest="sizes", action="store_const", const=QUICK, help="measure with small amounts"
    )
    amount.add_argument(
        "--full",
        dest="sizes",
        action="store_const",
        const=FULL,
        help="measure memory with up to 100,000 dialogues",
    )
    parser.set_defaults(sizes=DEFAULT)
    return parser


def _kinds(text: str) -> list[str]:
    kinds = text.split(",")
    for kind in kinds:
        if kind not in KINDS:
            raise argparse.ArgumentTypeError(f"{kind!r} is none of {', '.join(KINDS)}")
    return kinds


if __name__ == "__main__":
    main()
