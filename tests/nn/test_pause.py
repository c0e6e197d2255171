"""Tests of `Pause`: after "429 Too Many Requests", all threads of a writer wait."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import pytest

from graphneg.nn import serving
from graphneg.nn.serving import Pause


def test_a_short_pause_does_not_replace_a_longer_one_of_another_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pause, is_inside, go_on = Pause(), Event(), Event()

    def monotonic() -> float:
        # Hold the first thread here, after it has read the end of the pause and before it sets a new one.
        if not is_inside.is_set():
            is_inside.set()
            go_on.wait(0.3)
        return time.monotonic()

    monkeypatch.setattr(serving, "time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))
    with ThreadPoolExecutor(2) as threads:
        short = threads.submit(pause.extend, 0.0)
        is_inside.wait()
        long = threads.submit(pause.extend, 0.6)
        long.result(timeout=5)
        go_on.set()
        short.result()
    began = time.monotonic()
    pause.wait()
    assert time.monotonic() - began > 0.3
