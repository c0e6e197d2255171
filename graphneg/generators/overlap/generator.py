"""Retrieve sentences that share words with a context but are about a different situation.

The module contains the generators ``overlap`` and ``hard``. For each negative, they draw a target profile:
how many words the negative should share with the context, whether it should share a word with the last turn,
whether it should be in the first person, and whether it should be a question. They search the sentences in
the store (the pool) for words of the context. Among the sentences that satisfy all conditions, they use the
sentence that matches the profile best::

    context    A: Did you sign the offer letter?  B: Not yet, I want to read the terms again.
    profile    three or more shared words, some of the last turn, first person, statement
    negative   A: I read the terms before signing the petition.

``hard`` is ``overlap`` with the settings that gave the best rankers on DailyDialog++ (`SETTINGS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from graphneg.english.words import content_lemmas, word_class
from graphneg.errors import GeneratorError
from graphneg.generators.base import (
    UNRELATED,
    Candidate,
    Context,
    ContextSelection,
    Draft,
    Generator,
    options_of,
    read_contexts,
)
from graphneg.generators.deferred_choice import BY_SENTENCES, SentenceChooser, sentence_draft
from graphneg.generators.overlap.noun_substitution import NounSubstitution, pool_sentence_of
from graphneg.generators.overlap.pool import Pool, pool_anecdotes, pool_dialogues
from graphneg.generators.overlap.scenes import Scenes
from graphneg.generators.overlap.second_sentence import SecondSentence
from graphneg.generators.overlap.target_profile import (
    OPENINGS,
    ContextTerms,
    OverlapOptions,
    ScoredCandidate,
    TargetProfile,
    features_met,
    shortlist,
    target_profiles,
    terms_of,
    text_keys_of,
    words_key,
)
from graphneg.generators.retrieval import embedder_of
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.corpus_data import ANSWERED, SENTENCES, corpus_rows, require_part
from graphneg.store.statements import cypher_text
from graphneg.workers import prefetch_map

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

SMALL = 5_000
"""Number of usable sentences below which the user is warned that many contexts will get too few negatives."""
PART = 40
"""Number of contexts in a part of a batch. The contexts of a part are processed together, while the sentences
for the next parts are read from the store."""
PARTS_AT_ONCE = 2
"""Number of parts (groups of contexts) whose sentences are read in advance."""
CALIBRATION = 400
"""Maximum number of correct responses whose cosines with their contexts serve as target cosines."""
FEWEST = 30
"""Minimum number of target cosines. If fewer are available, negatives have no target cosine."""
WEIGHT = 10.0
"""Factor for the difference between a sentence's cosine and the target cosine. The product is added to the
distance between the sentence and the target profile. A difference of 0.1 thus adds 1. A mismatch in person
adds the same amount."""

SETTINGS: Mapping[str, Any] = {
    "min_words": 6,
    "min_content_words": 3,
    "max_words": 22,
    "openings": tuple(
        words for words in OPENINGS if words not in word_class("no-reply") | word_class("some-openings")
    ),
    "overlap": (0.0, 0.1, 0.4, 0.5),
    "last_turn": 0.4,
    "max_last_turn_words": 2,
    "max_bridge_frequency": 0.003,
    "max_overlap_frequency": 0.03,
    "questions": 0.12,
    "max_uses": 1,
    "max_word_share": 0.01,
    "query_terms": 20,
    "anecdote_weight": 0.5,
    "max_scene_cosine": 1.0,
    "second_sentence_rate": 0.8,
    "anecdotes": True,
}
"""The options of ``overlap`` that are the defaults of the generator ``hard``.

The reasons for some of these values are:

- ``overlap`` asks for more shared words than wrong responses by people have, because the pool often has no
  sentence with as many shared words as a target profile asks for.
- ``max_last_turn_words`` allows two words of the last turn, as in 9% of the wrong responses by people. If no
  negative had two words of the last turn, a ranker would learn that such a response is always correct.
- ``max_overlap_frequency`` ignores very frequent words (*know*, *like*, *want*). Otherwise negatives would
  contain these words more often than wrong responses by people do.
- ``min_words`` allows short sentences. Otherwise a ranker could tell correct from wrong responses by their
  length alone.
"""


class Denoiser(Protocol):
    """Interface of a model that scores how likely texts are to be correct responses.

    For example, the model can be a ranker that was trained on random negatives.
    """

    name: str

    def score(self, contexts: Sequence[Context], texts: Sequence[str]) -> Sequence[float]:
        """Score how likely each text is to be a correct response to its context.

        Args:
            contexts: One context per text.
            texts: Texts to score.

        Returns:
            One score per text. A higher score means that the text is more likely to be correct.
        """
        ...


@dataclass(slots=True)
class _ContextQuery:
    """A context that needs negatives, with its content words (``terms``).

    ``profiles`` has a target profile for each negative: the features that the negative should have. ``lists``
    has a shortlist for each negative: the sentences that match its profile best.
    """

    context: Context
    terms: ContextTerms
    profiles: list[TargetProfile]
    lists: Sequence[Iterable[ScoredCandidate]] = ()


_REASONS = {
    "no-sentence": "no sentence of the pool is suitable as a wrong response to the context",
    "used-up": "every suitable sentence was used for another context",
}


class OverlapGenerator(Generator):
    """Retrieve sentences that share words with the context but are about a different situation.

    Two arguments add further conditions. With an ``embedder`` (a path, an id or an object; see
    ``graphneg.nn.embedders``), the cosine between a sentence and its context is limited. With a ``denoiser``
    (an object), sentences that are likely to be correct answers are dropped. All other options are fields of
    `OverlapOptions`.

    Raises:
        GeneratorError: An option is unknown or has an invalid value.
    """

    name = "overlap"
    depends_on_earlier = True
    reasons = _REASONS

    def __init__(
        self,
        store: Store,
        embedder: str | Path | Embedder | None = None,
        denoiser: Denoiser | None = None,
        **options: Any,
    ) -> None:
        """Initialize the generator, and load the embedder if one is given.

        Args:
            store: Store that contains the sentence pool.
            embedder: Embedder for contexts and sentences, or its path or id. None to ignore the similarity
                between contexts and sentences.
            denoiser: Model that scores how likely texts are to be correct answers. None to keep all texts.
            options: Fields of `OverlapOptions`, as keyword arguments.
        """
        self.options = options_of(OverlapOptions, "overlap", options, ("embedder", "denoiser"))
        self._store = store
        self._embedder = None if embedder is None else embedder_of(embedder)
        self._denoiser = denoiser
        self._similarity: Similarity | None = None
        # `NounSubstitution` loads a parser and a decoder, which takes time. Create it only if it is used.
        share = self.options.noun_substitution_rate
        self._substitution = NounSubstitution(share) if share else None
        self._second = SecondSentence(store, self.options) if self.options.second_sentence_rate else None
        self._scenes: Scenes | None = None
        self._target_features: list[tuple[str, bool]] = []
        self._pool: Pool | None = None
        self._seed: int | None = None
        # Whether `begin` has been called in this run. If the caller has not called it, `_queries` calls it.
        self._begun = False
        self._refused = 0
        self._chooser = self._new_chooser()
        self._successors: dict[str, frozenset[str]] = {}

    def settings(self) -> Mapping[str, object]:
        """Return all settings that determine the output: options, and names of embedder and denoiser."""
        parts = {"embedder": self._embedder, "denoiser": self._denoiser}
        return {**asdict(self.options), **{name: part and part.name for name, part in parts.items()}}

    def notes(self) -> Sequence[str]:
        """Return messages for the user, for example that few sentences can be used."""
        found: list[str] = []
        # The option `max_cosine` has a default, so users may expect that it has an effect. Tell them that it
        # has none without an embedder.
        if self._embedder is None and self.options.max_cosine is not None:
            found.append(
                f"{self.name}: there is no embedder, so the similarity to the context is not checked"
            )
        if self._refused:
            found.append(f"{self.name}: {self._refused:,} sentences of dialogues are too long for the pool")
        # If the vocabulary of the dialogues is narrow, most negatives are anecdotes that graphneg provides.
        # Each anecdote may be used only a few times, so there may be too few negatives.
        if self._pool is not None and self._pool.narrow:
            found.append(
                f"{self.name}: the vocabulary of the dialogues is small, so few sentences share words with a "
                "context and are about another situation; load other dialogues or sentences (graphneg load "
                "text, wordnet), or allow sentences to be used again (--option max_uses=4)"
            )
        elif self._pool is not None and self._pool.size.fit < SMALL:
            found.append(
                f"{self.name}: only {self._pool.size.fit:,} sentences of the store can be responses; "
                "load more dialogues, or sentences (graphneg load text, wordnet or propbank_examples)"
            )
        return found

    def target_features(self) -> Sequence[tuple[str, bool]]:
        """Return whether the candidates made since the last call of this method have the wanted features.

        Returns:
            One pair per candidate and wanted feature: the name of the feature, such as ``question``, and
            whether the candidate has the feature.
        """
        told, self._target_features = self._target_features, []
        return told

    def begin(self, resumed: Iterable[Negative], progress: Progress | None = None) -> None:
        """Prepare a run: add new dialogues to the pool, and count how often sentences were already used.

        Args:
            resumed: Negatives that an interrupted run has already written; empty for a new run.
            progress: Progress display for adding dialogues to the pool; None for no display.
        """
        require_part(self._store, SENTENCES)
        self._refused = pool_dialogues(self._store, progress or NoProgress()).rejections
        pool_anecdotes(self._store, self.options, progress)
        # Adding sentences has changed the frequencies of terms. Discard the `Pool` object, which stores them;
        # `_queries` creates a new one.
        self._pool, self._seed, self._begun = None, None, True
        if self.options.max_scene_cosine is not None:
            self._scenes = Scenes(self._store, self.options.max_scene_cosine)
        self._successors.clear()
        self._chooser = self._new_chooser()
        for negative in resumed:
            # The negative may be an edited or extended sentence. Count the use of the sentence in the pool
            # from which it was made.
            text = pool_sentence_of(negative)
            self._chooser.count(words_key(text), content_lemmas(text))
        if self._embedder is not None:
            self._similarity = Similarity(self._embedder, self._store, self.options.max_cosine)

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Return retrieved sentences as candidates for each context.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Maximum number of candidates per context.
            seed: Seed for all random choices.

        Returns:
            One list of candidates per context, in the order of ``contexts``. In all calls after the last call
            of `begin`, no sentence is used more than ``max_uses`` times in total.
        """
        given: list[list[Candidate]] = []
        for asked in self._queries(contexts, per_context, seed):
            given.append(own := self._chosen_candidates(asked))
            if len(own) < per_context:
                reason = (
                    # If a suitable sentence is left on a shortlist, no candidate was made from it because it
                    # was already used `max_uses` times.
                    "used-up" if any(any(True for _ in listed) for listed in asked.lists) else "no-sentence"
                )
                self.leave_out(reason, asked.context.id, per_context - len(own))
        self._finish(contexts, given, seed)
        return given

    def choice(self, per_context: int) -> Mapping[str, Any]:
        """Return the settings for choosing sentences when the shards of a run are merged.

        Args:
            per_context: Not used, because one sentence is chosen for each negative.

        Returns:
            Name and options of the chooser; see `graphneg.generators.deferred_choice.choosing`.
        """
        limits = {"max_uses": self.options.max_uses, "max_word_share": self.options.max_word_share}
        return {"by": BY_SENTENCES, **limits}

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[Draft]:
        """Return a draft for each context, with a shortlist of sentences for each negative that is needed.

        A draft does not depend on other contexts.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Number of shortlists per context, one for each negative that is needed.
            seed: Seed for all random choices.

        Returns:
            One draft per context, in the order of ``contexts``.
        """
        asked: list[_ContextQuery] = []
        for query in self._queries(contexts, per_context, seed):
            query.lists = list(map(list, query.lists))
            asked.append(query)
        places: list[dict[str, int]] = []
        given: list[list[Candidate]] = []
        for query in asked:
            items = {item.sentence.id: item for listed in query.lists for item in listed}
            places.append({id: place for place, id in enumerate(items)})
            given.append([_candidate(item, query.terms) for item in items.values()])
            if not items:
                self.leave_out("no-sentence", query.context.id, per_context)
        self._finish(contexts, given, seed)
        return [
            sentence_draft(own, [[(at[item.sentence.id], item) for item in listed] for listed in query.lists])
            for query, at, own in zip(asked, places, given, strict=True)
        ]

    def _queries(self, contexts: Sequence[Context], per_context: int, seed: int) -> Iterator[_ContextQuery]:
        """Yield an object for each context, in order, with the suitable sentences for its negatives."""
        if not self._begun:
            self.begin(())
        if self._pool is None or self._seed != seed:
            self._pool, self._seed = Pool(self._store, self.options, seed), seed
        pool = self._pool
        compared = self._denoiser is not None or self._similarity is not None
        asked: list[_ContextQuery] = []
        parts = self._query_parts(contexts, pool, per_context, seed)
        for part, samples in prefetch_map(lambda part: (part[0], pool.read(part[1])), parts, PARTS_AT_ONCE):
            pool.keep(samples)
            for query in part:
                self._fill_shortlists(query, pool)
                # If sentences must be compared or scored by a model, first collect the sentences of all
                # contexts, because a model is faster on large batches.
                if compared:
                    query.lists = list(map(list, query.lists))
                    asked.append(query)
                else:
                    yield query
        pool.forget_oldest()
        if self._denoiser is not None:
            drop_most_likely(self._denoiser, asked, self.options.drop_share)
        if self._similarity is not None:
            self._similarity.reorder(asked)
        yield from asked

    def _finish(self, contexts: Sequence[Context], given: list[list[Candidate]], seed: int) -> None:
        """Extend some candidates by a second sentence, and replace a noun in some. This changes ``given``."""
        for part in (self._second, self._substitution):
            if part is not None:
                part.apply(contexts, given, seed)

    def _new_chooser(self) -> SentenceChooser:
        return SentenceChooser(self.options.max_uses, self.options.max_word_share)

    def _query_parts(
        self, contexts: Sequence[Context], pool: Pool, per_context: int, seed: int
    ) -> Iterator[tuple[list[_ContextQuery], list[str]]]:
        """Draw the features that each negative should have (target profiles), for `PART` contexts at a time.

        Yields:
            Up to `PART` contexts with the target profiles of their negatives, and the words whose sentences
            must be read from the store.
        """
        claimed: set[str] = set()
        size, conditions = pool.size.sentences, self.options
        # The options for maximum frequencies are fractions of the pool. Convert them into numbers of
        # sentences, because `Pool.frequency` returns a number of sentences.
        max_bridge_count, max_overlap_count = (
            conditions.max_bridge_frequency * size,
            inf if conditions.max_overlap_frequency is None else conditions.max_overlap_frequency * size,
        )
        for start in range(0, len(contexts), PART):
            part: list[_ContextQuery] = []
            for context in contexts[start : start + PART]:
                terms = terms_of(context, pool.frequency, max_overlap_count)
                chosen = (
                    self.options,
                    pool.frequency,
                    max_bridge_count,
                    pool.unrelated_terms,
                    per_context,
                    seed,
                )
                part.append(_ContextQuery(context, terms, target_profiles(terms, *chosen)))
            # Replies often shift from a word such as "ticket" to a word such as "train". A sentence about a
            # train may thus be a correct response to a turn about a ticket. Read these words (successors)
            # from the shift graph.
            if conditions.usual_shift is not None:
                last = {term for query in part for term in query.terms.last} - self._successors.keys()
                asking = {"terms": sorted(last), "least": conditions.usual_shift}
                self._successors.update(dict.fromkeys(last, frozenset[str]()))
                for row in self._store.read(cypher_text("overlap/successors"), **asking):
                    self._successors[row["term"]] = frozenset(row["successors"])
            needed = {term for query in part for profile in query.profiles for term in profile.query_terms}
            # Read sentences only for new terms. The sentences for all other terms are in the cache, or are
            # being read for earlier contexts.
            missing = sorted(term for term in needed - claimed if term not in pool)
            # The caller reads sentences with these terms in the background. Mark the terms as requested
            # already now, so that they are not requested again for the next contexts.
            claimed.update(missing)
            yield part, missing

    def _fill_shortlists(self, asked: _ContextQuery, pool: Pool) -> None:
        """List the sentences of the pool that are most suitable for each negative that a context needs."""
        context, elsewhere = asked.context, None
        said = text_keys_of(context)
        if self._scenes is not None:
            # A retrieved sentence must not be about the situation of the context or of the correct responses,
            # so compare it with the texts of both.
            texts = (*(turn.text for turn in context.turns), *context.correct_responses)
            elsewhere = self._scenes.other_scene_filter(context.dialogue, texts, asked.terms).accepts
        usual = frozenset[str]().union(*(self._successors.get(term, ()) for term in asked.terms.last))
        asked.lists = [
            shortlist(context, asked.terms, profile, sentences, said, self.options, usual, elsewhere)
            for profile in asked.profiles
            for sentences in [(sentence for term in profile.query_terms for sentence in pool.sentences(term))]
        ]

    def _chosen_candidates(self, asked: _ContextQuery) -> list[Candidate]:
        """Choose the candidates for a context, and record which of the wanted features each of them has."""
        chosen = self._chooser.choose(asked.lists)
        for at, item in chosen:
            self._target_features += features_met(asked.profiles[at], item, asked.terms)
        return [_candidate(item, asked.terms) for _, item in chosen]


class HardGenerator(OverlapGenerator):
    """Retrieve sentences like `OverlapGenerator`, with the settings that gave the best rankers.

    The options are those of `OverlapGenerator`, but the defaults are the settings in `SETTINGS`.

    Raises:
        GeneratorError: An option is unknown or has an invalid value.
    """

    name = "hard"

    def __init__(self, store: Store, **options: Any) -> None:
        """Initialize the generator.

        Args:
            store: Store that contains the sentence pool.
            options: Options of `OverlapGenerator`, as keyword arguments. They take precedence over
                `SETTINGS`.
        """
        super().__init__(store, **{**SETTINGS, **options})


def _candidate(item: ScoredCandidate, terms: ContextTerms) -> Candidate:
    scores = {"shared": float(len(item.shared)), "shared_last": float(len(item.shared & terms.last))}
    if item.cosine is not None:
        scores["cosine"] = round(item.cosine, 4)
    details = {"source": item.sentence.id}
    if item.shared:
        details["shared"] = ", ".join(sorted(item.shared))
    return Candidate(item.sentence.text, (UNRELATED,), scores, details)


class Similarity:
    """Condition on the cosine between a sentence and its context.

    A target cosine for each negative is drawn from the cosines between the store's correct responses and
    their contexts. So a ranker cannot tell correct from wrong responses by their similarity to the context
    alone. Vectors that are means of static word vectors are close to each other, so all texts would seem
    similar. Before cosines are computed, the mean over all text vectors is therefore subtracted from each
    text vector (Mu and Viswanath 2018, "All-but-the-Top", section 2).
    """

    def __init__(self, embedder: Embedder, store: Store, most: float | None) -> None:
        """Compute how similar correct responses usually are to their contexts, by the cosines in the store.

        Args:
            embedder: Embedder that computes the vectors of contexts, responses and sentences.
            store: Store that contains correct responses.
            most: Upper limit for the cosine between a sentence and its context; None for no limit.
        """
        known = corpus_rows(store, ANSWERED, lambda: contexts_with_response(store))
        said, answers = [text for text, _ in known], [answer for _, answer in known]
        both = [text for pair in zip(said, answers, strict=True) for text in pair]
        self._embedder = embedder
        # The mean vector of all contexts and responses. It is subtracted from each vector before cosines
        # are computed.
        self._centre: NDArray[float32] | float = embedder.embed(both).mean(axis=0) if both else 0.0
        self._most = 1.0 if most is None else most
        pairs = zip(self._embed(said), self._embed(answers), strict=True) if both else ()
        self._usual = sorted(float(a @ b) for a, b in pairs)

    def reorder(self, asked: Sequence[_ContextQuery]) -> None:
        """Sort the sentences on each shortlist again, so that their similarity to the context counts, too.

        Each negative should be about as similar to its context as correct responses are. So a target cosine
        is drawn for each shortlist from the cosines between correct responses and their contexts. The sort
        key of a sentence is its distance from the wanted features (target profile), plus the weighted
        difference between its own cosine and the target cosine. Sentences whose cosine is not below the limit
        are dropped.

        Args:
            asked: Contexts with their shortlists, which are replaced by the sorted lists.
        """
        texts = sorted({item.sentence.text for query in asked for listed in query.lists for item in listed})
        vectors = dict(zip(texts, self._embed(texts), strict=True))
        usual = [cosine for cosine in self._usual if cosine < self._most]
        for query, meant in zip(asked, self._embed([query.context.text for query in asked]), strict=True):
            ordered: list[list[ScoredCandidate]] = []
            for profile, listed in zip(query.profiles, query.lists, strict=True):
                # The random number `cosine_draw` selects the target cosine: a value from the sorted cosines
                # between correct responses and their contexts.
                target = usual[int(profile.cosine_draw * len(usual))] if len(usual) >= FEWEST else None
                kept: list[ScoredCandidate] = []
                for item in listed:
                    cosine = float(meant @ vectors[item.sentence.text])
                    if cosine < self._most:
                        # A sentence may be more or less similar to the context than its target cosine says,
                        # so the absolute difference counts.
                        beside = 0.0 if target is None else abs(cosine - target)
                        kept.append(item._replace(distance=item.distance + WEIGHT * beside, cosine=cosine))
                ordered.append(sorted(kept, key=lambda item: (item.distance, item.chance, item.sentence.id)))
            query.lists = ordered

    def _embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Return one vector per text, minus the mean vector and scaled to length 1; shape (texts, size)."""
        import numpy as np

        vectors = self._embedder.embed(texts) - self._centre
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def contexts_with_response(store: Store) -> list[tuple[str, str]]:
    """Return the first contexts in a store that have correct responses, each with one of its responses.

    From these pairs, `Similarity` computes the usual cosines between contexts and correct responses.

    Args:
        store: Store with the dialogues.

    Returns:
        Up to `CALIBRATION` pairs of the text of a context and the text of a correct response.
    """
    contexts = (context for context in read_contexts(store, ContextSelection()) if context.positives)
    return [(context.text, context.positives[0]) for context in islice(contexts, CALIBRATION)]


def drop_most_likely(denoiser: Denoiser, shortlists: Sequence[_ContextQuery], share: float) -> None:
    """Remove the sentences that are most likely to be correct answers from shortlists.

    Args:
        denoiser: Model that scores how likely texts are to be correct answers.
        shortlists: Contexts with their shortlists, which are replaced by shorter lists.
        share: Fraction of the sentences on the shortlists of each context to remove, from 0 to 1.

    Raises:
        GeneratorError: The denoiser does not return one score per text.
    """
    # A sentence may be on several shortlists of a context, but is scored only once per context.
    keyed = [
        {item.key: item.sentence.text for listed in query.lists for item in listed} for query in shortlists
    ]
    contexts = [query.context for query, some in zip(shortlists, keyed, strict=True) for _ in some]
    scores = denoiser.score(contexts, [text for some in keyed for text in some.values()])
    if len(scores) != len(contexts):
        raise GeneratorError(f"denoiser {denoiser.name} gave {len(scores)} scores for {len(contexts)} texts")
    left = iter(scores)
    for query, some in zip(shortlists, keyed, strict=True):
        ranked = sorted((-next(left), key) for key in some)
        gone = {key for _, key in ranked[: round(share * len(some))]}
        query.lists = [[item for item in listed if item.key not in gone] for listed in query.lists]
