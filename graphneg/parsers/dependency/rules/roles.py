"""Links each word's node to its governor's, by the role that fits."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.choices import (
    CORE_ROLES,
    best_role,
    default_role,
    role_weights,
    used_roles,
)
from graphneg.parsers.dependency.rules.governors import Dependency, dependency
from graphneg.parsers.dependency.rules.modifiers import write_modifier
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.penman_codec import is_inverted

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})


def write_roles(sketch: Sketch) -> None:
    """Links each word's node to its governor's."""
    waiting: dict[int, list[Dependency]] = {}
    for i in list(sketch.outer):
        if i in sketch.done and sketch.words[i].dep in {"conj"}:
            continue
        found = dependency(sketch, i)
        if found is not None and not write_modifier(sketch, found):
            waiting.setdefault(found.governor, []).append(found)
    for governor, found in waiting.items():
        _write_group(sketch, governor, found)


def _write_group(sketch: Sketch, governor: int, found: list[Dependency]) -> None:
    """Gives the dependents of a word their roles, the surest first, no core role twice."""
    head = sketch.core[governor]
    concept = sketch.draft.nodes[head].concept or ""
    used = used_roles(sketch, head)
    scored = [(one, role_weights(sketch, concept, one)) for one in found]
    scored.sort(key=lambda pair: (pair[0].form not in _SUBJECTS, -max(pair[1].values(), default=0.0)))
    for one, scores in scored:
        role = best_role(sketch, concept, scores, used) or default_role(sketch, concept, one, used)
        if role in CORE_ROLES:
            used.add(role)
        _link(sketch, sketch.head(governor, one.form), role, sketch.outer[one.dependent], one)


def _link(sketch: Sketch, head: int, role: str, dep: int, found: Dependency) -> None:
    if sketch.draft.nodes[head].concept is None:
        if sketch.draft.nodes[dep].concept is not None:
            sketch.link(dep, "mod", head, "constant")
        return
    if role == "domain":
        sketch.link(dep, "mod", head, found.form)
    elif is_inverted(role):
        sketch.link(dep, role.removesuffix("-of"), head, found.form)
    else:
        sketch.link(head, role, dep, found.form)
