"""What a store is and holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphneg.store import Store, cypher_text


@dataclass(frozen=True, slots=True)
class Info:
    """What a store is and holds: ``counts`` by label or relationship type, ``corpora`` as
    (corpus, split, dialogues)."""

    description: str
    counts: Mapping[str, int]
    corpora: Sequence[tuple[str, str, int]]


def info_of(store: Store) -> Info:
    """Counted in the store.

    Raises:
        StoreError: the store is gone.
    """
    counts = {row["kind"]: row["amount"] for row in store.read(cypher_text("read/info"))}
    corpora = [(r["corpus"], r["split"], r["dialogues"]) for r in store.read(cypher_text("read/corpora"))]
    return Info(store.description, counts, corpora)
