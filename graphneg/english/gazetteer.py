"""Proper words: countries and what is of them, cities, titles, money, units (``word_classes.tsv``)."""

from __future__ import annotations

from graphneg.english.words import word_class, word_list, word_map

NATIONALITIES = word_map("nationalities")
COUNTRIES = word_class("countries")
CITIES = word_class("cities")
CONTINENTS = word_class("continents")
STATES = word_class("states")
MONTHS = {name: number for number, name in enumerate(word_list("months"), 1)}
WEEKDAYS = word_class("weekdays")
FESTIVALS = word_class("festivals")
LANGUAGES = word_class("languages")
TITLES = word_class("titles")
PLACE_KINDS = word_class("place-kinds")
MONEY = word_map("money")
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
