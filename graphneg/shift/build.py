"""Builds the shift graph of a store: one pass over its dialogues, in batches, resumable at each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from neo4j import ManagedTransaction

from graphneg.errors import InputError
from graphneg.ingest.rows import Row
from graphneg.ingest.writing import MAX_ROWS
from graphneg.nn.embedders import Embedder
from graphneg.progress import Progress
from graphneg.shift.graphs import (
    DialoguePairs,
    Kind,
    Pair,
    count_dialogues,
    has_replies,
    read_pairs,
    waiting_dialogues,
)
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
from graphneg.store.statements import cypher_text, run

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


# Writes keywords and shifts to a store: whole dialogues, each in one transaction with its counts.
#
# A dialogue is marked in the transaction that writes its replies and adds them to the counts, and only
# dialogues without the mark are written. So counts are exact however a run ends, and however many
# run at a time.


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


# What building a shift graph did, counted.


NO_POST_KEYWORDS = "post without keywords"
NO_REPLY_KEYWORDS = "reply without keywords"


@dataclass(slots=True)
class ShiftReport:
    """Counts of one run. ``keywords`` and ``embedder`` name how it was made.

    ``pairs`` were read with their ``dialogues``; ``shifts`` of them are in the graph now, ``skipped``
    counts the others by reason. ``mentions`` is how many keywords were tied to texts; ``notes`` say
    what a user should know.
    """

    keywords: str
    embedder: str
    dialogues: int = 0
    pairs: int = 0
    shifts: int = 0
    mentions: int = 0
    skipped: Counter[str] = field(default_factory=Counter[str])
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """One line: ``3,210 shifts of 4,000 pairs in 21.4 s (187/s); 790 posts without keywords``."""
        line = f"{self.shifts:,} shifts of {self.pairs:,} pairs of {self.dialogues:,} dialogues"
        line += f" in {self.seconds:.1f} s"
        if self.pairs and self.seconds:
            line += f" ({self.pairs / self.seconds:,.0f} pairs/s)"
        parts = [f"{count:,} × {reason}" for reason, count in sorted(self.skipped.items())]
        return line + (f"; skipped {', '.join(parts)}" if parts else "")


# Focus and reply perspective of a post and its reply (CAPT, section 3.1).


_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply with its keywords, and the keywords of the post that it answers; both have some."""

    post: Sequence[Keyword]
    text: str
    reply: Sequence[Keyword]


@dataclass(frozen=True, slots=True)
class Shift:
    """The keyword of the post that a reply attends to, and its own that it moves to: keys of terms."""

    focus: str
    perspective: str


def shifts_of(exchanges: Sequence[Exchange], embedder: Embedder) -> list[Shift]:
    """The shift of each exchange.

    The focus is the post's keyword closest to the reply, the perspective the reply's keyword closest
    to the focus, by the cosine of their embeddings. A reply that repeats the focus stays on it: its
    perspective is the focus. Cosines are compared to four digits, since a model's last ones depend on
    what else is in its batch; of equals, the keyword with the higher score is taken.
    """
    texts = {one.text: None for one in exchanges}
    texts |= {word.text: None for one in exchanges for word in (*one.post, *one.reply)}
    vectors = dict(zip(texts, embedder.embed(list(texts)), strict=True)) if texts else {}
    return [_shift(one, vectors) for one in exchanges]


def closest(keywords: Sequence[Keyword], vectors: NDArray[float32], to: NDArray[float32]) -> Keyword:
    """The keyword whose vector (a row of shape (keywords, dimensions)) is closest to another one."""
    cosines: list[float] = (vectors @ to).tolist()
    ranked = zip(keywords, cosines, strict=True)
    return min(ranked, key=lambda one: (-round(one[1], _DIGITS), -one[0].score, one[0].text))[0]


def _shift(exchange: Exchange, vectors: Mapping[str, NDArray[float32]]) -> Shift:
    focus = closest(exchange.post, _rows(exchange.post, vectors), vectors[exchange.text])
    perspective = closest(exchange.reply, _rows(exchange.reply, vectors), vectors[focus.text])
    return Shift(focus.text, perspective.text)


def _rows(keywords: Sequence[Keyword], vectors: Mapping[str, NDArray[float32]]) -> NDArray[float32]:
    import numpy

    return numpy.stack([vectors[one.text] for one in keywords])


# Builds the shift graph of a store: one pass over its dialogues, in batches, resumable at each.


BATCH = 64
"""Dialogues whose keywords are found and embedded together."""
TEXTS = 1_500
"""Texts of one transaction, unless a single dialogue has more."""

Existing = Literal["keep", "replace"]


def build_shifts(
    store: Store,
    extractor: KeywordExtractor,
    embedder: Embedder,
    selection: Selection,
    existing: Existing,
    progress: Progress,
) -> ShiftReport:
    """Write keywords, foci, perspectives and counted shifts of the dialogues that have none yet.

    ``existing`` is ``keep``, or ``replace``: then the whole shift graph is removed first, that of other
    corpora too. What is written stays, whenever the run is stopped; the next one goes on from there.

    Raises:
        InputError: there are no dialogues, or no replies in them; the store's shift graph was made
            with another extractor or embedder. Nothing is changed then.
        StoreError: the store is gone.
    """
    began = time.monotonic()
    dialogues, waiting = count_dialogues(store, selection)
    _check_replies(store, selection, dialogues)
    method = Method(extractor.name, embedder.name)
    report = ShiftReport(method.keywords, method.embedder, notes=extractor.notes)
    if existing == "replace" or check_method(store, method):
        forget(store, method, progress)
        waiting = dialogues
    progress.start("shift graph", waiting, "dialogues")
    batches = _found(store, extractor, embedder, waiting_dialogues(store, selection))
    try:
        for written in _written(store, method, batches):
            _book(report, written)
            progress.advance(len(written))
    finally:
        report.seconds = time.monotonic() - began
    progress.finish()
    return report


def _check_replies(store: Store, selection: Selection, dialogues: int) -> None:
    of = (
        " of " + ", ".join([*selection.corpora, *selection.splits])
        if selection.corpora or selection.splits
        else ""
    )
    if not dialogues:
        raise InputError(f"no dialogues{of} are in the {store.description}: graphneg load brings some")
    if not has_replies(store, selection):
        raise InputError(
            f"the dialogues{of} in the {store.description} have no replies: a shift graph needs dialogues "
            "of two turns or more, or responses with label 1"
        )


def _found(
    store: Store, extractor: KeywordExtractor, embedder: Embedder, ids: Iterator[str]
) -> Iterator[list[DialogueShifts]]:
    while some := list(islice(ids, BATCH)):
        for dialogues in _groups(read_pairs(store, some)):
            yield _shifts(dialogues, extractor, embedder)


def _groups(dialogues: Sequence[DialoguePairs]) -> Iterator[list[DialoguePairs]]:
    """Dialogues that go into one transaction."""
    group: list[DialoguePairs] = []
    texts = 0
    for one in dialogues:
        if group and texts + len(one.texts) > TEXTS:
            yield group
            group, texts = [], 0
        group.append(one)
        texts += len(one.texts)
    if group:
        yield group


def _shifts(
    dialogues: Sequence[DialoguePairs], extractor: KeywordExtractor, embedder: Embedder
) -> list[DialogueShifts]:
    texts = {said.text: None for one in dialogues for said in one.texts}
    keywords = dict(zip(texts, extractor.extract(list(texts)), strict=True))
    found = [_mentions(one, keywords) for one in dialogues]
    exchanges: list[Exchange] = []
    places: list[tuple[DialogueShifts, Pair]] = []
    for one, shifts in zip(dialogues, found, strict=True):
        for pair in one.pairs:
            post, reply = keywords[pair.post.text], keywords[pair.reply.text]
            if post and reply:
                exchanges.append(Exchange(post, pair.reply.text, reply))
                places.append((shifts, pair))
            else:
                shifts.skipped[NO_REPLY_KEYWORDS if post else NO_POST_KEYWORDS] += 1
    for (shifts, pair), shift in zip(places, shifts_of(exchanges, embedder), strict=True):
        row = {"id": pair.reply.id, "focus": shift.focus, "perspective": shift.perspective}
        shifts.shifts.setdefault(pair.reply.kind, []).append(row)
    return found


def _mentions(dialogue: DialoguePairs, keywords: dict[str, list[Keyword]]) -> DialogueShifts:
    found = DialogueShifts(dialogue.id, len(dialogue.pairs))
    for said in dialogue.texts:
        rows = [{"id": said.id, "text": one.text, "score": one.score} for one in keywords[said.text]]
        found.mentions.setdefault(said.kind, []).extend(rows)
    return found


def _written(
    store: Store, method: Method, batches: Iterator[list[DialogueShifts]]
) -> Iterator[list[DialogueShifts]]:
    """Each batch once it is written, while the next one is made; what was handed over is finished."""
    with ThreadPoolExecutor(1, thread_name_prefix="graphneg-shift") as pool:
        pending: Future[list[DialogueShifts]] | None = None
        for batch in batches:
            before, pending = pending, pool.submit(write_shifts, store, method, batch)
            if before is not None:
                yield before.result()
        if pending is not None:
            yield pending.result()


def _book(report: ShiftReport, written: Sequence[DialogueShifts]) -> None:
    report.dialogues += len(written)
    for one in written:
        report.pairs += one.pairs
        report.shifts += sum(map(len, one.shifts.values()))
        report.mentions += sum(map(len, one.mentions.values()))
        report.skipped.update(one.skipped)
