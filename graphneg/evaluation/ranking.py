"""How well a ranker tells right responses from wrong ones, by kind of negative.

In: contexts with right and wrong responses, read from files and scored by a ranker. Out: a row of figures
(accuracy, area under the ROC curve, recall at 1 and so on) for each kind of negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.datasets.groups import Choices
from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker
from graphneg.statistics import THRESHOLD, roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ranked:
    """Figures of one kind of negative.

    ``accuracy`` counts scores against the threshold, ``balanced_accuracy`` is the mean of the shares of
    positives and of negatives that are told rightly. ``auc`` is over all pairs of a positive and a
    negative of the same or another context. ``recall_at_1`` is the share of positives that score
    higher than every negative of their context, ``mrr`` the mean of one through their place among these.
    ``matched_accuracy`` compares each negative with the positive of its context that is nearest in length,
    and counts how often the positive scores higher. A tie counts against the ranker everywhere (half
    in ``auc``, as the area has it).
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
    ranked = [_ranked(kind, contexts, scores, threshold) for kind in kinds_of(contexts)]
    if not any(ranked):
        raise InputError("nothing to rank: no context has both right and wrong responses")
    return [figures for figures in ranked if figures is not None]


def kinds_of(contexts: Iterable[Choices]) -> list[str]:
    """The kinds of wrong responses, in the order in which they come up."""
    return list(dict.fromkeys(kind for context in contexts for kind in context.negatives))


def scores_of_kind(context: Choices, scores: Sequence[float], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A context's scores of right responses, and of wrong ones of a kind; none if either is missing."""
    import numpy as np

    start = len(context.positives)
    for other, texts in context.negatives.items():
        if other == kind and texts and context.positives:
            columns = scores[: len(context.positives)], scores[start : start + len(texts)]
            return np.array(columns[0], dtype=float), np.array(columns[1], dtype=float)
        start += len(texts)
    return np.zeros(0), np.zeros(0)


def _ranked(
    kind: str, contexts: Sequence[Choices], scores: Sequence[Sequence[float]], threshold: float
) -> Ranked | None:
    import numpy as np

    parts: list[tuple[NDArray[Any], ...]] = []
    for context, own in zip(contexts, scores, strict=True):
        right, wrong = scores_of_kind(context, own, kind)
        if len(right):
            # A positive's place among the negatives is from 1 on, behind those that score the same.
            places = (wrong >= right[:, None]).sum(axis=1) + 1
            lengths = (
                np.array([len(text.split()) for text in texts])
                for texts in (context.positives, context.negatives[kind])
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
    )


FORM = "dailydialog_pp"
_STEP = 16


def read_choices(paths: Sequence[str | Path], limit: int | None = None) -> list[Choices]:
    """The contexts of files in the shape of DailyDialog++ (Sai et al. 2020), in order.

    A kind of negative is the response's ``source`` as the loader names it.

    Raises `InputError`: a file can't be read, a line is not in that shape, a context has no right or no wrong
    response, or there is no context.
    """
    choices: list[Choices] = []
    for place, context in placed_choices(paths, limit):
        if not (context.positives and context.negatives):
            missing = "wrong" if context.positives else "right"
            raise InputError(f"{place}: context {context.id} has no {missing} response")
        choices.append(context)
    if not choices:
        raise InputError(f"{', '.join(map(str, paths))}: there is no context")
    return choices


def placed_choices(paths: Sequence[str | Path], limit: int | None = None) -> Iterator[tuple[str, Choices]]:
    """As `read_choices`, each context with its place (file and line), whatever responses it has.

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
    """The right and wrong responses of such files, in order."""
    return [text for _, context in placed_choices(paths) for text in context.responses]


def scored(ranker: Ranker, choices: Sequence[Choices], progress: Progress | None = None) -> list[list[float]]:
    """For each context the scores of its ``responses``, in order."""
    bar = progress or NoProgress()
    bar.start("scoring", len(choices), "contexts")
    scores: list[list[float]] = []
    for start in range(0, len(choices), _STEP):
        some = choices[start : start + _STEP]
        pairs = [(context.turns, text) for context in some for text in context.responses]
        flat = iter(ranker.score([turns for turns, _ in pairs], [text for _, text in pairs]))
        scores += [[next(flat) for _ in context.responses] for context in some]
        bar.advance(len(some))
    bar.finish()
    return scores
