"""Writers: prompts go in, texts come out, by whatever model writes them.

`LocalWriter` has a model of this machine write, causal or sequence-to-sequence;
`graphneg.nn.served.ServedWriter` asks a server. Both answer `Writer.complete`, and a text depends on its
prompt, its prompt's id and the seed, never on the other prompts.

>>> writer = LocalWriter(load_causal("path/to/model"))                                     # doctest: +SKIP
>>> writer.complete([Prompt("Words: ladder\\nSentence:")], seed=1, stop=["\\n"])             # doctest: +SKIP
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
"""``chat``: the prompt is what a user says to an assistant; ``completion``: the model goes on with it."""
_MARKS = re.compile(r"[.!?][\"”]?(?=\s|$)")
_log = logging.getLogger(__name__)


class Prompt(NamedTuple):
    """What a text is written for. Its ``id`` (else the text itself) and the seed decide what is drawn."""

    text: str
    id: str = ""


class Completion(NamedTuple):
    """A text that was written, without white space around it.

    ``finished`` says that it came to an end before the limit. ``logprobs`` are the log-probabilities (nats)
    of its tokens by the model, if they were asked for and can be had. ``problem`` names why a server's answer
    is not usable as it is (`graphneg.nn.answers.PROBLEMS`), if it is not.
    """

    text: str
    finished: bool
    logprobs: tuple[float, ...] | None = None
    problem: Problem = ""


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a text should say and should not.

    ``words`` are drawn in while they are missing: ``pull`` is added to the logits of their next tokens, more
    and more. With ``sentence_words`` a text ends with the first sentence that leaves it so many words or
    more, all ``words`` among them. ``weights`` has, by word, what its probability is multiplied by: 0 forbids
    it.

    A model of this machine is held to them token by token. A server is not: there the prompt has to say them,
    texts are only cut at their sentence, and the caller checks the rest.
    """

    words: tuple[str, ...] = ()
    pull: float = 0.0
    sentence_words: int = 0
    weights: Mapping[str, float] = field(default_factory=dict[str, float])

    def complete(self, text: str) -> bool:
        """Whether a text ends with a sentence that completes it."""
        return (
            self.sentence_words > 0
            and ends_sentence(text)
            and len(words_of(text)) >= self.sentence_words
            and all(says(text, word) for word in self.words)
        )

    def cut(self, text: str) -> tuple[str, bool]:
        """The text up to the first sentence that completes it, and whether there is one.

        >>> Constraints(("tea",), sentence_words=2).cut("Hello there. I like tea. And you?")
        ('Hello there. I like tea.', True)
        """
        ends = (found.end() for found in _MARKS.finditer(text)) if self.sentence_words else ()
        found = next((text[:end] for end in ends if self.complete(text[:end])), None)
        return (text, False) if found is None else (found, True)


FREE = Constraints()
"""No constraints."""


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """How texts are written: by which search (greedy where none is given), of how many tokens at most.

    ``shown`` stands before every prompt: solved examples, say. With ``logprobs`` texts come with theirs.
    Special tokens of a model of this machine are left out of texts, but those that are ``kept``.
    """

    search: Search = field(default_factory=Beams)
    max_new_tokens: int = 64
    shown: str = ""
    logprobs: bool = False
    kept: tuple[str, ...] = ()


PLAIN = GenerationSettings()
"""Greedy search, at most 64 tokens."""


class Writer(Protocol):
    """Writes texts. ``name`` is the model's, as settings and messages show it."""

    @property
    def name(self) -> str:
        """The model's path, id or name at its server."""
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
        """``n`` texts for each prompt, in order; prompts are not repeated in them.

        A text ends where the model ends it, or before the first of the strings ``stop``. ``constraints`` has
        one for each prompt.

        Raises:
            InputError: another number of constraints than of prompts, or a search that can't give ``n``
                texts.
            ModelError: the model can't read or write so much, or a server does not answer as it should.
            StoppedError: what may be spent is spent, or the server has gone.
        """
        ...

    def notes(self) -> list[str]:
        """Return what there is to tell a user after a run: answers that could not be used, say."""
        ...


def settings_of_writer(writer: Writer) -> dict[str, object]:
    """What texts depend on: the model, and how it is asked."""
    return {"model": writer.name, "route": getattr(writer, "route", None)}


def per_prompt(constraints: Sequence[Constraints] | None, prompts: Sequence[Prompt]) -> Sequence[Constraints]:
    """The constraints of each prompt. Raises `InputError`: there are more or fewer than prompts."""
    if constraints is None:
        return [FREE] * len(prompts)
    if len(constraints) != len(prompts):
        raise InputError(f"{len(prompts)} prompts, but {len(constraints)} constraints")
    return constraints


def cut(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text up to the first of the strings, and whether there was one.

    >>> cut("Yes.\\nNo.", ["\\n", "o"])
    ('Yes.', True)
    """
    found = [at for string in stop if (at := text.find(string)) >= 0]
    return (text[: min(found)], True) if found else (text, False)


@dataclass(frozen=True, slots=True)
class _Draw:
    """One row to be written: the tokens of a prompt, what the text is held to, and the row's seed."""

    tokens: Tokens
    constraints: Constraints
    seed: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is the same for all rows of a call; ``ends`` are the tokens that end texts, ``shown`` those of
    what is shown."""

    settings: GenerationSettings
    n: int
    stop: Sequence[str]
    ends: frozenset[int]
    shown: Tokens


class LocalWriter:
    """Has a language model of this machine write, the longest prompts first, in batches of like length.

    With the route ``chat`` a prompt is put into the chat template of the model's tokenizer.

    Raises:
        ModelError: the tokenizer has no chat template.
    """

    def __init__(self, model: LanguageModel, route: Route = "completion") -> None:
        if route == "chat" and not getattr(model.tokenizer, "chat_template", None):
            raise ModelError(f"{model.path}: its tokenizer has no chat template; choose the route completion")
        self.model = model
        self.route: Route = route

    @property
    def name(self) -> str:
        """The path of the model."""
        return str(self.model.path)

    def notes(self) -> list[str]:
        """See `Writer.notes`."""
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
        """See `Writer.complete`.

        Strings of one character end a text by the tokens that hold them, longer ones are looked for in what
        was written. Prompts that leave no room for ``max_new_tokens`` lose their beginning, and a warning
        counts them."""
        held, search, model = per_prompt(constraints, prompts), settings.search, self.model
        if isinstance(search, Beams) and n > search.width:
            raise InputError(f"{n} texts of each prompt: {search.width} beams find no more than these")
        ends = [model.end_tokens(None), *(model.end_tokens(mark) for mark in stop if len(mark) == 1)]
        shown = self._tokens(settings.shown) if settings.shown and self.route == "completion" else []
        asked = _Asked(settings, n, stop, frozenset[int]().union(*ends), shown)
        draws = [
            _Draw(tokens, held[number], item_seed(seed, prompt.id or prompt.text, draw))
            for number, (prompt, tokens) in enumerate(
                zip(prompts, self._sources(prompts, asked), strict=True)
            )
            for draw in range(1 if isinstance(search, Beams) else n)
        ]
        run, what = partial(self._run, asked=asked), f"{self.name}: a prompt"
        rows = iter(longest_first(draws, lambda draw: len(draw.tokens), model.batch_size, run, what))
        if isinstance(search, Beams):
            return list(rows)
        return [[text for texts in islice(rows, n) for text in texts] for _ in prompts]

    def _sources(self, prompts: Sequence[Prompt], asked: _Asked) -> list[list[int]]:
        """The tokens of each prompt, as far as the model can read them behind what is shown."""
        if asked.shown:
            read = [self._plain_tokens(prompt.text) for prompt in prompts]
        else:
            read = [self._tokens(asked.settings.shown + prompt.text) for prompt in prompts]
        if self.model.longest is None:
            return read
        room = self.model.longest - len(asked.shown) - asked.settings.max_new_tokens
        if room < 1:
            what = "the examples" if asked.shown else f"{asked.settings.max_new_tokens} new ones"
            raise ModelError(f"{self.name}: reads {self.model.longest} tokens, too few for {what}")
        if short := sum(len(tokens) > room for tokens in read):
            _log.warning("%d of %d prompts were too long and lost their beginning", short, len(read))
        return [tokens[-room:] for tokens in read]

    def _tokens(self, text: str) -> list[int]:
        if self.route == "completion":
            return self.model.source_tokens(text)
        try:
            said = [{"role": "user", "content": text}]
            whole = self.model.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # whatever the template raises
            raise ModelError(f"{self.name}: its chat template fails ({first_line(error)})") from error
        return self._plain_tokens(whole)

    def _plain_tokens(self, text: str) -> list[int]:
        return self.model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def _run(self, batch: Sequence[_Draw], asked: _Asked) -> list[list[Completion]]:
        """The texts of each row: ``n`` of a beam search, else one."""
        model, search, sources = self.model, asked.settings.search, [draw.tokens for draw in batch]
        beams, each = (search.width, asked.n) if isinstance(search, Beams) else (1, 1)
        start = model.text_start(sources, asked.shown)
        held = [draw.constraints for draw in batch for _ in range(beams)]
        text_of = partial(model.raw_text, kept=asked.settings.kept)
        over = TextEnd(
            [_is_over(one, asked.stop) for one in held], start, lambda seen: text_of(seen).lstrip()
        )
        watched = beams == 1 and any(over.is_over)
        sequences = model.generated(
            sources,
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
        """The logits processors that hold rows to their constraints."""
        chain: list[Any] = []
        if pull := max(one.pull for one in held):
            words = [one.words if one.pull else () for one in held]
            chain.append(KeywordBias(self.model, words, says, strength=pull, ends=sorted(ends), start=start))
        if any(one.weights for one in held):
            chain.append(TokenWeights([self._weighted(one.weights) for one in held], start))
        return chain

    def _weighted(self, weights: Mapping[str, float]) -> list[tuple[Tokens, float]]:
        """Each word as tokens, as it stands inside a text or at its beginning, with its weight."""
        tokenizer = self.model.tokenizer
        return [
            (tokens, weight)
            for word, weight in weights.items()
            for form in dict.fromkeys((word, word.capitalize()))
            for written in (form, f" {form}")
            if (tokens := tokenizer(written, add_special_tokens=False)["input_ids"])
        ]


def _is_over(constraints: Constraints, stop: Sequence[str]) -> Callable[[str], bool] | None:
    """What tells that a text has ended; None where its tokens tell it."""
    longer = [string for string in stop if len(string) > 1]
    if not longer and not constraints.sentence_words:
        return None
    return lambda text: any(string in text for string in longer) or constraints.complete(text)
