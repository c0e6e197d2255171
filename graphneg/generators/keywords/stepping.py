"""What is done at each token of a text that is being written: words are drawn in, and it ends with the
sentence that holds them.

A processor and a criterion for transformers' ``generate``. Rows are texts; a row's text begins behind
``start`` tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphneg.generators.keywords.words import mentions, words_of
from graphneg.language_models.pulling import pull_in

Tokens = Sequence[int]
Decode = Callable[[Tokens], str]

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"”]?$")
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "etc", "a.m", "p.m"})


class Wanted(NamedTuple):
    """A word or words that a text should say: as it is written, and the tokens of each of its forms."""

    words: tuple[str, ...]
    forms: tuple[Tokens, ...]


class Pull:
    """A logits processor that makes missing words more likely, and the end less while one is missing.

    ``wanted`` has what each row should say; one that is said in some form is missing no more. `pull_in`
    says how strong the pull is.
    """

    def __init__(
        self,
        wanted: Sequence[Sequence[Wanted]],
        start: int,
        strength: float,
        ends: Sequence[int],
        decode: Decode,
    ) -> None:
        self._wanted = wanted
        self._start = start
        self._strength = strength
        self._ends = list(ends)
        self._decode = decode

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary), with the next tokens of missing words raised."""
        texts: list[list[int]] = [row[self._start :].tolist() for row in input_ids]
        missing = [
            [form for one in missing_of(wanted, self._decode(text)) for form in one.forms]
            for text, wanted in zip(texts, self._wanted, strict=True)
        ]
        return pull_in(scores, texts, missing, self._strength, self._ends)


class SentenceEnd:
    """A stopping criterion: a text ends with the first sentence that completes it.

    It is complete with ``least`` words, all that are wanted among them. ``lengths`` has the number of
    tokens of each row that has ended so, None of the others.
    """

    def __init__(self, wanted: Sequence[Sequence[Wanted]], start: int, least: int, decode: Decode) -> None:
        self.lengths: list[int | None] = [None] * len(wanted)
        self._wanted = wanted
        self._start = start
        self._least = least
        self._decode = decode

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """A bool tensor of shape (rows,): True where the row's text has ended."""
        import torch

        for row, tokens in enumerate(input_ids):
            text = tokens[self._start :].tolist()
            if self.lengths[row] is None and self._complete(self._decode(text), self._wanted[row]):
                self.lengths[row] = len(text)
        return torch.tensor([length is not None for length in self.lengths], device=input_ids.device)

    def _complete(self, text: str, wanted: Sequence[Wanted]) -> bool:
        if not ends_sentence(text):
            return False
        return len(words_of(text)) >= self._least and not missing_of(wanted, text)


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does: not with an abbreviation, or a number that may go on.

    >>> [ends_sentence(text) for text in ("He is late.", "Ask Mr.", "It costs 3.")]
    [True, False, False]
    """
    if not _SENTENCE_END.search(text):
        return False
    return text.split()[-1].rstrip('.!?"”').lower() not in _ABBREVIATED


def missing_of(wanted: Sequence[Wanted], text: str) -> list[Wanted]:
    """What of the wanted the text does not say in any form."""
    said = words_of(text)
    return [one for one in wanted if not mentions(said, one.words)]
