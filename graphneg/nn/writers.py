r"""Write texts for prompts, with a local model or with a server.

`LocalWriter` runs a causal or sequence-to-sequence model on this machine. `graphneg.nn.served.ServedWriter`
asks a server. Both implement `Writer.complete`. A text depends on its prompt, the id of the prompt and the
seed, and never on the other prompts.

>>> writer = LocalWriter(load_causal("path/to/model"))                                     # doctest: +SKIP
>>> writer.complete([Prompt("Words: ladder\nSentence:")], seed=1, stop=["\n"])             # doctest: +SKIP
[[Completion(text='The ladder is in the shed.', finished=True, logprobs=None)]]
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol

from graphneg.english.mentions import ends_sentence, says
from graphneg.english.tokens import words_of
from graphneg.errors import InputError, ModelError, first_line
from graphneg.nn.answers import Problem
from graphneg.nn.batching import longest_first
from graphneg.nn.generation import (
    Beams,
    KeywordBias,
    Search,
    TextEnd,
    Tokens,
    TokenWeights,
    item_seed,
    processors,
)
from graphneg.nn.language_models import LanguageModel, Request

Route = Literal["chat", "completion"]
"""How a model is asked: ``chat`` sends the prompt as a user's message to an assistant; ``completion`` lets
the model continue the prompt."""
_MARKS = re.compile(r"[.!?][\"”]?(?=\s|$)")
"""Marks that may end a sentence, with a closing quotation mark."""
_log = logging.getLogger(__name__)


class Prompt(NamedTuple):
    """A prompt for one text.

    Attributes:
        text: The prompt.
        id: Determines the text together with the seed; by default the prompt itself does.
    """

    text: str
    id: str = ""


class Completion(NamedTuple):
    """A text, without white space around it.

    Attributes:
        text: The text.
        finished: Whether it ended before the token limit.
        logprobs: The log-probabilities of its tokens in nats; None if they were not requested or are not
            available.
        problem: Why a server's answer is unusable (see `graphneg.nn.answers.PROBLEMS`); empty if it is
            usable.
    """

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    problem: Problem = ""


@dataclass(frozen=True, slots=True)
class Constraints:
    """Words that a text should contain or avoid, and where it ends.

    A local model follows them token by token. A server does not: the prompt has to state them, texts are only
    cut at the end of a sentence, and the caller checks the rest.

    Attributes:
        words: Words that the text should contain.
        pull: Bias that is added to the logits of missing words. It grows with the length of the text.
        sentence_words: If above 0, the text ends with the first sentence after which it has at least this
            number of words and contains all of ``words``.
        weights: Factors for the probabilities of words; 0 forbids a word.
    """

    words: tuple[str, ...] = ()
    pull: float = 0.0
    sentence_words: int = 0
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def complete(self, text: str) -> bool:
        """Return whether a text ends with a sentence that completes it.

        Args:
            text: The text so far.

        Returns:
            False if there is no ``sentence_words`` condition.
        """
        return (
            self.sentence_words > 0
            and ends_sentence(text)
            and len(words_of(text)) >= self.sentence_words
            and all(says(text, word) for word in self.words)
        )

    def cut(self, text: str) -> tuple[str, bool]:
        """Cut a text after the first sentence that completes it.

        Args:
            text: The text.

        Returns:
            The text, and whether there is such a sentence.

        >>> Constraints(("tea",), sentence_words=2).cut("Hello there. I like tea. And you?")
        ('Hello there. I like tea.', True)
        """
        # A period may be inside of an abbreviation, so each candidate is checked with `complete`.
        ends = (found.end() for found in _MARKS.finditer(text)) if self.sentence_words else ()
        found = next((text[:end] for end in ends if self.complete(text[:end])), None)
        return (text, False) if found is None else (found, True)


FREE = Constraints()
"""No constraints."""


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """How texts are generated.

    Attributes:
        search: The search; greedy by default.
        max_new_tokens: Maximum number of tokens of a text.
        shown: Text before each prompt, such as solved examples.
        logprobs: Whether to return the log-probabilities of tokens.
        kept: Special tokens that a local model keeps in its texts.
    """

    search: Search = field(default_factory=Beams)
    max_new_tokens: int = 64
    shown: str = ""
    logprobs: bool = False
    kept: tuple[str, ...] = ()


PLAIN = GenerationSettings()
"""Greedy search with at most 64 tokens."""


class Writer(Protocol):
    """Writes texts."""

    @property
    def name(self) -> str:
        """The path or id of the model, or its name on the server."""
        ...

    def complete(
        self,
        prompts: Sequence[Prompt],
        n: int = 1,
        *,
        seed: int = 0,
        stop: Sequence[str] = (),
        constraints: Sequence[Constraints] | None = None,
        settings: GenerationSettings = PLAIN,
    ) -> list[list[Completion]]:
        """Return ``n`` texts for each prompt. The texts do not repeat the prompt.

        A text ends where the model ends it, or before the first stop string. These errors are possible:
        `InputError` for a wrong number of constraints, or for a search that cannot give ``n`` texts;
        `ModelError` for a prompt that the model cannot read, or a server that does not answer properly;
        `StoppedError` for a spent cost limit, or a server that has gone.

        Args:
            prompts: The prompts.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints.
            settings: The search and the limits.

        Returns:
            The texts of each prompt, in the order of the prompts.
        """
        ...

    def notes(self) -> list[str]:
        """Return messages for the user after a run, for example about unusable answers."""
        ...


def settings_of_writer(writer: Writer) -> dict[str, object]:
    """Return what the texts of a writer depend on: the model, and the way in which it is asked.

    Args:
        writer: The writer.

    Returns:
        The name of the model, and the route if the writer has one.
    """
    return {"model": writer.name, "route": getattr(writer, "route", None)}


def per_prompt(constraints: Sequence[Constraints] | None, prompts: Sequence[Prompt]) -> Sequence[Constraints]:
    """Return the constraints of each prompt.

    Args:
        constraints: Constraints for each prompt; None for no constraints.
        prompts: The prompts.

    Returns:
        Constraints, in the order of the prompts.

    Raises:
        InputError: The numbers of constraints and prompts differ.
    """
    if constraints is None:
        return [FREE] * len(prompts)
    if len(constraints) != len(prompts):
        raise InputError(f"{len(prompts)} prompts, but {len(constraints)} constraints")
    return constraints


def cut(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    r"""Cut a text before the first stop string.

    Args:
        text: The text.
        stop: Strings that end it.

    Returns:
        The text, and whether it contained a stop string.

    >>> cut("Yes.\nNo.", ["\n", "o"])
    ('Yes.', True)
    """
    found = [at for string in stop if (at := text.find(string)) >= 0]
    return (text[: min(found)], True) if found else (text, False)


@dataclass(frozen=True, slots=True)
class _Draw:
    """One row to generate.

    Attributes:
        tokens: The tokens of the prompt.
        constraints: The constraints of the text.
        seed: The seed of the row.
    """

    tokens: Tokens
    constraints: Constraints
    seed: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """What all rows of a call have in common.

    Attributes:
        settings: The search and the limits.
        n: Number of texts for each prompt.
        stop: Strings that end a text.
        ends: Tokens that end a text.
        shown: The tokens of the text before each prompt.
    """

    settings: GenerationSettings
    n: int
    stop: Sequence[str]
    ends: frozenset[int]
    shown: Tokens


class LocalWriter:
    """Writes texts with a language model on this machine, in batches of similar length, the longest first.

    Args:
        model: The model.
        route: ``chat`` puts each prompt into the chat template of the tokenizer.

    Raises:
        ModelError: The tokenizer has no chat template.
    """

    def __init__(self, model: LanguageModel, route: Route = "completion") -> None:
        """Initialize with a loaded model."""
        if route == "chat" and not getattr(model.tokenizer, "chat_template", None):
            raise ModelError(f"{model.path}: its tokenizer has no chat template; choose the route completion")
        self.model = model
        self.route: Route = route

    @property
    def name(self) -> str:
        """The path of the model."""
        return str(self.model.path)

    def notes(self) -> list[str]:
        """Return no notes. See `Writer.notes`."""
        return []

    def complete(
        self,
        prompts: Sequence[Prompt],
        n: int = 1,
        *,
        seed: int = 0,
        stop: Sequence[str] = (),
        constraints: Sequence[Constraints] | None = None,
        settings: GenerationSettings = PLAIN,
    ) -> list[list[Completion]]:
        """Return ``n`` texts for each prompt. See `Writer.complete`.

        A stop string of one character ends a text at each token that contains it. Longer stop strings are
        searched for in the text. A prompt that leaves no room for ``max_new_tokens`` loses its beginning,
        with a warning.

        Args:
            prompts: The prompts.
            n: Number of texts for each prompt, at most the number of beams in a beam search.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints.
            settings: The search and the limits.

        Returns:
            The texts of each prompt, in the order of the prompts.

        Raises:
            InputError: A beam search has fewer beams than ``n``.
        """
        held, search, model = per_prompt(constraints, prompts), settings.search, self.model
        if isinstance(search, Beams) and n > search.width:
            raise InputError(f"{n} texts of each prompt: {search.width} beams find no more than these")
        # A longer stop string may be spread over several tokens, so it cannot end a text by its tokens.
        ends = [model.end_tokens(None), *(model.end_tokens(mark) for mark in stop if len(mark) == 1)]
        shown = self._tokens(settings.shown) if settings.shown and self.route == "completion" else []
        asked = _Asked(settings, n, stop, frozenset[int]().union(*ends), shown)
        draws = [
            _Draw(tokens, held[number], item_seed(seed, prompt.id or prompt.text, draw))
            for number, (prompt, tokens) in enumerate(
                zip(prompts, self._sources(prompts, asked), strict=True)
            )
            # A beam search finds all texts of a prompt in a single row.
            for draw in range(1 if isinstance(search, Beams) else n)
        ]
        run, what = partial(self._run, asked=asked), f"{self.name}: a prompt"
        rows = iter(longest_first(draws, lambda draw: len(draw.tokens), model.batch_size, run, what))
        if isinstance(search, Beams):
            return list(rows)
        # Each sampled row has one text. Join the n rows of a prompt.
        return [[text for texts in islice(rows, n) for text in texts] for _ in prompts]

    def _sources(self, prompts: Sequence[Prompt], asked: _Asked) -> list[list[int]]:
        """Return the tokens of each prompt that fit after the shown tokens."""
        # Shown tokens are read separately, once for all prompts. Otherwise the shown text is a part of each
        # prompt.
        if asked.shown:
            read = [self._plain_tokens(prompt.text) for prompt in prompts]
        else:
            read = [self._tokens(asked.settings.shown + prompt.text) for prompt in prompts]
        if self.model.longest is None:
            return read
        # The model reads the shown tokens, the prompt and the new tokens together.
        room = self.model.longest - len(asked.shown) - asked.settings.max_new_tokens
        if room < 1:
            what = "the examples" if asked.shown else f"{asked.settings.max_new_tokens} new ones"
            raise ModelError(f"{self.name}: reads {self.model.longest} tokens, too few for {what}")
        if short := sum(len(tokens) > room for tokens in read):
            _log.warning("%d of %d prompts were too long and were cut at the beginning", short, len(read))
        # Keep the end of a prompt, which comes directly before the text.
        return [tokens[-room:] for tokens in read]

    def _tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, in the chat template if the route asks for it."""
        if self.route == "completion":
            return self.model.source_tokens(text)
        try:
            # With add_generation_prompt, the template ends where the assistant's answer begins.
            said = [{"role": "user", "content": text}]
            whole = self.model.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # A template may raise anything.
            raise ModelError(f"{self.name}: its chat template fails ({first_line(error)})") from error
        # The template already contains the special tokens.
        return self._plain_tokens(whole)

    def _plain_tokens(self, text: str) -> list[int]:
        """Return the tokens of a text without special tokens."""
        return self.model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def _run(self, batch: Sequence[_Draw], asked: _Asked) -> list[list[Completion]]:
        """Return the texts of each row: ``n`` texts with a beam search, otherwise one."""
        model, search, sources = self.model, asked.settings.search, [draw.tokens for draw in batch]
        beams, each = (search.width, asked.n) if isinstance(search, Beams) else (1, 1)
        start = model.text_start(sources, asked.shown)
        # A beam search has a row for each beam.
        held = [draw.constraints for draw in batch for _ in range(beams)]
        text_of = partial(model.raw_text, kept=asked.settings.kept)
        over = TextEnd(
            [_is_over(one, asked.stop) for one in held], start, lambda seen: text_of(seen).lstrip()
        )
        # A beam search reorders its rows, so a row's text cannot be watched there.
        watched = beams == 1 and any(over.is_over)
        sequences = model.generated(
            sources,
            # Constraints come before temperature and noise, so that they change the probabilities of the
            # search.
            [*self._held(held, start, asked.ends), *processors(search, [draw.seed for draw in batch])],
            shown=asked.shown,
            stops=[over] if watched else [],
            num_beams=beams,
            num_return_sequences=each,
            max_new_tokens=asked.settings.max_new_tokens,
            eos_token_id=sorted(asked.ends),
        )
        texts: list[Completion] = []
        items: list[Request] = []
        for number, tokens in enumerate(sequences):
            end = over.lengths[number] if watched else None
            # Include the end token, whose log-probability counts.
            if end is None:
                end = next((at + 1 for at, token in enumerate(tokens) if token in asked.ends), None)
            text, stopped = cut(text_of(tokens[:end]).strip(), asked.stop)
            texts.append(Completion(text.strip(), stopped or end is not None))
            items.append(Request(number, [*asked.shown, *sources[number // each]], tokens[:end]))
        if asked.settings.logprobs:
            texts = [
                text._replace(logprobs=tuple(-loss for loss in losses))
                for text, losses in zip(texts, model.token_losses(items), strict=True)
            ]
        return [texts[at : at + each] for at in range(0, len(texts), each)]

    def _held(self, held: Sequence[Constraints], start: int, ends: frozenset[int]) -> list[Any]:
        """Return the logits processors that implement constraints."""
        chain: list[Any] = []
        if pull := max(one.pull for one in held):
            # Constraints without a pull do not ask for their words during generation.
            words = [one.words if one.pull else () for one in held]
            chain.append(KeywordBias(self.model, words, says, strength=pull, ends=sorted(ends), start=start))
        if any(one.weights for one in held):
            chain.append(TokenWeights([self._weighted(one.weights) for one in held], start))
        return chain

    def _weighted(self, weights: Mapping[str, float]) -> list[tuple[Tokens, float]]:
        """Return each word as tokens, inside of a text and at its beginning, with its weight."""
        tokenizer = self.model.tokenizer
        return [
            (tokens, weight)
            for word, weight in weights.items()
            # A text may begin with "The", and contain " the" after another word: these are different tokens.
            for form in dict.fromkeys((word, word.capitalize()))
            for written in (form, f" {form}")
            if (tokens := tokenizer(written, add_special_tokens=False)["input_ids"])
        ]


def _is_over(constraints: Constraints, stop: Sequence[str]) -> Callable[[str], bool] | None:
    """Return a function that tells whether a text has ended; None if its tokens tell that."""
    longer = [string for string in stop if len(string) > 1]
    if not longer and not constraints.sentence_words:
        return None
    return lambda text: any(string in text for string in longer) or constraints.complete(text)
