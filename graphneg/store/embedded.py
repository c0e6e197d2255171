"""Joining and leaving the server of an embedded store.

A process joins by holding one control connection to the directory's keeper (see
``keeper.py``); where there is no keeper, it starts one. It leaves by closing the connection, in
order or by dying.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from graphneg.errors import StoreError
from graphneg.store import keeper
from graphneg.store.directory import Endpoint, log_tail, prepare, read_endpoint
from graphneg.store.engine import Engine, find_engine

START_SECONDS = 120.0
STARTS = 3
POLL_SECONDS = 0.02
GREETING_SECONDS = 2.0
LEAVING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Membership:
    """This process's hold on a running server. The server runs at least as long as this is open."""

    directory: Path
    control: socket.socket
    bolt_port: int
    password: str
    java: int
    process: int

    def alive(self) -> bool:
        """Whether the server still runs."""
        self.control.settimeout(0)
        try:
            return self.control.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def leave(self) -> None:
        """Let the server go. If this was its last user, wait until it has stopped.

        A forked child only drops its copy of the connection, which its parent goes on using.
        """
        if os.getpid() == self.process:
            with contextlib.suppress(OSError):
                self.control.shutdown(socket.SHUT_WR)
                self.control.settimeout(LEAVING_SECONDS)
                while self.control.recv(64):
                    pass
        self.control.close()


def join(directory: Path) -> Membership:
    """Join the server of ``directory``; make the store and start the server where there is none.

    Raises:
        StoreError: the directory is no store, the engine is missing, or the server does not start.
    """
    engine = find_engine()
    prepare(directory, engine.version)
    with tempfile.TemporaryFile() as errors:
        return join_or_start(directory, engine, errors)


def join_or_start(directory: Path, engine: Engine, errors: IO[bytes]) -> Membership:
    """Try in turn to join a server and to start one: other processes may start and stop it meanwhile."""
    deadline = time.monotonic() + START_SECONDS
    ended = 0
    starting: subprocess.Popen[bytes] | None = None
    while time.monotonic() < deadline:
        endpoint = read_endpoint(directory)
        membership = greet(directory, endpoint, deadline) if endpoint else None
        if membership:
            return membership
        if starting is not None and starting.poll() is not None:
            ended += starting.returncode != keeper.EXIT_BUSY
            if starting.returncode == 1:
                raise StoreError(f"the server of {directory} can't be started: {last_line(errors)}")
            if ended >= STARTS:
                raise StoreError(f"the server of {directory} ended while it started; {log_tail(directory)}")
            starting = None
        if starting is None and lock_is_free(directory):
            starting = start_keeper(directory, engine, errors)
        time.sleep(POLL_SECONDS)
    raise StoreError(
        f"{directory} has been locked by another process for {START_SECONDS:.0f} s, but no server answers: "
        "end the graphneg and java processes that use it, then try again"
    )


def start_keeper(directory: Path, engine: Engine, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a keeper in a session of its own, so that Ctrl-C here does not reach the server."""
    order = {
        "directory": str(directory),
        "java": str(engine.java),
        "jars": str(engine.jars),
        "heap": engine.heap,
        "graphneg": importlib.metadata.version("graphneg"),
    }
    process = subprocess.Popen(
        [sys.executable, "-I", keeper.__file__],
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps(order).encode())
    # The keeper may outlive this use of the store: someone has to collect its exit status.
    threading.Thread(target=process.wait, name="graphneg-keeper", daemon=True).start()
    return process


def last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"


def lock_is_free(directory: Path) -> bool:
    try:
        with open(directory / keeper.LOCK, "ab", opener=keeper.private) as lock:
            return keeper.lock_exclusively(lock)
    except OSError as error:
        raise StoreError(f"can't lock {directory}: {error.strerror or error}") from error


def greet(directory: Path, endpoint: Endpoint, deadline: float) -> Membership | None:
    """Connect to a keeper and wait for its server. ``None`` where it is stopping or gone.

    Raises:
        StoreError: the keeper belongs to a graphneg that speaks another protocol.
    """
    if endpoint.protocol != keeper.PROTOCOL and not lock_is_free(directory):
        raise StoreError(
            f"{directory} is in use by graphneg {endpoint.graphneg}, which shares stores in another way "
            "than this version: wait until that program has ended, or use the same version in both"
        )
    try:
        control = socket.create_connection(("127.0.0.1", endpoint.control_port), GREETING_SECONDS)
    except OSError:
        return None
    try:
        control.sendall(endpoint.token.encode() + b"\n")
        lines = control.makefile("rb")
        if lines.readline() != keeper.WELCOME:
            control.close()
            return None
        control.settimeout(max(deadline - time.monotonic(), POLL_SECONDS))
        port = lines.readline().strip()
    except OSError:
        port = b""
    if not port:
        control.close()
        return None
    return Membership(directory, control, int(port), endpoint.password, endpoint.java, os.getpid())


def first_answer(ask: Callable[[], str | None], membership: Membership) -> str | None:
    """Ask until the server answers: its port opens a moment before its database exists.

    ``None`` where the server ends first.

    Raises:
        StoreError: it did not answer in time.
    """
    deadline = time.monotonic() + START_SECONDS
    while (answer := ask()) is None:
        if not membership.alive():
            return None
        if time.monotonic() > deadline:
            raise StoreError(
                f"the server of {membership.directory} does not answer; {log_tail(membership.directory)}"
            )
        time.sleep(POLL_SECONDS)
    return answer
