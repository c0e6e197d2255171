"""What a store of some dialogues knows of all others: the snapshot that it was given.

A store goes in; what was counted over the whole corpus comes out, or None where the store holds all there is.
`graphneg.snapshots` makes snapshots and puts them in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphneg.errors import InputError
from graphneg.store.connection import Store
from graphneg.store.contents import shared_digest
from graphneg.store.dialogues import Selection
from graphneg.store.statements import cypher_text

DONORS, UTTERANCES, SHIFTS, SENTENCES, BANK = "donors", "utterances", "shifts", "sentences", "bank"
PARTS = (DONORS, UTTERANCES, SHIFTS, SENTENCES, BANK)
"""What a snapshot may have."""
ANSWERED = "answered"
"""Contexts with right responses, which come with the sentences."""
COPIES = "copies"
"""Right replies of copies of contexts, which every snapshot has."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A snapshot in a store: its digest, its parts, how many dialogues of each corpus and split and how many
    utterances the whole corpus has."""

    digest: str
    parts: tuple[str, ...]
    dialogues: Mapping[tuple[str, str], int]
    utterances: int

    def rows(self, store: Store, part: str) -> list[Any]:
        """The rows of a part, in their order.

        Raises `InputError`: the snapshot has no such part.
        """
        if part != COPIES:
            self.require(SENTENCES if part == ANSWERED else part)
        found = store.read(cypher_text("snapshot/rows"), part=part)
        return [row for some in found for row in json.loads(some["rows"])]

    def require(self, part: str) -> None:
        """Raises `InputError` where the snapshot has no such part."""
        if part not in self.parts:
            raise InputError(
                f"the snapshot in this store has no {part}: make one with graphneg snapshot --part {part}"
            )


def stored_snapshot(store: Store) -> StoredSnapshot | None:
    """The snapshot that a store was given; None where it was given none."""
    found = store.read(cypher_text("snapshot/state"))
    if not found:
        return None
    facts = json.loads(found[0]["facts"])
    dialogues = {(corpus, split): amount for corpus, split, amount in facts["dialogues"]}
    return StoredSnapshot(found[0]["digest"], tuple(facts["parts"]), dialogues, facts["utterances"])


def shared_content(store: Store, selection: Selection) -> str:
    """A digest of what all shards of a selection are made of: the snapshot's, or that of what is stored.

    Raises `InputError`: a store with a snapshot is asked for more than its shard, or for the first dialogues.
    """
    snapshot = stored_snapshot(store)
    if snapshot is None:
        return shared_digest(store, selection)
    check_selection(snapshot, selection)
    return f"snapshot {snapshot.digest}"


def check_selection(snapshot: StoredSnapshot | None, selection: Selection) -> None:
    """Raises `InputError` where a store with a snapshot can't tell which dialogues are meant."""
    if snapshot is None:
        return
    if selection.shard is None:
        reason = "this store has a shard, and a snapshot of the rest: say which shard, with --shard I/N"
    elif selection.limit is not None:
        reason = "this store has a shard, and can't tell the first dialogues of all: leave --limit out"
    else:
        return
    error = InputError(reason)
    error.status = 2
    raise error
