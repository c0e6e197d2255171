"""Load transcripts (``transcript``): one turn per line, with a blank line between dialogues.

    Ann: Is the rye bread fresh?
    Bo: It came out of the oven
    an hour ago.

    Ann: Good morning!

This file contains two dialogues, of two turns and of one. A line that does not begin with a name
continues the turn before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphneg.ingest.content import Refused
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, corpus_of, each_group, text_lines
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue, Record, Rejected, Utterance
from graphneg.progress import Progress

# "[00:01:15] Dr. Ann Lee (agent): Good morning." A time before the name is skipped. A name has at most
# four words, so that "He said it twice, you know: no" is not a turn by somebody called "He said it twice,
# you know".
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?"
_TIME = rf"(?:[\[(]?{_CLOCK}[\])]?\s+(?:-\s+)?)?"
# "Ann (00:05): Hello."
_TIME_AFTER = rf"(?:\s+[\[(]{_CLOCK}[\])])?"
_WORD = r"(?:[\w.'’&/#-]+|\([\w .-]*\))"
# "Ann:", "**Ann:**" (Markdown), and the full-width colon of Chinese and Japanese text.
_COLON = r"\s?(?:[*_]{0,2}:[*_]{0,2}(?=\s|$)|：)"
_TURN = re.compile(
    rf"\s*{_TIME}[*_]{{0,2}}(?P<name>(?=[^\W_]){_WORD}(?:\s{_WORD}){{0,3}}){_TIME_AFTER}{_COLON}"
    r"\s*(?P<text>.*)"
)
# Lines such as "-----" and "* * *" separate dialogues like blank lines.
_RULE = re.compile(r"\s*(?:[-=*_~]\s?){3,}")
_LONGEST_NAME = 60
"""Maximum length of a name in characters."""


class Loader(DialogueLoader):
    """Loader of text files with one turn per line."""

    name = "transcript"
    summary = 'transcripts: lines of "Name: text", a blank line between dialogues'

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the dialogues of the files, and report a load in which most dialogues have one turn.

        Args:
            paths: The files.
            options: The options of the load.

        Yields:
            Dialogues and rejected items.
        """
        dialogues = singles = 0
        for record in super().read(paths, options):
            if isinstance(record, Dialogue):
                dialogues += 1
                singles += len(record.utterances) == 1
            yield record
        # Many programs write a blank line after every turn, which cuts a talk into single turns.
        if singles > 1 and singles * 2 > dialogues:
            options.notices.say(
                f"{singles:,} of {dialogues:,} dialogues have one turn, because a blank line ends a "
                "dialogue: if blank lines stand between turns, remove them (grep -v '^\\s*$' FILE > NEW) and "
                "put a line --- between dialogues"
            )

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Return the dialogues of a file as lists of lines.

        Args:
            path: The file.
            progress: Advanced by the bytes that are read.

        Returns:
            An iterator over items whose values are lists of lines.
        """
        return each_group(
            _numbered(path, progress),
            "line",
            lambda first, line: line.number != first.number,
            lambda number, lines: Item(lines[0].place, number, "", [line.value for line in lines]),
            lambda number, _: f"dialogue {number}",
        )

    def dialogue(self, item: Item) -> Dialogue:
        """Return the dialogue of a list of lines.

        Args:
            item: The lines of the dialogue.

        Returns:
            The dialogue. Its name is its number in the file.

        Raises:
            Refused: The first line does not begin with a name.
        """
        turns: list[tuple[str, list[str]]] = []
        for line in item.value:
            turn = _TURN.fullmatch(line)
            if turn is not None and len(turn["name"]) <= _LONGEST_NAME:
                turns.append((turn["name"], [turn["text"] or ""]))
            elif turns:
                turns[-1][1].append(line.strip())
            else:
                raise Refused(
                    f"its first line, {line.strip()[:40]!r}, does not begin with a name and a colon"
                )
        utterances = (
            Utterance(at, name, " ".join(filter(None, texts)).strip())
            for at, (name, texts) in enumerate(turns)
        )
        return Dialogue(str(item.number), "", "", tuple(utterances))

    def corpus(self, path: Path) -> str:
        """Return the name of the file as the name of the corpus.

        Args:
            path: The file.

        Returns:
            The name.
        """
        return corpus_of(path)


def _numbered(path: Path, progress: Progress) -> Iterator[Item | Rejected]:
    """Yield the lines that are not blank, each with the number of its dialogue."""
    number, is_blank = 0, True
    for line in text_lines(path, progress):
        if isinstance(line, Rejected):
            yield line
        elif not line.text.strip() or _RULE.fullmatch(line.text):
            number, is_blank = number + (not is_blank), True
        else:
            is_blank = False
            yield Item(line.place, number, "", line.text)
