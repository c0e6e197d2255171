"""Load transcripts (``transcript``): one turn per line, with a blank line between dialogues.

    Ann: Is the rye bread fresh?
    Bo: It came out of the oven
    an hour ago.

    Ann: Good morning!

This file contains two dialogues. The first has two turns, and the second has one. If a line does not begin
with a name, it continues the previous turn. If the turns have times, so does a line without a time, such as
"two hives: one was empty." Remarks such as "[laughs]" are not part of a name. Lines such as "[00:30] [phone
rings]", "[00:57] *** HOLD MUSIC ***" and "-- END OF CALL --" are left out and counted. If all lines of a
dialogue have a time, and the newest turn comes first, the turns are put in the order of their times.
Subtitles (WebVTT and SRT) whose cues name the speaker are one dialogue: "<v Ann>Hello.</v>" or "Ann: Hello."
Depositions ("Q. Where do you work?") have a dialogue for each examination.
`graphneg.ingest.meetings` reads the transcripts of Otter and Microsoft Teams, and the chats of Zoom.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from graphneg.ingest.chat_lines import chat_line
from graphneg.ingest.chats import SYSTEM
from graphneg.ingest.content import ItemError, head
from graphneg.ingest.html_text import plain_text
from graphneg.ingest.loader import LoadOptions, Notices, has_format
from graphneg.ingest.meetings import MADE_TURN, kind_of, turn_lines
from graphneg.ingest.reading import Item, Line, corpus_of, each_group, text_lines
from graphneg.ingest.times import Dates
from graphneg.ingest.validation import DialogueLoader, dialogues_of
from graphneg.model import Dialogue, Record, Rejected, Utterance
from graphneg.progress import NoProgress, Progress

# "[00:01:15] Dr. Ann Lee (agent): Good morning." A time before the name is not part of the name.
# `_is_name` decides whether the words before the colon are a name.
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DATE = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ T])?"
# Matches the end of a time that is a range: "[00:05 - 00:20] Ann: Hello."
_UNTIL = rf"(?:\s?(?:-|–|—|-->|→)\s?{_DATE}{_CLOCK})?"
# Matches the time since the beginning: "[4.2s] Ann: Hello.", "( 1m 5s ) Ann: Hello."
_SINCE = r"(?:\d+h\s?)?(?:\d+m\s?)?\d+(?:\.\d+)?s"
_STAMP = (
    rf"(?:[\[(]?(?P<before>{_DATE}{_CLOCK}){_UNTIL}[\])]?|[\[(]\s?(?P<since>{_SINCE})\s?[\])])\s+(?:-\s+)?"
)
_TIME = rf"(?:{_STAMP})?"
# The time may also follow the name: "Ann (00:05): Hello."
_TIME_AFTER = rf"(?:[*_]{{0,2}}\s+[\[(](?P<after>{_DATE}{_CLOCK}){_UNTIL}[\])])?"
# Matches the mark of a list item in Markdown, "- **Ann**: Hello.". Without asterisks, as in "- Price: 5", the
# item may be text.
_ITEM = r"(?:[-*+]\s+(?=\*\*))?"
_WORD = r"[\w.'’&/#-]+"
_REMARK = r"(?:\([^()\[\]:]{0,60}\)|\[[^()\[\]:]{0,60}\])"
# Matches ":" in "Ann:" and "**Ann:**" (Markdown), and the full-width colon of Chinese and Japanese text.
_COLON = r"\s?(?:[*_]{0,2}:[*_]{0,2}(?=\s|$)|：)"
_TURN = re.compile(
    rf"\s*{_ITEM}{_TIME}[*_]{{0,2}}(?P<name>(?=[^\W_]|#\w+#){_WORD}(?:,?\s{_WORD}){{0,7}})"
    rf"(?P<remark>(?:\s?{_REMARK}){{0,3}}){_TIME_AFTER}{_COLON}"
    r"\s*(?P<text>.*)"
)
# Matches a turn in the form of a table row: "2025-11-14 09:01:12 | Ann Lee | Hello."
_PIPED = re.compile(
    rf"\s*[\[(]?(?P<before>{_DATE}{_CLOCK})[\])]?\s+\|\s+(?P<name>[^|\n]{{1,60}}?)\s+\|\s+(?P<text>.*)"
    r"(?P<remark>)(?P<after>)"
)
# Matches the line with the times of a subtitle: "00:00:03.120 --> 00:00:07.120", in SubViewer
# "0:00:03.120,0:00:07.120".
_CUE_TIME = re.compile(r"\s*(?:\d+:)?\d{1,2}:\d\d[.,]\d{3}(?:\s+-->\s|,(?:\d+:)?\d{1,2}:\d\d\.\d{3}\s*$)")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s(?P<name>[^<>]+)>")
_CUE_TAG = re.compile(r"</?(?:v|c|i|b|u|lang|ruby|rt|font)(?:[.\s][^<>]*)?>|<\d\d:[\d:.]+>")
_DATED = re.compile(r"\d{1,4}[./-]")
# Matches the HTML tags that separate the lines of a transcript in some cells: "Agent: Hello.<br>Ann:
# Hi.<br>".
_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li)>", re.IGNORECASE)
_CENTERED = re.compile(r"<p\s+align=\"?center\"?\s*>[^<>]*</p>", re.IGNORECASE)
# Matches the beginning of each turn in transcripts of Copilot Studio: "User says: Hi.;Bot says: Hello.;"
_SAYS = re.compile(r"(?:\A|;)\s*(?P<name>[^\W\d_][\w ]{0,40}?) says:\s")
# Matches an event between asterisks: "*** Kim joined the chat ***", "[00:00:57] *** HOLD MUSIC 00:45 ***"
_STARRED = re.compile(rf"\s*{_TIME}\*{{3}}\s?[^*\n]+\s?\*{{3}}\s*")
# Matches a remark with its own time, which belongs to no turn: "[00:00:30] [phone rings]". A remark without a
# time, such as "[laughs]", may be part of a turn.
_REMARK_TEXT = r"(?:[^\[\]():]|(?<=\d):(?=\d))+"
_TIMED_REMARK = re.compile(rf"\s*{_STAMP}(?:\[{_REMARK_TEXT}\]|\({_REMARK_TEXT}\))\s*")
# Matches a line in brackets or between hyphens: "[END OF RECORDING]", "-- END OF CALL --", "[00:00:57] <HOLD
# MUSIC>"
_BRACKETED = re.compile(
    rf"\s*{_TIME}(?:[\[(<](?P<words>[^\[\]()<>]{{1,60}})[\])>]"
    r"|[-=]{2,}\s?(?P<ruled>[^\s=-][^\n=]{0,60}?)\s?[-=]{2,})\s*"
)
# Like a blank line, a line such as "-----" or "* * *" separates dialogues.
_RULE = re.compile(r"\s*(?:[-=*_~]\s?){3,}")
_NUMBERED_NAME = re.compile(r"(?P<name>[^\W\d](?:.*[^\W\d_])?)[ ._#-]{0,2}(?P<number>\d{1,4})")
_FEWEST_NUMBERED = 4
"""Minimum number of turns in which names with numbers are recognized as the names of two speakers."""
# Matches a question or an answer in the transcript of a deposition, which may begin with a line number: "Q.
# Where do you work?", "12   A   At the bakery."
_QUESTION = re.compile(r"\s*(?:\d{1,2}\s+)?(?P<name>[QA])(?:\.\s*|\s{2,})(?P<text>\S.*)")
_LINE_NUMBER = re.compile(r"\s*\d{1,2}(?:\s{2,}|\s*\Z)")
# Matches the heading of an examination in a deposition: "EXAMINATION", "CROSS-EXAMINATION BY MR. HALL:"
_EXAMINATION = re.compile(r"[A-Z -]*EXAMINATION(?:\s+BY\s[^:a-z]+)?:?")
# Matches other lines of a deposition that nobody says: "BY MR. HALL:", "(Recess taken.)"
_STAGE_LINE = re.compile(r"BY\s[^:a-z]+:|\([^()]+\)")
_FEWEST_ANSWERS = 2
"""Minimum number of answers after questions, by which a deposition is recognized."""
_LONGEST_NAME = 60
"""Maximum length of a name in characters."""
_MOST_WORDS = 4
"""Maximum number of words in a name, unless all of them are capitalised or numbers. "He said it twice, you
know:" is not a name, but "Customer Service Representative Number 2" is one."""
_PARTICLES = {
    "af", "al", "and", "bin", "da", "de", "del", "della", "den", "der", "des", "di", "do", "dos", "du", "el",
    "ibn", "la", "las", "le", "los", "of", "ten", "ter", "the", "van", "von", "y", "zu", "zum", "zur",
}  # fmt: skip
"""Words in names that are not capitalised, as in "Dr. Maria van der Berg"."""
_SUFFIXES = {"jr", "sr", "ii", "iii", "iv", "md", "phd", "esq"}
"""Words in names that follow a comma, as in "Neil Smith, Jr."."""
_HEADERS = {
    "call id", "case", "case id", "case number", "channel", "chat started", "conversation id",
    "conversation started", "conversation started on", "created", "date", "duration",
    "end time", "file", "language", "location", "participants", "place", "recorded", "recording",
    "session", "session id", "start time", "subject", "ticket", "ticket id", "time", "title", "topic",
    "anruf-id", "datum", "dauer", "uhrzeit", "fecha", "durée", "data", "ora", "hora",
}  # fmt: skip
"""Words before a colon, in lower case, in the lines above a transcript that describe it."""
_CONTINUED = re.compile(r"[(\[]\s*cont(?:['’.]?d|inued|inuing)?\.?\s*[)\]]", re.IGNORECASE)
# Matches a Markdown heading above a dialogue, such as "## Call 2".
_HEADING = re.compile(r"\s*#{1,6}\s+\S.*")
# A line with a colon need not begin with a name: "So I told them this, and more: no".
_LIKE_A_TURN = re.compile(r"\s*[^\W\d_][^:\n]{0,80}(?<!\d):(?=\s|$)")


class _Turn(NamedTuple):
    """A turn: its speaker, the texts of its lines, and its time as written in the file (empty if none)."""

    speaker: str
    texts: list[str]
    time: str


class Loader(DialogueLoader):
    """Loader for text files that have one turn per line."""

    name = "transcript"
    summary = 'transcripts: lines of "Name: text", a blank line between dialogues'

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the dialogues from files. Add a notice if most dialogues have a single turn.

        Args:
            paths: The files.
            options: Options for loading, such as the corpus and split.

        Yields:
            Dialogues and rejected items.
        """
        dates = dict[Path, Dates]()
        notices = options.notices

        def make(item: Item, path: Path, options: LoadOptions) -> Dialogue:
            if path not in dates:
                dates.clear()
                times = partial(_times, path)
                dates[path] = Dates(times, str(path), options.notices, options.date_order)
            turns = _in_order(_turns(item.value, notices), dates[path], notices)
            return self._named(item._replace(value=turns), path, options)

        dialogues = singles = 0

        def items(path: Path, progress: Progress) -> Iterator[Item | Rejected]:
            return _items(path, progress, notices)

        for record in dialogues_of(self.files(paths), self.name, options, items, make):
            if isinstance(record, Dialogue):
                dialogues += 1
                singles += len(record.utterances) == 1
            yield record
        # Many programs write a blank line after every turn. The loader then reads each turn as a dialogue of
        # its own, so tell the user how to change the file.
        if singles > 1 and singles * 2 > dialogues:
            options.notices.say(
                f"{singles:,} of {dialogues:,} dialogues have one turn, because a blank line ends a "
                "dialogue: if there are blank lines between turns, remove them (grep -v '^\\s*$' FILE > NEW) "
                "and "
                "put a line --- between dialogues"
            )

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Return the dialogues of a file, each as a list of lines.

        Args:
            path: The file.
            progress: Progress display; advanced by the number of bytes read.

        Returns:
            An iterator over items. The value of an item is the list of lines of one dialogue.
        """
        return _items(path, progress, Notices())

    def dialogue(self, item: Item) -> Dialogue:
        """Convert a list of turns into a dialogue.

        Args:
            item: An item whose value is the list of turns.

        Returns:
            The dialogue. Its name is its index in the file.
        """
        turns: Sequence[_Turn] = item.value
        utterances = (
            Utterance(at, turn.speaker, " ".join(filter(None, turn.texts)).strip())
            for at, turn in enumerate(turns)
        )
        return Dialogue(str(item.number), "", "", tuple(utterances))

    def corpus(self, path: Path) -> str:
        """Return the name of the corpus, which is derived from the file name.

        Args:
            path: The file.

        Returns:
            The name of the corpus, such as ``talks`` for ``talks.test.txt``.
        """
        return corpus_of(path)


def _items(path: Path, progress: Progress, notices: Notices) -> Iterator[Item | Rejected]:
    return each_group(
        _numbered(path, progress, notices),
        "line",
        lambda first, line: line.number != first.number,
        lambda number, lines: Item(lines[0].place, number, "", [line.value for line in lines]),
        lambda number, _: f"dialogue {number}",
    )


def _numbered(path: Path, progress: Progress, notices: Notices) -> Iterator[Item | Rejected]:
    """Yield each non-empty line as an `Item` whose ``number`` is the index of its dialogue in the file."""
    number, is_blank = 0, True
    lines = text_lines(path, progress)
    if (kind := kind_of(head(path).decode("utf-8", "replace"))) is not None:
        lines = turn_lines(lines, kind, notices)
    elif has_format(path, Loader.name):
        # Transcripts of meetings were handled above, so a file for which `has_format` is true contains
        # subtitles.
        lines = _cues(lines)
    elif _is_deposition(path):
        lines = _testimony(lines, notices)
    for line in lines:
        if isinstance(line, Rejected):
            yield line
        elif not line.text.strip() or _RULE.fullmatch(line.text):
            number, is_blank = number + (not is_blank), True
        elif is_blank and _HEADING.fullmatch(line.text):
            notices.count("heading", "left out")
        elif kind := _unsaid(line.text):
            notices.count(kind, "left out")
        else:
            is_blank = False
            yield Item(line.place, number, "", line.text)


def _is_deposition(path: Path) -> bool:
    """Return whether the first lines of a file are questions and answers that begin with "Q" and "A"."""
    lines = head(path).decode("utf-8", "replace").splitlines()
    names = [found["name"] for line in lines if (found := _QUESTION.fullmatch(line)) is not None]
    # "A. Buy bread." may be an item of a list, so require that answers follow questions.
    return sum(pair == ("Q", "A") for pair in pairwise(names)) >= _FEWEST_ANSWERS


def _testimony(lines: Iterable[Line | Rejected], notices: Notices) -> Iterator[Line | Rejected]:
    """Yield the lines of a deposition as lines "Q: Where do you work?", with a blank line per examination."""
    for line in lines:
        if isinstance(line, Rejected):
            yield line
            continue
        # Remove the number of the line on the page: "12        in April."
        text = _LINE_NUMBER.sub("", line.text).strip()
        if (found := _QUESTION.fullmatch(text)) is not None:
            yield line._replace(text=f"{found['name']}: {found['text']}")
        elif _EXAMINATION.fullmatch(text):
            notices.count("heading", "left out")
            yield line._replace(text="")
        elif _STAGE_LINE.fullmatch(text):
            notices.count("heading" if text.endswith(":") else "remark", "left out")
        elif text:
            # A blank line does not end the dialogue, because it may follow each answer.
            yield line._replace(text=text)


def _unsaid(line: str) -> str:
    """Return the kind of a line that nobody said, such as "[END OF RECORDING]"; empty for any other line."""
    if _STARRED.fullmatch(line):
        return SYSTEM
    if _TIMED_REMARK.fullmatch(line):
        return "remark"
    bracketed = _BRACKETED.fullmatch(line)
    return (
        chat_line("recording", (bracketed["words"] or bracketed["ruled"]).strip())
        if bracketed is not None
        else ""
    )


def _cues(lines: Iterable[Line | Rejected]) -> Iterator[Line | Rejected]:
    """Yield the spoken lines of subtitles (WebVTT or SRT), without numbers, times and blank lines."""
    waiting: Line | None = None
    is_cue = False
    for line in lines:
        if isinstance(line, Rejected):
            yield line
        elif _CUE_TIME.match(line.text):
            # In subtitles, the line before the start and end time is the number or name of the block (cue).
            # It is not spoken, so drop it.
            waiting, is_cue = None, True
        elif not line.text.strip():
            # In subtitles, a block without times, such as "NOTE ...", is not spoken.
            if waiting is not None and is_cue:
                yield waiting
            waiting, is_cue = None, False
        elif is_cue:
            if waiting is not None:
                yield waiting
            # Replace the tag that names the speaker: "<v Ann Lee>Hello.</v>" -> "Ann Lee: Hello." Remove tags
            # that format the text, such as "<i>".
            text = _VOICE.sub(lambda voice: f"{voice['name'].strip()}: ", line.text)
            waiting = line._replace(text=_CUE_TAG.sub("", text))
    if waiting is not None:
        yield waiting


def turns_in(text: str, notices: Notices) -> list[tuple[str, str]]:
    r"""Return the turns of a transcript that is a single text.

    >>> turns_in("Ann: Is it fresh?\nBo: Yes.", Notices())
    [('Ann', 'Is it fresh?'), ('Bo', 'Yes.')]

    Args:
        text: The text, with a line "Name: text" for each turn. Blank lines are ignored.
        notices: Notices to the user, as for `Loader.read`.

    Returns:
        The speaker and the text of each turn; none if the first line has no name.
    """
    written = [line for line in _lines_in(text, notices) if line.strip()]
    lines = [line for line in written if not _unsaid(line)]
    if not lines or _turn_of(lines[0]) is None:
        return []
    for kind in filter(None, map(_unsaid, written)):
        notices.count(kind, "left out")
    turns = _turns(lines, notices)
    return [(one.speaker, " ".join(filter(None, one.texts)).strip()) for one in turns]


def _lines_in(text: str, notices: Notices) -> list[str]:
    """Split a transcript into lines: at line breaks, at HTML tags, or before each "NAME says:"."""
    if len(_BREAK.findall(text)) > text.count("\n"):
        # In Salesforce, lines in the middle were written by the program: "Chat Started: Friday"
        shown, lines = _CENTERED.subn("\n", text)
        notices.count(SYSTEM, "left out", lines)
        return plain_text(shown).split("\n")
    said = list(_SAYS.finditer(text)) if " says:" in text else []
    if len(said) < 2 or said[0].start() > 0:
        return text.splitlines()
    ends = [*(one.start() for one in said[1:]), len(text)]
    texts = [text[one.end() : end].strip() for one, end in zip(said, ends, strict=True)]
    spoken = [" ".join(one.splitlines()) for one in (*texts[:-1], texts[-1].removesuffix(";"))]
    return [f"{one['name']}: {line}" for one, line in zip(said, spoken, strict=True)]


def _turns(lines: Sequence[str], notices: Notices) -> list[_Turn]:
    """Combine the lines of a dialogue into turns. Refuse a dialogue whose first line has no name.

    Args:
        lines: The lines of the dialogue.
        notices: Notices to the user, which count removed remarks, and lines that may be turns.

    Returns:
        The turns, in the order of the lines.

    Raises:
        ItemError: The first line has no name, or the lines are a header.
    """
    found = _without_wrapped_lines([_turn_of(line) for line in lines])
    _require_turns(found)
    bare = {turn["name"] for turn in found if turn is not None and not turn["remark"]}
    turns: list[_Turn] = []
    for line, turn in zip(lines, found, strict=True):
        if turn is not None:
            name, remark = turn["name"].strip(), turn["remark"].strip()
            head = name.partition(",")[0] if _has_remark_after_comma(name) else name
            # In "Ann Lee (agent)", the brackets contain a role, which stays in the name. If the file also has
            # the speaker "Bo", the brackets of "Bo (quietly)" contain a remark, which is left out.
            is_role = remark.startswith("(") and name not in bare and not _CONTINUED.search(remark)
            speaker = f"{head} {remark}" if is_role else head
            is_shorter = speaker != f"{name} {remark}".strip()
            notices.count("turn", "with a remark after the name left out of it", is_shorter)
            turns.append(_Turn(speaker, [turn["text"] or ""], turn["before"] or turn["after"] or ""))
        elif turns:
            notices.count(
                "line",
                "with a colon after its first words read as the continuation of a turn",
                _LIKE_A_TURN.match(line) is not None,
            )
            turns[-1].texts.append(line.strip())
        else:
            raise ItemError(f"the first line, {line.strip()[:40]!r}, does not begin with a name and a colon")
    return _without_turn_numbers(turns, notices)


def _without_turn_numbers(turns: list[_Turn], notices: Notices) -> list[_Turn]:
    """Remove the numbers of turns from the names of two speakers: "T1: ... C1: ... T2: ... C2: ..."."""
    found = [_NUMBERED_NAME.fullmatch(turn.speaker) for turn in turns]
    names = [one["name"] for one in found if one is not None]
    numbers = [int(one["number"]) for one in found if one is not None]
    # "Speaker 1" and "Speaker 2" are two people, and "P1" to "P4" are the people of a focus group. So require
    # two names that alternate, and numbers that count the turns of each speaker, or all turns.
    are_counted = all(later - before in (0, 1) for before, later in pairwise(numbers))
    alternate = all(before != later for before, later in pairwise(names))
    are_new = len({turn.speaker for turn in turns}) == len(turns) >= _FEWEST_NUMBERED
    is_numbered = len(names) == len(turns) and len(set(names)) == len(("T", "C"))
    if not (is_numbered and are_counted and alternate and are_new):
        return turns
    notices.count("turn", "with its number removed from the name of the speaker", len(turns))
    return [turn._replace(speaker=name) for turn, name in zip(turns, names, strict=True)]


def _without_wrapped_lines(found: Sequence[re.Match[str] | None]) -> list[re.Match[str] | None]:
    """Remove matches of lines without a time, if the turns of the dialogue begin with times.

    Such a line continues the previous turn, even if it looks like ``Name: text``.

    In the second of these lines, "two hives" is not a name:

        [00:00:07] Ann: My uncle gave me
        two hives: one was empty.

    Args:
        found: The match of each line; None for a line that does not look like a turn.

    Returns:
        The matches, with None in place of each removed match.
    """
    turns = [turn for turn in found if turn is not None]
    timed = [turn for turn in turns if _has_time(turn)]
    # Some programs write a time only above the first turn, or once a minute. In such a file, lines without a
    # time are turns, too: keep them.
    if not turns or not _has_time(turns[0]) or len(timed) * 2 <= len(turns):
        return list(found)
    # A line without a time is also a turn if its name occurs in a turn with a time. Its time was forgotten.
    names = {turn["name"].strip() for turn in timed}
    return [turn if turn is not None and turn["name"].strip() in names else None for turn in found]


def _has_time(turn: re.Match[str]) -> bool:
    groups = turn.groupdict()
    return any(groups.get(key) for key in ("before", "since", "after"))


def _require_turns(found: Sequence[re.Match[str] | None]) -> None:
    """Raise `ItemError` if the lines are a header ("Date: 2025-11-03", "Agent: Kim") instead of turns."""
    names = [turn["name"].strip().casefold() for turn in found if turn is not None]
    # Lines such as "Time: 10:30" belong to a header if no name occurs twice. In a dialogue, some speaker
    # would speak more than once.
    header = next((turn for turn in found if turn and turn["name"].strip().casefold() in _HEADERS), None)
    # A single line is a header if it has a number: "Date: 2025-11-03"
    is_alone = len(found) == 1 and header is not None and any(map(str.isdigit, header["text"] or ""))
    if header is not None and (is_alone or (len(names) > 1 and len(set(names)) == len(names))):
        raise ItemError(
            f"its lines look like a header and not like turns, as one of them is {header[0].strip()[:40]!r}: "
            "remove the header"
        )


def _turn_of(line: str) -> re.Match[str] | None:
    """Match a line that begins with a speaker name, and return the match; None for any other line."""
    if (made := MADE_TURN.fullmatch(line) or _PIPED.fullmatch(line)) is not None:
        return made
    turn = _TURN.fullmatch(line)
    return turn if turn is not None and _is_name(turn["name"]) else None


def _is_name(text: str) -> bool:
    """Return whether the words before a colon are the name of a speaker."""
    words = text.split()
    if len(text) > _LONGEST_NAME:
        return False
    if len(words) <= _MOST_WORDS and "," not in text:
        return True
    # "Lee, Ann: yes" may also be a sentence to Ann, so only a suffix such as "Jr." may follow a comma.
    after = [word for before, word in pairwise(words) if before.endswith(",")]
    if any(word.strip(".,").replace(".", "").casefold() not in _SUFFIXES for word in after):
        return _has_remark_after_comma(text)
    return all(word[0].isupper() or word[0].isdigit() or word in _PARTICLES for word in words)


def _has_remark_after_comma(text: str) -> bool:
    """Return whether a name in capitals has a remark after a comma: "ANN, on the phone"."""
    head, comma, remark = text.partition(",")
    return bool(comma) and len(head) > 1 and head.isupper() and not remark.isupper()


def _times(path: Path) -> Iterator[tuple[int, str]]:
    """Yield, for each turn in a file, the index of its dialogue, and its time."""
    for line in _numbered(path, NoProgress(), Notices()):
        if isinstance(line, Item) and (turn := _turn_of(line.value)) is not None:
            yield line.number, turn["before"] or turn["after"] or ""


def _in_order(turns: list[_Turn], dates: Dates, notices: Notices) -> list[_Turn]:
    """Return turns sorted by time.

    If the times have no dates, midnight may lie between them. The turns are then not sorted, but only
    reversed if the newest turn comes first.
    """
    times = [turn.time for turn in turns]
    places = list(range(len(turns)))
    order: list[int] | None = None
    if all(map(_DATED.match, times)):
        order = dates.order_of(times)
    elif not any(map(_DATED.match, times)):
        clocks = [clock for time in times if (clock := _clock(time)) is not None]
        # Times of day that decrease once may have passed midnight. If they never increase and decrease at
        # least twice, the file lists the newest turns first.
        is_backward = clocks == sorted(clocks, reverse=True) and len(set(clocks)) > 2
        if is_backward and len(clocks) == len(turns):
            order = places[::-1]
    if order is None or order == places:
        return turns
    notices.count("dialogue", "whose turns were put in the order of their times")
    return [turns[at] for at in order]


def _clock(time: str) -> tuple[int, ...] | None:
    """Parse a time of day into hour, minute and second; None if the text does not start with a time."""
    found = re.match(r"(\d+):(\d+)(?::(\d+))?", time)
    if found is None:
        return None
    numbers = [int(number or 0) for number in found.groups()]
    if half := re.search(r"[AaPp](?=\.?[Mm])", time):
        # 12 AM is 0:00, and 12 PM is 12:00.
        numbers[0] = numbers[0] % 12 + (12 if half[0] in "Pp" else 0)
    return tuple(numbers)
