r"""Convert blanked texts into prompts for various language models, and parse the outputs of the models.

Different language models were trained to fill blanks in different prompt formats. A `Layout` represents one
such format. It converts a history (the turns before a text) and a `MaskedText` into a prompt, and the output
of the model into the texts for the blanks (answers). Each row of the table shows a layout, its prompt for *He
is in the [word] of [phrase].* (``\n`` is a line break), and the models that use this layout::

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
"""Number of sentinel tokens, from ``<extra_id_0>`` on, that are looked up in a tokenizer."""
_MIDDLE_TOKENS = (
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<PRE>", "<SUF>", "<MID>"),
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    ("[PREFIX]", "[SUFFIX]", "[MIDDLE]"),
)
"""Special tokens that different models use before the prefix, the suffix and the middle of a text. The first
five entries are those of StarCoder, Qwen, CodeLlama (two forms) and DeepSeek."""
_SENTENCE_END = r"[.!?]+(?:\s|$)"
"""Matches the end of a sentence."""
_NEXT_WORDS = re.compile(r"\W*(\w+(?:\s+\w+)?)")
"""Matches the first one or two words of a text. It is used for the text after a blank."""


@dataclass(frozen=True)
class Layout(ABC):
    """Base class of layouts. A layout is a prompt format for filling the blanks of a text.

    Attributes:
        name: Name of the layout, which the settings of a run contain.
        stop: Stop sequences, at which the model's output ends.
        blanks_per_prompt: Number of blanks that one prompt asks for; None if a prompt asks for all blanks.
        forbidden: Strings that the model must not write into a blank.
        prompt_prefix: Text at the beginning of every prompt, such as solved examples; empty for no such text.
        kept_tokens: Special tokens of the tokenizer that must not be removed from the output.
    """

    name: ClassVar[str]
    stop: ClassVar[tuple[str, ...]] = ()
    blanks_per_prompt: ClassVar[int | None] = None
    forbidden: ClassVar[tuple[str, ...]] = ()

    prompt_prefix: str = ""
    kept_tokens: tuple[str, ...] = ()

    @abstractmethod
    def prompt(self, history: Sequence[Turn], masked: MaskedText, filled_answers: Sequence[str]) -> str:
        """Return the prompt for the next blanks of a text.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            filled_answers: Words for the leading blanks, which are already filled.

        Returns:
            The prompt. The method `answers` can parse the model's output for it.
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
    """Ask for one blank per prompt. The prompt ends with the text before this blank.

    First, the prompt shows the whole text with a mark for each blank: ``[word]``, ``[phrase]`` or
    ``[sentence]``. ``graphneg train infill`` trains models for this layout. For other causal models, the
    prompt contains solved examples. In Donahue et al. (2020, section 3), the models write the answers for all
    blanks at once. This layout asks for one answer at a time, because small models often write too few or too
    many answers.
    """

    name = "one by one"
    stop = ("\n",)
    blanks_per_prompt = 1
    forbidden = ("[",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, filled_answers: Sequence[str]) -> str:
        """Return the prompt for the first blank that is not filled yet.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            filled_answers: Answers for the first blanks, which are already filled.

        Returns:
            The prompt, which the model continues with the text for the blank.
        """
        marks = [f"[{kind}]" for kind in masked.kinds[len(filled_answers) :]]
        return blank_request(history, masked.joined([*filled_answers, *marks]))

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Parse the output of the model into the answer for one blank.

        The answer ends where the output repeats the words that follow the blank in the text.

        Args:
            written: Output of the model.
            masked: Text with blanks.
            nth: Index of the blank to fill, from 0.

        Returns:
            A list with one answer; None if the answer is empty or contains a mark such as ``[word]``.
        """
        answer = one_line(written)
        # Models often write more than the text for the blank. For "the [word] in May", a model may write
        # "boat in May. It leaks". The answer is "boat", the part before "in May", because "in May" is the
        # text after the blank.
        behind = _NEXT_WORDS.match(masked.parts[nth + 1])
        ends = [] if behind is None else [rf"\b{re.escape(behind[1])}\b"]
        # If the blank stands for a word or a phrase, cut off the model's text after its first sentence.
        if masked.kinds[nth] != "sentence":
            ends.append(_SENTENCE_END)
        for end in ends:
            answer = re.split(end, answer, maxsplit=1)[0].rstrip()
        return [answer] if answer and not BLANK.search(answer) else None


@dataclass(frozen=True)
class Marked(Layout):
    """Ask a model on a server to fill all blanks on one line, with `BETWEEN` between the answers."""

    name = "marked"
    stop = ("\n",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, filled_answers: Sequence[str]) -> str:
        """Return the prompt for all blanks.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            filled_answers: Not used.

        Returns:
            The prompt, which the model continues with the texts for all blanks.
        """
        return blanks_request(history, masked.marked)

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """Split the output of the model into the answers for the blanks.

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

    ``kept_tokens`` must contain the sentinel tokens, so that they stay in the output.
    """

    name = "sentinels"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, filled_answers: Sequence[str]) -> str:
        """Return the prompt for all blanks.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            filled_answers: Not used.

        Returns:
            The prompt, to which the model answers with the texts for all blanks, each after its sentinel
            token.
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
            # If a model writes the same sentinel token twice, use the text after its first occurrence.
            found.setdefault(number, one_line(text))
        return _whole([found.get(str(n), "") for n in range(len(masked.answers))], masked)


@dataclass(frozen=True)
class WholeText(Layout):
    """Put a mask token in place of each blank, and let the model write the whole text without blanks.

    BART was pretrained on this task.

    Attributes:
        mask: Mask token of the model's tokenizer.
    """

    name = "whole text"

    mask: str = "<mask>"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, filled_answers: Sequence[str]) -> str:
        """Return the prompt for all blanks.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            filled_answers: Not used.

        Returns:
            The prompt, to which the model answers with the whole text.
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
        # The output must contain the text around the blanks, which may differ only in white space. The words
        # between are the answers.
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
    blanks_per_prompt = 1

    tokens: tuple[str, str, str] = _MIDDLE_TOKENS[0]

    def prompt(self, history: Sequence[Turn], masked: MaskedText, filled_answers: Sequence[str]) -> str:
        """Return the prompt for the first unfilled blank.

        The prompt contains the text before this blank, and the text after it up to the next blank.

        Args:
            history: Turns before the text, oldest first.
            masked: Text with blanks.
            filled_answers: Answers for the first blanks, which are already filled.

        Returns:
            The prompt, which the model continues with the text for the blank.
        """
        before, behind, middle = self.tokens
        # The prefix is the text before the first unfilled blank, with the answers for earlier blanks.
        so_far = MaskedText(masked.parts[: len(filled_answers) + 1], masked.kinds, masked.answers).joined(
            filled_answers
        )
        lines = "\n".join([*_history(history), so_far]).rstrip()
        return f"{before}{lines}{behind}{masked.parts[len(filled_answers) + 1]}{middle}"

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
    """A text with blanks. A model fills the blanks, so that the text becomes a reply to the preceding turns.

    Attributes:
        turns: The preceding turns, oldest first.
        masked: Text with blanks.
        id: Id of this text with blanks. The id and the seed determine the random choices in sampling.
        given: Answers for the first blanks, which are already filled.
        loss: Sum over the outputs of the model so far. Each output adds its mean loss per token, in nats.
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
        """Whether the text still has blanks to fill, and all outputs of the model so far could be parsed."""
        return not self.failed and len(self.given) < len(self.masked.answers)

    @property
    def text(self) -> str:
        """The text with all blanks filled; empty if an output of the model could not be parsed."""
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
    """Fill the blanks of texts with a language model. The `Filling` objects are updated in place.

    Args:
        writer: Language model that fills the blanks.
        layout: Prompt format that suits the model.
        fillings: Texts to fill. The answers for one text do not depend on the other texts.
        settings: Settings for sampling from the model.
        seed: Seed for sampling.
        constraints: Function that returns the constraints on the next answers for a text, such as forbidden
            words. By default, there are no constraints.
    """
    settings = replace(settings, few_shot_text=layout.prompt_prefix, kept_special_tokens=layout.kept_tokens)
    left = [one for one in fillings if one.is_open]
    # Some layouts ask for only one blank per prompt (`Layout.blanks_per_prompt`). So send further prompts
    # until all blanks are filled.
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
            # Divide the output's loss by its number of tokens. Otherwise, long answers would have higher
            # losses than short answers.
            one.loss -= sum(completion.logprobs or ()) / max(len(completion.logprobs or ()), 1)
        left = [one for one in left if one.is_open]


def layout_of(writer: Writer) -> Layout:
    """Choose the prompt format in which a language model should fill blanks.

    Args:
        writer: Language model that fills blanks.

    Returns:
        The layout that suits the model.

    Raises:
        ModelError: The model is a sequence-to-sequence model that was not trained to fill blanks, and its
            tokenizer has neither sentinel tokens nor a mask token.
    """
    if not isinstance(writer, LocalWriter):
        return Marked(FILLED_EXAMPLES)
    model = writer.model
    # A model that `graphneg train infill` trained uses the layout of its training, whatever special tokens
    # its tokenizer has.
    if is_trained(model, FILL_BLANKS):
        return OneByOne()
    known = _special_tokens(model)
    if isinstance(model, Seq2SeqLM):
        if sentinels := tuple(mark for n in range(_SENTINELS) if (mark := _SENTINEL.format(n)) in known):
            return Sentinels(kept_tokens=sentinels)
        if (mask := model.tokenizer.mask_token) is not None:
            return WholeText(mask=mask)
        raise ModelError(
            f"{model.path}: its tokenizer has neither sentinels (<extra_id_0>) nor a mask, so it cannot "
            "fill blanks; train it with graphneg train infill"
        )
    # A causal model without special tokens for filling in the middle needs solved examples in the prompt.
    found = next((tokens for tokens in _MIDDLE_TOKENS if known.issuperset(tokens)), None)
    return OneByOne(FILLED_BLANKS) if found is None else Middles(tokens=found)


def _special_tokens(model: LanguageModel) -> set[str]:
    tokenizer: Any = model.tokenizer
    return {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}


def _history(history: Sequence[Turn]) -> list[str]:
    """Return the texts of the last turns of a history. Of a long turn, only the last words are kept."""
    return [" ".join(detokenize(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]


def _whole(answers: list[str], masked: MaskedText) -> list[str] | None:
    """Return the texts for the blanks, or None if one is missing, is empty or contains a blank itself."""
    if len(answers) != len(masked.answers) or not all(answers):
        return None
    return None if any(BLANK.search(answer) for answer in answers) else answers
