"""Ask transforms where they apply, and turn their answers into edits.

`propose` runs the query of a transform on some dialogues. It returns a `Proposal` for each site: a place
where the transform applies, with one or more edits that are applied together. `paired` combines two proposals
of a pool to a swap. `Donors` chooses the graphs of other dialogues that a transform may copy from.
`UtteranceSamples` draws small samples of utterances.
"""

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
"""Maximum number of donors for a dialogue."""
TAKERS = 2
"""Maximum number of dialogues that may borrow the same sentence."""
_CONSIDERED = 8
"""Number of dialogues to remember for each donor. Those that were offered the fewest donors get it."""
_PAGE = 500
"""Number of dialogues or graphs to read at a time."""
LONGEST_EDITED = LONGEST_TEXT
"""Maximum length of a text that is edited, in characters: decoders do not read longer texts."""
_DIGITS = 12
_FRAME = re.compile(r"-\d{2,}$")
Row = dict[str, Any]
SampleRow = Mapping[str, Any]
OPERATIONS = frozenset({"set", "add", "drop", "graft", "wrap"})
"""The operations of an edit."""
NEEDS_DONORS = "donors"
"""What the header of a transform says under ``needs`` to get donors."""
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("k", "from_k", "score"), int),
    **dict.fromkeys(("amr", "op", "role", "concept", "value", "from_amr", "copy_of"), str),
    **dict.fromkeys(("site", "pool", "own", "target"), object),
}


class UtteranceSamples:
    """Small samples of the utterances of a corpus and split, in memory that does not grow with the corpus.

    Utterances are indexed by the digest of their text, so that an interval of digests is a random sample. The
    interval is narrower in a larger corpus. Each draw hashes to one of at most ``most`` intervals. Its rows
    are read once and kept. In a store with a snapshot, the rows come from the snapshot.
    """

    def __init__(self, store: Store, query: str, part: str, size: int, most: int) -> None:
        """Initialize the samples.

        Args:
            store: Store with the utterances.
            query: Name of a shipped query with the parameters $corpus, $split, $low and $high.
            part: Name of the part of a snapshot that holds the same rows.
            size: Approximate number of utterances in a sample.
            most: Maximum number of samples of a corpus and split.
        """
        self._store = store
        self._query = query
        self._part = part
        self._size = size
        self._most = most
        self._known: Sequence[SampleRow] | None = None
        self._shares: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], Sequence[SampleRow]] = {}

    def draw(self, corpus: str, split: str, seed: int, *names: str) -> Sequence[SampleRow]:
        """Return the rows of a sample.

        Args:
            corpus: Name of the corpus.
            split: Name of the split.
            seed: Seed of the choice.
            *names: Further strings that the choice depends on, such as the id of a dialogue.

        Returns:
            The rows of the sample, in no particular order.
        """
        if (corpus, split) not in self._shares:
            self._shares[corpus, split] = self._share(corpus, split)
        share = self._shares[corpus, split]
        amount = self._amount(share)
        # Few different samples serve many draws: each is read once.
        drawn = number(seed, "sample", *names) % amount
        key = (corpus, split, drawn)
        if key not in self._samples:
            self._samples[key] = self._read(corpus, split, share, drawn)
        return self._samples[key]

    def every(self, corpus: str, split: str) -> Iterator[SampleRow]:
        """Yield the rows of all samples of a corpus and split, each once, in the order of digests.

        Args:
            corpus: Name of the corpus.
            split: Name of the split.

        Yields:
            The rows, with corpus and split added.
        """
        share = self._share(corpus, split)
        rows = (
            dict(row) for at in range(self._amount(share)) for row in self._read(corpus, split, share, at)
        )
        # Sorting by digest makes the order independent of the server.
        distinct = {tuple(row.values()): row | {"corpus": corpus, "split": split} for row in rows}
        yield from (distinct[key] for key in sorted(distinct))

    def _amount(self, share: float) -> int:
        """Return the number of samples of a corpus and split."""
        return min(self._most, max(1, int(1 / share)))

    def _read(self, corpus: str, split: str, share: float, drawn: int) -> Sequence[SampleRow]:
        """Return the rows of a sample, from the snapshot if the store has one."""
        amount = self._amount(share)
        low, high = _digest_at(drawn / amount), _digest_at(drawn / amount + share)
        if self._snapshot is None:
            between = {"corpus": corpus, "split": split, "low": low, "high": high}
            return self._store.read(cypher_text(self._query), **between)
        # All rows of the snapshot are read once and filtered below.
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
        """Return the share of all digests that holds about one sample of a corpus and split."""
        if self._snapshot is not None:
            everything = sum(self._snapshot.dialogues.values())
            own, utterances = self._snapshot.dialogues.get((corpus, split), 0), self._snapshot.utterances
        else:
            everything = count_dialogues(self._store, Selection())
            own = count_dialogues(self._store, Selection((corpus,), (split,)))
            utterances = self._store.read(cypher_text("read/size"))[0]["utterances"]
        # The digests of all corpora are mixed: the interval must be wider for a corpus with a smaller share
        # of the store.
        if not everything or not own:
            return 1.0
        return min(1.0, self._size * everything / max(1, utterances * own))


def _digest_at(share: float) -> str:
    """Return the end of a share of all digests. Digests are hexadecimal, so that all are below ``g``."""
    return f"{int(share * 16**_DIGITS):0{_DIGITS}x}" if share < 1 else "g"


def samples_with_graphs(store: Store) -> UtteranceSamples:
    """Return samples of utterances that have AMR graphs.

    Args:
        store: Store with the utterances.

    Returns:
        Samples whose rows have key, dialogue, amr and length.
    """
    return UtteranceSamples(store, "read/donors", DONORS, size=48, most=64)


def samples_of_texts(store: Store) -> UtteranceSamples:
    """Return samples of utterances.

    Args:
        store: Store with the utterances.

    Returns:
        Samples whose rows have key, dialogue, turn and text.
    """
    return UtteranceSamples(store, "read/utterances_between", UTTERANCES, size=64, most=256)


class Donors:
    """Graphs of other dialogues of the same corpus and split, for transforms with ``needs: donors``.

    A donor has a sentence that fits any dialogue, with a noun that its takers mention before their last turn,
    or that one of their nouns can replace. Each donor is offered to at most `TAKERS` dialogues of the corpus
    and split, and no two donors share a sentence. So a sentence is borrowed at most twice, whatever the
    order, the batches and the shards of a run. Ties are broken by hashes.
    """

    def __init__(self, store: Store) -> None:
        """Initialize the donors of a store; they are computed when they are first needed."""
        self._store = store
        self._samples = samples_with_graphs(store)
        self._offers: dict[tuple[str, str], Mapping[str, Sequence[str]]] = {}

    def of(self, dialogue: StoredDialogue) -> list[str]:
        """Return the donors of a dialogue.

        Args:
            dialogue: Dialogue that borrows.

        Returns:
            At most `OFFERED` ids of graphs, in an order that depends on the dialogue's id alone.
        """
        part = (dialogue.corpus, dialogue.split)
        if part not in self._offers:
            offers: defaultdict[str, list[str]] = defaultdict(list)
            for row in self.offers(*part):
                offers[row["taker"]].append(row["amr"])
            self._offers[part] = offers
        return shuffled(self._offers[part].get(dialogue.id, ()), 0, "donors", dialogue.id)[:OFFERED]

    def offers(self, corpus: str, split: str) -> list[Row]:
        """Return which donors are offered to which dialogues of a corpus and split.

        Args:
            corpus: Name of the corpus.
            split: Name of the split.

        Returns:
            Rows with corpus, split, taker (id of a dialogue), dialogue (id of the donor's dialogue) and amr.
        """
        # The store of a shard does not hold the other dialogues. Its snapshot says what was offered in the
        # whole corpus.
        if (snapshot := stored_snapshot(self._store)) is not None:
            rows: list[Row] = snapshot.rows(self._store, DONORS)
            return [row for row in rows if row["corpus"] == corpus and row["split"] == split]
        donors = self._donors(corpus, split)
        fitting: defaultdict[str, list[_Donor]] = defaultdict(list)
        for donor in donors:
            # The nouns and sorts by which a dialogue finds the donor.
            for noun in donor.fits | donor.nouns:
                fitting[noun].append(donor)
        ids = dialogue_ids(self._store, Selection((corpus,), (split,)))
        while page := list(islice(ids, _PAGE)):
            dialogues = read_dialogues(self._store, page)
            # The last turn is a response at best: only the turns before it are a context.
            amrs = [turn.amr for one in dialogues for turn in one.turns[:-1] if turn.amr is not None]
            nodes = self._nodes(amrs)
            for dialogue in dialogues:
                graphs = [nodes.get(turn.amr or "", ()) for turn in dialogue.turns[:-1]]
                nouns = {node[2] for graph in graphs for node in graph if node[3]}
                sorts = {node[3] for graph in graphs for node in graph if node[3]}
                takes = {donor.amr: donor for noun in nouns | sorts for donor in fitting.get(noun, ())}
                for donor in takes.values():
                    # A dialogue does not borrow from itself.
                    if donor.dialogue != dialogue.id:
                        donor.consider(dialogue.id, not donor.nouns.isdisjoint(nouns))
        found: list[Row] = []
        offered: Counter[str] = Counter()
        for donor in donors:
            # The sort is stable: dialogues with the same number of offers stay in the donor's own order.
            fewest = sorted(donor.takers(), key=lambda taker: offered[taker])
            for taker in fewest[:TAKERS]:
                offered[taker] += 1
                row = {"corpus": corpus, "split": split, "taker": taker}
                found.append({**row, "dialogue": donor.dialogue, "amr": donor.amr})
        # A fixed order makes the rows of a snapshot the same for the same store.
        return sorted(found, key=lambda row: (row["taker"], row["amr"]))

    def _donors(self, corpus: str, split: str) -> list[_Donor]:
        """Return the utterances to borrow from, in hashed order. No two share a sentence."""
        rows = [row for row in self._samples.every(corpus, split) if row["length"] <= LONGEST_EDITED]
        said = said_by(self._store, [row["amr"] for row in rows])
        nodes = self._nodes([row["amr"] for row in rows])
        rows.sort(key=lambda row: (number(0, "donor", row["amr"]), row["amr"]))
        known: set[str] = set()
        donors: list[_Donor] = []
        for row in rows:
            text = said[row["amr"]].text
            # "See you!" and "See you." are the same sentence.
            keys = {match_key(part.text).rstrip(".!?") for part in typed_sentences(text)}
            own = nodes.get(row["amr"], ())
            # Only nouns in sentences that fit any dialogue count: node[5] marks the tops of such sentences.
            tops = {node[0] for node in own if node[5]}
            within = [node for node in own if node[1] in tops and node[3]]
            if within and known.isdisjoint(keys):
                nouns, fits = {node[2] for node in within}, {node[4] for node in within}
                donors.append(_Donor(row["dialogue"], row["amr"], nouns, fits))
                known |= keys
        return donors

    def _nodes(self, amrs: Sequence[str]) -> dict[str, Sequence[Sequence[Any]]]:
        """Return the nodes that the query ``read/topic_nouns`` finds, by graph."""
        found: dict[str, Sequence[Sequence[Any]]] = {}
        for at in range(0, len(amrs), _PAGE):
            rows = self._store.read(cypher_text("read/topic_nouns"), amrs=list(amrs[at : at + _PAGE]))
            found.update((row["amr"], row["nodes"]) for row in rows)
        return found


class _Donor:
    """An utterance to borrow from, and some of the dialogues that may take it."""

    def __init__(self, dialogue: str, amr: str, nouns: set[str], fits: set[str]) -> None:
        """Initialize the donor without takers."""
        self.dialogue, self.amr, self.nouns, self.fits = dialogue, amr, nouns, fits
        # Each donor ranks the dialogues in an order of its own, so that no dialogue is preferred by all.
        self._salt = crc32(amr.encode("utf-8", "surrogatepass"))
        self._takers: list[tuple[tuple[bool, int], str]] = []

    def consider(self, dialogue: str, says_noun: bool) -> None:
        """Keep a dialogue if it is among the first `_CONSIDERED`. Dialogues that share a noun come first."""
        rank = (says_noun, -crc32(dialogue.encode("utf-8", "surrogatepass"), self._salt))
        # A heap of the best ranks so far: memory does not grow with the corpus.
        if len(self._takers) < _CONSIDERED:
            heappush(self._takers, (rank, dialogue))
        else:
            heappushpop(self._takers, (rank, dialogue))

    def takers(self) -> list[str]:
        """Return the kept dialogues, best first."""
        return [dialogue for _, dialogue in sorted(self._takers, reverse=True)]


class StrangeFrames:
    """Counts frames that transforms introduce and that are in no inventory.

    An inventory is PropBank as it comes with graphneg, or the frames that were loaded. Frames in copied
    subtrees are not checked.
    """

    def __init__(self, store: Store) -> None:
        """Initialize the counts of a store's frames."""
        self._store = store
        self._exist: dict[str, bool] = {}
        self._found: Counter[tuple[str, str]] = Counter()

    def forget(self) -> None:
        """Reset the counts."""
        self._found.clear()

    def look_at(self, edits: Iterable[Edit]) -> None:
        """Count the unknown frames of edits.

        Args:
            edits: Edits to check.
        """
        # A graft has no concept of its own: the frames of copied subtrees are not checked.
        brought = [(edit.transform, edit.concept) for edit in edits if edit.concept is not None]
        self._found.update((name, concept) for name, concept in brought if self._is_strange(concept))

    def notes(self) -> list[str]:
        """Return a message for each unknown frame and transform."""
        return [
            f"transform {name}: {frame} is neither a PropBank frame nor a loaded frame ({count:,} edits)"
            for (name, frame), count in sorted(self._found.items())
        ]

    def _is_strange(self, concept: str) -> bool:
        """Return whether a concept is a frame that is in no inventory."""
        if not _FRAME.search(concept):
            return False
        if concept not in self._exist:
            self._exist[concept] = frame_exists(self._store, concept)
        return not self._exist[concept]


def said_by(store: Store, amrs: Iterable[str]) -> dict[str, StoredTurn]:
    """Return the utterances that graphs belong to.

    Args:
        store: Store with the graphs.
        amrs: Ids of graphs.

    Returns:
        The utterances by graph id.
    """
    wanted = sorted(set(amrs))
    rows = store.read(cypher_text("read/said"), amrs=wanted) if wanted else []
    return {row["amr"]: StoredTurn(row["turn"], row["speaker"], row["text"], row["amr"]) for row in rows}


@dataclass(slots=True)
class Proposal:
    """A site: a place where a transform applies, with the edits that are applied together.

    The edits are built from the rows of the query only when they are asked for, because most sites are never
    tried.

    Attributes:
        made_by: Transform that proposes the site.
        site: Name of the site within its transform and dialogue.
        rows: Rows of the query, one for each edit.
        pool: If set, the site needs a partner of the same pool to be swapped with.
        own: What a partner must differ in, such as the words of a subtree.
        target: Target that the site is for, or None for any.
        score: Preference among sampled sites; the highest score is edited.
        made: The edits, once they are built.
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
        """The name of the transform that proposes the site."""
        return self.made_by.name

    def add(self, row: Row) -> None:
        """Add an edit to the site.

        Args:
            row: Row of the query, which describes the edit.
        """
        self.rows.append(row)
        if row.get("pool") is not None:
            self.pool, self.own = str(row["pool"]), str(row.get("own"))
        if row.get("target") is not None:
            self.target = cast("Target", row["target"])
        # The score of a site is the highest of its edits' scores.
        self.score = max(self.score, row.get("score") or 0)

    @property
    def for_target(self) -> Target | None:
        """The target of negatives that the site is for, or None for any."""
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
        """The ids of the graphs that the edits change."""
        return frozenset(row["amr"] for row in self.rows)


def asked_of(
    transform: Transform, dialogues: Sequence[StoredDialogue], donors: Donors
) -> list[dict[str, Any]]:
    """Return the value of ``$dialogues`` for the query of a transform.

    Args:
        transform: Transform to run.
        dialogues: Dialogues to run it on.
        donors: Donors of the store, used if the transform needs them.

    Returns:
        A map for each dialogue: id, turns, and donors if needed.
    """
    parameters = [dialogue.parameter() for dialogue in dialogues]
    for row, dialogue in zip(parameters, dialogues, strict=True) if NEEDS_DONORS in transform.needs else ():
        row["donors"] = donors.of(dialogue)
    return parameters


def propose(
    store: Store, transform: Transform, dialogues: Sequence[StoredDialogue], donors: Donors | None = None
) -> dict[str, list[Proposal]]:
    """Return the proposals of a transform for some dialogues.

    Args:
        store: Store with the dialogues.
        transform: Transform to run.
        dialogues: Dialogues to run it on.
        donors: Donors of the store; by default they are computed anew.

    Returns:
        The proposals by dialogue, each list in the order of sites.

    Raises:
        TransformError: The query returns something that is not an edit of these dialogues.
    """
    found: dict[str, list[Proposal]] = {}
    parameters = asked_of(transform, dialogues, donors or Donors(store))
    graphs = {dialogue.id: frozenset(dialogue.graphs) for dialogue in dialogues}
    sources = {row["id"]: graphs[row["id"]].union(row.get("donors", ())) for row in parameters}
    for record in _answer(store, transform, parameters):
        # The query may be a user's: its answer is checked before it is used.
        id, edits = record.get("dialogue"), record.get("edits")
        if id is None or not isinstance(edits, list):
            raise TransformError(f"{transform.place}: the query must return 'dialogue' and 'edits'")
        of = graphs.get(id)
        if of is None:
            raise TransformError(f"{transform.place}: {id!r} is not one of the requested dialogues")
        found[id] = _grouped(transform, cast("list[Any]", edits), of, sources[id])
    return found


def _answer(store: Store, transform: Transform, parameters: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Run the query of a transform. A query that the server refuses is an error of the transform."""
    try:
        # No transform is trusted to only read, shipped or not, so that no caller has to know which one it
        # has.
        return store.query_read(transform.query, {"dialogues": parameters}).records
    except StoreError as error:
        refusal = error.__cause__
        if isinstance(error, OnlyReading) or (isinstance(refusal, Neo4jError) and not refusal.is_retryable()):
            raise TransformError(f"{transform.place}: {error}") from error
        raise


def paired(proposal: Proposal, partner: Proposal) -> tuple[Edit, ...]:
    """Return the edits that swap two proposals of a pool.

    Args:
        proposal: A proposal with a pool.
        partner: Another proposal of the same pool.

    Returns:
        Two edits: each node gets what the other node has.
    """
    return (_given(proposal.edits[0], partner), _given(partner.edits[0], proposal))


def _given(edit: Edit, giver: Proposal) -> Edit:
    """Return an edit with the content of the other proposal."""
    gift = giver.edits[0]
    if edit.op == "graft":
        return edit._replace(from_amr=gift.amr, from_k=gift.k)
    if edit.value is not None:
        return edit._replace(value=giver.own)
    return edit._replace(concept=giver.own)


def _grouped(
    transform: Transform, rows: list[Any], graphs: frozenset[str], sources: frozenset[str]
) -> list[Proposal]:
    """Return the rows of one dialogue as proposals, in the order of sites."""
    sites: dict[str, Proposal] = {}
    for row in rows:
        if (fault := _fault(row, graphs, sources)) is not None:
            raise TransformError(f"{transform.place}: not a valid edit: {fault}; see docs/transforms.md")
        site = row.get("site")
        # An edit without a site is a site of its own, named for its node.
        site = f"{row['amr']}.{row['k']}" if site is None else str(site)
        if site not in sites:
            sites[site] = Proposal(transform, site)
        sites[site].add(row)
    return [sites[site] for site in sorted(sites)]


def _fault(row: Any, graphs: frozenset[str], sources: frozenset[str]) -> str | None:
    """Return why a row is not an edit of these graphs, or None if it is one."""
    if not isinstance(row, dict):
        return f"expected a map, got {row!r}"
    for name, value in cast("dict[str, Any]", row).items():
        # A misspelled key would otherwise be ignored without a word.
        if value is not None and not isinstance(value, _KINDS.get(name, ())):
            return f"{name} can't be {value!r}" if name in _KINDS else f"there is no key {name!r}"
    fields = cast("dict[str, Any]", row)
    if fields.get("op") not in OPERATIONS:
        return f"op {fields.get('op')!r} is not one of {', '.join(sorted(OPERATIONS))}"
    if fields.get("k") is None or fields.get("amr") not in graphs:
        return f"{fields.get('amr')!r}.{fields.get('k')!r} is not a node of the dialogue"
    if fields.get("target") not in (None, *TARGETS):
        return f"target {fields['target']!r} is not one of {', '.join(TARGETS)}"
    source = fields.get("from_amr")
    if source is not None and source not in sources:
        return f"from_amr {source!r} is neither a graph of the dialogue nor one of its donors"
    return None
