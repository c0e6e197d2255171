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
counted. Indented answers are left out, too: the file contains each of them again, under its own time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graphneg.ingest.chat_lines import chat_line
from graphneg.ingest.chats import MEDIA, SYSTEM, Message
from graphneg.ingest.content import head
from graphneg.ingest.headed_messages import HeadedMessage, headed_messages
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import Item, Line
from graphneg.ingest.times import parse_time
from graphneg.model import Rejected

_TIME = r"(?P<time>[A-Z][a-z]{2} +\d{1,2}, \d{4} +\d{1,2}:\d\d:\d\d [AP]M)"
_HEAD = re.compile(rf"{_TIME}(?: \([^()]+\))?(?P<event> [^(\s].*)?\s*")
_BEGIN = re.compile(rf"\s*{_TIME}(?: \([^()\n]+\))?[ \r]*\n[^\n:]{{1,80}}\n")
# Matches the path of an attachment: "/Users/ann/Library/Messages/Attachments/ab/x.heic",
# "attachments/4/x.jpg"
_ATTACHMENT = re.compile(r"(?:~?/|\.{1,2}/|attachments/)[^/\n]+/.*\.\w{2,5}")


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
    for one in headed_messages(lines, _HEAD, _seconds_of, notices):
        if isinstance(one, Rejected):
            yield one
        elif one.head["event"]:
            notices.count(SYSTEM, "left out")
        else:
            yield from _message(one, notices)


def _seconds_of(head: re.Match[str]) -> float | None:
    return parse_time(" ".join(head["time"].split()))


def _message(one: HeadedMessage, notices: Notices) -> Iterator[Item | Rejected]:
    """Yield the message, or why it is rejected. The first of its lines is the name of the sender."""
    if one.fault is not None:
        yield one.fault
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
