"""Is this a well-formed AMR graph? Defects with stable codes, for corpora and for edited graphs.

In: a graph, or a PENMAN file. Out: its defects, each with the node where it stands, or the line.

What the notation itself forbids (a second introduction of a variable, a role without a target)
is refused by :mod:`graphneg.amr.penman`; this module checks what the AMR guidelines (1.2.6) add.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

from graphneg.amr.penman import is_inverted, iter_blocks, metadata, parse_located
from graphneg.english.noun_kinds import is_frame
from graphneg.errors import InputError, PenmanError
from graphneg.model import AmrGraph, AmrNode

CODES: Mapping[str, str] = {
    "duplicate-edge": "the same role leads twice from one node to another",
    "double-polarity": "a node has more than one :polarity -",
    "double-mode": "a node has more than one :mode",
    "constant-inverted": "an inverse role leads to a constant",
    "self-mention": "a node is its own argument",
    "undefined-variable": "what looks like a variable is introduced nowhere",
    "name-without-op": "a name has no :op",
    "snt-order": ":sntN do not count up from 1",
    "op-order": ":opN have a gap or stand twice",
    "unknown-frame": "a frame is not in the inventory",
    "malformed-role": "a role is not letters, digits and hyphens",
}
_NUMBERED = re.compile(r"^(op|snt)(\d+)\Z")
_ROLE = re.compile(r"^[A-Za-z][A-Za-z0-9-]*\Z")
_VARIABLE = re.compile(r"^[a-z]\d+\Z")
_SINGLE_LETTER_VALUE = re.compile(r"^(op\d+|value|li|quant|mode|polarity|wiki|unit|day|month|year)\Z")


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect: ``k`` is the node where it stands."""

    code: str
    k: int
    message: str


@dataclass(frozen=True, slots=True)
class FileDefect:
    """One defect in a file; ``line`` counts from 1, ``id`` is the graph's ``::id``."""

    file: str
    line: int
    id: str
    code: str
    message: str


def check(graph: AmrGraph, frames: Container[str] | None = None) -> list[Defect]:
    """The graph's defects, in the order of its nodes; none means well formed.

    ``frames`` is the inventory that frames must be in, where one is given.

    >>> from graphneg.amr.penman import parse_graph
    >>> check(parse_graph("(l / like-01 :polarity - :polarity -)"))
    [Defect(code='double-polarity', k=0, message='like-01 has :polarity - 2 times')]
    """
    defects: list[Defect] = []
    branches: list[list[str]] = [[] for _ in graph.nodes]
    for node in graph.nodes:
        defects.extend(Defect(code, node.k, message) for code, message in _node_defects(node, frames))
        if node.up is not None:
            branches[node.up].append(node.role or "")
    for mention in graph.mentions:
        branches[mention.up].append(mention.role)
    for node, roles in zip(graph.nodes, branches, strict=True):
        if roles or node.concept == "name":
            defects.extend(
                Defect(code, node.k, message) for code, message in _role_defects(node, roles, graph)
            )
    defects.extend(_mention_defects(graph))
    defects.sort(key=attrgetter("k"))
    return defects


def check_file(path: str | Path, frames: Container[str] | None = None) -> Iterator[FileDefect]:
    """The defects of a PENMAN file, graph by graph, refused graphs included.

    Raises:
        InputError: the file can't be read, is not UTF-8, or holds no graph.
    """
    name = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{name}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 at byte {error.start}; PENMAN files are UTF-8 text") from error
    empty = True
    for line, block in iter_blocks(text):
        empty = False
        keys = metadata([one for one in block.splitlines() if one.startswith("#")])
        id = keys.get("id", "-").split(" ")[0] or "-"
        try:
            graph, lines = parse_located(block, id, line)
        except PenmanError as error:
            yield FileDefect(name, error.line, id, error.code, error.message)
            continue
        for defect in check(graph, frames):
            yield FileDefect(name, lines[defect.k], id, defect.code, defect.message)
    if empty:
        raise InputError(f"{name}: there is no PENMAN graph in this file")


def _node_defects(node: AmrNode, frames: Container[str] | None) -> list[tuple[str, str]]:
    role = node.role
    defects: list[tuple[str, str]] = []
    if node.concept is not None:
        if frames is not None and is_frame(node.concept) and node.concept not in frames:
            defects.append(("unknown-frame", f"{node.concept} is in no frame inventory"))
    elif role is not None and is_inverted(role):
        defects.append(("constant-inverted", f":{role} leads to the constant {node.value}"))
    elif _looks_undefined(node):
        defects.append(("undefined-variable", f":{role} leads to {node.value}, which is introduced nowhere"))
    if role is not None and not is_role(role):
        defects.append(("malformed-role", f":{role} is no role"))
    return defects


@lru_cache(maxsize=4096)
def is_role(role: str) -> bool:
    """Whether a role is written as roles are, without its colon."""
    return _ROLE.match(role) is not None


def _looks_undefined(node: AmrNode) -> bool:
    """Only where no constant can stand: a letter with a number, or a letter as an argument."""
    value, role = node.value or "", node.role or ""
    if _VARIABLE.match(value):
        return True
    return len(value) == 1 and value.isalpha() and not _SINGLE_LETTER_VALUE.match(role)


def _role_defects(node: AmrNode, roles: list[str], graph: AmrGraph) -> Iterator[tuple[str, str]]:
    """Defects that the roles under one node show together."""
    if roles.count("polarity") > 1:
        negations = sum(child.role == "polarity" and child.value == "-" for child in graph.children(node.k))
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
        if gaps or (first != 1 and not (kind == "op" and first == 2)):
            listed = ", ".join(f"{kind}{n}" for n in given)
            yield f"{kind}-order", f"{node.label} has :{listed}"


def _mention_defects(graph: AmrGraph) -> Iterator[Defect]:
    if not graph.mentions:
        return
    counts = Counter((mention.up, mention.role, mention.target) for mention in graph.mentions)
    for (up, role, target), count in counts.items():
        label = graph.nodes[up].label
        if count > 1:
            yield Defect("duplicate-edge", up, f"{label} has :{role} to the same node {count} times")
        if target == up:
            yield Defect("self-mention", up, f"{label} is its own :{role}")
