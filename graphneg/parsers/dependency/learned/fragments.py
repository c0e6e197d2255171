"""Fragments: what one word contributes to a graph, written as a short text.

``person teach-01 ;1:ARG0:0`` is a person that teaches; ``=- ever`` are two nodes without an arc between them.
Constants have a ``=`` before them. A word without nodes has the empty fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from graphneg.parsers.dependency.draft import Draft, DraftArc


class Fragment(NamedTuple):
    """A fragment read: its labels, constants marked, and its arcs (head, role, argument)."""

    labels: tuple[str, ...]
    arcs: tuple[tuple[int, str, int], ...]


def write_fragment(labels: Sequence[str], arcs: Iterable[tuple[int, str, int]]) -> str:
    """The text of a fragment, the same whatever the order of its nodes.

    >>> write_fragment(["teach-01", "person"], [(0, "ARG0", 1)])
    'person teach-01 ;1:ARG0:0'
    """
    order = sorted(range(len(labels)), key=lambda i: labels[i])
    place = {old: new for new, old in enumerate(order)}
    written = sorted(f"{place[h]}:{role}:{place[d]}" for h, role, d in arcs)
    return " ".join([_word(labels[i]) for i in order] + [";" + one for one in written])


def _word(label: str) -> str:
    """A label as one word; a backslash marks the few that would read as an arc."""
    word = "_".join(label.split()) or "_"
    return "\\" + word if word[0] in ";\\" else word


@lru_cache(maxsize=65536)
def read_fragment(text: str) -> Fragment:
    """The labels and arcs of a fragment.

    >>> read_fragment("person teach-01 ;1:ARG0:0")
    Fragment(labels=('person', 'teach-01'), arcs=((1, 'ARG0', 0),))
    """
    labels: list[str] = []
    arcs: list[tuple[int, str, int]] = []
    for part in text.split():
        if part[0] == ";":
            head, role, dep = part[1:].split(":")
            arcs.append((int(head), role, int(dep)))
        else:
            labels.append(part[1:] if part[0] == "\\" else part)
    return Fragment(tuple(labels), tuple(arcs))


def marked(concept: str | None, value: str | None) -> str:
    """A node's label as fragments write it."""
    return concept if concept is not None else f"={value}"


def draft_fragments(draft: Draft) -> dict[int, tuple[str, list[int]]]:
    """The fragment of each word that has nodes, and their numbers."""
    members: dict[int, list[int]] = {}
    for i, node in enumerate(draft.nodes):
        if not node.gone and node.token is not None:
            members.setdefault(node.token, []).append(i)
    inner: dict[int, list[DraftArc]] = {}
    for arc in draft.arcs:
        token = draft.nodes[arc.head].token
        if token is not None and token == draft.nodes[arc.dep].token:
            inner.setdefault(token, []).append(arc)
    found: dict[int, tuple[str, list[int]]] = {}
    for token, group in members.items():
        place = {i: n for n, i in enumerate(group)}
        arcs = [
            (place[a.head], a.role, place[a.dep])
            for a in inner.get(token, ())
            if a.head in place and a.dep in place
        ]
        labels = [marked(draft.nodes[i].concept, draft.nodes[i].value) for i in group]
        found[token] = (write_fragment(labels, arcs), group)
    return found


def put_fragment(draft: Draft, token: int, text: str, group: Sequence[int]) -> None:
    """Makes the nodes ``group`` of a word into another fragment; their arcs to other words stay.

    Each new label takes over the node of the same label, else the first that is left.
    """
    labels, arcs = read_fragment(text)
    left = list(group)
    nodes: list[int | None] = [None] * len(labels)
    for n, label in enumerate(labels):
        for i in left:
            if marked(draft.nodes[i].concept, draft.nodes[i].value) == label:
                nodes[n] = i
                left.remove(i)
                break
    for n, label in enumerate(labels):
        if nodes[n] is None and left and label[0] != "=":
            nodes[n] = i = left.pop(0)
            draft.nodes[i].concept, draft.nodes[i].value = label, None
        elif nodes[n] is None:
            add = draft.constant if label[0] == "=" else draft.concept
            nodes[n] = add(label.removeprefix("="), token, "learned")
    for i in left:
        draft.drop(i)
    members = set(group)
    draft.arcs = [arc for arc in draft.arcs if arc.head not in members or arc.dep not in members]
    for head, role, dep in arcs:
        a, b = nodes[head], nodes[dep]
        if a is not None and b is not None:
            draft.link(a, role, b, "fragment")
