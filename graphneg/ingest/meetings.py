r"""Read transcripts and chats of meetings in which a turn is not a line "Name: text".

Two formats are recognized. `turn_lines` converts their lines, so that each line is one turn:

    Ann Lee  0:03                            Otter, Microsoft Teams: a line with name and time,
    Is the rye bread fresh?                  then the text

    14:00:10 From Ann Lee to Everyone:       Zoom: "From", the name and the addressee, then the text;
        Is the rye bread fresh?              older versions: "14:00:10 From Ann Lee : Is the ..."

>>> lines = [Line("t.txt:1", 1, "Ann Lee  0:03"), Line("t.txt:2", 2, "Is it fresh?")]
>>> turns = (MADE_TURN.fullmatch(line.text) for line in turn_lines(lines, "blocks", Notices()))
>>> [turn.group("before", "name", "text") for turn in turns if turn]
[('0:03', 'Ann Lee', 'Is it fresh?')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from graphneg.ingest.chat_lines import chat_line
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import Line
from graphneg.model import Rejected

Kind = Literal["blocks", "zoom"]

_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d\d"
# "Ann Lee  0:03": two spaces show that the time is not part of a sentence.
_NAMED = rf"""[^\s:"{{}}\[\]][^\n:"{{}}\[\]]{{0,58}}?(?: {{2,}}|\t)[ \t]*\(?{_CLOCK}\)?[ \t\r]*"""
_BLOCKS = re.compile(
    rf"\A(?:[^\n]*\n){{0,8}}?(?:{_NAMED})\n[ \t]*\S[^\n]*(?:\n[\s\S]*?)?\n(?:{_NAMED})\n[ \t]*\S"
)
_NAME_LINE = re.compile(
    rf"""(?P<name>[^\s:"{{}}\[\]][^\n:"{{}}\[\]]{{0,58}}?)(?: {{2,}}|\t)\s*\(?(?P<time>{_CLOCK})\)?\s*"""
)
_ZOOM = re.compile(
    r"\s*(?P<time>\d{1,2}:\d\d:\d\d)\s+From\s+(?P<name>[^:\n]{1,80}?)(?:\s+to\s+[^:\n]{1,80}?)?\s*:(?:\s(?P<text>.*))?"
)
_PART = "\x1e"
"""The character between time, name and text of a turn: the record separator of ASCII."""
MADE_TURN = re.compile(
    f"(?P<before>[^{_PART}]*){_PART}(?P<name>[^{_PART}]+){_PART}(?P<text>[^{_PART}]*)(?P<remark>)(?P<after>)"
)
"""Matches a line that `turn_lines` made."""


def kind_of(start: str) -> Kind | None:
    """Return the format of a file, judging by its beginning.

    Args:
        start: The beginning of the file.

    Returns:
        The format; None if the file has neither of the two formats of this module.
    """
    start = start.removeprefix("\ufeff")
    if _ZOOM.match(start.lstrip().partition("\n")[0]):
        return "zoom"
    return "blocks" if _BLOCKS.match(start) else None


def turn_lines(lines: Iterable[Line | Rejected], kind: Kind, notices: Notices) -> Iterator[Line | Rejected]:
    """Join the lines of each turn to one line. Its time, name and text match the pattern `MADE_TURN`.

    Args:
        lines: The lines of the file.
        kind: The format of the file.
        notices: Notices to the user, which count the lines that are left out.

    Yields:
        The turns, and the lines that cannot be read. Blank lines are left out.
    """
    head = _NAME_LINE if kind == "blocks" else _ZOOM
    open_one: tuple[Line, re.Match[str], list[str]] | None = None
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        text = line.text.removeprefix("\ufeff").replace(_PART, " ").strip()
        begin = head.fullmatch(text)
        if begin is not None:
            if open_one is not None:
                yield from _turn(*open_one, notices)
            open_one = (line, begin, [begin["text"] or ""] if kind == "zoom" else [])
        elif text and open_one is None:
            # Leave out the title, date and duration above the first turn of a Teams transcript.
            notices.count("line", "above the first turn left out")
        elif text and open_one is not None:
            open_one[2].append(text)
    if open_one is not None:
        yield from _turn(*open_one, notices)


def _turn(line: Line, begin: re.Match[str], texts: list[str], notices: Notices) -> Iterator[Line]:
    spoken: list[str] = []
    for text in filter(None, texts):
        # Leave out lines such as "Reacted to ... with 👍" and "Transcribed by https://otter.ai".
        if kind := chat_line("meeting", text):
            notices.count(kind, "left out")
        else:
            spoken.append(text)
    if spoken:
        name = re.sub(r"\s+", " ", begin["name"]).strip()
        yield line._replace(text=_PART.join((begin["time"], name, " ".join(spoken))))
