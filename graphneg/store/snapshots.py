"""Read the snapshot in the store of a shard.

To make negatives in parallel, a corpus can be divided into shards, each in its own store. But some negatives
need data from the whole corpus, for example utterances of other dialogues that are inserted into a response.
A snapshot contains these data, so that a shard gives the same negatives as a store with the whole corpus.
`graphneg.snapshots` makes and loads snapshots. `stored_snapshot` returns the snapshot in a store, or None if
the store has none.

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
"""The names of the parts that a snapshot can have."""
ANSWERED = "answered"
"""The name of the rows with contexts and their correct responses, which belong to the part ``sentences``."""
COPIES = "copies"
"""The name of the rows with the correct replies of copied contexts, which every snapshot has."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """The snapshot in a store.

    It consists of parts. Each part has the data that one kind of negatives needs.

    Attributes:
        digest: The digest of the snapshot's content.
        parts: The names of the parts that the snapshot has.
        dialogues: Number of dialogues on which the snapshot is based, by names of corpus and split.
        utterances: Number of utterances in these dialogues.
    """

    digest: str
    parts: tuple[str, ...]
    dialogues: Mapping[tuple[str, str], int]
    utterances: int

    def rows(self, store: Store, part: str) -> list[Any]:
        """Return the rows of a part, in their stored order.

        Raises `InputError` if the snapshot does not have the part.

        Args:
            store: The store that contains the snapshot.
            part: A name in `PARTS`, or `ANSWERED` or `COPIES`.

        Returns:
            The rows, parsed from JSON.
        """
        if part != COPIES:
            self.require(SENTENCES if part == ANSWERED else part)
        found = store.read(cypher_text("snapshot/rows"), part=part)
        # Concatenate the rows, because those of a part are stored in several nodes, as JSON.
        return [row for some in found for row in json.loads(some["rows"])]

    def require(self, part: str) -> None:
        """Raise an error if the snapshot lacks a part.

        Args:
            part: A name in `PARTS`.

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
    # Convert lists to pairs of corpus and split, which cannot be keys of a JSON object.
    dialogues = {(corpus, split): amount for corpus, split, amount in facts["dialogues"]}
    return StoredSnapshot(found[0]["digest"], tuple(facts["parts"]), dialogues, facts["utterances"])


def shared_content(store: Store, selection: Selection) -> str:
    """Return a digest that is the same for all shards of a selection.

    Raises `InputError` if the store has a snapshot and cannot resolve the selection; see `check_selection`.

    Args:
        store: An open store.
        selection: The selected dialogues.

    Returns:
        The digest of the snapshot; without a snapshot, the digest of the stored content.
    """
    snapshot = stored_snapshot(store)
    if snapshot is None:
        return shared_digest(store, selection)
    check_selection(snapshot, selection)
    # Use the digest of the snapshot, which is the same in the stores of all shards.
    return f"snapshot {snapshot.digest}"


def check_selection(snapshot: StoredSnapshot | None, selection: Selection) -> None:
    """Raise `InputError` for a selection that a store with a snapshot cannot resolve.

    A store with a snapshot contains one shard of a corpus. It does not record which shard this is, so the
    selection must specify the shard. It does not know which dialogues of the corpus are the first ones, so
    the selection must not have a limit.

    Args:
        snapshot: The snapshot in the store; None if there is none, so that every selection is accepted.
        selection: The selected dialogues.
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
    # 2 is the exit status for incorrect usage of a command.
    error.status = 2
    raise error
