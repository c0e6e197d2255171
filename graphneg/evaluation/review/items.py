"""Define the items of a review: a context, a response, and properties that annotators do not see.

A `ReviewSet` contains all items of a review, and is stored as a JSON file. This file is also the key of a CSV
sheet: it names the source of the response in each row, which the sheet does not show. A `Judgements` file has
a copy of the review set.
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
"""The version of the JSON format of a `ReviewSet`."""


class Item(msgspec.Struct, frozen=True):
    """A response to be judged in its context.

    Attributes:
        source: The name of the source from which the response comes, which annotators do not see.
        id: The id of the response in its source.
        context: Speaker and text of each turn before the response.
        response: The text of the response.
        transforms: The names of the transforms that edited the response.
        gold: The correct answers, keyed by the name of the question, with which annotators are checked. Empty
            if the correct answers are not known.
    """

    source: str
    id: str
    context: tuple[tuple[str, str], ...]
    response: str
    transforms: tuple[str, ...] = ()
    gold: dict[str, str] = {}

    @property
    def context_key(self) -> tuple[str, ...]:
        """A key for the context. Items with the same context have equal keys."""
        return context_key([text for _, text in self.context])

    @property
    def turns(self) -> list[tuple[str, str]]:
        """The turns of the context as they are shown to annotators: pairs of a speaker and a text.

        Speakers are called A, B and so on, in order of appearance, because their real names could reveal the
        source.
        """
        names: dict[str, str] = {}
        for speaker, _ in self.context:
            names.setdefault(speaker, chr(ord("A") + len(names) % 26))
        return [(names[speaker], one_line(text)) for speaker, text in self.context]

    @property
    def shown(self) -> tuple[str, str]:
        """The text of the context and the text of the response as they appear in a sheet."""
        return "\n".join(f"{name}: {text}" for name, text in self.turns), one_line(self.response)

    @property
    def text_digest(self) -> str:
        """A hash of the texts that annotators see. Line breaks are ignored: spreadsheets may change them."""
        return texts_digest(*self.shown)


class ReviewSet(msgspec.Struct, frozen=True):
    """The items and the questions of a review.

    Attributes:
        format: The version of the JSON format; see `FORMAT`.
        seed: The seed with which the items were sampled.
        questions: The questions that are asked about each item.
        items: The items in the order of the rows, which are counted from 1.
        annotators: Number of annotators per item, or 0 if every annotator judges all items.
    """

    format: int
    seed: int
    questions: Questions
    items: tuple[Item, ...]
    annotators: int = 0

    def item(self, row: int) -> Item:
        """Return the item in a row.

        Args:
            row: The number of the row, from 1.

        Returns:
            The response in this row, with its context.

        Raises:
            InputError: The row does not exist.
        """
        if not 1 <= row <= len(self.items):
            raise InputError(f"there is no row {row}; the rows are numbered 1 to {len(self.items)}")
        return self.items[row - 1]

    def order(self, annotator: str) -> list[int]:
        """Return the row numbers of all items, in the order in which an annotator sees the items.

        Args:
            annotator: The name of the annotator.

        Returns:
            The row numbers, from 1, in a random order that depends only on the seed and the annotator.
        """
        return shuffled(range(1, len(self.items) + 1), self.seed, "order", annotator)

    def to_json(self) -> str:
        """Return the review set as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


def texts_digest(context: str, response: str) -> str:
    """Return a hash of a context and a response.

    Args:
        context: The text of the context.
        response: The text of the response.

    Returns:
        A short hash that ignores differences in white space.
    """
    return fingerprint([one_line(context), one_line(response)])


def review_set_of(text: str, place: str | Path) -> ReviewSet:
    """Parse a review set that `ReviewSet.to_json` wrote.

    Args:
        text: The JSON text.
        place: The path of the file from which the text comes, for error messages.

    Returns:
        The items of the review, with the questions.

    Raises:
        InputError: The text is not a review set, or has a different version of the format.
    """
    try:
        found = msgspec.json.decode(text.encode("utf-8", "replace"), type=ReviewSet)
    except msgspec.MsgspecError as error:
        raise InputError(f"{place}: not the key of a sheet: {error}") from error
    if found.format != FORMAT:
        raise InputError(
            f"{place}: the key of a sheet in format {found.format}, which this version can't read"
        )
    return found
