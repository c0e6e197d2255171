"""Measure how well a ranker separates correct responses from negatives, for each kind of negative.

The input is a list of contexts with correct and wrong responses, and the scores that a ranker gives these
responses. The output has one set of measures (accuracy, AUC, recall at 1 and others) for each kind of
negative: for each generator or recipe, for each transform, and for each error category.

Example:
    A context has the correct responses R1 (score 0.9) and R2 (0.4) and the wrong response W (0.6). Each
    correct response is ranked among the wrong responses: R1 has the rank 1, and R2 the rank 2. So recall at 1
    is 0.5 and the mean reciprocal rank is 0.75.
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
    LabelledContext,
    labelled_context,
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
"""The name of the loader for files of contexts with correct and wrong responses (DailyDialog++)."""
# Number of contexts that are scored in one call. After each call, the progress display is updated.
_STEP = 16


@dataclass(frozen=True, slots=True)
class RankingMetrics:
    """The ranking measures for one kind of negative.

    A correct and a wrong response with equal scores count as an error in the measures that compare scores.
    Only `auc` counts such a pair as half an error.

    Attributes:
        kind: The kind of negative: the name of a source (a generator, a recipe, or a kind of response that
            the file names), of a transform or of an error category.
        contexts: Number of contexts that have both correct responses and negatives of this kind.
        positives: Number of correct responses in these contexts.
        negatives: Number of negatives of this kind. A negative with several transforms or categories counts
            for each of them.
        accuracy: Share of responses whose score is on the correct side of the threshold.
        balanced_accuracy: Mean of the accuracies on correct and on wrong responses.
        auc: Area under the ROC curve. It compares each correct response with each negative, including
            negatives of other contexts.
        recall_at_1: Share of correct responses that score higher than all negatives of their context.
        mrr: Mean reciprocal rank of a correct response among the negatives of its context.
        matched_accuracy: Share of negatives that score lower than the correct response with the most similar
            length. It shows how good the ranker is if it cannot use the length.
        by: Whether `kind` is the name of a ``source``, a ``transform`` or a ``category``.
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
    contexts: Sequence[LabelledContext], scores: Sequence[Sequence[float]], threshold: float = THRESHOLD
) -> list[RankingMetrics]:
    """Compute the ranking measures for each kind of negative.

    The measures for a kind use only the contexts that have both correct responses and negatives of this kind.

    Args:
        contexts: Contexts with correct and wrong responses.
        scores: For each context, one score per response, in the order of ``LabelledContext.responses``.
        threshold: A response with a score above the threshold is predicted to be correct, a response with a
            score below the threshold to be wrong.

    Returns:
        The measures for each kind of negative: sources first, then transforms, then error categories.

    Raises:
        InputError: The number of scores for a context differs from its number of responses, or no context has
            both correct and wrong responses.
    """
    for context, own in zip(contexts, scores, strict=True):
        if len(own) != len(context.responses):
            raise InputError(
                f"{context.id}: expected {len(context.responses)} scores, one for each response, but found "
                f"{len(own)}"
            )
    parts = {key for context in contexts for key in context.parts}
    kinds = [(SOURCE, kind) for kind in kinds_of(contexts)]
    # The report begins with the sources of negatives. Transforms follow, sorted by name, and then error
    # categories, sorted by name.
    kinds += sorted(parts, key=lambda part: (part[0] != TRANSFORM, part[1]))
    ranked = [_ranked(kind, by, contexts, scores, threshold) for by, kind in kinds]
    if not any(ranked):
        raise InputError("nothing to rank: no context has both correct and wrong responses")
    return [figures for figures in ranked if figures is not None]


def kinds_of(contexts: Iterable[LabelledContext]) -> list[str]:
    """Return the names of the sources of wrong responses in the contexts.

    Args:
        contexts: Contexts with correct and wrong responses.

    Returns:
        The names of the sources without duplicates, in order of first appearance.
    """
    return list(dict.fromkeys(kind for context in contexts for kind in context.negatives))


def scores_of_kind(
    context: LabelledContext, scores: Sequence[float], kind: str, by: str = SOURCE
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores of a context's correct responses, and the scores of its negatives of one kind.

    Args:
        context: A context with correct and wrong responses.
        scores: One score per response of the context, in the order of ``LabelledContext.responses``.
        kind: The kind of negative, such as ``contradiction``.
        by: Whether ``kind`` is the name of a ``source``, a ``transform`` or a ``category``.

    Returns:
        An array with the scores of the correct responses, and an array with the scores of the negatives. If
        the context has no correct responses or no such negatives, both arrays are empty.
    """
    import numpy as np

    places = _places(context, kind, by)
    if not (places and context.positives):
        return np.zeros(0), np.zeros(0)
    every = np.array(scores, dtype=float)
    return every[: len(context.positives)], every[list(places)]


def _places(context: LabelledContext, kind: str, by: str) -> Sequence[int]:
    """Return the indices in ``context.responses`` of the wrong responses of one kind."""
    # For each transform and error category, the context stores the indices of its wrong responses. For a
    # source, compute the indices: they follow from the order of `responses`.
    if by != SOURCE:
        return context.parts.get((by, kind), ())
    # ``responses`` begins with the correct responses. The wrong responses follow, grouped by source.
    start = len(context.positives)
    for other, texts in context.negatives.items():
        if other == kind:
            return range(start, start + len(texts))
        start += len(texts)
    return ()


def _ranked(
    kind: str,
    by: str,
    contexts: Sequence[LabelledContext],
    scores: Sequence[Sequence[float]],
    threshold: float,
) -> RankingMetrics | None:
    """Return the ranking metrics for negatives of one kind, or None if no context has such negatives."""
    import numpy as np

    parts: list[tuple[NDArray[Any], ...]] = []
    for context, own in zip(contexts, scores, strict=True):
        right, wrong = scores_of_kind(context, own, kind, by)
        if len(right):
            # The rank of a correct response is 1 plus the number of negatives with a higher or equal score.
            places = (wrong >= right[:, None]).sum(axis=1) + 1
            lengths = (
                np.array([len(text.split()) for text in texts])
                for texts in (context.positives, [context.responses[at] for at in _places(context, kind, by)])
            )
            # For each negative, find the correct response with the most similar number of words.
            nearest = np.abs(np.subtract.outer(*lengths)).argmin(axis=0)
            parts.append((right, wrong, places, right[nearest] > wrong))
    if not parts:
        return None
    right, wrong, places, matched = (np.concatenate(column) for column in zip(*parts, strict=True))
    # A score equal to the threshold is neither above nor below it, so it counts as an error both for correct
    # and for wrong responses.
    held, refused = (right > threshold), (wrong < threshold)
    return RankingMetrics(
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
class RankingTestSet:
    """The contexts on which rankers are tested.

    Attributes:
        choices: The contexts with their correct and wrong responses.
        right_only: Number of contexts that were skipped because they have no wrong response.
        unusable: Number of responses that `graphneg.datasets.groups.without_unusable` removed: empty
            responses, and negatives that are equal to a correct response to the same context.
    """

    choices: list[LabelledContext]
    right_only: int = 0
    unusable: int = 0


def read_choices(paths: Sequence[str | Path], limit: int | None = None) -> list[LabelledContext]:
    """Return the contexts that `read_tested` reads, without the numbers of skipped contexts and responses.

    Args:
        paths: Files in the DailyDialog++ format, or files of negatives.
        limit: Maximum number of contexts, or None for all contexts.

    Returns:
        The contexts with correct and wrong responses.
    """
    return read_tested(paths, limit).choices


def read_tested(paths: Sequence[str | Path], limit: int | None = None) -> RankingTestSet:
    """Read test contexts from files in the DailyDialog++ format and from files of negatives.

    The result begins with the contexts in the DailyDialog++ format (Sai et al. 2020). Contexts from files of
    negatives (``.jsonl``, ``.parquet``) follow, in order of first appearance. In the DailyDialog++ format,
    the field that contains a wrong response determines its source. In a file of negatives, the source is the
    recipe or generator. The original of an edited response in a file of negatives counts as a correct
    response. Contexts in a file of negatives are skipped if they have no wrong response. Raises `InputError`
    if a file cannot be read.

    Args:
        paths: Files in the DailyDialog++ format, or files of negatives.
        limit: Maximum number of contexts over all files, or None for all contexts.

    Returns:
        The contexts, and the numbers of skipped contexts and responses.

    Raises:
        InputError: A context in the DailyDialog++ format has no correct or no wrong responses, or no context
            is left.
    """
    ours = [path for path in paths if is_negatives_file(path)]
    choices: list[LabelledContext] = []
    for place, context in located_choices([path for path in paths if path not in ours], limit):
        if not (context.positives and context.negatives):
            missing = "wrong" if context.positives else "correct"
            raise InputError(f"{place}: context {context.id} has no {missing} response")
        choices.append(context)
    groups, unusable = read_usable_groups(ours)
    choices += [labelled_context(group) for group in groups if group.negatives]
    if not choices:
        wrong = " with a wrong response" if groups else ""
        raise InputError(f"{', '.join(map(str, paths))}: there is no context{wrong}")
    return RankingTestSet(choices[:limit], sum(not group.negatives for group in groups), unusable)


def is_negatives_file(path: str | Path) -> bool:
    """Return whether a file contains negatives, judging by its suffix or its first line.

    Args:
        path: The file to check.

    Returns:
        True for a file of negatives. False for a file in the DailyDialog++ format, or if the first line is
        not valid JSON.
    """
    if Path(path).suffix == ".parquet":
        return True
    with open_input(path, pipes=False) as file:
        first_line = next((line for _, line in numbered_lines(file, path) if line.strip()), b"")
    try:
        first: Any = parse_json(first_line, str(path))
    # If the first line is not valid JSON, assume the DailyDialog++ format: the loader for this format reports
    # the number of the faulty line.
    except InputError:
        return False
    # A negative has the field "response"; a line in the DailyDialog++ format has "positive_responses".
    return isinstance(first, dict) and "response" in first and "positive_responses" not in first


def located_choices(
    paths: Sequence[str | Path], limit: int | None = None
) -> Iterator[tuple[str, LabelledContext]]:
    """Yield the contexts in files of the DailyDialog++ format, each preceded by its file and line.

    Contexts are included even if they lack correct or wrong responses. Raises `InputError` if a file cannot
    be read.

    Args:
        paths: Files in the DailyDialog++ format.
        limit: Maximum number of contexts to read, or None for all contexts.

    Yields:
        Pairs of a location, as ``FILE:LINE``, and the context at this location.

    Raises:
        InputError: A line is not in the DailyDialog++ format.
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
            yield record.place or record.id, LabelledContext(record.id, turns, right, wrong)


def response_texts(paths: Sequence[str | Path]) -> list[str]:
    """Return the texts of all correct and wrong responses in files of test contexts.

    Args:
        paths: Files in the DailyDialog++ format, or files of negatives.

    Returns:
        The texts of the responses, including repetitions.
    """
    ours = [path for path in paths if is_negatives_file(path)]
    given = located_choices([path for path in paths if path not in ours])
    every = chain((context for _, context in given), map(labelled_context, read_groups(ours)))
    return [text for context in every for text in context.responses]


def score_contexts(
    ranker: Ranker, choices: Sequence[LabelledContext], progress: Progress | None = None
) -> list[list[float]]:
    """Score all correct and wrong responses of contexts with a ranker.

    Args:
        ranker: The ranker that scores the responses.
        choices: The contexts with their responses.
        progress: Progress display, which is advanced by the number of scored contexts.

    Returns:
        For each context, one score per response, in the order of ``LabelledContext.responses``.
    """
    bar = progress or NoProgress()
    bar.start("scoring", len(choices), "contexts")
    scores: list[list[float]] = []
    for start in range(0, len(choices), _STEP):
        some = choices[start : start + _STEP]
        pairs = [
            # If the context of a negative was edited, score the negative in the edited context.
            (context.edited.get(at, context.turns), text)
            for context in some
            for at, text in enumerate(context.responses)
        ]
        # Score the pairs of several contexts in one call, so that the ranker can fill its batches.
        flat = iter(ranker.score([turns for turns, _ in pairs], [text for _, text in pairs]))
        scores += [[next(flat) for _ in context.responses] for context in some]
        bar.advance(len(some))
    bar.finish()
    return scores
