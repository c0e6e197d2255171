"""The embedded server of a store: its directory, its engine, joining and leaving it.

In: a directory. Out: a `Membership`, this process's hold on the server that runs there: a port, a password.

``store.json`` marks a directory as a store and gives its format and engine; ``endpoint.json`` exists while a
server runs and says how to reach it; ``server.log`` is that server's last log. A process joins by holding one
control connection to the directory's supervisor (``supervisor.py``); where there is none, it starts one. It
leaves by closing the connection, in order or by dying; in order, it may ask that the server wait for the next
user. The engine is ArcadeDB's jars and a Java, from the ``arcadedb-embedded`` wheel.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from graphneg.errors import StoreError
from graphneg.store import supervisor
from graphneg.workers import without_secrets

FORMAT = 1
MARK = "store.json"
WRITERS = "writers.lock"
OWN_NAMES = (
    MARK,
    supervisor.LOCK,
    supervisor.ENDPOINT,
    supervisor.LOG,
    supervisor.PASSWORD,
    supervisor.ENGINE,
    supervisor.ROOT,
    WRITERS,
)
LOG_NOISE = re.compile(r"incubator|Polyglot|sponsor|Plugins directory|^\s+at ")
LOG_TROUBLE = re.compile(r"SEVER|ERROR|Exception|Error|WARNI|No space|Permission|denied|cannot|Could not")


class Endpoint(NamedTuple):
    """How to reach the server that runs in a directory, and which graphneg started it."""

    protocol: int
    graphneg: str
    control_port: int
    token: str
    password: str
    reader_password: str = ""
    engine: dict[str, str] | None = None


def _prepare(directory: Path, engine_version: str) -> None:
    """Make ``directory`` a store, or check that it is one which this engine can open."""
    try:
        if directory.exists() and not directory.is_dir():
            raise StoreError(f"{directory} is a file: a store is a directory, name one that is empty or new")
        if (directory / MARK).exists():
            _check_mark(directory, engine_version)
        else:
            names = [entry.name for entry in directory.iterdir()] if directory.exists() else []
            others = [name for name in names if not name.startswith(OWN_NAMES)]
            if others:
                raise StoreError(
                    f"{directory} is not a graphneg store (it holds {min(others)} and no {MARK}): "
                    "name a store, or a directory that is empty or new"
                )
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
        _write_mark(directory, engine_version)
    except (OSError, ValueError) as error:  # a name that no system has, too
        raise StoreError(
            f"can't use {directory} as a store: {getattr(error, 'strerror', None) or error}; "
            "name a directory that you may write, on a disk with room"
        ) from error


def _check_mark(directory: Path, engine_version: str) -> None:
    try:
        content = json.loads((directory / MARK).read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(
            f"{directory / MARK} is damaged ({error}): restore it from a copy of the store"
        ) from error
    mark = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    if mark.get("format") != FORMAT:
        raise StoreError(
            f"{directory} has store format {mark.get('format')}, this graphneg reads format {FORMAT}: "
            "open it with the graphneg that made it, or load the corpora into a new directory"
        )
    written = str(mark.get("engine_version", ""))
    if mark.get("engine") != supervisor.ENGINE or _release(written) > _release(engine_version):
        raise StoreError(
            f"{directory} was written by {mark.get('engine')} {written}, installed is {supervisor.ENGINE} "
            f"{engine_version}: run `pip install --upgrade arcadedb-embedded`"
        )


def _release(version: str) -> list[int]:
    """The numbers of a version that change the files on disk: ``26.10.2.post1`` gives 26 and 10."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _write_mark(directory: Path, engine_version: str) -> None:
    mark = {"format": FORMAT, "engine": supervisor.ENGINE, "engine_version": engine_version}
    text = json.dumps(mark, indent=1) + "\n"
    target = directory / MARK
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    scratch = directory / f"{MARK}.{os.getpid()}"
    with open(scratch, "w", encoding="utf-8", opener=supervisor.private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(target)


def read_endpoint(directory: Path) -> Endpoint | None:
    """How to reach the directory's server; ``None`` where none has said so in a way that can be read."""
    try:
        content = json.loads((directory / supervisor.ENDPOINT).read_text(encoding="utf-8"))
        needed = {name: content[name] for name in Endpoint._fields if name not in Endpoint._field_defaults}
        added = {name: content[name] for name in Endpoint._field_defaults if name in content}
        return Endpoint(**needed, **added)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def log_tail(directory: Path) -> str:
    """The lines of the last server's log that say most about its end."""
    try:
        lines = (directory / supervisor.LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return "it left no log"
    lines = [line.strip() for line in lines if line.strip() and not LOG_NOISE.search(line)]
    trouble = [number for number, line in enumerate(lines) if LOG_TROUBLE.search(line)]
    end = trouble[-1] + 2 if trouble else len(lines)
    return "\n  ".join(["the end of its log:", *lines[max(end - 4, 0) : end]])


LEAST_ROOM = 4_000_000
"""Bytes that are left of a disk which is as good as full: a page of each index and a part of the log."""
REASON = re.compile(r"No space left on device|java\.lang\.OutOfMemoryError: [^\n]*")
KEPT = "all that was acknowledged is kept"
FULL = f"its disk is full: make room, then run the same command again; {KEPT}"


def reason_of_end(directory: Path) -> str:
    """Why a directory's last server ended, and what to do: its disk is full, or what its log says last."""
    return FULL if _is_full(directory) else log_tail(directory)


def _is_full(directory: Path) -> bool:
    return shutil.disk_usage(directory).free < LEAST_ROOM


def trouble(membership: Membership) -> str | None:
    """What can be seen to keep a directory's server from its work, and what to do; ``None``: nothing.

    A server on a full disk goes on, and gives no reason for the writes that it refuses.
    """
    directory = membership.directory
    try:
        if _is_full(directory):
            return FULL
        if membership.alive():
            return None
        log = (directory / supervisor.LOG).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"it can't be read any more ({error.strerror}); {KEPT}"
    reasons = REASON.findall(log)
    why = f" ({reasons[-1].strip()})" if reasons else ""
    memory = "set GRAPHNEG_JAVA_HEAP=2g, " if "OutOfMemory" in why else ""
    return f"its server has ended{why}: {memory}open the store again and repeat the command; {KEPT}"


@contextlib.contextmanager
def turn(directory: Path) -> Generator[None]:
    """Held while a transaction writes, whichever process writes it, and let go however that process ends.

    Of two that write neighbouring pages this server undoes one: among many writers a long one would never be
    done. Blocks until it is this one's turn.
    """
    try:
        lock = open(directory / WRITERS, "ab", opener=supervisor.private)  # noqa: SIM115
    except OSError as error:
        raise StoreError(f"{directory} can't be written: {error.strerror}; {KEPT}") from error
    with lock:
        supervisor.await_lock(lock)
        yield


DISTRIBUTION = "arcadedb-embedded"
PACKAGE = "arcadedb_embedded"


def find_engine() -> dict[str, str]:
    """What a supervisor is to run: the installed engine's ``java``, ``jars`` and ``version``, a ``heap``.
    GRAPHNEG_JAVA names another Java, GRAPHNEG_JAVA_HEAP a heap (``2g``). The package is looked up and never
    imported: importing it starts a JVM inside Python."""
    spec = importlib.util.find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise StoreError(
            f"the embedded store needs the package {DISTRIBUTION}: run `pip install {DISTRIBUTION}`, "
            "or name a Neo4j server (neo4j://HOST)"
        )
    home = Path(folders[0])
    jars = home / "jars"
    if not any(jars.glob("arcadedb-server-*.jar")):
        raise StoreError(
            f"{jars} holds no ArcadeDB server: run `pip install --force-reinstall {DISTRIBUTION}`"
        )
    java = _find_java(home)
    heap = os.environ.get("GRAPHNEG_JAVA_HEAP") or "1g"
    if not re.fullmatch(r"\d+[kmgKMG]?", heap):
        raise StoreError(f"GRAPHNEG_JAVA_HEAP={heap} is no size: write it as 512m or 2g")
    version = importlib.metadata.version(DISTRIBUTION)
    return {"java": str(java), "jars": str(jars), "version": version, "heap": heap}


def _find_java(home: Path) -> str | Path:
    """The Java program: GRAPHNEG_JAVA where it is set, else the one in the wheel."""
    named = os.environ.get("GRAPHNEG_JAVA")
    if named:
        program = shutil.which(named)
        if not program:
            raise StoreError(f"GRAPHNEG_JAVA={named} is no program that can be run: name a Java 21 or newer")
        return program
    bundled = home / "jre" / "bin" / ("java.exe" if sys.platform == "win32" else "java")
    if not os.access(bundled, os.X_OK):
        raise StoreError(
            f"there is no Java at {bundled}: run `pip install --force-reinstall {DISTRIBUTION}`, "
            "or set GRAPHNEG_JAVA to the java program of a JDK"
        )
    return bundled


START_SECONDS = 120.0
JAVA_SECONDS = 20.0
JAVA_VERSION = re.compile(rb'version "(\d+)')
OLDEST_JAVA = 21
POLL_SECONDS = 0.02
LONGEST_WARM = 86_400
"""Seconds: the most that a server waits for its next user."""


@dataclass(frozen=True, slots=True)
class Membership:
    """This process's hold on a running server. The server runs at least as long as this is open."""

    directory: Path
    control: socket.socket
    bolt_port: int
    password: str
    reader_password: str
    process: int
    engine: dict[str, str] | None
    """What runs: `find_engine` of the process that started it; ``None``: it is not said."""

    def alive(self) -> bool:
        """Whether the server still runs."""
        self.control.settimeout(0)
        try:
            return self.control.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def leave(self, keep_warm: int = 0) -> None:
        """Let the server go. If this was its last user, it waits ``keep_warm`` seconds for the next; with 0
        it stops at once, and has when this returns.

        A forked child only drops its copy of the connection, which its parent goes on using.
        """
        if os.getpid() == self.process:
            with contextlib.suppress(OSError):
                if keep_warm > 0:
                    self.control.sendall(b"keep %d\n" % min(keep_warm, LONGEST_WARM))
                self.control.shutdown(socket.SHUT_WR)
                self.control.settimeout(30.0)
                while self.control.recv(64):
                    pass
        self.control.close()


def join(directory: Path, is_temporary: bool = False) -> Membership:
    """Join the server of ``directory``; make the store and start the server where there is none. One that is
    temporary removes the directory when it ends.

    Raises `StoreError`: the directory is no store, the engine is missing, or the server does not start.
    """
    engine = find_engine()
    _prepare(directory, engine["version"])
    deadline = time.monotonic() + START_SECONDS
    ended = 0
    is_other = False
    starting: subprocess.Popen[bytes] | None = None
    with tempfile.TemporaryFile() as errors:
        # Other processes may start and stop the server meanwhile.
        while time.monotonic() < deadline:
            membership = _greet(directory, deadline)
            if membership and (is_other or membership.engine in (engine, None)):
                return membership
            if membership:  # Another Java, heap or release: nobody may need it any more.
                is_other = True
                membership.leave()
                continue
            if starting is not None and starting.poll() is not None:
                ended += starting.returncode != supervisor.EXIT_BUSY
                if starting.returncode == 1:
                    errors.seek(0)
                    lines = errors.read().decode(errors="replace").strip().splitlines()
                    why = lines[-1] if lines else "no reason given"
                    raise StoreError(f"the server of {directory} can't be started: {why}")
                if ended >= 3:
                    raise StoreError(
                        f"the server of {directory} ended while it started; {reason_of_end(directory)}"
                    )
                starting = None
            if starting is None and _lock_is_free(directory):
                _check_named_java()
                starting = _start_supervisor(directory, engine, errors, is_temporary)
            time.sleep(POLL_SECONDS)
    raise StoreError(
        f"{directory} has been locked by another process for {START_SECONDS:.0f} s, but no server answers: "
        "end the graphneg and java processes that use it, then try again"
    )


def _check_named_java() -> None:
    """Raises `StoreError`: the program that GRAPHNEG_JAVA names is no Java that can run the server."""
    named = os.environ.get("GRAPHNEG_JAVA")
    if not named:
        return
    advice = "name a Java 21 or newer, or leave it unset"
    try:
        order = [named, "-version"]
        said = subprocess.run(
            order, capture_output=True, stdin=subprocess.DEVNULL, env=without_secrets(), timeout=JAVA_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise StoreError(
            f"GRAPHNEG_JAVA={named} does not tell its version in {JAVA_SECONDS:.0f} s: {advice}"
        ) from None
    except OSError as error:
        raise StoreError(f"GRAPHNEG_JAVA={named} can't be run ({error.strerror}): {advice}") from error
    version = JAVA_VERSION.search(said.stderr + said.stdout)
    if said.returncode or version is None or int(version[1]) < OLDEST_JAVA:
        words = (said.stderr + said.stdout).decode(errors="replace").strip().partition("\n")[0]
        raise StoreError(f"GRAPHNEG_JAVA={named} will not do ({words or 'it says nothing'}): {advice}")


def _start_supervisor(
    directory: Path, engine: dict[str, str], errors: IO[bytes], is_temporary: bool
) -> subprocess.Popen[bytes]:
    """Start a supervisor in a session of its own, so that Ctrl-C here does not reach the server."""
    version = importlib.metadata.version("graphneg")
    order = {**engine, "directory": str(directory), "graphneg": version, "temporary": is_temporary}
    process = subprocess.Popen(
        [sys.executable, "-I", supervisor.__file__],
        cwd=directory,
        env=without_secrets(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps(order).encode())
    # The supervisor may outlive this use of the store: someone has to collect its exit status.
    threading.Thread(target=process.wait, name="graphneg-supervisor", daemon=True).start()
    return process


def _lock_is_free(directory: Path) -> bool:
    try:
        with open(directory / supervisor.LOCK, "ab", opener=supervisor.private) as lock:
            return supervisor.lock_exclusively(lock)
    except OSError as error:
        raise StoreError(
            f"can't lock {directory}: {error.strerror or error}; a store is written where it is opened: name "
            "one that you may write, a copy of it say"
        ) from error


def is_served(directory: Path) -> bool:
    """Whether a server runs in a directory; nothing is made there."""
    return (directory / supervisor.LOCK).exists() and not _lock_is_free(directory)


def served_directories() -> list[Path]:
    """The directories of all embedded servers of this user, where Linux tells; none elsewhere."""
    found: list[Path] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if supervisor.__file__.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                found.append((process / "cwd").readlink())
    return sorted(found)


def _greet(directory: Path, deadline: float) -> Membership | None:
    """Connect to the supervisor and wait for its server. ``None`` where there is none, or it is stopping."""
    endpoint = read_endpoint(directory)
    if endpoint is None or _lock_is_free(directory):  # free: what stands there came with a copy
        return None
    with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
        address = ("127.0.0.1", endpoint.control_port)
        control = opened.enter_context(socket.create_connection(address, timeout=2.0))
        # Asked once something answers: a new server holds the lock before it replaces the file of one gone.
        if endpoint.protocol != supervisor.PROTOCOL and not _lock_is_free(directory):
            raise StoreError(
                f"{directory} is in use by graphneg {endpoint.graphneg}, which shares stores in another way "
                "than this version: wait until that program has ended, or use the same version in both"
            )
        control.sendall(endpoint.token.encode() + b"\n")
        lines = control.makefile("rb")
        if lines.readline() == supervisor.WELCOME:
            control.settimeout(max(deadline - time.monotonic(), POLL_SECONDS))
            try:
                port = lines.readline().strip()
            except TimeoutError:
                java = (endpoint.engine or {}).get("java", "Java")
                raise StoreError(
                    f"the server of {directory} was started with {java} "
                    f"and does not answer in {START_SECONDS:.0f} s; {log_tail(directory)}"
                ) from None
            if port:
                opened.pop_all()
                passwords = endpoint.password, endpoint.reader_password
                return Membership(directory, control, int(port), *passwords, os.getpid(), endpoint.engine)
    return None
