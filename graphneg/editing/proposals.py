"""Run the queries of transforms to find the places where these apply, and build edits from the results.

`propose` runs the query of a transform on some dialogues. It returns a `Proposal` for each site, that is,
each place where the transform applies, with one or more edits that are applied together. The contents of
proposals with the same ``swap_pool`` can be swapped: `paired` combines two of these proposals. `Donors`
chooses the graphs of other dialogues from which a transform may copy subtrees. `UtteranceSamples` draws small
random samples of utterances from a large corpus.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappush, heappushpop
from itertools import islice
from typing import Any, cast
from zlib import crc32

from neo4j import Record
from neo4j.exceptions import CypherSyntaxError, Neo4jError

from graphneg.editing.recipes import TARGETS, Target
from graphneg.editing.replies import Claims, expand_replies
from graphneg.editing.transforms import Transform
from graphneg.english.reply_frames import VOICES, frames_of, reply_frame
from graphneg.english.tokens import match_key, typed_sentences
from graphneg.errors import OnlyReading, StoreError, TransformError
from graphneg.hashing import number, shuffled
from graphneg.json_input import whole_number
from graphneg.model import Edit
from graphneg.parsers.base import LONGEST_TEXT
from graphneg.store.connection import Store
from graphneg.store.corpus_data import DONORS, UTTERANCES, corpus_rows, corpus_size, has_whole_corpus
from graphneg.store.dialogues import (
    Selection,
    StoredDialogue,
    StoredTurn,
    dialogue_ids,
    read_dialogues,
)
from graphneg.store.queries import frame_exists
from graphneg.store.reading import leading_comments
from graphneg.store.statements import cypher_text, shipped_texts

OFFERED = 24
"""Maximum number of donors, that is, utterances to copy from, for one dialogue."""
TAKERS = 2
"""Maximum number of dialogues that may copy from the same donor."""
_CONSIDERED = 8
"""Number of best-fitting dialogues to remember for each donor, that is, for each utterance to copy from. The
donor is listed for `TAKERS` of these dialogues: for those that have the fewest donors so far."""
_SEGMENTS = 8
"""Number of dialogues before and after a dialogue from which it may not copy. Some corpora split a long
conversation into consecutive dialogues: in DailyDialog++, into up to eight contexts."""
_PER_SEGMENT = 20
"""In small splits, a dialogue may copy from nearer dialogues: the number of dialogues that are excluded
before and after it is the size of the split divided by this number, and at most `_SEGMENTS`."""
_PAGE = 500
"""Number of dialogues or graphs to read from the store at a time."""
LONGEST_EDITED = LONGEST_TEXT
"""Maximum length of an edited text in characters. Decoders do not accept longer texts."""
_DIGITS = 12
_FRAME = re.compile(r"-\d{2,}$")
_SEE = "see docs/transforms.md"
Row = dict[str, Any]
SampleRow = Mapping[str, Any]
MOST_EDITS = 2_000
"""Maximum number of edits of one graph that the query of a transform may return. Each site of a graph may be
tried for each negative, and each edit takes time to apply, so that a query with 25,000 edits of one graph
would run for minutes. Shipped transforms return at most 44 edits of a graph in dialogues of up to 150 turns,
and at most 4 edits for a site."""
OPERATIONS = frozenset({"set", "add", "drop", "graft", "wrap", "say"})
"""The names of the operations that an edit can perform."""
NEEDS_DONORS = "donors"
"""Value of ``needs`` in the header of a transform that copies from other dialogues."""
NEEDS_CLAIMS = "claims"
"""Value of ``needs`` in the header of a transform that gets the claims of each dialogue."""
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("position", "from_position", "score"), int),
    **dict.fromkeys(("amr", "op", "role", "concept", "value", "from_amr", "copy_of", "voice", "frame"), str),
    **dict.fromkeys(("site", "swap_pool", "content", "target"), object),
}
"""The types of the values in the rows that a query returns, keyed by the name of the value. Any value may be
null."""
_KIND_NAMES = {int: "an integer", str: "text"}


class UtteranceSamples:
    """Draw small samples of the utterances of a corpus, with memory that does not grow with the corpus.

    The store indexes utterances by the digest of their text. The utterances whose digests lie in an interval
    are therefore a random sample, which can be read without reading the whole corpus. The interval is
    narrower for a larger corpus, so that all samples have about the same size. There are at most
    ``max_samples`` samples for each corpus and split. Each sample is read once and kept in memory. Samples
    are drawn from the whole corpus, even if the store contains only one shard of the corpus.
    """

    def __init__(self, store: Store, query: str, part: str, size: int, max_samples: int) -> None:
        """Initialize the samples, without reading any utterances.

        Args:
            store: Store with the utterances.
            query: Name of a shipped query with the parameters $corpus, $split, $low and $high.
            part: Name of the part of a snapshot that contains the rows of the query for the whole corpus. If
                the store contains only one shard of the corpus, this part is read and no query is run.
            size: Approximate number of utterances in a sample.
            max_samples: Maximum number of distinct samples for each corpus and split.
        """
        self._store = store
        self._query = query
        self._part = part
        self._size = size
        self._most = max_samples
        self._known: Sequence[SampleRow] | None = None
        self._shares: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], Sequence[SampleRow]] = {}

    def draw(self, corpus: str, split: str, seed: int, *names: str) -> Sequence[SampleRow]:
        """Return a random sample of the utterances in a corpus split.

        A few samples are drawn for each split in advance. The seed and the names determine which of them is
        returned.

        Args:
            corpus: Name of the corpus.
            split: Name of the split.
            seed: Seed for choosing the sample.
            *names: Names, such as the id of a dialogue, that determine the choice together with the seed.

        Returns:
            A row for each utterance of the sample, in no particular order.
        """
        if (corpus, split) not in self._shares:
            self._shares[corpus, split] = self._share(corpus, split)
        share = self._shares[corpus, split]
        amount = self._amount(share)
        # Choose one of a few fixed samples, so that each sample is read only once for many calls.
        drawn = number(seed, "sample", *names) % amount
        key = (corpus, split, drawn)
        if key not in self._samples:
            self._samples[key] = self._read(corpus, split, share, drawn)
        return self._samples[key]

    def every(self, corpus: str, split: str) -> Iterator[SampleRow]:
        """Yield the rows of all samples of a corpus and split, each row once, sorted by text digest.

        Args:
            corpus: Name of the corpus.
            split: Name of the split.

        Yields:
            A row for each utterance, to which the keys ``corpus`` and ``split`` are added.
        """
        share = self._share(corpus, split)
        rows = (
            dict(row) for at in range(self._amount(share)) for row in self._read(corpus, split, share, at)
        )
        # Sorting by digest makes the order independent of the server.
        distinct = {tuple(row.values()): row | {"corpus": corpus, "split": split} for row in rows}
        yield from (distinct[key] for key in sorted(distinct))

    def _amount(self, share: float) -> int:
        """Return how many samples to draw, if each sample contains the fraction ``share`` of all rows."""
        return min(self._most, max(1, int(1 / share)))

    def _read(self, corpus: str, split: str, share: float, drawn: int) -> Sequence[SampleRow]:
        """Return the rows of one sample. Samples are numbered from 0, and ``drawn`` is the number."""
        amount = self._amount(share)
        low, high = _digest_at(drawn / amount), _digest_at(drawn / amount + share)
        if self._whole:
            between = {"corpus": corpus, "split": split, "low": low, "high": high}
            return self._store.read(cypher_text(self._query), **between)
        # The store of a shard keeps the rows of a snapshot without an index, so a query for each sample would
        # be slow. Read the rows of all samples once, and select those of this sample here.
        if self._known is None:
            self._known = corpus_rows(self._store, self._part, list[Any])
        return [
            row
            for row in self._known
            if low <= row["key"] < high and row["corpus"] == corpus and row["split"] == split
        ]

    @cached_property
    def _whole(self) -> bool:
        """Whether the store contains the whole corpus, or only a shard of it."""
        return has_whole_corpus(self._store)

    def _share(self, corpus: str, split: str) -> float:
        """Return how wide an interval of text digests must be to contain enough utterances for one sample.

        The width is a fraction of the range of all digests, above 0 and at most 1.
        """
        size = corpus_size(self._store, corpus, split)
        # An interval of digests contains utterances of all corpora in the store. If the corpus is a small
        # part of the store, the interval must be wider to contain enough utterances of the corpus.
        if not size.dialogues or not size.selected:
            return 1.0
        return min(1.0, self._size * size.dialogues / max(1, size.utterances * size.selected))


def _digest_at(share: float) -> str:
    """Return the upper bound of an interval of digests, for example ``800000000000`` for a share of 0.5.

    Returns:
        A hexadecimal string; for a share of 1, the letter ``g``, which sorts after every digest.
    """
    return f"{int(share * 16**_DIGITS):0{_DIGITS}x}" if share < 1 else "g"


def samples_with_graphs(store: Store) -> UtteranceSamples:
    """Return an object that draws samples of utterances with AMR graphs.

    Args:
        store: Store with the utterances.

    Returns:
        An object whose rows have the keys ``key`` (digest of the text), ``dialogue``, ``amr`` (id of the
        graph) and ``length`` (of the text).
    """
    return UtteranceSamples(store, "read/donors", DONORS, size=48, max_samples=64)


def samples_of_texts(store: Store) -> UtteranceSamples:
    """Return an object that draws samples of utterances, with or without graphs.

    Args:
        store: Store with the utterances.

    Returns:
        An object that draws utterances as rows with the keys ``key`` (digest of the text), ``dialogue``,
        ``turn`` and ``text``.
    """
    return UtteranceSamples(store, "read/utterances_between", UTTERANCES, size=64, max_samples=256)


class Donors:
    """Choose the graphs of other dialogues for transforms with ``needs: donors``.

    A donor is an utterance with a sentence that can be understood without its context. Other dialogues of the
    same corpus and split, the takers, may copy this sentence. A noun of the sentence must occur in the taker
    before its last turn, or must be replaceable by a noun that occurs there. The donor must not be one of the
    dialogues just before or after the taker, which may be parts of the same conversation. Each donor is
    offered to at most `TAKERS` dialogues, and no two donors share a sentence. Therefore no sentence is copied
    into more than `TAKERS` dialogues, and the result does not depend on the order, the batches or the shards
    of a run. Ties are broken by hashes.

    Args:
        store: An open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._samples = samples_with_graphs(store)
        self._offers: dict[tuple[str, str], Mapping[str, Sequence[str]]] = {}

    def donors_for(self, dialogue: StoredDialogue) -> list[str]:
        """Return the donors for a dialogue: utterances of other dialogues from which it may get sentences.

        Args:
            dialogue: The dialogue to which sentences are copied.

        Returns:
            The graph ids of at most `OFFERED` donors, in a random order that depends only on the dialogue's
            id.
        """
        part = (dialogue.corpus, dialogue.split)
        if part not in self._offers:
            offers: defaultdict[str, list[str]] = defaultdict(list)
            for row in self.assign(*part):
                offers[row["taker"]].append(row["amr"])
            self._offers[part] = offers
        return shuffled(self._offers[part].get(dialogue.id, ()), 0, "donors", dialogue.id)[:OFFERED]

    def assign(self, corpus: str, split: str) -> list[Row]:
        """Assign the donors (utterances to copy from) of a corpus and split to dialogues.

        Args:
            corpus: Name of the corpus.
            split: Name of the split.

        Returns:
            A row for each assignment, with the keys ``corpus``, ``split``, ``taker`` (id of the dialogue that
            may copy), ``dialogue`` (id of the donor's dialogue) and ``amr`` (id of the donor's graph).
        """
        rows: list[Row] = corpus_rows(self._store, DONORS, lambda: self._assigned(corpus, split))
        # In the store of a shard, the rows come from a snapshot of the whole store. Keep only the rows of
        # this corpus and split.
        return [row for row in rows if row["corpus"] == corpus and row["split"] == split]

    def _assigned(self, corpus: str, split: str) -> list[Row]:
        """Compute the rows that `assign` returns: which dialogues may copy from which donors."""
        donors = self._donors(corpus, split)
        fitting: defaultdict[str, list[_Donor]] = defaultdict(list)
        for donor in donors:
            # A donor is an utterance from which other dialogues may copy a sentence. List it under each of
            # its nouns, and under each noun that may replace one of them.
            for noun in donor.fits | donor.nouns:
                fitting[noun].append(donor)
        selection = Selection((corpus,), (split,))
        sources = {donor.dialogue for donor in donors}
        numbers = {id: at for at, id in enumerate(dialogue_ids(self._store, selection)) if id in sources}
        nearby = min(_SEGMENTS, corpus_size(self._store, corpus, split).selected // _PER_SEGMENT)
        ids = dialogue_ids(self._store, selection)
        first = 0
        while page := list(islice(ids, _PAGE)):
            dialogues = read_dialogues(self._store, page)
            # A donor must share a noun with the context of a response. The last turn of a dialogue is not in
            # the context of any response, so leave it out.
            amrs = [
                turn.graph_id for one in dialogues for turn in one.turns[:-1] if turn.graph_id is not None
            ]
            nodes = self._nodes(amrs)
            for at, dialogue in enumerate(dialogues, first):
                graphs = [nodes.get(turn.graph_id or "", ()) for turn in dialogue.turns[:-1]]
                nouns = {node[2] for graph in graphs for node in graph if node[3]}
                sorts = {node[3] for graph in graphs for node in graph if node[3]}
                takes = {donor.amr: donor for noun in nouns | sorts for donor in fitting.get(noun, ())}
                for donor in takes.values():
                    # Do not copy from the dialogue itself, and not from the dialogues just before and after
                    # it, which may be parts of the same conversation.
                    if donor.dialogue != dialogue.id and abs(numbers[donor.dialogue] - at) > nearby:
                        donor.consider(dialogue.id, not donor.nouns.isdisjoint(nouns))
            first += len(page)
        found: list[Row] = []
        offered: Counter[str] = Counter()
        for donor in donors:
            # Offer the donor (an utterance to copy from) to the dialogues to which the fewest donors were
            # offered so far. Among these, prefer the best match: `best_recipients` starts with it, and the
            # sort is stable.
            fewest = sorted(donor.best_recipients(), key=lambda taker: offered[taker])
            for taker in fewest[:TAKERS]:
                offered[taker] += 1
                row = {"corpus": corpus, "split": split, "taker": taker}
                found.append({**row, "dialogue": donor.dialogue, "amr": donor.amr})
        # Sort the rows, so that snapshots of equal stores are equal.
        return sorted(found, key=lambda row: (row["taker"], row["amr"]))

    def _donors(self, corpus: str, split: str) -> list[_Donor]:
        """Return the donors of a corpus and split: utterances from which transforms may copy sentences.

        The donors are sorted by a hash, and no two of them share a sentence.

        Raises:
            StoreError: A graph belongs to no utterance.
        """
        rows = [row for row in self._samples.every(corpus, split) if row["length"] <= LONGEST_EDITED]
        said = utterances_of_graphs(self._store, [row["amr"] for row in rows])
        nodes = self._nodes([row["amr"] for row in rows])
        rows.sort(key=lambda row: (number(0, "donor", row["amr"]), row["amr"]))
        known: set[str] = set()
        donors: list[_Donor] = []
        for row in rows:
            if row["amr"] not in said:
                raise StoreError(
                    f"graph {row['amr']} belongs to no utterance: the store is damaged; load its files "
                    "into a new store"
                )
            text = said[row["amr"]].text
            # Ignore punctuation at the end, so that "See you!" and "See you." are the same sentence.
            keys = {match_key(part.text).rstrip(".!?") for part in typed_sentences(text)}
            own = nodes.get(row["amr"], ())
            # Use only nouns in sentences that do not depend on their context. A node is a list of its index
            # (0), the index of the top node of its sentence (1), the noun (2), the noun's class (3), the
            # class that can replace the noun (4), and whether the node is the top of a sentence that does not
            # depend on its context (5).
            tops = {node[0] for node in own if node[5]}
            within = [node for node in own if node[1] in tops and node[3]]
            if within and known.isdisjoint(keys):
                nouns, fits = {node[2] for node in within}, {node[4] for node in within}
                donors.append(_Donor(row["dialogue"], row["amr"], nouns, fits))
                known |= keys
        return donors

    def _nodes(self, amrs: Sequence[str]) -> dict[str, Sequence[Sequence[Any]]]:
        """Return the noun nodes that the query ``read/topic_nouns`` finds in graphs, keyed by graph id."""
        found: dict[str, Sequence[Sequence[Any]]] = {}
        for at in range(0, len(amrs), _PAGE):
            rows = self._store.read(cypher_text("read/topic_nouns"), amrs=list(amrs[at : at + _PAGE]))
            found.update((row["amr"], row["nodes"]) for row in rows)
        return found


class _Donor:
    """An utterance to copy from (a donor), and the dialogues that may copy from it (its takers)."""

    def __init__(self, dialogue: str, amr: str, nouns: set[str], fits: set[str]) -> None:
        self.dialogue, self.amr, self.nouns, self.fits = dialogue, amr, nouns, fits
        # The dialogues are ranked by a hash of their ids. Use a different salt for each donor, because with
        # equal salts all donors would be offered to the same dialogues.
        self._salt = crc32(amr.encode("utf-8", "surrogatepass"))
        self._takers: list[tuple[tuple[bool, int], str]] = []

    def consider(self, dialogue: str, says_noun: bool) -> None:
        """Add a dialogue to the dialogues that may copy a sentence of this utterance. Keep only the best.

        Args:
            dialogue: Id of a dialogue into which a sentence of this utterance may be copied.
            says_noun: Whether the dialogue shares a noun with the utterance. Such dialogues are preferred.
        """
        rank = (says_noun, -crc32(dialogue.encode("utf-8", "surrogatepass"), self._salt))
        # The heap keeps only the best dialogues so far, so that memory does not grow with the corpus.
        if len(self._takers) < _CONSIDERED:
            heappush(self._takers, (rank, dialogue))
        else:
            heappushpop(self._takers, (rank, dialogue))

    def best_recipients(self) -> list[str]:
        """Return the ids of the dialogues that may copy a sentence of this utterance.

        The first ids are those of dialogues that share a noun with the utterance.
        """
        return [dialogue for _, dialogue in sorted(self._takers, reverse=True)]


class UnknownFrameCounter:
    """Count the unknown frames that transforms introduce, such as a misspelt ``hve-03``.

    A frame is unknown if it is neither in the PropBank inventory that comes with graphneg nor among the
    frames loaded into the store. Frames in copied subtrees are not checked.

    Args:
        store: An open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._exist: dict[str, bool] = {}
        self._found: Counter[tuple[str, str]] = Counter()

    def forget(self) -> None:
        """Set all counts to zero."""
        self._found.clear()

    def count(self, edits: Iterable[Edit]) -> None:
        """Count the unknown PropBank frames in edits, such as the misspelt ``hve-03``.

        Args:
            edits: Edits to check.
        """
        # Edits that copy a subtree have no concept, so the frames of the subtree are not checked.
        brought = [(edit.transform, edit.concept) for edit in edits if edit.concept is not None]
        self._found.update((name, concept) for name, concept in brought if self._is_strange(concept))

    def notes(self) -> list[str]:
        """Return a message for each unknown frame, with its transform and the number of edits that add it."""
        return [
            f"transform {name}: {frame} is neither a PropBank frame nor a loaded frame ({count:,} edits)"
            for (name, frame), count in sorted(self._found.items())
        ]

    def _is_strange(self, concept: str) -> bool:
        """Return whether a concept looks like a frame, such as ``have-03``, but is not a known frame."""
        if not _FRAME.search(concept):
            return False
        if concept not in self._exist:
            self._exist[concept] = frame_exists(self._store, concept)
        return not self._exist[concept]


def utterances_of_graphs(store: Store, amrs: Iterable[str]) -> dict[str, StoredTurn]:
    """Look up the utterances to which graphs belong.

    Args:
        store: Store with the graphs.
        amrs: Ids of graphs.

    Returns:
        The utterances, keyed by graph id.
    """
    wanted = sorted(set(amrs))
    rows = store.read(cypher_text("read/said"), amrs=wanted) if wanted else []
    return {row["amr"]: StoredTurn(row["turn"], row["speaker"], row["text"], row["amr"]) for row in rows}


@dataclass(slots=True)
class Proposal:
    """A site, that is, a place where a transform applies, with the edits that are applied there together.

    The edits are built from the rows of the query only when they are needed, because most sites are never
    tried.

    Attributes:
        proposer: Transform that proposes the site.
        site: Name of the site, unique for its transform and dialogue.
        rows: Descriptions of the edits, as the query returns them.
        swap_pool: Name of a set of sites whose contents can be swapped; None if the edits are not a swap.
        content: The content of the site that a swap moves, such as the words of a subtree. A site can only be
            swapped with a site that has different content.
        target: Value of ``target`` in the rows: ``dialogue`` or ``response`` if only negatives of this type
            may use the site; None if the rows contain no target.
        score: Highest value of ``score`` in the rows. Among the sampled sites, those with the highest scores
            are edited.
        cached_edits: The edits built from ``rows``; None until they are first needed.
    """

    proposer: Transform = field(repr=False)
    site: str
    rows: list[Row] = field(default_factory=list[Row])
    swap_pool: str | None = None
    content: str | None = None
    target: Target | None = None
    score: int = 0
    cached_edits: tuple[Edit, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def transform(self) -> str:
        """The name of the transform whose query returned these edits."""
        return self.proposer.name

    def add(self, row: Row) -> None:
        """Add an edit to the site.

        Args:
            row: Description of the edit, as returned by the query of the transform.
        """
        self.rows.append(row)
        if row.get("swap_pool") is not None:
            self.swap_pool, self.content = str(row["swap_pool"]), str(row.get("content"))
        if row.get("target") is not None:
            self.target = cast("Target", row["target"])
        # The edits of one site are applied together. The site gets the highest of their scores.
        self.score = max(self.score, row.get("score") or 0)

    @property
    def for_target(self) -> Target | None:
        """``response`` or ``dialogue`` if the edits are only for negatives of this type; None for both types.

        A target in the rows that the query returns overrides the target in the header of the transform.
        """
        return self.target or self.proposer.target

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of the site, in the order in which to apply them."""
        if self.cached_edits is None:
            shared = (self.proposer.name, self.proposer.category, self.site)
            self.cached_edits = tuple(
                Edit._make((*shared, *map(row.get, Edit._fields[3:]))) for row in self.rows
            )
        return self.cached_edits

    @property
    def copied(self) -> frozenset[tuple[str, str]]:
        """The subtrees that the edits copy, as pairs of a graph id and the position of the top node."""
        sources = ((row.get("from_amr"), row.get("from_position")) for row in self.rows)
        return frozenset((amr, str(position)) for amr, position in sources if amr is not None)

    @property
    def graphs(self) -> frozenset[str]:
        """The ids of the graphs that the edits of the site change."""
        return frozenset(row["amr"] for row in self.rows)


class QueryData:
    """Data that the engine adds to the dialogues in the parameter ``$dialogues`` of transforms.

    Args:
        store: An open store.

    Attributes:
        donors: Chooses the graphs of other dialogues from which a dialogue may get sentences.
        claims: Reads the claims of a dialogue that later replies can repeat.
    """

    def __init__(self, store: Store) -> None:
        self.donors = Donors(store)
        self.claims = Claims(store)


def query_parameters(
    transform: Transform, dialogues: Sequence[StoredDialogue], data: QueryData
) -> list[dict[str, Any]]:
    """Return the value of the parameter ``$dialogues`` for the query of a transform.

    Args:
        transform: Transform whose query is to be run.
        dialogues: Dialogues on which the query is to be run.
        data: Data that are added to the dialogues if the transform needs them.

    Returns:
        A dictionary for each dialogue, with the keys ``id`` and ``turns``, and with ``donors`` and ``claims``
        if needed.
    """
    parameters = [dialogue.parameter() for dialogue in dialogues]
    for row, dialogue in zip(parameters, dialogues, strict=True) if NEEDS_DONORS in transform.needs else ():
        row["donors"] = data.donors.donors_for(dialogue)
    if NEEDS_CLAIMS in transform.needs:
        for row, claims in zip(parameters, data.claims.claims_of(dialogues), strict=True):
            row["claims"] = claims
    return parameters


def propose(
    store: Store, transform: Transform, dialogues: Sequence[StoredDialogue], data: QueryData | None = None
) -> dict[str, list[Proposal]]:
    """Run the query of a transform on some dialogues and return its proposals.

    Args:
        store: Store with the dialogues.
        transform: Transform to run.
        dialogues: Dialogues on which to run the transform.
        data: Data of the store that some transforms need, such as donors. With None, they are computed if the
            transform needs them.

    Returns:
        Lists of proposals, keyed by dialogue id. Each list is sorted by the names of the sites. The query may
        return several records for a dialogue, for example from the parts of a UNION, as long as no two
        records have the same site.

    Raises:
        TransformError: The query returns something that is not an edit of these dialogues.
    """
    found: dict[str, dict[str, Proposal]] = {}
    parameters = query_parameters(transform, dialogues, data or QueryData(store))
    by_id = {dialogue.id: dialogue for dialogue in dialogues}
    graphs = {id: frozenset(dialogue.graphs) for id, dialogue in by_id.items()}
    sources = {row["id"]: graphs[row["id"]].union(row.get("donors", ())) for row in parameters}
    for record in _answer(store, transform, parameters):
        # A user may have written the query, so check each record before using it.
        id, edits = record.get("dialogue"), record.get("edits")
        # The server may return a list or a map as the id. Such values cannot be looked up in a dict.
        if not isinstance(id, str) or not isinstance(edits, list):
            returned = ", ".join(f"{column} ({_type_name(value)})" for column, value in record.items())
            raise TransformError(
                f"{transform.place}: the query must return 'dialogue' and 'edits', an id and a list of maps; "
                f"it returned {returned}"
            )
        of = graphs.get(id)
        if of is None:
            raise TransformError(f"{transform.place}: {id!r} is not one of the requested dialogues")
        sites = found.setdefault(id, {})
        try:
            rows = list(expand_replies(cast("list[Any]", edits), by_id[id]))
        except ValueError as error:
            raise TransformError(f"{transform.place}: not a valid edit: {error}; {_SEE}") from error
        for site, proposal in _grouped(transform, rows, of, sources[id]).items():
            # The edits of a site are applied in the order of the list in their record. The server returns
            # records in any order, so two records must not contain edits of the same site.
            if site in sites:
                raise TransformError(
                    f"{transform.place}: two records of the dialogue {id!r} have edits of the site {site!r}; "
                    "return one record per dialogue, or give the edits different sites"
                )
            sites[site] = proposal
    for id, sites in found.items():
        _check_amount(transform, id, sites.values())
    return {id: [sites[site] for site in sorted(sites)] for id, sites in found.items()}


def _check_amount(transform: Transform, dialogue: str, proposals: Collection[Proposal]) -> None:
    """Raise `TransformError` if a transform returns too many edits of one graph."""
    # If all graphs together have at most `MOST_EDITS` edits, which is usual, there is no need to count them
    # for each graph.
    if sum(len(proposal.rows) for proposal in proposals) <= MOST_EDITS:
        return
    amounts = Counter(row["amr"] for proposal in proposals for row in proposal.rows)
    for graph, amount in amounts.most_common(1):
        if amount > MOST_EDITS:
            raise TransformError(
                f"{transform.place}: the query returned {amount:,} edits of the graph {graph!r} of the "
                f"dialogue {dialogue!r}, but at most {MOST_EDITS:,} are allowed for a graph"
            )


def _type_name(value: Any) -> str:
    """Return the name that Cypher uses for the type of a returned value, such as ``list``."""
    names = {"NoneType": "null", "dict": "map", "str": "text", "int": "integer", "bool": "boolean"}
    return names.get(type(value).__name__, type(value).__name__)


def _answer(store: Store, transform: Transform, parameters: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Run the query of a transform read-only; raise `TransformError` if the server refuses the query."""
    query = transform.query
    # In error messages, the embedded server counts lines from the first clause, and Neo4j counts them from
    # the first comment. Without the header, both servers count from the first clause. Shipped queries are
    # sent with their header, because `query_read` recognises them by their whole text.
    header = "" if query in shipped_texts() else leading_comments(query)
    try:
        # Run all transforms with read-only access, both those of graphneg and those of users.
        return store.query_read(query.removeprefix(header), {"dialogues": parameters}).records
    except StoreError as error:
        refusal = error.__cause__
        if isinstance(refusal, CypherSyntaxError):
            message = line_in_file(str(error), refusal.message or "", header.count("\n"))
            raise TransformError(f"{transform.place}: {message}") from error
        if isinstance(error, OnlyReading) or (isinstance(refusal, Neo4jError) and not refusal.is_retryable()):
            raise TransformError(f"{transform.place}: {error}") from error
        raise


def line_in_file(error: str, message: str, skipped: int) -> str:
    """Correct the line number in a server's message about a syntax error in a file.

    Args:
        error: Text of the error, which quotes the server's message.
        message: The server's message, in which lines are counted from the beginning of the query.
        skipped: Number of lines in the file before the query.

    Returns:
        The text of the error, in which the line is counted from the beginning of the file.

    Example:
        >>> line_in_file("not valid: input at line 2, column 0", "input at line 2, column 0", 3)
        'not valid: input at line 5, column 0'
    """
    shifted = re.sub(r"\bline (\d+)", lambda found: f"line {int(found[1]) + skipped}", message, count=1)
    return error.replace(message.strip(), shifted.strip())


def paired(proposal: Proposal, partner: Proposal) -> tuple[Edit, ...]:
    """Return the edits that swap the contents of two sites.

    Args:
        proposal: A proposal with a ``swap_pool``.
        partner: Another proposal with the same ``swap_pool``.

    Returns:
        Two edits. Each gives the node of one site the subtree, value or concept of the other site's node.
    """
    return (_given(proposal.edits[0], partner), _given(partner.edits[0], proposal))


def _given(edit: Edit, giver: Proposal) -> Edit:
    """Return the edit with the content of another site (``giver``) in place of its own content."""
    gift = giver.edits[0]
    if edit.op == "graft":
        return edit._replace(from_amr=gift.amr, from_position=gift.position)
    if edit.value is not None:
        return edit._replace(value=giver.content)
    return edit._replace(concept=giver.content)


def _grouped(
    transform: Transform, rows: list[Any], graphs: frozenset[str], sources: frozenset[str]
) -> dict[str, Proposal]:
    """Check the edits that a query returned, and make one proposal per site, keyed by the site's name."""
    sites: dict[str, Proposal] = {}
    for row in rows:
        if (fault := _fault(row, graphs, sources)) is not None:
            raise TransformError(f"{transform.place}: not a valid edit: {fault}; {_SEE}")
        site = row.get("site")
        # If the query names no site for an edit, the edit gets a separate site, named after its node.
        site = f"{row['amr']}.{row['position']}" if site is None else str(site)
        if site not in sites:
            sites[site] = Proposal(transform, site)
        sites[site].add(row)
    return sites


def _fault(row: Any, graphs: frozenset[str], sources: frozenset[str]) -> str | None:
    """Return why a row of a query is not a valid edit of the given graphs, or None if it is valid."""
    if not isinstance(row, dict):
        return f"expected a map, got {row!r}"
    for name, value in cast("dict[str, Any]", row).items():
        if value is None:
            continue
        kind = _KINDS.get(name)
        # Refuse unknown keys, so that a misspelled key is reported and not ignored.
        if kind is None:
            return f"unknown key {name!r}"
        # For integers, use `whole_number`, because True is an instance of int in Python.
        if not isinstance(value, kind) or (kind is int and whole_number(value) is None):
            return f"{name} must be {_KIND_NAMES[kind]}, not {value!r}"
    fields = cast("dict[str, Any]", row)
    if fields.get("op") not in OPERATIONS:
        return f"op {fields.get('op')!r} is not one of {', '.join(sorted(OPERATIONS))}"
    if fields.get("position") is None or fields.get("amr") not in graphs:
        return f"{fields.get('amr')!r}.{fields.get('position')!r} is not a node of the dialogue"
    if fields.get("target") not in (None, *TARGETS):
        return f"target {fields['target']!r} is not one of {', '.join(TARGETS)}"
    source = fields.get("from_amr")
    if source is not None and source not in sources:
        return f"from_amr {source!r} is neither a graph of the dialogue nor one of its donors"
    # To copy a subtree, an edit must name both the graph and a node in it.
    if source is not None and fields.get("from_position") is None:
        return "from_amr needs from_position"
    if fields["op"] == "say":
        voice, frame = fields.get("voice"), fields.get("frame")
        if voice not in VOICES:
            return f"voice {voice!r} is not one of {', '.join(VOICES)}"
        if reply_frame(frame or "", voice) is None:
            return f"frame {frame!r} is not one of {', '.join(frames_of(voice))}, for the voice {voice!r}"
        if source is None or fields["position"] != 0:
            return "'say' needs position 0 and from_amr"
    return None
