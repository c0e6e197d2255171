"""Lists of names and units: countries, nationalities, cities, titles, currencies, measures.

The lists are rows of ``word_classes.tsv``. All words are in lower case. Maps give the AMR value of a word:
the country of a nationality, the currency of a money word, the entity concept of a unit.

>>> NATIONALITIES["british"], MONEY["buck"], MONTHS["march"], QUANTITY_KINDS["week"]
('Britain', 'dollar', 3, 'temporal-quantity')
"""

from __future__ import annotations

from graphneg.english.words import word_class, word_list, word_map

NATIONALITIES = word_map("nationalities")
"""Country name by nationality adjective, as AMR writes it: ``british`` gives ``Britain``."""
COUNTRIES = word_class("countries")
CITIES = word_class("cities")
CONTINENTS = word_class("continents")
STATES = word_class("states")
MONTHS = {name: number for number, name in enumerate(word_list("months"), 1)}
"""Month number (1 to 12) by month name."""
WEEKDAYS = word_class("weekdays")
FESTIVALS = word_class("festivals")
LANGUAGES = word_class("languages")
TITLES = word_class("titles")
PLACE_KINDS = word_class("place-kinds")
"""Nouns at the end of a name that say what it names: *Hudson River* is a ``river``."""
MONEY = word_map("money")
"""Currency concept by sign or word: ``$`` and ``buck`` give ``dollar``."""
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
"""AMR's quantity concept by unit (AMR guidelines, quantities): ``mile`` gives ``distance-quantity``."""
