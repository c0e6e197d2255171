"""Compare the editing speed of two checkouts: ``python -m benchmarks.against ../other --server embedded``.

For each checkout, a worker process starts a server and loads the corpus into it. The workers then run the
recipe `deam` alternately, with the same seeds, so that other load on the machine affects both workers alike.
The output is the rate of each run, and the median and range of the ratio of the two rates.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import IO, cast

WORKER = """
import sys, tempfile
from importlib import import_module
from pathlib import Path
from benchmarks import passes
from benchmarks.corpus import little_prince
from benchmarks.instances import Host

Cache = getattr(passes, "GraphCache", None) or passes.Originals
recipe = import_module(passes.Recipe.__module__).DEAM
server, data, copies = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
with tempfile.TemporaryDirectory() as folder:
    host = Host(server, Path(folder))
    instance = host.loaded(little_prince(data), copies)
    editor = passes.Editor(instance.store)
    print("ready", flush=True)
    for line in sys.stdin:
        print(editor.run(recipe, int(line), Cache(instance.store)).rate, flush=True)
    host.close()
"""
"""Program of a worker process. It reads seeds from standard input and prints a rate per seed, in dialogues/s.

The cache class and the recipe are looked up by name, because their names differ in older versions, which the
other checkout may contain.
"""


def main() -> None:
    """Start a worker for each checkout, run the workers alternately, and print the ratio of their rates."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("other", type=Path, help="working tree to compare with the current folder")
    parser.add_argument("--server", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--data", type=Path, default=Path("../shared/data").resolve())
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    trees = {"other": options.other.resolve(), "here": Path.cwd()}
    arguments = (options.server, str(options.data), str(options.copies))
    running = {name: _started(tree, arguments) for name, tree in trees.items()}
    rates: dict[str, list[float]] = {name: [] for name in trees}
    for process in running.values():
        _line(process)
    for seed in range(options.rounds + 2):
        for name, process in running.items():
            cast("IO[str]", process.stdin).write(f"{seed}\n")
            cast("IO[str]", process.stdin).flush()
            rate = float(_line(process))
            # The first two rounds warm up the servers and do not count.
            rates[name] += [rate] if seed > 1 else []
            print(f"{options.server} {name} seed {seed}: {rate:,.0f} dialogues/s", flush=True)
    for process in running.values():
        process.communicate()
    ratios = [here / other for here, other in zip(rates["here"], rates["other"], strict=True)]
    spread = f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    print(f"{options.server}: here is {spread} times as fast as the other")


def _started(tree: Path, arguments: tuple[str, ...]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [_python_of(tree), "-c", WORKER, *arguments],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _python_of(tree: Path) -> str:
    """Return the Python of a checkout's own ``.venv``, whose packages fit its code, or else this Python."""
    own = (tree / ".venv" / "bin" / "python").absolute()
    return str(own) if own.exists() else sys.executable


def _line(process: subprocess.Popen[str]) -> str:
    line = cast("IO[str]", process.stdout).readline()
    if not line:
        raise SystemExit("a worker ended; what it wrote to standard error says why")
    return line


if __name__ == "__main__":
    main()
