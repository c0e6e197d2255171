"""What a sentence must be to stand as a response: every condition of ``overlap``, with its default.

The defaults were counted on 3,545 responses that people wrote to be wrong (DailyDialog++, Sai et al. 2020):
12.8 words and 5.3 content words at the mean, 9% questions, 66% in the first person; none, one,
two, three or more content words of the context in 13, 46, 32 and 9%, a third with its last turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from graphneg.content_words import word_set
from graphneg.errors import GeneratorError

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
