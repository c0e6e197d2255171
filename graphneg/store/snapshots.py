"""Read the snapshot in the store of a shard.

A store may hold only a shard of a corpus, while some negatives need other dialogues, for example as donors of
a graft. A snapshot holds what was counted over the whole corpus, so that a shard gives the same negatives as
the store with everything. `graphneg.snapshots` makes snapshots and loads them; `stored_snapshot` returns the
one in a store, or None if the store holds the whole corpus.

Example:
    Read the shifts of the whole corpus in the store of a shard::

        snapshot = stored_snapshot(store)
        rows = snapshot.rows(store, SHIFTS)
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
"""The parts that a snapshot may have."""
ANSWERED = "answered"
"""The rows of contexts with right responses. They belong to the part ``sentences``."""
COPIES = "copies"
"""The rows of right replies of copied contexts. Every snapshot has them."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """The snapshot in a store.

    Attributes:
        digest: The digest of the snapshot's content.
        parts: The names of its parts.
        dialogues: Number of dialogues in the whole corpus, by corpus and split.
        utterances: Number of utterances in the whole corpus.
    """

    digest: str
    parts: tuple[str, ...]
    dialogues: Mapping[tuple[str, str], int]
    utterances: int

    def rows(self, store: Store, part: str) -> list[Any]:
        """Return the rows of a part, in their order.

        A part that the snapshot does not have raises `InputError`.

        Args:
            store: The store that holds the snapshot.
            part: One of `PARTS`, `ANSWERED` or `COPIES`.

        Returns:
            The rows, as JSON values.
        """
        if part != COPIES:
            self.require(SENTENCES if part == ANSWERED else part)
        found = store.read(cypher_text("snapshot/rows"), part=part)
        # The rows of a part are stored in several nodes, as JSON.
        return [row for some in found for row in json.loads(some["rows"])]

    def require(self, part: str) -> None:
        """Refuse to continue if the snapshot lacks a part.

        Args:
            part: One of `PARTS`.

        Raises:
            InputError: The snapshot does not have this part.
        """
        if part not in self.parts:
            raise InputError(
                f"the snapshot in this store has no {part}: make one with graphneg snapshot --part {part}"
            )


def stored_snapshot(store: Store) -> StoredSnapshot | None:
    """Return the snapshot in a store.

    Args:
        store: An open store.

    Returns:
        The snapshot; None if the store has none.
    """
    found = store.read(cypher_text("snapshot/state"))
    if not found:
        return None
    facts = json.loads(found[0]["facts"])
    # JSON has only text keys, so the pairs of corpus and split are stored as lists.
    dialogues = {(corpus, split): amount for corpus, split, amount in facts["dialogues"]}
    return StoredSnapshot(found[0]["digest"], tuple(facts["parts"]), dialogues, facts["utterances"])


def shared_content(store: Store, selection: Selection) -> str:
    """Return a digest of the content that all shards of a selection share.

    If the store has a snapshot, a selection without a shard, or with a limit, raises `InputError`.

    Args:
        store: An open store.
        selection: The dialogues.

    Returns:
        The digest of the snapshot, or the digest of the stored content if there is no snapshot.
    """
    snapshot = stored_snapshot(store)
    if snapshot is None:
        return shared_digest(store, selection)
    check_selection(snapshot, selection)
    # All shards of a snapshot share its digest, whatever else their stores hold.
    return f"snapshot {snapshot.digest}"


def check_selection(snapshot: StoredSnapshot | None, selection: Selection) -> None:
    """Refuse with `InputError` a selection that a store with a snapshot cannot resolve.

    Such a store holds one shard, so it cannot tell which dialogues of the corpus are the first ones, and it
    does not know which shard it holds. The selection must therefore have a shard and no limit.

    Args:
        snapshot: The snapshot in the store, if any.
        selection: The dialogues.
    """
    if snapshot is None:
        return
    if selection.shard is None:
        reason = "this store has a shard, and a snapshot of the rest: say which shard, with --shard I/N"
    elif selection.limit is not None:
        reason = "this store has a shard, and can't tell the first dialogues of all: leave --limit out"
    else:
        return
    error = InputError(reason)
    # The exit status of wrong usage.
    error.status = 2
    raise error
