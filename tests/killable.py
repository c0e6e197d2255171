"""A load, or the making of negatives, as a process of its own that may be killed.

``python -m tests.killable load TARGET FILE`` prints how many dialogues are acknowledged, each time
a batch is; ``python -m tests.killable negatives TARGET FILE`` writes negatives to a file. Both say
``begin`` when the store is open. Batches are small, so that there are many moments between them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from graphneg.dialogue_graph import DialogueGraph
from graphneg.loading import writing
from graphneg.store import open_store
from tests.speller import Speller

LOAD_ROWS = 500
DIALOGUES = 4


def main(command: str, target: str, file: str) -> None:
    with DialogueGraph(open_store(target)) as dialogues:
        print("begin", flush=True)
        if command == "load":
            load(dialogues, Path(file))
        else:
            make_negatives(dialogues, Path(file))


def load(dialogues: DialogueGraph, file: Path) -> None:
    write, done = dialogues.store.write, 0

    def acknowledged(work: Any) -> Any:
        nonlocal done
        outcome = write(work)
        done += outcome.written["dialogues"] + outcome.present["dialogues"]
        print("acknowledged", done, flush=True)
        return outcome

    dialogues.store.write = acknowledged  # type: ignore[method-assign]
    writing.MAX_ROWS = LOAD_ROWS
    dialogues.load("dialogues", file)


def make_negatives(dialogues: DialogueGraph, file: Path) -> None:
    dialogues.negatives("deam", per_dialogue=4, batch=DIALOGUES, decoder=Speller()).to_jsonl(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
