"""Fine-tune a language model to fill blanks (``graphneg train infill``).

The model learns from correct responses after their own contexts, each blanked in up to three ways. At
generation time it sees another context, which is what makes the filled text wrong (Gupta et al. 2021, section
3.1). The blanks of some dialogues are held out to measure the model. A training example::

    prompt    A: Where is he? / B: He is in the [word] of [phrase]. / [word]: He is in the
    answer    kitchen
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, exp
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.english.tokens import closed_up
from graphneg.errors import InputError, ModelError
from graphneg.generators.base import Context
from graphneg.generators.infilling.layouts import Filling, OneByOne, fill
from graphneg.generators.infilling.masks import MaskedText, masked_versions
from graphneg.generators.prompts import FILL_BLANKS, answer, train_for
from graphneg.generators.text_filters import LENGTHS, refusal
from graphneg.hashing import number
from graphneg.nn.fine_tuning import Example, TrainingReport
from graphneg.nn.language_models import LanguageModel
from graphneg.nn.writers import GenerationSettings, LocalWriter

LEARNED = OneByOne()
"""Layout that the model learns."""
HELD_OUT = 200
"""Default number of blanked texts to hold out."""
_SHARE = 10
"""At most one in this many dialogues is held out."""
_SHOWN = 5
"""Number of held-out texts that the report shows."""


class InfillingPair(NamedTuple):
    """A blanked correct response with its context.

    Attributes:
        dialogue: Id of the dialogue.
        context: The context.
        masked: The blanked response.
    """

    dialogue: str
    context: Context
    masked: MaskedText

    @property
    def examples(self) -> Iterator[Example]:
        """The training examples, one per blank."""
        answers = self.masked.answers
        for nth, right in enumerate(answers):
            asked = LEARNED.prompt(self.context.turns, self.masked, answers[:nth])
            yield Example(asked, answer(right))


@dataclass(frozen=True, slots=True)
class Filled:
    """A held-out text that the model filled.

    Attributes:
        marked: The text with marks.
        answers: Original text of each blank.
        written: The text as the model filled it.
    """

    marked: str
    answers: tuple[str, ...]
    written: str


@dataclass(frozen=True, slots=True)
class InfillingReport(TrainingReport):
    """The report of a training run.

    ``validation_loss`` is the loss of the held-out answers.

    Attributes:
        measured: Number of blanked texts held out.
        filled: Some of them, filled by the model.
    """

    measured: int
    filled: tuple[Filled, ...]

    @property
    def perplexity(self) -> float | None:
        """The perplexity per token of the held-out answers; None if there are none."""
        return None if self.validation_loss is None else exp(self.validation_loss)


def infilling_pairs(contexts: Iterable[Context], seed: int = 0) -> Iterator[InfillingPair]:
    """Yield up to three blanked versions of each correct response.

    Responses that the generator would refuse as its own output are skipped, so that the model does not learn
    to write such texts. Memory is constant.

    Args:
        contexts: Contexts with correct responses.
        seed: Seed of the blanks.

    Yields:
        Blanked responses.
    """
    for context in contexts:
        # Otherwise every correct response would be refused as nearly a correct one.
        alone = replace(context, positives=())
        for nth, text in enumerate(context.positives):
            if refusal(closed_up(text), (), alone, LENGTHS) is None:
                for masked in masked_versions(text, seed, f"{context.id}/{nth}"):
                    yield InfillingPair(context.dialogue, context, masked)


def divided(
    pairs: Sequence[InfillingPair], amount: int, seed: int
) -> tuple[list[InfillingPair], list[InfillingPair]]:
    """Split pairs into training and held-out pairs.

    Args:
        pairs: All pairs.
        amount: Number of pairs to hold out, of at most a tenth of the dialogues.
        seed: Seed of the choice of dialogues.

    Returns:
        The training pairs and the held-out pairs. They share no dialogue.
    """
    dialogues = list(dict.fromkeys(pair.dialogue for pair in pairs))
    wanted = ceil(amount / max(len(pairs), 1) * len(dialogues))
    order = sorted(dialogues, key=lambda id: number(seed, "held-out", id))
    # Whole dialogues are held out, so that training and held-out texts share none.
    out = set(order[: min(wanted, len(order) // _SHARE)])
    learned = [pair for pair in pairs if pair.dialogue not in out]
    return learned, [pair for pair in pairs if pair.dialogue in out][:amount]


def train_infilling(
    model: LanguageModel,
    contexts: Iterable[Context],
    out: str | Path,
    *,
    held_out: int = HELD_OUT,
    seed: int = 0,
    **arguments: Any,
) -> InfillingReport:
    """Train a model to fill blanks, and save it for ``mask-and-fill``.

    Args:
        model: Model to train.
        contexts: Contexts with correct responses.
        out: Folder to save the model to.
        held_out: Number of blanked texts to hold out, of at most a tenth of the dialogues.
        seed: Seed of the blanks and of the training.
        arguments: Arguments of transformers' ``TrainingArguments`` and of
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        The report of the training.

    Raises:
        InputError: No correct response can be blanked.
        ModelError: The model reads right to left.
    """
    if model.direction == "backward":
        raise ModelError(f"{model.path}: a backward model, but filling blanks needs a forward model")
    learned, measured = divided(list(infilling_pairs(contexts, seed)), held_out, seed)
    if not learned:
        raise InputError("no context has a right response that can have blanks: there is nothing to learn")
    report = train_for(
        FILL_BLANKS, model, [one for pair in learned for one in pair.examples], out,
        validation=[one for pair in measured for one in pair.examples], seed=seed, **arguments,
    )  # fmt: skip
    return InfillingReport(
        measured=len(measured), filled=tuple(_filled(model, measured[:_SHOWN])), **asdict(report)
    )


def _filled(model: LanguageModel, pairs: Sequence[InfillingPair]) -> Iterator[Filled]:
    """Yield what the model writes into some blanks with greedy decoding."""
    shown = [Filling(pair.context.turns, pair.masked, str(nth)) for nth, pair in enumerate(pairs)]
    fill(LocalWriter(model), LEARNED, shown, GenerationSettings(max_new_tokens=32))
    for one in shown:
        yield Filled(one.masked.marked, one.masked.answers, one.text or "-")
