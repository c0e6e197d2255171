"""The supervisor of an embedded store: the process that owns its server, one for a directory.

``python -I supervisor.py`` reads an order (JSON) from standard input, takes the directory's lock,
starts Java, and serves a control socket on 127.0.0.1. Each process that uses the store holds
one control connection open for as long as it does; the kernel closes it however that process
ends. When the last one is gone the supervisor stops Java and exits. Java can't outlive the supervisor:
on Linux the kernel kills it with its parent, elsewhere a watchdog does. The lock is inherited
by Java, so it is held until Java is gone.

This file uses the standard library alone and runs isolated, so that it starts in an instant
and imports nothing from the user's working directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import IO, Any

PROTOCOL = 1
"""Version of the endpoint file and the control connection; another one is refused."""

EXIT_BUSY = 75
"""The supervisor's exit status when another process holds the directory's lock."""

LOCK = "server.lock"
ENDPOINT = "endpoint.json"
LOG = "server.log"
ENGINE = "arcadedb"
PASSWORD = "password"
WELCOME = b"welcome\n"

FIRST_USER_SECONDS = 15.0
LISTENING_SECONDS = 120.0
STOP_SECONDS = 20.0
TICK_SECONDS = 0.1
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
    """Keep one directory's server until its last user is gone."""
    order: dict[str, Any] = json.load(sys.stdin)
    os.umask(0o077)
    directory = Path(order["directory"])
    with open(directory / LOCK, "ab", opener=private) as lock:
        if not lock_exclusively(lock):
            return EXIT_BUSY
        (directory / ENDPOINT).unlink(missing_ok=True)
        return Supervisor(directory, order, lock).run()


def private(path: str, flags: int) -> int:
    """Open a file for its owner alone."""
    return os.open(path, flags, 0o600)


def lock_exclusively(lock: IO[bytes]) -> bool:
    """Take the lock without waiting. It lasts until every process that inherited ``lock`` is gone."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


class Supervisor:
    """One server, the control connections to it, and their end."""

    def __init__(self, directory: Path, order: dict[str, Any], lock: IO[bytes]) -> None:
        self.directory = directory
        self.order = order
        self.token = secrets.token_urlsafe(24)
        self.password = secrets.token_urlsafe(24)
        self.users: set[socket.socket] = set()
        self.waiting: dict[socket.socket, bytes] = {}
        self.leaving: list[socket.socket] = []
        self.stop_asked = False
        self.seen_user = False
        self.bolt_port = 0
        self.started = time.monotonic()
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.ask_to_stop)
        self.java = start_java(directory, order, self.password, lock)
        self.watchdog = start_watchdog(self.java.pid)

    def run(self) -> int:
        try:
            self.write_endpoint()
            while self.wanted() and self.java.poll() is None:
                self.serve()
                if not self.bolt_port:
                    self.find_bolt_port()
        finally:
            self.stop()
        return 0

    def wanted(self) -> bool:
        if self.stop_asked:
            return False
        age = time.monotonic() - self.started
        if not self.bolt_port and age > LISTENING_SECONDS:
            return False
        return bool(self.users) or (not self.seen_user and age < FIRST_USER_SECONDS)

    def ask_to_stop(self, *_: object) -> None:
        self.stop_asked = True

    def serve(self) -> None:
        for key, _ in self.selector.select(TICK_SECONDS):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            if connection is self.listener:
                self.accept()
            else:
                self.hear(connection)

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self.listener.accept()
            connection.setblocking(False)
            self.waiting[connection] = b""
            self.selector.register(connection, selectors.EVENT_READ)

    def hear(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(4096)
        except OSError:
            data = b""
        if connection in self.users:
            if not data:
                self.part(connection)
        elif not data:
            self.drop(connection)
        else:
            self.greet(connection, data)

    def greet(self, connection: socket.socket, data: bytes) -> None:
        self.waiting[connection] += data
        if b"\n" not in self.waiting[connection] and len(self.waiting[connection]) < 256:
            return
        said = self.waiting[connection].strip()
        if not secrets.compare_digest(said, self.token.encode()):
            self.drop(connection)
            return
        del self.waiting[connection]
        self.users.add(connection)
        self.seen_user = True
        tell(connection, WELCOME)
        if self.bolt_port:
            tell(connection, b"%d\n" % self.bolt_port)

    def part(self, user: socket.socket) -> None:
        """Let a user go; the last one is told that the server is gone by the end of its connection."""
        self.users.discard(user)
        self.selector.unregister(user)
        if self.users:
            user.close()
        else:
            self.leaving.append(user)

    def drop(self, connection: socket.socket) -> None:
        self.waiting.pop(connection, None)
        self.selector.unregister(connection)
        connection.close()

    def find_bolt_port(self) -> None:
        found = LISTENING.search((self.directory / LOG).read_bytes())
        if found:
            self.bolt_port = int(found[1])
            (self.directory / PASSWORD).unlink(missing_ok=True)
            for user in self.users:
                tell(user, b"%d\n" % self.bolt_port)

    def write_endpoint(self) -> None:
        endpoint = {
            "protocol": PROTOCOL,
            "graphneg": self.order["graphneg"],
            "supervisor": os.getpid(),
            "java": self.java.pid,
            "control_port": self.listener.getsockname()[1],
            "token": self.token,
            "password": self.password,
        }
        scratch = self.directory / f"{ENDPOINT}.{os.getpid()}"
        scratch.write_text(json.dumps(endpoint))
        scratch.replace(self.directory / ENDPOINT)

    def stop(self) -> None:
        """No new users from here on: they wait for the lock. Then Java's orderly end, or its end."""
        (self.directory / ENDPOINT).unlink(missing_ok=True)
        self.listener.close()
        for connection in self.waiting:
            connection.close()
        self.java.terminate()
        try:
            self.java.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.java.kill()
            self.java.wait()
        if self.watchdog:
            self.watchdog.communicate(b"done")
        (self.directory / PASSWORD).unlink(missing_ok=True)


def tell(user: socket.socket, line: bytes) -> None:
    """Send a line; a user who is gone already is noticed when its connection is read next."""
    with contextlib.suppress(OSError):
        user.send(line)


def start_java(
    directory: Path, order: dict[str, Any], password: str, lock: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the server with a new password; it picks free ports by itself."""
    root = directory / ENGINE
    root.mkdir(exist_ok=True)
    (root / "config" / "server-users.jsonl").unlink(missing_ok=True)
    (directory / PASSWORD).write_text(password)
    settings = {
        "server.rootPath": root,
        "server.rootPasswordPath": directory / PASSWORD,
        "server.httpIncomingHost": "127.0.0.1",
        "server.httpIncomingPort": 0,
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "command.regexTimeout": 60_000,  # for a whole scan; ours are simple, the machine may be busy
        "bolt.host": "127.0.0.1",
        "bolt.port": 0,
        "server.defaultDatabases": "neo4j[]",
        "server.mode": "development",
    }
    command = [order["java"], *JAVA_FLAGS, f"-Xmx{order['heap']}"]
    command += [f"-Darcadedb.{name}={value}" for name, value in settings.items()]
    command += ["-cp", str(Path(order["jars"]) / "*"), "com.arcadedb.server.ArcadeDBServer"]
    # The C locale would make Java unable to open paths that are not ASCII.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"} if sys.platform == "linux" else None
    with (directory / LOG).open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=() if sys.platform == "win32" else (lock.fileno(),),
            preexec_fn=partial(die_with, os.getpid()) if sys.platform == "linux" else None,
        )


def die_with(parent: int) -> None:
    """In the child, before Java: ask the kernel to kill it when its parent ends (prctl(2))."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def start_watchdog(pid: int) -> subprocess.Popen[bytes] | None:
    """Where the kernel does not end children with their parent, a process that does."""
    if sys.platform == "linux":
        return None
    watchdog = Path(__file__).with_name("watchdog.py")
    return subprocess.Popen([sys.executable, "-I", str(watchdog), str(pid)], stdin=subprocess.PIPE)


if __name__ == "__main__":
    sys.exit(main())
