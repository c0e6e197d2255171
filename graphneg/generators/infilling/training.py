"""Teaching a language model to fill blanks: dialogues in, a model that reads texts with blanks out.

What is learned are right responses after their own contexts, each with blanks in up to three ways; what is
wrong about what the generator writes comes from showing another context (Gupta et al. 2021, section 3.1).
Of some dialogues nothing is learned: on their blanks the model is measured.
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
HELD_OUT = 200
_SHARE = 10
_SHOWN = 5


class InfillingPair(NamedTuple):
    """A right response with blanks after its context, of ``dialogue``."""

    dialogue: str
    context: Context
    masked: MaskedText

    @property
    def examples(self) -> Iterator[Example]:
        """As pairs to learn, one for each blank."""
        answers = self.masked.answers
        for nth, right in enumerate(answers):
            asked = LEARNED.prompt(self.context.turns, self.masked, answers[:nth])
            yield Example(asked, answer(right))


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with blanks that was not learned, what stood in them, and what the model writes."""

    marked: str
    answers: tuple[str, ...]
    written: str


@dataclass(frozen=True, slots=True)
class InfillingReport(TrainingReport):
    """A run: ``measured`` texts with blanks were held out, ``validation_loss`` is that of their answers, and
    ``filled`` shows some of them."""

    measured: int
    filled: tuple[Filled, ...]

    @property
    def perplexity(self) -> float | None:
        """Of the answers that were held out, a token; None where nothing was."""
        return None if self.validation_loss is None else exp(self.validation_loss)


def infilling_pairs(contexts: Iterable[Context], seed: int = 0) -> Iterator[InfillingPair]:
    """Up to three versions of each right response, with blanks; memory is flat.

    What would be refused of a model is left out: what it should not write, it should not learn.
    """
    for context in contexts:
        alone = replace(context, positives=())
        for nth, text in enumerate(context.positives):
            if refusal(closed_up(text), (), alone, LENGTHS) is None:
                for masked in masked_versions(text, seed, f"{context.id}/{nth}"):
                    yield InfillingPair(context.dialogue, context, masked)


def divided(
    pairs: Sequence[InfillingPair], amount: int, seed: int
) -> tuple[list[InfillingPair], list[InfillingPair]]:
    """Those to learn, and about ``amount`` to measure, of a tenth of the dialogues at most."""
    dialogues = list(dict.fromkeys(pair.dialogue for pair in pairs))
    wanted = ceil(amount / max(len(pairs), 1) * len(dialogues))
    order = sorted(dialogues, key=lambda id: number(seed, "held-out", id))
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
    """Train ``model`` to fill the blanks of the contexts' right responses, and save it for ``mask-and-fill``.

    So many texts (``held_out``, those of a tenth of the dialogues at most) are measured and not learned.
    ``arguments`` are those of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: no right response can have blanks, or ``out`` is taken.
        ModelError: the model reads backward.
    """
    if model.direction == "backward":
        raise ModelError(f"{model.path}: it reads backward; blanks are filled by a model that reads forward")
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
    """What the model writes, without chance, in some blanks."""
    shown = [Filling(pair.context.turns, pair.masked, str(nth)) for nth, pair in enumerate(pairs)]
    fill(LocalWriter(model), LEARNED, shown, GenerationSettings(max_new_tokens=32))
    for one in shown:
        yield Filled(one.masked.marked, one.masked.answers, one.text or "-")
