"""Draw a target profile for each negative, and rank sentences by how well they match the profile.

`target_profiles` draws a `TargetProfile` for each negative: how many words the negative should share with the
context, whether it should share a word with the last turn, whether it should be in the first person, and
whether it should be a question. `shortlist` ranks the sentences of the pool by their distance from a profile,
and drops sentences that might be correct responses::

    profile     two shared words, none of the last turn, first person, statement
    distance 0  I read the terms before signing the petition.
    distance 1  She read the terms before signing the petition.        third person

`OverlapOptions` contains the options of ``overlap``. The defaults are based on statistics of 3,545
adversarial responses that people wrote (DailyDialog++, Sai et al. 2020). On average, these responses have
12.8 words, of which 5.3 are content words. 9% of the responses are questions, and 66% are in the first
person. 13% share no content word with the context, 46% share one, 32% share two, and 9% share three or more.
Among the responses that share any content word with the context, a third share a content word with the last
turn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, NamedTuple

from graphneg.english.tokens import WORD, detokenize, sentences
from graphneg.english.words import content_lemmas, word_class, word_list
from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.hashing import number
from graphneg.json_input import finite_number, whole_number

OPENINGS = (
    *sorted(word_class("reply-openings")),
    *(words.replace("_", " ") for words in word_list("asides")),
)
"""Openings in lower case that make a sentence sound like a reply or refer to something said before. An
opening is the first word of a sentence (*well*), or its first two words if a comma follows (*I see, ...*)."""

_SHARES = (
    *(
        "last_turn",
        "first_person",
        "questions",
        "min_term_frequency",
        "max_bridge_frequency",
        "max_overlap_frequency",
    ),
    *(
        "max_response_overlap",
        "drop_share",
        "noun_substitution_rate",
        "second_sentence_rate",
        "max_scene_cosine",
        "anecdote_weight",
        "max_word_share",
    ),
)
"""Names of the options whose values are fractions from 0 to 1."""
_COUNTS = (
    *(
        "min_words",
        "max_words",
        "min_content_words",
        "sentences_per_term",
        "max_uses",
        "max_last_turn_words",
        "usual_shift",
    ),
    "query_terms",
)
"""Names of the options whose values are positive integers."""
_BITS = 16
"""Number of bits of each random number in `target_profiles`. A 64-bit hash provides four such numbers."""
_QUERY_TERM_FACTOR = 2
"""Factor by which the number of query terms is multiplied if a profile asks for three or more shared words.
Few sentences share three words with a context, so more terms are searched for."""
_RARITY = 3
"""Exponent that determines how strongly rare terms are preferred over frequent terms as query terms."""
SHORTLIST = 16
"""Maximum number of sentences on a shortlist."""
_AMOUNTS = ("no words", "a word", "two words", "three words")
"""Words for 0, 1, 2 and 3 shared words in the names of target features, such as "a word in common"."""
MOST_SHARED = 3
"""Highest number of shared words in a profile, which means three or more shared words."""
_MIX, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
"""Multiplier and mask of the multiplicative hash that turns the rank of a sentence into a random number."""


@dataclass(frozen=True, slots=True)
class OverlapOptions:
    """Options of the generator ``overlap``: conditions on sentences, and proportions among the negatives.

    Fractions are from 0 to 1. If an option is None, its condition does not apply. The *pool* is the set of
    all sentences that can be retrieved.

    Attributes:
        min_words: Minimum number of words in a sentence.
        max_words: Maximum number of words in a sentence.
        min_content_words: Minimum number of content words in a sentence.
        openings: Words, in lower case, with which a sentence must not begin.
        overlap: Four fractions: of negatives that share no, one, two, and at least three content words with
            the context.
        last_turn: Fraction of negatives that share a content word with the last turn, among the negatives
            that share a content word with the context.
        max_last_turn_words: Maximum number of content words that a sentence may share with the last turn.
        first_person: Fraction of negatives in the first person (*I* or *we*).
        questions: Fraction of negatives that are questions.
        max_uses: Maximum number of times that the same sentence is used in a run.
        max_word_share: Maximum fraction of negatives that introduce the same word. A negative introduces a
            word if it contains the word but its context does not.
        min_term_frequency: Minimum frequency of every content word of a sentence. The frequency of a word is
            the fraction of the sentences from dialogues that contain the word.
        max_bridge_frequency: Fraction of the pool. Words of the context that occur in more sentences than
            this fraction are searched for last.
        max_overlap_frequency: Fraction of the pool. Words that occur in more sentences than this fraction do
            not count as shared words.
        max_response_overlap: Maximum fraction of a sentence's content words that a correct response may also
            contain.
        sources: Where sentences may come from: names of corpora (``everyday``), corpora with a split
            (``everyday/train``) or lexical resources; empty for all sources.
        sentences_per_term: Approximate number of sentences that are read from the pool per query term.
        max_cosine: Maximum cosine between a sentence and the context. Applies only if an embedder is given.
        usual_shift: Minimum number of replies with which a shift in the shift graph counts as usual. A
            sentence is dropped if it mentions a word to which replies usually shift from a word of the last
            turn.
        drop_share: Fraction of the shortlisted sentences to drop, those that the denoiser scores highest.
            Applies only if a denoiser is given.
        noun_substitution_rate: Fraction of negatives in which a noun is replaced by a noun of the context.
        query_terms: Number of words of the context that are searched for, per negative.
        anecdote_weight: Weight of the likeness between a sentence and the anecdotes that people write as
            wrong responses. With 1, features such as kinship terms are about as frequent in the negatives as
            in these anecdotes.
        max_scene_cosine: Maximum cosine between the vector of a sentence's scene (situation) and the vector
            of the context's scene.
        second_sentence_rate: Fraction of negatives to extend by the sentence that follows in the same turn.
            A negative that no suitable sentence follows is not extended.
        anecdotes: Whether to also use the anecdotes that graphneg provides.

    Raises:
        GeneratorError: An option has an invalid value.
    """

    min_words: int = 8
    max_words: int = 19
    min_content_words: int = 4
    openings: Sequence[str] = OPENINGS
    overlap: Sequence[float] = (0.13, 0.46, 0.32, 0.09)
    last_turn: float = 1 / 3
    max_last_turn_words: int | None = None
    first_person: float = 0.66
    questions: float = 0.09
    max_uses: int | None = 4
    max_word_share: float | None = None
    min_term_frequency: float | None = 1e-4
    max_bridge_frequency: float = 0.005
    max_overlap_frequency: float | None = None
    max_response_overlap: float = 0.5
    sources: Sequence[str] = ()
    sentences_per_term: int = 120
    max_cosine: float | None = 0.58
    usual_shift: int | None = None
    drop_share: float = 0.1
    noun_substitution_rate: float = 0.0
    query_terms: int = 3
    anecdote_weight: float = 0.0
    max_scene_cosine: float | None = None
    second_sentence_rate: float = 0.0
    anecdotes: bool = False

    def __post_init__(self) -> None:
        """Check that the options have valid values."""
        for name in (*_SHARES, *_COUNTS):
            value, is_share = getattr(self, name), name in _SHARES
            holds = (
                (number := finite_number(value)) is not None and 0 <= number <= 1
                if is_share
                else whole_number(value, least=1) is not None
            )
            # An option may also be None, which switches its condition off.
            if value is not None and not holds:
                what = "a share from 0 to 1" if is_share else "a whole number of at least 1"
                raise GeneratorError(f"overlap: {name} must be {what}, not {value!r}")
        if self.min_words > self.max_words:
            raise GeneratorError(
                f"overlap: min_words {self.min_words} is greater than max_words {self.max_words}"
            )
        for name in ("openings", "sources"):
            value = getattr(self, name)
            # Refuse a string in place of a list, because Python would read it as a list of letters.
            if isinstance(value, str) or not all(isinstance(text, str) for text in value):
                raise GeneratorError(
                    f'overlap: {name} must be a list of texts, such as ["well"], not {value!r}'
                )
        if len(self.overlap) != 4 or min(self.overlap) < 0 or not sum(self.overlap) > 0:
            raise GeneratorError(
                "overlap: overlap must be four shares: for 0, 1, 2, and 3 or more shared content words"
            )

    def parameters(self) -> dict[str, Any]:
        """Return the conditions on length and first word of a sentence, as parameters for Cypher queries."""
        return {
            "least": self.min_words,
            "most": self.max_words,
            "content": self.min_content_words,
            "openings": list(self.openings),
        }


@dataclass(frozen=True, slots=True)
class ContextTerms:
    """The content words of a context, as lemmas.

    Attributes:
        id: Id of the context.
        terms: Content words of all turns.
        informative: Content words of all turns that can count as shared words. Very frequent words are left
            out, because they say nothing about the topic.
        last: Content words of the last turn.
        terms_by_response: Content words of each correct response.
        response_terms: Content words of all correct responses together.
    """

    id: str
    terms: frozenset[str]
    informative: frozenset[str]
    last: frozenset[str]
    terms_by_response: tuple[frozenset[str], ...]
    response_terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class TargetProfile:
    """The features that one negative should have, and random numbers for choosing the negative.

    Attributes:
        shared: Number of content words that the negative should share with the context, from 0 to 3, where 3
            means three or more.
        last: Whether the negative should share a content word with the last turn.
        first_person: Whether the negative should be in the first person.
        question: Whether the negative should be a question.
        query_terms: Terms that are searched for in the sentence pool.
        tie_breaker: Random number that determines the order of sentences with equal distances from the
        profile.
        cosine_draw: Random number in [0, 1) that selects the target cosine between the negative and its
        context.
    """

    shared: int
    last: bool
    first_person: bool
    question: bool
    query_terms: tuple[str, ...]
    tie_breaker: int
    cosine_draw: float


def terms_of(context: Context, frequency: Callable[[str], int], max_overlap_frequency: float) -> ContextTerms:
    """Return the content words of a context, and of its correct responses.

    Args:
        context: Context with at least one turn.
        frequency: Function that returns how many sentences of the pool mention a term.
        max_overlap_frequency: Number of sentences. A word that occurs in more sentences of the pool does not
            count as a shared word, because it is too frequent to say anything about the topic.

    Returns:
        The content words as lemmas: separate sets for the context, its last turn and each correct response.
    """
    turns = [frozenset(content_lemmas(turn.text)) for turn in context.turns]
    answers = tuple(frozenset(content_lemmas(text)) for text in context.correct_responses)
    terms = frozenset[str]().union(*turns)
    informative = frozenset(term for term in terms if frequency(term) <= max_overlap_frequency)
    return ContextTerms(context.id, terms, informative, turns[-1], answers, frozenset[str]().union(*answers))


def target_profiles(
    context: ContextTerms,
    conditions: OverlapOptions,
    frequency: Callable[[str], int],
    max_bridge_frequency: float,
    unrelated_terms: Sequence[str],
    count: int,
    seed: int,
) -> list[TargetProfile]:
    """Draw a target profile for each negative that a context needs.

    The profiles for a context have different query terms, unless the context has too few terms. Rare terms
    tend to be used before frequent terms.

    Args:
        context: Content words of the context.
        conditions: Options of the generator, which contain the fractions of negatives with each feature.
        frequency: Function that returns how many sentences of the pool mention a term; 0 if the term cannot
            be searched for.
        max_bridge_frequency: Number of sentences. Terms that occur in more sentences of the pool are searched
            for only after all other terms.
        unrelated_terms: Terms that are searched for if a negative should share no words with the context.
        count: Number of profiles to draw.
        seed: Seed for drawing.

    Returns:
        A list of ``count`` profiles.
    """
    ranked = _ranked(context, frequency, max_bridge_frequency, seed)
    of_last = [term for term in ranked if term in context.last]
    before = [term for term in ranked if term not in context.last]
    far = [term for term in unrelated_terms if term not in context.terms]
    used = {True: 0, False: 0}
    profiles: list[TargetProfile] = []
    for slot in map(str, range(count)):
        # Draw four random numbers from 0 to 1, each from 16 bits of a hash. They decide how many words the
        # sentence must share with the context, whether one of these words is from the last turn, whether the
        # sentence is in the first person, and whether it is a question.
        bits = number(seed, "wish", context.id, slot)
        draws = [((bits >> (_BITS * at)) & 0xFFFF) / 0x10000 for at in range(4)]
        # If no word of the context can be searched for (`ranked` is empty), the negative shares no word.
        shared = _weighted_index(conditions.overlap, draws[0]) if ranked else 0
        # Search with terms of the last turn or with terms of earlier turns. If only the last turn or only the
        # earlier turns have terms, use these.
        last = bool(of_last) and (not before or draws[1] < conditions.last_turn)
        many = conditions.query_terms * (_QUERY_TERM_FACTOR if shared > 2 else 1)
        if shared:
            own, others = (of_last, before) if last else (before, of_last)
            # Each negative begins its search with another term, so that the context's negatives differ from
            # each other.
            terms = (_cyclic_slice(own, used[last], many) + others)[:many]
            used[last] += 1
        else:
            terms = _cyclic_slice(far, bits, many)
        person, question = draws[2] < conditions.first_person, draws[3] < conditions.questions
        order, draw = number(seed, "order", context.id, slot), number(seed, "draw", context.id, slot) / 2**64
        profiles.append(TargetProfile(shared, last, person, question, tuple(terms), order, draw))
    return profiles


def _cyclic_slice(terms: Sequence[str], start: int, most: int) -> list[str]:
    """Return up to ``most`` terms from index ``start`` on. After the last term, the first one follows."""
    return [terms[(start + step) % len(terms)] for step in range(min(most, len(terms)))]


def _ranked(
    context: ContextTerms, frequency: Callable[[str], int], max_bridge_frequency: float, seed: int
) -> list[str]:
    """Return the searchable terms of a context in random order, in which rare terms tend to come first.

    Very frequent terms come last. Terms that occur in no sentence of the pool are left out.

    Args:
        context: Content words of the context.
        frequency: Function that returns how many sentences of the pool mention a term.
        max_bridge_frequency: Number of sentences above which a term counts as very frequent.
        seed: Seed for the random order.

    Returns:
        The terms in the order in which they should be searched for.
    """
    keys: list[tuple[bool, float, str]] = []
    for term in context.terms:
        often = frequency(term)
        if often:
            # Weighted random order: the sort key is -log(u) for a uniform random number u, times a factor
            # that grows with the frequency of the term. u is above 0, so that the logarithm is defined.
            chance = (number(seed, "anchor", context.id, term) + 1) / (2**64 + 1)
            # Very frequent terms come last, because False sorts before True. Within the two groups, the order
            # is random.
            keys.append(
                (often > max_bridge_frequency, -math.log(chance) * math.log(often + 2) ** _RARITY, term)
            )
    return [term for _, _, term in sorted(keys)]


def _weighted_index(shares: Sequence[float], chance: float) -> int:
    """Draw an index with a probability that is proportional to its share.

    Args:
        shares: Share of each index; the shares need not add up to 1.
        chance: Uniformly distributed random number in [0, 1), which determines the index.

    Returns:
        An index of ``shares``.

    Example:
        >>> [_weighted_index((0.1, 0.4, 0.5), chance) for chance in (0.05, 0.3, 0.99)]
        [0, 1, 2]
    """
    total = sum(shares)
    return next((at for at, end in enumerate(accumulate(shares)) if chance * total < end), len(shares) - 1)


class PoolSentence(NamedTuple):
    """A sentence of the pool, with the properties by which `shortlist` selects sentences.

    Attributes:
        rank: Random rank of the sentence in the pool.
        id: Id of the sentence in the store.
        text: Text of the sentence.
        terms: Content words of the sentence, as lemmas.
        question: Whether the sentence is a question.
        first_person: Whether the sentence is in the first person.
        dialogue: Id of the dialogue that contains the sentence; empty if the sentence is not from a dialogue.
        like: Likeness of the sentence to anecdotes written by people (see
            `graphneg.generators.overlap.anecdotes`); 0 if the likeness was not computed.
    """

    rank: int
    id: str
    text: str
    terms: frozenset[str]
    question: bool
    first_person: bool
    dialogue: str
    like: float = 0.0


def words_key(text: str) -> str:
    """Return a key for a text, so that different spellings of the same sentence have the same key.

    Args:
        text: Text of a sentence or of several sentences.

    Returns:
        The words of the text in lower case, separated by spaces.

    Example:
        >>> words_key("It's  late - isn't it?"), words_key("It ’ s late , is n't it ?")
        ("it's late isn't it", "it's late isn't it")
    """
    return " ".join(WORD.findall(detokenize(text).lower()))


class ScoredCandidate(NamedTuple):
    """A sentence on a shortlist, with its distance from the features that the negative should have.

    Attributes:
        distance: Distance between the sentence and the features that the negative should have (target
            profile); lower is better.
        chance: Random number that breaks ties between sentences with equal distances.
        shared: Content words that the sentence shares with the context, as lemmas.
        key: Words of the sentence in lower case (`words_key`).
        sentence: Sentence of the pool.
        cosine: Cosine between the sentence and the context; None without an embedder.
    """

    distance: float
    chance: int
    shared: frozenset[str]
    key: str
    sentence: PoolSentence
    cosine: float | None = None

    @property
    def terms(self) -> frozenset[str]:
        """The content words of the sentence, as lemmas."""
        return self.sentence.terms


class Shortlist:
    """A sorted list of sentences, which are computed only when they are read.

    Computing all sentences would waste time, because often only the first sentence is needed.
    """

    def __init__(self, items: Iterator[ScoredCandidate]) -> None:
        """Initialize the list without reading any sentence.

        Args:
            items: Iterator over the sentences, sorted with the best first.
        """
        self._items = items
        self._found: list[ScoredCandidate] = []

    def __iter__(self) -> Iterator[ScoredCandidate]:
        """Yield the sentences from best to worst."""
        yield from self._found
        for listed in self._items:
            self._found.append(listed)
            yield listed


def text_keys_of(context: Context) -> frozenset[str]:
    """Return keys for all texts of a context that a retrieved sentence must not repeat.

    These are the texts of the turns and of the correct responses.

    Args:
        context: Context with its correct responses.

    Returns:
        The keys (see `words_key`) of the whole texts and of each sentence in these texts.
    """
    texts = (*(turn.text for turn in context.turns), *context.correct_responses)
    return frozenset(words_key(part) for text in texts for part in (text, *sentences(text)))


def shortlist(
    context: Context,
    terms: ContextTerms,
    profile: TargetProfile,
    sentences: Iterable[PoolSentence],
    known_keys: frozenset[str],
    conditions: OverlapOptions,
    usual_words: frozenset[str],
    is_other_scene: Callable[[PoolSentence, frozenset[str]], bool] | None = None,
) -> Shortlist:
    """Rank sentences by their distance from a target profile, and drop sentences that may be correct.

    A sentence is dropped if it

    - is a question, but the profile asks for a statement,
    - is from the same dialogue as the context, or repeats the context or a correct response,
    - shares too many content words with a correct response or with the last turn,
    - mentions a word to which replies usually shift from a word of the last turn, or
    - is about the same scene as the context.

    Args:
        context: Context for which a wrong response is needed.
        terms: Content words of the context.
        profile: Features that the negative should have.
        sentences: Sentences of the pool to rank.
        known_keys: Keys of the texts in the context and of its correct responses, from `text_keys_of`.
        conditions: Options of the generator, with the conditions that the sentences must meet.
        usual_words: Words to which replies usually shift from a word of the last turn. A sentence must not
            mention any of these words, unless the context also mentions the word.
        is_other_scene: Function that takes a sentence and the terms that it shares with the context, and
            returns whether the sentence is about a different scene; None to skip this condition.

    Returns:
        Up to `SHORTLIST` sentences, sorted by distance, the closest first.
    """
    informative, of_last, max_last_turn_words = (
        terms.informative,
        terms.informative & terms.last,
        conditions.max_last_turn_words,
    )
    asked, first_person, order = profile.question, profile.first_person, profile.tie_breaker
    anecdotal = conditions.anecdote_weight
    # The distance of a sentence from the profile (the wanted features) is the sum of these penalties:
    # - 4 for each shared word too many or too few
    # - 2 if a word of the last turn is wanted and the sentence has none, or the reverse
    # - 1.5 if a question is wanted and the sentence is a statement
    # - 1 if the first person is wanted and the sentence has another person, or the reverse
    by_shared = [4.0 * abs(count - profile.shared) for count in range(MOST_SHARED + 1)]
    by_distance: defaultdict[float, list[PoolSentence]] = defaultdict(list)
    # This loop runs over thousands of sentences, so it avoids function calls, which are slow.
    for sentence in sentences:
        if (sentence.question and not asked) or sentence.dialogue == context.dialogue:
            continue
        if max_last_turn_words is not None and len(sentence.terms & terms.last) > max_last_turn_words:
            continue
        common = sentence.terms & informative
        distance = by_shared[min(len(common), MOST_SHARED)]
        # Add a penalty if a shared word of the last turn is wanted and the sentence has none, or if it is not
        # wanted and the sentence has one.
        if common and of_last.isdisjoint(common) == profile.last:
            distance += 2.0
        if sentence.first_person != first_person and not anecdotal:
            # With `anecdote_weight`, there is no penalty for the grammatical person, because the likeness to
            # anecdotes already depends on it.
            distance += 1.0
        if asked and not sentence.question:
            distance += 1.5
        if anecdotal:
            # With Gumbel noise, sentences are drawn in proportion to exp(likeness) (Gumbel-max trick).
            chance = ((sentence.rank ^ order) * _MIX) & _MASK
            distance -= anecdotal * (sentence.like + _gumbel(chance))
        by_distance[distance].append(sentence)

    def ranked() -> Iterator[tuple[float, int, PoolSentence]]:
        """Yield the sentences, sorted by distance. Sentences with equal distances are shuffled lazily."""
        for distance, equal in sorted(by_distance.items()):
            drawn = [(((each.rank ^ order) * _MIX) & _MASK, each) for each in equal]
            yield from ((distance, chance, each) for chance, each in sorted(drawn))

    def fitting() -> Iterator[ScoredCandidate]:
        listed: set[str] = set()
        for distance, chance, sentence in ranked():
            key = words_key(sentence.text)
            # Skip a sentence that repeats a turn of the context, a correct response or an earlier sentence of
            # the shortlist.
            if key in known_keys or key in listed:
                continue
            mentioned, likest = sentence.terms, conditions.max_response_overlap * len(sentence.terms)
            # Drop a sentence with a word to which replies usually shift (a word of `usual_words`), because it
            # may be a correct response. A word of the context does not count, because repeating it does not
            # shift the topic.
            if usual_words and not usual_words.isdisjoint(mentioned - terms.terms):
                continue
            # First compare the sentence with the words of all correct responses together. If it shares few of
            # these words, it also shares few words with each single response, so the slower comparisons with
            # each of them are skipped.
            near = len(mentioned & terms.response_terms) > likest
            shared = mentioned & terms.terms
            # Drop a sentence that shares most of its words with a correct response, because it may be correct
            # itself.
            if near and not all(len(mentioned & answer) <= likest for answer in terms.terms_by_response):
                continue
            # Keep the sentence only if it is about another scene than the context. This check takes longest,
            # so it comes last.
            if is_other_scene is None or is_other_scene(sentence, shared):
                listed.add(key)
                yield ScoredCandidate(distance, chance, shared, key, sentence)

    return Shortlist(islice(fitting(), SHORTLIST))


def _gumbel(chance: int) -> float:
    """Return Gumbel noise that is computed from a random 64-bit number.

    If such noise is added to the logarithm of each item's weight, the probability that an item has the
    highest sum is proportional to its weight (Gumbel-max trick).
    """
    return -math.log(-math.log(((chance >> 12) + 0.5) / 2**52))


def features_met(
    profile: TargetProfile, item: ScoredCandidate, terms: ContextTerms
) -> list[tuple[str, bool]]:
    """Return the features that a target profile asks for, and whether a sentence has each of them.

    Args:
        profile: Features that the negative should have.
        item: Sentence that was chosen for the profile.
        terms: Content words of the context.

    Returns:
        One pair per feature: the name of the feature, such as ``question``, and whether the sentence has the
        feature.
    """
    common = len(item.shared & terms.informative)
    wishes = [
        (f"{_AMOUNTS[profile.shared]} in common", common >= profile.shared, profile.shared > 0),
        ("word of the last turn", not terms.last.isdisjoint(item.shared), profile.last),
        ("first person", item.sentence.first_person, profile.first_person),
        ("question", item.sentence.question, profile.question),
    ]
    return [(name, holds) for name, holds, is_wished in wishes if is_wished]
