"""An embedder that embeds no text twice while it remembers it, in memory and, where asked, in a file."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from graphneg.embedding.base import Embedder
from graphneg.errors import InputError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

KEPT = 50_000
_ASKED_AT_ONCE = 500


class Remembering:
    """Wraps an embedder. ``kept`` vectors stay in memory, the ones used last; ``cache`` is a file.

    Threads may share it; one embeds at a time.

    Raises:
        InputError: ``cache`` can't be opened.
    """

    def __init__(self, embedder: Embedder, kept: int = KEPT, cache: str | Path | None = None) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._kept = kept
        self._memory: OrderedDict[str, NDArray[float32]] = OrderedDict()
        self._file = _CacheFile(Path(cache), embedder.name) if cache is not None else None
        self._lock = Lock()

    @property
    def embedder(self) -> Embedder:
        """The embedder inside: static vectors, say, with their neighbours."""
        return self._embedder

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        import numpy

        with self._lock:
            if not texts:
                return self._embedder.embed(texts)
            found = self._known(dict.fromkeys(texts))
            missing = [text for text in dict.fromkeys(texts) if text not in found]
            if missing:
                new = dict(zip(missing, self._embedder.embed(missing), strict=True))
                if self._file is not None:
                    self._file.keep(new)
                found |= new
            self._keep(found)
        return numpy.stack([found[text] for text in texts])

    def _known(self, texts: Mapping[str, None]) -> dict[str, NDArray[float32]]:
        found = {text: self._memory[text] for text in texts if text in self._memory}
        if self._file is not None:
            found |= self._file.find([text for text in texts if text not in found])
        return found

    def _keep(self, vectors: Mapping[str, NDArray[float32]]) -> None:
        for text, vector in vectors.items():
            self._memory[text] = vector.copy() if vector.base is not None else vector
            self._memory.move_to_end(text)
        while len(self._memory) > self._kept:
            self._memory.popitem(last=False)


class _CacheFile:
    """Vectors in an SQLite file, by model and a digest of the text; several processes may share it."""

    def __init__(self, path: Path, model: str) -> None:
        self._model = model
        try:
            self._rows = sqlite3.connect(path.expanduser(), timeout=60, check_same_thread=False)
            with self._rows:
                self._rows.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(model TEXT, text BLOB, vector BLOB, PRIMARY KEY (model, text)) WITHOUT ROWID"
                )
        except sqlite3.Error as error:
            raise InputError(f"{path}: can't be used as a cache of vectors: {error}") from error

    def find(self, texts: Sequence[str]) -> dict[str, NDArray[float32]]:
        import numpy

        keys = {_digest(text): text for text in texts}
        asked = list(keys)
        found: dict[str, NDArray[float32]] = {}
        for at in range(0, len(asked), _ASKED_AT_ONCE):
            some = asked[at : at + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"
            for key, vector in self._rows.execute(query, [self._model, *some]):
                found[keys[key]] = numpy.frombuffer(vector, dtype=numpy.float32)
        return found

    def keep(self, vectors: Mapping[str, Any]) -> None:
        rows = [(self._model, _digest(text), vector.tobytes()) for text, vector in vectors.items()]
        with self._rows:
            self._rows.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
