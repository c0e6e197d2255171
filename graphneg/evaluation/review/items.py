"""Items of a review: a context, a response, and what the reader is not told.

A `ReviewSet` is plain data: it is the key beside a CSV sheet, and stands in the file of judgements of a
browser.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from graphneg.english.tokens import one_line
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import context_key
from graphneg.evaluation.review.questions import Questions
from graphneg.hashing import fingerprint, shuffled

FORMAT = 2
"""The number of this form of a `ReviewSet`."""


class Item(msgspec.Struct, frozen=True):
    """A response to be judged: its context's turns, each with its speaker, and what it was made by.

    ``gold`` has the right answers, by question, where they are known: annotators are measured by them.
    """

    source: str
    id: str
    context: tuple[tuple[str, str], ...]
    response: str
    transforms: tuple[str, ...] = ()
    gold: dict[str, str] = {}

    @property
    def place(self) -> tuple[str, ...]:
        """What items of one context have in common."""
        return context_key([text for _, text in self.context])

    @property
    def turns(self) -> list[tuple[str, str]]:
        """The context as it is shown. Speakers are A, B and so on, as they come up: their names would tell
        corpora apart."""
        names: dict[str, str] = {}
        for speaker, _ in self.context:
            names.setdefault(speaker, chr(ord("A") + len(names) % 26))
        return [(names[speaker], one_line(text)) for speaker, text in self.context]

    @property
    def shown(self) -> tuple[str, str]:
        """Context and response as the reader of a sheet sees them."""
        return "\n".join(f"{name}: {text}" for name, text in self.turns), one_line(self.response)

    @property
    def says(self) -> str:
        """What tells its texts from others, however a spreadsheet writes ends of lines."""
        return texts_digest(*self.shown)


class ReviewSet(msgspec.Struct, frozen=True):
    """Items in the order of a sheet, counted from 1, the questions, and how many annotators each item is for
    (0: all of them)."""

    format: int
    seed: int
    questions: Questions
    items: tuple[Item, ...]
    annotators: int = 0

    def item(self, row: int) -> Item:
        """The item of a row.

        Raises `InputError`: there is no such row.
        """
        if not 1 <= row <= len(self.items):
            raise InputError(f"row {row}: there are rows 1 to {len(self.items)}")
        return self.items[row - 1]

    def order(self, annotator: str) -> list[int]:
        """The rows in the order in which an annotator sees them, from the seed and the name alone."""
        return shuffled(range(1, len(self.items) + 1), self.seed, "order", annotator)

    def to_json(self) -> str:
        """The set as JSON that people can read too."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


def texts_digest(context: str, response: str) -> str:
    """A short text that is the same for the same context and response."""
    return fingerprint([one_line(context), one_line(response)])


def review_set_of(text: str, place: str | Path) -> ReviewSet:
    """The set that `ReviewSet.to_json` wrote.

    Raises `InputError`: it is none.
    """
    try:
        found = msgspec.json.decode(text.encode("utf-8", "replace"), type=ReviewSet)
    except msgspec.MsgspecError as error:
        raise InputError(f"{place}: no key of a sheet: {error}") from error
    if found.format != FORMAT:
        raise InputError(f"{place}: no key of a sheet of this version, but of format {found.format}")
    return found
