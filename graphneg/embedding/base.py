"""What an embedder is, and how one is had by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from graphneg.errors import InputError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

STATIC_SUFFIXES = (".txt", ".vec", ".npz", ".gz")
WORD_INDEX = "*_index.parquet"
BUNDLED = "glove-50d"
"""The word vectors that graphneg comes with."""
_OF_MEMORY = ("kept", "cache")


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` says which model it is, the same on every machine: vectors of one name are comparable.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Vectors of shape (texts, dimensions), each of length 1; a text without known words is zero."""
        ...


def get_embedder(name: str | Path, **options: Any) -> Embedder:
    """The embedder of a path or an id; it remembers the texts that it has seen.

    ``glove-50d`` names the small word vectors that graphneg comes with. A file that ends .txt, .vec, .npz
    or .gz, and a directory with a word index, hold static word vectors (``graphneg.embedding.static``); any
    other directory, and what is no path, is a sentence-transformers or Hugging Face encoder
    (``graphneg.embedding.encoder``). Options of both: ``kept`` (how many texts stay in memory) and
    ``cache`` (a file that keeps them for the next time). Options of encoders: ``batch``, ``device``,
    ``threads``, ``offline``.

    Raises:
        ModelError: there is no such model, it is another kind of model, or a package is not installed.
        InputError: an option is unknown.
    """
    from graphneg.embedding.remembering import Remembering

    factory = _factory(name)
    for option in options:
        if option not in signature(factory).parameters and option not in _OF_MEMORY:
            raise InputError(f"embedder {name}: there is no option {option!r} for this kind of model")
    memory = {key: options.pop(key) for key in _OF_MEMORY if key in options}
    return Remembering(factory(name, **options), **memory)


def is_static(name: str | Path) -> bool:
    """Whether a name means static word vectors."""
    if name == BUNDLED:
        return True
    path = Path(name).expanduser()
    return path.suffix in STATIC_SUFFIXES or (path.is_dir() and any(path.glob(WORD_INDEX)))


def _factory(name: str | Path) -> Callable[..., Embedder]:
    if is_static(name):
        from graphneg.embedding.static import StaticVectors

        return StaticVectors
    from graphneg.embedding.encoder import Encoder

    return Encoder
