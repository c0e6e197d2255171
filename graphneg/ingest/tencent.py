"""Read the text files that QQ writes, and messages that were copied from WeChat.

The line above each text contains the time and the name. In QQ, the time comes first; in WeChat, the name::

    2025-11-14 9:01:12 小明(12345678)
    面包新鲜吗？

    小红 2025-11-14 09:02:15
    刚出炉的。

Lines above the first message, messages of the system and placeholders for pictures are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graphneg.ingest.chat_lines import alternatives, chat_line
from graphneg.ingest.chats import MEDIA, SYSTEM, Message
from graphneg.ingest.content import head
from graphneg.ingest.headed_messages import HeadedMessage, headed_messages
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import Item, Line
from graphneg.ingest.times import parse_time
from graphneg.model import Rejected

_TIME = r"\d{4}[-/]\d{1,2}[-/]\d{1,2} \d{1,2}:\d\d(?::\d\d)?"
_NAME = r"[^\s:][^:\n]{0,79}?"
_HEAD = re.compile(rf"\ufeff?(?:(?P<time>{_TIME}) (?P<name>{_NAME})|(?P<first>{_NAME}) (?P<then>{_TIME}))\s*")
# Matches the beginning of a file: at most 12 lines that QQ writes, then a line with a time and a name, then a
# text.
_FILE = re.compile(
    rf"\A(?:[^\n]*\n){{0,12}}?(?:{_TIME} {_NAME}|(?!\d){_NAME} {_TIME})[ \r]*\n[^\n]*\S[^\n]*\n"
)
# "【管理员】小明(12345678)", "小红<hong@qq.com>": the title, and the number or address of the account.
_ACCOUNT = re.compile(r"\A【[^】]{1,20}】|(?:\(\d{5,12}\)|<[^<>\s]+@[^<>\s]+>)\Z")
_PICTURES = re.compile(rf"(?:{alternatives('qq media')})", re.IGNORECASE)
_SYSTEM_NAME = re.compile(rf"(?:{alternatives('qq system name')})(?:\(\d+\))?")


def is_of_tencent(path: Path) -> bool:
    """Return whether a file looks like an export of QQ or like messages copied from WeChat.

    Args:
        path: The file.

    Returns:
        True if one of the first 13 lines contains a time and a name, and the next line is not empty.
    """
    start = head(path, 1 << 12).decode("utf-8", "replace").removeprefix("\ufeff")
    return _FILE.match(start) is not None


def messages_of_tencent(lines: Iterator[Line | Rejected], notices: Notices) -> Iterator[Item | Rejected]:
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
        else:
            yield from _message(one, notices)


def _seconds_of(head: re.Match[str]) -> float | None:
    return parse_time(head["time"] or head["then"])


def _message(one: HeadedMessage, notices: Notices) -> Iterator[Item | Rejected]:
    if one.fault is not None:
        yield one.fault
        return
    written = (one.head["name"] or one.head["first"]).strip()
    text, pictures = _PICTURES.subn("", "\n".join(one.lines))
    name = _ACCOUNT.sub("", _ACCOUNT.sub("", written)).strip() or written
    if _SYSTEM_NAME.fullmatch(written) or chat_line("qq system", text.strip()):
        notices.count(SYSTEM, "left out")
        return
    notices.count(MEDIA, "left out", pictures)
    if said := text.strip():
        yield Item(one.line.place, one.line.number, "", Message(one.seconds, name, said))
