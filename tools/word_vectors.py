"""Reduce word vectors: keep the most frequent words, and store each number in one byte.

``python -m tools.word_vectors SOURCE OUT.npz`` made the vectors that ship with graphneg
(``graphneg/data/vectors``) from GloVe with 6 billion tokens and 50 dimensions (Pennington et al. 2014).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from graphneg.nn.vectors import StaticVectors

WORDS = 30_000
"""Number of words to keep."""
_STEPS = 127
"""Largest absolute value of a stored number."""
_PLAIN = re.compile(r"[a-z]+")


def quantize(source: StaticVectors, out: Path, words: int = WORDS) -> int:
    """Write the most frequent words that consist of letters, with vectors of one byte per number.

    Args:
        source: The word vectors, the most frequent words first.
        out: The file to write.
        words: Maximum number of words.

    Returns:
        The number of words.
    """
    import numpy

    places = [at for at, word in enumerate(source.words) if _PLAIN.fullmatch(word)][:words]
    vectors = numpy.asarray(source.vectors[places], dtype=numpy.float32)
    # One scale for all numbers preserves the cosines, except for rounding. The largest thousandth is clipped,
    # because a few outliers would make all other numbers less precise.
    scale = _STEPS / numpy.quantile(numpy.abs(vectors), 0.999)
    small = numpy.clip(numpy.rint(vectors * scale), -_STEPS, _STEPS).astype(numpy.int8)
    numpy.savez_compressed(out, words=numpy.array([source.words[at] for at in places]), vectors=small)
    return len(places)


def main() -> None:
    """Reduce the vectors that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tools.word_vectors", description=__doc__)
    parser.add_argument(
        "source", type=Path, help="file or folder with word vectors, sorted by falling frequency"
    )
    parser.add_argument("out", type=Path, help="the .npz file to write")
    parser.add_argument("--words", type=int, default=WORDS, help="number of words to keep")
    asked = parser.parse_args()
    kept = quantize(StaticVectors(asked.source), asked.out, asked.words)
    print(f"{asked.out}: {kept:,} words")


if __name__ == "__main__":
    main()
