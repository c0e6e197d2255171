"""What a sentence is about: its content lemmas, told without a tagger, some 50,000 sentences a second.

Lemmas come from lemminflect's dictionary. Of several readings the verb's is taken (*ran*, *left*, *saw*),
of words in -s the noun's, so that the inflected forms of a word meet on one `Term`. English only: words
of other languages stand for themselves.
"""

from __future__ import annotations

import re
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
ANY_WORD = re.compile(r"\S*\w\S*")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll|t))$")
_APART = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|m|d|re|ve|ll|S|T|M|D|Re|Ve|Ll)\b)")
_LEMMAS_KEPT = 1 << 17
_LONGEST_WORD = 60


def word_set(text: str) -> frozenset[str]:
    """The words of a text that is a list of them."""
    return frozenset(text.split())


CLOSED = word_set(
    """
    a about above across after afterwards again against ago ah all almost alone along already also
    although always am among an and another any anybody anyhow anymore anyone anything anyway anywhere
    are around as at away aye back be because been before behind being below beside besides between
    beyond both but by bye ca can cannot could dare despite did do does doing done down during each
    either else enough er etc even ever every everybody everyone everything everywhere except few for
    from further get gets getting goes gonna got gotta had has have having he hello hence her here hers
    herself hey hi him himself his hm hmm how however i if in indeed inside instead into is it its
    itself just kinda least less lot lots many may maybe me might mine more moreover most mr mrs ms much
    must my myself near need neither never nevertheless next no nobody none nor not nothing now nowhere
    of off often oh ok okay on once one ones only onto or other others otherwise ought our ours
    ourselves out outside over own per perhaps please quite rather really same shall she should since
    sir so some somebody somehow someone something sometimes somewhere soon still such sure than thank
    thanks that the their theirs them themselves then there therefore these they thing things this those
    though through throughout thus till to together too toward towards uh um under unless until unto up
    upon upstairs us usually very via wanna was we well were what whatever when whenever where wherever
    whether which while who whoever whole whom whose why will with within without wo would wow yeah yep
    yes yet you your yours yourself yourselves
    """
)
"""Words that tell no scene: closed classes, auxiliaries, what one says to answer or to greet."""

_NOUNS_IN_ING = word_set(
    "beginning building ceiling clothing evening feeling housing meaning meeting morning painting parking "
    "string thing warning wedding wing"
)


def content_lemmas(text: str) -> tuple[str, ...]:
    """The content lemmas of a text, each once, in the order of the text: keys of `Term`.

    >>> content_lemmas("I ran to the houses, but they didn ' t open their doors.")
    ('run', 'house', 'open', 'door')
    """
    words = WORD.findall(with_clitics(text))
    found = dict.fromkeys(lemma for word in words if (lemma := _content_lemma(word)))
    return tuple(found)


def with_clitics(text: str) -> str:
    """The text, its clitics joined to their words where some program cut them off.

    >>> with_clitics("I ' m sure they don ’ t.")
    "I'm sure they don’t."
    """
    return _APART.sub(r"\1", text) if "'" in text or "’" in text else text


def word_count(text: str) -> int:
    """How many words, numbers among them, stand in the text.

    >>> word_count("At 8 o'clock - sharp!")
    4
    """
    return len(ANY_WORD.findall(text))


@lru_cache(maxsize=_LEMMAS_KEPT)
def _content_lemma(word: str) -> str:
    """The lemma of a content word; nothing of any other."""
    bare = _CLITIC.sub("", word.lower())
    if not 1 < len(bare) <= _LONGEST_WORD or bare in CLOSED:
        return ""
    lemma = lemma_of(bare)
    return "" if lemma in CLOSED else lemma


def lemma_of(word: str) -> str:
    """The lemma of a lower-case word.

    >>> [lemma_of(word) for word in ("left", "evening", "glasses", "worse", "graphneg")]
    ['leave', 'evening', 'glasses', 'bad', 'graphneg']
    """
    readings = readings_of(word)
    verbs, nouns = readings.get("VERB", ()), readings.get("NOUN", ())
    if word in _NOUNS_IN_ING or (word.endswith("s") and word in nouns):
        return word
    if nouns and word.endswith("s"):
        return nouns[0]
    others = (*verbs[:1], *readings.get("ADJ", ())[:1], *nouns[:1], *readings.get("ADV", ())[:1])
    return next((lemma for lemma in others if lemma != word), word)


def readings_of(word: str) -> dict[str, tuple[str, ...]]:
    """The lemmas of a word by part of speech (``VERB``, ``NOUN``, ...), as its dictionary has them."""
    from lemminflect import getAllLemmas

    return getAllLemmas(word)
