"""A store that is opened again after its server has ended, for programs that run for days.

A query can exhaust the memory of an embedded server, which then ends; so does a server that somebody kills.
What was acknowledged is kept, and a new server can be started on the same directory::

    stores = ReopenedStore(open_store("graphneg-store"), lambda: open_store("graphneg-store"))
    stores.current().read("RETURN 1")    # works also after `kill -9` of the server
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from graphneg.errors import GraphnegError, StoreError
from graphneg.store.connection import Store

WAIT_SECONDS = 10.0
"""Seconds that a thread waits for another one that opens the store."""
PAUSE_SECONDS = 10.0
"""Seconds after a failed attempt in which the store is not tried again."""


class ReopenedStore:
    """Gives the open store. Calls may come from several threads.

    Args:
        store: The open store. It is closed with this object.
        open_again: Opens the same store.
    """

    def __init__(self, store: Store, open_again: Callable[[], Store]) -> None:
        self._store = store
        self._open_again = open_again
        self._opening = threading.Lock()
        self._failure = ""
        self._failed_at = 0.0

    def current(self) -> Store:
        """Return the store, opened again if its server has ended.

        Raises:
            StoreError: The store can't be opened, or could not be a few seconds ago.
        """
        if not self._store.has_ended:
            return self._store
        if not self._opening.acquire(timeout=WAIT_SECONDS):
            raise StoreError("the store is being opened again: try again in a few seconds")
        try:
            if self._store.has_ended:
                self._replace()
            return self._store
        finally:
            self._opening.release()

    def _replace(self) -> None:
        if self._failure and time.monotonic() - self._failed_at < PAUSE_SECONDS:
            raise StoreError(self._failure)
        ended = self._store
        try:
            self._store = self._open_again()
        except GraphnegError as error:
            self._failure, self._failed_at = str(error), time.monotonic()
            raise
        self._failure = ""
        with suppress(GraphnegError, OSError):  # its server is gone, and so may be its connections
            ended.close()

    def close(self) -> None:
        """Close the store."""
        self._store.close()
