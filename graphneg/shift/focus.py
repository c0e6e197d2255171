"""Focus and reply perspective of a post and its reply (CAPT, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphneg.embedding import Embedder
from graphneg.shift.keywords import Keyword

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply with its keywords, and the keywords of the post that it answers; both have some."""

    post: Sequence[Keyword]
    text: str
    reply: Sequence[Keyword]


@dataclass(frozen=True, slots=True)
class Shift:
    """The keyword of the post that a reply attends to, and its own that it moves to: keys of terms."""

    focus: str
    perspective: str


def shifts_of(exchanges: Sequence[Exchange], embedder: Embedder) -> list[Shift]:
    """The shift of each exchange.

    The focus is the post's keyword closest to the reply, the perspective the reply's keyword closest
    to the focus, by the cosine of their embeddings. A reply that repeats the focus stays on it: its
    perspective is the focus. Cosines are compared to four digits, since a model's last ones depend on
    what else is in its batch; of equals, the keyword with the higher score is taken.
    """
    texts = {one.text: None for one in exchanges}
    texts |= {word.text: None for one in exchanges for word in (*one.post, *one.reply)}
    vectors = dict(zip(texts, embedder.embed(list(texts)), strict=True)) if texts else {}
    return [_shift(one, vectors) for one in exchanges]


def closest(keywords: Sequence[Keyword], vectors: NDArray[float32], to: NDArray[float32]) -> Keyword:
    """The keyword whose vector (a row of shape (keywords, dimensions)) is closest to another one."""
    cosines: list[float] = (vectors @ to).tolist()
    ranked = zip(keywords, cosines, strict=True)
    return min(ranked, key=lambda one: (-round(one[1], _DIGITS), -one[0].score, one[0].text))[0]


def _shift(exchange: Exchange, vectors: Mapping[str, NDArray[float32]]) -> Shift:
    focus = closest(exchange.post, _rows(exchange.post, vectors), vectors[exchange.text])
    perspective = closest(exchange.reply, _rows(exchange.reply, vectors), vectors[focus.text])
    return Shift(focus.text, perspective.text)


def _rows(keywords: Sequence[Keyword], vectors: Mapping[str, NDArray[float32]]) -> NDArray[float32]:
    import numpy

    return numpy.stack([vectors[one.text] for one in keywords])
