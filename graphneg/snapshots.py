"""Write and load snapshots, which contain the data that some recipes need from the whole corpus.

If a corpus is divided into shards, the store of a machine contains only some of the dialogues.
`Snapshot.write` computes a snapshot once, from a store with the whole corpus. `Snapshot.load` loads it into
the store of a shard. The negatives of that shard are then the same as if they were made in the store with the
whole corpus. A snapshot has up to five parts. Each part is needed by some transforms or generators:

========== ========================================= ====================================================
part       needed by                                 content
========== ========================================= ====================================================
donors     topical_statement                         up to 3,072 utterances with graphs from each split
utterances insertion, replacement                    up to 256 samples of 64 utterances from each split
shifts     perspective_substitution, counterfactual  all topic shifts with their counts
sentences  overlap, hard                             the sentences from which responses are chosen
bank       random, bm25, semi-hard, token-subst      up to 100,000 correct responses from each corpus
========== ========================================= ====================================================

Every snapshot also contains the correct replies to each context that occurs several times in the corpus. All
of these replies are correct for the context, so none of them may be used as a negative for it.

The file consists of compressed JSON Lines: first a header with a digest of the other lines, then one line for
each row of data. Equal stores give equal digests.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Annotated, Any, NotRequired, TypedDict

import msgspec
from neo4j import ManagedTransaction

from graphneg import __version__
from graphneg.amr.penman import format_graph
from graphneg.editing.proposals import Donors, samples_of_texts
from graphneg.errors import InputError, checked_list
from graphneg.generators.overlap.generator import contexts_with_response
from graphneg.generators.overlap.pool import pool_dialogues
from graphneg.generators.retrieval import bank_rows
from graphneg.ingest.lexicon import finish, stored_lexicon, write_terms
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.rows import mention_rows
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.json_input import (
    LONGEST_LINE,
    converted,
    json_line,
    numbered_lines,
    open_input,
    parse_typed,
)
from graphneg.model import Dialogue, Utterance
from graphneg.parsers.base import Parsed
from graphneg.parsers.stored import NewGraph, PendingText, parse_from_row, parse_row, write_graphs
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import atomic_file
from graphneg.shift.graphs import read_edges
from graphneg.store.connection import Store
from graphneg.store.copied_contexts import copied_contexts
from graphneg.store.corpus_data import (
    ANSWERED,
    BANK,
    COPIES,
    DONORS,
    PARTS,
    SENTENCES,
    SHIFTS,
    UTTERANCES,
    stored_snapshot,
)
from graphneg.store.dialogues import read_dialogues, read_whole_graphs
from graphneg.store.queries import info_of
from graphneg.store.statements import cypher_text, run


class _Head(msgspec.Struct, frozen=True):
    """The first line of a snapshot file: its digest, version and parts, and counts for the whole corpus."""

    snapshot: str
    version: str
    parts: tuple[str, ...]
    dialogues: list[tuple[str, str, int]]
    utterances: int
    resources: dict[str, int]


EXCERPTS, KINDS, METHOD = "excerpts", "kinds", "method"
"""Kinds of rows that belong to a part with a different name. Rows of the kind ``excerpts`` belong to the part
``donors``. Each of these rows contains the utterances of a dialogue from whose graphs a transform may copy.
Rows of the kinds ``kinds`` and ``method`` belong to the part ``shifts``."""
_STORED_AS_JSON = frozenset({DONORS, UTTERANCES, BANK, ANSWERED, COPIES})
"""Kinds of rows that are stored as JSON. All other rows become nodes and relationships, like loaded data."""
_PAGE = 500
"""Number of rows that are written in one transaction."""
_ALREADY_PROCESSED = {"excerpt": True, "shifts": True, "pooled": True}
"""Attributes of the dialogues that are loaded from excerpts. They mark the dialogues as already processed, so
that they are added neither to the shift graph nor to the sentence pool.
"""
Row = Any


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot file.

    Attributes:
        path: Path of the snapshot file.
        digest: Digest of the content of the snapshot.
        parts: Names of the parts in the snapshot.
        facts: The values of the file's header except the digest, such as the numbers of dialogues.
    """

    path: Path
    digest: str
    parts: tuple[str, ...]
    facts: Mapping[str, Any]

    @classmethod
    def write(
        cls,
        store: Store,
        path: str | Path,
        parts: Sequence[str] = PARTS,
        progress: Progress | None = None,
    ) -> Snapshot:
        """Compute a snapshot of a store and write it to a file.

        If the part ``sentences`` is included, the dialogues of the store are split into sentences first. The
        file appears only when it is complete.

        Args:
            store: Store that contains the whole corpus.
            path: Snapshot file to write.
            parts: Names of the parts to include.
            progress: Progress display; advanced by the number of finished parts.

        Returns:
            The snapshot.

        Raises:
            InputError: A part is unknown, or the store has no dialogues or only the dialogues of a shard.
        """
        chosen = tuple(part for part in PARTS if part in checked_list("parts", parts))
        if strange := sorted({*parts} - {*PARTS}):
            raise InputError(f"a snapshot has no part {strange[0]!r}; choose from {', '.join(PARTS)}")
        # If a different version of graphneg has computed properties of the graph nodes, the stores of all
        # shards would get properties of that version. So refuse such a store.
        store.check_facts()
        info = info_of(store)
        # Refuse to make a snapshot of a shard, because it would be mistaken for a snapshot of the whole
        # corpus.
        if stored_snapshot(store) is not None or not info.corpora:
            raise InputError(
                f"the {store.description} has no dialogues, or only those of a shard: make the snapshot "
                "from a store with all dialogues"
            )
        facts = {
            "version": __version__,
            "parts": chosen,
            "dialogues": [list(row) for row in info.corpora],
            "utterances": info.counts.get("Utterance", 0),
            "resources": _counts_of_resources(store),
        }
        bar = progress or NoProgress()
        bar.start("snapshot", len(chosen), "parts")
        # The header is the first line of the file, but contains a digest of all rows. So write the rows to a
        # temporary file first.
        with atomic_file(path) as unfinished, TemporaryFile(dir=unfinished.parent) as body:
            digest = _write_body(body, _rows(store, chosen, bar), facts)
            body.seek(0)
            with open(unfinished, "wb") as file:
                _write_gzip_lines(file, [{"snapshot": digest, **facts}])
                shutil.copyfileobj(body, file)
        bar.finish()
        return cls.read(path)

    @classmethod
    def read(cls, path: str | Path) -> Snapshot:
        """Read the header of a snapshot file. The rows are read later, by `load`.

        Args:
            path: File of the snapshot.

        Returns:
            The snapshot.

        Raises:
            InputError: The file is not a snapshot, or a different version of graphneg wrote it.
        """
        with open_input(path, pipes=False) as stored:
            try:
                with gzip.GzipFile(fileobj=stored) as file:
                    facts = parse_typed(file.readline(LONGEST_LINE), dict[str, Any], str(path))
                head = converted(facts, _Head, str(path))
            except (InputError, EOFError, OSError, zlib.error) as error:
                raise InputError(
                    f"{path}: not a snapshot; write one with graphneg shards snapshot -o FILE"
                ) from error
        # Refuse a snapshot of a different version of graphneg, which may have computed different rows.
        if head.version != __version__:
            raise InputError(
                f"{path}: made by graphneg {head.version}, but this is graphneg {__version__}: use the same "
                "version everywhere"
            )
        del facts["snapshot"]
        return cls(Path(path), head.snapshot, head.parts, facts)

    def load(self, store: Store, progress: Progress | None = None) -> None:
        """Load the snapshot into the store of a shard.

        Dialogues, graphs and shifts that are already in the store are not changed. If the call is
        interrupted, call it again to continue.

        Args:
            store: Store of the shard into which the snapshot is loaded.
            progress: Progress display; advanced by the number of loaded rows.

        Raises:
            InputError: The store already has another snapshot, or the number of its opposites, frames or
                lexicon entries differs from the store from which the snapshot was made. Or the rows have
                missing or wrong values.
        """
        known = stored_snapshot(store)
        if known is not None:
            if known.digest != self.digest:
                raise InputError(f"{self.path}: the {store.description} already has another snapshot")
            return
        there, meanings = _counts_of_resources(store), self.facts["resources"]
        # Negatives depend on the opposites, frames and lexicon entries in the store. If this store has more
        # or fewer of them than the store with the whole corpus, it would give different negatives.
        for kind in sorted({*there, *meanings}):
            amount, meant = there.get(kind, 0), meanings.get(kind, 0)
            if amount != meant:
                raise InputError(
                    f"{self.path}: the snapshot was made with {meant:,} {kind}, but the "
                    f"{store.description} has {amount:,}: load the same data into the store first"
                )
        bar = progress or NoProgress()
        bar.start("snapshot", None, "rows")
        for part, rows in groupby(self._rows(), itemgetter(0)):
            numbered = enumerate(iter(lambda rows=rows: [row for _, row in islice(rows, _PAGE)], list[Row]()))
            for number, page in numbered:
                # The digest in the file shows damage. It does not show that another program has written the
                # file, so check the rows, too.
                try:
                    check_types(part, page)
                    _LOADING[part](store, part, number, page)
                except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
                    raise InputError(
                        f"{self.path}: the rows of part {part[:40]!r} are not those of a snapshot of "
                        f"graphneg {__version__}; write the snapshot again with graphneg shards snapshot"
                    ) from error
                bar.advance(len(page))
        # If the snapshot contains the sentences of all dialogues, those of this shard are among them. Mark
        # the dialogues of the shard, so that their sentences are not added a second time.
        if SENTENCES in self.parts:
            store.write(lambda tx: run(tx, "snapshot/mark_pooled"))
        facts = json.dumps(dict(self.facts))
        store.write(lambda tx: run(tx, "snapshot/finish", digest=self.digest, facts=facts))
        bar.finish()

    def _rows(self) -> Iterator[tuple[str, Row]]:
        """Yield the rows of the file, each with the name of its part. At the end, check the file's digest."""
        digest = _new_digest(self.facts)
        with open_input(self.path, pipes=False) as stored, gzip.GzipFile(fileobj=stored) as file:
            try:
                file.readline()
                for number, line in numbered_lines(file, self.path, 2):
                    digest.update(line)
                    yield parse_typed(line, tuple[str, Any], f"{self.path}, line {number}")
            except (InputError, OSError, EOFError, zlib.error) as error:
                raise InputError(f"{self.path}: the file is incomplete; copy the file again") from error
        # All rows have been read, so their digest can be compared with the recorded one.
        if digest.hexdigest() != self.digest:
            raise InputError(f"{self.path}: the file was changed or damaged; copy the file again")


def _counts_of_resources(store: Store) -> dict[str, int]:
    """Return the numbers of opposites, frames, lexicon entries and so on in a store. Leave out zeros."""
    rows = store.read(cypher_text("snapshot/resources"))
    return {row["kind"]: row["amount"] for row in rows if row["amount"]}


def _new_digest(facts: Mapping[str, Any]) -> Any:
    """Return a new hash object to which the values of the header have already been added."""
    return hashlib.blake2b(json.dumps(dict(facts), sort_keys=True).encode(), digest_size=16)


def _write_body(file: IO[bytes], rows: Iterable[tuple[str, Row]], facts: Mapping[str, Any]) -> str:
    """Write rows to a compressed file. Return a digest of the header's values and the rows."""
    digest = _new_digest(json.loads(json.dumps(dict(facts))))

    def lines() -> Iterator[Any]:
        for row in rows:
            digest.update(_line_of_row(row))
            yield row

    _write_gzip_lines(file, lines())
    return digest.hexdigest()


def _write_gzip_lines(file: IO[bytes], rows: Iterable[Any]) -> None:
    # Write neither a name nor the time into the header of gzip, so that equal rows give equal bytes.
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        for row in rows:
            packed.write(_line_of_row(row))


def _line_of_row(row: Any) -> bytes:
    return json_line(row, separators=(",", ":"), default=list).encode() + b"\n"


def _rows(store: Store, parts: Sequence[str], progress: Progress) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a snapshot, each with the name of its part. Equal stores give the same order."""
    corpora = [(corpus, split) for corpus, split, _ in info_of(store).corpora]
    yield from ((COPIES, row) for row in copied_contexts(store).rows())
    for part in parts:
        for name, rows in _READING[part](store, corpora):
            yield from ((name, row) for row in rows)
        progress.advance(1)


Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer that a store can hold."""


class _DonorRow(TypedDict):
    corpus: str
    split: str
    taker: str
    dialogue: str
    amr: str


class _UtteranceRow(TypedDict):
    key: str
    dialogue: str
    turn: Whole
    text: str
    corpus: str
    split: str


class _ParseRow(TypedDict):
    id: str
    source: str
    penman: str
    spans: NotRequired[list[Whole]]
    warnings: NotRequired[list[str]]


class _MethodRow(TypedDict):
    keywords: str
    embedder: str


class _SentenceRow(TypedDict):
    id: str
    text: str
    source: str
    dialogue: str
    words: Whole
    content: Whole
    mood: str
    person: Whole
    opening: str
    finite: bool
    plain: bool
    rank: Whole
    terms: list[str]


_TYPES: Mapping[str, Any] = {
    COPIES: tuple[list[str], list[tuple[str, Whole]]],
    DONORS: _DonorRow,
    EXCERPTS: tuple[str, str, str, list[tuple[Whole, str, str]], list[_ParseRow]],
    UTTERANCES: _UtteranceRow,
    METHOD: _MethodRow,
    SHIFTS: tuple[str, str, Whole],
    KINDS: tuple[str, str],
    ANSWERED: tuple[str, str],
    SENTENCES: _SentenceRow,
    # The integer is an unsigned hash of 64 bits.
    BANK: tuple[str, int, str, str, str],
}
"""The type of the rows of each kind. A store accepts some wrong types, and a later run would then fail."""


def check_types(part: str, rows: Sequence[Row]) -> None:
    """Check the rows of a snapshot.

    Args:
        part: The kind of the rows, such as ``sentences``.
        rows: The rows.

    Raises:
        ValueError: A row has missing columns, or columns of wrong types.
        KeyError: There is no such kind of rows.
    """  # noqa: DOC502
    try:
        msgspec.convert(rows, list[_TYPES[part]])
    except msgspec.ValidationError as error:
        raise ValueError(f"row {error}") from error


Splits = Sequence[tuple[str, str]]
Named = Iterator[tuple[str, Iterable[Row]]]


def _read_donors(store: Store, splits: Splits) -> Named:
    """Yield the donors (utterances to copy from), and then their dialogues without all other utterances."""
    donors = Donors(store)
    rows = [row for split in splits for row in donors.assign(*split)]
    yield DONORS, rows
    yield EXCERPTS, _excerpts(store, rows)


def _excerpts(store: Store, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield a row for each dialogue that contains donors (utterances that transforms may copy from).

    A row contains the id, corpus and split of the dialogue, and its donors with their graphs. All other
    utterances are left out.
    """
    wanted = {row["amr"] for row in rows}
    ids = iter(sorted({row["dialogue"] for row in rows}))
    while page := list(islice(ids, _PAGE)):
        dialogues = read_dialogues(store, page)
        amrs = [
            turn.graph_id
            for one in dialogues
            for turn in one.turns
            if turn.graph_id in wanted and turn.graph_id
        ]
        graphs = {graph.id: graph for graph in read_whole_graphs(store, amrs)}
        made_by = {row["id"]: row["source"] for row in store.read(cypher_text("snapshot/sources"), ids=amrs)}
        for dialogue in dialogues:
            copied_turns = [turn for turn in dialogue.turns if turn.graph_id in graphs]
            parses = [
                parse_row(
                    turn.graph_id or "", made_by[turn.graph_id or ""], Parsed(graph, (), format_graph(graph))
                )
                for turn in copied_turns
                for graph in [graphs[turn.graph_id or ""]]
            ]
            turns = [[turn.turn, turn.speaker, turn.text] for turn in copied_turns]
            yield [dialogue.id, dialogue.corpus, dialogue.split, turns, parses]


def _read_utterances(store: Store, splits: Splits) -> Named:
    """Yield, for each split, the utterances from which generators draw their random samples."""
    samples = samples_of_texts(store)
    yield UTTERANCES, (row for split in splits for row in samples.every(*split))


def _read_shifts(store: Store, splits: Splits) -> Named:
    """Yield the parts of a snapshot that describe the shift graph, each with its name.

    The parts are the method of keyword extraction, the shift edges, and the kind of each term, such as food.
    """
    yield METHOD, [row.data() for row in store.read(cypher_text("shift/method"))]
    edges = read_edges(store)
    yield SHIFTS, edges
    kinds = {row["text"]: row["kind"] for row in store.read(cypher_text("snapshot/kinds"))}
    yield KINDS, sorted(kinds.items())


def _read_sentences(store: Store, splits: Splits) -> Named:
    """Yield the contexts with their correct responses, and the sentences for new responses."""
    pool_dialogues(store)
    yield ANSWERED, contexts_with_response(store)
    yield SENTENCES, _pool_sentences(store)


def _pool_sentences(store: Store) -> Iterator[Row]:
    """Yield the sentences from which responses can be chosen, in the order of their ids."""
    after = ""
    while page := store.read(cypher_text("snapshot/sentences"), after=after, limit=_PAGE):
        rows = [{name: row["row"][name] for name in sorted(row["row"])} for row in page]
        yield from rows
        after = rows[-1]["id"]


def _read_bank(store: Store, splits: Splits) -> Named:
    """Yield a sample of correct responses from each corpus. Some generators choose from this sample."""
    corpora = sorted({corpus for corpus, _ in splits})
    yield BANK, (row for corpus in corpora for row in bank_rows(store, corpus))


_READING = {
    DONORS: _read_donors,
    UTTERANCES: _read_utterances,
    SHIFTS: _read_shifts,
    SENTENCES: _read_sentences,
    BANK: _read_bank,
}


def _store_as_json(store: Store, part: str, number: int, rows: Sequence[Row]) -> None:
    kept = {"id": f"{part}/{number}", "part": part, "number": number, "rows": json.dumps(rows)}
    store.write(lambda tx: run(tx, "snapshot/write_rows", **kept))


def _write_excerpts(store: Store, part: str, number: int, rows: Sequence[Row]) -> None:
    """Write excerpts (dialogues that are reduced to some of their utterances) and their AMR graphs."""
    # Skip the excerpt of a dialogue that the store contains already, because it would replace the dialogue.
    there = {dialogue.id for dialogue in read_dialogues(store, [row[0] for row in rows])}
    new = [row for row in rows if row[0] not in there]
    dialogues = [
        Dialogue(id, corpus, split, tuple(Utterance(*turn) for turn in turns), attributes=_ALREADY_PROCESSED)
        for id, corpus, split, turns, _ in new
    ]
    write_records(store, dialogues, LoadReport(part), GraphDialogues(part, part, 1))
    graphs = [
        _graph_of_parse(id, turn, parse)
        for id, _, _, turns, made in rows
        for turn, parse in zip(turns, made, strict=True)
    ]
    # Group the graphs by parser, because `write_graphs` takes the graphs of one parser at a time.
    graphs.sort(key=itemgetter(0))
    for source, some in groupby(graphs, itemgetter(0)):
        for _ in write_graphs(store, [graph for _, graph in some], source):
            pass


def _graph_of_parse(dialogue: str, turn: Sequence[Any], parse: Mapping[str, Any]) -> tuple[str, NewGraph]:
    """Return the name of a parser, and the graph that it made from an utterance, for `write_graphs`."""
    made = parse_from_row(**parse)
    number, _, text = turn
    pending = PendingText("utterances", f"{dialogue}#{number}", text, ())
    assert made.graph is not None
    return parse["source"], NewGraph(replace(made.graph, id=parse["id"]), pending, made, None)


def _write_shifts(store: Store, part: str, number: int, rows: Sequence[Row]) -> None:
    """Write edges of the shift graph to the store, and the terms (keywords) that they connect."""
    named = [dict(zip(("focus", "perspective", "count"), row, strict=True)) for row in rows]

    def work(tx: ManagedTransaction) -> None:
        finish(write_terms(tx, {text for row in rows for text in row[:2]}, stored_lexicon(tx)))
        run(tx, "snapshot/write_shifts", rows=named)

    store.write(work)


def _write_method(store: Store, part: str, number: int, rows: Sequence[Row]) -> None:
    """Store the names of the keyword extractor and the embedder. Refuse a store that has other names."""
    for row in rows:
        method = {name: row[name] for name in ("keywords", "embedder")}
        [state] = store.write(lambda tx, method=method: run(tx, "shift/begin", **method))
        if {name: state[name] for name in method} != method:
            raise InputError(
                f"the shift graph of the {store.description} was made with other keywords or another "
                "embedder than the snapshot's"
            )


def _write_kinds(store: Store, part: str, number: int, rows: Sequence[Row]) -> None:
    """Write the noun class (such as ``food``) of each keyword in the shift graph to the store."""
    named = [{"text": text, "kind": kind} for text, kind in rows]
    store.write(lambda tx: run(tx, "snapshot/write_kinds", rows=named))


def _write_sentences(store: Store, part: str, number: int, rows: Sequence[Row]) -> None:
    def work(tx: ManagedTransaction) -> None:
        stored = run(tx, "load/stored_sentences", ids=[row["id"] for row in rows])
        there = {row["id"] for row in stored}
        # Skip the sentences that an interrupted call has already written.
        new = [row for row in rows if row["id"] not in there]
        mentions = mention_rows(new)
        if new:
            finish(write_terms(tx, (row["text"] for row in mentions), stored_lexicon(tx)))
            run(tx, "load/sentences", sentences=new, mentions=mentions)

    store.write(work)


_LOADING = {
    **dict.fromkeys(_STORED_AS_JSON, _store_as_json),
    EXCERPTS: _write_excerpts,
    METHOD: _write_method,
    SHIFTS: _write_shifts,
    KINDS: _write_kinds,
    SENTENCES: _write_sentences,
}
