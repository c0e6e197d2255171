"""Open a store: choose the server, connect to it, and apply the schema.

`open_store` takes a directory (for an embedded server) or a Neo4j address. If neither is given, it uses the
address in the environment variable NEO4J_URI, or else the directory ``graphneg-store``. In a new store, it
creates the schema of the installed graphneg version. In an existing store, it checks the schema version.

Example:
    Open an embedded store and a Neo4j server::

        store = open_store("graphneg-store")
        store = open_store("neo4j://localhost:7687", username="neo4j", password="...")
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from neo4j import Auth, Driver, basic_auth
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphneg import __version__
from graphneg.amr.facts import facts_fingerprint
from graphneg.errors import InputError, StoreError
from graphneg.json_input import whole_number
from graphneg.paths import expand_home
from graphneg.store import embedded, supervisor
from graphneg.store.connection import Store, connect, probe, server_agent, translate_driver_errors
from graphneg.store.embedded import explain_exit
from graphneg.store.reading import PlanCheck, Reader, accept_listed_procedures, refuse
from graphneg.store.statements import cypher_text, send_text, statements
from graphneg.store.stopped_servers import SILENT_SECONDS, is_stopped, watched

SCHEMA_VERSION = 8
"""Version of the schema that this version of graphneg writes."""
OLDEST_EXPORTABLE = 7
"""The oldest schema version whose dialogues and graphs ``graphneg export --format dialogues`` can read.

From this schema version on, the labels and properties of dialogues and graphs have kept their names.
"""
_EXPORT = "`graphneg export dialogues.jsonl --format dialogues`"
_LOAD = "load the file into a new store with `graphneg load dialogues dialogues.jsonl`"

_DAMAGED = (
    "its database files may be damaged: restore them from a copy of the store, or load the corpora into a "
    "new one"
)


def ensure_schema(store: Store, exporting: bool = False) -> None:
    """Apply ``cypher/schema.cypher`` to a new store, or check the schema version of an existing store.

    An existing store must have the schema version of the installed graphneg. If the facts in the store (the
    node properties that graphneg computes for transforms) come from other code or word tables, the store can
    be read, but `Store.check_facts` refuses to write to it or to edit its graphs.

    This function can safely be repeated after an interruption, and run in two processes at the same time. If
    a store was filled by a bulk import, its constraints and indexes are created here, when it is first
    opened.

    Args:
        store: An open store.
        exporting: Whether to accept a store with a different schema version if its content can be exported.

    Raises:
        StoreError: The store has a different schema version. The message names the commands that export its
            content and load it into a new store.
    """
    rows = store.read(cypher_text("read/schema_version"))
    if not rows:
        apply_schema(store)
        return
    if rows[0]["imported"]:
        _finish_import(store)
    found, writer = rows[0]["version"], rows[0]["graphneg"]
    # If the version is not a number, another program has written it. Treat it as too old.
    known = whole_number(found) or 0
    is_exportable = OLDEST_EXPORTABLE <= known <= SCHEMA_VERSION
    if known == SCHEMA_VERSION or (exporting and is_exportable):
        if rows[0]["facts"] != facts_fingerprint():
            store.foreign_facts = (
                f"{store.description} has facts that another version of graphneg computed, so it can only be "
                f"read: export it with {_EXPORT}, and {_LOAD}"
            )
        return
    versions = f"has schema version {found}, but this graphneg needs {SCHEMA_VERSION}"
    if known > SCHEMA_VERSION:
        reason = (
            f"has schema version {found}, but this graphneg knows {SCHEMA_VERSION}: upgrade graphneg with "
            "`pip install --upgrade graphneg`"
        )
    elif is_exportable:
        reason = f"{versions}: export it with {_EXPORT}, and {_LOAD}"
    elif writer:
        reason = f"{versions}: export it with graphneg {writer}, {_EXPORT}, and {_LOAD}"
    else:
        reason = (
            f"{versions}: load its files into a new store; graphs without a file are written by the graphneg "
            "that made it, with `graphneg export FILE.amr`, and loaded with `graphneg load penman FILE.amr`"
        )
    raise StoreError(f"{store.description} {reason}")


def apply_schema(store: Store) -> None:
    """Create missing constraints and indexes, and record the schema version if the store has none.

    Args:
        store: An open store.
    """
    # Run each statement in its own transaction, because Neo4j does not allow schema changes and other writes
    # in the same transaction.
    for statement in statements(cypher_text("schema")):
        _run_schema_statement(store, statement)


EMPTY_LIST = "\x1e"
"""Placeholder in the files of a bulk import: a list with only this item represents an empty list, which the
format of these files cannot express."""
_IMPORTED_AT_ONCE = 1_000
"""Number of graphs or terms whose lists are repaired in one transaction after a bulk import."""


def _finish_import(store: Store) -> None:
    """Create constraints and indexes after a bulk import, and replace each `EMPTY_LIST` by an empty list."""
    apply_schema(store)
    # Wait for the indexes, which the server builds in the background, because the queries below need them.
    store.read(cypher_text("read/await_indexes"))
    for kind in ("graph", "term"):
        pages, mend, after = cypher_text(f"read/{kind}_ids"), cypher_text(f"bulk/imported_{kind}s"), ""
        while rows := store.read(pages, after=after, limit=_IMPORTED_AT_ONCE):
            ids, after = [row["id"] for row in rows], rows[-1]["id"]
            marks = {"ids": ids, "empty": [EMPTY_LIST]}
            # Bind the loop variables as defaults of the lambda, so that they do not change before it is
            # called.
            store.write_derived(lambda tx, mend=mend, marks=marks: send_text(tx, mend, marks).finish())
    _run_schema_statement(store, cypher_text("bulk/imported"))


def _run_schema_statement(store: Store, statement: str) -> None:
    """Run a schema statement. It changes no data, so the content version of the store stays the same."""
    marks = {"version": SCHEMA_VERSION, "facts": facts_fingerprint(), "graphneg": __version__}
    # Pass the same parameters to all statements. A server ignores the parameters that a statement does not
    # use.
    store.write_derived(lambda tx: send_text(tx, statement, marks).finish())


DEFAULT_DIRECTORY = "graphneg-store"
"""The directory that is opened if neither the caller nor the variable NEO4J_URI names a store."""
OLDEST_NEO4J = (5, 26)
"""The oldest version of Neo4j that graphneg supports."""
_READER = "NEO4J_READER_USERNAME"
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
"""Schemes of Bolt addresses that the driver accepts."""
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
MEANT_AS_ADDRESS = re.compile(r"[\w.+-]{2,}:(.*@.+|\d+)")
"""Pattern of strings without a scheme that look like a Neo4j address: ``neo4j:password@host``, ``host:7687``.
Such a string is used as the path of a store directory only if the directory exists."""


def open_store(
    target: str | Path | None = None,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    exporting: bool = False,
    keep_warm: int = 0,
) -> Store:
    """Open the embedded store in a directory, or the store on a Neo4j server.

    Raises `StoreError` if the server does not answer or refuses the credentials, if the directory
    is not a store, or if a different version of graphneg wrote it and ``exporting`` is False.

    Args:
        target: A directory, or an address such as ``neo4j://localhost:7687``. None for the address in the
            environment variable NEO4J_URI, or else the directory ``graphneg-store``.
        username: The user name for a Neo4j server; None for the value of NEO4J_USERNAME.
        password: The password for a Neo4j server; None for the value of NEO4J_PASSWORD.
        database: The name of a database on a Neo4j server; None for the value of NEO4J_DATABASE.
        exporting: Whether to open a store of a different version of graphneg, in order to export its content.
        keep_warm: Seconds for which an embedded server keeps running after the last process that uses it has
            closed the store.

    Returns:
        The open store.

    Raises:
        StoreError: The target is a path such as ``~somebody/store``, and there is no such user.
    """
    if target is None:
        target = os.environ.get("NEO4J_URI") or DEFAULT_DIRECTORY
    check_target(str(target))
    if not ADDRESS.match(str(target)):
        try:
            directory = expand_home(target).absolute()
        except InputError as error:
            raise StoreError(str(error)) from error
        return open_embedded(directory, exporting, keep_warm)
    auth = credentials(username, password)
    return open_server(str(target), auth, database or os.environ.get("NEO4J_DATABASE") or None, exporting)


def credentials(username: str | None = None, password: str | None = None) -> Auth | None:
    """Return the credentials for a Neo4j server.

    Args:
        username: The user name; None for the value of NEO4J_USERNAME, or else ``neo4j``.
        password: The password; None for the value of NEO4J_PASSWORD.

    Returns:
        The credentials; None if there is neither a user name nor a password.
    """
    username = username or os.environ.get("NEO4J_USERNAME")
    password = password if password is not None else os.environ.get("NEO4J_PASSWORD")
    # The default user name is "neo4j", the initial user of every Neo4j server.
    return basic_auth(username or "neo4j", password or "") if username or password else None


def check_target(target: str) -> None:
    """Refuse the target of `open_store` if it looks like an address but is not a valid one.

    Three kinds of targets are refused: addresses with an invalid scheme, host or port; strings that were
    probably meant as an address, but would be used as the name of a directory; and addresses that contain a
    password, because messages and process lists would show it.

    Args:
        target: The directory or address that the user gave.

    Raises:
        StoreError: The target is refused. The message does not repeat a password.
    """
    is_address = ADDRESS.match(target)
    if is_address or (MEANT_AS_ADDRESS.fullmatch(target) and not os.path.lexists(target)):
        # Check for a password first, because the error message below repeats the whole address.
        if "@" in target:
            raise StoreError(
                "remove the user name and password from the address: write it as neo4j://HOST:PORT, and "
                "set NEO4J_USERNAME and NEO4J_PASSWORD, or pass username and password"
            )
        if not (is_address and _is_valid_address(target)):
            raise StoreError(
                f"{target} is not a Neo4j address: write SCHEME://HOST:PORT, the scheme one of "
                f"{', '.join(SCHEMES)}"
            )


def _is_valid_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in SCHEMES and bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:
        return False


def open_server(uri: str, auth: Auth | None, database: str | None, exporting: bool = False) -> Store:
    """Connect to a Neo4j server or cluster.

    Args:
        uri: The address of the server or cluster.
        auth: The credentials; None to connect without authentication.
        database: The name of the database; None for the default database of the user.
        exporting: Whether to accept a store of a different version of graphneg whose content can be exported.

    Returns:
        The open store.
    """
    with ExitStack() as opened, translate_driver_errors(uri):
        driver = opened.enter_context(connect(uri, auth))
        agent = server_agent(uri, driver, auth)
        version = server_version(agent, uri)
        name = probe(driver, database).database or database
        description = f"{version} at {uri}" + (f", database {name}" if name else "")
        resources = ExitStack()
        account = opened.enter_context(_reader_driver(uri, database)) if os.environ.get(_READER) else None
        # Neo4j enforces READ access, and its query plans show what a query does. A server that is only
        # compatible with Neo4j may lack both features. It needs an account that may only read. Without such
        # an account, untrusted queries are refused.
        if "compatible" not in agent:
            reader = Reader(account or driver, PlanCheck())
        else:
            reader = Reader(account or driver, accept_listed_procedures if account else refuse)
        store = Store(driver, database, description, resources, reader=reader)
        ensure_schema(store, exporting)
        # Keep the drivers open until `Store.close` is called. Without `pop_all`, the end of the `with` block
        # would close them.
        resources.push(opened.pop_all())
        return store


def _reader_driver(uri: str, database: str | None) -> Driver:
    """Return a driver for the account in NEO4J_READER_USERNAME. Raise `StoreError` if it is rejected."""
    driver = connect(uri, basic_auth(os.environ[_READER], os.environ.get("NEO4J_READER_PASSWORD", "")))
    try:
        probe(driver, database)
    except AuthError as error:
        driver.close()
        raise StoreError(
            f"{uri} rejects the read-only account: set NEO4J_READER_USERNAME and "
            "NEO4J_READER_PASSWORD to an existing account, or leave them unset"
        ) from error
    return driver


def name_of_server(uri: str, auth: Auth | None) -> str:
    """Return the name and version of a server, without creating anything there.

    Args:
        uri: The address of the server.
        auth: The credentials; None to connect without authentication.

    Returns:
        A name such as ``Neo4j 5.26.30``.
    """
    with translate_driver_errors(uri), connect(uri, auth) as driver:
        return server_version(server_agent(uri, driver, auth), uri)


def open_temporary() -> Store:
    """Open an embedded store in a new temporary directory.

    The server removes the directory when it ends, even if this process is killed.

    Returns:
        The open store.
    """
    directory = Path(tempfile.mkdtemp(prefix="graphneg-store-"))
    try:
        return open_embedded(directory, is_temporary=True)
    # Also remove the temporary directory after Ctrl-C: KeyboardInterrupt is a BaseException.
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def open_embedded(
    directory: Path, exporting: bool = False, keep_warm: int = 0, *, is_temporary: bool = False
) -> Store:
    """Open the store in a directory. Start its embedded server if it is not running.

    Args:
        directory: The store directory.
        exporting: Whether to accept a store of a different version of graphneg whose content can be exported.
        keep_warm: Seconds for which the server keeps running after the last process that uses it has closed
            the store.
        is_temporary: Whether the server, if this call starts it, removes the directory when it ends.

    Returns:
        The open store.

    Raises:
        StoreError: In each of three attempts, the server ended before the store was open.
    """
    # Try three times. For a moment after a server was killed, `join` may still return this server, and
    # opening it fails. The next attempt then starts a new server.
    for _ in range(3):
        membership = embedded.join(directory, is_temporary)
        with ExitStack() as opened:
            opened.callback(membership.leave, keep_warm)
            opened.enter_context(watched(membership.java, membership.bolt_port))
            uri = f"bolt://127.0.0.1:{membership.bolt_port}"
            driver = opened.enter_context(connect(uri, basic_auth(supervisor.OWNER, membership.password)))
            # A second driver with the reader account runs untrusted queries. It connects on its first query.
            account = basic_auth(supervisor.READER, membership.reader_password)
            reader = Reader(opened.enter_context(connect(uri, account)), accept_listed_procedures)
            # Wait until the server answers queries, because its port opens before the database exists.
            if _answers(driver, membership):
                resources, description = ExitStack(), f"embedded store at {directory}"
                store = Store(
                    driver,
                    supervisor.DATABASE,
                    description,
                    resources,
                    reader=reader,
                    diagnose=partial(embedded.diagnose, membership),
                    turn=partial(embedded.turn, directory),
                    server=membership,
                )
                try:
                    ensure_schema(store, exporting)
                except StoreError as error:
                    # The queries for the schema are simple. If the engine fails to run them, its files are
                    # probably damaged.
                    if _is_failure_of_engine(error):
                        raise StoreError(f"{error}; {_DAMAGED}") from error
                    raise
                # Keep the connections open until `Store.close` is called.
                resources.push(opened.pop_all())
                return store
    raise StoreError(f"the server of {directory} ended while it was opened; {explain_exit(directory)}")


def _is_failure_of_engine(error: BaseException) -> bool:
    cause = error.__cause__
    return isinstance(cause, Neo4jError) and str(cause.code).startswith("Neo.DatabaseError")


def _answers(driver: Driver, membership: embedded.Membership) -> bool:
    """Wait until the server answers a query. Return False if it ends without an answer."""
    now = spoke = time.monotonic()
    deadline = now + embedded.START_SECONDS
    directory = membership.directory
    while now < deadline:
        try:
            probe(driver, supervisor.DATABASE)
            return True
        # The server reported an error, so it is running. The port opens a moment before the database exists,
        # so try again.
        except Neo4jError:
            spoke = time.monotonic()
        except DriverError:
            pass
        if not membership.alive():
            return False
        now = time.monotonic()
        if now - spoke > SILENT_SECONDS and is_stopped(membership.java):
            raise StoreError(
                f"the server of {directory} does not answer: {embedded.stopped(membership.java)}"
            )
        if now - spoke > embedded.HANGING_SECONDS:
            break
        time.sleep(embedded.POLL_SECONDS)
    raise StoreError(
        f"the server of {directory} (Java, process {membership.java}) does not answer: end it with "
        f"`kill -KILL {membership.java}` and repeat the command; {embedded.KEPT}; {explain_exit(directory)}"
    )


def server_version(agent: str, uri: str) -> str:
    """Return the name and version of a server from its agent string.

    Args:
        agent: The agent string, such as ``Neo4j/5.26.30``.
        uri: The address of the server, for messages.

    Returns:
        A name such as ``Neo4j 5.26.30``. For a server that is only compatible with Neo4j, this is the
        server's own name and version.

    Raises:
        StoreError: The server is older than Neo4j 5.26, or not compatible with Neo4j.
    """
    # A compatible server reports an agent string such as "Neo4j/5.26.0 compatible (NAME VERSION)".
    found = re.match(r"Neo4j/v?(\d+)\.(\d+)(\S*)(?: compatible \((.+)\))?", agent)
    if not found:
        raise StoreError(f"{uri} is {agent}: graphneg needs Neo4j 5.26 or newer")
    name = f"Neo4j {found[1]}.{found[2]}{found[3]}"
    if (int(found[1]), int(found[2])) < OLDEST_NEO4J:
        raise StoreError(f"{uri} is {name}: graphneg needs Neo4j 5.26 or newer")
    return found[4] or name
