"""Reopen a store after its server has ended, in programs that run for days.

An embedded server ends if a query exhausts its memory or if somebody kills it. All acknowledged writes are
kept, and a new server can be started in the same directory::

    stores = ReopenedStore(open_store("graphneg-store"), lambda: open_store("graphneg-store"))
    stores.current().read("RETURN 1")    # also works after `kill -9` of the server
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from graphneg.errors import GraphnegError, StoreError
from graphneg.store.connection import Store

WAIT_SECONDS = 10.0
"""Maximum number of seconds for which a thread waits while another thread opens the store."""
PAUSE_SECONDS = 10.0
"""Minimum number of seconds between a failed attempt to open the store and the next attempt."""


class ReopenedStore:
    """Provides an open store, and opens it again if its server has ended. Several threads may use it.

    Args:
        store: The open store. `close` closes it.
        open_again: Function that opens the same store again.
    """

    def __init__(self, store: Store, open_store: Callable[[], Store]) -> None:
        self._store = store
        self._open_again = open_store
        self._opening = threading.Lock()
        self._failure = ""
        self._failed_at = 0.0

    def current(self) -> Store:
        """Return the store. Open it again first if its server has ended.

        If the store cannot be opened, the error is raised. In the next `PAUSE_SECONDS`, further calls raise a
        `StoreError` with the same message instead of trying again.

        Returns:
            An open store.

        Raises:
            StoreError: Another thread has been opening the store for `WAIT_SECONDS`.
        """
        if not self._store.has_ended:
            return self._store
        if not self._opening.acquire(timeout=WAIT_SECONDS):
            raise StoreError("the store is being opened again: try again in a few seconds")
        try:
            # Check again, because another thread may have opened the store while this one waited.
            if self._store.has_ended:
                self._reopen()
            return self._store
        finally:
            self._opening.release()

    def _reopen(self) -> None:
        """Open the store again, unless the last attempt failed less than `PAUSE_SECONDS` ago."""
        # It takes seconds to find out that the store cannot be opened. So after a failure, raise the same
        # error for a while instead of trying again.
        if self._failure and time.monotonic() - self._failed_at < PAUSE_SECONDS:
            raise StoreError(self._failure)
        ended = self._store
        try:
            self._store = self._open_again()
        except GraphnegError as error:
            self._failure, self._failed_at = str(error), time.monotonic()
            raise
        self._failure = ""
        with suppress(GraphnegError, OSError):  # Ignore errors: closing fails if the server is gone.
            ended.close()

    def close(self) -> None:
        """Close the store."""
        self._store.close()
