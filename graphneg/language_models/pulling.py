"""Words that a text is to say, drawn in: their next tokens are made more likely while they are missing.

Pascual et al. (2021, "A Plug-and-Play Method for Controlled Text Generation"). Who decodes decides when
a word is missing; here are the logits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

DOUBLED = 12
"""After so many tokens words are pulled twice as strongly."""


def pull_in(
    logits: Any,
    texts: Sequence[Sequence[int]],
    missing: Sequence[Sequence[Sequence[int]]],
    strength: float,
    ends: Sequence[int],
) -> Any:
    """``logits`` (rows, vocabulary) with the next tokens of missing words raised, and the end lowered.

    ``texts`` are each row's tokens up to here, ``missing`` the words that each row still lacks, in
    tokens. The pull begins with ``strength`` and is twice that after `DOUBLED` tokens, thrice after as
    many again: first a sentence finds its own way to the word, at last it must.
    """
    pulled = logits.clone()
    for row, (text, words) in enumerate(zip(texts, missing, strict=True)):
        tokens = next_tokens(text, words)
        stronger = strength * (1 + len(text) / DOUBLED)
        for token in set(tokens):
            pulled[row, token] += stronger
        if tokens:
            pulled[row, list(ends)] -= stronger
    return pulled


def next_tokens(text: Sequence[int], words: Sequence[Sequence[int]]) -> list[int]:
    """The token that each missing word needs next: its first, or the one that goes on.

    >>> next_tokens([5, 7], [[7, 8], [5], [9]])
    [8, 9]
    """
    found: list[int] = []
    for word in words:
        if not word or _holds(text, word):
            continue
        begun = next((n for n in range(len(word) - 1, 0, -1) if list(text[-n:]) == list(word[:n])), 0)
        found.append(word[begun])
    return found


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
    found = {form for forms in by_tag.values() for form in forms} - {last}
    return tuple(f"{first} {form}".strip() for form in (last, *sorted(found)))


def _holds(text: Sequence[int], word: Sequence[int]) -> bool:
    size = len(word)
    return any(list(text[at : at + size]) == list(word) for at in range(len(text) - size + 1))
