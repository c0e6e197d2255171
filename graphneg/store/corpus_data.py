"""Read data about a whole corpus, even if the store contains only one shard of it.

Some negatives need more than the dialogue that they are made from, for example utterances of other dialogues
that are inserted into a response. On one machine, these data are computed from the store. If a corpus is
divided into shards, the store of a shard contains only some of the dialogues. It also contains a snapshot,
which is a copy of the data that were computed from the whole corpus (see `graphneg.snapshots`). Code that
needs such data calls `corpus_rows`, which takes them from the snapshot or computes them.

Example:
    Count the shifts of the whole corpus::

        rows = corpus_rows(store, SHIFTS, lambda: store.read(cypher_text("shift/edges")))
        shifts = sum(row["count"] for row in rows)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphneg.errors import InputError
from graphneg.store.connection import Store
from graphneg.store.contents import shared_digest
from graphneg.store.dialogues import Selection, count_dialogues
from graphneg.store.statements import cypher_text

DONORS, UTTERANCES, SHIFTS, SENTENCES, BANK = "donors", "utterances", "shifts", "sentences", "bank"
PARTS = (DONORS, UTTERANCES, SHIFTS, SENTENCES, BANK)
"""The names of the parts that a snapshot can have."""
ANSWERED = "answered"
"""The key of the snapshot rows with contexts and their correct responses. They belong to the part
``sentences``."""
COPIES = "copies"
"""The key of the snapshot rows with the correct replies to contexts that occur in several dialogues. Every
snapshot has these rows."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """The snapshot in a store: data that were computed from the whole corpus.

    A snapshot consists of parts. Each part has the data that one kind of negatives needs.

    Attributes:
        digest: The digest of the snapshot's content.
        parts: The names of the parts that the snapshot has.
        dialogues: Numbers of dialogues on which the snapshot is based, keyed by (corpus, split).
        utterances: Number of utterances in these dialogues.
    """

    digest: str
    parts: tuple[str, ...]
    dialogues: Mapping[tuple[str, str], int]
    utterances: int

    def rows(self, store: Store, part: str) -> list[Any]:
        """Return the rows of one part of the snapshot, in their stored order.

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
        # Each part of a snapshot is stored in several nodes. A node contains a list of rows as JSON.
        return [row for some in found for row in json.loads(some["rows"])]

    def require(self, part: str) -> None:
        """Raise an error if the snapshot lacks a part, such as ``shifts``.

        Args:
            part: A name in `PARTS`.

        Raises:
            InputError: The snapshot does not have this part.
        """
        if part not in self.parts:
            raise InputError(
                f"the snapshot in this store has no {part}: make one with "
                f"graphneg shards snapshot --part {part}"
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
    # The JSON text contains lists such as ["everyday", "train", 40]: a corpus, a split and its number of
    # dialogues. It contains no object, because a key of a JSON object cannot be a pair.
    dialogues = {(corpus, split): amount for corpus, split, amount in facts["dialogues"]}
    return StoredSnapshot(found[0]["digest"], tuple(facts["parts"]), dialogues, facts["utterances"])


def corpus_rows(store: Store, part: str, compute: Callable[[], list[Any]]) -> list[Any]:
    """Return data about the whole corpus, even if the store contains only one shard of it.

    If the store contains a snapshot, the data are read from the snapshot. Otherwise the store contains the
    whole corpus, and the data are computed.

    Raises `InputError` if the snapshot lacks the part ``part``.

    Args:
        store: An open store.
        part: Name of the part of a snapshot that contains the rows: one of the names in `PARTS`, or the
            constant `ANSWERED` or `COPIES`.
        compute: Function that computes the rows from a store with the whole corpus.

    Returns:
        The rows. Rows from a snapshot are in the order in which ``compute`` returned them.
    """
    snapshot = stored_snapshot(store)
    return compute() if snapshot is None else snapshot.rows(store, part)


class CorpusSize(NamedTuple):
    """The size of a whole corpus.

    Attributes:
        dialogues: Number of dialogues in all corpora and splits.
        selected: Number of dialogues in the corpus and split that were passed to `corpus_size`.
        utterances: Number of utterances in all corpora and splits.
    """

    dialogues: int
    selected: int
    utterances: int


def corpus_size(store: Store, corpus: str, split: str) -> CorpusSize:
    """Return the numbers of dialogues and utterances of the whole corpus, including other shards.

    Args:
        store: An open store.
        corpus: Name of the corpus whose dialogues ``selected`` counts.
        split: Name of the split whose dialogues ``selected`` counts.

    Returns:
        The numbers, taken from the snapshot if the store has one.
    """
    if (snapshot := stored_snapshot(store)) is not None:
        by_split = snapshot.dialogues
        return CorpusSize(sum(by_split.values()), by_split.get((corpus, split), 0), snapshot.utterances)
    return CorpusSize(
        count_dialogues(store, Selection()),
        count_dialogues(store, Selection((corpus,), (split,))),
        store.read(cypher_text("read/size"))[0]["utterances"],
    )


def has_whole_corpus(store: Store) -> bool:
    """Return whether the store has all dialogues of its corpora, and not only the dialogues of a shard.

    Args:
        store: An open store.

    Returns:
        False if the store has a snapshot, which only the store of a shard has.
    """
    return stored_snapshot(store) is None


def require_part(store: Store, part: str) -> None:
    """Raise `InputError` if the store has a snapshot without the given part.

    A snapshot is a file with data about the whole corpus, such as the counts of shifts. Call this function at
    the start of a run that needs the part, so that the run does not fail after hours.

    Args:
        store: An open store.
        part: A name in `PARTS`.
    """
    if (snapshot := stored_snapshot(store)) is not None:
        snapshot.require(part)


def shared_content(store: Store, selection: Selection) -> str:
    """Return a digest of the stored content. All shards of a selection have the same digest.

    Raises `InputError` if the store has only a shard of the corpus, and the selection names no shard or has a
    limit; see `check_selection`.

    Args:
        store: An open store.
        selection: The selected dialogues.

    Returns:
        The digest of the snapshot; without a snapshot, the digest of the stored content.
    """
    snapshot = stored_snapshot(store)
    if snapshot is None:
        return shared_digest(store, selection)
    check_selection(store, selection)
    # All shards have the same snapshot, so its digest is the same for all shards.
    return f"snapshot {snapshot.digest}"


def check_selection(store: Store, selection: Selection) -> None:
    """Raise `InputError` if a store with only one shard of a corpus cannot find the selected dialogues.

    Such a store does not record which shard it has, so the selection must specify the shard. The selection
    must not have a limit, because the store does not know which dialogues come first in the whole corpus. A
    store without a snapshot has the whole corpus and accepts every selection.

    Args:
        store: An open store.
        selection: The selected dialogues.
    """
    if has_whole_corpus(store):
        return
    if selection.shard is None:
        reason = "this store has a shard, and a snapshot of the rest: give the shard with --shard I/N"
    elif selection.limit is not None:
        reason = (
            "this store has only a shard and can't tell the first dialogues of the corpus: remove --limit"
        )
    else:
        return
    error = InputError(reason)
    # 2 is the exit status for incorrect usage of a command.
    error.status = 2
    raise error
