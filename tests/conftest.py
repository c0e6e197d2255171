"""The stores that tests share: each server is started once a session."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from graphneg.store import Store, open_store
from tests.servers import Neo4jServer, NoServerError, neo4j_server


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    """An embedded store of its own."""
    with open_store(tmp_path_factory.mktemp("embedded") / "store") as store:
        yield store


@pytest.fixture(scope="session")
def neo4j_instance(tmp_path_factory: pytest.TempPathFactory) -> Generator[Neo4jServer]:
    """A running Neo4j. Missing, it fails a CI run and skips the test elsewhere."""
    with ExitStack() as running:
        try:
            server = running.enter_context(neo4j_server(tmp_path_factory.mktemp("neo4j")))
        except NoServerError as reason:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no Neo4j: {reason}")
        yield server


@pytest.fixture(scope="session")
def neo4j(neo4j_instance: Neo4jServer) -> Generator[Store]:
    """A store on Neo4j."""
    with neo4j_instance.open() as store:
        yield store


@pytest.fixture(scope="session", params=["embedded", "neo4j"])
def store(request: pytest.FixtureRequest) -> Store:
    """A store on each server in turn; what it holds is left from the tests before (see ``wipe``)."""
    return request.getfixturevalue(request.param)
