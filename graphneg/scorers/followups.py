"""Find questions that follow up an earlier turn of the answerer, and score them by FQness.

Sato et al. (2024) found that models contradict themselves most when they are asked about something that they
said before. FQness measures whether a question refers to an earlier turn. If it does, the question stays
probable without the turns in between, but becomes improbable without that turn.

Example:
    "A: I sail every weekend." "B: It's cold today." "A: Yes." "B: Where do you sail?" The question follows
    from A's first turn alone, but not from the other turns. Therefore its FQness is high for A's first turn
    and low for "Yes."
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphneg.english.tokens import one_line
from graphneg.generators.base import Context, Turn

if TYPE_CHECKING:
    from graphneg.nn.language_models import LanguageModel

# A question mark may be followed by a quotation mark, bracket or exclamation mark.
_QUESTION = ("?", '?"', "?'", "?)", "?!", "!?")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A context whose last turn asks a question, and a turn that it may refer to.

    Attributes:
        context: The context.
        referent: The index of the answerer's turn that the question may refer to.
        log_fqness: The natural logarithm of the FQness, once it is computed. Above 0, the question refers to
            that turn.
    """

    context: Context
    referent: int
    log_fqness: float = 0.0

    @property
    def question(self) -> Turn:
        """The turn with the question."""
        return self.context.turns[-1]

    @property
    def without_between(self) -> tuple[Turn, ...]:
        """The turns up to the referent, which is included."""
        return self.context.turns[: self.referent + 1]

    @property
    def without_referent(self) -> tuple[Turn, ...]:
        """The turns before the question without the referent."""
        turns = self.context.turns
        return (*turns[: self.referent], *turns[self.referent + 1 : -1])


def asks(text: str) -> bool:
    """Return whether a text has a question.

    Args:
        text: The text.

    Returns:
        True if a word ends in a question mark, which quotation marks or brackets may follow.

    Example:
        >>> asks("Oh really? I have not travelled much."), asks("I wonder why.")
        (True, False)
    """
    return any(word.endswith(_QUESTION) for word in text.split())


def followups(contexts: Iterable[Context], furthest: int = 3) -> Iterator[FollowUp]:
    """Find the follow-up questions of contexts.

    Args:
        contexts: The contexts. Those that do not end in a question of the other speaker are skipped.
        furthest: How many of the answerer's last turns a question may refer to.

    Yields:
        One follow-up for each of these turns, the nearest first.
    """
    for context in contexts:
        # Speakers who ask a question and go on talking are not answering it.
        if not context.turns or context.turns[-1].speaker == context.speaker:
            continue
        if asks(context.turns[-1].text):
            own = [at for at, turn in enumerate(context.turns) if turn.speaker == context.speaker]
            yield from (FollowUp(context, at) for at in reversed(own[-furthest:]))


def fqness(model: LanguageModel, some: Sequence[FollowUp]) -> list[FollowUp]:
    """Compute the FQness of follow-up questions (Sato et al. 2024).

    FQness is P(question | context without the turns between referent and question), divided by P(question |
    context without the referent). Both are probabilities of the same tokens under a causal language model,
    not averaged over the length. The context is written as one line per turn, with its speaker. If the
    referent comes right before the question, the numerator has the whole context. Of a question longer than
    the model can read, only the first tokens count.

    Args:
        model: The language model.
        some: The follow-ups.

    Returns:
        The follow-ups with their scores, in order.
    """
    # Each question is scored twice: after each of the two shortened contexts.
    texts = [_spoken(item.question.text) for item in some for _ in range(2)]
    given = [
        written(turns, item.question.speaker)
        for item in some
        for turns in (item.without_between, item.without_referent)
    ]
    losses = model.score(texts, given) if texts else []
    scored: list[FollowUp] = []
    for followup, text, near, far in zip(some, texts[::2], losses[::2], losses[1::2], strict=True):
        # The loss is a mean over the tokens that the model reads, without the end token. Multiply it by their
        # number to get the log probability of the whole question.
        tokens = len(model.target_tokens(text)) - 1
        tokens = tokens if model.longest is None else min(tokens, model.longest - 1)
        ratio = tokens * (far - near) if math.isfinite(near) else 0.0
        scored.append(replace(followup, log_fqness=ratio))
    return scored


def written(turns: Sequence[Turn], speaker: str) -> str:
    """Return a context as text for a language model that continues with a speaker's turn.

    Args:
        turns: The turns of the context.
        speaker: The speaker of the next turn.

    Returns:
        One line per turn, and the beginning of the next one.

    Example:
        >>> print(written([Turn("A", "I sail."), Turn("B", "Where?")], "A"))
        A: I sail.
        B: Where?
        A:
    """
    return "\n".join([*(f"{turn.speaker}:{_spoken(turn.text)}" for turn in turns), f"{speaker}:"])


def best(scored: Iterable[FollowUp], top: int, per_dialogue: int = 1) -> list[FollowUp]:
    """Return the follow-ups with the highest scores, one per context.

    Args:
        scored: The scored follow-ups.
        top: Number of follow-ups to return.
        per_dialogue: Maximum number of follow-ups per dialogue.

    Returns:
        The follow-ups, best first.
    """
    taken: Counter[str] = Counter()
    chosen: dict[str, FollowUp] = {}
    # Ids break ties, so the result does not depend on the order of the input.
    for candidate in sorted(scored, key=lambda item: (-item.log_fqness, item.context.id, item.referent)):
        context = candidate.context
        if len(chosen) < top and context.id not in chosen and taken[context.dialogue] < per_dialogue:
            taken[context.dialogue] += 1
            chosen[context.id] = candidate
    return list(chosen.values())


def _spoken(text: str) -> str:
    """Return a text on one line after a blank."""
    return " " + one_line(text)
