"""Word vectors made small: the commonest words, a byte a number.

``python -m tools.word_vectors SOURCE OUT.npz`` made the vectors that graphneg comes with
(``graphneg/data/vectors``) from GloVe's of 6 billion words and 50 dimensions (Pennington et al. 2014).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from graphneg.nn.vectors import StaticVectors

WORDS = 30_000
_STEPS = 127
_PLAIN = re.compile(r"[a-z]+")


def quantize(source: StaticVectors, out: Path, words: int = WORDS) -> int:
    """Write the first ``words`` words of letters alone as whole numbers of one byte; returns how many.

    One scale serves all numbers, so cosines stay but for rounding; the largest thousandth is cut off.
    """
    import numpy

    places = [at for at, word in enumerate(source.words) if _PLAIN.fullmatch(word)][:words]
    vectors = numpy.asarray(source.vectors[places], dtype=numpy.float32)
    scale = _STEPS / numpy.quantile(numpy.abs(vectors), 0.999)
    small = numpy.clip(numpy.rint(vectors * scale), -_STEPS, _STEPS).astype(numpy.int8)
    numpy.savez_compressed(out, words=numpy.array([source.words[at] for at in places]), vectors=small)
    return len(places)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.word_vectors", description=__doc__)
    parser.add_argument("source", type=Path, help="word vectors by frequency: a file or folder")
    parser.add_argument("out", type=Path, help="the .npz file to write")
    parser.add_argument("--words", type=int, default=WORDS, help="how many words to keep")
    asked = parser.parse_args()
    kept = quantize(StaticVectors(asked.source), asked.out, asked.words)
    print(f"{asked.out}: {kept:,} words")


if __name__ == "__main__":
    main()
