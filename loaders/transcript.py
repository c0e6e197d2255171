"""`transcript`: dialogues as people write them down, a blank line between two of them.

    Ann: Is the rye bread fresh?
    Bo: It came out of the oven
    an hour ago.

    Ann: Good morning!

are two dialogues, of two turns and one. A line that begins with no name goes on with the turn before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from graphneg.ingest.content import Refused
from graphneg.ingest.reading import Item, corpus_of, each_group, text_lines
from graphneg.ingest.validation import DialogueLoader
from graphneg.model import Dialogue, Rejected, Utterance
from graphneg.progress import Progress

# "[00:01:15] Dr. Ann Lee (agent): Good morning." Times in front of a name are left out. A name has at most
# four words: "He said it twice, you know: no" is no turn of somebody called "He said it twice, you know".
_TIME = r"(?:[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?\s+(?:-\s+)?)?"
_WORD = r"(?:[\w.'’&/#-]+|\([\w .-]*\))"
_COLON = r"\s?(?:[*_]{0,2}:[*_]{0,2}(?=\s|$)|：)"
_TURN = re.compile(
    rf"\s*{_TIME}[*_]{{0,2}}(?P<name>(?=[^\W_]){_WORD}(?:\s{_WORD}){{0,3}}){_COLON}\s*(?P<text>.*)"
)
_RULE = re.compile(r"\s*(?:[-=*_~]\s?){3,}")
_LONGEST_NAME = 60


class Loader(DialogueLoader):
    """Text files of dialogues, a turn a line."""

    name = "transcript"
    summary = 'transcripts: lines of "Name: text", a blank line between dialogues'

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Yield the lines of each dialogue."""
        return each_group(
            _numbered(path, progress),
            "line",
            lambda first, line: line.number != first.number,
            lambda number, lines: Item(lines[0].place, number, "", [line.value for line in lines]),
            lambda number, _: f"dialogue {number}",
        )

    def dialogue(self, item: Item) -> Dialogue:
        """Return the turns of a dialogue's lines."""
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
        """Return the name of the file."""
        return corpus_of(path)


def _numbered(path: Path, progress: Progress) -> Iterator[Item | Rejected]:
    """Yield the lines that say something, each with the number of blank parts before it."""
    number, is_blank = 0, True
    for line in text_lines(path, progress):
        if isinstance(line, Rejected):
            yield line
        elif not line.text.strip() or _RULE.fullmatch(line.text):
            number, is_blank = number + (not is_blank), True
        else:
            is_blank = False
            yield Item(line.place, number, "", line.text)
