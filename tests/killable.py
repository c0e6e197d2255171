"""A load, or the making of negatives, as a process of its own that may be killed at any moment.

The process comes from a server of forks that has imported everything already. Batches are small, so
that there are many moments between them.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from graphneg.dialogue_graph import DialogueGraph
from graphneg.ingest import writing
from graphneg.store.opening import open_store
from tests.speller import Speller

LOAD_ROWS = 200
DIALOGUES = 2
PATIENCE = 120
BEGIN = -1

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["pytest", "tests.killable", "graphneg.loaders.dialogues", "fastjsonschema"])


class Run:
    """A command in a process of its own: ``load`` a file, or write ``negatives`` to one.

    ``acknowledged`` is how many dialogues a load has acknowledged so far, ``seconds`` how long the
    command took.
    """

    def __init__(self, target: str, environment: Mapping[str, str], command: str, file: Path) -> None:
        self.acknowledged = 0
        self.seconds = 0.0
        self._news, teller = forks.Pipe(duplex=False)
        self._process = forks.Process(target=work, args=(target, environment, command, file, teller))
        self._process.start()
        teller.close()
        assert self._news.recv() == BEGIN
        self._began = time.monotonic()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ended_within(self, seconds: float) -> bool:
        """Whether the command ended by itself before this time was over."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self._reader.join()

    def finish(self) -> None:
        """Wait for the end of the command, which must be a good one."""
        self._process.join(PATIENCE)
        self._reader.join()
        assert self._process.exitcode == 0

    def _read(self) -> None:
        try:
            while True:
                self.acknowledged = self._news.recv()
        except (EOFError, OSError):
            self.seconds = time.monotonic() - self._began


def work(target: str, environment: Mapping[str, str], command: str, file: Path, teller: Connection) -> None:
    """What the process does: it says when the store is open, and each batch that is acknowledged."""
    os.environ.update(environment)
    with DialogueGraph(open_store(target)) as dialogues:
        teller.send(BEGIN)
        if command == "load":
            load(dialogues, file, teller)
        else:
            dialogues.negatives("deam", per_dialogue=4, batch=DIALOGUES, decoder=Speller()).to_jsonl(file)


def load(dialogues: DialogueGraph, file: Path, teller: Connection) -> None:
    write, done = dialogues.store.write, 0

    def acknowledged(work: Any) -> Any:
        nonlocal done
        outcome = write(work)
        done += outcome.written["dialogues"] + outcome.present["dialogues"]
        teller.send(done)
        return outcome

    dialogues.store.write = acknowledged  # type: ignore[method-assign]
    writing.MAX_ROWS = LOAD_ROWS
    dialogues.load("dialogues", file)
