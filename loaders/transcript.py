"""Load transcripts (``transcript``): one turn per line, with a blank line between dialogues.

    Ann: Is the rye bread fresh?
    Bo: It came out of the oven
    an hour ago.

    Ann: Good morning!

This file contains two dialogues. The first has two turns, and the second has one. If a line does not begin
with a name, it continues the previous turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, corpus_of, each_group, text_lines
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue, Record, Rejected, Utterance
from graphneg.progress import Progress

# "[00:01:15] Dr. Ann Lee (agent): Good morning." A time before the name is skipped.
# A name has at most four words, because the line "He said it twice, you know: no" is not a turn.
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?"
_TIME = rf"(?:[\[(]?{_CLOCK}[\])]?\s+(?:-\s+)?)?"
# The time may also follow the name: "Ann (00:05): Hello."
_TIME_AFTER = rf"(?:\s+[\[(]{_CLOCK}[\])])?"
_WORD = r"(?:[\w.'’&/#-]+|\([\w .-]*\))"
# Matches ":" in "Ann:" and "**Ann:**" (Markdown), and the full-width colon of Chinese and Japanese text.
_COLON = r"\s?(?:[*_]{0,2}:[*_]{0,2}(?=\s|$)|：)"
_TURN = re.compile(
    rf"\s*{_TIME}[*_]{{0,2}}(?P<name>(?=[^\W_]){_WORD}(?:\s{_WORD}){{0,3}}){_TIME_AFTER}{_COLON}"
    r"\s*(?P<text>.*)"
)
# Like a blank line, a line such as "-----" or "* * *" separates dialogues.
_RULE = re.compile(r"\s*(?:[-=*_~]\s?){3,}")
_LONGEST_NAME = 60
"""Maximum length of a name in characters."""


class Loader(DialogueLoader):
    """Loader of text files that have one turn per line."""

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
        dialogues = singles = 0
        for record in super().read(paths, options):
            if isinstance(record, Dialogue):
                dialogues += 1
                singles += len(record.utterances) == 1
            yield record
        # Many programs write a blank line after every turn.
        # Each turn then becomes a dialogue, which the user should know.
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
        return each_group(
            _numbered(path, progress),
            "line",
            lambda first, line: line.number != first.number,
            lambda number, lines: Item(lines[0].place, number, "", [line.value for line in lines]),
            lambda number, _: f"dialogue {number}",
        )

    def dialogue(self, item: Item) -> Dialogue:
        """Convert the lines of a dialogue to a dialogue.

        Args:
            item: The lines.

        Returns:
            The dialogue. Its name is its number in the file.

        Raises:
            ItemError: The first line does not begin with a name.
        """
        turns: list[tuple[str, list[str]]] = []
        for line in item.value:
            turn = _TURN.fullmatch(line)
            if turn is not None and len(turn["name"]) <= _LONGEST_NAME:
                turns.append((turn["name"], [turn["text"] or ""]))
            elif turns:
                turns[-1][1].append(line.strip())
            else:
                raise ItemError(
                    f"the first line, {line.strip()[:40]!r}, does not begin with a name and a colon"
                )
        utterances = (
            Utterance(at, name, " ".join(filter(None, texts)).strip())
            for at, (name, texts) in enumerate(turns)
        )
        return Dialogue(str(item.number), "", "", tuple(utterances))

    def corpus(self, path: Path) -> str:
        """Return the name of the corpus, which is derived from the file name.

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
