"""Builds the shift graph of a store: one pass over its dialogues, in batches, resumable at each.

Dialogues of the store go in. Keywords (MENTIONS), what each reply attends to and moves to (FOCUS,
PERSPECTIVE), and the counted shifts between keywords (SHIFTS_TO) are written; a `ShiftReport` comes out.

A dialogue is marked in the transaction that writes its replies and adds them to the counts, and only
dialogues without the mark are written. So counts are exact however a run ends, and however many run at a
time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import uuid4

from neo4j import ManagedTransaction

from graphneg.errors import InputError
from graphneg.ingest.lexicon import finish, lexicon_in, write_terms
from graphneg.ingest.rows import Row, utterance_id
from graphneg.ingest.writing import MAX_ROWS
from graphneg.nn.embedders import Embedder
from graphneg.progress import Progress
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, read_dialogues, read_responses
from graphneg.store.statements import cypher_text, run
from graphneg.workers import ahead

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

BATCH = 64
"""Dialogues whose keywords are found and embedded together."""
PAGE = 20_000
NO_POST_KEYWORDS = "post without keywords"
NO_REPLY_KEYWORDS = "reply without keywords"

_DIGITS = 4
_FORGOTTEN = ("edges", "mentions_of_utterances", "mentions_of_responses", "terms", "marks")
_TAKEN = "another run is removing the shift graph of this store; build it again after that"

Existing = Literal["keep", "replace"]
TextKind = Literal["utterances", "responses"]
KINDS: tuple[TextKind, ...] = get_args(TextKind)


@dataclass(frozen=True, slots=True)
class Method:
    """How shifts are found: the names of the keyword extractor and of the embedder."""

    keywords: str
    embedder: str


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

    def add(self, written: Sequence[DialogueShifts]) -> None:
        """Count these dialogues."""
        self.dialogues += len(written)
        for dialogue in written:
            self.pairs += len(dialogue.pairs)
            self.shifts += sum(map(len, dialogue.shifts.values()))
            self.mentions += sum(map(len, dialogue.mentions.values()))
            self.skipped.update(dialogue.skipped)


@dataclass(frozen=True, slots=True)
class DialogueText:
    """A text of a dialogue: an utterance, or a right response to one of its turns."""

    id: str
    text: str
    kind: TextKind


def _by_kind() -> dict[TextKind, list[Row]]:
    return {kind: [] for kind in KINDS}


@dataclass(slots=True)
class DialogueShifts:
    """A dialogue: its texts in order, its pairs of a post and a reply to it, and what is to be written of it.

    ``mentions`` and ``shifts`` are rows of the statements in ``cypher/shift/``, by the kind of the text.
    """

    id: str
    texts: tuple[DialogueText, ...]
    pairs: tuple[tuple[DialogueText, DialogueText], ...]
    mentions: dict[TextKind, list[Row]] = field(default_factory=_by_kind)
    shifts: dict[TextKind, list[Row]] = field(default_factory=_by_kind)
    skipped: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True, slots=True)
class KeywordPair:
    """A reply with its keywords, and the keywords of the post that it answers; both have some."""

    post: Sequence[Keyword]
    text: str
    reply: Sequence[Keyword]


@dataclass(frozen=True, slots=True)
class Shift:
    """The keyword of the post that a reply attends to, and its own that it moves to: keys of terms."""

    focus: str
    perspective: str


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
    A batch is written while the next one is read, and its shifts found.

    Raises:
        InputError: there are no dialogues, or no replies in them; the store's shift graph was made
            with another extractor or embedder. Nothing is changed then.
        StoreError: the store is gone.
    """
    began = time.monotonic()
    [amount] = store.read(cypher_text("shift/count_pending"), **_conditions(selection))
    _check_replies(store, selection, amount["dialogues"])
    method = Method(extractor.name, embedder.name)
    report = ShiftReport(method.keywords, method.embedder, notes=extractor.notes)
    anew = existing == "replace" or _is_being_removed(store, method)
    if anew:
        _forget(store, method, progress)
    progress.start("shift graph", amount["dialogues" if anew else "pending"], "dialogues")
    ids = _pending_dialogues(store, selection)
    batches = iter(lambda: list(islice(ids, BATCH)), [])
    try:
        for batch in ahead(lambda some: _batch(store, some, extractor, embedder), batches, 1):
            for dialogues in _transactions(batch):
                written = store.write(lambda tx, some=dialogues: _write(tx, method, some))
                report.add(written)
                progress.advance(len(written))
    finally:
        report.seconds = time.monotonic() - began
    progress.finish()
    return report


def shifts_of(pairs: Sequence[KeywordPair], embedder: Embedder) -> list[Shift]:
    """The shift of each pair (CAPT, section 3.1).

    The focus is the post's keyword closest to the reply, the perspective the reply's keyword closest
    to the focus, by the cosine of their embeddings. A reply that repeats the focus stays on it: its
    perspective is the focus. Cosines are compared to four digits, since a model's last ones depend on
    what else is in its batch; of equals, the keyword with the higher score is taken.
    """
    texts = {pair.text: None for pair in pairs}
    texts |= {word.text: None for pair in pairs for word in (*pair.post, *pair.reply)}
    vectors = dict(zip(texts, embedder.embed(list(texts)), strict=True)) if texts else {}
    foci = [_closest(pair.post, vectors, pair.text) for pair in pairs]
    return [
        Shift(focus, _closest(pair.reply, vectors, focus)) for pair, focus in zip(pairs, foci, strict=True)
    ]


def method_of(store: Store) -> Method | None:
    """How the store's shift graph was made; None where there is none."""
    rows = store.read(cypher_text("shift/method"))
    return Method(rows[0]["keywords"], rows[0]["embedder"]) if rows else None


def _pairs_of(store: Store, ids: Sequence[str]) -> list[DialogueShifts]:
    """The texts and pairs of these dialogues, in order: a reply is the next turn, or a right response."""
    responses = read_responses(store, ids)
    dialogues: list[DialogueShifts] = []
    for dialogue in read_dialogues(store, ids):
        posts = {
            turn.turn: DialogueText(utterance_id(dialogue.id, turn.turn), turn.text, "utterances")
            for turn in dialogue.turns
        }
        answers = [
            (posts[response.turn], DialogueText(response.id, response.text, "responses"))
            for response in responses.get(dialogue.id, ())
            if response.label == 1
        ]
        texts = (*posts.values(), *(answer for _, answer in answers))
        dialogues.append(DialogueShifts(dialogue.id, texts, (*pairwise(posts.values()), *answers)))
    return dialogues


def _conditions(selection: Selection) -> dict[str, Any]:
    return {"corpora": list(selection.corpora), "splits": list(selection.splits)}


def _check_replies(store: Store, selection: Selection, dialogues: int) -> None:
    names = [*selection.corpora, *selection.splits]
    of = f" of {', '.join(names)}" if names else ""
    if not dialogues:
        raise InputError(f"no dialogues{of} are in the {store.description}: graphneg load brings some")
    if not store.read(cypher_text("shift/any_reply"), **_conditions(selection)):
        raise InputError(
            f"the dialogues{of} in the {store.description} have no replies: a shift graph needs dialogues "
            "of two turns or more, or responses with label 1"
        )


def _pending_dialogues(store: Store, selection: Selection) -> Iterator[str]:
    """Ids of the dialogues that are not in the shift graph yet, in their order, in flat memory."""
    after, left = "", selection.limit
    while left is None or left > 0:
        limit = PAGE if left is None else min(PAGE, left)
        page = store.read(cypher_text("shift/pending"), after=after, limit=limit, **_conditions(selection))
        yield from (row["id"] for row in page)
        if len(page) < limit:
            return
        after = page[-1]["order"]
        left = None if left is None else left - len(page)


def _batch(
    store: Store, ids: Sequence[str], extractor: KeywordExtractor, embedder: Embedder
) -> list[DialogueShifts]:
    """The keywords and shifts of dialogues."""
    dialogues = _pairs_of(store, ids)
    texts = list(dict.fromkeys(text.text for dialogue in dialogues for text in dialogue.texts))
    keywords = dict(zip(texts, extractor.extract(texts), strict=True))
    pairs: list[KeywordPair] = []
    replies: list[tuple[DialogueShifts, DialogueText]] = []
    for dialogue in dialogues:
        for text in dialogue.texts:
            dialogue.mentions[text.kind] += [
                {"id": text.id, "text": word.text, "score": word.score} for word in keywords[text.text]
            ]
        for post, reply in dialogue.pairs:
            if keywords[post.text] and keywords[reply.text]:
                pairs.append(KeywordPair(keywords[post.text], reply.text, keywords[reply.text]))
                replies.append((dialogue, reply))
            else:
                dialogue.skipped[NO_REPLY_KEYWORDS if keywords[post.text] else NO_POST_KEYWORDS] += 1
    for (dialogue, reply), shift in zip(replies, shifts_of(pairs, embedder), strict=True):
        row = {"id": reply.id, "focus": shift.focus, "perspective": shift.perspective}
        dialogue.shifts[reply.kind].append(row)
    return dialogues


def _closest(keywords: Sequence[Keyword], vectors: Mapping[str, NDArray[float32]], to: str) -> str:
    """The text of the keyword whose vector is closest to that of another text."""
    import numpy

    cosines: list[float] = (numpy.stack([vectors[word.text] for word in keywords]) @ vectors[to]).tolist()
    ranked = zip(keywords, cosines, strict=True)
    return min(ranked, key=lambda item: (-round(item[1], _DIGITS), -item[0].score, item[0].text))[0].text


def _transactions(dialogues: Sequence[DialogueShifts]) -> Iterator[list[DialogueShifts]]:
    """Dialogues that are written in one transaction: some thousand mentions, or a single dialogue."""
    group: list[DialogueShifts] = []
    rows = 0
    for dialogue in dialogues:
        own = sum(map(len, (*dialogue.mentions.values(), *dialogue.shifts.values())))
        if group and rows + own > MAX_ROWS:
            yield group
            group, rows = [], 0
        group.append(dialogue)
        rows += own
    if group:
        yield group


def _write(
    tx: ManagedTransaction, method: Method, dialogues: Sequence[DialogueShifts]
) -> list[DialogueShifts]:
    """Write these dialogues; returns those that no run had written before.

    Raises:
        InputError: the store's shift graph was made another way since the run began, or is being removed.
    """
    [state] = run(tx, "shift/begin", keywords=method.keywords, embedder=method.embedder)
    _refuse_other(state, method)
    if state["forgetting"]:
        raise InputError(_TAKEN)
    claimed = {row["id"] for row in run(tx, "shift/claim", ids=sorted(dialogue.id for dialogue in dialogues))}
    mine = [dialogue for dialogue in dialogues if dialogue.id in claimed]
    mentions = {kind: _rows([dialogue.mentions for dialogue in mine], kind) for kind in KINDS}
    shifts = {kind: _rows([dialogue.shifts for dialogue in mine], kind) for kind in KINDS}
    counts = Counter((row["focus"], row["perspective"]) for rows in shifts.values() for row in rows)
    edges = [{"focus": f, "perspective": p, "count": counts[f, p]} for f, p in sorted(counts)]
    lexicon = lexicon_in(tx)
    for terms in _chunks(sorted({row["text"] for rows in mentions.values() for row in rows})):
        finish(write_terms(tx, terms, lexicon))
    for statement, rows in (
        *((f"shift/mentions_of_{kind}", mentions[kind]) for kind in KINDS),
        *((f"shift/shifts_of_{kind}", shifts[kind]) for kind in KINDS),
        ("shift/counts", edges),
    ):
        for some in _chunks(rows):
            run(tx, statement, rows=some)
    return mine


def _rows(parts: Sequence[Mapping[TextKind, Sequence[Row]]], kind: TextKind) -> list[Row]:
    return sorted((row for part in parts for row in part[kind]), key=itemgetter("id"))


def _chunks(rows: Sequence[Any]) -> Iterator[list[Any]]:
    left = iter(rows)
    return iter(lambda: list(islice(left, MAX_ROWS)), [])


def _is_being_removed(store: Store, method: Method) -> bool:
    """Whether an older shift graph is still being removed.

    Raises:
        InputError: the store's shift graph was made another way.
    """
    rows = store.read(cypher_text("shift/method"))
    if rows:
        _refuse_other(rows[0], method)
    return bool(rows and rows[0]["forgetting"])


def _forget(store: Store, method: Method, progress: Progress) -> None:
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


def _forget_some(tx: ManagedTransaction, part: str, me: str) -> int:
    """In one transaction with the look at who removes it: else what the next run wrote would go, too."""
    _still_mine(run(tx, "shift/forgetting", run=me))
    return run(tx, f"shift/forget_{part}", limit=MAX_ROWS)[0]["gone"]


def _still_mine(rows: Sequence[Any]) -> None:
    if not rows:
        raise InputError(_TAKEN)


def _refuse_other(state: Any, method: Method) -> None:
    before = Method(state["keywords"], state["embedder"])
    if before != method:
        raise InputError(
            f"the shift graph of this store was made with the keywords {before.keywords!r} and the embedder "
            f"{before.embedder!r}, not {method.keywords!r} and {method.embedder!r}: take the same, or "
            "make it anew (--rebuild, existing='replace')"
        )
