"""What the driver's exceptions mean to a user: each becomes one ``StoreError`` that says what to do."""

from __future__ import annotations

import ssl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from neo4j.exceptions import (
    ClientError,
    ConfigurationError,
    ConstraintError,
    CypherSyntaxError,
    DriverError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from graphneg.errors import StoreError

ADVICE_ON_SILENCE = (
    "check that Neo4j runs there, its host and Bolt port (7687 by default), "
    "and whether it wants TLS (neo4j+s://)"
)
ADVICE = {
    "Neo.ClientError.Security.Unauthorized": (
        "{place} refuses these credentials: set NEO4J_USERNAME and NEO4J_PASSWORD, "
        "or pass username and password"
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        "{place} refuses more attempts after too many wrong passwords: wait a few seconds, then try again"
    ),
    "Neo.ClientError.Security.CredentialsExpired": (
        "{place} wants a new password first: run ALTER CURRENT USER SET PASSWORD FROM 'OLD' TO 'NEW' "
        "on its database system"
    ),
    "Neo.ClientError.Database.DatabaseNotFound": (
        "{place} has no such database ({message}): name one that exists with NEO4J_DATABASE, "
        "or leave it unset"
    ),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A server as users know it, and what to do where it does not answer."""

    name: str
    if_silent: str = ADVICE_ON_SILENCE

    def __str__(self) -> str:
        return self.name


@contextmanager
def explained(place: Place) -> Generator[None]:
    """Turn what the driver raises inside into a ``StoreError`` about ``place``."""
    try:
        yield
    except (Neo4jError, DriverError) as error:
        raise StoreError(explain(error, place)) from error


def explain(error: Neo4jError | DriverError, place: Place) -> str:
    """One sentence: what was wrong, where, and what to do."""
    if isinstance(error, Neo4jError):
        return explain_answer(error, place)
    if isinstance(error, ServiceUnavailable | SessionExpired):
        return explain_silence(error, place)
    if isinstance(error, ConfigurationError):
        return f"can't open {place}: {first_line(error)}"
    return f"{place}: {first_line(error)}"


def explain_answer(error: Neo4jError, place: Place) -> str:
    message = (error.message or str(error)).strip()
    advice = ADVICE.get(error.code or "")
    if advice:
        return advice.format(place=place, message=message)
    if isinstance(error, Forbidden):
        return f"{place} does not allow this to your user: {message}"
    if isinstance(error, CypherSyntaxError):
        return f"the query is not valid Cypher for {place}: {message}"
    if isinstance(error, ConstraintError):
        return f"{place} refuses a write that breaks a constraint: {message}"
    if isinstance(error, ClientError):
        return f"{place} refuses the query: {message}"
    return f"{place} failed: {message} [{error.code}]"


def explain_silence(error: ServiceUnavailable | SessionExpired, place: Place) -> str:
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the certificate of {place} is not trusted ({cause.verify_message}): "
                "install its authority, or use bolt+ssc:// or neo4j+ssc:// for a self-signed one"
            )
        if isinstance(cause, ssl.SSLError):
            return f"{place} does not speak TLS: use bolt:// or neo4j://, or switch TLS on at the server"
    *_, origin = causes(error)
    return f"{place} does not answer ({first_line(origin)}): {place.if_silent}"


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, outermost first."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(":") if str(error).strip() else type(error).__name__
