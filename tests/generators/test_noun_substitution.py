"""Sentences of the pool whose nouns become nouns of the context."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.generators.overlap.noun_substitution import found_text
from graphneg.model import Negative
from graphneg.store.connection import Store
from tests.overlap_samples import fill


@pytest.fixture(scope="module")
def both(
    embedded: Store, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Negative], list[Negative], list[Negative]]:
    """The same run without exchanges, with some, and with as many as can be."""
    graph = fill(embedded, Path(tmp_path_factory.mktemp("pool")))
    plain, some, all_ = (
        list(graph.generate("overlap", per_context=2, limit=40, seed=1, everyday=None, exchanged=share))
        for share in (0, 0.5, 1)
    )
    return plain, some, all_


def test_sentences_stay_where_no_exchange_is_drawn(
    both: tuple[list[Negative], list[Negative], list[Negative]],
) -> None:
    plain, some, all_ = ([one.response for one in made] for made in both)
    changed = sum(a != b for a, b in zip(plain, some, strict=True))
    assert 0 < changed < sum(a != b for a, b in zip(plain, all_, strict=True)) <= len(plain)


def test_an_exchanged_sentence_says_a_noun_of_its_context(
    both: tuple[list[Negative], list[Negative], list[Negative]],
) -> None:
    plain, _, all_ = both
    for before, after in zip(plain, all_, strict=True):
        said = " ".join(turn["text"] for turn in after.context).lower()
        if before.response != after.response:
            old, new = _exchanged(after)
            assert new in said and new in after.response.lower()
            assert found_text(after) == before.response
            assert old in before.response and len(before.response.split()) == len(after.response.split())


def _exchanged(negative: Negative) -> tuple[str, str]:
    [note] = [part for part in str(negative.edits[0]["before"]).split("; ") if part.startswith("exchanged: ")]
    old, _, new = note.removeprefix("exchanged: ").partition(" > ")
    return old, new
