"""Inflection: verbs, nouns, adjectives, pronouns and articles in the form that a place asks for."""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.english.words import inflections, lemmas, readings, word_set

# Inflection: verbs, nouns, adjectives, pronouns and articles in the form that a place asks for.


CONTRACTED = {"will": "wo", "can": "ca", "shall": "sha"}
"""Verbs as they are written before n't."""
EXPANDED = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
NEVER_CONTRACTED = frozenset({"am", "'m", "may", "might", "ought", "shall", "'re"})
PERSONS = ("i", "you", "he", "she", "it", "we", "they", "one")
_CASES = {
    "i": ("i", "me", "my", "mine", "myself"),
    "you": ("you", "you", "your", "yours", "yourself"),
    "he": ("he", "him", "his", "his", "himself"),
    "she": ("she", "her", "her", "hers", "herself"),
    "it": ("it", "it", "its", "its own", "itself"),
    "we": ("we", "us", "our", "ours", "ourselves"),
    "they": ("they", "them", "their", "theirs", "themselves"),
    "one": ("one", "one", "one's", "one's", "oneself"),
}
SUBJECT, OBJECT, POSSESSIVE, OWN, REFLEXIVE = range(5)
_FULL = {
    "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "ca": "can", "wo": "will", "sha": "shall",
}  # fmt: skip
_BE = {"VBD": "was", "VBZ": "is", "VBP": "are", "VB": "be", "VBN": "been", "VBG": "being"}
_PREFERRED = {
    ("wake", "VBD"): "woke", ("wake", "VBN"): "woken", ("lie", "VBD"): "lay", ("lie", "VBN"): "lain",
    ("hang", "VBD"): "hung", ("hang", "VBN"): "hung", ("shine", "VBD"): "shone", ("get", "VBN"): "got",
    ("dive", "VBD"): "dived", ("light", "VBD"): "lit", ("light", "VBN"): "lit", ("show", "VBN"): "shown",
    ("bear", "VBD"): "bore", ("bear", "VBN"): "borne", ("wind", "VBD"): "wound", ("prove", "VBN"): "proved",
    ("person", "NNS"): "people", ("dream", "VBD"): "dreamed", ("sleep", "VBD"): "slept",
}  # fmt: skip
_VOWEL = re.compile(
    r"^(?:[aio]|e(?!u|w)|u(?!ni(?!n|m)|s[aeiu]|t[ie]|biq|r[aio])|hour|hono|honest|heir|8|11\b|18\b)"
)
_CONSONANT = re.compile(r"^(?:one\b|once\b|oui)")


def full_form(word: str) -> str:
    """A clitic or a contracted stem written out; ``'s`` and ``'d`` are left to their sentence."""
    low = word.lower().replace("’", "'")
    return _FULL.get(low, low)


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
    if (lemma, tag) in _PREFERRED:
        return _PREFERRED[lemma, tag]
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
    if (lemma, tag) in _PREFERRED:
        return _PREFERRED[lemma, tag]
    known = inflections(lemma, "NOUN").get("NNS")
    if known:
        return known[0]
    head, _, last = lemma.rpartition(" ")
    if head:
        return f"{head} {noun_form(last, tag)}"
    return _regular_verb(lemma, "VBZ")


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
    if known:
        return known[0]
    return ("more " if wanted == "JJR" else "most ") + lemma


@lru_cache(maxsize=65536)
def adverb_of(adjective: str) -> str:
    """``quick`` gives ``quickly``; what is an adverb already stays."""
    irregular = {"good": "well", "fast": "fast", "hard": "hard", "early": "early", "late": "late"}
    if adjective in irregular:
        return irregular[adjective]
    if adjective.endswith("ly"):
        return adjective
    for ending, instead in (("ble", "bly"), ("ple", "ply"), ("tle", "tly"), ("ic", "ically"), ("ll", "lly")):
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


def pronoun(person: str, case: int) -> str:
    """The form of a pronoun in a case; ``I`` is a capital."""
    form = _CASES[person][case]
    return "I" if form == "i" else form


@lru_cache(maxsize=4096)
def pronoun_cases(form: str) -> tuple[tuple[str, int], ...]:
    """Every (person, case) that a word can be: ``her`` is an object and a possessive."""
    low = form.lower()
    if low == "'em":
        return (("they", OBJECT),)
    if low == "yourselves":
        return (("you", REFLEXIVE),)
    return tuple(
        (person, case) for person, forms in _CASES.items() for case, known in enumerate(forms) if known == low
    )


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
    if low in ("was", "were", "did", "had"):
        return "VBD"
    if low in ("is", "'s", "does", "has"):
        return "VBZ"
    if low in ("am", "are", "do", "have"):
        return "VBP"
    lemma = verb_lemma(low)
    if low == lemma:
        return "VBP"
    return "VBZ" if low == verb_form(lemma, "VBZ") else "VBD"


@lru_cache(maxsize=65536)
def is_participle(word: str) -> bool:
    """Whether the word can be a past participle; one that is like the past stands in no table of its own."""
    forms = (inflections(lemma, "VERB") for lemma in readings(word).get("VERB", ()))
    return any(word in (known.get("VBN") or known.get("VBD", ())) for known in forms)


def is_form_of(word: str, lemma: str) -> bool:
    """Whether the word is an inflected form of the lemma, not a derived one."""
    return lemma in lemmas(word)


def match_case(word: str, like: str) -> str:
    """The word with the capitals of another: all, the first, or none."""
    if len(like) > 1 and like.isupper() and like.isalpha():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


# Which nouns stand without an article: a list of common mass nouns, and endings that make them.


_MASS = word_set(
    "water milk bread rice sand gold silver money music hair sugar salt tea coffee beer wine air "
    "dust rain snow ice grass wood paper glass metal iron oil blood meat cheese butter food fruit "
    "furniture luggage baggage homework work news advice information knowledge luck love hate fear "
    "anger peace war death life time space light darkness heat cold weather traffic trash garbage "
    "stuff equipment software hardware electricity energy power fun help research evidence "
    "permission progress health wealth poverty truth beauty courage patience respect trust hope joy "
    "grief sleep shade sunshine sunlight moonlight ink cotton silk wool leather plastic soap "
    "clothing jewelry cash poetry art science history geography arithmetic grammar mathematics "
    "chemistry physics biology football tennis golf chess yoga shopping reading swimming travel "
    "sleepiness thunder lightning fog smoke fire land soil mud dirt flour pasta pepper honey juice "
    "chocolate lunch dinner breakfast school church college bed home town prison hospital man god "
    "heaven earth nature society business trouble faith thirst hunger youth age praise matter room "
    "obedience rule pain bacon pork beef chicken fish salad soup sauce vodka whiskey gasoline petrol "
    "english french soccer basketball baseball hockey cricket rugby"
)
_NO_PLURAL = word_set(
    "football soccer basketball baseball hockey cricket rugby tennis golf chess yoga food cash homework"
)

_MASS_ENDING = re.compile(
    r"(?:ness|ity|ism|ence|ance|ship|hood|dom|ing|ics|phy|logy|tion|sion|ment|ure|tude|th)$"
)
_CORE = word_set(
    "water milk bread rice sand gold money music luggage homework news advice information luck "
    "weather traffic furniture equipment software electricity knowledge evidence air sunshine "
    "moonlight blood grass butter"
)


def may_be_bare(noun: str) -> bool:
    """Whether the singular noun can do without an article.

    >>> may_be_bare("water"), may_be_bare("wig")
    (True, False)
    """
    return noun in _MASS or _MASS_ENDING.search(noun) is not None or noun[:1].isupper()


def never_counted(noun: str) -> bool:
    """Whether ``a`` before the noun is wrong: ``a furniture``."""
    return noun in _CORE


def has_plural(noun: str) -> bool:
    """Whether there are several: ``two wigs``, but not ``two advices``."""
    return noun not in _CORE and noun not in _NO_PLURAL
