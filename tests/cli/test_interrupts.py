"""Tests of Ctrl-C before and inside commands: they print one line and end with status 130."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
module, *arguments = sys.argv[1:]
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from graphneg.cli.app import main
main(arguments)
"""


@pytest.mark.parametrize(
    ("module", "command", "line"),
    [
        ("graphneg.cli.program", ["info"], "stopped"),
        ("typer", ["train", "ranker"], "stopped"),
        ("graphneg.cli.serve", ["serve"], "stopped"),
        # The command has begun.
        (
            "graphneg.evaluation.correlation",
            ["evaluate", "correlation", "no.json"],
            "stopped: nothing was changed",
        ),
        ("graphneg.editing.transforms", ["transforms"], "stopped: nothing was changed"),
    ],
)
def test_an_interrupted_import_ends_in_one_line(module: str, command: list[str], line: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, module, *command], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr, ended.stdout) == (130, f"{line}\n", "")


FINALIZER = """
import signal, time
from graphneg.cli.interrupts import exit_on_interrupt, raise_on_interrupt
class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
with exit_on_interrupt(), raise_on_interrupt():
    one = Finalized()
    try:
        del one
        time.sleep(30)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_in_a_finalizer_is_not_lost() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FINALIZER], capture_output=True, text=True, check=False, timeout=25
    )
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "interrupted\n")
