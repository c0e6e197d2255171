"""The nearest of many vectors, by FAISS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphneg.errors import ModelError

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray


class Nearest:
    """An exact inner-product index over vectors of shape (n, dimensions): cosines, where rows have length 1.

    Raises:
        ModelError: FAISS is not installed.
    """

    def __init__(self, vectors: NDArray[float32]) -> None:
        import numpy

        self._index = _flat_index(vectors.shape[1])
        self._index.add(numpy.ascontiguousarray(vectors, dtype=numpy.float32))
        self.size = len(vectors)

    def search(self, queries: NDArray[float32], k: int) -> tuple[NDArray[float32], NDArray[int64]]:
        """Scores and places of the ``k`` nearest to each query, best first: both (queries, min(k, n))."""
        import numpy

        wanted = min(k, self.size)
        return self._index.search(numpy.ascontiguousarray(queries, dtype=numpy.float32), wanted)


def _flat_index(dimensions: int) -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ModelError(
            "nearest neighbours need FAISS: pip install 'graphneg[vectors]' (graphneg[neural] has it too)"
        ) from error
    return faiss.IndexFlatIP(dimensions)
