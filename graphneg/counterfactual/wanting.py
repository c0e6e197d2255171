"""Replies that say their perspective: the keyword is drawn in while it is missing.

A model that was not trained to reply with a perspective hardly minds it. Drawing in is a part of
the distribution that the reply is decoded from, and the same on both sides: with the observed
perspective put back, the observed reply still comes out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from graphneg.language_models import CausalLM, Seq2SeqLM
from graphneg.language_models.pulling import forms_of, pull_in

Tokens = Sequence[int]
_WORD = re.compile(r"\w+")


class Wanting:
    """Changes the logits of replies by ``strength``; 0 leaves them as they are."""

    def __init__(self, model: CausalLM | Seq2SeqLM, strength: float) -> None:
        self._model = model
        self._strength = strength
        self._forms: dict[str, list[Tokens]] = {}

    def __call__(self, logits: Any, texts: Sequence[Tokens], perspectives: Sequence[str], end: int) -> Any:
        """``logits`` (items, tokens), for texts so far, one perspective each; ``end`` ends replies."""
        if not self._strength:
            return logits
        missing = [
            [] if self._says(text, perspective) else self._in_tokens(perspective)
            for text, perspective in zip(texts, perspectives, strict=True)
        ]
        return pull_in(logits, texts, missing, self._strength, [end])

    def _says(self, text: Tokens, perspective: str) -> bool:
        said = _padded(self._model.decode(text))
        return any(_padded(form) in said for form in forms_of(perspective))

    def _in_tokens(self, perspective: str) -> list[Tokens]:
        """The forms that the keyword may take, its last word inflected, as tokens inside a sentence."""
        if perspective not in self._forms:
            tokenizer = self._model.tokenizer
            self._forms[perspective] = [
                list(tokenizer(f" {form}", add_special_tokens=False)["input_ids"])
                for form in forms_of(perspective)
            ]
        return self._forms[perspective]


def _padded(text: str) -> str:
    """The words of a text in lower case, each between spaces."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
