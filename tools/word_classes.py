"""Divide words into coarse classes and into fine classes by their vectors.

``python -m tools.word_classes VECTORS.npy WORDS.txt -o classes.json.gz`` made the word classes in the learned
parts of the dependency parser from GloVe vectors (Pennington et al. 2014; public domain dedication and
license, PDDL 1.0).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (64, 400)
"""Numbers of coarse and fine classes."""
_WORD = re.compile(r"[a-z][a-z-]*\Z")
_CENTRES_FROM, _CHUNK, _ROUNDS = 15_000, 4_000, 12
"""Number of frequent words from which the first centres are drawn, rows per step, and number of rounds."""


def read_classes(path: Path) -> Mapping[str, tuple[int, int]]:
    """Read the classes of words.

    Args:
        path: The file that this module writes.

    Returns:
        Pairs of a coarse and a fine class, keyed by word.
    """
    stored: dict[str, list[int]] = json.loads(gzip.decompress(path.read_bytes()))
    return {word: (one[0], one[1]) for word, one in stored.items()}


def grouped(vectors: Any, count: int, seed: int) -> Any:
    """Group vectors by spherical k-means.

    Args:
        vectors: Array of shape (words, width), with rows of length 1, the most frequent words first.
        count: Number of groups.
        seed: Seed for the choice of the first centres, which are frequent words.

    Returns:
        Array of shape (words,) with the number of each row's group.
    """
    rng = np.random.default_rng(seed)
    centres = vectors[rng.choice(min(_CENTRES_FROM, len(vectors)), count, replace=False)].copy()
    groups = np.zeros(len(vectors), np.int64)
    for _ in range(_ROUNDS):
        for begin in range(0, len(vectors), _CHUNK):
            part = vectors[begin : begin + _CHUNK]
            groups[begin : begin + _CHUNK] = (part @ centres.T).argmax(1)
        for group in range(count):
            members = vectors[groups == group]
            # An empty group keeps its centre.
            if len(members):
                mean = members.mean(0)
                centres[group] = mean / np.linalg.norm(mean)
    return groups


def main() -> None:
    """Group the words of a file and write the classes."""
    parser = argparse.ArgumentParser(prog="python -m tools.word_classes", description=__doc__)
    parser.add_argument("vectors", type=Path, help="float array [words, width], most frequent words first")
    parser.add_argument("words", type=Path, help="file with the words, one per line")
    parser.add_argument("--most", type=int, default=40_000, help="maximum number of words to group")
    parser.add_argument("-o", "--out", type=Path, required=True)
    options = parser.parse_args()
    words = options.words.read_text(encoding="utf-8").split("\n")[: options.most]
    kept = [i for i, word in enumerate(words) if _WORD.match(word)]
    vectors = np.load(options.vectors, mmap_mode="r")[kept].astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    coarse, fine = (grouped(vectors, size, 0) for size in SIZES)
    data = {words[i]: [int(a), int(b)] for i, a, b in zip(kept, coarse, fine, strict=True)}
    options.out.write_bytes(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
