"""Convert the timestamps of messages to numbers that can be sorted.

Chat exports write timestamps in many formats. A date whose order of day and month is unknown is not
converted:

>>> parse_time("1970-01-01T00:01:00Z"), parse_time("Thu, 01 Jan 1970 00:01:00 +0000"), parse_time("60")
(60.0, 60.0, 60.0)
>>> parse_time("03/04/2024 10:00")
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from graphneg.ingest.values import unwrap_extended_json
from graphneg.json_input import finite_number

# Up to 19 digits before the point, which is enough for a Unix time in nanoseconds.
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}(?:\.[0-9]{1,9})?")
# "2024-05-17 09:12:00 UTC": `datetime.fromisoformat` rejects a space before the time zone, so it is removed.
_ZONE = re.compile(r"\s+(?:(?:UTC|GMT|Z)|([+-][0-9]{2}:?[0-9]{2}))$")
# `parsedate_to_datetime` ignores AM and PM: it would read "Oct 31, 2017 10:10 PM" as 10:10 in the morning.
# Times with AM or PM are therefore excluded.
_MONTH_NAME = re.compile(r"(?=.*\b[0-9]{4}\b)(?!.*\b[AaPp]\.?[Mm]\b).*[A-Za-z]{3}")


# "17.05.2024 09:12": in dates with dots, the day always comes first.
_DOTTED = re.compile(
    r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(?:[ ,T]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?"
)


def parse_time(value: Any) -> float | None:
    """Return a timestamp as a number.

    ``03/04/2024`` means 3 April in some countries and 4 March in others, so such dates are not converted.

    Args:
        value: A number, or a string: digits, ISO 8601 (also with a space instead of ``T``), RFC 2822, a date
            with dots (day first), or Twitter's format. Times without a time zone count as UTC.

    Returns:
        Seconds since 1970; a number is returned as it is. None if the value has none of these formats.
    """
    value = unwrap_extended_json(value)
    if not isinstance(value, str):
        return finite_number(value)
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
