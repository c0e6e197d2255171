"""Asks transforms where they apply, and turns the answers into edits."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any, cast
from zlib import crc32

from neo4j import Record
from neo4j.exceptions import Neo4jError

from graphneg.editing.recipes import TARGETS, Target
from graphneg.editing.transforms import Transform
from graphneg.english.tokens import match_key, typed_sentences
from graphneg.errors import OnlyReading, StoreError, TransformError
from graphneg.hashing import number, shuffled
from graphneg.model import Edit
from graphneg.parsers.base import LONGEST_TEXT
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    StoredTurn,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
)
from graphneg.store.queries import frame_exists
from graphneg.store.snapshots import DONORS, UTTERANCES, StoredSnapshot, stored_snapshot
from graphneg.store.statements import cypher_text

OFFERED = 24
TAKERS = 2
"""Number of dialogues that may borrow the same sentence."""
_CONSIDERED = 8
"""Dialogues that are remembered for each donor: those that were offered the fewest take it."""
_PAGE = 500
LONGEST_EDITED = LONGEST_TEXT
"""Longest text in characters that is edited: no decoder reads so much, and a query of each transform takes
seconds for it."""
_DIGITS = 12
_FRAME = re.compile(r"-\d{2,}$")
Row = dict[str, Any]
SampleRow = Mapping[str, Any]
OPERATIONS = frozenset({"set", "add", "drop", "graft", "wrap"})
NEEDS_DONORS = "donors"
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("k", "from_k", "score"), int),
    **dict.fromkeys(("amr", "op", "role", "concept", "value", "from_amr", "copy_of"), str),
    **dict.fromkeys(("site", "pool", "own", "target"), object),
}


class UtteranceSamples:
    """Utterances of a corpus and split, a small sample at a time: memory does not grow with the corpus.

    Texts are indexed by their digests, so an interval of digests is a sample, narrower in a larger corpus.
    Each draw hashes to one of at most ``most`` samples of about ``size`` utterances, which is read once, by a
    ``query`` with the parameters $corpus, $split, $low and $high, and kept. In a store with a snapshot, all
    samples are a ``part`` of that.
    """

    def __init__(self, store: Store, query: str, part: str, size: int, most: int) -> None:
        self._store = store
        self._query = query
        self._part = part
        self._size = size
        self._most = most
        self._known: Sequence[SampleRow] | None = None
        self._shares: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], Sequence[SampleRow]] = {}

    def draw(self, corpus: str, split: str, seed: int, *names: str) -> Sequence[SampleRow]:
        """The rows of the sample that seed and names decide, in no order."""
        if (corpus, split) not in self._shares:
            self._shares[corpus, split] = self._share(corpus, split)
        share = self._shares[corpus, split]
        amount = self._amount(share)
        drawn = number(seed, "sample", *names) % amount
        key = (corpus, split, drawn)
        if key not in self._samples:
            self._samples[key] = self._read(corpus, split, share, drawn)
        return self._samples[key]

    def every(self, corpus: str, split: str) -> Iterator[SampleRow]:
        """The rows of all samples of a corpus and split, each once, by digest."""
        share = self._share(corpus, split)
        rows = (
            dict(row) for at in range(self._amount(share)) for row in self._read(corpus, split, share, at)
        )
        distinct = {tuple(row.values()): row | {"corpus": corpus, "split": split} for row in rows}
        yield from (distinct[key] for key in sorted(distinct))

    def _amount(self, share: float) -> int:
        return min(self._most, max(1, int(1 / share)))

    def _read(self, corpus: str, split: str, share: float, drawn: int) -> Sequence[SampleRow]:
        """The rows of a sample, of the snapshot where the store has one."""
        amount = self._amount(share)
        low, high = _digest_at(drawn / amount), _digest_at(drawn / amount + share)
        if self._snapshot is None:
            between = {"corpus": corpus, "split": split, "low": low, "high": high}
            return self._store.read(cypher_text(self._query), **between)
        if self._known is None:
            self._known = self._snapshot.rows(self._store, self._part)
        return [
            row
            for row in self._known
            if low <= row["key"] < high and row["corpus"] == corpus and row["split"] == split
        ]

    @cached_property
    def _snapshot(self) -> StoredSnapshot | None:
        return stored_snapshot(self._store)

    def _share(self, corpus: str, split: str) -> float:
        """The share of all digests that holds about one sample's utterances of a corpus and split."""
        if self._snapshot is not None:
            everything = sum(self._snapshot.dialogues.values())
            own, utterances = self._snapshot.dialogues.get((corpus, split), 0), self._snapshot.utterances
        else:
            everything = count_dialogues(self._store, Selection())
            own = count_dialogues(self._store, Selection((corpus,), (split,)))
            utterances = self._store.read(cypher_text("read/size"))[0]["utterances"]
        if not everything or not own:
            return 1.0
        return min(1.0, self._size * everything / max(1, utterances * own))


def _digest_at(share: float) -> str:
    """Where a share of all digests ends: digests are hexadecimal, and all are below ``g``."""
    return f"{int(share * 16**_DIGITS):0{_DIGITS}x}" if share < 1 else "g"


def samples_with_graphs(store: Store) -> UtteranceSamples:
    """Samples of utterances with AMR graphs: key, dialogue, amr, length."""
    return UtteranceSamples(store, "read/donors", DONORS, size=48, most=64)


def samples_of_texts(store: Store) -> UtteranceSamples:
    """Samples of utterances: key, dialogue, turn, text."""
    return UtteranceSamples(store, "read/utterances_between", UTTERANCES, size=64, most=256)


class Donors:
    """For each dialogue, up to ``OFFERED`` graphs of other dialogues of its corpus and split.

    A transform whose header says ``needs: donors`` finds them in ``$dialogues``. Each donor is offered to
    `TAKERS` dialogues at most, in the whole corpus and split, and no two donors say the same sentence: so a
    sentence is borrowed twice at most, whatever the order, the batches and the shards of a run. In a
    sentence that any dialogue can say, a donor has a noun that its takers say before their last turn, or that
    one of their nouns can take the place of. Hashes decide between equals.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._samples = samples_with_graphs(store)
        self._offers: dict[tuple[str, str], Mapping[str, Sequence[str]]] = {}

    def of(self, dialogue: StoredDialogue) -> list[str]:
        """Return ids of graphs, in an order of the dialogue's own."""
        part = (dialogue.corpus, dialogue.split)
        if part not in self._offers:
            offers: defaultdict[str, list[str]] = defaultdict(list)
            for row in self.offers(*part):
                offers[row["taker"]].append(row["amr"])
            self._offers[part] = offers
        return shuffled(self._offers[part].get(dialogue.id, ()), 0, "donors", dialogue.id)[:OFFERED]

    def offers(self, corpus: str, split: str) -> list[Row]:
        """Return which donors are offered to which dialogues of a corpus and split.

        Returns:
            Rows with corpus, split, ``taker`` (id of a dialogue), ``dialogue`` (of the donor) and ``amr``.

        Raises:
            StoreError: The store is gone.
        """
        if (snapshot := stored_snapshot(self._store)) is not None:
            rows: list[Row] = snapshot.rows(self._store, DONORS)
            return [row for row in rows if row["corpus"] == corpus and row["split"] == split]
        donors = self._donors(corpus, split)
        fitting: defaultdict[str, list[_Donor]] = defaultdict(list)
        for donor in donors:
            for noun in donor.fits | donor.nouns:
                fitting[noun].append(donor)
        ids = dialogue_ids(self._store, Selection((corpus,), (split,)))
        while page := list(islice(ids, _PAGE)):
            dialogues = read_dialogues(self._store, page)
            amrs = [turn.amr for one in dialogues for turn in one.turns[:-1] if turn.amr is not None]
            nodes = self._nodes(amrs)
            for dialogue in dialogues:
                graphs = [nodes.get(turn.amr or "", ()) for turn in dialogue.turns[:-1]]
                nouns = {node[2] for graph in graphs for node in graph if node[3]}
                sorts = {node[3] for graph in graphs for node in graph if node[3]}
                takes = {donor.amr: donor for noun in nouns | sorts for donor in fitting.get(noun, ())}
                for donor in takes.values():
                    if donor.dialogue != dialogue.id:
                        donor.consider(dialogue.id, not donor.nouns.isdisjoint(nouns))
        found: list[Row] = []
        offered: Counter[str] = Counter()
        for donor in donors:
            fewest = sorted(donor.takers(), key=lambda taker: offered[taker])
            for taker in fewest[:TAKERS]:
                offered[taker] += 1
                row = {"corpus": corpus, "split": split, "taker": taker}
                found.append({**row, "dialogue": donor.dialogue, "amr": donor.amr})
        return sorted(found, key=lambda row: (row["taker"], row["amr"]))

    def _donors(self, corpus: str, split: str) -> list[_Donor]:
        """Return the utterances to borrow from, in an order of their own; none says a sentence of another."""
        rows = [row for row in self._samples.every(corpus, split) if row["length"] <= LONGEST_EDITED]
        said = said_by(self._store, [row["amr"] for row in rows])
        nodes = self._nodes([row["amr"] for row in rows])
        rows.sort(key=lambda row: (number(0, "donor", row["amr"]), row["amr"]))
        known: set[str] = set()
        donors: list[_Donor] = []
        for row in rows:
            text = said[row["amr"]].text
            keys = {match_key(part.text).rstrip(".!?") for part in typed_sentences(text)}
            own = nodes.get(row["amr"], ())
            tops = {node[0] for node in own if node[5]}
            within = [node for node in own if node[1] in tops and node[3]]
            if within and known.isdisjoint(keys):
                nouns, fits = {node[2] for node in within}, {node[4] for node in within}
                donors.append(_Donor(row["dialogue"], row["amr"], nouns, fits))
                known |= keys
        return donors

    def _nodes(self, amrs: Sequence[str]) -> dict[str, Sequence[Sequence[Any]]]:
        """Return what ``read/topic_nouns`` tells of graphs, by graph."""
        found: dict[str, Sequence[Sequence[Any]]] = {}
        for at in range(0, len(amrs), _PAGE):
            rows = self._store.read(cypher_text("read/topic_nouns"), amrs=list(amrs[at : at + _PAGE]))
            found.update((row["amr"], row["nodes"]) for row in rows)
        return found


class _Donor:
    """An utterance that may be borrowed from, and some of the dialogues that may take it."""

    def __init__(self, dialogue: str, amr: str, nouns: set[str], fits: set[str]) -> None:
        self.dialogue, self.amr, self.nouns, self.fits = dialogue, amr, nouns, fits
        self._salt = crc32(amr.encode("utf-8", "surrogatepass"))
        self._takers: list[tuple[tuple[bool, int], str]] = []

    def consider(self, dialogue: str, says_noun: bool) -> None:
        """Keep a dialogue that is among the first `_CONSIDERED`, those with a noun in common first."""
        rank = (says_noun, -crc32(dialogue.encode("utf-8", "surrogatepass"), self._salt))
        if len(self._takers) < _CONSIDERED:
            heappush(self._takers, (rank, dialogue))
        else:
            heappushpop(self._takers, (rank, dialogue))

    def takers(self) -> list[str]:
        """Return the dialogues that are kept, the first one first."""
        return [dialogue for _, dialogue in sorted(self._takers, reverse=True)]


class StrangeFrames:
    """Frames that transforms bring and that do not exist: neither in PropBank as it comes with graphneg nor
    among those that are loaded. What is copied from graphs is not looked at."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._exist: dict[str, bool] = {}
        self._found: Counter[tuple[str, str]] = Counter()

    def forget(self) -> None:
        """Count from nothing."""
        self._found.clear()

    def look_at(self, edits: Iterable[Edit]) -> None:
        """Count the strange frames of edits, by transform."""
        brought = [(edit.transform, edit.concept) for edit in edits if edit.concept is not None]
        self._found.update((name, concept) for name, concept in brought if self._is_strange(concept))

    def notes(self) -> list[str]:
        """A line for each."""
        return [
            f"transform {name}: {frame} is no frame of PropBank, nor one that is loaded ({count:,} edits)"
            for (name, frame), count in sorted(self._found.items())
        ]

    def _is_strange(self, concept: str) -> bool:
        if not _FRAME.search(concept):
            return False
        if concept not in self._exist:
            self._exist[concept] = frame_exists(self._store, concept)
        return not self._exist[concept]


def said_by(store: Store, amrs: Iterable[str]) -> dict[str, StoredTurn]:
    """The utterances that these graphs belong to, by graph id."""
    wanted = sorted(set(amrs))
    rows = store.read(cypher_text("read/said"), amrs=wanted) if wanted else []
    return {row["amr"]: StoredTurn(row["turn"], row["speaker"], row["text"], row["amr"]) for row in rows}


@dataclass(slots=True)
class Proposal:
    """A site: edits that are applied together. One with a ``pool`` still needs a partner, and one with a
    ``target`` is for negatives of that target alone. Of several, that with the highest ``score`` is edited.

    Its edits are made of the query's rows when they are asked for: most sites are never tried.
    """

    made_by: Transform = field(repr=False)
    site: str
    rows: list[Row] = field(default_factory=list[Row])
    pool: str | None = None
    own: str | None = None
    target: Target | None = None
    score: int = 0
    made: tuple[Edit, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def transform(self) -> str:
        """The name of the transform that proposes it."""
        return self.made_by.name

    def add(self, row: Row) -> None:
        """One more edit of this site."""
        self.rows.append(row)
        if row.get("pool") is not None:
            self.pool, self.own = str(row["pool"]), str(row.get("own"))
        if row.get("target") is not None:
            self.target = cast("Target", row["target"])
        self.score = max(self.score, row.get("score") or 0)

    @property
    def for_target(self) -> Target | None:
        """The target of the negatives that the site is for; None where any will do."""
        return self.target or self.made_by.target

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of the site, in their order."""
        if self.made is None:
            shared = (self.transform, self.made_by.category, self.site)
            self.made = tuple(Edit._make((*shared, *map(row.get, Edit._fields[3:]))) for row in self.rows)
        return self.made

    @property
    def graphs(self) -> frozenset[str]:
        """The graphs that the edits change."""
        return frozenset(row["amr"] for row in self.rows)


def asked_of(
    transform: Transform, dialogues: Sequence[StoredDialogue], donors: Donors
) -> list[dict[str, Any]]:
    """Return what a transform's query gets as ``$dialogues``; with ``donors`` where its header needs some."""
    parameters = [dialogue.parameter() for dialogue in dialogues]
    for row, dialogue in zip(parameters, dialogues, strict=True) if NEEDS_DONORS in transform.needs else ():
        row["donors"] = donors.of(dialogue)
    return parameters


def propose(
    store: Store, transform: Transform, dialogues: Sequence[StoredDialogue], donors: Donors | None = None
) -> dict[str, list[Proposal]]:
    """The proposals of one transform, by dialogue, each list in the order of sites.

    ``donors`` knows what a transform that needs some may copy from other dialogues.

    Raises `TransformError`: the query fails, or returns what is no edit.
    """
    found: dict[str, list[Proposal]] = {}
    parameters = asked_of(transform, dialogues, donors or Donors(store))
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


def _answer(store: Store, transform: Transform, parameters: Sequence[Mapping[str, Any]]) -> list[Record]:
    try:
        # Shipped or not: a transform's text is not trusted, so that no caller has to tell which is which.
        return store.query_read(transform.query, {"dialogues": parameters}).records
    except StoreError as error:
        refusal = error.__cause__
        if isinstance(error, OnlyReading) or (isinstance(refusal, Neo4jError) and not refusal.is_retryable()):
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
        if (fault := _fault(row, graphs, sources)) is not None:
            raise TransformError(
                f"{transform.place}: no edit: {fault}; docs/transforms.md says what a row holds"
            )
        site = row.get("site")
        site = f"{row['amr']}.{row['k']}" if site is None else str(site)
        if site not in sites:
            sites[site] = Proposal(transform, site)
        sites[site].add(row)
    return [sites[site] for site in sorted(sites)]


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
    if fields.get("target") not in (None, *TARGETS):
        return f"target {fields['target']!r} is none of {', '.join(TARGETS)}"
    source = fields.get("from_amr")
    if source is not None and source not in sources:
        return f"from_amr {source!r} is no graph of the dialogue, nor one of its donors"
    return None
