"""Decide whether a sentence is about a different situation (scene) than a context.

A sentence that shares words with a context may be about the same situation, and may then be a correct
response. `Scenes` reads the content words of all dialogues in a store. For each context, it returns a filter
(`TopicFilter`), which rejects a sentence if

- the sentence comes from the same conversation as the context, even if that conversation was loaded twice,
- the sentence's dialogue mentions a rare word of the context's last turn, or is about the scene of the
  context,
- the sentence has several consecutive words in common with the context or a correct response,
- the other words of the sentence, which it does not share with the context, describe the same scene, or
- the sentence has too little content apart from the words that it shares with the context.

A scene is represented by a vector: the mean of the word vectors of the scene's terms, weighted by the rarity
of the terms, minus the mean over all dialogues (Arora et al. 2017, "A Simple but Tough-to-Beat Baseline for
Sentence Embeddings", section 3). In this example, the first sentence is rejected and the second is accepted::

    context    A: Did you sign the offer letter?
    rejected   They sent me the letter with the salary and the start date.
    accepted   The letter from my uncle came with a pressed flower.
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
"""Number of consecutive words that a sentence must not have in common with the context."""
RARE = 0.01
"""Maximum fraction of the dialogues that mention a rare term. Two dialogues with the same rare term are
probably about the same scene."""
_MIN_NEW_WEIGHT = 7.5
"""Minimum sum of the weights of those terms of a sentence that the context does not contain. The weight of a
term is its inverse document frequency."""
_UNSEEN_TERM_FACTOR = 1.5
"""In a small store, the minimum sum is this factor times the weight of a term that no dialogue contains, if
the product is below `_MIN_NEW_WEIGHT`."""
_LONG = 6
"""Minimum number of words in a long sentence. If two dialogues contain the same long sentence, they may be
copies of one conversation. Shorter sentences occur in many conversations."""
_VERY_LONG = 14
"""Minimum number of words in a very long sentence. If two dialogues contain the same very long sentence, they
count as copies of one conversation."""
_MIN_POINTS = 2
"""Minimum number of points with which two dialogues count as copies of one conversation. A long sentence that
occurs in both dialogues gives one point, a very long sentence two points."""
_MAX_DIALOGUES = 8
"""A sentence that occurs in more than this number of dialogues is a set phrase. It does not show that
dialogues are copies of one conversation."""


class Scenes:
    """Represents the scene (the subject) of each dialogue in a store by a vector, and compares scenes."""

    def __init__(self, store: Store, max_scene_cosine: float) -> None:
        """Read the content words of all dialogues, and compute the document frequencies of the words.

        Args:
            store: Store that contains the sentence pool.
            max_scene_cosine: If the vectors of two dialogues have a higher cosine, their scenes (subjects)
                count as the same.
        """
        rows = store.read(cypher_text("overlap/spoken"))
        self._most = max_scene_cosine
        self._said: dict[str, frozenset[str]] = {
            row["dialogue"]: frozenset(term for terms in row["terms"] for term in terms) for row in rows
        }
        # Count each term once per dialogue, even if the dialogue repeats it (document frequency).
        self._often = Counter(term for said in self._said.values() for term in said)
        self._talks = _talks({row["dialogue"]: row["texts"] for row in rows})
        self._vectors = StaticVectors(BUNDLED)
        self._weighted: dict[str, NDArray[float32]] = {}
        self._scenes: dict[str, NDArray[float32]] = {}
        # Compute the mean vector of all terms of all dialogues. Each term is read once, and its weight is
        # multiplied by the number of dialogues that contain it.
        self._centre = self._mean(self._often, self._often)

    def other_scene_filter(self, dialogue: str, texts: Iterable[str], terms: ContextTerms) -> TopicFilter:
        """Return a filter that rejects sentences about the same scene as a context.

        Args:
            dialogue: Id of the dialogue to which the context belongs.
            texts: Texts of the context's turns and correct responses.
            terms: Content words of the context.

        Returns:
            The filter for sentences.
        """
        runs = frozenset(run for text in texts for run in _word_sequences(text))
        # Other dialogues that mention a rare word of the last turn are probably about the same scene, so the
        # filter rejects their sentences.
        rare = frozenset(term for term in terms.last if self.is_rare(term))
        return TopicFilter(self, self._talks.get(dialogue, dialogue), runs, rare, self.scene(terms.terms))

    def is_rare(self, term: str) -> bool:
        """Return whether few dialogues mention a term.

        Args:
            term: Lemma of a content word.

        Returns:
            True if at most the fraction `RARE` of the dialogues mentions the term.
        """
        return self._often[term] <= RARE * len(self._said)

    def conversation_id(self, dialogue: str) -> str:
        """Return an id for the conversation of a dialogue, which is the same for all copies of the dialogue.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            The alphabetically first id of the copies; the id of the dialogue itself if it has no copies.
        """
        return self._talks.get(dialogue, dialogue)

    def terms_of_dialogue(self, dialogue: str) -> frozenset[str]:
        """Return the terms that a dialogue mentions.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            Lemmas of the dialogue's content words; empty if the pool has no sentences from the dialogue.
        """
        return self._said.get(dialogue, frozenset())

    def is_informative(self, terms: Iterable[str]) -> bool:
        """Return whether some terms are together rare enough to identify a scene.

        Args:
            terms: Terms of a sentence.

        Returns:
            True if the sum of the weights of the terms (their inverse document frequencies) is high enough.
        """
        # In a small store, even the rarest terms have low weights. So require less weight there.
        return sum(map(self._weight, terms)) >= min(
            _MIN_NEW_WEIGHT, _UNSEEN_TERM_FACTOR * log(1 + len(self._said))
        )

    def is_alike(self, one: NDArray[float32], other: NDArray[float32]) -> bool:
        """Return whether two scenes (the situations that dialogues are about) count as the same.

        Args:
            one: Vector of a scene, shape (dimensions,).
            other: Vector of another scene, shape (dimensions,).

        Returns:
            True if the cosine between the vectors is above ``max_scene_cosine``.
        """
        return float(one @ other) > self._most

    def of_dialogue(self, dialogue: str) -> NDArray[float32]:
        """Return the vector of the scene that a dialogue is about.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            A vector of shape (dimensions,) and length 1; the zero vector stays zero.
        """
        if dialogue not in self._scenes:
            self._scenes[dialogue] = self.scene(self.terms_of_dialogue(dialogue))
        return self._scenes[dialogue]

    def scene(self, terms: Iterable[str]) -> NDArray[float32]:
        """Return the vector of the scene that the terms of a text describe.

        Args:
            terms: Lemmas of the text's content words.

        Returns:
            A vector of shape (dimensions,) and length 1; the zero vector stays zero.
        """
        import numpy as np

        vector = self._mean(terms) - self._centre
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    def _mean(self, terms: Iterable[str], counts: Mapping[str, int] | None = None) -> Any:
        """Return the weighted mean of the vectors of terms.

        Args:
            terms: Terms whose vectors are averaged, weighted by their inverse document frequencies.
            counts: How many times each term counts; None to count each term once.

        Returns:
            A vector of shape (dimensions,); zero if all weights are zero.
        """
        import numpy as np

        total, weights = np.zeros(self._vectors.vectors.shape[1], dtype=np.float32), 0.0
        # The last bits of a sum depend on the order of addition. Sort the terms, so that all runs compute the
        # same vector.
        for term in sorted(terms):
            if term not in self._weighted:
                self._weighted[term] = self._weight(term) * self._vectors.embed([term])[0]
            times = 1 if counts is None else counts[term]
            total += times * self._weighted[term]
            weights += times * self._weight(term)
        return total / weights if weights else total

    def _weight(self, term: str) -> float:
        """Return the inverse document frequency of a term, where each dialogue is a document."""
        return log((1 + len(self._said)) / (1 + self._often[term]))


class TopicFilter:
    """Accepts a sentence only if its scene (situation, such as a meal) differs from that of a context."""

    def __init__(
        self, scenes: Scenes, talk: str, runs: frozenset[str], rare: frozenset[str], scene: NDArray[float32]
    ) -> None:
        """Initialize the filter for the sentences that are retrieved for a context.

        Args:
            scenes: Vectors of the scenes (situations) that the dialogues in the store are about.
            talk: Id of the conversation to which the context belongs.
            runs: All sequences of `SAME_RUN` consecutive words in the context and its correct responses.
            rare: Rare content words of the context's last turn.
            scene: Vector of the scene that the context is about, shape (dimensions,).
        """
        self._scenes, self._talk, self._sequences, self._rare, self._scene = scenes, talk, runs, rare, scene
        self._is_different: dict[str, bool] = {}

    def accepts(self, sentence: PoolSentence, shared: frozenset[str]) -> bool:
        """Return whether a sentence is about a different scene than the context.

        Args:
            sentence: Sentence of the pool.
            shared: Terms that the sentence shares with the context.

        Returns:
            True if the sentence is about a different scene, so that it can be used as a wrong response.
        """
        dialogue = sentence.dialogue
        # A dialogue may have many sentences in the pool. So check only once per dialogue whether its scene is
        # a different one, and cache the result.
        if dialogue and dialogue not in self._is_different:
            self._is_different[dialogue] = self._has_other_scene(dialogue)
        if dialogue and not self._is_different[dialogue]:
            return False
        # Reject a sentence that repeats five consecutive words of the context, because it is probably about
        # the same scene.
        if not self._sequences.isdisjoint(_word_sequences(sentence.text)):
            return False
        # The words that a retrieved sentence shares with the context always make it similar to the context,
        # so compare only its other words.
        rest = sentence.terms - shared
        return self._scenes.is_informative(rest) and not self._scenes.is_alike(
            self._scene, self._scenes.scene(rest)
        )

    def _has_other_scene(self, dialogue: str) -> bool:
        """Return whether a dialogue is from another conversation and has another scene than the context."""
        scenes = self._scenes
        if scenes.conversation_id(dialogue) == self._talk or not self._rare.isdisjoint(
            scenes.terms_of_dialogue(dialogue)
        ):
            return False
        return not scenes.is_alike(self._scene, scenes.of_dialogue(dialogue))


def _word_sequences(text: str) -> Iterable[str]:
    """Return all sequences of `SAME_RUN` consecutive words in a text."""
    words = words_key(text).split()
    return (" ".join(words[at : at + SAME_RUN]) for at in range(len(words) - SAME_RUN + 1))


def _talks(texts: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Group dialogues that are copies of the same conversation.

    Args:
        texts: The texts of each dialogue's sentences, keyed by dialogue id.

    Returns:
        The id of the conversation, keyed by dialogue id. This is the alphabetically first id of the copies.
        Dialogues without copies are left out.
    """
    import networkx as nx

    saying: defaultdict[int, set[str]] = defaultdict(set)
    long: set[int] = set()
    for dialogue, said in texts.items():
        for text in said:
            amount = len(WORD.findall(text))
            if amount >= _LONG:
                # Hashes need less memory than texts. They are only used in this function, so they may differ
                # between processes.
                key = hash(words_key(text))
                saying[key].add(dialogue)
                if amount >= _VERY_LONG:
                    long.add(key)
    together: Counter[tuple[str, str]] = Counter()
    for key, dialogues in saying.items():
        # "Thank you very much for your help." occurs in many conversations, so two dialogues with this
        # sentence need not be copies.
        if 1 < len(dialogues) <= _MAX_DIALOGUES:
            for pair in combinations(sorted(dialogues), 2):
                together[pair] += _MIN_POINTS if key in long else 1
    parts: Any = nx.Graph(pair for pair, times in together.items() if times >= _MIN_POINTS)
    return {dialogue: min(talk) for talk in nx.connected_components(parts) for dialogue in talk}
