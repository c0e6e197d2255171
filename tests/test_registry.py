"""Test that components chosen by name are documented and complete, and that ``import graphneg`` is quick."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from graphneg.editing.recipes import RECIPES
from graphneg.editing.transforms import CATEGORIES, load_transforms
from graphneg.english.words import table_rows
from graphneg.errors import InputError
from graphneg.ingest.loader import get_loader
from graphneg.nn.answers import PROBLEMS
from graphneg.parsers.base import parser_names
from graphneg.plugins import Plugins
from graphneg.records import reasons

ROOT = Path(__file__).parent.parent
MODULES = [file for folder in ("graphneg", "loaders") for file in sorted((ROOT / folder).rglob("*.py"))]
QUERIES = sorted((ROOT / "cypher").rglob("*.cypher"))
TRANSFORMS = load_transforms()
IMPORT_SECONDS = 0.3


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def loader_names() -> list[str]:
    return sorted(entry.name for entry in importlib.metadata.entry_points(group="graphneg.loaders"))


class TestTransforms:
    @pytest.mark.parametrize("name", TRANSFORMS)
    def test_each_says_what_it_does_to_what_effect_and_from_where(self, name: str) -> None:
        transform = TRANSFORMS[name]
        assert transform.summary.endswith(".")
        assert transform.category in CATEGORIES
        assert transform.source not in ("", "-")

    @pytest.mark.parametrize("name", TRANSFORMS)
    def test_each_is_documented_with_an_edit(self, name: str) -> None:
        text = document("transforms.md")
        section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
        assert section is not None
        assert "=>" in section[1]
        row = re.search(rf"^\| \[{name}\]\(#{name}\) \| (\S+) \|", text, re.M)
        assert row is not None and row[1] == TRANSFORMS[name].category

    def test_each_is_one_file(self) -> None:
        files = {file.stem for file in (ROOT / "cypher" / "transforms").iterdir()}
        assert files == TRANSFORMS.keys()


class TestRecipes:
    @pytest.mark.parametrize("name", RECIPES)
    def test_each_draws_from_transforms_that_exist(self, name: str) -> None:
        recipe = RECIPES[name]
        assert set(recipe.transforms) <= TRANSFORMS.keys()
        assert 1 <= recipe.min_groups <= recipe.max_groups <= len(recipe.groups)
        assert recipe.name == name and recipe.summary

    def test_one_of_them_draws_from_every_transform_that_readers_accepted(self) -> None:
        # Readers found half of the replies of role_claim silly.
        assert set(RECIPES["all"].transforms) == TRANSFORMS.keys() - {"role_claim"}


class TestLoaders:
    def test_each_file_has_an_entry_point_of_its_name(self) -> None:
        files = {file.stem for file in (ROOT / "loaders").glob("*.py")} - {"__init__"}
        assert files == set(loader_names())

    @pytest.mark.parametrize("name", loader_names())
    def test_each_is_found_and_documented(self, name: str) -> None:
        loader = get_loader(name)
        assert loader.name == name and loader.summary
        assert re.search(rf"^## {name}$", document("loaders.md"), re.M)


class TestParsers:
    @pytest.mark.parametrize("name", parser_names())
    def test_each_is_documented(self, name: str) -> None:
        assert re.search(rf"^## {name}$", document("parsers.md"), re.M)


class TestPlugins:
    @pytest.mark.parametrize("group", ["decoders", "generators", "loaders", "parsers", "predictors"])
    def test_each_that_the_project_names_is_registered_and_can_be_loaded(self, group: str) -> None:
        pytest.importorskip("transformers", reason="some parts need the neural extra")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        plugins = Plugins("part", f"graphneg.{group}", InputError)
        named = project["entry-points"][f"graphneg.{group}"]
        assert set(named) <= set(plugins.names())
        for name in named:
            assert plugins.find(name)

    def test_without_package_metadata_the_error_says_what_to_do(self) -> None:
        with pytest.raises(InputError, match="package metadata are missing; install it"):
            Plugins("part", "graphneg.nothing", InputError).find("any")


class TestReasons:
    def test_each_by_which_missing_negatives_are_counted_is_documented_and_given(self) -> None:
        documented = [code for code, _, _ in reasons()]
        assert len(set(documented)) == len(documented)
        assert set(documented) == reason_codes()


def reason_codes() -> set[str]:
    """Return the codes of reasons in the source of decoders, edits, generators and selection.

    A code is the start of a string "code: sentence" outside ``raise``, the first argument of
    ``RealisationError`` or ``leave_out``, or a key of a dictionary ``REASONS``.
    """
    given = {row[1] for row in table_rows("graphneg.decoders.surface", "refusals.tsv")} | set(PROBLEMS)
    code = re.compile(r"([a-z]+(?:-[a-z]+)*): ")
    for folder in ("decoders", "editing", "generators", "scorers"):
        for file in sorted((ROOT / "graphneg" / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            raised = {
                id(part) for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)
            }
            for node in ast.walk(tree):
                match node:
                    case ast.Call(
                        func=ast.Name(id="RealisationError") | ast.Attribute(attr="leave_out"),
                        args=[ast.Constant(value=str(name)), *_],
                    ):
                        given.add(name)
                    case ast.Assign(targets=[ast.Name(id="REASONS" | "_REASONS")], value=ast.Dict(keys=keys)):
                        given |= {str(key.value) for key in keys if isinstance(key, ast.Constant)}
                    case ast.Constant(value=str(text)) if id(node) not in raised:
                        if found := code.match(text):
                            given.add(found[1])
                    case _:
                        pass
    return given


class TestFiles:
    @pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(ROOT)))
    def test_a_module_opens_with_a_docstring(self, file: Path) -> None:
        assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))

    @pytest.mark.parametrize("file", QUERIES, ids=lambda file: str(file.relative_to(ROOT)))
    def test_a_query_opens_with_what_it_does_and_names_each_parameter(self, file: Path) -> None:
        lines = file.read_text(encoding="utf-8").splitlines()
        header = []
        for line in lines:
            if not line.startswith("//"):
                break
            header.append(line)
        assert header
        if file.parent.name == "transforms":
            return
        used = set(re.findall(r"\$(\w+)", "\n".join(lines[len(header) :])))
        assert used <= set(re.findall(r"\$(\w+)", "\n".join(header)))

    def test_nothing_in_the_package_is_called_by_what_it_is_not(self) -> None:
        vague = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
        assert [str(file) for file in MODULES if file.stem in vague or file.parent.name in vague] == []


class TestImport:
    def test_is_quick_and_brings_nothing_heavy(self) -> None:
        heavy = "torch transformers spacy pandas pyarrow datasets networkx lemminflect typer rich"
        code = (
            "import sys, time; began = time.process_time(); import graphneg; "
            "print(time.process_time() - began, *sorted(set(sys.argv[1:]) & set(sys.modules)))"
        )
        command = [sys.executable, "-c", code, *heavy.split()]
        times: list[float] = []
        for _ in range(3):
            seconds, *loaded = subprocess.run(
                command, capture_output=True, text=True, check=True
            ).stdout.split()
            assert loaded == []
            times.append(float(seconds))
        assert min(times) < IMPORT_SECONDS
