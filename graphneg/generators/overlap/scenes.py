"""Which scene something is set in: whole dialogues are compared, and not what is said once.

What the store's dialogues say goes in, read once. Asked about a context, `Scenes` tells which sentences of
the pool are set elsewhere (`Elsewhere`): none of a talk that the context is a part of, wherever it was loaded
from, none of a dialogue that is about the same, and none that is about it once the words in common are left
out.

A scene is the mean of its terms' vectors, rare terms weighing more, from the mean of all scenes (Arora et al.
2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", section 3).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import log
from typing import TYPE_CHECKING, Any

from graphneg.english.tokens import WORD
from graphneg.generators.overlap.target_profile import ContextTerms, PoolSentence, words_key
from graphneg.nn.embedders import BUNDLED
from graphneg.nn.vectors import StaticVectors
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

SAME_RUN = 5
"""So many words in a row that a context says, too, are no other scene."""
RARE = 0.01
"""A term that at most this share of dialogues says tells their scene."""
_LEAST_TOLD = 7.5
_OF_ALL = 1.5
"""What a sentence tells beside the words in common, as the sum of its terms' weights: less would be said in
any scene. In a small store it is so many times the weight of a term that nobody says."""
_LONG = 6
"""Shorter sentences are said in many talks."""
_VERY_LONG = 14
"""One sentence of so many words is said in one talk."""
_TOGETHER = 2
_COMMON = 8
"""What more dialogues say does not join them."""


class Scenes:
    """What the dialogues of a store are about.

    Raises `StoreError`: the store is gone.
    """

    def __init__(self, store: Store, most_alike: float) -> None:
        rows = store.read(cypher_text("overlap/spoken"))
        self._most = most_alike
        self._said: dict[str, frozenset[str]] = {
            row["dialogue"]: frozenset(term for terms in row["terms"] for term in terms) for row in rows
        }
        self._often = Counter(term for said in self._said.values() for term in said)
        self._talks = _talks({row["dialogue"]: row["texts"] for row in rows})
        self._vectors = StaticVectors(BUNDLED)
        self._weighted: dict[str, NDArray[float32]] = {}
        self._scenes: dict[str, NDArray[float32]] = {}
        self._centre = self._mean(self._often, self._often)

    def apart_from(self, dialogue: str, texts: Iterable[str], terms: ContextTerms) -> Elsewhere:
        """What is set elsewhere than a context: the id of its dialogue, what it says, its terms."""
        runs = frozenset(run for text in texts for run in _runs(text))
        rare = frozenset(term for term in terms.last if self.is_rare(term))
        return Elsewhere(self, self._talks.get(dialogue, dialogue), runs, rare, self.scene(terms.terms))

    def is_rare(self, term: str) -> bool:
        """Whether few dialogues say a term."""
        return self._often[term] <= RARE * len(self._said)

    def talk(self, dialogue: str) -> str:
        """A name for the talk that a dialogue is a part of."""
        return self._talks.get(dialogue, dialogue)

    def says(self, dialogue: str) -> frozenset[str]:
        """The terms of a dialogue."""
        return self._said.get(dialogue, frozenset())

    def tells(self, terms: Iterable[str]) -> bool:
        """Whether terms say enough to set a scene."""
        return sum(map(self._weight, terms)) >= min(_LEAST_TOLD, _OF_ALL * log(1 + len(self._said)))

    def is_alike(self, one: NDArray[float32], other: NDArray[float32]) -> bool:
        """Whether two scenes are the same, for here."""
        return float(one @ other) > self._most

    def of_dialogue(self, dialogue: str) -> NDArray[float32]:
        """The scene of a dialogue, shape (dimensions)."""
        if dialogue not in self._scenes:
            self._scenes[dialogue] = self.scene(self.says(dialogue))
        return self._scenes[dialogue]

    def scene(self, terms: Iterable[str]) -> NDArray[float32]:
        """The scene of terms, of length 1, or zero; shape (dimensions)."""
        import numpy as np

        vector = self._mean(terms) - self._centre
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def _mean(self, terms: Iterable[str], counts: Mapping[str, int] | None = None) -> Any:
        """The weighted mean of terms' vectors; of each as often as it is counted."""
        import numpy as np

        total, weights = np.zeros(self._vectors.vectors.shape[1], dtype=np.float32), 0.0
        for term in sorted(terms):
            if term not in self._weighted:
                self._weighted[term] = self._weight(term) * self._vectors.embed([term])[0]
            times = 1 if counts is None else counts[term]
            total += times * self._weighted[term]
            weights += times * self._weight(term)
        return total / weights if weights else total

    def _weight(self, term: str) -> float:
        return log((1 + len(self._said)) / (1 + self._often[term]))


class Elsewhere:
    """Tells of the pool's sentences whether they are set elsewhere than one context, and set anywhere."""

    def __init__(
        self, scenes: Scenes, talk: str, runs: frozenset[str], rare: frozenset[str], scene: NDArray[float32]
    ) -> None:
        self._scenes, self._talk, self._runs, self._rare, self._scene = scenes, talk, runs, rare, scene
        self._apart: dict[str, bool] = {}

    def holds(self, sentence: PoolSentence, shared: frozenset[str]) -> bool:
        """Whether a sentence, which shares some terms with the context, is set elsewhere."""
        dialogue = sentence.dialogue
        if dialogue and dialogue not in self._apart:
            self._apart[dialogue] = self._is_apart(dialogue)
        if dialogue and not self._apart[dialogue]:
            return False
        if not self._runs.isdisjoint(_runs(sentence.text)):
            return False
        rest = sentence.terms - shared
        return self._scenes.tells(rest) and not self._scenes.is_alike(self._scene, self._scenes.scene(rest))

    def _is_apart(self, dialogue: str) -> bool:
        scenes = self._scenes
        if scenes.talk(dialogue) == self._talk or not self._rare.isdisjoint(scenes.says(dialogue)):
            return False
        return not scenes.is_alike(self._scene, scenes.of_dialogue(dialogue))


def _runs(text: str) -> Iterable[str]:
    """Each run of `SAME_RUN` words."""
    words = words_key(text).split()
    return (" ".join(words[at : at + SAME_RUN]) for at in range(len(words) - SAME_RUN + 1))


def _talks(texts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """By dialogue the name of the talk that it is a part of, where there is another part: they say two long
    sentences alike, or a very long one."""
    import networkx as nx

    saying: defaultdict[int, set[str]] = defaultdict(set)
    long: set[int] = set()
    for dialogue, said in texts.items():
        for text in said:
            amount = len(WORD.findall(text))
            if amount >= _LONG:
                key = hash(words_key(text))
                saying[key].add(dialogue)
                if amount >= _VERY_LONG:
                    long.add(key)
    together: Counter[tuple[str, str]] = Counter()
    for key, dialogues in saying.items():
        if 1 < len(dialogues) <= _COMMON:
            for pair in combinations(sorted(dialogues), 2):
                together[pair] += _TOGETHER if key in long else 1
    parts: Any = nx.Graph(pair for pair, times in together.items() if times >= _TOGETHER)
    return {dialogue: min(talk) for talk in nx.connected_components(parts) for dialogue in talk}
