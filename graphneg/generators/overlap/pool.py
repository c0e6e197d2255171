"""The pool as the generator sees it: terms with their frequencies, and samples of sentences, read as needed.

What is sampled for a term depends on the seed and the store alone: a window of the sentences' ranks, wide
enough for ``sample`` of them. Samples are kept while there is room.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, NamedTuple

from graphneg.content_words import WORD
from graphneg.errors import GeneratorError
from graphneg.generators.overlap.conditions import Conditions
from graphneg.hashing import number
from graphneg.loading.sentences import FIRST, RANKS
from graphneg.store import Store, cypher_text

KEPT_SENTENCES = 200_000
SLICE = 300
MOST_SLICES = 64
SPOKEN_ENOUGH = 5_000
"""From so many sentences said in dialogues on, they alone tell what is everyday."""


class PoolSentence(NamedTuple):
    """A sentence that can be a response. ``key`` is its words in lower case."""

    rank: int
    id: str
    text: str
    key: str
    terms: frozenset[str]
    question: bool
    first_person: bool
    dialogue: str


@dataclass(frozen=True, slots=True)
class Size:
    """How many sentences the pool has, how many are said in dialogues, how many can be responses."""

    sentences: int
    spoken: int
    fit: int


class Pool:
    """The pool of a store under conditions, for one seed.

    Raises:
        GeneratorError: no sentence of the pool can be a response, or a source is not in it.
    """

    def __init__(self, store: Store, conditions: Conditions, seed: int) -> None:
        self._store = store
        self._conditions = conditions
        self._seed = seed
        self._sources, self.size = _sources(store, conditions)
        self._frequencies = self._read_frequencies()
        self._kept: OrderedDict[str, tuple[PoolSentence, ...]] = OrderedDict()
        self._amount = 0
        self._slices = max(1, min(MOST_SLICES, self.size.fit // SLICE))

    def frequency(self, term: str) -> int:
        """How many sentences mention the term; 0 where it is not everyday."""
        return self._frequencies.get(term, 0)

    def slice_of(self, name: str) -> str:
        """The slice of the pool that belongs to a name, to be asked of `sentences`."""
        return f"/{number(self._seed, 'slice', name) % self._slices}"

    def prepare(self, names: Iterable[str]) -> None:
        """Read what `sentences` will be asked for: terms, and slices (``/3``)."""
        missing = sorted({name for name in names if name not in self._kept})
        terms = [name for name in missing if not name.startswith("/")]
        if terms:
            found = {row["term"]: row["sentences"] for row in self._read("overlap/sharing", terms)}
            for term in terms:
                self._keep(term, found.get(term, ()))
        for name in missing:
            if name.startswith("/"):
                self._keep(name, self._read_slice(int(name[1:])))

    def sentences(self, name: str) -> tuple[PoolSentence, ...]:
        """The sample of a term or slice that was prepared, by rank."""
        self._kept.move_to_end(name)
        return self._kept[name]

    def forget_oldest(self) -> None:
        """Let go of the samples used longest ago, where there are too many."""
        while self._amount > KEPT_SENTENCES:
            self._amount -= len(self._kept.popitem(last=False)[1])

    def _keep(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        read = (_pool_sentence(row) for row in rows)
        kept = tuple(sorted(one for one in read if all(map(self._frequencies.__contains__, one.terms))))
        self._kept[name] = kept
        self._amount += len(kept)

    def _read(self, statement: str, terms: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        windows = [self._window(term) for term in terms]
        return self._store.read(
            cypher_text(statement), terms=windows, sources=self._sources, **self._conditions.parameters()
        )

    def _read_slice(self, place: int) -> Sequence[Sequence[Any]]:
        width = RANKS // self._slices
        last = RANKS if place == self._slices - 1 else (place + 1) * width - 1
        rows = self._store.read(
            cypher_text("overlap/slice"),
            first=place * width,
            last=last,
            sources=self._sources,
            **self._conditions.parameters(),
        )
        return rows[0]["sentences"] if rows else ()

    def _window(self, term: str) -> dict[str, Any]:
        """The ranks of a term's sample: a part of all, around the end where it goes over it."""
        fitting = self._frequencies.get(term, 1) * self.size.fit / self.size.sentences
        width = min(RANKS, int(RANKS * self._conditions.sample / max(fitting, 1)))
        first = number(self._seed, "window", term) % RANKS
        last = first + width
        return {"text": term, "first": first, "last": last, "again": max(0, last - RANKS)}

    def _read_frequencies(self) -> dict[str, int]:
        """The everyday terms, with how many sentences mention them."""
        share, size = self._conditions.everyday or 0.0, self.size
        spoken = size.spoken >= SPOKEN_ENOUGH
        least = share * (size.spoken if spoken else size.sentences)
        rows = self._store.read(cypher_text("overlap/vocabulary"), least=max(1, int(least)))
        return {
            intern(row["text"]): row["sentences"]
            for row in rows
            if (row["spoken"] if spoken else row["sentences"]) >= least
        }


def words_key(text: str) -> str:
    """A text's words in lower case: what two texts have in common that say the same.

    >>> words_key("It's  late - isn't it?")
    "it's late isn't it"
    """
    return " ".join(WORD.findall(text.lower().replace("’", "'")))


def _sources(store: Store, conditions: Conditions) -> tuple[list[str], Size]:
    """The sources that the conditions name (none where they name none), and how large they are together."""
    rows = store.read(cypher_text("overlap/size"), **conditions.parameters())
    chosen = [row for row in rows if not conditions.sources or _is_named(row["source"], conditions.sources)]
    size = Size(*(sum(row[name] for row in chosen) for name in ("sentences", "spoken", "fit")))
    known = ", ".join(row["source"] for row in rows)
    for name in conditions.sources:
        if not any(_is_named(row["source"], (name,)) for row in rows):
            raise GeneratorError(f"overlap: no sentence in the store is from {name!r}; there are: {known}")
    if not size.fit:
        raise GeneratorError(
            f"overlap: of {size.sentences:,} sentences in the pool none can be a response; load more: "
            "dialogues, or graphneg load wordnet, propbank_examples, text"
        )
    return [row["source"] for row in chosen] if conditions.sources else [], size


def _is_named(source: str, names: Sequence[str]) -> bool:
    return any(source == name or source.startswith(f"{name}/") for name in names)


def _pool_sentence(row: Sequence[Any]) -> PoolSentence:
    id, text, terms, mood, person, dialogue, rank = row
    return PoolSentence(
        rank,
        id,
        text,
        words_key(text),
        frozenset(map(intern, terms)),
        mood == "question",
        person == FIRST,
        dialogue,
    )
