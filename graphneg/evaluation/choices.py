"""Contexts with right and wrong responses, read from files and scored by a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from graphneg.errors import InputError
from graphneg.evaluation.ranking import Choices
from graphneg.loading.registry import LoadOptions, get_loader
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker

FORM = "dailydialog_pp"
_STEP = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """What files held, and the lines that were refused."""

    choices: list[Choices]
    refused: list[Rejected]


def read_choices(paths: Sequence[str | Path], limit: int | None = None) -> Reading:
    """The contexts of files in the shape of DailyDialog++ (Sai et al. 2020), in order.

    A kind of negative is the response's ``source`` as the loader names it. A line that is not in that
    shape, or without a right or a wrong response, is refused with its place.

    Raises:
        InputError: a file can't be read or holds no such contexts.
    """
    choices: list[Choices] = []
    refused: list[Rejected] = []
    records = get_loader(FORM).read([Path(path) for path in paths], LoadOptions())
    for record in islice(records, limit):
        if isinstance(record, Rejected):
            refused.append(record)
        elif isinstance(record, Dialogue):
            one = _choices(record)
            if one.positives and one.negatives:
                choices.append(one)
            else:
                lacking = "right" if not one.positives else "wrong"
                refused.append(Rejected(record.place or record.id, f"the context has no {lacking} response"))
    if not choices:
        first = f" (of {refused[0].place}: {refused[0].reason})" if refused else ""
        raise InputError(f"{', '.join(map(str, paths))}: no context with right and wrong responses{first}")
    return Reading(choices, refused)


def _choices(dialogue: Dialogue) -> Choices:
    kinds = dict.fromkeys(one.source for one in dialogue.responses if one.label == 0)
    return Choices(
        dialogue.id,
        tuple(one.text for one in dialogue.utterances),
        tuple(one.text for one in dialogue.responses if one.label == 1),
        {
            kind: tuple(one.text for one in dialogue.responses if one.label == 0 and one.source == kind)
            for kind in kinds
        },
    )


def scored(ranker: Ranker, choices: Sequence[Choices], progress: Progress | None = None) -> list[list[float]]:
    """For each context the scores of its ``responses``, in order."""
    bar = progress or NoProgress()
    bar.start("scoring", len(choices), "contexts")
    found: list[list[float]] = []
    for start in range(0, len(choices), _STEP):
        some = choices[start : start + _STEP]
        pairs = [(one.turns, text) for one in some for text in one.responses]
        flat = iter(ranker.score([turns for turns, _ in pairs], [text for _, text in pairs]))
        found += [[next(flat) for _ in one.responses] for one in some]
        bar.advance(len(some))
    bar.finish()
    return found
