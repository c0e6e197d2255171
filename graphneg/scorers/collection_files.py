"""Files of a collection: contexts, responses, label sheets, and the agreement of annotators."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from graphneg.errors import InputError
from graphneg.generators.base import Context, Turn
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.reading import Refused, json_lines
from graphneg.ingest.validation import mapping
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress
from graphneg.records.runs import write_atomically
from graphneg.scorers.contradiction import AGREED, ANNOTATORS, Labelled
from graphneg.scorers.followups import FollowUp, Scored

# Agreement of annotators: Fleiss' kappa.


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Fleiss' kappa of items that were each rated by the same number of annotators.

    ``ratings`` holds for each item one category an annotator, shape (items, annotators). 1 is full
    agreement, 0 what chance would give. Where only one category was ever given it is 1, since nobody
    disagrees (the formula has no value there).

    Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5):
    (P - Pe) / (1 - Pe), with P the mean share of agreeing pairs of annotators of an item
    and Pe the sum of the squared shares of the categories.

    Raises:
        InputError: no item, or items with one annotator or different numbers of them.

    >>> round(fleiss_kappa([(0, 0, 0), (1, 1, 1), (0, 0, 1), (0, 1, 1)]), 3)
    0.333
    """
    annotators = len(ratings[0]) if ratings else 0
    if annotators < 2:
        raise InputError("agreement needs at least one item that two annotators rated")
    if any(len(item) != annotators for item in ratings):
        raise InputError(f"each item must be rated by the same number of annotators ({annotators})")
    counts = [Counter(item) for item in ratings]
    pairs = annotators * (annotators - 1)
    observed = sum(sum(n * (n - 1) for n in one.values()) for one in counts) / (pairs * len(counts))
    given = sum(counts, Counter[Hashable]())
    total = annotators * len(counts)
    expected = sum((n / total) ** 2 for n in given.values())
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


# Files of a collection: contexts with their scores, and responses to them; JSON lines.
#
# A context's line has the fields of `graphneg.generators.base.Context`, ``referent`` and ``log_fqness``; a
# response's line those, and its ``generator`` and ``response``.


_TEXTS = ("id", "corpus", "split", "dialogue", "speaker")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Responded:
    """A generator's response to a context. ``id`` is the context's and a digest of the response: it does not
    say who made it."""

    id: str
    scored: Scored
    generator: str
    response: str


def context_line(scored: Scored) -> str:
    return json.dumps(_context_values(scored), ensure_ascii=False)


def response_line(one: Responded) -> str:
    values = {"id": one.id, "generator": one.generator, "response": one.response}
    return json.dumps({**values, "context": _context_values(one.scored)}, ensure_ascii=False)


def read_contexts_file(path: str | Path) -> list[Scored]:
    """The contexts that `collect_contexts` wrote.

    Raises:
        InputError: the file can't be read, or a line is none; file and line are named.
    """
    return _read(Path(path), _scored)


def read_responses_file(path: str | Path) -> list[Responded]:
    """The responses that `collect_responses` wrote.

    Raises:
        InputError: the file can't be read, a line is none, or an id comes twice.
    """
    found = _read(Path(path), _responded)
    _once(path, [one.id for one in found])
    return found


def read_dialogues_file(path: str | Path) -> Iterator[Context]:
    """Contexts of a file of dialogues (as the loader ``dialogues`` reads them): one before each turn.

    Raises:
        InputError: the file can't be read, or a dialogue in it; its place is named.
    """
    for record in get_loader("dialogues").read([Path(path)], LoadOptions()):
        if isinstance(record, Rejected):
            raise InputError(f"{record.place}: {record.reason}")
        if isinstance(record, Dialogue):
            yield from contexts_of(record)


def contexts_of(dialogue: Dialogue) -> Iterator[Context]:
    """The contexts of a dialogue: each but the first turn has the ones before it."""
    turns = [Turn(one.speaker, one.text) for one in dialogue.utterances]
    for place in range(1, len(turns)):
        yield Context(
            id=f"{dialogue.id}#{place}",
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=place,
            turns=tuple(turns[:place]),
            speaker=turns[place].speaker,
            positives=(turns[place].text,),
        )


def _context_values(scored: Scored) -> dict[str, Any]:
    context = scored.followup.context
    return {
        **{name: getattr(context, name) for name in _TEXTS},
        "turn": context.turn,
        "turns": [turn._asdict() for turn in context.turns],
        "positives": list(context.positives),
        "referent": scored.followup.referent,
        "log_fqness": scored.log_fqness,
    }


def _scored(value: Mapping[str, Any]) -> Scored:
    texts = {name: _text(value, name) for name in _TEXTS}
    turns = tuple(_turn(one) for one in _list(value, "turns"))
    context = Context(**texts, turn=_integer(value, "turn"), turns=turns, positives=_positives(value))
    referent = _integer(value, "referent")
    if not 0 <= referent < len(turns) - 1:
        raise Refused(f'"referent" {referent} is none of the {len(turns)} turns before the question')
    score = value.get("log_fqness")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise Refused(f'"log_fqness" is {score!r}, no number')
    return Scored(FollowUp(context, referent), float(score))


def _responded(value: Mapping[str, Any]) -> Responded:
    scored = _scored(mapping(value.get("context"), '"context"'))
    return Responded(_text(value, "id"), scored, _text(value, "generator"), _text(value, "response"))


def _read(path: Path, make: Callable[[Mapping[str, Any]], T]) -> list[T]:
    found: list[T] = []
    for item in json_lines(path, NoProgress()):
        if isinstance(item, Rejected):
            raise InputError(f"{item.place}: {item.reason}")
        try:
            found.append(make(mapping(item.value, "the line")))
        except Refused as reason:
            raise InputError(f"{item.place}: {reason}") from reason
    if not found:
        raise InputError(f"{path}: there is nothing in it")
    return found


def _once(path: str | Path, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for line, id in enumerate(ids, 1):
        if id in seen:
            raise InputError(f"{path}: the id {id!r} comes a second time (entry {line})")
        seen.add(id)


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text.strip():
        raise Refused(f'"{name}" is {text!r}, no text')
    return text


def _integer(value: Mapping[str, Any], name: str) -> int:
    number = value.get(name)
    if type(number) is not int:
        raise Refused(f'"{name}" is {number!r}, no whole number')
    return number


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    if not isinstance(found, list):
        raise Refused(f'"{name}" is not a list')
    return cast("list[Any]", found)


def _turn(value: Any) -> Turn:
    fields = mapping(value, "a turn")
    return Turn(_text(fields, "speaker"), _text(fields, "text"))


def _positives(value: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(one) for one in _list(value, "positives"))


# Label sheets: responses as a CSV table for three annotators, and what they said, read back.
#
# A sheet has a row a response: ``id``, ``dialogue`` (the turns before the response), ``earlier`` (what the
# responder said), ``response``, and ``label_1`` to ``label_3``: 1 contradictory, 0 not.


LABELS = tuple(f"label_{number}" for number in range(1, ANNOTATORS + 1))
COLUMNS = ("id", "dialogue", "earlier", "response", *LABELS)

Votes = Mapping[str, tuple[int, ...]]
"""Labels by response id, one of each annotator in the order of the sheet's columns."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How annotators agree: ``kappa`` is Fleiss'; how many responses are contradictory (two of three or
    all), not (nobody says so), and dropped (one of three)."""

    responses: int
    kappa: float
    contradictory: int
    not_contradictory: int
    dropped: int


def write_sheet(
    responses: Sequence[Responded], out: str | Path, votes: Votes | None = None, *, overwrite: bool = False
) -> None:
    """Write a sheet of responses; labels are empty but for those in ``votes``.

    Raises:
        InputError: there is such a file already, or it can't be written.
    """
    path = Path(out)
    if path.exists() and not overwrite:
        raise InputError(f"{path}: there is such a file already; name another one, or overwrite it")
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for one in responses:
        labels = (votes or {}).get(one.id, ("",) * ANNOTATORS)
        context, referent = one.scored.followup.context, one.scored.followup.referent
        dialogue = "\n".join(f"{turn.speaker}: {turn.text}" for turn in context.turns)
        table.writerow([one.id, dialogue, context.turns[referent].text, one.response, *labels])
    write_atomically(path, text.getvalue())


def read_sheets(paths: Sequence[str | Path]) -> Votes:
    """The labels of sheets. Annotators may share a sheet, or have copies of which each fills a column.

    Raises:
        InputError: a file can't be read or is no sheet, a label is not 0 or 1, two copies say different
            things, or a label is missing; file and line are named.
    """
    places: dict[str, str] = {}
    found: dict[str, list[int | None]] = {}
    for path in map(Path, paths):
        seen: set[str] = set()
        for place, row in _rows(path):
            if row["id"] in seen:
                raise InputError(f"{place}: the id {row['id']!r} comes a second time in this sheet")
            seen.add(row["id"])
            places.setdefault(row["id"], place)
            _fill(found.setdefault(row["id"], [None] * ANNOTATORS), row, place)
    if not found:
        raise InputError("no sheet with rows: name at least one")
    return {id: _complete(labels, places[id]) for id, labels in found.items()}


def labelled_responses(responses: Sequence[Responded], votes: Votes) -> list[Labelled]:
    """The responses with their votes, in order; those that one of three calls contradictory are left out.

    Raises:
        InputError: a response has no votes, or votes are of no response.
    """
    known = {one.id for one in responses}
    for ids, others, what in ((known, votes, "no label"), (votes, known, "no response")):
        missing = sorted(id for id in ids if id not in others)
        if missing:
            raise InputError(f"{missing[0]!r}: {what} (and {len(missing) - 1:,} others alike)")
    found = [_labelled(one, sum(votes[one.id])) for one in responses]
    return [one for one in found if one.label is not None]


def agreement(votes: Votes) -> Agreement:
    """How the annotators agree.

    Raises:
        InputError: there are no votes.
    """
    counts = [sum(labels) for labels in votes.values()]
    contradictory, none = sum(n >= AGREED for n in counts), counts.count(0)
    dropped = len(counts) - contradictory - none
    return Agreement(len(counts), fleiss_kappa(list(votes.values())), contradictory, none, dropped)


def _labelled(one: Responded, votes: int) -> Labelled:
    followup = one.scored.followup
    return Labelled(
        id=one.id,
        utterances=(*(turn.text for turn in followup.context.turns), one.response),
        speakers=(*(turn.speaker for turn in followup.context.turns), followup.context.speaker),
        earlier=followup.referent,
        generator=one.generator,
        votes=votes,
    )


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each row with its place, FILE:LINE (the line where it ends)."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read: {error}") from error
    table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    missing = [name for name in ("id", *LABELS) if name not in (table.fieldnames or ())]
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(missing)}; a label sheet has {', '.join(COLUMNS)}")
    try:
        for row in table:
            place = f"{path}:{table.line_num}"
            if None in row or any(row[name] is None for name in ("id", *LABELS)):
                raise InputError(f"{place}: another number of cells than the header has")
            yield place, row
    except csv.Error as error:
        raise InputError(f"{path}:{table.line_num}: no CSV: {error}") from error


def _fill(labels: list[int | None], row: Mapping[str, str], place: str) -> None:
    for at, name in enumerate(LABELS):
        text = row[name].strip()
        if text not in ("", "0", "1"):
            raise InputError(f"{place}: {name} is {text!r}; write 1 (contradictory) or 0 (not)")
        if not text:
            continue
        if labels[at] is not None and labels[at] != int(text):
            raise InputError(f"{place}: {name} is {text} here and {labels[at]} in another sheet")
        labels[at] = int(text)


def _complete(labels: Sequence[int | None], place: str) -> tuple[int, ...]:
    given = tuple(one for one in labels if one is not None)
    if len(given) < ANNOTATORS:
        raise InputError(
            f"{place}: {LABELS[list(labels).index(None)]} is missing; all three must label a row"
        )
    return given
