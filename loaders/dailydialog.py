"""Load DailyDialog with its dialogue acts and emotions (``dailydialog``; Li et al. 2017, section 3).

A file ``dialogues_SPLIT.txt`` has one dialogue per line, and ``__eou__`` ends each utterance:

    The taxi is late . __eou__ Call them again , please . __eou__

The files ``dialogues_act_SPLIT.txt`` and ``dialogues_emotion_SPLIT.txt`` have a line of numbers for
each dialogue, one number per utterance. If they are in the same folder, their labels become attributes
of the utterances. The acts ``1 3`` give ``inform`` and ``directive`` here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.content import Refused
from graphneg.ingest.reading import Item, Line, input_files, is_directory, text_lines
from graphneg.ingest.validation import DialogueLoader, alternating
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress, Progress

END = "__eou__"
"""The mark that ends an utterance."""
_EMOTIONS = ("no emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise")
_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "act": {"1": "inform", "2": "question", "3": "directive", "4": "commissive"},
    "emotion": {str(number): name for number, name in enumerate(_EMOTIONS)},
}
"""The names of the labels in the annotation files, by kind of annotation."""


class Loader(DialogueLoader):
    """Loader of DailyDialog's text files, or of directories with them."""

    name = "dailydialog"
    summary = "DailyDialog: dialogues_*.txt or their directory, with acts and emotions"

    def files(self, paths: Sequence[Path]) -> list[Path]:
        """Return the text files, including those of the directories.

        Args:
            paths: Files and directories.

        Returns:
            The files. Of a directory, ``dialogues_text.txt`` is read only if there are no files of splits.
        """
        return input_files([file for path in paths for file in _text_files(path)], self.name)

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Yield the lines of a file, each with its labels.

        Args:
            path: The text file.
            progress: Advanced by the bytes that are read.

        Yields:
            Items whose values are the text and the annotation lines by kind. Annotation files that are
            longer than the text file are rejected.
        """
        beside = _companions(path)
        numbered = {kind: enumerate(text_lines(file, NoProgress()), 1) for kind, file in beside.items()}
        at = 0
        for line in text_lines(path, progress):
            if isinstance(line, Rejected):
                yield line
                continue
            at = line.number
            labels = {
                # A line of text may have been rejected. Skip its annotations, so that line numbers match
                # again.
                kind: next((other for number, other in lines if number >= at), None)
                for kind, lines in numbered.items()
            }
            if line.text.strip():
                yield Item(line.place, at - 1, "", (line.text, labels))
        for kind, lines in numbered.items():
            if any(isinstance(line, Line) and line.text.strip() for _, line in lines):
                yield Rejected(f"{beside[kind]}:{at + 1}", f"{path.name} ends at line {at}")

    def dialogue(self, item: Item) -> Dialogue:
        """Return the dialogue of a line, with its labels as attributes.

        Args:
            item: The text and the annotation lines.

        Returns:
            The dialogue, with speakers A and B.

        Raises:
            Refused: The line does not end with ``__eou__``.
        """
        text, labels = item.value
        # A line that was cut off lacks its last mark.
        *texts, tail = text.split(END)
        if tail.strip():
            raise Refused(f"the line does not end with {END}")
        names = {kind: _names(kind, line, len(texts)) for kind, line in labels.items()}
        utterances = (
            replace(utterance, attributes={kind: of_kind[utterance.turn] for kind, of_kind in names.items()})
            for utterance in alternating(texts)
        )
        return Dialogue(str(item.number), "", "", tuple(utterances))


def _text_files(path: Path) -> list[Path]:
    if not is_directory(path):
        return [path]
    others = (*(f"dialogues_{kind}" for kind in _ANNOTATIONS), "dialogues_topic.txt")
    files = [file for file in sorted(path.rglob("dialogues_*.txt")) if not file.name.startswith(others)]
    if not files:
        raise InputError(f"{path} has no DailyDialog files (dialogues_*.txt) in it")
    # The corpus is distributed both as splits and as one file with all dialogues, dialogues_text.txt.
    return [file for file in files if file.name != "dialogues_text.txt"] or files


def _companions(path: Path) -> dict[str, Path]:
    """Return the annotation files of a text file: dialogues_act_test.txt for dialogues_test.txt."""
    rest = path.name.removeprefix("dialogues_")
    if rest == path.name:
        return {}
    # dialogues_act.txt and dialogues_emotion.txt belong to dialogues_text.txt.
    ending = rest.removeprefix("text") if rest.startswith("text.") else f"_{rest}"
    named = {kind: path.with_name(f"dialogues_{kind}{ending}") for kind in _ANNOTATIONS}
    return {kind: file for kind, file in named.items() if file.is_file()}


def _names(kind: str, line: Line | Rejected | None, turns: int) -> list[str]:
    if not isinstance(line, Line):
        raise Refused(f"its {kind} line is missing" if line is None else f"{line.place}: {line.reason}")
    labels, names = line.text.split(), _ANNOTATIONS[kind]
    if len(labels) != turns:
        raise Refused(f"{turns} turns, but {len(labels)} numbers in line {line.number} of the {kind} file")
    if unknown := [label for label in labels if label not in names]:
        raise Refused(f"{unknown[0][:20]!r} in line {line.number} of the {kind} file names no {kind}")
    return [names[label] for label in labels]
