"""What of a record is measured: its response, or the turns of its dialogue that were edited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.output.jsonl import read_jsonl
from graphneg.output.parquet import read_parquet

RESPONSE, TURN = "response", "dialogue"
"""Targets, as records name them."""
UNNAMED = "unnamed"
"""The source of negatives whose records name none."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that somebody may say after a context.

    ``place`` is the context as the corpus has it, ``context`` the one that the text follows in its
    record: edits may have changed turns of it. ``right`` is what was said there in truth, where known.
    """

    id: str
    target: str
    place: tuple[str, ...]
    context: tuple[str, ...]
    text: str
    categories: tuple[str, ...] = ()
    right: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One record: the ``wrong`` texts of a negative, and the ``right`` ones that it brings."""

    source: str
    target: str
    categories: tuple[str, ...]
    wrong: tuple[Text, ...]
    right: tuple[Text, ...]
    label: int


def read_measured(path: Path) -> Iterator[Measured]:
    """What is measured of each record of a file (.jsonl, .parquet), one by one.

    Raises:
        InputError: the file can't be read, a record is no negative, or a label is neither 0 nor 1.
    """
    parquet = path.suffix == ".parquet"
    records: Iterable[Negative] = read_parquet(path) if parquet else read_jsonl(path)
    for number, one in enumerate(records, 1):
        if one.label not in (0, 1):
            place = f"{path}, {'row' if parquet else 'line'} {number}"
            raise InputError(f"{place}: the label of {one.id} is {one.label}; 1 fits, 0 does not")
        yield measured(one)


def measured(one: Negative) -> Measured:
    """What is measured of a record: the response, or the turns of a dialogue that are not as they were."""
    after = (*(turn["text"] for turn in one.context), one.response)
    if one.label:
        return Measured(one.recipe, one.target, (), (), (_said(one.id, RESPONSE, after),), 1)
    unedited = one.original["context"]
    known = one.original["response"] is not None or unedited is not None
    before = (
        *(turn["text"] for turn in (one.context if unedited is None else unedited)),
        one.response if one.original["response"] is None else one.original["response"],
    )
    if one.target == RESPONSE:
        right = (_said(one.id, RESPONSE, before),) if known else ()
        text = _response(one, before, after, before[-1] if known else None)
        wrong = (text,)
    else:
        wrong = tuple(_edited_turns(one, before, after))
        right = tuple(_said(one.id, TURN, (*text.place, text.right)) for text in wrong if text.right)
    return Measured(one.recipe or UNNAMED, one.target, tuple(one.categories), wrong, right, 0)


def _said(id: str, target: str, turns: Sequence[str]) -> Text:
    return Text(id, target, tuple(turns[:-1]), tuple(turns[:-1]), turns[-1])


def _response(one: Negative, before: Sequence[str], after: Sequence[str], right: str | None) -> Text:
    return Text(
        one.id,
        RESPONSE,
        place=tuple(before[:-1]),
        context=tuple(after[:-1]),
        text=one.response,
        categories=tuple(one.categories),
        right=right,
    )


def _edited_turns(one: Negative, before: Sequence[str], after: Sequence[str]) -> Iterator[Text]:
    """Turns that were changed or put in; of a turn that was only taken away there is no text."""
    for old, new in _paired(before, after):
        by_turn = (str(edit["category"]) for edit in one.edits if edit["turn"] == new and edit["category"])
        yield Text(
            one.id,
            TURN,
            place=tuple(before[:new] if old is None else before[:old]),
            context=tuple(after[:new]),
            text=after[new],
            categories=tuple(dict.fromkeys(by_turn)) or tuple(one.categories),
            right=None if old is None else before[old],
        )


def _paired(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int | None, int]]:
    """Places of turns that are new or other, each with the one that it replaces where there is one."""
    if len(before) == len(after):
        yield from ((at, at) for at in range(len(after)) if before[at] != after[at])
        return
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind in ("replace", "insert"):
            yield from ((a + at - c if a + at - c < b else None, at) for at in range(c, d))
