"""The generators overlap and hard: draw target profiles, ask the pool, give sentences out.

Contexts go in, sentences of the store come out that share words with the context and are set in another
scene. ``hard`` is what taught rankers most: `overlap` with the settings that did best on DailyDialog++.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.english.words import word_class
from graphneg.generators.base import UNRELATED, Candidate, Context, options_of
from graphneg.generators.overlap.noun_substitution import NounSubstitution, found_text
from graphneg.generators.overlap.pool import Pool, pool_dialogues, words_key
from graphneg.generators.overlap.shortlist import (
    Denoiser,
    Listed,
    Shortlist,
    Similarity,
    likeliest,
    said_in,
    shortlist,
)
from graphneg.generators.overlap.target_profile import (
    OPENINGS,
    Conditions,
    ContextTerms,
    TargetProfile,
    target_profiles,
    terms_of,
)
from graphneg.generators.retrieval import embedder_of
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text
from graphneg.workers import ahead

if TYPE_CHECKING:
    from graphneg.nn.embedders import Embedder

SMALL = 5_000
"""Sentences that can be responses: below, many contexts find too few."""
PART = 40
"""Contexts whose samples are read while the parts before are at work."""
PARTS_AT_ONCE = 2

SETTINGS: Mapping[str, Any] = {
    "least_words": 6,
    "least_content": 4,
    "most_words": 22,
    "openings": tuple(words for words in OPENINGS if words not in word_class("no-reply")),
    "overlap": (0.0, 0.05, 0.35, 0.6),
    "last_turn": 0.4,
    "most_last": 1,
    "first_person": 0.5,
    "hub": 0.003,
    "light": 0.003,
    "exchanged": 1.0,
}
"""More words of the context than people's own wrong responses were counted to share: a store's pool seldom
holds what the profiles ask for. Two words of the last turn often make a right answer of it. Words that are
said everywhere (*know*, *like*, *want*) don't count: of them, wrong ones would say more than people do, and
a ranker would learn that. Without short sentences, or with *I* in more than right responses have it, length
and person alone would tell right from wrong."""


class _Asked(NamedTuple):
    """A context with its terms and the profiles of its negatives."""

    context: Context
    terms: ContextTerms
    profiles: list[TargetProfile]


class OverlapGenerator:
    """Sentences of the store that share words with the context and are set in another scene.

    ``embedder`` (a path or id, or an object; ``graphneg.nn.embedders``) switches the cosine condition on,
    ``denoiser`` (an object) the one on likely right answers. Other options are `Conditions`.

    Raises:
        GeneratorError: an option is unknown or not what it takes.
    """

    name = "overlap"

    def __init__(
        self,
        store: Store,
        embedder: str | Path | Embedder | None = None,
        denoiser: Denoiser | None = None,
        **conditions: Any,
    ) -> None:
        self.conditions = options_of(Conditions, "overlap", conditions, ("embedder", "denoiser"))
        self._store = store
        self._embedder = None if embedder is None else embedder_of(embedder)
        self._denoiser = denoiser
        self._similarity: Similarity | None = None
        share = self.conditions.exchanged
        self._substitution = NounSubstitution(share) if share else None
        self._pool: Pool | None = None
        self._seed: int | None = None
        self._begun = False
        self._refused = 0
        self._uses: Counter[str] = Counter()
        self._successors: dict[str, frozenset[str]] = {}

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        embedder, denoiser = self._embedder, self._denoiser
        return {
            **self.conditions.settings(),
            "embedder": embedder and embedder.name,
            "denoiser": denoiser and denoiser.name,
        }

    def notes(self) -> Sequence[str]:
        """What to tell the user: a condition that is off, a pool that is small."""
        found: list[str] = []
        if self._embedder is None and self.conditions.most_cosine is not None:
            found.append(
                "overlap: no embedder is given, so closeness in meaning to the context is no condition"
            )
        if self._refused:
            found.append(f"overlap: {self._refused:,} sentences of dialogues are too long for the pool")
        if self._pool is not None and self._pool.size.fit < SMALL:
            found.append(
                f"{self.name}: only {self._pool.size.fit:,} sentences of the store can be responses; "
                "load more dialogues, or sentences (graphneg load text, wordnet or propbank_examples)"
            )
        return found

    def begin(self, given: Iterable[Negative], progress: Progress | None = None) -> None:
        """A run begins: takes new dialogues into the pool, counts how often sentences are used already."""
        self._refused = pool_dialogues(self._store, progress or NoProgress()).rejections
        self._pool, self._seed, self._begun = None, None, True
        self._successors.clear()
        self._uses = Counter(words_key(found_text(negative)) for negative in given)
        if self._embedder is not None:
            self._similarity = Similarity(self._embedder, self._store, self.conditions.most_cosine)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Candidates for each context; every sentence is used ``most_uses`` times at most since `begin`.

        Raises:
            GeneratorError: no sentence of the pool can be a response.
            StoreError: the store is gone.
        """
        pool = self._pool_of(seed)
        compared = self._denoiser is not None or self._similarity is not None
        asked: list[_Asked] = []
        lists: list[list[list[Listed]]] = []
        given: list[list[Candidate]] = []
        pool.release()
        parts = self._parts(contexts, pool, per_context, seed)
        for part, samples in ahead(lambda part: (part[0], pool.read(part[1])), parts, PARTS_AT_ONCE):
            pool.keep(samples)
            asked += part
            for query in part:
                shortlists = self._shortlists(query, pool)
                if compared:
                    lists.append(list(map(list, shortlists)))
                else:
                    given.append(self._given(query, shortlists))
        pool.forget_oldest()
        if compared:
            lists = self._by_similarity(asked, self._without_likeliest(asked, lists))
            given = [self._given(query, listed) for query, listed in zip(asked, lists, strict=True)]
        if self._substitution is not None:
            self._substitution.apply(contexts, given, seed)
        return given

    def _parts(
        self, contexts: Sequence[Context], pool: Pool, per_context: int, seed: int
    ) -> Iterator[tuple[list[_Asked], list[str]]]:
        """Some contexts at a time, with the terms whose samples are to be read for them."""
        for start in range(0, len(contexts), PART):
            part = [self._asked(query, pool, per_context, seed) for query in contexts[start : start + PART]]
            self._learn_successors(part)
            terms = (term for query in part for profile in query.profiles for term in profile.query_terms)
            yield part, pool.claim(terms)

    def _pool_of(self, seed: int) -> Pool:
        if not self._begun:
            self.begin(())
        if self._pool is None or self._seed != seed:
            self._pool, self._seed = Pool(self._store, self.conditions, seed), seed
        return self._pool

    def _asked(self, context: Context, pool: Pool, amount: int, seed: int) -> _Asked:
        size, light = pool.size.sentences, self.conditions.light
        hub = self.conditions.hub * size
        terms = terms_of(context, pool.frequency, inf if light is None else light * size)
        profiles = target_profiles(terms, self.conditions, pool.frequency, hub, pool.elsewhere, amount, seed)
        return _Asked(context, terms, profiles)

    def _shortlists(self, asked: _Asked, pool: Pool) -> list[Shortlist]:
        """A shortlist for each profile."""
        context, terms, profiles = asked
        said = said_in(context)
        usual = frozenset[str]().union(*(self._successors.get(term, ()) for term in terms.last))
        return [
            shortlist(context, terms, profile, sentences, said, self.conditions, usual)
            for profile in profiles
            for sentences in [(sentence for term in profile.query_terms for sentence in pool.sentences(term))]
        ]

    def _learn_successors(self, asked: Sequence[_Asked]) -> None:
        """Read what is usually shifted to from the last turns' terms, where that is a condition."""
        least = self.conditions.usual_shift
        if least is None:
            return
        terms = sorted({term for query in asked for term in query.terms.last} - self._successors.keys())
        for row in self._store.read(cypher_text("overlap/successors"), terms=terms, least=least):
            self._successors[row["term"]] = frozenset(row["successors"])
        for term in terms:
            self._successors.setdefault(term, frozenset())

    def _without_likeliest(
        self, asked: Sequence[_Asked], lists: list[list[list[Listed]]]
    ) -> list[list[list[Listed]]]:
        if self._denoiser is None:
            return lists
        gone = likeliest(self._denoiser, [query.context for query in asked], lists, self.conditions.likeliest)
        return [
            [[item for item in each if item.key not in keys] for each in some]
            for some, keys in zip(lists, gone, strict=True)
        ]

    def _by_similarity(
        self, asked: Sequence[_Asked], lists: list[list[list[Listed]]]
    ) -> list[list[list[Listed]]]:
        if self._similarity is None:
            return lists
        reordered = self._similarity.preferring([query.context for query in asked], lists)
        return [
            [reordered(at, profile.draw, each) for profile, each in zip(query.profiles, some, strict=True)]
            for at, (query, some) in enumerate(zip(asked, lists, strict=True))
        ]

    def _given(self, asked: _Asked, lists: Sequence[Iterable[Listed]]) -> list[Candidate]:
        """The first of each list that is not used up; where all are, the first of another profile's list."""
        found: dict[str, Candidate] = {}
        most = self.conditions.most_uses
        for listed in lists:
            for item in chain(listed, _nearest_first(lists)):
                key = item.key
                if key not in found and (most is None or self._uses[key] < most):
                    self._uses[key] += 1
                    found[key] = _candidate(item, asked.terms)
                    break
        return list(found.values())


def _nearest_first(lists: Sequence[Iterable[Listed]]) -> Iterator[Listed]:
    yield from sorted(chain.from_iterable(lists), key=lambda item: (item.distance, item.chance))


def _candidate(item: Listed, terms: ContextTerms) -> Candidate:
    scores = {"shared": float(len(item.shared)), "shared_last": float(len(item.shared & terms.last))}
    if item.cosine is not None:
        scores["cosine"] = round(item.cosine, 4)
    details = {"source": item.sentence.id}
    if item.shared:
        details["shared"] = ", ".join(sorted(item.shared))
    return Candidate(item.sentence.text, (UNRELATED,), scores, details)


class HardGenerator(OverlapGenerator):
    """`OverlapGenerator` with other defaults: ``SETTINGS``. It takes the same options.

    Raises:
        GeneratorError: an option is unknown or not what it takes.
    """

    name = "hard"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **{**SETTINGS, **options})
