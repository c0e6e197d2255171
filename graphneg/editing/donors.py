"""Graphs of other dialogues that a transform may copy from: a few for each dialogue, always the same ones.

A transform whose header says ``needs: donors`` finds them in ``$dialogues``. Neither the batch nor the
size of the corpus decides what it costs to choose them: texts are indexed by their digests, so an
interval of digests is a sample, and it is made narrower as the corpus grows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphneg.editing.originals import Selection, StoredDialogue, Turn, count_dialogues
from graphneg.hashing import number, shuffled
from graphneg.store import Store, cypher_text

OFFERED = 24
SAMPLE = 48
SAMPLES = 64
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Donor:
    dialogue: str
    amr: str


class Donors:
    """For each dialogue, up to ``OFFERED`` graphs of other dialogues of its corpus and split.

    They are drawn, by a hash of the dialogue's id, from one of ``SAMPLES`` samples of about
    ``SAMPLE`` utterances. A sample is read once.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._widths: dict[tuple[str, str], float] = {}
        self._samples: dict[tuple[str, str, int], tuple[_Donor, ...]] = {}

    def of(self, dialogue: StoredDialogue) -> list[str]:
        """Ids of graphs, in an order of the dialogue's own.

        Raises:
            StoreError: the store is gone.
        """
        group = (dialogue.corpus, dialogue.split)
        if group not in self._widths:
            self._widths[group] = share_of_digests(self._store, *group, SAMPLE)
        samples = min(SAMPLES, max(1, int(1 / self._widths[group])))
        place = number(0, "sample", dialogue.id) % samples
        if (*group, place) not in self._samples:
            self._samples[(*group, place)] = self._sample(*group, place / samples)
        others = [one.amr for one in self._samples[(*group, place)] if one.dialogue != dialogue.id]
        return shuffled(others, 0, "donors", dialogue.id)[:OFFERED]

    def _sample(self, corpus: str, split: str, low: float) -> tuple[_Donor, ...]:
        high = low + self._widths[(corpus, split)]
        rows = self._store.read(
            cypher_text("read/donors"), corpus=corpus, split=split, low=digest_at(low), high=digest_at(high)
        )
        rows.sort(key=lambda row: (row["key"], row["amr"]))
        return tuple(_Donor(row["dialogue"], row["amr"]) for row in rows)


def said_by(store: Store, amrs: Iterable[str]) -> dict[str, Turn]:
    """The utterances that these graphs belong to, by graph id.

    Raises:
        StoreError: the store is gone.
    """
    wanted = sorted(set(amrs))
    rows = store.read(cypher_text("read/said"), amrs=wanted) if wanted else []
    return {row["amr"]: Turn(row["turn"], row["speaker"], row["text"], row["amr"]) for row in rows}


def share_of_digests(store: Store, corpus: str, split: str, wanted: int) -> float:
    """The share of all digests that holds about ``wanted`` utterances of a corpus and split.

    Raises:
        StoreError: the store is gone.
    """
    everything = count_dialogues(store, Selection())
    own = count_dialogues(store, Selection((corpus,), (split,)))
    if not everything or not own:
        return 1.0
    utterances = store.read(cypher_text("read/size"))[0]["utterances"]
    return min(1.0, wanted * everything / max(1, utterances * own))


def digest_at(share: float) -> str:
    """Where a share of all digests ends: digests are hexadecimal, and all are below ``g``."""
    return f"{int(share * 16**_DIGITS):0{_DIGITS}x}" if share < 1 else "g"
