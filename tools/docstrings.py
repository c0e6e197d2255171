r"""Convert docstrings to Markdown for the documentation site.

The docstrings of the package follow the Google style, with doctests, simple tables of reStructuredText and
double backquotes around code. mkdocstrings reads the docstrings with the library Griffe and expects Markdown.
`Docstrings` is an extension of Griffe that converts each docstring as it is read. ``tools.docs_pages`` also
uses `markdown` and `attributes` for the pages that it generates.

Example:
    Griffe knows the section ``Examples``, but not ``Example``:

    >>> markdown("Example:\n    A table ``t``::\n\n        1 2")
    'Examples:\n    A table `t`:\n\n        1 2'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import griffe

# A doctest ends at a blank line, or where a line is indented less than its first line.
DOCTEST = re.compile(r"^(?P<indent> *)>>> .*\n?(?:(?P=indent)[^\n]*\S[^\n]*\n?)*", re.M)
# Code in backquotes may continue on the next line, but not in the next paragraph. Three backquotes are a
# fence.
CODE = re.compile(r"(?<!`)``(?!`)((?:[^\n]|\n(?!\n))+?)(?<!`)``(?!`)")
TABLE = re.compile(r"^(?P<indent> *)(?P<rule>=+) =+\n(?P<rows>.*?)\n(?P=indent)=+ =+$", re.M | re.S)
SECTION = re.compile(r"^(\w+):\n((?:[ \t]+\S.*\n?|\s*\n)+)", re.M)
RESULT = re.compile(r"^((?:Returns|Yields):\n +\S.*\n)((?: +\S.*\n?|\n(?= ))+)", re.M)
ENTRY = re.compile(r"^(\w+)(?: \([^)]*\))?: (.*)$")


class Docstrings(griffe.Extension):
    """Converts each docstring into Markdown when Griffe has read the documented object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of an object into Markdown.

        Args:
            obj: The module, class, function or attribute that was read.
            **_: The other arguments of Griffe's hook.
        """
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown.

    Doctests are fenced, tables become Markdown tables, double backquotes become single backquotes, and ``::``
    before a block of code becomes a colon. The section ``Example`` is renamed ``Examples``, because Griffe
    knows only this name. The lines of a section ``Returns`` or ``Yields`` are kept together as one item.

    Args:
        docstring: The docstring without its common indentation (`inspect.cleandoc`).

    Returns:
        The Markdown text. Its sections keep their headings and their indentation.
    """
    prose = CODE.sub(r"`\1`", TABLE.sub(_table, docstring))
    prose = re.sub(r"^Example:$", "Examples:", prose, flags=re.M)
    prose = re.sub(r"(?<=\S)::$", ":", prose, flags=re.M)
    # Griffe reads each line of a Returns or Yields section as a separate value, unless the line is indented
    # further than the first line.
    prose = RESULT.sub(lambda match: match[1] + re.sub(r"^(?= )", "    ", match[2], flags=re.M), prose)
    return DOCTEST.sub(_fenced, prose).rstrip()


def attributes(docstring: str) -> Mapping[str, str]:
    r"""Return the descriptions in the sections ``Args`` and ``Attributes``.

    Args:
        docstring: The docstring without its common indentation.

    Returns:
        The descriptions, keyed by name, in the order of the docstring, each on one line.

    Example:
        >>> attributes("Options.\n\nAttributes:\n    most: Maximum number\n        of words.")
        {'most': 'Maximum number of words.'}
    """
    found: dict[str, str] = {}
    for title, body in SECTION.findall(docstring):
        if title not in ("Args", "Attributes"):
            continue
        name = ""
        for line in body.splitlines():
            entry = ENTRY.match(line.removeprefix("    "))
            if entry:
                name = entry[1]
                found[name] = entry[2]
            elif name and line.strip():
                found[name] += f" {line.strip()}"
    return found


def _fenced(match: re.Match[str]) -> str:
    indent = match["indent"]
    return f"{indent}```pycon\n{match[0].rstrip()}\n{indent}```\n"


def _table(match: re.Match[str]) -> str:
    indent, width = match["indent"], len(match["rule"])
    rows: list[list[str]] = []
    for line in match["rows"].splitlines():
        text = line.removeprefix(indent)
        left, right = text[:width].strip(), text[width:].strip()
        # A line without a first cell continues the second cell of the row above.
        if left or not rows:
            rows.append([left, right])
        else:
            rows[-1][1] += f" {right}"
    lines = ["| | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)]
    return "\n".join(f"{indent}{line}" for line in lines)
