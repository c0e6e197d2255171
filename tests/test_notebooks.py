"""Test that each notebook runs without an error in under a minute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@pytest.mark.parametrize("notebook", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_runs_through(notebook: Path, tmp_path: Path) -> None:
    pytest.importorskip("nbmake")
    command = [sys.executable, "-m", "pytest", "--nbmake", "--nbmake-timeout=60", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    copy = tmp_path / notebook.name
    copy.write_bytes(notebook.read_bytes())
    ended = subprocess.run(
        [*command, "--rootdir", str(tmp_path), "-c", os.devnull, str(copy)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=180,
    )
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]
