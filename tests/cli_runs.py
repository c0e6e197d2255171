"""The command line run in the tests' process: its status and what it prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphneg.cli.app import main


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its status, standard output and standard error."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


def command_line(capfd: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command, given as its arguments."""

    def once(*arguments: str | Path) -> Ended:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        out, err = capfd.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    return once
