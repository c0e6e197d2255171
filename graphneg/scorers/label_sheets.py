"""Label sheets: responses as a CSV table for three annotators, and what they said, read back.

A sheet has a row a response: ``id``, ``dialogue`` (the turns before the response), ``earlier`` (what the
responder said), ``response``, and ``label_1`` to ``label_3``: 1 contradictory, 0 not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest import sheets
from graphneg.ingest.labelled import AGREED, ANNOTATORS, Labelled
from graphneg.scorers.collection import Responded
from graphneg.statistics import fleiss_kappa

LABELS = tuple(f"label_{number}" for number in range(1, ANNOTATORS + 1))
COLUMNS = ("id", "dialogue", "earlier", "response", *LABELS)
_FORM = f"a label sheet has {', '.join(COLUMNS)}"

Votes = Mapping[str, tuple[int, ...]]
"""Labels by response id, one of each annotator in the order of the sheet's columns."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How annotators agree: ``kappa`` is Fleiss'.

    So many responses are contradictory (two of three or all say so), not (nobody), dropped (one of three).
    """

    responses: int
    kappa: float
    contradictory: int
    not_contradictory: int
    dropped: int


def write_sheet(
    responses: Sequence[Responded], out: str | Path, votes: Votes | None = None, *, overwrite: bool = False
) -> None:
    """Write a sheet of responses; labels are empty but for those in ``votes``.

    Raises `InputError`: there is such a file already, or it can't be written.
    """
    sheets.write_sheet(Path(out), COLUMNS, _rows(responses, votes or {}), overwrite=overwrite)


def _rows(responses: Sequence[Responded], votes: Votes) -> Iterator[Sequence[object]]:
    for response in responses:
        labels = votes.get(response.id, ("",) * ANNOTATORS)
        context, referent = response.followup.context, response.followup.referent
        dialogue = "\n".join(f"{turn.speaker}: {turn.text}" for turn in context.turns)
        yield [response.id, dialogue, context.turns[referent].text, response.response, *labels]


def read_sheets(paths: Sequence[str | Path]) -> Votes:
    """The labels of sheets. Annotators may share a sheet, or have copies of which each fills a column.

    Raises `InputError`: a file can't be read or is no sheet, a label is not 0 or 1, two copies say different
    things, or a label is missing; file and line are named.
    """
    first_lines: dict[str, str] = {}
    result: dict[str, list[int | None]] = {}
    for path in map(Path, paths):
        seen: set[str] = set()
        for where, row in sheets.read_sheet(path, ("id", *LABELS), _FORM):
            id = row["id"]
            if id in seen:
                raise InputError(f"{where}: the id {id!r} comes a second time in this sheet")
            seen.add(id)
            first_lines.setdefault(id, where)
            labels = result.setdefault(id, [None] * ANNOTATORS)
            for at, name in enumerate(LABELS):
                text = row[name].strip()
                if text not in ("", "0", "1"):
                    raise InputError(f"{where}: {name} is {text!r}; write 1 (contradictory) or 0 (not)")
                if text and labels[at] not in (None, int(text)):
                    raise InputError(f"{where}: {name} is {text} here and {labels[at]} in another sheet")
                labels[at] = int(text) if text else labels[at]
    if not result:
        raise InputError("no sheet with rows: name at least one")
    votes: dict[str, tuple[int, ...]] = {}
    for id, labels in result.items():
        votes[id] = tuple(label for label in labels if label is not None)
        if None in labels:
            missing = LABELS[labels.index(None)]
            raise InputError(f"{first_lines[id]}: {missing} is missing; all three must label a row")
    return votes


def labelled_responses(responses: Sequence[Responded], votes: Votes) -> list[Labelled]:
    """The responses with their votes, in order; those that one of three calls contradictory are left out.

    Raises `InputError`: a response has no votes, or votes are of no response.
    """
    known = {response.id for response in responses}
    for ids, others, what in ((known, votes, "no label"), (votes, known, "no response")):
        missing = sorted(id for id in ids if id not in others)
        if missing:
            raise InputError(f"{missing[0]!r}: {what} (and {len(missing) - 1:,} others alike)")
    labelled: list[Labelled] = []
    for response in responses:
        followup = response.followup
        turns, speaker = followup.context.turns, followup.context.speaker
        item = Labelled(
            id=response.id,
            utterances=(*(turn.text for turn in turns), response.response),
            speakers=(*(turn.speaker for turn in turns), speaker),
            earlier=followup.referent,
            generator=response.generator,
            votes=sum(votes[response.id]),
        )
        if item.label is not None:
            labelled.append(item)
    return labelled


def agreement(votes: Votes) -> Agreement:
    """How the annotators agree.

    Raises `InputError`: there are no votes.
    """
    counts = [sum(labels) for labels in votes.values()]
    contradictory, none = sum(n >= AGREED for n in counts), counts.count(0)
    dropped = len(counts) - contradictory - none
    return Agreement(len(counts), fleiss_kappa(list(votes.values())), contradictory, none, dropped)
