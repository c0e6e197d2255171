"""Load chats that were exported from WhatsApp (``whatsapp``), from iOS or Android, in any language.

    [31/12/2023, 21:04:11] Ann: Are you coming tonight?       iOS
    31.12.23, 21:05 - Bo: Yes!                                 Android
    12/31/23, 9:05 PM - Bo: I'll bring                         Android, United States
    the salad.

KakaoTalk (on telephones) and Viber write similar files:

    2023년 12월 31일 오후 9:04, Ann : Are you coming tonight?
    [ 31 December 2023 9:04 PM ] Ann: Are you coming tonight?

So does signal-export, with links to media, quotations and reactions in Markdown. `graphneg.ingest.imessage`
reads the files of imessage-exporter, `graphneg.ingest.tencent` those of QQ and messages copied from WeChat.

A line without a time continues the previous message. System lines (for example, that somebody joined or that
messages are encrypted) and placeholders for media are left out and counted.

The format of dates depends on the phone, and the file does not specify it. The loader tries three orders of
day, month and year, and chooses the order with the fewest invalid dates. If several orders have equally few,
it chooses the order in which the messages are most consistently sorted by time. The user can name the order
instead (``--date-order``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Literal

from graphneg.ingest.chat_lines import alternatives, chat_line
from graphneg.ingest.chats import (
    HALF_OF_DAY,
    MEDIA,
    SYSTEM,
    Message,
    TextChatLoader,
    hour_of_day,
    seconds_of,
)
from graphneg.ingest.content import ItemError
from graphneg.ingest.imessage import is_of_imessage, messages_of_imessage
from graphneg.ingest.loader import DateOrder, LoadOptions, Notices
from graphneg.ingest.reading import LARGEST_ITEM, Item, Line, text_lines
from graphneg.ingest.tencent import is_of_tencent, messages_of_tencent
from graphneg.ingest.times import parse_time
from graphneg.model import Rejected
from graphneg.progress import NoProgress

Order = Literal["day/month/year", "month/day/year", "year/month/day"]
Date = tuple[int, int, int]

_ORDERS: dict[DateOrder, Order] = {"day": "day/month/year", "month": "month/day/year"}
# Some phones add Unicode direction marks around names and dates, and narrow spaces before AM and PM.
# Direction marks are removed, and the spaces are replaced by normal spaces.
_DIRECTIONS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_BLANKS = str.maketrans({"\u202f": " ", "\xa0": " ", "\u2009": " "})
_HEADER = re.compile(
    r"""\[?(?P<date>\d{1,4}(?:[./-]|년)\s?\d{1,2}(?:[./-]|월)\s?\d{1,4}(?!\d))(?:\.|일)?
        (?P<between>[^\d\]\[]{1,12}?)                       # ", ", " à ", " klo ", " 下午"
        (?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.]\d\d)?(?!\d)
        (?P<after>[^\d\]\[:-]{0,12}?)                       # " PM", " p. m.", " Uhr"
        (?:\]\s?|\s-\s|,\s(?=[^:]{1,60}\s:\s))
        (?P<rest>.*)""",
    re.VERBOSE,
)
# The next three patterns match what signal-export adds to a text: "![x.jpg](media/x.jpg)", a quotation above
# the text, and the reaction "(- Bo: 👍 -)" below it.
_LINKED = re.compile(r"!?\[[^\[\]\n]*\]\((?:\./)?media/[^()\n]*\)")
_QUOTATION = re.compile(r"\A\s*>[ \t]*\n(?:> ?[^\n]*\n)+")
_REACTIONS = re.compile(r"\n\(- [^\n]{1,80}: [^\n]{1,80} -\)\s*\Z")
_MONTH_DAY = r"[A-Z][a-z]{2,8}\.?\s\d{1,2},\s\d{4}"
# KakaoTalk: "2023년 12월 31일 오후 9:04, Ann : Hello.", "Dec 31, 2023 at 9:04 PM, Ann : Hello."
_KAKAO = re.compile(
    rf"""(?P<date>\d{{4}}년\s?\d{{1,2}}월\s?\d{{1,2}}일|\d{{4}}\.\s\d{{1,2}}\.\s\d{{1,2}}\.|{_MONTH_DAY})
        (?P<between>,?\s(?:at\s)?(?:오전|오후)?\s?)(?P<hour>\d{{1,2}}):(?P<minute>\d\d)
        (?P<after>(?:\s?[AaPp][Mm])?),\s(?P<rest>.*)""",
    re.VERBOSE,
)
# Viber: "[ 31 December 2023 9:04 PM ] Ann: Hello."
_VIBER = re.compile(
    r"""\[\s(?P<date>\d{1,2}\s[^\W\d_]{3,12}\s\d{4})(?P<between>,?\s)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?
        (?P<after>(?:\s?[AaPp][Mm])?)\s\]\s(?P<rest>.*)""",
    re.VERBOSE,
)
# KakaoTalk, above the messages of a day: "2023년 12월 31일 일요일", "Sunday, December 31, 2023"
_DAY_LINE = re.compile(
    rf"(?:\d{{4}}년 \d{{1,2}}월 \d{{1,2}}일(?: [가-힣]요일| (?:오전|오후) \d{{1,2}}:\d\d)?"
    rf"|(?:[A-Z][a-z]+day, )?{_MONTH_DAY}(?: (?:at )?\d{{1,2}}:\d\d(?: [AP]M)?)?)\s*"
)
# Matches the name and the text of a message. The text may have several lines.
_NAME = re.compile(r"(?P<name>[^:\n]{1,80}?)\s?:(?:\s(?P<text>.*)|)", re.DOTALL)
# If the words before a colon contain a quotation mark, they are not the name of a speaker, but part of a
# system line that quotes the name of a group: Ann changed the subject to “Trip: Rome”.
_QUOTES = frozenset('"“”„«»')
_PLACEHOLDER = re.compile(
    r"""<[^<>]{3,120}>                                      # <Media omitted>, <Medien ausgeschlossen>
      |\S[^/\n]{0,120}\.\w{2,5}\ \([^()]{3,60}\)            # IMG-20231231-WA0001.jpg (file attached)
      |(?-i:null)                                             # a picture that can be viewed once
      |[^\W\d_]{3,20}:\ https://maps\.google\.com/\S+         # location: https://maps.google.com/?q=1,2
    """,
    re.VERBOSE | re.IGNORECASE,
)
# On iOS, a left-to-right mark (U+200E) precedes a placeholder, which may follow a caption:
# "So sieht er aus \u200e<Anhang: 13-PHOTO.jpg>" and "Our cake \u200eimage omitted".
_END_PLACEHOLDER = re.compile(
    r"(?:\u200e<[^<>]{3,120}>|(?<!: )\u200e(?=[^\W\d_])[^\s:\u200e]{1,30}(?: [^\s:\u200e]{1,30}){1,2})\s?\Z"
)
# Matches the name of a document, which precedes its placeholder on iOS: "report.pdf • \u200e3 pages".
_DOCUMENT = re.compile(r"\S[^/\n]{0,120}\.\w{2,5}(?: • [^\n]{1,40})*")
# On iOS, the system lines of a group begin with its name, which may contain a colon:
# "Ski: weekend 2024: \u200eMessages and calls are end-to-end encrypted."
# Do not match a text without letters: people paste telephone numbers that begin with U+200E.
_MARKED_LATER = re.compile(r"[^\n]*:\s(?P<marked>\u200e[^\n]*[^\W\d_][^\n]*)(?:\n.*)?", re.DOTALL)
# Matches the note about an edit, with which a text may end: "It's me, Ann. <This message was edited>". On
# Android, no left-to-right mark precedes the note, so the note is recognised by its words.
_EDITED = re.compile(rf"\s?<(?:{alternatives('whatsapp edited')})\.?>\s?\Z", re.IGNORECASE)
# Matches a poll: the line "POLL:", a line with the question, and options such as "OPTION: Rome (2 votes)".
_POLL = re.compile(r"[^\W\d_]{3,20}:\n[^\n]+(?:\n[^\W\d_]{3,20}: [^\n]*\(\d+ [^\W\d_]{1,20}\))+\s*")
# On Android, some system lines contain a colon, so that their beginning looks like a name:
# "Bo changed the subject to: Ski: snow" and "This group was added to the community: Ski".
_SYSTEM_NAME = re.compile(rf"\b(?:{alternatives('whatsapp name')})", re.IGNORECASE)
_POLLED = "poll"
"""The name that notices use for a poll, which is a question to the group with options to vote for."""
_MOST_DATES = 20_000
"""Maximum number of dates that are used to detect the order of day, month and year."""


@dataclass(slots=True)
class _Written:
    """A message as it is written in the file.

    Attributes:
        line: The first line of the message.
        date: The three numbers of the date, in the order in which they are written.
        hour: The hour, from 0 to 23.
        minute: The minute.
        parts: The text after the date and time, line by line.
        has_half: Whether the time has AM or PM.
        size: The number of characters in all lines after the first.
        is_kakao: Whether the message has the format of KakaoTalk.
    """

    line: Line
    date: Date
    hour: int
    minute: int
    parts: list[str]
    has_half: bool = False
    size: int = 0
    is_kakao: bool = False

    @property
    def text(self) -> str:
        """The text of the message, with all its lines."""
        return "\n".join(self.parts)


class Loader(TextChatLoader):
    """Loader for the text files that WhatsApp writes with "Export chat"."""

    name = "whatsapp"
    summary = 'WhatsApp: the text file of "Export chat", from iOS or Android; KakaoTalk, Viber, iMessage, QQ'

    def messages_of(
        self, lines: Iterator[Line | Rejected], path: Path, options: LoadOptions
    ) -> Iterator[Item | Rejected]:
        """Yield the messages in the lines of a file.

        Args:
            lines: The lines of the file.
            path: The file.
            options: Options for loading. Its notices count what is left out.

        Yields:
            An `Item` with a `Message` for each message, and a `Rejected` for each line that cannot be read.
        """
        if is_of_imessage(path):
            yield from messages_of_imessage(lines, options.notices)
            return
        if is_of_tencent(path):
            yield from messages_of_tencent(lines, options.notices)
            return
        encoding = options.encoding or ""
        order = _ORDERS[options.date_order] if options.date_order else _order(path, encoding)
        if order is not None:
            options.notices.say(f"{path}: dates are read as {order}")
        for written in _written(lines, options.notices):
            if isinstance(written, Rejected):
                yield written
                continue
            try:
                message = _message(written, order or "day/month/year", options.notices)
            except ItemError as reason:
                yield Rejected(written.line.place, str(reason))
            else:
                if message is not None:
                    yield Item(written.line.place, written.line.number, "", message)


def _written(lines: Iterator[Line | Rejected], notices: Notices) -> Iterator[_Written | Rejected]:
    """Yield the messages, each with all of its lines. Count lines that KakaoTalk wrote itself."""
    open_one: _Written | None = None
    is_kakao = False
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        plain = _DIRECTIONS.sub("", line.text).translate(_BLANKS)
        # Some lines of KakaoTalk also match the pattern for WhatsApp, so try KakaoTalk's pattern first.
        header = _KAKAO.fullmatch(plain) or _HEADER.fullmatch(plain) or _VIBER.fullmatch(plain)
        is_kakao = is_kakao or (open_one is None and bool(chat_line("kakao header", plain.strip())))
        is_kakao = is_kakao or (header is not None and header.re is _KAKAO)
        if header is None and is_kakao and (open_one is None or _DAY_LINE.fullmatch(plain)):
            notices.count(SYSTEM, "left out", bool(plain.strip()))
        elif header is None:
            if open_one is not None:
                open_one.size += len(line.text)
                # Limit the size of a message. If the file has a different format, all of its lines may seem
                # to be one message.
                if open_one.size <= LARGEST_ITEM:
                    open_one.parts.append(line.text)
            elif plain.strip():
                yield Rejected(line.place, f"{plain.strip()[:40]!r} does not begin with a date and a time")
        if header is None:
            continue
        if open_one is not None:
            yield open_one
        words = header["between"] + " " + header["after"]
        hour = hour_of_day(int(header["hour"]), words)
        # Keep direction marks in the text: on iOS they show where a placeholder begins.
        shown = line.text.translate(_BLANKS)
        rest = shown[_start_of_rest(shown, header["rest"]) :]
        has_half = HALF_OF_DAY.search(words) is not None
        date = _date_of(header["date"])
        open_one = _Written(line, date, hour, int(header["minute"]), [rest], has_half, is_kakao=is_kakao)
    if open_one is not None:
        yield open_one


def _date_of(written: str) -> Date:
    """Return the three numbers of a date as written; year, month and day if the month is a name."""
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    if len(numbers) == 2:
        seconds = parse_time(written)
        # A month that does not exist makes the date invalid.
        year, month, day, *_ = (
            (0, 0, 0) if seconds is None else datetime.fromtimestamp(seconds, UTC).timetuple()
        )
        return year, month, day
    a, b, c = numbers
    return a, b, c


def _start_of_rest(shown: str, rest: str) -> int:
    """Return the index in a line at which the text after the date and time begins.

    Args:
        shown: The line as written, with Unicode direction marks such as U+200E.
        rest: The text after the date and time, without direction marks.

    Returns:
        The index in ``shown``. Direction marks before the text belong to the text.
    """
    left = len(rest)
    at = len(shown)
    while left:
        at -= 1
        left -= _DIRECTIONS.fullmatch(shown[at]) is None
    while at and _DIRECTIONS.fullmatch(shown[at - 1]):
        at -= 1
    return at


def _message(written: _Written, order: Order, notices: Notices) -> Message | None:
    """Parse the lines of a message. If no person wrote the message, count it and return None.

    Args:
        written: The lines of the message.
        order: The order of day, month and year in the file.
        notices: Notices to the user, which count what is left out.

    Returns:
        The message; None for a system line or a placeholder.

    Raises:
        ItemError: The message is too long, or its date or time does not exist.
    """
    if written.size > LARGEST_ITEM:
        raise ItemError(f"the message is longer than {LARGEST_ITEM:,} characters")
    said = _NAME.fullmatch(written.text)
    name = _DIRECTIONS.sub("", said["name"]).strip().removeprefix("~").strip() if said else ""
    # A system line has no "NAME:", or a quotation mark before the colon, as in: Ann changed the subject to
    # “Trip: Rome”
    if said is None or not name or _QUOTES & set(name) or _SYSTEM_NAME.search(name):
        notices.count(SYSTEM, "left out")
        return None
    text = (said["text"] or "").strip(" ")
    if written.is_kakao and (kind := chat_line("kakao media", text.strip())):
        notices.count(kind, "left out")
        return None
    text, reason = _without_placeholders(text, notices)
    if reason is not None:
        notices.count(reason, "left out")
    if not text:
        return None
    year, month, day = _ordered(written.date, order)
    try:
        time = datetime(year, month, day, written.hour, written.minute)
    except ValueError as error:
        raise ItemError(f"not a valid time ({error}) if the date is read as {order}") from error
    return Message(seconds_of(time), name, _DIRECTIONS.sub("", text).strip())


def _without_placeholders(text: str, notices: Notices) -> tuple[str, str | None]:
    """Remove WhatsApp's placeholders, such as "image omitted", from the text of a message.

    Args:
        text: The text of the message, with the Unicode direction marks that precede placeholders on iOS.
        notices: Notices to the user, in which media, quotations and reactions beside a text are counted.

    Returns:
        The text that a person wrote, which may be empty, and the kind of content that was left out, such as a
        system line. The caller must count this content. The kind is None if there is nothing to count.
    """
    text = _EDITED.sub("", text)
    for pattern, what in ((_LINKED, MEDIA), (_QUOTATION, "quotation"), (_REACTIONS, "reaction")):
        text, amount = pattern.subn("", text)
        notices.count(what, "left out", amount)
        if amount and not text.strip():
            return "", None
    if (shorter := _END_PLACEHOLDER.sub("", text).strip()) != text.strip():
        if not shorter or _DOCUMENT.fullmatch(_DIRECTIONS.sub("", shorter)):
            return "", MEDIA
        notices.count(MEDIA, "left out")
        text = shorter
    # On iOS, U+200E precedes placeholders ("image omitted") and system lines ("Messages and calls are ...").
    # In a system line, a name may precede U+200E. If at most three words follow U+200E, they are a
    # placeholder.
    later = _MARKED_LATER.fullmatch(text)
    first, _, rest = text.partition("\n")
    first = later["marked"] if later and not first.startswith("\u200e") else first
    is_marked, plain = first.startswith("\u200e"), _DIRECTIONS.sub("", first).strip()
    if kind := chat_line("whatsapp deleted", plain):
        return "", kind
    if _POLL.fullmatch(_DIRECTIONS.sub("", text)):
        return "", _POLLED
    is_placeholder = _PLACEHOLDER.fullmatch(plain) or chat_line("whatsapp media", plain)
    if is_placeholder or (is_marked and len(plain.split()) <= 3):
        # The lines below an attachment are its caption. Keep them.
        return rest.strip(), MEDIA
    return ("", SYSTEM) if is_marked or chat_line("whatsapp system", plain) else (text, None)


def _ordered(date: Date, order: Order) -> Date:
    """Return the year, month and day of a date, given the order in which its numbers are written."""
    a, b, c = date
    year, month, day = {
        "day/month/year": (c, b, a),
        "month/day/year": (c, a, b),
        "year/month/day": (a, b, c),
        # If the first number has four digits, it is the year, regardless of the order of the other dates.
    }[order if a < 1000 else "year/month/day"]
    return (year + 2000 if year < 100 else year), month, day


def _order(path: Path, encoding: str) -> Order | None:
    """Return the most likely order of day, month and year in a file; None if no date is ambiguous."""
    dates: list[Date] = []
    has_halves = False
    for written in _written(text_lines(path, NoProgress(), encoding), Notices()):
        if isinstance(written, _Written) and written.date[0] < 1000 and written.date not in dates[-1:]:
            dates.append(written.date)
            # Look for AM and PM only in the time and not in the text: "03/04/24, 21:05 - Bo: I am here" has a
            # 24-hour clock.
            has_halves = has_halves or written.has_half
            if len(dates) == _MOST_DATES:
                break
    if not dates:
        return None
    orders: Sequence[Order] = ("day/month/year", "month/day/year", "year/month/day")
    if has_halves:
        # Times with AM and PM suggest that dates are written as in the United States, so month/day/year comes
        # first. If two orders have equally few faults, `min` returns the first one.
        orders = ("month/day/year", "day/month/year", "year/month/day")
    return min(orders, key=lambda order: _faults(dates, order))


def _faults(dates: Sequence[Date], order: Order) -> tuple[int, int, int]:
    """Return three counts of the faults of an order of day, month and year. Lower counts are better.

    The first number counts invalid dates. The second counts dates that contradict the direction of the file,
    which may list the newest messages first. The third counts dates that are earlier than the previous date,
    because most files list the oldest messages first.
    """
    read = [_ordered(date, order) for date in dates]
    exist = (0 < month <= 12 and 0 < day <= 31 and year < 2100 for year, month, day in read)
    falls = sum(later < earlier for earlier, later in pairwise(read))
    rises = sum(later > earlier for earlier, later in pairwise(read))
    return sum(not one for one in exist), min(falls, rises), falls
