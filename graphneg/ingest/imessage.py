"""Read the text files that imessage-exporter writes: a line with the time, a line with the name, the text.

    Nov 14, 2025  9:01:12 AM (Read by them after 2 minutes)
    Me
    Is it fresh?

    Nov 14, 2025  9:03:40 AM
    Bo
    Yes.
    Tapbacks:
    Loved by Me

Attachments, tapbacks and lines about the chat ("... You named the conversation Bread") are left out and
counted. So are indented answers, because the file contains them a second time at the time of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graphneg.ingest.chat_lines import chat_line
from graphneg.ingest.chats import MEDIA, SYSTEM, Message
from graphneg.ingest.content import head
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import LARGEST_ITEM, Item, Line
from graphneg.ingest.times import parse_time
from graphneg.model import Rejected

_TIME = r"(?P<time>[A-Z][a-z]{2} +\d{1,2}, \d{4} +\d{1,2}:\d\d:\d\d [AP]M)"
_HEAD = re.compile(rf"{_TIME}(?: \([^()]+\))?(?P<event> [^(\s].*)?\s*")
_BEGIN = re.compile(rf"\s*{_TIME}(?: \([^()\n]+\))?[ \r]*\n[^\n:]{{1,80}}\n")
# "/Users/ann/Library/Messages/Attachments/ab/x.heic", "attachments/4/x.jpg"
_ATTACHMENT = re.compile(r"(?:~?/|\.{1,2}/|attachments/)[^/\n]+/.*\.\w{2,5}")


@dataclass(slots=True)
class _Open:
    """A message whose lines are being read. Its first line is the name of the sender."""

    line: Line
    seconds: float
    lines: list[str] = field(default_factory=list[str])
    size: int = 0


def is_of_imessage(path: Path) -> bool:
    """Return whether a file begins with the time and the name of a message.

    Args:
        path: The file.

    Returns:
        True if imessage-exporter may have written the file.
    """
    return _BEGIN.match(head(path, 1 << 10).decode("utf-8", "replace")) is not None


def messages_of_imessage(lines: Iterator[Line | Rejected], notices: Notices) -> Iterator[Item | Rejected]:
    """Yield the messages in the lines of a file.

    Args:
        lines: The lines of the file.
        notices: Notices to the user, which count what is left out.

    Yields:
        Items whose values are `Message`, and rejected lines.
    """
    open_one: _Open | None = None
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        begin = _HEAD.fullmatch(line.text)
        seconds = parse_time(" ".join(begin["time"].split())) if begin is not None else None
        if begin is None or seconds is None:
            if open_one is not None:
                open_one.size += len(line.text)
                # Limit the size of a message, because a file in another format may have no further times.
                if open_one.size <= LARGEST_ITEM:
                    open_one.lines.append(line.text)
            continue
        if open_one is not None:
            yield from _message(open_one, notices)
        open_one = None if begin["event"] else _Open(line, seconds)
        notices.count(SYSTEM, "left out", bool(begin["event"]))
    if open_one is not None:
        yield from _message(open_one, notices)


def _message(one: _Open, notices: Notices) -> Iterator[Item | Rejected]:
    if one.size > LARGEST_ITEM:
        yield Rejected(one.line.place, f"the message is longer than {LARGEST_ITEM:,} characters")
        return
    name, *rest = (*one.lines, "")
    texts: list[str] = []
    are_tapbacks = False
    for line in rest:
        text = line.strip()
        kind = chat_line("imessage", text)
        are_tapbacks = (are_tapbacks or kind == "reaction") and bool(text)
        if line.startswith("    "):
            notices.count("line", "of an answer that the file contains twice left out", bool(text))
        elif are_tapbacks:
            notices.count("reaction", "left out", not kind)
        elif _ATTACHMENT.fullmatch(text):
            notices.count(MEDIA, "left out")
        elif kind:
            notices.count(kind, "left out")
        else:
            texts.append(text)
    if (said := "\n".join(texts).strip()) and name.strip():
        yield Item(one.line.place, one.line.number, "", Message(one.seconds, name.strip(), said))
