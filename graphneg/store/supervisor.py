"""Start and stop the embedded server of one store directory, in a separate process.

The supervisor is started as ``python -I supervisor.py``. It reads its settings from standard input as JSON,
takes the lock of the store directory, starts the server (a Java process), and listens on a control socket on
127.0.0.1.

- **Users**: A user is a process that uses the store. It keeps a control connection to the supervisor open. If
  the process dies, the kernel closes the connection.
- **End**: When the last connection is closed, the supervisor stops Java and exits. Before the last user
  closes its connection, it may ask the supervisor to wait for the next user. A killed process cannot ask, so
  Java is stopped at once. A temporary store directory is removed at the end.
- **Java**: If the supervisor dies, Java is killed: by the kernel on Linux, and by a watchdog process on other
  systems. Java inherits the lock of the store directory, so that the lock is held until Java has ended.
- **Archive**: Java reads its classes from an archive in the user's cache, so that it starts faster. The first
  supervisor makes the archive when its server has ended; see `graphneg.java_archive`.
- **Files**: The store directory contains only data. The other files of a running server (connection data,
  passwords, log, configuration) are in a private run directory; see `run_directory`. It is removed when the
  server ends. If the server failed, its log is kept there.

This file imports only the standard library and four modules of graphneg that import only the standard
library, so that it starts quickly. It runs in Python's isolated mode, so that it imports nothing from the
user's working directory.
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

# Add the folder of graphneg to the path, because Python does not do so in isolated mode.
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from graphneg.checksums import forget_checksums, read_checksums, write_checksums
from graphneg.file_locks import lock_exclusively
from graphneg.java_archive import archive_flags, archive_path, make_archive, recording_of
from graphneg.private_files import private_folder, private_opener, untrusted_opener

# Remove the folder of graphneg from the path, because all later imports are from the standard library.
if __name__ == "__main__":
    del sys.path[0]

PROTOCOL = 2
"""Version of the endpoint file's format and of the protocol of the control connection. A process that expects
a different version does not use the server."""

EXIT_BUSY = 75
"""Exit status of the supervisor if another process holds the lock of the store directory."""

LOCK = "server.lock"
"""The lock file of a store. It is in the store directory, where all users on all hosts find the same file."""
HELD = "held.lock"
"""The file in a run directory that the supervisor locks as long as it runs."""
ENDPOINT = "endpoint.json"
"""The file in the run directory with the connection data of the server."""
LOG = "server.log"
"""The log of the server, in the run directory."""
ENGINE = "arcadedb"
"""The name of the database engine, and of its folder in a store directory."""
DATABASE = "neo4j"
"""The name of the only database in a store."""
ROOT = "server"
"""The folder in the run directory where the server looks for plugins and configuration."""
OWNER = "root"
"""The server's account with all rights."""
READER = "reader"
"""The server's account for untrusted queries."""
GROUPS: dict[str, Any] = {
    "admin": {
        "access": ["updateSecurity", "updateSchema", "updateDatabaseSettings"],
        "types": {"*": {"access": ["createRecord", "readRecord", "updateRecord", "deleteRecord"]}},
    },
    READER: {"access": [], "types": {"*": {"access": ["readRecord"]}}},
}
"""The rights of the two accounts, keyed by group. The server checks the rights whenever a record is read or
written, so the wording of a query cannot evade them."""
WELCOME = b"welcome\n"
"""The greeting that the supervisor sends to a process with the correct token."""
KEEP = re.compile(rb"keep (\d{1,9})\n")
"""A request that a user process may send before it leaves, such as ``keep 30``: the server should wait 30
seconds for the next user."""

END = b"end\n"
"""A request to end the server immediately, which a user process sends if a query cannot be stopped otherwise.
The request is ignored if there are several users."""

FIRST_USER_SECONDS = 15.0
"""Seconds for which a new server waits for its first user."""
LISTENING_SECONDS = 120.0
"""Seconds after which a new server is ended if it has not opened its port."""
STOP_SECONDS = 20.0
"""Maximum number of seconds that Java may take to stop. After this time, Java is killed."""
TICK_SECONDS = 0.1
"""Maximum number of seconds between two checks of the server."""
ABANDONED_SECONDS = 86_400.0
"""Age in seconds from which the run directory of a killed server is removed."""
LISTENING = re.compile(rb"BOLT connections on \S*:(\d+)")
"""Pattern of the log line that contains the port of the server."""
SCHEMA_RESET = re.compile(rb"Error on loading schema\. The schema will be reset\s+(?P<reason>[^\r\n]*)")
"""Pattern of the log lines that the server writes if it could read only a part of ``schema.json``. The server
continues without the rest. Types, relationships and indexes are then missing, and the next change of the
schema overwrites the file."""
ENDED = (0, 128 + signal.SIGTERM)
"""Exit statuses of Java if it has ended properly. The second one follows a request to stop."""
CRASHED = tuple(-number for number in (signal.SIGABRT, signal.SIGSEGV, getattr(signal, "SIGBUS", 0)))
"""Exit statuses of Java if the virtual machine itself has failed."""
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
"""Flags of the JVM. Compact object headers save memory. The first flag makes older versions of Java ignore
flags that they do not know."""


def main() -> int:
    """Run the server of one store directory until no process uses it any more.

    If a process id is given as the command-line argument, the program runs as a watchdog instead: it kills
    that process when the supervisor dies.

    Returns:
        The exit status.
    """
    if len(sys.argv) > 1:
        return _watch(int(sys.argv[1]))
    order: dict[str, Any] = json.load(sys.stdin)
    os.umask(0o077)
    directory = Path(order["directory"])
    with open(directory / LOCK, "ab", opener=untrusted_opener) as lock:
        if not lock_exclusively(lock):
            return EXIT_BUSY
        runs = private_folder(Path(order["runs"]))
        run = run_directory(runs, os.fstat(lock.fileno()))
        with open(private_folder(run) / HELD, "ab", opener=private_opener) as held:
            # The run directory may belong to an old server that has not ended yet. This happens if the store
            # directory of the old server was removed, and the new lock file has the same inode number.
            if not (lock_exclusively(held) and is_at(run / HELD, os.fstat(held.fileno()))):
                return EXIT_BUSY
            # If the previous server was killed, its files are still in the run directory.
            _remove_old_files(run)
            _remove_abandoned(runs)
            return Supervisor(directory, run, order, lock).run()


def run_directory(runs: Path, lock: os.stat_result) -> Path:
    """Return the run directory that belongs to a lock file.

    The name of the run directory is derived from the device and the inode of the lock file, not from its
    path. So a copy of a store directory has its own server, and two paths to the same directory (through a
    link or a bind mount) have the same server.

    Args:
        runs: The folder that contains all run directories of the user.
        lock: The result of ``stat`` for the lock file.

    Returns:
        The path of the run directory, which exists only while a server runs or after it has failed.
    """
    # Include the boot id in the name of the directory. After a restart of the machine, the same device number
    # can belong to another device.
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = ""
    identity = f"{boot} {lock.st_dev} {lock.st_ino}"
    return runs / hashlib.sha256(identity.encode()).hexdigest()[:32]


def is_at(path: Path, known: os.stat_result) -> bool:
    """Return whether a path still refers to the same file as before.

    Args:
        path: The path.
        known: The result of ``stat`` for the file at an earlier time.

    Returns:
        False if the file is gone or was replaced by another file.
    """
    try:
        return os.path.samestat(os.stat(path), known)
    except OSError:
        return False


def _remove_old_files(run: Path) -> None:
    """Remove everything from a run directory except its lock file."""
    for left in run.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        elif left.name != HELD:
            left.unlink()


def _remove_abandoned(runs: Path) -> None:
    """Remove the run directories of servers that were killed a day or more ago."""
    for run in runs.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - run.lstat().st_mtime > ABANDONED_SECONDS:
                with open(run / HELD, "ab", opener=untrusted_opener) as held:
                    # The supervisor locks this file until it ends.
                    if lock_exclusively(held):
                        shutil.rmtree(run)


class Supervisor:
    """Starts a server, accepts control connections, and stops the server when nobody uses it.

    Args:
        directory: The store directory.
        run: The run directory.
        order: The settings: ``java`` (the Java program), ``jars`` (the folder of the engine), ``version`` (of
            the engine), ``heap`` (size of the Java heap), ``graphneg`` (its version), ``archives`` (the
            folder for archives of Java classes; empty for none) and ``temporary`` (whether to remove the
            store directory at the end).
        lock: The open lock file of the store, which Java inherits.
    """

    def __init__(self, directory: Path, run: Path, order: dict[str, Any], lock: IO[bytes]) -> None:
        """Open the control socket, and start Java and the watchdog."""
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
        self._has_lost_schema = False
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
        # The server will change the database files, so their checksums will no longer be valid. Read the
        # checksums and remove the checksum file now. It is written again when the server has ended.
        self._checksums = read_checksums(directory)
        forget_checksums(directory)
        accounts = {OWNER: self._password, READER: self._reader_password}
        self._archive = _archive(order)
        self._java = _start_java(directory, run, order, accounts, self._archive, lock)
        self._watchdog = _start_watchdog(self._java.pid)

    def run(self) -> int:
        """Run until the server has no users or has ended, or a signal arrives. Return the exit status."""
        try:
            self._write_endpoint()
            while self._should_run() and self._java.poll() is None:
                self._serve()
                if not self._bolt_port:
                    self._find_bolt_port()
        finally:
            self._stop()
        return 0

    def _should_run(self) -> bool:
        now = time.monotonic()
        age = now - self._started
        self._is_late = not self._bolt_port and age > LISTENING_SECONDS
        if self._stop_asked or self._is_late or self._has_lost_schema:
            return False
        if self._users:
            return True
        is_awaited = now < self._warm_until or (not self._seen_user and age < FIRST_USER_SECONDS)
        return is_awaited and self._has_directory()

    def _has_directory(self) -> bool:
        """Return whether the store directory still exists at its path."""
        return is_at(self._directory / LOCK, self._lock)

    def _ask_to_stop(self, *_: object) -> None:
        self._stop_asked = True

    def _serve(self) -> None:
        """Accept new control connections, and read from the existing ones."""
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
                self._close_connection(connection)
            elif connection in self._pending:
                self._accept_user(connection, data)
            elif data.endswith(END):
                self._stop_asked = self._stop_asked or len(self._users) == 1
            else:
                # A request of a user process may arrive in parts. Keep the last 64 bytes: requests are
                # shorter.
                self._users[connection] = (self._users[connection] + data)[-64:]

    def _accept_user(self, connection: socket.socket, data: bytes) -> None:
        """Let a process use the server if it has sent the correct token. Otherwise close its connection."""
        self._pending[connection] += data
        if b"\n" not in self._pending[connection] and len(self._pending[connection]) < 256:
            return
        token = self._pending[connection].strip()
        # Refuse new users if the directory was moved or removed. The server continues to work for its current
        # users, but it cannot create files any more.
        if not secrets.compare_digest(token, self._token.encode()) or not self._has_directory():
            self._close_connection(connection)
            return
        del self._pending[connection]
        self._users[connection] = b""
        self._seen_user = True
        _send_line(connection, WELCOME)
        if self._bolt_port:
            _send_line(connection, b"%d\n" % self._bolt_port)

    def _close_connection(self, connection: socket.socket) -> None:
        """Close the connection of a user process.

        If the process asked the server to wait for the next user, record how long the server must wait.
        """
        said = self._users.pop(connection, None)
        self._pending.pop(connection, None)
        self._selector.unregister(connection)
        if said is not None:
            keep = KEEP.fullmatch(said)
            self._warm_until = time.monotonic() + int(keep[1]) if keep else 0.0
        # Keep the connection of the last user (a client process) open until this process ends. The kernel
        # then closes the connection, which tells the client that Java has ended.
        if said is not None and not self._users and not self._warm_until:
            self._leaving.append(connection)
        else:
            connection.close()

    def _find_bolt_port(self) -> None:
        """Search the log for the port of the server, and send the port to the processes that wait for it."""
        log = (self._run / LOG).read_bytes()
        # The server loads the schema before it opens the port. So if it could not read the schema, no user
        # has connected yet, and nothing was overwritten.
        if SCHEMA_RESET.search(log):
            self._has_lost_schema = True
        elif match := LISTENING.search(log):
            self._bolt_port = int(match[1])
            for user in self._users:
                _send_line(user, b"%d\n" % self._bolt_port)

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
        """Accept no further connections, and stop the Java server."""
        # If the store directory has been removed, kill Java. A normal exit, in which Java closes its files,
        # would be useless. If Java has lost the schema, a normal exit could overwrite the schema file.
        is_there = self._has_directory()
        has_failed = self._is_late or self._has_lost_schema or self._java.poll() is not None
        (self._run / ENDPOINT).unlink(missing_ok=True)
        self._listener.close()
        for connection in self._pending:
            connection.close()
        if is_there and not self._has_lost_schema:
            self._java.terminate()
        else:
            self._java.kill()
        try:
            self._java.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            has_failed = True
            self._java.kill()
            self._java.wait()
        if self._watchdog:
            self._watchdog.communicate(b"done")
        if self._archive:
            self._tend_archive(self._archive)
        if is_there and self._order["temporary"]:
            shutil.rmtree(self._directory, ignore_errors=True)
        elif is_there and not has_failed:
            # If the disk is full, no checksums are written. The next server then starts without checking the
            # files of the store.
            with contextlib.suppress(OSError):
                database = self._directory / ENGINE / "databases" / DATABASE
                write_checksums(self._directory, database, self._checksums)
        # If the server failed, keep its log, which says why.
        if has_failed:
            shutil.rmtree(self._run / ROOT, ignore_errors=True)
        else:
            shutil.rmtree(self._run, ignore_errors=True)

    def _tend_archive(self, archive: Path) -> None:
        """Make the archive of Java classes if Java ended normally. Remove it if Java crashed at its start."""
        with contextlib.suppress(OSError):
            if not self._bolt_port and self._java.returncode in CRASHED:
                archive.unlink(missing_ok=True)
            if self._java.returncode in ENDED:
                make_archive(archive, _java_command(self._order), _java_environment())
            else:
                recording_of(archive).unlink(missing_ok=True)


def _send_line(user: socket.socket, line: bytes) -> None:
    """Send a line to a user process. Ignore errors: if the process is gone, the next read will fail."""
    with contextlib.suppress(OSError):
        user.send(line)


def _archive(order: dict[str, Any]) -> Path | None:
    """Return the path of the archive of Java classes, or None if there is no folder for it."""
    if not order["archives"]:
        return None
    try:
        return archive_path(Path(order["archives"]), order["java"], Path(order["jars"]), JAVA_FLAGS)
    except OSError:
        return None


def _java_command(order: dict[str, Any]) -> list[str]:
    """Return the Java program with its flags, without the settings of the server and the class to run."""
    return [order["java"], *JAVA_FLAGS, f"-Xmx{order['heap']}", "-cp", str(Path(order["jars"]) / "*")]


def _java_environment() -> dict[str, str]:
    # Set a UTF-8 locale. In the C locale, Java cannot open paths with non-ASCII characters.
    return {**os.environ, "LC_ALL": "C.UTF-8"} if sys.platform == "linux" else {**os.environ}


def _start_java(
    directory: Path,
    run: Path,
    order: dict[str, Any],
    accounts: dict[str, str],
    archive: Path | None,
    lock: IO[bytes],
) -> subprocess.Popen[bytes]:
    """Start the Java server with new passwords. The server itself chooses free ports."""
    # Create a new root folder, where the server looks for plugins and configuration. It must be outside the
    # store directory, which may have been made by somebody else.
    root = run / ROOT
    root.mkdir()
    _write_accounts(root / "config", accounts)
    settings = {
        "server.rootPath": root,
        "server.databaseDirectory": directory / ENGINE / "databases",
        "server.httpIncomingHost": "127.0.0.1",
        "server.httpIncomingPort": 0,
        "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        # Forbid URLs in LOAD CSV. All accounts may use this clause, and could send data to other hosts in a
        # URL.
        "opencypher.loadCsv.allowRemoteUrls": "false",
        # Allow 60 s (in milliseconds) for the regular expressions of a whole scan. The regular expressions of
        # graphneg are simple, but the machine may be busy.
        "command.regexTimeout": 60_000,
        "bolt.host": "127.0.0.1",
        "bolt.port": 0,
        "server.defaultDatabases": f"{DATABASE}[]",
        # Maximum number of queries that run at the same time. By default, it is 4 on a machine with 2 cores.
        # A fifth query would then have to wait, even if it is the command that stops another query.
        "queryMaxConcurrent": 64,
        "server.mode": "development",
    }
    environment = _java_environment()
    command = [
        *_java_command(order),
        *(archive_flags(archive, environment) if archive else ()),
        *(f"-Darcadedb.{name}={value}" for name, value in settings.items()),
        "com.arcadedb.server.ArcadeDBServer",
    ]
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
    """Write the files with the server's users and groups, which the server reads when it starts."""
    folder.mkdir()
    groups = {"version": 1, "databases": {"*": {"groups": GROUPS}}}
    (folder / "server-groups.json").write_text(json.dumps(groups))
    users = [
        {"name": OWNER, "password": _password_hash(accounts[OWNER]), "databases": {"*": ["admin"]}},
        {"name": READER, "password": _password_hash(accounts[READER]), "databases": {DATABASE: [READER]}},
    ]
    (folder / "server-users.jsonl").write_text("".join(json.dumps(user) + "\n" for user in users))


def _password_hash(password: str) -> str:
    # Use only one iteration of PBKDF2. More iterations would slow down each connection, and are not needed,
    # because a password with 192 random bits cannot be guessed.
    salt = secrets.token_urlsafe(24)
    key = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), 1, 32)
    return f"PBKDF2WithHmacSHA256$1${salt}${base64.b64encode(key).decode()}"


def _die_with(parent: int) -> None:
    """Ask the kernel to kill this process, which will run Java, when its parent ends; see prctl(2)."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    # If the parent ended before prctl was called, the kernel will send no signal, so exit here.
    if os.getppid() != parent:
        os._exit(1)


def _start_watchdog(pid: int) -> subprocess.Popen[bytes] | None:
    """Start a process that kills Java when the supervisor dies. On Linux, the kernel does this instead."""
    if sys.platform == "linux":
        return None
    return subprocess.Popen([sys.executable, "-I", __file__, str(pid)], stdin=subprocess.PIPE)


def _watch(pid: int) -> int:
    """Wait until the supervisor process ends. If it was killed, kill Java. Return the exit status."""
    # The supervisor keeps standard input open. It writes "done" before it exits normally. If it is killed,
    # the input ends without this word.
    if sys.stdin.buffer.read() != b"done":
        with contextlib.suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    return 0


if __name__ == "__main__":
    sys.exit(main())
