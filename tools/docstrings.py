"""Docstrings as the site shows them: an extension of Griffe, which reads the code for mkdocstrings.

In: a docstring as it is written, with doctests, tables of reStructuredText and double code marks. Out:
Markdown.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^>>> .*\n(?:.+\n?)*", re.M)
TABLE = re.compile(r"^(=+) =+\n(.*?)\n=+ =+$", re.M | re.S)


class Docstrings(griffe.Extension):
    """Rewrites each docstring when its object has been read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(docstring: str) -> str:
    """A docstring as Markdown: doctests fenced, tables with bars, one code mark in place of two."""
    prose = re.sub(r"``(.+?)``", r"`\1`", TABLE.sub(_table, docstring))
    return DOCTEST.sub(_fenced, prose).rstrip()


def _fenced(match: re.Match[str]) -> str:
    return f"```pycon\n{match[0].rstrip()}\n```\n"


def _table(match: re.Match[str]) -> str:
    width = len(match[1])
    rows: list[list[str]] = []
    for line in match[2].splitlines():
        left, right = line[:width].strip(), line[width:].strip()
        if left or not rows:
            rows.append([left, right])
        else:
            rows[-1][1] += f" {right}"
    return "\n".join(["| | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)])
