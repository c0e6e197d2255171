"""The supervisor of an embedded store: the process that owns its server, one for a directory.

``python -I supervisor.py`` reads an order (JSON) from standard input, takes the directory's lock,
starts Java, and serves a control socket on 127.0.0.1. Each process that uses the store holds
one control connection open for as long as it does; the kernel closes it however that process
ends. When the last one is gone the supervisor stops Java and exits, after so many seconds as that one
asked for when it left: one that was killed asked for none. A temporary directory goes with it. Java
can't outlive the supervisor: on Linux the kernel kills it with its parent, elsewhere a watchdog
does. The lock is inherited by Java, so it is held until Java is gone.

The store directory holds data only. What the server reads and writes while it runs (the endpoint, the
password, its log, its configuration) is in a run directory of the user's, which `run_directory` names. It is
removed when the server ends; of a server that failed, the log stays.

This file uses the standard library and two modules of graphneg's that do the same. It runs isolated, so that
it starts in an instant and imports nothing from the user's working directory.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import hashlib
import json
import os
import re
import secrets
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import IO, Any

if __name__ == "__main__":  # Run by its path and isolated: nothing else says where this graphneg is.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from graphneg.file_locks import lock_exclusively
from graphneg.private_files import found, own_folder, private

if __name__ == "__main__":  # What is imported later comes from the standard library.
    del sys.path[0]

PROTOCOL = 2
"""Version of the endpoint file and the control connection; another one is refused."""

EXIT_BUSY = 75
"""The supervisor's exit status when another process holds the directory's lock."""

LOCK = "server.lock"
"""In the store directory, since it must be one for all users and hosts."""
HELD = "held.lock"
"""In the run directory: held while its supervisor runs."""
ENDPOINT = "endpoint.json"
LOG = "server.log"
ENGINE = "arcadedb"
DATABASE = "neo4j"
ROOT = "server"
OWNER = "root"
READER = "reader"
"""The server's accounts: graphneg's own, and the one for queries that nobody checked."""
GROUPS: dict[str, Any] = {
    "admin": {
        "access": ["updateSecurity", "updateSchema", "updateDatabaseSettings"],
        "types": {"*": {"access": ["createRecord", "readRecord", "updateRecord", "deleteRecord"]}},
    },
    READER: {"access": [], "types": {"*": {"access": ["readRecord"]}}},
}
"""What the members of a group may do. The server checks it for each record, whatever the query looks like."""
WELCOME = b"welcome\n"
KEEP = re.compile(rb"keep (\d{1,9})\n")
"""What a user may say before it leaves: how many seconds the server is to wait for the next."""

END = b"end\n"
"""What the only user may say: end now, a query on this server can't be stopped in another way."""

FIRST_USER_SECONDS = 15.0
LISTENING_SECONDS = 120.0
STOP_SECONDS = 20.0
TICK_SECONDS = 0.1
ABANDONED_SECONDS = 86_400.0
"""Age from which the run directory of a server that was killed is removed."""
LISTENING = re.compile(rb"BOLT connections on \S*:(\d+)")
JAVA_FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UseCompactObjectHeaders",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
    "--add-modules=jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
)


def main() -> int:
    """Keep one directory's server until its last user is gone; or, given a process's id, watch over that."""
    if len(sys.argv) > 1:
        return _watch(int(sys.argv[1]))
    order: dict[str, Any] = json.load(sys.stdin)
    os.umask(0o077)
    directory = Path(order["directory"])
    with open(directory / LOCK, "ab", opener=found) as lock:
        if not lock_exclusively(lock):
            return EXIT_BUSY
        runs = own_folder(Path(order["runs"]))
        run = run_directory(runs, os.fstat(lock.fileno()))
        with open(own_folder(run) / HELD, "ab", opener=private) as held:
            # A server whose directory was removed may still be ending, and this one's have the same number.
            if not (lock_exclusively(held) and is_at(run / HELD, os.fstat(held.fileno()))):
                return EXIT_BUSY
            _clear(run)  # of a server that was killed
            _remove_abandoned(runs)
            return Supervisor(directory, run, order, lock).run()


def run_directory(runs: Path, lock: os.stat_result) -> Path:
    """Return where the server that holds a lock keeps what it needs while it runs.

    The name depends on the lock file itself, not on its path. So a copy is a store of its own, and two paths
    of one directory (a link, a bind mount) lead to the same server.

    Args:
        runs: The folder of all run directories of the user.
        lock: The status of the lock file.

    Returns:
        The path. The directory exists while a server runs.
    """
    try:  # A restart of the machine ends all servers, and numbers devices anew.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = ""
    identity = f"{boot} {lock.st_dev} {lock.st_ino}"
    return runs / hashlib.sha256(identity.encode()).hexdigest()[:32]


def is_at(path: Path, known: os.stat_result) -> bool:
    """Return whether a file still has this name, and is not another one of that name."""
    try:
        return os.path.samestat(os.stat(path), known)
    except OSError:
        return False


def _clear(run: Path) -> None:
    for left in run.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        elif left.name != HELD:
            left.unlink()


def _remove_abandoned(runs: Path) -> None:
    """Remove run directories of servers that were killed and whose stores nobody has opened since."""
    for run in runs.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - run.lstat().st_mtime > ABANDONED_SECONDS:
                with open(run / HELD, "ab", opener=found) as held:
                    if lock_exclusively(held):
                        shutil.rmtree(run)


class Supervisor:
    """One server, the control connections to it, and their end."""

    def __init__(self, directory: Path, run: Path, order: dict[str, Any], lock: IO[bytes]) -> None:
        self._directory = directory
        self._run = run
        self._order = order
        self._lock = os.fstat(lock.fileno())
        self._token = secrets.token_urlsafe(24)
        self._password = secrets.token_urlsafe(24)
        self._reader_password = secrets.token_urlsafe(24)
        self._users: dict[socket.socket, bytes] = {}
        self._pending: dict[socket.socket, bytes] = {}
        self._leaving: list[socket.socket] = []
        self._stop_asked = False
        self._is_late = False
        self._seen_user = False
        self._warm_until = 0.0
        self._bolt_port = 0
        self._started = time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask_to_stop)
        accounts = {OWNER: self._password, READER: self._reader_password}
        self._java = _start_java(directory, run, order, accounts, lock)
        self._watchdog = _start_watchdog(self._java.pid)

    def run(self) -> int:
        """Serve until nobody uses the server, it ends, or a signal asks to stop; returns the exit status."""
        try:
            self._write_endpoint()
            while self._in_use() and self._java.poll() is None:
                self._serve()
                if not self._bolt_port:
                    self._find_bolt_port()
        finally:
            self._stop()
        return 0

    def _in_use(self) -> bool:
        now = time.monotonic()
        age = now - self._started
        self._is_late = not self._bolt_port and age > LISTENING_SECONDS
        if self._stop_asked or self._is_late:
            return False
        if self._users:
            return True
        is_awaited = now < self._warm_until or (not self._seen_user and age < FIRST_USER_SECONDS)
        return is_awaited and self._has_directory()

    def _has_directory(self) -> bool:
        """Return whether the directory is still there, and not another one of its name."""
        return is_at(self._directory / LOCK, self._lock)

    def _ask_to_stop(self, *_: object) -> None:
        self._stop_asked = True

    def _serve(self) -> None:
        """Take new connections, and read from those that are there."""
        for key, _ in self._selector.select(TICK_SECONDS):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            if connection is self._listener:
                with contextlib.suppress(OSError):
                    connection, _ = self._listener.accept()
                    connection.setblocking(False)
                    self._pending[connection] = b""
                    self._selector.register(connection, selectors.EVENT_READ)
                continue
            try:
                data = connection.recv(4096)
            except OSError:
                data = b""
            if not data:
                self._drop(connection)
            elif connection in self._pending:
                self._admit(connection, data)
            elif data.endswith(END):
                self._stop_asked = self._stop_asked or len(self._users) == 1
            else:
                self._users[connection] = (self._users[connection] + data)[-64:]

    def _admit(self, connection: socket.socket, data: bytes) -> None:
        self._pending[connection] += data
        if b"\n" not in self._pending[connection] and len(self._pending[connection]) < 256:
            return
        token = self._pending[connection].strip()
        # The server of a directory that was moved or removed works on for those who use it, but it can make
        # no new files.
        if not secrets.compare_digest(token, self._token.encode()) or not self._has_directory():
            self._drop(connection)
            return
        del self._pending[connection]
        self._users[connection] = b""
        self._seen_user = True
        _send(connection, WELCOME)
        if self._bolt_port:
            _send(connection, b"%d\n" % self._bolt_port)

    def _drop(self, connection: socket.socket) -> None:
        """Close a connection; the last user is told that the server is gone by the end of its own, unless it
        asked to keep it."""
        said = self._users.pop(connection, None)
        self._pending.pop(connection, None)
        self._selector.unregister(connection)
        if said is not None:
            keep = KEEP.fullmatch(said)
            self._warm_until = time.monotonic() + int(keep[1]) if keep else 0.0
        if said is not None and not self._users and not self._warm_until:
            self._leaving.append(connection)
        else:
            connection.close()

    def _find_bolt_port(self) -> None:
        if match := LISTENING.search((self._run / LOG).read_bytes()):
            self._bolt_port = int(match[1])
            for user in self._users:
                _send(user, b"%d\n" % self._bolt_port)

    def _write_endpoint(self) -> None:
        endpoint = {
            "protocol": PROTOCOL,
            "graphneg": self._order["graphneg"],
            "supervisor": os.getpid(),
            "java": self._java.pid,
            "control_port": self._listener.getsockname()[1],
            "token": self._token,
            "password": self._password,
            "reader_password": self._reader_password,
            "engine": {name: self._order[name] for name in ("java", "jars", "version", "heap")},
        }
        scratch = self._run / f"{ENDPOINT}.{os.getpid()}"
        scratch.write_text(json.dumps(endpoint))
        scratch.replace(self._run / ENDPOINT)

    def _stop(self) -> None:
        """Admit no new users, who wait for the lock from here on, and end Java.

        If the directory was removed or moved, Java has nothing to put in order. The log of a server that
        ended by itself, or never listened, says why: it stays.
        """
        is_there = self._has_directory()
        has_failed = self._is_late or self._java.poll() is not None
        (self._run / ENDPOINT).unlink(missing_ok=True)
        self._listener.close()
        for connection in self._pending:
            connection.close()
        if is_there:
            self._java.terminate()
        else:
            self._java.kill()
        try:
            self._java.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._java.kill()
            self._java.wait()
        if self._watchdog:
            self._watchdog.communicate(b"done")
        if is_there and self._order["temporary"]:
            shutil.rmtree(self._directory, ignore_errors=True)
        if has_failed:
            shutil.rmtree(self._run / ROOT, ignore_errors=True)
        else:
            shutil.rmtree(self._run, ignore_errors=True)


def _send(user: socket.socket, line: bytes) -> None:
    """Send a line; a user who is gone already is noticed when its connection is read next."""
    with contextlib.suppress(OSError):
        user.send(line)


def _start_java(
    directory: Path, run: Path, order: dict[str, Any], accounts: dict[str, str], lock: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the server with new passwords of its accounts; it picks free ports by itself.

    Its root, where it looks for plugins and configuration, is new and outside the store, which may be
    somebody else's.
    """
    root = run / ROOT
    root.mkdir()
    _write_accounts(root / "config", accounts)
    settings = {
        "server.rootPath": root,
        "server.databaseDirectory": directory / ENGINE / "databases",
        "server.httpIncomingHost": "127.0.0.1",
        "server.httpIncomingPort": 0,
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "opencypher.loadCsv.allowRemoteUrls": "false",  # every account may use it, also to send data away
        "command.regexTimeout": 60_000,  # for a whole scan; ours are simple, the machine may be busy
        "bolt.host": "127.0.0.1",
        "bolt.port": 0,
        "server.defaultDatabases": f"{DATABASE}[]",
        # By default 4 queries on 2 cores; a fifth waits behind them, and so does what would stop one of them.
        "queryMaxConcurrent": 64,
        "server.mode": "development",
    }
    command = [
        *(order["java"], *JAVA_FLAGS, f"-Xmx{order['heap']}"),
        *(f"-Darcadedb.{name}={value}" for name, value in settings.items()),
        *("-cp", str(Path(order["jars"]) / "*"), "com.arcadedb.server.ArcadeDBServer"),
    ]
    # The C locale would make Java unable to open paths that are not ASCII.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"} if sys.platform == "linux" else None
    with (run / LOG).open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=() if sys.platform == "win32" else (lock.fileno(),),
            preexec_fn=partial(_die_with, os.getpid()) if sys.platform == "linux" else None,
        )


def _write_accounts(folder: Path, accounts: dict[str, str]) -> None:
    """Write the server's configuration of users and groups, as it writes it itself, for its first start.

    Args:
        folder: A directory to create.
        accounts: The password of `OWNER` and that of `READER`.
    """
    folder.mkdir()
    groups = {"version": 1, "databases": {"*": {"groups": GROUPS}}}
    (folder / "server-groups.json").write_text(json.dumps(groups))
    users = [
        {"name": OWNER, "password": _hashed(accounts[OWNER]), "databases": {"*": ["admin"]}},
        {"name": READER, "password": _hashed(accounts[READER]), "databases": {DATABASE: [READER]}},
    ]
    (folder / "server-users.jsonl").write_text("".join(json.dumps(user) + "\n" for user in users))


def _hashed(password: str) -> str:
    """Return the form in which the server keeps a password.

    One iteration: more would slow down each connection, and a password of 192 random bits can't be guessed.
    """
    salt = secrets.token_urlsafe(24)
    key = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), 1, 32)
    return f"PBKDF2WithHmacSHA256$1${salt}${base64.b64encode(key).decode()}"


def _die_with(parent: int) -> None:
    """In the child, before Java: ask the kernel to kill it when its parent ends (prctl(2))."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _start_watchdog(pid: int) -> subprocess.Popen[bytes] | None:
    """Where the kernel does not end children with their parent, a process that does."""
    if sys.platform == "linux":
        return None
    return subprocess.Popen([sys.executable, "-I", __file__, str(pid)], stdin=subprocess.PIPE)


def _watch(pid: int) -> int:
    """Wait for the end of standard input, which a supervisor holds open, then end the process it kept. If the
    input ends without a word, the supervisor was killed; if it says ``done``, nothing is left to end."""
    if sys.stdin.buffer.read() != b"done":
        with contextlib.suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    return 0


if __name__ == "__main__":
    sys.exit(main())
