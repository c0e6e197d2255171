"""Test components from a user's package: how they are constructed, and the messages if one fails."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from graphneg.decoders.base import guarded
from graphneg.decoders.surface import SurfaceDecoder
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import DecoderError, GeneratorError, GraphnegError, InputError
from graphneg.generators.base import Context, Generator, get_generator
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions, read_records
from graphneg.ingest.reading import Item
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue
from graphneg.plugins import plugin_errors
from graphneg.records.files import read_jsonl
from tests.cli_runs import Run

NO_STORE: Any = None
DOCUMENT = Path(__file__).parent.parent / "docs" / "extending.md"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that Python imports modules from."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_package", raising=False)
    return tmp_path


def install(folder: Path, code: str, project: str) -> None:
    """Write the module, and the metadata that ``pip install`` writes for a ``pyproject.toml``."""
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
    """Return the content of a file from the documentation."""
    found = re.search(
        rf"<!-- file: {file} -->\n```\w+\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S
    )
    assert found is not None
    return found[1]


def generator(body: str) -> str:
    """Return the code of a module with a generator class that has these methods."""
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
        GeneratorError, match="generator own: class Own must take the store as its first argument"
    ):
        get_generator("own", NO_STORE)


class Boom(DialogueLoader):
    """A loader that raises an error."""

    name = "boom"
    summary = "boom: nothing"

    def dialogue(self, item: Item) -> Dialogue:
        return item.value["no such key"]


class Empty(Boom):
    """A loader that returns a dict instead of a dialogue."""

    def dialogue(self, item: Item) -> Any:
        return item.value


class Loud(Generator):
    """A generator that raises an error."""

    name = "loud"

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> Any:
        return [one.turns[99] for one in contexts]


class Mute:
    """A decoder and parser whose results are empty."""

    name = "mute"

    def decode(self, batch: Any) -> Any:
        return None if batch else [1 / 0]

    def parse_batch(self, texts: Any) -> Any:
        return None


@pytest.fixture
def graph() -> DialogueGraph:
    """Return a graph without a store. Each test fails before it reads the store."""
    return DialogueGraph(NO_STORE)


@pytest.mark.parametrize(
    ("loader", "message"),
    [
        (
            Boom(),
            r"loader boom failed at .*notes\.jsonl:1: KeyError: 'no such key' \(set GRAPHNEG_TRACEBACK=1",
        ),
        (Empty(), r"loader boom returned a dict at .*notes\.jsonl:1; dialogue\(item\) must return"),
    ],
)
def test_a_loader_that_fails_is_named_with_the_place(tmp_path: Path, loader: Boom, message: str) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(read_records(loader, [file], LoadOptions()))


def test_the_original_exception_of_a_plugin_is_kept() -> None:
    with (
        pytest.raises(GeneratorError, match="generator loud failed: IndexError: tuple index") as raised,
        plugin_errors("generator", "loud", Loud(), GeneratorError),
    ):
        Loud().generate([Context("d#1", "d", "t", "d", 1, (), "B")], 1, 0)
    assert isinstance(raised.value.__cause__, IndexError) and raised.value.is_plugin_failure


def test_bugs_of_graphneg_and_rejected_items_are_raised_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), plugin_errors("decoder", "surface", SurfaceDecoder, DecoderError):
        raise ZeroDivisionError
    with pytest.raises(ItemError), plugin_errors("loader", "boom", Boom, InputError):
        raise ItemError


def test_a_decoder_that_fails_or_answers_with_nothing_is_named() -> None:
    with pytest.raises(DecoderError, match=r"decoder mute returned a NoneType; decode\(batch\) must return"):
        guarded(Mute()).decode([NO_STORE])
    with pytest.raises(DecoderError, match="decoder mute failed: ZeroDivisionError"):
        guarded(Mute()).decode([])


def test_the_command_line_shows_the_traceback_if_asked(
    run: Run, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "class Own:\n    name = summary = 'own'\n    def read(self, paths, options):\n        return 1 / 0\n"
    )
    install(package, code, GENERATOR.replace("generators", "loaders"))
    once = run("load", "own", "--store", tmp_path / "store")
    assert once.status == 1 and once.err.startswith("error: loader own failed: ZeroDivisionError: division")
    assert "Traceback" not in once.err
    monkeypatch.setenv("GRAPHNEG_TRACEBACK", "1")
    assert "return 1 / 0" in run("load", "own", "--store", tmp_path / "store").err


def test_classes_in_place_of_objects_are_refused(graph: DialogueGraph) -> None:
    given: list[tuple[Callable[[Any], Any], type]] = [
        (graph.generate, Loud),
        (graph.load, Boom),
        (graph.parse, Mute),
        (guarded, Mute),
    ]
    for take, part in given:
        with pytest.raises(
            GraphnegError, match=rf"{part.__name__} is a class; pass an object: {part.__name__}\(\)"
        ):
            take(part)


def test_an_object_that_is_no_loader_is_refused(graph: DialogueGraph) -> None:
    with pytest.raises(InputError, match=r"Mute is not a loader: it has no read\(paths, options\)"):
        graph.load(Mute())  # pyright: ignore[reportArgumentType]
