"""Asks transforms where they apply, and turns the answers into edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from neo4j import Record
from neo4j.exceptions import Neo4jError

from graphneg.editing.originals import StoredDialogue
from graphneg.errors import StoreError, TransformError
from graphneg.model import Edit
from graphneg.store import Store
from graphneg.transforms import Transform

OPERATIONS = frozenset({"set", "add", "drop", "graft", "wrap"})
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("k", "from_k"), int),
    **dict.fromkeys(("amr", "op", "role", "concept", "value", "from_amr", "copy_of"), str),
    **dict.fromkeys(("site", "pool", "own"), object),
}


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
    for record in _answer(store, transform, parameters):
        id, edits = record.get("dialogue"), record.get("edits")
        if id is None or not isinstance(edits, list):
            raise TransformError(f"{transform.place}: the query must return 'dialogue' and 'edits'")
        of = graphs.get(id)
        if of is None:
            raise TransformError(f"{transform.place}: {id!r} is none of the dialogues asked for")
        proposals = list(_grouped(transform, cast("list[Any]", edits), of))
        proposals.sort(key=_site)
        found[id] = proposals
    return found


def _answer(store: Store, transform: Transform, parameters: Sequence[Mapping[str, Any]]) -> list[Record]:
    try:
        return store.read(transform.query, dialogues=parameters)
    except StoreError as error:
        refusal = error.__cause__
        if isinstance(refusal, Neo4jError) and not refusal.is_retryable():
            raise TransformError(f"{transform.place}: {error}") from error
        raise


def paired(proposal: Proposal, partner: Proposal) -> tuple[Edit, ...]:
    """Two members of a pool as a swap: each gets what the other is."""
    return (_given(proposal.edits[0], partner), _given(partner.edits[0], proposal))


def _given(edit: Edit, giver: Proposal) -> Edit:
    gift = giver.edits[0]
    if edit.op == "graft":
        return edit._replace(from_amr=gift.amr, from_k=gift.k)
    if edit.value is not None:
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
    fault = _fault(row, graphs)
    if fault is not None:
        raise TransformError(f"{transform.place}: no edit: {fault}; docs/transforms.md says what a row holds")
    site = row.get("site")
    return Edit(
        transform.name,
        transform.category,
        f"{row['amr']}.{row['k']}" if site is None else str(site),
        row["op"],
        row["amr"],
        row["k"],
        row.get("role"),
        row.get("concept"),
        row.get("value"),
        row.get("from_amr"),
        row.get("from_k"),
        row.get("copy_of"),
    )


def _fault(row: Any, graphs: frozenset[str]) -> str | None:
    """Why a row is no edit of these graphs; none where it is one."""
    if not isinstance(row, dict):
        return f"a row is a map, and {row!r} is none"
    for name, value in cast("dict[str, Any]", row).items():
        if value is not None and not isinstance(value, _KINDS.get(name, ())):
            return f"{name} can't be {value!r}" if name in _KINDS else f"there is no key {name!r}"
    fields = cast("dict[str, Any]", row)
    if fields.get("op") not in OPERATIONS:
        return f"op {fields.get('op')!r} is none of {', '.join(sorted(OPERATIONS))}"
    if fields.get("k") is None or fields.get("amr") not in graphs:
        return f"{fields.get('amr')!r}.{fields.get('k')!r} is no node of the dialogue"
    source = fields.get("from_amr")
    if source is not None and source not in graphs:
        return f"from_amr {source!r} is no graph of the dialogue"
    return None


def _site(proposal: Proposal) -> str:
    return proposal.site
