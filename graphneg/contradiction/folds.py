"""Leaving one response generator out: its responses to test on, those of the others to train on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphneg.contradiction.labelled import Labelled
from graphneg.errors import InputError
from graphneg.training.drawing import plain


@dataclass(frozen=True, slots=True)
class Fold:
    """``test`` are the responses of ``generator``; no text of them is in ``train``.

    ``left_out`` counts responses of other generators that share a context, its earlier utterance
    or their own text with a tested one.
    """

    generator: str
    train: tuple[Labelled, ...]
    test: tuple[Labelled, ...]
    left_out: int


def leave_one_out(labelled: Sequence[Labelled]) -> list[Fold]:
    """A fold for each generator, by name. Contexts of training and test are disjoint.

    Raises:
        InputError: there are fewer than two generators, or a fold has only one class to train on.
    """
    generators = sorted({one.generator for one in labelled})
    if len(generators) < 2:
        raise InputError(
            f"responses of {len(generators)} generator; to leave one out, two or more are needed"
        )
    folds = [_fold(name, labelled) for name in generators]
    for fold in folds:
        if {one.label for one in fold.train} != {0, 1}:
            raise InputError(f"without {fold.generator} there are not both classes of responses to train on")
    return folds


def _fold(generator: str, labelled: Sequence[Labelled]) -> Fold:
    test = tuple(one for one in labelled if one.generator == generator)
    others = [one for one in labelled if one.generator != generator]
    tested = tested_texts(test)
    contexts = {_context(one) for one in test}
    train = tuple(one for one in others if _context(one) not in contexts and not tested & _texts(one))
    return Fold(generator, train, test, len(others) - len(train))


def tested_texts(test: Iterable[Labelled]) -> frozenset[str]:
    """The earlier utterances and responses of these, as `plain` compares them."""
    return frozenset(text for one in test for text in _texts(one))


def _texts(one: Labelled) -> frozenset[str]:
    return frozenset((plain(one.said), plain(one.response)))


def _context(one: Labelled) -> tuple[str, ...]:
    return tuple(map(plain, one.context))
