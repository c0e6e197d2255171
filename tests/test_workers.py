"""Test worker processes: the order of results, their errors, and that they end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from graphneg.errors import InputError, PenmanError
from graphneg.workers import AHEAD, WorkerError, Workers

ROOT = Path(__file__).parent.parent
SECONDS = 60


def doubler() -> Callable[[int], int]:
    return lambda number: 2 * number


def pid() -> Callable[[object], int]:
    return lambda _: os.getpid()


def slow_but_one(mark: str) -> Callable[[object], int]:
    """Return ``pid()`` after two seconds. Only the first worker gets it without delay."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        time.sleep(2)
    return pid()


def talker() -> Callable[[str], str]:
    def talk(text: str) -> str:
        print(text)
        os.system(f"echo {text}")
        return text

    return talk


def faulty(when: str) -> Callable[[str], None]:
    def fail(kind: str) -> None:
        if kind == "input":
            raise InputError("a file is missing")
        if kind == "penman":
            raise PenmanError("syntax", "a bracket", 1, 2)
        if kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ZeroDivisionError("by zero")

    if when == "first":
        raise InputError("it can't be made")
    return fail


def test_results_come_in_order_whoever_made_them():
    with Workers[int, int]("tests.test_workers:doubler", (), 3) as workers:
        assert list(workers.map(range(100))) == list(range(0, 200, 2))


def test_each_child_can_be_asked_so_that_all_are_ready(tmp_path: Path):
    with Workers[None, int]("tests.test_workers:slow_but_one", (str(tmp_path / "first"),), 2) as workers:
        assert len(set(workers.ask_each(None))) == 2
        began = time.monotonic()
        assert len(list(workers.map([None] * 9))) == 9
        assert time.monotonic() - began < 1
    with (
        Workers[str, str]("tests.test_workers:faulty", ("first",), 2) as workers,
        pytest.raises(InputError, match="can't be made"),
    ):
        workers.ask_each("hello")


def test_items_are_read_only_a_little_ahead():
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1000):
            read.append(number)
            yield number

    with Workers[int, int]("tests.test_workers:doubler", (), 2) as workers:
        results = workers.map(items())
        next(results)
        assert len(read) <= 2 * AHEAD


def test_what_a_worker_prints_is_no_answer(capfd: pytest.CaptureFixture[str]):
    with Workers[str, str]("tests.test_workers:talker", (), 1) as workers:
        assert workers.ask("hello") == "hello"
    assert "hello" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("input", InputError, "a file is missing"),
        ("penman", Exception, "a bracket"),
        ("other", ZeroDivisionError, "by zero"),
    ],
)
def test_what_a_worker_raises_is_raised_here_and_it_goes_on(kind: str, error: type[Exception], message: str):
    with Workers[str, None]("tests.test_workers:faulty", ("later",), 1) as workers:
        for _ in range(2):
            with pytest.raises(error, match=message):
                workers.ask(kind)


def test_a_worker_that_can_not_be_made_says_so_to_every_item():
    with Workers[str, None]("tests.test_workers:faulty", ("first",), 1) as workers:
        for _ in range(2):
            with pytest.raises(InputError, match="it can't be made"):
                workers.ask("other")


def test_a_worker_that_is_killed_is_an_error():
    with (
        Workers[str, None]("tests.test_workers:faulty", ("later",), 1) as workers,
        pytest.raises(WorkerError, match="ended by signal 9; did memory run out"),
    ):
        workers.ask("kill")


def test_workers_end_with_a_parent_that_is_killed():
    code = (
        "import time\nfrom graphneg.workers import Workers\n"
        "workers = Workers('tests.test_workers:pid', (), 1)\n"
        "print(workers.ask(None), flush=True)\ntime.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    worker_is_gone(worker)


def worker_is_gone(worker: psutil.Process) -> None:
    deadline = time.monotonic() + SECONDS
    while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def environment() -> Callable[[str], str | None]:
    return os.environ.get


def test_a_child_runs_nothing_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "struct", "signal"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    with Workers[int, int]("tests.test_workers:doubler", (), 1) as workers:
        assert workers.ask(2) == 4
    assert not (tmp_path / "ran").exists()


def test_a_child_gets_what_it_needs_to_run_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["PATH", "HF_HOME", "OMP_NUM_THREADS", "https_proxy", "TOKENIZERS_PARALLELISM", "GRAPHNEG_SPEED"]
    others = [
        *("NEO4J_PASSWORD", "NEO4J_USERNAME", "HF_TOKEN", "OPENAI_API_KEY", "GITHUB_TOKEN", "GRAPHNEG_TOKEN"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "DATABASE_URL", "GRAPHNEG_PASSWORD"),
        *("HF_TOKEN2", "HF_ACCESSTOKEN", "HF_PAT"),
    ]
    for name in (*needed, *others):
        monkeypatch.setenv(name, os.environ.get(name, "1"))
    with Workers[str, str | None]("tests.test_workers:environment", (), 1) as workers:
        assert [name for name, value in zip(needed, workers.map(needed), strict=True) if value is None] == []
        assert [name for name, value in zip(others, workers.map(others), strict=True) if value] == []


def test_a_child_gets_no_password_in_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "HTTP_PROXY": "http://proxy:3128",
        "LD_LIBRARY_PATH": "/usr/lib:/opt/python@3.11/lib",
        "HTTPS_PROXY": "http://ann:secret@proxy:3128",
        "ALL_PROXY": "ann:secret@proxy:3128",
        "NO_PROXY": "http://ann:se/cr et@proxy",
        "JAVA_TOOL_OPTIONS": "-Djavax.net.ssl.keyStorePassword=secret",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    with Workers[str, str | None]("tests.test_workers:environment", (), 1) as workers:
        assert list(workers.map(values)) == [*list(values.values())[:2], *[None] * 4]
