"""Embed texts with static word vectors (GloVe, fastText), and find the words that are most similar to a word.

This module does not need torch. Only the search for similar words needs another package, FAISS.

Example:
    Find the words that are most similar to "tea" in the word vectors that come with graphneg::

        StaticVectors("glove-50d").neighbours("tea", 2)   # [('coffee', 0.808...), ('drinks', 0.771...)]
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from functools import cached_property
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import ModelError
from graphneg.nn.embedders import BUNDLED, WORD_INDEX, model_name
from graphneg.paths import expand_home

if TYPE_CHECKING:
    import numpy
    from numpy import float32, int64
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+(?:['’]\w+)?", re.UNICODE)


class StaticVectors:
    """Embeds texts with static word vectors.

    The vector of a text is the mean of the vectors of its words, scaled to length 1. Three formats of word
    vectors can be read:

    - the text format of GloVe and fastText, also compressed as .gz: each line has a word and its vector (a
      first line with only two numbers is skipped)
    - a .npz file with the arrays ``words`` and ``vectors``
    - a directory with ``NAME_emb.npy`` and ``NAME_index.parquet``, whose first column contains the words

    Args:
        path: The file or directory; ``glove-50d`` for the word vectors that come with graphneg.

    Attributes:
        words: The words in the order of the file. Files are usually sorted by word frequency.
        vectors: The vectors of the words, a float32 array of shape (words, dimensions).
        name: The name of the file or directory, followed by a digest of its content.

    Raises:
        ModelError: The file is missing or does not contain word vectors.
    """

    def __init__(self, path: str | Path) -> None:
        bundled = resources.files("graphneg").joinpath(f"data/vectors/{BUNDLED}.npz")
        source = Path(str(bundled)) if path == BUNDLED else expand_home(path)
        try:
            self.words, self.vectors, files = _read(source)
        except (OSError, ValueError, KeyError, EOFError) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise ModelError(f"{source}: can't be read as word vectors: {reason}") from error
        if not self.words or len(self.words) != len(self.vectors):
            raise ModelError(f"{source}: {len(self.words)} words, but {len(self.vectors)} vectors")
        # If a word occurs twice, use its first vector. A dict keeps the last value that is added for a key,
        # so reverse the order.
        self._indices = {word: at for at, word in reversed(list(enumerate(self.words)))}
        self.name = model_name(source.name, files)

    def __contains__(self, word: str) -> bool:
        """Return whether a word has a vector."""
        return word in self._indices

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Return a vector for each text. See `graphneg.nn.embedders.Embedder.embed`.

        Args:
            texts: The texts to embed.

        Returns:
            A float32 array of shape (texts, dimensions). The row of a text without known words is zero.
        """
        import numpy

        means = numpy.zeros((len(texts), self.vectors.shape[1]), dtype=numpy.float32)
        for row, text in zip(means, texts, strict=True):
            indices: list[int] = []
            for word in _WORD.findall(text.lower().replace("’", "'")):
                # Look up "don't" as a whole first. If it has no vector, look up "don" and "t".
                parts = (word,) if word in self._indices else word.split("'")
                indices += [self._indices[part] for part in parts if part in self._indices]
            if indices:
                row[:] = self.vectors[indices].mean(axis=0)
        # With vectors of length 1, inner products are cosine similarities.
        return _normalized(means)

    def neighbours(self, word: str, k: int) -> list[tuple[str, float]]:
        """Return the words that are most similar to a word, without the word itself.

        The first call builds a FAISS index of all words.

        Args:
            word: The word with which other words are compared.
            k: Maximum number of similar words to return.

        Returns:
            Pairs of a word and its cosine similarity, sorted from most to least similar; an empty list if
            ``word`` has no vector.
        """
        at = self._indices.get(word)
        if at is None or k < 1:
            return []
        # Request one more result, because the word itself is also found and then removed.
        scores, indices = self._index.search(_normalized(self.vectors[at : at + 1]), k + 1)
        pairs = zip(indices[0].tolist(), scores[0].tolist(), strict=True)
        return [(self.words[index], score) for index, score in pairs if index != at][:k]

    @cached_property
    def _index(self) -> Nearest:
        """The FAISS index of the vectors of all words, which is built at the first use."""
        return Nearest(_normalized(self.vectors))


def _read(path: Path) -> tuple[list[str], NDArray[float32], list[Path]]:
    """Read word vectors. Return the words, their vectors, and the files that were read."""
    import numpy

    if path.is_dir():
        from pyarrow import parquet

        index, vectors = sorted(path.glob(WORD_INDEX)), sorted(path.glob("*_emb.npy"))
        if len(index) != 1 or len(vectors) != 1:
            count = f"{len(index)} word indexes and {len(vectors)} arrays of vectors"
            raise ValueError(f"expected one word index and one array of vectors but found {count}")
        words = parquet.read_table(index[0]).column(0).to_pylist()
        # Memory-map the array, so that only the parts in use are read from disk.
        return words, numpy.load(vectors[0], mmap_mode="r"), [index[0], vectors[0]]
    if path.suffix == ".npz":
        with numpy.load(path) as arrays:
            return arrays["words"].astype(str).tolist(), arrays["vectors"].astype(numpy.float32), [path]
    return *_read_text(path), [path]


def _read_text(path: Path) -> tuple[list[str], NDArray[float32]]:
    """Read a text file in which each line has a word and the numbers of its vector."""
    import numpy

    words: list[str] = []
    blocks: list[Any] = []
    width = 0
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        lines = enumerate(file, 1)
        # Convert the lines into arrays in chunks, because the strings of the whole file would need several
        # times as much memory as its vectors.
        while chunk := list(islice(lines, 10_000)):
            rows: list[list[str]] = []
            for number, line in chunk:
                word, *numbers = line.rstrip().split(" ")
                # The first line of a fastText file contains only the numbers of words and of dimensions. Skip
                # this line.
                if number == 1 and len(numbers) == 1:
                    continue
                width = width or len(numbers)
                if len(numbers) != width or not word:
                    raise ValueError(f"line {number} has {len(numbers)} numbers, not {width}")
                words.append(word)
                rows.append(numbers)
            if rows:
                blocks.append(numpy.array(rows, dtype=numpy.float32))
    return words, numpy.concatenate(blocks) if blocks else numpy.zeros((0, 0), numpy.float32)


def _normalized(vectors: NDArray[float32]) -> NDArray[float32]:
    """Scale each row to length 1. Rows of zeros are not changed."""
    import numpy

    lengths: numpy.ndarray[Any, Any] = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    # Divide rows of zeros by 1, because their length is 0.
    return (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)


class Nearest:
    """An exact search for the nearest vectors by inner product, with FAISS.

    For vectors of length 1, inner products are cosine similarities.

    Args:
        vectors: The vectors to search, a float32 array of shape (n, dimensions).

    Attributes:
        size: Number of vectors.

    Raises:
        ModelError: FAISS is not installed.
    """

    def __init__(self, vectors: NDArray[float32]) -> None:
        import numpy

        self._index = import_faiss().IndexFlatIP(vectors.shape[1])
        self._index.add(numpy.ascontiguousarray(vectors, dtype=numpy.float32))
        self.size = len(vectors)

    def search(self, queries: NDArray[float32], k: int) -> tuple[NDArray[float32], NDArray[int64]]:
        """Find the vectors that are nearest to each query vector.

        Args:
            queries: The query vectors, a float32 array of shape (queries, dimensions).
            k: Number of vectors to find for each query.

        Returns:
            The inner products and the indices of the nearest vectors, sorted from nearest to farthest. Both
            arrays have the shape (queries, min(k, n)).
        """
        import numpy

        return self._index.search(numpy.ascontiguousarray(queries, dtype=numpy.float32), min(k, self.size))


def import_faiss(what: str = "nearest neighbours") -> Any:
    """Import FAISS.

    Args:
        what: Name of the feature that needs FAISS, for the error message.

    Returns:
        The module ``faiss``.

    Raises:
        ModelError: FAISS is not installed.
    """
    try:
        import faiss
    except ImportError as error:
        raise ModelError(
            f"{what}: FAISS is needed: pip install 'graphneg[vectors]' (graphneg[neural] has it too)"
        ) from error
    return faiss
