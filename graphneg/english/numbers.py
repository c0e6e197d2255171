"""Numbers in words and digits to AMR's constants."""

from __future__ import annotations

import re

_SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
_VALUES = {
    **{word: n for n, word in enumerate(_SMALL.split())},
    **{word: 10 * n for n, word in enumerate(_TENS.split(), 2)},
    **_SCALES,
    "half": 0.5,
}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12,
}  # fmt: skip
_DIGITS = re.compile(r"\d+(,\d{3})*(\.\d+)?|\.\d+")
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)")


def number_value(text: str) -> str | None:
    """The number that a word, or a run of words joined by spaces or hyphens, stands for.

    >>> number_value("1,000"), number_value("two hundred and twenty-two"), number_value("x")
    ('1000', '222', None)
    """
    plain = text.lower().strip()
    if _DIGITS.fullmatch(plain):
        return plain.replace(",", "")
    total = current = 0.0
    seen = False
    for word in re.split(r"[\s-]+", plain):
        if word == "and" and seen:
            continue
        value = float(word.replace(",", "")) if _DIGITS.fullmatch(word) else _VALUES.get(word)
        if value is None:
            return None
        seen = True
        if word in _SCALES:
            current = max(current, 1) * value
            if value >= 1000:
                total, current = total + current, 0.0
        else:
            current += value
    return f"{total + current:.10g}" if seen and total + current < 1e10 else None


def ordinal_value(text: str) -> str | None:
    """The number of an ordinal.

    >>> ordinal_value("third"), ordinal_value("21st"), ordinal_value("twentieth"), ordinal_value("end")
    ('3', '21', '20', None)
    """
    plain = text.lower()
    match = _ORDINAL.fullmatch(plain)
    if match:
        return match[1]
    if plain in _ORDINALS:
        return str(_ORDINALS[plain])
    if "-" in plain:
        tens, _, rest = plain.partition("-")
        small = ordinal_value(rest)
        return str(_VALUES[tens] + int(small)) if tens in _VALUES and small else None
    if plain.endswith("ieth"):
        return _value(f"{plain[:-4]}y")
    return _value(plain[:-2]) if plain.endswith("th") else None


def _value(word: str) -> str | None:
    value = _VALUES.get(word)
    return None if value is None else f"{value:g}"
