"""Fixtures of the page tests: Debian's Chromium, and ``graphneg serve`` in a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
PATIENCE = 300_000
"""Milliseconds until a page that shows nothing of what is waited for is given up."""


@dataclass(frozen=True)
class Served:
    """A running ``graphneg serve`` and the address that it printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def origin(self) -> str:
        """Return the address without the token."""
        return self.address.partition("?")[0].removesuffix("/")

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


Serve = Callable[..., Served]


@contextmanager
def serving(folder: Path, *arguments: object, password: str = "") -> Iterator[Served]:
    """Run a server in a folder until the block ends."""
    command = [str(Path(sys.executable).with_name("graphneg")), "serve", "--port", "0", *map(str, arguments)]
    environment = {**os.environ, "GRAPHNEG_PAGES_PASSWORD": password, "NEO4J_URI": ""}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said: list[str] = []
    try:
        for line in process.stderr:
            said.append(line)
            if "http://" in line:
                threading.Thread(target=process.stderr.read, daemon=True).start()
                yield Served(process, line[line.index("http://") :].split()[0])
                return
        raise AssertionError(f"graphneg serve ended: {''.join(said)}")
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """Start the browser. If it is missing, tests fail in CI and are skipped elsewhere."""
    if not Path(CHROMIUM).exists() and not os.environ.get("CI"):
        pytest.skip(f"no {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visitor(chromium: Browser) -> Generator[Callable[[Served], Page]]:
    """Return a function that opens the address of a server in a new browser context.

    The test fails if a page violates the content security policy, or if a script raises an error.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def visit(served: Served, width: int = 1200) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 900})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: (
                faults.append(message.text) if "Content Security Policy" in message.text else None
            ),
        )
        page.goto(served.address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not faults
