"""Read numbers and ordinals that are written in words or digits.

The parser writes numbers as AMR constants, and transforms compare numbers by value. This module reads forms
such as *two hundred and twenty-two*, *1,000* and *21st*.

>>> value_of(["two", "hundred", "and", "six"]), number_value("1,000"), ordinal_value("21st")
(206.0, '1000', '21')
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.english.words import word_list, word_map

NUMBERS: dict[str, int] = {
    **{word: value for value, word in enumerate(word_list("units"))},
    **{word: 10 * value for value, word in enumerate(word_list("tens"), start=2)},
}
"""The value of each number word: 0 to 19, and the tens up to 90."""
SCALES = {word: int(value) for word, value in word_map("scales").items()}
"""The factor of each multiplier: ``dozen``, ``hundred``, ``thousand`` and larger multipliers."""
ORDINALS: dict[str, int] = {
    **{word: value for value, word in enumerate(word_list("ordinals"))},
    **{word[:-1] + "ieth": 10 * value for value, word in enumerate(word_list("tens"), start=2)},
    "last": -1,
}
"""The value of each ordinal word; ``last`` is -1, as in AMR's ``ordinal-entity``."""
WEEKDAYS = word_list("weekdays")
MONTHS = word_list("months")
_DIGITS = re.compile(r"\d+(,\d{3})*(\.\d+)?|\.\d+")
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)")


def value_of(words: Sequence[str]) -> float | None:
    """Return the value of a number that is given as a list of words.

    >>> value_of(["twenty", "-", "one"]), value_of(["two", "hundreds"]), value_of(["a", "few"])
    (21.0, 200.0, None)

    Args:
        words: The words of the number, or its digits; case does not matter.

    Returns:
        The value; ``None`` if one of the words is not part of a number.
    """
    total, current, seen = 0.0, 0.0, False
    for word in words:
        low = word.lower().replace(",", "")
        if low in NUMBERS:
            current += NUMBERS[low]
        elif low == "half":
            current += 0.5
        elif low.rstrip("s") in SCALES:
            scale = SCALES[low.rstrip("s")]
            # A multiplier without a preceding number counts once: "hundred" is 100, and "two hundred" is 200.
            current = max(current, 1) * scale
            # "thousand" and larger multipliers end a group of digits. In "two thousand three hundred", the
            # first group is 2 * 1000 and the second is 3 * 100.
            if scale >= 1000:
                total, current = total + current, 0.0
        elif re.fullmatch(r"\d+(?:\.\d+)?", low):
            current += float(low)
        elif "-" in low and len(low) > 1:
            inner = value_of([part for part in low.split("-") if part])
            if inner is None:
                return None
            current += inner
        elif low in ("and", "-"):
            continue
        else:
            return None
        seen = True
    return total + current if seen else None


def number_value(text: str) -> str | None:
    """Return a number as AMR writes it.

    >>> number_value("1,000"), number_value("two hundred and twenty-two"), number_value("hundreds")
    ('1000', '222', None)

    Args:
        text: One word, or several words separated by spaces or hyphens.

    Returns:
        The digits without separators; ``None`` if the text is not a number, or is 10,000,000,000 or more.
    """
    plain = text.lower().strip()
    if _DIGITS.fullmatch(plain):
        return plain.replace(",", "")
    words = re.split(r"[\s-]+", plain)
    # Reject *hundreds* and *dozens*, which do not name an exact number.
    if words[0] == "and" or any(word.endswith("s") and word[:-1] in SCALES for word in words):
        return None
    value = value_of(words)
    # Reject values of 10,000,000,000 or more, which the format below would write as *1e+10*.
    return None if value is None or value >= 1e10 else f"{value:.10g}"


def ordinal_value(text: str) -> str | None:
    """Return the value of an ordinal as AMR writes it.

    >>> ordinal_value("third"), ordinal_value("21st"), ordinal_value("twenty-first"), ordinal_value("end")
    ('3', '21', '21', None)

    Args:
        text: One word, which may contain a hyphen.

    Returns:
        The value in digits; ``None`` if the word is not an ordinal, and also for *last*.
    """
    plain = text.lower()
    if match := _ORDINAL.fullmatch(plain):
        return match[1]
    if "-" in plain:
        tens, _, rest = plain.partition("-")
        small = ordinal_value(rest)
        base = NUMBERS.get(tens, SCALES.get(tens))
        return str(base + int(small)) if base is not None and small else None
    if ORDINALS.get(plain, -1) >= 0:
        return str(ORDINALS[plain])
    value = SCALES.get(plain[:-2]) if plain.endswith("th") else None
    return None if value is None else f"{value:g}"
