"""Start the servers for tests and benchmarks, and empty their stores.

If NEO4J_URI is set, tests use this Neo4j. Its database must be empty, unless GRAPHNEG_TEST_WIPE=1 allows the
tests to delete its content. Otherwise, Maven downloads Neo4j's server and a JDK runs it. The server stops at
the end of the ``with`` statement, or when this process ends.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j
from filelock import FileLock

from graphneg.store.connection import Store
from graphneg.store.opening import open_store

HERE = Path(__file__).parent / "neo4j_server"
CACHE = Path(__file__).parent.parent / ".cache"
RESOLVE_SECONDS = 900
START_SECONDS = 120
WIPE_ROWS = 5000
JAVA_FLAGS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


class NoServerError(Exception):
    """Raised if no Neo4j is available for tests. The message says why."""


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """The address and the login of a running Neo4j server."""

    uri: str
    username: str
    password: str
    database: str | None = None

    def open(self) -> Store:
        return open_store(self.uri, username=self.username, password=self.password, database=self.database)


@contextmanager
def neo4j_server(directory: Path, heap: str = "2g") -> Generator[Neo4jServer]:
    """Yield the Neo4j that NEO4J_URI names; if it is not set, start a server with its data in ``directory``.

    Raises:
        NoServerError: The database is not empty, Maven or a JDK is missing, or the server does not start.
    """
    if os.environ.get("NEO4J_URI"):
        yield named_server()
        return
    with launched(directory, heap) as server:
        yield server


def named_server() -> Neo4jServer:
    server = Neo4jServer(
        os.environ["NEO4J_URI"],
        os.environ.get("NEO4J_USERNAME", "neo4j"),
        os.environ.get("NEO4J_PASSWORD", ""),
        os.environ.get("NEO4J_DATABASE"),
    )
    with server.open() as store:
        [row] = store.read("MATCH (n) WHERE NOT n:GraphnegSchema RETURN count(n) AS nodes")
    if row["nodes"] and os.environ.get("GRAPHNEG_TEST_WIPE") != "1":
        raise NoServerError(
            f"{server.uri} holds {row['nodes']} nodes and tests would wipe them: set GRAPHNEG_TEST_WIPE=1"
        )
    return server


@contextmanager
def launched(directory: Path, heap: str) -> Generator[Neo4jServer]:
    port = free_port()
    log = directory.with_name(directory.name + ".log")
    process = start_neo4j(directory, port, log, f"-Xmx{heap}")
    try:
        server = Neo4jServer(f"neo4j://127.0.0.1:{port}", "neo4j", secrets.token_urlsafe(12))
        wait_until_ready(process, log)
        set_password(server)
        yield server
    finally:
        process.communicate(timeout=60)


def start_neo4j(directory: Path, port: int, log: Path, *flags: str) -> subprocess.Popen[bytes]:
    """Start a server that stops when its standard input closes, so that it never outlives this process."""
    CACHE.mkdir(exist_ok=True)
    with FileLock(CACHE / "server.lock"):  # Several test processes may compile the server at the same time.
        path = class_path()
        server = compiled(path)
    command = [program("java"), *flags, *JAVA_FLAGS, "-cp", f"{server}{os.pathsep}{path}"]
    command += ["Server", str(directory), str(port)]
    with log.open("wb") as output:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output)


def wait_until_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while b"ready" not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            raise NoServerError(f"Neo4j did not start: {log.read_text()[-2000:]}")
        time.sleep(0.1)


def set_password(server: Neo4jServer) -> None:
    with neo4j.GraphDatabase.driver(server.uri, auth=("neo4j", "neo4j")) as driver:
        driver.execute_query(
            "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password",
            password=server.password,
            database_="system",
        )


def run_import(script: Path, directory: Path) -> None:
    """Run the import script that ``graphneg load --bulk`` has written, for the server in a directory."""
    (directory / "conf").mkdir(parents=True)
    admin = f"{program('java')} -cp {class_path()} org.neo4j.cli.AdminTool"
    environment = {**os.environ, "NEO4J_ADMIN": admin, "NEO4J_HOME": str(directory)}
    done = subprocess.run(["sh", str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def compiled(path: str) -> Path:
    """Return the folder with the compiled ``Server.java``. Compile the file if it has changed."""
    source = HERE / "Server.java"
    folder = CACHE / f"server-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    if not (folder / "Server.class").exists():
        subprocess.run([program("javac"), "-cp", path, "-d", str(folder), str(source)], check=True)
    return folder


def class_path() -> str:
    """Return the class path of Neo4j's server. Maven resolves it again only if ``pom.xml`` has changed."""
    pom = HERE / "pom.xml"
    known = CACHE / f"neo4j-{hashlib.sha256(pom.read_bytes()).hexdigest()[:16]}.classpath"
    if known.exists() and all(Path(jar).exists() for jar in known.read_text().split(os.pathsep)):
        return known.read_text()
    fresh = known.with_suffix(f".{os.getpid()}")
    resolved = subprocess.run(
        [
            program("mvn"),
            "-B",
            "-q",
            "-f",
            str(pom),
            "dependency:build-classpath",
            f"-Dmdep.outputFile={fresh}",
        ],
        capture_output=True,
        text=True,
        timeout=RESOLVE_SECONDS,
    )
    if resolved.returncode:
        raise NoServerError(f"Maven can't fetch Neo4j: {(resolved.stdout + resolved.stderr)[-2000:]}")
    fresh.replace(known)
    return known.read_text()


def program(name: str) -> str:
    """Return the path of a program. Raise an error if the program or ``javac`` (a JDK) is not installed."""
    found = shutil.which(name)
    if not found or not shutil.which("javac"):
        raise NoServerError("there is no NEO4J_URI, and no Maven and JDK 17 or newer to start a Neo4j with")
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wipe(store: Store) -> None:
    """Delete all nodes of a store in batches, except the node with the version of the schema."""
    query = "MATCH (n) WHERE NOT n:GraphnegSchema WITH n LIMIT $rows DETACH DELETE n RETURN count(n) AS gone"

    def remove(transaction: neo4j.ManagedTransaction) -> int:
        return transaction.run(query, rows=WIPE_ROWS).single(strict=True)["gone"]

    # `Store.write` would create a node with the version of the content, so use `write_derived`.
    while store.write_derived(remove):
        pass


def write_past_graphneg(store: Store, query: str, **parameters: Any) -> None:
    """Change the store as another program would, that is, without increasing the version of the content."""
    store.write_derived(lambda transaction: transaction.run(query, **parameters).consume())
