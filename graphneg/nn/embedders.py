"""Convert texts into vectors, and cache the vectors.

`get_embedder` returns an `Embedder` for a name. An embedder uses either static word vectors (see
`graphneg.nn.vectors`) or an encoder that sentence-transformers runs. Two embedders with the same ``name``
return the same vectors, on any machine.

Example:
    Embed two texts with the word vectors that come with graphneg::

        vectors = get_embedder("glove-50d").embed(["I like tea.", "I like coffee."])
        vectors.shape   # (2, 50)
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from inspect import signature
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from graphneg.errors import InputError, ModelError
from graphneg.hashing import files_digest
from graphneg.nn.models import INSTALL, locate, read_config, reading
from graphneg.paths import expand_home
from graphneg.private_files import create_private

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

STATIC_SUFFIXES = (".txt", ".vec", ".npz", ".gz")
"""Suffixes of files with static word vectors."""
WORD_INDEX = "*_index.parquet"
"""File name pattern of the list of words in a directory of static word vectors."""
BUNDLED = "glove-50d"
"""Name of the word vectors that come with graphneg."""
KEPT = 50_000
"""Default number of vectors that a `CachedEmbedder` keeps in memory."""
_CACHE_OPTIONS = ("kept", "cache")
"""The options of `get_embedder` that are passed to `CachedEmbedder`."""
_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
"""Suffixes of the class names of models that generate text. Such models are not accepted as encoders."""


class Embedder(Protocol):
    """The interface of embedders, which convert texts into vectors.

    Attributes:
        name: The name of the model, which is the same on every machine. Only vectors from embedders with the
            same name can be compared.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Return a vector for each text.

        Args:
            texts: The texts to embed.

        Returns:
            A float32 array of shape (texts, dimensions). Each row has length 1, except that the row of a text
            without known words is zero.
        """
        ...


def get_embedder(name: str | Path, **options: Any) -> Embedder:
    """Return an embedder for a path or a model id. The embedder caches its vectors.

    Raises `ModelError` if the model or a package is missing.

    Args:
        name: ``glove-50d`` for the word vectors that come with graphneg. For other static word vectors, a
            file that ends in .txt, .vec, .npz or .gz, or a directory with a word index. For an encoder that
            sentence-transformers can run, a directory without a word index or an id on the Hugging Face hub.
        **options: ``kept`` (maximum number of vectors in memory) and ``cache`` (path of a file that stores
            vectors for later runs). Encoders also have the options ``batch``, ``device``, ``threads`` and
            ``offline``; see `Encoder`.

    Returns:
        The embedder.

    Raises:
        InputError: This kind of embedder does not have one of the options.
    """
    factory: Callable[..., Embedder] = Encoder
    if is_static(name):
        from graphneg.nn.vectors import StaticVectors

        factory = StaticVectors
    # The constructors have no **kwargs, so an option that is not among their parameters is unknown.
    for option in options:
        if option not in signature(factory).parameters and option not in _CACHE_OPTIONS:
            raise InputError(f"embedder {name}: there is no option {option!r} for this kind of model")
    memory = {key: options.pop(key) for key in _CACHE_OPTIONS if key in options}
    return CachedEmbedder(factory(name, **options), **memory)


def is_static(name: str | Path) -> bool:
    """Return whether a name refers to static word vectors.

    Args:
        name: The name of an embedder, as in `get_embedder`.

    Returns:
        True for ``glove-50d``, and for the path of a file or directory that contains word vectors.
    """
    if name == BUNDLED:
        return True
    path = expand_home(name)
    return path.suffix in STATIC_SUFFIXES or (path.is_dir() and any(path.glob(WORD_INDEX)))


def model_name(name: str, files: Iterable[Path]) -> str:
    """Append a digest of a model's files to its name.

    Args:
        name: The name without a digest.
        files: The files of the model. The digest covers their sizes, beginnings and ends.

    Returns:
        A name such as ``all-MiniLM-L6-v2@3f9a04c1``.
    """
    return f"{name}@{files_digest(files)}"


class Encoder:
    """Embeds texts with a sentence-transformers model or another transformers encoder.

    A sentence-transformers model defines how token vectors are combined (pooling). With other encoders, the
    vector of a text is the mean of the token vectors in the last layer. Batches contain texts of similar
    length.

    Args:
        model: The path of the model's folder, or its id on the Hugging Face hub.
        batch: Number of texts in a batch.
        device: ``cpu``, ``cuda`` or ``mps``; None for the best device that is available.
        threads: Number of threads that torch may use in the whole process; None for torch's default.
        offline: Whether to use only local files, without network access.

    Raises:
        ModelError: sentence-transformers is not installed, there is no such model, or the model is not an
            encoder.
    """

    def __init__(
        self,
        model: str | Path,
        batch: int = 64,
        device: str | None = None,
        threads: int | None = None,
        offline: bool = False,
    ) -> None:
        if find_spec("sentence_transformers") is None:
            raise ModelError(f"encoders need sentence-transformers: {INSTALL}; static vectors do not")
        folder = locate(model, offline=offline)
        # A folder with modules.json contains a sentence-transformers model, which is always accepted. A model
        # without this file is refused if its configuration names a class that generates text.
        modules = folder / "modules.json"
        for kind in () if modules.is_file() else read_config(folder, "encoder").get("architectures") or ():
            if str(kind).endswith(_GENERATES):
                raise ModelError(f"{folder}: {kind} generates text; an embedder needs an encoder")
        from sentence_transformers import SentenceTransformer

        # sentence-transformers warns that it adds mean pooling to a plain encoder, which is intended here.
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        with reading(folder, "encoder"):
            self._model = SentenceTransformer(str(folder), device=device, local_files_only=True).eval()
        self._batch = batch
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        files = [*folder.glob("**/*.safetensors"), *folder.glob("**/pytorch_model*.bin")]
        self.name = model_name(Path(model).name, files)

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Return a vector for each text. See `Embedder.embed`.

        Args:
            texts: The texts to embed.

        Returns:
            A float32 array of shape (texts, dimensions) with rows of length 1.
        """
        return self._model.encode(
            list(texts),
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )


class CachedEmbedder:
    """Caches the vectors of another embedder, so that no text is embedded twice.

    Several threads may share an instance, but only one thread at a time can embed texts.

    Args:
        embedder: The embedder whose vectors are cached.
        kept: Maximum number of vectors in memory. The least recently used vectors are dropped first.
        cache: An SQLite file that stores vectors for later runs; None to cache in memory only.

    Attributes:
        name: The name of the wrapped embedder.
        embedder: The wrapped embedder.

    Raises:
        InputError: The cache file cannot be opened.
    """

    def __init__(self, embedder: Embedder, kept: int = KEPT, cache: str | Path | None = None) -> None:
        self.name = embedder.name
        self.embedder = embedder
        self._kept = kept
        self._memory: OrderedDict[str, NDArray[float32]] = OrderedDict()
        self._lock = Lock()
        self._connection = None
        if cache is None:
            return
        try:
            path = expand_home(cache)
            create_private(path)
            self._connection = sqlite3.connect(path, timeout=60, check_same_thread=False)
            # The model's name is a part of the key, so that several models can share the file.
            with self._connection:
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(model TEXT, text BLOB, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
                )
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{cache}: can't be used as a cache of vectors: {error}") from error

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Return a vector for each text. See `Embedder.embed`.

        Args:
            texts: The texts to embed.

        Returns:
            A float32 array of shape (texts, dimensions). Each row has length 1, except that the row of a text
            without known words is zero.
        """
        import numpy

        with self._lock:
            # If there are no texts, let the wrapped embedder return the empty array, because only it knows
            # the number of dimensions.
            if not texts:
                return self.embedder.embed(texts)
            unique = list(dict.fromkeys(texts))
            vectors = {text: self._memory[text] for text in unique if text in self._memory}
            if self._connection:  # The keys of the vectors in the file are digests of the texts.
                keys = {_digest(text): text for text in unique if text not in vectors}
                digests = iter(keys)
                # Look up digests in groups of 500, because SQLite limits the number of placeholders in a
                # query.
                while some := list(islice(digests, 500)):
                    marks = ",".join("?" * len(some))
                    query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
                    for key, vector in self._connection.execute(query, [self.name, *some]):
                        vectors[keys[key]] = numpy.frombuffer(vector, dtype=numpy.float32)
            if missing := [text for text in unique if text not in vectors]:
                vectors |= zip(missing, self.embedder.embed(missing), strict=True)
                if self._connection:
                    rows = [(self.name, _digest(text), vectors[text].tobytes()) for text in missing]
                    # OR IGNORE is necessary, because another process may have added the vector of the same
                    # text in the meantime.
                    with self._connection:
                        self._connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
            for text, vector in vectors.items():
                # A vector may be a view of the array that contains the vectors of a whole batch. Copy the
                # vector, because the view would keep the whole array in memory.
                self._memory[text] = vector.copy() if vector.base is not None else vector
                self._memory.move_to_end(text)
            while len(self._memory) > self._kept:
                self._memory.popitem(last=False)
        return numpy.stack([vectors[text] for text in texts])


def _digest(text: str) -> bytes:
    # A text may contain lone surrogates, which cannot be encoded without "surrogatepass".
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
