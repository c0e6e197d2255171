"""Where the responses of a bank come from: a store, text files, files of negatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from graphneg.editing.originals import Selection, count_dialogues, dialogue_ids, read_dialogues
from graphneg.errors import InputError
from graphneg.progress import NoProgress, Progress
from graphneg.store import Store, cypher_text

_OF_NEGATIVES = (".jsonl", ".parquet")
_PAGE = 200


def stored_responses(store: Store, selection: Selection, progress: Progress | None = None) -> Iterator[str]:
    """What answers a turn in the selected dialogues: each turn but the first, and right responses.

    Raises:
        StoreError: the store is gone.
    """
    bar = progress or NoProgress()
    bar.start("reading", count_dialogues(store, selection), "dialogues")
    ids = dialogue_ids(store, selection)
    while page := list(islice(ids, _PAGE)):
        found = store.read(cypher_text("read/responses"), ids=page)
        right = {row["id"]: [one[2] for one in sorted(row["responses"]) if one[3] == 1] for row in found}
        for dialogue in read_dialogues(store, page):
            yield from (turn.text for turn in dialogue.turns[1:])
            yield from right.get(dialogue.id, ())
        bar.advance(len(page))
    bar.finish()


def read_responses(paths: Sequence[str | Path]) -> Iterator[str]:
    """The responses of files: of negatives (.jsonl, .parquet) the right ones, of others each line.

    Raises:
        InputError: a file can't be read, or is none of negatives.
    """
    for path in map(Path, paths):
        yield from _right_ones(path) if path.suffix in _OF_NEGATIVES else read_lines(path)


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without empty ones.

    Raises:
        InputError: it can't be read, or is no UTF-8.
    """
    return [line.strip() for line in read_text(path).split("\n") if line.strip()]


def read_text(path: Path) -> str:
    """A text file.

    Raises:
        InputError: it can't be read, or is no UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no text in UTF-8 (byte {error.start})") from error


def _right_ones(path: Path) -> Iterator[str]:
    from graphneg.training.groups import read_groups

    return (answer.text for group in read_groups([path]) for answer in group.positives)
