"""What a user is told where the driver fails: one sentence about the server, and what to do."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

from graphneg.errors import StoreError
from graphneg.store import supervisor
from graphneg.store.connection import explained
from graphneg.store.embedded import log_tail


def told(error: Exception, if_silent: str = "start it") -> str:
    with pytest.raises(StoreError) as raised, explained("Neo4j at home", if_silent):
        raise error
    assert raised.value.__cause__ is error
    return str(raised.value)


def silence(*causes: Exception) -> ServiceUnavailable:
    """A server that can't be reached, and why: each error led to the one before."""
    outer: Exception = ServiceUnavailable("Couldn't connect")
    error = outer
    for cause in causes:
        error.__cause__ = cause
        error = cause
    assert isinstance(outer, ServiceUnavailable)
    return outer


def answer(code: str) -> Neo4jError:
    """What the driver makes of a server's refusal."""
    return Neo4jError._hydrate_neo4j(code=f"Neo.{code}", message=" because ")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (answer("ClientError.Security.Forbidden"), "does not allow this to your user: because"),
        (
            answer("ClientError.Schema.ConstraintValidationFailed"),
            "a write that breaks a constraint: because",
        ),
        (answer("ClientError.Statement.ArgumentError"), "refuses the query: because"),
        (answer("ClientError.Statement.SyntaxError"), "not valid Cypher for Neo4j at home: because"),
        (answer("ClientError.Security.CredentialsExpired"), "wants a new password first: run ALTER"),
        (answer("ClientError.Security.AuthenticationRateLimit"), "wait a few seconds, then try again"),
        (answer("ClientError.Database.DatabaseNotFound"), "has no such database (because): name one"),
        (answer("DatabaseError.General.Unknown"), "failed: because [Neo.DatabaseError.General.Unknown]"),
        (ConfigurationError("no such option\nat line 1"), "can't open Neo4j at home: no such option"),
        (DriverError("closed"), "Neo4j at home: closed"),
    ],
)
def test_what_a_server_or_the_driver_says_is_one_sentence(error: Exception, sentence: str) -> None:
    said = told(error)
    assert sentence in said and "Neo4j at home" in said and "\n" not in said


def test_a_silent_server_is_told_with_the_origin_and_what_to_do() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    said = told(silence(OSError("a router"), refused))
    assert said == "Neo4j at home does not answer ([Errno 111] Connection refused): start it"


def test_a_server_without_tls_or_with_a_certificate_of_its_own_is_told_from_a_silent_one() -> None:
    untrusted = ssl.SSLCertVerificationError("self-signed")
    untrusted.verify_message = "self-signed certificate"
    assert "is not trusted (self-signed certificate)" in told(silence(untrusted))
    assert "does not speak TLS" in told(silence(ssl.SSLError("wrong version"), OSError("closed")))


def test_other_errors_pass() -> None:
    with pytest.raises(LookupError), explained("Neo4j at home"):
        raise LookupError


# The embedded server's log and lock


def test_the_end_of_a_log_is_its_last_trouble_without_noise(tmp_path: Path) -> None:
    assert log_tail(tmp_path) == "it left no log"
    lines = [f"INFO step {n}" for n in range(9)]
    lines += [
        "WARNING: Using incubator modules",
        "SEVERE no room",
        "  at java.lang",
        "INFO stopped",
        "INFO end",
    ]
    (tmp_path / supervisor.LOG).write_text("\n\n".join(lines))
    said = log_tail(tmp_path).splitlines()
    assert said[0] == "the end of its log:"
    assert [line.strip() for line in said[1:]] == [
        "INFO step 7", "INFO step 8", "SEVERE no room", "INFO stopped",
    ]  # fmt: skip


def test_a_log_without_trouble_is_told_by_its_last_lines(tmp_path: Path) -> None:
    (tmp_path / supervisor.LOG).write_text("".join(f"INFO step {n}\n" for n in range(9)))
    assert log_tail(tmp_path).split()[-1] == "8"


def test_a_lock_is_held_by_one_file_until_that_is_closed(tmp_path: Path) -> None:
    path = tmp_path / supervisor.LOCK
    with open(path, "ab", opener=supervisor.private) as first, path.open("ab") as second:
        assert supervisor.lock_exclusively(first)
        assert not supervisor.lock_exclusively(second)
    assert path.stat().st_mode & 0o077 == 0
    with path.open("ab") as third:
        assert supervisor.lock_exclusively(third)
