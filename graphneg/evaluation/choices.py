"""Contexts with right and wrong responses, read from files and scored by a ranker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def read_choices(paths: Sequence[str | Path], limit: int | None = None) -> list[Choices]:
    """The contexts of files in the shape of DailyDialog++ (Sai et al. 2020), in order.

    A kind of negative is the response's ``source`` as the loader names it.

    Raises:
        InputError: a file can't be read, a line is not in that shape, a context has no right or no wrong
            response, or there is no context.
    """
    choices: list[Choices] = []
    for place, one in placed_choices(paths, limit):
        if not (one.positives and one.negatives):
            lacking = "wrong" if one.positives else "right"
            raise InputError(f"{place}: context {one.id} has no {lacking} response")
        choices.append(one)
    if not choices:
        raise InputError(f"{', '.join(map(str, paths))}: there is no context")
    return choices


def placed_choices(paths: Sequence[str | Path], limit: int | None = None) -> Iterator[tuple[str, Choices]]:
    """As `read_choices`, each context with its place (file and line), whatever responses it has.

    Raises:
        InputError: a file can't be read, or a line is not in that shape.
    """
    if not paths:
        return
    records = get_loader(FORM).read([Path(path) for path in paths], LoadOptions())
    for record in islice(records, limit):
        if isinstance(record, Rejected):
            raise InputError(f"{record.place}: {record.reason}")
        if isinstance(record, Dialogue):
            yield record.place or record.id, _choices(record)


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
