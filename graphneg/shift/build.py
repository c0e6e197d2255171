"""Build the shift graph of a store.

One pass over the dialogues finds the keywords of all texts (MENTIONS), the focus and the perspective of each
reply (FOCUS, PERSPECTIVE), and counts the shifts between keywords (SHIFTS_TO):

    post    "I had a coffee."      keywords: coffee
    reply   "Was the cake good?"   keywords: cake, good
    edges   (reply)-[:FOCUS]->(coffee), (reply)-[:PERSPECTIVE]->(cake), (coffee)-[:SHIFTS_TO {count:
    1}]->(cake)

A dialogue is marked in the transaction that writes its replies and adds them to the counts. Dialogues with a
mark are skipped. So the counts stay exact if a run is stopped, and if several runs work at a time.
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
"""Number of dialogues whose keywords are found and embedded together."""
PAGE = 20_000
"""Number of dialogues to list with one query."""
NO_POST_KEYWORDS = "post without keywords"
"""Reason for skipping a pair."""
NO_REPLY_KEYWORDS = "reply without keywords"
"""Reason for skipping a pair."""

_DIGITS = 4
_MENTIONS = ("mentions_of_utterances", "mentions_of_responses")
_SHIFTS = ("shifts_of_utterances", "shifts_of_responses")
_FORGOTTEN = ("edges", "mentions_of_utterances", "mentions_of_responses", "terms", "marks")
_TAKEN = "another run is removing the shift graph of this store; build it again after that"

Existing = Literal["keep", "replace"]


@dataclass(slots=True)
class ShiftReport:
    """The counts of one run.

    Attributes:
        keywords: Name of the keyword extractor.
        embedder: Name of the embedder.
        dialogues: Number of dialogues that were added.
        pairs: Number of their pairs of a post and a reply.
        shifts: Number of pairs that were added to the shift graph.
        mentions: Number of keywords that were linked to texts.
        skipped: Number of other pairs, by reason.
        seconds: Duration of the run.
        notes: Messages for the user.
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
        """Return the counts as one line.

        Example:
            >>> ShiftReport("yake", "glove", dialogues=2, pairs=4, shifts=3, seconds=0.5).summary()
            '3 shifts of 4 pairs of 2 dialogues in 0.5 s (8 pairs/s)'

        Returns:
            The line, without a line break.
        """
        line = f"{self.shifts:,} shifts of {self.pairs:,} pairs of {self.dialogues:,} dialogues"
        line += f" in {self.seconds:.1f} s"
        if self.pairs and self.seconds:
            line += f" ({self.pairs / self.seconds:,.0f} pairs/s)"
        parts = [f"{count:,} × {reason}" for reason, count in sorted(self.skipped.items())]
        return line + (f"; skipped {', '.join(parts)}" if parts else "")

    def add(self, dialogue: DialogueShifts) -> None:
        """Add the counts of a dialogue.

        Args:
            dialogue: Dialogue that was written.
        """
        self.dialogues += 1
        self.pairs += len(dialogue.pairs)
        self.shifts += sum(len(dialogue.rows[name]) for name in _SHIFTS)
        self.mentions += sum(len(dialogue.rows[name]) for name in _MENTIONS)
        self.skipped.update(dialogue.skipped)


class DialogueText(NamedTuple):
    """A text of a dialogue.

    Attributes:
        id: Id of the utterance or response.
        text: The text.
        kind: ``utterances``, or ``responses`` for right responses to its turns.
    """

    id: str
    text: str
    kind: str


@dataclass(slots=True)
class DialogueShifts:
    """The texts and pairs of a dialogue, and the rows to write for them.

    Attributes:
        id: Id of the dialogue.
        texts: Utterances in their order, then right responses.
        pairs: Pairs of a post and a reply.
        rows: Rows to write, by the name of the statement in ``cypher/shift/``.
        skipped: Number of pairs without a shift, by reason.
    """

    id: str
    texts: Sequence[DialogueText]
    pairs: Sequence[tuple[DialogueText, DialogueText]]
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict[str, list[Row]](list))
    skipped: Counter[str] = field(default_factory=Counter[str])


class KeywordPair(NamedTuple):
    """A pair whose post and reply both have keywords.

    Attributes:
        post: Keywords of the post.
        text: Text of the reply.
        reply: Keywords of the reply.
    """

    post: Sequence[Keyword]
    text: str
    reply: Sequence[Keyword]


class Shift(NamedTuple):
    """The focus and the perspective of a reply.

    Attributes:
        focus: Text of the term that the reply attends to.
        perspective: Text of the term that the reply moves to.
    """

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
    """Add the dialogues that are not in the shift graph yet.

    A batch is written while the next one is read and its shifts are computed. What is written stays if the
    run is stopped.

    Args:
        store: Store with the dialogues.
        extractor: Finds keywords.
        embedder: Compares keywords and texts.
        selection: Dialogues to add.
        existing: ``keep``, or ``replace`` to delete the whole shift graph first, also that of other corpora.
        progress: Receives the number of finished dialogues.

    Returns:
        The counts of the run.
    """
    began = time.monotonic()
    # Fail early: without replies there is nothing to extract and embed.
    [amount] = store.read(cypher_text("shift/count_pending"), **selection.conditions())
    _check_replies(store, selection, amount["dialogues"])
    method = {"keywords": extractor.name, "embedder": embedder.name}
    report = ShiftReport(extractor.name, embedder.name, notes=extractor.notes)
    known = store.read(cypher_text("shift/method"))
    # A deletion that was interrupted must be finished before anything is added.
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
    """Return the focus and the perspective of each pair (CAPT, section 3.1).

    The focus is the keyword of the post that is closest to the reply. The perspective is the keyword of the
    reply that is closest to the focus. Closeness is the cosine of embeddings. If the reply repeats the focus,
    the perspective is the focus. Cosines are rounded to four digits, because a model's last digits depend on
    the other texts in its batch. Among equals, the keyword with the higher score is taken.

    Args:
        pairs: Pairs whose post and reply have keywords.
        embedder: Gives vectors of length 1.

    Returns:
        The shifts in the order of the pairs.
    """
    # A dict instead of a set keeps the order, so that batches of the embedder are reproducible.
    texts = {pair.text: None for pair in pairs}
    texts |= {word.text: None for pair in pairs for word in (*pair.post, *pair.reply)}
    vectors = dict(zip(texts, embedder.embed(list(texts)), strict=True)) if texts else {}
    foci = [_closest(pair.post, vectors, pair.text) for pair in pairs]
    return [
        Shift(focus, _closest(pair.reply, vectors, focus)) for pair, focus in zip(pairs, foci, strict=True)
    ]


def _pairs_of(store: Store, ids: Sequence[str]) -> list[DialogueShifts]:
    """Return the texts and pairs of dialogues. A reply is the next turn, or a right response."""
    responses = read_responses(store, ids)
    dialogues: list[DialogueShifts] = []
    for dialogue in read_dialogues(store, ids):
        # Every turn is a post, and from the second one on a reply as well.
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
    """Raise an error if the selection has no dialogues or no replies."""
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
    """Return dialogues with their keywords and shifts as rows to write."""
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
            # "Yes." has no keyword to move to.
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
    """Return the text of the keyword whose vector is closest to that of another text."""
    import numpy

    cosines: list[float] = (numpy.stack([vectors[word.text] for word in keywords]) @ vectors[to]).tolist()
    ranked = zip(keywords, cosines, strict=True)
    return min(ranked, key=lambda item: (-round(item[1], _DIGITS), -item[0].score, item[0].text))[0].text


def _write(
    tx: ManagedTransaction, method: Mapping[str, str], dialogues: Sequence[DialogueShifts]
) -> list[DialogueShifts]:
    """Write dialogues that no run has written yet, and return them."""
    [state] = run(tx, "shift/begin", **method)
    if _is_being_removed(state, method):
        raise InputError(_TAKEN)
    # Another run may have written some of these dialogues since they were listed.
    claimed = {row["id"] for row in run(tx, "shift/claim", ids=sorted(dialogue.id for dialogue in dialogues))}
    mine = [dialogue for dialogue in dialogues if dialogue.id in claimed]
    rows = {
        name: sorted((row for dialogue in mine for row in dialogue.rows[name]), key=itemgetter("id"))
        for name in (*_MENTIONS, *_SHIFTS)
    }
    # One row for each edge: counting here spares the server a write for each reply.
    counts = Counter((row["focus"], row["perspective"]) for name in _SHIFTS for row in rows[name])
    rows["counts"] = [{"focus": f, "perspective": p, "count": counts[f, p]} for f, p in sorted(counts)]
    lexicon = stored_lexicon(tx)
    for terms in in_transactions(sorted({row["text"] for name in _MENTIONS for row in rows[name]}), MAX_ROWS):
        finish(write_terms(tx, terms, lexicon))
    # The terms exist now, so that the statements only match them.
    for name, given in rows.items():
        for some in in_transactions(given, MAX_ROWS):
            run(tx, f"shift/{name}", rows=some)
    return mine


def _is_being_removed(state: Record, method: Mapping[str, str]) -> bool:
    """Return whether an older shift graph is still being deleted. Other methods are an error."""
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
    """Delete the shift graph in parts. A run that finds another one deleting it gives up."""
    me = uuid4().hex

    def removed(tx: ManagedTransaction, name: str) -> int:
        """Delete one part, in the transaction that checks which run deletes the graph."""
        # In two transactions, this run could delete what the next run has written in between.
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
