"""Changes of a dependency tree, in place: a word gets another head, or another's place. It stays a tree."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.words import Word


def retie(words: Sequence[Word], word: Word, head: int, dep: str) -> None:
    """Makes the word depend on another; one that is below the word takes the word's place first."""
    if is_below(words, words[head], word):
        _leave(words, words[head])
        _take_place(words, words[head], word)
    else:
        _leave(words, word)
    word.head, word.dep = head, dep
    words[head].kids = sorted({*words[head].kids, word.i})


def raise_over(words: Sequence[Word], word: Word, over: Word) -> None:
    """Puts ``word`` in the place of ``over``, which then hangs on it with the rest of what it had.

    A word that stands above ``over`` stays where it is.
    """
    if is_below(words, over, word):
        return
    _leave(words, word)
    _take_place(words, word, over)
    for k in over.kids:
        words[k].head = word.i
    word.kids = sorted({*word.kids, *over.kids, over.i} - {word.i})
    over.kids = []
    over.head = word.i


def crown(words: Sequence[Word], old: Word, new: Word) -> None:
    """Makes ``new`` the root, with the former root ``old`` as its clause."""
    _leave(words, new)
    new.head, new.dep = new.i, "ROOT"
    old.head, old.dep = new.i, "ccomp"
    new.kids = sorted({*new.kids, old.i})


def is_below(words: Sequence[Word], word: Word, above: Word) -> bool:
    """Whether the way up from a word leads to another."""
    while word.head != word.i:
        word = words[word.head]
        if word is above:
            return True
    return False


def _leave(words: Sequence[Word], word: Word) -> None:
    if word.head != word.i:
        words[word.head].kids.remove(word.i)


def _take_place(words: Sequence[Word], word: Word, over: Word) -> None:
    if over.head == over.i:
        word.head, word.dep = word.i, "ROOT"
    else:
        words[over.head].kids.remove(over.i)
        word.head, word.dep = over.head, over.dep
        words[over.head].kids = sorted({*words[over.head].kids, word.i})
