"""Builds the shift graph of a store: one pass over its dialogues, in batches, resumable at each.

Dialogues of the store go in. Keywords (MENTIONS), what each reply attends to and moves to (FOCUS,
PERSPECTIVE), and the counted shifts between keywords (SHIFTS_TO) are written; a `ShiftReport` comes out.

A dialogue is marked in the transaction that writes its replies and adds them to the counts, and only
dialogues without the mark are written. So counts are exact however a run ends, and however many run at a
time.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple
from uuid import uuid4

from neo4j import ManagedTransaction, Record

from graphneg.errors import InputError
from graphneg.ingest.batches import MAX_ROWS
from graphneg.ingest.lexicon import finish, stored_lexicon, write_terms
from graphneg.ingest.rows import Row, utterance_id
from graphneg.nn.embedders import Embedder
from graphneg.progress import Progress
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids, read_dialogues, read_responses
from graphneg.store.statements import cypher_text, in_transactions, run
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
_MENTIONS = ("mentions_of_utterances", "mentions_of_responses")
_SHIFTS = ("shifts_of_utterances", "shifts_of_responses")
_FORGOTTEN = ("edges", "mentions_of_utterances", "mentions_of_responses", "terms", "marks")
_TAKEN = "another run is removing the shift graph of this store; build it again after that"

Existing = Literal["keep", "replace"]


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

    def add(self, dialogue: DialogueShifts) -> None:
        """Count a dialogue that was written."""
        self.dialogues += 1
        self.pairs += len(dialogue.pairs)
        self.shifts += sum(len(dialogue.rows[name]) for name in _SHIFTS)
        self.mentions += sum(len(dialogue.rows[name]) for name in _MENTIONS)
        self.skipped.update(dialogue.skipped)


class DialogueText(NamedTuple):
    """A text of a dialogue; its ``kind`` is ``utterances``, or ``responses``: right ones to its turns."""

    id: str
    text: str
    kind: str


@dataclass(slots=True)
class DialogueShifts:
    """A dialogue's texts in order, its pairs of a post and a reply to it, and what is to be written of it.

    ``rows`` are those of the statements in ``cypher/shift/``, by name.
    """

    id: str
    texts: Sequence[DialogueText]
    pairs: Sequence[tuple[DialogueText, DialogueText]]
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict[str, list[Row]](list))
    skipped: Counter[str] = field(default_factory=Counter[str])


class KeywordPair(NamedTuple):
    """A reply with its keywords, and the keywords of the post that it answers; both have some."""

    post: Sequence[Keyword]
    text: str
    reply: Sequence[Keyword]


class Shift(NamedTuple):
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
    corpora too. What is written stays, whenever the run is stopped. A batch is written while the next one is
    read, and its shifts found.

    Raises `InputError`: there are no dialogues or replies, or the store's shift graph was made another way.
    """
    began = time.monotonic()
    [amount] = store.read(cypher_text("shift/count_pending"), **selection.conditions())
    _check_replies(store, selection, amount["dialogues"])
    method = {"keywords": extractor.name, "embedder": embedder.name}
    report = ShiftReport(extractor.name, embedder.name, notes=extractor.notes)
    known = store.read(cypher_text("shift/method"))
    anew = existing == "replace" or any(_is_being_removed(state, method) for state in known)
    if anew:
        _forget(store, method, progress)
    progress.start("shift graph", amount["dialogues" if anew else "pending"], "dialogues")
    ids = dialogue_ids(store, selection, statement="shift/pending", page=PAGE)
    batches = iter(lambda: list(islice(ids, BATCH)), [])
    try:
        for batch in ahead(lambda some: _batch(store, some, extractor, embedder), batches, 1):
            for dialogues in in_transactions(batch, MAX_ROWS, lambda of: sum(map(len, of.rows.values()))):
                written = store.write(lambda tx, some=dialogues: _write(tx, method, some))
                for dialogue in written:
                    report.add(dialogue)
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
        texts = [*posts.values(), *(answer for _, answer in answers)]
        dialogues.append(DialogueShifts(dialogue.id, texts, [*pairwise(posts.values()), *answers]))
    return dialogues


def _check_replies(store: Store, selection: Selection, dialogues: int) -> None:
    names = [*selection.corpora, *selection.splits]
    of = f" of {', '.join(names)}" if names else ""
    if not dialogues:
        raise InputError(f"no dialogues{of} are in the {store.description}: graphneg load brings some")
    if not store.read(cypher_text("shift/any_reply"), **selection.conditions()):
        raise InputError(
            f"the dialogues{of} in the {store.description} have no replies: a shift graph needs dialogues "
            "of two turns or more, or responses with label 1"
        )


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
            dialogue.rows[f"mentions_of_{text.kind}"] += [
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
        dialogue.rows[f"shifts_of_{reply.kind}"].append(row)
    return dialogues


def _closest(keywords: Sequence[Keyword], vectors: Mapping[str, NDArray[float32]], to: str) -> str:
    """The text of the keyword whose vector is closest to that of another text."""
    import numpy

    cosines: list[float] = (numpy.stack([vectors[word.text] for word in keywords]) @ vectors[to]).tolist()
    ranked = zip(keywords, cosines, strict=True)
    return min(ranked, key=lambda item: (-round(item[1], _DIGITS), -item[0].score, item[0].text))[0].text


def _write(
    tx: ManagedTransaction, method: Mapping[str, str], dialogues: Sequence[DialogueShifts]
) -> list[DialogueShifts]:
    """Write these dialogues, where the graph is still to be made this way; returns those that were new."""
    [state] = run(tx, "shift/begin", **method)
    if _is_being_removed(state, method):
        raise InputError(_TAKEN)
    claimed = {row["id"] for row in run(tx, "shift/claim", ids=sorted(dialogue.id for dialogue in dialogues))}
    mine = [dialogue for dialogue in dialogues if dialogue.id in claimed]
    rows = {
        name: sorted((row for dialogue in mine for row in dialogue.rows[name]), key=itemgetter("id"))
        for name in (*_MENTIONS, *_SHIFTS)
    }
    counts = Counter((row["focus"], row["perspective"]) for name in _SHIFTS for row in rows[name])
    rows["counts"] = [{"focus": f, "perspective": p, "count": counts[f, p]} for f, p in sorted(counts)]
    lexicon = stored_lexicon(tx)
    for terms in in_transactions(sorted({row["text"] for name in _MENTIONS for row in rows[name]}), MAX_ROWS):
        finish(write_terms(tx, terms, lexicon))
    for name, given in rows.items():
        for some in in_transactions(given, MAX_ROWS):
            run(tx, f"shift/{name}", rows=some)
    return mine


def _is_being_removed(state: Record, method: Mapping[str, str]) -> bool:
    """Whether an older shift graph is still being removed; one that was made another way is refused."""
    before = {name: state[name] for name in method}
    if before != method:
        raise InputError(
            "the shift graph of this store was made with the keywords {keywords!r} and the embedder "
            "{embedder!r}, ".format(**before)
            + "not {keywords!r} and {embedder!r}: take the same, or ".format(**method)
            + "make it anew (--rebuild, existing='replace')"
        )
    return state["forgetting"]


def _forget(store: Store, method: Mapping[str, str], progress: Progress) -> None:
    """Remove the shift graph, and what of an older one is left, to make it by ``method``. Stopped at any
    moment, it is completed by building again. Keywords of sentences that are in no dialogue stay. Where
    another run began to remove it, that one goes on."""
    me = uuid4().hex

    def removed(tx: ManagedTransaction, name: str) -> int:
        """In one transaction with the look at who removes it: else what the next run wrote would go, too."""
        if not run(tx, "shift/forgetting", run=me):
            raise InputError(_TAKEN)
        return run(tx, f"shift/forget_{name}", limit=MAX_ROWS)[0]["gone"]

    store.write(lambda tx: run(tx, "shift/forget", run=me, **method))
    progress.start("remove", None, "edges")
    for part in _FORGOTTEN:
        while gone := store.write(lambda tx, part=part: removed(tx, part)):
            progress.advance(gone)
    if not store.write(lambda tx: run(tx, "shift/forgotten", run=me)):
        raise InputError(_TAKEN)
    progress.finish()
