"""Changes of a dependency tree, in place: a word gets another head, or another's place."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.words import Word


def retie(words: Sequence[Word], word: Word, head: int, dep: str) -> None:
    """Makes the word depend on another."""
    words[word.head].kids.remove(word.i)
    word.head, word.dep = head, dep
    words[head].kids.append(word.i)
    words[head].kids.sort()


def raise_over(words: Sequence[Word], word: Word, over: Word) -> None:
    """Puts ``word`` in the place of ``over``, which then hangs on it with the rest of what it had."""
    words[word.head].kids.remove(word.i)
    if over.head == over.i:
        word.head, word.dep = word.i, "ROOT"
    else:
        words[over.head].kids.remove(over.i)
        word.head, word.dep = over.head, over.dep
        words[over.head].kids.append(word.i)
        words[over.head].kids.sort()
    for k in over.kids:
        words[k].head = word.i
    word.kids = sorted({*word.kids, *over.kids, over.i} - {word.i})
    over.kids = []
    over.head = word.i
