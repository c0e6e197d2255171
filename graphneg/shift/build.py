"""Builds the shift graph of a store: one pass over its dialogues, in batches, resumable at each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Literal

from graphneg.editing.originals import Selection
from graphneg.embedding import Embedder
from graphneg.errors import InputError
from graphneg.progress import Progress
from graphneg.shift.focus import Exchange, shifts_of
from graphneg.shift.keywords import Keyword, KeywordExtractor
from graphneg.shift.pairs import (
    DialoguePairs,
    Pair,
    count_dialogues,
    has_replies,
    read_pairs,
    waiting_dialogues,
)
from graphneg.shift.report import NO_POST_KEYWORDS, NO_REPLY_KEYWORDS, ShiftReport
from graphneg.shift.writing import DialogueShifts, Method, check_method, forget, write_shifts
from graphneg.store import Store

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
