"""Run the command line in the test process, and return its exit status and its output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphneg.cli.app import main


@dataclass(frozen=True)
class Ended:
    """The exit status, the standard output and the standard error of a command."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


def command_line(capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs graphneg with command-line arguments."""

    def once(*arguments: str | Path) -> Ended:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        out, err = capfd.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    return once
