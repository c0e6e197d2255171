"""Test that the wheel, installed with only its core dependencies, makes negatives in any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NEO4J"))}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the files that git does not ignore, so without earlier builds."""
    source = tmp_path_factory.mktemp("source")
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT).split("\0")
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, source, cwd=out)
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel and its dependencies in a new environment. Return the folder of its programs."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", environment, cwd=environment)
    folder = environment / ("Scripts" if sys.platform == "win32" else "bin")
    run(folder / "python", "-m", "pip", "install", "--quiet", wheel, cwd=environment)
    return folder


@pytest.fixture(scope="module")
def folder(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Load the bundled corpus into a store in an otherwise empty folder."""
    empty = tmp_path_factory.mktemp("anywhere")
    run(installed / "graphneg", "load", "everyday", cwd=empty)
    return empty


def test_it_holds_one_package_with_every_resource(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"graphneg"}
    for folder in ("cypher", "loaders"):
        files = [file for file in (ROOT / folder).rglob("*") if file.suffix in (".cypher", ".py")]
        assert {f"graphneg/{file.relative_to(ROOT).as_posix()}" for file in files} <= names
    own = [
        file
        for file in (ROOT / "graphneg").rglob("*")
        if file.is_file() and file.suffix not in (".pyc", ".md")
    ]
    assert {file.relative_to(ROOT).as_posix() for file in own} <= names
    assert any(name.endswith("LICENSE") for name in names)


def test_it_makes_negatives_of_the_bundled_corpus(installed: Path, folder: Path) -> None:
    graphneg = installed / "graphneg"
    run(graphneg, "negatives", "-o", "negatives.jsonl", "--per-dialogue", "2", cwd=folder)
    lines = (folder / "negatives.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 10
    first = json.loads(lines[0])
    assert first["label"] == 0 and first["edits"] and first["amr"]
    shown = run(graphneg, "negatives", "--explain", first["id"], cwd=folder)
    assert first["edits"][0]["transform"] in shown


def test_it_works_from_python(installed: Path, folder: Path) -> None:
    code = (
        "import graphneg\n"
        "with graphneg.open() as g:\n"
        "    print(len(list(g.negatives('all'))), g.info().counts['Dialogue'])\n"
    )
    negatives, dialogues = map(int, run(installed / "python", "-c", code, cwd=folder).split())
    assert 10 < negatives <= dialogues


def test_it_needs_nothing_neural(installed: Path, tmp_path: Path) -> None:
    listed = run(installed / "python", "-m", "pip", "list", "--format", "json", cwd=tmp_path)
    names = {package["name"].lower() for package in json.loads(listed)}
    assert "graphneg" in names
    assert not names & {"torch", "transformers", "amrlib", "ctranslate2", "faiss-cpu", "smatch", "pytest"}


def test_it_says_what_to_install_where_something_neural_is_asked_for(installed: Path, folder: Path) -> None:
    command = [installed / "graphneg", "negatives", "--decoder", "t5", "--model", "model", "-o", "out.jsonl"]
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "graphneg[neural]" in done.stderr.replace("\n", " ")


def test_it_says_how_to_get_a_model_where_text_is_to_be_parsed(installed: Path, tmp_path: Path) -> None:
    command = [installed / "graphneg", "parse", "--text", "-", "-o", "-"]
    done = subprocess.run([*map(str, command)], cwd=tmp_path, input="Yes.", capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "pip install 'graphneg[english]'" in done.stderr
