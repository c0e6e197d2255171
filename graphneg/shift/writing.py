"""Writes keywords and shifts to a store: whole dialogues, each in one transaction with its counts.

A dialogue is marked in the transaction that writes its replies and adds them to the counts, and only
dialogues without the mark are written. So counts are exact however a run ends, and however many
run at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Any
from uuid import uuid4

from neo4j import ManagedTransaction

from graphneg.errors import InputError
from graphneg.loading.rows import Row
from graphneg.loading.writing import MAX_ROWS
from graphneg.progress import Progress
from graphneg.shift.pairs import Kind
from graphneg.store import Store, cypher_text
from graphneg.store.running import run

_FORGOTTEN = (
    "edges",
    "focus",
    "perspective",
    "mentions_of_utterances",
    "mentions_of_responses",
    "terms",
    "marks",
)
_TAKEN = "another run is removing the shift graph of this store; build it again after that"


@dataclass(frozen=True, slots=True)
class Method:
    """How shifts are found: the names of the keyword extractor and of the embedder."""

    keywords: str
    embedder: str


@dataclass(slots=True)
class DialogueShifts:
    """What is to be written of one dialogue: rows of the statements in ``cypher/shift/``, by kind."""

    id: str
    pairs: int
    mentions: dict[Kind, list[Row]] = field(default_factory=dict[Kind, list[Row]])
    shifts: dict[Kind, list[Row]] = field(default_factory=dict[Kind, list[Row]])
    skipped: Counter[str] = field(default_factory=Counter[str])

    @property
    def rows(self) -> int:
        return sum(map(len, (*self.mentions.values(), *self.shifts.values())))


def check_method(store: Store, method: Method) -> bool:
    """Whether an older shift graph is still being removed.

    Raises:
        InputError: the store's shift graph was made another way.
    """
    found = store.read(cypher_text("shift/method"))
    if found:
        _refuse_other(found[0], method)
    return bool(found and found[0]["forgetting"])


def method_of(store: Store) -> Method | None:
    """How the store's shift graph was made; None where there is none."""
    found = store.read(cypher_text("shift/method"))
    return Method(found[0]["keywords"], found[0]["embedder"]) if found else None


def forget(store: Store, method: Method, progress: Progress) -> None:
    """Remove the shift graph, and what of an older one is left, to make it by ``method``.

    Stopped at any moment, it is completed by building again. Keywords of sentences that are in no
    dialogue stay.

    Raises:
        InputError: another run began to remove it.
    """
    me = uuid4().hex
    names = {"keywords": method.keywords, "embedder": method.embedder}
    store.write(lambda tx: run(tx, "shift/forget", run=me, **names))
    progress.start("remove", None, "edges")
    for part in _FORGOTTEN:
        while gone := store.write(lambda tx, part=part: _forget_some(tx, part, me)):
            progress.advance(gone)
    store.write(lambda tx: _still_mine(run(tx, "shift/forgotten", run=me)))
    progress.finish()


def write_shifts(store: Store, method: Method, dialogues: Sequence[DialogueShifts]) -> list[DialogueShifts]:
    """Write these dialogues in one transaction; returns those that no one had written before.

    Raises:
        InputError: the store's shift graph was made another way since the run began.
    """
    return store.write(lambda tx: _write(tx, method, dialogues))


def _write(
    tx: ManagedTransaction, method: Method, dialogues: Sequence[DialogueShifts]
) -> list[DialogueShifts]:
    [state] = run(tx, "shift/begin", keywords=method.keywords, embedder=method.embedder)
    _refuse_other(state, method)
    if state["forgetting"]:
        raise InputError(_TAKEN)
    claimed = {row["id"] for row in run(tx, "shift/claim", ids=sorted(one.id for one in dialogues))}
    mine = [one for one in dialogues if one.id in claimed]
    _write_mentions(tx, mine)
    _write_shifts(tx, mine)
    return mine


def _write_mentions(tx: ManagedTransaction, dialogues: Sequence[DialogueShifts]) -> None:
    rows = {kind: _sorted(dialogues, "mentions", kind) for kind in ("utterances", "responses")}
    terms = sorted({row["text"] for of_kind in rows.values() for row in of_kind})
    for some in _chunks(terms):
        run(tx, "load/terms", terms=some)
    for kind, of_kind in rows.items():
        for some in _chunks(of_kind):
            run(tx, f"shift/mentions_of_{kind}", rows=some)


def _write_shifts(tx: ManagedTransaction, dialogues: Sequence[DialogueShifts]) -> None:
    counts = Counter[tuple[str, str]]()
    for kind in ("utterances", "responses"):
        rows = _sorted(dialogues, "shifts", kind)
        counts.update((row["focus"], row["perspective"]) for row in rows)
        for some in _chunks(rows):
            run(tx, f"shift/shifts_of_{kind}", rows=some)
    edges = [{"focus": f, "perspective": p, "count": counts[f, p]} for f, p in sorted(counts)]
    for some in _chunks(edges):
        run(tx, "shift/counts", rows=some)


def _sorted(dialogues: Sequence[DialogueShifts], part: str, kind: Kind) -> list[Row]:
    rows = [row for one in dialogues for row in getattr(one, part).get(kind, ())]
    return sorted(rows, key=itemgetter("id"))


def _chunks(rows: Sequence[Any]) -> Iterator[list[Any]]:
    left = iter(rows)
    while some := list(islice(left, MAX_ROWS)):
        yield some


def _forget_some(tx: ManagedTransaction, part: str, me: str) -> int:
    """In one transaction with the look at who removes it: else what the next run wrote would go, too."""
    _still_mine(run(tx, "shift/forgetting", run=me))
    return run(tx, f"shift/forget_{part}", limit=MAX_ROWS)[0]["gone"]


def _still_mine(found: Sequence[Any]) -> None:
    if not found:
        raise InputError(_TAKEN)


def _refuse_other(found: Any, method: Method) -> None:
    before = Method(found["keywords"], found["embedder"])
    if before != method:
        raise InputError(
            f"the shift graph of this store was made with the keywords {before.keywords!r} and the embedder "
            f"{before.embedder!r}, not {method.keywords!r} and {method.embedder!r}: take the same, or "
            "make it anew (--rebuild, existing='replace')"
        )
