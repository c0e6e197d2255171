r"""Generate texts for prompts, with a local model or on a server.

A writer generates texts for prompts. `LocalWriter` runs a causal or sequence-to-sequence model on this
machine. `graphneg.nn.served.ServedWriter` sends requests to a server. Both implement the interface `Writer`.
A generated text depends on its prompt, the id of the prompt and the seed, but not on other prompts in the
same call.

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

from graphneg.english.mentions import contains_keyword, ends_sentence
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
from graphneg.nn.language_models import LanguageModel, TokenPair

Route = Literal["chat", "completion"]
"""The way in which a prompt is passed to a model. With ``chat``, the prompt is the user's message in a chat.
With ``completion``, the model continues the prompt as plain text."""
_MARKS = re.compile(r"[.!?][\"”]?(?=\s|$)")
"""Matches punctuation that may end a sentence, including a closing quotation mark."""
_log = logging.getLogger(__name__)


class Prompt(NamedTuple):
    """A prompt, for which one or more texts are generated.

    Attributes:
        text: The text of the prompt.
        id: Id that, together with the seed of the run, determines the random choices. If the id is empty, the
            text of the prompt is used instead.
    """

    text: str
    id: str = ""


class Completion(NamedTuple):
    """A generated text.

    Attributes:
        text: The text, stripped of white space.
        finished: True if the text is complete; False if it was cut off at the token limit.
        logprobs: The log-probability of each token of the text in nats; None if log-probabilities were not
            requested or are not available.
        problem: Why a server's answer is unusable (see `graphneg.nn.answers.PROBLEMS`); empty if the answer
            is usable.
    """

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    problem: Problem = ""


@dataclass(frozen=True, slots=True)
class Constraints:
    """Words that a text should contain or avoid, and a condition for where it ends.

    A local model applies the constraints at each token, but a server cannot. With a server, the prompt must
    say which words are required, received texts are cut off after a sentence, and the caller must check
    whether the texts contain the words.

    Attributes:
        words: Words that the text should contain.
        keyword_bias: Bias that is added to the logits of words that are still missing. The bias grows with
            the length of the text.
        min_words: Minimum number of words in the text. The text ends after the first sentence with which it
            has at least this many words and contains all of ``words``. With 0, sentences do not end the text.
        weights: Factors for the probabilities of words, keyed by word; 0 forbids a word.
    """

    words: tuple[str, ...] = ()
    keyword_bias: float = 0.0
    min_words: int = 0
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def complete(self, text: str) -> bool:
        """Return whether a text meets the constraints and may end here.

        Args:
            text: The text that was generated so far.

        Returns:
            True if the text ends with a complete sentence, is long enough and contains all required words.
            Always False if ``min_words`` is 0, because then the model itself decides where the text ends.
        """
        return (
            self.min_words > 0
            and ends_sentence(text)
            and len(words_of(text)) >= self.min_words
            and all(contains_keyword(text, word) for word in self.words)
        )

    def cut(self, text: str) -> tuple[str, bool]:
        """Cut off a text after the first sentence with which it meets all constraints; see `complete`.

        Args:
            text: The whole generated text.

        Returns:
            The text up to the end of that sentence, and True. If the text has no such sentence, the whole
            text and False.

        >>> Constraints(("tea",), min_words=2).cut("Hello there. I like tea. And you?")
        ('Hello there. I like tea.', True)
        """
        # A period may belong to an abbreviation, so `complete` checks each place where a sentence may end.
        ends = (found.end() for found in _MARKS.finditer(text)) if self.min_words else ()
        found = next((text[:end] for end in ends if self.complete(text[:end])), None)
        return (text, False) if found is None else (found, True)


FREE = Constraints()
"""Constraints that require and forbid nothing."""


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """Settings for the generation of texts.

    Attributes:
        search: Settings for beam search or for sampling. The default is greedy search.
        max_new_tokens: Maximum number of tokens to generate for a text.
        few_shot_text: Text to put before each prompt, such as few-shot examples.
        logprobs: Whether to return the log-probabilities of tokens.
        kept_special_tokens: Special tokens that a local model must not remove from its texts.
    """

    search: Search = field(default_factory=Beams)
    max_new_tokens: int = 64
    few_shot_text: str = ""
    logprobs: bool = False
    kept_special_tokens: tuple[str, ...] = ()


PLAIN = GenerationSettings()
"""The default settings: greedy search with at most 64 tokens."""


class Writer(Protocol):
    """The interface of writers, which generate texts for prompts."""

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

        A text ends where the model ends the text, or just before the first stop string. Implementations
        raise:

        - `InputError` if there are not as many constraints as prompts, or if the search cannot return ``n``
          texts
        - `ModelError` if the model cannot read a prompt, or if a server cannot be used at all
        - `StoppedError` if the cost limit is reached, or if a server stops answering

        Args:
            prompts: The prompts, with their ids.
            n: Number of texts for each prompt.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints.
            settings: The search settings and the limits.

        Returns:
            The texts of each prompt, in the order of the prompts.
        """
        ...

    def notes(self) -> list[str]:
        """Return messages for the user after a run, for example about unusable answers."""
        ...


def settings_of_writer(writer: Writer) -> dict[str, object]:
    """Return the settings of a writer that influence its texts.

    Args:
        writer: A writer that runs a local model or sends requests to a server.

    Returns:
        A dictionary with the keys ``model`` (name of the model) and ``route`` (``chat`` or ``completion``;
        None if the writer has no route).
    """
    return {"model": writer.name, "route": getattr(writer, "route", None)}


def per_prompt(constraints: Sequence[Constraints] | None, prompts: Sequence[Prompt]) -> Sequence[Constraints]:
    """Return one `Constraints` object for each prompt.

    Args:
        constraints: Constraints for each prompt; None for no constraints.
        prompts: The prompts to which the constraints belong.

    Returns:
        The constraints in the order of the prompts; `FREE` for each prompt if ``constraints`` is None.

    Raises:
        InputError: There are not as many constraints as prompts.
    """
    if constraints is None:
        return [FREE] * len(prompts)
    if len(constraints) != len(prompts):
        raise InputError(
            f"expected {len(prompts)} constraints, one for each prompt, but found {len(constraints)}"
        )
    return constraints


def cut(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    r"""Cut off a text before the first stop string.

    Args:
        text: Text that may contain stop strings.
        stop: The stop strings.

    Returns:
        The text before the first stop string, and whether a stop string was found.

    >>> cut("Yes.\nNo.", ["\n", "o"])
    ('Yes.', True)
    """
    found = [at for string in stop if (at := text.find(string)) >= 0]
    return (text[: min(found)], True) if found else (text, False)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a batch: a prompt, with the settings for generating its text.

    With sampling, each row gets one text. With beam search, it gets as many texts as are requested.

    Attributes:
        tokens: The tokens of the prompt.
        constraints: The constraints for the generated texts.
        seed: The seed for sampling.
    """

    tokens: Tokens
    constraints: Constraints
    seed: int


@dataclass(frozen=True, slots=True)
class _SharedArguments:
    """The arguments of a `LocalWriter.complete` call that are the same for all prompts.

    Attributes:
        settings: The search settings and the limits.
        n: Number of texts for each prompt.
        stop: Strings that end a text.
        ends: Ids of the tokens that end a text.
        few_shot_tokens: The tokens of the text to put before each prompt (``settings.few_shot_text``); empty
            if each prompt already contains this text.
    """

    settings: GenerationSettings
    n: int
    stop: Sequence[str]
    ends: frozenset[int]
    few_shot_tokens: Tokens


class LocalWriter:
    """Generates texts with a language model on this machine.

    Prompts of similar length are processed in the same batch, and the longest prompts come first.

    Args:
        model: The language model.
        route: ``chat`` to put each prompt into the tokenizer's chat template, ``completion`` to let the model
            continue the prompt as plain text.

    Raises:
        ModelError: The route is ``chat``, and the tokenizer has no chat template.
    """

    def __init__(self, model: LanguageModel, route: Route = "completion") -> None:
        if route == "chat" and not getattr(model.tokenizer, "chat_template", None):
            raise ModelError(f"{model.path}: its tokenizer has no chat template; choose the route completion")
        self.model = model
        self.route: Route = route

    @property
    def name(self) -> str:
        """The path of the model's folder or file."""
        return str(self.model.path)

    def notes(self) -> list[str]:
        """Return an empty list, because a local model has no unusable answers. See `Writer.notes`."""
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

        If a stop string has one character, every token that contains this character ends a text. Longer stop
        strings are searched for in the decoded text. If a prompt is so long that it leaves no room for
        ``max_new_tokens``, its beginning is cut off, and a warning is logged.

        Args:
            prompts: The prompts, with their ids.
            n: Number of texts for each prompt. In a beam search, it must not exceed the number of beams.
            seed: Seed of the run.
            stop: Strings that end a text.
            constraints: Constraints for each prompt; None for no constraints.
            settings: The search settings and the limits.

        Returns:
            The texts of each prompt, in the order of the prompts.

        Raises:
            InputError: A beam search has fewer beams than ``n``.
        """
        held, search, model = per_prompt(constraints, prompts), settings.search, self.model
        if isinstance(search, Beams) and n > search.width:
            raise InputError(f"{n} texts per prompt, but {search.width} beams find at most {search.width}")
        # A stop string of several characters may be spread over several tokens, so such strings are searched
        # for later, in the decoded text.
        ends = [model.end_tokens(None), *(model.end_tokens(mark) for mark in stop if len(mark) == 1)]
        few_shot_tokens = (
            self._tokens(settings.few_shot_text)
            if settings.few_shot_text and self.route == "completion"
            else []
        )
        shared = _SharedArguments(settings, n, stop, frozenset[int]().union(*ends), few_shot_tokens)
        draws = [
            _Row(tokens, held[number], item_seed(seed, prompt.id or prompt.text, draw))
            for number, (prompt, tokens) in enumerate(
                zip(prompts, self._sources(prompts, shared), strict=True)
            )
            # In a beam search, one row of the batch gives all texts for a prompt. In sampling, each text
            # needs a separate row.
            for draw in range(1 if isinstance(search, Beams) else n)
        ]
        run, what = partial(self._run, shared=shared), f"{self.name}: a prompt"
        rows = iter(longest_first(draws, lambda draw: len(draw.tokens), model.batch_size, run, what))
        if isinstance(search, Beams):
            return list(rows)
        # Each row has one sampled text. The texts for a prompt are in n consecutive rows.
        return [[text for texts in islice(rows, n) for text in texts] for _ in prompts]

    def _sources(self, prompts: Sequence[Prompt], shared: _SharedArguments) -> list[list[int]]:
        """Tokenize prompts, and cut off the beginning of prompts that are too long for the model."""
        # All prompts begin with the same few-shot examples (`settings.few_shot_text`). With the route
        # ``completion``, the model reads the examples only once. With the route ``chat``, they are part of
        # each prompt.
        if shared.few_shot_tokens:
            read = [self._plain_tokens(prompt.text) for prompt in prompts]
        else:
            read = [self._tokens(shared.settings.few_shot_text + prompt.text) for prompt in prompts]
        if self.model.longest is None:
            return read
        # The text before the prompt (such as solved examples), the prompt and the generated tokens together
        # must fit into the model's input length.
        room = self.model.longest - len(shared.few_shot_tokens) - shared.settings.max_new_tokens
        if room < 1:
            what = "the examples" if shared.few_shot_tokens else f"{shared.settings.max_new_tokens} new ones"
            raise ModelError(f"{self.name}: the model reads {self.model.longest} tokens, too few for {what}")
        if short := sum(len(tokens) > room for tokens in read):
            _log.warning("%d of %d prompts were too long and were cut at the beginning", short, len(read))
        # Keep the end of a prompt, because it directly precedes the text to generate.
        return [tokens[-room:] for tokens in read]

    def _tokens(self, text: str) -> list[int]:
        """Tokenize a prompt. With the route ``chat``, put the prompt into the chat template first."""
        if self.route == "completion":
            return self.model.source_tokens(text)
        try:
            # add_generation_prompt ends the chat at the point where the assistant's answer begins.
            said = [{"role": "user", "content": text}]
            whole = self.model.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        # A chat template is a Jinja program from the model's folder, so it may raise any exception.
        except Exception as error:
            raise ModelError(f"{self.name}: its chat template fails ({first_line(error)})") from error
        # The chat template has added the special tokens, so do not add them again.
        return self._plain_tokens(whole)

    def _plain_tokens(self, text: str) -> list[int]:
        """Tokenize a text without adding special tokens."""
        return self.model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def _run(self, batch: Sequence[_Row], shared: _SharedArguments) -> list[list[Completion]]:
        """Generate texts for each row of a batch: ``n`` texts in a beam search, one text in sampling."""
        model, search, sources = self.model, shared.settings.search, [draw.tokens for draw in batch]
        beams, each = (search.width, shared.n) if isinstance(search, Beams) else (1, 1)
        start = model.text_start(sources, shared.few_shot_tokens)
        # In a beam search, transformers generates one row per beam. Repeat the constraints of a text, so that
        # each of these rows has its own.
        held = [draw.constraints for draw in batch for _ in range(beams)]
        text_of = partial(model.raw_text, kept=shared.settings.kept_special_tokens)
        over = TextEnd(
            [_is_over(one, shared.stop) for one in held], start, lambda seen: text_of(seen).lstrip()
        )
        # The stopping criterion `TextEnd` stores for each row where the text ended. In a beam search, texts
        # move between rows, so the criterion cannot be used.
        watched = beams == 1 and any(over.is_over)
        sequences = model.generated(
            sources,
            # Apply the constraints first, because temperature and noise must act on the constrained
            # probabilities.
            [
                *self._constraint_processors(held, start, shared.ends),
                *processors(search, [draw.seed for draw in batch]),
            ],
            shown=shared.few_shot_tokens,
            stops=[over] if watched else [],
            num_beams=beams,
            num_return_sequences=each,
            max_new_tokens=shared.settings.max_new_tokens,
            eos_token_id=sorted(shared.ends),
        )
        texts: list[Completion] = []
        items: list[TokenPair] = []
        for number, tokens in enumerate(sequences):
            end = over.lengths[number] if watched else None
            # Score the end token, too: its log-probability is part of the log-probability of the text.
            if end is None:
                end = next((at + 1 for at, token in enumerate(tokens) if token in shared.ends), None)
            text, stopped = cut(text_of(tokens[:end]).strip(), shared.stop)
            texts.append(Completion(text.strip(), stopped or end is not None))
            items.append(TokenPair(number, [*shared.few_shot_tokens, *sources[number // each]], tokens[:end]))
        if shared.settings.logprobs:
            texts = [
                text._replace(logprobs=tuple(-loss for loss in losses))
                for text, losses in zip(texts, model.token_losses(items), strict=True)
            ]
        return [texts[at : at + each] for at in range(0, len(texts), each)]

    def _constraint_processors(
        self, held: Sequence[Constraints], start: int, ends: frozenset[int]
    ) -> list[Any]:
        """Return the logits processors that implement the constraints on keywords and word weights."""
        chain: list[Any] = []
        if pull := max(one.keyword_bias for one in held):
            # With ``keyword_bias=0``, the words of a constraint do not change the logits. They only determine
            # after which sentence the text ends.
            words = [one.words if one.keyword_bias else () for one in held]
            chain.append(
                KeywordBias(
                    self.model, words, contains_keyword, strength=pull, ends=sorted(ends), start=start
                )
            )
        if any(one.weights for one in held):
            chain.append(TokenWeights([self._weighted(one.weights) for one in held], start))
        return chain

    def _weighted(self, weights: Mapping[str, float]) -> list[tuple[Tokens, float]]:
        """Return weighted token sequences for the forms of each word: "tea", " tea", "Tea" and " Tea"."""
        tokenizer = self.model.tokenizer
        return [
            (tokens, weight)
            for word, weight in weights.items()
            # Give all forms of a word the same weight: "The" at the beginning of a text and " the" after
            # another word are different tokens.
            for form in dict.fromkeys((word, word.capitalize()))
            for written in (form, f" {form}")
            if (tokens := tokenizer(written, add_special_tokens=False)["input_ids"])
        ]


def _is_over(constraints: Constraints, stop: Sequence[str]) -> Callable[[str], bool] | None:
    """Return a function that tells whether a text is complete; None if texts end only at end tokens."""
    longer = [string for string in stop if len(string) > 1]
    if not longer and not constraints.min_words:
        return None
    return lambda text: any(string in text for string in longer) or constraints.complete(text)
