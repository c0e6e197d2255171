"""Run a graphneg command in a separate process that a test can kill.

The process is forked from a server process that has already imported all modules, so it starts quickly. The
batches of the command are small, so that a kill often falls between two batches.
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
from graphneg.ingest import batches
from graphneg.parsers import jobs
from graphneg.shift import build
from graphneg.store.opening import open_store
from tests.shift_samples import Letters
from tests.speller import Speller
from tests.toy_parser import ToyParser

LOAD_ROWS = 200
TEXTS = 4
PARSED = "MATCH (a:Amr) RETURN count(a) AS amount"
SHIFTED = "MATCH (d:Dialogue) WHERE d.shifts IS NOT NULL RETURN count(d) AS amount"
DIALOGUES = 2
PATIENCE = 120
BEGIN = -1

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["pytest", "tests.killable", "graphneg.loaders.dialogues", "fastjsonschema"])


class Run:
    """A command in a separate process: ``load``, ``negatives``, ``generate``, ``parse`` or ``shift``.

    Attributes:
        acknowledged: Number of dialogues (for ``parse``, of graphs) that the server has committed so far.
        seconds: Duration of the command.
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
        """Wait for at most ``seconds``, and return whether the command has ended."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self._reader.join()

    def finish(self) -> None:
        """Wait until the command ends, and check that its exit status is 0."""
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
    """Run a command in the child process. Tell the parent when the store is open, and after each commit."""
    os.environ.update(environment)
    with DialogueGraph(open_store(target)) as dialogues:
        teller.send(BEGIN)
        if command == "load":
            load(dialogues, file, teller)
        elif command == "negatives":
            dialogues.negatives("deam", per_dialogue=4, batch=DIALOGUES, decoder=Speller()).to_jsonl(file)
        elif command == "generate":
            dialogues.generate("random", per_context=2, batch=DIALOGUES).to_jsonl(file)
        elif command == "parse":
            jobs.BATCH = TEXTS
            told(dialogues, PARSED, teller)
            dialogues.parse(ToyParser())
        else:
            build.BATCH = DIALOGUES
            told(dialogues, SHIFTED, teller)
            dialogues.shift(Letters(), keywords="rake")


def told(dialogues: DialogueGraph, amount: str, teller: Connection) -> None:
    """Report the result of the counting query ``amount`` to the parent process after each commit."""
    store, write = dialogues.store, dialogues.store.write

    def acknowledged(work: Any) -> Any:
        outcome = write(work)
        teller.send(store.read(amount)[0]["amount"])
        return outcome

    store.write = acknowledged  # type: ignore[method-assign]


def load(dialogues: DialogueGraph, file: Path, teller: Connection) -> None:
    write, done = dialogues.store.write_derived, 0

    def acknowledged(work: Any) -> Any:
        nonlocal done
        outcome = write(work)
        done += outcome.written["dialogues"] + outcome.present["dialogues"]
        teller.send(done)
        return outcome

    dialogues.store.write_derived = acknowledged  # type: ignore[method-assign]
    batches.MAX_ROWS = LOAD_ROWS
    dialogues.load("dialogues", file)
