"""Store dialogues and AMR graphs in a property graph.

The graph is stored on an embedded ArcadeDB server or on a Neo4j server. The official Neo4j driver connects to
both, so that the same code and the same ``.cypher`` files work with either of them.

- `open_store` opens the store in a directory or at a Neo4j address. It returns a `Store`, which sends
  queries.
- `cypher_text` returns the text of a query file that graphneg ships.
- `read_dialogues` and `GraphCache` read dialogues and graphs. A `Selection` specifies which dialogues to
  read.
- `explore` runs one of the named queries in ``cypher/explore/``.

Example:
    Open a store and list the ids of its first three dialogues::

        with open_store("graphneg-store") as store:
            ids = list(dialogue_ids(store, Selection(limit=3)))
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
