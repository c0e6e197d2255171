"""Fixtures of the generator tests: a context, and a placeholder for a store that is never read."""

from __future__ import annotations

import pytest

from graphneg.generators.base import Context
from graphneg.model import Turn
from graphneg.store.connection import Store


@pytest.fixture
def context() -> Context:
    """Return a context of two turns about a boat, with two correct responses."""
    turns = (Turn("A", "Is the boat still for sale?"), Turn("B", "My uncle sold it on Friday."))
    positives = ("What a pity!", "Did he get an honest price for it?")
    return Context("own/test/1#2", "own", "test", "own/test/1", 2, turns, "A", positives)


@pytest.fixture
def unused() -> Store:
    """Return None in place of a store, for tests whose generator never reads one."""
    return None  # pyright: ignore[reportReturnType]
