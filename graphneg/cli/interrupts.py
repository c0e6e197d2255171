"""Handle Ctrl-C before a command starts and in finalizers.

A command reports which results it has kept when the user presses Ctrl-C (see
`graphneg.cli.terminal.advise_on_interrupt`). The imports before a command can take a second, and a
`KeyboardInterrupt` during these imports would end in a traceback, or get lost in a callback of the import
system. If Ctrl-C is pressed during the imports, the process therefore exits immediately. This module itself
loads quickly, because it imports only modules that every Python process has already loaded.

Example::

    with exit_on_interrupt():           # Ctrl-C prints "stopped" and exits with status 130
        from graphneg.cli.program import app
        with raise_on_interrupt():      # Ctrl-C raises KeyboardInterrupt
            work()
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""The exit status after Ctrl-C. By convention, it is 128 plus the number of the signal, which is 2 for
SIGINT."""

_FINALIZER_SECONDS = 0.02
"""Number of seconds after which Ctrl-C is delivered again if it interrupted a finalizer (``__del__``)."""


@contextmanager
def exit_on_interrupt() -> Generator[None]:
    """Print a line and exit with status 130 if the user presses Ctrl-C within the ``with`` block.

    The process exits without any cleanup.

    Yields:
        Nothing.
    """
    with _handler(_exit, instead_of=signal.default_int_handler):
        yield


@contextmanager
def raise_on_interrupt() -> Generator[None]:
    """Raise `KeyboardInterrupt` on Ctrl-C within the ``with`` block. Use it within `exit_on_interrupt`.

    Python ignores exceptions in finalizers such as ``__del__`` of the Neo4j driver. If Ctrl-C interrupts a
    finalizer, the signal is delivered again a moment later.

    Yields:
        Nothing.
    """
    hook = sys.unraisablehook

    def repeat(ignored: sys.UnraisableHookArgs) -> None:
        if ignored.exc_type is not KeyboardInterrupt:
            hook(ignored)
            return
        main = threading.main_thread().ident or 0
        again = threading.Timer(_FINALIZER_SECONDS, signal.pthread_kill, (main, signal.SIGINT))
        again.daemon = True
        again.start()

    sys.unraisablehook = repeat
    try:
        with _handler(signal.default_int_handler, instead_of=_exit):
            yield
    finally:
        sys.unraisablehook = hook


@contextmanager
def _handler(handler: Callable[[int, FrameType | None], object], *, instead_of: object) -> Generator[None]:
    """Set a SIGINT handler during a ``with`` block, but only if the current handler is ``instead_of``."""
    replaces = signal.getsignal(signal.SIGINT) == instead_of
    # Only the main thread may set a signal handler; in another thread, Python raises ValueError. Ignore this
    # error, because other threads never receive the signal.
    with suppress(ValueError):
        if replaces:
            signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        with suppress(ValueError):
            if replaces:
                signal.signal(signal.SIGINT, instead_of)  # pyright: ignore[reportArgumentType]


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    # Write to the file descriptor, because the signal may have interrupted a write to sys.stderr.
    os.write(2, b"stopped\n")
    os._exit(INTERRUPTED)
