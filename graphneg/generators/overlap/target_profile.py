"""What each negative should be, and which sentences come closest to that and are no right answers.

Contexts and the pool's frequencies of terms go in, a `TargetProfile` for each negative comes out, drawn by
hashing: how many words it shares with the context, which, and in what form. A profile and sentences of the
pool go in, a `Shortlist` comes out, the best first.

What every sentence must be to stand as a response are the `Conditions` of ``overlap``. Their defaults were
counted on 3,545 responses that people wrote to be wrong (DailyDialog++, Sai et al. 2020): 12.8 words and 5.3
content words at the mean, 9% questions, 66% in the first person; none, one, two, three or more content words
of the context in 13, 46, 32 and 9%, a third with its last turn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, NamedTuple

from graphneg.english.tokens import WORD, closed_up, sentences
from graphneg.english.words import content_lemmas, word_class, word_list
from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.hashing import number

OPENINGS = (
    *sorted(word_class("reply-openings")),
    *(words.replace("_", " ") for words in word_list("asides")),
)
"""First words, in lower case, of what sounds like a reply or points back; two of them before a comma."""

_SHARES = (
    *("last_turn", "first_person", "questions", "everyday", "hub", "light"),
    *("likeness", "likeliest", "exchanged", "seconds", "most_alike", "anecdotal", "most_said"),
)
_COUNTS = (
    *("least_words", "most_words", "least_content", "sample", "most_uses", "most_last", "usual_shift"),
    "query_terms",
)
_BITS = 16
_MANY = 2
"""Sentences with three or more words in common are rare, so so many times more terms are looked at."""
_RARITY = 3
"""How strongly rare terms are preferred."""
SHORTLIST = 16
_AMOUNTS = ("no words", "a word", "two words", "three words")
MOST_SHARED = 3
_MIX, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions. Shares are between 0 and 1; a `None` switches its condition off.

    ============================ ===============================================================
    ``least_words, most_words``  how long a sentence is
    ``least_content``            how many content words it has at least
    ``openings``                 first words that it must not have
    ``overlap``                  the shares of negatives that have none, one, two, three or more
                                 content words of the context
    ``last_turn``                the share that has one of its last turn (of those that have any)
    ``most_last``                how many content words of the last turn it may have at most
    ``first_person, questions``  the share that speaks of *I* and *we*; the share of questions
    ``most_uses``                how often one sentence is used in a run
    ``most_said``                a word that sentences bring along is in this share of them at most
    ``everyday``                 each content word stands in this share of the pool's spoken sentences
    ``hub``                      terms in a larger share of the pool are no bridge to the context
    ``light``                    terms in a larger share of the pool don't count as words in common
    ``likeness``                 how much of its content words a sentence may have of a right response
    ``sources``                  parts of the pool, by corpus, corpus/split or resource; all where empty
    ``sample``                   how many sentences are looked at for each term
    ``most_cosine``              with an embedder: the closest that a sentence may be to the context
    ``usual_shift``              from this count on, a shift edge from the last turn is usual,
                                 and a sentence that mentions its end is left out
    ``likeliest``                with a denoiser: the share of candidates that it likes best, which goes
    ``exchanged``                the share in which a noun becomes one of the context's
    ``query_terms``              words of the context that sentences are looked for under
    ``anecdotal``                how much sentences go first that are like people's anecdotes; at 1 each is
                                 drawn as often as people tell one like it
    ``most_alike``               cosine: what is set in a scene that is more like the context's is left out
    ``seconds``                  the share that the next sentence of their turn follows, where there is one
    ``anecdotes``                whether the sentences that come with graphneg are a part of the pool
    ============================ ===============================================================
    """

    least_words: int = 8
    most_words: int = 19
    least_content: int = 4
    openings: Sequence[str] = OPENINGS
    overlap: Sequence[float] = (0.13, 0.46, 0.32, 0.09)
    last_turn: float = 1 / 3
    most_last: int | None = None
    first_person: float = 0.66
    questions: float = 0.09
    most_uses: int | None = 4
    most_said: float | None = None
    everyday: float | None = 1e-4
    hub: float = 0.005
    light: float | None = None
    likeness: float = 0.5
    sources: Sequence[str] = ()
    sample: int = 120
    most_cosine: float | None = 0.58
    usual_shift: int | None = None
    likeliest: float = 0.1
    exchanged: float = 0.0
    query_terms: int = 3
    anecdotal: float = 0.0
    most_alike: float | None = None
    seconds: float = 0.0
    anecdotes: bool = False

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        for name in (*_SHARES, *_COUNTS):
            value, is_share = getattr(self, name), name in _SHARES
            holds = (
                isinstance(value, int | float) and 0 <= value <= 1
                if is_share
                else isinstance(value, int) and value >= 1
            )
            if value is not None and not holds:
                what = "a share from 0 to 1" if is_share else "a whole number of 1 or more"
                raise GeneratorError(f"overlap: {name} is {what}, not {value!r}")
        if self.least_words > self.most_words:
            raise GeneratorError(
                f"overlap: least_words {self.least_words} is over {self.most_words}, the most"
            )
        for name in ("openings", "sources"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(text, str) for text in value):
                raise GeneratorError(f'overlap: {name} is a list of texts, such as ["well"], not {value!r}')
        if len(self.overlap) != 4 or min(self.overlap) < 0 or not sum(self.overlap) > 0:
            raise GeneratorError(
                "overlap: overlap is four shares, for none, one, two, three or more content words in common"
            )

    def parameters(self) -> dict[str, Any]:
        """What the queries ask of every sentence."""
        return {
            "least": self.least_words,
            "most": self.most_words,
            "content": self.least_content,
            "openings": list(self.openings),
        }


@dataclass(frozen=True, slots=True)
class ContextTerms:
    """The content words of a context: all, those of its last turn, those of each right response and of any.

    ``informative`` are those that count as words in common: a word that is said everywhere sets no scene.
    """

    id: str
    terms: frozenset[str]
    informative: frozenset[str]
    last: frozenset[str]
    answers: tuple[frozenset[str], ...]
    answered: frozenset[str]


@dataclass(frozen=True, slots=True)
class TargetProfile:
    """What one negative should be. ``shared`` is 0 to 3, and 3 means three or more; ``order`` shuffles.

    Sentences are looked for under ``query_terms``; ``draw``, from 0 to 1, draws a cosine.
    """

    shared: int
    last: bool
    first_person: bool
    question: bool
    query_terms: tuple[str, ...]
    order: int
    draw: float


def terms_of(context: Context, frequency: Callable[[str], int], light: float) -> ContextTerms:
    """The terms of a context; those of a higher ``frequency`` than ``light`` are not informative."""
    turns = [frozenset(content_lemmas(turn.text)) for turn in context.turns]
    answers = tuple(frozenset(content_lemmas(text)) for text in context.right)
    terms = frozenset[str]().union(*turns)
    informative = frozenset(term for term in terms if frequency(term) <= light)
    return ContextTerms(context.id, terms, informative, turns[-1], answers, frozenset[str]().union(*answers))


def target_profiles(
    context: ContextTerms,
    conditions: Conditions,
    frequency: Callable[[str], int],
    hub: float,
    elsewhere: Sequence[str],
    amount: int,
    seed: int,
) -> list[TargetProfile]:
    """The profiles of a context's negatives, each with query terms of its own as long as there are any.

    ``frequency`` of a term is 0 where it can't be a query term; terms over ``hub`` are taken last, and rare
    ones rather than frequent ones. What shares nothing with the context is looked for ``elsewhere``.
    """
    ranked = _ranked(context, frequency, hub, seed)
    of_last = [term for term in ranked if term in context.last]
    before = [term for term in ranked if term not in context.last]
    far = [term for term in elsewhere if term not in context.terms]
    used = {True: 0, False: 0}
    profiles: list[TargetProfile] = []
    for slot in map(str, range(amount)):
        bits = number(seed, "wish", context.id, slot)
        draws = [((bits >> (_BITS * at)) & 0xFFFF) / 0x10000 for at in range(4)]
        shared = _drawn(conditions.overlap, draws[0]) if ranked else 0
        last = bool(of_last) and (not before or draws[1] < conditions.last_turn)
        many = conditions.query_terms * (_MANY if shared > 2 else 1)
        if shared:
            own, others = (of_last, before) if last else (before, of_last)
            terms = (_around(own, used[last], many) + others)[:many]
            used[last] += 1
        else:
            terms = _around(far, bits, many)
        person, question = draws[2] < conditions.first_person, draws[3] < conditions.questions
        order, draw = number(seed, "order", context.id, slot), number(seed, "draw", context.id, slot) / 2**64
        profiles.append(TargetProfile(shared, last, person, question, tuple(terms), order, draw))
    return profiles


def _around(terms: Sequence[str], start: int, most: int) -> list[str]:
    """At most so many terms from an index on, once round."""
    return [terms[(start + step) % len(terms)] for step in range(min(most, len(terms)))]


def _ranked(context: ContextTerms, frequency: Callable[[str], int], hub: float, seed: int) -> list[str]:
    """The terms that can be query terms, drawn so that rare ones tend to come first; hubs come last."""
    keys: list[tuple[bool, float, str]] = []
    for term in context.terms:
        often = frequency(term)
        if often:
            chance = (number(seed, "anchor", context.id, term) + 1) / (2**64 + 1)
            keys.append((often > hub, -math.log(chance) * math.log(often + 2) ** _RARITY, term))
    return [term for _, _, term in sorted(keys)]


def _drawn(shares: Sequence[float], chance: float) -> int:
    """The index in ``shares`` that a number from 0 to 1 falls on.

    >>> [_drawn((0.1, 0.4, 0.5), chance) for chance in (0.05, 0.3, 0.99)]
    [0, 1, 2]
    """
    total = sum(shares)
    return next((at for at, end in enumerate(accumulate(shares)) if chance * total < end), len(shares) - 1)


class PoolSentence(NamedTuple):
    """A sentence that can be a response; ``like`` is its `likeness` to people's anecdotes, if asked for."""

    rank: int
    id: str
    text: str
    terms: frozenset[str]
    question: bool
    first_person: bool
    dialogue: str
    like: float = 0.0


def words_key(text: str) -> str:
    """Return a text's words in lower case, which two writings of the same sentence have in common.

    >>> words_key("It's  late - isn't it?"), words_key("It ’ s late , is n't it ?")
    ("it's late isn't it", "it's late isn't it")
    """
    return " ".join(WORD.findall(closed_up(text).lower()))


class Listed(NamedTuple):
    """A sentence on a shortlist: how far it is from the profile, then by chance.

    ``shared`` are the content words that it has of the context, ``key`` its words in lower case;
    ``cosine`` is there with an embedder.
    """

    distance: float
    chance: int
    shared: frozenset[str]
    key: str
    sentence: PoolSentence
    cosine: float | None = None

    @property
    def terms(self) -> frozenset[str]:
        """The content words of the sentence."""
        return self.sentence.terms


class Shortlist:
    """Sentences in order, each looked at when it is asked for: mostly the first is taken."""

    def __init__(self, items: Iterator[Listed]) -> None:
        self._items = items
        self._found: list[Listed] = []

    def __iter__(self) -> Iterator[Listed]:
        yield from self._found
        for listed in self._items:
            self._found.append(listed)
            yield listed


def said_in(context: Context) -> frozenset[str]:
    """Keys of what is said in the context or answers it rightly: whole turns, and each sentence of them."""
    texts = (*(turn.text for turn in context.turns), *context.right)
    return frozenset(words_key(part) for text in texts for part in (text, *sentences(text)))


def shortlist(
    context: Context,
    terms: ContextTerms,
    profile: TargetProfile,
    sentences: Iterable[PoolSentence],
    said: frozenset[str],
    conditions: Conditions,
    usual: frozenset[str],
    elsewhere: Callable[[PoolSentence, frozenset[str]], bool] | None = None,
) -> Shortlist:
    """The sentences that come closest to a profile, nearest first; ``usual`` are terms that none may mention.

    Hard conditions: no question where none is wanted, nothing that is said in the context, in its
    dialogue or in a right response, nor nearly so, none that mentions a usual shift, and few enough words
    of the last turn; ``elsewhere`` tells of a sentence and the terms it shares whether it is set so.
    """
    informative, of_last, most_last = terms.informative, terms.informative & terms.last, conditions.most_last
    asked, first_person, order = profile.question, profile.first_person, profile.order
    anecdotal = conditions.anecdotal
    by_shared = [4.0 * abs(count - profile.shared) for count in range(MOST_SHARED + 1)]
    by_distance: defaultdict[float, list[PoolSentence]] = defaultdict(list)
    for sentence in sentences:  # some thousand for each profile: nothing is called here that can be inlined
        if (sentence.question and not asked) or sentence.dialogue == context.dialogue:
            continue
        if most_last is not None and len(sentence.terms & terms.last) > most_last:
            continue
        common = sentence.terms & informative
        distance = by_shared[min(len(common), MOST_SHARED)]
        if common and of_last.isdisjoint(common) == profile.last:
            distance += 2.0
        if sentence.first_person != first_person and not anecdotal:
            distance += 1.0  # where it counts how like an anecdote it is, its person counts in that
        if asked and not sentence.question:
            distance += 1.5
        if anecdotal:
            chance = ((sentence.rank ^ order) * _MIX) & _MASK
            distance -= anecdotal * (sentence.like + _gumbel(chance))
        by_distance[distance].append(sentence)

    def ranked() -> Iterator[tuple[float, int, PoolSentence]]:
        """Nearest first; of those farther off, chance is worked out only where the nearer are used up."""
        for distance, equal in sorted(by_distance.items()):
            drawn = [(((each.rank ^ order) * _MIX) & _MASK, each) for each in equal]
            yield from ((distance, chance, each) for chance, each in sorted(drawn))

    def fitting() -> Iterator[Listed]:
        listed: set[str] = set()
        for distance, chance, sentence in ranked():
            key = words_key(sentence.text)
            if key in said or key in listed:
                continue
            mentioned, likest = sentence.terms, conditions.likeness * len(sentence.terms)
            if usual and not usual.isdisjoint(mentioned - terms.terms):
                continue
            near = len(mentioned & terms.answered) > likest
            shared = mentioned & terms.terms
            if near and not all(len(mentioned & answer) <= likest for answer in terms.answers):
                continue
            if elsewhere is None or elsewhere(sentence, shared):
                listed.add(key)
                yield Listed(distance, chance, shared, key, sentence)

    return Shortlist(islice(fitting(), SHORTLIST))


def _gumbel(chance: int) -> float:
    """A number of the Gumbel distribution: of weights' logarithms with one added to each, the largest is each
    one's as often as its weight says."""
    return -math.log(-math.log(((chance >> 12) + 0.5) / 2**52))


def met(profile: TargetProfile, item: Listed, terms: ContextTerms) -> list[tuple[str, bool]]:
    """What a profile wishes for, and whether a sentence has it."""
    common = len(item.shared & terms.informative)
    wishes = [
        (f"{_AMOUNTS[profile.shared]} in common", common >= profile.shared, profile.shared > 0),
        ("word of the last turn", not terms.last.isdisjoint(item.shared), profile.last),
        ("first person", item.sentence.first_person, profile.first_person),
        ("question", item.sentence.question, profile.question),
    ]
    return [(name, holds) for name, holds, is_wished in wishes if is_wished]
