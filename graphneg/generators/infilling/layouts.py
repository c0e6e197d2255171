"""Format blanked texts for different language models, and parse what they write.

Models are trained to fill blanks in different ways. A `Layout` turns a history and a `MaskedText` into a
prompt, and the model's output into answers. For *He is in the [word] of [phrase].* the layouts are::

    one by one   He is in the [word] of [phrase].   then   [word]: He is in the      fine-tuned, causal
    marked       He is in the [word] of [phrase].   then   Blanks:                   served models
    sentinels    He is in the <extra_id_0> of <extra_id_1>.                          T5
    whole text   He is in the <mask> of <mask>.                                      BART
    middles      <fim_prefix>He is in the<fim_suffix> of <fim_middle>                fill-in-the-middle

`layout_of` chooses the layout of a model by its tokenizer, and `fill` runs the model.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from graphneg.english.tokens import closed_up, one_line
from graphneg.errors import ModelError
from graphneg.generators.base import Turn
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
from graphneg.nn.language_models import LanguageModel, Seq2SeqLM
from graphneg.nn.writers import Constraints, GenerationSettings, LocalWriter, Prompt, Writer

_SENTINEL = "<extra_id_{}>"
"""Name of T5's sentinel token of a number."""
_SENTINELS = 16
"""Maximum number of sentinels to look for in a tokenizer."""
_MIDDLE_TOKENS = (
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<PRE>", "<SUF>", "<MID>"),
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    ("[PREFIX]", "[SUFFIX]", "[MIDDLE]"),
)
"""Special tokens before the prefix, before the suffix and before the middle: of StarCoder, Qwen, CodeLlama
(two forms), DeepSeek, and a bracketed form."""
_SENTENCE_END = r"[.!?]+(?:\s|$)"
"""End of a sentence."""
_NEXT_WORDS = re.compile(r"\W*(\w+(?:\s+\w+)?)")
"""The first one or two words of the text after a blank."""


@dataclass(frozen=True)
class Layout(ABC):
    """The interface of a prompt format.

    Attributes:
        name: Name of the layout, which settings show.
        stop: Strings that end the model's output.
        at_once: Number of blanks to fill per prompt; None for all.
        forbidden: Strings that the model must not write.
        shown: Text before every prompt, such as solved examples.
        kept: Special tokens to keep in the output.
    """

    name: ClassVar[str]
    stop: ClassVar[tuple[str, ...]] = ()
    at_once: ClassVar[int | None] = None
    forbidden: ClassVar[tuple[str, ...]] = ()

    shown: str = ""
    kept: tuple[str, ...] = ()

    @abstractmethod
    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt.

        Args:
            history: Turns before the text.
            masked: Text with blanks.
            given: Answers to the first blanks.

        Returns:
            What the model reads.
        """

    @abstractmethod
    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Parse the output of the model.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Index of the first blank that the prompt asked for.

        Returns:
            Answers to the blanks that the prompt asked for, or None if the output cannot be parsed.
        """


@dataclass(frozen=True)
class OneByOne(Layout):
    """Repeat the text up to the first blank, where the model continues; one blank per prompt.

    The marks are ``[word]``, ``[phrase]`` and ``[sentence]``. ``graphneg train infill`` teaches this layout.
    Other local causal models are shown solved examples. *Departure* from Donahue et al. (2020, section 3):
    their models write all answers in a row, which small models miscount.
    """

    name = "one by one"
    stop = ("\n",)
    at_once = 1
    forbidden = ("[",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt.

        Args:
            history: Turns before the text.
            masked: Text with blanks.
            given: Answers to the first blanks.

        Returns:
            What the model reads.
        """
        marks = [f"[{kind}]" for kind in masked.kinds[len(given) :]]
        return blank_request(history, masked.joined([*given, *marks]))

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the output up to the point where it repeats the rest of the text.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Index of the blank that the prompt asked for.

        Returns:
            The answer, or None if it is empty or has a mark.
        """
        answer = one_line(written)
        # Models often write on: "boat in May. It leaks" for the blank in "the [word] in May". The answer ends
        # before "in May".
        behind = _NEXT_WORDS.match(masked.parts[nth + 1])
        ends = [] if behind is None else [rf"\b{re.escape(behind[1])}\b"]
        # A word or phrase does not reach beyond its sentence.
        if masked.kinds[nth] != "sentence":
            ends.append(_SENTENCE_END)
        for end in ends:
            answer = re.split(end, answer, maxsplit=1)[0].rstrip()
        return [answer] if answer and not BLANK.search(answer) else None


@dataclass(frozen=True)
class Marked(Layout):
    """Ask for all answers in a row, separated by `BETWEEN`; served models see solved examples."""

    name = "marked"
    stop = ("\n",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt.

        Args:
            history: Turns before the text.
            masked: Text with blanks.
            given: Not used.

        Returns:
            What the model reads.
        """
        return blanks_request(history, masked.marked)

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the separated answers.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            One answer per blank, or None if their number is wrong.
        """
        return _whole([one_line(part) for part in written.split(BETWEEN)], masked)


@dataclass(frozen=True)
class Sentinels(Layout):
    """Put a sentinel token in place of each blank, as in T5's pretraining.

    ``kept`` holds the sentinels that the tokenizer has.
    """

    name = "sentinels"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt.

        Args:
            history: Turns before the text.
            masked: Text with blanks.
            given: Not used.

        Returns:
            What the model reads.
        """
        marks = [_SENTINEL.format(n) for n in range(len(masked.answers))]
        return " ".join([*_history(history), masked.joined(marks)])

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the text after each sentinel.

        Args:
            written: Output of the model: ``<extra_id_0> car <extra_id_1> May``.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            One answer per blank, or None if one is missing.
        """
        parts = re.split(r"<extra_id_(\d+)>", written)
        found: dict[str, str] = {}
        for number, text in zip(parts[1::2], parts[2::2], strict=True):
            # A model may repeat a sentinel; its first answer counts.
            found.setdefault(number, one_line(text))
        return _whole([found.get(str(n), "") for n in range(len(masked.answers))], masked)


@dataclass(frozen=True)
class WholeText(Layout):
    """Put a mask token in place of each blank and let the model write the whole text.

    This is BART's pretraining task.

    Attributes:
        mask: The mask token.
    """

    name = "whole text"

    mask: str = "<mask>"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt.

        Args:
            history: Turns before the text.
            masked: Text with blanks.
            given: Not used.

        Returns:
            What the model reads.
        """
        return " ".join([*_history(history), masked.joined([self.mask] * len(masked.answers))])

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return what the model wrote between the parts of the text.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            One answer per blank, or None if the model changed the parts around the blanks.
        """
        # The parts around the blanks must be unchanged, except for white space.
        parts = [re.escape(part).replace(r"\ ", r"\s+") for part in masked.parts]
        found = re.search(r"(?:^|\s)" + "(.+?)".join(parts).strip() + "$", one_line(written))
        return None if found is None else _whole(list(found.groups()), masked)


@dataclass(frozen=True)
class Middles(Layout):
    """Give the text before and after one blank with the model's own special tokens.

    See Bavarian et al. (2022), "Efficient Training of Language Models to Fill in the Middle".

    Attributes:
        tokens: Special tokens before the prefix, before the suffix and before the middle.
    """

    name = "middles"
    stop = ("\n",)
    at_once = 1

    tokens: tuple[str, str, str] = _MIDDLE_TOKENS[0]

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """Return the prompt. The suffix ends at the next blank.

        Args:
            history: Turns before the text.
            masked: Text with blanks.
            given: Answers to the first blanks.

        Returns:
            What the model reads.
        """
        before, behind, middle = self.tokens
        # The prefix is the text up to the blank, with the answers so far.
        so_far = MaskedText(masked.parts[: len(given) + 1], masked.kinds, masked.answers).joined(given)
        lines = "\n".join([*_history(history), so_far]).rstrip()
        return f"{before}{lines}{behind}{masked.parts[len(given) + 1]}{middle}"

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Return the output as the answer.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Not used.

        Returns:
            The answer, or None if it is empty.
        """
        answer = one_line(written)
        return [answer] if answer else None


@dataclass(slots=True)
class Filling:
    """A text with blanks that a model fills after a history.

    Attributes:
        turns: Turns of the history.
        masked: Text with blanks.
        id: Id that, with the seed, decides the sampling.
        given: Answers so far.
        loss: Sum of the answers' mean losses, in nats per token.
        failed: Whether an output could not be parsed.
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
        """The filled text; empty if filling failed."""
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
    """Fill the blanks of texts in place.

    Args:
        writer: Language model that fills the blanks.
        layout: Layout of the writer's model.
        fillings: Texts to fill. Each is updated independently of the others.
        settings: Sampling settings.
        seed: Seed of the sampling.
        constraints: Returns the constraints on the next answers to a text.
    """
    settings = replace(settings, shown=layout.shown, kept=layout.kept)
    left = [one for one in fillings if one.is_open]
    # One round fills all blanks, or the next blank of each text, depending on the layout.
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
            # The mean over tokens does not penalize long answers.
            one.loss -= sum(completion.logprobs or ()) / max(len(completion.logprobs or ()), 1)
        left = [one for one in left if one.is_open]


def layout_of(writer: Writer) -> Layout:
    """Choose the layout of a writer's model.

    Args:
        writer: Language model that fills blanks.

    Returns:
        The layout.

    Raises:
        ModelError: The model is a sequence-to-sequence model without sentinels or a mask, and was not trained
            for the task.
    """
    if not isinstance(writer, LocalWriter):
        return Marked(FILLED_EXAMPLES)
    model = writer.model
    # A fine-tuned model uses the layout that it was trained with, whatever its tokenizer supports.
    if is_trained(model, FILL_BLANKS):
        return OneByOne()
    known = _specials(model)
    if isinstance(model, Seq2SeqLM):
        if sentinels := tuple(mark for n in range(_SENTINELS) if (mark := _SENTINEL.format(n)) in known):
            return Sentinels(kept=sentinels)
        if (mask := model.tokenizer.mask_token) is not None:
            return WholeText(mask=mask)
        raise ModelError(
            f"{model.path}: its tokenizer has neither sentinels (<extra_id_0>) nor a mask, so it fills no "
            "blanks; graphneg train infill teaches a model to"
        )
    # Models without fill-in-the-middle tokens learn the task from solved examples.
    found = next((tokens for tokens in _MIDDLE_TOKENS if known.issuperset(tokens)), None)
    return OneByOne(FILLED_BLANKS) if found is None else Middles(tokens=found)


def _specials(model: LanguageModel) -> set[str]:
    """Return the special tokens of a model."""
    tokenizer: Any = model.tokenizer
    return {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}


def _history(history: Sequence[Turn]) -> list[str]:
    """Return a history as plain texts, for models without speaker names."""
    return [" ".join(closed_up(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]


def _whole(answers: list[str], masked: MaskedText) -> list[str] | None:
    """Return the answers if there is one for each blank and none contains a mark, else None."""
    if len(answers) != len(masked.answers) or not all(answers):
        return None
    return None if any(BLANK.search(answer) for answer in answers) else answers
