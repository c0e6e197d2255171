"""Substitutes of reply perspectives for whoever asks: of a post, of a stored reply, of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from graphneg.editing.originals import Selection
from graphneg.progress import NoProgress, Progress
from graphneg.shift.candidates import Reply, all_replies, stored_reply, written_reply
from graphneg.shift.keywords import KeywordExtractor, extractor_named
from graphneg.shift.likelihood import Shifts
from graphneg.shift.substitutes import (
    Prediction,
    Substitutes,
    SubstitutesReport,
    substitutes_of,
    write_substitutes,
)
from graphneg.shift.writing import method_of
from graphneg.store import Store


class SubstituteFinder:
    """Finds what replies could have moved to instead (CAPT, Algorithm 1).

    One post or reply at a time, or all replies of the selected dialogues, iterated or written. What it has
    read of the shift graph it keeps: make another one when the graph has grown.
    """

    def __init__(
        self,
        store: Store,
        how: Prediction,
        *,
        extractor: KeywordExtractor | None = None,
        selection: Selection | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._store = store
        self._how = how
        self._extractor = extractor
        self._selection = selection or Selection()
        self._progress = progress or NoProgress()
        self._shifts = Shifts(store)

    def of_post(self, post: str, *, perspective: str | None = None) -> Substitutes:
        """What a post of one's own could be replied to with; ``perspective`` is what a reply took already.

        Keywords are found as those of the shift graph were.

        Raises:
            InputError: the post has no keywords, there is no shift graph, or its extractor is not known here.
        """
        return self._of(written_reply(self._post_keywords(), post, perspective))

    def of_reply(self, id: str) -> Substitutes:
        """What an utterance or a right response of the store could have moved to instead.

        Raises:
            InputError: there is no such reply, or no shift graph.
        """
        return self._of(stored_reply(self._store, id))

    def __iter__(self) -> Iterator[Substitutes]:
        """Those of each reply whose perspective is known, in the order of the store; some are empty.

        Raises:
            InputError: there is no shift graph.
        """
        for _, replies in all_replies(self._store, self._selection):
            moved = [reply for reply in replies if reply.perspective is not None]
            yield from substitutes_of(self._shifts, moved, self._how)

    def to_jsonl(self, out: str | Path) -> SubstitutesReport:
        """Write them, one reply a line; stopped, the same call goes on.

        Raises:
            InputError: no .jsonl file, it can't be written, or there is no shift graph.
        """
        return write_substitutes(
            self._store, out, self._how, selection=self._selection, progress=self._progress
        )

    def _of(self, reply: Reply) -> Substitutes:
        [found] = substitutes_of(self._shifts, [reply], self._how)
        return found

    def _post_keywords(self) -> KeywordExtractor:
        if self._extractor is None:
            method = method_of(self._store)
            self._extractor = extractor_named(method.keywords if method else None)
        return self._extractor
