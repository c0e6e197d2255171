"""Find follow-up questions, that is, questions about something that the other speaker said before.

Sato et al. (2024) found that models contradict themselves most when they must answer such questions. FQness
is a score that follows an idea of their paper. It measures whether a question refers to a given earlier turn,
by comparing two probabilities of the question under a language model. If the question refers to the turn, it
remains probable when the turns in between are removed, but it becomes improbable when the turn itself is
removed.

Example:
    The dialogue is "A: I sail every weekend." "B: It's cold today." "A: Yes." "B: Where do you sail?" The
    question is probable after A's first turn alone, and improbable after the dialogue without this turn. So
    the question has a high FQness for A's first turn, and a low one for the turn "Yes."
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

# Endings of the last word of a question: a question mark, which a quotation mark, a parenthesis or an
# exclamation mark may follow.
_QUESTION = ("?", '?"', "?'", "?)", "?!", "!?")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A context that ends in a question, and an earlier turn that the question may refer to.

    Attributes:
        context: The context, whose last turn contains the question.
        referent: The index of the turn that the question may refer to. It is a turn of the other speaker, who
            is asked.
        log_fqness: The natural logarithm of the question's FQness (see `fqness`); 0 before it is computed. A
            value above 0 indicates that the question refers to the referent.
    """

    context: Context
    referent: int
    log_fqness: float = 0.0

    @property
    def question(self) -> Turn:
        """The last turn of the context, which contains the question."""
        return self.context.turns[-1]

    @property
    def shortened_context(self) -> tuple[Turn, ...]:
        """The turns up to and including the referent, the earlier turn that the question may refer to."""
        return self.context.turns[: self.referent + 1]

    @property
    def without_referent(self) -> tuple[Turn, ...]:
        """The turns before the question, except the referent (the turn that the question may refer to)."""
        turns = self.context.turns
        return (*turns[: self.referent], *turns[self.referent + 1 : -1])


def asks(text: str) -> bool:
    """Return whether a text contains a question.

    Args:
        text: The text of a turn.

    Returns:
        True if a word ends in a question mark. A quotation mark, a parenthesis or an exclamation mark may
        follow the question mark.

    Example:
        >>> asks("Oh really? I have not travelled much."), asks("I wonder why.")
        (True, False)
    """
    return any(word.endswith(_QUESTION) for word in text.split())


def followups(contexts: Iterable[Context], max_turns_back: int = 3) -> Iterator[FollowUp]:
    """Find questions at the ends of contexts, and the turns that each question may refer to.

    Args:
        contexts: Contexts of responses. A context is skipped if its last turn contains no question, or if the
            speaker of that turn also speaks next.
        max_turns_back: Maximum number of turns to pair with each question. The turns are the latest ones of
            the speaker to whom the question is addressed.

    Yields:
        For each question, one `FollowUp` for each turn that it may refer to, the nearest turn first.
    """
    for context in contexts:
        # If the speaker who asks also speaks next, the next turn does not answer the question, so skip it.
        if not context.turns or context.turns[-1].speaker == context.speaker:
            continue
        if asks(context.turns[-1].text):
            own = [at for at, turn in enumerate(context.turns) if turn.speaker == context.speaker]
            yield from (FollowUp(context, at) for at in reversed(own[-max_turns_back:]))


def fqness(model: LanguageModel, questions: Sequence[FollowUp]) -> list[FollowUp]:
    """Compute the FQness of follow-up questions (Sato et al. 2024).

    The FQness of a question is a ratio of two probabilities under a causal language model::

        P(question | context without the turns between referent and question)
        / P(question | context without the referent)

    P is the probability of the whole question, not normalised by its length. The model reads a prompt with
    one line per turn of the context, which begins with the name of the speaker. If there is no turn between
    the referent and the question, the context of the numerator is the whole context. If the question is
    longer than the model can read, only the tokens that fit count.

    Args:
        model: The language model that computes the probabilities.
        questions: The questions with their contexts and referents.

    Returns:
        Copies of ``questions`` with the computed ``log_fqness``, in the same order.
    """
    # Score each question twice. In the first context, the turns between the question and the turn that it
    # refers to (the referent) are left out. In the second context, only the referent is left out.
    texts = [_on_one_line(item.question.text) for item in questions for _ in range(2)]
    given = [
        written(turns, item.question.speaker)
        for item in questions
        for turns in (item.shortened_context, item.without_referent)
    ]
    losses = model.score(texts, given) if texts else []
    scored: list[FollowUp] = []
    for followup, text, near, far in zip(questions, texts[::2], losses[::2], losses[1::2], strict=True):
        # The loss is the mean negative log probability per token, without the end token. Multiplied by the
        # number of tokens, it is the negative log probability of the whole question.
        tokens = len(model.target_tokens(text)) - 1
        tokens = tokens if model.longest is None else min(tokens, model.longest - 1)
        ratio = tokens * (far - near) if math.isfinite(near) else 0.0
        scored.append(replace(followup, log_fqness=ratio))
    return scored


def written(turns: Sequence[Turn], speaker: str) -> str:
    """Write a context as a prompt. A language model continues it with the turn of a given speaker.

    Args:
        turns: The turns of the context.
        speaker: The speaker of the next turn.

    Returns:
        One line per turn, and a last line that consists of the name of the next speaker and a colon.

    Example:
        >>> print(written([Turn("A", "I sail."), Turn("B", "Where?")], "A"))
        A: I sail.
        B: Where?
        A:
    """
    return "\n".join([*(f"{turn.speaker}:{_on_one_line(turn.text)}" for turn in turns), f"{speaker}:"])


def best(scored: Iterable[FollowUp], top: int, per_dialogue: int = 1) -> list[FollowUp]:
    """Return the follow-up questions with the highest scores, at most one per context.

    Args:
        scored: Questions with a computed ``log_fqness``. A question may occur several times, with different
            referents.
        top: Maximum number of questions to return.
        per_dialogue: Maximum number of questions per dialogue.

    Returns:
        The chosen questions with their referents, highest score first.
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


def _on_one_line(text: str) -> str:
    """Return a text on one line, with a space before it."""
    return " " + one_line(text)
