"""Tests of the embedded server: shared by processes, closed to others, and ended after the last one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from neo4j import Driver, ResultSummary

from graphneg.errors import StoreError
from graphneg.file_locks import lock_exclusively
from graphneg.private_files import private_opener
from graphneg.store import embedded as store_server
from graphneg.store import opening, supervisor
from graphneg.store.connection import Store, probe
from graphneg.store.embedded import STORE_FILE, log_reason, read_endpoint, run_directory
from graphneg.store.opening import open_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and modes of POSIX")

SECONDS = 30.0
USER = """
import sys
from graphneg.store import open_store

with open_store(sys.argv[1]) as store:
    print("open", flush=True)
    for line in sys.stdin:
        text = line.strip()
        store.write(lambda transaction: transaction.run("MERGE (:Term {text: $text})", text=text).consume())
        print("wrote", flush=True)
"""


class User:
    """A process that opens a store and writes the terms that the test sends."""

    def __init__(self, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def is_open(self) -> bool:
        return self.hear() == "open"

    def write(self, text: str) -> None:
        assert self.process.stdin
        print(text, file=self.process.stdin, flush=True)
        assert self.hear() == "wrote"

    def hear(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def leave(self) -> int:
        self.process.communicate()
        return self.process.returncode

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "a store"


@pytest.fixture
def user(directory: Path) -> Generator[Callable[[], User]]:
    """Return a function that starts processes on the store. They end with the test."""
    with ExitStack() as users:

        def start() -> User:
            started = User(directory)
            users.callback(started.kill)
            return started

        yield start


def processes(directory: Path) -> tuple[psutil.Process, psutil.Process]:
    """Return the supervisor and the Java process of a running server."""
    endpoint = read_endpoint(directory)
    assert endpoint
    return psutil.Process(endpoint.supervisor), psutil.Process(endpoint.java)


def run_of(directory: Path) -> Path:
    """Return the run directory of a store, whose name depends on the lock file of the store."""
    directory.mkdir(exist_ok=True)
    (directory / supervisor.LOCK).touch(0o600)
    run = run_directory(directory)
    assert run
    run.mkdir(0o700, exist_ok=True)
    return run


def gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def await_end(*those: psutil.Process) -> None:
    deadline = time.monotonic() + SECONDS
    while not all(gone(process) for process in those):
        assert time.monotonic() < deadline, f"still running: {those}"
        time.sleep(0.05)


def terms(store: Store) -> set[str]:
    return {row["text"] for row in store.read("MATCH (t:Term) RETURN t.text AS text")}


def test_two_processes_share_one_server_until_both_have_left(
    directory: Path, user: Callable[[], User]
) -> None:
    first, second = user(), user()
    assert first.is_open() and second.is_open()
    server = processes(directory)
    first.write("tea")
    assert first.leave() == 0
    second.write("coffee")
    with open_store(directory) as store:
        assert processes(directory) == server
        assert terms(store) == {"tea", "coffee"}
    assert not gone(server[1])
    assert second.leave() == 0
    assert all(gone(process) for process in server)
    run = run_directory(directory)
    assert run and not run.exists()


@pytest.fixture
def shared(embedded: Store) -> Path:
    """Return the directory of an open store."""
    return Path(embedded.description.removeprefix("embedded store at "))


def test_only_this_user_on_this_machine_can_connect(embedded: Store, shared: Path) -> None:
    embedded.query_write("MERGE (:Term {text: 'tea'})")
    run, secrets = run_of(shared), read_endpoint(shared)
    assert secrets
    for process in processes(shared):
        listening = [c for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
        assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} == {"127.0.0.1"}
        shown = " ".join(process.cmdline()) + str(process.environ())
        assert secrets.password not in shown
        assert secrets.token not in shown
    for folder in (shared, run.parent, run):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (*shared.rglob("*"), *run.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_each_start_has_another_password(directory: Path) -> None:
    passwords: set[str] = set()
    for _ in range(2):
        with open_store(directory):
            endpoint = read_endpoint(directory)
            assert endpoint
            passwords.add(endpoint.password)
    assert len(passwords) == 2


def test_a_killed_user_leaves_no_server_and_all_it_wrote(directory: Path, user: Callable[[], User]) -> None:
    writer = user()
    assert writer.is_open()
    server = processes(directory)
    for n in range(5):
        writer.write(f"t{n}")
    writer.kill()
    await_end(*server)
    with open_store(directory) as store:
        assert terms(store) == {f"t{n}" for n in range(5)}


@pytest.mark.parametrize("victim", [0, 1], ids=["supervisor", "java"])
def test_a_killed_server_is_reported_and_loses_no_writes(directory: Path, victim: int) -> None:
    with open_store(directory) as store:
        for n in range(5):
            store.query_write("CREATE (:Term {text: $text})", {"text": f"t{n}"})
        server = processes(directory)
        server[victim].kill()
        await_end(*server)
        began = time.monotonic()
        for ask in (store.read, lambda query: next(store.stream(query)), store.query_write):
            with pytest.raises(StoreError, match=r"its server has ended: open the store again"):
                ask("RETURN 1")
        assert time.monotonic() - began < 5.0
        with open_store(directory) as again:
            assert terms(again) == {f"t{n}" for n in range(5)}


def test_a_supervisor_that_gets_sigterm_stops_its_server(directory: Path) -> None:
    with open_store(directory):
        server = processes(directory)
        server[0].terminate()
        await_end(*server)
        assert read_endpoint(directory) is None


def test_an_interrupt_does_not_reach_the_server(directory: Path, user: Callable[[], User]) -> None:
    starter = user()
    assert starter.is_open()
    with open_store(directory) as other:
        os.killpg(starter.process.pid, signal.SIGINT)
        starter.process.wait(SECONDS)
        assert terms(other) == set()


def test_many_that_start_at_once_get_one_server(directory: Path, user: Callable[[], User]) -> None:
    users = [user() for _ in range(5)]
    assert all(each.is_open() for each in users)
    root = f"-Darcadedb.server.rootPath={run_of(directory) / supervisor.ROOT}"
    [java] = [p for p in psutil.process_iter(["cmdline"]) if root in (p.info["cmdline"] or [])]
    for n, each in enumerate(users):
        each.write(f"t{n}")
    for each in users:
        each.kill()
    await_end(java)


def test_opening_while_the_server_stops_waits_for_it(directory: Path, user: Callable[[], User]) -> None:
    leaving = user()
    assert leaving.is_open()
    leaving.write("tea")
    _, java = processes(directory)
    leaving.kill()
    with open_store(directory) as store:
        assert terms(store) == {"tea"}
        assert processes(directory)[1] != java


def test_opening_when_the_joined_server_is_killed_starts_the_next(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is killed after a process has joined it and before it answers."""
    killed: list[psutil.Process] = []

    def ask_the_dying(driver: Driver, database: str | None) -> ResultSummary:
        if not killed:
            _, java = processes(directory)
            java.kill()
            killed.append(java)
        return probe(driver, database)

    monkeypatch.setattr(opening, "probe", ask_the_dying)
    with open_store(directory) as store:
        assert terms(store) == set()
        assert processes(directory)[1] != killed[0]


def test_closing_twice_does_no_harm(shared: Path) -> None:
    store = open_store(shared)
    store.close()
    store.close()


def test_a_directory_with_any_name_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    with open_store(tmp_path / "größe & 大 'x'") as store:
        store.query_write("CREATE (:Term {text: 'Größe'})")
        assert terms(store) == {"Größe"}


# Directories and servers that can't be opened


def test_a_file_is_refused_as_a_store(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(StoreError, match=r"is a file.*new or empty"):
        open_store(file)


def test_a_directory_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match=r"contains thesis\.tex and no store\.json"):
        open_store(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "place",
    ["/proc/graphneg", "/tmp/" + "x" * 300, "/tmp/a\0b", "/tmp/${user.home}", "~no such user/s"],
    ids=ascii,
)
def test_a_directory_that_can_not_be_written_is_an_error(place: str) -> None:
    with pytest.raises(StoreError, match=r"can't use .* as a store|in the home directory of a user who"):
        open_store(place)


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk without room."""
    script = (
        "import resource, signal, sys; from graphneg.store import open_store\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from graphneg.errors import StoreError\n"
        "try: open_store(sys.argv[1])\n"
        "except StoreError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", script, str(tmp_path / "s")], capture_output=True, text=True)
    assert "can't use" in said.stdout and "disk with free space" in said.stdout, said.stderr


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("{", "is damaged"),
        ('{"format": 9, "engine": "arcadedb", "engine_version": "26.10.2"}', "store format 9"),
        ('{"format": 1, "engine": "arcadedb", "engine_version": "99.1"}', "pip install --upgrade"),
        ('{"format": 1, "engine": "other", "engine_version": "1.0"}', 'written by "other"'),
    ],
)
def test_a_store_of_another_format_is_an_error(tmp_path: Path, mark: str, message: str) -> None:
    (tmp_path / STORE_FILE).write_text(mark)
    with pytest.raises(StoreError, match=message):
        open_store(tmp_path)


def test_a_server_of_another_protocol_is_an_error(embedded: Store, shared: Path) -> None:
    endpoint = run_of(shared) / supervisor.ENDPOINT
    ours = endpoint.read_text()
    endpoint.write_text(json.dumps({**json.loads(ours), "protocol": 99, "graphneg": "99.0"}))
    try:
        with pytest.raises(StoreError, match=r"in use by graphneg 99\.0"):
            open_store(shared)
    finally:
        endpoint.write_text(ours)


@pytest.mark.parametrize("left", ["", "[]", '{"control_port": 1}'])
def test_an_unreadable_endpoint_is_ignored(tmp_path: Path, left: str) -> None:
    (run_of(tmp_path) / supervisor.ENDPOINT).write_text(left)
    assert read_endpoint(tmp_path) is None


def test_a_stale_endpoint_of_another_protocol_is_ignored(directory: Path) -> None:
    left = {"protocol": 99, "graphneg": "99.0", "token": "t", "password": "p", "control_port": 1}
    left |= {"supervisor": 1, "java": 1}
    (run_of(directory) / supervisor.ENDPOINT).write_text(json.dumps(left))
    with open(directory / supervisor.LOCK, "ab") as lock:  # hold the lock, as a starting server does
        assert lock_exclusively(lock)
        later = threading.Timer(1.0, lock.close)
        later.start()
        open_store(directory).close()
        later.join()


def test_another_program_on_the_control_port_is_ignored(directory: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        left = {"protocol": supervisor.PROTOCOL, "graphneg": "0", "token": "t", "password": "p"}
        left |= {"supervisor": 1, "java": 1, "control_port": stranger.getsockname()[1]}
        (run_of(directory) / supervisor.ENDPOINT).write_text(json.dumps(left))
        with open_store(directory) as store:
            assert terms(store) == set()


def test_a_missing_wheel_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arcadedb_embedded", None)
    with pytest.raises(StoreError, match="pip install arcadedb-embedded"):
        open_store(tmp_path / "s")


def test_a_missing_java_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHNEG_JAVA", "/nowhere/java")
    with pytest.raises(StoreError, match="GRAPHNEG_JAVA=/nowhere/java"):
        open_store(tmp_path / "s")


JAVAS = {
    "echo 'openjdk version \"17.0.2\"' >&2": r"can't be used \(openjdk version \"17\.0\.2\"\)",
    "exit 1": r"can't be used \(it prints nothing\)",
    "exec sleep 60": r"does not print its version within 1 s",
}


@pytest.mark.parametrize("program", JAVAS)
def test_a_program_other_than_java_is_an_error(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{program}\n")
    java.chmod(0o755)
    monkeypatch.setenv("GRAPHNEG_JAVA", str(java))
    monkeypatch.setattr(store_server, "JAVA_SECONDS", 1.0)
    with pytest.raises(StoreError, match=rf"GRAPHNEG_JAVA={java} {JAVAS[program]}.*Java 21") as refusal:
        open_store(tmp_path / "s")
    assert "\n" not in str(refusal.value)


def test_a_java_that_never_answers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\n[ "$1" = -version ] && echo \'version "25"\' || exec sleep 60\n')
    java.chmod(0o755)
    monkeypatch.setenv("GRAPHNEG_JAVA", str(java))
    monkeypatch.setattr(store_server, "START_SECONDS", 3.0)
    with pytest.raises(
        StoreError, match=rf"was started with {java} and does not answer in 3 s; the machine may"
    ):
        open_store(tmp_path / "s")


def test_a_java_that_does_not_start_shows_its_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHNEG_JAVA_HEAP", "1k")
    with pytest.raises(StoreError, match=r"(?s)ended while it started.*[Hh]eap"):
        open_store(tmp_path / "s")


def test_an_invalid_heap_size_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHNEG_JAVA_HEAP", "lots")
    with pytest.raises(StoreError, match="GRAPHNEG_JAVA_HEAP=lots"):
        open_store(tmp_path / "s")


# Systems where the kernel does not end a server with its supervisor


@pytest.mark.parametrize(("said", "outlives"), [(b"", False), (b"done", True)])
def test_the_watchdog_ends_a_server_whose_supervisor_was_killed(said: bytes, outlives: bool) -> None:
    with subprocess.Popen(["sleep", "60"]) as server:
        subprocess.run([sys.executable, "-I", supervisor.__file__, str(server.pid)], input=said, check=True)
        time.sleep(0.2)
        assert (server.poll() is None) == outlives
        server.kill()


# Concurrent writes and full disks


def test_a_write_waits_for_its_turn_and_reading_does_not(embedded: Store, shared: Path) -> None:
    done = threading.Event()

    def write() -> None:
        embedded.query_write("MERGE (:Term {text: 'turn'})")
        done.set()

    with store_server.turn(shared):
        writer = threading.Thread(target=write)
        writer.start()
        assert not done.wait(0.5)
        assert embedded.read("RETURN 1 AS one")[0]["one"] == 1
    assert done.wait(SECONDS)
    writer.join()


def test_a_temporary_store_is_deleted_with_its_server(tmp_path: Path) -> None:
    program = (
        "import sys; from graphneg.store.opening import open_temporary\n"
        "with open_temporary() as store: print(store.description, flush=True); sys.stdin.read()\n"
    )
    for is_killed in (False, True):
        user = subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert user.stdout
        assert user.stdout.readline().startswith("embedded store at ")
        [directory] = tmp_path.iterdir()
        server = processes(directory)
        if is_killed:
            user.kill()
        user.communicate()
        await_end(*server)
        assert not directory.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")
def test_a_full_disk_is_named_as_the_cause_of_a_failed_write(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for a disk without room."""
    with open_store(directory) as store:
        processes(directory)[1].rlimit(psutil.RLIMIT_FSIZE, (0, 0))
        monkeypatch.setattr(store_server, "LEAST_ROOM", 1 << 60)
        with pytest.raises(
            StoreError, match=r"its disk is full: make room.*; all acknowledged writes are kept$"
        ):
            for _ in range(50):
                store.query_write("UNWIND range(1, 9000) AS n CREATE (:Term {text: randomUUID(), n: n})")


def test_a_full_disk_is_named_as_the_cause_of_a_failed_start(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A too small heap ends the server, as a full disk would."""
    monkeypatch.setenv("GRAPHNEG_JAVA_HEAP", "1k")
    with pytest.raises(StoreError, match=r"ended while it started; its log, .*server\.log, says: "):
        open_store(directory)
    monkeypatch.setattr(store_server, "LEAST_ROOM", 1 << 60)
    with pytest.raises(StoreError, match=r"ended while it started; its disk is full: make room.* are kept$"):
        open_store(directory)


def test_the_reason_for_the_end_of_a_server_is_reported(directory: Path) -> None:
    with open_store(directory) as store:
        server = processes(directory)
        server[1].kill()
        await_end(*server)
        with open(run_of(directory) / supervisor.LOG, "a") as log:
            log.write("Terminating due to java.lang.OutOfMemoryError: Java heap space\n")
        with pytest.raises(
            StoreError,
            match=r"ended \(java\.lang\.OutOfMemoryError: Java heap space\): set GRAPHNEG_JAVA_HEAP",
        ):
            store.read("RETURN 1")


# Log and lock files


STACK = """
2026-11-27 SEVER [TransactionManager] Preserving the WAL files
2026-11-27 INFO  [Server] Stop metrics collectionException in thread "main" org.Outer: Error on creating
\tat org.Server.main(Server.java:7)
Caused by: java.lang.IllegalArgumentException: Variable length quantity is too long
\tat org.Binary.read(Binary.java:9)
\t... 9 more
"""


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (STACK, "java.lang.IllegalArgumentException: Variable length quantity is too long"),
        ("SEVERE no room\nINFO stopped\nWARNING: Using incubator modules\n", "SEVERE no room"),
        (
            "Error occurred during initialization of VM\nToo small maximum heap\n",
            "Error occurred during initialization of VM; Too small maximum heap",
        ),
        (
            "Invalid maximum heap size: -Xmx9z\nError: Could not create the Java Virtual Machine.\n",
            "Invalid maximum heap size: -Xmx9z",
        ),
        ("INFO step 1\nINFO step 2\n", "INFO step 2"),
        ("ERROR " + "x" * 10_000, "ERROR " + "x" * 294),
        ("", "nothing"),
    ],
)
def test_the_last_error_of_the_log_is_reported(tmp_path: Path, log: str, reason: str) -> None:
    path = tmp_path / supervisor.LOG
    assert log_reason(path) == log_reason(None) == "it left no log"
    path.write_text(log)
    assert log_reason(path) == f"its log, {path}, says: {reason}"


def test_a_lock_is_held_by_one_file_until_that_is_closed(tmp_path: Path) -> None:
    path = tmp_path / supervisor.LOCK
    with open(path, "ab", opener=private_opener) as first, path.open("ab") as second:
        assert lock_exclusively(first)
        assert not lock_exclusively(second)
    assert path.stat().st_mode & 0o077 == 0
    with path.open("ab") as third:
        assert lock_exclusively(third)


def test_code_in_a_store_directory_is_not_run(tmp_path: Path) -> None:
    """Plugins and configuration files in a store directory are ignored."""
    directory = tmp_path / "store"
    with open_store(directory):
        pass
    for root in (supervisor.ENGINE, supervisor.ROOT):
        plugins = directory / root / "lib" / "plugins" / "evil"
        plugins.mkdir(parents=True)
        for place in (plugins, plugins.parent):
            with zipfile.ZipFile(place / "evil.jar", "w") as jar:
                jar.writestr("META-INF/services/com.arcadedb.server.ServerPlugin", "org.example.Evil")
        (directory / root / "config").mkdir(exist_ok=True)
        (directory / root / "config" / "server-configuration.json").write_text("{broken")
    with open_store(directory) as store:
        assert store.read("RETURN 1 AS one")[0]["one"] == 1
        log = (run_of(directory) / supervisor.LOG).read_text()
    assert "vil" not in log and "broken" not in log, log


# Servers that are kept running (--keep-warm)


def test_a_server_kept_warm_is_joined_by_the_next_and_ends_after_its_time(directory: Path) -> None:
    open_store(directory, keep_warm=3).close()
    server = processes(directory)
    with open_store(directory, keep_warm=3) as store:
        assert processes(directory) == server
        store.query_write("CREATE (:Term {text: 'tea'})")
    left = time.monotonic()
    await_end(*server)
    assert time.monotonic() - left > 2
    assert read_endpoint(directory) is None
    with open_store(directory) as store:
        assert terms(store) == {"tea"}


def test_the_last_process_decides_whether_the_server_is_kept(
    directory: Path, user: Callable[[], User]
) -> None:
    open_store(directory, keep_warm=60).close()
    server = processes(directory)
    open_store(directory).close()
    await_end(*server)

    open_store(directory, keep_warm=60).close()
    server = processes(directory)
    killed = user()
    assert killed.is_open()
    killed.kill()
    await_end(*server)


@pytest.mark.parametrize("victim", [0, 1], ids=["supervisor", "java"])
def test_nothing_is_left_of_a_warm_server_that_is_killed(directory: Path, victim: int) -> None:
    open_store(directory, keep_warm=60).close()
    server = processes(directory)
    server[victim].kill()
    await_end(*server)
    with open_store(directory) as store:
        assert terms(store) == set()


def test_a_warm_server_ends_with_its_directory_and_leaves_the_next_of_that_name_alone(
    directory: Path,
) -> None:
    open_store(directory, keep_warm=60).close()
    server = processes(directory)
    shutil.rmtree(directory)
    with open_store(directory) as store:
        await_end(*server)
        assert terms(store) == set()
        assert processes(directory) != server
        assert (run_of(directory) / supervisor.ROOT).exists()


def test_a_copy_of_an_open_store_is_another_store(directory: Path, tmp_path: Path) -> None:
    with open_store(directory, keep_warm=60) as store:
        store.query_write("CREATE (:Term {text: 'tea'})")
    shutil.copytree(directory, tmp_path / "copy", copy_function=shutil.copyfile)
    with open_store(tmp_path / "copy") as copy:
        assert processes(tmp_path / "copy") != processes(directory)
        copy.query_write("CREATE (:Term {text: 'coffee'})")
        assert terms(copy) == {"tea", "coffee"}
    with open_store(directory) as store:
        assert terms(store) == {"tea"}


def test_an_idle_server_is_replaced_for_another_heap_size(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(directory, keep_warm=60).close()
    server = processes(directory)
    monkeypatch.setenv("GRAPHNEG_JAVA_HEAP", "600m")
    with open_store(directory):
        _, java = processes(directory)
        assert gone(server[1]) and "-Xmx600m" in java.cmdline()
        monkeypatch.setenv("GRAPHNEG_JAVA_HEAP", "700m")
        with open_store(directory) as store:
            assert processes(directory)[1] == java
            assert terms(store) == set()
