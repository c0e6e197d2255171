"""The schema's version in a store, and its first application."""

from __future__ import annotations

from neo4j import ManagedTransaction

from graphneg.errors import StoreError
from graphneg.store.connection import Store
from graphneg.store.driver import as_literal
from graphneg.store.statements import cypher_text, statements

SCHEMA_VERSION = 4


def ensure_schema(store: Store) -> None:
    """Apply ``cypher/schema.cypher`` to a store that has none; check the version of one that has.

    Safe to do again after an interruption, and by two processes at once.

    Raises:
        StoreError: the store's schema is older or newer than this graphneg's.
    """
    rows = store.read(cypher_text("read/schema_version"))
    if not rows:
        apply(store)
        return
    found = rows[0]["version"]
    if found == SCHEMA_VERSION:
        return
    if isinstance(found, int) and found > SCHEMA_VERSION:
        raise StoreError(
            f"{store.description} has schema version {found}, this graphneg knows {SCHEMA_VERSION}: "
            "upgrade graphneg with `pip install --upgrade graphneg`"
        )
    raise StoreError(
        f"{store.description} has schema version {found}, this graphneg needs {SCHEMA_VERSION}: "
        "load the corpora into a new store, or open this one with the graphneg that made it"
    )


def apply(store: Store) -> None:
    for statement in statements(cypher_text("schema")):
        store.write(lambda transaction, text=statement: run(transaction, text))


def run(transaction: ManagedTransaction, statement: str) -> None:
    transaction.run(as_literal(statement), version=SCHEMA_VERSION).consume()
