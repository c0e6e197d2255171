"""Load chats that were exported from LINE (``line``).

    [LINE] Chat history with Bo
    Saved on: 2025/11/16 10:00

    2025/11/14(Fri)
    09:01	Ann	Are you coming tonight?
    09:03	Bo	"Yes! I'll bring
    a salad."

A line without a time continues the previous message. Stickers, photos and other media, and lines without a
name ("Ann unsent a message."), are left out and counted. The chat is split into dialogues at pauses of
several hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from graphneg.ingest.chat_lines import chat_line
from graphneg.ingest.chats import SYSTEM, ChatLoader, Message, seconds_of
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.reading import LARGEST_ITEM, Item, Line, text_lines
from graphneg.model import Rejected

# Matches a line with a date: "2025/11/14(Fri)", "2025.11.14 Friday", "2025/11/14（金）".
_DAY = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})\.?\s?[(（]?[^\W\d_]{0,20}[)）]?\s*")
_WRITTEN = re.compile(
    r"(?P<before>[^\W\d_]{0,4})\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)\s?(?P<after>[AaPp]\.?[Mm]\.?)?\t(?P<rest>.*)"
)
# Matches PM, which may precede or follow the time: "PM 9:01", "9:01 PM", "午後9:01", "下午9:01", "오후 9:01".
_AFTERNOON = re.compile(r"p\.?m\.?|午後|下午|오후", re.IGNORECASE)
_FORENOON = re.compile(r"a\.?m\.?|午前|上午|오전", re.IGNORECASE)


@dataclass(slots=True)
class _Written:
    line: Line
    seconds: float
    name: str
    texts: list[str] = field(default_factory=list[str])


class Loader(ChatLoader):
    """Loader for the text files that LINE writes with "Export chat history"."""

    name = "line"
    summary = 'LINE: the text file of "Export chat history"'
    within = ("**/*.txt", "exported chats (*.txt)")

    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a chat.

        Args:
            path: The file.
            options: Options for loading, such as the corpus and split.

        Yields:
            An `Item` with a `Message` for each message, and a `Rejected` for each line that cannot be read.
        """
        day: tuple[int, int, int] | None = None
        open_one: _Written | None = None
        for line in text_lines(path, options.progress, options.encoding or ""):
            if isinstance(line, Rejected):
                yield line
                continue
            dated, written = _DAY.fullmatch(line.text), _WRITTEN.fullmatch(line.text)
            if dated is None and (written is None or day is None):
                # Leave out lines above the first date, such as "Saved on: 2025/11/16 10:00". Other lines
                # without a time continue a message.
                if open_one is not None:
                    open_one.texts.append(line.text)
                else:
                    options.notices.count(SYSTEM, "left out", bool(line.text.strip()))
                continue
            if open_one is not None:
                yield from _message(open_one, options.notices)
                open_one = None
            if dated is not None:
                day = int(dated[1]), int(dated[2]), int(dated[3])
            elif written is not None and day is not None:
                name, tab, text = written["rest"].partition("\t")
                if not tab:
                    options.notices.count(SYSTEM, "left out")
                    continue
                try:
                    seconds = _seconds(day, written)
                except ValueError as error:
                    yield Rejected(line.place, f"not a valid time ({error})")
                    continue
                open_one = _Written(line, seconds, name.strip(), [text])
        if open_one is not None:
            yield from _message(open_one, options.notices)


def _seconds(day: tuple[int, int, int], written: re.Match[str]) -> float:
    hour, half = int(written["hour"]), f"{written['before']} {written['after'] or ''}"
    if _AFTERNOON.search(half) or _FORENOON.search(half):
        # 12 AM is 0:00, and 12 PM is 12:00.
        hour = hour % 12 + (12 if _AFTERNOON.search(half) else 0)
    return seconds_of(datetime(*day, hour, int(written["minute"])))


def _message(written: _Written, notices: Notices) -> Iterator[Item | Rejected]:
    text = "\n".join(written.texts).strip()
    if len(text) > LARGEST_ITEM:
        yield Rejected(written.line.place, f"the message is longer than {LARGEST_ITEM:,} characters")
        return
    # A text of several lines is in quotation marks, in which each quotation mark is doubled.
    if "\n" in text and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip()
    if kind := chat_line("line media", text):
        notices.count(kind, "left out")
    elif text and written.name:
        yield Item(written.line.place, written.line.number, "", Message(written.seconds, written.name, text))
