"""What the dialogues of some splits of a store say in reply: texts for no training to see."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from graphneg.editing.originals import Selection, dialogue_ids, read_dialogues
from graphneg.errors import InputError
from graphneg.store import Store, cypher_text

_BATCH = 500


def split_texts(store: Store, splits: Collection[str]) -> Iterator[str]:
    """Every turn but the first of the dialogues of some splits, and their responses.

    Raises:
        InputError: no dialogue is of a split.
    """
    there = {row["split"] for row in store.read(cypher_text("read/corpora"))}
    if strange := sorted(set(splits) - there):
        known = ", ".join(sorted(there)) or "none"
        raise InputError(f"no dialogue is of the split {strange[0]!r}; there are: {known}")
    ids = dialogue_ids(store, Selection((), tuple(splits), None))
    while batch := list(islice(ids, _BATCH)):
        for dialogue in read_dialogues(store, batch):
            yield from (turn.text for turn in dialogue.turns[1:])
        for row in store.read(cypher_text("read/responses"), ids=batch):
            yield from (str(response[2]) for response in row["responses"])
