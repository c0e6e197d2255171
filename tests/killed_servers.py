"""Servers that a test can kill and start again. Their data are kept."""

from __future__ import annotations

import secrets
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from graphneg.store.connection import Store
from graphneg.store.embedded import read_endpoint
from graphneg.store.opening import open_store
from tests import servers

PATIENCE = 120
QUICK_START = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Java flags that halve the start time of the server, at the price of slower queries."""


class Server(Protocol):
    """A server that can be killed and started again."""

    target: str
    environment: Mapping[str, str]

    def open(self) -> Store: ...

    def kill(self) -> None: ...

    def settle(self, store: Store) -> None:
        """Wait until the server has finished all requests of a client process that was killed.

        The server may still commit a transaction that the client had sent. A query that runs at the same time
        could see only a part of this transaction.
        """


@dataclass
class Embedded:
    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def target(self) -> str:
        return str(self.directory)

    def open(self) -> Store:
        return open_store(self.directory)

    def kill(self) -> None:
        java = self._java()
        supervisor = java.parent()
        java.kill()
        psutil.wait_procs([java, supervisor], timeout=PATIENCE)

    def settle(self, store: Store) -> None:
        """Wait until only this process is connected. A server closes a connection after its last request."""
        java = self._java()
        deadline = time.monotonic() + PATIENCE
        while clients(java) - ports(psutil.Process()):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def _java(self) -> psutil.Process:
        endpoint = read_endpoint(self.directory)
        assert endpoint
        return psutil.Process(endpoint.java)


def clients(server: psutil.Process) -> set[int]:
    """Return the ports of all clients that are connected to a server."""
    return {each.raddr.port for each in server.net_connections("tcp") if each.raddr}


def ports(process: psutil.Process) -> set[int]:
    return {each.laddr.port for each in process.net_connections("tcp")}


class Neo4j:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port = servers.free_port()
        self.target = f"neo4j://127.0.0.1:{self._port}"
        self.environment = {"NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": secrets.token_urlsafe(12)}
        self._process = self._started()
        servers.set_password(servers.Neo4jServer(self.target, *self.environment.values()))

    def open(self) -> Store:
        if self._process.poll() is not None:
            self._process = self._started()
        username, password = self.environment.values()
        return open_store(self.target, username=username, password=password)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def settle(self, store: Store) -> None:
        """Wait until the only open transaction is the one that lists the transactions."""
        deadline = time.monotonic() + PATIENCE
        while len(store.read("SHOW TRANSACTIONS")) > 1:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def stop(self) -> None:
        self._process.communicate(timeout=60)

    def _started(self) -> subprocess.Popen[bytes]:
        log = self._directory.with_name(self._directory.name + ".log")
        process = servers.start_neo4j(self._directory, self._port, log, *QUICK_START)
        servers.wait_until_ready(process, log)
        return process
