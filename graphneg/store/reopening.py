"""Reopen a store after its server has ended, for programs that run for days.

A query can exhaust the memory of an embedded server, which then ends, and anybody can kill a server. All
acknowledged writes are kept, and a new server can be started in the same directory::

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
"""Seconds for which a thread waits while another one opens the store."""
PAUSE_SECONDS = 10.0
"""Seconds after a failed attempt during which no new attempt is made."""


class ReopenedStore:
    """Provides the open store. Several threads may use it.

    Args:
        store: The open store. It is closed together with this object.
        open_again: Opens the same store again.
    """

    def __init__(self, store: Store, open_again: Callable[[], Store]) -> None:
        """Initialize with an open store."""
        self._store = store
        self._open_again = open_again
        self._opening = threading.Lock()
        self._failure = ""
        self._failed_at = 0.0

    def current(self) -> Store:
        """Return the store, reopened if its server has ended.

        If the store cannot be opened, or could not be opened a few seconds ago, the error of that attempt is
        raised.

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
            # Another thread may have opened the store while this one waited.
            if self._store.has_ended:
                self._replace()
            return self._store
        finally:
            self._opening.release()

    def _replace(self) -> None:
        """Open the store again, unless an attempt has failed a moment ago."""
        # An attempt takes seconds, so it is not repeated for each request.
        if self._failure and time.monotonic() - self._failed_at < PAUSE_SECONDS:
            raise StoreError(self._failure)
        ended = self._store
        try:
            self._store = self._open_again()
        except GraphnegError as error:
            self._failure, self._failed_at = str(error), time.monotonic()
            raise
        self._failure = ""
        with suppress(GraphnegError, OSError):  # The server is gone, so closing its connections may fail.
            ended.close()

    def close(self) -> None:
        """Close the store."""
        self._store.close()
