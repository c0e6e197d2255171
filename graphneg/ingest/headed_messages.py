r"""Read chats in which each message follows a line with its time.

`headed_messages` collects the lines between two lines with a time. The caller gives the pattern of such a
line, and a function that reads its time:

>>> lines = [Line("t.txt:1", 1, "9:01 Ann"), Line("t.txt:2", 2, "Is it"), Line("t.txt:3", 3, "fresh?")]
>>> [found] = headed_messages(lines, re.compile(r"(?P<time>[\d:]+) .*"), lambda head: 541.0, Notices())
>>> found.head["time"], found.seconds, found.lines
('9:01', 541.0, ['Is it', 'fresh?'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from graphneg.ingest.chats import SYSTEM
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import LARGEST_ITEM, Line
from graphneg.model import Rejected


@dataclass(slots=True)
class HeadedMessage:
    """A message below a line with its time.

    Attributes:
        line: The line with the time.
        head: The match of this line.
        seconds: The time in seconds since 1970.
        lines: The lines below, up to the next line with a time.
        size: The number of characters in the lines below.
    """

    line: Line
    head: re.Match[str]
    seconds: float
    lines: list[str] = field(default_factory=list[str])
    size: int = 0

    @property
    def fault(self) -> Rejected | None:
        """The reason why the message is rejected, because it is too long; None if it is not."""
        if self.size <= LARGEST_ITEM:
            return None
        return Rejected(self.line.place, f"the message is longer than {LARGEST_ITEM:,} characters")


def headed_messages(
    lines: Iterable[Line | Rejected],
    head: re.Pattern[str],
    seconds_of: Callable[[re.Match[str]], float | None],
    notices: Notices,
) -> Iterator[HeadedMessage | Rejected]:
    """Yield the messages of a chat: each line with a time, together with the lines below it.

    Args:
        lines: The lines of the file.
        head: The pattern of a whole line with a time.
        seconds_of: Function that returns the time in a match of ``head``; None for an invalid time, such as
            25:00. A line with an invalid time is part of a text.
        notices: Notices to the user, which count the lines above the first message.

    Yields:
        The messages, and rejected lines.
    """
    open_one: HeadedMessage | None = None
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        begin = head.fullmatch(line.text)
        seconds = seconds_of(begin) if begin is not None else None
        if begin is not None and seconds is not None:
            if open_one is not None:
                yield open_one
            open_one = HeadedMessage(line, begin, seconds)
        elif open_one is None:
            notices.count(SYSTEM, "left out", bool(line.text.strip()))
        else:
            open_one.size += len(line.text)
            # Limit the size of a message, because a file in another format may have no further times.
            if open_one.size <= LARGEST_ITEM:
                open_one.lines.append(line.text)
    if open_one is not None:
        yield open_one
