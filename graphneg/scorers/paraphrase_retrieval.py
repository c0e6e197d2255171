"""Paraphrases of contradictions: contradictions and statements in, what other speakers say of it out.

An edited sentence has nearly all the words of what it contradicts, and a detector that learns from those
alone relies on such words. People, and models, contradict what they said in other words. Of all that is
denied in the dialogues, what is nearest to a contradiction mostly contradicts the same sentence; of all
that is affirmed, what is nearest to the sentence mostly goes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphneg.english.lemmas import content_lemmas
from graphneg.nn.embedders import Embedder
from graphneg.nn.vectors import Nearest
from graphneg.scorers.templates import denies

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

_SAME_MATTER = 0.5
"""The cosine from which on two sentences are of one matter."""
_MARGIN = 0.02
"""How much nearer to what it contradicts than to the contradiction a denial may be."""
_RARE, _FEW = 0.02, 20
"""A word that a larger share of the statements has, and more than a few, says nothing of the matter."""
_KEPT = 4
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence that ``earlier`` (a whole turn) says, its contradiction, and another turn of the speaker."""

    id: str
    earlier: str
    sentence: str
    contradiction: str
    other: str

    @property
    def dialogue(self) -> str:
        """The id of its dialogue."""
        return self.id.partition("#")[0]


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """What speakers of other dialogues say: denials like a contradiction, and affirmations like the sentence
    that it contradicts, the nearest first."""

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def paraphrases(
    contradictions: Sequence[Contradiction], statements: Mapping[str, str], embedder: Embedder
) -> list[Paraphrases | None]:
    """For each contradiction what others say; None where nobody says either, or where
    the contradiction is no denial of an affirmation.

    ``statements`` are sentences with their dialogues. A denial has a word in common with the sentence
    that few statements have, and is no nearer to it than to the contradiction.

    Raises:
        ModelError: FAISS is not installed.
    """
    queries = [item for item in contradictions if denies(item.contradiction) and not denies(item.sentence)]
    denials = [text for text in statements if denies(text)]
    affirmations = [text for text in statements if not denies(text)]
    if not (queries and denials and affirmations):
        return [None] * len(contradictions)
    contrary = embedder.embed([item.contradiction for item in queries])
    said = embedder.embed([item.sentence for item in queries])
    like_contrary = _like(contrary, denials, embedder, said)
    like_said = _like(said, affirmations, embedder)
    matters = _matters(statements)
    by_id: dict[str, Paraphrases] = {}
    for item, denied, affirmed in zip(queries, like_contrary, like_said, strict=True):
        matter = matters(item.sentence)
        others = [text for text in denied if statements[text] != item.dialogue and matter & matters(text)]
        same = [text for text in affirmed if statements[text] != item.dialogue]
        if others and same:
            by_id[item.id] = Paraphrases(tuple(others[:_KEPT]), tuple(same[:_KEPT]))
    return [by_id.get(item.id) for item in contradictions]


def _like(
    queries: NDArray[float32],
    texts: list[str],
    embedder: Embedder,
    further: NDArray[float32] | None = None,
) -> Iterator[list[str]]:
    """For each query, of shape (queries, dimensions), texts of its matter, the nearest first.

    Those that are nearer to its row of ``further`` are left out.
    """
    vectors = embedder.embed(texts)
    nearest = Nearest(vectors).search(queries, _CANDIDATES)
    for row, (cosines, indices) in enumerate(zip(*(array.tolist() for array in nearest), strict=True)):
        bounds = [_SAME_MATTER] * len(indices)
        if further is not None:
            to_further = (vectors[indices] @ further[row]).tolist()
            bounds = [max(_SAME_MATTER, cosine - _MARGIN) for cosine in to_further]
        near = zip(indices, cosines, bounds, strict=True)
        yield [texts[index] for index, cosine, least in near if cosine >= least]


def _matters(statements: Mapping[str, str]) -> Callable[[str], frozenset[str]]:
    """A function that gives the content lemmas of a text that few statements have."""
    counts = Counter(lemma for text in statements for lemma in set(content_lemmas(text)))
    common = {lemma for lemma, count in counts.items() if count > max(_FEW, _RARE * len(statements))}
    return lambda text: frozenset(content_lemmas(text)) - common
