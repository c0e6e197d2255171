"""Tests of the answer cache when two processes create its file at the same time."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from graphneg.nn.answers import Answer, AnswerCache


def test_opening_waits_until_another_process_has_created_the_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    other = sqlite3.connect(path, check_same_thread=False)
    other.execute("CREATE TABLE notes (note TEXT)")
    other.execute("BEGIN IMMEDIATE")
    other.execute("INSERT INTO notes VALUES ('at work')")

    def end() -> None:
        time.sleep(0.3)
        other.commit()
        other.close()

    ending = threading.Thread(target=end)
    ending.start()
    answers = AnswerCache(path)
    ending.join()
    answers.put(b"key", Answer("Yes.", True))
    assert answers.get([b"key"]) == {b"key": Answer("Yes.", True)}
    answers.close()
