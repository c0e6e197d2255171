"""Convert the timestamps of messages into numbers, and sort messages by time.

Chat exports write timestamps in many formats. A date such as ``03/04/2024`` is 3 April in some countries and
4 March in others. The order of day and month is therefore determined once for a whole file: by the user, or
by dates that can be read in only one way, such as ``11/26/2026``. If neither decides, the times of a dialogue
are used only if both readings of its dates put its messages in the same order.

>>> parse_time("1970-01-01T00:01:00Z"), parse_time("Thu, 01 Jan 1970 00:01:00 +0000"), parse_time("60")
(60.0, 60.0, 60.0)
>>> parse_time("03/04/2024 10:00"), parse_time("02/01/1970", "day") == parse_time("01/02/1970", "month")
(None, True)
>>> dates = Dates(lambda: [("a", "03/04/2024"), ("a", "26/04/2024")], "chats.csv", Notices())
>>> dates.order_of(["03/05/2024", "04/04/2024"])
[1, 0]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, cast

from graphneg.ingest.loader import DATE_ORDERS, DateOrder, Notices
from graphneg.ingest.values import unwrap_extended_json
from graphneg.json_input import finite_number

# Matches a number with at most 19 digits before the point. A Unix time in nanoseconds has 19 digits.
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}(?:\.[0-9]{1,9})?")
# Numbers at or above this limit are Unix times in milliseconds or smaller units. In seconds, the limit would
# be in the year 5138.
_MILLISECONDS = 1e11
_CLEAR = 10
"""A file counts as sorted by time if the times of consecutive messages change in one direction at least this
many times as often as in the other."""
# Matches a time zone after a space, as in "2024-05-17 09:12:00 UTC". The space must be removed, because
# `datetime.fromisoformat` rejects it.
_ZONE = re.compile(r"\s+(?:(?:UTC|GMT|Z)|([+-][0-9]{2}:?[0-9]{2}))$")
# Matches dates that end with the year: "17.05.2024 09:12", "5/17/24, 9:12 AM", "17-05-2024". With hyphens, a
# year of two digits might come first ("24-05-17"), so the year must have four.
_YEAR_LAST = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|(?<!-)[0-9]{2})(?:[\s,T]+([0-9].*))?")
# Matches dates that begin with the year: "2024/05/17 09:12", "2024.05.17".
_YEAR_FIRST = re.compile(r"([0-9]{4})([./-])([0-9]{1,2})\2([0-9]{1,2})(?:[\s,T]+([0-9].*))?")
# Matches the date in "2025年11月14日 09:12" and "2025년 11월 14일 9:12".
_SIGNS = re.compile(r"([0-9]{4})\s?[年년]\s?([0-9]{1,2})\s?[月월]\s?([0-9]{1,2})\s?[日일]\s?")
# A text with the name of a month counts as a date only if it has a year of four digits. Without a year,
# `dateutil` would assume one.
_MONTH_NAME = re.compile(r"(?=.*\b[0-9]{4}\b).*[A-Za-z]{3}")
_ZONES = {
    "CET": 1,
    "CEST": 2,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
}
"""Offsets from UTC, in hours, of time zones with unambiguous names (without UTC and GMT)."""


def parse_time(value: Any, order: DateOrder | None = None) -> float | None:
    """Convert a timestamp into a number.

    Args:
        value: A number, or a string: digits, ISO 8601 (also with a space instead of ``T``), RFC 2822, a date
            with dots (day first), a date with slashes or hyphens, or a date with the English name of its
            month. In dates with slashes or dots, a year of two digits comes last. Times without a time zone
            count as UTC.
        order: What comes first in dates such as ``03/04/2024``: ``day`` or ``month``. With None, such dates
            are not converted.

    Returns:
        Seconds since 1970. A number is returned as it is, except that a Unix time in milliseconds or smaller
        units is converted into seconds. None if the value has none of these formats.
    """
    value = unwrap_extended_json(value)
    if not isinstance(value, str):
        number = finite_number(value)
        return None if number is None else _in_seconds(number)
    # Some exports write a narrow no-break space before AM and PM. Replace it with an ordinary space.
    text = _SIGNS.sub(r"\1/\2/\3 ", " ".join(value.split()), count=1).strip()
    if _NUMBER.fullmatch(text):
        return _in_seconds(float(text))
    try:
        return _seconds(datetime.fromisoformat(_ZONE.sub(lambda zone: zone[1] or "+00:00", text)))
    except ValueError:
        pass
    if found := _YEAR_LAST.fullmatch(text):
        first, sign, second, year, clock = found.groups()
        # If a date is written with dots and the year comes last ("17.5.2024"), the day always comes first.
        if (order := "day" if sign == "." else order) is None:
            return None
        day, month = (first, second) if order == "day" else (second, first)
        return _of_numbers(year if len(year) == 4 else f"20{year}", month, day, clock)
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, clock = found.groups()
        return _of_numbers(year, month, day, clock)
    return _of_words(text) if _MONTH_NAME.match(text) else None


def possible_orders(value: Any) -> frozenset[DateOrder]:
    """Return the orders of day and month in which a date with slashes or hyphens is valid.

    >>> [sorted(possible_orders(date)) for date in ("26/11/2026", "11/26/2026", "03/04/2026", "2026-11-26")]
    [['day'], ['month'], ['day', 'month'], []]

    Args:
        value: A cell of a time column.

    Returns:
        The orders; an empty set for a value that is not such a date.
    """
    text = unwrap_extended_json(value)
    found = _YEAR_LAST.fullmatch(" ".join(text.split())) if isinstance(text, str) else None
    if found is None or found[2] == ".":
        return frozenset()
    months: dict[DateOrder, int] = {"month": int(found[1]), "day": int(found[3])}
    return frozenset(order for order in DATE_ORDERS if 1 <= months[order] <= 12)


class Dates:
    """Determines the order of day and month in one input file, and sorts messages by their times.

    Args:
        written: Function that returns the dialogue and the time of each message in the order of the file. It
            is only called if a date can be read in two ways, or if messages have equal times. Messages with
            equal times are reversed if the file lists the newest messages first.
        file: The name of the file, for notices.
        notices: Notices to the user, which report how dates are read and where times were not used.
        order: The order of day and month that the user named; None to derive it from the dates.
    """

    def __init__(
        self,
        written: Callable[[], Iterable[tuple[Any, Any]]],
        file: str,
        notices: Notices,
        order: DateOrder | None = None,
    ) -> None:
        self._written, self._file, self._notices = written, file, notices
        self._told: DateOrder | None = order
        self._directions: dict[DateOrder | None, bool | None] = {}

    @cached_property
    def _orders(self) -> frozenset[DateOrder]:
        """The possible orders of day and month in this file; empty if its dates contradict each other."""
        if self._told is not None:
            return frozenset([self._told])
        certain = set[DateOrder]()
        for _, cell in self._written():
            if len(possible := possible_orders(cell)) == 1:
                certain |= possible
            if len(certain) > 1:
                self._notices.say(
                    f"{self._file}: some dates begin with the day, others with the month, so dates with "
                    "slashes or hyphens are not used; --date-order day or --date-order month says which is "
                    "meant"
                )
                return frozenset()
        if certain:
            parts = ("month", "day") if "month" in certain else DATE_ORDERS
            self._notices.say(f"{self._file}: dates are read as {'/'.join(parts)}/year")
        orders: Iterable[DateOrder] = certain or DATE_ORDERS
        return frozenset(orders)

    def order_of(self, written: Sequence[Any]) -> list[int] | None:
        """Sort the messages of a dialogue by time.

        Args:
            written: The time of each message, as it is written in the file.

        Returns:
            The indices of the messages, oldest first. None in three cases: no message has a time; a time is
            not understood; or the day or the month may come first in dates, and this changes the order. In
            the last two cases, the dialogue is counted for a notice to the user.
        """
        if all(cell in (None, "") for cell in written):
            return None
        is_numeric = any(possible_orders(cell) for cell in written)
        orders: Iterable[DateOrder | None] = self._orders if is_numeric else (None,)
        found: list[list[int]] = []
        for order in orders:
            times = [parse_time(cell, order) for cell in written]
            if any(time is None for time in times):
                break
            seconds = cast("list[float]", times)
            # Messages are sorted by time. Only for messages with equal times, it matters whether the newest
            # or the oldest message comes first in the file.
            is_reversed = self._is_newest_first(order) if len(set(seconds)) < len(seconds) else None
            found.append(oldest_first(seconds, newest_first=is_reversed))
        else:
            if found and all(one == found[0] for one in found):
                return found[0]
            if found:
                self._notices.count(
                    "dialogue",
                    "kept in the order of its rows, as its dates can be read with the day or the month "
                    "first: --date-order day or --date-order month says which",
                )
                return None
        self._notices.count("dialogue", "kept in the order of its rows, because its times can't be read")
        return None

    def _is_newest_first(self, order: DateOrder | None) -> bool | None:
        """Return whether the file lists the newest messages first; None if its times do not show it."""
        if order not in self._directions:
            falls = rises = 0
            before: tuple[Any, float] | None = None
            for dialogue, cell in self._written():
                time = parse_time(cell, order)
                # Compare a message only with the previous message of the same dialogue, because the dialogues
                # of a file need not be sorted by time.
                if time is not None and before is not None and before[0] == dialogue:
                    falls, rises = falls + (time < before[1]), rises + (time > before[1])
                before = None if time is None else (dialogue, time)
            # Tolerate some messages that are not in order, because messages may be delivered late.
            is_clear = falls != rises and max(falls, rises) >= _CLEAR * min(falls, rises)
            self._directions[order] = falls > rises if is_clear else None
        return self._directions[order]


def oldest_first(seconds: Sequence[float], *, newest_first: bool | None = None) -> list[int]:
    """Sort messages by time.

    >>> oldest_first([3, 1, 2, 1]), oldest_first([3, 2, 2, 1])
    ([1, 3, 2, 0], [3, 2, 1, 0])

    Args:
        seconds: The time of each message.
        newest_first: Whether the file lists the newest messages first; None to derive it from these times.

    Returns:
        The indices of the messages, oldest first. Messages with equal times keep their order, or are reversed
        if the file lists the newest messages first.
    """
    places = list(range(len(seconds)))
    if newest_first is None:
        newest_first = seconds[0] > seconds[-1] and list(seconds) == sorted(seconds, reverse=True)
    if newest_first:
        places.reverse()
    return sorted(places, key=seconds.__getitem__)


def _of_numbers(year: str, month: str, day: str, clock: str | None) -> float | None:
    try:
        date = datetime(int(year), int(month), int(day))
    except ValueError:
        return None
    return _of_words(f"{date:%Y-%m-%d} {clock}") if clock else _seconds(date)


def _of_words(text: str) -> float | None:
    """Return the time in a text that `dateutil` understands; None for any other text."""
    # Import dateutil only here, because most files have times in ISO 8601 and do not need it.
    from dateutil.parser import parse

    try:
        # `default` sets the parts that the text lacks. Without it, `dateutil` would take them from the
        # current date.
        return _seconds(parse(text, default=datetime(1, 1, 1), tzinfos=_zone))
    except (ValueError, OverflowError, TypeError):
        return None


def _zone(name: str | None, offset: int | None) -> int | None:
    """Return a time zone's offset from UTC in seconds. Refuse unknown names instead of assuming UTC."""
    if offset is not None or name is None:
        return offset
    if name not in _ZONES:
        raise ValueError(name)
    return _ZONES[name] * 3600


def _in_seconds(number: float) -> float:
    """Convert a Unix time in milliseconds, microseconds or nanoseconds into seconds."""
    while abs(number) >= _MILLISECONDS:
        number /= 1000
    return number


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
