"""Tests that a command killed while it writes a file produces the whole file when run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphneg.store.opening import open_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

KILLS = 2
SECONDS = 600.0


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from graphneg.cli.app import main; main()", *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    output = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)


def kill_while_writing(folder: Path, *arguments: str | Path) -> None:
    """Start a command and kill it when its first new file appears, unless it has already ended."""
    known = set(folder.iterdir())
    process = start(*arguments)
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline and set(folder.iterdir()) <= known:
        time.sleep(0.01)
    time.sleep(0.1)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_parse_of_a_text_is_complete_after_it_was_killed(tmp_path: Path) -> None:
    text, whole, folder = tmp_path / "in.txt", tmp_path / "whole.amr", tmp_path / "out"
    text.write_text("".join(f"They saw {number} birds by the sea.\n" for number in range(300)))
    assert start("parse", "--text", text, "-o", whole).wait(SECONDS) == 0
    folder.mkdir()
    own, out = folder / "out.amr.part", folder / "out.amr"
    own.write_text("what somebody wrote")
    for _ in range(KILLS):
        kill_while_writing(folder, "parse", "--text", text, "-o", out)
    assert start("parse", "--text", text, "-o", out).wait(SECONDS) == 0 or out.exists()
    assert out.read_bytes() == whole.read_bytes()
    assert own.read_text() == "what somebody wrote" and set(folder.iterdir()) == {own, out}


@pytest.mark.parametrize("name", ["out.jsonl", "out.amr"])
def test_an_export_is_complete_after_it_was_killed(tmp_path: Path, everyday: Path, name: str) -> None:
    whole, folder = tmp_path / f"whole{Path(name).suffix}", tmp_path / "out"
    folder.mkdir()
    out = folder / name
    # The server of the store is still running, because the fixture has it open.
    with open_store(everyday):
        assert start("export", whole, "--store", everyday).wait(SECONDS) == 0
        for _ in range(KILLS):
            kill_while_writing(folder, "export", out, "--store", everyday)
        assert start("export", out, "--store", everyday).wait(SECONDS) == 0
    assert out.read_bytes() == whole.read_bytes()
    assert not [path for path in folder.iterdir() if path.suffix in (".tmp", ".part", ".lock")]
