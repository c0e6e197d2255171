"""The store: one property graph, on an embedded server or on Neo4j, through one driver."""

from __future__ import annotations

from graphneg.store.connection import Capabilities, Store
from graphneg.store.opening import open_store
from graphneg.store.statements import cypher_text

__all__ = ["Capabilities", "Store", "cypher_text", "open_store"]
