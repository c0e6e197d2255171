"""Asks transforms where they apply, and turns the answers into edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from neo4j import Record
from neo4j.exceptions import Neo4jError

from graphneg.editing.transforms import Transform
from graphneg.errors import StoreError, TransformError
from graphneg.hashing import number, shuffled
from graphneg.model import Edit
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, StoredDialogue, Turn, count_dialogues
from graphneg.store.statements import cypher_text

# Graphs of other dialogues that a transform may copy from: a few for each dialogue, always the same ones.
#
# A transform whose header says ``needs: donors`` finds them in ``$dialogues``. Neither the batch nor the
# size of the corpus decides what it costs to choose them: texts are indexed by their digests, so an
# interval of digests is a sample, and it is made narrower as the corpus grows.


OFFERED = 24
SAMPLE = 48
SAMPLES = 64
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Donor:
    dialogue: str
    amr: str


class Donors:
    """For each dialogue, up to ``OFFERED`` graphs of other dialogues of its corpus and split.

    They are drawn, by a hash of the dialogue's id, from one of ``SAMPLES`` samples of about
    ``SAMPLE`` utterances. A sample is read once.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._widths: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], tuple[_Donor, ...]] = {}

    def of(self, dialogue: StoredDialogue) -> list[str]:
        """Ids of graphs, in an order of the dialogue's own.

        Raises:
            StoreError: the store is gone.
        """
        group = (dialogue.corpus, dialogue.split)
        if group not in self._widths:
            self._widths[group] = share_of_digests(self._store, *group, SAMPLE)
        samples = min(SAMPLES, max(1, int(1 / self._widths[group])))
        place = number(0, "sample", dialogue.id) % samples
        if (*group, place) not in self._samples:
            self._samples[(*group, place)] = self._sample(*group, place / samples)
        others = [one.amr for one in self._samples[(*group, place)] if one.dialogue != dialogue.id]
        return shuffled(others, 0, "donors", dialogue.id)[:OFFERED]

    def _sample(self, corpus: str, split: str, low: float) -> tuple[_Donor, ...]:
        high = low + self._widths[(corpus, split)]
        rows = self._store.read(
            cypher_text("read/donors"), corpus=corpus, split=split, low=digest_at(low), high=digest_at(high)
        )
        rows.sort(key=lambda row: (row["key"], row["amr"]))
        return tuple(_Donor(row["dialogue"], row["amr"]) for row in rows)


def said_by(store: Store, amrs: Iterable[str]) -> dict[str, Turn]:
    """The utterances that these graphs belong to, by graph id.

    Raises:
        StoreError: the store is gone.
    """
    wanted = sorted(set(amrs))
    rows = store.read(cypher_text("read/said"), amrs=wanted) if wanted else []
    return {row["amr"]: Turn(row["turn"], row["speaker"], row["text"], row["amr"]) for row in rows}


def share_of_digests(store: Store, corpus: str, split: str, wanted: int) -> float:
    """The share of all digests that holds about ``wanted`` utterances of a corpus and split.

    Raises:
        StoreError: the store is gone.
    """
    everything = count_dialogues(store, Selection())
    own = count_dialogues(store, Selection((corpus,), (split,)))
    if not everything or not own:
        return 1.0
    utterances = store.read(cypher_text("read/size"))[0]["utterances"]
    return min(1.0, wanted * everything / max(1, utterances * own))


def digest_at(share: float) -> str:
    """Where a share of all digests ends: digests are hexadecimal, and all are below ``g``."""
    return f"{int(share * 16**_DIGITS):0{_DIGITS}x}" if share < 1 else "g"


# Asks transforms where they apply, and turns the answers into edits.


Row = dict[str, Any]
OPERATIONS = frozenset({"set", "add", "drop", "graft", "wrap"})
MOST_SHAPES = 1_000
NEEDS_DONORS = "donors"
_SHAPES: set[tuple[object, ...]] = set()
"""Keys, and types of values, of rows that were looked at closely and are edits."""

_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("k", "from_k"), int),
    **dict.fromkeys(("amr", "op", "role", "concept", "value", "from_amr", "copy_of"), str),
    **dict.fromkeys(("site", "pool", "own", "target"), object),
}


class Proposal:
    """A site: edits that are applied together. One with a ``pool`` still needs a partner, and one with a
    ``target`` is for negatives of that target alone.

    Its edits are made of the query's rows when they are asked for: most sites are never tried.
    """

    __slots__ = ("_edits", "_made_by", "_rows", "own", "pool", "site", "target", "transform")

    def __init__(self, made_by: Transform, site: str, row: Row) -> None:
        self.transform = made_by.name
        self.site = site
        self.pool: str | None = None
        self.own: str | None = None
        self.target: str | None = None
        self._made_by = made_by
        self._rows: list[Row] = []
        self._edits: tuple[Edit, ...] | None = None
        self.add(row)

    def __repr__(self) -> str:
        return f"Proposal({self.transform!r}, {self.site!r}, {self._rows!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Proposal) and self._told() == other._told()

    def __hash__(self) -> int:
        return hash((self.transform, self.site))

    def _told(self) -> tuple[object, ...]:
        return self.transform, self.site, self.edits, self.pool, self.own, self.target

    def add(self, row: Row) -> None:
        """One more edit of this site."""
        self._rows.append(row)
        if row.get("pool") is not None:
            self.pool, self.own = str(row["pool"]), str(row.get("own"))
        if row.get("target") is not None:
            self.target = str(row["target"])

    @property
    def edits(self) -> tuple[Edit, ...]:
        if self._edits is None:
            self._edits = tuple(_edit(self._made_by, self.site, row) for row in self._rows)
        return self._edits

    @property
    def graphs(self) -> frozenset[str]:
        """The graphs that the edits change."""
        return frozenset(row["amr"] for row in self._rows)


def propose(
    store: Store,
    transform: Transform,
    dialogues: Sequence[StoredDialogue],
    donors: Donors | None = None,
) -> dict[str, list[Proposal]]:
    """The proposals of one transform, by dialogue, each list in the order of sites.

    ``donors`` knows what a transform that needs some may copy from other dialogues.

    Raises:
        TransformError: the query fails, or returns what is no edit.
    """
    found: dict[str, list[Proposal]] = {}
    parameters = [dialogue.parameter() for dialogue in dialogues]
    if NEEDS_DONORS in transform.needs:
        _offer(parameters, dialogues, donors or Donors(store))
    graphs = {dialogue.id: frozenset(dialogue.graphs) for dialogue in dialogues}
    sources = {row["id"]: graphs[row["id"]].union(row.get("donors", ())) for row in parameters}
    for record in _answer(store, transform, parameters):
        id, edits = record.get("dialogue"), record.get("edits")
        if id is None or not isinstance(edits, list):
            raise TransformError(f"{transform.place}: the query must return 'dialogue' and 'edits'")
        of = graphs.get(id)
        if of is None:
            raise TransformError(f"{transform.place}: {id!r} is none of the dialogues asked for")
        found[id] = _grouped(transform, cast("list[Any]", edits), of, sources[id])
    return found


def _offer(parameters: Sequence[Row], dialogues: Sequence[StoredDialogue], donors: Donors) -> None:
    for row, dialogue in zip(parameters, dialogues, strict=True):
        row["donors"] = donors.of(dialogue)


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


def _grouped(
    transform: Transform, rows: list[Any], graphs: frozenset[str], sources: frozenset[str]
) -> list[Proposal]:
    """The rows of one dialogue by site, in the order of sites; a row that is no edit is refused."""
    sites: dict[str, Proposal] = {}
    for row in rows:
        if not _is_usual(row, graphs, sources):
            fault = _fault(row, graphs, sources)
            if fault is not None:
                raise TransformError(
                    f"{transform.place}: no edit: {fault}; docs/transforms.md says what a row holds"
                )
        site = row.get("site")
        site = f"{row['amr']}.{row['k']}" if site is None else str(site)
        if site in sites:
            sites[site].add(row)
        else:
            sites[site] = Proposal(transform, site, row)
    return [sites[site] for site in sorted(sites)]


def _edit(transform: Transform, site: str, row: Row) -> Edit:
    return Edit(
        transform.name,
        transform.category,
        site,
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


def _is_usual(row: Any, graphs: frozenset[str], sources: frozenset[str]) -> bool:
    """Whether a row is an edit like those seen before: most are, and to look closely takes longer."""
    if type(row) is not dict:
        return False
    fields = cast("Row", row)
    shape = (*fields, *map(type, fields.values()))
    if shape not in _SHAPES:
        if _fault(row, graphs, sources) is not None or len(_SHAPES) >= MOST_SHAPES:
            return False
        _SHAPES.add(shape)
    source = fields.get("from_amr")
    return fields["op"] in OPERATIONS and fields["amr"] in graphs and (source is None or source in sources)


def _fault(row: Any, graphs: frozenset[str], sources: frozenset[str]) -> str | None:
    """Why a row is no edit of these graphs, or copies from none of ``sources``; none where it is one."""
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
    if source is not None and source not in sources:
        return f"from_amr {source!r} is no graph of the dialogue, nor one of its donors"
    return None
