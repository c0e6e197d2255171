"""Check that AMR graphs are well formed, and report defects with stable codes.

Some defects violate the PENMAN notation itself, for example a variable that is introduced twice. A graph with
such a defect is refused by `graphneg.amr.penman`. This module checks the additional requirements of the AMR
guidelines (version 1.2.6), in corpora and in edited graphs. `check` returns the defects of a graph with their
node indices, and `check_file` returns the defects of a PENMAN file with their line numbers.

>>> from graphneg.amr.penman import parse_graph
>>> check(parse_graph("(l / like-01 :polarity - :polarity -)"))[0].message
'like-01 has :polarity - 2 times'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from graphneg.amr.penman import is_inverted, iter_blocks, metadata, parse_located
from graphneg.english.noun_kinds import is_frame
from graphneg.errors import InputError, PenmanError
from graphneg.json_input import open_input
from graphneg.model import AmrGraph, AmrNode

CODES: Mapping[str, str] = {
    "duplicate-edge": "the same role leads twice from one node to another",
    "double-polarity": "a node has more than one :polarity -",
    "double-mode": "a node has more than one :mode",
    "constant-inverted": "an inverse role leads to a constant",
    "self-mention": "a node is its own argument",
    "undefined-variable": "a variable is used that no node defines",
    "name-without-op": "a name has no :op",
    "snt-order": "the numbers of the :sntN roles are not 1, 2, 3, …",
    "op-order": "the numbers of the :opN roles have a gap or a repetition",
    "unknown-frame": "a frame is not in the frame inventory",
    "malformed-role": "a role has characters other than letters, digits and hyphens",
}
"""The codes of all defects that `check` reports, with their meanings."""
_NUMBERED = re.compile(r"^(op|snt)(\d+)\Z")
_ROLE = re.compile(r"^[A-Za-z][A-Za-z0-9-]*\Z")
_VARIABLE = re.compile(r"^[a-z]\d+\Z")
# Roles whose constant may be a single letter, for example ``:li B`` in a list. Under any other role, a single
# letter is taken for a variable.
_SINGLE_LETTER_VALUE = re.compile(r"^(op\d+|value|li|quant|mode|polarity|wiki|unit|day|month|year)\Z")


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect of a graph.

    Attributes:
        code: The type of the defect, a key of `CODES`.
        position: The index of the node that has the defect, in its graph.
        message: A description of the defect.
    """

    code: str
    position: int
    message: str


@dataclass(frozen=True, slots=True)
class FileDefect:
    """A defect of a graph in a file.

    Attributes:
        file: The path of the file.
        line: The line number, from 1.
        id: The ``::id`` of the graph; ``-`` if it has none.
        code: The type of the defect: a key of `CODES`, or the code of a `PenmanError`.
        message: A description of the defect.
    """

    file: str
    line: int
    id: str
    code: str
    message: str


def check(graph: AmrGraph, frames: Container[str] | None = None) -> list[Defect]:
    """Return the defects of a graph.

    Args:
        graph: The graph to check.
        frames: The ids of all known frames; None accepts all frames.

    Returns:
        The defects in the order of the nodes; an empty list for a well-formed graph.

    Example:
        >>> from graphneg.amr.penman import parse_graph
        >>> check(parse_graph("(l / like-01 :polarity - :polarity -)"))
        [Defect(code='double-polarity', position=0, message='like-01 has :polarity - 2 times')]
    """
    found: list[tuple[int, str, str]] = []
    branches: list[list[str]] = [[] for _ in graph.nodes]
    for node in graph.nodes:
        found += [(node.position, *defect) for defect in _node_defects(node, frames)]
        if node.parent is not None:
            branches[node.parent].append(node.role or "")
    for mention in graph.mentions:
        branches[mention.parent].append(mention.role)
    for node, roles in zip(graph.nodes, branches, strict=True):
        if roles or node.concept == "name":
            found += [(node.position, *defect) for defect in _role_defects(node, roles, graph)]
    edges = Counter((mention.parent, mention.role, mention.target) for mention in graph.mentions)
    for (up, role, target), count in edges.items():
        label = graph.nodes[up].label
        if count > 1:
            found.append((up, "duplicate-edge", f"{label} has :{role} to the same node {count} times"))
        if target == up:
            found.append((up, "self-mention", f"{label} is its own :{role}"))
    return [Defect(code, k, message) for k, code, message in sorted(found, key=itemgetter(0))]


def check_file(path: str | Path, frames: Container[str] | None = None) -> Iterator[FileDefect]:
    """Check all graphs of a PENMAN file, including those that cannot be parsed.

    Raises `InputError` if the file cannot be read, is not UTF-8, or contains no graph.

    Args:
        path: The path of the file.
        frames: The ids of all known frames; None accepts all frames.

    Yields:
        The defects in the order of the graphs.
    """
    name = str(path)
    for line, id, block in file_blocks(path):
        try:
            graph, lines = parse_located(block, id or "-", line)
        except PenmanError as error:
            yield FileDefect(name, error.line, id or "-", error.code, error.message)
            continue
        for defect in check(graph, frames):
            yield FileDefect(name, lines[defect.position], id or "-", defect.code, defect.message)


def file_blocks(path: str | Path) -> list[tuple[int, str | None, str]]:
    """Read the graphs of a PENMAN file as text.

    Args:
        path: The path of the file.

    Returns:
        For each graph, the number of its first line, its ``::id`` or None, and its text.

    Raises:
        InputError: The file cannot be read, is not UTF-8, or contains no graph.
    """
    try:
        with open_input(path) as file:
            blocks = list(iter_blocks(file.read().decode("utf-8-sig")))
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; PENMAN files are UTF-8 text") from error
    if not blocks:
        raise InputError(f"{path}: there is no PENMAN graph in this file")
    comments = [[line for line in block.splitlines() if line.startswith("#")] for _, block in blocks]
    ids = (metadata(lines).get("id", "").split(" ")[0] or None for lines in comments)
    return [(line, id, block) for (line, block), id in zip(blocks, ids, strict=True)]


def _node_defects(node: AmrNode, frames: Container[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the code and message of each defect that a node has by itself, such as an unknown frame."""
    role, value = node.role or "", node.value or ""
    if node.concept is not None:
        if frames is not None and is_frame(node.concept) and node.concept not in frames:
            yield "unknown-frame", f"{node.concept} is not in the frame inventory"
    elif is_inverted(role):
        yield "constant-inverted", f":{role} leads to the constant {value}"
    elif _VARIABLE.match(value) or (
        # Report a single letter under a role such as ``:ARG0``, because it can only be meant as a variable.
        len(value) == 1 and value.isalpha() and not _SINGLE_LETTER_VALUE.match(role)
    ):
        yield "undefined-variable", f":{role} leads to {value}, which no node defines"
    if node.role is not None and not _ROLE.match(role):
        yield "malformed-role", f":{role} is not a role"


def _role_defects(node: AmrNode, roles: list[str], graph: AmrGraph) -> Iterator[tuple[str, str]]:
    """Yield the code and message of each defect in the roles of a node's children, such as a second mode."""
    if roles.count("polarity") > 1:
        # A node may have both ``:polarity -`` and ``:polarity amr-unknown``: "Don't you like it?"
        negations = sum(
            child.role == "polarity" and child.value == "-" for child in graph.children(node.position)
        )
        if negations > 1:
            yield "double-polarity", f"{node.label} has :polarity - {negations} times"
    if roles.count("mode") > 1:
        yield "double-mode", f"{node.label} has :mode {roles.count('mode')} times"
    numbers: dict[str, list[int]] = {}
    for role in roles:
        match = _NUMBERED.match(role) if role.startswith(("op", "snt")) else None
        if match:
            numbers.setdefault(match[1], []).append(int(match[2]))
    if node.concept == "name" and not any(role.startswith("op") for role in roles):
        yield "name-without-op", "a name has no :op"
    for kind, given in numbers.items():
        given.sort()
        first = given[0]
        gaps = given != list(range(first, first + len(given)))
        # ``:op2`` without ``:op1`` is allowed: ``(d / date-interval :op2 ...)`` has an end but no beginning.
        if gaps or (first != 1 and not (kind == "op" and first == 2)):
            listed = ", ".join(f"{kind}{n}" for n in given)
            yield f"{kind}-order", f"{node.label} has :{listed}"
