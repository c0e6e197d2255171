"""What a model wrote as a graph, made well formed where little is wrong with it."""

from __future__ import annotations

import re
from typing import Any

import penman
from penman.tree import Tree

from graphneg.errors import PenmanError
from graphneg.model import AmrGraph
from graphneg.penman_codec import is_inverted, parse_graph, tree_node
from graphneg.wellformed import check

_ONCE = frozenset({":polarity", ":mode"})
_NUMBERED = re.compile(r":(op|snt)(\d+)")
_ROLE = re.compile(r":[A-Za-z][A-Za-z0-9-]*")
_VARIABLE = re.compile(r"[a-z]\d*")

Branch = tuple[str, Any]


def mended(graph: AmrGraph) -> AmrGraph | None:
    """The graph without the defects that can be taken out of it; None where some are left.

    What goes: a role that leads twice to one node, or from a node to itself; a second polarity or
    mode; a value that is no role's, or that nothing introduces; names without words get one.
    ``:opN`` and ``:sntN`` are numbered anew.

    >>> from graphneg.penman_codec import format_graph
    >>> graph = parse_graph("(a / and :op1 (b / be) :op3 (c / cat :polarity - :polarity -))")
    >>> print(format_graph(mended(graph)))
    (a / and
       :op1 (b / be)
       :op2 (c / cat
               :polarity -))
    """
    if not check(graph):
        return graph
    variables = {node.var for node in graph.nodes if node.var is not None}
    tree = _mended(tree_node(graph), variables)
    try:
        again = parse_graph(penman.format(Tree(tree)))
    except PenmanError:
        return None
    return None if check(again) else again


def _mended(node: tuple[str, list[Branch]], variables: set[str]) -> tuple[str, list[Branch]]:
    variable, branches = node
    kept: list[Branch] = []
    seen: set[Branch] = set()
    for role, target in branches:
        if isinstance(target, tuple):
            kept.append((_role(role), _mended(target, variables)))
        elif role == "/" or _stays(variable, role, target, seen, variables):
            seen.add(_key(role, target))
            kept.append((role, target))
    if ("/", "name") in kept and not any(role.startswith(":op") for role, _ in kept):
        kept.append((":op1", '"?"'))
    return variable, _numbered(kept)


def _stays(variable: str, role: str, target: str, seen: set[Branch], variables: set[str]) -> bool:
    """Whether a branch to a constant, or to a node that is introduced elsewhere, does no harm."""
    if not _ROLE.fullmatch(role) or _key(role, target) in seen:
        return False
    if target in variables:
        return target != variable
    return not is_inverted(role[1:]) and not _VARIABLE.fullmatch(target)


def _key(role: str, target: str) -> Branch:
    """What may stand under a node once."""
    return role, "" if role in _ONCE else target


def _role(role: str) -> str:
    return role if _ROLE.fullmatch(role) else ":mod"


def _numbered(branches: list[Branch]) -> list[Branch]:
    """The branches with their ``:opN`` and ``:sntN`` numbered without gaps, in the order that they have."""
    matches = ((_NUMBERED.fullmatch(role), i) for i, (role, _) in enumerate(branches))
    found = sorted((match[1], int(match[2]), i) for match, i in matches if match)
    numbers: dict[str, int] = {}
    roles: dict[int, str] = {}
    for kind, _, i in found:
        numbers[kind] = numbers.get(kind, 0) + 1
        roles[i] = f":{kind}{numbers[kind]}"
    return [(roles.get(i, role), target) for i, (role, target) in enumerate(branches)]
