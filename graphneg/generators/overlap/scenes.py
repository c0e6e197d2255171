"""Decide whether a sentence comes from another scene than a context.

A sentence that shares words with a context may still be about the same thing, and then be a correct response.
`Scenes` reads what all dialogues of a store say. For a context it returns an `Elsewhere`, which rejects a
sentence if

- it comes from the same talk as the context, even if that talk was loaded twice,
- its dialogue mentions a rare word of the last turn, or is about the same,
- it shares a run of words with the context or a correct response,
- it is about the same even without the words in common, or
- it says too little besides the words in common.

A scene is a vector: the mean of the terms' word vectors, weighted by the rarity of the terms, minus the mean
of all scenes (Arora et al. 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", section 3).
Example::

    context    A: Did you sign the offer letter?
    same       They sent me the letter with the salary and the start date.
    elsewhere  The letter from my uncle came with a pressed flower.
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
"""Number of consecutive words in common with the context from which on a sentence is from the same scene."""
RARE = 0.01
"""Maximum share of dialogues that mention a rare term. A rare term identifies a scene."""
_LEAST_TOLD = 7.5
"""Minimum sum of term weights, besides the words in common, of a sentence that identifies a scene."""
_OF_ALL = 1.5
"""Limit of that minimum in a small store, in multiples of the weight of a term that no dialogue mentions."""
_LONG = 6
"""Minimum number of words of a sentence that can show that two dialogues are the same talk. Shorter ones
recur."""
_VERY_LONG = 14
"""Number of words from which on a single common sentence shows that two dialogues are the same talk."""
_TOGETHER = 2
"""Evidence needed to join two dialogues: two long sentences in common, or a very long one."""
_COMMON = 8
"""Maximum number of dialogues with a sentence that counts as evidence. More frequent sentences are set
phrases."""


class Scenes:
    """The scenes of a store's dialogues."""

    def __init__(self, store: Store, most_alike: float) -> None:
        """Initialize the scenes by reading what all dialogues say.

        Args:
            store: Store with the pool of sentences.
            most_alike: Cosine above which two scenes are the same.
        """
        rows = store.read(cypher_text("overlap/spoken"))
        self._most = most_alike
        self._said: dict[str, frozenset[str]] = {
            row["dialogue"]: frozenset(term for terms in row["terms"] for term in terms) for row in rows
        }
        # Each dialogue counts a term once (document frequency).
        self._often = Counter(term for said in self._said.values() for term in said)
        self._talks = _talks({row["dialogue"]: row["texts"] for row in rows})
        self._vectors = StaticVectors(BUNDLED)
        self._weighted: dict[str, NDArray[float32]] = {}
        self._scenes: dict[str, NDArray[float32]] = {}
        # The mean of all scenes weighs each term by the number of dialogues that mention it.
        self._centre = self._mean(self._often, self._often)

    def apart_from(self, dialogue: str, texts: Iterable[str], terms: ContextTerms) -> Elsewhere:
        """Return the condition that sentences come from another scene than a context.

        Args:
            dialogue: Id of the context's dialogue.
            texts: Texts of its turns and correct responses.
            terms: Its terms.

        Returns:
            The condition.
        """
        runs = frozenset(run for text in texts for run in _runs(text))
        # A dialogue that mentions "petition" is probably in the same scene as a last turn that does.
        rare = frozenset(term for term in terms.last if self.is_rare(term))
        return Elsewhere(self, self._talks.get(dialogue, dialogue), runs, rare, self.scene(terms.terms))

    def is_rare(self, term: str) -> bool:
        """Return whether few dialogues mention a term.

        Args:
            term: A term.

        Returns:
            Whether at most the share `RARE` of the dialogues mentions it.
        """
        return self._often[term] <= RARE * len(self._said)

    def talk(self, dialogue: str) -> str:
        """Return the talk that a dialogue belongs to.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            Id of the talk, the smallest id of its dialogues.
        """
        return self._talks.get(dialogue, dialogue)

    def says(self, dialogue: str) -> frozenset[str]:
        """Return the terms of a dialogue.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            Its terms; empty if the dialogue is unknown.
        """
        return self._said.get(dialogue, frozenset())

    def tells(self, terms: Iterable[str]) -> bool:
        """Return whether terms are informative enough to identify a scene.

        Args:
            terms: Terms.

        Returns:
            Whether their total weight is high enough.
        """
        # In a small store even unseen terms have low weights, so the requirement is lower.
        return sum(map(self._weight, terms)) >= min(_LEAST_TOLD, _OF_ALL * log(1 + len(self._said)))

    def is_alike(self, one: NDArray[float32], other: NDArray[float32]) -> bool:
        """Return whether two scenes count as the same.

        Args:
            one: A scene, shape (dimensions,).
            other: Another scene, shape (dimensions,).

        Returns:
            Whether their cosine is above the limit.
        """
        return float(one @ other) > self._most

    def of_dialogue(self, dialogue: str) -> NDArray[float32]:
        """Return the scene of a dialogue.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            A vector of length 1, or of zeros, shape (dimensions,).
        """
        if dialogue not in self._scenes:
            self._scenes[dialogue] = self.scene(self.says(dialogue))
        return self._scenes[dialogue]

    def scene(self, terms: Iterable[str]) -> NDArray[float32]:
        """Return the scene of terms.

        Args:
            terms: Terms.

        Returns:
            A vector of length 1, or of zeros, shape (dimensions,).
        """
        import numpy as np

        vector = self._mean(terms) - self._centre
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def _mean(self, terms: Iterable[str], counts: Mapping[str, int] | None = None) -> Any:
        """Return the weighted mean of terms' vectors, each counted ``counts`` times (once if None)."""
        import numpy as np

        total, weights = np.zeros(self._vectors.vectors.shape[1], dtype=np.float32), 0.0
        # Sums of floating-point numbers depend on their order, so terms are sorted.
        for term in sorted(terms):
            if term not in self._weighted:
                self._weighted[term] = self._weight(term) * self._vectors.embed([term])[0]
            times = 1 if counts is None else counts[term]
            total += times * self._weighted[term]
            weights += times * self._weight(term)
        return total / weights if weights else total

    def _weight(self, term: str) -> float:
        """Return the inverse document frequency of a term over dialogues."""
        return log((1 + len(self._said)) / (1 + self._often[term]))


class Elsewhere:
    """The condition that a sentence comes from another scene than one context."""

    def __init__(
        self, scenes: Scenes, talk: str, runs: frozenset[str], rare: frozenset[str], scene: NDArray[float32]
    ) -> None:
        """Initialize the condition.

        Args:
            scenes: Scenes of the store.
            talk: Talk of the context.
            runs: Runs of `SAME_RUN` words in the context and its correct responses.
            rare: Rare terms of the last turn.
            scene: Scene of the context.
        """
        self._scenes, self._talk, self._runs, self._rare, self._scene = scenes, talk, runs, rare, scene
        self._apart: dict[str, bool] = {}

    def holds(self, sentence: PoolSentence, shared: frozenset[str]) -> bool:
        """Return whether a sentence comes from another scene.

        Args:
            sentence: A sentence of the pool.
            shared: Terms that it shares with the context.

        Returns:
            Whether it meets the condition.
        """
        dialogue = sentence.dialogue
        # A dialogue is checked once for all its sentences.
        if dialogue and dialogue not in self._apart:
            self._apart[dialogue] = self._is_apart(dialogue)
        if dialogue and not self._apart[dialogue]:
            return False
        # A sentence that repeats five words of the context is probably about the same thing.
        if not self._runs.isdisjoint(_runs(sentence.text)):
            return False
        # The shared words make any retrieved sentence similar to the context, so only the others are
        # compared.
        rest = sentence.terms - shared
        return self._scenes.tells(rest) and not self._scenes.is_alike(self._scene, self._scenes.scene(rest))

    def _is_apart(self, dialogue: str) -> bool:
        """Return whether a dialogue is another talk about something else."""
        scenes = self._scenes
        if scenes.talk(dialogue) == self._talk or not self._rare.isdisjoint(scenes.says(dialogue)):
            return False
        return not scenes.is_alike(self._scene, scenes.of_dialogue(dialogue))


def _runs(text: str) -> Iterable[str]:
    """Return the runs of `SAME_RUN` words of a text."""
    words = words_key(text).split()
    return (" ".join(words[at : at + SAME_RUN]) for at in range(len(words) - SAME_RUN + 1))


def _talks(texts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the talk of each dialogue that shares its talk with another dialogue."""
    import networkx as nx

    saying: defaultdict[int, set[str]] = defaultdict(set)
    long: set[int] = set()
    for dialogue, said in texts.items():
        for text in said:
            amount = len(WORD.findall(text))
            if amount >= _LONG:
                # Hashes need less memory than texts. They are used within this process only.
                key = hash(words_key(text))
                saying[key].add(dialogue)
                if amount >= _VERY_LONG:
                    long.add(key)
    together: Counter[tuple[str, str]] = Counter()
    for key, dialogues in saying.items():
        # "Thank you very much for your help." occurs in many talks and joins none.
        if 1 < len(dialogues) <= _COMMON:
            for pair in combinations(sorted(dialogues), 2):
                together[pair] += _TOGETHER if key in long else 1
    parts: Any = nx.Graph(pair for pair, times in together.items() if times >= _TOGETHER)
    return {dialogue: min(talk) for talk in nx.connected_components(parts) for dialogue in talk}
