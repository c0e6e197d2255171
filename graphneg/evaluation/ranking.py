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

    Raises:
        InputError: scores do not fit the responses, or there is nothing to rank.
    """
    for one, some in zip(contexts, scores, strict=True):
        if len(some) != len(one.responses):
            raise InputError(f"{one.id}: {len(some)} scores for {len(one.responses)} responses")
    kinds = dict.fromkeys(kind for one in contexts for kind in one.negatives)
    found = [_ranked(kind, list(_of_kind(kind, contexts, scores)), threshold) for kind in kinds]
    ranked = [one for one in found if one is not None]
    if not ranked:
        raise InputError("nothing to rank: no context has both right and wrong responses")
    return ranked


@dataclass(frozen=True, slots=True)
class _Rivals:
    """One context's positives and negatives of one kind: their scores and lengths in words."""

    right: NDArray[Any]
    wrong: NDArray[Any]
    right_words: NDArray[Any]
    wrong_words: NDArray[Any]


def _of_kind(kind: str, contexts: Sequence[Choices], scores: Sequence[Sequence[float]]) -> Iterator[_Rivals]:
    import numpy as np

    for one, some in zip(contexts, scores, strict=True):
        wrong = one.negatives.get(kind, ())
        if not one.positives or not wrong:
            continue
        at = len(one.positives)
        for other, texts in one.negatives.items():
            if other == kind:
                break
            at += len(texts)
        yield _Rivals(
            np.array(some[: len(one.positives)], dtype=float),
            np.array(some[at : at + len(wrong)], dtype=float),
            _words(one.positives),
            _words(wrong),
        )


def _words(texts: Iterable[str]) -> NDArray[Any]:
    import numpy as np

    return np.array([len(text.split()) for text in texts])


def _ranked(kind: str, rivals: Sequence[_Rivals], threshold: float) -> Ranked | None:
    import numpy as np

    if not rivals:
        return None
    right = np.concatenate([one.right for one in rivals])
    wrong = np.concatenate([one.wrong for one in rivals])
    places = np.concatenate([_places(one) for one in rivals])
    matched = np.concatenate([_matched(one) for one in rivals])
    held, refused = (right > threshold), (wrong < threshold)
    return Ranked(
        kind=kind,
        contexts=len(rivals),
        positives=len(right),
        negatives=len(wrong),
        accuracy=float((held.sum() + refused.sum()) / (len(right) + len(wrong))),
        balanced_accuracy=float((held.mean() + refused.mean()) / 2),
        auc=roc_auc(right, wrong),
        recall_at_1=float((places == 1).mean()),
        mrr=float((1 / places).mean()),
        matched_accuracy=float(matched.mean()),
    )


def _places(one: _Rivals) -> NDArray[Any]:
    """Each positive's place among the negatives, from 1; behind those that score the same."""
    return (one.wrong[None, :] >= one.right[:, None]).sum(axis=1) + 1


def _matched(one: _Rivals) -> NDArray[Any]:
    """Whether each negative scores lower than the positive nearest in length (the first of several)."""
    import numpy as np

    nearest = np.abs(one.right_words[None, :] - one.wrong_words[:, None]).argmin(axis=1)
    return one.right[nearest] > one.wrong


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


def response_texts(paths: Sequence[str | Path]) -> list[str]:
    """The right and wrong responses of such files, in order."""
    return [text for _, one in placed_choices(paths) for text in one.responses]


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
