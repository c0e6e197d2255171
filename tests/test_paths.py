"""Paths on which `pathlib` raises a `RuntimeError`: homes of users who do not exist, links to themselves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphneg.errors import InputError
from graphneg.generators.pneg import read_examples
from graphneg.nn.embedders import CachedEmbedder, is_static
from graphneg.nn.models import locate
from graphneg.nn.serving import ServerSettings
from graphneg.nn.vectors import StaticVectors
from graphneg.parsers.amrlib import AmrlibParser
from graphneg.paths import expand_home, resolved
from graphneg.records.files import write_jsonl
from tests.cli_runs import command_line
from tests.negative_samples import EXAMPLE
from tests.nn.test_embedding import RecordingEmbedder

NOBODY = "~no-such-user/file"
IN_PATHLIB = {"resolve", "expanduser", "home"}
"""Methods of `pathlib` that raise a `RuntimeError`."""


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """A link that leads to itself."""
    link = tmp_path / "loop.jsonl"
    link.symlink_to(link)
    return link


USES: dict[str, Callable[[], object]] = {
    "a cache of answers": lambda: ServerSettings(cache=Path(NOBODY)).answers,
    "a cache of vectors": lambda: CachedEmbedder(RecordingEmbedder(), cache=NOBODY),
    "a model": lambda: locate(NOBODY, offline=True),
    "an embedder": lambda: is_static(NOBODY),
    "word vectors": lambda: StaticVectors(NOBODY),
    "examples": lambda: read_examples(NOBODY),
    "a parser": lambda: AmrlibParser(NOBODY),
}


@pytest.mark.parametrize("use", USES)
def test_a_home_of_nobody_is_one_clear_error(use: str) -> None:
    with pytest.raises(InputError, match="~no-such-user/file is in the home directory of a user"):
        USES[use]()


COMMANDS = ["serve LOOP", "select MADE -o LOOP", "evaluate negatives MADE --embedder NOBODY"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_in_a_line_what_is_wrong_with_a_path(
    command: str, loop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = loop.with_name("made.jsonl")
    write_jsonl([EXAMPLE], made)
    named = {"LOOP": loop, "MADE": made, "NOBODY": NOBODY}
    ended = command_line(capfd)(*(named.get(word, word) for word in command.split()))
    assert ended.status in (1, 2) and not ended.out
    said = ended.err.replace("\n", "")
    assert "loop.jsonl" in said or NOBODY in said
    assert loop.is_symlink()


def test_a_link_to_itself_stays_in_a_resolved_path(loop: Path) -> None:
    assert resolved(loop) == loop.absolute()
    assert expand_home("~") == Path.home()


def calls_of_pathlib(text: str) -> Iterator[str]:
    """Yield the calls in a module that may raise a `RuntimeError`."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        called = ast.unparse(node)
        # The path of the module itself is no loop, and the functions of os.path raise nothing. The methods of
        # a path take no arguments, unlike `resolve` of other objects.
        if (
            node.func.attr in IN_PATHLIB
            and not node.args
            and not called.startswith(("Path(__file__).", "os.path."))
        ):
            yield called


@pytest.mark.parametrize("folder", ["graphneg", "loaders"])
def test_no_module_but_one_asks_pathlib(folder: str) -> None:
    found = {
        f"{file.name}: {call}"
        for file in (Path(__file__).parents[1] / folder).rglob("*.py")
        if file.name != "paths.py"
        for call in calls_of_pathlib(file.read_text(encoding="utf-8"))
    }
    assert not found
