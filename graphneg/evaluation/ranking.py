"""How well a ranker tells right responses from wrong ones, by kind of negative.

In: contexts with right and wrong responses, read from files and scored by a ranker. Out: a row of figures
(accuracy, area under the ROC curve, recall at 1 and so on) for each kind of negative: each generator or
recipe, and each transform and category of what was edited.
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
_STEP = 16


@dataclass(frozen=True, slots=True)
class Ranked:
    """Figures of one kind of negative.

    ``accuracy`` counts scores against the threshold, ``balanced_accuracy`` is the mean of the shares of
    positives and of negatives that are told rightly. ``auc`` is over all pairs of a positive and a
    negative of the same or another context. ``recall_at_1`` is the share of positives that score
    higher than every negative of their context, ``mrr`` the mean of one through their place among these.
    ``matched_accuracy`` compares each negative with the positive of its context that is nearest in length,
    and counts how often the positive scores higher. A tie counts against the ranker everywhere (half
    in ``auc``, as the area has it). ``kind`` names a ``source`` (a generator, a recipe, a kind of response),
    a ``transform`` or a ``category``, which ``by`` says; what has several of these counts for each.
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
    """Figures of each kind of negative.

    ``scores`` holds for each context one number for each of its ``responses``, in order.
    Contexts without a positive, or without a negative of the kind, do not count for it.

    Raises `InputError`: scores do not fit the responses, or there is nothing to rank.
    """
    for context, own in zip(contexts, scores, strict=True):
        if len(own) != len(context.responses):
            raise InputError(f"{context.id}: {len(own)} scores for {len(context.responses)} responses")
    parts = {key for context in contexts for key in context.parts}
    kinds = [(SOURCE, kind) for kind in kinds_of(contexts)]
    kinds += sorted(parts, key=lambda part: (part[0] != TRANSFORM, part[1]))
    ranked = [_ranked(kind, by, contexts, scores, threshold) for by, kind in kinds]
    if not any(ranked):
        raise InputError("nothing to rank: no context has both right and wrong responses")
    return [figures for figures in ranked if figures is not None]


def kinds_of(contexts: Iterable[Choices]) -> list[str]:
    """The kinds of wrong responses, in the order in which they come up."""
    return list(dict.fromkeys(kind for context in contexts for kind in context.negatives))


def scores_of_kind(
    context: Choices, scores: Sequence[float], kind: str, by: str = SOURCE
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A context's scores of right responses, and of wrong ones of a kind; none if either is missing."""
    import numpy as np

    places = _places(context, kind, by)
    if not (places and context.positives):
        return np.zeros(0), np.zeros(0)
    every = np.array(scores, dtype=float)
    return every[: len(context.positives)], every[list(places)]


def _places(context: Choices, kind: str, by: str) -> Sequence[int]:
    """Where wrong responses of a kind stand among the context's responses."""
    if by != SOURCE:
        return context.parts.get((by, kind), ())
    start = len(context.positives)
    for other, texts in context.negatives.items():
        if other == kind:
            return range(start, start + len(texts))
        start += len(texts)
    return ()


def _ranked(
    kind: str, by: str, contexts: Sequence[Choices], scores: Sequence[Sequence[float]], threshold: float
) -> Ranked | None:
    import numpy as np

    parts: list[tuple[NDArray[Any], ...]] = []
    for context, own in zip(contexts, scores, strict=True):
        right, wrong = scores_of_kind(context, own, kind, by)
        if len(right):
            # A positive's place among the negatives is from 1 on, behind those that score the same.
            places = (wrong >= right[:, None]).sum(axis=1) + 1
            lengths = (
                np.array([len(text.split()) for text in texts])
                for texts in (context.positives, [context.responses[at] for at in _places(context, kind, by)])
            )
            nearest = np.abs(np.subtract.outer(*lengths)).argmin(axis=0)
            parts.append((right, wrong, places, right[nearest] > wrong))
    if not parts:
        return None
    right, wrong, places, matched = (np.concatenate(column) for column in zip(*parts, strict=True))
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
    """What rankers are tested on. ``right_only`` contexts were left out: nothing there is wrong.

    ``unusable`` counts responses that `graphneg.datasets.groups.usable` left out.
    """

    choices: list[Choices]
    right_only: int = 0
    unusable: int = 0


def read_choices(paths: Sequence[str | Path], limit: int | None = None) -> list[Choices]:
    """The contexts of `read_tested`."""
    return read_tested(paths, limit).choices


def read_tested(paths: Sequence[str | Path], limit: int | None = None) -> Tested:
    """Contexts of files in the shape of DailyDialog++ (Sai et al. 2020), in order, then those of files of
    negatives and positives (.jsonl, .parquet), as they first come up; of all, the first ``limit``.

    A wrong response's kind is its ``source`` as the loader names it, or its recipe or generator. In files of
    negatives the original of an edited response is right, and a context without a wrong one is left out.

    Raises `InputError`: a file can't be read, a line is in neither shape, a context has no right response (or
    in the shape of DailyDialog++ no wrong one), or there is no context.
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
    """Whether a file is one of negatives or positives, by its suffix or its first line."""
    if Path(path).suffix == ".parquet":
        return True
    with open_input(path, pipes=False) as file:
        first_line = next((line for _, line in numbered_lines(file, path) if line.strip()), b"")
    try:
        first: Any = parse_json(first_line, str(path))
    except InputError:
        return False
    return isinstance(first, dict) and "response" in first and "positive_responses" not in first


def placed_choices(paths: Sequence[str | Path], limit: int | None = None) -> Iterator[tuple[str, Choices]]:
    """Contexts of files in the shape of DailyDialog++, with their places (file and line), whatever responses
    they have.

    Raises `InputError`: a file can't be read, or a line is not in that shape.
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
    """The right and wrong responses of files that `read_tested` reads."""
    ours = [path for path in paths if holds_negatives(path)]
    given = placed_choices([path for path in paths if path not in ours])
    every = chain((context for _, context in given), map(choices_of, read_groups(ours)))
    return [text for context in every for text in context.responses]


def scored(ranker: Ranker, choices: Sequence[Choices], progress: Progress | None = None) -> list[list[float]]:
    """For each context the scores of its ``responses``, in order."""
    bar = progress or NoProgress()
    bar.start("scoring", len(choices), "contexts")
    scores: list[list[float]] = []
    for start in range(0, len(choices), _STEP):
        some = choices[start : start + _STEP]
        pairs = [
            (context.edited.get(at, context.turns), text)
            for context in some
            for at, text in enumerate(context.responses)
        ]
        flat = iter(ranker.score([turns for turns, _ in pairs], [text for _, text in pairs]))
        scores += [[next(flat) for _ in context.responses] for context in some]
        bar.advance(len(some))
    bar.finish()
    return scores
