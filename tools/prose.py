"""Measure how the text of the package is written, and draw samples of it for readers.

``python -m tools.prose`` prints the measures, which ``make sizes`` prints as well. The measures count
symptoms of text that is hard to read: docstrings that open without a verb, public functions whose arguments
are not described, code without comments. Text with good measures can still be hard to read, so people should
read samples:

``python -m tools.prose --sample 60 --seed 1`` prints 60 docstrings, comments, help texts and paragraphs of
the documentation, each with its place, in random order.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOT_A_VERB = frozenset(
    re.findall(
        r"\w+",
        "the a an what whether who whose which how where when all each of no its it their those these this "
        "that one some every so from in on by for as with if",
    )
)
"""Words with which an imperative sentence does not begin."""
ARGUMENTS = re.compile(r"(?m)^\s*Args:\s*$")
"""Pattern for the heading of a docstring's section of arguments."""
SHORTEST = 25
"""Minimum length of a text in a sample, in characters. Shorter texts can hardly be misread."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def source_files() -> list[Path]:
    """Return the Python files of the package and of the folder ``loaders``."""
    files = (file for folder in ("graphneg", "loaders") for file in sorted((ROOT / folder).rglob("*.py")))
    return [file for file in files if not any(parent.is_symlink() for parent in file.parents)]


def measures() -> Mapping[str, float]:
    """Return the measures of the package's text in percent, keyed by name."""
    docstrings = without_verb = public = described = lines = comments = 0
    for file in source_files():
        text = file.read_text(encoding="utf-8")
        written = [line.strip() for line in text.splitlines() if line.strip()]
        lines += len(written)
        comments += sum(line.startswith("#") for line in written)
        for function in _functions(ast.parse(text)):
            docstring = ast.get_docstring(function) or ""
            # A property is described by a noun phrase ("The clauses of the utterance."), like an attribute.
            if (first := re.match(r"\W*([A-Za-z']+)", docstring)) and not _is_decorated_as_property(function):
                docstrings += 1
                without_verb += first[1].lower() in NOT_A_VERB
            if not function.name.startswith("_") and _parameters(function):
                public += 1
                described += bool(ARGUMENTS.search(docstring))
    return {
        "docstrings that open without a verb, %": 100 * without_verb / docstrings,
        "public functions with described arguments, %": 100 * described / public,
        "lines that are comments, %": 100 * comments / lines,
    }


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def _is_decorated_as_property(function: Function) -> bool:
    names = {ast.unparse(one).rpartition(".")[2] for one in function.decorator_list}
    return not names.isdisjoint(("property", "cached_property"))


def _parameters(function: Function) -> list[str]:
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return [one.arg for one in given if one.arg not in ("self", "cls")]


def texts() -> Iterator[tuple[str, str]]:
    """Yield the place and text of every docstring, comment, help text and paragraph of the documentation."""
    for file in source_files():
        text = file.read_text(encoding="utf-8")
        yield from _of_python(text, str(file.relative_to(ROOT)))
    for file in sorted((ROOT / "cypher").rglob("*.cypher")):
        yield from _comments_of_cypher(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))
    for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        yield from _paragraphs(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))


def _of_python(text: str, place: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and (docstring := ast.get_docstring(node)):
            yield f"{place}:{getattr(node, 'lineno', 1)}", docstring
        if isinstance(node, ast.Call) and "/cli/" in place:
            help_texts = [key.value for key in node.keywords if key.arg == "help"]
            # Options of commands are `option(default, "help text", …)`.
            help_texts += node.args[1:2] if getattr(node.func, "id", "") in ("option", "argument") else []
            for value in help_texts:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield f"{place}:{node.lineno}", value.value
    yield from _comments_of_python(text, place)


def _comments_of_python(text: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield the comments of a Python file, with their places. The lines of one comment are a single text."""
    first, last, block = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or "noqa" in token.string or "pyright" in token.string:
            continue
        row, is_whole_line = token.start[0], not token.line[: token.start[1]].strip()
        if block and (row != last + 1 or not is_whole_line):
            yield f"{place}:{first}", "\n".join(block)
            block = []
        if not block:
            first = row
        block.append(token.string)
        last = row
    if block:
        yield f"{place}:{first}", "\n".join(block)


def _comments_of_cypher(text: str, place: str) -> Iterator[tuple[str, str]]:
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("//"):
            block.append(line.strip())
        elif block:
            yield f"{place}:{number - len(block)}", "\n".join(block)
            block = []


def _paragraphs(text: str, place: str) -> Iterator[tuple[str, str]]:
    bare = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    line = 1
    for paragraph in re.split(r"(\n{2,})", bare):
        if paragraph.strip() and not paragraph.lstrip().startswith(("#", "<!--", "![", "|")):
            yield f"{place}:{line}", paragraph.strip()
        line += paragraph.count("\n")


def main() -> None:
    """Print the measures, or a sample of texts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, metavar="N", help="print N texts instead of the measures")
    parser.add_argument("--seed", type=int, default=0, help="seed for the sample (default: 0)")
    given = parser.parse_args()
    if given.sample is None:
        for name, value in measures().items():
            print(f"{name:<48}{value:>8.1f}")
        return
    found = [(place, text) for place, text in texts() if len(text) >= SHORTEST]
    for at, (place, text) in enumerate(random.Random(given.seed).sample(found, given.sample), 1):
        print(f"[{at}] {place}\n{text}\n")


if __name__ == "__main__":
    main()
