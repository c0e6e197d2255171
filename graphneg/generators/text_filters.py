"""Refuse texts that cannot serve as a response, by rules and by the loss of a language model.

Small language models make a few kinds of mistakes that rules can detect. `broken` and `refusal` return the
code of the first rule that a text violates::

    "You can use the calendar for."                     unfinished
    "The summer was hot and the hot summer came."       repeats

`PerplexityFilter` scores texts with a causal language model and passes those within `Bounds`. A text is
scored alone and after its history, never after the prompt that requested it: a small model finds any sentence
likely that contains a word from its prompt. A text that is unlikely in both ways is mostly ungrammatical or
makes no sense.
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
    "unfinished": "the text does not end with a complete sentence",
    "not-plain-text": "the text contains characters that are not spoken",
    "too-short": "the text has too few words",
    "too-long": "the text has too many words",
    "rambles": "the text has too many sentences",
    "no-keyword": "the text lacks a keyword",
    "repeats": "the text repeats itself",
    "copies-context": "the text repeats the context",
    "like-another": "the text is nearly identical to another one for the same context",
    "not-english": "few words of the text are English",
    "surprising": "the model assigns the text a low probability",
    "said-before": "the text is nearly identical to one for another context",
}
"""Reasons to refuse a text, by code."""
LENGTHS = range(5, 25)
"""Default range of the number of words of a text."""
NEAR = 0.7
"""Jaccard index of two texts' words from which on the texts count as the same."""

_ENDINGS = (".", "!", "?", '."', '!"', '?"')
_STRANGE = re.compile(r"""https?:|www\.|_|[^\w\s'"‘’“”–—…,.!?&%$£€/+-]|\d{5,}|\.\.|…""")
"""Characters and patterns that do not occur in speech: URLs, underscores, symbols, long numbers, ellipses."""
_SENTENCE_END = re.compile(r"""[.!?]+["'”’]*(?=\s|$)""")
"""End of a sentence, with closing quotation marks."""
_STATEMENT = re.compile(r"[^.!?]+(?=[.!](?:\s|$))")
"""A sentence that ends in a period or an exclamation mark."""
_POSSESSIVE = re.compile(r"['’]s?$")
_LONG_WORD = 3
"""Minimum length of a word that `goes_round` counts as a content word."""
_COPIED_RUN = 5
"""Number of consecutive words in common from which on a text counts as copied."""
_MANY_COMMAS = 4
"""Number of commas from which on a text counts as a repetitive list."""
_STRANGEST = 3
"""Number of least likely tokens whose mean loss is computed."""
_SENTENCES = 2
"""Maximum number of sentences. A small model that needs more to get to its keyword has digressed."""

FUNCTION_WORDS = word_class("function-words")
"""Words that may occur twice in a sentence."""
NO_ENDINGS, LEADING = word_class("no-endings"), word_class("leading")
"""Words after which a statement may end in any word: "It is what I came for"."""
WORDS_OF_TALK = word_class("words-of-talk")
"""Words of greetings, thanks and the like, which are no topic to write about."""


def refusal(
    text: str,
    keywords: Sequence[Sequence[str]],
    context: Context,
    lengths: range,
    examples: Iterable[str] = (),
) -> str | None:
    """Return why a text cannot be a negative of a context.

    Args:
        text: A generated text.
        keywords: Keywords that the text must contain in any inflected form, each as a sequence of words.
        context: The context.
        lengths: Allowed numbers of words.
        examples: Texts that the model was shown.

    Returns:
        The code of the reason, or None if the text is usable.
    """
    words = words_of(text)
    reason = broken(text, keywords, lengths)
    if reason is not None:
        return reason
    # A model often copies from its prompt.
    if any(shares_run(words, words_of(example)) for example in examples):
        return "copies-example"
    # A paraphrase with nearly the same words would be correct, too.
    if any(alike(words, words_of(positive)) for positive in context.right):
        return "like-a-positive"
    if any(shares_run(words, words_of(turn.text)) for turn in context.turns):
        return "copies-context"
    return None


def broken(text: str, keywords: Sequence[Sequence[str]], lengths: range) -> str | None:
    """Return why a text is not a well-formed utterance, whatever its context.

    Args:
        text: A generated text.
        keywords: Keywords that the text must contain in any inflected form, each as a sequence of words.
        lengths: Allowed numbers of words.

    Returns:
        The code of the reason, or None if the text is well-formed.
    """
    words = words_of(text)
    if not text.endswith(_ENDINGS) or breaks_off(text):
        return "unfinished"
    # An odd number of quotation marks or a lower-case start shows that a part of the text is missing.
    if _STRANGE.search(text) or text.count('"') % 2 or text[:1].islower():
        return "not-plain-text"
    if len(words) not in lengths:
        return "too-short" if len(words) < lengths.start else "too-long"
    if len(_SENTENCE_END.findall(text)) > _SENTENCES:
        return "rambles"
    # A keyword counts in any form: "borrowed" mentions "borrow".
    if not all(mentions(words, keyword) for keyword in keywords):
        return "no-keyword"
    if is_foreign(text):
        return "not-english"
    # "I like tea, coffee, milk, water, juice." Small models often end in such lists.
    if goes_round(words) or text.count(",") >= _MANY_COMMAS:
        return "repeats"
    return None


def breaks_off(text: str) -> bool:
    """Return whether a statement ends in a word that cannot end one.

    Args:
        text: Any text. Questions are not checked: "Where are you from?"

    Returns:
        Whether a statement of the text breaks off.

    Example:
        >>> breaks_off("You can use the calendar for."), breaks_off("It is what I came for.")
        (True, False)
    """
    for said in _STATEMENT.findall(text):
        *before, last = words_of(said) or [""]
        # "It is what I came for." ends well, because "what" is the object of "for".
        if last in NO_ENDINGS and LEADING.isdisjoint(before):
            return True
    return False


def goes_round(words: Sequence[str]) -> bool:
    """Return whether a text repeats a content word or a run of three words.

    Args:
        words: Lower-case words of the text.

    Returns:
        Whether it repeats itself.

    Example:
        >>> goes_round("the summer was hot and the hot summer came".split())
        True
    """
    # "Ann" and "Ann's" are the same word here.
    plain = [_POSSESSIVE.sub("", word) for word in words]
    # A form may have several lemmas ("saw": "see", "saw"); the first in the alphabet stands for all.
    content = [min(lemmas(word)) for word in plain if len(word) >= _LONG_WORD and word not in FUNCTION_WORDS]
    runs = Counter(zip(words, words[1:], words[2:], strict=False))
    return len(set(content)) < len(content) or any(count > 1 for count in runs.values())


def alike(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two texts have nearly the same words.

    Args:
        words: Words of one text.
        others: Words of the other.

    Returns:
        Whether their Jaccard index is at least `NEAR`.
    """
    one, other = set(words), set(others)
    return bool(one) and len(one & other) >= NEAR * len(one | other)


def shares_run(words: Sequence[str], others: Sequence[str], size: int = _COPIED_RUN) -> bool:
    """Return whether two texts share a run of words.

    Args:
        words: Words of one text.
        others: Words of the other.
        size: Number of consecutive words; if ``words`` has fewer, all of it.

    Returns:
        Whether a run of ``words`` occurs in ``others``.

    Example:
        >>> shares_run("so I will water the plants of Ann".split(), "will water the plants of".split())
        True
    """
    # A text shorter than the run counts as copied if all of it occurs.
    size = min(size, len(words))
    return not _runs(tuple(words), size).isdisjoint(_runs(tuple(others), size))


@lru_cache(maxsize=4096)
def _runs(words: tuple[str, ...], size: int) -> frozenset[tuple[str, ...]]:
    """Return all runs of ``size`` consecutive words."""
    return frozenset(words[at : at + size] for at in range(len(words) - size + 1))


class TextLosses(NamedTuple):
    """Losses of a text, in nats per token.

    Attributes:
        alone: Mean loss without a history.
        after: Mean loss after the history; equal to ``alone`` if there is none.
        worst: Loss of the least likely token after the history.
    """

    alone: float
    after: float
    worst: float

    @property
    def mean(self) -> float:
        """The mean of both losses, by which texts are ranked."""
        return (self.alone + self.after) / 2

    @property
    def perplexity(self) -> float:
        """The exponential of `mean`."""
        return exp(min(self.mean, 50.0))


class LaterLosses(NamedTuple):
    """Losses of a text after turns that it was not written for, in nats per token.

    Attributes:
        mean: Mean loss.
        strangest: Mean loss of the three least likely tokens.
    """

    mean: float
    strangest: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The highest losses of a text that passes.

    Attributes:
        surprise: Highest perplexity after the history, above 1.
        alone: Highest perplexity without a history, above 1.
        worst: Highest loss of a single token in nats, above 0.

    Raises:
        InputError: A value is out of range.
    """

    surprise: float = 14.0
    alone: float = 40.0
    worst: float = 11.0

    def __post_init__(self) -> None:
        """Check the values."""
        if self.surprise <= 1 or self.alone <= 1 or self.worst <= 0:
            raise InputError(
                f"surprise {self.surprise}, alone {self.alone}, worst {self.worst}: "
                "perplexities are above 1, losses above 0"
            )

    def hold(self, losses: TextLosses) -> bool:
        """Return whether losses are within the bounds.

        Args:
            losses: Losses of a text.

        Returns:
            Whether all of them are within the bounds.
        """
        return (
            losses.after <= log(self.surprise)
            and losses.alone <= log(self.alone)
            and losses.worst <= self.worst
        )


@dataclass(frozen=True, slots=True)
class PerplexityFilter:
    """Scores texts with a causal language model and passes those within bounds.

    Attributes:
        model: The language model.
        bounds: The highest losses of a text that passes.
    """

    model: CausalLM
    bounds: Bounds = Bounds()

    def read(
        self, texts: Sequence[str], histories: Sequence[Sequence[Turn] | None]
    ) -> list[TextLosses | None]:
        """Score each text alone and after its history.

        Args:
            texts: Generated texts.
            histories: The history of each text; None to score the text only alone.

        Returns:
            For each text its losses, or None if it is out of bounds.
        """
        said = [f" {closed_up(text)}" for text in texts]
        # A line break takes the place of the history.
        alone = self.model.score_tokens(said, ["\n"] * len(said))
        # Texts that fail alone are not scored again after their histories.
        passing = [at for at, losses in enumerate(alone) if _mean(losses) <= log(self.bounds.alone)]
        shown = [(at, history) for at in passing if (history := histories[at]) is not None]
        after = self.model.score_tokens(
            [said[at] for at, _ in shown], [reply_request(history) for _, history in shown]
        )
        behind = dict(zip((at for at, _ in shown), after, strict=True))
        found: list[TextLosses | None] = [None] * len(texts)
        for at in passing:
            # A text without a history is judged by its losses alone.
            tokens = behind.get(at, alone[at])
            losses = TextLosses(_mean(alone[at]), _mean(tokens), round(max(tokens), 3))
            found[at] = losses if self.bounds.hold(losses) else None
        return found

    def beside(
        self, texts: Sequence[str], originals: Sequence[str], margin: float
    ) -> list[TextLosses | None]:
        """Compare each text with the text that it was made from.

        A text passes if its perplexity is within ``alone``, and its mean loss exceeds that of its original by
        at most ``margin``. A token may exceed ``worst`` if a token of the original has at least the same
        loss.

        Args:
            texts: Generated texts.
            originals: The original of each text.
            margin: Maximum increase of the mean loss, in nats per token.

        Returns:
            For each text its losses without a history, or None if it does not pass.
        """
        said = [f" {closed_up(text)}" for text in (*texts, *originals)]
        losses = self.model.score_tokens(said, ["\n"] * len(said))
        found: list[TextLosses | None] = []
        for now, before in zip(losses[: len(texts)], losses[len(texts) :], strict=True):
            one = TextLosses(_mean(now), _mean(now), round(max(now, default=inf), 3))
            # A rare name in the original is just as unlikely in the edited text.
            worst = max([self.bounds.worst, *before])
            most = min(log(self.bounds.alone), _mean(before) + margin)
            found.append(one if one.alone <= most and one.worst <= worst else None)
        return found

    def after(self, texts: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[LaterLosses]:
        """Score texts after histories, without bounds.

        Args:
            texts: Texts.
            histories: The history of each text.

        Returns:
            Losses in the order of ``texts``.
        """
        said = [f" {closed_up(text)}" for text in texts]
        losses = self.model.score_tokens(said, [reply_request(history) for history in histories])
        return [LaterLosses(_mean(one), _mean(sorted(one)[-_STRANGEST:])) for one in losses]


def _mean(losses: Sequence[float]) -> float:
    """Return the mean loss, rounded; infinite for a text without tokens."""
    # The last digits depend on the other texts of the batch.
    return round(sum(losses) / len(losses), 3) if losses else inf
