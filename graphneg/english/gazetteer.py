"""Small lists of proper words: countries and what is of them, cities, given names, months, units."""

from __future__ import annotations

from graphneg.english.words import word_set_word_sets as word_set

_NATIONS = """
America:American Australia:Australian Austria:Austrian Belgium:Belgian Brazil:Brazilian Britain:British
Canada:Canadian Chile:Chilean China:Chinese Cuba:Cuban Denmark:Danish Egypt:Egyptian England:English
Finland:Finnish France:French Germany:German Greece:Greek Hungary:Hungarian India:Indian Indonesia:Indonesian
Iran:Iranian Iraq:Iraqi Ireland:Irish Israel:Israeli Italy:Italian Japan:Japanese Kenya:Kenyan Korea:Korean
Malaysia:Malaysian Mexico:Mexican Morocco:Moroccan Nepal:Nepalese Netherlands:Dutch Nigeria:Nigerian
Norway:Norwegian Pakistan:Pakistani Peru:Peruvian Poland:Polish Portugal:Portuguese Romania:Romanian
Russia:Russian Scotland:Scottish Singapore:Singaporean Spain:Spanish Sweden:Swedish Switzerland:Swiss
Syria:Syrian Thailand:Thai Turkey:Turkish Ukraine:Ukrainian Vietnam:Vietnamese Wales:Welsh
"""
_MORE_COUNTRIES = "Argentina Colombia Ethiopia Iceland Philippines Taiwan U.S. U.S.A. USA US UK U.K."
NATIONALITIES = {people.lower(): land for land, _, people in (one.partition(":") for one in _NATIONS.split())}
COUNTRIES = frozenset([*(land.lower() for land in NATIONALITIES.values()), *_MORE_COUNTRIES.lower().split()])
CITIES = word_set("""
    amsterdam athens atlanta bangkok barcelona beijing berlin boston brussels cairo chicago dallas delhi
    denver detroit dublin edinburgh florence geneva houston istanbul jakarta kyoto lisbon london madrid
    manchester melbourne miami milan montreal moscow mumbai munich nanjing nashville orlando oslo oxford
    paris philadelphia phoenix prague rome seattle seoul shanghai shenzhen stockholm sydney tokyo
    toronto vancouver venice vienna warsaw zurich
""")
CONTINENTS = word_set("africa asia europe antarctica")
STATES = word_set("""
    alabama alaska arizona california colorado florida georgia hawaii illinois indiana iowa kansas
    kentucky louisiana maine maryland massachusetts michigan minnesota nevada ohio oregon pennsylvania
    tennessee texas utah vermont virginia washington wisconsin
""")
_MONTHS = "january february march april may june july august september october november december"
MONTHS = {name: n for n, name in enumerate(_MONTHS.split(), 1)}
WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
FESTIVALS = word_set("christmas easter halloween thanksgiving ramadan hanukkah")
LANGUAGES = word_set("""
    english french spanish german italian chinese japanese korean russian arabic latin greek portuguese
""")
TITLES = word_set("mr mr. mrs mrs. ms ms. miss dr dr. prof prof. sir madam st. st")
PLACE_KINDS = word_set("""
    street road avenue river lake mountain park station airport hotel restaurant museum hospital
    university college school bridge island planet asteroid city country state book film movie song
    company bank store shop team
""")
MONEY = {
    "$": "dollar", "£": "pound", "€": "euro", "¥": "yuan", "dollar": "dollar", "cent": "cent",
    "pound": "pound", "euro": "euro", "yuan": "yuan", "yen": "yen", "buck": "dollar", "rmb": "yuan",
    "penny": "cent",
}  # fmt: skip
TEMPORAL_UNITS = word_set("second minute hour day night week weekend month year decade century")
DISTANCE_UNITS = word_set("mile kilometer kilometre metre meter foot inch yard block km cm")
MASS_UNITS = word_set("gram kilogram kilo ounce ton kg")
QUANTITY_KINDS = {
    **dict.fromkeys(TEMPORAL_UNITS, "temporal-quantity"),
    **dict.fromkeys(DISTANCE_UNITS, "distance-quantity"),
    **dict.fromkeys(MASS_UNITS, "mass-quantity"),
    **dict.fromkeys(("liter", "litre", "gallon", "pint"), "volume-quantity"),
    **dict.fromkeys(("degree",), "temperature-quantity"),
    **dict.fromkeys(MONEY, "monetary-quantity"),
}
EMOTICONS = word_set(":) :( :D ;) :P :-) :-( ;-) :'( <3 :/ XD xD ^_^ :o :O")
