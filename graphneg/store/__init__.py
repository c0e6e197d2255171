"""The store: one property graph, on an embedded server or on Neo4j, through one driver.

`open_store` gives a `Store`, which sends queries; the shipped ones are files, found by `cypher_text`. What is
stored is read as dialogues (`read_dialogues` of a `Selection`) and graphs (`GraphCache`); `explore` runs the
named queries.
"""

from __future__ import annotations

from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection, StoredDialogue, dialogue_ids, read_dialogues
from graphneg.store.opening import open_store
from graphneg.store.queries import Info, NamedQuery, Rows, explore, info_of, named_queries
from graphneg.store.statements import cypher_text, read_header

__all__ = [
    "GraphCache",
    "Info",
    "NamedQuery",
    "Rows",
    "Selection",
    "Store",
    "StoredDialogue",
    "cypher_text",
    "dialogue_ids",
    "explore",
    "info_of",
    "named_queries",
    "open_store",
    "read_dialogues",
    "read_header",
]
