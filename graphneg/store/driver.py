"""The official driver, set up for graphneg. The one place that knows the driver's options."""

# The driver's options are untyped keywords.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
from typing import LiteralString, cast

from neo4j import (
    Auth,
    Driver,
    EagerResult,
    GraphDatabase,
    NotificationMinimumSeverity,
    Session,
)
from neo4j.api import BookmarkManager
from neo4j.exceptions import ServiceUnavailable

CONNECT_SECONDS = 5.0
ACQUIRE_SECONDS = 6.0
RETRY_SECONDS = 30.0
FIRST_RETRY_SECONDS = 0.1
FETCH_ROWS = 1000

# The driver logs each retry as a warning, which Python prints where a program has set up no logging.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


def connect(uri: str, auth: Auth | None, retry_seconds: float = RETRY_SECONDS) -> Driver:
    """A driver that gives up on a silent server in seconds; nothing is sent yet."""
    return GraphDatabase.driver(
        uri,
        auth=auth,
        connection_timeout=CONNECT_SECONDS,
        connection_acquisition_timeout=ACQUIRE_SECONDS,
        max_transaction_retry_time=retry_seconds,
        initial_retry_delay=FIRST_RETRY_SECONDS,
        notifications_min_severity=NotificationMinimumSeverity.OFF,
    )


def open_session(driver: Driver, database: str | None, access: str, bookmarks: BookmarkManager) -> Session:
    """A session that sees what earlier sessions with the same bookmarks wrote, on any cluster member."""
    return driver.session(
        database=database, default_access_mode=access, bookmark_manager=bookmarks, fetch_size=FETCH_ROWS
    )


def ask(driver: Driver, database: str | None, query: str) -> EagerResult:
    """One query, asked once and not retried."""
    with driver.session(database=database) as session:
        return session.run(as_literal(query)).to_eager_result()


def server_agent(uri: str, driver: Driver, auth: Auth | None) -> str:
    """The name and version that the server gives: ``Neo4j/5.26.30``.

    Where a router fails, its addresses are asked directly: the router's own error gives no reason.
    """
    try:
        return driver.get_server_info().agent
    except ServiceUnavailable as error:
        if not uri.lower().startswith("neo4j"):
            raise
        refusal = error
    with connect("bolt" + uri[len("neo4j") :].partition("?")[0], auth) as direct:
        direct.get_server_info()
    raise refusal


def as_literal(text: str) -> LiteralString:
    """The driver wants its queries literal, which the texts of files are not to a type checker."""
    return cast("LiteralString", text)
