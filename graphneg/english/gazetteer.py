"""Lists of names and units: countries, nationalities, cities, titles, currencies, measures.

The lists are classes in ``word_classes.tsv``. All words are in lower case. A dictionary gives for each word
what AMR writes: the country for a nationality, the currency for a word about money, the quantity concept for
a unit.

>>> NATIONALITIES["british"], MONEY["buck"], MONTHS["march"], QUANTITY_KINDS["week"]
('Britain', 'dollar', 3, 'temporal-quantity')
"""

from __future__ import annotations

from graphneg.english.words import word_class, word_list, word_map

NATIONALITIES = word_map("nationalities")
"""The country for each nationality adjective, as AMR writes it: ``Britain`` for ``british``."""
COUNTRIES = word_class("countries")
CITIES = word_class("cities")
CONTINENTS = word_class("continents")
STATES = word_class("states")
MONTHS = {name: number for number, name in enumerate(word_list("months"), 1)}
"""The number of each month, from 1 to 12, keyed by the name of the month."""
WEEKDAYS = word_class("weekdays")
FESTIVALS = word_class("festivals")
LANGUAGES = word_class("languages")
TITLES = word_class("titles")
PLACE_KINDS = word_class("place-kinds")
"""Nouns at the end of a place name that tell the kind of the place: *Hudson River* is a ``river``."""
MONEY = word_map("money")
"""The concept of the currency for each currency sign or word: ``dollar`` for ``$`` and ``buck``."""
TEMPORAL_UNITS = word_class("temporal-units")
EMOTICONS = word_class("emoticons")
QUANTITY_KINDS = {
    **dict.fromkeys(TEMPORAL_UNITS, "temporal-quantity"),
    **dict.fromkeys(word_class("distance-units"), "distance-quantity"),
    **dict.fromkeys(word_class("mass-units"), "mass-quantity"),
    **dict.fromkeys(("liter", "litre", "gallon", "pint"), "volume-quantity"),
    "degree": "temperature-quantity",
    **dict.fromkeys(MONEY, "monetary-quantity"),
}
"""AMR's quantity concept for each unit (AMR guidelines, quantities): ``distance-quantity`` for ``mile``."""
