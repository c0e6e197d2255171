"""Derive random choices and fingerprints from hashes, so that they are the same on every machine.

A choice depends only on a seed and on names, not on the order of the calls or on the server:

>>> shuffled(["tea", "coffee", "milk"], 0, "drinks") == shuffled(["milk", "tea", "coffee"], 0, "drinks")
True
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from graphneg.errors import InputError
from graphneg.paths import expand_home

T = TypeVar("T")
_PART = 1_000_000
"""Number of bytes that `files_digest` reads at the beginning and at the end of a file."""


def number(seed: int, *names: str) -> int:
    """Hash a seed and names into a uniformly distributed 64-bit number.

    Args:
        seed: Any number. Different seeds give independent numbers for the same names.
        *names: Strings that, together with the seed, determine the number.

    Returns:
        The number, from 0 to 2**64 - 1.

    Example:
        >>> number(0, "a") == number(0, "a"), number(0, "a") == number(1, "a")
        (True, False)
    """
    # Separate the strings. Otherwise, ("a", "bc") and ("ab", "c") would give the same number.
    written = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big")


def shuffled(items: Iterable[T], seed: int, *names: str) -> list[T]:
    """Return items in a random order that depends only on the seed, the names and the items.

    Args:
        items: Items with distinct ``str`` values.
        seed: Seed for the random order.
        *names: Strings that, together with the seed, determine the order.

    Returns:
        The items in random order.
    """
    return sorted(items, key=lambda item: (number(seed, *names, str(item)), str(item)))


def fingerprint(facts: Any) -> str:
    """Return a hash of a value, such as the settings of a run.

    Args:
        facts: The value. Dicts are sorted by key, and values that JSON cannot represent are converted into
            strings by ``str``.

    Returns:
        32 hexadecimal digits.

    Example:
        >>> fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
        True
    """
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def files_digest(files: Iterable[Path]) -> str:
    """Hash large files quickly: only their names, sizes, beginnings and ends are hashed.

    Args:
        files: Paths of the files, in any order.

    Returns:
        8 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=4)
    for file in sorted(files):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_PART))
            stream.seek(max(0, size - _PART))
            digest.update(stream.read(_PART))
    return digest.hexdigest()


_SAMPLES, _SAMPLE = 64, 4096
"""Number and size in bytes of the pieces that `with_model_digests` reads from the middle of a large file."""
_WEIGHTS = frozenset((".bin", ".gguf", ".pt", ".safetensors"))
_CONFIGS = ("config.json", "config.cfg")
"""Files that every folder of a model contains: the first one for Hugging Face, the second one for spaCy."""
_OUTPUTS = frozenset(("checkpoints", "runs"))
"""Folders in the folder of a model that training writes and that loading a model does not read."""


def with_model_digests(facts: Any) -> Any:
    """Append a digest of the files to each path of a model in a value, such as the settings of a run.

    The path alone does not show whether another model has been saved to it. The digest covers the names,
    sizes and contents of the files, but not their modification times: a copy of a model on another machine
    has the same digest. Of a large file, only the beginning, the end and some pieces in between are read.

    Args:
        facts: The value, of dicts, lists, tuples, paths and JSON values. A text counts as the path of a model
            if it names a file of weights, or a folder with a file ``config.json`` (``config.cfg`` in a model
            of spaCy).

    Returns:
        The same value, in which the path of a model has the form ``PATH@DIGEST``.

    Example:
        >>> with_model_digests({"model": "no-such-folder", "seed": 0})
        {'model': 'no-such-folder', 'seed': 0}
    """
    if isinstance(facts, Mapping):
        return {name: with_model_digests(value) for name, value in cast("Mapping[Any, Any]", facts).items()}
    if isinstance(facts, list | tuple):
        return [with_model_digests(value) for value in cast("Sequence[Any]", facts)]
    if not isinstance(facts, str | Path) or not (files := _model_files(facts)):
        return facts
    digest = hashlib.blake2b(digest_size=16)
    for name, file in files:
        size = file.stat().st_size
        digest.update(f"{name}\0{size}\0".encode("utf-8", "surrogatepass"))
        with file.open("rb") as stream:
            digest.update(stream.read(_PART))
            for at in range(_SAMPLES if size > _PART else 0):
                stream.seek(_PART + (size - _PART) * at // _SAMPLES)
                digest.update(stream.read(_SAMPLE))
            stream.seek(max(0, size - _PART))
            digest.update(stream.read(_PART))
    return f"{facts}@{digest.hexdigest()}"


def _model_files(path: str | Path) -> list[tuple[str, Path]]:
    """Return the files of a model, each with its name inside the folder; empty if there is no model."""
    # A long text, such as a prompt, is not a path.
    if len(str(path)) > 4096:
        return []
    try:
        place = expand_home(path)
        if place.suffix in _WEIGHTS and place.is_file():
            return [(place.name, place)]
        if not any((place / name).is_file() for name in _CONFIGS):
            return []
        named = [(file.relative_to(place), file) for file in sorted(place.rglob("*")) if file.is_file()]
    # No file has this path if it contains a NUL character, or the name of an unknown user, as in
    # "~nobody-here/x".
    except (OSError, ValueError, InputError):
        return []
    return [
        (str(name), file)
        for name, file in named
        # Skip hidden files, such as the state of an unfinished download.
        if not any(part.startswith(".") or part in _OUTPUTS for part in name.parts)
    ]


class HashSample(Generic[T]):
    """A random sample of a stream, which does not depend on the order of the stream.

    Each item is passed to `offer` with a random number, and the items with the lowest numbers are kept. If
    several items have the same number, only the first of them is kept. If the number is a hash of a text, a
    text is therefore sampled at most once.

    Example:
        >>> sample = HashSample[str](2)
        >>> for draw, item in (9, "c"), (4, "a"), (1, "b"), (1, "other"):
        ...     sample.offer(draw, item)
        >>> sample.items()
        ['b', 'a']
    """

    def __init__(self, size: int) -> None:
        """Initialize an empty sample.

        Args:
            size: Maximum number of items in the sample.
        """
        self._size = size
        self._items: dict[int, T] = {}
        self._heap: list[int] = []

    def offer(self, draw: int, item: T) -> None:
        """Keep an item if its random number is one of the ``size`` lowest so far.

        Args:
            draw: Random number of the item, for example a hash of its text.
            item: The item to keep or ignore.
        """
        # Keep only the first of several items with the same number. If the numbers are hashes of texts, these
        # items have the same text.
        if draw in self._items:
            return
        self._items[draw] = item
        # The item with the largest random number must be removed first, but `heapq` pops the smallest entry.
        # The heap therefore contains negated numbers.
        heapq.heappush(self._heap, -draw)
        if len(self._heap) > self._size:
            del self._items[-heapq.heappop(self._heap)]

    def items(self) -> list[T]:
        """Return the sampled items, sorted by their random numbers. The first N are a sample of size N."""
        return [self._items[draw] for draw in sorted(self._items)]
