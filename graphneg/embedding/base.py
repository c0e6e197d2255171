"""What an embedder is, and how one is had by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from graphneg.errors import InputError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

STATIC_SUFFIXES = (".txt", ".vec", ".npz", ".gz")
KUMO_INDEX = "*_index.parquet"


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` says which model it is, the same on every machine: vectors of one name are comparable.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Vectors of shape (texts, dimensions), each of length 1; a text without known words is zero."""
        ...


def get_embedder(name: str, **options: Any) -> Embedder:
    """The embedder of a path or an id; it remembers the texts that it has seen.

    A file that ends .txt, .vec, .npz or .gz, and a directory with a word index, hold static word
    vectors (``graphneg.embedding.static``); any other directory, and what is no path, is a
    sentence-transformers or Hugging Face encoder (``graphneg.embedding.encoder``). Options of both:
    ``kept`` texts in memory, ``cache``, a file that keeps them for the next time. Of encoders:
    ``batch``, ``device``, ``threads``, ``offline``.

    Raises:
        InputError: there is no such model, it is another kind of model, a package is not installed,
            or an option is unknown.
    """
    from graphneg.embedding.remembering import Remembering

    own = {key: options.pop(key) for key in ("kept", "cache") if key in options}
    try:
        return Remembering(_make(name, options), **own)
    except TypeError as error:
        raise InputError(f"embedder {name}: {error}") from error


def is_static(name: str) -> bool:
    """Whether a name means static word vectors."""
    path = Path(name).expanduser()
    return path.suffix in STATIC_SUFFIXES or (path.is_dir() and any(path.glob(KUMO_INDEX)))


def _make(name: str, options: dict[str, Any]) -> Embedder:
    if is_static(name):
        from graphneg.embedding.static import StaticVectors

        return StaticVectors(name, **options)
    from graphneg.embedding.encoder import Encoder

    return Encoder(name, **options)
