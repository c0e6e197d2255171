"""Names of models that are the same on every machine, and differ where the weights do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

_PART = 1_000_000


def model_name(name: str, files: Iterable[Path]) -> str:
    """A name with a digest of its files' sizes, beginnings and ends: ``all-MiniLM-L6-v2@3f9a04c1``."""
    digest = hashlib.blake2b(digest_size=4)
    for file in sorted(files):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_PART))
            stream.seek(max(0, size - _PART))
            digest.update(stream.read(_PART))
    return f"{name}@{digest.hexdigest()}"
