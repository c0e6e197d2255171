"""Fine-tune a language model to fill blanks (``graphneg train infill``).

For training, some spans of a correct response are replaced by blanks, and the model learns to fill the blanks
after the context of the response. Each response gives up to three texts with different blanks. When the model
later generates a negative, it is shown the context of another dialogue, which makes the filled text wrong
(Gupta et al. 2021, section 3.1). Some dialogues are held out, that is, used only to evaluate the model. The
training example for the first of two blanks looks like this::

    prompt    A: Where is he? / B: He is in the [word] of [phrase]. / [word]: He is in the
    answer    kitchen
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, exp
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.english.tokens import detokenize
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
"""Prompt format for which models are trained: one prompt per blank."""
HELD_OUT = 200
"""Default number of blanked texts to hold out for the evaluation of the trained model."""
_SHARE = 10
"""Minimum number of dialogues in total for each dialogue that is held out."""
_SHOWN = 5
"""Number of held-out texts that the training report shows as the trained model filled them."""


class InfillingPair(NamedTuple):
    """A correct response with blanked spans, and its context.

    Attributes:
        dialogue: Id of the dialogue to which the context belongs.
        context: Context that the response answers.
        masked: Response in which spans are replaced by blanks.
    """

    dialogue: str
    context: Context
    masked: MaskedText

    @property
    def examples(self) -> Iterator[Example]:
        """One training example for each blank. In its prompt, earlier blanks contain the original text."""
        answers = self.masked.answers
        for nth, right in enumerate(answers):
            asked = LEARNED.prompt(self.context.turns, self.masked, answers[:nth])
            yield Example(asked, answer(right))


@dataclass(frozen=True, slots=True)
class Filled:
    """A held-out text whose blanks the model filled.

    Attributes:
        marked: Text with a mark for each blank, such as ``[word]``.
        answers: For each blank, the original text that it replaces.
        written: Text as the model filled it; ``-`` if an output of the model could not be parsed.
    """

    marked: str
    answers: tuple[str, ...]
    written: str


@dataclass(frozen=True, slots=True)
class InfillingReport(TrainingReport):
    """The report of a training run, with a few texts that the trained model filled.

    ``validation_loss`` is the mean loss per token of the words that the blanks replaced, in held-out texts.

    Attributes:
        measured: Number of blanked texts that were held out from training.
        filled: Some of the held-out texts, as the trained model filled them.
    """

    measured: int
    filled: tuple[Filled, ...]

    @property
    def perplexity(self) -> float | None:
        """The perplexity of the blanked words in texts held out from training; None without such texts."""
        return None if self.validation_loss is None else exp(self.validation_loss)


def infilling_pairs(contexts: Iterable[Context], seed: int = 0) -> Iterator[InfillingPair]:
    """Yield up to three blanked versions of each correct response.

    A response is skipped if the generator ``mask-and-fill`` would reject this text as an output of the model,
    so that the model does not learn to write texts of this kind. The contexts are processed one by one, so
    memory use does not depend on the number of contexts.

    Args:
        contexts: Contexts with correct responses.
        seed: Seed for drawing the blanks.

    Yields:
        Responses with blanks, each with its context.
    """
    for context in contexts:
        # `refusal` also rejects texts that nearly equal a correct response of the context. To switch off this
        # rule, pass a context without correct responses.
        alone = replace(context, positives=(), replies_to_copies={})
        for nth, text in enumerate(context.positives):
            if refusal(detokenize(text), (), alone, LENGTHS) is None:
                for masked in masked_versions(text, seed, f"{context.id}/{nth}"):
                    yield InfillingPair(context.dialogue, context, masked)


def divided(
    pairs: Sequence[InfillingPair], amount: int, seed: int
) -> tuple[list[InfillingPair], list[InfillingPair]]:
    """Split pairs of a context and a blanked response into pairs for training and held-out pairs.

    Args:
        pairs: All pairs of a context and a blanked response.
        amount: Maximum number of pairs to hold out. They come from at most a tenth of the dialogues.
        seed: Seed for drawing the dialogues to hold out.

    Returns:
        A list of training pairs and a list of held-out pairs. No dialogue has pairs in both lists.
    """
    dialogues = list(dict.fromkeys(pair.dialogue for pair in pairs))
    wanted = ceil(amount / max(len(pairs), 1) * len(dialogues))
    order = sorted(dialogues, key=lambda id: number(seed, "held-out", id))
    # Whole dialogues are held out, so that the model is evaluated on dialogues that it has not seen.
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
    """Train a model to fill blanks, for the generator ``mask-and-fill``.

    Args:
        model: Model to train.
        contexts: Contexts with correct responses.
        out: Folder to save the trained model in.
        held_out: Maximum number of blanked texts to hold out from training for the evaluation. They come from
            at most a tenth of the dialogues.
        seed: Seed for drawing the blanks and the held-out dialogues, and for the training.
        arguments: Further arguments for transformers' ``TrainingArguments`` or for
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report with the losses of the training, and with some of the held-out texts as the model filled
        them.

    Raises:
        InputError: No correct response has words that can be replaced by blanks.
        ModelError: The model reads right to left.
    """
    if model.direction == "backward":
        raise ModelError(f"{model.path}: a backward model, but filling blanks needs a forward model")
    learned, measured = divided(list(infilling_pairs(contexts, seed)), held_out, seed)
    if not learned:
        raise InputError("nothing to train on: no context has a correct response with words to blank out")
    report = train_for(
        FILL_BLANKS, model, [one for pair in learned for one in pair.examples], out,
        validation=[one for pair in measured for one in pair.examples], seed=seed, **arguments,
    )  # fmt: skip
    return InfillingReport(
        measured=len(measured), filled=tuple(_filled(model, measured[:_SHOWN])), **asdict(report)
    )


def _filled(model: LanguageModel, pairs: Sequence[InfillingPair]) -> Iterator[Filled]:
    """Let the model fill the blanks of some responses by greedy decoding, and yield the filled texts."""
    shown = [Filling(pair.context.turns, pair.masked, str(nth)) for nth, pair in enumerate(pairs)]
    fill(LocalWriter(model), LEARNED, shown, GenerationSettings(max_new_tokens=32))
    for one in shown:
        yield Filled(one.masked.marked, one.masked.answers, one.text or "-")
