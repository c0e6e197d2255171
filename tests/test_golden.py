"""Compare each output of the program with its file in ``tests/golden``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.store.connection import Store
from tests import golden_outputs as golden
from tests.golden_outputs import OUTPUTS, Outputs
from tests.servers import wipe


@pytest.fixture(scope="module")
def bundled() -> Iterator[Outputs]:
    with golden.opened(golden.fill_bundled) as outputs:
        yield outputs


@pytest.fixture(scope="module")
def sampled() -> Iterator[Outputs]:
    if absent := golden.missing():
        pytest.skip(f"no {', '.join(absent)} in {golden.DATA}")
    with golden.opened(golden.fill_sampled) as outputs:
        yield outputs


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_bundled_corpus_gives_what_it_gave(bundled: Outputs, output: str) -> None:
    assert_as_before(bundled, golden.BUNDLED, output)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", golden.SAMPLED)
@pytest.mark.parametrize("output", OUTPUTS)
def test_samples_give_what_they_gave(sampled: Outputs, corpus: str, output: str) -> None:
    assert_as_before(sampled, corpus, output)


@pytest.mark.slow
def test_neo4j_proposes_the_same(neo4j: Store) -> None:
    wipe(neo4j)
    graph = DialogueGraph(neo4j)
    golden.fill_bundled(graph)
    outputs = Outputs(graph)
    for name in golden.TRANSFORMS:
        assert_as_before(outputs, golden.BUNDLED, f"transforms/{name}")
    assert_as_before(outputs, golden.BUNDLED, "shifts")


def test_every_file_is_compared() -> None:
    expected = {golden.path_of(corpus, o) for corpus in (golden.BUNDLED, *golden.SAMPLED) for o in OUTPUTS}
    assert {path for path in golden.FOLDER.rglob("*") if path.is_file()} == expected


def assert_as_before(outputs: Outputs, corpus: str, output: str) -> None:
    difference = golden.difference(outputs, corpus, output)
    if difference:
        pytest.fail(difference, pytrace=False)
