"""The generators overlap and hard: draw target profiles, ask the pool, give sentences out.

Contexts go in, sentences of the store come out that share words with the context and are set in another
scene. ``hard`` is what taught rankers most: `overlap` with the settings that did best on DailyDialog++.
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
    ShortfallCounter,
    options_of,
    read_contexts,
)
from graphneg.generators.drafts import BY_SENTENCES, Draft, SentenceChooser, sentence_draft
from graphneg.generators.overlap.noun_substitution import NounSubstitution, found_text
from graphneg.generators.overlap.pool import Pool, pool_anecdotes, pool_dialogues
from graphneg.generators.overlap.scenes import Scenes
from graphneg.generators.overlap.second_sentence import SecondSentence
from graphneg.generators.overlap.target_profile import (
    OPENINGS,
    Conditions,
    ContextTerms,
    Listed,
    TargetProfile,
    met,
    said_in,
    shortlist,
    target_profiles,
    terms_of,
    words_key,
)
from graphneg.generators.retrieval import embedder_of
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.snapshots import ANSWERED, SENTENCES, stored_snapshot
from graphneg.store.statements import cypher_text
from graphneg.workers import ahead

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

SMALL = 5_000
"""Sentences that can be responses: below, many contexts find too few."""
PART = 40
"""Contexts whose samples are read while the parts before are at work."""
PARTS_AT_ONCE = 2
CALIBRATION = 400
"""Right responses whose cosines are taken as their distribution."""
FEWEST = 30
"""With fewer right responses, no cosine is drawn."""
WEIGHT = 10.0
"""Penalty per unit of distance from the sampled target cosine: 0.1 weighs as much as the wrong person."""

SETTINGS: Mapping[str, Any] = {
    "least_words": 6,
    "least_content": 3,
    "most_words": 22,
    "openings": tuple(
        words for words in OPENINGS if words not in word_class("no-reply") | word_class("some-openings")
    ),
    "overlap": (0.0, 0.1, 0.4, 0.5),
    "last_turn": 0.4,
    "most_last": 2,
    "hub": 0.003,
    "light": 0.03,
    "questions": 0.12,
    "most_uses": 1,
    "most_said": 0.01,
    "query_terms": 20,
    "anecdotal": 0.5,
    "most_alike": 1.0,
    "seconds": 0.8,
    "anecdotes": True,
}
"""More words of the context than people's own wrong responses were counted to share: a store's pool seldom
holds what the profiles ask for. Where no wrong response had two words of the last turn, as 9% of people's
have, a ranker would learn that two make a right one. Words that are said everywhere (*know*, *like*, *want*)
don't count: of them, wrong ones would say more than people do, and a ranker would learn that. Without short
sentences, length alone would tell right from wrong."""


class Denoiser(Protocol):
    """Tells how likely a text is a right response; a ranker trained on random negatives does."""

    name: str

    def score(self, contexts: Sequence[Context], texts: Sequence[str]) -> Sequence[float]:
        """One number for each context and its text, in order; higher: likelier a right response."""
        ...


@dataclass(slots=True)
class _Asked:
    """A context with its terms, the profiles of its negatives, and a shortlist for each of these."""

    context: Context
    terms: ContextTerms
    profiles: list[TargetProfile]
    lists: Sequence[Iterable[Listed]] = ()


_REASONS = {
    "no-sentence": "no sentence of the pool is fit to be a wrong response here",
    "used-up": "every sentence that is fit here was given to another context",
}


class OverlapGenerator(ShortfallCounter):
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
        super().__init__(_REASONS)
        self.conditions = options_of(Conditions, "overlap", conditions, ("embedder", "denoiser"))
        self._store = store
        self._embedder = None if embedder is None else embedder_of(embedder)
        self._denoiser = denoiser
        self._similarity: Similarity | None = None
        share = self.conditions.exchanged
        self._substitution = NounSubstitution(share) if share else None
        self._second = SecondSentence(store, self.conditions) if self.conditions.seconds else None
        self._scenes: Scenes | None = None
        self._wishes: list[tuple[str, bool]] = []
        self._pool: Pool | None = None
        self._seed: int | None = None
        self._begun = False
        self._refused = 0
        self._chooser = self._new_chooser()
        self._successors: dict[str, frozenset[str]] = {}

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        parts = {"embedder": self._embedder, "denoiser": self._denoiser}
        return {**asdict(self.conditions), **{name: part and part.name for name, part in parts.items()}}

    def notes(self) -> Sequence[str]:
        """What to tell the user: a condition that is off, a pool that is small."""
        found: list[str] = []
        if self._embedder is None and self.conditions.most_cosine is not None:
            found.append(
                f"{self.name}: no embedder is given, so closeness in meaning to the context is no condition"
            )
        if self._refused:
            found.append(f"{self.name}: {self._refused:,} sentences of dialogues are too long for the pool")
        if self._pool is not None and self._pool.narrow:
            found.append(
                f"{self.name}: the dialogues say few different words, so few sentences share some and are "
                "set elsewhere; load other dialogues or sentences (graphneg load text, wordnet), or let "
                "sentences come up again (--option most_uses=4)"
            )
        elif self._pool is not None and self._pool.size.fit < SMALL:
            found.append(
                f"{self.name}: only {self._pool.size.fit:,} sentences of the store can be responses; "
                "load more dialogues, or sentences (graphneg load text, wordnet or propbank_examples)"
            )
        return found

    def wishes(self) -> Sequence[tuple[str, bool]]:
        """See `graphneg.generators.base.Generator`."""
        told, self._wishes = self._wishes, []
        return told

    def begin(self, given: Iterable[Negative], progress: Progress | None = None) -> None:
        """A run begins: takes new dialogues into the pool, counts how often sentences are used already."""
        if (snapshot := stored_snapshot(self._store)) is not None:
            snapshot.require(SENTENCES)
        self._refused = pool_dialogues(self._store, progress or NoProgress()).rejections
        pool_anecdotes(self._store, self.conditions, progress)
        self._pool, self._seed, self._begun = None, None, True
        if self.conditions.most_alike is not None:
            self._scenes = Scenes(self._store, self.conditions.most_alike)
        self._successors.clear()
        self._chooser = self._new_chooser()
        for negative in given:
            text = found_text(negative)
            self._chooser.count(words_key(text), content_lemmas(text))
        if self._embedder is not None:
            self._similarity = Similarity(self._embedder, self._store, self.conditions.most_cosine)

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Candidates for each context; every sentence is used ``most_uses`` times at most since `begin`.

        Raises:
            GeneratorError: no sentence of the pool can be a response.
            StoreError: the store is gone.
        """
        given: list[list[Candidate]] = []
        for asked in self._asked(contexts, per_context, seed):
            given.append(own := self._given(asked))
            if len(own) < per_context:
                reason = (
                    "used-up" if any(any(True for _ in listed) for listed in asked.lists) else "no-sentence"
                )
                self.leave_out(reason, asked.context.id, per_context - len(own))
        self._finish(contexts, given, seed)
        return given

    def choice(self, per_context: int) -> Mapping[str, Any]:
        """See `graphneg.generators.base.Generator`."""
        limits = {"most_uses": self.conditions.most_uses, "most_said": self.conditions.most_said}
        return {"by": BY_SENTENCES, **limits}

    def drafts(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[Draft]:
        """See `graphneg.generators.base.Generator`: shortlists depend on no other context."""
        asked: list[_Asked] = []
        for query in self._asked(contexts, per_context, seed):
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

    def _asked(self, contexts: Sequence[Context], per_context: int, seed: int) -> Iterator[_Asked]:
        """Each context with its shortlists, in order; where these are compared, all are made first."""
        if not self._begun:
            self.begin(())
        if self._pool is None or self._seed != seed:
            self._pool, self._seed = Pool(self._store, self.conditions, seed), seed
        pool = self._pool
        compared = self._denoiser is not None or self._similarity is not None
        asked: list[_Asked] = []
        parts = self._parts(contexts, pool, per_context, seed)
        for part, samples in ahead(lambda part: (part[0], pool.read(part[1])), parts, PARTS_AT_ONCE):
            pool.keep(samples)
            for query in part:
                self._list(query, pool)
                if compared:
                    query.lists = list(map(list, query.lists))
                    asked.append(query)
                else:
                    yield query
        pool.forget_oldest()
        if self._denoiser is not None:
            drop_likeliest(self._denoiser, asked, self.conditions.likeliest)
        if self._similarity is not None:
            self._similarity.reorder(asked)
        yield from asked

    def _finish(self, contexts: Sequence[Context], given: list[list[Candidate]], seed: int) -> None:
        """Put what is longer, or nearer, in place of candidates that are drawn for it."""
        for part in (self._second, self._substitution):
            if part is not None:
                part.apply(contexts, given, seed)

    def _new_chooser(self) -> SentenceChooser:
        return SentenceChooser(self.conditions.most_uses, self.conditions.most_said)

    def _parts(
        self, contexts: Sequence[Context], pool: Pool, per_context: int, seed: int
    ) -> Iterator[tuple[list[_Asked], list[str]]]:
        """Some contexts at a time, with the terms whose samples are to be read for them. What is usually
        shifted to from their last turns' terms is read here, where that is a condition."""
        claimed: set[str] = set()
        size, conditions = pool.size.sentences, self.conditions
        hub, light = conditions.hub * size, inf if conditions.light is None else conditions.light * size
        for start in range(0, len(contexts), PART):
            part: list[_Asked] = []
            for context in contexts[start : start + PART]:
                terms = terms_of(context, pool.frequency, light)
                chosen = (self.conditions, pool.frequency, hub, pool.elsewhere, per_context, seed)
                part.append(_Asked(context, terms, target_profiles(terms, *chosen)))
            if conditions.usual_shift is not None:
                last = {term for query in part for term in query.terms.last} - self._successors.keys()
                asking = {"terms": sorted(last), "least": conditions.usual_shift}
                self._successors.update(dict.fromkeys(last, frozenset[str]()))
                for row in self._store.read(cypher_text("overlap/successors"), **asking):
                    self._successors[row["term"]] = frozenset(row["successors"])
            needed = {term for query in part for profile in query.profiles for term in profile.query_terms}
            missing = sorted(term for term in needed - claimed if term not in pool)
            claimed.update(missing)
            yield part, missing

    def _list(self, asked: _Asked, pool: Pool) -> None:
        """Make a shortlist for each profile."""
        context, elsewhere = asked.context, None
        said = said_in(context)
        if self._scenes is not None:
            texts = (*(turn.text for turn in context.turns), *context.right)
            elsewhere = self._scenes.apart_from(context.dialogue, texts, asked.terms).holds
        usual = frozenset[str]().union(*(self._successors.get(term, ()) for term in asked.terms.last))
        asked.lists = [
            shortlist(context, asked.terms, profile, sentences, said, self.conditions, usual, elsewhere)
            for profile in asked.profiles
            for sentences in [(sentence for term in profile.query_terms for sentence in pool.sentences(term))]
        ]

    def _given(self, asked: _Asked) -> list[Candidate]:
        """The candidates that are chosen, and counted."""
        chosen = self._chooser.choose(asked.lists)
        for at, item in chosen:
            self._wishes += met(asked.profiles[at], item, asked.terms)
        return [_candidate(item, asked.terms) for _, item in chosen]


class HardGenerator(OverlapGenerator):
    """`OverlapGenerator` with other defaults: ``SETTINGS``. It takes the same options.

    Raises:
        GeneratorError: an option is unknown or not what it takes.
    """

    name = "hard"

    def __init__(self, store: Store, **options: Any) -> None:
        super().__init__(store, **{**SETTINGS, **options})


def _candidate(item: Listed, terms: ContextTerms) -> Candidate:
    scores = {"shared": float(len(item.shared)), "shared_last": float(len(item.shared & terms.last))}
    if item.cosine is not None:
        scores["cosine"] = round(item.cosine, 4)
    details = {"source": item.sentence.id}
    if item.shared:
        details["shared"] = ", ".join(sorted(item.shared))
    return Candidate(item.sentence.text, (UNRELATED,), scores, details)


class Similarity:
    """The cosine condition, with the distribution of a store's right responses.

    Similarity is the cosine of vectors of the context's turns, joined, and of the sentence, both taken from
    the mean of such texts: without that, means of static vectors are all close to one another (Mu and
    Viswanath 2018, "All-but-the-Top", section 2). For each negative a cosine is drawn from those of the
    store's right responses, so that similarity alone can't tell right from wrong.
    """

    def __init__(self, embedder: Embedder, store: Store, most: float | None) -> None:
        snapshot = stored_snapshot(store)
        known = answered(store) if snapshot is None else snapshot.rows(store, ANSWERED)
        said, answers = [text for text, _ in known], [answer for _, answer in known]
        both = [text for pair in zip(said, answers, strict=True) for text in pair]
        self._embedder = embedder
        self._centre: NDArray[float32] | float = embedder.embed(both).mean(axis=0) if both else 0.0
        self._most = 1.0 if most is None else most
        pairs = zip(self._embed(said), self._embed(answers), strict=True) if both else ()
        self._usual = sorted(float(a @ b) for a, b in pairs)

    def reorder(self, asked: Sequence[_Asked]) -> None:
        """Put each list in order by its distance from its profile and from a drawn cosine.

        That is the cosine of a right response; none is drawn where too few are known. What is too close to
        the context is left out.
        """
        texts = sorted({item.sentence.text for query in asked for listed in query.lists for item in listed})
        vectors = dict(zip(texts, self._embed(texts), strict=True))
        usual = [cosine for cosine in self._usual if cosine < self._most]
        for query, meant in zip(asked, self._embed([query.context.text for query in asked]), strict=True):
            ordered: list[list[Listed]] = []
            for profile, listed in zip(query.profiles, query.lists, strict=True):
                target = usual[int(profile.draw * len(usual))] if len(usual) >= FEWEST else None
                kept: list[Listed] = []
                for item in listed:
                    cosine = float(meant @ vectors[item.sentence.text])
                    if cosine < self._most:
                        beside = 0.0 if target is None else abs(cosine - target)
                        kept.append(item._replace(distance=item.distance + WEIGHT * beside, cosine=cosine))
                ordered.append(sorted(kept, key=lambda item: (item.distance, item.chance, item.sentence.id)))
            query.lists = ordered

    def _embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Vectors from the mean, of length 1, shape (texts, dimensions)."""
        import numpy as np

        vectors = self._embedder.embed(texts) - self._centre
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def answered(store: Store) -> list[tuple[str, str]]:
    """The first contexts of a store with their right responses, of which cosines are taken."""
    contexts = (context for context in read_contexts(store, ContextSelection()) if context.positives)
    return [(context.text, context.positives[0]) for context in islice(contexts, CALIBRATION)]


def drop_likeliest(denoiser: Denoiser, asked: Sequence[_Asked], share: float) -> None:
    """Drop from the lists the ``share`` of each context's sentences that the denoiser likes best.

    Raises:
        GeneratorError: it does not give one number for each text.
    """
    keyed = [{item.key: item.sentence.text for listed in query.lists for item in listed} for query in asked]
    contexts = [query.context for query, some in zip(asked, keyed, strict=True) for _ in some]
    scores = denoiser.score(contexts, [text for some in keyed for text in some.values()])
    if len(scores) != len(contexts):
        raise GeneratorError(f"denoiser {denoiser.name} gave {len(scores)} scores for {len(contexts)} texts")
    left = iter(scores)
    for query, some in zip(asked, keyed, strict=True):
        ranked = sorted((-next(left), key) for key in some)
        gone = {key for _, key in ranked[: round(share * len(some))]}
        query.lists = [[item for item in listed if item.key not in gone] for listed in query.lists]
