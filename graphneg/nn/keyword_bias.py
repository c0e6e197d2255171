"""Keyword bias: a logits processor that draws keywords into a text (Pascual et al. 2021).

In go the logits of the next token, and each row's text so far; out come logits in which the next token of
each keyword that the text does not say yet is raised, and the end token lowered while one is missing.
Source: "A Plug-and-Play Method for Controlled Text Generation", Findings of EMNLP 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

DOUBLED = 12
"""After so many tokens the bias is twice as strong, after as many again thrice."""

Tokens = Sequence[int]
Says = Callable[[str, str], bool]
"""Whether a text (first) says a keyword (second)."""


class KeywordBias:
    """Biases rows of logits toward the keywords of each row, in any of their inflected forms.

    ``keywords`` are each row's; ``strength`` is what is added to a logit at the beginning of a text (0
    changes nothing), ``ends`` are the tokens that end a text. A row's text begins behind ``start`` tokens.
    """

    def __init__(
        self,
        model: Any,
        keywords: Sequence[Sequence[str]],
        says: Says,
        *,
        strength: float,
        ends: Sequence[int],
        start: int = 0,
    ) -> None:
        self._model = model
        self._keywords = keywords
        self._says = says
        self._strength = strength
        self._ends = list(ends)
        self._start = start
        self._tokens: dict[str, list[Tokens]] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary) for ``input_ids`` of shape (rows, tokens)."""
        return self.biased([row[self._start :].tolist() for row in input_ids], scores)

    def biased(self, texts: Sequence[Tokens], logits: Any) -> Any:
        """``logits`` of shape (rows, vocabulary) for each row's text so far."""
        if not self._strength:
            return logits
        biased = logits.clone()
        for row, (text, keywords) in enumerate(zip(texts, self._keywords, strict=True)):
            strength = self._strength * (1 + len(text) / DOUBLED)
            said = self._model.decode(text)
            missing = [form for item in keywords if not self._says(said, item) for form in self._forms(item)]
            tokens = next_tokens(text, missing)
            for token in set(tokens):
                biased[row, token] += strength
            if tokens:
                biased[row, self._ends] -= strength
        return biased

    def _forms(self, keyword: str) -> list[Tokens]:
        """A keyword's forms as tokens inside a sentence."""
        if keyword not in self._tokens:
            tokenizer = self._model.tokenizer
            self._tokens[keyword] = [
                list(tokenizer(f" {form}", add_special_tokens=False)["input_ids"])
                for form in forms_of(keyword)
            ]
        return self._tokens[keyword]


def next_tokens(text: Tokens, words: Sequence[Tokens]) -> list[int]:
    """The token that each missing word needs next: its first, or the one that goes on.

    >>> next_tokens([5, 7], [[7, 8], [5], [9]])
    [8, 9]
    """
    needed: list[int] = []
    text = list(text)
    for word in map(list, words):
        size = len(word)
        if not word or any(text[at : at + size] == word for at in range(len(text) - size + 1)):
            continue
        begun = next((n for n in range(size - 1, 0, -1) if text[-n:] == word[:n]), 0)
        needed.append(word[begun])
    return needed


@lru_cache(maxsize=4096)
def forms_of(keyword: str) -> tuple[str, ...]:
    """A keyword, and the same with its last word in other forms; a name has none.

    >>> forms_of("blue ticket"), forms_of("Jim")
    (('blue ticket', 'blue ticketed', 'blue ticketing', 'blue tickets'), ('Jim',))
    """
    from lemminflect import getAllInflections

    first, _, last = keyword.rpartition(" ")
    if not last.islower():
        return (keyword,)
    by_tag: Mapping[str, Sequence[str]] = getAllInflections(last)
    others = {form for forms in by_tag.values() for form in forms} - {last}
    return tuple(f"{first} {form}".strip() for form in (last, *sorted(others)))
