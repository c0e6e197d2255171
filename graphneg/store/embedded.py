"""The embedded server of a store: its directory, its engine, joining and leaving it.

In: a directory. Out: a `Membership`, this process's hold on the server that runs there: a port, a password.

The directory holds data only: ``store.json`` marks it as a store and gives its format and engine,
``arcadedb`` is the database, and two lock files keep processes apart. It may come from a stranger, so nothing
else in it is read, and a file in it is opened only if it is a plain file of the user's
(`graphneg.private_files`).

A server's ``endpoint.json`` (how to reach it) and ``server.log`` are in a run directory of the user's
(`run_directory`). A process joins by holding one control connection to the directory's supervisor
(``supervisor.py``); where there is none, it starts one. It leaves by closing the connection, in order or by
dying; in order, it may ask that the server wait for the next user. The engine is ArcadeDB's jars and a Java,
from the ``arcadedb-embedded`` wheel.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import secrets
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

from platformdirs import user_cache_path

from graphneg.errors import StoreError
from graphneg.file_locks import await_lock, lock_exclusively
from graphneg.private_files import UnsafeFileError, found, own_folder, owner_problem
from graphneg.store import supervisor
from graphneg.store.engine_files import check_engine_files, printable, refusal, shown
from graphneg.workers import child_environment

FORMAT = 1
MARK = "store.json"
WRITERS = "writers.lock"
OWN_NAMES = (MARK, supervisor.LOCK, supervisor.ENGINE, WRITERS)
FORMER_NAMES = (supervisor.ENDPOINT, supervisor.LOG, supervisor.ROOT, "password")
"""What earlier versions kept in the directory while a server ran. They are neither read nor removed."""
LARGEST_MARK = 65_536
LOG_NOISE = re.compile(r"incubator|Polyglot|sponsor|Plugins directory|^\s+at ")
LOG_TROUBLE = re.compile(r"SEVER|ERROR|Exception|Error|WARNI|No space|Permission|denied|cannot|Could not")


class Endpoint(NamedTuple):
    """How to reach the server that runs in a directory, and which graphneg started it."""

    protocol: int
    graphneg: str
    control_port: int
    token: str
    password: str
    supervisor: int
    java: int
    reader_password: str = ""
    engine: dict[str, str] | None = None


def run_directory(directory: Path) -> Path | None:
    """Return where the server of a store directory keeps its endpoint, password, log and configuration.

    It is in the user's cache directory, or in the temporary one if there can be none in the former. It is
    not in ``XDG_RUNTIME_DIR``: a server that works on after a logout would lose it, and a process that is
    started by cron would look elsewhere.

    Args:
        directory: A store directory.

    Returns:
        The path, or None if no server ever ran there.

    Raises:
        StoreError: There is no place for private files.
    """
    try:
        lock = os.lstat(directory / supervisor.LOCK)
    except OSError:
        return None
    return supervisor.run_directory(_runs(), lock)


def _runs() -> Path:
    """Return the folder of all run directories of this user; it is made if missing."""
    user = os.geteuid() if hasattr(os, "geteuid") else ""
    places = (user_cache_path("graphneg") / "run", Path(tempfile.gettempdir()) / f"graphneg-{user}")
    reasons: list[str] = []
    for place in places:
        try:
            return own_folder(place)
        except OSError as error:
            reasons.append(f"{error.filename or place} ({error.strerror})")
    raise StoreError(
        f"there is no place for a server's private files: {' and '.join(reasons)} will not do; "
        "set XDG_CACHE_HOME to a directory of your own"
    )


def _prepare(directory: Path, engine_version: str) -> None:
    """Make ``directory`` a store, or check that it is one which this engine can open."""
    try:
        if directory.exists() and not directory.is_dir():
            raise StoreError(f"{directory} is a file: a store is a directory, name one that is empty or new")
        if "${" in str(directory):  # The server would make its database in another directory.
            raise StoreError(
                f"can't use {directory} as a store: its server reads ${{…}} as a variable; rename it"
            )
        # The owner of a directory could put a link in place of a file in it at any time.
        if directory.exists() and (problem := owner_problem(os.stat(directory))):
            raise UnsafeFileError(directory, problem)
        if os.path.lexists(directory / MARK):
            _check_mark(directory, engine_version)
        else:
            names = [entry.name for entry in directory.iterdir()] if directory.exists() else []
            others = [name for name in names if not name.startswith(OWN_NAMES + FORMER_NAMES)]
            if others:
                raise StoreError(
                    f"{directory} is not a graphneg store (it holds {printable(min(others))} and no {MARK}): "
                    "name a store, or a directory that is empty or new"
                )
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
        _write_mark(directory, engine_version)
    except UnsafeFileError as error:
        raise refusal(error) from error
    except (OSError, ValueError) as error:  # a name that no system has, too
        raise StoreError(
            f"can't use {directory} as a store: {getattr(error, 'strerror', None) or error}; "
            "name a directory that you may write, on a disk with room"
        ) from error


def read_mark(directory: Path) -> dict[str, Any]:
    """Return the content of a store's ``store.json``; an empty map if it is not a JSON object.

    Args:
        directory: The store.

    Raises:
        UnsafeFileError: It is not a plain file of the user's.
        OSError: It can't be read.
        StoreError: It is no JSON.
    """
    path = directory / MARK
    with open(path, "rb", opener=found) as file:
        text = file.read(LARGEST_MARK + 1)
    try:
        if len(text) > LARGEST_MARK:
            raise ValueError(f"more than {LARGEST_MARK:,} bytes")
        content = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged ({error}): restore it from a copy of the store") from error
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def _check_mark(directory: Path, engine_version: str) -> None:
    mark = read_mark(directory)
    if mark.get("format") != FORMAT:
        raise StoreError(
            f"{directory} has store format {shown(mark.get('format'))}, this graphneg reads format {FORMAT}: "
            "open it with the graphneg that made it, or load the corpora into a new directory"
        )
    written = str(mark.get("engine_version", ""))
    if mark.get("engine") != supervisor.ENGINE or _release(written) > _release(engine_version):
        by = f"{shown(mark.get('engine'))} {shown(written)}"
        raise StoreError(
            f"{directory} was written by {by}, installed is {supervisor.ENGINE} "
            f"{engine_version}: run `pip install --upgrade arcadedb-embedded`"
        )


def _release(version: str) -> list[int]:
    """The numbers of a version that change the files on disk: ``26.10.2.post1`` gives 26 and 10."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _write_mark(directory: Path, engine_version: str) -> None:
    mark = {"format": FORMAT, "engine": supervisor.ENGINE, "engine_version": engine_version}
    target = directory / MARK
    if target.exists() and read_mark(directory) == mark:
        return
    scratch = directory / f"{MARK}.{secrets.token_hex(4)}"
    with open(scratch, "x", encoding="utf-8", opener=found) as file:
        file.write(json.dumps(mark, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(target)


def read_endpoint(directory: Path) -> Endpoint | None:
    """Return how to reach the directory's server; None if no server has said so in a readable form."""
    run = run_directory(directory)
    try:
        if run is None:
            return None
        content = json.loads((run / supervisor.ENDPOINT).read_text(encoding="utf-8"))
        needed = {name: content[name] for name in Endpoint._fields if name not in Endpoint._field_defaults}
        added = {name: content[name] for name in Endpoint._field_defaults if name in content}
        return Endpoint(**needed, **added)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def log_tail(log: Path | None) -> str:
    """Return the path of a server's log and the lines in it that say most about the server's end.

    Args:
        log: The log; None if no server ever ran.
    """
    try:
        if log is None:
            raise FileNotFoundError
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return "it left no log"
    lines = [line.strip() for line in lines if line.strip() and not LOG_NOISE.search(line)]
    trouble = [number for number, line in enumerate(lines) if LOG_TROUBLE.search(line)]
    end = trouble[-1] + 2 if trouble else len(lines)
    return "\n  ".join([f"the end of its log, {log}:", *lines[max(end - 4, 0) : end]])


def _log_of(directory: Path) -> Path | None:
    run = run_directory(directory)
    return run and run / supervisor.LOG


LEAST_ROOM = 4_000_000
"""Bytes that are left of a disk which is as good as full: a page of each index and a part of the log."""
REASON = re.compile(r"No space left on device|java\.lang\.OutOfMemoryError: [^\n]*")
KEPT = "all that was acknowledged is kept"
FULL = f"its disk is full: make room, then run the same command again; {KEPT}"


def reason_of_end(directory: Path) -> str:
    """Why a directory's last server ended, and what to do: its disk is full, or what its log says last."""
    return FULL if _is_full(directory) else log_tail(_log_of(directory))


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
        if is_stopped(membership.java):
            return stopped(membership.java)
        if membership.alive():
            return None
    except OSError as error:
        return f"it can't be read any more ({error.strerror}); {KEPT}"
    try:
        log = membership.log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        log = ""
    reasons = REASON.findall(log)
    why = f" ({reasons[-1].strip()})" if reasons else ""
    memory = "set GRAPHNEG_JAVA_HEAP=2g, " if "OutOfMemory" in why else ""
    return f"its server has ended{why}: {memory}open the store again and repeat the command; {KEPT}"


def is_stopped(process: int) -> bool:
    """Return whether a process was stopped by a signal (SIGSTOP) and not continued, as far as Linux tells."""
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    return status.rpartition(b")")[2].split()[:1] == [b"T"]


def stopped(process: int, name: str = "Java") -> str:
    """Say of a process of the server's that it is stopped, and what to do."""
    return (
        f"its {name} (process {process}) is stopped: continue it with `kill -CONT {process}`, or end it with "
        f"`kill -KILL {process}` and repeat the command; {KEPT}"
    )


@contextlib.contextmanager
def turn(directory: Path) -> Generator[None]:
    """Held while a transaction writes, whichever process writes it, and let go however that process ends.

    Of two that write neighbouring pages this server undoes one: among many writers a long one would never be
    done. Blocks until it is this one's turn.
    """
    try:
        lock = open(directory / WRITERS, "ab", opener=found)  # noqa: SIM115
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(f"{directory} can't be written: {error.strerror}; {KEPT}") from error
    with lock:
        await_lock(lock)
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
SILENT_SECONDS = 10.0
"""A server that is known to be stopped is given up after this time."""
HANGING_SECONDS = 30.0
"""A server that runs but answers nothing is given up after this time: its machine may be busy."""
LOCKED_SECONDS = 40.0
"""A server that stops holds the directory's lock for up to 20 s. After this time it is not that."""
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
    java: int
    """Process id of the server."""
    log: Path
    engine: dict[str, str] | None
    """What runs: `find_engine` of the process that started it; ``None``: it is not said."""

    def alive(self) -> bool:
        """Whether the server still runs."""
        try:
            self.control.settimeout(0)
            return self.control.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def end_if_alone(self) -> None:
        """Ask the server to end at once, whatever it works on, unless other processes use it too."""
        with contextlib.suppress(OSError):
            self.control.sendall(supervisor.END)

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
        locked_since = time.monotonic()
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
            if starting is not None:
                locked_since = time.monotonic()
            elif _lock_is_free(directory):
                locked_since = time.monotonic()
                _check_named_java()
                check_engine_files(directory)
                starting = _start_supervisor(directory, engine, errors, is_temporary)
            elif time.monotonic() - locked_since > LOCKED_SECONDS:
                break
            time.sleep(POLL_SECONDS)
    raise StoreError(
        f"{directory} is locked by another process, but no server of yours answers: end the graphneg and "
        "java processes that use it (they may be another user's, on another host or in another container, of "
        "an older graphneg, or have another HOME or XDG_CACHE_HOME), then try again"
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
            order,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=child_environment(),
            timeout=JAVA_SECONDS,
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
    order["runs"] = str(_runs())
    process = subprocess.Popen(
        [sys.executable, "-I", supervisor.__file__],
        cwd=directory,
        env=child_environment(),
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
        with open(directory / supervisor.LOCK, "ab", opener=found) as lock:
            return lock_exclusively(lock)
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(
            f"can't lock {directory}: {error.strerror or error}; a store is written where it is opened: name "
            "one that you may write, a copy of it say"
        ) from error


def is_served(directory: Path) -> bool:
    """Whether a server runs in a directory; nothing is made there."""
    return os.path.lexists(directory / supervisor.LOCK) and not _lock_is_free(directory)


def served_directories() -> list[Path]:
    """The directories of all embedded servers of this user, where Linux tells; none elsewhere."""
    found: list[Path] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if supervisor.__file__.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                found.append((process / "cwd").readlink())
    return sorted(found)


def _greet(directory: Path, deadline: float) -> Membership | None:
    """Connect to the supervisor and wait for its server; return None if there is none, or it is stopping."""
    endpoint = read_endpoint(directory)
    if endpoint is None or _lock_is_free(directory):  # free: its server was killed
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
        until = time.monotonic() + 2 * SILENT_SECONDS
        welcome = _line(directory, control, "supervisor", endpoint.supervisor, until)
        if welcome == supervisor.WELCOME.strip():
            try:
                port = _line(directory, control, "Java", endpoint.java, deadline)
            except TimeoutError:
                java = (endpoint.engine or {}).get("java", "Java")
                raise StoreError(
                    f"the server of {directory} was started with {java} "
                    f"and does not answer in {START_SECONDS:.0f} s; {log_tail(_log_of(directory))}"
                ) from None
            run = run_directory(directory)
            if port and run:
                opened.pop_all()
                return Membership(
                    directory,
                    control,
                    int(port),
                    endpoint.password,
                    endpoint.reader_password,
                    os.getpid(),
                    endpoint.java,
                    run / supervisor.LOG,
                    endpoint.engine,
                )
    return None


def _line(directory: Path, control: socket.socket, name: str, process: int, deadline: float) -> bytes:
    """Read a line from a supervisor, which ends with the connection or a line feed.

    Raises:
        StoreError: The process that is waited for has been stopped for `SILENT_SECONDS`.
        TimeoutError: The deadline has passed.
    """
    line = b""
    ran = time.monotonic()
    while not line.endswith(b"\n"):
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError
        if not is_stopped(process):
            ran = now
        elif now - ran > SILENT_SECONDS:
            raise StoreError(f"the server of {directory} does not answer: {stopped(process, name)}")
        control.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            byte = control.recv(1)
            if not byte:
                break
            line += byte
    return line.strip()
