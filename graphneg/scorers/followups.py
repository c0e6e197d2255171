"""Contexts that end in a question about what its answerer said before, and how sure that is: FQness.

Sato et al. 2024 found that models contradict themselves most where they are asked about
something that they said. Whether a question follows up an earlier segment shows in its probability: without
the turns in between it hardly falls, without the segment it does.
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

_QUESTION = ("?", '?"', "?'", "?)", "?!", "!?")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A context whose last turn asks, and the place of the answerer's turn that it may ask about.

    ``log_fqness`` is the logarithm (base e) of its FQness, once it is scored: above 0, it asks about it.
    """

    context: Context
    referent: int
    log_fqness: float = 0.0

    @property
    def question(self) -> Turn:
        """The turn that asks."""
        return self.context.turns[-1]

    @property
    def without_between(self) -> tuple[Turn, ...]:
        """The turns up to the referent, that one too."""
        return self.context.turns[: self.referent + 1]

    @property
    def without_referent(self) -> tuple[Turn, ...]:
        """The turns before the question but the referent."""
        turns = self.context.turns
        return (*turns[: self.referent], *turns[self.referent + 1 : -1])


def asks(text: str) -> bool:
    """Whether a sentence of the text is a question.

    >>> asks("Oh really? I have not travelled much."), asks("I wonder why.")
    (True, False)
    """
    return any(word.endswith(_QUESTION) for word in text.split())


def followups(contexts: Iterable[Context], furthest: int = 3) -> Iterator[FollowUp]:
    """The follow-ups of contexts that end in a question of the other speaker.

    Referents are the last ``furthest`` turns of the one who has to answer; the nearest comes first.
    """
    for context in contexts:
        if not context.turns or context.turns[-1].speaker == context.speaker:
            continue
        if asks(context.turns[-1].text):
            own = [at for at, turn in enumerate(context.turns) if turn.speaker == context.speaker]
            yield from (FollowUp(context, at) for at in reversed(own[-furthest:]))


def fqness(model: LanguageModel, some: Sequence[FollowUp]) -> list[FollowUp]:
    """Follow-ups with their FQness, in order (Sato et al. 2024).

    P(question | context without the turns between referent and question) over P(question | context without
    the referent), the probabilities of the same tokens under a causal language model: exact, not
    averaged over the length. The context is written a turn a line with its speaker. Where the referent
    stands right before the question nothing is between them, and the numerator has the whole context. A
    question that is longer than the model reads counts as far as it reads.
    """
    texts = [_spoken(item.question.text) for item in some for _ in range(2)]
    given = [
        written(turns, item.question.speaker)
        for item in some
        for turns in (item.without_between, item.without_referent)
    ]
    losses = model.score(texts, given) if texts else []
    scored: list[FollowUp] = []
    for followup, text, near, far in zip(some, texts[::2], losses[::2], losses[1::2], strict=True):
        # The model's loss is the mean over as many tokens as it reads, the end token left out.
        tokens = len(model.target_tokens(text)) - 1
        tokens = tokens if model.longest is None else min(tokens, model.longest - 1)
        ratio = tokens * (far - near) if math.isfinite(near) else 0.0
        scored.append(replace(followup, log_fqness=ratio))
    return scored


def written(turns: Sequence[Turn], speaker: str) -> str:
    """What a model reads before it says what ``speaker`` says next.

    >>> print(written([Turn("A", "I sail."), Turn("B", "Where?")], "A"))
    A: I sail.
    B: Where?
    A:
    """
    return "\n".join([*(f"{turn.speaker}:{_spoken(turn.text)}" for turn in turns), f"{speaker}:"])


def best(scored: Iterable[FollowUp], top: int, per_dialogue: int = 1) -> list[FollowUp]:
    """The ``top`` follow-ups by score, at most ``per_dialogue`` of one dialogue, one of each context."""
    taken: Counter[str] = Counter()
    chosen: dict[str, FollowUp] = {}
    for candidate in sorted(scored, key=lambda item: (-item.log_fqness, item.context.id, item.referent)):
        context = candidate.context
        if len(chosen) < top and context.id not in chosen and taken[context.dialogue] < per_dialogue:
            taken[context.dialogue] += 1
            chosen[context.id] = candidate
    return list(chosen.values())


def _spoken(text: str) -> str:
    return " " + one_line(text)
