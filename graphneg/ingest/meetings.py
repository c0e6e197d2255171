r"""Read transcripts and chats of meetings in which a turn is not a line "Name: text".

These formats are recognized. `turn_lines` converts their lines, so that each line is one turn:

    Ann Lee  0:03                            Otter, Microsoft Teams: a line with name and time,
    Is the rye bread fresh?                  then the text

    14:00:10 From Ann Lee to Everyone:       Zoom: "From", the name and the addressee, then the text;
        Is the rye bread fresh?              older versions: "14:00:10 From Ann Lee : Is the ..."

    Ann Lee (00:03):                         Rev, Descript: a line with name and time in brackets,
    Is the rye bread fresh?                  then the text

    Ann Lee                                  a line with the name, then the text, then a blank line
    Is the rye bread fresh?

    00:05:12                                 Google Meet: lines with a time among lines "Name: text"
    Ann Lee: Is the rye bread fresh?

>>> lines = [Line("t.txt:1", 1, "Ann Lee  0:03"), Line("t.txt:2", 2, "Is it fresh?")]
>>> turns = (MADE_TURN.fullmatch(line.text) for line in turn_lines(lines, "blocks", Notices()))
>>> [turn.group("before", "name", "text") for turn in turns if turn]
[('0:03', 'Ann Lee', 'Is it fresh?')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Literal

from graphneg.ingest.chat_lines import chat_line
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import Line
from graphneg.model import Rejected

Kind = Literal["blocks", "brackets", "names", "bold", "hashes", "colons", "headings", "zoom"]

_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d\d(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DATE = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ T])?"
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
# Matches a line with a name and a time in brackets: "Ann Lee (00:05):", "[14/11/2025 09:01] Ann Lee"
_BRACKET_LINE = re.compile(
    rf"""(?:[(\[](?P<before>{_DATE}{_CLOCK})[)\]]\s+)?(?P<name>[^\W\d][^\n:,;!?"{{}}()\[\]]{{0,58}}?)
        (?(before)|\s[(\[](?P<after>{_CLOCK})[)\]])\s*:?""",
    re.VERBOSE,
)
# Matches the name of a speaker, that is, capitalised words without the punctuation of a sentence: "Ann Lee",
# "Speaker 2", "Dr. Lee (agent)".
_NAME = r"(?P<name>[^\W\d_a-zà-ÿ][\w.'’-]*(?:\s(?:[^\Wa-zà-ÿ][\w.'’-]*|\([^()]{1,30}\))){0,3})(?<![.!?])"
_NAME_ALONE = re.compile(_NAME)
# Match the line with the name of a speaker in Markdown: "**You:**", "## You", "You:". The text of the turn
# follows below, often after a blank line.
_MARKED: dict[Kind, re.Pattern[str]] = {
    "bold": re.compile(rf"(?:[-*+]\s)?(?:\*\*|__){_NAME}\s?:?(?:\*\*|__)\s?:?"),
    "hashes": re.compile(rf"#{{1,6}}\s+(?:\*\*)?{_NAME}\s?:?(?:\*\*)?"),
    "colons": re.compile(rf"{_NAME}\s?:"),
}
_TIME_ALONE = re.compile(rf"[\[(]?{_CLOCK}[\])]?")
_SAID = re.compile(r"[^\W_][^:\n]{0,60}:\s+\S.*")
"""Matches a line "Name: text", and any other line with a colon near its beginning."""
_FEWEST_NAMES = 4
"""Minimum number of blocks that begin with a name, for a file in which names have their own lines."""
_MOST_ABOVE = 8
"""Maximum number of lines above the first turn."""
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
        The format; None if the file has none of the formats of this module.
    """
    start = start.removeprefix("\ufeff")
    if _ZOOM.match(start.lstrip().partition("\n")[0]):
        return "zoom"
    if _BLOCKS.match(start):
        return "blocks"
    lines = [line.strip() for line in start.split("\n")]
    if _have_bracket_lines([line for line in lines if line]) and _are_apart(lines, _BRACKET_LINE):
        return "brackets"
    if _have_time_headings([line for line in lines if line]):
        return "headings"
    if _have_name_lines(lines):
        return "names"
    return next((kind for kind, head in _MARKED.items() if _have_marked_names(lines, head)), None)


def _have_bracket_lines(lines: Sequence[str]) -> bool:
    heads = [at for at, line in enumerate(lines) if _BRACKET_LINE.fullmatch(line)]
    # "[00:05] Ann" is the name of a speaker only if a text follows in the next line. Two such lines in a row
    # may be texts: "[00:05] Yes".
    is_followed = all(later - head > 1 for head, later in pairwise(heads))
    return len(heads) > 1 and heads[0] <= _MOST_ABOVE and is_followed


def _are_apart(lines: Sequence[str], head: re.Pattern[str]) -> bool:
    """Return whether each block of lines contains at most one line such as "Ann:".

    A block with several such lines is a whole dialogue and not a turn.
    """
    amount = 0
    for line in lines:
        is_name = line.endswith((":", ":**", ":__")) and head.fullmatch(line) is not None
        amount = amount + is_name if line else 0
        if amount > 1:
            return False
    return True


def _have_time_headings(lines: Sequence[str]) -> bool:
    # A transcript of Google Meet begins with a title and a list of participants, and has a time every few
    # minutes.
    above = [chat_line("meeting title", line) for line in lines[: _MOST_ABOVE + 1]]
    has_time = any(_TIME_ALONE.fullmatch(line) and _SAID.fullmatch(below) for line, below in pairwise(lines))
    return has_time or {"heading", "list of people"} <= set(above)


def _have_name_lines(lines: Sequence[str]) -> bool:
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    whole = [block for block in blocks if block]
    # `lines` is only the beginning of the file, so the last block may be cut off after the name. Ignore it.
    whole = whole[:-1] if whole and len(whole[-1]) == 1 else whole
    names = [block[0] for block in whole if len(block) > 1 and _NAME_ALONE.fullmatch(block[0])]
    # In a dialogue, names are repeated. The first lines of the verses of a poem are not.
    return len(names) == len(whole) >= _FEWEST_NAMES and len(set(names)) * 2 <= len(names)


def _have_marked_names(lines: Sequence[str], head: re.Pattern[str]) -> bool:
    """Return whether lines are a dialogue in which texts follow names such as "**You:**" and "**Bot:**"."""
    filled = [line for line in lines if line]
    heads = [at for at, line in enumerate(filled) if head.fullmatch(line)]
    names = [filled[at] for at in heads]
    # "## Call" above lines "Ann: Hello." is a heading and not a name.
    texts = (filled[at + 1] for at in heads if at + 1 < len(filled))
    has_turns = head is _MARKED["hashes"] and any(map(_SAID.fullmatch, texts))
    is_followed = all(later - at > 1 for at, later in pairwise(heads))
    return (
        len(heads) > 2
        and heads[0] == 0
        and is_followed
        and not has_turns
        and _are_apart(lines, head)
        and 1 < len(set(names)) <= (len(names) + 1) // 2
    )


def turn_lines(lines: Iterable[Line | Rejected], kind: Kind, notices: Notices) -> Iterator[Line | Rejected]:
    """Convert each turn into one line with its time, name and text, which the pattern `MADE_TURN` matches.

    Args:
        lines: The lines of the file.
        kind: The format of the file.
        notices: Notices to the user, which count the lines that are left out.

    Yields:
        The turns, and the lines that cannot be read. Blank lines are left out.
    """
    if kind in ("headings", "names"):
        yield from (_below_headings if kind == "headings" else _below_names)(lines, notices)
        return
    head = {"blocks": _NAME_LINE, "brackets": _BRACKET_LINE, **_MARKED}.get(kind, _ZOOM)
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
        elif text and open_one is not None and kind == "blocks" and _TIME_ALONE.fullmatch(text):
            # In text that was copied from Slack, a further message of the same person has only a time above
            # it. Add the message to the turn.
            notices.count("heading", "left out")
        elif text and open_one is not None:
            open_one[2].append(text)
    if open_one is not None:
        yield from _turn(*open_one, notices)


def _below_headings(lines: Iterable[Line | Rejected], notices: Notices) -> Iterator[Line | Rejected]:
    """Yield the lines "Name: text" of Google Meet, without the title, the times and the program's lines."""
    has_begun = False
    for line in lines:
        text = "" if isinstance(line, Rejected) else line.text.removeprefix("\ufeff").strip()
        has_begun = has_begun or _SAID.fullmatch(text) is not None
        if isinstance(line, Rejected):
            yield line
        elif _TIME_ALONE.fullmatch(text):
            notices.count("heading", "left out")
        elif kind := chat_line("meeting", text):
            notices.count(kind, "left out")
        elif has_begun and text:
            yield line._replace(text=text)
        elif text:
            notices.count("line", "above the first turn left out")


def _below_names(lines: Iterable[Line | Rejected], notices: Notices) -> Iterator[Line | Rejected]:
    """Yield a turn for each block of lines that begins with a name. Add other blocks to the turn above."""
    block: list[Line] = []
    open_one: tuple[Line, re.Match[str], list[str]] | None = None
    for line in chain(lines, (None,)):
        if isinstance(line, Rejected):
            yield line
            continue
        if line is not None and line.text.strip():
            block.append(line)
            continue
        texts = [one.text.removeprefix("\ufeff").replace(_PART, " ").strip() for one in block]
        begin = _NAME_ALONE.fullmatch(texts[0]) if len(texts) > 1 else None
        if begin is not None:
            if open_one is not None:
                yield from _turn(*open_one, notices)
            open_one = block[0], begin, texts[1:]
        elif open_one is not None:
            open_one[2].extend(texts)
        else:
            notices.count("line", "above the first turn left out", len(texts))
        block = []
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
        groups = begin.groupdict("")
        time = next((groups[key] for key in ("time", "before", "after") if groups.get(key)), "")
        yield line._replace(text=_PART.join((time, name, " ".join(spoken))))
