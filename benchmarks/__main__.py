"""Run benchmarks and print their tables: ``python -m benchmarks [NAME...]``.

Without names, all benchmarks run, on every server. ``--out`` also merges the tables into the data that the
pages of the documentation are made of.
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

    If a benchmark fails or the run is interrupted, the results so far are printed and kept.

    Args:
        arguments: The command line; None for the process's own.
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
                    # Benchmarks that do not depend on the server run on the first one only.
                    chosen = [name for name in names if not (BENCHMARKS[name].once and at)]
                    for result in measure(host, chosen, corpus, asked.sizes):
                        results.append(result)
    # The results so far are printed and kept, even if the run is interrupted.
    finally:
        measured = [*machine, ("servers", "; ".join(servers)), ("size of the run", asked.sizes.name)]
        print(page(results, measured))
        if asked.out:
            keep(asked.out, *tables_and_goals(results), servers="; ".join(servers))


def measure(host: Host, names: Sequence[str], corpus: Corpus, sizes: Sizes) -> Iterator[Result]:
    """Run benchmarks on one server, one after the other, and yield their results.

    Args:
        host: The host that starts servers of one kind.
        names: The names of the benchmarks, keys of `BENCHMARKS`.
        corpus: The dialogues to measure with.
        sizes: The amounts of the run.

    Yields:
        The result of each benchmark.
    """
    for name in names:
        began = time.monotonic()
        print(f"{host.kind}: {name} ...", file=sys.stderr, flush=True)
        yield BENCHMARKS[name].run(host, corpus, sizes)
        print(f"{host.kind}: {name} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def page(results: Sequence[Result], machine: Sequence[tuple[str, str]]) -> str:
    """Return the output of a run as Markdown.

    Args:
        results: The results of all benchmarks.
        machine: Names and values that describe the machine and the run.

    Returns:
        The page with its goals and tables.
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
        The tables, those of the same title merged, and the goals.
    """
    tables = merged(table for result in results for table in result.tables)
    return tables, [goal for result in results for goal in result.goals]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME", help=", ".join(BENCHMARKS)
    )
    parser.add_argument("--servers", type=_kinds, default=list(KINDS), help="neo4j,embedded")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of corpora"
    )
    parser.add_argument(
        "--out", type=Path, help="data to merge the tables into, such as docs/data/benchmarks.json"
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", dest="sizes", action="store_const", const=QUICK, help="a small run")
    amount.add_argument(
        "--full", dest="sizes", action="store_const", const=FULL, help="memory at 100,000 dialogues"
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
