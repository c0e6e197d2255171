"""What an English word can be: its lemmas, its numeric value, its stem."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from functools import lru_cache
from typing import Any

# What an English word can be: its lemmas, its numeric value, its stem.
#
# Inflection data come from lemminflect; derivation (``decision``, ``decide``) is by suffix stripping
# and a list of the irregular pairs.


CONTRACTED = {
    "'m": "be", "'re": "be", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can", "wo": "will",
    "sha": "shall", "ai": "be", "an": "a",
}  # fmt: skip


def word_list(text: str) -> list[str]:
    """The words of a list that is written as one string."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(text.split())


_UNITS = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = word_list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
NUMBERS: dict[str, int] = {
    **{word: value for value, word in enumerate(_UNITS)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
ORDINALS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ORDINALS)},
    **{word[:-1] + "ieth": 10 * value for value, word in enumerate(_TENS, start=2)},
    "last": -1,
}
WEEKDAYS = word_list("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = word_list("january february march april may june july august september october november december")
_IRREGULAR = {
    "thought": "think", "choice": "choose", "death": "die", "dead": "die", "life": "live", "alive": "live",
    "gift": "give", "sight": "see", "loss": "lose", "speech": "speak", "song": "sing", "belief": "believe",
    "growth": "grow", "birth": "bear", "born": "bear", "true": "truth", "strength": "strong",
    "length": "long", "height": "high", "width": "wide", "depth": "deep", "hunger": "hungry",
    "anger": "angry", "sale": "sell", "proof": "prove", "flight": "fly", "advice": "advise",
    "success": "succeed", "wisdom": "wise", "heat": "hot", "breath": "breathe", "laughter": "laugh",
    "hatred": "hate", "knowledge": "know", "able": "capable", "best": "good", "better": "good",
    "well": "good", "worse": "bad", "worst": "bad", "ill": "sick", "poverty": "poor", "pride": "proud",
    "safety": "safe", "use": "useful", "visit": "visitor", "obedience": "obey", "disobedience": "obey",
    "complaint": "complain", "portrait": "portray", "description": "describe", "explanation": "explain",
    "pronunciation": "pronounce", "receipt": "receive", "pursuit": "pursue", "food": "eat",
    "married": "marry", "marriage": "marry", "scheduled": "schedule", "danger": "dangerous",
    "shot": "shoot", "seat": "sit", "worth": "worthy", "afraid": "fear", "asleep": "sleep",
    "awake": "wake", "height's": "high", "warmth": "warm", "youth": "young", "broken": "break",
    "written": "write", "drunk": "drink", "drunkard": "drink", "judgment": "judge", "freedom": "free",
    "boredom": "bored", "destruction": "destroy", "thirst": "thirsty", "fault": "fault", "hers": "she",
}  # fmt: skip
_SUFFIX = re.compile(
    r"(?:ization|isation|ication|ations?|itions?|utions?|[st]?ions?|ements?|ments?|iness|ness|ances?|ences?"
    r"|ancy|ency|ants?|ents?|ability|ibility|able|ible|ivity|ity|ty|ically|ally|fully|ily|ely|ly|ial|ual|al"
    r"|eers?|ers?|ors?|ars?|ists?|isms?|ives?|ous|ful|less|ish|ic|age|ery|ary|ings?|edly|ied|ed|ies|es|s"
    r"|ize|ise|ate|ify|en|th|ie|e|y|i)$"
)


@lru_cache(maxsize=1)
def _lemminflect() -> tuple[Any, Any]:
    """lemminflect's lemmatizer and its inflections.

    Its package imports spaCy, and torch with it, wherever they are installed, to extend spaCy's tokens:
    seconds for what is not used here. So its modules are imported below an empty package, which makes
    room at once: a program that imports lemminflect itself gets all of it, over the same modules.
    """
    name = "lemminflect"
    spec = importlib.util.find_spec(name)
    if name not in sys.modules and spec is not None:
        sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            return _lemminflect_modules()
        finally:
            del sys.modules[name]
    return _lemminflect_modules()


def _lemminflect_modules() -> tuple[Any, Any]:
    lemmatizer = importlib.import_module("lemminflect.core.Lemmatizer")
    inflections = importlib.import_module("lemminflect.core.Inflections")
    return lemmatizer.Lemmatizer(), inflections.Inflections()


@lru_cache(maxsize=65536)
def readings(word: str) -> dict[str, tuple[str, ...]]:
    """The lemmas of a word by universal part of speech: ``saw`` is a NOUN and two VERBs."""
    found: dict[str, tuple[str, ...]] = _lemminflect()[0].getAllLemmas(word)
    return found


@lru_cache(maxsize=65536)
def inflections(lemma: str, upos: str) -> dict[str, tuple[str, ...]]:
    """The forms of a lemma by Penn tag, for one universal part of speech."""
    found: dict[str, tuple[str, ...]] = _lemminflect()[1].getAllInflections(lemma, upos)
    return found


@lru_cache(maxsize=65536)
def american(word: str) -> str:
    """One spelling for British and American variants, for comparison only."""
    word = word.replace("colour", "color").replace("grey", "gray").replace("centre", "center")
    word = re.sub(r"(?<=..)our$", "or", word)
    return re.sub(r"is(e|ed|es|ing)$", r"iz\1", word) if len(word) > 6 else word


@lru_cache(maxsize=65536)
def lemmas(word: str) -> frozenset[str]:
    """The word in lower case and all that it may be a form of."""
    low = word.lower().replace("’", "'")
    low = CONTRACTED.get(low, low)
    found = {low, american(low)}
    for known in readings(low).values():
        found.update(american(lemma.lower()) for lemma in known)
    if low.endswith("n'") or low.endswith("in'"):
        found.add(low[:-1] + "g")
    return frozenset(found)


@lru_cache(maxsize=65536)
def stems(word: str) -> frozenset[str]:
    """Rough stems, for words related by derivation: ``decision`` and ``decide`` share one."""
    low = american(word.lower())
    found = {_IRREGULAR.get(low, low)}
    for _ in range(2):
        for known in tuple(found):
            if (match := _SUFFIX.search(known)) and match.start() >= 3:
                found.add(known[: match.start()])
    found |= {known[:-1] for known in found if len(known) > 4 and known[-1] in "dts"}
    return frozenset(_fold(stem) for stem in found if len(stem) >= 3)


def _fold(stem: str) -> str:
    """Consonant changes at the seam: ``deci-sion``/``decid-e``, ``beginn-er``/``begin``."""
    if len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    if stem.endswith("i"):
        stem = stem[:-1] + "y"
    return stem


def number_value(words: list[str]) -> float | None:
    """The value of a number in words or digits: ``["twenty", "-", "one"]`` is 21."""
    total, current, seen = 0.0, 0.0, False
    for word in words:
        low = word.lower().replace(",", "")
        if low in NUMBERS:
            current += NUMBERS[low]
        elif low.rstrip("s") in SCALES:
            scale = SCALES[low.rstrip("s")]
            current = max(current, 1) * scale
            if scale >= 1000:
                total, current = total + current, 0.0
        elif re.fullmatch(r"\d+(?:\.\d+)?", low):
            current += float(low)
        elif "-" in low and len(low) > 1:
            inner = number_value([part for part in low.split("-") if part])
            if inner is None:
                return None
            current += inner
        elif low in ("and", "-"):
            continue
        else:
            return None
        seen = True
    return total + current if seen else None


# Sets of words, written as text.


def word_set_word_sets(text: str) -> frozenset[str]:
    """The words of a text, apart by blanks.

    >>> sorted(word_set("he she it"))
    ['he', 'it', 'she']
    """
    return frozenset(text.split())
