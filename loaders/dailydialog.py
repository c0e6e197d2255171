"""`dailydialog`: DailyDialog with its dialogue acts and emotions (Li et al. 2017, section 3).

One dialogue a line in ``dialogues_SPLIT.txt``, each utterance ended by ``__eou__``. The files
``dialogues_act_SPLIT.txt`` and ``dialogues_emotion_SPLIT.txt`` beside it hold one number an
utterance and are read along with it where they are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, Line, Refused, input_files, split_of, text_lines
from graphneg.ingest.validation import alternating, dialogues_of
from graphneg.model import Dialogue, Record, Rejected
from graphneg.progress import NoProgress, Progress

END = "__eou__"
ACTS = {"1": "inform", "2": "question", "3": "directive", "4": "commissive"}
EMOTIONS = {
    "0": "no emotion",
    "1": "anger",
    "2": "disgust",
    "3": "fear",
    "4": "happiness",
    "5": "sadness",
    "6": "surprise",
}
_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {"act": ACTS, "emotion": EMOTIONS}


class Loader:
    """DailyDialog's text files, or directories of them."""

    name = "dailydialog"
    summary = "DailyDialog: dialogues_*.txt or their directory, with acts and emotions"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """The dialogues of the files, with acts and emotions."""
        files = [file for path in paths for file in _text_files(path)]
        return dialogues_of(input_files(files, self.name), self.name, options, _items, _dialogue)


def _text_files(path: Path) -> list[Path]:
    """The file itself; or all dialogue files in a directory, the undivided one only if it is alone."""
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.rglob("dialogues_*.txt")) if not _is_annotation(file)]
    files = [file for file in files if file.name != "dialogues_topic.txt"]
    if not files:
        raise InputError(f"{path} has no DailyDialog files (dialogues_*.txt) in it")
    return [file for file in files if file.name != "dialogues_text.txt"] or files


def _is_annotation(path: Path) -> bool:
    return any(path.name.startswith(f"dialogues_{kind}") for kind in _ANNOTATIONS)


def _items(path: Path, progress: Progress) -> Iterator[Item | Rejected]:
    """Each line with its lines of annotation; the value is the text and, by kind, the labels."""
    companions = {kind: _labels(file) for kind, file in _companions(path).items()}
    at = 0
    for line in text_lines(path, progress):
        if isinstance(line, Rejected):
            yield line
            continue
        at = line.number
        labels = {kind: _numbered(lines, at) for kind, lines in companions.items()}
        if line.text.strip():
            yield Item(f"{path}:{at}", at - 1, "", (line.text, labels))
    for kind, lines in companions.items():
        if any(isinstance(line, Line) and line.text.strip() for _, line in lines):
            yield Rejected(f"{_companions(path)[kind]}:{at + 1}", f"{path.name} ends at line {at}")


def _companions(path: Path) -> dict[str, Path]:
    """The annotation files beside a text file, ``dialogues_act_test.txt`` beside ``dialogues_test.txt``."""
    prefix, rest = "dialogues_", path.name.removeprefix("dialogues_")
    if rest == path.name:
        return {}
    ending = rest.removeprefix("text") if rest.startswith("text.") else f"_{rest}"
    named = {kind: path.with_name(f"{prefix}{kind}{ending}") for kind in _ANNOTATIONS}
    return {kind: file for kind, file in named.items() if file.is_file()}


def _labels(path: Path) -> Iterator[tuple[int, Line | Rejected]]:
    return enumerate(text_lines(path, NoProgress()), 1)


def _numbered(lines: Iterator[tuple[int, Line | Rejected]], number: int) -> Line | Rejected | None:
    return next((line for at, line in lines if at >= number), None)


def _dialogue(item: Item, path: Path, options: LoadOptions) -> Dialogue:
    corpus, split = options.corpus or Loader.name, options.split or split_of(path)
    text, labels = item.value
    *texts, tail = text.split(END)
    if tail.strip():
        raise Refused(f"the line does not end with {END}")
    named = {kind: _names(kind, line, len(texts)) for kind, line in labels.items()}
    utterances = tuple(
        replace(utterance, attributes={kind: names[utterance.turn] for kind, names in named.items()})
        for utterance in alternating(texts)
    )
    return Dialogue(f"{corpus}/{split}/{item.number}", corpus, split, utterances)


def _names(kind: str, line: Any, turns: int) -> list[str]:
    if not isinstance(line, Line):
        raise Refused(f"its {kind} line is missing" if line is None else f"{line.place}: {line.reason}")
    labels = line.text.split()
    if len(labels) != turns:
        raise Refused(f"{turns} turns, but {len(labels)} numbers in line {line.number} of the {kind} file")
    unknown = next((label for label in labels if label not in _ANNOTATIONS[kind]), None)
    if unknown is not None:
        raise Refused(f"{unknown[:20]!r} in line {line.number} of the {kind} file names no {kind}")
    return [_ANNOTATIONS[kind][label] for label in labels]
