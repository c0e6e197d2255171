"""How large the code is: modules, lines, functions, documented names, Cypher, words of docs, tests.

``python -m tools.sizes`` prints each figure beside its bound and ends with 1 where one is over it.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
MADE = "by `make pages`"
LIST = re.compile(r"\[\s*'[^']*'(?:\s*,\s*'[^']*')*\s*\]")
REGEX = re.compile(r"=~")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: its name, its value and what it may be at most (or, where ``least``, at least)."""

    name: str
    value: float
    bound: float
    least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the value is within its bound."""
        return self.value >= self.bound if self.least else self.value <= self.bound


def modules(*folders: str) -> list[Path]:
    """The Python files below some folders of the repository, links left out."""
    files = (file for folder in folders for file in sorted((ROOT / folder).rglob("*.py")))
    return [file for file in files if not any(parent.is_symlink() for parent in file.parents)]


def lines_of(files: list[Path]) -> list[int]:
    """How many lines each file has."""
    return [len(file.read_text(encoding="utf-8").splitlines()) for file in files]


def functions(tree: ast.AST) -> Iterator[int]:
    """The length in lines of each function and method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Public functions and classes of a module, and the public methods of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
            yield node
            if isinstance(node, ast.ClassDef):
                methods = (sub for sub in node.body if isinstance(sub, ast.FunctionDef))
                yield from (method for method in methods if method.name[0] != "_")


def queries() -> dict[str, list[str]]:
    """The lines of each transform's query, its header of comments left out."""
    read = {}
    for file in sorted((ROOT / "cypher" / "transforms").glob("*.cypher")):
        lines = file.read_text(encoding="utf-8").splitlines()
        read[file.stem] = [line for line in lines if line.strip() and not line.lstrip().startswith("//")]
    return read


def longest_list(query: list[str]) -> int:
    """The most words in one list literal of a query."""
    found = LIST.findall(" ".join(query))
    return max((text.count("'") // 2 for text in found), default=0)


def words_by_hand() -> int:
    """Words of the pages of docs/ that no command makes."""
    pages = (file.read_text(encoding="utf-8") for file in (ROOT / "docs").rglob("*.md"))
    return sum(len(text.split()) for text in pages if MADE not in text[:800])


def figures() -> list[Figure]:
    """All figures of the working tree."""
    files = modules("graphneg", "loaders")
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    lengths = sorted(length for tree in trees for length in functions(tree))
    names = [node for tree in trees for node in public(tree)]
    documented = sum(ast.get_docstring(node) is not None for node in names)
    source, tests = lines_of(files), sum(lines_of(modules("tests")))
    shipped = queries()
    return [
        Figure("modules", len(files), 285),
        Figure("lines", sum(source), 58_000),
        Figure("lines of the longest module", max(source), 500),
        Figure("lines of the median function", statistics.median(lengths), 10),
        Figure("lines of functions, 95%", lengths[int(0.95 * len(lengths))], 35),
        Figure("public names documented, %", 100 * documented / len(names), 100, least=True),
        Figure("lines of the longest transform", max(map(len, shipped.values())), 30),
        Figure("columns of transforms", max(len(line) for query in shipped.values() for line in query), 100),
        Figure("words in a list of a transform", max(map(longest_list, shipped.values())), 6),
        Figure("regular expressions in transforms", len(REGEX.findall(str(shipped))), 0),
        Figure("words of docs by hand", words_by_hand(), 24_000),
        Figure("tests to source", tests / sum(source), 0.6, least=True),
    ]


def main() -> int:
    """Print the figures; 1 where one is out of bounds."""
    found = figures()
    for figure in found:
        sign = ">=" if figure.least else "<="
        value = f"{figure.value:,.2f}".removesuffix(".00")
        verdict = "" if figure.holds else "  out of bounds"
        print(f"{figure.name:<36}{value:>10}   {sign} {figure.bound:,g}{verdict}")
    return int(not all(figure.holds for figure in found))


if __name__ == "__main__":
    sys.exit(main())
