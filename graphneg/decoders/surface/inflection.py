"""Inflect verbs, nouns, adjectives and pronouns, and choose articles.

The functions take a lemma or a word, together with a Penn tag, a person or a case, and return the inflected
form. Irregular forms come from lemminflect and from ``word_classes.tsv``. Unknown words are inflected by
spelling rules.

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
"""Full form of each verb stem that occurs only before *n't*: *can* for the *ca* of "can't", *will* for
*wo*."""
# Contracted stem of each verb before *n't*. The stem *ai* is left out, because "ain't" is the negative of
# several verbs. The decoder therefore never writes "ain't".
_CONTRACTED = {full: stem for stem, full in EXPANDED.items() if stem != "ai"}
_CASES = {person: cases.replace("_", " ").split("/") for person, cases in word_map("pronoun-cases").items()}
Case = IntEnum("Case", ["SUBJECT", "OBJECT", "POSSESSIVE", "OWN", "REFLEXIVE"], start=0)
"""Case of a pronoun: *I* (``SUBJECT``), *me* (``OBJECT``), *my* (``POSSESSIVE``), *mine* (``OWN``), *myself*
(``REFLEXIVE``)."""
_BE = {"VBD": "was", "VBZ": "is", "VBP": "are", "VB": "be", "VBN": "been", "VBG": "being"}
# Pattern for words that begin with a vowel sound, regardless of their first letter: "an uninteresting book",
# "an hour", "an 8-day week", "an 11th hour", but "a university", "a European", "a ewe", "a ubiquitous sign".
_VOWEL = re.compile(
    r"^(?:[aio]|e(?!u|w)|u(?!ni(?!n|m)|s[aeiu]|t[ie]|biq|r[aio])|hour|hono|honest|heir|8|11\b|18\b)"
)
# Pattern for words that begin with a vowel letter but not with a vowel sound: "a one-way street", "a oui".
_CONSONANT = re.compile(r"^(?:one\b|once\b|oui)")
# Abstract nouns with these endings are mostly uncountable: "kindness", "physics", "furniture".
_MASS_ENDING = re.compile(
    r"(?:ness|ity|ism|ence|ance|ship|hood|dom|ing|ics|phy|logy|tion|sion|ment|ure|tude|th)$"
)


@lru_cache(maxsize=65536)
def full_form(word: str) -> str:
    """Write out a clitic or a contracted stem, and convert other words to lower case.

    The clitics ``'s`` and ``'d`` are returned unchanged, because they are ambiguous: *'s* may be *is* or
    *has*, *'d* may be *would* or *had*.

    Args:
        word: The text of a token.

    Returns:
        The full form in lower case.

    Example:
        >>> full_form("'ll"), full_form("wo"), full_form("Saw")
        ('will', 'will', 'saw')
    """
    low = word.lower().replace("’", "'")
    return word_map("full-forms").get(low, low)


def contracted_stem(verb: str) -> str | None:
    """Return the spelling that a verb has before *n't*: *wo* for *will*, as in "won't".

    Args:
        verb: A finite auxiliary or modal, for example *will*.

    Returns:
        The spelling, or None if the verb is not contracted with *n't*.

    Example:
        >>> contracted_stem("will"), contracted_stem("do"), contracted_stem("am")
        ('wo', 'do', None)
    """
    low = verb.lower().replace("’", "'")
    return None if low in word_class("never-contracted") else _CONTRACTED.get(low, verb)


@lru_cache(maxsize=65536)
def verb_lemma(word: str) -> str:
    """Return the lemma of a verb form.

    Args:
        word: A verb form, or a clitic such as ``'ll``.

    Returns:
        The lemma. An unknown word is returned without a final *-s*.

    Example:
        >>> verb_lemma("saw"), verb_lemma("googles")
        ('see', 'google')
    """
    low = full_form(word)
    found = readings(low).get("VERB") or readings(low).get("AUX")
    if not found and low.endswith("s") and not low.endswith("ss") and len(low) > 3:
        return low[:-1]
    # "saw" is a form of "see", and also the plain form of the verb "saw". Prefer a lemma that differs from
    # the word, such as "see".
    return min(found, key=lambda lemma: (lemma == low and len(found) > 1, len(lemma))) if found else low


@lru_cache(maxsize=65536)
def verb_form(lemma: str, tag: str) -> str:
    """Inflect a verb.

    Args:
        lemma: The lemma of the verb.
        tag: The Penn tag of the wanted form: ``VB``, ``VBP``, ``VBZ``, ``VBD``, ``VBN`` or ``VBG``.

    Returns:
        The inflected verb.

    Example:
        >>> verb_form("see", "VBD")
        'saw'
    """
    if lemma == "be":
        return _BE[tag]
    if preferred := word_map("preferred-forms").get(f"{lemma}/{tag}"):
        return preferred
    if tag in ("VB", "VBP"):
        return lemma
    forms = inflections(lemma, "VERB")
    # lemminflect lists a participle only if it differs from the past form. For "walk", use the past form.
    known = forms.get(tag) or (forms.get("VBD") if tag == "VBN" else None)
    return known[0] if known else _regular_verb(lemma, tag)


def _regular_verb(lemma: str, tag: str) -> str:
    """Inflect a verb by the spelling rules of regular verbs: *googles*, *googled*, *googling*."""
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
    """Return the singular or the plural of a noun. In a noun phrase, the last word is inflected.

    Args:
        lemma: The noun or noun phrase in the singular.
        tag: The Penn tag of the wanted form: ``NNS`` and ``NNPS`` give the plural, all other tags the
            singular.

    Returns:
        The noun or noun phrase in the wanted number.

    Example:
        >>> noun_form("fire truck", "NNS")
        'fire trucks'
    """
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
    """Return the degree of comparison of an adjective or adverb.

    Args:
        word: The adjective or adverb, inflected or not.

    Returns:
        ``JJ`` (positive), ``JJR`` (comparative) or ``JJS`` (superlative).

    Example:
        >>> degree("good"), degree("better"), degree("best")
        ('JJ', 'JJR', 'JJS')
    """
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
    """Return the positive, comparative or superlative form of an adjective.

    Args:
        lemma: The positive form.
        wanted: The wanted form: ``JJ`` (positive), ``JJR`` (comparative) or ``JJS`` (superlative).

    Returns:
        The inflected adjective. An adjective without inflected forms is returned after *more* or *most*.

    Example:
        >>> adjective_form("good", "JJR"), adjective_form("careful", "JJS")
        ('better', 'most careful')
    """
    if wanted == "JJ":
        return lemma
    known = inflections(lemma, "ADJ").get(wanted)
    return known[0] if known else ("more " if wanted == "JJR" else "most ") + lemma


@lru_cache(maxsize=65536)
def adverb_of(adjective: str) -> str:
    """Derive an adverb from an adjective.

    Args:
        adjective: The adjective. A word that ends in *-ly* is returned unchanged.

    Returns:
        The adverb.

    Example:
        >>> adverb_of("quick"), adverb_of("good"), adverb_of("happy")
        ('quickly', 'well', 'happily')
    """
    known = word_map("irregular-adverbs").get(adjective, adjective if adjective.endswith("ly") else None)
    if known is not None:
        return known
    for ending, instead in word_map("adverb-endings").items():
        if adjective.endswith(ending):
            return adjective[: -len(ending)] + instead
    return re.sub(r"(?<=[^aeiou])y$", "i", adjective) + "ly"


def article(following: str) -> str:
    """Choose *a* or *an* by the sound of the following word.

    Args:
        following: The word that follows the article.

    Returns:
        ``a`` or ``an``.

    Example:
        >>> article("hour"), article("university"), article("old")
        ('an', 'a', 'an')
    """
    low = following.lower()
    # An acronym is read letter by letter, and the names of letters such as F begin with a vowel: "an FBI
    # agent".
    if len(following) > 1 and following.isupper() and following[0] in "FHLMNRSX" and following.isalpha():
        return "an"
    return "an" if _VOWEL.match(low) and not _CONSONANT.match(low) else "a"


def pronoun(person: str, case: Case) -> str:
    """Return the form of a pronoun in a case.

    Args:
        person: The subject form of the pronoun in lower case, for example ``i`` or ``they``.
        case: The case of the wanted form.

    Returns:
        The form of the pronoun, in lower case except for *I*.

    Example:
        >>> pronoun("i", Case.SUBJECT), pronoun("they", Case.POSSESSIVE)
        ('I', 'their')
    """
    form = _CASES[person][case]
    return "I" if form == "i" else form


@lru_cache(maxsize=4096)
def pronoun_cases(form: str) -> tuple[tuple[str, Case], ...]:
    """Return all persons and cases of which a word is a pronoun form.

    Args:
        form: A word in any letter case.

    Returns:
        Pairs of a person (as a subject pronoun) and a case; empty if the word is not a personal pronoun.

    Example:
        >>> [(person, case.name) for person, case in pronoun_cases("her")]
        [('she', 'OBJECT'), ('she', 'POSSESSIVE')]
    """
    low = word_map("pronoun-variants").get(form.lower(), form.lower())
    return tuple((person, case) for person, forms in _CASES.items() for case in Case if forms[case] == low)


def agree(lemma: str, tag: str, person: str) -> str:
    """Return the finite form of a verb that agrees with a subject.

    Args:
        lemma: The lemma of the verb.
        tag: ``VBD`` for the past tense, any other tag for the present tense.
        person: The person of the subject as a subject pronoun; ``he`` for any singular noun.

    Returns:
        The finite form of the verb.

    Example:
        >>> agree("be", "VBD", "they"), agree("go", "VBP", "he")
        ('were', 'goes')
    """
    third = person in word_class("third-person") | {"one"}
    if lemma == "be":
        if tag == "VBD":
            return "was" if third or person == "i" else "were"
        return "am" if person == "i" else "is" if third else "are"
    if tag == "VBD":
        return verb_form(lemma, "VBD")
    return verb_form(lemma, "VBZ" if third else "VBP")


def finite_tag(word: str) -> str:
    """Return the Penn tag of a finite verb form, which shows the tense of the verb.

    Args:
        word: A finite verb form.

    Returns:
        ``VBZ`` or ``VBP`` for a present form; ``VBD`` for any other form.

    Example:
        >>> finite_tag("went"), finite_tag("goes"), finite_tag("go")
        ('VBD', 'VBZ', 'VBP')
    """
    low = full_form(word)
    if known := word_map("finite-tags").get(low):
        return known
    lemma = verb_lemma(low)
    return "VBP" if low == lemma else "VBZ" if low == verb_form(lemma, "VBZ") else "VBD"


@lru_cache(maxsize=65536)
def is_participle(word: str) -> bool:
    """Return whether a word can be a past participle.

    Args:
        word: A word in lower case.

    Returns:
        True if the word is the past participle of a verb in the dictionary.

    Example:
        >>> is_participle("seen"), is_participle("went")
        (True, False)
    """
    forms = (inflections(lemma, "VERB") for lemma in readings(word).get("VERB", ()))
    # lemminflect lists a participle only if it differs from the past form. For "walk", use the past form.
    return any(word in (known.get("VBN") or known.get("VBD", ())) for known in forms)


def can_lack_article(noun: str) -> bool:
    """Return whether a singular noun can occur without an article.

    Args:
        noun: The noun. If it begins with a capital letter, it counts as a name.

    Returns:
        True for mass nouns, abstract nouns and names.

    Example:
        >>> can_lack_article("water"), can_lack_article("wig")
        (True, False)
    """
    return noun in word_class("mass-nouns") or bool(_MASS_ENDING.search(noun)) or noun[:1].isupper()
