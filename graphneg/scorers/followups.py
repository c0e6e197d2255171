"""Find follow-up questions, which ask about something that the other speaker said before.

Sato et al. (2024) found that models contradict themselves most when they must answer such questions. The
score FQness, which follows an idea of the paper, measures whether a question refers to a certain earlier
turn. It compares two probabilities of the question under a language model. If the question refers to the
turn, it stays probable when the turns in between are removed, and becomes improbable when that turn is
removed.

Example:
    In the dialogue "A: I sail every weekend." "B: It's cold today." "A: Yes." "B: Where do you sail?", the
    question is probable after A's first turn alone, and improbable after the other turns without it. So the
    FQness is high for A's first turn. It is low for the turn "Yes."
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphneg.english.tokens import one_line
from graphneg.generators.base import Context
from graphneg.model import Turn

if TYPE_CHECKING:
    from graphneg.nn.language_models import LanguageModel

# Ends of a word that close a question. A quotation mark, parenthesis or exclamation mark may follow the
# question mark.
_QUESTION = ("?", '?"', "?'", "?)", "?!", "!?")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A context that ends in a question, and an earlier turn that the question may refer to.

    Attributes:
        context: The context.
        referent: The index of the turn that the question may refer to. It is a turn of the speaker who is
            asked.
        log_fqness: The natural logarithm of the FQness, or 0 before it is computed. A value above 0 indicates
            that the question refers to that turn.
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
        """The turns up to and including the referent."""
        return self.context.turns[: self.referent + 1]

    @property
    def without_referent(self) -> tuple[Turn, ...]:
        """The turns before the question, except for the referent."""
        turns = self.context.turns
        return (*turns[: self.referent], *turns[self.referent + 1 : -1])


def asks(text: str) -> bool:
    """Return whether a text contains a question.

    Args:
        text: The text.

    Returns:
        True if a word ends in a question mark. A quotation mark, parenthesis or exclamation mark may follow
        the question mark.

    Example:
        >>> asks("Oh really? I have not travelled much."), asks("I wonder why.")
        (True, False)
    """
    return any(word.endswith(_QUESTION) for word in text.split())


def followups(contexts: Iterable[Context], max_turns_back: int = 3) -> Iterator[FollowUp]:
    """Find the questions at the ends of contexts, and the turns that they may refer to.

    Args:
        contexts: The contexts. A context is skipped if it does not end in a question, or if the next turn
            belongs to the speaker who asks.
        max_turns_back: Number of turns that a question may refer to: the last ones of the speaker who is
            asked.

    Yields:
        For each question, one `FollowUp` for each of these turns, the nearest turn first.
    """
    for context in contexts:
        # If the next turn is by the same speaker as the question, it does not answer the question.
        if not context.turns or context.turns[-1].speaker == context.speaker:
            continue
        if asks(context.turns[-1].text):
            own = [at for at, turn in enumerate(context.turns) if turn.speaker == context.speaker]
            yield from (FollowUp(context, at) for at in reversed(own[-max_turns_back:]))


def fqness(model: LanguageModel, some: Sequence[FollowUp]) -> list[FollowUp]:
    """Compute the FQness of follow-up questions (Sato et al. 2024).

    The FQness of a question is a ratio of two probabilities under a causal language model::

        P(question | context without the turns between referent and question)
        / P(question | context without the referent)

    The probabilities are those of the whole question; they are not normalised by its length. The context is
    written with one line per turn; each line begins with the name of the speaker. If there is no turn between
    the referent and the question, the numerator has the whole context. If the question is longer than the
    model can read, only its first tokens count.

    Args:
        model: The language model.
        some: The questions with their referents.

    Returns:
        Copies of ``some`` with the computed ``log_fqness``, in the same order.
    """
    # Each question is scored after two contexts: without the turns in between, and without the referent.
    texts = [_spoken(item.question.text) for item in some for _ in range(2)]
    given = [
        written(turns, item.question.speaker)
        for item in some
        for turns in (item.without_between, item.without_referent)
    ]
    losses = model.score(texts, given) if texts else []
    scored: list[FollowUp] = []
    for followup, text, near, far in zip(some, texts[::2], losses[::2], losses[1::2], strict=True):
        # The loss of the model is the mean negative log probability of the tokens that it reads, without the
        # end token. Multiply it by their number to get that of the whole question.
        tokens = len(model.target_tokens(text)) - 1
        tokens = tokens if model.longest is None else min(tokens, model.longest - 1)
        ratio = tokens * (far - near) if math.isfinite(near) else 0.0
        scored.append(replace(followup, log_fqness=ratio))
    return scored


def written(turns: Sequence[Turn], speaker: str) -> str:
    """Write a context as a prompt for a language model, which continues with the turn of a given speaker.

    Args:
        turns: The turns of the context.
        speaker: The speaker of the next turn.

    Returns:
        One line per turn, and a last line with the name of the next speaker and a colon.

    Example:
        >>> print(written([Turn("A", "I sail."), Turn("B", "Where?")], "A"))
        A: I sail.
        B: Where?
        A:
    """
    return "\n".join([*(f"{turn.speaker}:{_spoken(turn.text)}" for turn in turns), f"{speaker}:"])


def best(scored: Iterable[FollowUp], top: int, per_dialogue: int = 1) -> list[FollowUp]:
    """Return the follow-up questions with the highest scores, at most one per context.

    Args:
        scored: The scored questions. A question may occur several times, with different referents.
        top: Maximum number of questions to return.
        per_dialogue: Maximum number of questions per dialogue.

    Returns:
        The questions with their referents, highest score first.
    """
    taken: Counter[str] = Counter()
    chosen: dict[str, FollowUp] = {}
    # Equal scores are ordered by id, so that the result does not depend on the order of the input.
    for candidate in sorted(scored, key=lambda item: (-item.log_fqness, item.context.id, item.referent)):
        context = candidate.context
        if len(chosen) < top and context.id not in chosen and taken[context.dialogue] < per_dialogue:
            taken[context.dialogue] += 1
            chosen[context.id] = candidate
    return list(chosen.values())


def _spoken(text: str) -> str:
    """Return a text on one line, with a leading blank."""
    return " " + one_line(text)
