"""Load chats that were exported from LINE (``line``).

    [LINE] Chat history with Bo
    Saved on: 2025/11/16 10:00

    2025/11/14(Fri)
    09:01	Ann	Are you coming tonight?
    09:03	Bo	"Yes! I'll bring
    a salad."

KakaoTalk for PCs writes similar files:

    --------------- 2025년 11월 14일 금요일 ---------------
    [Ann] [오전 9:01] Are you coming tonight?

A line without a time continues the previous message. Stickers, photos and other media, and lines without a
name ("Ann unsent a message."), are left out and counted. The chat is split into dialogues at pauses of
several hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from graphneg.ingest.chat_lines import chat_line, media_placeholders
from graphneg.ingest.chats import MEDIA, SYSTEM, Message, TextChatLoader, hour_of_day, seconds_of
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.reading import LARGEST_ITEM, Item, Line
from graphneg.ingest.times import parse_time
from graphneg.model import Rejected

# Matches the line with the date of a day: "2025/11/14(Fri)", "2025.11.14 Friday", "2025/11/14（金）",
# "--- 2025년 11월 14일 금요일 ---"
_DAY = re.compile(
    r"(?:-{5,} )?(\d{4})(?:[./]|년 )(\d{1,2})(?:[./]|월 )(\d{1,2})(?:\.|일)?\s?[(（]?[^\W\d_]{0,20}[)）]?"
    r"(?: -{5,})?\s*"
)
# Matches a line with a date in words: "--- Friday, November 14, 2025 ---"
_NAMED_DAY = re.compile(r"-{5,} (?:[A-Z][a-z]+, )?(?P<date>[A-Z][a-z]+ \d{1,2}, \d{4}) -{5,}\s*")
# KakaoTalk: "[Ann] [오전 9:01] Hello.", "[Ann] [9:01 AM] Hello."
_KAKAO = re.compile(
    r"\[(?P<name>[^\n]{1,60}?)\] \[(?P<before>오전|오후)? ?(?P<hour>\d{1,2}):(?P<minute>\d\d) ?"
    r"(?P<after>[AaPp]\.?[Mm]\.?)?\] (?P<text>.*)"
)
_WRITTEN = re.compile(
    r"(?P<before>[^\W\d_]{0,4})\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)\s?(?P<after>[AaPp]\.?[Mm]\.?)?\t(?P<rest>.*)"
)


@dataclass(slots=True)
class _Written:
    line: Line
    seconds: float
    name: str
    texts: list[str] = field(default_factory=list[str])
    is_kakao: bool = False


class Loader(TextChatLoader):
    """Loader for the text files that LINE writes with "Export chat history"."""

    name = "line"
    summary = 'LINE: the text file of "Export chat history"; KakaoTalk for PCs'

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
        day: tuple[int, int, int] | None = None
        open_one: _Written | None = None
        for line in lines:
            if isinstance(line, Rejected):
                yield line
                continue
            date = _day_of(line.text)
            written = None if day is None else _WRITTEN.fullmatch(line.text) or _KAKAO.fullmatch(line.text)
            is_system = open_one is not None and open_one.is_kakao and chat_line("kakao system", line.text)
            if date is None and written is None:
                # The lines above the first date are a header: "Saved on: 2025/11/16 10:00".
                if open_one is not None and not is_system:
                    open_one.texts.append(line.text)
                else:
                    options.notices.count(SYSTEM, "left out", bool(line.text.strip()))
                continue
            if open_one is not None:
                yield from _message(open_one, options.notices)
                open_one = None
            if date is not None:
                day = date
            elif written is not None and day is not None:
                is_kakao = written.re is _KAKAO
                rest = f"{written['name']}\t{written['text']}" if is_kakao else written["rest"]
                name, tab, text = rest.partition("\t")
                if not tab:
                    options.notices.count(SYSTEM, "left out")
                    continue
                try:
                    seconds = _seconds(day, written)
                except ValueError as error:
                    yield Rejected(line.place, f"not a valid time ({error})")
                    continue
                open_one = _Written(line, seconds, name.strip(), [text], is_kakao)
        if open_one is not None:
            yield from _message(open_one, options.notices)


def _day_of(line: str) -> tuple[int, int, int] | None:
    """Return the year, month and day of a line that is a date; None for any other line."""
    if (found := _DAY.fullmatch(line)) is not None:
        return int(found[1]), int(found[2]), int(found[3])
    named = _NAMED_DAY.fullmatch(line)
    seconds = parse_time(named["date"]) if named is not None else None
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).timetuple()[:3]


def _seconds(day: tuple[int, int, int], written: re.Match[str]) -> float:
    # Before or after the time: "PM 9:01", "午後9:01", "下午9:01", "오후 9:01".
    hour = hour_of_day(int(written["hour"]), f"{written['before']} {written['after'] or ''}")
    return seconds_of(datetime(*day, hour, int(written["minute"])))


def _message(written: _Written, notices: Notices) -> Iterator[Item | Rejected]:
    text = "\n".join(written.texts).strip()
    if len(text) > LARGEST_ITEM:
        yield Rejected(written.line.place, f"the message is longer than {LARGEST_ITEM:,} characters")
        return
    # A text of several lines is in quotation marks, in which each quotation mark is doubled.
    if "\n" in text and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip()
    if kind := chat_line("kakao media" if written.is_kakao else "line media", text):
        notices.count(kind, "left out")
    elif media_placeholders(text):
        notices.count(MEDIA, "left out")
    elif text and written.name:
        yield Item(written.line.place, written.line.number, "", Message(written.seconds, written.name, text))
