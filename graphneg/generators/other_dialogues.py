"""Utterances of other dialogues, drawn from the store a sample at a time: memory does not grow with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphneg.editing.donors import digest_at, share_of_digests
from graphneg.generators.base import Context
from graphneg.hashing import number, shuffled
from graphneg.loading.rows import utterance_id
from graphneg.store import Store, cypher_text

SAMPLE = 64
SAMPLES = 256


@dataclass(frozen=True, slots=True)
class Stranger:
    """An utterance of another dialogue: its id (``dailydialog/test/12#3``) and what it says."""

    id: str
    dialogue: str
    text: str

    def __str__(self) -> str:
        return self.id


class OtherDialogues:
    """What other dialogues of the same corpus and split say.

    Texts are indexed by their digests, so an interval of digests is a sample. Each draw hashes to one of at
    most ``SAMPLES`` samples of about ``SAMPLE`` utterances, which is read once and kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shares: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], tuple[Stranger, ...]] = {}

    def of(self, context: Context, seed: int, *names: str) -> Iterator[Stranger]:
        """Utterances of one sample, none of the context's dialogue, in an order that seed and names decide.

        Raises:
            StoreError: the store is gone.
        """
        corpus, split = context.corpus, context.split
        share = self._share(corpus, split)
        samples = min(SAMPLES, max(1, int(1 / share)))
        place = number(seed, "sample", *names) % samples
        found = self._sample(corpus, split, place, samples, share)
        for one in shuffled(found, seed, "stranger", *names):
            if one.dialogue != context.dialogue:
                yield one

    def _share(self, corpus: str, split: str) -> float:
        if (corpus, split) not in self._shares:
            self._shares[corpus, split] = share_of_digests(self._store, corpus, split, SAMPLE)
        return self._shares[corpus, split]

    def _sample(
        self, corpus: str, split: str, place: int, samples: int, share: float
    ) -> tuple[Stranger, ...]:
        key = (corpus, split, place)
        if key not in self._samples:
            low = place / samples
            rows = self._store.read(
                cypher_text("read/utterances_between"),
                corpus=corpus,
                split=split,
                low=digest_at(low),
                high=digest_at(low + share),
            )
            self._samples[key] = tuple(
                Stranger(utterance_id(row["dialogue"], row["turn"]), row["dialogue"], row["text"])
                for row in rows
            )
        return self._samples[key]
