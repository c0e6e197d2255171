"""Find the clauses and entities of a dialogue, and how later clauses relate to earlier ones.

AMR represents sentences one by one. This package reads the graphs of a whole dialogue together: which
mentions refer to the same person or thing, and which clause repeats, contradicts or answers an earlier one.
`graphneg.ingest.discourse` writes the result to the store.

For example, A says "I like my dog." Later A says "I don't have a dog." The second clause contradicts the
first clause, because "my dog" presupposes that A has a dog.
"""

from __future__ import annotations

from graphneg.discourse.entities import Entity
from graphneg.discourse.layer import Clause, DiscourseLayer, SpokenTurn, discourse_layer
from graphneg.discourse.reading import ClauseReading, Mention, Reading, read_graph

__all__ = [
    "Clause",
    "ClauseReading",
    "DiscourseLayer",
    "Entity",
    "Mention",
    "Reading",
    "SpokenTurn",
    "discourse_layer",
    "read_graph",
]
