"""Build the shift graph of a store.

For all selected dialogues, the module finds the keywords of each text (relationship ``MENTIONS``), and the
focus and the perspective of each reply (``FOCUS``, ``PERSPECTIVE``). It counts the shifts from each focus to
each perspective (``SHIFTS_TO``)::

    post    "I had a coffee."      keywords: coffee
    reply   "Was the cake good?"   keywords: cake, good
    edges   (reply)-[:FOCUS]->(coffee), (reply)-[:PERSPECTIVE]->(cake),
            (coffee)-[:SHIFTS_TO {count: 1}]->(cake)

When a dialogue is written, the same transaction adds its shifts to the counts and marks the dialogue as done.
Dialogues that are marked are skipped. The counts are therefore exact, even if a run is interrupted or several
runs work at the same time.
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
from graphneg.workers import prefetch_map

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

BATCH = 64
"""Number of dialogues that are processed together."""
PAGE = 20_000
"""Number of dialogue ids that are read with one query."""
NO_POST_KEYWORDS = "post without keywords"
"""Reason for skipping a pair of a post and a reply: the post has no keywords."""
NO_REPLY_KEYWORDS = "reply without keywords"
"""Reason for skipping a pair of a post and a reply: the reply has no keywords."""

_DIGITS = 4
_MENTIONS = ("mentions_of_utterances", "mentions_of_responses")
_SHIFTS = ("shifts_of_utterances", "shifts_of_responses")
_FORGOTTEN = ("edges", "mentions_of_utterances", "mentions_of_responses", "terms", "marks")
_TAKEN = (
    "another run is removing the shift graph of this store; build the graph again when that run has ended"
)

Existing = Literal["keep", "replace"]


@dataclass(slots=True)
class ShiftReport:
    """The counts of a run of `build_shifts`.

    Attributes:
        keywords: Name of the keyword extractor.
        embedder: Name of the embedder.
        dialogues: Number of dialogues that were added.
        pairs: Number of pairs of a post and a reply in the added dialogues.
        shifts: Number of pairs that were added to the shift graph.
        mentions: Number of ``MENTIONS`` relationships written, each from a text to one of its keywords.
        skipped: Number of pairs that were not added to the shift graph, keyed by the reason.
        seconds: Duration of the run.
        notes: Messages for the user, such as that no spaCy model is installed.
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
        """Return the counts as one line of text.

        Example:
            >>> ShiftReport("yake", "glove", dialogues=2, pairs=4, shifts=3, seconds=0.5).summary()
            '3 shifts of 4 pairs of 2 dialogues in 0.5 s (8 pairs/s)'

        Returns:
            The counts as one line, without a line break at its end.
        """
        line = f"{self.shifts:,} shifts of {self.pairs:,} pairs of {self.dialogues:,} dialogues"
        line += f" in {self.seconds:.1f} s"
        if self.pairs and self.seconds:
            line += f" ({self.pairs / self.seconds:,.0f} pairs/s)"
        parts = [f"{count:,} × {reason}" for reason, count in sorted(self.skipped.items())]
        return line + (f"; skipped {', '.join(parts)}" if parts else "")

    def add(self, dialogue: DialogueShifts) -> None:
        """Add the counts of a dialogue to the totals. The dialogue was just written to the store.

        Args:
            dialogue: The dialogue with its pairs and the rows that were written.
        """
        self.dialogues += 1
        self.pairs += len(dialogue.pairs)
        self.shifts += sum(len(dialogue.rows[name]) for name in _SHIFTS)
        self.mentions += sum(len(dialogue.rows[name]) for name in _MENTIONS)
        self.skipped.update(dialogue.skipped)


class DialogueText(NamedTuple):
    """An utterance, or a correct response that was loaded together with a dialogue.

    Attributes:
        id: Id of the utterance or response.
        text: Text of the utterance or response.
        kind: ``utterances`` for an utterance, ``responses`` for a correct response.
    """

    id: str
    text: str
    kind: str


@dataclass(slots=True)
class DialogueShifts:
    """The texts of a dialogue, its pairs of a post and a reply, and the rows to write for them.

    Attributes:
        id: Id of the dialogue.
        texts: Utterances in order, then correct responses.
        pairs: Pairs of a post and a reply.
        rows: Rows to write, keyed by the name of the Cypher statement in ``cypher/shift/`` that writes them.
        skipped: Number of pairs without a shift, keyed by the reason.
    """

    id: str
    texts: Sequence[DialogueText]
    pairs: Sequence[tuple[DialogueText, DialogueText]]
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict[str, list[Row]](list))
    skipped: Counter[str] = field(default_factory=Counter[str])


class KeywordPair(NamedTuple):
    """The keywords of a post and of its reply, if both have keywords.

    Attributes:
        post: Keywords of the post.
        text: Text of the reply.
        reply: Keywords of the reply.
    """

    post: Sequence[Keyword]
    text: str
    reply: Sequence[Keyword]


class Shift(NamedTuple):
    """The focus and the perspective of one reply.

    Attributes:
        focus: Text of the keyword that the reply takes up from the post.
        perspective: Text of the keyword to which the reply shifts the topic.
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
    """Add dialogues to the shift graph, unless they are already in it.

    While a batch of dialogues is written, the next batch is read and its shifts are computed. If the run is
    interrupted, the batches that were written are kept.

    Args:
        store: Store that contains the dialogues.
        extractor: Extractor that finds the keywords of texts.
        embedder: Embedder whose vectors show how similar keywords and texts are.
        selection: Dialogues to add.
        existing: ``keep`` to keep the existing shift graph, or ``replace`` to delete it first as a whole,
            including the parts for other corpora.
        progress: Progress display; advanced by the number of finished dialogues.

    Returns:
        The numbers of dialogues, pairs and shifts that were added, and of skipped pairs.
    """
    began = time.monotonic()
    # Without replies there are no shifts, so raise an error before computing anything.
    [amount] = store.read(cypher_text("shift/count_pending"), **selection.conditions())
    _check_replies(store, selection, amount["dialogues"])
    method = {"keywords": extractor.name, "embedder": embedder.name}
    report = ShiftReport(extractor.name, embedder.name, notes=extractor.notes)
    known = store.read(cypher_text("shift/method"))
    # If a run was interrupted while deleting an older shift graph, complete the deletion first.
    rebuild = existing == "replace" or any(_is_being_removed(state, method) for state in known)
    if rebuild:
        _forget(store, method, progress)
    progress.start("shift graph", amount["dialogues" if rebuild else "pending"], "dialogues")
    ids = dialogue_ids(store, selection, statement="shift/pending", page=PAGE)
    batches = iter(lambda: list(islice(ids, BATCH)), [])
    try:
        for batch in prefetch_map(lambda some: _batch(store, some, extractor, embedder), batches, 1):
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
    """Find the focus and the perspective of the reply in each pair of a post and a reply (CAPT, section 3.1).

    The focus is the keyword of the post that is most similar to the text of the reply. The perspective is the
    keyword of the reply that is most similar to the focus. Similarity is the cosine of the embeddings. If the
    reply repeats the focus, the perspective is the same as the focus. Cosines are rounded to four decimals,
    because the last digits of an embedding depend on the other texts in the batch. If two keywords are
    equally similar, the keyword with the higher score of the extractor is chosen.

    Args:
        pairs: Pairs in which both the post and the reply have keywords.
        embedder: Embedder that returns vectors of length 1.

    Returns:
        The shifts in the order of the pairs.
    """
    # Use a dict and not a set, because a dict keeps the order of the texts. The batches of the embedder are
    # then reproducible.
    texts = {pair.text: None for pair in pairs}
    texts |= {word.text: None for pair in pairs for word in (*pair.post, *pair.reply)}
    vectors = dict(zip(texts, embedder.embed(list(texts)), strict=True)) if texts else {}
    foci = [_closest(pair.post, vectors, pair.text) for pair in pairs]
    return [
        Shift(focus, _closest(pair.reply, vectors, focus)) for pair, focus in zip(pairs, foci, strict=True)
    ]


def _pairs_of(store: Store, ids: Sequence[str]) -> list[DialogueShifts]:
    """Read the texts of dialogues, and the pairs of a post and a reply in each dialogue.

    The replies to a turn are the next turn and the correct responses to the turn.

    Returns:
        The texts and pairs, one object per dialogue.
    """
    responses = read_responses(store, ids)
    dialogues: list[DialogueShifts] = []
    for dialogue in read_dialogues(store, ids):
        # Every turn can be a post, and every turn except the first is a reply.
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
    """Raise an error if no dialogues are selected, or if they have no replies."""
    names = [*selection.corpora, *selection.splits]
    of = f" of {', '.join(names)}" if names else ""
    if not dialogues:
        raise InputError(f"no dialogues{of} are in the {store.description}: load some with graphneg load")
    if not store.read(cypher_text("shift/any_reply"), **selection.conditions()):
        raise InputError(
            f"the dialogues{of} in the {store.description} have no replies: a shift graph needs dialogues "
            "of two turns or more, or responses with label 1"
        )


def _batch(
    store: Store, ids: Sequence[str], extractor: KeywordExtractor, embedder: Embedder
) -> list[DialogueShifts]:
    """Compute the keywords and the shifts of dialogues as rows, which Cypher statements can write later."""
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
            # Skip the pair if the post or the reply has no keyword. A reply such as "Yes." has none, so it
            # shifts the topic to no keyword.
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
    """Return the keyword whose vector is most similar to the vector of the text ``to``."""
    import numpy

    cosines: list[float] = (numpy.stack([vectors[word.text] for word in keywords]) @ vectors[to]).tolist()
    ranked = zip(keywords, cosines, strict=True)
    return min(ranked, key=lambda item: (-round(item[1], _DIGITS), -item[0].score, item[0].text))[0].text


def _write(
    tx: ManagedTransaction, method: Mapping[str, str], dialogues: Sequence[DialogueShifts]
) -> list[DialogueShifts]:
    """Add dialogues to the shift graph, except dialogues that another run has already added.

    Returns:
        The dialogues that were added.

    Raises:
        InputError: Another run is deleting the shift graph, or the existing graph was built with another
            extractor or embedder.
    """
    [state] = run(tx, "shift/begin", **method)
    if _is_being_removed(state, method):
        raise InputError(_TAKEN)
    # Several runs may work at the same time. `claim` returns only the dialogues that no other run has added.
    claimed = {row["id"] for row in run(tx, "shift/claim", ids=sorted(dialogue.id for dialogue in dialogues))}
    mine = [dialogue for dialogue in dialogues if dialogue.id in claimed]
    rows = {
        name: sorted((row for dialogue in mine for row in dialogue.rows[name]), key=itemgetter("id"))
        for name in (*_MENTIONS, *_SHIFTS)
    }
    # Several replies may have the same focus and perspective. Count them here, so that the server writes each
    # edge of the shift graph (from a focus to a perspective) only once.
    counts = Counter((row["focus"], row["perspective"]) for name in _SHIFTS for row in rows[name])
    rows["counts"] = [{"focus": f, "perspective": p, "count": counts[f, p]} for f, p in sorted(counts)]
    lexicon = stored_lexicon(tx)
    for terms in in_transactions(sorted({row["text"] for name in _MENTIONS for row in rows[name]}), MAX_ROWS):
        finish(write_terms(tx, terms, lexicon))
    # The Cypher statements below only add relationships between terms. All terms were created above.
    for name, given in rows.items():
        for some in in_transactions(given, MAX_ROWS):
            run(tx, f"shift/{name}", rows=some)
    return mine


def _is_being_removed(state: Record, method: Mapping[str, str]) -> bool:
    """Return whether a run is deleting the shift graph.

    Raises:
        InputError: The shift graph was built with another extractor or embedder than those in ``method``.
    """
    before = {name: state[name] for name in method}
    if before != method:
        raise InputError(
            "the shift graph of this store was made with the keywords {keywords!r} and the embedder "
            "{embedder!r}, ".format(**before)
            + "not {keywords!r} and {embedder!r}: use the same, or ".format(**method)
            + "rebuild it (--rebuild, existing='replace')"
        )
    return state["forgetting"]


def _forget(store: Store, method: Mapping[str, str], progress: Progress) -> None:
    """Delete the shift graph in several transactions. Raise an error if another run deletes it, too."""
    me = uuid4().hex

    def removed(tx: ManagedTransaction, name: str) -> int:
        """Delete up to `MAX_ROWS` edges or nodes of one part of the shift graph. Return their number."""
        # Check in the same transaction that no other run has started to delete the graph. If another run has
        # deleted the graph and written new shifts, this run must not delete the new shifts.
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
