"""Tests of stopping queries on the server, and of reopening a store after its server has ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from graphneg.errors import QueryStopped, StoreError
from graphneg.store import reopening, statements, stopping
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from graphneg.store.reopening import ReopenedStore
from graphneg.store.stopping import Cancellation
from tests.killed_servers import Embedded

NUMBERS = "UNWIND range(1, 100000) AS"
LONG = f"{NUMBERS} x {NUMBERS} y WITH x, y WHERE x * y % 7 = 9 RETURN count(*)"
ONE_EXPRESSION = (
    "RETURN reduce(a = 0, i IN range(1, 900000) | a + reduce(b = 0, j IN range(1, 900000) | b + j))"
)
TOO_LARGE = "RETURN reduce(s = 'x', i IN range(1, 30) | s + s)"
RUNNING = "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery = $text RETURN currentQuery"


@pytest.fixture
def server(tmp_path: Path) -> Embedded:
    """Return a new embedded server."""
    return Embedded(tmp_path / "store")


@pytest.fixture
def own(server: Embedded) -> Generator[Store]:
    """Open the store of the new server."""
    with server.open() as opened:
        yield opened


def is_running(store: Store) -> bool:
    """Return whether the server is still running the query `LONG`."""
    return bool(store.read(RUNNING, text=LONG))


def ends(store: Store) -> bool:
    """Wait until the server of a store has ended. Return whether it did."""
    until = time.monotonic() + 120
    while not store.has_ended and time.monotonic() < until:
        time.sleep(0.1)
    return store.has_ended


def expect_stop(store: Store) -> None:
    """Run a query that no server stops until it is ended."""
    with pytest.raises(QueryStopped):
        store.query_read(ONE_EXPRESSION, seconds=1)


class TestStopping:
    def test_a_query_whose_time_is_up_ends_on_the_server(self, store: Store) -> None:
        with pytest.raises(QueryStopped, match=r"no answer in 0\.5 s"):
            store.query_read(LONG, seconds=0.5)
        assert not is_running(store)

    def test_a_query_that_is_cancelled_ends_on_the_server(self, store: Store) -> None:
        cancellation = Cancellation()
        threading.Timer(0.5, cancellation.cancel).start()
        with pytest.raises(QueryStopped, match="cancelled"):
            store.query_read(LONG, cancellation=cancellation)
        assert not is_running(store)

    def test_a_query_that_was_cancelled_before_does_not_run(self, store: Store) -> None:
        cancellation = Cancellation()
        cancellation.cancel()
        with pytest.raises(QueryStopped, match="cancelled"):
            store.query_read(LONG, cancellation=cancellation)

    def test_the_next_query_of_the_connection_is_not_stopped(self, store: Store) -> None:
        for _ in range(20):
            cancellation = Cancellation()
            store.query_read("RETURN 1", seconds=60, cancellation=cancellation)
            cancellation.cancel()
            assert store.query_read("RETURN 1 AS one").records[0]["one"] == 1

    def test_others_are_answered_while_nine_slow_queries_run(self, store: Store) -> None:
        cancellations = [Cancellation() for _ in range(9)]

        def ask(cancellation: Cancellation) -> None:
            with pytest.raises(QueryStopped):
                store.query_read(LONG, cancellation=cancellation)

        asking = [threading.Thread(target=ask, args=[one]) for one in cancellations]
        for thread in asking:
            thread.start()
        assert store.query_read("RETURN 1 AS one", seconds=60).records[0]["one"] == 1
        for cancellation in cancellations:
            cancellation.cancel()
        for thread in asking:
            thread.join(60)
            assert not thread.is_alive()

    def test_hundreds_of_stops_leave_no_error_and_no_query_without_an_answer(self, own: Store) -> None:
        unexpected: list[object] = []

        def ask(number: int) -> None:
            for turn in range(25):
                try:
                    unexpected.append(own.query_read(LONG, seconds=0.1 + 0.03 * number + 0.01 * turn))
                except QueryStopped:
                    # This query must not get the connection of the stopped one.
                    if own.query_read("RETURN 1 AS one", seconds=600).records[0]["one"] != 1:
                        unexpected.append("a wrong answer")
                except StoreError as error:
                    unexpected.append(error)

        asking = [threading.Thread(target=ask, args=[number], daemon=True) for number in range(8)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join(300)
            assert not thread.is_alive()
        assert not unexpected

    def test_a_result_in_part_has_a_largest_size(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(statements, "MOST_RESULT_SIZE", 10_000)
        query = "UNWIND range(1, 100) AS n RETURN [{list: range(1, 1000)}, 'text']"
        with pytest.raises(StoreError, match="return fewer columns or fewer rows"):
            store.query_read(query, most=50)
        assert len(store.query_read(query, most=5).records) == 5


def test_ctrl_c_stops_the_query_of_a_command(own: Store, server: Embedded) -> None:
    command = [Path(sys.executable).with_name("graphneg"), "cypher", "--store", server.target, LONG]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not is_running(own):
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "stopped: " in errors
    assert not is_running(own)


class TestReopening:
    def test_a_runaway_expression_ends_the_server_of_its_only_user(self, own: Store) -> None:
        with pytest.raises(QueryStopped, match="no answer in 1 s"):
            own.query_read(ONE_EXPRESSION, seconds=1)
        assert ends(own)

    def test_a_runaway_expression_does_not_end_a_shared_server(self, own: Store, server: Embedded) -> None:
        with server.open() as other:
            own._end_runaway()  # pyright: ignore[reportPrivateUsage]
            assert other.read("RETURN 1 AS one")[0]["one"] == 1
        assert not own.has_ended

    def test_a_runaway_expression_ends_the_server_when_the_last_other_user_leaves(
        self, own: Store, server: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stopping, "GRACE_SECONDS", 1.0)
        monkeypatch.setattr(stopping, "RUNAWAY_SECONDS", 1.0)
        # The thread that queries is a daemon, so that a failure of this test does not block the others.
        asking = threading.Thread(target=expect_stop, args=[own], daemon=True)
        with server.open() as other:
            asking.start()
            time.sleep(5)
            assert other.read("RETURN 1 AS one")[0]["one"] == 1 and not own.has_ended
        asking.join(60)
        assert not asking.is_alive() and ends(own)

    def test_a_store_whose_server_ran_out_of_memory_is_opened_again(
        self, own: Store, server: Embedded
    ) -> None:
        own.query_write("CREATE (:Kept {n: 1})")
        stores = ReopenedStore(own, server.open)
        with pytest.raises(StoreError, match=r"its server has ended \(java\.lang\.OutOfMemoryError"):
            stores.current().query_read(TOO_LARGE)
        assert stores.current().read("MATCH (k:Kept) RETURN k.n AS n")[0]["n"] == 1
        stores.close()

    def test_it_is_opened_once_for_all_threads(
        self, own: Store, server: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reopening, "WAIT_SECONDS", 300.0)
        opened: list[Store] = []

        def open_again() -> Store:
            opened.append(server.open())
            return opened[-1]

        stores = ReopenedStore(own, open_again)
        server.kill()
        asking = [threading.Thread(target=stores.current) for _ in range(5)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert len(opened) == 1 and stores.current() is opened[0]
        stores.close()

    def test_a_failed_attempt_is_not_repeated_at_once(
        self, own: Store, server: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        attempts: list[bool] = []

        def fail() -> Store:
            attempts.append(True)
            raise StoreError("no room")

        stores = ReopenedStore(own, fail)
        server.kill()
        for _ in range(3):
            with pytest.raises(StoreError, match="no room"):
                stores.current()
        assert len(attempts) == 1
        monkeypatch.setattr(reopening, "PAUSE_SECONDS", 0.0)
        with pytest.raises(StoreError, match="no room"):
            stores.current()
        assert len(attempts) == 2


def test_a_store_that_is_open_has_not_ended(store: Store) -> None:
    assert not store.has_ended


def test_the_server_of_a_store_that_was_closed_has_ended(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as opened:
        pass
    assert opened.has_ended
