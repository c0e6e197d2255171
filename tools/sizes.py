"""Measure the size of the code: modules, lines, functions, documented names, Cypher, words of docs, tests.

``python -m tools.sizes`` prints one figure per line. The figures show trends; none of them has a limit.
"""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.prose import measures, source_files

ROOT = Path(__file__).parent.parent
MADE = "by `make pages`"
"""Text that the note at the top of generated pages contains."""


def lines_of(files: list[Path]) -> list[int]:
    """Count the lines of files.

    Args:
        files: The files.

    Returns:
        The number of lines of each file.
    """
    return [len(file.read_text(encoding="utf-8").splitlines()) for file in files]


def functions(tree: ast.AST) -> Iterator[int]:
    """Measure the lengths of the functions and methods of a module.

    Args:
        tree: The syntax tree of the module.

    Yields:
        The number of lines of each function.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Find the public functions and classes of a module, and the public methods of its public classes.

    Args:
        tree: The syntax tree of the module.

    Yields:
        The nodes of the functions, classes and methods in the syntax tree.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
            yield node
            if isinstance(node, ast.ClassDef):
                methods = (sub for sub in node.body if isinstance(sub, ast.FunctionDef))
                yield from (method for method in methods if method.name[0] != "_")


def queries() -> dict[str, list[str]]:
    """Return the lines of each transform's query, without comments, keyed by transform."""
    read = {}
    for file in sorted((ROOT / "cypher" / "transforms").glob("*.cypher")):
        lines = file.read_text(encoding="utf-8").splitlines()
        read[file.stem] = [line for line in lines if line.strip() and not line.lstrip().startswith("//")]
    return read


def words_by_hand() -> int:
    """Count the words of the pages in docs/ that are written by hand."""
    pages = (file.read_text(encoding="utf-8") for file in (ROOT / "docs").rglob("*.md"))
    return sum(len(text.split()) for text in pages if MADE not in text[:800])


def figures() -> Mapping[str, float]:
    """Return all figures of the working tree, keyed by name."""
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
    """Return a figure as text.

    Args:
        value: The figure.

    Returns:
        For example ``1,234`` or ``0.75``.
    """
    return f"{value:,.2f}".removesuffix(".00")


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:<48}{shown(value):>10}")
