"""Reject texts that cannot be used as a response, by rules and by the loss of a language model.

Small language models make a few typical mistakes that rules can detect. `malformed_reason` and `refusal`
check a text by such rules, and return the code of the first rule that the text violates::

    "You can use the calendar for."                     unfinished
    "The summer was hot and the hot summer came."       repeats

`PerplexityFilter` scores texts with a causal language model, and accepts a text if its losses do not exceed
the maxima in `Bounds`. A text is scored twice: alone, and after the turns before it (its history). It is
never scored after the prompt for which it was written, because a small model assigns a high probability to
any sentence that contains a word from the prompt. A text that is unlikely both alone and after its history is
usually ungrammatical or makes no sense.
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
from graphneg.english.tokens import detokenize, words_of
from graphneg.english.words import is_foreign, lemmas, word_class
from graphneg.errors import InputError
from graphneg.generators.base import Context
from graphneg.generators.prompts import reply_request
from graphneg.model import Turn
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
"""Reasons to reject a text. The keys are reason codes, the values explain the codes to the user."""
LENGTHS = range(5, 25)
"""Allowed numbers of words in a text, from 5 to 24, unless the options of a generator set other limits."""
NEAR = 0.7
"""Minimum Jaccard index of two sets of words with which the two texts count as nearly the same."""

_ENDINGS = (".", "!", "?", '."', '!"', '?"')
_STRANGE = re.compile(r"""https?:|www\.|_|[^\w\s'"‘’“”–—…,.!?&%$£€/+-]|\d{5,}|\.\.|…""")
"""Matches anything that does not occur in the text of a spoken turn: a URL, an underscore, an unusual symbol,
a number of five or more digits, or an ellipsis."""
_SENTENCE_END = re.compile(r"""[.!?]+["'”’]*(?=\s|$)""")
"""Matches the end of a sentence, including closing quotation marks."""
_STATEMENT = re.compile(r"[^.!?]+(?=[.!](?:\s|$))")
"""Matches a sentence that ends with a period or an exclamation mark."""
_POSSESSIVE = re.compile(r"['’]s?$")
_LONG_WORD = 3
"""Minimum length in letters of the words that `is_repetitive` checks for repetition."""
_COPIED_RUN = 5
"""Minimum number of consecutive words that two texts have in common if one counts as copied from the
other."""
_MANY_COMMAS = 4
"""Minimum number of commas with which a text counts as a repetitive list."""
_STRANGEST = 3
"""Number of least likely tokens of a text over which `LaterLosses.strangest` averages."""
_SENTENCES = 2
"""Maximum number of sentences in a text. A small model that writes more sentences before it uses the
requested keyword has usually left the topic."""

FUNCTION_WORDS = word_class("function-words")
"""Function words such as "the". A text may contain the same function word several times."""
NO_ENDINGS, LEADING = word_class("no-endings"), word_class("leading")
"""`NO_ENDINGS` are words such as "for", with which a complete statement cannot end. `LEADING` are words such
as "what". If one of them occurs earlier in the statement, such an ending is correct: "It is what I came
for"."""
WORDS_OF_TALK = word_class("words-of-talk")
"""Words of greetings, thanks and other small talk, which are not used as keywords."""


def refusal(
    text: str,
    keywords: Sequence[Sequence[str]],
    context: Context,
    lengths: range,
    examples: Iterable[str] = (),
) -> str | None:
    """Return the reason why a text cannot be used as a negative for a context.

    Args:
        text: Text that a language model wrote.
        keywords: Keywords that the text must contain, each as a sequence of words. The text may contain an
            inflected form of a keyword.
        context: Context for which the text is meant as a wrong response.
        lengths: Allowed numbers of words in the text.
        examples: Texts of the solved examples in the prompt, which the text must not copy.

    Returns:
        The code of the first rule that the text violates, or None if the text is usable.
    """
    words = words_of(text)
    reason = malformed_reason(text, keywords, lengths)
    if reason is not None:
        return reason
    # Models often copy an example from their prompt, so reject a text that has several consecutive words in
    # common with an example.
    if any(shares_run(words, words_of(example)) for example in examples):
        return "copies-example"
    # A text with nearly the same words as a correct response has nearly the same meaning, so it is probably
    # also correct.
    if any(have_nearly_same_words(words, words_of(positive)) for positive in context.correct_responses):
        return "like-a-positive"
    if any(shares_run(words, words_of(turn.text)) for turn in context.turns):
        return "copies-context"
    return None


def malformed_reason(text: str, keywords: Sequence[Sequence[str]], lengths: range) -> str | None:
    """Return the reason why a text is not a well-formed utterance. The context is not considered.

    Args:
        text: Text that a language model wrote.
        keywords: Keywords that the text must contain, each as a sequence of words. The text may contain an
            inflected form of a keyword.
        lengths: Allowed numbers of words in the text.

    Returns:
        The code of the first rule that the text violates, or None if the text is well-formed.
    """
    words = words_of(text)
    if not text.endswith(_ENDINGS) or breaks_off(text):
        return "unfinished"
    # An unpaired quotation mark or a lower-case first letter shows that a part of the text is missing.
    if _STRANGE.search(text) or text.count('"') % 2 or text[:1].islower():
        return "not-plain-text"
    if len(words) not in lengths:
        return "too-short" if len(words) < lengths.start else "too-long"
    if len(_SENTENCE_END.findall(text)) > _SENTENCES:
        return "rambles"
    # A keyword may be inflected: "borrowed" contains the keyword "borrow".
    if not all(mentions(words, keyword) for keyword in keywords):
        return "no-keyword"
    if is_foreign(text):
        return "not-english"
    # Reject repetitions and long lists, which small models often write: "I like tea, coffee, milk, juice."
    if is_repetitive(words) or text.count(",") >= _MANY_COMMAS:
        return "repeats"
    return None


def breaks_off(text: str) -> bool:
    """Return whether a statement in a text breaks off, that is, ends with a word such as "for" or "the".

    Args:
        text: Text to check. Its questions are not checked, because a question may end with such a word:
            "Where are you from?"

    Returns:
        True if at least one statement in the text is incomplete.

    Example:
        >>> breaks_off("You can use the calendar for."), breaks_off("It is what I came for.")
        (True, False)
    """
    for said in _STATEMENT.findall(text):
        *before, last = words_of(said) or [""]
        # "It is what I came for." is complete, because "what" is the object of "for".
        if last in NO_ENDINGS and LEADING.isdisjoint(before):
            return True
    return False


def is_repetitive(words: Sequence[str]) -> bool:
    """Return whether a text repeats a content word or a run of three words.

    Args:
        words: Words of the text in lower case, in their order in the text.

    Returns:
        True if a content word or a run of three words occurs twice.

    Example:
        >>> is_repetitive("the summer was hot and the hot summer came".split())
        True
    """
    # Count "Ann" and "Ann's" as the same word.
    plain = [_POSSESSIVE.sub("", word) for word in words]
    # A word may have several lemmas ("saw": "see", "saw"). Use the alphabetically first lemma for the word.
    content = [min(lemmas(word)) for word in plain if len(word) >= _LONG_WORD and word not in FUNCTION_WORDS]
    runs = Counter(zip(words, words[1:], words[2:], strict=False))
    return len(set(content)) < len(content) or any(count > 1 for count in runs.values())


def have_nearly_same_words(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two texts consist of nearly the same words, in any order.

    Args:
        words: Words of the first text.
        others: Words of the second text.

    Returns:
        True if the Jaccard index of the two sets of words is at least `NEAR`. False if the first text has no
        words.
    """
    one, other = set(words), set(others)
    return bool(one) and len(one & other) >= NEAR * len(one | other)


def shares_run(words: Sequence[str], others: Sequence[str], size: int = _COPIED_RUN) -> bool:
    """Return whether two texts have several consecutive words in common.

    Args:
        words: Words of the first text, in order.
        others: Words of the second text, in order.
        size: Number of consecutive words that the texts must have in common. If the first text is shorter,
            the second text must contain all of it.

    Returns:
        True if ``size`` consecutive words of ``words`` are also consecutive words of ``others``.

    Example:
        >>> shares_run("so I will water the plants of Ann".split(), "will water the plants of".split())
        True
    """
    # If the first text is shorter than `size` words, test whether the second text contains all of it.
    size = min(size, len(words))
    return not _word_sequences(tuple(words), size).isdisjoint(_word_sequences(tuple(others), size))


@lru_cache(maxsize=4096)
def _word_sequences(words: tuple[str, ...], size: int) -> frozenset[tuple[str, ...]]:
    """Return all sequences of ``size`` consecutive words of a text."""
    return frozenset(words[at : at + size] for at in range(len(words) - size + 1))


class TextLosses(NamedTuple):
    """The losses of a text, in nats per token.

    Attributes:
        alone: Mean loss of the tokens if no turns precede the text.
        in_context: Mean loss of the tokens after the history, that is, the turns before the text; equal to
            ``alone`` if the text has no history.
        max_token_loss: Loss of the least likely token of the text, after the history.
    """

    alone: float
    in_context: float
    max_token_loss: float

    @property
    def mean(self) -> float:
        """The mean of the losses without and with the history. Texts with a low mean are preferred."""
        return (self.alone + self.in_context) / 2

    @property
    def perplexity(self) -> float:
        """The perplexity of the text, computed as the exponential of `mean`."""
        return exp(min(self.mean, 50.0))


class LaterLosses(NamedTuple):
    """The losses of a text after some turns, in nats per token.

    The turns may differ from those in the prompt for which the text was written.

    Attributes:
        mean: Mean loss of all tokens of the text.
        strangest: Mean loss of the three least likely tokens of the text.
    """

    mean: float
    strangest: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The highest losses with which a text is still accepted.

    Attributes:
        max_perplexity: Highest accepted perplexity of a text after its history, above 1.
        max_perplexity_alone: Highest accepted perplexity of a text without its history, above 1.
        max_token_loss: Highest accepted loss of a single token in nats, above 0.

    Raises:
        InputError: A perplexity is not above 1, or ``max_token_loss`` is not above 0.
    """

    max_perplexity: float = 14.0
    max_perplexity_alone: float = 40.0
    max_token_loss: float = 11.0

    def __post_init__(self) -> None:
        """Check that both maximum perplexities are above 1, and that ``max_token_loss`` is above 0."""
        if self.max_perplexity <= 1 or self.max_perplexity_alone <= 1 or self.max_token_loss <= 0:
            raise InputError(
                f"max_perplexity {self.max_perplexity}, max_perplexity_alone "
                f"{self.max_perplexity_alone}, max_token_loss {self.max_token_loss}: "
                "perplexities are above 1, losses above 0"
            )

    def accepts(self, losses: TextLosses) -> bool:
        """Return whether a text is accepted, because none of its losses is above its maximum.

        Args:
            losses: Losses of the text, alone and after its history.

        Returns:
            True if the text is accepted.
        """
        return (
            losses.in_context <= log(self.max_perplexity)
            and losses.alone <= log(self.max_perplexity_alone)
            and losses.max_token_loss <= self.max_token_loss
        )


@dataclass(frozen=True, slots=True)
class PerplexityFilter:
    """Scores texts with a causal language model, and rejects texts with high losses.

    Attributes:
        model: Language model that computes the losses.
        bounds: The highest losses with which a text is still accepted.
    """

    model: CausalLM
    bounds: Bounds = Bounds()

    def read(
        self, texts: Sequence[str], histories: Sequence[Sequence[Turn] | None]
    ) -> list[TextLosses | None]:
        """Score each text alone and after its history.

        Args:
            texts: Texts to score.
            histories: For each text, the turns before it; None for a text that is scored only alone.

        Returns:
            For each text, its losses, or None if the text is rejected because a loss is above its maximum in
            ``bounds``.
        """
        said = [f" {detokenize(text)}" for text in texts]
        # Score each text without a history. The model needs at least one token before the text, so use a line
        # break.
        alone = self.model.score_tokens(said, ["\n"] * len(said))
        # Reject texts that are too unlikely without a history (the turns before them). Score only the other
        # texts with their histories.
        passing = [
            at for at, losses in enumerate(alone) if _mean(losses) <= log(self.bounds.max_perplexity_alone)
        ]
        shown = [(at, history) for at in passing if (history := histories[at]) is not None]
        after = self.model.score_tokens(
            [said[at] for at, _ in shown], [reply_request(history) for _, history in shown]
        )
        behind = dict(zip((at for at, _ in shown), after, strict=True))
        found: list[TextLosses | None] = [None] * len(texts)
        for at in passing:
            # A text for which the caller gave no history was scored only without one, so use these losses.
            tokens = behind.get(at, alone[at])
            losses = TextLosses(_mean(alone[at]), _mean(tokens), round(max(tokens), 3))
            found[at] = losses if self.bounds.accepts(losses) else None
        return found

    def beside(
        self, texts: Sequence[str], originals: Sequence[str], margin: float
    ) -> list[TextLosses | None]:
        """Score edited texts without a history, and compare each text with the original text.

        An edited text is accepted if it meets three conditions. Its perplexity is at most
        ``max_perplexity_alone``. Its mean loss is above the mean loss of the original text by at most
        ``margin``. None of its tokens has a loss above ``max_token_loss``, unless a token of the original
        text has at least the same loss.

        Args:
            texts: Edited texts.
            originals: For each edited text, the original text from which it was made.
            margin: Maximum increase of the mean loss compared with the original text, in nats per token.

        Returns:
            For each edited text, its losses without a history, or None if the text is rejected.
        """
        said = [f" {detokenize(text)}" for text in (*texts, *originals)]
        losses = self.model.score_tokens(said, ["\n"] * len(said))
        found: list[TextLosses | None] = []
        for now, before in zip(losses[: len(texts)], losses[len(texts) :], strict=True):
            one = TextLosses(_mean(now), _mean(now), round(max(now, default=inf), 3))
            # If the original text contains a rare name, the edited text usually contains the name as well.
            # The high loss of such a name is no reason to reject the edited text.
            worst = max([self.bounds.max_token_loss, *before])
            most = min(log(self.bounds.max_perplexity_alone), _mean(before) + margin)
            found.append(one if one.alone <= most and one.max_token_loss <= worst else None)
        return found

    def after(self, texts: Sequence[str], histories: Sequence[Sequence[Turn]]) -> list[LaterLosses]:
        """Score each text after the turns of a dialogue, without rejecting any text.

        Args:
            texts: Texts to score.
            histories: For each text, the turns after which it is scored.

        Returns:
            The losses of each text, in the order of ``texts``.
        """
        said = [f" {detokenize(text)}" for text in texts]
        losses = self.model.score_tokens(said, [reply_request(history) for history in histories])
        return [LaterLosses(_mean(one), _mean(sorted(one)[-_STRANGEST:])) for one in losses]


def _mean(losses: Sequence[float]) -> float:
    """Return the mean of the losses, rounded to three decimals; infinity if ``losses`` is empty."""
    # The last digits of a loss depend on the other texts in the batch, so round them off.
    return round(sum(losses) / len(losses), 3) if losses else inf
