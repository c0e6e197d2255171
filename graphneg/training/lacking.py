"""What an epoch lacks, by source and category, and how close its wrong responses are to right ones."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from graphneg.training.drawing import Draw, Drawing, Lacking

if TYPE_CHECKING:
    from graphneg.embedding import Embedder

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Spread:
    """Similarities of wrong responses to the right response that each is most like, from -1 to 1."""

    count: int
    minimum: float
    median: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Shortage:
    """What an epoch draws of one source or category of the mix.

    ``contexts`` of all have too few (``short``); ``wanted`` and ``got`` count responses. A row with a
    ``category`` is a part of the row of its ``name``: it says how many of that category there are.
    """

    name: str
    category: str
    contexts: int
    short: int
    wanted: int
    got: int
    similarity: Spread | None


@dataclass(slots=True)
class _Tally:
    similarities: array[float] = field(default_factory=lambda: array("f"))
    contexts: set[int] = field(default_factory=set[int])


def shortages(drawing: Drawing, epoch: int = 0, embedder: Embedder | None = None) -> list[Shortage]:
    """A row for each source or category that the mix names, and below it one for each category in it.

    ``embedder`` turns responses into vectors (shape (texts, dimensions), each of length 1); without one,
    the word vectors that graphneg comes with.
    """
    if embedder is None:
        from graphneg.embedding import get_embedder
        from graphneg.embedding.base import BUNDLED

        embedder = get_embedder(BUNDLED)
    lacking = Lacking()
    tallies: defaultdict[tuple[str, str], _Tally] = defaultdict(_Tally)
    wrong = (draw for draw in drawing.draws(epoch, lacking) if not draw.label)
    while some := list(islice(wrong, _AT_ONCE)):
        for draw, category, similarity in _measured(drawing, some, embedder):
            for key in {(draw.name, ""), (draw.name, category)}:
                tallies[key].similarities.append(similarity)
                tallies[key].contexts.add(draw.group)
    return list(_rows(drawing, lacking, tallies))


def _measured(
    drawing: Drawing, draws: Sequence[Draw], embedder: Embedder
) -> Iterator[tuple[Draw, str, float]]:
    """Each draw with its category and its similarity to the right response that it is most like."""
    pairs = [drawing.pair(draw) for draw in draws]
    right = [[one.text for one in drawing.groups[draw.group].positives] for draw in draws]
    texts = list(dict.fromkeys([pair.response for pair in pairs] + [text for some in right for text in some]))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    for draw, pair, some in zip(draws, pairs, right, strict=True):
        yield draw, pair.category, max(float(vectors[pair.response] @ vectors[text]) for text in some)


def _rows(drawing: Drawing, lacking: Lacking, tallies: dict[tuple[str, str], _Tally]) -> Iterator[Shortage]:
    for name, amount in drawing.mix.negatives.items():
        own = tallies.get((name, ""), _Tally())
        wanted = amount * drawing.contexts
        got = wanted - lacking.responses[name]
        yield Shortage(name, "", drawing.contexts, lacking.contexts[name], wanted, got, _spread(own))
        for (other, category), part in sorted(tallies.items()):
            if other == name and category and category != name:
                count = len(part.similarities)
                yield Shortage(name, category, len(part.contexts), 0, count, count, _spread(part))


def _spread(tally: _Tally) -> Spread | None:
    found = tally.similarities
    return Spread(len(found), min(found), median(found), max(found)) if found else None
