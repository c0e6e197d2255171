"""The lemma of a word, and the content lemmas of a text: what a sentence is about.

Some 50,000 sentences a second go through without a tagger: of several readings of a word the verb's is taken
(*ran*, *left*, *saw*), of words in -s the noun's, so that the inflected forms of a word meet on one `Term`.
English only: words of other languages stand for themselves.
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.english.detokenize import with_clitics
from graphneg.english.tokens import WORD
from graphneg.english.words import lemmas_as, readings, word_class, word_map

_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll|t))$")
_LONGEST_WORD = 60
_LONGEST_TAGGED = 40
_SINGULAR = frozenset({"leave", "stave", "axe"})
_UNIVERSAL = {"NN": "NOUN", "VB": "VERB", "JJR": "ADJ", "JJS": "ADJ", "RBR": "ADV", "RBS": "ADV"}

CLOSED = word_class("closed")
"""Words that tell no scene: closed classes, auxiliaries, what one says to answer or to greet."""


def content_lemmas(text: str) -> tuple[str, ...]:
    """The content lemmas of a text, each once, in the order of the text: keys of `Term`.

    >>> content_lemmas("I ran to the houses, but they didn ' t open their doors.")
    ('run', 'house', 'open', 'door')
    """
    words = WORD.findall(with_clitics(text))
    return tuple(dict.fromkeys(lemma for word in words if (lemma := _content_lemma(word))))


@lru_cache(maxsize=1 << 17)
def _content_lemma(word: str) -> str:
    """The lemma of a content word; nothing of any other."""
    bare = _CLITIC.sub("", word.lower())
    if not 1 < len(bare) <= _LONGEST_WORD or bare in CLOSED:
        return ""
    lemma = lemma_of(bare)
    return "" if lemma in CLOSED else lemma


def lemma_of(word: str, tag: str | None = None) -> str:
    """The lemma of a lower-case word, by its Penn Treebank tag where that is known.

    >>> [lemma_of(word) for word in ("left", "evening", "glasses", "worse", "graphneg")]
    ['leave', 'evening', 'glasses', 'bad', 'graphneg']
    >>> lemma_of("riding", "VBG"), lemma_of("n't", "RB"), lemma_of("mice", "NNS")
    ('ride', 'not', 'mouse')
    """
    return _commonest_lemma(word) if tag is None else _tagged_lemma(word, tag)


def _commonest_lemma(word: str) -> str:
    known = readings(word)
    verbs, nouns = known.get("VERB", ()), known.get("NOUN", ())
    if word in word_class("nouns-in-ing") or (word.endswith("s") and word in nouns):
        return word
    if nouns and word.endswith("s"):
        return nouns[0]
    others = (*verbs[:1], *known.get("ADJ", ())[:1], *nouns[:1], *known.get("ADV", ())[:1])
    return next((lemma for lemma in others if lemma != word), word)


@lru_cache(maxsize=65536)
def _tagged_lemma(word: str, tag: str) -> str:
    if tag == "POS":
        return word
    if word == "'d" and tag == "VBD":
        return "have"
    irregular = word_map("irregular-forms").get(word)
    if irregular is not None and (tag not in {"NN", "NNS"} or word in {"people", "men"}):
        return irregular
    if word == "leaves" and tag == "NNS":
        return "leaf"
    upos = _UNIVERSAL.get(tag) or _UNIVERSAL.get(tag[:2] if tag[:2] in ("NN", "VB") and tag != "NNP" else "")
    if upos is None or len(word) > _LONGEST_TAGGED or not word.isascii():
        return word
    known = lemmas_as(word, upos)
    if not known or (tag == "NN" and (word in known or word in _SINGULAR)):
        return word
    return next((lemma for lemma in known if lemma != word), word) if tag == "NNS" else known[0]
