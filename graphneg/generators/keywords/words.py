"""Words of a text, and the forms that a word has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’-]\w+)*")

_FUNCTION_WORDS = """
    all and any are but can did few for get got had has he's her him his how i'd its it's let lot may not now
    off one our out own say see she the too two use was way who why yes yet you
    about after again also always been before being because could does doing done down each even ever
    every from going gone have having here hers into just know like made make many maybe mine more most much
    must myself need never next only other over really same shall should since some still such than that
    that's their them then there these they thing things think this those through today too tomorrow until
    upon very want well went were what when where which while whom whose will with without would your yours
    you're they're we're it's i'll i'm don't didn't doesn't won't can't couldn't wouldn't isn't wasn't i've
"""

FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that a sentence may well have twice."""

_TALK = """
    bye cheer cheers dear excuse goodbye hello help hey kind lets let's lot lots luck madam miss mister okay
    please pleasure sir sort sorry sure thank thanks welcome yeah yes
"""

WORDS_OF_TALK = frozenset(_TALK.split())
"""Words of greeting, thanks and the like: what is said with one is about nothing."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("Don't, she said.")
    ["don't", 'she', 'said']
    """
    return _WORD.findall(text.lower())


@lru_cache(maxsize=65536)
def lemmas(word: str) -> frozenset[str]:
    """What a word may be a form of, itself among it.

    >>> sorted(lemmas("Leaves"))
    ['leaf', 'leave', 'leaves']
    """
    from lemminflect import getAllLemmas

    lower = word.lower()
    found = (lemma.lower() for group in getAllLemmas(lower).values() for lemma in group)
    return frozenset({lower, *found})


@lru_cache(maxsize=65536)
def classes(word: str) -> frozenset[str]:
    """The parts of speech that an English word may be of; none for names and what is no word.

    >>> sorted(classes("return")), sorted(classes("Kenny"))
    (['NOUN', 'VERB'], [])
    """
    from lemminflect import getAllLemmas

    return frozenset(getAllLemmas(word.lower()))


def mentions(words: Sequence[str], keyword: Sequence[str]) -> bool:
    """Whether all words of a keyword are among the words, in whatever form.

    >>> mentions(["she", "borrowed", "it"], ["borrow"])
    True
    """
    there = frozenset().union(*(lemmas(word) for word in words))
    return all(lemmas(word) & there for word in keyword)
