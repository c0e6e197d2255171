"""Helpers that compute the discourse layer of a short dialogue, given as texts with their graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphneg.amr.facts import analyse
from graphneg.amr.penman import parse_graph
from graphneg.discourse import DiscourseLayer, Reading, SpokenTurn, discourse_layer, read_graph
from graphneg.english.lexicon import english

Said = tuple[str, str]
"""A text and its graph in PENMAN notation."""


def reading(text: str, penman: str) -> Reading:
    analysis = analyse(parse_graph(penman, "g"), text, english())
    return read_graph(analysis.view, analysis.clauses, analysis.facts, text)


def layer(turns: Sequence[Said], responses: Iterable[Said] = (), speakers: str = "AB") -> DiscourseLayer:
    """Return the layer of a dialogue whose speakers take turns; `responses` follow its last turn."""
    spoken = [
        SpokenTurn(f"d#{turn}", turn, speakers[turn % len(speakers)], f"d#{turn}@p", reading(*said))
        for turn, said in enumerate(turns)
    ]
    last = len(turns) - 1
    answers = [
        SpokenTurn(f"d#{last}/r{n}", last + 1, speakers[(last + 1) % 2], f"d#{last}/r{n}@p", reading(*said))
        for n, said in enumerate(responses)
    ]
    return discourse_layer("d", spoken, {last: answers}, speakers, english())


def chain(found: DiscourseLayer, name: str) -> list[tuple[int, str]]:
    """Return turn number and node id of each mention of the only entity with this name."""
    [entity] = [one.id for one in found.entities if one.name == name]
    return [
        (int(graph[2]), f"{graph}.{k}")
        for graph, references in found.references.items()
        for k, id in sorted(references.items())
        if id == entity
    ]


def turns_of(found: DiscourseLayer, name: str) -> list[int]:
    """Return the turn number of each mention of the only entity with this name."""
    return [turn for turn, _ in chain(found, name)]
