"""Repairs a draft before it is assembled: labels that can be written, no doubled polarity or mode."""

from __future__ import annotations

import re

from graphneg.parsers.dependency.draft import Draft, DraftArc
from graphneg.penman_codec import is_atom

_SINGLE = frozenset({"polarity", "mode", "wiki", "quant", "value"})
_FORBIDDEN = re.compile(r'[\s"()/:~#\\]+')


def repair(draft: Draft) -> None:
    """Makes labels writable and drops what the guidelines forbid, in place."""
    for node in draft.nodes:
        if node.concept is not None:
            node.concept = writable_concept(node.concept)
        elif not is_atom(node.value or "") or _is_variable(node.value or ""):
            node.value = quoted(node.value or "")
    draft.arcs = [arc for arc in draft.arcs if draft.nodes[arc.head].value is None]
    _drop_doubled(draft)
    _fill_names(draft)


def writable_concept(text: str) -> str:
    """The text as a concept that PENMAN can write.

    >>> writable_concept("and/or"), writable_concept("(")
    ('and-or', 'symbol')
    """
    if is_atom(text) and not text.startswith('"'):
        return text
    return _FORBIDDEN.sub("-", text).strip("-") or "symbol"


def quoted(text: str) -> str:
    """The text as a PENMAN string.

    >>> quoted('say "hi"')
    '"say \\\\"hi\\\\""'
    """
    inner = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def _is_variable(value: str) -> bool:
    return re.fullmatch(r"[a-z]\d*", value) is not None


def _drop_doubled(draft: Draft) -> None:
    """One :polarity, one :mode, … a node, the first one; constants that this leaves alone go."""
    taken: dict[tuple[int, str], DraftArc] = {}
    for arc in list(draft.arcs):
        if arc.role in _SINGLE:
            first = taken.setdefault((arc.head, arc.role), arc)
            if first is not arc:
                if draft.nodes[arc.dep].value is not None:
                    draft.drop(arc.dep)
                else:
                    draft.arcs.remove(arc)
    linked = {arc.dep for arc in draft.arcs}
    for k, node in enumerate(draft.nodes):
        if node.value is not None and k not in linked:
            node.gone = True


def _fill_names(draft: Draft) -> None:
    """A name without :op gets one: its words, or itself."""
    headed = {arc.head for arc in draft.arcs if arc.role.startswith("op")}
    for k, node in enumerate(draft.nodes[:]):
        if node.concept == "name" and not node.gone and k not in headed:
            words = draft.text[node.start : node.end] if node.start >= 0 else "name"
            op = draft.constant(quoted(words), node.token, "repair", node.sentence)
            draft.link(k, "op1", op, "repair")
