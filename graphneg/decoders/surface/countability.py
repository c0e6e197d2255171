"""Which nouns stand without an article: a list of common mass nouns, and endings that make them."""

from __future__ import annotations

import re

from graphneg.alignment.words import word_set

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
