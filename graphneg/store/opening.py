"""Opening a store: which server a target means, how to connect to it, and its schema.

In: a directory, a Neo4j address, or nothing (then the environment decides). Out: an open `Store` with the
schema of this version.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from neo4j import Auth, Driver, basic_auth
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphneg.errors import StoreError
from graphneg.hashing import fingerprint
from graphneg.store import embedded, supervisor
from graphneg.store.connection import Store, ask, connect, explained, server_agent
from graphneg.store.embedded import reason_of_end
from graphneg.store.reading import PlanCheck, Reader, leave_to_account, refuse_all
from graphneg.store.statements import cypher_text, send_text, statements

SCHEMA_VERSION = 6
OLDEST_UPGRADABLE = 4


def ensure_schema(store: Store, upgrading: bool = False) -> None:
    """Apply ``cypher/schema.cypher`` to a store that has none; check the version of one that has.

    Safe to do again after an interruption, and by two processes at once. What was imported in bulk gets
    its constraints and indexes when it is first opened. A store that is ``upgrading``
    may have an older schema.

    Raises `StoreError`: the store's schema is older or newer than this graphneg's.
    """
    rows = store.read(cypher_text("read/schema_version"))
    if not rows:
        apply_schema(store)
        return
    if rows[0]["imported"]:
        _finish_import(store)
    found = rows[0]["version"]
    known = found if isinstance(found, int) else 0
    if known == SCHEMA_VERSION or (upgrading and OLDEST_UPGRADABLE <= known < SCHEMA_VERSION):
        return
    verb, advice = "needs", "bring it over with `graphneg upgrade`; nothing in it is lost"
    if known > SCHEMA_VERSION:
        verb, advice = "knows", "upgrade graphneg with `pip install --upgrade graphneg`"
    elif known < OLDEST_UPGRADABLE:
        advice = "load the corpora into a new store, or open this one with the graphneg that made it"
    raise StoreError(
        f"{store.description} has schema version {found}, this graphneg {verb} {SCHEMA_VERSION}: {advice}"
    )


def unfinished_upgrade(store: Store) -> str | None:
    """The last graph that an upgrade of the store wrote, ``""`` where it has yet to begin; ``None``: no need.

    A store is current where its schema is this one and its facts were computed by what computes them now.
    """
    state = store.read(cypher_text("upgrade/state"))[0]
    if state["version"] == SCHEMA_VERSION and state["facts"] == facts_fingerprint():
        return state["after"]
    return state["after"] or ""


def finish_upgrade(store: Store) -> None:
    """Mark a store with this schema's version."""
    _write(store, cypher_text("upgrade/finish"))


def apply_schema(store: Store) -> None:
    """Make the constraints and indexes that are missing; a store without a version gets this one."""
    for statement in statements(cypher_text("schema")):
        _write(store, statement)


EMPTY_LIST = "\x1e"
"""The only item of a list that has none, in the files of a bulk import, which know no empty lists."""
_IMPORTED_AT_ONCE = 1_000


def _finish_import(store: Store) -> None:
    """Give a store that was imported in bulk its constraints and indexes, and its empty lists."""
    apply_schema(store)
    store.read(cypher_text("read/await_indexes"))
    for kind in ("graphs", "terms"):
        pages, mend, after = cypher_text(f"upgrade/{kind}"), cypher_text(f"upgrade/imported_{kind}"), ""
        while rows := store.read(pages, after=after, limit=_IMPORTED_AT_ONCE):
            ids, after = [row["id"] for row in rows], rows[-1]["id"]
            marks = {"ids": ids, "empty": [EMPTY_LIST]}
            store.write_derived(lambda tx, mend=mend, marks=marks: send_text(tx, mend, marks).finish())
    _write(store, cypher_text("upgrade/imported"))


def _write(store: Store, statement: str) -> None:
    marks = {"version": SCHEMA_VERSION, "facts": facts_fingerprint()}
    store.write_derived(lambda tx: send_text(tx, statement, marks).finish())


@cache
def facts_fingerprint() -> str:
    """A fingerprint of what facts are computed by: the code and the tables of `graphneg.amr` and
    `graphneg.english`."""
    folders = (Path(__file__).parent.parent / name for name in ("amr", "english"))
    files = (file for folder in folders for file in folder.rglob("*") if file.suffix in {".py", ".tsv"})
    return fingerprint([hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)])


DEFAULT_DIRECTORY = "graphneg-store"
OLDEST_NEO4J = (5, 26)
_READER = "NEO4J_READER_USERNAME"
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
MEANT_AS_ADDRESS = re.compile(r"[\w.+-]{2,}:(.*@.+|\d+)")
"""``neo4j:password@host``, ``host:7687``: no directory is called so, unless there is one."""


def open_store(
    target: str | Path | None = None,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    upgrading: bool = False,
    keep_warm: int = 0,
) -> Store:
    """Open a directory as an embedded store, or a Neo4j server by its URI.

    Without a target the environment decides: NEO4J_URI, else the directory ``graphneg-store``.
    What is not given for a server comes from NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE. A store
    of an older schema is opened for ``upgrading`` only. An embedded server whose last user this is waits
    ``keep_warm`` seconds for the next.

    Raises `StoreError`: the server can't be reached or will not do, the credentials are wrong, the directory
    is no store, or its schema is of another version.
    """
    if target is None:
        target = os.environ.get("NEO4J_URI") or DEFAULT_DIRECTORY
    check_target(str(target))
    if not ADDRESS.match(str(target)):
        try:
            directory = Path(target).expanduser().absolute()
        except RuntimeError as error:
            raise StoreError(
                f"{target} is in the home of a user that there is not: name a directory"
            ) from error
        return open_embedded(directory, upgrading, keep_warm)
    auth = credentials(username, password)
    return open_server(str(target), auth, database or os.environ.get("NEO4J_DATABASE") or None, upgrading)


def credentials(username: str | None = None, password: str | None = None) -> Auth | None:
    """Who asks a server: what is given, else NEO4J_USERNAME and NEO4J_PASSWORD; nobody, where neither is."""
    username = username or os.environ.get("NEO4J_USERNAME")
    password = password if password is not None else os.environ.get("NEO4J_PASSWORD")
    return basic_auth(username or "neo4j", password or "") if username or password else None


def check_target(target: str) -> None:
    """Refuse an address that the driver would misread, what is meant as one and would name a directory, and
    passwords, which messages and lists of processes would show.

    Raises `StoreError`, in which no password stands.
    """
    is_address = ADDRESS.match(target)
    if is_address or (MEANT_AS_ADDRESS.fullmatch(target) and not os.path.lexists(target)):
        if "@" in target:
            raise StoreError(
                "leave user name and password out of the address: write it as neo4j://HOST:PORT, and "
                "set NEO4J_USERNAME and NEO4J_PASSWORD, or pass username and password"
            )
        if not (is_address and _can_be_reached(target)):
            raise StoreError(
                f"{target} is no Neo4j address: write SCHEME://HOST:PORT, the scheme one of "
                f"{', '.join(SCHEMES)}"
            )


def _can_be_reached(address: str) -> bool:
    """Whether an address has a scheme, a host and a port as there are."""
    try:
        parts = urlsplit(address)
        return parts.scheme in SCHEMES and bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except ValueError:
        return False


def open_server(uri: str, auth: Auth | None, database: str | None, upgrading: bool = False) -> Store:
    """Connect to a Neo4j server or cluster."""
    with ExitStack() as opened, explained(uri):
        driver = opened.enter_context(connect(uri, auth))
        agent = server_agent(uri, driver, auth)
        version = server_version(agent, uri)
        name = ask(driver, database).database or database
        description = f"{version} at {uri}" + (f", database {name}" if name else "")
        resources = ExitStack()
        account = opened.enter_context(_reader_driver(uri, database)) if os.environ.get(_READER) else None
        if "compatible" not in agent:
            reader = Reader(account or driver, PlanCheck())
        else:
            reader = Reader(account or driver, leave_to_account if account else refuse_all)
        store = Store(driver, database, description, resources, reader=reader)
        ensure_schema(store, upgrading)
        resources.push(opened.pop_all())
        return store


def _reader_driver(uri: str, database: str | None) -> Driver:
    """Return a driver that signs in as the account of NEO4J_READER_USERNAME.

    Raises:
        StoreError: The server refuses the account.
    """
    driver = connect(uri, basic_auth(os.environ[_READER], os.environ.get("NEO4J_READER_PASSWORD", "")))
    try:
        ask(driver, database)
    except AuthError as error:
        driver.close()
        raise StoreError(
            f"{uri} refuses the account that may only read: set NEO4J_READER_USERNAME and "
            "NEO4J_READER_PASSWORD to one that it knows, or leave them unset"
        ) from error
    return driver


def name_of_server(uri: str, auth: Auth | None) -> str:
    """A server's name and version; nothing is made there.

    Raises `StoreError`: it does not answer, or is none that graphneg can use.
    """
    with explained(uri), connect(uri, auth) as driver:
        return server_version(server_agent(uri, driver, auth), uri)


def open_temporary() -> Store:
    """An embedded store in a new directory, which goes with its server, however this process ends.

    Raises `StoreError`: the engine is missing, or the server does not start.
    """
    directory = Path(tempfile.mkdtemp(prefix="graphneg-store-"))
    try:
        return open_embedded(directory, is_temporary=True)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def open_embedded(
    directory: Path, upgrading: bool = False, keep_warm: int = 0, *, is_temporary: bool = False
) -> Store:
    """Join the directory's server, starting it where none runs; a temporary one takes its directory along.

    A server that was killed a moment ago can still be joined; when it is gone, the next one is.
    """
    for _ in range(3):
        membership = embedded.join(directory, is_temporary)
        with ExitStack() as opened:
            opened.callback(membership.leave, keep_warm)
            uri = f"bolt://127.0.0.1:{membership.bolt_port}"
            driver = opened.enter_context(connect(uri, basic_auth(supervisor.OWNER, membership.password)))
            # It connects when it is first asked, so that it costs nothing where nobody does.
            account = basic_auth(supervisor.READER, membership.reader_password)
            reader = Reader(opened.enter_context(connect(uri, account)), leave_to_account)
            if _answers(driver, membership):
                resources, description = ExitStack(), f"embedded store at {directory}"
                store = Store(
                    driver,
                    supervisor.DATABASE,
                    description,
                    resources,
                    reader=reader,
                    trouble=partial(embedded.trouble, membership),
                    turn=partial(embedded.turn, directory),
                    server=membership,
                )
                ensure_schema(store, upgrading)
                resources.push(opened.pop_all())
                return store
    raise StoreError(f"the server of {directory} ended while it was opened; {reason_of_end(directory)}")


def _answers(driver: Driver, membership: embedded.Membership) -> bool:
    """Wait for the embedded server's answer; return False if the server ends first.

    Its port opens a moment before its database exists: errors are answers, too.

    Raises:
        StoreError: The server is silent: it is stopped, or hangs.
    """
    now = spoke = time.monotonic()
    deadline = now + embedded.START_SECONDS
    directory = membership.directory
    while now < deadline:
        try:
            ask(driver, supervisor.DATABASE)
            return True
        except Neo4jError:
            spoke = time.monotonic()
        except DriverError:
            pass
        if not membership.alive():
            return False
        now = time.monotonic()
        if now - spoke > embedded.SILENT_SECONDS and embedded.is_stopped(membership.java):
            raise StoreError(
                f"the server of {directory} does not answer: {embedded.stopped(membership.java)}"
            )
        if now - spoke > embedded.HANGING_SECONDS:
            break
        time.sleep(embedded.POLL_SECONDS)
    raise StoreError(
        f"the server of {directory} (Java, process {membership.java}) does not answer: end it with "
        f"`kill -KILL {membership.java}` and repeat the command; {embedded.KEPT}; {reason_of_end(directory)}"
    )


def server_version(agent: str, uri: str) -> str:
    """The server's name and version, as users know it: ``Neo4j 5.26.30``.

    Raises `StoreError`: it is older than Neo4j 5.26, or no server that says it is compatible.
    """
    found = re.match(r"Neo4j/v?(\d+)\.(\d+)(\S*)(?: compatible \((.+)\))?", agent)
    if not found:
        raise StoreError(f"{uri} is {agent}: graphneg needs Neo4j 5.26 or newer")
    name = f"Neo4j {found[1]}.{found[2]}{found[3]}"
    if (int(found[1]), int(found[2])) < OLDEST_NEO4J:
        raise StoreError(f"{uri} is {name}: graphneg needs Neo4j 5.26 or newer")
    return found[4] or name
