"""Embedders: a name in, something out that turns texts into vectors, and keeps those that it has made.

Static word vectors (`graphneg.nn.vectors`) and encoders that sentence-transformers runs; models of one name
give the same vectors on every machine.
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
from graphneg.private_files import create_private

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

STATIC_SUFFIXES = (".txt", ".vec", ".npz", ".gz")
WORD_INDEX = "*_index.parquet"
BUNDLED = "glove-50d"
"""The word vectors that graphneg comes with."""
KEPT = 50_000
_CACHE_OPTIONS = ("kept", "cache")
_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` says which model it is, the same on every machine: vectors of one name are comparable.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Vectors of shape (texts, dimensions), each of length 1; a text without known words is zero."""
        ...


def get_embedder(name: str | Path, **options: Any) -> Embedder:
    """The embedder of a path or an id; it keeps the vectors of texts that it has seen.

    ``glove-50d`` names the small word vectors that graphneg comes with. A file that ends .txt, .vec, .npz
    or .gz, and a directory with a word index, hold static word vectors (``graphneg.nn.vectors``); any
    other directory, and what is no path, is a sentence-transformers or Hugging Face encoder
    (``graphneg.nn.embedders``). Options of both: ``kept`` (how many texts stay in memory) and
    ``cache`` (a file that keeps them for the next time). Options of encoders: ``batch``, ``device``,
    ``threads``, ``offline``.

    Raises:
        ModelError: there is no such model, it is another kind of model, or a package is not installed.
        InputError: an option is unknown.
    """
    factory: Callable[..., Embedder] = Encoder
    if is_static(name):
        from graphneg.nn.vectors import StaticVectors

        factory = StaticVectors
    for option in options:
        if option not in signature(factory).parameters and option not in _CACHE_OPTIONS:
            raise InputError(f"embedder {name}: there is no option {option!r} for this kind of model")
    memory = {key: options.pop(key) for key in _CACHE_OPTIONS if key in options}
    return CachedEmbedder(factory(name, **options), **memory)


def is_static(name: str | Path) -> bool:
    """Whether a name means static word vectors."""
    if name == BUNDLED:
        return True
    path = Path(name).expanduser()
    return path.suffix in STATIC_SUFFIXES or (path.is_dir() and any(path.glob(WORD_INDEX)))


def model_name(name: str, files: Iterable[Path]) -> str:
    """A name with a digest of its files' sizes, beginnings and ends: ``all-MiniLM-L6-v2@3f9a04c1``."""
    return f"{name}@{files_digest(files)}"


class Encoder:
    """An encoder by path or hub id; texts become the mean of their tokens' last states.

    A sentence-transformers model pools as it was trained to. Batches hold texts of like length.
    ``device`` is ``cpu``, ``cuda`` or ``mps``, the best there is where it is not given; ``threads``
    bounds torch's threads in the whole process; ``offline`` fetches nothing.

    Raises `ModelError`: sentence-transformers is not installed, there is no such model, or it is of another
    kind.
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
        modules = folder / "modules.json"
        for kind in () if modules.is_file() else read_config(folder, "encoder").get("architectures") or ():
            if str(kind).endswith(_GENERATES):
                raise ModelError(f"{folder}: {kind} generates text; an embedder needs an encoder")
        from sentence_transformers import SentenceTransformer

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
        """See `Embedder.embed`."""
        return self._model.encode(
            list(texts),
            batch_size=self._batch,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )


class CachedEmbedder:
    """An embedder that embeds no text twice: ``kept`` vectors stay in memory, the ones used last.

    ``cache`` is a file that keeps them for the next time. ``embedder`` is the one inside: static vectors,
    say. Threads may share it; one embeds at a time.

    Raises `InputError`: ``cache`` can't be opened.
    """

    def __init__(self, embedder: Embedder, kept: int = KEPT, cache: str | Path | None = None) -> None:
        self.name = embedder.name
        self.embedder = embedder
        self._kept = kept
        self._memory: OrderedDict[str, NDArray[float32]] = OrderedDict()
        self._lock = Lock()
        self._file = None
        if cache is None:
            return
        try:
            path = Path(cache).expanduser()
            create_private(path)
            self._file = sqlite3.connect(path, timeout=60, check_same_thread=False)
            with self._file:
                self._file.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(model TEXT, text BLOB, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
                )
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{cache}: can't be used as a cache of vectors: {error}") from error

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """See `Embedder.embed`."""
        import numpy

        with self._lock:
            if not texts:
                return self.embedder.embed(texts)
            unique = list(dict.fromkeys(texts))
            vectors = {text: self._memory[text] for text in unique if text in self._memory}
            if self._file:  # which knows a text by its digest
                keys = {_digest(text): text for text in unique if text not in vectors}
                digests = iter(keys)
                while some := list(islice(digests, 500)):
                    marks = ",".join("?" * len(some))
                    query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
                    for key, vector in self._file.execute(query, [self.name, *some]):
                        vectors[keys[key]] = numpy.frombuffer(vector, dtype=numpy.float32)
            if missing := [text for text in unique if text not in vectors]:
                vectors |= zip(missing, self.embedder.embed(missing), strict=True)
                if self._file:
                    rows = [(self.name, _digest(text), vectors[text].tobytes()) for text in missing]
                    with self._file:  # several processes may share it
                        self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
            for text, vector in vectors.items():
                self._memory[text] = vector.copy() if vector.base is not None else vector
                self._memory.move_to_end(text)
            while len(self._memory) > self._kept:
                self._memory.popitem(last=False)
        return numpy.stack([vectors[text] for text in texts])


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
