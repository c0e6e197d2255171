"""How well a ranker tells right responses from wrong ones, by kind of negative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

THRESHOLD = 0.5
"""A score from here on says that the response is right."""


@dataclass(frozen=True, slots=True)
class Choices:
    """A context, the responses that are right for it, and the wrong ones by kind."""

    id: str
    turns: tuple[str, ...]
    positives: tuple[str, ...]
    negatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def responses(self) -> tuple[str, ...]:
        """All of them in one order: the right ones, then the wrong ones kind by kind."""
        return self.positives + tuple(text for some in self.negatives.values() for text in some)


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
        auc=area(right, wrong),
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


def area(right: NDArray[Any], wrong: NDArray[Any]) -> float:
    """The area under the ROC curve: the share of pairs in which the right one scores higher.

    >>> import numpy as np
    >>> area(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    import numpy as np
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([right, wrong]))
    over = ranks[: len(right)].sum() - len(right) * (len(right) + 1) / 2
    return float(over / (len(right) * len(wrong)))
