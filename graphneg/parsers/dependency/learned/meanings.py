"""What words can mean: fragments seen for a lemma in the training data, and PropBank's frames."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphneg.parsers.dependency.words import Word

_LETTERS = {"VERB": "v", "AUX": "v", "NOUN": "n", "PROPN": "n", "ADJ": "j", "ADV": "j"}
_CLASSES = {"VERB": "v", "AUX": "v", "NOUN": "n", "PROPN": "n"}


class Seen(NamedTuple):
    """How often a fragment came from a word, in each corpus."""

    fragment: str
    counts: tuple[int, int]


class Sense(NamedTuple):
    """A frame that a word goes by: as what part of speech, and the number of its examples."""

    frame: str
    letter: str
    examples: int


SentenceCounts = Mapping[str, Mapping[str, tuple[int, int]]]
"""What one sentence added to :attr:`Meanings.seen`: counts by word key and fragment."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """``seen`` by word key (:func:`word_key`), ``senses`` by lemma, ``roles`` by frame (``ARG0=PAG``).

    ``clusters`` has a coarse and a fine class of similar words for each word.
    """

    seen: Mapping[str, Sequence[Seen]]
    senses: Mapping[str, Sequence[Sense]]
    roles: Mapping[str, Sequence[str]]
    clusters: Mapping[str, tuple[int, int]]

    def write(self) -> bytes:
        """The meanings as gzipped JSON."""
        data = {"seen": self.seen, "senses": self.senses, "roles": self.roles, "clusters": self.clusters}
        return gzip.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 9, mtime=0)


def read_meanings(data: bytes) -> Meanings:
    """A meanings as :meth:`Meanings.write` writes it."""
    stored = json.loads(gzip.decompress(data))
    return Meanings(
        {
            key: [Seen(one[0], (one[1][0], one[1][1])) for one in found]
            for key, found in stored["seen"].items()
        },
        {key: [Sense(*one) for one in found] for key, found in stored["senses"].items()},
        stored["roles"],
        {word: (one[0], one[1]) for word, one in stored["clusters"].items()},
    )


def word_key(word: Word) -> str:
    """The lemma with its word class: verbs, nouns, and the rest are kept apart.

    Words of other classes share an entry, because taggers confuse them.
    """
    return f"{word.lemma}/{_CLASSES.get(word.pos, 'x')}"


def letter_of(word: Word) -> str:
    """PropBank's letter for the word's part of speech."""
    return _LETTERS.get(word.pos, "")


def sense_keys(words: Sequence[Word], word: Word) -> list[str]:
    """The lemma, and the lemma with each particle or preposition that depends on it."""
    return [word.lemma] + [
        f"{word.lemma}_{words[kid].lower}" for kid in word.kids if words[kid].dep in {"prt", "prep", "advmod"}
    ]
