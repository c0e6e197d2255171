"""Asks transforms where they apply, and turns the answers into edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graphneg.editing.originals import StoredDialogue
from graphneg.errors import TransformError
from graphneg.model import Edit
from graphneg.store import Store
from graphneg.transforms import Transform

OPERATIONS = frozenset({"set", "add", "drop", "graft", "wrap"})
_KEYS = frozenset(
    {"amr", "k", "op", "role", "concept", "value", "from_amr", "from_k", "copy_of", "site", "pool", "own"}
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A site: edits that are applied together. One with a ``pool`` still needs a partner."""

    transform: str
    site: str
    edits: tuple[Edit, ...]
    pool: str | None = None
    own: str | None = None

    @property
    def graphs(self) -> frozenset[str]:
        """The graphs that the edits change."""
        return frozenset(edit.amr for edit in self.edits)


def propose(
    store: Store, transform: Transform, dialogues: Sequence[StoredDialogue]
) -> dict[str, list[Proposal]]:
    """The proposals of one transform, by dialogue, each list in the order of sites.

    Raises:
        TransformError: the query fails, or returns what is no edit.
    """
    found: dict[str, list[Proposal]] = {}
    parameters = [dialogue.parameter() for dialogue in dialogues]
    graphs = {dialogue.id: frozenset(dialogue.graphs) for dialogue in dialogues}
    for record in store.read(transform.query, dialogues=parameters):
        id, edits = record.get("dialogue"), record.get("edits")
        if id is None or edits is None:
            raise TransformError(f"{transform.place}: the query must return 'dialogue' and 'edits'")
        of = graphs.get(id)
        if of is None:
            raise TransformError(f"{transform.place}: {id!r} is none of the dialogues asked for")
        proposals = list(_grouped(transform, edits, of))
        proposals.sort(key=_site)
        found[id] = proposals
    return found


def paired(proposal: Proposal, partner: Proposal) -> tuple[Edit, ...]:
    """Two members of a pool as a swap: each gets what the other is."""
    return (_given(proposal.edits[0], partner), _given(partner.edits[0], proposal))


def _given(edit: Edit, giver: Proposal) -> Edit:
    gift = giver.edits[0]
    if edit.op == "graft":
        return edit._replace(from_amr=gift.amr, from_k=gift.k)
    if edit.value is None and giver.own is not None and giver.own.startswith('"'):
        return edit._replace(value=giver.own)
    return edit._replace(concept=giver.own)


def _grouped(transform: Transform, rows: list[dict[str, Any]], graphs: frozenset[str]) -> Iterator[Proposal]:
    sites: dict[str, list[Edit]] = {}
    pools: dict[str, tuple[str, str]] = {}
    for row in rows:
        edit = _edit(transform, row, graphs)
        sites.setdefault(edit.site, []).append(edit)
        if row.get("pool") is not None:
            pools[edit.site] = (str(row["pool"]), str(row.get("own")))
    for site, edits in sites.items():
        pool, own = pools.get(site, (None, None))
        yield Proposal(transform.name, site, tuple(edits), pool, own)


def _edit(transform: Transform, row: dict[str, Any], graphs: frozenset[str]) -> Edit:
    """One map of a query's answer as an edit, or a clear refusal: it may be a user's transform."""
    unknown = row.keys() - _KEYS
    amr, k, op = row.get("amr"), row.get("k"), row.get("op")
    if unknown or op not in OPERATIONS or not isinstance(k, int) or amr not in graphs:
        reason = f"unknown keys {sorted(unknown)}" if unknown else f"op {op!r} at {amr!r}.{k!r}"
        raise TransformError(
            f"{transform.place}: no edit: {reason}; see docs/transforms.md for what a row holds"
        )
    site = row.get("site")
    return Edit(
        transform.name,
        transform.category,
        f"{amr}.{k}" if site is None else str(site),
        op,
        amr,
        k,
        row.get("role"),
        row.get("concept"),
        row.get("value"),
        row.get("from_amr"),
        row.get("from_k"),
        row.get("copy_of"),
    )


def _site(proposal: Proposal) -> str:
    return proposal.site
