"""Inflection: verbs, nouns, adjectives, pronouns and articles in the form that a sentence asks for.

In: a lemma or a word, and a Penn tag, a degree, a person or a case. Out: the form.

>>> verb_form("see", "VBD"), noun_form("city", "NNS"), agree("be", "VBP", "they"), pronoun("i", Case.OBJECT)
('saw', 'cities', 'are', 'me')
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from graphneg.english.words import inflections, readings, word_class, word_map

BE, HAVE, DO = (word_class(f"forms-of-{verb}") for verb in ("be", "have", "do"))
EXPANDED = word_map("before-nt")
"""What verbs are in full that are written in another way before n't."""
_CONTRACTED = {full: stem for stem, full in EXPANDED.items() if stem != "ai"}
_NEVER_CONTRACTED = frozenset({"am", "'m", "may", "might", "ought", "shall", "'re"})
_CASES = {person: cases.replace("_", " ").split("/") for person, cases in word_map("pronoun-cases").items()}
Case = IntEnum("Case", ["SUBJECT", "OBJECT", "POSSESSIVE", "OWN", "REFLEXIVE"], start=0)
"""Where a pronoun stands: ``OWN`` is *mine*, ``POSSESSIVE`` is *my*."""
_BE = {"VBD": "was", "VBZ": "is", "VBP": "are", "VB": "be", "VBN": "been", "VBG": "being"}
_VOWEL = re.compile(
    r"^(?:[aio]|e(?!u|w)|u(?!ni(?!n|m)|s[aeiu]|t[ie]|biq|r[aio])|hour|hono|honest|heir|8|11\b|18\b)"
)
_CONSONANT = re.compile(r"^(?:one\b|once\b|oui)")
_MASS_ENDING = re.compile(
    r"(?:ness|ity|ism|ence|ance|ship|hood|dom|ing|ics|phy|logy|tion|sion|ment|ure|tude|th)$"
)


@lru_cache(maxsize=65536)
def full_form(word: str) -> str:
    """A clitic or a contracted stem written out; ``'s`` and ``'d`` are left to their sentence."""
    low = word.lower().replace("’", "'")
    return word_map("full-forms").get(low, low)


def before_nt(verb: str) -> str | None:
    """A verb as it is written before n't, None where it takes none."""
    low = verb.lower().replace("’", "'")
    return None if low in _NEVER_CONTRACTED else _CONTRACTED.get(low, verb)


@lru_cache(maxsize=65536)
def verb_lemma(word: str) -> str:
    """The verb that a word is a form of; of an unknown one the word itself, without an *-s*."""
    low = full_form(word)
    found = readings(low).get("VERB") or readings(low).get("AUX")
    if not found and low.endswith("s") and not low.endswith("ss") and len(low) > 3:
        return low[:-1]
    return min(found, key=lambda lemma: (lemma == low and len(found) > 1, len(lemma))) if found else low


@lru_cache(maxsize=65536)
def verb_form(lemma: str, tag: str) -> str:
    """``verb_form("see", "VBD")`` is ``saw``; the tag is Penn's."""
    if lemma == "be":
        return _BE[tag]
    if preferred := word_map("preferred-forms").get(f"{lemma}/{tag}"):
        return preferred
    if tag in ("VB", "VBP"):
        return lemma
    forms = inflections(lemma, "VERB")
    known = forms.get(tag) or (forms.get("VBD") if tag == "VBN" else None)
    return known[0] if known else _regular_verb(lemma, tag)


def _regular_verb(lemma: str, tag: str) -> str:
    consonant_y = re.search(r"[^aeiou]y$", lemma) is not None
    if tag == "VBZ":
        if consonant_y:
            return lemma[:-1] + "ies"
        return lemma + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", lemma) else "s")
    if tag == "VBG":
        return (lemma[:-1] if re.search(r"[^eoy]e$", lemma) else lemma) + "ing"
    if consonant_y:
        return lemma[:-1] + "ied"
    return lemma + ("d" if lemma.endswith("e") else "ed")


@lru_cache(maxsize=65536)
def noun_form(lemma: str, tag: str) -> str:
    """A noun or a noun phrase in the number of the tag; its last word is inflected."""
    if tag not in ("NNS", "NNPS"):
        return lemma
    if preferred := word_map("preferred-forms").get(f"{lemma}/{tag}"):
        return preferred
    if known := inflections(lemma, "NOUN").get("NNS"):
        return known[0]
    head, _, last = lemma.rpartition(" ")
    return f"{head} {noun_form(last, tag)}" if head else _regular_verb(lemma, "VBZ")


@lru_cache(maxsize=65536)
def degree(word: str) -> str:
    """``JJ``, ``JJR`` or ``JJS``: the degree that an adjective or adverb shows."""
    low = word.lower()
    for upos, prefix in (("ADJ", "JJ"), ("ADV", "RB")):
        for lemma in readings(low).get(upos, ()):
            if lemma != low:
                forms = inflections(lemma, upos)
                if low in forms.get(prefix + "R", ()):
                    return "JJR"
                if low in forms.get(prefix + "S", ()):
                    return "JJS"
    return "JJ"


@lru_cache(maxsize=65536)
def adjective_form(lemma: str, wanted: str) -> str:
    """The adjective in a degree, with ``more`` or ``most`` where it has no form of its own."""
    if wanted == "JJ":
        return lemma
    known = inflections(lemma, "ADJ").get(wanted)
    return known[0] if known else ("more " if wanted == "JJR" else "most ") + lemma


@lru_cache(maxsize=65536)
def adverb_of(adjective: str) -> str:
    """``quick`` gives ``quickly``; what is an adverb already stays."""
    known = word_map("irregular-adverbs").get(adjective, adjective if adjective.endswith("ly") else None)
    if known is not None:
        return known
    for ending, instead in word_map("adverb-endings").items():
        if adjective.endswith(ending):
            return adjective[: -len(ending)] + instead
    return re.sub(r"(?<=[^aeiou])y$", "i", adjective) + "ly"


def article(following: str) -> str:
    """``a`` or ``an`` before a word, by its sound.

    >>> article("hour"), article("university"), article("old")
    ('an', 'a', 'an')
    """
    low = following.lower()
    if len(following) > 1 and following.isupper() and following[0] in "FHLMNRSX" and following.isalpha():
        return "an"
    return "an" if _VOWEL.match(low) and not _CONSONANT.match(low) else "a"


def pronoun(person: str, case: Case) -> str:
    """The form of a pronoun in a case; ``I`` is a capital."""
    form = _CASES[person][case]
    return "I" if form == "i" else form


@lru_cache(maxsize=4096)
def pronoun_cases(form: str) -> tuple[tuple[str, Case], ...]:
    """Every (person, case) that a word can be: ``her`` is an object and a possessive."""
    low = {"'em": "them", "yourselves": "yourself"}.get(form.lower(), form.lower())
    return tuple((person, case) for person, forms in _CASES.items() for case in Case if forms[case] == low)


def agree(lemma: str, tag: str, person: str) -> str:
    """A finite verb for a subject: ``person`` is a pronoun, ``he`` stands for any singular."""
    third = person in ("he", "she", "it", "one")
    if lemma == "be":
        if tag == "VBD":
            return "was" if third or person == "i" else "were"
        return "am" if person == "i" else "is" if third else "are"
    if tag == "VBD":
        return verb_form(lemma, "VBD")
    return verb_form(lemma, "VBZ" if third else "VBP")


def finite_tag(word: str) -> str:
    """``VBD``, ``VBZ`` or ``VBP``: the tense that a finite form shows."""
    low = full_form(word)
    if known := word_map("finite-tags").get(low):
        return known
    lemma = verb_lemma(low)
    return "VBP" if low == lemma else "VBZ" if low == verb_form(lemma, "VBZ") else "VBD"


@lru_cache(maxsize=65536)
def is_participle(word: str) -> bool:
    """Whether the word can be a past participle; one that is like the past stands in no table of its own."""
    forms = (inflections(lemma, "VERB") for lemma in readings(word).get("VERB", ()))
    return any(word in (known.get("VBN") or known.get("VBD", ())) for known in forms)


def may_be_bare(noun: str) -> bool:
    """Whether the singular noun can do without an article.

    >>> may_be_bare("water"), may_be_bare("wig")
    (True, False)
    """
    return noun in word_class("mass-nouns") or bool(_MASS_ENDING.search(noun)) or noun[:1].isupper()
