"""A contradiction in other speakers' words: what they deny, and what they affirm, of the same matter.

An edited sentence has nearly all the words of what it contradicts, and a detector that learns from those
alone waits for such words. People, and models, contradict what they said in other words. Of all that is
denied in the dialogues, what is nearest to a contradiction mostly contradicts the same sentence; of all
that is affirmed, what is nearest to the sentence mostly goes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphneg.content_words import content_lemmas
from graphneg.contradiction.edited_sentences import Contradiction
from graphneg.contradiction.rewording import denies
from graphneg.embedding.base import Embedder

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_LEAST = 0.5
"""The cosine from which on two sentences are of one matter."""
_MARGIN = 0.02
"""How much nearer to what it contradicts than to the contradiction a denial may be."""
_RARE, _FEW = 0.02, 20
"""A word that a larger share of the statements has, and more than a few, tells no matter."""
_KEPT = 4
_LOOKED_AT = 64


@dataclass(frozen=True, slots=True)
class Retold:
    """What speakers of other dialogues say: denials like a contradiction, and affirmations like the sentence
    that it contradicts, the nearest first."""

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def retold(
    found: Sequence[Contradiction], statements: Mapping[str, str], embedder: Embedder
) -> list[Retold | None]:
    """For each contradiction what others say; None where nobody says either, or where
    the contradiction is no denial of an affirmation.

    ``statements`` are sentences with their dialogues. A denial has a word in common with the sentence
    that few statements have, and is no nearer to it than to the contradiction.

    Raises:
        ModelError: FAISS is not installed.
    """
    asked = [one for one in found if denies(one.contradiction) and not denies(one.sentence)]
    denials = [text for text in statements if denies(text)]
    affirmations = [text for text in statements if not denies(text)]
    if not (asked and denials and affirmations):
        return [None] * len(found)
    contrary = embedder.embed([one.contradiction for one in asked])
    said = embedder.embed([one.sentence for one in asked])
    like_contrary = _like(contrary, denials, embedder, said)
    like_said = _like(said, affirmations, embedder)
    matters = _matters(statements)
    told: dict[str, Retold] = {}
    for one, denied, affirmed in zip(asked, like_contrary, like_said, strict=True):
        matter = matters(one.sentence)
        others = [text for text in denied if statements[text] != one.dialogue and matter & matters(text)]
        same = [text for text in affirmed if statements[text] != one.dialogue]
        if others and same:
            told[one.id] = Retold(tuple(others[:_KEPT]), tuple(same[:_KEPT]))
    return [told.get(one.id) for one in found]


def _like(
    asked: NDArray[float32],
    texts: list[str],
    embedder: Embedder,
    further: NDArray[float32] | None = None,
) -> Iterator[list[str]]:
    """For each of ``asked``, of shape (asked, dimensions), texts of its matter, the nearest first; those that
    are nearer to its row of ``further`` are left out."""
    from graphneg.embedding.nearest import Nearest

    vectors = embedder.embed(texts)
    found = Nearest(vectors).search(asked, _LOOKED_AT)
    for row, (cosines, places) in enumerate(zip(*(one.tolist() for one in found), strict=True)):
        bounds = [_LEAST] * len(places)
        if further is not None:
            bounds = [max(_LEAST, one - _MARGIN) for one in (vectors[places] @ further[row]).tolist()]
        near = zip(places, cosines, bounds, strict=True)
        yield [texts[place] for place, cosine, least in near if cosine >= least]


def _matters(statements: Mapping[str, str]) -> Callable[[str], frozenset[str]]:
    """Tells the content lemmas of a text that few statements have."""
    counts = Counter(lemma for text in statements for lemma in set(content_lemmas(text)))
    common = {lemma for lemma, count in counts.items() if count > max(_FEW, _RARE * len(statements))}
    return lambda text: frozenset(content_lemmas(text)) - common
