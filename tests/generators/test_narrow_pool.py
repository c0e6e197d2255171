"""Tests that a corpus with few different words also gets the bundled sentences as a pool."""

from __future__ import annotations

import pytest

from graphneg.generators.overlap.pool import ANECDOTES, Pool, pool_dialogues
from graphneg.generators.overlap.target_profile import OverlapOptions
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.rows import sentence
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.store.connection import Store
from tests.loaded_dialogues import loaded

THINGS, PLACES = ("carpet", "lamp", "door", "piano"), ("kitchen", "attic", "office", "garden")
TOLD = (
    "My grandmother hid her letters below the old carpet every winter.",
    "I once carried a heavy lamp across the whole town for my aunt.",
    "We painted the garden door yellow before the wedding last summer.",
)
CONDITIONS = OverlapOptions(anecdotes=True, sentences_per_term=10)


def templated(amount: int) -> list[str]:
    return [
        f"The {THINGS[n % 4]} in the {PLACES[n // 4 % 4]} stopped at {n} past nine in the morning."
        for n in range(amount)
    ]


@pytest.fixture(scope="module", params=["narrow", "varied"])
def store(request: pytest.FixtureRequest, embedded: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    texts = templated(300)
    if request.param == "varied":
        words = [
            f"{a}{b}{c}" for a in "bdfgklm" for b in ("ello", "arri", "undo", "imra") for c in "nprstvxzw"
        ]
        texts = [f"{text[:-1]} near the {words[n % 250]}." for n, text in enumerate(texts)]
    lines = [{"id": f"own/test/{n}", "turns": ["Tell me.", text]} for n, text in enumerate(texts)]
    loaded(embedded, tmp_path_factory.mktemp("narrow"), "chats", lines)
    pool_dialogues(embedded)
    told = [sentence(f"{ANECDOTES}#{n}.0", text, ANECDOTES, f"line {n}") for n, text in enumerate(TOLD)]
    write_records(embedded, told, LoadReport(ANECDOTES), GraphDialogues(ANECDOTES, ANECDOTES, 1))
    return embedded


def test_a_narrow_pool_includes_the_bundled_sentences(store: Store) -> None:
    pool = Pool(store, CONDITIONS, seed=0)
    pool.keep(pool.read(["carpet", "lamp", "door"]))
    found = {each.text for term in ("carpet", "lamp", "door") for each in pool.sentences(term)}
    assert pool.narrow == (TOLD[0] in found and TOLD[1] in found and TOLD[2] in found)
    assert len(found) > len(TOLD)


def test_a_pool_with_few_different_words_is_narrow(store: Store, request: pytest.FixtureRequest) -> None:
    is_narrow = request.node.callspec.params["store"] == "narrow"
    assert Pool(store, CONDITIONS, seed=0).narrow == is_narrow
    assert not Pool(store, OverlapOptions(), seed=0).narrow
