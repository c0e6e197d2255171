r"""Convert blanked texts into prompts for various language models, and parse the outputs of the models.

Different language models were trained to fill blanks in different prompt formats. A `Layout` represents one
such format. It converts a history and a `MaskedText` to a prompt, and the output of the model to the texts
for the blanks (answers). Each row of the table shows a layout, its prompt for *He is in the [word] of
[phrase].* (``\n`` is a line break), and the models that use it::

    one by one   He is in the [word] of [phrase].\n[word]: He is in the   fine-tuned and other causal models
    marked       He is in the [word] of [phrase].\nBlanks:               models on a server
    sentinels    He is in the <extra_id_0> of <extra_id_1>.               T5
    whole text   He is in the <mask> of <mask>.                           BART
    middles      <fim_prefix>He is in the<fim_suffix> of <fim_middle>     models for filling in the middle

The layout *one by one* asks for the first blank that is not filled yet. Its prompt ends with the text before
this blank, and the model continues this text.

`layout_of` chooses the layout for a model, mostly by its tokenizer, and `fill` runs the model.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from graphneg.english.tokens import detokenize, one_line
from graphneg.errors import ModelError
from graphneg.generators.infilling.masks import MaskedText
from graphneg.generators.prompts import (
    BETWEEN,
    BLANK,
    FILL_BLANKS,
    FILLED_BLANKS,
    FILLED_EXAMPLES,
    HISTORY_TURNS,
    TURN_WORDS,
    blank_request,
    blanks_request,
    is_trained,
)
from graphneg.model import Turn
from graphneg.nn.language_models import LanguageModel, Seq2SeqLM
from graphneg.nn.writers import Constraints, GenerationSettings, LocalWriter, Prompt, Writer

_SENTINEL = "<extra_id_{}>"
"""Format string for T5's numbered sentinel tokens."""
_SENTINELS = 16
"""Number of sentinel tokens that a tokenizer is searched for."""
_MIDDLE_TOKENS = (
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<PRE>", "<SUF>", "<MID>"),
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    ("[PREFIX]", "[SUFFIX]", "[MIDDLE]"),
)
"""Special tokens before the prefix, the suffix and the middle of a text. They are those of StarCoder, Qwen,
CodeLlama (two forms) and DeepSeek, and a form with square brackets."""
_SENTENCE_END = r"[.!?]+(?:\s|$)"
"""Matches the end of a sentence."""
_NEXT_WORDS = re.compile(r"\W*(\w+(?:\s+\w+)?)")
"""Matches the first one or two words of the text after a blank."""


@dataclass(frozen=True)
class Layout(ABC):
    """Base class of layouts. A layout is a format of prompts for filling blanks.

    Attributes:
        name: Name of the layout. It is part of the settings of a run.
        stop: Stop sequences, at which the model's output ends.
        at_once: Number of blanks that one prompt asks for; None for all blanks.
        forbidden: Strings that the model must not write.
        shown: Text at the beginning of every prompt, such as solved examples.
        kept: Special tokens that must not be removed from the output.
    """

    name: ClassVar[str]
    stop: ClassVar[tuple[str, ...]] = ()
    at_once: ClassVar[int | None] = None
    forbidden: ClassVar[tuple[str, ...]] = ()

    shown: str = ""
    kept: tuple[str, ...] = ()

    @abstractmethod
    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt for the next blanks of a text.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            given: Answers for the first blanks, which are already filled.

        Returns:
            The prompt.
        """

    @abstractmethod
    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Parse the output of the model into answers for the blanks.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Index of the first blank that the prompt asked for.

        Returns:
            One answer for each blank that the prompt asked for; None if the output cannot be parsed.
        """


@dataclass(frozen=True)
class OneByOne(Layout):
    """Ask for one blank per prompt. The prompt ends with the text before the blank.

    The prompt begins with the blanked text, in which marks such as ``[word]``, ``[phrase]`` and
    ``[sentence]`` stand for the blanks. ``graphneg train infill`` trains models for this layout. For other
    causal models, the prompt contains solved examples. In Donahue et al. (2020, section 3), the models write
    the answers for all blanks at once. This layout asks for one answer at a time, because small models often
    write too few or too many answers.
    """

    name = "one by one"
    stop = ("\n",)
    at_once = 1
    forbidden = ("[",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt for the first blank that is not filled yet.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            given: Answers for the first blanks, which are already filled.

        Returns:
            The prompt.
        """
        marks = [f"[{kind}]" for kind in masked.kinds[len(given) :]]
        return blank_request(history, masked.joined([*given, *marks]))

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the beginning of the output, up to a repetition of the text after the blank.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Index of the blank that the prompt asked for.

        Returns:
            A list with one answer; None if the answer is empty or contains a mark such as ``[word]``.
        """
        answer = one_line(written)
        # Models often continue after the blank. For "the [word] in May", a model may write "boat in May. It
        # leaks". The answer is "boat", the part before "in May", because "in May" is the text after the
        # blank.
        behind = _NEXT_WORDS.match(masked.parts[nth + 1])
        ends = [] if behind is None else [rf"\b{re.escape(behind[1])}\b"]
        # An answer for a word or a phrase ends with its sentence.
        if masked.kinds[nth] != "sentence":
            ends.append(_SENTENCE_END)
        for end in ends:
            answer = re.split(end, answer, maxsplit=1)[0].rstrip()
        return [answer] if answer and not BLANK.search(answer) else None


@dataclass(frozen=True)
class Marked(Layout):
    """Ask for the answers to all blanks on one line, separated by `BETWEEN`. Used for served models."""

    name = "marked"
    stop = ("\n",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt for all blanks.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            given: Not used.

        Returns:
            The prompt.
        """
        return blanks_request(history, masked.marked)

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Split the output into the answers.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            One answer per blank; None if there are too few or too many answers.
        """
        return _whole([one_line(part) for part in written.split(BETWEEN)], masked)


@dataclass(frozen=True)
class Sentinels(Layout):
    """Put a sentinel token in place of each blank, as in the pretraining of T5.

    ``kept`` must contain the sentinel tokens, so that they stay in the output.
    """

    name = "sentinels"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt for all blanks.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            given: Not used.

        Returns:
            The prompt.
        """
        marks = [_SENTINEL.format(n) for n in range(len(masked.answers))]
        return " ".join([*_history(history), masked.joined(marks)])

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the texts after the sentinel tokens.

        Args:
            written: Output of the model, such as ``<extra_id_0> car <extra_id_1> May``.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            One answer per blank; None if an answer is missing.
        """
        parts = re.split(r"<extra_id_(\d+)>", written)
        found: dict[str, str] = {}
        for number, text in zip(parts[1::2], parts[2::2], strict=True):
            # If a model writes a sentinel token twice, use the text after the first occurrence.
            found.setdefault(number, one_line(text))
        return _whole([found.get(str(n), "") for n in range(len(masked.answers))], masked)


@dataclass(frozen=True)
class WholeText(Layout):
    """Put a mask token in place of each blank, and let the model write the whole text without blanks.

    BART was pretrained on this task.

    Attributes:
        mask: The mask token.
    """

    name = "whole text"

    mask: str = "<mask>"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt for all blanks.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            given: Not used.

        Returns:
            The prompt.
        """
        return " ".join([*_history(history), masked.joined([self.mask] * len(masked.answers))])

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the texts that the model wrote in place of the blanks.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            One answer per blank; None if the model changed the text around the blanks.
        """
        # The model must repeat the text around the blanks. Only white space may change.
        parts = [re.escape(part).replace(r"\ ", r"\s+") for part in masked.parts]
        found = re.search(r"(?:^|\s)" + "(.+?)".join(parts).strip() + "$", one_line(written))
        return None if found is None else _whole(list(found.groups()), masked)


@dataclass(frozen=True)
class Middles(Layout):
    """Show the model the text before and after one blank, between the model's special tokens.

    See Bavarian et al. (2022), "Efficient Training of Language Models to Fill in the Middle".

    Attributes:
        tokens: Special tokens before the prefix, before the suffix and before the middle.
    """

    name = "middles"
    stop = ("\n",)
    at_once = 1

    tokens: tuple[str, str, str] = _MIDDLE_TOKENS[0]

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt for the first unfilled blank. The suffix ends before the next blank.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            given: Answers for the first blanks, which are already filled.

        Returns:
            The prompt.
        """
        before, behind, middle = self.tokens
        # The prefix is the text before the blank. Earlier blanks in it are already filled.
        so_far = MaskedText(masked.parts[: len(given) + 1], masked.kinds, masked.answers).joined(given)
        lines = "\n".join([*_history(history), so_far]).rstrip()
        return f"{before}{lines}{behind}{masked.parts[len(given) + 1]}{middle}"

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the whole output as the answer for the blank.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            A list with the single answer; None if the answer is empty.
        """
        answer = one_line(written)
        return [answer] if answer else None


@dataclass(slots=True)
class Filling:
    """A blanked text that a model fills after the turns of a history.

    Attributes:
        turns: Turns of the history, oldest first.
        masked: Text with blanks.
        id: Id that, together with the seed, determines the sampling.
        given: Answers for the blanks that are already filled.
        loss: Sum of the losses of all answers. The loss of an answer is the mean loss of its tokens, in nats.
        failed: Whether an output of the model could not be parsed.
    """

    turns: Sequence[Turn]
    masked: MaskedText
    id: str
    given: list[str] = field(default_factory=list[str])
    loss: float = 0.0
    failed: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there are blanks left to fill."""
        return not self.failed and len(self.given) < len(self.masked.answers)

    @property
    def text(self) -> str:
        """The filled text; empty if an output could not be parsed."""
        return "" if self.failed else self.masked.filled(self.given)


def fill(
    writer: Writer,
    layout: Layout,
    fillings: Sequence[Filling],
    settings: GenerationSettings,
    *,
    seed: int = 0,
    constraints: Callable[[Filling], Constraints] = lambda _: Constraints(),
) -> None:
    """Fill the blanks of texts. The texts are updated in place.

    Args:
        writer: Language model that fills the blanks.
        layout: Layout that suits the model.
        fillings: Texts to fill. The result for a text does not depend on the other texts.
        settings: Sampling settings.
        seed: Seed for the sampling.
        constraints: Function that returns the constraints on the next answers for a text. By default, there
            are no constraints.
    """
    settings = replace(settings, shown=layout.shown, kept=layout.kept)
    left = [one for one in fillings if one.is_open]
    # Depending on the layout, each round fills all blanks of each text, or only the next blank.
    while left:
        asked = [
            Prompt(layout.prompt(one.turns, one.masked, one.given), f"{one.id}/{len(one.given)}")
            for one in left
        ]
        held = [constraints(one) for one in left]
        written = writer.complete(asked, seed=seed, stop=layout.stop, constraints=held, settings=settings)
        for one, [completion] in zip(left, written, strict=True):
            answers = layout.answers(completion.text, one.masked, len(one.given))
            one.failed = answers is None
            one.given += answers or ()
            # Average the loss over the tokens, so that long answers are not at a disadvantage.
            one.loss -= sum(completion.logprobs or ()) / max(len(completion.logprobs or ()), 1)
        left = [one for one in left if one.is_open]


def layout_of(writer: Writer) -> Layout:
    """Choose the layout for the model of a writer.

    Args:
        writer: Language model that fills blanks.

    Returns:
        The layout.

    Raises:
        ModelError: The model is a sequence-to-sequence model that was not trained for the task, and its
            tokenizer has neither sentinel tokens nor a mask token.
    """
    if not isinstance(writer, LocalWriter):
        return Marked(FILLED_EXAMPLES)
    model = writer.model
    # A model that was trained for the task uses the layout of its training, whatever tokens its tokenizer
    # has.
    if is_trained(model, FILL_BLANKS):
        return OneByOne()
    known = _specials(model)
    if isinstance(model, Seq2SeqLM):
        if sentinels := tuple(mark for n in range(_SENTINELS) if (mark := _SENTINEL.format(n)) in known):
            return Sentinels(kept=sentinels)
        if (mask := model.tokenizer.mask_token) is not None:
            return WholeText(mask=mask)
        raise ModelError(
            f"{model.path}: its tokenizer has neither sentinels (<extra_id_0>) nor a mask, so it cannot "
            "fill blanks; train it with graphneg train infill"
        )
    # A causal model without tokens for filling in the middle needs solved examples in the prompt.
    found = next((tokens for tokens in _MIDDLE_TOKENS if known.issuperset(tokens)), None)
    return OneByOne(FILLED_BLANKS) if found is None else Middles(tokens=found)


def _specials(model: LanguageModel) -> set[str]:
    """Return the special tokens of a model."""
    tokenizer: Any = model.tokenizer
    return {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}


def _history(history: Sequence[Turn]) -> list[str]:
    """Return the last turns of a history as plain texts, for models that do not use speaker names."""
    return [" ".join(detokenize(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]


def _whole(answers: list[str], masked: MaskedText) -> list[str] | None:
    """Return the answers; None if their number is wrong, or if one is empty or contains a mark."""
    if len(answers) != len(masked.answers) or not all(answers):
        return None
    return None if any(BLANK.search(answer) for answer in answers) else answers
