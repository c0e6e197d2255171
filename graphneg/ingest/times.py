"""Read the times of messages as numbers that sort.

>>> moment("1970-01-01T00:01:00Z") == moment("Thu, 01 Jan 1970 00:01:00 +0000") == moment("60") == 60.0
True
>>> moment("03/04/2024 10:00")
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from graphneg.ingest.values import unwrapped

_NUMBER = re.compile(r"[+-]?[0-9]{1,19}(?:\.[0-9]{1,9})?")
_ZONE = re.compile(r"\s+(?:(?:UTC|GMT|Z)|([+-][0-9]{2}:?[0-9]{2}))$")
# `parsedate_to_datetime` passes over AM and PM: "Oct 31, 2017 10:10 PM" would be in the morning.
_MONTH_NAME = re.compile(r"(?=.*\b[0-9]{4}\b)(?!.*\b[AaPp]\.?[Mm]\b).*[A-Za-z]{3}")


# "17.05.2024 09:12": where dates have dots, the day always comes first.
_DOTTED = re.compile(
    r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(?:[ ,T]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?"
)


def moment(value: Any) -> float | None:
    """Return a time as a number.

    ``03/04/2024`` is the third of April to some and the fourth of March to others, so it is no time here.

    Args:
        value: A number, or a text: digits, ISO 8601 (with a blank for the T, too), RFC 2822, a date with dots
            (day first), or a time as Twitter writes it. Times without a zone count as UTC.

    Returns:
        Seconds since 1970, or the number itself; None where the value is in none of these forms.
    """
    value = unwrapped(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    try:
        return _seconds(datetime.fromisoformat(_ZONE.sub(lambda zone: zone[1] or "+00:00", text)))
    except ValueError:
        pass
    if found := _DOTTED.fullmatch(text):
        day, month, year, hour, minute, second = (int(number or 0) for number in found.groups())
        try:
            return _seconds(datetime(year, month, day, hour, minute, second))
        except ValueError:
            return None
    if _MONTH_NAME.match(text) is None:
        return None
    for read in (parsedate_to_datetime, _twitter):
        try:
            return _seconds(read(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            pass
    return None


def _twitter(text: str) -> datetime:
    return datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y")


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
