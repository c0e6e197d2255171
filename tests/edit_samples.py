"""Random edits for property-based tests, and functions that apply edits and show the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import penman
from hypothesis import strategies as st

from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import format_graph, parse_graph
from graphneg.model import AmrGraph, Edit
from tests.graphs import natural

GRAPHS = natural()
AMR = "test/train/1#0@penman"
LABELS = ["like-01", "boy", "name", "i", "have-03", "café", '"New York"', "c++", "x", "a"]
LABELS += ["two words", "", "(", "a:b", "a/b", "#a", '"', '"a" "b"', '"a\nb"', "x1", "a~e.1", "\ud800", "-"]
ROLES = [
    "ARG0",
    "ARG1-of",
    "polarity",
    "mode",
    "op",
    "op1",
    "op7",
    "snt",
    "snt1",
    "mod",
    "consist-of",
    "quant",
]
ROLES += ["", "two words", "a(", "ARG0\n", "-of"]

numbers = st.integers(0, 10_000)
edits = st.builds(
    lambda op, k, role, concept, value, source, from_position: (
        op,
        k,
        role,
        concept,
        value,
        source,
        from_position,
    ),
    st.sampled_from(["set", "add", "drop", "drop", "graft", "graft", "wrap", "swap"]),
    st.one_of(numbers, numbers, numbers, st.sampled_from([-1, -2, 100_000])),
    st.one_of(st.none(), st.sampled_from(ROLES)),
    st.one_of(st.none(), st.sampled_from(LABELS)),
    st.one_of(st.none(), st.sampled_from(LABELS)),
    numbers,
    numbers,
)
Draft = tuple[str, int, str | None, str | None, str | None, int, int]


def edit(op: str, k: int = 0, amr: str = AMR, **fields: object) -> Edit:
    return Edit("test", "C-cont", "site", op, amr, k, **fields)  # type: ignore[arg-type]


def edits_of(graph: AmrGraph, drafts: Sequence[Draft]) -> tuple[list[Edit], dict[str, AmrGraph]]:
    """Convert random drafts into edits of a graph. Most refer to one of its nodes, some to no node.

    Returns:
        The edits, and the graphs from which grafts copy, keyed by id.
    """
    sources: dict[str, AmrGraph] = {}
    made: list[Edit] = []
    for op, k, role, concept, value, source, from_position in drafts:
        one = edit(op, k % len(graph.nodes) if 0 <= k < 100_000 else k, graph.id)
        if op == "graft":
            other = GRAPHS[source % len(GRAPHS)]
            sources[other.id] = other
            made.append(
                one._replace(role=role, from_amr=other.id, from_position=from_position % len(other.nodes))
            )
        elif op != "drop":
            made.append(one._replace(role=role, concept=concept, value=value))
        else:
            made.append(one)
    return made, sources


def after(graph: AmrGraph, *wanted: Edit, sources: Sequence[AmrGraph] = ()) -> AmrGraph:
    return apply_edits(graph, wanted, {source.id: source for source in sources})


def text_after(text: str, *wanted: Edit, **sources: str) -> str:
    """Parse a graph, apply edits, and return the edited graph on one line."""
    graphs = [parse_graph(source, name) for name, source in sources.items()]
    return " ".join(format_graph(after(parse_graph(text, AMR), *wanted, sources=graphs)).split())


def triples(graph: AmrGraph) -> Counter[tuple[str, str, str]]:
    return Counter(penman.decode(format_graph(graph)).triples)


def bare(graph: AmrGraph) -> Counter[tuple[str, str, str]]:
    """Return triples of concept, role and concept, without inverse roles such as ``:ARG0-of``.

    Variables are left out, so that graphs with different variables are equal.
    """
    decoded = penman.decode(format_graph(graph))
    concepts = {one.source: one.target for one in decoded.instances()}
    return Counter(
        (concepts[source], role, concepts.get(target, target))
        for source, role, target in decoded.triples
        if role != ":instance"
    ) + Counter((concept, "", "") for concept in concepts.values())
