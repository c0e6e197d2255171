"""``embedding``: what replies moved to from the post's keywords, and what is close in meaning to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from graphneg.embedding import Embedder, get_embedder
from graphneg.errors import ModelError
from graphneg.shift.candidates import Focus, Post
from graphneg.shift.prediction.base import Choice
from graphneg.shift.prediction.weighing import log_likelihood

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

WEIGHT = 4.0


class EmbeddingPredictor:
    """Ranks by ``log P(p | post) + weight * cosine(p, post)``.

    The post's vector is the mean of its keywords', by salience. ``model`` is an embedder, or what
    ``graphneg.embedding.get_embedder`` takes: a folder or id of an encoder, a file of word vectors.

    Raises:
        ModelError: no model is given, or it can't be had.
    """

    name = "embedding"

    def __init__(self, model: str | Embedder | None = None, weight: float = WEIGHT) -> None:
        if model is None:
            raise ModelError(
                "the embedding predictor needs a model: a folder or id of an encoder, or word vectors"
            )
        self._embedder = get_embedder(model) if isinstance(model, str) else model
        self._weight = weight

    def choose(self, post: Post, focus: Focus, subsets: Sequence[Sequence[str]]) -> list[Choice]:
        candidates = [one for subset in subsets for one in subset]
        closeness = self._embedder.embed(candidates) @ self._vector(post.keywords)
        scores = {
            text: log_likelihood(post, text) + self._weight * float(close)
            for text, close in zip(candidates, closeness, strict=True)
        }
        best = [min(subset, key=lambda text: (-scores[text], text)) for subset in subsets]
        return [Choice(text, scores[text]) for text in best]

    def _vector(self, keywords: Mapping[str, float]) -> NDArray[float32]:
        """The direction of the keywords' mean, of length 1; zero where none is known."""
        import numpy as np

        saliences = np.array(list(keywords.values()), dtype=np.float32)
        mean = saliences @ self._embedder.embed(list(keywords))
        length = float(np.linalg.norm(mean))
        return mean / length if length else mean
