"""What is asked of each negative: words in common, form, and what every sentence must be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import accumulate
from typing import Any

from graphneg.english.lemmas import content_lemmas
from graphneg.english.words import word_set
from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.hashing import number

# What a sentence must be to stand as a response: every condition of ``overlap``, with its default.
#
# The defaults were counted on 3,545 responses that people wrote to be wrong (DailyDialog++, Sai et al. 2020):
# 12.8 words and 5.3 content words at the mean, 9% questions, 66% in the first person; none, one,
# two, three or more content words of the context in 13, 46, 32 and 9%, a third with its last turn.


_FIRST_WORDS = word_set(
    """
    absolutely actually agreed ah alas all alright also although and anyway anyways awesome
    because besides but bye certainly congratulations cool correct definitely did do does don't
    exactly excuse finally fine glad good goodbye great haha he he'd he'll he's hello hey hi hmm
    how however if indeed interesting it it's its let let's lol lovely maybe neither nice no nope
    nor not now of oh ok okay or otherwise pardon perfect perhaps please probably really right she
    she'd she'll she's so sorry sounds sure thank thanks that that's then these they they'd they'll
    they're they've this those though too totally true welcome well what which whose why wonderful
    wow yeah yep yes yup
    """
)
_ASIDES = (
    *("i see", "i know", "i guess", "i do", "i did", "i agree", "i understand", "i mean", "i understood"),
    *("you know", "you see", "you're right", "you are"),
)
_SHARES = (
    *("last_turn", "first_person", "questions", "everyday", "hub", "light"),
    *("likeness", "likeliest", "exchanged"),
)
OPENINGS = (*sorted(_FIRST_WORDS), *_ASIDES)
"""First words, in lower case, of what sounds like a reply or points back; two of them before a comma."""


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

    def __post_init__(self) -> None:
        for name in _SHARES:
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
                raise GeneratorError(f"overlap: {name} is a share from 0 to 1, not {value!r}")
        for name in (
            "least_words",
            "most_words",
            "least_content",
            "sample",
            "most_uses",
            "most_last",
            "usual_shift",
        ):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and value >= 1):
                raise GeneratorError(f"overlap: {name} is a whole number of 1 or more, not {value!r}")
        if self.least_words > self.most_words:
            raise GeneratorError(
                f"overlap: least_words {self.least_words} is over {self.most_words}, the most"
            )
        for name in ("openings", "sources"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(one, str) for one in value):
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

    def settings(self) -> dict[str, Any]:
        """All conditions, as JSON can hold them."""
        return asdict(self)


def conditions_of(options: Mapping[str, Any]) -> Conditions:
    """Conditions by name.

    Raises:
        GeneratorError: there is no such condition, or a value is not what it takes.
    """
    known = [field.name for field in fields(Conditions)]
    strange = [name for name in options if name not in known]
    if strange:
        raise GeneratorError(
            f"generator overlap takes no option {' or '.join(map(repr, strange))}; it takes embedder, "
            f"denoiser, {', '.join(known)}"
        )
    return Conditions(**options)


# What is wanted of each negative, drawn by hashing: how many words in common, which, and in what form.


_BITS = 16
_ANCHORS = 3
_MANY_ANCHORS = 6
"""Anchors of a wish: the first is its own, the others stand in where that one leads nowhere. Sentences with
three or more words in common are rare, so more terms are looked at."""
_RARITY = 3
"""How strongly rare terms are preferred."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The content words of a context: all, those of its last turn, those of each right response and of any.

    ``telling`` are those that count as words in common: a word that is said everywhere sets no scene.
    """

    id: str
    terms: frozenset[str]
    telling: frozenset[str]
    last: frozenset[str]
    answers: tuple[frozenset[str], ...]
    answered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Wish:
    """What one negative should be. ``shared`` is 0 to 3, and 3 means three or more; ``order`` shuffles."""

    shared: int
    last: bool
    first_person: bool
    question: bool
    anchors: tuple[str, ...]
    order: int
    draw: float


def scene_of(context: Context, frequency: Callable[[str], int], light: float) -> Scene:
    """The scene of a context; terms of a higher ``frequency`` than ``light`` are not telling."""
    turns = [frozenset(content_lemmas(turn.text)) for turn in context.turns]
    answers = tuple(frozenset(content_lemmas(text)) for text in context.positives)
    terms = frozenset[str]().union(*turns)
    telling = frozenset(term for term in terms if frequency(term) <= light)
    return Scene(context.id, terms, telling, turns[-1], answers, frozenset[str]().union(*answers))


def wishes_for(
    scene: Scene,
    conditions: Conditions,
    frequency: Callable[[str], int],
    hub: float,
    elsewhere: Sequence[str],
    amount: int,
    seed: int,
) -> list[Wish]:
    """The wishes of a context's negatives, each with anchors of its own as long as there are any.

    ``frequency`` of a term is 0 where it can't be an anchor; terms over ``hub`` are taken last, and rare
    ones rather than frequent ones. What shares nothing with the context is anchored ``elsewhere``.
    """
    ranked = _ranked(scene, frequency, hub, seed)
    of_last = [term for term in ranked if term in scene.last]
    before = [term for term in ranked if term not in scene.last]
    used = {True: 0, False: 0}
    found: list[Wish] = []
    for slot in range(amount):
        bits = number(seed, "wish", scene.id, str(slot))
        draws = [((bits >> (_BITS * place)) & 0xFFFF) / 0x10000 for place in range(4)]
        shared = _drawn(conditions.overlap, draws[0]) if ranked else 0
        last = bool(of_last) and (not before or draws[1] < conditions.last_turn)
        own, others = (of_last, before) if last else (before, of_last)
        if not shared:
            own, others = [term for term in elsewhere if term not in scene.terms], []
        many = _MANY_ANCHORS if shared > 2 else _ANCHORS
        start = bits % max(len(own), 1) if not shared else used[last]
        used[last] += bool(shared)
        anchors = [own[(start + i) % len(own)] for i in range(min(many, len(own)))]
        found.append(
            Wish(
                shared=shared,
                last=last,
                first_person=draws[2] < conditions.first_person,
                question=draws[3] < conditions.questions,
                anchors=tuple((anchors + others)[:many]),
                order=number(seed, "order", scene.id, str(slot)),
                draw=number(seed, "draw", scene.id, str(slot)) / 2**64,
            )
        )
    return found


def _ranked(scene: Scene, frequency: Callable[[str], int], hub: float, seed: int) -> list[str]:
    """The terms that can be anchors, drawn so that rare ones tend to come first; hubs come last."""
    keys: list[tuple[bool, float, str]] = []
    for term in scene.terms:
        often = frequency(term)
        if often:
            chance = (number(seed, "anchor", scene.id, term) + 1) / (2**64 + 1)
            keys.append((often > hub, -math.log(chance) * math.log(often + 2) ** _RARITY, term))
    return [term for _, _, term in sorted(keys)]


def _drawn(shares: Sequence[float], chance: float) -> int:
    """The place in ``shares`` that a number from 0 to 1 falls on.

    >>> [_drawn((0.1, 0.4, 0.5), chance) for chance in (0.05, 0.3, 0.99)]
    [0, 1, 2]
    """
    total = sum(shares)
    for place, border in enumerate(accumulate(shares)):
        if chance * total < border:
            return place
    return len(shares) - 1
