"""Prompt a large language model for irrelevant responses (Lee et al. 2022, PNEG).

The paper is "PNEG: Prompt-based Negative Response Generation for Dialogue Response Selection Task". A prompt
shows a few solved examples, and asks for a list of responses that use words of the context but do not fit the
context::

    A: Did you bring the tickets for the concert?
    B: Yes, they are in my blue jacket.
    Irrelevant responses:
    1. A concert of birds wakes my grandfather every morning.
    2. Blue paint is cheaper than white this month.

As in the paper, the examples in each prompt are chosen at random, and a list with too few responses is
discarded completely. A single response is discarded if it copies the context or an example, repeats another
response, or is malformed. The remaining responses with the highest share of words from the context are
returned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, cast

import msgspec

from graphneg.english.tokens import imitate_spacing, one_line, words_of
from graphneg.errors import InputError
from graphneg.generators.base import UNRELATED, Candidate, Context, options_of
from graphneg.generators.prompted_generation import Gap, WritingGenerator, WritingOptions
from graphneg.generators.prompts import IrrelevantResponses, irrelevant_request
from graphneg.generators.text_filters import PerplexityFilter, have_nearly_same_words, refusal
from graphneg.hashing import shuffled
from graphneg.nn.generation import Sampling
from graphneg.nn.models import load_either
from graphneg.nn.writers import Completion, GenerationSettings, Prompt, Writer
from graphneg.paths import expand_home
from graphneg.records.scores import CONTEXT_OVERLAP, context_overlap
from graphneg.store.connection import Store

BUNDLED = "pneg_examples.jsonl"
"""Name of the file with ten solved examples that is part of the package graphneg."""
TOKENS_OF_RESPONSE = 32
"""Number of tokens that the model may write per requested response. Most responses are shorter."""

_OPENS = re.compile(r"[\[{]")
"""Matches a character that may start a JSON list or object."""
_MOST_OPENINGS = 50
"""Maximum number of opening brackets and braces in a model's output at which `_json_list` looks for a JSON
list. Without this limit, an output of thousands of opening brackets would take minutes to parse."""
_DECODER = json.JSONDecoder()
_PUNCTUATION = re.compile(r"(?:`{3,}\w*|[\[\]{}(),\s])+")
"""Matches a line without words, which contains only brackets, braces, commas and code fences."""
_TEXT_KEYS = ("response", "text", "reply", "content", "sentence", "utterance")
"""Keys under which models put the text of a response in a JSON object."""
_MARK = re.compile(r"^[\s>*_#]*(?:\(?\d{1,2}\s*[.):\]]+|[-–•*])(?:\*\*)?\s+")
"""Matches a list marker at the start of a line: ``1.``, ``(2)``, ``- ``."""
_INSIDE = re.compile(r"\s+(?=\(?\d{1,2}[.)]\s)")
"""Matches the white space before a list number inside a line, for example before ``2.`` in ``1. I like tea.
2. We left.``"""
_SPEAKER = re.compile(r"^(?:(?:speaker\s+)?[A-Z]|(?:response|reply)\s*\d*):\s+", re.IGNORECASE)
"""Matches a speaker label at the start of a response: ``B:``, ``Response 2:``."""
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "*": "*", "`": "`"}
_REASONS = {
    "short-list": "the answer lists fewer responses than requested",
    "no-list": "the answer contains no readable list",
    "copies-example": "the text repeats text of the prompt",
    "like-a-positive": "the text is nearly identical to a correct response",
    "no-clash": "the text shares no content word with the context",
    "fits": "the context makes the text much more likely, so the text may be an answer",
}


@dataclass(frozen=True, slots=True)
class PnegOptions(WritingOptions):
    """Options of the generator ``pneg``, in addition to those of `WritingOptions`.

    Attributes:
        responses: Number of responses that one prompt asks for.
        min_responses: Minimum number of responses in a list that the model wrote. A shorter list is discarded
            completely. None for the number of requested responses.
        k: Number of solved examples per prompt.
        examples: JSON Lines file with solved examples, each with a ``context`` and its ``responses``; None
            for the ten examples that graphneg provides.
        max_draws: Maximum number of rounds of prompts. After the first round, prompts are only sent for
            contexts that still have too few responses.
        top_p: Nucleus sampling: probability mass of the tokens to sample from, above 0 and at most 1.
        max_context_gain: Highest accepted context gain of a response. The context gain is the fraction by
            which the loss of a response drops if the model reads the response after the context instead of
            alone. A response with a higher gain is rejected, because it may be a correct answer. On
            DailyDialog++, with a model of 135 million parameters, 0.25 rejects 62% of human answers and 12%
            of human adversarial responses.

    Raises:
        InputError: A number is out of range.
    """

    min_words: ClassVar[int] = 3

    responses: int = 5
    min_responses: int | None = None
    k: int = 2
    examples: str | Path | None = None
    max_draws: int = 4
    top_p: float = 0.95
    max_context_gain: float = 0.25

    def __post_init__(self) -> None:
        """Check that the options have valid values."""
        WritingOptions.__post_init__(self)
        if self.responses < 1 or self.max_draws < 1 or self.k < 0:
            raise InputError("responses and max_draws must be at least 1, k at least 0")
        if not 1 <= self.required_responses <= self.responses:
            raise InputError(
                f"min_responses must be from 1 to the number of responses, {self.responses}, "
                f"not {self.min_responses}"
            )
        # The constructor of the sampling settings checks temperature and top_p.
        _ = self.generation_settings

    @property
    def required_responses(self) -> int:
        """The minimum number of responses that the model must list in answer to one prompt."""
        return self.responses if self.min_responses is None else self.min_responses

    @property
    def generation_settings(self) -> GenerationSettings:
        """The settings for sampling from the language model: temperature, ``top_p`` and length limit."""
        longest = TOKENS_OF_RESPONSE * self.responses
        return GenerationSettings(Sampling(self.temperature, top_p=self.top_p), longest)


@dataclass(slots=True)
class _ContextResponses(Gap):
    """A context, with the responses that were accepted for it so far and the scores of each response."""

    texts: list[tuple[str, dict[str, float]]] = field(default_factory=list[tuple[str, dict[str, float]]])

    def count_missing(self, per_context: int) -> int:
        """Return how many more accepted responses the context needs.

        Args:
            per_context: Number of responses that the context should get.

        Returns:
            The number of missing responses, at least 0.
        """
        return max(0, per_context - len(self.texts))


class PnegGenerator(WritingGenerator):
    """Generate responses by prompting a language model for lists of irrelevant responses."""

    name = "pneg"

    def __init__(
        self,
        options: PnegOptions,
        examples: Sequence[IrrelevantResponses],
        writer: Writer,
        judge: PerplexityFilter | None,
    ) -> None:
        """Initialize the generator.

        Args:
            options: Options of the generator.
            examples: Solved examples from which those for each prompt are drawn.
            writer: Language model that writes the lists of responses.
            judge: Filter that scores the responses with a language model; None to accept responses without
                scores.
        """
        super().__init__(_REASONS, options, writer, judge)
        self._options = options
        self._examples = examples
        # A completion model starts a list only if the prompt ends with the number of the first item. A chat
        # model writes this number itself.
        self._begins = "" if getattr(writer, "route", None) == "chat" else "\n1."

    def write_candidates(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> list[_ContextResponses]:
        """Write irrelevant responses to each context.

        Args:
            contexts: Contexts that need irrelevant responses.
            per_context: Number of candidates that are needed per context.
            seed: Seed for choosing the examples and for sampling from the model.

        Returns:
            One `Gap` per context, in the order of ``contexts``. The candidates for a context are sorted by
            the share of their content words that the context contains, highest share first.
        """
        asked = [_ContextResponses(context, wanted=per_context) for context in contexts]
        for draw in range(self._options.max_draws):
            self._ask([each for each in asked if each.count_missing(per_context)], per_context, draw, seed)
        for each in asked:
            each.texts.sort(key=lambda text: -text[1][CONTEXT_OVERLAP])
            turns = [turn.text for turn in each.context.turns]
            for text, scores in each.texts:
                each.candidates.append(Candidate(imitate_spacing(text, turns), (UNRELATED,), scores))
            each.reason = each.reason or "short-list"
        return asked

    def settings(self) -> Mapping[str, object]:
        """Return the options, the names of the models and the examples, which determine the output."""
        own = {**self._options.settings(), **self.models}
        return {**own, "examples": [[example.context, example.responses] for example in self._examples]}

    def _ask(self, asked: Sequence[_ContextResponses], per_context: int, draw: int, seed: int) -> None:
        """Ask the model for the missing responses, and add the usable ones to their contexts in ``asked``."""
        amount, prompts = self._options.responses, list[Prompt]()
        wanted: list[tuple[_ContextResponses, Sequence[IrrelevantResponses]]] = []
        for each in asked:
            # Send as many prompts as are needed for the missing responses: their number divided by `amount`,
            # the number of responses per prompt, rounded up.
            for call in range(-(-each.count_missing(per_context) // amount)):
                id = f"{each.context.id}/{draw}/{call}"
                # As in Lee et al. (2022), the examples are chosen again for each prompt.
                order = shuffled(range(len(self._examples)), seed, "examples", id)
                shown = [self._examples[number] for number in order[: self._options.k]]
                request = irrelevant_request(shown, each.context.turns, amount)
                prompts.append(Prompt(request + self._begins, id))
                wanted.append((each, shown))
        # Without stop sequences, a completion model would continue after the list, for example with a second
        # list.
        stop = ["\n\n", f"\n{amount + 1}."] if self._begins else []
        answers = self.writer.complete(
            prompts, seed=seed, stop=stop, settings=self._options.generation_settings
        )
        whole: list[tuple[_ContextResponses, str]] = []
        for (each, shown), [answer] in zip(wanted, answers, strict=True):
            whole += [(each, text) for text in self._usable(each, shown, answer)]
        for (each, text), scores in zip(whole, self._read(whole), strict=True):
            if scores is not None:
                said = context_overlap((turn.text for turn in each.context.turns), text)
                each.texts.append((text, {**scores, CONTEXT_OVERLAP: said}))

    def _read(self, texts: Sequence[tuple[_ContextResponses, str]]) -> Iterator[dict[str, float] | None]:
        """Yield the scores of each response by the judge (a language model); None if it is rejected."""
        if self.judge is None:
            yield from ({} for _ in texts)
            return
        histories = [each.context.turns for each, _ in texts]
        read = self.judge.read([text for _, text in texts], histories)
        for (each, _), losses in zip(texts, read, strict=True):
            if losses is None:
                self.accept(each, "surprising")
                yield None
                continue
            # Reject a response that is much more likely after the context than alone, because it may be a
            # correct answer.
            expected = 1 - losses.in_context / losses.alone
            passes = self.accept(each, "fits" if expected > self._options.max_context_gain else None)
            yield {"perplexity": losses.perplexity, "expected": expected} if passes else None

    def _usable(
        self, each: _ContextResponses, shown: Sequence[IrrelevantResponses], answer: Completion
    ) -> Iterator[str]:
        """Yield the usable responses in a model's output, or none if it lists too few responses."""
        listed = list_items(f"{self._begins} {answer.text}") if answer.text else []
        if answer.problem == "truncated":
            # In "1. We left early. 2. My uncle has", the last response is cut off, so it is dropped.
            listed = listed[:-1]
        listed = listed[: self._options.responses]
        reason = None
        # As in Lee et al. (2022), a list that is too short is discarded completely.
        if len(listed) < self._options.required_responses:
            reason = answer.problem or ("short-list" if listed else "no-list")
        # An output such as "1. I cannot help with that." is a refusal, even though it is a list.
        elif answer.problem == "refused-answer":
            reason = answer.problem
        if not self.accept(each, reason):
            return
        # Reject copies: models sometimes repeat a response or a turn of a solved example in the prompt.
        example_texts = [text for example in shown for text in (*example.responses, *example.context)]
        before = [words_of(text) for text, _ in each.texts]
        turns = [turn.text for turn in each.context.turns]
        for text in listed:
            words = words_of(text)
            reason = refusal(text, (), each.context, self._options.lengths, example_texts)
            if reason is None and any(have_nearly_same_words(words, others) for others in before):
                reason = "like-another"
            # The prompt asks for responses with words of the context. A response without any such word is too
            # easily recognised as wrong.
            if reason is None and not context_overlap(turns, text):
                reason = "no-clash"
            if self.accept(each, reason):
                before.append(words)
                yield text


def list_items(text: str) -> list[str]:
    r"""Extract the items of a list that a language model wrote.

    The list may be numbered, bulleted or JSON. Its items may be on separate lines or all on one line.

    Args:
        text: Output of the model, which may also contain remarks before and after the list.

    Returns:
        The texts of the items, in order, without list markers, quotation marks, emphasis and speaker labels.

    Example:
        >>> list_items('Sure, here they are:\n1) "I like tea."\n2) **B: We left.**')
        ['I like tea.', 'We left.']
        >>> list_items("1. I like tea. 2. We left.")
        ['I like tea.', 'We left.']
    """
    parsed = _json_list(text)
    if parsed is None:
        # The output has no complete JSON list, so read its lines one by one. Skip lines that contain only
        # brackets or code fences.
        lines = [
            line for raw in text.splitlines() if (line := raw.strip()) and not _PUNCTUATION.fullmatch(line)
        ]
        parts = [part for line in lines for part in (_INSIDE.split(line) if _MARK.match(line) else [line])]
        marked = [part for part in parts if _MARK.match(part)]
        # If any line begins with a list marker, the lines without a marker are remarks of the model: drop
        # them. If no line has a marker, drop only headings, which end with a colon.
        parsed = [_MARK.sub("", part) for part in marked] or [part for part in parts if part[-1] != ":"]
    return [item for part in parsed if (item := _unquoted(part))]


def _json_list(text: str) -> list[str] | None:
    """Return the texts in the first JSON list that the output of a model contains.

    Also accepts a list inside an object, ``{"responses": ["We left."]}``, and a list of objects, ``[{"id": 1,
    "response": "We left."}]``.

    Args:
        text: Output of the model.

    Returns:
        The texts in the list, or None if the output contains no list of texts.
    """
    for found in islice(_OPENS.finditer(text), _MOST_OPENINGS):
        try:
            value, _ = _DECODER.raw_decode(text, found.start())
        # The bracket at `found` does not start valid JSON, or the JSON is nested too deeply. Try the next
        # bracket.
        except (ValueError, RecursionError):
            continue
        items: list[Any] = value if isinstance(value, list) else list(value.values())
        texts = [said for item in items if (said := _item_text(item))]
        # An object with several texts, such as {"1": "We left.", "2": "No."}, counts as a list. An object
        # with a single text may be a remark, such as {"note": "Here they are."}, and does not count as a
        # list.
        if texts and len(texts) == len(items) and (isinstance(value, list) or len(texts) > 1):
            return texts
    return None


def _item_text(item: Any) -> str | None:
    """Return the text of a JSON list item, which is a string or an object; None if the item has no text."""
    if not isinstance(item, dict):
        return item if isinstance(item, str) else None
    # In a JSON object, the response is the value of a key such as "response", or the only string.
    texts = {key: one for key, one in cast("dict[str, Any]", item).items() if isinstance(one, str)}
    named = [texts[key] for key in _TEXT_KEYS if key in texts] or list(texts.values())
    return named[0] if len(texts) == 1 or set(texts) & set(_TEXT_KEYS) else None


def _unquoted(text: str) -> str:
    """Remove quotation marks and emphasis around a text, and a speaker label before it."""
    text = one_line(text).strip()
    # In an incomplete JSON list, a comma may follow the closing quotation mark: "We left.",
    if text.endswith('",') or text.endswith("',"):
        text = text[:-1]
    # Do not strip the text `"Yes" and "no"`, in which the first and the last quotation mark are not a pair.
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return _SPEAKER.sub("", text).strip(" *") if not text.startswith("**") else _unquoted(text.strip("* "))


def read_examples(path: str | Path | None = None) -> list[IrrelevantResponses]:
    """Read solved examples for the prompts from a JSON Lines file.

    Each line is an object with two lists of texts: ``context`` contains the turns of a dialogue, and
    ``responses`` the irrelevant responses. Empty lines are ignored.

    Args:
        path: Path of the file; None for the examples that graphneg provides.

    Returns:
        The examples, in the order of the file; at least one.

    Raises:
        InputError: The file cannot be read, has no examples, or has a line that is not an example with a
            context and responses.
    """  # noqa: DOC501
    where = str(path) if path is not None else BUNDLED
    try:
        source = files("graphneg.generators") / BUNDLED if path is None else expand_home(path)
        lines = source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: can't be read as examples ({error})") from error
    examples: list[IrrelevantResponses] = []
    for number, line in enumerate(lines, 1):
        # Skip empty lines between or after the examples.
        if not line.strip():
            continue
        try:
            examples.append(msgspec.json.decode(line, type=IrrelevantResponses))
            # Refuse an example without turns or without responses, because it would not help a model.
            if not (examples[-1].context and examples[-1].responses):
                raise ValueError
        except (ValueError, msgspec.MsgspecError) as error:
            raise InputError(
                f"{where}, line {number}: expected an object with lists of texts as context and responses"
            ) from error
    if not examples:
        raise InputError(f"{where}: the file has no examples; add some, or set k=0")
    return examples


def pneg(store: Store, **options: Any) -> PnegGenerator:
    """Create the generator ``pneg``, which prompts a language model for irrelevant responses.

    The options are the fields of `PnegOptions`.

    Args:
        store: Not used.
        options: Fields of `PnegOptions`, as keyword arguments.

    Returns:
        The new generator.

    Raises:
        InputError: ``k`` is larger than the number of examples.
    """
    chosen = options_of(PnegOptions, "pneg", options)
    examples = read_examples(chosen.examples)
    if chosen.k > len(examples):
        raise InputError(f"k must be at most {len(examples)}, the number of examples, not {chosen.k}")
    return PnegGenerator(chosen, examples, *chosen.load("pneg", load_either))
