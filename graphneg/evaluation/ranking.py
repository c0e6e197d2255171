"""Measure how well a ranker separates right responses from wrong ones, by kind of negative.

The input is a list of contexts with right and wrong responses, and the scores of a ranker. The output is one
row of measures (accuracy, AUC, recall at 1 and others) for each kind of negative: for each generator or
recipe, each transform, and each error category.

Example:
    A context has the right responses R1 (score 0.9) and R2 (0.4) and the wrong response W (0.6). R1 is ranked
    first and R2 second, so recall at 1 is 0.5 and the mean reciprocal rank is 0.75.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.datasets.groups import (
    DAILYDIALOG_PP,
    SOURCE,
    TRANSFORM,
    Choices,
    choices_of,
    read_groups,
    read_usable_groups,
)
from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.json_input import numbered_lines, open_input, parse_json
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker
from graphneg.statistics import THRESHOLD, roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORM = DAILYDIALOG_PP
"""The loader that reads contexts with right and wrong responses."""
# Contexts per call of the ranker, which is also the step of the progress bar.
_STEP = 16


@dataclass(frozen=True, slots=True)
class Ranked:
    """Measures for one kind of negative.

    A tie between a right and a wrong response counts as an error in every measure except `auc`, where it
    counts as half.

    Attributes:
        kind: The name of a generator, recipe, kind of response, transform or category.
        contexts: Number of contexts with right responses and with negatives of this kind.
        positives: Number of right responses.
        negatives: Number of wrong responses of this kind. A negative with several transforms or categories
            counts for each.
        accuracy: Share of responses on the correct side of the threshold.
        balanced_accuracy: Mean of the accuracies on right and on wrong responses.
        auc: Area under the ROC curve, over all pairs of a right and a wrong response, of the same or of
            different contexts.
        recall_at_1: Share of right responses that score higher than every negative of their context.
        mrr: Mean reciprocal rank of right responses among the negatives of their context.
        matched_accuracy: Share of negatives that score lower than the right response of their context that is
            closest in length. It shows what remains if length gives nothing away.
        by: What `kind` names: ``source``, ``transform`` or ``category``.
    """

    kind: str
    contexts: int
    positives: int
    negatives: int
    accuracy: float
    balanced_accuracy: float
    auc: float
    recall_at_1: float
    mrr: float
    matched_accuracy: float
    by: str = SOURCE


def rank(
    contexts: Sequence[Choices], scores: Sequence[Sequence[float]], threshold: float = THRESHOLD
) -> list[Ranked]:
    """Compute the ranking measures for each kind of negative.

    Contexts without a right response, or without a negative of a kind, are left out for that kind.

    Args:
        contexts: Contexts with right and wrong responses.
        scores: For each context, one score per response, in the order of ``responses``.
        threshold: Scores above it count as right, scores below it as wrong.

    Returns:
        One row per kind: sources first, then transforms, then categories.

    Raises:
        InputError: The number of scores differs from the number of responses, or no context has both right
            and wrong responses.
    """
    for context, own in zip(contexts, scores, strict=True):
        if len(own) != len(context.responses):
            raise InputError(f"{context.id}: {len(own)} scores for {len(context.responses)} responses")
    parts = {key for context in contexts for key in context.parts}
    kinds = [(SOURCE, kind) for kind in kinds_of(contexts)]
    # Transforms come before categories.
    kinds += sorted(parts, key=lambda part: (part[0] != TRANSFORM, part[1]))
    ranked = [_ranked(kind, by, contexts, scores, threshold) for by, kind in kinds]
    if not any(ranked):
        raise InputError("nothing to rank: no context has both right and wrong responses")
    return [figures for figures in ranked if figures is not None]


def kinds_of(contexts: Iterable[Choices]) -> list[str]:
    """Return the kinds of wrong responses in the contexts.

    Args:
        contexts: Contexts with right and wrong responses.

    Returns:
        Each kind once, in order of first appearance.
    """
    return list(dict.fromkeys(kind for context in contexts for kind in context.negatives))


def scores_of_kind(
    context: Choices, scores: Sequence[float], kind: str, by: str = SOURCE
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Split a context's scores into those of right responses and those of one kind of negative.

    Args:
        context: A context with right and wrong responses.
        scores: One score per response of the context.
        kind: The kind of negative.
        by: What ``kind`` names: ``source``, ``transform`` or ``category``.

    Returns:
        The scores of the right responses, and the scores of the negatives. Both arrays are empty if one of
        the two would be.
    """
    import numpy as np

    places = _places(context, kind, by)
    if not (places and context.positives):
        return np.zeros(0), np.zeros(0)
    every = np.array(scores, dtype=float)
    return every[: len(context.positives)], every[list(places)]


def _places(context: Choices, kind: str, by: str) -> Sequence[int]:
    """Return the indices of one kind of wrong response in the context's ``responses``."""
    # Transforms and categories are stored with their indices; sources follow from the order of ``responses``.
    if by != SOURCE:
        return context.parts.get((by, kind), ())
    # ``responses`` lists the right responses first, then the wrong ones source by source.
    start = len(context.positives)
    for other, texts in context.negatives.items():
        if other == kind:
            return range(start, start + len(texts))
        start += len(texts)
    return ()


def _ranked(
    kind: str, by: str, contexts: Sequence[Choices], scores: Sequence[Sequence[float]], threshold: float
) -> Ranked | None:
    """Compute the measures for one kind of negative, or None if no context has any."""
    import numpy as np

    parts: list[tuple[NDArray[Any], ...]] = []
    for context, own in zip(contexts, scores, strict=True):
        right, wrong = scores_of_kind(context, own, kind, by)
        if len(right):
            # Rank of each right response among the negatives, from 1. Negatives with an equal score rank
            # before it.
            places = (wrong >= right[:, None]).sum(axis=1) + 1
            lengths = (
                np.array([len(text.split()) for text in texts])
                for texts in (context.positives, [context.responses[at] for at in _places(context, kind, by)])
            )
            # For each negative, the right response whose number of words is closest.
            nearest = np.abs(np.subtract.outer(*lengths)).argmin(axis=0)
            parts.append((right, wrong, places, right[nearest] > wrong))
    if not parts:
        return None
    right, wrong, places, matched = (np.concatenate(column) for column in zip(*parts, strict=True))
    # A score equal to the threshold is an error for both classes.
    held, refused = (right > threshold), (wrong < threshold)
    return Ranked(
        kind=kind,
        contexts=len(parts),
        positives=len(right),
        negatives=len(wrong),
        accuracy=float((held.sum() + refused.sum()) / (len(right) + len(wrong))),
        balanced_accuracy=float((held.mean() + refused.mean()) / 2),
        auc=roc_auc(right, wrong),
        recall_at_1=float((places == 1).mean()),
        mrr=float((1 / places).mean()),
        matched_accuracy=float(matched.mean()),
        by=by,
    )


@dataclass(frozen=True, slots=True)
class Tested:
    """The contexts that rankers are tested on.

    Attributes:
        choices: The contexts with their right and wrong responses.
        right_only: Number of contexts that were left out because they have no wrong response.
        unusable: Number of responses that `graphneg.datasets.groups.usable` left out.
    """

    choices: list[Choices]
    right_only: int = 0
    unusable: int = 0


def read_choices(paths: Sequence[str | Path], limit: int | None = None) -> list[Choices]:
    """Return the contexts that `read_tested` reads.

    Args:
        paths: Files of contexts or of negatives.
        limit: Maximum number of contexts.

    Returns:
        The contexts with right and wrong responses.
    """
    return read_tested(paths, limit).choices


def read_tested(paths: Sequence[str | Path], limit: int | None = None) -> Tested:
    """Read test contexts from files in the DailyDialog++ format and from files of negatives.

    Contexts in the DailyDialog++ format (Sai et al. 2020) come first, then those of files of negatives and
    positives (``.jsonl``, ``.parquet``), in order of first appearance. The kind of a wrong response is its
    ``source`` as the loader names it, or its recipe or generator. In files of negatives, the original of an
    edited response counts as right, and contexts without a wrong response are left out. A file that cannot be
    read raises `InputError`.

    Args:
        paths: Files in either format.
        limit: Maximum number of contexts, over all files.

    Returns:
        The contexts, and counts of what was left out.

    Raises:
        InputError: A context in the DailyDialog++ format lacks right or wrong responses, or the files hold no
            context.
    """
    ours = [path for path in paths if holds_negatives(path)]
    choices: list[Choices] = []
    for place, context in placed_choices([path for path in paths if path not in ours], limit):
        if not (context.positives and context.negatives):
            missing = "wrong" if context.positives else "right"
            raise InputError(f"{place}: context {context.id} has no {missing} response")
        choices.append(context)
    groups, unusable = read_usable_groups(ours)
    choices += [choices_of(group) for group in groups if group.negatives]
    if not choices:
        wrong = " with a wrong response" if groups else ""
        raise InputError(f"{', '.join(map(str, paths))}: there is no context{wrong}")
    return Tested(choices[:limit], sum(not group.negatives for group in groups), unusable)


def holds_negatives(path: str | Path) -> bool:
    """Return whether a file contains negatives or positives, judged by its suffix or its first line.

    Args:
        path: The file.

    Returns:
        False for a file in the DailyDialog++ format, or one whose first line is no JSON.
    """
    if Path(path).suffix == ".parquet":
        return True
    with open_input(path, pipes=False) as file:
        first_line = next((line for _, line in numbered_lines(file, path) if line.strip()), b"")
    try:
        first: Any = parse_json(first_line, str(path))
    # Leave a broken file to the loader, which reports the line.
    except InputError:
        return False
    # A line of DailyDialog++ has "positive_responses"; a negative has "response".
    return isinstance(first, dict) and "response" in first and "positive_responses" not in first


def placed_choices(paths: Sequence[str | Path], limit: int | None = None) -> Iterator[tuple[str, Choices]]:
    """Yield the contexts of files in the DailyDialog++ format with their places.

    Contexts without right or without wrong responses are included. A file that cannot be read raises
    `InputError`.

    Args:
        paths: Files in the DailyDialog++ format.
        limit: Maximum number of records to read.

    Yields:
        The place of a context (file and line), and the context.

    Raises:
        InputError: A line does not have the format.
    """
    records = get_loader(FORM).read([Path(path) for path in paths], LoadOptions()) if paths else ()
    for record in islice(records, limit):
        if isinstance(record, Rejected):
            raise InputError(f"{record.place}: {record.reason}")
        if isinstance(record, Dialogue):
            right = tuple(response.text for response in record.responses if response.label == 1)
            wrong: dict[str, tuple[str, ...]] = {}
            for response in record.responses:
                if response.label == 0:
                    wrong[response.source] = (*wrong.get(response.source, ()), response.text)
            turns = tuple(utterance.text for utterance in record.utterances)
            yield record.place or record.id, Choices(record.id, turns, right, wrong)


def response_texts(paths: Sequence[str | Path]) -> list[str]:
    """Return all right and wrong responses of files that `read_tested` reads.

    Args:
        paths: Files of contexts or of negatives.

    Returns:
        The texts of the responses, repetitions included.
    """
    ours = [path for path in paths if holds_negatives(path)]
    given = placed_choices([path for path in paths if path not in ours])
    every = chain((context for _, context in given), map(choices_of, read_groups(ours)))
    return [text for context in every for text in context.responses]


def scored(ranker: Ranker, choices: Sequence[Choices], progress: Progress | None = None) -> list[list[float]]:
    """Score all responses of contexts with a ranker.

    Args:
        ranker: The ranker.
        choices: The contexts.
        progress: Receives progress updates.

    Returns:
        For each context, one score per response, in the order of ``responses``.
    """
    bar = progress or NoProgress()
    bar.start("scoring", len(choices), "contexts")
    scores: list[list[float]] = []
    for start in range(0, len(choices), _STEP):
        some = choices[start : start + _STEP]
        pairs = [
            # A negative of an edited dialogue is scored in its edited context.
            (context.edited.get(at, context.turns), text)
            for context in some
            for at, text in enumerate(context.responses)
        ]
        # One call for the pairs of several contexts, so that batches are full.
        flat = iter(ranker.score([turns for turns, _ in pairs], [text for _, text in pairs]))
        scores += [[next(flat) for _ in context.responses] for context in some]
        bar.advance(len(some))
    bar.finish()
    return scores
