"""Which written texts are no responses: by rules, and by how likely a language model finds them.

A text and its keywords go in, the name of what is wrong with it comes out (`refusal`, `broken`): unfinished,
without its keyword, going round in circles. A small model's mistakes are of a few kinds that can be told
without another model.

Texts and the turns before them go in, the losses of those that are within `Bounds` come out
(`PerplexityFilter`). The request that asked for a text is not read, nor the words that it was to have: told
of a word, a small model finds any sentence likely that says it. What is unlikely both ways is mostly no
sentence, or none that makes sense.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log
from typing import NamedTuple

from graphneg.english.mentions import mentions
from graphneg.english.tokens import closed_up, words_of
from graphneg.english.words import is_foreign, lemmas, word_class
from graphneg.errors import InputError
from graphneg.generators.base import Context, Turn
from graphneg.generators.prompts import reply_request
from graphneg.nn.language_models import CausalLM

REASONS = {
    "unfinished": "the text does not come to the end of a sentence",
    "not-plain-text": "the text has signs that no one says",
    "too-short": "the text has too few words",
    "too-long": "the text has too many words",
    "rambles": "the text has too many sentences",
    "no-keyword": "a keyword is not in the text",
    "repeats": "the text repeats itself",
    "copies-context": "the text repeats the context",
    "like-another": "the text is nearly another one of the same context",
    "not-english": "the text is hardly English",
    "surprising": "the model itself finds the text unlikely",
    "said-before": "the text is nearly one of another context",
}
"""Why a written text is refused, by the code that counts it."""
LENGTHS = range(5, 25)
"""How many words a text may have where nobody says."""
NEAR = 0.7
"""Texts are the same, for here, from this share of common words on (Jaccard index)."""

_ENDINGS = (".", "!", "?", '."', '!"', '?"')
_STRANGE = re.compile(r"""https?:|www\.|_|[^\w\s'"‘’“”–—…,.!?&%$£€/+-]|\d{5,}|\.\.|…""")
_SENTENCE_END = re.compile(r"""[.!?]+["'”’]*(?=\s|$)""")
_STATEMENT = re.compile(r"[^.!?]+(?=[.!](?:\s|$))")
_POSSESSIVE = re.compile("['’]s?$")
_LONG_WORD = 3
_COPIED_RUN = 5
_MANY_COMMAS = 4
_STRANGEST = 3
_SENTENCES = 2
"""A small model that needs more to get to its keyword has lost its way."""

FUNCTION_WORDS = word_class("function-words")
"""Words that a sentence may well have twice."""
NO_ENDINGS, LEADING = word_class("no-endings"), word_class("leading")
"""Words that end no statement, and those after which they may."""
WORDS_OF_TALK = word_class("words-of-talk")
"""Words of greeting, thanks and the like: what is said with one of them is about nothing."""


def refusal(
    text: str,
    keywords: Sequence[Sequence[str]],
    context: Context,
    lengths: range,
    examples: Iterable[str] = (),
) -> str | None:
    """Why a text is no response to offer, as a name; None where it is one.

    ``keywords`` are the words of each keyword that must be there, in whatever form; ``lengths`` how many
    words a text may have; ``examples`` texts that the model was shown.
    """
    words = words_of(text)
    reason = broken(text, keywords, lengths)
    if reason is not None:
        return reason
    if any(shares_run(words, words_of(example)) for example in examples):
        return "copies-example"
    if any(alike(words, words_of(positive)) for positive in context.right):
        return "like-a-positive"
    if any(shares_run(words, words_of(turn.text)) for turn in context.turns):
        return "copies-context"
    return None


def broken(text: str, keywords: Sequence[Sequence[str]], lengths: range) -> str | None:
    """Why a text is none that anybody says, whatever it was written for, as a name; None where it is one."""
    words = words_of(text)
    if not text.endswith(_ENDINGS) or breaks_off(text):
        return "unfinished"
    if _STRANGE.search(text) or text.count('"') % 2 or text[:1].islower():
        return "not-plain-text"
    if len(words) not in lengths:
        return "too-short" if len(words) < lengths.start else "too-long"
    if len(_SENTENCE_END.findall(text)) > _SENTENCES:
        return "rambles"
    if not all(mentions(words, keyword) for keyword in keywords):
        return "no-keyword"
    if is_foreign(text):
        return "not-english"
    if goes_round(words) or text.count(",") >= _MANY_COMMAS:
        return "repeats"
    return None


def breaks_off(text: str) -> bool:
    """Whether a statement ends with a word that none ends with.

    >>> breaks_off("You can use the calendar for."), breaks_off("It is what I came for.")
    (True, False)
    """
    for said in _STATEMENT.findall(text):
        *before, last = words_of(said) or [""]
        if last in NO_ENDINGS and LEADING.isdisjoint(before):
            return True
    return False


def goes_round(words: Sequence[str]) -> bool:
    """Whether a text says a content word or a run of three words twice.

    >>> goes_round("the summer was hot and the hot summer came".split())
    True
    """
    plain = [_POSSESSIVE.sub("", word) for word in words]
    content = [min(lemmas(word)) for word in plain if len(word) >= _LONG_WORD and word not in FUNCTION_WORDS]
    runs = Counter(zip(words, words[1:], words[2:], strict=False))
    return len(set(content)) < len(content) or any(count > 1 for count in runs.values())


def alike(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two texts have nearly the same words."""
    one, other = set(words), set(others)
    return bool(one) and len(one & other) >= NEAR * len(one | other)


def shares_run(words: Sequence[str], others: Sequence[str], size: int = _COPIED_RUN) -> bool:
    """Whether ``size`` words stand in the same order in both, or all of the shorter one.

    >>> shares_run("so I will water the plants of Ann".split(), "will water the plants of".split())
    True
    """
    size = min(size, len(words))
    return not _runs(tuple(words), size).isdisjoint(_runs(tuple(others), size))


@lru_cache(maxsize=4096)
def _runs(words: tuple[str, ...], size: int) -> frozenset[tuple[str, ...]]:
    return frozenset(words[at : at + size] for at in range(len(words) - size + 1))


class TextLosses(NamedTuple):
    """Mean losses of a text (nats a token): ``alone``, and ``after`` turns, where there are any, else again.

    ``worst`` is the loss of its least likely token after them.
    """

    alone: float
    after: float
    worst: float

    @property
    def mean(self) -> float:
        """The mean of both: texts are ranked by it."""
        return (self.alone + self.after) / 2

    @property
    def perplexity(self) -> float:
        """The exponential of `mean`."""
        return exp(min(self.mean, 50.0))


class LaterLosses(NamedTuple):
    """Losses of a text after turns that it was not written for (nats a token): the ``mean``, and that of
    its three ``strangest`` tokens alone."""

    mean: float
    strangest: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which losses pass: perplexities of at most ``alone`` and ``surprise`` (after turns), and no token
    of a loss over ``worst``. Raises `InputError` for values that nothing could have."""

    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0

    def __post_init__(self) -> None:
        if self.surprise <= 1 or self.alone <= 1 or self.worst <= 0:
            raise InputError(
                f"surprise {self.surprise}, alone {self.alone}, worst {self.worst}: "
                "perplexities are above 1, losses above 0"
            )

    def hold(self, losses: TextLosses) -> bool:
        """Whether losses are within them."""
        return (
            losses.after <= log(self.surprise)
            and losses.alone <= log(self.alone)
            and losses.worst <= self.worst
        )


@dataclass(frozen=True, slots=True)
class PerplexityFilter:
    """Reads texts with a causal language model, and lets those pass that are within ``bounds``."""

    model: CausalLM
    bounds: Bounds = Bounds()

    def read(
        self, texts: Sequence[str], histories: Sequence[Sequence[Turn] | None]
    ) -> list[TextLosses | None]:
        """The losses of each text after its history (None where there is none); None of one that fails.

        Raises:
            ModelError: memory does not suffice for one text.
        """
        said = [f" {closed_up(text)}" for text in texts]
        alone = self.model.score_tokens(said, ["\n"] * len(said))
        passing = [at for at, losses in enumerate(alone) if _mean(losses) <= log(self.bounds.alone)]
        shown = [(at, history) for at in passing if (history := histories[at]) is not None]
        after = self.model.score_tokens(
            [said[at] for at, _ in shown], [reply_request(history) for _, history in shown]
        )
        behind = dict(zip((at for at, _ in shown), after, strict=True))
        found: list[TextLosses | None] = [None] * len(texts)
        for at in passing:
            tokens = behind.get(at, alone[at])
            losses = TextLosses(_mean(alone[at]), _mean(tokens), round(max(tokens), 3))
            found[at] = losses if self.bounds.hold(losses) else None
        return found

    def beside(
        self, texts: Sequence[str], originals: Sequence[str], margin: float
    ) -> list[TextLosses | None]:
        """The losses of each text alone; None of one that is out of bounds, or whose mean is above that of
        the text that it was made of by more than ``margin`` nats a token. A token over ``worst`` passes where
        that text has such a one.

        Raises:
            ModelError: memory does not suffice for one text.
        """
        said = [f" {closed_up(text)}" for text in (*texts, *originals)]
        losses = self.model.score_tokens(said, ["\n"] * len(said))
        found: list[TextLosses | None] = []
        for now, before in zip(losses[: len(texts)], losses[len(texts) :], strict=True):
            one = TextLosses(_mean(now), _mean(now), round(max(now, default=inf), 3))
            worst = max([self.bounds.worst, *before])
            most = min(log(self.bounds.alone), _mean(before) + margin)
            found.append(one if one.alone <= most and one.worst <= worst else None)
        return found

    def after(self, texts: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[LaterLosses]:
        """The losses of each text after its history."""
        said = [f" {closed_up(text)}" for text in texts]
        losses = self.model.score_tokens(said, [reply_request(history) for history in histories])
        return [LaterLosses(_mean(one), _mean(sorted(one)[-_STRANGEST:])) for one in losses]


def _mean(losses: Sequence[float]) -> float:
    """Rounded: the last digits depend on what else is in a batch. Infinite for a text without words."""
    return round(sum(losses) / len(losses), 3) if losses else inf
