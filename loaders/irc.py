"""Load logs of IRC channels (``irc``): irssi, WeeChat, HexChat, mIRC, ZNC, and the logs of Ubuntu's channels.

    --- Log opened Fri Nov 14 09:00:01 2025              irssi
    09:01 <@ann> Is the rye bread fresh?
    09:02 -!- bo [~bo@host] has joined #bread
    2025-11-14 09:03:11	bo	Yes.                          WeeChat
    [09:03] <bo> Yes.                                     Ubuntu, ZNC, mIRC

The channel is split into dialogues at pauses of several hours. Lines about people who join or leave, and
actions ("* bo waves"), are left out and counted. A message without a date has the date of the last line
with a date, or else the date in the name of the file (``2025-11-14-#bread.txt``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

from graphneg.ingest.chats import SYSTEM, ChatLoader, Message, seconds_of
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.reading import Item, text_lines
from graphneg.model import Rejected

_TIME = r"\[?(?:(?P<date>\d{4}-\d\d-\d\d|[A-Z][a-z]{2} \d\d?)[ T])?(?P<clock>\d\d:\d\d(?::\d\d)?)\]?"
# "<@ann>" shows that ann is an operator of the channel. The sign before the name is not part of the name.
_NICK = r"[@+%&~ ]?(?P<nick>[^\s<>@+%&~][^\s<>]{0,40})"
_TALK = re.compile(rf"{_TIME}\s+<{_NICK}>\s(?P<text>.*)")
_COLUMNS = re.compile(rf"{_TIME}\t(?P<sign>[^\t]*)\t(?P<text>.*)")
_NAME = re.compile(_NICK)
_TIMED = re.compile(rf"{_TIME}\s+(?P<rest>.*)")
_ACTION = "action"
"""The name that notices use for lines such as "* bo waves"."""
_DAY = re.compile(r"\b(?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]\d)(?: \d\d:\d\d:\d\d)? (?P<year>\d{4})\b")
_IN_NAME = re.compile(r"(?P<year>(?:19|20)\d\d)-?(?P<month>\d\d)-?(?P<day>\d\d)(?!\d)")
_UNKNOWN_DAY = date(1970, 1, 1)
_SUMMER_TIME = 120
"""If a line is more than this number of minutes earlier than the previous line, a new day has begun."""


class Loader(ChatLoader):
    """Loader for the logs of IRC clients and bouncers."""

    name = "irc"
    summary = "IRC: logs of channels (irssi, WeeChat, HexChat, mIRC, ZNC, Ubuntu)"

    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a log.

        Args:
            path: The file.
            options: Options for loading, such as the corpus and split.

        Yields:
            An `Item` with a `Message` for each message, and a `Rejected` for each line that cannot be read.
        """
        clock = _Clock(_day_in(path.name, _IN_NAME) or _UNKNOWN_DAY)
        for line in text_lines(path, options.progress, options.encoding or ""):
            if isinstance(line, Rejected):
                yield line
                continue
            try:
                message = _message(line.text, clock, options.notices)
            except ValueError as error:
                yield Rejected(line.place, f"not a valid time ({error})")
                continue
            if message is not None:
                yield Item(line.place, line.number, "", message)
        if clock.day.year == _UNKNOWN_DAY.year:
            options.notices.say(f"{path}: neither the lines nor the name of the file have a date")


@dataclass(slots=True)
class _Clock:
    """The date and time of the last line."""

    day: date
    at: time = time()

    def seconds(self, written: re.Match[str]) -> float:
        """Set the clock to the time of a line, and return this time in seconds since 1970."""
        at = time.fromisoformat(written["clock"])
        if written["date"]:
            dated = written["date"] if written["date"][0].isdigit() else ""
            self.day = date.fromisoformat(dated) if dated else _named_day(written["date"], self.day)
        elif _minutes(at) < _minutes(self.at) - _SUMMER_TIME:
            # If "00:01" follows "23:59", a new day has begun. If the time goes back by only an hour, summer
            # time has ended.
            self.day += timedelta(days=1)
        self.at = at
        return seconds_of(datetime.combine(self.day, at))


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _message(text: str, clock: _Clock, notices: Notices) -> Message | None:
    """Return the message that a line contains. If the line contains no message, count it and return None.

    Args:
        text: The line.
        clock: The date and time of the previous line, which are replaced by the date and time of ``text``.
        notices: Notices to the user, in which lines without a message are counted.

    Returns:
        The message. An invalid time raises `ValueError`.
    """
    timed = _TIMED.fullmatch(text)
    if timed is None:
        # A line such as "--- Day changed Sat Nov 15 2025" contains the date of the lines below it.
        clock.day, changed = _day_in(text, _DAY) or clock.day, _day_in(text, _DAY) is not None
        clock.at = time() if changed else clock.at
        notices.count(SYSTEM, "left out", bool(text.strip()))
        return None
    seconds = clock.seconds(timed)
    talk = _TALK.fullmatch(text)
    if talk is not None:
        return Message(seconds, talk["nick"], talk["text"].strip()) if talk["text"].strip() else None
    # In WeeChat, a line that nobody said has "-->", "<--", "--" or "=!=" in place of a name.
    columns = _COLUMNS.fullmatch(text)
    nick = _NAME.fullmatch(columns["sign"].strip()) if columns is not None else None
    if columns is not None and nick is not None and re.search(r"\w", nick["nick"]):
        return Message(seconds, nick["nick"], columns["text"].strip()) if columns["text"].strip() else None
    sign = columns["sign"].strip() if columns is not None else timed["rest"]
    notices.count(_ACTION if re.match(r"\*(?:\s|$)", sign) else SYSTEM, "left out")
    return None


def _named_day(text: str, last: date) -> date:
    """Return the date of a text such as "Jan 1", given the date of the previous line."""
    found = datetime.strptime(f"{text} {last.year}", "%b %d %Y").date()
    # If "Jan 1" follows "Dec 31", it is in the next year.
    is_next = last.month == 12 and found.month == 1
    return found.replace(year=last.year + 1) if is_next else found


def _day_in(text: str, way: re.Pattern[str]) -> date | None:
    found = way.search(text)
    if found is None:
        return None
    form = "%Y %m %d" if found["month"].isdigit() else "%Y %b %d"
    try:
        return datetime.strptime(f"{found['year']} {found['month']} {found['day'].strip()}", form).date()
    except ValueError:
        return None
