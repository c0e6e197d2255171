"""How a language model reads a text with blanks and writes what stands in them.

A history and a `MaskedText` go in, a prompt comes out; what the model writes goes in, and the answers come
out. Models differ: one that was taught reads marks and goes on with the text at one blank after another, T5
writes answers between sentinels, BART writes the whole text, a fill-in-the-middle model has tokens for what
stands around a blank, and a served one is shown solved examples. The layout of a model is found by its
tokenizer (`layout_of`), and `fill` asks as it has to.
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
_SENTINELS = 16
_MIDDLE_TOKENS = (
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
    ("<PRE>", "<SUF>", "<MID>"),
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    ("[PREFIX]", "[SUFFIX]", "[MIDDLE]"),
)
"""How models are told what stands before a blank, behind it, and to fill it: StarCoder's, Qwen's, CodeLlama's
(two forms), DeepSeek's."""
_SENTENCE_END = r"[.!?]+(?:\s|$)"
_NEXT_WORDS = re.compile(r"\W*(\w+(?:\s+\w+)?)")


@dataclass(frozen=True)
class Layout(ABC):
    """Makes prompts and reads answers. ``shown`` stands before every prompt, the first of ``stop`` ends what
    is written, and the special tokens ``kept`` stay in it. So many blanks are filled ``at_once``; None: all.
    What is ``forbidden`` is not written.
    """

    name: ClassVar[str]
    stop: ClassVar[tuple[str, ...]] = ()
    at_once: ClassVar[int | None] = None
    forbidden: ClassVar[tuple[str, ...]] = ()

    shown: str = ""
    kept: tuple[str, ...] = ()

    @abstractmethod
    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """What the model reads: the text, whose first blanks are filled with what is ``given``."""

    @abstractmethod
    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """What stands in the blanks that the prompt asked for, from the ``nth`` on; None where it can't be
        told."""


@dataclass(frozen=True)
class OneByOne(Layout):
    """``[word]``, ``[phrase]`` and ``[sentence]`` in a text, and behind it the text once more up to the first
    blank, where the model goes on: what ``graphneg train infill`` teaches. Other local models are shown
    solved examples. *Departure* from Donahue et al. 2020, section 3, whose models write all answers in a row:
    small ones miscount them."""

    name = "one by one"
    stop = ("\n",)
    at_once = 1
    forbidden = ("[",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """See `Layout`."""
        marks = [f"[{kind}]" for kind in masked.kinds[len(given) :]]
        return blank_request(history, masked.joined([*given, *marks]))

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """See `Layout`. A model that writes on is cut off where the text itself goes on or ends."""
        answer = one_line(written)
        behind = _NEXT_WORDS.match(masked.parts[nth + 1])
        ends = [] if behind is None else [rf"\b{re.escape(behind[1])}\b"]
        if masked.kinds[nth] != "sentence":
            ends.append(_SENTENCE_END)
        for end in ends:
            answer = re.split(end, answer, maxsplit=1)[0].rstrip()
        return [answer] if answer and not BLANK.search(answer) else None


@dataclass(frozen=True)
class Marked(Layout):
    """The same marks, and behind the text all answers in a row: how served models are asked, which are shown
    solved examples."""

    name = "marked"
    stop = ("\n",)

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """See `Layout`."""
        return blanks_request(history, masked.marked)

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """See `Layout`."""
        return _whole([one_line(part) for part in written.split(BETWEEN)], masked)


@dataclass(frozen=True)
class Sentinels(Layout):
    """``<extra_id_0>`` and so on in place of spans, and before each answer: T5's own training. ``kept`` are
    those that the tokenizer has."""

    name = "sentinels"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """See `Layout`."""
        marks = [_SENTINEL.format(n) for n in range(len(masked.answers))]
        return " ".join([*_history(history), masked.joined(marks)])

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """See `Layout`."""
        parts = re.split(r"<extra_id_(\d+)>", written)
        found: dict[str, str] = {}
        for number, text in zip(parts[1::2], parts[2::2], strict=True):
            found.setdefault(number, one_line(text))
        return _whole([found.get(str(n), "") for n in range(len(masked.answers))], masked)


@dataclass(frozen=True)
class WholeText(Layout):
    """A ``mask`` in place of spans, and the whole text written: BART's own training."""

    name = "whole text"

    mask: str = "<mask>"

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """See `Layout`."""
        return " ".join([*_history(history), masked.joined([self.mask] * len(masked.answers))])

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """See `Layout`."""
        parts = [re.escape(part).replace(r"\ ", r"\s+") for part in masked.parts]
        found = re.search(r"(?:^|\s)" + "(.+?)".join(parts).strip() + "$", one_line(written))
        return None if found is None else _whole(list(found.groups()), masked)


@dataclass(frozen=True)
class Middles(Layout):
    """What stands before a blank and behind it, by a model's own ``tokens``; one blank after another
    (Bavarian et al. 2022, "Efficient Training of Language Models to Fill in the Middle")."""

    name = "middles"
    stop = ("\n",)
    at_once = 1

    tokens: tuple[str, str, str] = _MIDDLE_TOKENS[0]

    def prompt(self, history: Sequence[Turn], masked: MaskedText, given: Sequence[str]) -> str:
        """See `Layout`. Behind the blank the text goes on up to the next one."""
        before, behind, middle = self.tokens
        so_far = MaskedText(masked.parts[: len(given) + 1], masked.kinds, masked.answers).joined(given)
        lines = "\n".join([*_history(history), so_far]).rstrip()
        return f"{before}{lines}{behind}{masked.parts[len(given) + 1]}{middle}"

    def answers(self, written: str, masked: MaskedText, nth: int = 0) -> list[str] | None:
        """See `Layout`."""
        answer = one_line(written)
        return [answer] if answer else None


@dataclass(slots=True)
class Filling:
    """A text with blanks that a model fills for a history: what it has ``given`` so far, and the sum of its
    answers' losses, in nats a token. ``failed``: an answer can't be told."""

    turns: Sequence[Turn]
    masked: MaskedText
    id: str
    given: list[str] = field(default_factory=list[str])
    loss: float = 0.0
    failed: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a blank is left."""
        return not self.failed and len(self.given) < len(self.masked.answers)

    @property
    def text(self) -> str:
        """The text with the answers; empty where it failed."""
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
    """Fill the blanks of each: all with one prompt, or one blank after another, each text by itself.

    Raises:
        ModelError: memory does not suffice for one text, or a server does not answer as it should.
    """
    settings = replace(settings, shown=layout.shown, kept=layout.kept)
    left = [one for one in fillings if one.is_open]
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
            one.loss -= sum(completion.logprobs or ()) / max(len(completion.logprobs or ()), 1)
        left = [one for one in left if one.is_open]


def layout_of(writer: Writer) -> Layout:
    """The layout in which a writer's model fills blanks.

    Raises:
        ModelError: it is a sequence-to-sequence model that neither was taught to nor has sentinels or a mask.
    """
    if not isinstance(writer, LocalWriter):
        return Marked(FILLED_EXAMPLES)
    model = writer.model
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
    found = next((tokens for tokens in _MIDDLE_TOKENS if known.issuperset(tokens)), None)
    return OneByOne(FILLED_BLANKS) if found is None else Middles(tokens=found)


def _specials(model: LanguageModel) -> set[str]:
    tokenizer: Any = model.tokenizer
    return {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}


def _history(history: Sequence[Turn]) -> list[str]:
    """What models read of a history that know no speakers."""
    return [" ".join(closed_up(turn.text).split()[-TURN_WORDS:]) for turn in history[-HISTORY_TURNS:]]


def _whole(answers: list[str], masked: MaskedText) -> list[str] | None:
    """The answers, if there is one for each blank, without a mark in it."""
    if len(answers) != len(masked.answers) or not all(answers):
        return None
    return None if any(BLANK.search(answer) for answer in answers) else answers
