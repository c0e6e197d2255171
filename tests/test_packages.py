"""Components in a user's own package: how they are made, and what is said of one that fails."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from graphneg.errors import GeneratorError
from graphneg.generators.base import get_generator
from graphneg.records.files import read_jsonl
from tests.cli_runs import Run

NO_STORE: Any = None
DOCUMENT = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules and packages Python finds, as if they were installed."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_package", raising=False)
    return tmp_path


def install(folder: Path, code: str, project: str) -> None:
    """Write the module and the metadata that ``pip install`` would write of a ``pyproject.toml``."""
    (folder / "my_package.py").write_text(dedent(code), encoding="utf-8")
    info = folder / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", encoding="utf-8"
    )
    groups = tomllib.loads(project)["project"]["entry-points"]
    lines = [
        line
        for group, named in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def documented(file: str) -> str:
    """Return the content of a file that the documentation shows."""
    found = re.search(
        rf"<!-- file: {file} -->\n```\w+\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S
    )
    assert found is not None
    return found[1]


def generator(body: str) -> str:
    """Return a module with a generator, of which only the methods are given."""
    head = (
        'from graphneg.generators import Candidate, Generator\n\n\nclass Own(Generator):\n    name = "own"\n'
    )
    return head + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())


GENERATOR = '[project.entry-points."graphneg.generators"]\nown = "my_package:Own"\n'
SAYS_MORE = """
def generate(self, contexts, per_context, seed):
    return [[Candidate(one.turns[0].text + " I see.", ("C-follow",))] for one in contexts]
"""


def test_the_documented_package_runs_from_the_command_line(
    run: Run, everyday: Path, package: Path, tmp_path: Path
) -> None:
    install(package, documented("my-package/my_package.py"), documented("my-package/pyproject.toml"))
    out = tmp_path / "loud.jsonl"
    ended = run("generate", "loud", "--option", "mark=!!", "-o", out, "--store", everyday)
    assert ended.status == 0, ended.err
    assert all(negative.response.endswith("!!") for negative in read_jsonl(out))


def test_a_registered_generator_needs_no_init(package: Path) -> None:
    install(package, generator(SAYS_MORE), GENERATOR)
    assert get_generator("own", NO_STORE).name == "own"


def test_a_generator_that_takes_no_store_is_refused_in_one_line(package: Path) -> None:
    install(package, generator("def __init__(self): pass\n" + SAYS_MORE), GENERATOR)
    with pytest.raises(
        GeneratorError, match="generator own can't be made: Own must take 1 positional argument"
    ):
        get_generator("own", NO_STORE)
