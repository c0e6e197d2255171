"""Start, join and leave the embedded server of a store directory.

`join` returns a `Membership`: this process's connection to the server of the directory, with the port and the
passwords of the server. The database engine is ArcadeDB. Its jars and a Java runtime come from the
``arcadedb-embedded`` wheel.

The store directory contains only data. ``store.json`` marks it as a store and records its format and engine,
``arcadedb`` contains the database, ``checksums.json`` shows whether its files are intact, and two lock files
coordinate processes. Nothing else in the directory is read. The directory may come from an untrusted source,
so each file is opened only if it is a regular file of the user (see `graphneg.private_files`).

The connection data of a running server (``endpoint.json``) and its log (``server.log``) are in a private
directory in the user's cache, the run directory (see `run_directory`).

Each server is started and stopped by a supervisor process (``supervisor.py``). A process joins by opening a
control connection to the supervisor, and starts one if none is running. It leaves by closing the connection.
If the process dies, the kernel closes the connection. A process that exits normally may ask the server to
wait for the next user.

Example:
    Join the server of a store directory and leave it again::

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

from graphneg.checksums import CHECKSUMS, damage
from graphneg.errors import StoreError
from graphneg.file_locks import await_lock, lock_exclusively
from graphneg.private_files import UnsafeFileError, owner_problem, private_folder, untrusted_opener
from graphneg.store import supervisor
from graphneg.store.engine_files import as_json, check_engine_files, printable, refusal
from graphneg.store.stopped_servers import SILENT_SECONDS, is_stopped
from graphneg.workers import child_environment

FORMAT = 1
"""Version of the layout of a store directory."""
STORE_FILE = "store.json"
"""The file that marks a directory as a store."""
WRITERS = "writers.lock"
"""The file that a process locks while it writes, so that only one process writes at a time."""
OWN_NAMES = (STORE_FILE, supervisor.LOCK, supervisor.ENGINE, WRITERS, CHECKSUMS)
"""Prefixes of the names of files and folders that graphneg creates in a store directory."""
FORMER_NAMES = (supervisor.ENDPOINT, supervisor.LOG, supervisor.ROOT, "password")
"""Prefixes of the names of files that earlier versions created in a store directory. They are ignored."""
LARGEST_MARK = 65_536
"""Maximum size of ``store.json``, in bytes."""
LOG_NOISE = re.compile(
    r"incubator|Polyglot|sponsor|Plugins directory|\]\[aot|AOTConfiguration|^\s+at |^\s*\.\.\. \d+ more|"
    r"Could not create the Java Virtual Machine|A fatal exception has occurred"
)
"""Pattern of log lines that do not help to explain a server's failure: startup notices, notes on archives of
classes, stack frames and what Java says after the reason."""
LOG_TROUBLE = re.compile(r"SEVER|ERROR|Exception|Error|WARNI|No space|Permission|denied|cannot|Could not")
"""Pattern of log lines that may explain why a server failed."""
_LONGEST_REASON = 300
"""Maximum number of characters of a log line that an error quotes."""


class Endpoint(NamedTuple):
    """The connection data of a running server.

    Attributes:
        protocol: Version of the ``endpoint.json`` format and of the protocol of the control connection.
        graphneg: The version of graphneg that started the server.
        control_port: The port of the supervisor's control socket.
        token: The secret that a process must send to the control socket.
        password: The password of the server's owner account.
        supervisor: The process id of the supervisor.
        java: The process id of the server, a Java process.
        reader_password: The password of the account that may only read.
        engine: The engine and its settings, as `find_engine` returned them; None if not known.
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
    """Return the directory with the private files of a store's server, such as its log and passwords.

    It is in the user's cache directory, or in the temporary directory if the cache cannot be used.
    ``XDG_RUNTIME_DIR`` is not used, because it is removed at logout, while a server may continue to run, and
    because a process that cron starts does not have it.

    Args:
        directory: A store directory.

    Returns:
        The path; None if no server was ever started for the store directory.
    """
    try:
        lock = os.lstat(directory / supervisor.LOCK)
    except OSError:
        return None
    return supervisor.run_directory(_folder_of_run_directories(), lock)


def _folder_of_run_directories() -> Path:
    """Return the folder that contains all run directories of this user. Create it if it is missing."""
    user = os.geteuid() if hasattr(os, "geteuid") else ""
    places = (user_cache_path("graphneg") / "run", Path(tempfile.gettempdir()) / f"graphneg-{user}")
    reasons: list[str] = []
    for place in places:
        try:
            return private_folder(place)
        except OSError as error:
            reasons.append(f"{error.filename or place} ({error.strerror})")
    raise StoreError(
        f"there is no directory for a server's private files: {' and '.join(reasons)} can't be used; "
        "set XDG_CACHE_HOME to a directory of your own"
    )


def _folder_of_archives() -> str:
    """Return the folder for archives of Java classes; an empty string if no archive can be used."""
    # An archive fits only the Java version that wrote it. Use no archive with GRAPHNEG_JAVA, which may name a
    # script: if a new Java is installed, the script does not change, so an old archive would not be noticed.
    if os.environ.get("GRAPHNEG_JAVA"):
        return ""
    try:
        return str(private_folder(user_cache_path("graphneg") / "java"))
    # Without an archive of Java classes, the server only starts more slowly, so ignore the error.
    except OSError:
        return ""


def _prepare(directory: Path, engine_version: str) -> None:
    """Turn an empty or new directory into a store, or check that the engine can open an existing store."""
    try:
        if directory.exists() and not directory.is_dir():
            raise StoreError(
                f"{directory} is a file, but a store is a directory: name a new or empty directory"
            )
        if "${" in str(directory):
            raise StoreError(
                f"can't use {directory} as a store: the server reads ${{…}} as a variable; "
                "rename the directory"
            )
        # Refuse a directory of another user, who could replace a file in it by a link at any time.
        if directory.exists() and (problem := owner_problem(os.stat(directory))):
            raise UnsafeFileError(directory, problem)
        if os.path.lexists(directory / STORE_FILE):
            _check_mark(directory, engine_version)
        else:
            # If there is no store.json, accept only files that graphneg may have left. Any other file shows
            # that the directory is used for something else.
            names = [entry.name for entry in directory.iterdir()] if directory.exists() else []
            others = [name for name in names if not name.startswith(OWN_NAMES + FORMER_NAMES)]
            if others:
                raise StoreError(
                    f"{directory} is not a graphneg store (the directory contains {printable(min(others))} "
                    "and no "
                    f"{STORE_FILE}): "
                    "name a store, or a new or empty directory"
                )
            # Dialogues may be private, so only the user may read the directory.
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory.chmod(0o700)
        _write_mark(directory, engine_version)
    except UnsafeFileError as error:
        raise refusal(error) from error
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL character.
        raise StoreError(
            f"can't use {directory} as a store: {getattr(error, 'strerror', None) or error}; "
            "name a directory that you may write to, on a disk with free space"
        ) from error


def read_mark(directory: Path) -> dict[str, Any]:
    """Read ``store.json``, which records the format of a store and the engine that wrote it.

    Raises `OSError` if the file cannot be read.

    Args:
        directory: A store directory.

    Returns:
        The content of the file; an empty dictionary if it is valid JSON but not an object.

    Raises:
        StoreError: The file is too large or is not JSON.
    """  # noqa: DOC501
    path = directory / STORE_FILE
    with open(path, "rb", opener=untrusted_opener) as file:
        text = file.read(LARGEST_MARK + 1)
    try:
        if len(text) > LARGEST_MARK:
            raise ValueError(f"more than {LARGEST_MARK:,} bytes")
        content = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged ({error}): restore it from a copy of the store") from error
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def _check_mark(directory: Path, engine_version: str) -> None:
    """Raise `StoreError` if the installed graphneg and database engine cannot read the store."""
    mark = read_mark(directory)
    if mark.get("format") != FORMAT:
        raise StoreError(
            f"{directory} has store format {as_json(mark.get('format'))}, but this graphneg reads format "
            f"{FORMAT}: open it with the graphneg that made it, or load the corpora into a new directory"
        )
    written = str(mark.get("engine_version", ""))
    # A release of the engine can read the files of older releases, but not of newer ones. So refuse a store
    # that a newer release has written.
    if mark.get("engine") != supervisor.ENGINE or _release(written) > _release(engine_version):
        by = f"{as_json(mark.get('engine'))} {as_json(written)}"
        raise StoreError(
            f"{directory} was written by {by}, but {supervisor.ENGINE} {engine_version} is installed: run "
            "`pip install --upgrade arcadedb-embedded`"
        )


def _release(version: str) -> list[int]:
    """Return the parts of a version that determine the file format: 26 and 10 for ``26.10.2.post1``."""
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _write_mark(directory: Path, engine_version: str) -> None:
    """Write ``store.json`` atomically, unless it already has the correct content."""
    mark = {"format": FORMAT, "engine": supervisor.ENGINE, "engine_version": engine_version}
    target = directory / STORE_FILE
    if target.exists() and read_mark(directory) == mark:
        return
    scratch = directory / f"{STORE_FILE}.{secrets.token_hex(4)}"
    with open(scratch, "x", encoding="utf-8", opener=untrusted_opener) as file:
        file.write(json.dumps(mark, indent=1) + "\n")
        # Sync the content to disk before the rename. Otherwise, a power failure could leave an empty file.
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(target)


def read_endpoint(directory: Path) -> Endpoint | None:
    """Read the connection data of the server of a store directory.

    Args:
        directory: A store directory.

    Returns:
        The connection data; None if there is no endpoint file or it cannot be parsed.
    """
    run = run_directory(directory)
    try:
        if run is None:
            return None
        content = json.loads((run / supervisor.ENDPOINT).read_text(encoding="utf-8"))
        needed = {name: content[name] for name in Endpoint._fields if name not in Endpoint._field_defaults}
        # Older versions of graphneg did not write the fields of `Endpoint` that have defaults.
        added = {name: content[name] for name in Endpoint._field_defaults if name in content}
        return Endpoint(**needed, **added)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def log_reason(log: Path | None) -> str:
    """Quote the line of a server log that probably explains a failure.

    Args:
        log: The log; None if the server has no log.

    Returns:
        Text of one line for an error message, with the path of the log and its last line about an error. The
        text is ``it left no log`` if there is no log.
    """  # noqa: DOC501
    try:
        if log is None:
            raise FileNotFoundError
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return "it left no log"
    lines = [line.strip() for line in lines if line.strip() and not LOG_NOISE.search(line)]
    trouble = [number for number, line in enumerate(lines) if LOG_TROUBLE.search(line)]
    # The last error is the innermost cause, because Java writes the outer exceptions first.
    last = trouble[-1] if trouble else len(lines) - 1
    reason = "".join(lines[last : last + 1]).removeprefix("Caused by: ")
    # The line "Error occurred during initialization of VM" gives no cause, so quote the next line, too.
    if reason.endswith("initialization of VM"):
        reason = "; ".join([reason, *lines[last + 1 : last + 2]])
    return f"its log, {log}, says: {reason[:_LONGEST_REASON] or 'nothing'}"


def _log_of(directory: Path) -> Path | None:
    run = run_directory(directory)
    return run and run / supervisor.LOG


LEAST_ROOM = 4_000_000
"""Number of free bytes below which a disk counts as full. The server needs this space for a page of each
index and for its log."""
REASON = re.compile(r"No space left on device|java\.lang\.OutOfMemoryError: [^\n]*")
"""Pattern of messages in a server's log that say why the server ended."""
KEPT = "all acknowledged writes are kept"
"""Last part of the error messages about a server that failed."""
FULL = f"its disk is full: make room, then run the same command again; {KEPT}"
"""The error message about a full disk."""


def explain_exit(directory: Path) -> str:
    """Explain why the last server of a store directory ended.

    Args:
        directory: A store directory.

    Returns:
        A text for an error message. It says that the disk is full or that the schema of the database is
        damaged, or quotes the relevant lines of the log.
    """
    if _is_full(directory):
        return FULL
    log = _log_of(directory)
    if log and log.exists() and (reset := supervisor.SCHEMA_RESET.search(log.read_bytes())):
        reason = reset["reason"].decode(errors="replace")[:_LONGEST_REASON]
        return (
            f"it can't read the schema.json of the database ({reason}): restore it from a copy of the store"
        )
    return log_reason(log)


def _is_full(directory: Path) -> bool:
    return shutil.disk_usage(directory).free < LEAST_ROOM


def diagnose(membership: Membership) -> str | None:
    """Check a server for a visible failure.

    The free disk space is checked here because the server does not report a full disk: it continues to run,
    and refuses writes without giving the reason.

    Args:
        membership: The connection to the server.

    Returns:
        A message that says what is wrong and what to do; None if no failure is visible.
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
        # An OSError here means that the store directory or its disk cannot be accessed any more.
        return f"its directory can't be read any more ({error.strerror}); {KEPT}"
    try:
        log = membership.log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        log = ""
    reasons = REASON.findall(log)
    why = f" ({reasons[-1].strip()})" if reasons else ""
    memory = "set GRAPHNEG_JAVA_HEAP=2g, " if "OutOfMemory" in why else ""
    return f"its server has ended{why}: {memory}open the store again and repeat the command; {KEPT}"


def stopped(process: int, name: str = "Java") -> str:
    """Return the message about a server process that has been stopped by a signal (SIGSTOP).

    Args:
        process: The process id.
        name: The name of the program.

    Returns:
        A message that says how to continue or end the process.
    """
    return (
        f"its {name} (process {process}) is stopped: continue it with `kill -CONT {process}`, or end it with "
        f"`kill -KILL {process}` and repeat the command; {KEPT}"
    )


@contextlib.contextmanager
def turn(directory: Path) -> Generator[None]:
    """Hold the write lock of a store while the block runs. If another process holds the lock, wait.

    Args:
        directory: The store directory.

    Yields:
        None, once this process holds the lock.

    Raises:
        StoreError: The lock file cannot be opened for writing.
    """  # noqa: DOC501
    try:
        lock = open(directory / WRITERS, "ab", opener=untrusted_opener)  # noqa: SIM115
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(f"{directory} can't be written: {error.strerror}; {KEPT}") from error
    # Let only one process write at a time. If two transactions write to the same part of a file, the engine
    # rolls one of them back. If many processes wrote at the same time, a long transaction could be rolled
    # back again and again. If this process dies, the kernel releases the lock.
    with lock:
        await_lock(lock)
        yield


DISTRIBUTION = "arcadedb-embedded"
"""The Python distribution that contains the engine."""
PACKAGE = "arcadedb_embedded"
"""The package in this distribution. It is only located and never imported, because importing it would start a
JVM inside this process."""


def find_engine() -> dict[str, str]:
    """Find the installed engine and the settings for its server.

    The environment variable GRAPHNEG_JAVA sets the Java program, and GRAPHNEG_JAVA_HEAP sets the heap size,
    such as ``2g``.

    Returns:
        A dictionary with the keys ``java`` (the Java program), ``jars`` (the folder with the engine's jar
        files), ``version`` (of the engine) and ``heap`` (the heap size).

    Raises:
        StoreError: The engine is not installed or is incomplete, or the heap size is not valid.
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
            f"{jars} contains no ArcadeDB server: run `pip install --force-reinstall {DISTRIBUTION}`"
        )
    java = _find_java(home)
    heap = os.environ.get("GRAPHNEG_JAVA_HEAP") or "1g"
    if not re.fullmatch(r"\d+[kmgKMG]?", heap):
        raise StoreError(f"GRAPHNEG_JAVA_HEAP={heap} is not a valid size: use a value such as 512m or 2g")
    version = importlib.metadata.version(DISTRIBUTION)
    return {"java": str(java), "jars": str(jars), "version": version, "heap": heap}


def _find_java(home: Path) -> str | Path:
    """Return the path of the Java program: the value of GRAPHNEG_JAVA, or the program in the wheel."""
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
            f"there is no Java runtime at {bundled}: run `pip install --force-reinstall {DISTRIBUTION}`, "
            "or set GRAPHNEG_JAVA to the java program of a JDK"
        )
    return bundled


START_SECONDS = 120.0
"""Maximum number of seconds that a server may take to start."""
OVERLOADED = "the machine may be overloaded: wait or end other programs, and run the same command again"
"""Advice if a server does not start in time."""
JAVA_SECONDS = 20.0
"""Maximum number of seconds that a Java program may take to report its version."""
JAVA_VERSION = re.compile(rb'version "(\d+)')
OLDEST_JAVA = 21
"""The oldest major version of Java that can run the engine."""
POLL_SECONDS = 0.02
"""Seconds between two checks of a server that is starting."""
HANGING_SECONDS = 30.0
"""Seconds after which opening a store fails if its running server does not answer. The time is long because
the machine may be busy.
"""
LOCKED_SECONDS = 40.0
"""Seconds after which joining a server fails if the directory is locked but no server answers. A server that
is stopping keeps the lock for up to 20 s."""
LONGEST_WARM = 86_400
"""Maximum number of seconds for which a server without users waits for the next user."""


@dataclass(frozen=True, slots=True)
class Membership:
    """This process's connection to a running server. The server keeps running until the connection is closed.

    Attributes:
        directory: The store directory.
        control: The control connection to the supervisor.
        bolt_port: The port on which the server accepts queries.
        password: The password of the owner account.
        reader_password: The password of the account that may only read.
        process: The id of the process that joined the server.
        java: The process id of the server, a Java process.
        log: The path of the server's log.
        engine: The engine and its settings, as `find_engine` returned them in the process that started the
            server; None if not known.
    """

    directory: Path
    control: socket.socket
    bolt_port: int
    password: str
    reader_password: str
    process: int
    java: int
    log: Path
    engine: dict[str, str] | None

    def alive(self) -> bool:
        """Return whether the server is still running."""
        try:
            # The supervisor sends nothing after the greeting, so there is nothing to read while it runs. If
            # recv returns an empty result, the supervisor has closed the connection.
            self.control.settimeout(0)
            return self.control.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def end_if_alone(self) -> None:
        """Ask the server to exit immediately, even during a query, unless other processes use it as well."""
        with contextlib.suppress(OSError):
            self.control.sendall(supervisor.END)

    def leave(self, keep_warm: int = 0) -> None:
        """Close the connection to the server.

        If no other process uses the server, it stops. A process that was forked after its parent had
        connected closes only its own copy of the connection. The parent process continues to use the server.

        Args:
            keep_warm: Seconds for which the server keeps running if no other process uses it. With 0, the
                server stops immediately, before this method returns.
        """
        if os.getpid() == self.process:
            with contextlib.suppress(OSError):
                if keep_warm > 0:
                    self.control.sendall(b"keep %d\n" % min(keep_warm, LONGEST_WARM))
                # Close the sending direction to tell the supervisor that this process leaves. Then wait until
                # the supervisor closes the connection. If the supervisor stops the server, it closes the
                # connection only after Java has ended.
                self.control.shutdown(socket.SHUT_WR)
                self.control.settimeout(30.0)
                while self.control.recv(64):
                    pass
        self.control.close()


def join(directory: Path, is_temporary: bool = False) -> Membership:
    """Join the server of a store directory. Create the store and start the server if necessary.

    Args:
        directory: The store directory.
        is_temporary: Whether the server, if this call starts it, removes the directory when it ends.

    Returns:
        The connection to the server.

    Raises:
        StoreError: The directory is not a store, a process that is not a server of this user has locked it,
            or the server does not start.
    """
    engine = find_engine()
    _prepare(directory, engine["version"])
    deadline = time.monotonic() + START_SECONDS
    ended = 0
    is_other = False
    starting: subprocess.Popen[bytes] | None = None
    with tempfile.TemporaryFile() as errors:
        locked_since = time.monotonic()
        # In each iteration, check again whether a server runs, because other processes may start or stop it
        # at any time.
        while time.monotonic() < deadline:
            membership = _connect_to_supervisor(directory, deadline)
            if membership and (is_other or membership.engine in (engine, None)):
                return membership
            # The running server has a different Java program, heap size or release of the engine. Close the
            # connection to it. If only this process uses the server, it stops, and the next iteration starts
            # a new server. If other processes use it, the next iteration connects to it again and keeps it.
            if membership:
                is_other = True
                membership.leave()
                continue
            if starting is not None and starting.poll() is not None:
                # With status EXIT_BUSY, another process has started the server in the meantime. Do not count
                # this as a failure.
                ended += starting.returncode != supervisor.EXIT_BUSY
                # Status 1 means that the supervisor raised an exception. Quote the last line of its
                # traceback.
                if starting.returncode == 1:
                    errors.seek(0)
                    lines = errors.read().decode(errors="replace").strip().splitlines()
                    why = lines[-1] if lines else "no reason given"
                    raise StoreError(f"the server of {directory} can't be started: {why}")
                if ended >= 3:
                    raise StoreError(
                        f"the server of {directory} ended while it started; {explain_exit(directory)}"
                    )
                starting = None
            if starting is not None:
                locked_since = time.monotonic()
            elif _lock_is_free(directory):
                locked_since = time.monotonic()
                _check_named_java()
                check_engine_files(directory)
                # Extend the deadline by the duration of `_check_content`, because reading the files of a
                # large store can take longer than starting a server.
                began = time.monotonic()
                _check_content(directory)
                deadline += time.monotonic() - began
                starting = _start_supervisor(directory, engine, errors, is_temporary)
            elif time.monotonic() - locked_since > LOCKED_SECONDS:
                break
            time.sleep(POLL_SECONDS)
    if starting is not None:
        raise StoreError(
            f"the server of {directory} does not start in {START_SECONDS:.0f} s; {OVERLOADED}; "
            f"{log_reason(_log_of(directory))}"
        )
    raise StoreError(
        f"{directory} is locked by another process, which does not answer as a graphneg server of this user: "
        "end the graphneg and java processes that use the directory, then try again (they may belong to "
        "another user, run on another host or in another container, use an older version of graphneg, or run "
        "with another HOME or XDG_CACHE_HOME)"
    )


def _check_content(directory: Path) -> None:
    """Refuse a store whose database files have changed since its last server ended."""
    path = directory / CHECKSUMS
    # Refuse a folder with the name of the checksum file, because the server could not write the file.
    if path.is_dir() and not path.is_symlink():
        raise StoreError(f"{path} is a folder, but graphneg needs this name for a file: remove it")
    before = _identity(path)
    database = directory / supervisor.ENGINE / "databases" / supervisor.DATABASE
    difference = damage(directory, database)
    # If the checksum file has changed during the check, another process has started a server, which changes
    # the database files. In this case, a wrong checksum does not mean that the store is damaged.
    if difference and before == _identity(path):
        raise StoreError(
            f"{database} is damaged since the store was last closed ({difference}): restore it from a copy "
            f"of the store, or load the corpora into a new one; to open it as it is, remove {path}"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the inode and the change time of a file; None if the file does not exist."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


def _check_named_java() -> None:
    """Refuse the program in GRAPHNEG_JAVA if it is not a Java runtime that can run the server."""
    named = os.environ.get("GRAPHNEG_JAVA")
    if not named:
        return
    advice = "name the java program of Java 21 or newer, or leave it unset"
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
        raise StoreError(f"GRAPHNEG_JAVA={named} can't be used ({words or 'it prints nothing'}): {advice}")


def _start_supervisor(
    directory: Path, engine: dict[str, str], errors: IO[bytes], is_temporary: bool
) -> subprocess.Popen[bytes]:
    """Start a supervisor in a new session, so that Ctrl-C in the terminal does not stop the server."""
    version = importlib.metadata.version("graphneg")
    order = {**engine, "directory": str(directory), "graphneg": version, "temporary": is_temporary}
    order["runs"] = str(_folder_of_run_directories())
    order["archives"] = _folder_of_archives()
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
    # Ignore a broken pipe. It means that the supervisor has failed, and `join` reports its exit status.
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps(order).encode())
    # Wait for the supervisor in a thread, so that it does not become a zombie process if it ends while this
    # process still runs.
    threading.Thread(target=process.wait, name="graphneg-supervisor", daemon=True).start()
    return process


def _lock_is_free(directory: Path) -> bool:
    """Return whether the server lock of a store directory is free, which means that no server runs there."""
    try:
        with open(directory / supervisor.LOCK, "ab", opener=untrusted_opener) as lock:
            return lock_exclusively(lock)
    except UnsafeFileError as error:
        raise refusal(error) from error
    except OSError as error:
        raise StoreError(
            f"can't lock {directory}: {error.strerror or error}; an open store writes to its directory: name "
            "a directory that you may write to, such as a copy of the store"
        ) from error


def is_served(directory: Path) -> bool:
    """Return whether an embedded server runs for a directory, without creating anything in the directory.

    Args:
        directory: Any directory.

    Returns:
        True if a server holds the lock of the directory.
    """
    return os.path.lexists(directory / supervisor.LOCK) and not _lock_is_free(directory)


def served_directories() -> list[Path]:
    """Return the store directories of all running embedded servers of this user.

    The servers are found in ``/proc``, which only Linux has.

    Returns:
        The directories, sorted; an empty list on other systems.
    """
    found: list[Path] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if supervisor.__file__.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                # A supervisor process has its store directory as working directory.
                found.append((process / "cwd").readlink())
    return sorted(found)


def _connect_to_supervisor(directory: Path, deadline: float) -> Membership | None:
    """Connect to the supervisor and wait for its server. Return None if no server runs or if it stops."""
    endpoint = read_endpoint(directory)
    # A running server holds the lock of the store. If the lock is free, the server was killed, and could not
    # remove its endpoint file.
    if endpoint is None or _lock_is_free(directory):
        return None
    with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
        address = ("127.0.0.1", endpoint.control_port)
        control = opened.enter_context(socket.create_connection(address, timeout=2.0))
        # Compare the protocol only after the connection succeeded. Before that, the endpoint file may still
        # belong to the previous server, because a new server takes the lock before it replaces the file.
        if endpoint.protocol != supervisor.PROTOCOL and not _lock_is_free(directory):
            raise StoreError(
                f"{directory} is in use by graphneg {endpoint.graphneg}, which does not share stores with "
                "this version: wait until that program has ended, or use the same version in both"
            )
        control.sendall(endpoint.token.encode() + b"\n")
        until = time.monotonic() + 2 * SILENT_SECONDS
        welcome = _read_line(directory, control, "supervisor", endpoint.supervisor, until)
        if welcome == supervisor.WELCOME.strip():
            try:
                port = _read_line(directory, control, "Java", endpoint.java, deadline)
            except TimeoutError:
                java = (endpoint.engine or {}).get("java", "Java")
                raise StoreError(
                    f"the server of {directory} was started with {java} "
                    f"and does not answer in {START_SECONDS:.0f} s; {OVERLOADED}; "
                    f"{log_reason(_log_of(directory))}"
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


def _read_line(directory: Path, control: socket.socket, name: str, process: int, deadline: float) -> bytes:
    """Read a line from a supervisor, or the rest if the connection is closed.

    Returns:
        The line, stripped of white space.

    Raises:
        StoreError: The process that should send the line has been stopped (SIGSTOP) for `SILENT_SECONDS`.
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
