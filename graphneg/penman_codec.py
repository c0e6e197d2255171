"""PENMAN notation to and from :class:`~graphneg.model.AmrGraph`, exactly, with positions in errors.

The notation is that of the ``penman`` package (Goodman 2020, "Penman: An Open-Source Library
and Tool for AMR Graphs", ACL demos), and what is written is formatted by that package. The
reader is graphneg's own, because a refusal must say where: ``penman`` forgets positions before
it could see a variable that is introduced twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import penman
from penman.tree import Tree

from graphneg.model import AmrGraph
from graphneg.penman_reading import LINE_ENDS, SURROGATE, GraphReader

_ATOM = re.compile(r'(?!\#)[^ \t\r\n\v\f"()/:~]+|"(?:[^"\\\r\n]|\\[^\r\n])*"')
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[()]')
_METADATA = re.compile(r"(?<![^\s#])::(\S+)(?:\s(.*?))?(?=\s+::\S|\s*$)")
_UNWRITTEN_INVERSE = frozenset({"consist-of", "prep-out-of", "prep-on-behalf-of"})


def is_inverted(role: str) -> bool:
    """Whether the text writes a role from the argument's side.

    >>> is_inverted("ARG0-of"), is_inverted("consist-of"), is_inverted("consist-of-of")
    (True, False, True)
    """
    return role.endswith("-of") and role not in _UNWRITTEN_INVERSE


def is_atom(text: str) -> bool:
    """Whether a text can stand as a concept or a constant.

    >>> is_atom("like-01"), is_atom('"New York"'), is_atom("New York")
    (True, True, False)
    """
    return _ATOM.fullmatch(text) is not None and not SURROGATE.search(text)


def parse_graph(text: str, id: str = "", first_line: int = 1) -> AmrGraph:
    """Read one graph with its comment lines.

    ``first_line`` is the number of the text's first line in its file, for messages.

    Raises:
        PenmanError: the text is not one well-formed graph; ``code`` is one of ``syntax``,
            ``no-graph``, ``unclosed``, ``trailing-text``, ``no-concept``, ``duplicate-instance``,
            ``dangling-role``, ``empty-role``, ``duplicate-variable``, ``too-deep``, ``not-unicode``.
    """
    return GraphReader(text, id, first_line).read()


def parse_located(text: str, id: str = "", first_line: int = 1) -> tuple[AmrGraph, list[int]]:
    """As :func:`parse_graph`, with the line in which the text introduces each node."""
    reader = GraphReader(text, id, first_line)
    return reader.read(), reader.node_lines()


def format_graph(graph: AmrGraph) -> str:
    """Write a graph as the ``penman`` package lays it out, comment lines first.

    >>> print(format_graph(parse_graph("(l / like-01 :ARG0 (i / i) :polarity -)")))
    (l / like-01
       :ARG0 (i / i)
       :polarity -)
    """
    text = penman.format(Tree(tree_node(graph)))
    return "\n".join((*graph.metadata, text))


def tree_node(graph: AmrGraph) -> tuple[str, list[Any]]:
    """The graph as a ``penman`` tree node: ``(variable, [(role, target), ...])``."""
    branches: list[list[tuple[int, str, Any]]] = [[] for _ in graph.nodes]
    for mention in graph.mentions:
        target = (graph.nodes[mention.target].var or "") + (mention.align or "")
        branches[mention.up].append((mention.pos, f":{mention.role}{mention.role_align or ''}", target))
    for node in reversed(graph.nodes):
        if node.value is not None:
            written: Any = node.value + (node.align or "")
        else:
            below = branches[node.k]
            below.sort(key=_position)
            written = (node.var, [("/", f"{node.concept}{node.align or ''}"), *[b[1:] for b in below]])
        if node.up is None:
            return written
        branches[node.up].append((node.pos, f":{node.role}{node.role_align or ''}", written))
    raise ValueError(f"graph {graph.id!r} has no top")


def metadata(lines: Sequence[str]) -> dict[str, str]:
    """The ``::key value`` pairs of comment lines; the last one of a key counts.

    >>> metadata(["# ::id lpp.1 ::date today", "# ::snt Chapter 1 ."])
    {'id': 'lpp.1', 'date': 'today', 'snt': 'Chapter 1 .'}
    """
    found: dict[str, str] = {}
    for line in lines:
        for key, value in _METADATA.findall(line):
            found[key] = value.strip()
    return found


def iter_blocks(lines: Iterator[str] | Sequence[str] | str) -> Iterator[tuple[int, str]]:
    """Split a file into ``(number of its first line, text)`` of one graph each, comments included.

    A block ends where its brackets close. One that never closes ends before the next comment
    line or the next ``(`` in the first column, so that a malformed graph costs only itself.
    Comment lines that a blank line parts from any graph are a block only if they have ``::snt``
    or ``::id`` (a graph is missing there).
    """
    block: list[str] = []
    start, depth, begun = 1, 0, False
    for number, raw in enumerate(LINE_ENDS.split(lines) if isinstance(lines, str) else lines, 1):
        line = raw.rstrip("\r\n")
        comment = line.startswith("#")
        if block and (begun and (comment or line.startswith("("))):
            yield start, "\n".join(block)
            block, depth, begun = [], 0, False
        elif block and not begun and not line.strip():
            if any("::id" in one or "::snt" in one for one in block):
                yield start, "\n".join(block)
            block = []
        if not line.strip() and not block:
            continue
        if not block:
            start = number
        if comment:
            block.append(line)
            continue
        for piece, reached in _pieces(line, depth):
            depth = reached
            block.append(piece)
            begun = begun or bool(piece.strip())
            if depth <= 0 and begun and (")" in piece):
                yield start, "\n".join(block)
                block, depth, begun, start = [], 0, False, number
    if block and (begun or any("::id" in one or "::snt" in one for one in block)):
        yield start, "\n".join(block)


def _pieces(line: str, depth: int) -> Iterator[tuple[str, int]]:
    """Cut a line behind each bracket that closes a graph; with the depth reached."""
    begin = 0
    for match in _BRACKETS.finditer(line):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
            if depth <= 0:
                rest = line[match.end() :].strip()
                if rest.startswith("(") or not rest:
                    yield line[begin : match.end()], depth
                    begin, depth = match.end(), 0
    if line[begin:].strip():
        yield line[begin:], depth


def _position(branch: tuple[int, str, Any]) -> int:
    return branch[0]
