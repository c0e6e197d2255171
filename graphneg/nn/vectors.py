"""Static word vectors (GloVe, fastText): texts in, vectors and nearest words out, without torch."""

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

if TYPE_CHECKING:
    import numpy
    from numpy import float32, int64
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+(?:['’]\w+)?", re.UNICODE)


class StaticVectors:
    """Vectors of words; a text is the mean of those of its words, then of length 1.

    ``words`` are in the file's order, usually by frequency; ``vectors`` has the shape (words,
    dimensions). Read are GloVe's and fastText's text (``word number number ...``, a first line
    with two numbers is skipped), also as .gz, a .npz with the arrays ``words`` and ``vectors``, and a
    directory with ``NAME_emb.npy`` and ``NAME_index.parquet``, a word a row in its column ``index``;
    ``glove-50d`` names the small ones that graphneg comes with.

    Raises `ModelError`: the file is not there or holds no word vectors.
    """

    def __init__(self, path: str | Path) -> None:
        bundled = resources.files("graphneg").joinpath(f"data/vectors/{BUNDLED}.npz")
        source = Path(str(bundled)) if path == BUNDLED else Path(path).expanduser()
        try:
            self.words, self.vectors, files = _read(source)
        except (OSError, ValueError, KeyError, EOFError) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise ModelError(f"{source}: no word vectors can be read from it: {reason}") from error
        if not self.words or len(self.words) != len(self.vectors):
            raise ModelError(f"{source}: {len(self.words)} words and {len(self.vectors)} vectors are in it")
        self._indices = {word: at for at, word in reversed(list(enumerate(self.words)))}
        self.name = model_name(source.name, files)

    def __contains__(self, word: str) -> bool:
        return word in self._indices

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """See `graphneg.nn.embedders.Embedder.embed`."""
        import numpy

        means = numpy.zeros((len(texts), self.vectors.shape[1]), dtype=numpy.float32)
        for row, text in zip(means, texts, strict=True):
            indices: list[int] = []
            for word in _WORD.findall(text.lower().replace("’", "'")):
                # a word that is not known counts by the parts around its apostrophe
                parts = (word,) if word in self._indices else word.split("'")
                indices += [self._indices[part] for part in parts if part in self._indices]
            if indices:
                row[:] = self.vectors[indices].mean(axis=0)
        return _unit(means)

    def neighbours(self, word: str, k: int) -> list[tuple[str, float]]:
        """The ``k`` words closest to a word, itself left out, with their cosines; none for an unknown word.

        The first call builds an index of all words.

        Raises `ModelError`: FAISS is not installed.
        """
        at = self._indices.get(word)
        if at is None or k < 1:
            return []
        scores, indices = self._index.search(_unit(self.vectors[at : at + 1]), k + 1)
        pairs = zip(indices[0].tolist(), scores[0].tolist(), strict=True)
        return [(self.words[index], score) for index, score in pairs if index != at][:k]

    @cached_property
    def _index(self) -> Nearest:
        return Nearest(_unit(self.vectors))


def _read(path: Path) -> tuple[list[str], NDArray[float32], list[Path]]:
    """Words, vectors, and the files that they are from."""
    import numpy

    if path.is_dir():
        from pyarrow import parquet

        index, vectors = sorted(path.glob(WORD_INDEX)), sorted(path.glob("*_emb.npy"))
        if len(index) != 1 or len(vectors) != 1:
            count = f"{len(index)} word indexes and {len(vectors)} arrays of vectors"
            raise ValueError(f"{count} are in it, not one")
        words = parquet.read_table(index[0]).column(0).to_pylist()
        return words, numpy.load(vectors[0], mmap_mode="r"), [index[0], vectors[0]]
    if path.suffix == ".npz":
        with numpy.load(path) as arrays:
            return arrays["words"].astype(str).tolist(), arrays["vectors"].astype(numpy.float32), [path]
    return *_read_text(path), [path]


def _read_text(path: Path) -> tuple[list[str], NDArray[float32]]:
    import numpy

    words: list[str] = []
    blocks: list[Any] = []
    width = 0
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        lines = enumerate(file, 1)
        while chunk := list(islice(lines, 10_000)):
            rows: list[list[str]] = []
            for number, line in chunk:
                word, *numbers = line.rstrip().split(" ")
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


def _unit(vectors: NDArray[float32]) -> NDArray[float32]:
    """Rows of length 1; zero rows stay zero."""
    import numpy

    lengths: numpy.ndarray[Any, Any] = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)


class Nearest:
    """An exact inner-product index over vectors of shape (n, dimensions): cosines, where rows have length 1.

    Raises `ModelError`: FAISS is not installed.
    """

    def __init__(self, vectors: NDArray[float32]) -> None:
        import numpy

        self._index = import_faiss().IndexFlatIP(vectors.shape[1])
        self._index.add(numpy.ascontiguousarray(vectors, dtype=numpy.float32))
        self.size = len(vectors)

    def search(self, queries: NDArray[float32], k: int) -> tuple[NDArray[float32], NDArray[int64]]:
        """Scores and indices of the ``k`` nearest to each query, best first: both (queries, min(k, n))."""
        import numpy

        return self._index.search(numpy.ascontiguousarray(queries, dtype=numpy.float32), min(k, self.size))


def import_faiss(what: str = "nearest neighbours") -> Any:
    """FAISS. Raises `ModelError`, which says ``what`` needs it, where it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise ModelError(
            f"{what}: FAISS is needed: pip install 'graphneg[vectors]' (graphneg[neural] has it too)"
        ) from error
    return faiss
