"""Read numbers and ordinals in words and digits.

Parsers write numbers as AMR constants, and transforms compare them by value. Numbers may be written as *two
hundred and twenty-two*, *1,000* or *21st*.

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
"""Value by number word: 0 to 19, and the tens up to 90."""
SCALES = {word: int(value) for word, value in word_map("scales").items()}
"""Factor by multiplier: ``dozen``, ``hundred``, ``thousand`` and larger ones."""
ORDINALS: dict[str, int] = {
    **{word: value for value, word in enumerate(word_list("ordinals"))},
    **{word[:-1] + "ieth": 10 * value for value, word in enumerate(word_list("tens"), start=2)},
    "last": -1,
}
"""Value by ordinal word; ``last`` is -1, as in AMR's ``ordinal-entity``."""
WEEKDAYS = word_list("weekdays")
MONTHS = word_list("months")
_DIGITS = re.compile(r"\d+(,\d{3})*(\.\d+)?|\.\d+")
_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)")


def value_of(words: Sequence[str]) -> float | None:
    """Return the value of a number that is given as words or digits.

    >>> value_of(["twenty", "-", "one"]), value_of(["two", "hundreds"]), value_of(["a", "few"])
    (21.0, 200.0, None)

    Args:
        words: The words of the number; case does not matter.

    Returns:
        The value, or ``None`` if one of the words is not part of a number.
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
            # "hundred" alone is 100; "two hundred" is 200.
            current = max(current, 1) * scale
            # From thousand on, a multiplier closes a group: "two thousand three hundred" is 2 * 1000 + 3 *
            # 100.
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
    """Return the AMR constant of a number.

    >>> number_value("1,000"), number_value("two hundred and twenty-two"), number_value("hundreds")
    ('1000', '222', None)

    Args:
        text: A word, or words joined by spaces or hyphens.

    Returns:
        Digits without separators, or ``None`` if the text is not a number below 10,000,000,000.
    """
    plain = text.lower().strip()
    if _DIGITS.fullmatch(plain):
        return plain.replace(",", "")
    words = re.split(r"[\s-]+", plain)
    # "hundreds" and "dozens" name no exact number.
    if words[0] == "and" or any(word.endswith("s") and word[:-1] in SCALES for word in words):
        return None
    value = value_of(words)
    # Larger values would be written in scientific notation.
    return None if value is None or value >= 1e10 else f"{value:.10g}"


def ordinal_value(text: str) -> str | None:
    """Return the number of an ordinal.

    >>> ordinal_value("third"), ordinal_value("21st"), ordinal_value("twenty-first"), ordinal_value("end")
    ('3', '21', '21', None)

    Args:
        text: One word, possibly with a hyphen.

    Returns:
        The number in digits, or ``None`` if the word is not an ordinal; *last* gives ``None``.
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
