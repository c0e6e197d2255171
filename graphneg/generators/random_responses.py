"""``random``: right responses of other contexts, drawn by chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from graphneg.generators.bank import MOST, Bank, Entry, Fitting, candidate_of
from graphneg.generators.base import Candidate, Context
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.progress import Progress
from graphneg.store import Store


class RandomGenerator:
    """Right responses of other contexts of the store, each as likely as the others.

    What rankers learn from where nobody looks for harder negatives, and a baseline of Gupta et al. (2021,
    "Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation"). ``most``
    bounds how many responses are drawn from, ``corpora`` says whose.
    """

    name = "random"

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        self._store = store
        self._most = most
        self._corpora = tuple(corpora)
        self._bank: Bank | None = None

    def settings(self) -> Mapping[str, object]:
        return {"most": self._most, "corpora": list(self._corpora)}

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        self._bank = Bank(self._store, self._most, self._corpora)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """So many responses of each context; fewer where the store has no more.

        Raises:
            GeneratorError: the store has no right response.
        """
        bank = self._bank = self._bank or Bank(self._store, self._most, self._corpora)
        return [_drawn(bank, context, per_context, seed) for context in contexts]


def _drawn(bank: Bank, context: Context, amount: int, seed: int) -> list[Candidate]:
    fitting = Fitting(context)
    found: list[Entry] = []
    for slot in range(amount):
        place = number(seed, "random", context.id, str(slot))
        found += islice(filter(fitting.may_give, bank.around(place)), 1)
    return [candidate_of(entry) for entry in found]
