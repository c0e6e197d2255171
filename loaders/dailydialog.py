"""Load DailyDialog with its dialogue acts and emotions (``dailydialog``; Li et al. 2017, section 3).

In a file ``dialogues_SPLIT.txt``, each line is a dialogue, and ``__eou__`` ends each utterance:

    The taxi is late . __eou__ Call them again , please . __eou__

The files ``dialogues_act_SPLIT.txt`` and ``dialogues_emotion_SPLIT.txt`` contain annotations. Each of their
lines has one number for every utterance of a dialogue. If these files are in the same folder, the annotations
become attributes of the utterances. In the example, the line ``1 3`` means the dialogue acts ``inform`` and
``directive``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.content import ItemError
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
"""The label for each number in annotation files, keyed by the kind of annotation."""


class Loader(DialogueLoader):
    """Loader for DailyDialog's text files, or for directories that contain them."""

    name = "dailydialog"
    summary = "DailyDialog: dialogues_*.txt or their directory, with acts and emotions"

    def files(self, paths: Sequence[Path]) -> list[Path]:
        """Return the text files, including the files in directories.

        Args:
            paths: Files and directories.

        Returns:
            The files. ``dialogues_text.txt`` contains the dialogues of all splits. In a directory, it is read
            only if there are no separate files for the splits.
        """
        return input_files([file for path in paths for file in _text_files(path)], self.name)

    def items(self, path: Path, progress: Progress) -> Iterator[Item | Rejected]:
        """Yield the lines of a text file, each with the corresponding lines of the annotation files.

        Args:
            path: The text file.
            progress: Progress display; advanced by the number of bytes read.

        Yields:
            An `Item` for each dialogue. Its value contains the text and the annotation lines, keyed by kind.
            A `Rejected` at the end reports an annotation file that has more lines than the text file.
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
                # If a line of text was rejected, its annotation lines have not been read yet. Skip them, so
                # that text and annotations have the same line number again.
                kind: next((other for number, other in lines if number >= at), None)
                for kind, lines in numbered.items()
            }
            if line.text.strip():
                yield Item(line.place, at - 1, "", (line.text, labels))
        for kind, lines in numbered.items():
            if any(isinstance(line, Line) and line.text.strip() for _, line in lines):
                yield Rejected(f"{beside[kind]}:{at + 1}", f"{path.name} ends at line {at}")

    def dialogue(self, item: Item) -> Dialogue:
        """Convert a line of a text file into a dialogue with its annotations as attributes.

        Args:
            item: The text of the dialogue and its annotation lines.

        Returns:
            The dialogue. Its speakers are A and B.

        Raises:
            ItemError: The line does not end with ``__eou__``.
        """
        text, labels = item.value
        # Reject a line with text after the last __eou__, because the line was cut off.
        *texts, tail = text.split(END)
        if tail.strip():
            raise ItemError(f"the line does not end with {END}")
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
        raise InputError(f"{path} contains no DailyDialog files (dialogues_*.txt)")
    # The corpus is distributed as one file per split, and also as a single file, dialogues_text.txt.
    # If both are there, read only the files of the splits.
    return [file for file in files if file.name != "dialogues_text.txt"] or files


def _companions(path: Path) -> dict[str, Path]:
    """Return the annotation files for a text file, such as dialogues_act_test.txt for dialogues_test.txt."""
    rest = path.name.removeprefix("dialogues_")
    if rest == path.name:
        return {}
    # The annotations for dialogues_text.txt have no "text" in their names: dialogues_act.txt.
    ending = rest.removeprefix("text") if rest.startswith("text.") else f"_{rest}"
    named = {kind: path.with_name(f"dialogues_{kind}{ending}") for kind in _ANNOTATIONS}
    return {kind: file for kind, file in named.items() if file.is_file()}


def _names(kind: str, line: Line | Rejected | None, turns: int) -> list[str]:
    if not isinstance(line, Line):
        raise ItemError(f"the {kind} line is missing" if line is None else f"{line.place}: {line.reason}")
    labels, names = line.text.split(), _ANNOTATIONS[kind]
    if len(labels) != turns:
        raise ItemError(f"{turns} turns, but {len(labels)} numbers in line {line.number} of the {kind} file")
    if unknown := [label for label in labels if label not in names]:
        raise ItemError(
            f"{unknown[0][:20]!r} in line {line.number} of the {kind} file is not the number of an {kind}"
        )
    return [names[label] for label in labels]
