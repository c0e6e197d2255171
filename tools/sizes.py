"""Measure the size of the code: modules, lines, functions, documented names, Cypher, words of docs, tests.

``python -m tools.sizes`` prints one figure a line. The figures show trends; none of them has a bound.
"""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.prose import measures, source_files

ROOT = Path(__file__).parent.parent
MADE = "by `make pages`"


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


def words_by_hand() -> int:
    """Words of the pages of docs/ that no command makes."""
    pages = (file.read_text(encoding="utf-8") for file in (ROOT / "docs").rglob("*.md"))
    return sum(len(text.split()) for text in pages if MADE not in text[:800])


def figures() -> Mapping[str, float]:
    """Return all figures of the working tree by name."""
    files = source_files()
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    lengths = sorted(length for tree in trees for length in functions(tree))
    names = [node for tree in trees for node in public(tree)]
    documented = sum(ast.get_docstring(node) is not None for node in names)
    source, tests = lines_of(files), sum(lines_of(sorted((ROOT / "tests").rglob("*.py"))))
    return {
        "modules": len(files),
        "lines": sum(source),
        "lines of the longest module": max(source),
        "lines of the median function": statistics.median(lengths),
        "lines of functions, 95%": lengths[int(0.95 * len(lengths))],
        "public names documented, %": 100 * documented / len(names),
        "lines of the longest transform": max(map(len, queries().values())),
        "words of docs by hand": words_by_hand(),
        "tests to source": tests / sum(source),
        **measures(),
    }


def shown(value: float) -> str:
    """Return a figure as text: ``1,234`` or ``0.75``."""
    return f"{value:,.2f}".removesuffix(".00")


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:<48}{shown(value):>10}")
