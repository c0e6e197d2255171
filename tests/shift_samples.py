"""Dialogues for tests of the shift graph. Their keywords are the words in capitals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from graphneg.model import Dialogue, Response, Utterance
from graphneg.shift.keywords import Keyword
from graphneg.store.connection import Store

Edges = dict[tuple[str, str], int]
KEYWORDS = tuple(f"{first}{second}" for first in "BCDF" for second in ("AR", "ELL", "ONE"))


class Capitals:
    """A keyword extractor that returns the words in capitals; longer words have higher scores.

    It raises an error after ``fails_after`` texts.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, name: str = "capitals", fails_after: int | None = None) -> None:
        self.name = name
        self.fails_after = fails_after
        self.read = 0

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        self.read += len(texts)
        if self.fails_after is not None and self.read > self.fails_after:
            raise RuntimeError("the extractor broke")
        return [_keywords(text) for text in texts]


class Letters:
    """An embedder that counts the letters of a text, so that words with common letters are similar."""

    def __init__(self, name: str = "letters") -> None:
        self.name = name

    def embed(self, texts: Sequence[str]) -> Any:
        found = numpy.zeros((len(texts), 26), dtype=numpy.float32)
        for row, text in zip(found, texts, strict=True):
            for letter in text.lower():
                if letter.isascii() and letter.isalpha():
                    row[ord(letter) - 97] += 1
        lengths = numpy.linalg.norm(found, axis=1, keepdims=True)
        return (found / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)


def dialogue(id: str, *turns: str, responses: Sequence[tuple[int, str, int]] = ()) -> Dialogue:
    """Return a dialogue.

    Args:
        id: The id, ``CORPUS/SPLIT/NAME``.
        *turns: The texts of the turns.
        responses: Triples of the number of the answered turn, the text and the label.
    """
    corpus, split, _ = id.split("/")
    said = tuple(Utterance(turn, "AB"[turn % 2], text) for turn, text in enumerate(turns))
    answers = tuple(Response(turn, text, label, "human") for turn, text, label in responses)
    return Dialogue(id, corpus, split, said, answers)


SAMPLES = (
    dialogue("one/train/0", "CAT and CARROT.", "A CART!", "My COCONUT.", responses=[(1, "CARROT", 1)]),
    dialogue("one/train/1", "A CAT?", "No CARTS here.", "Nothing.", "The CARROT.", "CART or CARROT."),
    dialogue("one/test/2", "The CAT!", "A CART.", responses=[(0, "A CART, yes", 1), (0, "A CARROT", 0)]),
    dialogue("two/train/0", "A DOG and a CART.", "The CAT."),
    dialogue("two/train/1", "LÄRM und ÖL.", "ÖL!"),
)  # fmt: skip


def many(amount: int, corpus: str = "many") -> Iterator[Dialogue]:
    """Yield dialogues that use the same few keywords again and again."""
    for number in range(amount):
        words = [KEYWORDS[(number * step + turn) % len(KEYWORDS)] for turn, step in enumerate((1, 3, 7, 2))]
        turns = [f"We have {word} and {KEYWORDS[number % 5]}." for word in words]
        yield dialogue(f"{corpus}/train/{number}", *turns, responses=[(1, f"{words[0]}, said {number}", 1)])


def edges(store: Store) -> Edges:
    """Return the counts that are stored in the shift graph."""
    rows = store.read(
        "MATCH (f:Term)-[s:SHIFTS_TO]->(p:Term) RETURN f.text AS focus, p.text AS end, s.count AS count"
    )
    return {(row["focus"], row["end"]): row["count"] for row in rows}


def replies(store: Store) -> Edges:
    """Count the shifts again, from the focus and the perspective of each reply."""
    found = Counter[tuple[str, str]]()
    for label in ("Utterance", "Response"):
        for row in store.read(
            f"MATCH (n:{label})-[:FOCUS]->(f:Term) MATCH (n)-[:PERSPECTIVE]->(p:Term) "
            "RETURN n.id AS id, f.text AS focus, p.text AS end"
        ):
            found[row["focus"], row["end"]] += 1
    return dict(found)


def mentions(store: Store) -> set[tuple[str, str, float]]:
    rows = store.read("MATCH (n)-[m:MENTIONS]->(t:Term) RETURN n.id AS id, t.text AS text, m.score AS score")
    found = [(row["id"], row["text"], row["score"]) for row in rows]
    assert len(found) == len(set(found))
    return set(found)


def _keywords(text: str) -> list[Keyword]:
    words = dict.fromkeys(word.strip(".,?!") for word in text.split())
    capitals = [word for word in words if word.isupper() and len(word) > 1]
    found = [Keyword(word.lower(), 1 - 1 / (1 + len(word)), (word,)) for word in capitals]
    return sorted(found, key=lambda one: (-one.score, one.text))
